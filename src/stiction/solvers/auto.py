"""The default: picks solvers by the problem's kind and size, and goes on to the next when a certificate is missed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from .._check import FloatArray
from ..friction.sets import POLYHEDRON
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Bodies
from ..problem.laws import EQUALITY
from ..problem.redundant import find_agreement
from ..status import Status
from .acceptance import ACCEPTANCE, DECIDED, acceptance_levels, find_missing_islands, grade
from .apgd import Apgd
from .base import Solution, Solver, finish
from .conic import Conic
from .enumeration import Enumeration
from .fixed_point import FixedPoint
from .gauss_seidel.nsgs import Nsgs
from .gauss_seidel.outcome import attempt_limit
from .gauss_seidel.parameters import ATTEMPT
from .islands import part
from .lemke import Lemke
from .newton.proximal import Proximal

Stage = tuple[str, int | None]  # a solver, and the limit of its sweeps or steps


class AutoParameters(NamedTuple):
    """The solvers that `auto` tries, in their order and with their limits, each from the best impulses so far.

    Sweeps are cheap and settle most contacts; Newton's method with proximal points finishes what they leave, the better
    it starts the surer. The convex problems of the fixed point are another way to a start; the convex relaxation is
    such a problem itself. Problems are small up to `few_rows` of the first attempt.
    """

    pivot_max_unknowns: int = 300
    """Size of a polyhedral LCP up to which Lemke's method goes first."""
    pivot_max_rows: int = 1500
    """Size of a polyhedral problem up to which Lemke's method is a reasonable last resort."""
    enumeration_max_pairs: int = 16
    """Complementary pairs up to which enumeration is a cheap second opinion."""
    first: Stage = ("nsgs", ATTEMPT.few_sweeps)
    """The first stage where the Delassus matrix is given, or friction sets are polyhedra."""
    first_on_bodies: Stage = ("nsgs", ATTEMPT.few_sweeps)
    """The first stage of small problems on bodies: that of the compiled loop."""
    first_on_many_bodies: Stage = ("nsgs", 3 * ATTEMPT.many_sweeps)
    """The first stage of large problems on bodies: there a Newton step costs a thousand sweeps."""
    first_on_elastic: Stage = ("nsgs", 8 * ATTEMPT.elastic_sweeps)
    """The first stage of large problems whose contacts are all elastic: sweeps from a dozen starts."""
    near_tolerances: float = 10.0
    """Error, over the tolerance, up to which further sweeps are cheaper than factorisations."""
    more_sweeps: Stage = ("nsgs", 2000)
    """The stage that then follows the first one."""
    proximal: Stage = ("proximal", 1000)
    """The second stage of small problems."""
    proximal_of_many: Stage = ("proximal", 200)
    """The second stage of large problems."""
    proximal_of_elastic: Stage = ("proximal", 50)
    """The same for large problems whose contacts are all elastic: a dozen starts of sweeps have failed by then."""
    stages: tuple[Stage, ...] = (("nsgs", 2000), ("proximal", 1000), ("fixed-point", 32), ("nsgs", 10_000))
    """The stages after these two."""
    stages_on_many_bodies: tuple[Stage, ...] = (("nsgs", 10_000),)
    """The same for large problems on bodies: what 200 Newton steps leave, 1000 and convex problems left too, in
    minutes."""
    stages_to_accepted: tuple[Stage, ...] = (("proximal", 50), ("nsgs", 2000))
    """The stages after the first where more than `tol` is accepted: before it costs more, contacts are made
    compliant."""
    convex_stages: tuple[Stage, ...] = (("conic", None), ("proximal", 1000), ("nsgs", 10_000))
    """The stages after the first for the convex relaxation."""
    gradient: Stage = ("apgd", 5000)
    """The stage before these for large relaxations."""
    gradient_min_rows: int = 1000
    """Size of a relaxation from which gradients are tried before interior points."""
    factorised_max_rows: int = 30_000
    """Size of an island up to which its equations are factorised."""
    stages_of_largest: tuple[Stage, ...] = (("nsgs", 10_000),)
    """The stages after the first where an island is larger; for the relaxation they follow `gradient`."""
    contradicted_tolerances: float = 0.1
    """Contradiction of redundant joints, over the tolerance, from which none could meet it: no impulses remove what
    they share."""


