"""Every solution of a small problem, and the one of least impulse among them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import lcp as _lcp
from .._check import FloatArray
from ..problem.contact_problem import ContactProblem
from ..status import Status
from .base import Solution, finish, nothing_to_solve
from .lemke import polyhedral_only


class EnumerationParameters(NamedTuple):
    """The enumeration of solutions."""

    max_pairs: int = 40
    """The most complementary pairs: the work can double with each."""


ENUMERATION = EnumerationParameters()


class Enumeration:
    """Finds all solutions of the polyhedral LCP and returns the one with the least impulse (2-norm).

    When not to use it: more than a handful of contacts; the work can double with every complementary pair.
    """

    name = "enumeration"

    def refuses(self, problem: ContactProblem) -> str | None:
        """Smooth friction cones, and problems with too many complementary pairs."""
        reason = polyhedral_only(problem, self.name)
        if reason is None:
            pairs = int((~problem.to_lcp().free).sum())
            limit = ENUMERATION.max_pairs
            if pairs > limit:
                reason = f"enumeration is for small problems; {pairs} complementary pairs are more than {limit}."
        return reason

    def solve(
        self, problem: ContactProblem, *, tol: float = 1e-8, maxiter: int | None = None, p0: FloatArray | None = None
    ) -> Solution:
        """Enumerate. Says "no solution" only when the enumeration was complete."""
        if problem.nr == 0:
            return nothing_to_solve(problem, self.name, tol)
        form = problem.to_lcp()
        M, q, _, unit = form.in_units()
        found = _lcp.solutions(M, q, free=form.free)
        impulses = [form.impulses(unit * z) for z in found]
        if impulses:
            p = min(impulses, key=lambda p: float(np.linalg.norm(p / problem.length)))
            status, message = Status.SOLVED, f"Of {len(impulses)} solutions found, the one of least impulse."
        else:
            p = np.zeros(problem.nr)
            status = Status.NO_SOLUTION if found.complete else Status.LIMIT
            message = status.sentence
        return finish(problem, p, solver=self.name, tol=tol, status=status, message=message, iterations=len(impulses))
