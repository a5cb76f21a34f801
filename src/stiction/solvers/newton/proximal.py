"""Proximal points with Newton's method inside: for hyperstatic contacts to many digits.

Each outer step solves the contact problem with some extra compliance, 1/(θρ), pulled to the impulses so far; at its
fixed point the compliance has no effect. Small θ makes Newton's method safe, large θ makes few outer steps: θ grows as
long as Newton converges fast and shrinks where it does not. Islands of contacts are solved apart, each in the space
where its equations are smallest (`assembly`).
"""

from __future__ import annotations

import numpy as np

from ... import _check
from ..._check import FloatArray
from ...problem.contact_problem import ContactProblem
from ...status import Status
from ..base import Solution, finish, nothing_to_solve
from ..islands import split
from .equations import Equations
from .parameters import PROXIMAL


class Proximal:
    """Robust and exact, whatever the rank of W: all laws, all friction sets, Coulomb and the convex relaxation.

    Coulomb's law has no convergence proof; an answer is only called solved by its certificate.

    When not to use it: very large problems to few digits (use `nsgs`), a handful of contacts (use `lemke`).

    Reference: V. Acary, M. Brémond, O. Huber, "On solving contact problems with Coulomb friction", 2018.
    """

    name = "proximal"

    def refuses(self, problem: ContactProblem) -> str | None:
        """Nothing."""
        return None

    def solve(
        self, problem: ContactProblem, *, tol: float = 1e-8, maxiter: int | None = None, p0: FloatArray | None = None
    ) -> Solution:
        """Iterate from `p0`, or from the problem's `p_warm`; `maxiter` limits the Newton steps of an island."""
        limit = PROXIMAL.default_steps if maxiter is None else _check.count("maxiter", maxiter)
        if problem.nr == 0:
            return nothing_to_solve(problem, self.name, tol)
        p = np.array(problem.p_warm if p0 is None else _check.floats("p0", p0, (problem.nr,)))
        parts = split(problem, problem.islands())
        # natural maps of islands add up as squares
        share = tol / max(1.0, np.sqrt(len(parts)))
        steps, missed = 0, 0
        for rows, part in parts:
            goal = share * problem.scale / part.scale
            p[rows], error, count = iterate(part, p[rows], goal, limit)
            steps = max(steps, count)
            missed += error > goal
        if not missed:
            status, message = Status.SOLVED, f"proximal met the tolerance after {steps} Newton steps."
        else:
            status = Status.MAXITER
            message = f"proximal stopped short of tol = {tol:.0e} on {missed} of {len(parts)} islands of contacts."
        return finish(problem, p, solver=self.name, tol=tol, status=status, message=message, iterations=steps)


def iterate(problem: ContactProblem, p: FloatArray, tol: float, limit: int) -> tuple[FloatArray, float, int]:
    """Impulses of one island, the best certificate error, and the Newton steps taken.

    A start from nearby is soon at the end, or leads nowhere; then none at all is the other start, slow and sure.
    """
    equations = Equations(problem)
    given, zero = equations.scaled(p), np.zeros(problem.nr)
    starts = [given, zero] if equations.residual(given) < equations.residual(zero) else [zero]
    best, least_error, steps = p, np.inf, 0
    for x in starts:
        if steps < limit:
            patience = PROXIMAL.patience_steps if x is zero else PROXIMAL.nearby_steps
            new, error, count = _outer_steps(equations, x, tol, limit - steps, patience)
            steps += count
            if error < least_error:
                best, least_error = new, error
            if least_error <= tol:
                break
    return best, least_error, steps


def _outer_steps(
    equations: Equations, x: FloatArray, tol: float, limit: int, patience: int
) -> tuple[FloatArray, float, int]:
    """Outer steps from scaled impulses x: the best impulses, their certificate error, and the Newton steps taken."""
    problem, unit = equations.problem, equations.laws.unit
    scale = problem.scale
    error = equations.residual(x) / scale
    best, best_error, progress_steps, progress_error = x, error, 0, error
    target, steps, growth_limit, idle_steps = tol, 0, PROXIMAL.most_growth, 0
    theta = min(PROXIMAL.theta_first_most, max(1.0, error**-0.5)) if error > 0.0 else 1.0
    while True:
        if error <= target:
            exact = problem.certify(unit * x).error
            if exact <= tol:
                return unit * x, exact, steps
            target = 0.1 * min(error, target)
        if steps >= limit or steps - progress_steps > patience or target < 1e-17:
            return unit * best, problem.certify(unit * best).error, steps
        goal = max(1e-16, PROXIMAL.goal_share * min(error, best_error)) * scale
        new, converged, count = equations.proximal(x, theta, goal, min(PROXIMAL.centre_steps, limit - steps))
        steps += max(1, count)
        new_error = equations.residual(new) / scale
        if converged or new_error < 0.3 * error:
            x, error = new, new_error
            factor = 0.1 if count == 0 else 10.0 if count <= 3 else 4.0 if count <= 6 else 2.0
            theta = min(PROXIMAL.theta_most, theta * min(factor, growth_limit))
            growth_limit = min(PROXIMAL.most_growth, growth_limit * PROXIMAL.growth_recovery)
        else:
            if new_error < error:
                x, error = new, new_error
            theta = max(PROXIMAL.theta_least, PROXIMAL.theta_shrink * theta)
            growth_limit = PROXIMAL.careful_growth
        idle_steps = 0 if error < 0.9 * best_error else idle_steps + 1
        if error < best_error:
            best, best_error = x, error
        noisy = theta >= PROXIMAL.theta_noisy
        if noisy and idle_steps >= PROXIMAL.idle_steps:  # round-off, times θ, may be all that is left
            theta, idle_steps = PROXIMAL.theta_low, 0
        if best_error < 0.5 * progress_error:
            progress_error, progress_steps = best_error, steps
