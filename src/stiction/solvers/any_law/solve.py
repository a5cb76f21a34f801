"""Between a contact problem and a solver: laws that no solver knows, and solutions that miss the tolerance."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._check import FloatArray
from ...problem.contact_problem import ContactProblem
from ...status import Status
from ..acceptance import DECIDED, grade, largest_accepted, regularise, report_regularised
from ..auto import Auto
from ..base import Solution, Solver, finish
from ..gauss_seidel.nsgs import Nsgs
from ..gauss_seidel.parameters import ATTEMPT
from .coefficients import iterate_coefficients
from .written_sets import refine_polyhedra

STRICT = 0.0  # the `accept` by which nothing above the tolerance is accepted


def solve_any_law(
    solver: Solver,
    problem: ContactProblem,
    *,
    tol: float,
    accept: float | None = STRICT,
    maxiter: int | None = None,
    p0: FloatArray | None = None,
) -> Solution:
    """The solution of a problem of any law by a solver that does not refuse it.

    Where more than `tol` is accepted (`acceptance.py`) and the solution misses that too, it is the solution of the
    regularised problem.
    """
    solution = _solve_law(solver, problem, tol, accept, maxiter, p0)
    if solution.taken or largest_accepted(problem.nr, tol, accept) <= tol:
        return solution
    solution = grade(problem, solution, tol, accept)
    if solution.taken or problem.nr <= ATTEMPT.strict_rows or solution.culprit >= 0 or solution.status in DECIDED:
        return solution
    start = solution.p if np.isfinite(solution.p).all() else np.zeros(problem.nr)
    soft = regularise(problem, start)
    soft_solution = grade(soft, _solve_law(solver, soft, tol, accept, maxiter, start), tol, accept)
    if not soft_solution.taken:
        return solution
    rigid = finish(
        problem, soft_solution.p, solver=soft_solution.solver, tol=tol, status=Status.INACCURATE,
        message=soft_solution.message, iterations=soft_solution.iterations,
    )  # fmt: skip
    rigid = grade(problem, rigid, tol, accept)
    return rigid if rigid.taken else report_regularised(problem, soft, soft_solution, solution)


def _solve_law(
    solver: Solver,
    problem: ContactProblem,
    tol: float,
    accept: float | None,
    maxiter: int | None,
    p0: FloatArray | None,
) -> Solution:
    """The solution, with the loops around the solver that coefficients and friction sets of the problem need."""
    options: dict[str, Any] = {"accept": accept} if isinstance(solver, (Auto, Nsgs)) else {}  # these end early for it

    def solve_known_law(given: ContactProblem, tol: float, p0: FloatArray | None) -> Solution:
        return solver.solve(given, tol=tol, maxiter=maxiter, p0=p0, **options)

    def solve_fixed_coefficients(given: ContactProblem, tol: float, p0: FloatArray | None) -> Solution:
        if given.friction.written:
            return refine_polyhedra(given, solve_known_law, tol=tol, p0=p0, name=solver.name)
        return solve_known_law(given, tol, p0)

    if len(problem.friction.varying):
        return iterate_coefficients(problem, solve_fixed_coefficients, tol=tol, p0=p0)
    return solve_fixed_coefficients(problem, tol, p0)
