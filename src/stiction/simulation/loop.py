"""The compiled loop: many steps of a world without Python in between, to the same bits as step by step."""

from __future__ import annotations

import threading
from dataclasses import fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .._check import FloatArray
from ..friction.sets import ELLIPSOID, POLYHEDRON
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Bodies
from ..schemes.anitescu_hart import AnitescuHart
from ..schemes.base import Contacts, Scheme, StepResult, sized
from ..schemes.rest import at_rest
from ..solvers import Auto, Nsgs, Solver
from ..solvers.acceptance import levels
from ..solvers.nsgs import swept
from ..solvers.nsgs_ends import AT_REST, QUICK_MANY
from ..systems.base import State, System
from ..systems.candidates import Features, WorldCandidates
from ..systems.model import CODES
from .loop_records import (
    CONTACTS,
    Constraints,
    ContactLaws,
    JointBlocks,
    PlaneBodies,
    SpaceBodies,
    StepOptions,
    nothing_known,
)

FEW = 5000  # steps that take seconds one by one: for them the loop is not compiled, which takes a minute
WORK = 400_000  # bodies and contacts times steps between two returns to Python: well under a second, for Ctrl-C
_BYTES = 20_000  # of memory that a step takes, by body: some contacts of some kilobytes each


class Group(NamedTuple):
    """Steps in a row, of which the last is not judged yet.

    taken: how many before the last; before: the state after these, its time not advanced; worst (7,): their largest
    error, penetration [m], joint drift, number of contacts and unexplained energy [J], how many had some, and how many
    missed their tolerance by no more than is accepted. after:
    the state after the last, and known: what the kernel knows of it; None where there is none, or where a step belongs
    to Python.
    """

    taken: int
    before: State
    worst: FloatArray
    after: State | None = None
    known: Any = None


class Still(NamedTuple):
    """A step that ends in the very state from which it begins, as do all that follow.

    state: a copy of its own; worst (7,) and known: as the kernel gives them, None where Python took the step; result:
    the step as the scheme says it, None where it was not asked for yet.
    """

    state: State
    worst: FloatArray | None = None
    known: Any = None
    result: StepResult | None = None


