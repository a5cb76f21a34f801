"""The forces of rows that give way, as functions of their values and velocities, with their derivatives (pr11 eq. 22).

Contacts, limits and friction are regularised as `systems/compliance.py` says; springs, compliant joints and motors are
what `systems/model/kernels/mechanism.py` demands, in continuous time. Rigid joints have no force here: `motion.py`
finds the one that holds them. kn, gamma_n and gamma_t are those of rows in metres: a row that turns has them times the
square of its length (`Constraints.length`), so that they mean the same in any unit of length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._check import FloatArray, IntArray
from ...friction.sets import Coulomb, FrictionSet
from ...problem.laws import DRY, EQUALITY, UNILATERAL, Mode
from ...systems.base import Candidates, Constraints
from ...systems.model.kernels.mechanism import HOLD, SPEED, SPRING

OPEN, STICK, SLIP = int(Mode.OPEN), int(Mode.STICK), int(Mode.SLIP)


@dataclass(frozen=True)
class Local:
    """Forces of all rows at a moment: force (nr,) [N]; by_value, by_velocity (nr, nr): its derivatives; over (nk,).

    over: by how much the friction that would stick exceeds its bound [N]; positive where a block slips.
    """

    force: FloatArray
    by_value: FloatArray
    by_velocity: FloatArray
    over: FloatArray


class Forces:
    """The laws of a step's constraints; `closed` (nk,) says which unilateral ones touch.

    soft: kn, gamma_n and gamma_t of those that have none of their own; h: the length of the step [s]. Kept as
    `soft` (nk, 3), of rows in metres, and `lever` (nr,): the square of each row's length.
    """

    def __init__(self, candidates: Candidates, found: Constraints, h: float, soft: tuple[float, float, float]):
        self.candidates, self.friction, self.h = candidates, candidates.friction, h
        self.length, self.lever = found.length, found.length**2
        nk = len(candidates.key)
        law, ptr = candidates.law, candidates.row_ptr
        self.soft = np.tile(np.array(soft, dtype=float), (nk, 1))
        if found.soft is not None:
            stated = np.isfinite(found.soft[:, 0])
            self.soft[stated, :2] = found.soft[stated, :2]
            stated &= np.isfinite(found.soft[:, 2])
            self.soft[stated, 2] = found.soft[stated, 2]
        self.mechanism = m = found.mechanism
        self.joints = 0 if m is None else m.n
        self.unilateral = np.flatnonzero(law == UNILATERAL)
        self.normal = ptr[:-1]
        if m is not None:  # limits that give way by themselves
            stated = np.flatnonzero((m.law == UNILATERAL) & (m.soft[m.ptr[:-1]] > 0.0))
            self.soft[stated, 0], self.soft[stated, 1] = 1.0 / (m.soft[m.ptr[stated]] * self.lever[m.ptr[stated]]), 0.0
        row_law = np.repeat(law, np.diff(ptr))
        self.rigid: IntArray = np.flatnonzero(row_law == EQUALITY)
        if m is not None:
            holds = self.rigid
            self.rigid = holds[(m.mode[holds] == HOLD) & (m.soft[holds] == 0.0)]
        self.rubs = [k for k in range(nk) if self._rows(k)]

    def _rows(self, k: int) -> range:
        """The friction rows of a block."""
        first, last = int(self.candidates.row_ptr[k]), int(self.candidates.row_ptr[k + 1])
        law = self.candidates.law[k]
        return range(first + 1, last) if law == UNILATERAL else range(first, last) if law == DRY else range(0)

    def at(self, found: Constraints, t: float, u: FloatArray, closed: np.ndarray) -> Local:
        """The forces for velocities u (nr,), the motion of obstacles included."""
        nr, value = len(u), found.value
        force, by_value, by_velocity = np.zeros(nr), np.zeros((nr, nr)), np.zeros((nr, nr))
        for k in self.unilateral[closed[self.unilateral]].tolist():
            n = self.normal[k]
            stiff, damp, _ = self.lever[n] * self.soft[k]
            near = u[n] < 0.0
            force[n] = max(0.0, -stiff * value[n] - (damp * u[n] if near else 0.0))
            by_value[n, n], by_velocity[n, n] = -stiff, -damp if near else 0.0
        if self.mechanism is not None:
            self._drive(value, t, u, force, by_value, by_velocity)
        over = np.full(len(closed), -np.inf)
        table = self.friction
        mu = table.mu_at(table.speeds(u, self.candidates.row_ptr)) if len(table.varying) else table.mu
        for k in self.rubs:
            rows = slice(self._rows(k).start, self._rows(k).stop)
            n = int(self.normal[k])
            gamma, bound = float(self.soft[k, 2]), float(found.bound[k])
            contact = self.candidates.law[k] == UNILATERAL
            if contact and not closed[k]:
                continue
            # dry friction has its own bound, which a law of speed scales
            radius = mu[k] * force[n] if contact else bound * mu[k] / table.mu[k]
            friction = table.sets[table.set_of[k]]
            force[rows], by_radius, by_slip, over[k] = friction_force(
                friction, u[rows], radius, gamma, self.length[rows]
            )
            by_velocity[rows, rows] = by_slip
            if contact:
                by_value[rows, n] = mu[k] * by_radius * by_value[n, n]
                by_velocity[rows, n] = mu[k] * by_radius * by_velocity[n, n]
        return Local(force, by_value, by_velocity, over)

    def _drive(
        self, value: FloatArray, t: float, u: FloatArray, force: FloatArray, by_value: FloatArray, by_speed: FloatArray
    ) -> None:
        """Springs, compliant joints and motors; motors are dampers up to their bound, as friction is."""
        m = self.mechanism
        assert m is not None
        target, law = m.targets(t), np.repeat(m.law, m.size)
        block = np.repeat(np.arange(m.n), m.size)
        for r in range(m.rows.n):
            if m.mode[r] == SPRING:
                stiff, damp = m.soft[r], m.damping[r]
            elif m.mode[r] == HOLD and m.soft[r] > 0.0:
                stiff, damp = 1.0 / m.soft[r], 0.0
            elif law[r] in (UNILATERAL, DRY, EQUALITY):
                continue
            else:
                gamma, bound = self.lever[r] * self.soft[block[r], 2], m.row_bound[r]
                # a position motor wants u = (target - φ)/time; one without a time constant, to be there in a step
                time = 0.0 if m.mode[r] == SPEED else float(m.soft[r]) or self.h
                pull = gamma * (target[r] - u[r]) if time == 0.0 else gamma * ((target[r] - value[r]) / time - u[r])
                force[r] = min(max(pull, -bound), bound)
                if abs(pull) < bound:
                    by_speed[r, r], by_value[r, r] = -gamma, -gamma / time if time else 0.0
                continue
            force[r] = -stiff * value[r] - damp * u[r]
            by_value[r, r], by_speed[r, r] = -stiff, -damp

    def modes(self, over: FloatArray, closed: np.ndarray) -> IntArray:
        """(nk,) the `Mode` of each block at a moment."""
        modes = np.full(len(over), int(Mode.BILATERAL))
        touching = np.where(over > 0.0, SLIP, STICK)
        smooth = np.array([not self._rows(k) for k in range(len(over))], dtype=bool)
        contact = self.candidates.law == UNILATERAL
        modes[contact] = np.where(closed & smooth, SLIP, np.where(closed, touching, OPEN))[contact]
        modes[self.candidates.law == DRY] = touching[self.candidates.law == DRY]
        return modes


def friction_force(
    friction: FrictionSet, u: FloatArray, radius: float, gamma: float, length: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Friction: the point of radius·F nearest to -gamma·u, its derivatives by radius and by u, and the excess.

    gamma is that of rows in metres, and nearest is meant in newtons: rows are measured by their length.
    """
    damping, n = gamma * length**2, len(u)
    pull = -damping * u
    if isinstance(friction, Coulomb):  # rows of one kind
        size = float(np.linalg.norm(pull))
        over = size - radius
        if over <= 0.0:
            return pull, np.zeros(n), -np.diag(damping), over
        along = pull / size
        return radius * along, along, -radius / size * (np.eye(n) - np.outer(along, along)) * damping, over
    over = friction.gauge(pull) - radius
    if over <= 0.0:
        return pull, np.zeros(n), -np.diag(damping), over

    def nearest(pull: FloatArray, radius: float) -> FloatArray:
        return length * friction.project_in(pull / length, radius, length)

    force = nearest(pull, radius)
    step = 1e-6 * float(np.abs(pull / length).max())  # not zero: it is outside the set
    by_u = np.empty((n, n))
    for j in range(n):
        moved = pull.copy()
        moved[j] += step * length[j]
        by_u[:, j] = -damping[j] * (nearest(moved, radius) - force) / (step * length[j])
    grown = 1e-6 * (radius or float(np.abs(pull).max()))
    return force, (nearest(pull, radius + grown) - force) / grown, by_u, over
