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
from ..problem.laws import EQUALITY
from ..problem.redundant import find_agreement
from ..status import Status
from .acceptance import DECIDED, ROUGH_TOLERANCE, STRICT_ROWS, acceptance_levels, find_missing_islands, grade
from .apgd import Apgd
from .base import Solution, Solver, finish
from .conic import Conic
from .enumeration import Enumeration
from .fixed_point import FixedPoint
from .gauss_seidel.nsgs import Nsgs
from .gauss_seidel.outcome import QUICK_FEW, QUICK_MANY, QUICK_ROWS, quick_limit
from .islands import part
from .lemke import Lemke
from .newton.proximal import Proximal

PIVOT_MAX_UNKNOWNS = 300  # of the LCP, where Lemke's method goes first
PIVOT_MAX_ROWS = 1500  # where it is a reasonable last resort
ENUMERATION_MAX_PAIRS = 16  # where enumeration is a cheap second opinion
# Solvers and their limits (sweeps, Newton steps), each started from the best impulses so far. Sweeps are cheap and
# settle most contacts; Newton's method with proximal points finishes what they leave, the better it starts the surer.
# The convex problems of the fixed point are another way to a start; the relaxation is such a problem itself.
FIRST = ("nsgs", QUICK_FEW)
STAGES = (("nsgs", 2000), ("proximal", 1000), ("fixed-point", 32), ("nsgs", 10_000))
PROXIMAL_FEW, PROXIMAL_MANY = ("proximal", 1000), ("proximal", 200)
SWEPT_STAGES = (
    ("nsgs", 10_000),
)  # for many: what 200 Newton steps leave, 1000 and convex problems left too, in minutes
BOUNDED = (("proximal", 50), ("nsgs", 2000))  # where more is accepted: contacts are made compliant before it costs more
CONVEX = (("conic", None), ("proximal", 1000), ("nsgs", 10_000))
NEARLY_TOLERANCES = 10.0  # where further sweeps are cheaper than factorisations
MORE = ("nsgs", 2000)
SWEPT_FEW, SWEPT_MANY = ("nsgs", QUICK_FEW), ("nsgs", 3 * QUICK_MANY)  # a Newton step costs a thousand sweeps of many
GRADIENT = ("apgd", 5000)
LARGE, LARGE_CONVEX = (("nsgs", 10_000),), (GRADIENT, ("nsgs", 10_000))
GRADIENT_MIN_ROWS = 1000  # of the relaxation, where gradients are tried before interior points
FACTORISED_MAX_ROWS = 30_000  # of an island whose equations are factorised
CONTRADICTED_TOLERANCES = 0.1  # a residual that is shared among redundant rows, and that nothing removes


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

    Where more than `tol` is accepted (a run with more than 300 rows), it ends with the first answer that is; what
    follows then aims at what is accepted, and above 3000 rows nothing does but for the convex relaxation. Islands of at
    most 300 rows, which are held to `tol`, are solved apart.
    """

    name = "auto"

    def __init__(self) -> None:
        self._sweeps = Nsgs()
        others = (Lemke(), Enumeration(), Proximal(), Conic(), FixedPoint(), Apgd())
        self._solvers: dict[str, Solver] = {s.name: s for s in (self._sweeps, *others)}

    def refuses(self, problem: ContactProblem) -> str | None:
        """Nothing."""
        return None

    def solve(
        self, problem: ContactProblem, *, tol: float = 1e-8, maxiter: int | None = None, p0: FloatArray | None = None,
        accept: float | None = 0.0,
    ) -> Solution:  # fmt: skip
        """Solve; the result of the solver that succeeded, or the best of all where none did.

        accept: an error above `tol` that is enough all the same (`acceptance.py`; None: its rule).
        """
        accepted, _ = acceptance_levels(tol, accept)
        if accepted > tol and problem.nr > STRICT_ROWS:
            return self._solve_to_accepted(problem, tol, accept, maxiter, p0)
        return self._solve_to_tolerance(problem, self._plan(problem), tol, maxiter, p0)

    def _solve_to_accepted(
        self, problem: ContactProblem, tol: float, accept: float | None, maxiter: int | None, p0: FloatArray | None
    ) -> Solution:
        """The first answer that is solved or accepted; where sweeps miss small islands, these are solved apart."""
        accepted, strict = acceptance_levels(tol, accept)
        plan = self._plan(problem)
        name, limit = next(plan)
        if name == "nsgs":
            limit = quick_limit(problem.nr, bounded=True) if maxiter is None else maxiter
            first = self._sweeps.solve(problem, tol=tol, maxiter=limit, p0=p0, accept=accept)
        else:
            first = self._solvers[name].solve(problem, tol=tol, maxiter=maxiter, p0=p0)
        if not first.success and (problem.law == EQUALITY).any():  # never taken for what a large problem leaves
            contradiction = _contradiction(problem, first.p, tol)
            if contradiction > 0.0:
                return _contradicted(first, contradiction)
        first = grade(problem, first, tol, accept)
        if not first.taken and strict:
            first = self._solve_islands(problem, first, tol, accept)
        if first.taken or first.culprit >= 0 or first.status in DECIDED:
            return first
        if problem.nr > QUICK_ROWS and not problem.associated:
            return first
        plan = plan if problem.associated else self._plan(problem, BOUNDED)
        last = self._solve_to_tolerance(problem, plan, accepted, maxiter, first.p)
        last = replace(last, stages=last.stages + 1)
        if not last.success or last.certificate.ok(tol):
            return last
        last = replace(last, success=False, status=Status.INACCURATE)
        last = grade(problem, last, tol, accept)  # it was held to what is accepted, and so were its small islands
        return last if last.taken else self._solve_islands(problem, last, tol, accept)

    def _solve_islands(self, problem: ContactProblem, first: Solution, tol: float, accept: float | None) -> Solution:
        """The solution with the small islands that miss the tolerance solved by themselves."""
        p, failed, message = first.p.copy(), -1, first.message
        islands = find_missing_islands(problem, p, tol, STRICT_ROWS)
        for blocks in islands:
            rows, island = part(problem, blocks)
            island_tol = min(ROUGH_TOLERANCE, tol * problem.scale / island.scale) if island.scale > 0.0 else tol
            start = p[rows] if np.isfinite(p[rows]).all() else None
            solution = self._solve_to_tolerance(island, self._plan(island), island_tol, None, start)
            if np.isfinite(solution.p).all():
                p[rows] = solution.p
            if not solution.success and failed < 0:
                failed = int(blocks[solution.certificate.blocks[problem.measure]])
                message = f"An island of {island.nr} rows was not solved: {solution.message}"
        if not islands:
            return first
        done = finish(
            problem, p, solver=first.solver, tol=tol, status=Status.INACCURATE, message=message,
            iterations=first.iterations,
        )  # fmt: skip
        if failed >= 0:
            return replace(done, success=False, status=Status.NOT_CONVERGED, message=message, culprit=failed)
        return grade(problem, done, tol, accept)

    def _solve_to_tolerance(
        self, problem: ContactProblem, plan: Iterator[tuple[str, int | None]], tol: float, maxiter: int | None,
        p0: FloatArray | None,
    ) -> Solution:  # fmt: skip
        """The answer of the first solver of the plan that meets `tol`, or the best of all."""
        tried: list[Solution] = []
        best = p0
        while (entry := next(plan, None)) is not None:
            name, limit = entry
            limit = maxiter if maxiter is not None else limit
            solution = self._solvers[name].solve(problem, tol=tol, maxiter=limit, p0=best)
            if solution.success:
                before = "".join(f"{s.solver} left {s.certificate.error:.1e}; " for s in tried)
                return replace(solution, message=f"{before}{solution.message}", stages=len(tried) + 1)
            tried.append(solution)
            if solution.status is Status.NO_SOLUTION:
                break
            if len(tried) == 1 and (contradiction := _contradiction(problem, solution.p, tol)) > 0.0:
                return _contradicted(solution, contradiction)
            best = min(tried, key=lambda s: s.certificate.error).p
            near = solution.certificate.error <= NEARLY_TOLERANCES * tol and not problem.associated
            if name == "nsgs" and len(tried) == 1 and near and problem.nr <= QUICK_ROWS:
                plan = chain([MORE], plan)
        first = min(tried, key=lambda s: s.certificate.error)
        if tried[-1].status is Status.NO_SOLUTION:
            first = replace(first, status=Status.NO_SOLUTION)
        return replace(first, message=" ".join(f"{s.solver}: {s.message}" for s in tried), stages=len(tried))

    def _plan(
        self, problem: ContactProblem, stages: tuple[tuple[str, int | None], ...] = ()
    ) -> Iterator[tuple[str, int | None]]:
        """Solvers in the order in which they are tried, with their limits; by default those that suit the problem."""
        for name, limit in stages or self._stages(problem):
            if self._solvers[name].refuses(problem) is None:
                yield name, limit

    def _stages(self, problem: ContactProblem) -> Iterator[tuple[str, int | None]]:
        small = problem.friction.is_polyhedral() and problem.nr <= PIVOT_MAX_ROWS
        swept = isinstance(problem.dynamics, Bodies) and POLYHEDRON not in problem.friction.kind
        if swept:  # begins with what the compiled loop does before it asks for help
            yield SWEPT_FEW if problem.nr <= QUICK_ROWS else SWEPT_MANY
        form = problem.to_lcp() if small and problem.nr <= PIVOT_MAX_UNKNOWNS else None
        pivots = form is not None and len(form.q) <= PIVOT_MAX_UNKNOWNS
        if form is not None and pivots:
            yield "lemke", None
            if int((~form.free).sum()) <= ENUMERATION_MAX_PAIRS:
                yield "enumeration", None
        if not swept:
            yield FIRST
        if problem.nr > FACTORISED_MAX_ROWS and _largest_island_rows(problem) > FACTORISED_MAX_ROWS:
            yield from LARGE_CONVEX if problem.associated else LARGE
        elif problem.associated:
            yield from (GRADIENT, *CONVEX) if problem.nr > GRADIENT_MIN_ROWS else CONVEX
        else:
            many = problem.nr > QUICK_ROWS
            yield PROXIMAL_MANY if many else PROXIMAL_FEW
            yield from SWEPT_STAGES if swept and many else STAGES
        if small and not pivots:
            yield "lemke", None


def _contradicted(solution: Solution, contradiction: float) -> Solution:
    message = f"Joints contradict each other by {contradiction:.1e} m/s: {Status.SINGULAR.sentence}"
    return replace(solution, success=False, status=Status.SINGULAR, message=message)


def _contradiction(problem: ContactProblem, p: FloatArray, tol: float) -> float:
    """By how much demands of redundant joints contradict each other, where no impulses can meet `tol` for that."""
    solution = find_agreement(problem, p)
    accepted = 0.0 if solution is None else float(np.abs((solution.b - problem.b) * problem.length).max())
    return accepted if accepted > CONTRADICTED_TOLERANCES * tol * problem.scale else 0.0


def _largest_island_rows(problem: ContactProblem) -> int:
    """The rows of the largest island."""
    return int(np.bincount(problem.islands(), weights=np.diff(problem.row_ptr)).max())