class CompiledLoop:
    """Steps of `AnitescuHart` on a world whose forces and motions need no Python, solved by block Gauss–Seidel.

    It takes the very steps that the scheme and the solver would take, by the same kernels, and stops before the first
    one that is neither solved nor accepted in a first attempt: that one belongs to Python and its other solvers.

    A step depends on nothing but the state (time apart), so that one which ends where it began is the same for ever: it
    is remembered, and taken again without being computed as long as the state is equal to the bit.
    """

    def __init__(self, model: Any, scheme: AnitescuHart, dt: float, tol: float, accept: float | None):
        self.model, self.scheme, self.dt, self.tol, self.accept = model, scheme, dt, tol, accept
        self._kept: Any = None  # near pairs, for the next call: they do not change what a step does
        self.repeats = True  # False in benchmarks that are to compute every step
        self._still: Still | None = None
        laws, m = model.laws, model.mechanism
        f = laws.friction
        common = (
            model.moves,
            np.array(model.kinematic, dtype=np.int64),
            model.steady_forces(),
            model.reach,
            model.swing,
        )
        if model.dim == 3:
            bodies: Any = SpaceBodies(model.mass_of, model.inertia, model.inverse_mass, model.inverse_inertia, *common)
        else:
            bodies = PlaneBodies(model.inverse, model.inverse_blocks, *common)
        sets = f.set_of[: len(laws.rows)]
        slips = (f.kind[sets] == ELLIPSOID) & (f.semi[sets, : model.dim - 1] > 0.0).all(axis=1)
        # others have blocks of the kind NESTED (`nsgs_items.classify`), which have kernels of their own
        self.nested = not ((laws.rows == 1) | (slips & (laws.rows == model.dim))).all()
        codes, axis, side = laws.arrays
        rules = ContactLaws(
            model.shape_material, laws.by_material, laws.pair, laws.by_pair, laws.rows, codes, axis, side, model.lever,
            f.set_of, f.mu,
        )  # fmt: skip
        joints = JointBlocks(
            m.size, m.bodies, m.law, m.bound, m.mode, m.soft, m.damping, m.row_bound, m.targets(0.0), m.length
        )
        self._friction = (f.kind, f.semi, f.vertices, f.vertex_ptr, f.facets, f.facet_ptr)
        self._arrays = (bodies, model.shapes, Constraints(rules, self._friction, joints, m.rows.arrays))
        eps = -1.0 if scheme.eps is None else float(scheme.eps)
        most, strict = levels(tol, accept)
        self._how = (
            (float(dt), float(tol), float(most), int(strict)),
            (bool(scheme.stabilize), scheme.relaxation == "convex", eps),
        )

    @staticmethod
    def of(
        system: System, scheme: Scheme, solver: Solver, dt: float, tol: float, accept: float | None
    ) -> CompiledLoop | None:
        """The loop of a simulator; None where a step needs Python or another solver."""
        model: Any = system
        if type(scheme) is not AnitescuHart or scheme.directions is not None or not hasattr(model, "laws"):
            return None
        convex = scheme.relaxation == "convex"
        if scheme.relaxation not in ("none", "convex") or (convex and model.dim == 3):
            return None
        moved = any(model.specs[i].motion is not None for i in model.kinematic)
        if model.steady_forces() is None or moved or model.mechanism.timed:
            return None
        if POLYHEDRON in model.laws.friction.kind or model.restitution > 0.0 or model.laws.soft is not None:
            return None
        if len(model.laws.friction.varying):  # coefficients that depend on speed take several solves
            return None
        if model.curved:  # curved shapes have kernels of their own, outside the loop
            return None
        plain = type(solver) is Nsgs and solver.omega is None and solver.accelerate and solver.maxiter >= QUICK_MANY
        return CompiledLoop(model, scheme, dt, tol, accept) if type(solver) is Auto or plain else None

    @cached_property
    def _kernel(self) -> Any:
        from . import loop_plane, loop_space

        loop: Any = loop_space if self.model.dim == 3 else loop_plane
        return loop.advance_nested if self.nested else loop.advance

    def worth(self, steps: int) -> bool:
        """Whether it is faster than Python for so many recorded steps, counted what is still to be compiled."""
        from .._jit import compiled

        return steps > FEW or compiled(self._kernel)

    def advance(self, state: State, steps: int, stop: threading.Event | None = None) -> Group:
        """Up to `steps` steps and no last one; stop: ends it before all are taken."""
        return self._take(state, steps, stop)[0]

    def group(self, state: State, steps: int, stop: threading.Event | None = None) -> Group:
        """Up to `steps` steps, the last of them for `judge`."""
        group, known = self._take(state, steps, stop)
        if group.taken < steps:
            return group
        *known, (q, turns, v, keys, impulses, worst) = known
        before = self._state(state.t, q, turns, v, keys, impulses)
        return Group(steps - 1, before, worst, group.before, known)

    def _take(self, state: State, steps: int, stop: threading.Event | None) -> tuple[Group, Any]:
        """Up to `steps` steps, and what the kernel knows of the last attempt."""
        worst, taken, known = nothing_known(), 0, None
        while taken < steps:
            contacts = max(int(worst[CONTACTS]), len(state.keys))
            chunk = min(steps - taken, max(1, WORK // (self.model.nb + contacts)))
            done, state, known = self._run(state, chunk, worst)
            taken += done
            if done < chunk or (stop is not None and stop.is_set()):
                break
        return Group(taken, state, worst), known

    def judge(self, state: State, new: State, known: Any) -> StepResult | None:
        """All that is known of a step of a group, as the scheme says it; None where it belongs to Python.

        What the kernel has found and solved becomes the contact problem again, for the same certificates to judge.
        """
        again = self.again(state)
        if again is not None:
            return again
        _, sweeps, v_free, Minv, found, made, next_band, ahead = known
        laws, form, p = made.laws, made.form, made.p
        in_band, ahead = self._candidates(found), self._candidates(ahead)
        self.model.remember_detected(new.q, next_band, ahead)
        candidates = self.scheme.active(self.model, state, in_band)
        problem = ContactProblem.trusted(
            Bodies.trusted(form.body_a, form.body_b, form.Ja, form.Jb, Minv, candidates.row_ptr),
            {"q": made.free, "rho": made.rho, "scale": float(made.scale[0])}, v_free=v_free.ravel(), b=made.demand,
            row_ptr=candidates.row_ptr, law=candidates.law, friction=candidates.friction, r0=laws.r0, C=laws.C,
            lo=laws.lo, hi=laws.hi, associated=self.scheme.relaxation == "convex", length=laws.length,
            key=candidates.key, p_warm=p, v_start=state.v,
        )  # fmt: skip
        solution = swept(problem, p, (self.tol, self.accept), None if sweeps == AT_REST else int(sweeps))
        if not solution.taken:
            return None
        solution, _ = at_rest(problem, solution, self.tol)
        after = State(state.t + self.dt, new.q, new.v, new.keys, new.impulses)
        result = self.scheme.result(
            self.model, state, after, self.dt, (candidates, ahead), problem, (("step", solution),)
        )
        result = sized(result, self.model, self.dt)
        self.remember(state, result)
        return result

    def _candidates(self, found: Any) -> WorldCandidates:
        """Contacts that the kernel has found, as the model gives them."""
        key = (found.shape_a * self.model.ns + found.shape_b) * CODES + found.code
        features = Features(
            found.body_a, found.body_b, found.type, found.pa, found.da, found.pb, found.db, found.ra, found.rb,
            found.shape_a, found.shape_b,
        )  # fmt: skip
        made: WorldCandidates = self.model.candidates(features, key)
        return made

    def again(self, state: State) -> StepResult | None:
        """The step from `state`, where it is known to end in this very state."""
        still = self._still
        if still is None or still.result is None or not _same(state, still.state):
            return None
        return _copy(still.result, state.t + self.dt)

    def remember(self, state: State, result: StepResult) -> None:
        """Keep a step from `state` for `again`, where it ends in this very state."""
        if self.repeats and result.success and _same(state, result.state):
            still = self._still
            if still is None or not _same(state, still.state):
                still = Still(_own(state))
            self._still = still._replace(result=_copy(result, state.t))

    def _run(self, state: State, steps: int, worst: FloatArray) -> tuple[int, State, Any]:
        """How many of `steps` steps were taken, the state after them, and what the kernel knows of the last."""
        from .._jit import get_num_threads
        from .._memory import keep_memory
        from ..collision.neighbours import no_neighbours

        still = self._still
        if still is not None and still.worst is not None and _same(state, still.state):
            before = worst.copy() if steps == 1 else np.maximum(worst, still.worst)
            np.maximum(worst, still.worst, out=worst)
            known = _copied((*still.known[:-1], (*still.known[-1][:-1], before)))
            return steps, _own(state), known
        model, kernel = self.model, self._kernel
        keep_memory(_BYTES * model.nb)
        q, v = model.bodies(state.q).copy(), state.v.reshape(model.nb, -1).copy()
        turns = model.turns(state.q).copy()
        kept = no_neighbours(model.dim) if self._kept is None else self._kept
        first, others = self._how
        room = max(model.capacity, len(state.keys) * 5 // 4)  # where it does not suffice, detection runs twice
        options = StepOptions(*first, get_num_threads() > 1, *others, self.repeats)
        done, (keys, impulses), self._kept, last, own = kernel(
            steps, options, room, q, turns, v, (state.keys, state.impulses), kept, worst, *self._arrays
        )
        new = self._state(state.t, q, turns, v, keys, impulses)
        if len(own):
            self._still = Still(_own(new), own, _copied(last))
        return int(done), new, last

    def _state(self, t: float, q: FloatArray, turns: FloatArray, v: FloatArray, *memory: Any) -> State:
        whole = q.ravel() if self.model.dim == 2 else np.concatenate([q.ravel(), turns])
        return State(t, whole, v.ravel(), *memory)


def _same(a: State, b: State) -> bool:
    """Whether two states are equal to the bit, time apart."""
    return all(
        np.array_equal(one, other)
        for one, other in ((a.v, b.v), (a.q, b.q), (a.keys, b.keys), (a.impulses, b.impulses))
    )


def _own(state: State) -> State:
    """The same in arrays of its own."""
    return State(state.t, state.q.copy(), state.v.copy(), state.keys.copy(), state.impulses.copy())


def _copied(known: Any) -> Any:
    """Nested tuples and records with arrays of their own."""
    if isinstance(known, tuple):
        parts = [_copied(part) for part in known]
        return type(known)(*parts) if hasattr(known, "_fields") else tuple(parts)
    return known.copy() if isinstance(known, np.ndarray) else known


def _copy(result: StepResult, t: float) -> StepResult:
    """The same step in arrays of its own, ending at time t [s]."""
    solves = tuple(
        (role, replace(one, p=one.p.copy(), v=one.v.copy(), u=one.u.copy(), modes=one.modes.copy()))
        for role, one in result.solves
    )
    contacts = Contacts(*(getattr(result.contacts, field.name).copy() for field in fields(Contacts)))
    state = replace(_own(result.state), t=t)
    return replace(result, state=state, contacts=contacts, solves=solves)
