"""ContactProblem: a linearised step as a mixed complementarity problem, the currency between schemes and solvers.

    v = v_free + M⁻¹ Gᵀ p        u = H v + b + C p        each block's (u, p) obeys its law

A block is 1 to 6 consecutive rows: one contact, joint, limit, motor or dry friction. Blocks need not be sorted; their
`key` is their identity over time. All arrays are validated once, here, and are C-contiguous float64 or int64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _check
from .._check import FloatArray, IntArray
from ..errors import ModelError
from ..friction.sets import FrictionSet
from ..friction.table import FrictionTable
from .certificate import SolveCertificate, certify
from .dynamics import Bodies, Delassus, Dense, Dynamics
from .laws import DRY, UNILATERAL, Law
from .records import Laws

if TYPE_CHECKING:
    from .polyhedral import PolyhedralLCP
    from .redundant import Redundant

# residuals that may be compared with a tolerance
MEASURES = ["scaled_map", "natural_map"]


@dataclass(frozen=True, eq=False)
class ContactProblem:
    """A contact problem with nv velocities, nr rows and nk blocks.

    dynamics: `Dense`, `Bodies` or `Delassus`; v_free (nv,); b (nr,): gap/h, restitution, stabilisation, ∂gap/∂t;
    C (nr,) >= 0 compliance, 0 for rigid; row_ptr (nk+1,); law (nk,) of `Law`; friction: one set per block (or a
    coefficient, or None), or a `FrictionTable`; r0 (nk,) >= 0, the part of the friction radius that needs no normal
    impulse [N·s]; lo, hi (nr,) bounds of BOX rows; associated: the convex relaxation instead of Coulomb's law;
    length (nr,): 1, or metres for rotational rows; key (nk,) identity over time; kind (nk,) what the system calls
    the block; p_warm (nr,) a first guess; v_start (nv,) or None: the velocity at the start of the step that this is,
    by which solvers tell rest from motion; measure: which of the certificate's maps is held against a tolerance,
    "scaled_map", which has no units, or "natural_map", that of published comparisons (FCLIB files); elastic: whether
    every contact is elastic by its own law, so that the problem is well posed and sweeps are given the time to meet a
    tolerance. Arrays of the right type are not copied: do not change them afterwards.
    """

    dynamics: Dynamics
    v_free: FloatArray
    b: FloatArray
    row_ptr: IntArray
    law: IntArray
    friction: FrictionTable
    r0: FloatArray
    C: FloatArray
    lo: FloatArray
    hi: FloatArray
    associated: bool
    length: FloatArray
    key: IntArray
    kind: IntArray
    p_warm: FloatArray
    v_start: FloatArray | None
    measure: str = "scaled_map"
    elastic: bool = False

    def __init__(
        self,
        dynamics: Dynamics,
        *,
        row_ptr: Any,
        law: Any,
        v_free: Any = None,
        b: Any = None,
        friction: FrictionTable | Sequence[FrictionSet | float | None] | None = None,
        r0: Any = None,
        C: Any = None,
        lo: Any = None,
        hi: Any = None,
        associated: bool = False,
        length: Any = None,
        key: Any = None,
        kind: Any = None,
        p_warm: Any = None,
        v_start: Any = None,
        measure: str = "scaled_map",
        elastic: bool = False,
    ):
        if not isinstance(dynamics, (Dense, Bodies, Delassus)):
            raise ModelError(f"dynamics must be Dense, Bodies or Delassus; got {type(dynamics).__name__}.")
        nr, nv = dynamics.nr, dynamics.nv
        row_ptr = _check.integers("row_ptr", row_ptr, (None,))
        if len(row_ptr) == 0 or row_ptr[0] != 0 or row_ptr[-1] != nr:
            raise ModelError(f"row_ptr must start at 0 and end at the number of rows, {nr}; got {row_ptr.tolist()}.")
        sizes = np.diff(row_ptr)
        nk = len(sizes)
        if nk and (sizes.min() < 1 or sizes.max() > 6):
            raise ModelError(f"block {int(np.argmax((sizes < 1) | (sizes > 6)))} must have 1 to 6 rows.")
        if isinstance(dynamics, Bodies) and not np.array_equal(dynamics.row_ptr, row_ptr):
            raise ModelError("row_ptr must be the one that the Bodies form was made with.")
        law = _check.integers("law", law, (nk,))
        if nk and not (law.min() >= 0 and law.max() < len(Law)):
            raise ModelError(f"law must hold values of Law (0 to {len(Law) - 1}); got {law.min()} to {law.max()}.")

        def rows(name: str, value: Any, default: float, *, finite: bool = True) -> FloatArray:
            return np.full(nr, default) if value is None else _check.floats(name, value, (nr,), finite=finite)

        set_ = object.__setattr__
        set_(self, "dynamics", dynamics)
        set_(self, "row_ptr", row_ptr)
        set_(self, "law", law)
        set_(self, "v_free", np.zeros(nv) if v_free is None else _check.floats("v_free", v_free, (nv,)))
        set_(self, "v_start", None if v_start is None else _check.floats("v_start", v_start, (nv,)))
        set_(self, "b", rows("b", b, 0.0))
        set_(self, "C", rows("C", C, 0.0))
        set_(self, "lo", rows("lo", lo, -np.inf, finite=False))
        set_(self, "hi", rows("hi", hi, np.inf, finite=False))
        set_(self, "length", rows("length", length, 1.0))
        set_(self, "p_warm", rows("p_warm", p_warm, 0.0))
        set_(self, "r0", np.zeros(nk) if r0 is None else _check.floats("r0", r0, (nk,)))
        set_(self, "key", np.arange(nk) if key is None else _check.integers("key", key, (nk,)))
        set_(self, "kind", np.zeros(nk, dtype=np.int64) if kind is None else _check.integers("kind", kind, (nk,)))
        if not isinstance(associated, (bool, np.bool_)):
            raise ModelError(f"associated must be True or False; got {_check.describe(associated)}.")
        set_(self, "associated", bool(associated))
        if not isinstance(elastic, (bool, np.bool_)):
            raise ModelError(f"elastic must be True or False; got {_check.describe(elastic)}.")
        set_(self, "measure", _check.choice("measure", measure, MEASURES))
        set_(self, "elastic", bool(elastic))
        set_(self, "friction", self._friction_table(friction, sizes))
        self._check_values()

    def _friction_table(self, friction: Any, sizes: IntArray) -> FrictionTable:
        dims = np.where(self.law == UNILATERAL, sizes - 1, np.where(self.law == DRY, sizes, 0))
        nk = len(sizes)
        if isinstance(friction, FrictionTable):
            if len(friction.set_of) != nk or not np.array_equal(friction.dims[friction.set_of], dims):
                raise ModelError("the FrictionTable does not fit the blocks: one set per block with its friction rows.")
            return friction
        if friction is None and not dims.any():
            return FrictionTable.build([None], [0]).take(np.zeros(nk, dtype=np.int64))
        if friction is None:
            friction = [None] * nk
        elif isinstance(friction, (FrictionSet, int, float)):
            friction = [friction if d else None for d in dims]
        if not isinstance(friction, (Sequence, np.ndarray)) or isinstance(friction, str):
            raise ModelError(
                f"friction must be a friction set, a coefficient or a list of them; got {_check.describe(friction)}."
            )
        if len(friction) != nk:
            raise ModelError(f"friction must have one set per block ({nk}); got {len(friction)}.")
        return FrictionTable.build([f if d else None for f, d in zip(friction, dims)], dims.tolist())

    def _check_values(self) -> None:
        for name, array, bad, right in (
            ("C", self.C, self.C < 0, "at least 0"),
            ("length", self.length, self.length <= 0, "greater than 0"),
            ("r0", self.r0, self.r0 < 0, "at least 0"),
            ("lo", self.lo, np.isnan(self.lo) | (self.lo > self.hi), "at most hi"),
            ("hi", self.hi, np.isnan(self.hi), "a number"),
        ):
            if bad.any():
                i = int(np.argmax(bad))
                raise ModelError(f"{name} must be {right}; {name}[{i}] is {array[i]:g}.")
        normal = self.row_ptr[:-1][(self.law == UNILATERAL) & (np.diff(self.row_ptr) > 1)]
        if (self.length[normal] != 1.0).any():
            i = int(normal[np.argmax(self.length[normal] != 1.0)])
            raise ModelError(
                f"length must be 1 in the normal row of a contact with friction; length[{i}] is {self.length[i]:g}."
            )

    @classmethod
    def trusted(cls, dynamics: Bodies, values: dict[str, Any], **arrays: Any) -> ContactProblem:
        """A problem without checks, of arrays from a compiled step; values: of `q`, `rho` and `scale`."""
        instance = object.__new__(cls)
        kind = np.zeros(len(arrays["law"]), dtype=np.int64)
        instance.__dict__.update(dynamics=dynamics, kind=kind, **arrays, **values)
        return instance

    @classmethod
    def from_delassus(cls, W: Any, q: Any, **blocks: Any) -> ContactProblem:
        """The problem `u = W p + q` without masses and velocities, as FCLIB's local files hold it."""
        dynamics = Delassus(W)
        return cls(dynamics, b=_check.floats("q", q, (dynamics.nr,)), **blocks)

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return self.dynamics.nv

    @property
    def nr(self) -> int:
        """Number of rows."""
        return self.dynamics.nr

    @property
    def nk(self) -> int:
        """Number of blocks."""
        return len(self.law)

    @cached_property
    def q(self) -> FloatArray:
        """H v_free + b: the velocities u that no impulse would leave, so that u = W p + C p + q."""
        return self.dynamics.velocity_rows(self.v_free) + self.b

    @cached_property
    def laws(self) -> Laws:
        """The laws of all blocks, as kernels take them."""
        f = self.friction
        return Laws(
            self.law, self.row_ptr, f.set_of, f.mu, self.r0, f.kind, f.semi, f.vertices, f.vertex_ptr, f.facets,
            f.facet_ptr, self.lo, self.hi, self.length, self.C, self.associated,
        )  # fmt: skip

    @cached_property
    def scale(self) -> float:
        """What residuals are relative to [m/s]: |q|, or 1e-8 of the terms whose round-off is in u where q is tiny.

        Those terms are |H||v_free| and |b|, which may cancel in q, and the velocities that the given bounds of dry
        friction and boxes can cause.
        """
        from .body_kernels import residual_scale

        terms = self.dynamics.row_magnitude(self.v_free)
        return float(
            residual_scale(self.row_ptr, self.q, terms, self.b, self.length, self.r0, self.lo, self.hi, self.rho)
        )

    @cached_property
    def rho(self) -> FloatArray:
        """(nk,) each block's inertia as seen by its rows [kg]: the natural unit of impulse per velocity."""
        from .body_kernels import block_weights

        rho = np.empty(self.nk)
        block_weights(0, self.nk, self.row_ptr, self.dynamics.delassus_diagonal(self.row_ptr), self.C, self.length, rho)
        return rho

    @property
    def map_step(self) -> FloatArray:
        """(nk,) the step of the natural map that is held against a tolerance: rho [kg], or 1 (`measure`)."""
        return self.rho if self.measure == "scaled_map" else np.ones(self.nk)

    @cached_property
    def redundant(self) -> list[Redundant]:
        """The mechanisms of rigid joints whose rows depend on each other, and how."""
        from .redundant import redundant

        return redundant(self)

    def velocity(self, p: FloatArray) -> FloatArray:
        """v = v_free + M⁻¹ Gᵀ p."""
        return self.v_free + self.dynamics.velocity_change(p) if self.nr else self.v_free.copy()

    def delassus(self) -> FloatArray:
        """W + diag(C), dense."""
        W = self.dynamics.delassus()
        return W + np.diag(self.C) if self.C.any() else W

    def certify(self, p: Any, v: Any = None) -> SolveCertificate:
        """How well impulses p (nr,), and velocities v (nv,) if given, obey the laws of this problem."""
        p = _check.floats("p", p, (self.nr,), finite=False)
        v = None if v is None else _check.floats("v", v, (self.nv,), finite=False)
        return certify(self, p, v)[0]

    def modes(self, p: Any) -> IntArray:
        """(nk,) the `Mode` of each block for impulses p."""
        return certify(self, _check.floats("p", p, (self.nr,)))[1]

    def islands(self) -> IntArray:
        """(nk,) labels 0, 1, ...: blocks with different labels do not act on each other and can be solved apart."""
        from scipy.sparse.csgraph import connected_components

        labels = connected_components(self.dynamics.coupling(self.row_ptr), directed=False)[1] if self.nk else []
        return np.asarray(labels, dtype=np.int64)

    def polyhedral(self, directions: int = 8) -> ContactProblem:
        """The same problem with every smooth friction set replaced by `directions` directions (st96 eq. 12)."""
        table = self.friction.polyhedral(directions)
        return self if table is self.friction else self.replace(friction=table)

    def with_coefficients(self, mu: FloatArray) -> ContactProblem:
        """The same problem with coefficients mu (nk,) that no longer depend on the speed of slip.

        A law of speed scales the whole radius of friction, so that r0 changes as mu does.
        """
        table, k = self.friction, self.friction.varying
        r0 = self.r0.copy()
        r0[k] *= mu[k] / table.mu[k]
        instance = self.replace(friction=table.at(mu), r0=r0)
        instance.__dict__.update({name: self.__dict__[name] for name in ("q", "rho") if name in self.__dict__})
        return instance

    def to_lcp(self, directions: int = 8) -> PolyhedralLCP:
        """The mixed LCP of the polyhedral problem (st96 eq. 17, 29, 32; ah03 eq. 2.11), with the map back to p."""
        from .polyhedral import to_lcp

        return to_lcp(self, directions)

    def to_dense(self) -> ContactProblem:
        """The same problem on the `Dense` form; prescribed velocities of `Bodies` move into b."""
        form, moving, prescribed = self.dynamics.dense()
        b = self.b if prescribed is None else self.b + prescribed @ self.v_free
        return self.replace(dynamics=form, v_free=moving(self.v_free), b=b)

    def replace(self, **changes: Any) -> ContactProblem:
        """The same problem with some of its arrays replaced, checked anew."""
        names = [
            "v_free",
            "b",
            "row_ptr",
            "law",
            "friction",
            "r0",
            "C",
            "lo",
            "hi",
            "associated",
            "length",
            "key",
            "kind",
            "p_warm",
            "measure",
            "elastic",
        ]
        fields = {name: getattr(self, name) for name in names}
        if "dynamics" not in changes:  # another form may have other velocities
            fields["v_start"] = self.v_start
        fields |= changes
        return ContactProblem(fields.pop("dynamics", self.dynamics), **fields)

    def __repr__(self) -> str:
        laws = ", ".join(f"{int((self.law == l).sum())} {l.name.lower()}" for l in Law if (self.law == l).any())
        return (
            f"ContactProblem({type(self.dynamics).__name__}, {self.nk} blocks ({laws}), {self.nr} rows, nv={self.nv})"
        )
