"""AnitescuHart: one mixed LCP per step with constraint stabilisation of joints and contacts (ah03 §2.2).

Everything is taken at the start of the step: M, forces, gaps Φ and joint functions Θ with their gradients,

    M (v⁺ - v) = h k + Gᵀ p        q⁺ = q ⊕ h v⁺
    Θ/h + ν v⁺ = 0        0 <= c_n ⟂ Φ/h + n v⁺ >= 0        friction as in ah03 eq. 2.7

(ah03 eq. 2.8–2.12). The terms Θ/h and Φ/h pull violated constraints back without further work; with `stabilize=False`
they are zero for the same active set. Large piles, of which a step is accepted above its tolerance, leave overlaps of a
micrometre (`step_kernels.py`). The convex relaxation demands `Φ/h + n v⁺ - mu λ >= 0` instead (ah03 eq. 2.10).
The fixed point solves a sequence of such convex problems with `mu λ` of the one before added back, which ends at
Coulomb's law (ah03 §2.2 and its reference [3]; see `solvers/fixed_point.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _check
from ..friction.table import given_directions
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Bodies, Delassus
from ..problem.laws import UNILATERAL
from ..solvers.any_law.coefficients import iterate_coefficients
from ..solvers.base import Solution, finish
from ..status import Status
from ..systems.base import Candidates, State, System
from .active import Within
from .base import (
    Solve,
    StepResult,
    certify_step,
    inelastic_only,
    pad_rows,
    record_contacts,
    refuse_unresolved_turn,
)
from .missed_contacts import Attempt, solve_with_missed_contacts
from .solves import bring_to_rest, keep_at_rest, solve_agreeing, with_contradiction
from .springs import Springs


@dataclass(frozen=True)
class AnitescuHart:
    """One linear complementarity problem per step, no stop at collisions (Hart, Anitescu 2003): inelastic impact.

    stabilize: pull joints and contacts back to zero violation; False for comparison. relaxation: "none" for Coulomb's
    law (ah03 eq. 2.9), "convex" for the relaxed one (ah03 eq. 2.10), whose problem is a convex program and in which
    sliding contacts lift by mu·h times the slip speed, "fixed-point" for Coulomb's law by a sequence of convex
    programs, for solvers that take nothing else. It ends when the certificate of Coulomb's law is at most `tolerance`
    (which must lie above the solver's own) or after `maxiter` of them; the step's last solve, "Coulomb", is that
    certificate. eps: contacts with a gap of up to eps [m] act; by default what two bodies can approach in a step, 2 h
    v_max (the guideline of ah03), with v_max after a free step, and those further away that the step has run into all
    the same: with them it is solved again. directions: edges of the polygon that replaces a smooth friction cone in
    space, or the directions themselves as in `StewartTrinkle`; None keeps the smooth cone, for solvers that take it.

    Where pushing an overlap out has no solution, the step is solved again without the push. Bodies that the laws hold
    at rest get the velocity zero and stay where they are to the bit (`schemes/solves.py`).

    Contacts whose law is `Elastic` demand what their springs do (`systems/elastic.py`) in place of Φ/h.

    When not to use it: impacts that bounce; curved contacts at large steps (drift of second order, then pulled back).

    Reference: G. D. Hart, M. Anitescu, TAPIA 2003.
    """

    stabilize: bool = True
    relaxation: str = "none"
    eps: float | None = None
    directions: Any = None
    tolerance: float = 1e-5
    maxiter: int = 100

    def __post_init__(self) -> None:
        _check.choice("relaxation", self.relaxation, ["none", "convex", "fixed-point"])
        _check.number("tolerance", self.tolerance, positive=True)
        _check.count("maxiter", self.maxiter)
        if self.eps is not None:
            _check.number("eps", self.eps, low=0.0)
        if self.directions is not None:
            object.__setattr__(self, "directions", given_directions(self.directions))

    def band(self, system: System, state: State, h: float) -> float:
        """What two bodies can approach in a step, at least eps: contacts beyond eps do not act but are certified."""
        return max(2.0 * h * system.speed_bound(state, h), self.eps or 0.0)

    def refuses(self, system: System) -> str | None:
        """Restitution."""
        return inelastic_only(system, type(self).__name__)

    def probe(self, system: System, state: State, h: float) -> ContactProblem:
        """The problem of this step."""
        found = system.detect(state.t, state.q, self.band(system, state, h)).polyhedral(self.directions)
        problem, _ = self._problem(system, state, h, self.active(system, state, found))
        return problem.replace(associated=True) if self.relaxation == "fixed-point" else problem

    def step(self, system: System, state: State, h: float, solve: Solve) -> StepResult:
        """One step with one solve, or with a sequence of convex ones; solved again with contacts it has run into."""
        solves: list[tuple[str, Solution]] = []

        def attempt(found: Candidates) -> Attempt:
            candidates = self.active(system, state, found.polyhedral(self.directions))
            new, problem, springs, contradiction = self._attempt(system, state, h, candidates, solve, solves)

            def to_result(at_end: Candidates) -> StepResult:
                result = self.result(system, state, new, h, (candidates, at_end), problem, tuple(solves), springs)
                return with_contradiction(result, h * contradiction)

            return Attempt(new, problem, solves[-1][1].status, solves, to_result)

        return solve_with_missed_contacts(self, system, state, h, solve, attempt, look=self.eps is None)

    def _attempt(
        self, system: System, state: State, h: float, candidates: Candidates, solve: Solve,
        solves: list[tuple[str, Solution]],
    ) -> tuple[State, ContactProblem, Springs | None, float]:  # fmt: skip
        """The state after a step in which `candidates` act, its problem, its springs, and the contradiction of joints.

        The solves are added to `solves`.
        """
        problem, springs = self._problem(system, state, h, candidates, solve)

        def attempt(given: ContactProblem) -> list[tuple[str, Solution]]:
            made: list[tuple[str, Solution]] = []
            self._solve(given, solve, made)
            return made

        problem, done, contradiction = solve_agreeing(problem, attempt)
        solves += done
        solution = done[-1][1]
        pushed = problem.law == UNILATERAL
        if springs is not None:
            pushed &= ~springs.elastic  # what springs push out is their law
        contact = problem.row_ptr[:-1][pushed]
        if not solution.taken and (problem.b[contact] < 0).any():
            # Pushing an overlap out against strong friction can have no solution; not deepening it has (st96 §3.2).
            b = problem.b.copy()
            b[contact] = np.maximum(b[contact], 0.0)
            calm = problem.replace(b=b)
            calm, more, left = solve_agreeing(calm, attempt)
            if more[-1][1].taken:
                problem, solution, contradiction = calm, more[-1][1], left
                solves += [("without push-out", one) for _, one in more]
        solution, resting = bring_to_rest(
            problem, solution, self.tolerance if self.relaxation == "fixed-point" else solve.tol
        )
        solves[-1:] = [(solves[-1][0], solution)]
        q, v = system.move(state.q, solution.v, h)
        if resting is not None:
            q = keep_at_rest(system, q, state.q, resting)
        new = State(state.t + h, q, v, problem.key, pad_rows(solution.p, problem.row_ptr))
        if springs is not None:
            model: Any = system
            places = model.bodies(state.q), model.bodies(q)
            new = replace(new, springs=springs.remembered(problem, solution, *places))
        return new, problem, springs, contradiction

    def result(
        self, system: System, state: State, new: State, h: float, looked_at: tuple[Candidates, Candidates],
        problem: ContactProblem, solves: tuple[tuple[str, Solution], ...], springs: Springs | None = None,
    ) -> StepResult:  # fmt: skip
        """The step from `state` to `new`, judged.

        looked_at: the candidates that acted, and those at the end of the step; springs: those of elastic contacts.
        """
        candidates, at_end = looked_at
        solution = solves[-1][1]
        contacts = record_contacts(system, candidates, new, state.q, problem, solution)
        # what bodies at rest have given up is booked, too
        given_up = solution.v - problem.velocity(solution.p) if solution.certificate.dynamics > 0.0 else None
        certificate = certify_step(
            system, at_end, state, new, h, problem, solution.v, solution.p, mass_at=state.q, given_up=given_up
        )
        if springs is not None:
            from .spring_memory import memory_error

            certificate = springs.booked(certificate, state, problem, solution, contacts.gap, new.springs)
            memory = memory_error(system, candidates, state, new, h, problem, solution)
            certificate = replace(certificate, memory=memory)
        ended: tuple[bool, Status, str] = solution.success, solution.status, solution.message
        reason = None if springs is None else springs.refusal(system, problem)
        if reason is not None:
            ended = False, Status.UNRESOLVED_IMPACT, reason
        return refuse_unresolved_turn(StepResult(new, *ended, contacts, solves, certificate), system, state, h)

    def _solve(self, problem: ContactProblem, solve: Solve, solves: list[tuple[str, Solution]]) -> Solution:
        """The solution of the step's problem; every solve goes to `solves` with its role."""
        if self.relaxation != "fixed-point" or problem.nr == 0:
            solves.append(("step", solve(problem)))
            return solves[-1][1]

        def coulomb(given: ContactProblem, tol: float, p0: np.ndarray | None) -> Solution:
            return self._fixed_point(given, tol, problem.p_warm if p0 is None else p0, solve, solves)

        if len(problem.friction.varying):
            last = iterate_coefficients(problem, coulomb, tol=self.tolerance)
        else:
            last = coulomb(problem, self.tolerance, None)
        solves.append(("Coulomb", last))
        return last

    def _fixed_point(
        self, problem: ContactProblem, tol: float, p: np.ndarray, solve: Solve, solves: list[tuple[str, Solution]]
    ) -> Solution:
        """Coulomb's law to `tol` by a sequence of convex problems, from the impulses p on."""
        from ..solvers.fixed_point import Rounds

        rounds = Rounds(problem, p)
        status, message = Status.NOT_CONVERGED, f"Coulomb's law was not met after {self.maxiter} convex problems."
        for count in range(1, self.maxiter + 1):
            convex = solve(problem.replace(associated=True, b=problem.b + rounds.term, p_warm=p))
            solves.append(("convex", convex))
            if not convex.taken:
                status, message = convex.status, f"Convex problem {count} of the fixed point: {convex.message}"
                break
            p = convex.p
            error = problem.certify(p).error
            if error <= tol:
                status, message = Status.SOLVED, f"Coulomb's law met after {count} convex problems."
                break
            rounds.take(convex.u - rounds.term, error)
        solver = solves[-1][1].solver
        return finish(problem, p, solver=solver, tol=tol, status=status, message=message, iterations=count)

    def active(self, system: System, state: State, found: Candidates) -> Candidates:
        """The contacts with gap <= eps (ah03 eq. 2.13); all that were detected when eps is left to the scheme."""
        if self.eps is None:
            return found
        gap = system.gaps(found, state.t, state.q)
        near = ~found.contact | Within(self.eps).choose(gap, gap, found.contact)
        return found if near.all() else found.take(near)

    def _problem(
        self, system: System, state: State, h: float, candidates: Candidates, solve: Solve | None = None
    ) -> tuple[ContactProblem, Springs | None]:
        """Joints and contacts linearised at the start of the step (ah03 eq. 2.7–2.12); solve None: exactly so.

        And the springs of contacts that are elastic.
        """
        found = system.evaluate(candidates, state.t, state.q)
        dynamics = system.dynamics(state.q, found)
        assert not isinstance(dynamics, Delassus)
        v_free, left = system.push(dynamics, state, h, state.t, state.q), 0.0
        if solve is not None and isinstance(dynamics, Bodies):
            from .step_kernels import left_overlap

            v, dim = state.v.reshape(len(dynamics.Minv), -1), 2 if dynamics.Ja.shape[1] == 3 else 3
            accept = solve.largest(int(candidates.row_ptr[-1]))
            left = left_overlap(v, v_free.reshape(v.shape), dynamics.Minv, dim, solve.tol, accept)
        demand = found.demand(dynamics, state, h, found.value / h, self.stabilize, left)
        model: Any = system
        springs = None
        if found.elastic is not None:
            springs = Springs.placed(found, dynamics, state, h, model.free_fall, demand)
        problem = ContactProblem(
            dynamics,
            v_free=v_free,
            **demand,
            row_ptr=candidates.row_ptr,
            law=candidates.law,
            friction=candidates.friction,
            r0=h * found.bound,
            associated=self.relaxation == "convex",
            length=found.length,
            key=candidates.key,
            p_warm=state.warm(candidates.key, candidates.row_ptr),
            v_start=state.v,
            elastic=springs is not None and springs.everywhere,
        )
        return problem, springs
