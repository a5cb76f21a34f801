"""StewartTrinkle: implicit stepping at position level with one LCP per step, or the nonlinear version of it (st96).

The step solves, for impulses p and the velocity v⁺ (st96 eq. 14–15, 25–28),

    M (v⁺ - v) = nᵀc_n + Dᵀβ + h k        q⁺ = q + h v⁺
    0 <= c_n ⟂ gap linearised at q̂, taken at q⁺ >= 0        friction as in st96 eq. 12, with maximal dissipation

with M, n, D at q̂ = q + h v and k at q + h v/2. The linearised gap is `gap(q̂) + n·(q⁺ - q̂)`, so that in the form of a
contact problem `u_n = n v⁺ + b` with `b = (gap(q̂) - n·(q̂ - q)) / h`. Iterating on q̂ = q⁺ gives the nonlinear version
(st96 §3.6), in which the gap function itself is complementary to the impulse at the new configuration. For constant M
and k and flat contacts a step dissipates (st96 eq. 21–24); the step's certificate books where the energy goes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
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
from ..systems.sizes import arms, extent, reached
from .active import ActiveRule, Speculative, active_rule
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
from .missed_contacts import Attempt, solve_with_missed_contacts
from .solves import solve_agreeing, with_contradiction

VIOLATION_SHARE = (
    1e-12  # of the size of the bodies: a gap below minus this, after a solve, adds its contact to the active set
)


@dataclass(frozen=True)
class _Pass:
    """One solve of the step with a fixed active set."""

    candidates: Candidates
    at: FloatArray  # where gaps and rows were taken
    mass_at: FloatArray
    problem: ContactProblem
    solution: Solution
    state: State
    status: Status
    message: str
    contradiction: float = 0.0  # m/s, rad/s: of redundant joints


@dataclass(frozen=True)
class StewartTrinkle:
    """Position-level time-stepping (Stewart, Trinkle 1996): no overlap at the end of a step, inelastic impact.

    nonlinear: False, one LCP per step with everything linearised at the prediction; True, the fixed-point version of
    st96 §3.6, whose gaps are met at the new configuration itself to `tolerance` (the change of q between iterations,
    relative to |q|, or the size of the bodies where that is more) within `maxiter` iterations. evaluate: where M (and,
    in the linearised version, n and D) are taken: "prediction" q + h v, "midpoint" (q + q⁺)/2 or "new" q⁺ (st96 §3,
    note 4); the last two iterate as well.
    active: which contacts act, by default the rule of st96 §4 ("growing"). directions: edges of the polygon that
    replaces a smooth friction cone in space (st96 uses 8), or the directions themselves as rows (m, n), each scaled
    onto the boundary of the set, for sets with n rows (ttp01 eq. 5, 6); None keeps the smooth cone (s00 eq. 3.5–3.6
    discretised), for solvers that take it. A step that has no solution linearised at the prediction is tried
    again linearised at q, where gaps are nonnegative and st96's existence proof holds; so is one whose prediction lies
    behind an obstacle. With "growing" and "speculative", a step that has run into contacts that were not detected at
    its start is solved again with them; other rules say which contacts act.

    A step in which a corner hits or slides can gain energy: a box on stairs does in 3 % of its steps
    (`docs/schemes.md`). It is booked as stabilisation and truncation.

    When not to use it: impacts that bounce (its effective restitution depends on where in the step the impact falls,
    s00 §3.2), more than a few hundred contacts. First order; an impact is spread over two steps.

    Reference: D. E. Stewart, J. C. Trinkle, Int. J. Numer. Meth. Engng 39 (1996) 2673–2691.
    """

    nonlinear: bool = False
    evaluate: str = "prediction"
    active: ActiveRule | str | float = "growing"
    directions: Any = 8
    tolerance: float = 1e-10
    maxiter: int = 200
    _rule: ActiveRule = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check.choice("evaluate", self.evaluate, ["prediction", "midpoint", "new"])
        if self.directions is not None:
            object.__setattr__(self, "directions", given_directions(self.directions))
        _check.number("tolerance", self.tolerance, positive=True)
        _check.count("maxiter", self.maxiter)
        object.__setattr__(self, "_rule", active_rule(self.active))

    def band(self, system: System, state: State, h: float) -> float:
        """Four times the largest displacement of the free motion, and the reach of an `active=` distance.

        Two bodies can approach with twice the largest speed, and impulses can raise it within the step.
        """
        return 4.0 * h * system.speed_bound(state, h) + float(getattr(self._rule, "eps", 0.0))

    def refuses(self, system: System) -> str | None:
        """Restitution, and elastic contacts."""
        return inelastic_only(system, type(self).__name__) or elastic_refused(system, type(self).__name__)

    def probe(self, system: System, state: State, h: float) -> ContactProblem:
        """The problem of this step with every candidate active."""
        candidates = system.detect(state.t, state.q, self.band(system, state, h)).polyhedral(self.directions)
        return self._problem(system, state, h, candidates, state.q, state.q, np.zeros(len(state.v)))

    def step(self, system: System, state: State, h: float, solve: Solve) -> StepResult:
        """One step; contacts found violated after the solve are added and the step is solved again (st96 §4)."""
        solves: list[tuple[str, Solution]] = []

        def attempt(found: Candidates) -> Attempt:
            done = self._grown(system, state, h, found.polyhedral(self.directions), solve, solves)

            def to_result(at_end: Candidates) -> StepResult:
                return self._result(system, state, h, done, at_end, tuple(solves))

            return Attempt(done.state, done.problem, done.status, solves, to_result)

        look = self._rule.grows or isinstance(self._rule, Speculative)  # other rules say that no more contacts act
        return solve_with_missed_contacts(self, system, state, h, solve, attempt, look)

    def _grown(
        self,
        system: System,
        state: State,
        h: float,
        candidates: Candidates,
        solve: Solve,
        solves: list[tuple[str, Solution]],
    ) -> _Pass:
        """The step with those of the candidates that the rule chooses, and that the solve violates where it grows."""
        t = state.t + h
        guess = state.v
        prediction = system.move(state.q, guess, h)[0]
        contact = candidates.contact
        active = ~contact | self._rule.choose(
            system.gaps(candidates, state.t, state.q),
            system.gaps(candidates, t, prediction),
            state.was_active(candidates.key),
        )
        through = passed_through(system, candidates, state.q, prediction)
        if through.any():  # the prediction lies behind an obstacle: hold it, and take everything at q instead
            active |= through
            guess = np.zeros(len(state.v))
        while True:
            acting = candidates.take(active)
            done = self._solve_with(system, state, h, acting, guess, solve, solves)
            if not done.status.taken:
                # Linearised at the prediction, a curved gap can be negative at q itself, and with strong friction the
                # LCP may then have no solution. Linearised at q it is gap(q) >= 0, and there is one (st96 §3.2).
                more: list[tuple[str, Solution]] = []
                again = self._solve_with(system, state, h, acting, np.zeros(len(state.v)), solve, more)
                if again.status.taken:
                    done = again
                    solves += more
            if not (done.status.taken and self._rule.grows):
                return done
            violated = system.gaps(candidates, t, done.state.q) < -VIOLATION_SHARE * extent(system)
            violated = contact & ~active & (violated | passed_through(system, candidates, state.q, done.state.q))
            if not violated.any():
                return done
            active |= violated

    def _solve_with(
        self,
        system: System,
        state: State,
        h: float,
        candidates: Candidates,
        first: FloatArray,
        solve: Solve,
        solves: list[tuple[str, Solution]],
    ) -> _Pass:
        """Solve with a fixed active set: once, or by fixed point where anything is taken at the new configuration.

        first (nv,): the velocity with which q moves to the prediction.
        """
        iterate = self.nonlinear or self.evaluate != "prediction"
        role = "fixed point" if iterate else "step"
        guess, change = first, np.inf
        prediction = system.move(state.q, first, h)[0]
        for iteration in range(self.maxiter if iterate else 1):
            at_end = system.move(state.q, guess, h)[0]
            at = {"prediction": prediction, "new": at_end, "midpoint": self._middle(system, state.q, at_end)}[
                self.evaluate
            ]
            rows_at = at_end if self.nonlinear else at
            mass_at = system.mass_place(state.q, at)
            problem = self._problem(system, state, h, candidates, rows_at, mass_at, guess)
            problem, tried, left = solve_agreeing(problem, lambda given: [(role, solve(given))])
            solves += tried
            solution = tried[-1][1]
            q, v = system.move(state.q, solution.v, h)
            new = State(state.t + h, q, v, problem.key, pad_rows(solution.p, problem.row_ptr))
            if not (np.isfinite(new.q).all() and np.isfinite(new.v).all()):
                bad = Status.NONFINITE
                return _Pass(candidates, rows_at, mass_at, problem, solution, new, bad, bad.sentence)
            if not solution.taken:
                return _Pass(candidates, rows_at, mass_at, problem, solution, new, solution.status, solution.message)
            done = _Pass(candidates, rows_at, mass_at, problem, solution, new, solution.status, solution.message, left)
            if not iterate:
                return done
            moved = float(np.abs(arms(system) * system.difference(at_end, new.q)).max())
            change = moved / reached(system, new.q)
            if change <= self.tolerance:
                return done
            # A plain fixed point can jump between two contact states for ever; averaging late iterates settles it.
            guess = solution.v if iteration < self.maxiter // 3 else 0.5 * (guess + solution.v)
        message = (
            f"The fixed point did not converge: after {self.maxiter} iterations q still changes by {change:.1e} "
            f"(tolerance {self.tolerance:.0e}); try a smaller step or more iterations."
        )
        return replace(done, status=Status.NOT_CONVERGED, message=message)

    @staticmethod
    def _middle(system: System, q0: FloatArray, q1: FloatArray) -> FloatArray:
        return system.retract(q0, 0.5 * system.difference(q0, q1))

    @staticmethod
    def _problem(
        system: System, state: State, h: float, candidates: Candidates, at: FloatArray, mass_at: FloatArray,
        guess: FloatArray,
    ) -> ContactProblem:  # fmt: skip
        """The contact problem with gaps linearised at `at` and the mass at `mass_at` (st96 eq. 14–15, 25–29, 32).

        With the velocity `guess` the step ends at q_g, and with v⁺ at about `q_g ⊕ h (v⁺ - guess)`, so the gap
        linearised at `at` and taken there is `gap + rows·(q_g ⊖ at) + h rows·(v⁺ - guess)`.
        """
        found = system.evaluate(candidates, state.t + h, at)
        dynamics = system.dynamics(mass_at, found)
        assert not isinstance(dynamics, Delassus)
        middle = system.retract(state.q, 0.5 * h * state.v)
        at_end = system.difference(at, system.move(state.q, guess, h)[0]) / h - guess
        start = found.value / h + dynamics.velocity_rows(at_end)
        return ContactProblem(
            dynamics,
            v_free=system.push(dynamics, state, h, state.t + 0.5 * h, middle),
            **found.demand(dynamics, state, h, start),
            row_ptr=candidates.row_ptr,
            law=candidates.law,
            friction=candidates.friction,
            r0=h * found.bound,
            length=found.length,
            key=candidates.key,
            p_warm=state.warm(candidates.key, candidates.row_ptr),
            v_start=state.v,
        )

    def _result(
        self,
        system: System,
        old: State,
        h: float,
        done: _Pass,
        at_end: Candidates,
        solves: tuple[tuple[str, Solution], ...],
    ) -> StepResult:
        """The step, judged, with its balance of energy (st96 eq. 21–24); ahead: what is detected at its end."""
        new, success, solution = done.state, done.status.success, done.solution
        contacts = record_contacts(system, done.candidates, new, done.at, done.problem, done.solution)
        certificate = certify_step(
            system, at_end, old, new, h, done.problem, solution.v, solution.p, mass_at=done.mass_at
        )
        result = StepResult(new, success, done.status, done.message, contacts, solves, certificate)
        return with_contradiction(result, h * done.contradiction)
