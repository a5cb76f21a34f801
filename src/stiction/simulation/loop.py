"""The compiled loop: many steps of a world without Python in between, to the same bits as step by step."""

from __future__ import annotations

import threading
from dataclasses import fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .._check import FloatArray
from ..schemes.anitescu_hart import AnitescuHart
from ..schemes.base import Contacts, Scheme, StepResult
from ..schemes.steps.exchange import has_nested_blocks, needs_python, step_options, told, world_arrays
from ..schemes.steps.records import CONTACTS, LastStep, Memory, nothing_known
from ..solvers import Auto, Nsgs, Solver
from ..solvers.gauss_seidel.parameters import ATTEMPT
from ..systems.base import State, System

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
    known: LastStep | None = None


class Still(NamedTuple):
    """A step that ends in the very state from which it begins, as do all that follow.

    state: a copy of its own; worst (7,) and known: as the kernel gives them, None where Python took the step; result:
    the step as the scheme says it, None where it was not asked for yet.
    """

    state: State
    worst: FloatArray | None = None
    known: LastStep | None = None
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
        self.nested = has_nested_blocks(model)
        self._world, self._options = world_arrays(model), step_options(scheme, dt, tol, accept)

    @staticmethod
    def of(
        system: System, scheme: Scheme, solver: Solver, dt: float, tol: float, accept: float | None
    ) -> CompiledLoop | None:
        """The loop of a simulator; None where a step needs Python or another solver."""
        if not isinstance(scheme, AnitescuHart) or needs_python(system, scheme):
            return None
        most = ATTEMPT.many_sweeps
        plain = type(solver) is Nsgs and solver.omega is None and solver.accelerate and solver.maxiter >= most
        if type(solver) is Auto or plain:
            return CompiledLoop(system, scheme, dt, tol, accept)
        return None

    @cached_property
    def _kernel(self) -> Any:
        from ..schemes.steps.advance import advances

        return advances[3 if self.model.dim == 2 else 6, int(self.nested)]

    def worth(self, steps: int) -> bool:
        """Whether it is faster than Python for so many recorded steps, counted what is still to be compiled."""
        from ..runtime.jit import compiled

        return steps > FEW or compiled(self._kernel)

    def advance(self, state: State, steps: int, stop: threading.Event | None = None) -> Group:
        """Up to `steps` steps and no last one; stop: ends it before all are taken."""
        return self._take(state, steps, stop)[0]

    def group(self, state: State, steps: int, stop: threading.Event | None = None) -> Group:
        """Up to `steps` steps, the last of them for `judge`."""
        group, known = self._take(state, steps, stop)
        if group.taken < steps:
            return group
        q, turns, v, memory, worst = known.before
        return Group(steps - 1, self._state(state.t, q, turns, v, *memory), worst, group.before, known)

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
        """All that is known of a step of a group, as the scheme says it; None where it belongs to Python."""
        again = self.again(state)
        if again is not None:
            return again
        result = told(self.scheme, self.model, state, new, self.dt, self.tol, self.accept, known)
        if result is not None:
            self.remember(state, result)
        return result

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
        from ..collision.neighbours import no_neighbours
        from ..runtime.jit import get_num_threads
        from ..runtime.memory import keep_memory

        still = self._still
        if still is not None and still.worst is not None and still.known is not None and _same(state, still.state):
            before = worst.copy() if steps == 1 else np.maximum(worst, still.worst)
            np.maximum(worst, still.worst, out=worst)
            known = still.known._replace(before=still.known.before._replace(worst=before))
            return steps, _own(state), _copied(known)
        model, kernel = self.model, self._kernel
        keep_memory(_BYTES * model.nb)
        q, v = model.bodies(state.q).copy(), state.v.reshape(model.nb, -1).copy()
        turns = model.turns(state.q).copy()
        kept = no_neighbours(model.dim) if self._kept is None else self._kept
        room = max(model.capacity, len(state.keys) * 5 // 4)  # where it does not suffice, detection runs twice
        options = self._options._replace(parallel=get_num_threads() > 1, repeat=self.repeats)
        done, memory, self._kept, last, own = kernel(
            steps, options, room, q, turns, v, Memory(state.keys, state.impulses), kept, worst, self._world
        )
        new = self._state(state.t, q, turns, v, *memory)
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
