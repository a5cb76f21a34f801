"""One block at a time, in Python: the residuals of blocks whose friction set is written by a user.

The same measures as in `residuals`, where the compiled loop has them for the sets that it knows. Rows are in metres
throughout (`length`), and so is the set: its gauge at f/length is ψ(f).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._check import FloatArray
from ..friction.convex import ConvexSet
from .laws import UNILATERAL, Mode

if TYPE_CHECKING:
    from .contact_problem import ContactProblem


@dataclass(frozen=True)
class PythonSetBlock:
    """A block with a user's set: what its law needs, with rows in metres."""

    friction: ConvexSet
    length: FloatArray  # of the friction rows
    mu: float
    r0: float
    normal: bool

    @classmethod
    def of(cls, problem: ContactProblem, k: int) -> PythonSetBlock:
        """Block k of a problem."""
        table = problem.friction
        friction = table.sets[table.set_of[k]]
        assert isinstance(friction, ConvexSet)
        normal = bool(problem.law[k] == UNILATERAL)
        rows = slice(problem.row_ptr[k] + normal, problem.row_ptr[k + 1])
        mu = float(table.mu[k]) if normal else 0.0
        return cls(friction, problem.length[rows], mu, float(problem.r0[k]), normal)

    def support(self, w: FloatArray) -> tuple[float, FloatArray]:
        """max of w·f over the unit set, and the f that gives it."""
        f = self.friction.support_point(w / self.length)
        return float(w @ (f / self.length)), f / self.length

    def gauge(self, f: FloatArray) -> float:
        """The smallest r with f in r·F."""
        return self.friction.gauge(f * self.length)

    def project(self, x: FloatArray) -> FloatArray:
        """The nearest admissible impulse."""
        if self.normal:
            return self.friction.project_cone(x, self.mu, self.r0, self.length)
        return self.friction.project_in(x, self.r0, self.length)

    def residuals(self, u: FloatArray, p: FloatArray, rho: float, associated: bool) -> tuple[FloatArray, int]:
        """The block's row of the table of `residuals.block_residuals`, and its mode; u and p in metres."""
        row = np.zeros(9)
        shift = int(self.normal)
        slip, _ = self.support(-u[shift:])
        radius = max(0.0, self.mu * p[0] * shift + self.r0)
        psi = self.gauge(p[shift:])
        if psi > radius:
            row[3] = np.linalg.norm(p[shift:]) * (1.0 - radius / psi)
        row[4] = max(0.0, radius * slip + u[shift:] @ p[shift:])
        augmented = u.copy()
        rate = u[0]
        if self.normal:
            if associated:
                rate = u[0] - self.mu * slip
            else:
                augmented[0] += self.mu * slip
            row[0], row[1], row[2] = max(0.0, -rate), max(0.0, -p[0]), max(0.0, rate) * max(0.0, p[0])
        for column, step in ((7, 1.0), (8, rho)):
            row[column] = np.linalg.norm(p - self.project(p - step * augmented)) / step
        if self.normal and p[0] <= rho * max(rate, 0.0):
            return row, int(Mode.OPEN)
        inside = self.gauge(p[shift:] - rho * u[shift:]) <= radius * (1.0 + 1e-9)
        return row, int(Mode.STICK if inside else Mode.SLIP)


def python_set_residuals(problem: ContactProblem, k: int, u: FloatArray, p: FloatArray) -> tuple[FloatArray, int]:
    """The residuals (9,) and the mode of block k, whose set is written by a user, at velocities u and impulses p."""
    rows = slice(problem.row_ptr[k], problem.row_ptr[k + 1])
    length = problem.length[rows]
    if not (np.isfinite(u[rows]).all() and np.isfinite(p[rows]).all()):
        return np.full(9, np.inf), int(Mode.OPEN)
    return PythonSetBlock.of(problem, k).residuals(
        u[rows] * length, p[rows] / length, problem.rho[k], problem.associated
    )
