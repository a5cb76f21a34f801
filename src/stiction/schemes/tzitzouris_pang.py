"""TzitzourisPang: backward Euler on the full nonlinear model, one mixed nonlinear complementarity problem per step.

Gaps, normals, friction sets, masses and forces are those of the new configuration, and friction cones are not
linearised (ttp01 §4). The equations are in `schemes/implicit.py`; here they are solved by semismooth Newton, started
from the impulses of the last step, with two safety nets: a contact problem linearised at the present guess, solved by
the simulator's own solver, which finds the contact modes that Newton could not; and continuation in the length of
the step, from a short one whose answer is near the start. Where sharp corners meet, their normals are fixed before
these: the distance of a vertex from an edge has no derivative where it is zero, which is where a contact rests.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import _check
from .._check import FloatArray
from ..errors import ModelError
from ..problem.contact_problem import ContactProblem
from ..solvers.base import Solution, finish
from ..status import Status
from ..systems.base import Candidates, State, System
from ..systems.sizes import arms
from .base import (
    Solve,
    StepResult,
    certify_step,
    elastic_refused,
    inelastic_only,
    pad_rows,
    passed_through,
    record_contacts,
)
from .implicit import ImplicitStep, Laws, Point
from .missed_contacts import Attempt, solve_with_missed_contacts

CERTIFICATE_ROUND_OFF = 1e-14  # of certificate errors
STICKING_SLACK = 1e-12  # slack of sticking rows
HALVING_ITERATIONS_MAX = 5  # iterations within which the residual must halve
NEWTON_STEP_MIN = 2.0**-6  # of a Newton step, in the line search
MODE_SOLVES_MAX = 12  # linearised solves in search of the contact modes
CONTINUATION_SHARES = (0.125, 0.25, 0.5, 0.75, 1.0)  # of the step, in continuation


@dataclass(frozen=True)
class TzitzourisPang:
    """Fully implicit time-stepping (Tzitzouris, Pang): no overlap at the end of a step, true friction cones.

    tolerance: the certificate error that a step aims at; maxiter: Newton iterations from one start. hot: start from the
    impulses of the last step; False starts from none, for comparison. A step that Newton does not reach is tried
    again with sharp corners that keep the normals of its start, from linearised solves and then by continuation in its
    length; where contacts are jammed and no way reaches
    `tolerance`, the simulator's own `tol` decides, and a step that misses that has failed. The result's message says
    what was needed, and its last solve counts every Newton iteration.

    Every contact within reach of the step takes part, and what the step has run into all the same: with that it is
    solved again. The complementarity of gap and impulse at the new configuration is the active-set rule. Impacts are
    inelastic and spread over two steps, as in `StewartTrinkle`; as there, a box on stairs gains a little energy in some
    steps.
    Backward Euler is of first order and damps free rotation and stiff forces; a higher order would be lost at every
    change between stick, slip and flight, where velocities and forces have kinks.

    When not to use it: large piles (each iteration differentiates every row), impacts that bounce.

    Reference: J. C. Trinkle, J. A. Tzitzouris, J. S. Pang, Phil. Trans. R. Soc. A 359, 2001 (SAND2001-0076).
    """

    tolerance: float = 1e-10
    maxiter: int = 30
    hot: bool = True

    def __post_init__(self) -> None:
        _check.number("tolerance", self.tolerance, positive=True)
        _check.count("maxiter", self.maxiter)
        if not isinstance(self.hot, bool):
            raise ModelError(f"hot must be True or False; got {_check.describe(self.hot)}.")

    def band(self, system: System, state: State, h: float) -> float:
        """Four times the largest displacement of the free motion: impulses can raise the speed within the step."""
        return 4.0 * h * system.speed_bound(state, h)

    def refuses(self, system: System) -> str | None:
        """Restitution, and elastic contacts."""
        return inelastic_only(system, type(self).__name__) or elastic_refused(system, type(self).__name__)

    def probe(self, system: System, state: State, h: float) -> ContactProblem:
        """The linearised problem of this step."""
        candidates = system.detect(state.t, state.q, self.band(system, state, h))
        equations = ImplicitStep(system, state, h, candidates)
        return equations.at(equations.start(), equations.warm).problem

    def step(self, system: System, state: State, h: float, solve: Solve) -> StepResult:
        """One step; solved again with contacts that it has run into."""
        solves: list[tuple[str, Solution]] = []

        def attempt(candidates: Candidates) -> Attempt:
            search = _Search(self, system, state, h, candidates, solve)
            found, route = search.run()
            problem, error = found.problem, search.error(found)
            good = route is not None
            message = f"Newton's method{f': {route}' if route else f' ended with a residual of {error:.2e}'}."
            status = Status.SOLVED if good else Status.NOT_CONVERGED
            solution = finish(
                problem, found.p, solver="semismooth newton", tol=solve.tol if good else self.tolerance,
                status=status, message=message, iterations=search.iterations,
            )  # fmt: skip
            solves.extend([*search.solves, ("implicit", solution)])
            new = State(state.t + h, found.q, found.v, problem.key, pad_rows(found.p, problem.row_ptr))

            def to_result(at_end: Candidates) -> StepResult:
                contacts = record_contacts(system, found.step.candidates, new, found.q, problem, solution)
                certificate = certify_step(system, at_end, state, new, h, problem, new.v, found.p, mass_at=new.q)
                return StepResult(new, good, status, message, contacts, tuple(solves), certificate)

            return Attempt(new, problem, status, solves, to_result)

        return solve_with_missed_contacts(self, system, state, h, solve, attempt)


class _Search:
    """The ways to the answer of one step, in order."""

    def __init__(
        self, scheme: TzitzourisPang, system: System, state: State, h: float, candidates: Candidates, solve: Solve
    ):
        self.scheme, self.system, self.state, self.h, self.candidates = scheme, system, state, h, candidates
        self.solve, self.iterations, self.push = solve, 0, True
        self.solves: list[tuple[str, Solution]] = []

    def run(self) -> tuple[Point, str | None]:
        """The best point found, and how it was found; None where it misses the simulator's tolerance too."""
        best = self._start()
        if not self.candidates.friction.written:
            best = self._newton(best.step, best.v, best.p)
        if self._good(best):
            return best, f"{self.iterations} iterations"
        corners = self._with_planes()
        if corners is not None:
            found, route = corners
            if route is not None:
                return found, f"{self.iterations} iterations, {route}"
            best = min(best, found, key=self.error)
        for way in (self._from_linearised, self._without_push, self._by_continuation):
            found, route = way()
            if route is not None:
                return found, f"{self.iterations} iterations, {route}"
            best = min(best, found, key=self.error)
            if self.error(best) <= self.solve.tol and not self._behind(best):
                return best, f"{self.iterations} iterations, which left {self.error(best):.1e}"
        return best, None

    def _with_planes(self) -> tuple[Point, str | None] | None:
        """The step in which sharp corners keep the normals that they have at its start; None where there are none."""
        made = getattr(self.system, "with_planes", None)
        given = self.candidates
        planes = given if made is None else made(given, self.state.q)
        if planes is given:
            return None
        route: str | None = ""
        self.candidates = planes
        best = self._start()
        if not planes.friction.written:
            best = self._newton(best.step, best.v, best.p)
        if not self._good(best):
            best, way = self._from_linearised()
            route = f", {way}" if way else None
        self.candidates = given
        return best, route if route is None else f"with the normals of corners from the start{route}"

    def _start(self) -> Point:
        """The first guess."""
        equations = self._equations(self.h)
        return equations.at(equations.start(), equations.warm if self.scheme.hot else 0.0 * equations.warm)

    def _without_push(self) -> tuple[Point, str | None]:
        """The step that leaves overlaps of the start as they are: in a wedge, none may push them out."""
        self.push = False
        found, route = self._from_linearised()
        self.push = True
        return found, route and f"{route}, without push-out"

    def _equations(self, h: float) -> ImplicitStep:
        return ImplicitStep(self.system, self.state, h, self.candidates, self.push)

    def error(self, at: Point) -> float:
        """The certificate error, or how far the equations of motion are missed where that is more."""
        scale = at.problem.scale
        missed = float(np.abs(arms(self.system) * at.drift).max(initial=0.0))
        return max(at.problem.certify(at.p).error, missed / scale if scale > 0.0 else missed)

    def _good(self, at: Point) -> bool:
        return self.error(at) <= self.scheme.tolerance and not self._behind(at)

    def _behind(self, at: Point) -> bool:
        """Whether a body has changed sides: gap functions of thin obstacles have a second answer there."""
        candidates = at.step.candidates
        through = passed_through(self.system, candidates, self.state.q, at.q)
        return bool((through & candidates.contact).any())

    def _newton(self, equations: ImplicitStep, v: FloatArray, p: FloatArray) -> Point:
        """Newton's method from (v, p): the point with the smallest residual that it met.

        Sticking rows get slack in proportion to the residual: where contacts are hyperstatic the impulses are not
        unique, and Newton's step without slack would send them anywhere.
        """
        laws = Laws(equations, equations.at(v, p))
        best, sizes, caution, target = laws, [laws.size], 1.0, 0.0
        for count in range(self.scheme.maxiter + 1):
            best = laws if laws.size < best.size else best
            target = target or 10.0 * self.scheme.tolerance * laws.at.problem.scale
            if laws.size <= target:
                error = self.error(laws.at)
                if error <= self.scheme.tolerance:
                    return self._polished(equations, laws, error)
                target = 0.1 * laws.size
            slow = len(sizes) > HALVING_ITERATIONS_MAX and best.size > 0.5 * min(sizes[:-HALVING_ITERATIONS_MAX])
            if count == self.scheme.maxiter or slow or not np.isfinite(laws.size):
                break
            slack = min(
                1.0, max(STICKING_SLACK, caution * min(1e-3, 1e-2 * laws.size / (laws.at.problem.scale or 1.0)))
            )
            try:
                dv, dp = laws.newton(slack)
            except np.linalg.LinAlgError:
                caution *= 100.0
                sizes.append(laws.size)
                continue
            self.iterations += 1
            laws, part = self._line(equations, laws, dv, dp)
            caution = max(1.0, 0.1 * caution) if part >= 0.5 else 10.0 * caution
            sizes.append(laws.size)
        return best.at

    def _polished(self, equations: ImplicitStep, laws: Laws, error: float) -> Point:
        """One more step where round-off is not reached: near the answer Newton doubles the digits."""
        if error <= CERTIFICATE_ROUND_OFF:
            return laws.at
        try:
            dv, dp = laws.newton(STICKING_SLACK)
        except np.linalg.LinAlgError:
            return laws.at
        self.iterations += 1
        better = equations.at(laws.at.v + dv, laws.at.p + dp)
        return better if self.error(better) < error else laws.at

    @staticmethod
    def _line(equations: ImplicitStep, laws: Laws, dv: FloatArray, dp: FloatArray) -> tuple[Laws, float]:
        """The step, halved until the residual falls, and what part of it was taken.

        The shortest is taken even where the residual rises: a piece may have to be crossed uphill.
        """
        part = 1.0
        while True:
            new = Laws(equations, equations.at(laws.at.v + part * dv, laws.at.p + part * dp))
            if new.size < (1.0 - 1e-4 * part) * laws.size or part <= NEWTON_STEP_MIN:
                return new, part
            part *= 0.5

    def _from_linearised(self) -> tuple[Point, str | None]:
        """Contact problems linearised at the start, then at the answer of the one before, and Newton from there.

        The sequence converges on its own, by a factor of about h² times force, curvature and inverse mass.
        """
        equations = self._equations(self.h)
        at = equations.at(np.where(equations.prescribed, equations.given, 0.0), equations.warm)
        best, before = at, np.inf
        for count in range(1, MODE_SOLVES_MAX + 1):
            # better and better: the first problems are far from the last one
            goal = min(self.solve.tol, max(0.3 * self.scheme.tolerance, 0.01 * self.error(at)))
            solution = self.solve(at.problem, tol=goal)
            self.solves.append(("linearised", solution))
            if not np.isfinite(solution.v).all():
                break
            at = equations.at(solution.v, solution.p)
            # of sets written in Python the kernels know a polyhedron inside: Newton has nothing to add
            ready = self.candidates.friction.written or self._good(at)
            found = at if ready else self._newton(equations, at.v, at.p)
            best = min(best, at, found, key=self.error)
            if self._good(best):
                return best, f"with {count} linearised solves"
            if not solution.success or self.error(best) > 0.5 * before:
                break
            before = self.error(best)
        return best, None

    def _by_continuation(self) -> tuple[Point, str | None]:
        """From a short step, whose answer is near the start, to the whole one."""
        v, p, done = self.state.v, self.state.warm(self.candidates.key, self.candidates.row_ptr), 0.0
        for part in CONTINUATION_SHARES:
            equations = self._equations(part * self.h)
            v = np.where(equations.prescribed, equations.given, v)
            at = self._newton(equations, v, p * (part / done) if done else part * p)
            v, p, done = at.v, at.p, part
        return at, "by continuation in the length of the step" if self._good(at) else None
