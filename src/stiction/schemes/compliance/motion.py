"""The smooth motion of a system with contacts that give way, between two moments at which a contact opens or closes.

The unknowns of the ordinary differential equation are the displacement d from the start of the step, the velocity v,
and integrals: of the forces of all rows (the impulses), and of their powers (the energy balance),

    d' = v (in the chart of `retract`)        M(q) v' = k(t, q, v) + Hᵀ λ        q = q₀ ⊕ d.

Joints that hold exactly are held by the force for which their rows have no acceleration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._check import FloatArray, IntArray
from ...problem.dynamics import Bodies, Delassus
from ...problem.laws import BOX, DRY, UNILATERAL
from ...systems.base import Candidates, State, System
from ...systems.sizes import arms, extent
from .forces import Forces, Local

POWERS = ("applied", "friction", "impact", "joints", "motors", "springs")
# Of difference quotients: displacements, beside the size of the bodies, and velocities, beside the largest of them or
# that share of the size in a step.
DISPLACEMENT_SHARE, VELOCITY_SHARE = 1e-7, 1e-5
MOMENT_STEP_SHARE, MOMENT_SIZE_SHARE = (
    2e-3,
    1e-5,
)  # the time of one: of the step, and until bodies have moved by so much of their size


@dataclass(frozen=True)
class Moment:
    """Everything at one moment: gap and velocity of rows, local forces, rate of the unknowns."""

    value: FloatArray
    u: FloatArray
    local: Local
    rate: FloatArray


class Motion:
    """The differential equation of one step, and where its unknowns are."""

    def __init__(self, system: System, state: State, h: float, candidates: Candidates, scheme: Any):
        self.system, self.state, self.h, self.candidates = system, state, h, candidates
        found = system.evaluate(candidates, state.t, state.q)
        self.form = form = system.dynamics(state.q, found)
        assert not isinstance(form, Delassus)
        self.forces = Forces(candidates, found, h, (scheme.kn, scheme.gamma_n, scheme.gamma_t))
        self.prescribed = form.prescribed
        self.moving = np.flatnonzero(~self.prescribed)
        # prescribed bodies go to where they are at the end of the step at a constant velocity
        v_free = system.push(form, state, h, state.t, state.q)
        self.given = np.where(self.prescribed, v_free, 0.0)
        self.nr, self.n = len(found.value), len(self.moving)
        self.length, self.extent, self.arms = found.length, extent(system), arms(system)
        self.size = 2 * self.n + self.nr + len(POWERS)
        self.closed = np.zeros(len(candidates.key), dtype=bool)
        kinds = np.repeat(candidates.law, np.diff(candidates.row_ptr))
        first = np.zeros(self.nr, dtype=bool)
        first[candidates.row_ptr[:-1]] = True
        held = np.zeros(self.nr, dtype=bool)
        held[self.forces.rigid] = True
        contact = (kinds == UNILATERAL) & first
        rub = ((kinds == UNILATERAL) & ~first) | (kinds == DRY)
        motor = kinds == BOX
        self.shares = np.array([rub, contact, held, motor, ~(rub | contact | held | motor)], dtype=float)
        gaps = system.gaps(candidates, state.t, state.q)
        later = (system.gaps(candidates, state.t + part * h, state.q) for part in (0.37, 1.0))
        self.obstacles = any(np.abs(one - gaps).max(initial=0.0) > 0.0 for one in later)
        self._last: tuple[float, bytes, np.ndarray, Moment] | None = None
        self.evaluations = 0

    @property
    def light(self) -> float:
        """The inverse of the lightest body's mass [1/kg]."""
        form: Any = self.form
        inverse = form.Minv[:, 0, 0] if isinstance(form, Bodies) else form.minv(np.ones(len(self.given)))
        return float(np.abs(inverse).max(initial=0.0)) or 1.0

    def start(self) -> FloatArray:
        """The unknowns at the start of the step."""
        z = np.zeros(self.size)
        z[self.n : 2 * self.n] = self.state.v[self.moving]
        return z

    def place(self, t: float, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Displacement, configuration and velocity of everything."""
        d = self.given * (t - self.state.t)
        d[self.moving] = z[: self.n]
        v = self.given.copy()
        v[self.moving] = z[self.n : 2 * self.n]
        return d, self.system.retract(self.state.q, d), v

    def at(self, t: float, z: FloatArray, around: Moment | None = None) -> Moment:
        """The moment t; with `around`, forces are linear ones about that moment: smooth, for difference quotients."""
        if around is None and self._last is not None:
            when, name, closed, moment = self._last
            if when == t and name == z.tobytes() and (closed == self.closed).all():
                return moment
        self.evaluations += 1
        system, n = self.system, self.n
        d, q, v = self.place(t, z)
        found = system.evaluate(self.candidates, t, q)
        form: Any = system.dynamics(q, found)
        own = form.velocity_rows(v)
        u = own + self._swept(t, q)
        if around is None:
            local = self.forces.at(found, t, u, self.closed)
        else:
            local = around.local
            moved = local.by_value @ (found.value - around.value) + local.by_velocity @ (u - around.u)
            local = Local(local.force + moved, local.by_value, local.by_velocity, local.over)
        force = local.force
        k = system.forces(t, q, v)
        acceleration = form.minv(k + form.impulse(force))
        rigid = self.forces.rigid
        if len(rigid):
            missing = form.velocity_rows(acceleration)[rigid] + self._turning(t, q, v)
            held = np.zeros(self.nr)
            held[rigid] = smallest(form, rigid, self.length[rigid], -missing)
            acceleration = acceleration + form.minv(form.impulse(held))
            force = force + held
            local = Local(force, local.by_value, local.by_velocity, local.over)
        power = system.applied_power(t, q, v)
        applied = float(np.where(self.prescribed, 0.0, v) @ k) if power is None else power
        carried = form.velocity_rows(np.where(self.prescribed, v, 0.0)) if self.prescribed.any() else np.zeros(self.nr)
        rate = np.concatenate([
            system.chart_rate(d, v)[self.moving], acceleration[self.moving], force,
            [applied - float(force @ carried)], self.shares @ (force * own),
        ])  # fmt: skip
        assert len(rate) == 2 * n + self.nr + len(POWERS)
        moment = Moment(found.value, u, local, rate)
        if around is None:
            self._last = (t, z.tobytes(), self.closed.copy(), moment)
        return moment

    def rate(self, t: float, z: FloatArray) -> FloatArray:
        """z'."""
        return self.at(t, z).rate

    def jacobian(self, t: float, z: FloatArray) -> FloatArray:
        """∂z'/∂z by differences; the stiff forces enter by their own derivatives, which have kinks nowhere."""
        base = self.at(t, z)
        out = np.zeros((self.size, self.size))
        arm = np.tile(self.arms[self.moving], 2)
        fast = float(np.abs((arm * z[: 2 * self.n])[self.n :]).max(initial=0.0))
        for j in range(2 * self.n):
            step = (
                DISPLACEMENT_SHARE
                * (self.extent if j < self.n else max(fast, VELOCITY_SHARE * self.extent / self.h))
                / arm[j]
            )
            moved = z.copy()
            moved[j] += step
            out[:, j] = (self.at(t, moved, base).rate - base.rate) / (moved[j] - z[j])
        return out

    def _swept(self, t: float, q: FloatArray) -> FloatArray | float:
        """∂φ/∂t of gaps that are functions of time; bodies that are moved are in the velocities already."""
        if not self.obstacles:
            return 0.0
        step = 1e-3 * self.h
        values = [self.system.evaluate(self.candidates, t + s, q).value for s in (step, -step)]
        return (values[0] - values[1]) / (2.0 * step)

    def _turning(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """The acceleration of rigid rows at constant velocity, (d/dt)(H v + ∂φ/∂t)."""
        system, fast = self.system, float(np.abs(self.arms * v).max(initial=0.0))
        step = (
            min(MOMENT_STEP_SHARE * self.h, MOMENT_SIZE_SHARE * self.extent / fast)
            if fast > 0.0
            else MOMENT_STEP_SHARE * self.h
        )
        ends = []
        for s in (step, -step):
            there = system.retract(q, s * v)
            found = system.evaluate(self.candidates, t + s, there)
            ends.append(system.dynamics(there, found).velocity_rows(v) + self._swept(t + s, there))
        return np.asarray((ends[0] - ends[1])[self.forces.rigid] / (2.0 * step))

    def touching(self, t: float, z: FloatArray) -> np.ndarray:
        """(nk,) which unilateral constraints touch at the start of a piece: closed gaps."""
        _, q, _ = self.place(t, z)
        value = self.system.evaluate(self.candidates, t, q).value[self.candidates.row_ptr[:-1]]
        return (self.candidates.law == UNILATERAL) & (value <= 0.0)

    def watch(self, t: float, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(nk,) what tells opening and closing, and sticking and slipping: gaps of unilateral rows, and `Local.over`.

        A gap is given as it is where the contact is open, and with the other sign where it is closed, so that a change
        is a value below zero; while it moves back to where it came from it counts as nothing.
        """
        moment = self.at(t, z)
        normal = self.candidates.row_ptr[:-1]
        side = np.where(self.closed, -1.0, 1.0)
        gap = np.where(side * moment.u[normal] < 0.0, side * moment.value[normal], np.inf)
        gap[self.candidates.law != UNILATERAL] = np.inf
        return gap, moment.local.over


def smallest(form: Any, rows: IntArray, length: FloatArray, change: FloatArray) -> FloatArray:
    """The smallest impulses of `rows` that change their velocities by `change`: several joints may hold the same.

    length: of these rows, by which they are measured in metres.
    """
    W = form.delassus_among(rows) * np.outer(length, length)
    return np.asarray(length * np.linalg.lstsq(W, length * change, rcond=1e-12)[0])