AUTO = AutoParameters()


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

    Where more than `tol` is accepted (a run with more than 300 rows), it ends with the first solution that is; what
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
        if accepted > tol and problem.nr > ATTEMPT.strict_rows:
            return self._solve_to_accepted(problem, tol, accept, maxiter, p0)
        return self._solve_to_tolerance(problem, self._plan(problem), tol, maxiter, p0)

    def _solve_to_accepted(
        self, problem: ContactProblem, tol: float, accept: float | None, maxiter: int | None, p0: FloatArray | None
    ) -> Solution:
        """The first solution that is solved or accepted; where sweeps miss small islands, these are solved apart."""
        accepted, strict = acceptance_levels(tol, accept)
        plan = self._plan(problem)
        name, limit = next(plan)
        if name == "nsgs":
            limit = attempt_limit(problem.nr, True, problem.elastic) if maxiter is None else maxiter
            first = self._sweeps.solve(problem, tol=tol, maxiter=limit, p0=p0, accept=accept)
        else:
            first = self._solvers[name].solve(problem, tol=tol, maxiter=maxiter, p0=p0)
        if (
            not first.success and (problem.law == EQUALITY).any()
        ):  # a contradiction is never accepted as the error of a large problem
            contradiction = _contradiction(problem, first.p, tol)
            if contradiction > 0.0:
                return _contradicted(first, contradiction)
        first = grade(problem, first, tol, accept)
        if not first.taken and strict:
            first = self._solve_islands(problem, first, tol, accept)
        if first.taken or first.culprit >= 0 or first.status in DECIDED:
            return first
        if problem.nr > ATTEMPT.few_rows and not problem.associated:
            return first
        plan = plan if problem.associated else self._plan(problem, AUTO.stages_to_accepted)
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
        islands = find_missing_islands(problem, p, tol, ATTEMPT.strict_rows)
        for blocks in islands:
            rows, island = part(problem, blocks)
            island_tol = (
                min(ACCEPTANCE.rough_tolerance, tol * problem.scale / island.scale) if island.scale > 0.0 else tol
            )
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
        self, problem: ContactProblem, plan: Iterator[Stage], tol: float, maxiter: int | None,
        p0: FloatArray | None,
    ) -> Solution:  # fmt: skip
        """The solution of the first solver of the plan that meets `tol`, or the best of all."""
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
            near = solution.certificate.error <= AUTO.near_tolerances * tol and not problem.associated
            if name == "nsgs" and len(tried) == 1 and near and problem.nr <= ATTEMPT.few_rows:
                plan = chain([AUTO.more_sweeps], plan)
        first = min(tried, key=lambda s: s.certificate.error)
        if tried[-1].status is Status.NO_SOLUTION:
            first = replace(first, status=Status.NO_SOLUTION)
        return replace(first, message=" ".join(f"{s.solver}: {s.message}" for s in tried), stages=len(tried))

    def _plan(self, problem: ContactProblem, stages: tuple[Stage, ...] = ()) -> Iterator[Stage]:
        """Solvers in the order in which they are tried, with their limits; by default those that suit the problem."""
        for name, limit in stages or self._stages(problem):
            if self._solvers[name].refuses(problem) is None:
                yield name, limit

    def _stages(self, problem: ContactProblem) -> Iterator[Stage]:
        small = problem.friction.is_polyhedral() and problem.nr <= AUTO.pivot_max_rows
        swept = isinstance(problem.dynamics, Bodies) and POLYHEDRON not in problem.friction.kind
        if swept:  # begins with what the compiled loop does before it asks for help
            if problem.elastic and problem.nr > ATTEMPT.strict_rows:
                yield AUTO.first_on_elastic
            else:
                yield AUTO.first_on_bodies if problem.nr <= ATTEMPT.few_rows else AUTO.first_on_many_bodies
        form = problem.to_lcp() if small and problem.nr <= AUTO.pivot_max_unknowns else None
        pivots = form is not None and len(form.q) <= AUTO.pivot_max_unknowns
        if form is not None and pivots:
            yield "lemke", None
            if int((~form.free).sum()) <= AUTO.enumeration_max_pairs:
                yield "enumeration", None
        if not swept:
            yield AUTO.first
        if problem.nr > AUTO.factorised_max_rows and _largest_island_rows(problem) > AUTO.factorised_max_rows:
            if problem.associated:
                yield AUTO.gradient
            yield from AUTO.stages_of_largest
        elif problem.associated:
            if problem.nr > AUTO.gradient_min_rows:
                yield AUTO.gradient
            yield from AUTO.convex_stages
        else:
            many = problem.nr > ATTEMPT.few_rows
            if problem.elastic and many:
                yield AUTO.proximal_of_elastic
            else:
                yield AUTO.proximal_of_many if many else AUTO.proximal
            yield from AUTO.stages_on_many_bodies if swept and many else AUTO.stages
        if small and not pivots:
            yield "lemke", None


def _contradicted(solution: Solution, contradiction: float) -> Solution:
    message = f"Joints contradict each other by {contradiction:.1e} m/s: {Status.SINGULAR.sentence}"
    return replace(solution, success=False, status=Status.SINGULAR, message=message)


def _contradiction(problem: ContactProblem, p: FloatArray, tol: float) -> float:
    """The contradiction of redundant joints where no impulses can meet `tol` because of it, else 0 [m/s]."""
    solution = find_agreement(problem, p)
    accepted = 0.0 if solution is None else float(np.abs((solution.b - problem.b) * problem.length).max())
    return accepted if accepted > AUTO.contradicted_tolerances * tol * problem.scale else 0.0


def _largest_island_rows(problem: ContactProblem) -> int:
    """The number of rows of the largest island."""
    return int(np.bincount(problem.islands(), weights=np.diff(problem.row_ptr)).max())
