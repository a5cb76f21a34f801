"""GeneralizedSystem: the papers' own form, generalized coordinates with everything given as functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import _check
from ..._arguments import checks_arguments
from ..._check import FloatArray, IntArray
from ...errors import ModelError
from ...friction.table import FrictionTable
from ...problem.dynamics import Dense, Dynamics
from ..base import Candidates, Constraints, Energy, Geometry, State
from ..compliance import RIGID
from ..restitution import law_code, most, values
from .constraints import Bilateral, DryFriction, Gap
from .derivatives import derivative


class GeneralizedSystem:
    """A mechanical system M(q) v' = k(t, q, v) + contact forces, q' = v, in n generalized coordinates.

    mass: (n, n) array, or a function of q; symmetric positive definite. forces: (n,) array, a function k(t, q, v) that
    includes the velocity-product terms, or None. q, v: the initial configuration and velocity (n,); v defaults to
    rest. gaps: `Gap`s (contacts); constraints: `Bilateral`s (joints); friction: `DryFriction`s (gear boxes).
    potential: V(q) [J], used for the energy balance only (the forces already contain -∂V/∂q); for constant mass and
    constant forces it is known, -kᵀq. names: what to call the coordinates.
    """

    @checks_arguments
    def __init__(
        self,
        mass: Any,
        forces: Any = None,
        *,
        q: Any,
        v: Any = None,
        gaps: Sequence[Gap] = (),
        constraints: Sequence[Bilateral] = (),
        friction: Sequence[DryFriction] = (),
        potential: Callable[[FloatArray], float] | None = None,
        names: Sequence[str] | None = None,
        t: float = 0.0,
    ):
        q = _check.floats("q", q, (None,)).copy()
        n = q.size
        if n == 0:
            raise ModelError("q must have at least one coordinate.")
        self.nq = self.nv = n
        self._initial = State(
            _check.number("t", t), q, np.zeros(n) if v is None else _check.floats("v", v, (n,)).copy()
        )
        self.coordinate_names = tuple(names) if names is not None else tuple(f"q{i}" for i in range(n))
        if len(set(self.coordinate_names)) != n:
            raise ModelError(f"names must hold {n} different names; got {list(self.coordinate_names)}.")
        self.velocity_names = tuple(f"v_{name}" for name in self.coordinate_names)
        self._mass_function = mass if callable(mass) else None
        self._mass = None if callable(mass) else _check.mass_matrix("mass", mass, n).copy()
        if forces is None:
            forces = np.zeros(n)
        self._force_function = forces if callable(forces) else None
        self._force = None if callable(forces) else _check.floats("forces", forces, (n,)).copy()
        self._potential = potential
        self._power: Callable[[float, FloatArray, FloatArray], float] | None = None
        if potential is None and self._mass is not None and self._force is not None:
            force = self._force
            self._potential = lambda x: -float(force @ x)
            self._power = lambda t, x, y: 0.0
        self._given = [*gaps, *constraints, *friction]
        self._parts = _prepared(self._given, self._initial, n)
        self._all = self._candidates()
        self.restitution = max((most(p.restitution) for p in self._parts if isinstance(p, Gap)), default=0.0)
        given = [getattr(p, "compliance", None) for p in self._parts]
        self._soft = np.array([RIGID if c is None else c.row for c in given]) if any(given) else None
        self.mass(q)
        self.forces(self._initial.t, q, self._initial.v)
        self.energy(q, self._initial.v)

    @classmethod
    @checks_arguments
    def from_lagrangian(
        cls,
        mass: Any,
        potential: Callable[[FloatArray], float] | None = None,
        *,
        forces: Callable[[float, FloatArray, FloatArray], Any] | None = None,
        **options: Any,
    ) -> GeneralizedSystem:
        """The system of the Lagrangian L = ½ vᵀM(q)v - V(q), with further forces(t, q, v) that have no potential.

        The Euler–Lagrange equations give (st96 eq. 5–7, 10, the sign of its velocity-product terms corrected)
        `k_l = -½ Σ (∂m_li/∂q_j + ∂m_lj/∂q_i - ∂m_ij/∂q_l) v_i v_j - ∂V/∂q_l`; the derivatives are computed. `options`
        are those of `GeneralizedSystem`.
        """
        mass_of = mass if callable(mass) else None

        def k(t: float, q: FloatArray, v: FloatArray) -> FloatArray:
            out = np.zeros(q.size)
            if mass_of is not None:
                dM = derivative(lambda x: np.asarray(mass_of(x), dtype=float), q)  # dM[i, j, l] = ∂m_ij/∂q_l
                Mdot_v = np.einsum("lij,j,i->l", dM, v, v)
                out -= Mdot_v - 0.5 * np.einsum("ijl,i,j->l", dM, v, v)
            if potential is not None:
                out -= derivative(lambda x: np.float64(_value(potential, x)), q)
            if forces is not None:
                out += _check.floats("forces(t, q, v)", forces(t, q, v), (q.size,))
            return out

        system = cls(mass, k, potential=potential if potential is not None else lambda q: 0.0, **options)
        system._power = (
            (lambda t, q, v: 0.0) if forces is None else (lambda t, q, v: float(v @ np.asarray(forces(t, q, v))))
        )
        return system

    # --- the state and its manifold

    def initial_state(self) -> State:
        """The state at which a run starts; its arrays are the caller's to change."""
        return State(self._initial.t, self._initial.q.copy(), self._initial.v.copy())

    def retract(self, q: FloatArray, dq: FloatArray) -> FloatArray:
        """q + dq: generalized coordinates form a vector space."""
        return q + dq

    def difference(self, q0: FloatArray, q1: FloatArray) -> FloatArray:
        """q1 - q0."""
        return q1 - q0

    def chart_rate(self, dq: FloatArray, v: FloatArray) -> FloatArray:
        """v."""
        return v

    # --- mass, forces, energy

    def mass(self, q: FloatArray) -> FloatArray:
        """M(q), checked to be symmetric positive definite."""
        if self._mass is not None:
            return self._mass
        assert self._mass_function is not None
        return _check.mass_matrix("mass(q)", self._mass_function(q), self.nv)

    def forces(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """k(t, q, v)."""
        if self._force is not None:
            return self._force
        assert self._force_function is not None
        return _check.floats("forces(t, q, v)", self._force_function(t, q, v), (self.nv,))

    def push(self, dynamics: Dynamics, state: State, h: float, t: float, q: FloatArray) -> FloatArray:
        """v + h M⁻¹ k(t, q, v)."""
        assert isinstance(dynamics, Dense)
        return np.asarray(state.v + h * dynamics.minv(self.forces(t, q, state.v)))

    def mass_place(self, start: FloatArray, at: FloatArray) -> FloatArray:
        """`at`."""
        return at

    def move(self, q: FloatArray, v: FloatArray, h: float) -> tuple[FloatArray, FloatArray]:
        """q + h v and v: the terms of M(q) that change with q are among the forces."""
        return q + h * v, v

    def carried(self, q: FloatArray, v: FloatArray, to: FloatArray) -> FloatArray:
        """v."""
        return v

    def speed_bound(self, state: State, h: float) -> float:
        """Infinite: generalized coordinates say nothing about points in space."""
        return np.inf

    def approach_bound(self, state: State, enough: float) -> float:
        """Infinite, as the speed."""
        return np.inf

    def energy(self, q: FloatArray, v: FloatArray) -> Energy:
        """Kinetic and potential energy [J]; the potential is 0 where none is known."""
        V = 0.0
        if self._potential is not None:
            V = _value(self._potential, q)
        return Energy(0.5 * float(v @ self.mass(q) @ v), V)

    def applied_power(self, t: float, q: FloatArray, v: FloatArray) -> float | None:
        """Power of the forces without a potential: vᵀk + ½ vᵀṀv + ∂V/∂q·v, the rate of T + V in free motion."""
        if self._power is not None:
            return self._power(t, q, v)
        if self._potential is None:
            return None
        along = np.zeros(1)
        rate = derivative(lambda s: np.float64(self.energy(q + s[0] * v, v).total), along)[0]
        return float(v @ self.forces(t, q, v)) + float(rate)

    # --- constraints

    def detect(self, t: float, q: FloatArray, band: float) -> Candidates:
        """Every constraint: a generalized system has few, and knows no distance beyond its gap functions."""
        return self._all

    def detect_on_the_way(self, t: float, q: FloatArray, to: FloatArray, band: float, reach: float) -> Candidates:
        """Every constraint."""
        return self._all

    def gaps(self, candidates: Candidates, t: float, q: FloatArray) -> FloatArray:
        """(nk,) the gap of each contact, the largest residual of a joint, 0 for dry friction."""
        return np.array([self._parts[key].value(t, q) for key in candidates.key.tolist()])

    def joined(self, found: Candidates, more: Candidates) -> Candidates:
        """`found`: all gap functions are found at once."""
        return found

    def evaluate(self, candidates: Candidates, t: float, q: FloatArray) -> Constraints:
        """Values and rows of the candidates at q."""
        parts = [self._parts[key] for key in candidates.key.tolist()]
        value = np.concatenate([part.values(t, q) for part in parts]) if parts else np.zeros(0)
        rows = np.vstack([part.rows(t, q) for part in parts]) if parts else np.zeros((0, self.nv))
        bound = np.array([part.bound(t, q) for part in parts])
        soft = self._soft[candidates.key] if self._soft is not None else None
        return Constraints(candidates, value, np.ascontiguousarray(rows), bound, np.ones(len(value)), soft=soft)

    def dynamics(self, q: FloatArray, constraints: Constraints) -> Dense:
        """The Dense form with the mass at q."""
        return Dense(self.mass(q), constraints.rows, check=False)

    def contact_geometry(self, candidates: Candidates, q: FloatArray) -> Geometry:
        """Unknown: gap functions have no place in space."""
        nk = len(candidates.key)
        return Geometry(np.full((nk, 2), -1), np.zeros((nk, 3)), np.zeros((nk, 3)), np.zeros((nk, 3)))

    def constraint_name(self, key: int) -> str:
        """The name of a gap, constraint or dry friction."""
        return str(self._parts[key].name)

    @checks_arguments
    def constraint_key(self, name: str | Gap | Bilateral | DryFriction) -> int:
        """The key of a constraint, by its name or by the object itself."""
        for key, (given, part) in enumerate(zip(self._given, self._parts)):
            if given is name or part.name == name:
                return key
        wanted = getattr(name, "name", name)
        raise ModelError(f"there is no constraint {wanted!r}; there are {[p.name for p in self._parts]}.")

    def _candidates(self) -> Candidates:
        sizes = [part.size for part in self._parts]
        friction = [part.friction for part in self._parts]
        dims = [part.size - 1 if isinstance(part, Gap) else part.size if isinstance(part, DryFriction) else 0 for part in self._parts]  # fmt: skip  # noqa: E501
        return _Candidates(
            key=np.arange(len(sizes)),
            law=np.array([int(part.law) for part in self._parts], dtype=np.int64),
            row_ptr=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            friction=FrictionTable.build([f if d else None for f, d in zip(friction, dims)], dims),
            parts=tuple(self._parts),
        )


def _value(potential: Callable[[FloatArray], float], q: FloatArray) -> float:
    """V(q), which must be one number."""
    return float(_check.floats("potential(q)", np.squeeze(potential(q)), ()))


@dataclass(frozen=True)
class _Candidates(Candidates):
    """Gaps, constraints and dry friction, with the parts that they are."""

    parts: tuple[Any, ...]

    def restitution(self, speed: FloatArray) -> FloatArray:
        """(nk,) the coefficient of restitution of each gap that is hit at `speed` (nk,) [m/s]; 0 for others."""
        e = np.zeros(len(self.parts))
        for k, part in enumerate(self.parts):
            if isinstance(part, Gap):
                e[k] = values(f"gap {part.name!r}", part.restitution, speed[k : k + 1])[0]
        return e

    @property
    def impact_laws(self) -> IntArray:
        """(nk,) the impact law of each gap; 0: that of the scheme."""
        return np.array([law_code(getattr(part, "restitution", 0.0)) for part in self.parts], dtype=np.int64)

    def _take(self, chosen: IntArray) -> _Candidates:
        base = super()._take(chosen)
        return _Candidates(base.key, base.law, base.row_ptr, base.friction, tuple(self.parts[k] for k in chosen))


def _prepared(parts: list[Any], state: State, n: int) -> list[Any]:
    counts: dict[type, int] = {}
    prefix = {Gap: "contact", Bilateral: "joint", DryFriction: "friction"}
    names: set[str] = set()
    prepared = []
    for part in parts:
        if type(part) not in prefix:
            raise ModelError(
                f"gaps, constraints and friction take Gap, Bilateral and DryFriction; got {type(part).__name__}."
            )
        number = counts.get(type(part), 0)
        counts[type(part)] = number + 1
        name = part.given_name or f"{prefix[type(part)]}{number}"
        if name in names:
            raise ModelError(f"two constraints are named {name!r}; names must differ.")
        names.add(name)
        part.name = name
        made = copy(part)  # the caller's object may serve in another system, under another name
        made.prepare(name, state.t, state.q, n)
        prepared.append(made)
    return prepared
