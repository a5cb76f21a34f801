"""Nonsmooth Newton on the Alart–Curnier equations: few iterations to round-off, true friction cones, dense and small.

A contact is solved when `p_n = max(0, p_n - ρ u_n)` and `p_t` is the projection of `p_t - ρ u_t` onto the disk of
radius `mu p_n + r0`. Both are piecewise smooth; Newton solves their linearisation. Hyperstatic contacts make W
singular, and a small multiple of the identity (a proximal step) picks the change of least size. It starts from the
given impulses and some sweeps of Gauss–Seidel, which settle the contact modes.
"""

from __future__ import annotations

import numpy as np

from .._check import FloatArray
from ..friction.sets import ELLIPSOID
from ..problem.contact_problem import ContactProblem
from ..problem.laws import BOX, DRY, EQUALITY, UNILATERAL
from ..status import Status
from .base import Solution, finish, nothing_to_solve
from .nsgs import Nsgs

MOST_ROWS = 1500
SWEEPS = 100


class Newton:
    """Quadratic convergence near a solution, no guarantee far from it; falls short honestly.

    When not to use it: more than a thousand rows (it factorises a dense matrix), polyhedral friction (use `lemke`).
    """

    name = "newton"

    def refuses(self, problem: ContactProblem) -> str | None:
        """The convex relaxation, friction sets that are not disks or intervals, and large problems."""
        if problem.nr > MOST_ROWS:
            return f"newton factorises a dense matrix; {problem.nr} rows are more than its limit of {MOST_ROWS}."
        if problem.associated:
            return "newton solves Coulomb's law; use conic for the convex relaxation."
        f = problem.friction
        used = np.unique(f.set_of[(problem.law == UNILATERAL) | (problem.law == DRY)])
        smooth = (f.dims[used] == 0) | (f.kind[used] == ELLIPSOID)
        return None if smooth.all() else "newton takes friction disks and intervals; use lemke for polyhedral friction."

    def solve(
        self, problem: ContactProblem, *, tol: float = 1e-8, maxiter: int | None = None, p0: FloatArray | None = None
    ) -> Solution:
        """Iterate until the certificate is met; `maxiter` (default 60) limits the factorisations."""
        if problem.nr == 0:
            return nothing_to_solve(problem, self.name, tol)
        equations = _Equations(problem)
        x = Nsgs().solve(problem, tol=tol, maxiter=SWEEPS, p0=p0).p / equations.unit
        best = x
        F, J = equations(x)
        size = float(np.linalg.norm(F))
        proximal = 1e-9
        for count in range(1, (60 if maxiter is None else maxiter) + 1):
            if equations.good(F, tol) and problem.certify(x * equations.unit).ok(tol):
                return finish(
                    problem, x * equations.unit, solver=self.name, tol=tol, status=Status.SOLVED, iterations=count - 1,
                    message=f"newton met the tolerance after {count - 1} iterations.",
                )  # fmt: skip
            J.flat[:: J.shape[0] + 1] += proximal
            try:
                step = np.asarray(np.linalg.solve(J, -F), dtype=np.float64)
            except np.linalg.LinAlgError:
                proximal *= 100.0
                F, J = equations(x)
                continue
            x, F, J, new = _search(equations, x, step, size)
            proximal = min(1e-2, proximal * 100.0) if new > 0.9 * size else max(1e-11, 0.1 * proximal)
            if new < size:
                best = x
            size = new
        message = f"newton stopped after {count} iterations."
        return finish(
            problem,
            best * equations.unit,
            solver=self.name,
            tol=tol,
            status=Status.MAXITER,
            message=message,
            iterations=count,
        )


def _search(
    equations: _Equations, x: FloatArray, step: FloatArray, size: float
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Halve the step until the residual falls; after six halvings take it: a piece may have to be crossed uphill."""
    for k in range(7):
        new = x + 0.5**k * step
        F, J = equations(new)
        value = float(np.linalg.norm(F))
        if value < (1.0 - 1e-4 * 0.5**k) * size:
            break
    return new, F, J, value


class _Equations:
    """F(p) and its derivative, in units where each block's inertia is one: x = p / (length ρ), F in m/s."""

    def __init__(self, problem: ContactProblem):
        self.problem = problem
        sizes = np.diff(problem.row_ptr)
        rho = np.repeat(problem.rho, sizes)
        self.unit = rho * problem.length  # p = unit·x
        L = problem.length
        self.W = (problem.delassus() * L[:, None]) * self.unit[None, :]
        self.q = problem.q * L
        self.lo, self.hi = problem.lo / self.unit, problem.hi / self.unit
        self.r0 = problem.r0 / problem.rho
        self.mu = problem.friction.mu

    def good(self, F: FloatArray, tol: float) -> bool:
        """A cheap look before the certificate is asked."""
        return bool(np.abs(F).max() <= 10.0 * tol * self.problem.scale)

    def __call__(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        u = self.W @ x + self.q
        F, J = u.copy(), self.W.copy()  # closed, sticking, bilateral: u = 0
        P = self.problem
        for k, (start, stop) in enumerate(zip(P.row_ptr[:-1].tolist(), P.row_ptr[1:].tolist())):
            law = P.law[k]
            if law == EQUALITY:
                continue
            if law == BOX:
                y = x[start:stop] - u[start:stop]
                for i in range(start, stop):
                    for bound, out in (
                        (self.lo[i], y[i - start] < self.lo[i]),
                        (self.hi[i], y[i - start] > self.hi[i]),
                    ):
                        if out:
                            F[i] = x[i] - bound
                            J[i] = 0.0
                            J[i, i] = 1.0
                continue
            normal = law == UNILATERAL
            first = start + 1 if normal else start
            if normal and x[start] - u[start] <= 0.0:
                F[start:stop] = x[start:stop]
                J[start:stop] = 0.0
                J[range(start, stop), range(start, stop)] = 1.0
            elif stop > first:
                self._friction(k, start, first, stop, normal, x, u, F, J)
        return F, J

    def _friction(
        self,
        k: int,
        start: int,
        first: int,
        stop: int,
        normal: bool,
        x: FloatArray,
        u: FloatArray,
        F: FloatArray,
        J: FloatArray,
    ) -> None:
        """Stick: u_t = 0. Slip: x_t = r y/|y| with y = x_t - u_t."""
        mu = self.mu[k] if normal else 0.0
        r = mu * max(0.0, x[start]) + self.r0[k] if normal else self.r0[k]
        y = x[first:stop] - u[first:stop]
        size = float(np.sqrt(y @ y))
        if size <= r or size == 0.0:
            return
        e = y / size
        F[first:stop] = x[first:stop] - r * e
        across = (np.eye(stop - first) - np.outer(e, e)) * (r / size)
        rows = across @ self.W[first:stop]
        rows[:, first:stop] += np.eye(stop - first) - across
        if normal:
            rows[:, start] -= mu * e
        J[first:stop] = rows
