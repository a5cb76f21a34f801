"""What moves: the interface that every system offers to the schemes, and the arrays that pass through it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from .._check import FloatArray, IntArray
from ..friction.table import Directions, FrictionTable, row_codes
from ..problem.dynamics import Dynamics
from ..problem.laws import EQUALITY, UNILATERAL
from .compliance import soften
from .elastic import MEMORY

if TYPE_CHECKING:
    from .model.mechanism import Mechanism

MAX_ROWS = 6  # normal, tangent 1, tangent 2, spin, roll 1, roll 2


@dataclass(frozen=True)
class State:
    """Time t [s], configuration q (nq,), velocity v (nv,), and what the last step did at its constraints.

    keys (nc,) and impulses (nc, 6) are the memory of the last step: schemes use them to know which contacts were
    active and to start solvers warm. The first column is the normal impulse of a contact, the others are its further
    rows one after the other, whatever they are. springs (nc, 8): the displacement of elastic contacts and what belongs
    to it (`elastic.py`), zero for others; no rows where nothing is elastic.
    """

    t: float
    q: FloatArray
    v: FloatArray
    keys: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    impulses: FloatArray = field(default_factory=lambda: np.zeros((0, MAX_ROWS)))
    springs: FloatArray = field(default_factory=lambda: np.zeros((0, 8)))

    def was_active(self, keys: IntArray) -> np.ndarray:
        """Which of `keys` carried an impulse in the last step."""
        known, at = self.find(keys)
        active = np.zeros(len(keys), dtype=bool)
        active[known] = (self.impulses[at] != 0).any(axis=1)
        return active

    def warm(self, keys: IntArray, row_ptr: IntArray) -> FloatArray:
        """The last step's impulses in the rows of constraints `keys`; zero for new ones."""
        padded = np.zeros((len(keys), MAX_ROWS))
        known, at = self.find(keys)
        padded[known] = self.impulses[at]
        return padded[np.arange(MAX_ROWS) < np.diff(row_ptr)[:, None]]

    def find(self, keys: IntArray) -> tuple[IntArray, IntArray]:
        """Positions in `keys` (sorted) of those known from the last step, and where they are in self.keys (sorted)."""
        if not len(self.keys):
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        known = np.flatnonzero(self.keys[at] == keys)
        return known, at[known]


@dataclass(frozen=True)
class Energy:
    """Kinetic and potential energy [J]; a system without a known potential reports 0.

    elastic: the part of the potential that is in springs and compliant joints.
    """

    kinetic: float
    potential: float
    elastic: float = 0.0

    @property
    def total(self) -> float:
        """Kinetic plus potential energy [J]."""
        return self.kinetic + self.potential


@dataclass(frozen=True)
class Candidates:
    """Which constraints could act, sorted by key; `evaluate` gives their values at any configuration.

    key (nk,) identity over time; law (nk,); row_ptr (nk+1,); friction: one set per block.
    """

    key: IntArray
    law: IntArray
    row_ptr: IntArray
    friction: FrictionTable

    @property
    def contact(self) -> np.ndarray:
        """(nk,) whether each is a contact."""
        return self.law == UNILATERAL

    @property
    def codes(self) -> IntArray:
        """(nk, 5) what the rows after the normal of each contact are, TANGENT_1 to ROLL_2; 0 where there are none."""
        return row_codes(self.friction.sets, tuple(self.friction.dims.tolist()))[self.friction.set_of]

    @property
    def rigid(self) -> np.ndarray:
        """(nk,) whether each is a joint that holds exactly."""
        return self.law == EQUALITY

    @property
    def limit(self) -> np.ndarray:
        """(nk,) whether each is a limit of a joint; they always act."""
        return np.zeros(len(self.key), dtype=bool)

    def restitution(self, speed: FloatArray) -> FloatArray:
        """(nk,) the coefficient of restitution of each contact that is hit at `speed` (nk,) [m/s]; 0 for others."""
        return np.zeros(len(self.key))

    @property
    def impact_laws(self) -> IntArray:
        """(nk,) the impact law of each contact (`systems/restitution.py`); 0: that of the scheme."""
        return np.zeros(len(self.key), dtype=np.int64)

    def take(self, mask: np.ndarray) -> Candidates:
        """The selected candidates; the same selection gives the same object, and with it what is derived from it."""
        cache: dict[bytes, Candidates] = self.__dict__.setdefault("_taken", {})
        name = mask.tobytes()
        if name not in cache:
            if len(cache) > 64:  # a long run with ever new selections must not fill the memory
                cache.clear()
            cache[name] = self._take(np.flatnonzero(mask))
        return cache[name]

    def _take(self, chosen: IntArray) -> Candidates:
        sizes = np.diff(self.row_ptr)[chosen]
        row_ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return Candidates(self.key[chosen], self.law[chosen], row_ptr, self.friction.take(chosen))

    def polyhedral(self, directions: Directions | None) -> Candidates:
        """The same with every smooth friction set replaced by `directions` directions; itself for None."""
        if directions is None:
            return self
        cache: dict[Directions, Candidates] = self.__dict__.setdefault("_polyhedral", {})
        if directions not in cache:
            table = self.friction.polyhedral(directions)
            cache[directions] = self if table is self.friction else replace(self, friction=table)
        return cache[directions]


