"""The compiled loop: many steps of a world without Python in between, to the same bits as step by step.

The steps themselves are `schemes/steps/advance.py`; here is when they are used, and how many at a time.

Fixed-point steps are replayed. A step is a function of the state alone (time apart). One that ends in the state from
which it began, to the bit, is kept, counted as often as was asked for, and its certificate is that of every step that
was not computed.

The first run is short. Compiling the loop takes a minute, so that a run of at most `COMPILE_MIN_STEPS` steps, of which
every one is recorded, does without it as long as it is not on disk (`CompiledLoop.pays_off`): its frames have the same
bits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .._check import FloatArray
from ..schemes.anitescu_hart import AnitescuHart
from ..schemes.base import Contacts, Scheme, StepResult
from ..schemes.steps.exchange import has_nested_blocks, needs_python, step_options, to_step_result, world_arrays
from ..schemes.steps.records import CONTACTS, LastStep, WarmStart, no_residuals
from ..solvers import Auto, Nsgs, Solver
from ..solvers.gauss_seidel.parameters import ATTEMPT
from ..systems.base import State, System

COMPILE_MIN_STEPS = 5000  # fewer take seconds one by one: for them the loop is not compiled, which takes a minute
CALL_MAX_BLOCKS = 400_000  # bodies and contacts times steps between two returns to Python, well under 1 s: for Ctrl-C
BODY_BYTES = 20_000  # of arrays that a step takes, by body: some contacts of some kilobytes each


class StepGroup(NamedTuple):
    """Steps in a row, of which the last is not certified yet.

    taken: the number of steps before the last; before: the state after these, its time not advanced; worst (7,): their
    largest error, penetration [m], joint drift, number of contacts and unexplained energy [J], how many had some, and
    how many missed their tolerance by no more than is accepted. after: the state after the last step, and last: its
    arrays in the kernel; None where there is no last step, or where it belongs to Python.
    """

    taken: int
    before: State
    worst: FloatArray
    after: State | None = None
    last: LastStep | None = None


class FixedPointStep(NamedTuple):
    """A step that ends in the very state from which it begins, as do all that follow.

    state: a copy; worst (7,) and last: as the kernel gives them, None where Python took the step; result: the step as
    the scheme gives it, None where it was not asked for yet.
    """

    state: State
    worst: FloatArray | None = None
    last: LastStep | None = None
    result: StepResult | None = None


class CompiledLoop:
    """Steps of `AnitescuHart` on a world whose forces and motions need no Python, solved by block Gauss–Seidel.

    It takes the very steps that the scheme and the solver would take, by the same kernels, and stops before the first
    one that is neither solved nor accepted in a first attempt: that one belongs to Python and its other solvers.

    A step depends on nothing but the state (time apart), so that one which ends where it began is the same for ever:
    it is kept, and replayed without being computed as long as the state is equal to the bit.
    """

    def __init__(self, model: Any, scheme: AnitescuHart, dt: float, tol: float, accept: float | None):
        self.model, self.scheme, self.dt, self.tol, self.accept = model, scheme, dt, tol, accept
        self.replay = True  # False in benchmarks that are to compute every step
        self._near_pairs: Any = None  # for the next call of the kernel: they do not change what a step does
        self._fixed_point: FixedPointStep | None = None
        self.nested = has_nested_blocks(model)
        self._world, self._options = world_arrays(model), step_options(scheme, dt, tol, accept)

    def __getstate__(self) -> dict[str, Any]:
        """For pickles: what the loop is made from."""
        return {name: getattr(self, name) for name in ("model", "scheme", "dt", "tol", "accept")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(*(state[name] for name in ("model", "scheme", "dt", "tol", "accept")))  # type: ignore[misc]

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

    def pays_off(self, steps: int) -> bool:
        """Whether the loop is faster than Python for `steps` recorded steps, counting what is still to be compiled."""
        from ..runtime.jit import compiled

        return steps > COMPILE_MIN_STEPS or compiled(self._kernel)

    def take_steps(self, state: State, steps: int) -> StepGroup:
        """Up to `steps` steps, none of them to be certified as a last one."""
        return self._take(state, steps)[0]

    def take_group(
        self, state: State, steps: int, stop: threading.Event | None = None, entering: Callable[[], None] | None = None
    ) -> StepGroup:
        """Up to `steps` steps, the last of them for `to_step_result`.

        stop: ends the group before all are taken; entering: called before each call of the kernel, in which other
        threads can run.
        """
        group, last = self._take(state, steps, stop, entering)
        if group.taken < steps:
            return group
        q, turns, v, warm_start, worst = last.before
        return StepGroup(steps - 1, self._state(state.t, q, turns, v, *warm_start), worst, group.before, last)

    def _take(
        self, state: State, steps: int, stop: threading.Event | None = None, entering: Callable[[], None] | None = None
    ) -> tuple[StepGroup, Any]:
        """Up to `steps` steps, and the `LastStep` that was attempted."""
        worst, taken, last = no_residuals(), 0, None
        while taken < steps:
            contacts = max(int(worst[CONTACTS]), len(state.keys))
            chunk = min(steps - taken, max(1, CALL_MAX_BLOCKS // (self.model.nb + contacts)))
            done, state, last = self._call_kernel(state, chunk, worst, entering)
            taken += done
            if done < chunk or (stop is not None and stop.is_set()):
                break
        return StepGroup(taken, state, worst), last

    def to_step_result(self, state: State, new: State, last: Any) -> StepResult | None:
        """The last step of a group, as the scheme would return it; None where the step belongs to Python."""
        replayed = self.replayed(state)
        if replayed is not None:
            return replayed
        result = to_step_result(self.scheme, self.model, state, new, self.dt, self.tol, self.accept, last)
        if result is not None:
            self.keep_fixed_point(state, result)
        return result

    def replayed(self, state: State) -> StepResult | None:
        """The step from `state`, where it is known to end in this very state."""
        fixed = self._fixed_point
        if fixed is None or fixed.result is None or not _same_bits(state, fixed.state):
            return None
        return _copy_result(fixed.result, state.t + self.dt)

    def keep_fixed_point(self, state: State, result: StepResult) -> None:
        """Keep a step from `state` for `replayed`, where it ends in this very state."""
        if self.replay and result.success and _same_bits(state, result.state):
            fixed = self._fixed_point
            if fixed is None or not _same_bits(state, fixed.state):
                fixed = FixedPointStep(_copy_state(state))
            self._fixed_point = fixed._replace(result=_copy_result(result, state.t))

    def _call_kernel(
        self, state: State, steps: int, worst: FloatArray, entering: Callable[[], None] | None
    ) -> tuple[int, State, Any]:
        """How many of `steps` steps were taken, the state after them, and the `LastStep` that was attempted."""
        from ..collision.neighbours import no_neighbours
        from ..runtime.jit import get_num_threads
        from ..runtime.memory import keep_work_arrays

        fixed = self._fixed_point
        if fixed is not None and fixed.worst is not None and fixed.last is not None and _same_bits(state, fixed.state):
            before = worst.copy() if steps == 1 else np.maximum(worst, fixed.worst)
            np.maximum(worst, fixed.worst, out=worst)
            last = fixed.last._replace(before=fixed.last.before._replace(worst=before))
            return steps, _copy_state(state), _copy_arrays(last)
        model, kernel = self.model, self._kernel
        keep_work_arrays(BODY_BYTES * model.nb)
        q, v = model.bodies(state.q).copy(), state.v.reshape(model.nb, -1).copy()
        turns = model.turns(state.q).copy()
        near_pairs = no_neighbours(model.dim) if self._near_pairs is None else self._near_pairs
        room = max(model.capacity, len(state.keys) * 5 // 4)  # where it does not suffice, detection runs twice
        options = self._options._replace(parallel=get_num_threads() > 1, replay=self.replay)
        if entering is not None:
            entering()
        done, warm_start, self._near_pairs, last, share = kernel(
            steps,
            options,
            room,
            q,
            turns,
            v,
            WarmStart(state.keys, state.impulses, state.springs),
            near_pairs,
            worst,
            self._world,
        )
        new = self._state(state.t, q, turns, v, *warm_start)
        if len(share):
            self._fixed_point = FixedPointStep(_copy_state(new), share, _copy_arrays(last))
        return int(done), new, last

    def _state(self, t: float, q: FloatArray, turns: FloatArray, v: FloatArray, *warm_start: Any) -> State:
        whole = q.ravel() if self.model.dim == 2 else np.concatenate([q.ravel(), turns])
        return State(t, whole, v.ravel(), *warm_start)


def _same_bits(a: State, b: State) -> bool:
    """Whether two states are equal to the bit, time apart."""
    return all(
        np.array_equal(one, other)
        for one, other in ((a.v, b.v), (a.q, b.q), (a.keys, b.keys), (a.impulses, b.impulses), (a.springs, b.springs))
    )


def _copy_state(state: State) -> State:
    """The same state, with new arrays."""
    q, v, keys = state.q.copy(), state.v.copy(), state.keys.copy()
    return State(state.t, q, v, keys, state.impulses.copy(), state.springs.copy())


def _copy_arrays(value: Any) -> Any:
    """The same nested tuples and records, with new arrays."""
    if isinstance(value, tuple):
        parts = [_copy_arrays(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value.copy() if isinstance(value, np.ndarray) else value


def _copy_result(result: StepResult, t: float) -> StepResult:
    """The same step with new arrays, ending at time t [s]."""
    solves = tuple(
        (role, replace(one, p=one.p.copy(), v=one.v.copy(), u=one.u.copy(), modes=one.modes.copy()))
        for role, one in result.solves
    )
    contacts = Contacts(*(getattr(result.contacts, field.name).copy() for field in fields(Contacts)))
    state = replace(_copy_state(result.state), t=t)
    return replace(result, state=state, contacts=contacts, solves=solves)
