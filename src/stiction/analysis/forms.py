"""The three problems of pr11 for any system at a state: forces and accelerations, impulses and velocities, one step.

    force–acceleration (pr11 §2)    a = M⁻¹(k + Gᵀλ)          u = H a + Ḣ v         contacts that touch and do not part
    impulse–velocity (pr11 §3)      v⁺ = v + M⁻¹HᵀΛ           u = H v⁺ + ∂φ/∂t      contacts that touch
    time-stepping (pr11 §4)         v⁺ = v + M⁻¹(h k + Hᵀp)   u = H v⁺ + φ/h        contacts within reach of a step

Each is a `ContactProblem` that every solver for its friction sets takes. In the first, contacts are split as in ttp01
§2: those at rest keep their friction set and answer to their acceleration; at those that slide friction opposes
the slip in proportion to the normal force, so that the force acts along another direction than the row that it answers
to, and G ≠ H.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _check
from .._arguments import checks_arguments
from .._check import FloatArray, IntArray
from ..errors import ModelError
from ..friction.table import Directions, given_directions
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Delassus, Dynamics
from ..problem.laws import DRY, EQUALITY, UNILATERAL
from ..systems.base import State, System
from ..systems.model.kernels.mechanism import POSITION, SPEED
from .instant import Instant, built
from .instant_rows import Rows, driven, held, must_hold, rubbing, yielding

FORCES, IMPULSES, STEP, BARE = "force–acceleration", "impulse–velocity", "time-stepping", "contact problem"


@dataclass(frozen=True)
class Form:
    """A contact problem of a system at a state, and how its unknowns p are read.

    kind: "force–acceleration", "impulse–velocity" or "time-stepping"; h [s] is the step of the last and 0 otherwise.
    problem: the unknowns p are forces [N] in the first and impulses [N·s] in the others, its v accelerations or
    velocities. `names` and `row_ptr` are those of all constraints that were looked at, with all their rows, also where
    the problem has fewer: `forces`, `relative` and `motion` translate. gap (nk,) [m] of contacts, 0 of others (up to
    `closed` they touch); slip (nr,) [m/s]: the speed of every row at the state, before anything happens. A problem that
    comes without a system (`bare`) has no state, its slip is that of its start or else of its free motion, and its gap
    is b, if it has a start.
    """

    kind: str
    system: System | None
    state: State | None
    h: float
    problem: ContactProblem
    names: tuple[str, ...]
    key: IntArray
    law: IntArray
    row_ptr: IntArray
    gap: FloatArray
    slip: FloatArray
    closed: float
    _dynamics: Dynamics
    _offset: FloatArray
    _moving: np.ndarray
    _still: FloatArray
    _spread: FloatArray
    _known: FloatArray

    @classmethod
    @checks_arguments
    def bare(cls, problem: ContactProblem) -> Form:
        """A problem of which nothing else is known; its blocks are called by their numbers."""
        if isinstance(problem.dynamics, Delassus):
            return _as_it_is(BARE, problem, problem.q)
        if problem.v_start is None:
            return _as_it_is(BARE, problem, problem.dynamics.velocity_rows(problem.v_free))
        form = _as_it_is(BARE, problem, problem.dynamics.velocity_rows(problem.v_start))
        return replace(form, gap=np.where(problem.law == UNILATERAL, problem.b[problem.row_ptr[:-1]], 0.0))

    @property
    def nk(self) -> int:
        """Number of constraints."""
        return len(self.law)

    @property
    def moving(self) -> np.ndarray:
        """(nv,) bool: the velocities that impulses can change."""
        return self._moving

    @property
    def row_map(self) -> FloatArray:
        """(nr of all rows, nr of the problem) how `forces` depend on p."""
        return self._spread

    def speeds(self, p: Any) -> FloatArray:
        """(nr,) the acceleration, or the velocity after, of all rows, without what a step demands besides."""
        if self.kind == STEP:
            return self._dynamics.velocity_rows(self.motion(p))
        return self.relative(p)

    def forces(self, p: Any) -> FloatArray:
        """(nr,) the forces or impulses in all rows: normal, then friction, also where it only opposes slip."""
        return self._spread @ _check.floats("p", p, (self.problem.nr,)) + self._known

    def motion(self, p: Any) -> FloatArray:
        """(nv,) the acceleration, or the velocity after, of the system."""
        v = self.problem.velocity(_check.floats("p", p, (self.problem.nr,)))
        full = self._still.copy()
        full[self._moving] = v
        return full

    def relative(self, p: Any) -> FloatArray:
        """(nr,) the acceleration, or the velocity after, of all rows; in a step with φ/h and what else it demands."""
        if isinstance(self._dynamics, Delassus):
            return self.problem.q + self.problem.delassus() @ _check.floats("p", p, (self.problem.nr,))
        return self._dynamics.velocity_rows(self.motion(p)) + self._offset

    @checks_arguments
    def at(self, name: str) -> slice:
        """The rows of a constraint in `forces` and `relative`."""
        if name not in self.names:
            raise ModelError(f"there is no constraint {name!r} in this problem; there are {list(self.names)}.")
        k = self.names.index(name)
        return slice(int(self.row_ptr[k]), int(self.row_ptr[k + 1]))


@checks_arguments
def force_acceleration(
    system: Any, state: State | None = None, *, closed: float = 1e-9, rest: float = 1e-9, directions: Any = None
) -> Form:
    """The problem for contact forces and accelerations (pr11 §2, eq. 4–9, ttp01 §2 (i)–(iv), (iii)'–(iv)').

    state: by default the initial one. Contacts with a gap of up to `closed` [m] touch; of these act the ones whose
    normal speed is zero to `rest` [m/s]. Contacts that slip slower than `rest` are rolling (at rest) and keep their
    friction set; the others slide, and their friction opposes the slip. directions: as in `StewartTrinkle`, for
    smooth friction sets; None keeps them. A contact that is closing, or a joint that is pulled apart, needs an impulse
    first and is refused.
    """
    now = Instant(system, state, closed)
    rest = _check.number("rest", rest, low=0.0)
    table = now.candidates.polyhedral(_directions(directions)).friction
    if len(table.varying):
        table = table.at(table.mu_at(table.speeds(now.speed, now.candidates.row_ptr)))
    made = Rows(now)
    for k, law, rows in now.blocks():
        drive = now.drive(k)
        if drive is not None and law != DRY:
            driven(made, now, k, law, rows, rest)
        elif law == EQUALITY:
            must_hold(now, k, np.arange(rows.start, rows.stop), rest)
            made.keep(k, law, rows)
        elif now.gives_way(k):
            yielding(made, now, table, k, rows, rest)
        else:
            rubbing(made, now, table, k, law, rows, rest, float(now.found.bound[k]))
    return _at(FORCES, made, now.free_acceleration(), now.product_terms, np.zeros(now.system.nv))


@checks_arguments
def impulse_velocity(system: Any, state: State | None = None, *, closed: float = 1e-9, directions: Any = None) -> Form:
    """The problem for impulses and the velocities after them, at a fixed configuration (pr11 §3, eq. 13–15).

    state: by default the initial one. Contacts with a gap of up to `closed` [m] act, without restitution. Springs,
    bounded motors and dry friction with a bound give no impulse. directions: as in `StewartTrinkle`; None keeps smooth
    friction sets.
    """
    now = Instant(system, state, closed)
    table = now.candidates.polyhedral(_directions(directions)).friction
    made = Rows(now)
    for k, law, rows in now.blocks():
        drive = now.drive(k)
        if drive in (SPEED, POSITION):
            assert now.found.mechanism is not None
            if np.isinf(now.found.mechanism.blocks[k].bound):
                made.keep(k, EQUALITY, rows)
        elif drive is not None and law != DRY:
            held(made, now, k, law, rows)
        elif law == UNILATERAL and not now.gives_way(k):
            dim = rows.stop - rows.start - 1
            made.keep(k, law, rows, friction=table.sets[table.set_of[k]] if dim else None, mu=float(table.mu[k]))
        elif law == EQUALITY:
            made.keep(k, law, rows)
    # with u = speed at v⁺ = v: what the speeds have beyond H v
    offset = now.speed - now.dynamics.velocity_rows(now.state.v)
    return _at(IMPULSES, made, now.state.v, offset, now.state.v, fixed=table.fixed)


@checks_arguments
def time_stepping(
    system: Any, state: State | None = None, h: float = 0.01, *, scheme: Any = None, directions: Any = None
) -> Form:
    """The problem of one step of length h [s] (pr11 §4, eq. 16–19), or that of another scheme with every candidate.

    state: by default the initial one. scheme: by default `AnitescuHart()`, which is pr11's: everything is taken at the
    start of the step, and the gap enters as φ/h. directions: as in `StewartTrinkle`; None keeps smooth friction sets.
    """
    from ..schemes import AnitescuHart

    system = built(system)
    h = _check.number("h", h, positive=True)
    state = system.initial_state() if state is None else state
    scheme = AnitescuHart() if scheme is None else scheme
    if isinstance(scheme, type) or not hasattr(scheme, "probe"):
        raise ModelError(f"scheme must be a scheme such as AnitescuHart(); got {_check.describe(scheme)}.")
    problem = scheme.probe(system, state, h)
    if problem.nv != system.nv:
        raise ModelError(
            f"a step of {type(scheme).__name__} has no contact problem; take a scheme with complementarity."
        )
    if directions is not None:
        problem = problem.replace(friction=problem.friction.polyhedral(given_directions(directions)))
    found = system.detect(state.t, state.q, scheme.band(system, state, h))
    known = dict(zip(found.key.tolist(), system.gaps(found, state.t, state.q).tolist()))
    form = _as_it_is(STEP, problem, problem.dynamics.velocity_rows(state.v))
    return replace(
        form,
        system=system,
        state=state,
        h=h,
        names=tuple(system.constraint_name(int(key)) for key in problem.key),
        gap=np.where(problem.law == UNILATERAL, [known[key] for key in problem.key.tolist()], 0.0),
    )


def _directions(given: Any) -> Directions | None:
    """As `StewartTrinkle` takes them; None keeps smooth friction sets."""
    return None if given is None else given_directions(given)


def _at(kind: str, made: Rows, free: FloatArray, offset: FloatArray, still: FloatArray, *, fixed: bool = True) -> Form:
    """The form of a problem at an instant."""
    now, blocks = made.now, made.now.candidates
    problem, spread = made.problem(free, offset, still, fixed=fixed)
    gap = np.where(blocks.law == UNILATERAL, now.value[blocks.row_ptr[:-1]], 0.0)
    return Form(
        kind, now.system, now.state, 0.0, problem, tuple(now.name(k) for k in range(len(blocks.key))), blocks.key,
        blocks.law, blocks.row_ptr, gap, now.speed, now.closed, now.dynamics, offset, now.moving, still, spread,
        made.known,
    )  # fmt: skip


def _as_it_is(kind: str, problem: ContactProblem, slip: FloatArray) -> Form:
    """The form of a problem that has all rows of its system."""
    nk, nr, nv = problem.nk, problem.nr, problem.nv
    return Form(
        kind, None, None, 0.0, problem, tuple(f"block {k}" for k in range(nk)), problem.key, problem.law,
        problem.row_ptr, np.zeros(nk), slip, 1e-9, problem.dynamics, problem.b, np.ones(nv, dtype=bool), np.zeros(nv),
        np.eye(nr), np.zeros(nr),
    )  # fmt: skip
