"""A system at an instant: its rows, their speeds, and their accelerations as far as velocities alone make them.

Along the path q(s) = q ⊕ s v the rows have the speeds `H(t+s, q(s)) v(s) + ∂φ/∂t`; what changes of them at fixed v is
the velocity-product term of the acceleration, `Ḣ v + d/ds ∂φ/∂t` (pr11 eq. 4, ttp01 §2 (i)). It is found by differences
of fourth order, so that any `System` will do. Prescribed bodies bring their own acceleration into it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from .. import _check
from .._check import FloatArray
from ..errors import ModelError
from ..problem.dynamics import Delassus
from ..systems.base import State, System
from ..systems.elastic import has_springs
from ..systems.model.kernels.mechanism import POSITION, SPEED

DIFFERENCE_STEP = float(np.finfo(float).eps) ** 0.2  # of fourth-order differences


def built(system: Any, what: str = "system") -> System:
    """The system itself, or the model of a world."""
    if not isinstance(system, type) and hasattr(system, "build"):
        system = system.build()
    if not (hasattr(system, "evaluate") and hasattr(system, "push")):
        raise ModelError(f"{what} must be a World, PlanarWorld or another System; got {type(system).__name__}.")
    made: System = system
    return made


def slope(f: Callable[[float], FloatArray], step: float) -> FloatArray:
    """df/ds at s = 0, from s = ±step and ±2 step."""
    a, b, c, d = (f(k * step) for k in (-2, -1, 1, 2))
    return ((a - d) + 8.0 * (c - b)) / (12.0 * step)


class Instant:
    """Rows and speeds of every joint and of the contacts with a gap of up to `closed` [m] at a state.

    `state` has the velocities that prescribed bodies have by their motion. value, rate and speed (nr,): φ, ∂φ/∂t, and
    the speed of each row, for motors relative to its target.
    """

    def __init__(self, system: Any, state: State | None, closed: float):
        self.closed = closed = _check.number("closed", closed, low=0.0)
        self.system = built(system)
        if has_springs(self.system):
            raise ModelError("the analysis does not know elastic contacts; make them rigid, or give them a Compliance.")
        state = self.system.initial_state() if state is None else state
        q = _check.floats("state.q", state.q, (self.system.nq,))
        state = replace(state, q=q, v=_check.floats("state.v", state.v, (self.system.nv,)))
        found = self.system.detect(state.t, state.q, closed)
        near = ~found.contact | (self.system.gaps(found, state.t, state.q) <= closed)
        self.candidates = found if near.all() else found.take(near)
        self.found = self.system.evaluate(self.candidates, state.t, state.q)
        dynamics = self.system.dynamics(state.q, self.found)
        assert not isinstance(dynamics, Delassus)
        self.dynamics = dynamics
        self.moving = ~dynamics.prescribed
        self.length = 1.0 / max(1.0, float(np.abs(state.v).max(initial=0.0)))  # s: moves of at most 1 m or 1 rad
        self.state = state
        self.state = replace(state, v=self._velocity(0.0))
        self.value = self.found.value
        times = [
            self.system.evaluate(self.candidates, state.t + k * DIFFERENCE_STEP, state.q).value for k in (-2, -1, 1, 2)
        ]
        self._timed = any((value != self.value).any() for value in times)
        self.rate = self._rate(0.0, state.q)
        self.speed = self._speed(0.0)

    @cached_property
    def product_terms(self) -> FloatArray:
        """(nr,) what the rows accelerate by where no force acts and no velocity changes [m/s²]."""
        return slope(self._speed, DIFFERENCE_STEP * self.length)

    def _velocity(self, s: float) -> FloatArray:
        """The velocities of now, and of prescribed bodies those at s [s] from now."""
        if not getattr(self.system, "kinematic", None):
            return self.state.v
        step = 0.3 * DIFFERENCE_STEP * self.length  # no multiple of the step in s: push takes no step of length 0

        def moved(ds: float) -> FloatArray:
            now = self.state
            v = self.system.push(self.dynamics, now, s + ds, now.t, now.q)
            return self.system.difference(now.q, self.system.move(now.q, v, s + ds)[0])

        return np.where(self.moving, self.state.v, slope(moved, step))

    def _rate(self, s: float, q: FloatArray) -> FloatArray:
        if not self._timed:
            return np.zeros(len(self.value))

        def value(ds: float) -> FloatArray:
            return self.system.evaluate(self.candidates, self.state.t + s + ds, q).value

        return slope(value, DIFFERENCE_STEP)

    def _speed(self, s: float) -> FloatArray:
        now, t = self.state, self.state.t + s
        if s == 0.0:
            return self.dynamics.velocity_rows(now.v) + self.rate - self._targets(t, self.value)
        q = self.system.retract(now.q, s * now.v)
        found = self.system.evaluate(self.candidates, t, q)
        dynamics = self.system.dynamics(q, found)
        return dynamics.velocity_rows(self._velocity(s)) + self._rate(s, q) - self._targets(t, found.value)

    def _targets(self, t: float, value: FloatArray) -> FloatArray:
        """(nr,) the speeds that motors want, 0 elsewhere."""
        out = np.zeros(len(value))
        mechanism = self.found.mechanism
        if mechanism is not None and mechanism.n:
            n, mode = mechanism.rows.n, mechanism.mode
            target = mechanism.targets(t)
            out[:n][mode == SPEED] = target[mode == SPEED]
            there = mode == POSITION
            out[:n][there] = (target - value[:n])[there] / mechanism.soft[there]
        return out

    def free_acceleration(self) -> FloatArray:
        """(nv,) M⁻¹ k(t, q, v); 0 for prescribed bodies, whose acceleration is in `product_terms`."""
        now = self.state
        return self.dynamics.minv(self.system.forces(now.t, now.q, now.v))

    def dense_rows(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """M of the velocities that impulses can change, and the columns of H of these and of the others."""
        form, _, prescribed = self.dynamics.dense()
        return form.M, form.H, np.zeros((self.dynamics.nr, len(self.moving))) if prescribed is None else prescribed

    def blocks(self) -> list[tuple[int, int, slice]]:
        """(k, law, rows) of every block."""
        ptr = self.candidates.row_ptr.tolist()
        return [(k, int(law), slice(ptr[k], ptr[k + 1])) for k, law in enumerate(self.candidates.law)]

    def drive(self, k: int) -> int | None:
        """What a block of a mechanism does (HOLD, STOP, SPRING, ...); None for contacts and for given constraints."""
        mechanism = self.found.mechanism
        return None if mechanism is None or k >= mechanism.n else int(mechanism.blocks[k].mode)

    def gives_way(self, k: int) -> bool:
        """Whether block k is a compliant contact, which gives forces and no impulses."""
        return self.found.soft is not None and bool(np.isfinite(self.found.soft[k, 0]))

    def name(self, k: int) -> str:
        """What people call block k."""
        return self.system.constraint_name(int(self.candidates.key[k]))
