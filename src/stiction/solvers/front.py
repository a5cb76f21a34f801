"""Between a contact problem and a solver: laws that no solver knows are made of laws that all of them know."""

from __future__ import annotations

from .._check import FloatArray
from ..problem.contact_problem import ContactProblem
from .base import Solution, Solver
from .coefficients import settle
from .refine import refined


def answer(
    solver: Solver, problem: ContactProblem, *, tol: float, maxiter: int | None = None, p0: FloatArray | None = None
) -> Solution:
    """The solver's answer to a problem that it does not refuse."""

    def inner(given: ContactProblem, tol: float, p0: FloatArray | None) -> Solution:
        return solver.solve(given, tol=tol, maxiter=maxiter, p0=p0)

    def known(given: ContactProblem, tol: float, p0: FloatArray | None) -> Solution:
        if given.friction.written:
            return refined(given, inner, tol=tol, p0=p0, name=solver.name)
        return inner(given, tol, p0)

    if len(problem.friction.varying):
        return settle(problem, known, tol=tol, p0=p0)
    return known(problem, tol, p0)
