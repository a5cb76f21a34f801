"""The default: picks a solver by the problem's kind and size, and tries the next when a certificate is missed."""

from __future__ import annotations

from dataclasses import replace

from .._check import FloatArray
from ..problem.contact_problem import ContactProblem
from .base import Solution
from .enumeration import Enumeration
from .lemke import Lemke

SMALL = 16  # complementary pairs up to which enumeration is a cheap second opinion


class Auto:
    """Lemke's method; where it fails on a small problem, enumeration. Decides by counts and residuals only."""

    name = "auto"

    def __init__(self) -> None:
        self._first = Lemke()
        self._second = Enumeration()

    def refuses(self, problem: ContactProblem) -> str | None:
        """What the first solver refuses."""
        return self._first.refuses(problem)

    def solve(
        self, problem: ContactProblem, *, tol: float = 1e-8, maxiter: int | None = None, p0: FloatArray | None = None
    ) -> Solution:
        """Solve, and say in the message what was tried."""
        first = self._first.solve(problem, tol=tol, maxiter=maxiter, p0=p0)
        if first.success or int((~problem.to_lcp().free).sum()) > SMALL:
            return first
        second = self._second.solve(problem, tol=tol)
        if not second.success:
            return replace(first, message=f"{first.message} Enumeration: {second.message}")
        return replace(second, message=f"lemke failed ({first.status}); enumeration: {second.message}")