@dataclass(frozen=True)
class Constraints:
    """Candidates evaluated at a configuration.

    value (nr,): the gap in the normal row of a contact [m], the residual of a joint in its rows, 0 in friction rows;
    rows: the Jacobian, as the system's `dynamics` wants it; bound (nk,): friction force that needs no normal force
    [N]; length (nr,): 1, or metres for rotational rows; mechanism: what the first rows demand, where they are limits,
    motors or springs; soft (nk, 3): kn, gamma_n, gamma_t of contacts that give way (`compliance.py`), infinite
    stiffness for others, or None where none does; elastic (nk, 8): laws and sizes of elastic contacts in the columns
    of `elastic.py`, infinite stiffness for others, or None where none is.
    """

    candidates: Candidates
    value: FloatArray
    rows: Any
    bound: FloatArray
    length: FloatArray
    mechanism: Mechanism | None = None
    soft: FloatArray | None = None
    elastic: FloatArray | None = None

    def demand(
        self, dynamics: Any, state: State, h: float, start: FloatArray, stabilize: bool = True, left: float = 0.0
    ) -> dict[str, Any]:
        """b, and where they are not trivial C, lo and hi, of the contact problem of a step from `state`.

        start (nr,): the values at the start of the step, linearised where the rows were taken, divided by h. Rows that
        hold something demand `u + start = 0`, or >= 0; without `stabilize`, that they get no worse. So do contacts
        whose overlap over h is less than `left` [m/s].
        """
        candidates = self.candidates
        law = np.repeat(candidates.law, np.diff(candidates.row_ptr))
        first = np.zeros(len(law), dtype=bool)
        first[candidates.row_ptr[:-1]] = True
        holds = (law == EQUALITY) | ((law == UNILATERAL) & first)
        b = np.where(holds, start, 0.0) if stabilize else np.zeros(len(law))
        if left > 0.0:
            contact = candidates.row_ptr[:-1][candidates.contact]
            b[contact] = np.where((b[contact] < 0.0) & (b[contact] > -left), 0.0, b[contact])
        plain = self.mechanism is None or self.mechanism.plain
        if plain and self.soft is None:
            return {"b": b}
        C = np.zeros(len(law))
        if self.soft is not None:
            soften(self.soft, candidates.row_ptr, self.length, h, start, b, C)
        if plain:
            return {"b": b, "C": C}
        assert self.mechanism is not None
        n = self.mechanism.rows.n
        seen = (start[:n], dynamics.velocity_rows(state.v)[:n], dynamics.delassus_diagonal(candidates.row_ptr)[:n])
        lo, hi = np.full(len(law), -np.inf), np.full(len(law), np.inf)
        out = (b[:n], C[:n], lo[:n], hi[:n])
        self.mechanism.demand(state.t + h, h, stabilize, seen, out)
        return {"b": b, "C": C, "lo": lo, "hi": hi}


class Geometry(NamedTuple):
    """Where constraints are: bodies (nk, 2), -1 where there are none; normal, point and tangent (nk, 3) in the world.

    Normals point from the second body to the first; tangent 2 is normal × tangent.
    """

    bodies: IntArray
    normal: FloatArray
    point: FloatArray
    tangent: FloatArray


def unusable(system: System, state: State) -> str | None:
    """Why no step can be taken from a state, by the names that the system gives its coordinates; None where one can.

    What it remembers of constraints has a row for each, all of it must be finite, and the quaternions of bodies of
    length one: a longer one is no rotation, and would make their shapes larger.
    """
    for what, width in (("impulses", MAX_ROWS), ("springs", MEMORY)):
        shape, rows = np.shape(getattr(state, what)), len(state.keys)
        if shape != (rows, width) and (what == "impulses" or shape != (0, width)):
            return f"has {what} of shape {shape} for {rows} constraints; {(rows, width)} are needed"
    bad = _not_finite(system, state)
    if bad is not None:
        return f"must be finite: {bad}"
    stretched = getattr(system, "stretched", None)
    found = None if stretched is None else stretched(state.q)
    if found is None:
        return None
    name, length = found
    return f"must have quaternions of length 1: that of body {name!r} has length {length:.9g}"


