"""Stewart: the velocity-level scheme of Stewart's survey as it is printed (s00 eq. 3.9–3.13).

    M(q⁺) (v⁺ - v) = n(q) c_n + D(q) β + h k(t, q, v)                  (3.9)
    q⁺ = q ⊕ h v⁺                                                      (3.10)
    0 <= c_n ⟂ n(q)ᵀ (v⁺ + e v) >= 0                                   (3.11)
    friction as in eq. 3.12, 3.13, with maximal dissipation

for the contacts with f(q + h v) < 0; all others have no impulse. Nothing else decides: every approach of an acting
contact is an impact, whatever its speed; a body at rest is held only once it has sunk in; what overlaps stays, unless
a projection is asked for, which the survey leaves to the user (§3.2). `Moreau` is the same scheme with rules for rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _check
from .._check import FloatArray
from ..friction.table import given_directions
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Delassus
from ..solvers.base import Solution
from ..status import Status
from ..systems.base import Candidates, State, System
from ..systems.restitution import NEWTON, SCHEME
from ..systems.sizes import arms, reached
from .active import Closing
from .base import (
    Solve,
    StepResult,
    certify_step,
    elastic_refused,
    has_compliance,
    pad_rows,
    record_contacts,
    refuse_unresolved_turn,
)
from .missed_contacts import Attempt, solve_with_missed_contacts
from .projection import projected
from .solves import solve_agreeing, with_contradiction

MASS_ITERATIONS_MAX, MASS_TOL = (
    50,
    1e-12,
)  # iterations on the mass at the new configuration, and the relative change that ends them


@dataclass(frozen=True)
class Stewart:
    """The scheme of Stewart's survey as printed: contacts act if q + h v would close them, e holds at every approach.

    directions: edges of the polygon that replaces a smooth friction cone in space, or the directions as rows, as in
    `StewartTrinkle`; None keeps the smooth cone (eq. 3.5, 3.6 discretised). drift: overlap or joint error [m] above
    which the configuration is projected after a step; None never does, and contacts sink in by O(h²) where they begin,
    and by as much again in each step along a curved gap. The mass at the new configuration is found by fixed point;
    bodies of a world keep their momentum from the start on, which says the same (`System.mass_place`). Joints and
    motors, which the survey does not have, hold the velocity; limits act as in `Moreau`.

    When not to use it: to simulate. It is there to be compared with; `Moreau` adds what makes bodies rest.

    Reference: D. E. Stewart, SIAM Review 42 (2000) 3–39, §3.2 (s00).
    """

    directions: Any = 8
    drift: float | None = None

    def __post_init__(self) -> None:
        if self.directions is not None:
            object.__setattr__(self, "directions", given_directions(self.directions))
        if self.drift is not None:
            _check.number("drift", self.drift, positive=True)

    def band(self, system: System, state: State, h: float) -> float:
        """Four times the largest displacement of the free motion."""
        return 4.0 * h * system.speed_bound(state, h)

    def refuses(self, system: System) -> str | None:
        """Contacts that give way, and impact laws other than Newton's."""
        refusal = elastic_refused(system, "Stewart")
        if refusal is not None:
            return refusal
        if has_compliance(system):
            return "Stewart has rigid contacts, but one has a compliance; use AnitescuHart() or StewartTrinkle()."
        state = system.initial_state()
        laws: Any = getattr(system, "laws", None)
        given = system.detect(state.t, state.q, 0.0).impact_laws
        if laws is not None:
            given = np.concatenate([given, laws.impact])
        if not np.isin(given, (SCHEME, NEWTON)).all():
            return "Stewart has Newton's impact law (s00 eq. 3.11), but a contact has another; use Moreau()."
        return None

    def probe(self, system: System, state: State, h: float) -> ContactProblem:
        """The problem of this step with every candidate."""
        found = system.detect(state.t, state.q, self.band(system, state, h)).polyhedral(self.directions)
        return _Step(system, state, h, found).problem(state.q)

    def step(self, system: System, state: State, h: float, solve: Solve) -> StepResult:
        """One step, with the contacts that q + h v closes, and no others."""
        solves: list[tuple[str, Solution]] = []

        def attempt(found: Candidates) -> Attempt:
            return self._attempt(system, state, h, found.polyhedral(self.directions), solve, solves)

        return solve_with_missed_contacts(self, system, state, h, solve, attempt, look=False)

    def _attempt(
        self, system: System, old: State, h: float, found: Candidates, solve: Solve, solves: list[tuple[str, Solution]]
    ) -> Attempt:
        """The step solved with the mass where it leads to."""
        step = _Step(system, old, h, found.take(_acting(system, old, h, found)))
        at = old.q
        for _ in range(MASS_ITERATIONS_MAX):
            mass_at = system.mass_place(old.q, at)
            problem, tried, left = solve_agreeing(step.problem(mass_at), lambda given: [("step", solve(given))])
            solves += tried
            solution = tried[-1][1]
            status, message = solution.status, solution.message
            q, v = system.move(old.q, solution.v, h)
            moved = State(old.t + h, q, v, problem.key, pad_rows(solution.p, problem.row_ptr))
            if not status.taken or not np.isfinite(q).all():
                break
            change = float(np.abs(arms(system) * system.difference(at, q)).max(initial=0.0))
            if system.mass_place(old.q, q) is old.q or change <= MASS_TOL * reached(system, q):
                break
            at = q
        else:
            status = Status.NOT_CONVERGED
            message = f"The mass at the new configuration did not settle: q still changes by {change:.1e}."
        to = self._projected(system, found, moved.t, moved.q)
        new = moved if to is moved.q else replace(moved, q=to, v=system.carried(moved.q, moved.v, to))

        def to_result(at_end: Candidates) -> StepResult:
            contacts = record_contacts(system, step.candidates, new, old.q, problem, solution)
            books = problem.replace(b=np.where(problem.b < 0.0, 0.0, problem.b))  # restitution is not stabilisation
            certificate = certify_step(
                system, at_end, old, moved, h, books, solution.v, solution.p,
                mass_at=mass_at, projected=None if new is moved else new,
            )  # fmt: skip
            result = StepResult(new, status.success, status, message, contacts, tuple(solves), certificate)
            return with_contradiction(refuse_unresolved_turn(result, system, old, h), h * left)

        return Attempt(new, problem, status, solves, to_result)

    def _projected(self, system: System, candidates: Candidates, t: float, q: FloatArray) -> FloatArray:
        if self.drift is None or not np.isfinite(q).all():
            return q
        return projected(system, candidates, t, q, self.drift)


