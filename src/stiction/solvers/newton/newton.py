"""Nonsmooth Newton on the Alart–Curnier equations: few iterations to round-off once the contact modes are right.

A contact is solved when `p_n = max(0, p_n - ρ u_n)` and `p_t` is the projection of `p_t - ρ u_t` onto the friction set
of radius `mu p_n + r0`; with the associated law, when p is the projection of `p - ρ u` onto its cone. Both are
piecewise smooth; Newton solves their linearisation, with a little slack in sticking contacts so that hyperstatic ones
(W singular) get the change of least size. It starts from the given impulses and some sweeps of Gauss–Seidel.
"""

from __future__ import annotations

import numpy as np

from ... import _check
from ..._check import FloatArray
from ...problem.contact_problem import ContactProblem
from ...status import Status
from ..base import Solution, finish, nothing_to_solve
from ..gauss_seidel.nsgs import Nsgs
from .equations import Equations
from .parameters import NEWTON


class Newton:
    """Quadratic convergence near a solution, no guarantee far from it; falls short honestly.

    All laws and friction sets. Its equations are solved in the smallest space there is (impulses, velocities of
    bodies), sparse where that is large.

    When not to use it: far from a solution (use `proximal`, which takes the same steps with a safety net).

    Reference: P. Alart, A. Curnier, Comput. Methods Appl. Mech. Engrg. 92, 1991.
    """

    name = "newton"

    def refuses(self, problem: ContactProblem) -> str | None:
        """Nothing."""
        return None

    def solve(
        self, problem: ContactProblem, *, tol: float = 1e-8, maxiter: int | None = None, p0: FloatArray | None = None
    ) -> Solution:
        """Iterate until the certificate is met; `maxiter` (default 60) limits the factorisations."""
        limit = NEWTON.default_steps if maxiter is None else _check.count("maxiter", maxiter)
        if problem.nr == 0:
            return nothing_to_solve(problem, self.name, tol)
        p = problem.p_warm if p0 is None else _check.floats("p0", p0, (problem.nr,))
        if Nsgs().refuses(problem) is None:
            p = Nsgs().solve(problem, tol=tol, maxiter=NEWTON.start_sweeps, p0=p).p
        equations = Equations(problem)
        unit = equations.laws.unit
        x = equations.scaled(p)
        best, least_error = p, np.inf
        f, size = equations.residual_at(x, x, 1.0)
        target, slack, stuck = 10.0 * tol * problem.scale, NEWTON.least_slack, 0
        for count in range(limit + 1):
            if size < least_error:
                best, least_error = unit * x, size
            if size <= target:
                if problem.certify(unit * x).ok(tol):
                    message = f"newton met the tolerance after {count} iterations."
                    return finish(
                        problem, unit * x, solver=self.name, tol=tol, status=Status.SOLVED, message=message,
                        iterations=count,
                    )  # fmt: skip
                target = max(0.1 * size, 1e-17 * problem.scale)
            if count == limit or stuck == NEWTON.max_failures:
                break
            x, f, size, improved = _damped_step(equations, x, f, size, slack)
            grown, shrunk = min(1.0, NEWTON.slack_growth * slack), max(NEWTON.least_slack, NEWTON.slack_shrink * slack)
            slack = shrunk if improved else grown
            stuck = 0 if improved else stuck + 1
        message = f"newton stopped after {count} iterations with residual {problem.certify(best).error:.2e}."
        return finish(
            problem, best, solver=self.name, tol=tol, status=Status.MAXITER, message=message, iterations=count
        )


def _damped_step(
    equations: Equations, x: FloatArray, f: FloatArray, size: float, slack: float
) -> tuple[FloatArray, FloatArray, float, bool]:
    """One step, halved until the residual falls; the shortest is taken: a piece may have to be crossed uphill."""
    try:
        dx = equations.newton(x, f, slack)
    except np.linalg.LinAlgError:
        return x, f, size, False
    if not np.isfinite(dx).all():
        return x, f, size, False
    part = 1.0
    while True:
        new = x + part * dx
        f_new, size_new = equations.residual_at(new, new, 1.0)
        if size_new < (1.0 - 1e-4 * part) * size:
            return new, f_new, size_new, True
        if part <= NEWTON.shortest_part:
            return new, f_new, size_new, False
        part *= 0.5
