"""The default: picks a solver by the problem's kind and size, and tries the next when a certificate is missed."""

from __future__ import annotations

from dataclasses import replace

from .._check import FloatArray
from ..problem.contact_problem import ContactProblem
from ..status import Status
from .base import Solution, Solver
from .conic import Conic
from .enumeration import Enumeration
from .lemke import Lemke
from .newton import Newton
from .nsgs import Nsgs

EXACT = 300  # unknowns of the LCP up to which Lemke's method goes first
SMALL = 400  # rows up to which Newton's dense factorisations beat many sweeps
LARGE = 1500  # rows up to which a dense factorisation is a reasonable second try
PAIRS = 16  # complementary pairs up to which enumeration is a cheap second opinion


class Auto:
    """Decides by counts and residuals only, never by the clock, and says in the message what was tried.

    Polyhedral friction and up to 300 unknowns: `lemke`, then `enumeration` where it is cheap, then `nsgs`. Beyond,
    the convex relaxation: `conic`, then `nsgs`; smooth cones: `newton` up to 400 rows, then `nsgs`; otherwise `nsgs`,
    then `lemke` where friction is polyhedral.
    """

    name = "auto"

    def __init__(self) -> None:
        self._solvers: dict[str, Solver] = {s.name: s for s in (Lemke(), Enumeration(), Conic(), Newton(), Nsgs())}

    def refuses(self, problem: ContactProblem) -> str | None:
        """What both block Gauss–Seidel and Lemke's method refuse."""
        reasons = [self._solvers[name].refuses(problem) for name in ("nsgs", "lemke")]
        return None if None in reasons else reasons[0]

    def solve(
        self, problem: ContactProblem, *, tol: float = 1e-8, maxiter: int | None = None, p0: FloatArray | None = None
    ) -> Solution:
        """Solve; the result of the last solver tried, or of the first where none succeeded."""
        tried: list[Solution] = []
        for name in self._plan(problem):
            answer = self._solvers[name].solve(problem, tol=tol, maxiter=maxiter, p0=p0)
            if answer.success:
                before = "".join(f"{s.solver} failed ({s.status}); " for s in tried)
                return replace(
                    answer, message=f"{before}{answer.solver}: {answer.message}" if before else answer.message
                )
            tried.append(answer)
            if answer.status is Status.NO_SOLUTION:
                break
        rest = "".join(f" {s.solver}: {s.message}" for s in tried[1:])
        return replace(tried[0], message=f"{tried[0].message}{rest}")

    def _plan(self, problem: ContactProblem) -> list[str]:
        names = [name for name in self._wanted(problem) if self._solvers[name].refuses(problem) is None]
        return names or ["nsgs" if self._solvers["nsgs"].refuses(problem) is None else "lemke"]

    def _wanted(self, problem: ContactProblem) -> list[str]:
        polyhedral = problem.friction.is_polyhedral()
        form = problem.to_lcp() if polyhedral and problem.nr <= EXACT else None
        if form is None or len(form.q) > EXACT:
            if problem.associated and problem.nr <= LARGE:
                return ["conic", "nsgs"]
            if not polyhedral:
                return ["newton", "nsgs"] if problem.nr <= SMALL else ["nsgs"]
            return ["nsgs", "lemke"] if problem.nr <= LARGE else ["nsgs"]
        return ["lemke", "enumeration", "nsgs"] if int((~form.free).sum()) <= PAIRS else ["lemke", "nsgs"]