def _not_finite(system: System, state: State) -> str | None:
    for what, values, names in (
        ("coordinate", state.q, system.coordinate_names),
        ("velocity", state.v, system.velocity_names),
    ):
        if not np.isfinite(values).all():
            i = int(np.argmin(np.isfinite(values)))
            body, dot, _ = names[i].rpartition(".")
            whose = f" of body {body!r}" if dot and hasattr(system, "body_state") else ""
            return f"{what} {names[i]!r}{whose} is {values[i]}"
    if not np.isfinite(state.impulses).all():
        k = int(np.argmin(np.isfinite(state.impulses).all(axis=1)))
        return f"an impulse of constraint {system.constraint_name(int(state.keys[k]))!r} in its memory is not a number"
    if not np.isfinite(state.springs).all():
        k = int(np.argmin(np.isfinite(state.springs).all(axis=1)))
        return f"the spring of contact {system.constraint_name(int(state.keys[k]))!r} in its memory is not a number"
    return None if np.isfinite(state.t) else f"its time is {state.t}"


class System(Protocol):
    """Mass matrix, forces, contacts and joints at a configuration; configurations may live on a manifold."""

    nq: int
    nv: int
    coordinate_names: tuple[str, ...]
    velocity_names: tuple[str, ...]

    def initial_state(self) -> State:
        """The state at which a run starts."""

    def retract(self, q: FloatArray, dq: FloatArray) -> FloatArray:
        """The configuration reached from q by the velocity-space displacement dq (nv,)."""

    def difference(self, q0: FloatArray, q1: FloatArray) -> FloatArray:
        """The displacement dq (nv,) with retract(q0, dq) = q1."""

    def mass(self, q: FloatArray) -> Any:
        """M(q): an array, or one block per body."""

    def forces(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """k(t, q, v), with the velocity-product (Coriolis, gyroscopic) terms."""

    def push(self, dynamics: Dynamics, state: State, h: float, t: float, q: FloatArray) -> FloatArray:
        """v + h M⁻¹ k: the velocity after what forces at (t, q) do in a step of length h, with the mass of `dynamics`.

        Of prescribed bodies that with which they come to where they are at state.t + h. Impulses add to it at once, and
        then the step is `move`.
        """

    def mass_place(self, start: FloatArray, at: FloatArray) -> FloatArray:
        """Where a step from q = start takes its mass if its scheme wants it at `at`: `start`, if `move` turns M."""

    def move(self, q: FloatArray, v: FloatArray, h: float) -> tuple[FloatArray, FloatArray]:
        """Where the motion without any force leads from q with v in a time h, and the velocity there."""

    def carried(self, q: FloatArray, v: FloatArray, to: FloatArray) -> FloatArray:
        """v with the spins of bodies turned as they are from q to `to`: no energy comes from a correction of q."""

    def speed_bound(self, state: State, h: float) -> float:
        """The largest speed of any point now and after a free step [m/s]; infinite where it is not known."""

    def approach_bound(self, state: State, enough: float) -> float:
        """No two points that may touch approach each other faster than this [m/s]; infinite where it is not known.

        enough [m/s]: what it is compared with; a system may stop to look closer once it is below that.
        """

    def energy(self, q: FloatArray, v: FloatArray) -> Energy:
        """Kinetic and potential energy."""

    def applied_power(self, t: float, q: FloatArray, v: FloatArray) -> float | None:
        """Power [W] of the forces that do not come from the potential; None when no potential is known."""

    def detect(self, t: float, q: FloatArray, band: float) -> Candidates:
        """The constraints that could act: every joint and dry friction, and contacts with a gap of up to `band`."""

    def detect_on_the_way(self, t: float, q: FloatArray, to: FloatArray, band: float, reach: float) -> Candidates:
        """As `detect`, and contacts with a gap of up to `reach` that may be met on the way from q to `to`."""

    def joined(self, found: Any, more: Any) -> Candidates:
        """The contacts of both, which have none in common."""

    def gaps(self, candidates: Candidates, t: float, q: FloatArray) -> FloatArray:
        """(nk,) the gap of each contact [m]; the largest residual of a joint; 0 for dry friction."""

    def evaluate(self, candidates: Candidates, t: float, q: FloatArray) -> Constraints:
        """Values and rows of the same constraints at q."""

    def chart_rate(self, dq: FloatArray, v: FloatArray) -> FloatArray:
        """(nv,) the rate of dq with which retract(q, dq) moves at the velocity v: v itself in a vector space."""

    def dynamics(self, q: FloatArray, constraints: Constraints) -> Dynamics:
        """The dynamics form with the mass at q and the rows of `constraints`."""

    def contact_geometry(self, candidates: Candidates, q: FloatArray) -> Geometry:
        """Where the constraints are at q, for the record."""

    def constraint_name(self, key: int) -> str:
        """What people call the constraint."""
