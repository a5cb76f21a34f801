"""The equations that Newton and proximal solvers share, and Newton's method on one proximal subproblem.

In scaled rows (`response`) the unknown impulses solve, for a centre c and a step θ in units of each block's inertia ρ,

    f(p) = p - R(c - θ ρ (W p + C p + q)) = 0

with R the response of the laws. At p = c it is the contact problem itself; for a fixed c it is the problem with 1/(θρ)
of extra compliance, pulled to c: regular however singular W is. Newton's step solves (I + D θρ (W + C)) dp = -f.
`gauss_seidel/island_newton` has these steps for small islands of bodies, compiled, and says why they are two.
"""

from __future__ import annotations

import numpy as np

from ..._check import FloatArray, IntArray
from ...problem.contact_problem import ContactProblem
from . import kernels
from .assembly import make_linear_system
from .parameters import NEWTON
from .response import make_scaled

_ROUND_OFF = 4e-16  # of a product, relative to its terms


def block_inertias(diagonal: FloatArray, row_ptr: IntArray) -> FloatArray:
    """(nk,) ρ: the rows of each block over the sum of their own entries of W, in scaled rows."""
    mean = np.add.reduceat(diagonal, row_ptr[:-1]) / np.diff(row_ptr) if len(row_ptr) > 1 else np.zeros(0)
    least = 1e-14 * float(mean.max(initial=0.0))
    return np.where(mean > least, 1.0 / np.where(mean > least, mean, 1.0), 1.0 / (least or 1.0))


class Equations:
    """A problem in scaled rows; x stands for scaled impulses throughout, p = unit·x."""

    def __init__(self, problem: ContactProblem):
        self.problem = problem
        self.laws = make_scaled(problem)
        unit = self.laws.unit
        self.system = make_linear_system(problem, unit)
        self.q = problem.q * unit
        self.C = problem.C * unit**2 if problem.C.any() else np.zeros(0)
        diagonal = self.system.diagonal + (self.C if len(self.C) else 0.0)
        self.rho = block_inertias(diagonal, problem.row_ptr)
        self.rho_rows = np.repeat(self.rho, np.diff(problem.row_ptr))
        nr = problem.nr
        self.response, self.g = np.empty(nr), np.empty(nr)
        self.D, self.B = (
            np.zeros((nr, 6)),
            np.zeros((nr, 6)),
        )

    def scaled(self, p: FloatArray) -> FloatArray:
        """Impulses in scaled rows; none in rows that can carry none."""
        unit = self.laws.unit
        return np.where(unit > 0.0, p / np.where(unit > 0.0, unit, 1.0), 0.0)

    def velocity(self, x: FloatArray) -> FloatArray:
        """W p + C p + q."""
        u = self.system.times(x) + self.q
        return u + self.C * x if len(self.C) else u

    def residual(self, x: FloatArray) -> float:
        """How far the laws are missed, as the largest velocity in scaled rows."""
        self.laws.respond(x - self.rho_rows * self.velocity(x), self.response, self.D)
        return float(np.abs((x - self.response) / self.rho_rows).max())

    def round_off(self, x: FloatArray) -> float:
        """The size of round-off in the velocities of x."""
        return _ROUND_OFF * float(np.linalg.norm(self.system.magnitude(x) + np.abs(self.q)))

    def residual_at(self, x: FloatArray, centre: FloatArray, theta: float) -> tuple[FloatArray, float]:
        """f at x with its size as a velocity; its derivative is kept for `step`."""
        self.laws.respond(centre - theta * self.rho_rows * self.velocity(x), self.response, self.D)
        f = x - self.response
        return f, float(np.linalg.norm(f / self.rho_rows))

    def step(self, f: FloatArray, theta: float) -> FloatArray:
        """Newton's step from where `residual_at` was called last."""
        kernels.weigh(self.problem.row_ptr, self.D, theta * self.rho, self.C, f, self.B, self.g)
        return self.system.step(self.B, self.g)

    def newton(self, x: FloatArray, f: FloatArray, slack: float) -> FloatArray:
        """Newton's step on p = R(p - ρ u), where `residual_at(x, x, 1)` was called last.

        `slack` regularises sticking rows: the matrix I - (1 - slack) D + D ρ (W + C) is that of a proximal step with
        less compliance.
        """
        less = (self.C if len(self.C) else 0.0) - (1.0 - slack) / self.rho_rows
        kernels.weigh(self.problem.row_ptr, self.D, self.rho, less, f, self.B, self.g)
        return self.system.step(self.B, self.g)

    def proximal(self, centre: FloatArray, theta: float, goal: float, limit: int) -> tuple[FloatArray, bool, int]:
        """Newton from the centre until |f| <= goal [m/s]: where it ended, whether it got there, and its steps.

        In sticking contacts f holds θ times the round-off of velocities: less than that is no goal. Steps are halved
        as long as |f| falls; when no part of a step helps, or after `limit` steps, it is given up.
        """
        x = centre
        goal = max(goal, theta * self.round_off(x))
        f, size = self.residual_at(x, centre, theta)
        count = 0
        while not size <= goal:
            if count >= limit or not np.isfinite(size):
                return x, False, count
            try:
                dx = self.step(f, theta)
            except np.linalg.LinAlgError:
                return x, False, count
            if not np.isfinite(dx).all():
                return x, False, count
            count += 1
            new = self._search(x, dx, centre, theta, size)
            if new is x:
                return x, False, count
            x = new
            f, size = self.residual_at(x, centre, theta)
        return x, True, count

    def _search(self, x: FloatArray, dx: FloatArray, centre: FloatArray, theta: float, size: float) -> FloatArray:
        """Where |f| is smallest among the halves of a step, looked for from the whole of it on; x where none helps."""
        part, best, least = 1.0, x, size
        while True:
            new = x + part * dx
            new_size = self.residual_at(new, centre, theta)[1]
            if new_size < (1.0 - 1e-4 * part) * least:
                best, least = new, new_size
            elif best is not x:
                return best
            if part <= NEWTON.shortest_part or least <= 0.1 * size:
                return best
            part *= 0.5
