"""Moreau: the velocity-level scheme with restitution (s00 eq. 3.9–3.13), and configurations projected apart from it.

    M (v⁺ - v) = h k + Hᵀ p        q⁺ = q ⊕ h v⁺        0 <= p_n ⟂ n (v⁺ + e v) >= 0        friction as ever

for the contacts that would close in the step: an impact is answered where the step finds it, so that the ratio of the
velocities does not depend on the moment within the step. Contacts that approach no faster than what forces can do in
two steps are not impacts (`approach.py`): they close their gap and rest. What overlaps by drift is moved apart
afterwards, without a change of velocity; the work of that is booked as stabilisation. In continuous time these are
equations between measures (s00 eq. 3.2, 3.3).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _check
from .._check import FloatArray, IntArray
from ..errors import ModelError
from ..friction.sets import Coulomb, Frictionless
from ..friction.table import given_directions
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Delassus
from ..problem.laws import Mode
from ..solvers.base import Solution
from ..status import Status
from ..systems.base import Candidates, State, System
from ..systems.restitution import NEWTON, SCHEME, STRONGE, law_code
from ..systems.sizes import arms, extent, reached
from .active import Touching
from .approach import Approach
from .base import (
    Gain,
    Solve,
    StepResult,
    certify_step,
    elastic_refused,
    has_compliance,
    pad_rows,
    passed_through,
    record_contacts,
    refuse_unresolved_turn,
)
from .impact.energy import GAINS, limited, work
from .impact.law import Impulses
from .impact.several import Resolver
from .impact.work import WorkDriven
from .missed_contacts import Attempt, solve_with_missed_contacts
from .projection import projected
from .solves import solve_agreeing, with_contradiction

PROJECTION_MIN_SHARE = 1e-9  # of the size of the bodies: the least overlap that is worth a projection
MASS_ITERATIONS_MAX, MASS_TOL = (
    50,
    1e-12,
)  # iterations on the mass at the new configuration, and the relative change that ends them
CONTACT_ROUNDS_MAX = 5  # of adding contacts; what overlaps after the last is projected


@dataclass(frozen=True)
class Moreau:
    """Velocity-level time-stepping with restitution: bounces whose ratio is exact, whatever the step.

    impact: the law of contacts that hit each other with a coefficient of restitution e: "newton", the ratio of normal
    velocities; "poisson", of impulses; "stronge", of work (`schemes/impact/law.py`). Newton's law can add energy where
    there is friction. multiple: how an impact at several contacts is resolved (`schemes/impact/several.py`):
    "simultaneous", all in the same problems; "sequential", one contact at a time, the fastest first; "work" or
    `WorkDriven(exponent, stiffness)`, as springs that share it by their stiffness, with Stronge's law. follow: an
    impact by Poisson's or Stronge's law at one contact is followed through, so that slip that stops or turns within it
    is seen; False takes compression and restitution as two problems there too, as several contacts always do. gains:
    what happens when an impact would add energy: "allow", "refuse" (the step fails), or "cap", the coefficients of
    the contacts that act on each other scaled down until it does not; each is an event of the trajectory. drift:
    overlap or joint error [m] above which the configuration is projected; by default what the tolerance of the solver
    lets through in a step, h tol times the speeds of contacts, and at least 1e-9 of the size of the bodies; angles
    count at the arm of their bodies. mass: where M is taken, at the "start" of the
    step or at the "new" configuration, as s00 eq. 3.9 prints it, by fixed point. directions: as in `StewartTrinkle`;
    None keeps smooth cones.

    A step that has run into contacts that were not even candidates is solved again with them as candidates: what
    overlaps then is projected apart, and which of them act is decided as for all others. Without restitution they do.
    With it, what impulses have thrown against them gets to where it touches, and the next step answers its speed.

    When not to use it: scenes that only rest or slide, for which `AnitescuHart` needs no projection.

    Reference: J. J. Moreau, 1988; D. E. Stewart, SIAM Review 42, 2000 (s00).
    """

    impact: str = "newton"
    multiple: str | WorkDriven = "simultaneous"
    follow: bool = True
    gains: str = "allow"
    drift: float | None = None
    mass: str = "start"
    directions: Any = None

    def __post_init__(self) -> None:
        _check.choice("impact", self.impact, ["newton", "poisson", "stronge"])
        if not isinstance(self.multiple, WorkDriven):
            _check.choice("multiple", self.multiple, ["simultaneous", "sequential", "work"])
        if self.multiple == "work":
            object.__setattr__(self, "multiple", WorkDriven())
        if isinstance(self.multiple, WorkDriven) and self.impact != "stronge":
            raise ModelError(
                'multiple="work" gives back work, by Stronge\'s coefficient; use impact="stronge" with it.'
            )
        _check.choice("gains", self.gains, list(GAINS))
        if self.drift is not None:
            _check.number("drift", self.drift, positive=True)
        _check.choice("mass", self.mass, ["start", "new"])
        if self.directions is not None:
            object.__setattr__(self, "directions", given_directions(self.directions))

    def band(self, system: System, state: State, h: float) -> float:
        """Four times the largest displacement of the free motion: impulses can raise the speed within the step."""
        return 4.0 * h * system.speed_bound(state, h)

    def refuses(self, system: System) -> str | None:
        """Contacts that give way; friction other than Coulomb's, for springs: that of gap functions when they hit."""
        refusal = elastic_refused(system, "Moreau")
        if refusal is not None:
            return refusal
        if has_compliance(system):
            return "Moreau has rigid contacts, but one has a compliance; use AnitescuHart() or StewartTrinkle()."
        if not isinstance(self.multiple, WorkDriven):
            return None
        laws = getattr(getattr(system, "laws", None), "laws", ())
        if any(law_code(law.restitution) not in (SCHEME, STRONGE) for law in laws):
            return "multiple='work' gives back work, by Stronge's coefficient; a contact has another impact law."
        other = [law.friction for law in laws if not isinstance(law.friction, (Coulomb, Frictionless))]
        other += [law.friction for law in laws if law.friction.speed_law is not None]
        if not other:
            return None
        return f"multiple='work' knows Coulomb friction with a constant coefficient; a contact has {other[0]!r}."

    def probe(self, system: System, state: State, h: float) -> ContactProblem:
        """The problem of this step with every candidate."""
        found = system.detect(state.t, state.q, self.band(system, state, h))
        step = _Step(self, system, state, h, found)
        return _Acting(step, np.ones(len(step.candidates.key), dtype=bool)).final(None)

    def step(self, system: System, state: State, h: float, solve: Solve) -> StepResult:
        """One step; solved again with contacts that it would close gently, or that it has run into."""
        solves: list[tuple[str, Solution]] = []

        def attempt(found: Candidates) -> Attempt:
            step = _Step(self, system, state, h, found, solve.tol)
            acting = self._grown(step, solve)
            solves.extend(step.solves)
            return step.attempt(acting, solves)

        return solve_with_missed_contacts(self, system, state, h, solve, attempt)

    def _grown(self, step: _Step, solve: Solve) -> _Acting:
        """The step with the candidates that close in it, and those that it would close gently."""
        active = step.closing()
        for _ in range(CONTACT_ROUNDS_MAX):
            acting = self._solved(step, active, solve)
            missed = step.missed(active, acting)
            if not acting.status.taken or not missed.any():
                break
            active |= missed
            step.learn(acting)
        return acting

    def _solved(self, step: _Step, active: np.ndarray, solve: Solve) -> _Acting:
        """The step with these contacts; with the mass at the new configuration, until that no longer changes."""
        acting = _Acting(step, active)
        acting.solve(solve)
        if self.mass == "start":
            return acting
        for _ in range(MASS_ITERATIONS_MAX):
            at = acting.q
            acting = _Acting(step, active, at)
            acting.solve(solve)
            change = float(np.abs(arms(step.system) * step.system.difference(at, acting.q)).max(initial=0.0))
            if not acting.status.taken or change <= MASS_TOL * reached(step.system, at):
                return acting
        acting.status = Status.NOT_CONVERGED
        acting.message = f"The mass at the new configuration did not settle: q still changes by {change:.1e}."
        return acting


