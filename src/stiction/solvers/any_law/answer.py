"""Between a contact problem and a solver: laws that no solver knows, and answers that miss the tolerance."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._check import FloatArray
from ...problem.contact_problem import ContactProblem
from ...status import Status
from ..acceptance import DECIDED, STRICT_ROWS, as_regularised, graded, largest_accepted, regularised
from ..auto import Auto
from ..base import Solution, Solver, finish
from ..gauss_seidel.nsgs import Nsgs
from .coefficients import settle
from .written_sets import refined

STRICT = 0.0  # as `accept`: nothing above the tolerance


def answer(
    solver: Solver,
    problem: ContactProblem,
    *,
    tol: float,
    accept: float | None = STRICT,
    maxiter: int | None = None,
    p0: FloatArray | None = None,
) -> Solution:
    """The solver's answer to a problem that it does not refuse.

    Where more than `tol` is accepted (`acceptance.py`) and the answer misses that too, it is that of the regularised
    problem.
    """
    found = _answer(solver, problem, tol, accept, maxiter, p0)
    if found.taken or largest_accepted(problem.nr, tol, accept) <= tol:
        return found
    found = graded(problem, found, tol, accept)
    if found.taken or problem.nr <= STRICT_ROWS or found.culprit >= 0 or found.status in DECIDED:
        return found
    start = found.p if np.isfinite(found.p).all() else np.zeros(problem.nr)
    soft = regularised(problem, start)
    given = graded(soft, _answer(solver, soft, tol, accept, maxiter, start), tol, accept)
    if not given.taken:
        return found
    rigid = finish(
        problem, given.p, solver=given.solver, tol=tol, status=Status.INACCURATE, message=given.message,
        iterations=given.iterations,
    )  # fmt: skip
    rigid = graded(problem, rigid, tol, accept)
    return rigid if rigid.taken else as_regularised(problem, soft, given, found)


def _answer(
    solver: Solver,
    problem: ContactProblem,
    tol: float,
    accept: float | None,
    maxiter: int | None,
    p0: FloatArray | None,
) -> Solution:
    bounded: dict[str, Any] = {"accept": accept} if isinstance(solver, (Auto, Nsgs)) else {}  # these end early for it

    def inner(given: ContactProblem, tol: float, p0: FloatArray | None) -> Solution:
        return solver.solve(given, tol=tol, maxiter=maxiter, p0=p0, **bounded)

    def known(given: ContactProblem, tol: float, p0: FloatArray | None) -> Solution:
        if given.friction.written:
            return refined(given, inner, tol=tol, p0=p0, name=solver.name)
        return inner(given, tol, p0)

    if len(problem.friction.varying):
        return settle(problem, known, tol=tol, p0=p0)
    return known(problem, tol, p0)
