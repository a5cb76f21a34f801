"""Between a contact problem and a solver: laws that no solver knows are made of laws that all of them know."""

from __future__ import annotations

from .._check import FloatArray
from ..problem.contact_problem import ContactProblem
from .base import Solution, Solver


def answer(
    solver: Solver, problem: ContactProblem, *, tol: float, maxiter: int | None = None, p0: FloatArray | None = None
) -> Solution:
    """The solver's answer to a problem that it does not refuse."""
    return solver.solve(problem, tol=tol, maxiter=maxiter, p0=p0)