class _Step:
    """One step before anything is solved: every candidate at q."""

    def __init__(self, scheme: Moreau, system: System, state: State, h: float, found: Candidates, tol: float = 0.0):
        self.scheme, self.system, self.state, self.h, self.t = scheme, system, state, h, state.t + h
        self.start = state  # from whose impulses solves start
        self.band = scheme.band(system, state, h)
        self.candidates = found.polyhedral(scheme.directions)
        self.solves: list[tuple[str, Solution]] = []
        self.found = system.evaluate(self.candidates, state.t, state.q)
        form = system.dynamics(state.q, self.found)
        assert not isinstance(form, Delassus)
        v_free = system.push(form, state, h, state.t, state.q)
        self.q_free = system.move(state.q, v_free, h)[0]
        self.approach = seen = Approach.of(system, self.candidates, state, h, form, v_free, scheme.impact, tol)
        speed = float((np.abs(seen.before) + seen.pull)[self.candidates.contact].max(initial=0.0))
        self.drift = (
            max(PROJECTION_MIN_SHARE * extent(system), h * tol * speed) if scheme.drift is None else scheme.drift
        )

    def closing(self) -> np.ndarray:
        """(nk,) joints, contacts that touch, and those that the motion would close in this step.

        Without restitution a contact takes what it gets, however fast: all that bodies could reach act.
        """
        seen = self.approach
        at_end = seen.gap + self.h * (seen.before - seen.pull)
        reach = np.where(seen.e > 0.0, self.drift, 0.5 * self.band)
        touching = Touching(reach).choose(seen.gap, at_end, self.candidates.contact)
        through = passed_through(self.system, self.candidates, self.state.q, self.q_free)
        return np.asarray(~self.candidates.contact | touching | through)

    def missed(self, active: np.ndarray, acting: _Acting) -> np.ndarray:
        """Contacts left out that overlap at the new configuration, more than before, and should be held in this step.

        What others have thrown against a contact with restitution is left to the next step, which finds the speed of
        its impact: held now, it would lose that speed, or get what it did not have.
        """
        gaps = self.system.gaps(self.candidates, self.t, acting.q)
        gap, e, slow = self.approach.gap, self.approach.e, self.approach.slow
        gentle = np.where(e > 0.0, slow, np.inf)
        closed = (gaps < -self.drift) & (gaps < gap) & (gap - gaps <= self.h * gentle)
        through = passed_through(self.system, self.candidates, self.state.q, acting.q)
        return np.asarray(self.candidates.contact & ~active & (closed | through))

    def learn(self, acting: _Acting) -> None:
        """Start the next solve from the impulses of this one."""
        ptr = acting.candidates.row_ptr
        self.start = replace(self.state, keys=acting.candidates.key, impulses=pad_rows(acting.solution.p, ptr))

    def attempt(self, acting: _Acting, solves: list[tuple[str, Solution]]) -> Attempt:
        """The step taken, its configuration projected: what it has run into is what overlaps after that."""
        ptr, key = acting.candidates.row_ptr, acting.candidates.key
        moved = State(self.t, acting.q, acting.v, key, pad_rows(acting.p, ptr))
        q = self._projected(acting.q)
        new = moved if q is acting.q else replace(moved, q=q, v=self.system.carried(acting.q, acting.v, q))
        problem = acting.final(None)

        def to_result(at_end: Candidates) -> StepResult:
            return self._result(acting, moved, new, at_end, problem, tuple(solves))

        return Attempt(new, problem, acting.status, solves, to_result)

    def _result(
        self, acting: _Acting, moved: State, new: State, at_end: Candidates, problem: ContactProblem,
        solves: tuple[tuple[str, Solution], ...],
    ) -> StepResult:  # fmt: skip
        """The step judged, its energy booked.

        moved, new: where it led before it was projected, and after; ahead: what is detected there.
        """
        system, old, solution = self.system, self.state, acting.solution
        # Impulses of the impact and of the step are one for the books; restitution is not stabilisation.
        books = problem.replace(v_free=acting.v_free, b=np.where(problem.b < 0.0, 0.0, problem.b))
        u = acting.u + problem.b + problem.C * acting.p
        whole = replace(solution, p=acting.p, u=u, modes=acting.modes(problem))
        contacts = record_contacts(system, acting.candidates, new, old.q, problem, whole)
        certificate = certify_step(
            system, at_end, old, moved, self.h, books, solution.v, acting.p,
            mass_at=acting.mass_at, projected=None if new is moved else new,
        )  # fmt: skip
        ended = acting.status.success, acting.status, acting.message
        result = StepResult(new, *ended, contacts, solves, certificate, acting.gains)
        return with_contradiction(refuse_unresolved_turn(result, system, old, self.h), self.h * acting.contradiction)

    def _projected(self, q: FloatArray) -> FloatArray:
        if not np.isfinite(q).all():
            return q  # the step has failed
        return projected(self.system, self.candidates, self.t, q, self.drift)


