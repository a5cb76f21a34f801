"""Newton's method on the natural map of a contact problem whose coefficients depend on the slip speed.

The map is that of the problem with coefficients given (`natural_newton`), taken at the speeds that the impulses
themselves give; its derivative has one more term per block, how the map changes with mu times dmu/ds times how the slip
speed changes with the impulses. It finishes what rounds of solves with given coefficients leave: contacts that act on
each other, and problems with several solutions, between which a solver may jump from round to round.
"""

from __future__ import annotations

import numpy as np

from ..._check import FloatArray
from ...problem.contact_problem import ContactProblem
from .natural_newton import NaturalMap, damped_step
from .parameters import COEFFICIENTS


class SpeedMap:
    """The natural map with the coefficients at the speeds that the impulses give, for impulses in metres."""

    def __init__(self, problem: ContactProblem):
        self.problem, self.table = problem, problem.friction
        length = problem.length
        self.W = problem.delassus() * length[:, None] * length
        self.q = problem.q * length
        self.slip = [self._slip_rows(k) for k in self.table.varying.tolist()]

    def _slip_rows(self, k: int) -> slice:
        s = int(self.table.set_of[k])
        first = int(self.problem.row_ptr[k + 1] - self.table.dims[s])
        return slice(first, first + self.table.sets[s].slip_rows(int(self.table.dims[s])))

    def _at(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The velocities u (nr,) and the slip speeds (nk,)."""
        u = (self.W @ x + self.q) / self.problem.length
        return u, self.table.speeds(u, self.problem.row_ptr)

    def residual(self, x: FloatArray) -> FloatArray:
        """The natural map as velocities [m/s]."""
        return NaturalMap(self.problem.with_coefficients(self.table.mu_at(self._at(x)[1]))).residual(x)

    def step(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The residual, and Newton's step by the smallest change where the equations are singular."""
        u, speeds = self._at(x)
        mu, slope = self.table.mu_at(speeds), self.table.mu_slope(speeds)
        given = NaturalMap(self.problem.with_coefficients(mu))
        F, J = given.residual(x), given.jacobian()
        changed = NaturalMap(self.problem.with_coefficients(mu * (1.0 + COEFFICIENTS.nudge_share))).residual(x)
        for k, rows in zip(self.table.varying.tolist(), self.slip):
            if speeds[k] > 0.0 and mu[k] > 0.0:
                block = given.blocks[k]
                by_mu = (changed - F)[block] / (COEFFICIENTS.nudge_share * mu[k])
                J[block] += np.outer(slope[k] * by_mu, u[rows] @ self.W[rows] / speeds[k])
        move: FloatArray = np.asarray(np.linalg.lstsq(J, -F, rcond=1e-12)[0], dtype=np.float64)
        return F, move


def refine_speeds(problem: ContactProblem, p: FloatArray, tol: float) -> FloatArray:
    """Impulses of a smaller residual than p's: until `tol` is met, or nothing more is gained."""
    if problem.nr > COEFFICIENTS.newton_max_rows:
        return p
    equations, x = SpeedMap(problem), p / problem.length
    for _ in range(COEFFICIENTS.newton_steps):
        F, move = equations.step(x)
        found = damped_step(equations.residual, x, move, F)
        if found is None:
            break
        x, after = found
        if np.linalg.norm(after) <= tol * problem.scale and problem.certify(x * problem.length).ok(tol):
            break
    return x * problem.length
