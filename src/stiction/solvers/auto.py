"""The default: picks solvers by the problem's kind and size, and goes on to the next when a certificate is missed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import numpy as np

from .._check import FloatArray
from ..friction.sets import POLYHEDRON
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Bodies
from ..problem.redundant import agree
from ..status import Status
from .apgd import Apgd
from .base import Solution, Solver
from .conic import Conic
from .enumeration import Enumeration
from .fixed_point import FixedPoint
from .lemke import Lemke
from .nsgs import Nsgs
from .nsgs_ends import QUICK_FEW, QUICK_MANY, QUICK_ROWS
from .proximal import Proximal

EXACT = 300  # unknowns of the LCP up to which Lemke's method goes first
LAST = 1500  # rows up to which it is a reasonable last resort
PAIRS = 16  # complementary pairs up to which enumeration is a cheap second opinion
# Solvers and their limits (sweeps, Newton steps), each started from the best impulses so far. Sweeps are cheap and
# settle most contacts; Newton's method with proximal points finishes what they leave, the better it starts the surer.
# The convex problems of the fixed point are another way to a start; the relaxation is such a problem itself.
FIRST = ("nsgs", QUICK_FEW)
STAGES = (("nsgs", 2000), ("proximal", 1000), ("fixed-point", 32), ("nsgs", 10_000))
PROXIMAL_FEW, PROXIMAL_MANY = ("proximal", 1000), ("proximal", 200)
SWEPT_STAGES = (
    ("nsgs", 10_000),
)  # for many: what 200 Newton steps leave, 1000 and convex problems left too, in minutes
CONVEX = (("conic", None), ("proximal", 1000), ("nsgs", 10_000))
NEARLY = 10.0  # times the tolerance, where further sweeps are cheaper than factorisations
MORE = ("nsgs", 2000)
SWEPT_FEW, SWEPT_MANY = ("nsgs", QUICK_FEW), ("nsgs", 3 * QUICK_MANY)  # a Newton step costs a thousand sweeps of many
GRADIENT = ("apgd", 5000)
LARGE, LARGE_CONVEX = (("nsgs", 10_000),), (GRADIENT, ("nsgs", 10_000))
MANY = 1000  # rows of the relaxation from which gradients are tried before interior points
FACTORS = 30_000  # rows of an island up to which its equations are factorised
CONTRADICTED = 0.1  # times the tolerance: a residual that is shared among redundant rows, and that nothing removes


class Auto:
    """Decides by counts and residuals only, never by the clock, and says in the message what was tried.

    Worlds: some hundred sweeps of `nsgs`, some thousand for more than 3000 rows, which end most steps from the impulses
    of the step before (but polygons for cones in space are left to pivoting first). Polyhedral friction and up to 300
    unknowns: `lemke`, then `enumeration` where it is cheap. Everything else, and what these leave: more sweeps where
    little is missing, then Newton steps of `proximal` and sweeps of `nsgs` in turns, with growing limits, until the
    certificate is met, then `fixed-point` (worlds of more than 3000 rows: one turn of each); the convex relaxation:
    `nsgs`, `apgd` from 1000 rows, `conic`, `proximal`; islands of more than 30 000 rows: nothing that factorises. At
    last `lemke` where friction is polyhedral. With `maxiter`, each of them is limited by it. Where redundant joints
    contradict each other by so much that none could meet the tolerance, it says so after the first.
    """

    name = "auto"

    def __init__(self) -> None:
        self._solvers: dict[str, Solver] = {
            s.name: s for s in (Lemke(), Enumeration(), Nsgs(), Proximal(), Conic(), FixedPoint(), Apgd())
        }

    def refuses(self, problem: ContactProblem) -> str | None:
        """Nothing."""
        return None

    def solve(
        self, problem: ContactProblem, *, tol: float = 1e-8, maxiter: int | None = None, p0: FloatArray | None = None
    ) -> Solution:
        """Solve; the result of the solver that succeeded, or the best of all where none did."""
        tried: list[Solution] = []
        best = p0
        plan: Iterator[tuple[str, int | None]] = self._plan(problem)  # lazy: most problems need its first entry only
        while (entry := next(plan, None)) is not None:
            name, limit = entry
            limit = maxiter if maxiter is not None else limit
            answer = self._solvers[name].solve(problem, tol=tol, maxiter=limit, p0=best)
            if answer.success:
                before = "".join(f"{s.solver} left {s.certificate.error:.1e}; " for s in tried)
                return replace(answer, message=f"{before}{answer.message}", stages=len(tried) + 1)
            tried.append(answer)
            if answer.status is Status.NO_SOLUTION:
                break
            if len(tried) == 1 and (contradiction := _contradiction(problem, answer.p, tol)) > 0.0:
                message = f"Joints contradict each other by {contradiction:.1e} m/s: {Status.SINGULAR.sentence}"
                return replace(answer, status=Status.SINGULAR, message=message)
            best = min(tried, key=lambda s: s.certificate.error).p
            near = answer.certificate.error <= NEARLY * tol and not problem.associated
            if name == "nsgs" and len(tried) == 1 and near and problem.nr <= QUICK_ROWS:
                plan = chain([MORE], plan)
        first = min(tried, key=lambda s: s.certificate.error)
        if tried[-1].status is Status.NO_SOLUTION:
            first = replace(first, status=Status.NO_SOLUTION)
        return replace(first, message=" ".join(f"{s.solver}: {s.message}" for s in tried), stages=len(tried))

    def _plan(self, problem: ContactProblem) -> Iterator[tuple[str, int | None]]:
        """Solvers in the order in which they are tried, with their limits."""
        for name, limit in self._stages(problem):
            if self._solvers[name].refuses(problem) is None:
                yield name, limit

    def _stages(self, problem: ContactProblem) -> Iterator[tuple[str, int | None]]:
        small = problem.friction.is_polyhedral() and problem.nr <= LAST
        swept = isinstance(problem.dynamics, Bodies) and POLYHEDRON not in problem.friction.kind
        if swept:  # begins with what the compiled loop does before it asks for help
            yield SWEPT_FEW if problem.nr <= QUICK_ROWS else SWEPT_MANY
        form = problem.to_lcp() if small and problem.nr <= EXACT else None
        pivots = form is not None and len(form.q) <= EXACT
        if form is not None and pivots:
            yield "lemke", None
            if int((~form.free).sum()) <= PAIRS:
                yield "enumeration", None
        if not swept:
            yield FIRST
        if problem.nr > FACTORS and _largest(problem) > FACTORS:
            yield from LARGE_CONVEX if problem.associated else LARGE
        elif problem.associated:
            yield from (GRADIENT, *CONVEX) if problem.nr > MANY else CONVEX
        else:
            many = problem.nr > QUICK_ROWS
            yield PROXIMAL_MANY if many else PROXIMAL_FEW
            yield from SWEPT_STAGES if swept and many else STAGES
        if small and not pivots:
            yield "lemke", None


def _contradiction(problem: ContactProblem, p: FloatArray, tol: float) -> float:
    """By how much demands of redundant joints contradict each other, where no impulses can meet `tol` for that."""
    found = agree(problem, p)
    most = 0.0 if found is None else float(np.abs((found.b - problem.b) * problem.length).max())
    return most if most > CONTRADICTED * tol * problem.scale else 0.0


def _largest(problem: ContactProblem) -> int:
    """The rows of the largest island."""
    return int(np.bincount(problem.islands(), weights=np.diff(problem.row_ptr)).max())