def _acting(system: System, state: State, h: float, found: Candidates) -> np.ndarray:
    """(nk,) joints, and the contacts with f(q + h v) < 0."""
    prediction = system.move(state.q, state.v, h)[0]
    gap, predicted = (system.gaps(found, t, q) for t, q in ((state.t, state.q), (state.t + h, prediction)))
    return ~found.contact | Closing().choose(gap, predicted, state.was_active(found.key))


class _Step:
    """One step with the contacts that act in it, their rows at q."""

    def __init__(self, system: System, state: State, h: float, candidates: Candidates):
        self.system, self.state, self.h, self.candidates = system, state, h, candidates
        self.found = system.evaluate(candidates, state.t, state.q)
        gap = system.gaps(candidates, state.t, state.q)
        # what obstacles given as functions of time do to a gap [m/s], which no velocity knows of
        self.rate = np.where(candidates.contact, (system.gaps(candidates, state.t + h, state.q) - gap) / h, 0.0)

    def problem(self, mass_at: FloatArray) -> ContactProblem:
        """The contact problem with the mass at `mass_at`: contacts demand n (v⁺ + e v) >= 0 (eq. 3.11)."""
        system, state, h, candidates, found = self.system, self.state, self.h, self.candidates, self.found
        form = system.dynamics(mass_at, found)
        assert not isinstance(form, Delassus)
        normal = candidates.row_ptr[:-1]
        before = form.velocity_rows(state.v)[normal] + self.rate
        e = candidates.restitution(np.maximum(-before, 0.0))
        wanted = found.demand(form, state, h, found.value / h, False)
        struck = candidates.limit & (e > 0.0) & (found.value[normal] + h * before < 0.0)
        ours = candidates.contact | struck
        wanted["b"][normal[ours]] = (self.rate + e * before)[ours]
        return ContactProblem(
            form,
            v_free=system.push(form, state, h, state.t, state.q),
            **wanted,
            row_ptr=candidates.row_ptr,
            law=candidates.law,
            friction=candidates.friction,
            r0=h * found.bound,
            length=found.length,
            key=candidates.key,
            p_warm=state.warm(candidates.key, candidates.row_ptr),
            v_start=state.v,
        )
