"""Which friction and restitution act between two bodies.

Looked up in this order: the pair of bodies (`set_contact(a, b)`), the pair of materials (`set_contact` with material
names), and otherwise the combination of the two materials: friction coefficients by their geometric mean, restitution
by the larger. Only Coulomb friction with plain numbers can be combined; other laws are given for pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from .. import _check
from .._check import IntArray
from ..errors import ModelError
from ..friction import Coulomb, Frictionless, FrictionSet, Mixed, Rolling, Torsional, as_friction
from ..friction.table import FrictionTable
from ..problem.laws import DRY

DEFAULT = "default"


@dataclass(frozen=True)
class ContactLaw:
    """Friction and restitution of a pair."""

    friction: FrictionSet
    restitution: float = 0.0


def contact_law(friction: FrictionSet | float | None, restitution: float, what: str) -> ContactLaw:
    """Checked."""
    e = _check.number(f"restitution of {what}", restitution, low=0.0)
    if e > 1:
        raise ModelError(f"restitution of {what} must be at most 1; got {e:g}.")
    law = as_friction(friction, f"friction of {what}")
    if isinstance(law, (Torsional, Mixed, Rolling)):
        raise ModelError(
            f"friction of {what} is {type(law).__name__}, but contacts of a world have rows of slip only, none of spin "
            "or rolling; use it in a ContactProblem or in a Gap of a GeneralizedSystem."
        )
    return ContactLaw(law, e)


@dataclass
class Materials:
    """Materials by name, and the laws of pairs."""

    named: dict[str, ContactLaw] = field(default_factory=lambda: {DEFAULT: ContactLaw(Coulomb(0.5))})
    pairs: dict[frozenset[str], ContactLaw] = field(default_factory=dict)

    def combined(self, a: str, b: str) -> ContactLaw:
        """The law between two materials."""
        given = self.pairs.get(frozenset((a, b)))
        if given is not None:
            return given
        first, second = self.named[a], self.named[b]
        if first == second:
            return first
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
        return ContactLaw(Coulomb(mu), max(first.restitution, second.restitution))


@dataclass(frozen=True)
class LawTable:
    """The laws of a model as arrays: which law acts between two materials, or between two bodies where it was given.

    laws: the different ones; by_material (nm, nm); pair (m,) sorted keys a·nb + b (a < b) with by_pair (m,); rows (n,):
    rows of a contact under each law; friction: the sets of the laws, and last those of joints, as a table.
    """

    laws: tuple[ContactLaw, ...]
    by_material: IntArray
    pair: IntArray
    by_pair: IntArray
    rows: IntArray
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
        """For the materials `used` and the laws of body pairs (a < b); `dim` - 1 tangent rows if there is friction.

        dry: whether joints rub.
        """
        laws: list[ContactLaw] = []

        def number(law: ContactLaw) -> int:
            if law not in laws:
                laws.append(law)
            return laws.index(law)

        by_material = np.array([[number(materials.combined(a, b)) for b in used] for a in used], dtype=np.int64)
        keys = sorted(pairs)
        by_pair = np.array([number(pairs[key]) for key in keys], dtype=np.int64)
        tangents = [(dim - 1) if law.friction.mu > 0 else 0 for law in laws]
        sets = [law.friction if t else None for law, t in zip(laws, tangents)]
        # the last is for joints, and the one before it for the friction in them
        table = FrictionTable.build([*sets, *[Coulomb(1.0)] * dry, None], [*tangents, *[1] * dry, 0])
        return cls(
            laws=tuple(laws),
            by_material=by_material,
            pair=np.array([a * nb + b for a, b in keys], dtype=np.int64),
            by_pair=by_pair,
            rows=1 + np.array(tangents, dtype=np.int64),
            friction=table,
        )

    def lookup(
        self, material_a: IntArray, material_b: IntArray, body_a: IntArray, body_b: IntArray, nb: int
    ) -> IntArray:
        """The number of the law of each contact."""
        law = self.by_material[material_a, material_b]
        if len(self.pair):
            key = np.minimum(body_a, body_b) * nb + np.maximum(body_a, body_b)
            at = np.minimum(np.searchsorted(self.pair, key), len(self.pair) - 1)
            law = np.where(self.pair[at] == key, self.by_pair[at], law)
        return law

    def table(self, law: IntArray, joints: IntArray) -> FrictionTable:
        """The friction table of joint blocks with the laws `joints` (`Law`), then contacts under the given laws."""
        unit = self.friction
        at = np.where(joints == DRY, -2, -1) if len(joints) else np.zeros(0, dtype=np.int64)
        set_of = np.concatenate([unit.set_of[at], unit.set_of[law]])
        return replace(unit, set_of=set_of, mu=np.concatenate([unit.mu[at], unit.mu[law]]))