class _Acting:
    """The contacts that act in a step, with their rows at q, and the impulses found for them."""

    def __init__(self, step: _Step, active: np.ndarray, mass_at: FloatArray | None = None):
        self.step = step
        system, state, h = step.system, step.state, step.h
        self.candidates = candidates = step.candidates.take(active)
        self.found = system.evaluate(candidates, state.t, state.q)
        self.mass_at = state.q if mass_at is None else system.mass_place(state.q, mass_at)
        form = system.dynamics(self.mass_at, self.found)
        assert not isinstance(form, Delassus)
        self.form = form
        self.v_free = system.push(form, state, h, state.t, state.q)
        self.normal = candidates.row_ptr[:-1]
        seen = step.approach.take(active)
        self.gap, self.rate, self.before, self.e, self.law = seen.gap, seen.rate, seen.before, seen.e, seen.law
        self.hits = seen.hits

    def solve(self, solve: Solve) -> None:
        """Impact, where there is one, and then the step with its forces."""
        step = self.step
        self.gains: tuple[Gain, ...] = ()
        hit = self._impact(solve) if self.hits.any() else None
        if hit is not None:
            step.solves += hit.solves
        start = None if self._demanded else hit
        _, tried, self.contradiction = solve_agreeing(self.final(start), lambda given: [("step", solve(given))])
        step.solves += tried
        self.solution = tried[-1][1]
        ended = self.solution if hit is None or hit.status.rank <= self.solution.status.rank else hit
        self.status, self.message = ended.status, ended.message
        self.p = self.solution.p if start is None else self.solution.p + start.p
        v = self.solution.v
        self.u = self.form.velocity_rows(v)
        self.q, self.v = step.system.move(step.state.q, v, step.h)
        if self._demanded and hit is None and self._works():
            self.gains = self._limited(solve)[2]

    @property
    def _demanded(self) -> bool:
        """Whether the step itself demands the velocities after an impact (s00 eq. 3.11)."""
        return self.step.scheme.multiple == "simultaneous" and bool((self.law[self.hits] == NEWTON).all())

    def modes(self, problem: ContactProblem) -> IntArray:
        """(nk,) the modes: contacts pushed by the impact alone were closed, though nothing presses them after it."""
        modes, normal = self.solution.modes, self.normal
        thrown = self.candidates.contact & (modes == int(Mode.OPEN)) & (self.p[normal] > 0.0)
        if not thrown.any():
            return modes
        b = problem.b.copy()
        b[normal[thrown]] = -self.u[normal[thrown]]
        return np.where(thrown, problem.replace(b=b).modes(self.p), modes)

    def _impact(self, solve: Solve) -> Impulses | None:
        """The impulses of the impact alone; None where they are not needed."""
        scheme = self.step.scheme
        if scheme.multiple == "simultaneous" and (
            not (self.e.any() or (scheme.follow and not self._demanded)) or (self._demanded and scheme.gains == "allow")
        ):
            return None
        factor, hit, self.gains = self._limited(solve)
        self.e = factor * self.e
        return hit

    def _works(self) -> bool:
        """Whether an impact demanded by the step may have added energy; it takes another solve to know."""
        return bool(
            self.hits.any()
            and work(self._problem(self.step.state.v, self.rate, self.hits), self.p, self.solution.v)[0].sum() > 0.0
        )

    def _limited(self, solve: Solve) -> tuple[FloatArray, Impulses, tuple[Gain, ...]]:
        """The impact alone, with its gains as the scheme treats them."""
        scheme, system, key = self.step.scheme, self.step.system, self.candidates.key

        def name(k: int) -> str:
            full = system.constraint_name(int(key[k]))
            return full.rsplit(" ", 1)[0] if "/" in full else full

        def resolve(factor: FloatArray) -> Impulses:
            bounce = factor * self.hits if self._demanded else factor

            def restitution(speed: FloatArray) -> FloatArray:
                return np.asarray(bounce * self.candidates.restitution(speed))

            return Resolver(self.law, scheme.multiple, scheme.follow, restitution, name, solve)(problem)

        problem = self._problem(self.step.state.v, self.rate, self.hits)
        return limited(resolve, problem, scheme.gains, solve.tol)

    def final(self, hit: Impulses | None) -> ContactProblem:
        """The step itself, from the velocity after an impact whose impulses are known, or with Newton's demand."""
        # Moreau's law bounds contacts that separate too, u⁺ >= -e u⁻: with one e, v⁺ = -e v⁻ answers every impact
        apart = self.e * np.maximum(self.before, 0.0)
        rest = self.rate + np.maximum(np.maximum(self.gap, 0.0) / self.step.h, apart)
        if hit is None:
            demand = np.where(self.hits, self.rate + (self.e * self.before if self._demanded else 0.0), rest)
            return self._problem(self.v_free, demand, self.hits)
        after = self.form.velocity_rows(hit.v)[self.normal] + self.rate
        pushed = self.hits | (hit.p[self.normal] > 0.0)
        demand = np.where(pushed, self.rate - after, rest)
        return self._problem(self.v_free + (hit.v - self.step.state.v), demand, pushed)

    def _problem(self, v_free: FloatArray, demand: FloatArray, struck: np.ndarray) -> ContactProblem:
        """The contact problem from v_free in which contacts demand n v + demand >= 0 and joints no change.

        Limits of joints demand what they always do, but where they are struck.
        """
        step, candidates = self.step, self.candidates
        wanted = self.found.demand(self.form, step.state, step.h, self.found.value / step.h, False)
        ours = candidates.contact | (candidates.limit & struck)
        wanted["b"][self.normal[ours]] = demand[ours]
        return ContactProblem(
            self.form,
            v_free=v_free,
            **wanted,
            row_ptr=candidates.row_ptr,
            law=candidates.law,
            friction=candidates.friction,
            r0=step.h * self.found.bound,
            length=self.found.length,
            key=candidates.key,
            p_warm=step.start.warm(candidates.key, candidates.row_ptr),
            v_start=step.state.v,
        )
