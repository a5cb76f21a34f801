"""Newton's method on the natural map of a contact problem whose friction sets may be written in Python.

With rows in metres, a block's natural map is `p - P(p - ρ û(p))`: P the projection onto its admissible impulses, û the
velocities with De Saxcé's term. P is differentiated by differences, block by block, and all other terms exactly. It
converges quadratically from nearby (the solution for polyhedra inside the sets), and from afar it may not converge at
all.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._check import FloatArray
from ...problem.contact_problem import ContactProblem
from ...problem.laws import BOX, EQUALITY, UNILATERAL
from ...problem.python_sets import PythonSetBlock
from .parameters import WRITTEN_SETS

Map = Callable[[FloatArray], FloatArray]


class NaturalMap:
    """The residual of a problem and its derivative, for impulses in metres (`p / length`)."""

    def __init__(self, problem: ContactProblem):
        self.problem = problem
        self.W = problem.delassus() * problem.length[:, None] * problem.length
        self.q = problem.q * problem.length
        self.blocks = [slice(a, b) for a, b in zip(problem.row_ptr[:-1].tolist(), problem.row_ptr[1:].tolist())]
        self.rho = np.repeat(problem.rho, np.diff(problem.row_ptr))
        self.written = {k: PythonSetBlock.of(problem, k) for k in problem.friction.written}
        self.project = [self._projection(k) for k in range(problem.nk)]

    def _projection(self, k: int) -> Map:
        problem, rows = self.problem, self.blocks[k]
        if k in self.written:
            return self.written[k].project
        if problem.law[k] == EQUALITY:
            return np.copy
        if problem.law[k] == BOX:
            lo, hi = problem.lo[rows] / problem.length[rows], problem.hi[rows] / problem.length[rows]
            return lambda x: np.clip(x, lo, hi)
        return _compiled_projection(problem, k)

    def _slip(self, k: int, u: FloatArray) -> tuple[float, FloatArray]:
        """σ(-u_t) of block k in metres, and the friction that gives it."""
        table = self.problem.friction
        length = self.problem.length[self.blocks[k]][1:]
        f = table.sets[table.set_of[k]].support_point(-u[1:] / length) / length
        return float(-u[1:] @ f), f

    def _augmented(self, k: int, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """û of block k and its derivative by u."""
        A = np.eye(len(u))
        problem = self.problem
        if problem.associated or problem.law[k] != UNILATERAL or len(u) == 1:
            return u, A
        mu = float(problem.friction.mu[k])
        slip, f = self._slip(k, u)
        A[0, 1:] = -mu * f
        return u + np.append(mu * slip, np.zeros(len(u) - 1)), A

    def residual(self, p: FloatArray) -> FloatArray:
        """The natural map as velocities [m/s]; what `jacobian` needs of it is kept."""
        u = self.W @ p + self.q
        out = np.empty_like(p)
        self.linearisations: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        for k, rows in enumerate(self.blocks):
            augmented, A = self._augmented(k, u[rows])
            x = p[rows] - self.rho[rows] * augmented
            y = self.project[k](x)
            out[rows] = p[rows] - y
            self.linearisations.append((A, x, y))
        return out / self.rho

    def jacobian(self) -> FloatArray:
        """The derivative of `residual` where it was last taken."""
        J = np.eye(len(self.q))
        for k, rows in enumerate(self.blocks):
            A, x, y = self.linearisations[k]
            P = self._slope(k, x, y)
            J[rows, rows] -= P
            J[rows] += self.rho[rows.start] * P @ A @ self.W[rows]
        return J / self.rho[:, None]

    def _slope(self, k: int, x: FloatArray, y: FloatArray) -> FloatArray:
        """The derivative of the projection of block k at x, where it is y."""
        if self.problem.law[k] == EQUALITY:
            return np.eye(len(x))
        step = 1e-6 * max(float(np.abs(x).max()), 1e-300)
        return np.array([(self.project[k](x + e) - y) / step for e in step * np.eye(len(x))]).T


def _compiled_projection(problem: ContactProblem, k: int) -> Map:
    """The projection of a block with a set that the kernels know."""
    from ...problem.residuals import LocalSet, in_metres, project_block, projection_workspace

    table, width = problem.friction, 8
    s, normal = int(table.set_of[k]), bool(problem.law[k] == UNILATERAL)
    first = int(problem.row_ptr[k]) + normal
    n = int(problem.row_ptr[k + 1]) - first
    most = int(table.facet_ptr[s + 1] - table.facet_ptr[s]) + 2
    axes, F = np.zeros(width), np.zeros((most, width))
    count = int(in_metres(s, first, n, problem.length, table.semi, table.facets, table.facet_ptr, axes, F))
    mu, r0 = float(table.mu[k]) if normal else 0.0, float(problem.r0[k])
    local_set, workspace = LocalSet(int(table.kind[s]), axes, F, 0, count), projection_workspace(most)

    def project(x: FloatArray) -> FloatArray:
        padded, y = np.zeros(width), np.zeros(width)
        padded[: len(x)] = x
        project_block(local_set, mu, r0, normal, n, padded, y, workspace)
        return y[: len(x)]

    return project


def damped_step(residual: Map, x: FloatArray, move: FloatArray, F: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """The largest of five parts of Newton's step `move` that makes the residual F smaller, and what it leaves."""
    for part in (1.0, 0.5, 0.25, 0.1, 0.02):
        new = x + part * move
        after = residual(new)
        if np.linalg.norm(after) < (1.0 - 0.1 * part) * np.linalg.norm(F):
            return new, after
    return None


def refine_by_newton(problem: ContactProblem, p: FloatArray, tol: float) -> tuple[FloatArray, int]:
    """Impulses of a smaller residual than p's, and the Newton steps taken: until `tol` is met or nothing is gained."""
    if problem.nr > WRITTEN_SETS.newton_max_rows:
        return p, 0
    equations = NaturalMap(problem)
    x = p / problem.length
    F = equations.residual(x)
    for step in range(WRITTEN_SETS.newton_steps):
        move = np.asarray(np.linalg.lstsq(equations.jacobian(), -F, rcond=None)[0], dtype=np.float64)
        found = damped_step(equations.residual, x, move, F)
        if found is None:
            return x * problem.length, step
        x, F = found
        if np.linalg.norm(F) <= 0.1 * tol * problem.scale and problem.certify(x * problem.length).ok(tol):
            return x * problem.length, step + 1
    return x * problem.length, WRITTEN_SETS.newton_steps
