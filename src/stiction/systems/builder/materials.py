"""Which friction, restitution and stiffness act between two bodies.

Looked up in this order: the pair of bodies (`set_contact(a, b)`), the pair of materials (`set_contact` with material
names), and otherwise the combination of the two materials: friction coefficients by their geometric mean, restitution
by the larger, stiffness by E* (`systems/elastic.py`), in which a material without Young's modulus is rigid. Only
Coulomb friction with plain numbers can be combined; other laws are given for pairs. Of a pair, the body named first is
the first body of its friction: the one in which an `axis` is fixed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ... import _check
from ..._check import FloatArray, IntArray
from ...errors import ModelError
from ...friction import ConvexSet, Coulomb, Frictionless, FrictionSet, as_friction
from ...friction.sets import MAX_DIM, ROLL_1, ROLL_2, TANGENT_1, TANGENT_2
from ...friction.table import FrictionTable
from ...problem.laws import DRY
from ..compliance import RIGID, Compliance, as_compliance
from ..elastic import MODULUS, RIGID_ROW, Elastic, Solid, SolidContact
from ..restitution import Restitution, checked, law_code, most, values

Friction = FrictionSet | float | None
DEFAULT = "default"
DEFAULT_FRICTION = Coulomb(0.5)
_SAMPLING_NOISE = 1e-3  # of the mean of a support function: harmonics up to this come from sampling it


@dataclass(frozen=True)
class ContactLaw:
    """Friction, restitution and compliance of a pair; no compliance is rigid."""

    friction: FrictionSet
    restitution: Restitution = 0.0
    compliance: Compliance | Elastic | SolidContact | None = None


@dataclass(frozen=True)
class Material(ContactLaw):
    """What bodies are made of: the law between two of them, or with `solid` what it follows from.

    density [kg/m³, in the plane kg/m²] of bodies that give neither mass nor density; fillet: the radius of edges and
    corners [m]; None: a hundredth of the shape.
    """

    solid: Solid | None = None
    density: float | None = None
    fillet: float | None = None


def contact_law(
    friction: Friction, restitution: Restitution, compliance: Any, what: str, dim: int, *, pair: bool = True
) -> ContactLaw:
    """Checked, for a world of `dim` dimensions; `pair`: between two that can be told apart, so that one is first."""
    e = checked(what, restitution)
    soft = as_compliance(compliance, what)
    if soft is not None and most(e) > 0.0:
        raise ModelError(f"{what} cannot have a restitution and a compliance: what gives way bounces by its damping.")
    law = as_friction(friction, f"friction of {what}")
    if isinstance(soft, Elastic):
        _refuse_elastic_friction(law, what)
    try:
        rows = law.contact_rows(dim)
    except ModelError as error:
        raise ModelError(f"friction of {what}: {error}") from None
    kind = type(law).__name__
    if law.axis is not None and dim == 2:
        raise ModelError(f"friction of {what}: an axis has no meaning in the plane, where there is one tangent.")
    if not pair and (law.axis is not None or (dim == 2 and _has_side(law, rows))):
        raise ModelError(
            f"friction of {what}: this {kind} friction is not the same for the first and the second of two bodies, and "
            "between two of one material none is first; give the pair of bodies with set_contact(a, b, friction=...)."
        )
    if dim == 3 and law.axis is None and _has_direction(law, rows):
        raise ModelError(
            f"friction of {what}: this {kind} friction depends on the direction of slip or rolling; say which way its "
            "first tangent points with axis=(x, y, z), in the axes of the first body."
        )
    return ContactLaw(law, e, soft)


def _refuse_elastic_friction(law: FrictionSet, what: str) -> None:
    """Refuse friction that elastic contacts cannot have."""
    if law.speed_law is not None or isinstance(law, ConvexSet):
        raise ModelError(
            f"{what} cannot be elastic with friction that depends on speed or is written in Python; use a Compliance."
        )


def material(what: str, dim: int, friction: Friction, restitution: Any, given: dict[str, Any]) -> Material:
    """Checked, for a world of `dim` dimensions; given: compliance, young, poisson, density and fillet, or None."""
    young, poisson, compliance = given["young"], given["poisson"], given["compliance"]
    if young is None and poisson is not None:
        raise ModelError(f"poisson of {what} goes with young, which is not given.")
    if young is not None and compliance is not None:
        raise ModelError(f"{what} has young and compliance, which both say how stiff it is; give one of them.")
    solid = None if young is None else Solid.checked(what, young, poisson, restitution)
    e = 0.0 if restitution is None or solid is not None else restitution
    law = contact_law(friction, e, compliance, what, dim, pair=False)
    if solid is not None:
        _refuse_elastic_friction(law.friction, what)
    density, fillet = (
        None if given[name] is None else _check.number(f"{name} of {what}", given[name], positive=True)
        for name in ("density", "fillet")
    )
    return Material(law.friction, law.restitution, law.compliance, solid, density, fillet)


def _has_direction(law: FrictionSet, rows: tuple[int, ...]) -> bool:
    """Whether a set in space differs from one direction to another by more than the corners of a regular polygon.

    Its support function over the angle of slip, or of rolling, then has a part that turns once or twice in a circle. A
    set written in Python is meant as it is, corners and all.
    """
    if law.slope == 0.0 or isinstance(law, Coulomb):
        return False
    angle, circle = _circle()
    for pair in ((TANGENT_1, TANGENT_2), (ROLL_1, ROLL_2)):
        if not set(pair) <= set(rows):
            continue
        u = np.zeros((len(angle), len(rows)))
        u[:, [rows.index(row) for row in pair]] = circle
        support = _support(law, u)
        if isinstance(law, ConvexSet) and np.ptp(support) > _SAMPLING_NOISE * support.max():
            return True
        if any(abs(support @ np.exp(1j * n * angle)) > _SAMPLING_NOISE * support.sum() for n in (1, 2)):
            return True
    return False


def _has_side(law: FrictionSet, rows: tuple[int, ...]) -> bool:
    """Whether a set in the plane changes where the two bodies, and with them the sign of rolling, are exchanged."""
    if rows != (TANGENT_1, ROLL_1) or law.slope == 0.0:
        return False
    u = _circle()[1]
    support = _support(law, u)
    return bool(np.abs(support - _support(law, u * [1.0, -1.0])).max() > _SAMPLING_NOISE * support.max())


def _circle() -> tuple[FloatArray, FloatArray]:
    angle = 2.0 * np.pi * np.arange(360) / 360
    return angle, np.column_stack([np.cos(angle), np.sin(angle)])


def _support(law: FrictionSet, u: FloatArray) -> FloatArray:
    """The support function, or for a set written in Python the function that it is given by."""
    return law.shape(u) if isinstance(law, ConvexSet) else np.array([x @ law.support_point(x) for x in u])


@dataclass
class Materials:
    """Materials by name, and the laws of pairs, by the names in the order in which they were given."""

    named: dict[str, Material] = field(default_factory=lambda: {DEFAULT: Material(DEFAULT_FRICTION)})
    pairs: dict[tuple[str, str], ContactLaw] = field(default_factory=dict)

    def set_pair(self, a: str, b: str, law: ContactLaw) -> None:
        """The law between two materials, with a first."""
        self.pairs.pop((b, a), None)
        self.pairs[a, b] = law

    def combined(self, a: str, b: str) -> tuple[ContactLaw, bool]:
        """The law between two materials, and whether b is first in it."""
        for pair in ((a, b), (b, a)):
            if pair in self.pairs:
                return self.pairs[pair], pair != (a, b)
        first, second = self.named[a], self.named[b]
        if (first.friction, first.restitution, first.compliance) == (
            second.friction, second.restitution, second.compliance
        ):  # fmt: skip
            return ContactLaw(first.friction, first.restitution, first.compliance or self._solid(a, b)), False
        for name, law in ((a, first), (b, second)):
            if not isinstance(law.friction, (Coulomb, Frictionless)):
                raise ModelError(
                    f"material {name!r} has {type(law.friction).__name__} friction, which has no rule of combination; "
                    f"give the pair with set_contact({a!r}, {b!r}, friction=...)."
                )
            if law.friction.speed_law is not None:
                raise ModelError(
                    f"material {name!r} has a coefficient that depends on speed, which has no rule of combination; "
                    f"give the pair with set_contact({a!r}, {b!r}, friction=...)."
                )
        mu = float(np.sqrt(first.friction.mu * second.friction.mu))
        self._refuse_soft(a, b)
        solid = self._solid(a, b)
        e = max(first.restitution, second.restitution, key=most) if solid is None else 0.0
        return ContactLaw(Coulomb(mu), e, solid), False

    def _refuse_soft(self, a: str, b: str) -> None:
        """Refuse two materials of which one has a compliance: there is no rule of combination."""
        for name, other in ((a, b), (b, a)):
            law, partner = self.named[name], self.named[other]
            elastic = partner.solid is not None or isinstance(partner.compliance, Elastic)
            if isinstance(law.compliance, Compliance) and elastic:
                raise ModelError(
                    f"material {name!r} has a Compliance and material {other!r} is elastic, which do not go together; "
                    f"make both elastic, or give the pair with set_contact({a!r}, {b!r}, compliance=...)."
                )
        for name in (a, b):
            if self.named[name].compliance is not None:
                raise ModelError(
                    f"material {name!r} has a compliance, which has no rule of combination; "
                    f"give the pair with set_contact({a!r}, {b!r}, compliance=...)."
                )

    def _solid(self, a: str, b: str) -> SolidContact | None:
        """What two materials make of a contact; None where both are rigid."""
        pair = self.named[a], self.named[b]
        solids = pair[0].solid, pair[1].solid
        if solids == (None, None):
            return None
        given = [one.restitution for one in solids if one is not None and one.restitution is not None]
        for name, law in zip((a, b), pair):
            if law.solid is None and most(law.restitution) > 0.0:
                if callable(law.restitution) or law_code(law.restitution):
                    raise ModelError(
                        f"material {name!r} has a restitution with a law of its own, and {b if name == a else a!r} is "
                        "elastic, which bounces by a damper; give a plain coefficient."
                    )
                given.append(law.restitution)  # type: ignore[arg-type]
        return SolidContact.between(solids, max(given, default=None))


@dataclass(frozen=True)
class LawTable:
    """The laws of a model as arrays: which law acts between two materials, or between two bodies where it was given.

    laws: the different ones, some of them twice: once for each order of the bodies; by_material (nm, nm); pair (m,)
    sorted keys a·nb + b, both orders of each pair, with by_pair (m,); rows (n,): rows of a contact under each law, the
    normal and then codes (n, 5), TANGENT_1 to ROLL_2, 0 where there are no more; side (n,): 1 where the first body of
    the contact is first in the law, -1 where the second is, and 0 where that makes no difference: it does where tangent
    1 follows axis (n, 3), fixed in the first, and for the sign of rolling in the plane; friction: the sets of the laws,
    and last those of joints, as a table.
    """

    laws: tuple[ContactLaw, ...]
    by_material: IntArray
    pair: IntArray
    by_pair: IntArray
    rows: IntArray
    codes: IntArray
    axis: FloatArray
    side: IntArray
    friction: FrictionTable

    @classmethod
    def build(
        cls,
        materials: Materials,
        used: list[str],
        pairs: dict[tuple[int, int], ContactLaw],
        nb: int,
        dim: int,
        dry: bool,
    ) -> LawTable:
        """For the materials `used` and the laws of body pairs, each in one order; dry: whether joints rub."""
        laws: list[tuple[ContactLaw, int]] = []

        def number(law: ContactLaw, turned: bool) -> int:
            rolls = dim == 2 and ROLL_1 in law.friction.contact_rows(dim)
            side = 0 if law.friction.axis is None and not rolls else -1 if turned else 1
            if (law, side) not in laws:
                laws.append((law, side))
            return laws.index((law, side))

        by_material = np.array([[number(*materials.combined(a, b)) for b in used] for a in used], dtype=np.int64)
        by_key = {a * nb + b: number(law, False) for (a, b), law in pairs.items()}
        by_key |= {b * nb + a: number(law, True) for (a, b), law in pairs.items() if a != b}
        keys = sorted(by_key)
        sets = [law.friction if law.friction.slope > 0.0 else None for law, _ in laws]
        codes = np.zeros((len(laws), MAX_DIM), dtype=np.int64)
        for row, one in zip(codes, sets):
            given = () if one is None else one.contact_rows(dim)
            row[: len(given)] = given
        tangents = (codes > 0).sum(axis=1)
        # the last is for joints, and the one before it for the friction in them
        table = FrictionTable.build([*sets, *[Coulomb(1.0)] * dry, None], [*tangents.tolist(), *[1] * dry, 0])
        return cls(
            laws=tuple(law for law, _ in laws),
            by_material=by_material,
            pair=np.array(keys, dtype=np.int64),
            by_pair=np.array([by_key[key] for key in keys], dtype=np.int64),
            rows=1 + tangents,
            codes=codes,
            axis=np.array([law.friction.axis or (0.0, 0.0, 0.0) for law, _ in laws]),
            side=np.array([side for _, side in laws], dtype=np.int64),
            friction=table,
        )

    @property
    def arrays(self) -> tuple[IntArray, FloatArray, IntArray]:
        """What the rows of contacts are made from: codes, axis and side."""
        return self.codes, self.axis, self.side

    @cached_property
    def soft(self) -> FloatArray | None:
        """(n, 3) kn, gamma_n and gamma_t of the laws, infinite stiffness for rigid ones; None where all are."""
        given = [law.compliance if isinstance(law.compliance, Compliance) else None for law in self.laws]
        return np.array([RIGID if one is None else one.row for one in given]) if any(given) else None

    @cached_property
    def elastic(self) -> FloatArray | None:
        """(n, 6) the laws in the columns of `systems/elastic.py`; None where nothing is elastic."""
        kinds = Elastic, SolidContact
        given = [law.compliance if isinstance(law.compliance, kinds) else None for law in self.laws]
        return np.array([RIGID_ROW if one is None else one.row for one in given]) if any(given) else None

    @cached_property
    def solid(self) -> bool:
        """Whether some stiffness follows from materials."""
        return self.elastic is not None and bool((self.elastic[:, MODULUS] > 0.0).any())

    @cached_property
    def bounciest(self) -> float:
        """The largest coefficient of restitution."""
        return max((most(law.restitution) for law in self.laws), default=0.0)

    @cached_property
    def impact(self) -> IntArray:
        """(n,) the impact law of each; 0: that of the scheme."""
        return np.array([law_code(law.restitution) for law in self.laws], dtype=np.int64)

    def restitution(self, number: IntArray, speed: FloatArray) -> FloatArray:
        """(n,) the coefficients of restitution of contacts with the laws `number` (n,), hit at `speed` (n,) [m/s]."""
        e = np.zeros(len(number))
        for k in np.unique(number).tolist():
            mine = number == k
            e[mine] = values("a contact", self.laws[k].restitution, speed[mine])
        return e

    def lookup(
        self, material_a: IntArray, material_b: IntArray, body_a: IntArray, body_b: IntArray, nb: int
    ) -> IntArray:
        """The number of the law of each contact."""
        law = self.by_material[material_a, material_b]
        if len(self.pair):
            key = body_a * nb + body_b
            at = np.minimum(np.searchsorted(self.pair, key), len(self.pair) - 1)
            law = np.where(self.pair[at] == key, self.by_pair[at], law)
        return law

    def table(self, law: IntArray, joints: IntArray) -> FrictionTable:
        """The friction table of joint blocks with the laws `joints` (`Law`), then contacts under the given laws."""
        unit = self.friction
        at = np.where(joints == DRY, -2, -1) if len(joints) else np.zeros(0, dtype=np.int64)
        set_of = np.concatenate([unit.set_of[at], unit.set_of[law]])
        return replace(unit, set_of=set_of, mu=np.concatenate([unit.mu[at], unit.mu[law]]))
