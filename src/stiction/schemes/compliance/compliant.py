"""Compliant: contacts as springs and dampers, integrated by methods for stiff differential equations (pr11 §5).

    λ_n = -kn φ - gamma_n min(φ', 0) while φ <= 0, else 0        λ_t = the point of mu λ_n F nearest to -gamma_t u_t

(pr11 eq. 21, 22, for friction sets F of any shape). There are no impulses and no complementarity: the motion is
unique, and a step of the scheme is nothing but a piece of it, reported as other schemes report theirs. What is
integrated is in `motion.py`, the forces are in `forces.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import _check
from ..._check import FloatArray
from ...errors import StictionError
from ...problem.contact_problem import ContactProblem
from ...problem.dynamics import Dense
from ...problem.laws import UNILATERAL, Mode
from ...status import Status
from ...systems.base import State, System
from ...systems.sizes import arms, extent
from ..base import (
    Change,
    Contacts,
    EnergyBalance,
    Solve,
    StepCertificate,
    StepResult,
    elastic_refused,
    in_columns,
    pad_rows,
)
from .motion import POWERS, Motion, smallest

PIECES_MAX = 2000  # of smooth motion in a step; more means that contacts chatter faster than the step can follow
BRIEF_TIME_SHARE = 1e-13  # of the time: intervals that integrators refuse, taken by one step of Euler's method
PIECES_MIN = 4  # of a step at least, so that a contact that closes and opens again is not stepped over


@dataclass(frozen=True)
class Compliant:
    """Contacts that give way (pr11 eq. 21): stiffness kn [N/m], damping gamma_n of approach, gamma_t of slip [N s/m].

    Penetrations are of the size of force over kn, sticking contacts creep at friction over gamma_t, and impacts last
    about π sqrt(m/kn): nothing is discontinuous, and every step resolves all of it. Contacts with a `Compliance` of
    their own use that. Limits of joints are contacts too, motors and friction in joints are dampers of gamma_t up to
    their bounds, springs and compliant joints are themselves, and rigid joints hold exactly. What turns (spin, roll, a
    hinge) has the constants times the square of its row's length, so that units do not matter. method: "Radau"
    (implicit Runge–Kutta of order 5, the one for very stiff contacts) or "LSODA" (switches by itself between stiff and
    non-stiff); rtol: the integrator's relative tolerance.

    Impulses of a step are integrals of forces over it; the mode of a contact is that at its end, and moments at which
    contacts open, close, stick or slip are the result's `changes`. A bounce is what spring and damper make of it, so
    coefficients of restitution are refused: of a mass m on one contact, with ζ = gamma_n/(2 sqrt(kn m)) < 1, the ratio
    is exp(-ζ arccos ζ/sqrt(1 - ζ²)), and 1 without damping. Contacts that are reached only by an acceleration
    within the step, from beyond four times the free motion, are seen in the next one.

    When not to use it: many bodies or long runs, for which rigid contacts are far cheaper and need no stiffness.

    Reference: T. Preclik, U. Rüde, 2011, §5 (pr11).
    """

    kn: float
    gamma_n: float
    gamma_t: float
    method: str = "Radau"
    rtol: float = 1e-8

    soft = True  # overlaps are the rule: a start may have some

    def __post_init__(self) -> None:
        _check.number("kn", self.kn, positive=True)
        _check.number("gamma_n", self.gamma_n, low=0.0)
        _check.number("gamma_t", self.gamma_t, positive=True)
        _check.choice("method", self.method, ["Radau", "LSODA"])
        _check.number("rtol", self.rtol, positive=True)

    def band(self, system: System, state: State, h: float) -> float:
        """Four times the largest displacement of the free motion: forces can raise the speed within the step."""
        return 4.0 * h * system.speed_bound(state, h)

    def refuses(self, system: System) -> str | None:
        """Restitution, and elastic contacts."""
        e = float(getattr(system, "restitution", 0.0))
        if e == 0.0:
            return elastic_refused(system, "Compliant")
        return f"Compliant bounces by its springs and dampers, but a contact has a restitution of {e:g}; set it to 0."

    def probe(self, system: System, state: State, h: float) -> ContactProblem:
        """A problem without rows: nothing is left to a solver."""
        return ContactProblem(Dense(np.eye(1), np.zeros((0, 1))), row_ptr=[0], law=[])

    def step(self, system: System, state: State, h: float, solve: Solve) -> StepResult:
        """One step: pieces of smooth motion from one opening or closing of a contact to the next."""
        candidates = system.detect(state.t, state.q, self.band(system, state, h))
        motion = Motion(system, state, h, candidates, self)
        t, z, changes, trouble = self._run(motion)
        if trouble is not None or not np.isfinite(z).all():
            bad = Status.NONFINITE if trouble is None else Status.NOT_CONVERGED
            message = bad.sentence if trouble is None else trouble
            return StepResult(state, False, bad, message, Contacts.none(), (), None)
        return self._result(motion, t, z, changes)

    def _run(self, motion: Motion) -> tuple[float, FloatArray, tuple[Change, ...], str | None]:
        """Integrate over the step: the end, the unknowns there, what happened, and what went wrong."""
        t, end, z = motion.state.t, motion.state.t + motion.h, motion.start()
        motion.closed = motion.touching(t, z)
        sizes = self._sizes(motion)
        changes: list[Change] = []
        for _ in range(PIECES_MAX):
            try:
                with np.errstate(over="ignore", invalid="ignore"):
                    t, z, which, trouble = self._piece(motion, t, z, end, sizes, changes)
            except (ValueError, ArithmeticError) as error:  # what integrators raise when a force is not finite
                if isinstance(error, StictionError):
                    raise
                return t, z, tuple(changes), f"{self.method} gave up after t = {t:.6g} s: {error}."
            if trouble is not None or which is None:
                return t, z, tuple(changes), trouble
            motion.closed[which] ^= True
            kind = "impact" if motion.closed[which] else "separation"
            changes.append(Change(t, int(motion.candidates.key[which]), kind))
        return t, z, tuple(changes), f"A step of {motion.h:g} s has more than {PIECES_MAX} openings and closings."

    def _piece(
        self, motion: Motion, t: float, z: FloatArray, end: float, sizes: FloatArray, changes: list[Change]
    ) -> tuple[float, FloatArray, int | None, str | None]:
        """Integrate until a contact opens or closes: when, the unknowns then, which, and what went wrong.

        The moment is found on the integrator's interpolation and then integrated to, since interpolation is of lower
        order than the steps.
        """
        if end - t <= BRIEF_TIME_SHARE * max(motion.h, abs(end)):
            return end, z + (end - t) * motion.rate(t, z), None, None
        solver = self._solver(motion, t, z, end, sizes)
        over = motion.watch(t, z)[1]
        while solver.status == "running":
            before, z_before = float(solver.t), solver.y.copy()
            trouble = solver.step()
            if solver.status == "failed":
                return before, z_before, None, f"{self.method} gave up at t = {before:.6g} s: {trouble}"
            gap, after = motion.watch(solver.t, solver.y)
            inside = solver.dense_output()
            if (gap < 0.0).any():
                crossed = [
                    (_crossing(motion, inside, before, solver.t, 0, k), k) for k in np.flatnonzero(gap < 0).tolist()
                ]
                when, which = min(crossed)
                self._note(motion, inside, before, when, over, motion.watch(when, inside(when))[1], changes)
                z, trouble = self._reach(motion, before, z_before, when, sizes)
                return when, z, which, trouble
            self._note(motion, inside, before, solver.t, over, after, changes)
            over = after
        return float(solver.t), solver.y, None, None

    def _reach(
        self, motion: Motion, t: float, z: FloatArray, end: float, sizes: FloatArray
    ) -> tuple[FloatArray, str | None]:
        """The unknowns at `end`, whatever opens or closes on the way."""
        if end - t <= BRIEF_TIME_SHARE * max(motion.h, abs(end)):
            return z + (end - t) * motion.rate(t, z), None
        solver = self._solver(motion, t, z, end, sizes)
        while solver.status == "running":
            trouble = solver.step()
        return solver.y, f"{self.method} gave up at t = {t:.6g} s: {trouble}" if solver.status == "failed" else None

    def _solver(self, motion: Motion, t: float, z: FloatArray, end: float, sizes: FloatArray) -> _Integrator:
        return _Integrator(self.method, self.rtol, motion, t, z, end, sizes)

    @staticmethod
    def _note(
        motion: Motion, inside: Any, t0: float, t1: float, over: FloatArray, after: FloatArray, changes: list[Change]
    ) -> None:
        """Beginnings and ends of sticking between t0 and t1."""
        for k in np.flatnonzero((over > 0.0) != (after > 0.0)).tolist():
            if np.isfinite(over[k]) and np.isfinite(after[k]):
                when = _crossing(motion, inside, t0, t1, 1, k)
                changes.append(Change(when, int(motion.candidates.key[k]), "slip" if after[k] > 0.0 else "stick"))

    def _sizes(self, motion: Motion) -> FloatArray:
        """Of the unknowns (nz,), from the speed of rows and the time in which the stiffest contact oscillates.

        A system at rest has the speed that forces give it in a hundredth of that time: less is round-off of positions.
        """
        form: Any = motion.form
        metres, arm, state = motion.length, arms(motion.system), motion.state
        light = float((form.delassus_diagonal(motion.candidates.row_ptr) * metres**2).max(initial=0.0)) or motion.light
        stiff = float(motion.forces.soft[:, 0].max(initial=self.kn))
        short = min(motion.h, 1.0 / math.sqrt(stiff * light))
        free = form.minv(motion.system.forces(state.t, state.q, state.v))
        speeds = [metres * form.row_magnitude(state.v), 0.01 * short * metres * form.row_magnitude(free)]
        if not motion.nr:
            speeds = [arm * np.abs(state.v), 0.01 * short * arm * np.abs(free)]
        speed = max(float(some.max(initial=0.0)) for some in speeds) or extent(motion.system) / motion.h
        mass, arm = 1.0 / light, arm[motion.moving]
        sizes = (speed * short / arm, speed / arm, mass * speed * metres, np.full(len(POWERS), mass * speed**2))
        return np.concatenate(sizes)

    def _result(self, motion: Motion, t: float, z: FloatArray, changes: tuple[Change, ...]) -> StepResult:
        system, old, candidates = motion.system, motion.state, motion.candidates
        moment = motion.at(t, z)
        _, q, v = motion.place(t, z)
        q, v = hold(motion, t, q, v)
        ptr = candidates.row_ptr
        p = z[2 * motion.n : 2 * motion.n + motion.nr]
        new = State(old.t + motion.h, q, v, candidates.key, pad_rows(p, ptr))
        modes = motion.forces.modes(moment.local.over, motion.closed)
        opened = (candidates.law == UNILATERAL) & (p[ptr[:-1]] > 0.0) & ~motion.closed
        modes[opened] = int(Mode.SLIP)  # pressed in this step, if not at its end
        impulse, velocity = in_columns(candidates, p, moment.u)
        gap = system.gaps(candidates, new.t, q)
        contacts = Contacts(
            candidates.key, candidates.law, modes, gap, impulse, velocity, *system.contact_geometry(candidates, q)
        )
        seen = system.detect(new.t, q, 0.0)
        gaps = system.gaps(seen, new.t, q)
        certificate = StepCertificate(
            penetration=float(max(0.0, -gaps[seen.contact].min(initial=0.0))),
            joint_drift=float(max(-gaps[seen.limit].min(initial=0.0), gaps[seen.rigid].max(initial=0.0))),
            energy=_balance(system, old, new, dict(zip(POWERS, z[-len(POWERS) :].tolist()))),
        )
        message = f"{self.method}: {motion.evaluations} evaluations, {len(changes)} changes of contact."
        ordered = tuple(sorted(changes, key=lambda change: change.time))
        return StepResult(new, True, Status.SOLVED, message, contacts, (), certificate, changes=ordered)


class _Integrator:
    """One of SciPy's, which has constants of its own: it is given the time in steps, and unknowns over their sizes.

    Time starts at one, so that a step that changes nothing in it is given up.
    """

    def __init__(
        self, method: str, rtol: float, motion: Motion, t: float, z: FloatArray, end: float, sizes: FloatArray
    ):
        from scipy import integrate

        self.start, self.h, self.sizes, self.end = t - motion.h, motion.h, sizes, end

        def rate(x: float, y: FloatArray) -> FloatArray:
            return motion.rate(self.start + motion.h * x, sizes * y) * (motion.h / sizes)

        def jacobian(x: float, y: FloatArray) -> FloatArray:
            return motion.jacobian(self.start + motion.h * x, sizes * y) * (motion.h * sizes / sizes[:, None])

        self.solver = getattr(integrate, method)(
            rate,
            1.0,
            z / sizes,
            1.0 + (end - t) / motion.h,
            max_step=1.0 / PIECES_MIN,
            rtol=rtol,
            atol=rtol,
            jac=jacobian,
        )

    @property
    def status(self) -> str:
        """How it stands: running, finished, or failed."""
        return str(self.solver.status)

    @property
    def t(self) -> float:
        """The time reached [s]."""
        return self.end if self.status == "finished" else self.start + self.h * float(self.solver.t)

    @property
    def y(self) -> FloatArray:
        """The unknowns there."""
        return np.asarray(self.sizes * self.solver.y)

    def step(self) -> str | None:
        """Go on by a step of its own; what went wrong."""
        trouble: str | None = self.solver.step()
        return trouble

    def dense_output(self) -> Callable[[float], FloatArray]:
        """The unknowns as a function of the time within the last step."""
        inside = self.solver.dense_output()
        return lambda t: np.asarray(self.sizes * inside((t - self.start) / self.h))


def _crossing(motion: Motion, inside: Any, t0: float, t1: float, kind: int, k: int) -> float:
    """When the watched value k of a kind changes sign between t0 and t1, by bisection: a moment just after that."""
    t0, t1 = float(t0), float(t1)
    ended = motion.watch(t1, inside(t1))[kind][k] > 0.0
    if (motion.watch(t0, inside(t0))[kind][k] > 0.0) == ended:
        return t0
    for _ in range(60):
        middle = 0.5 * (t0 + t1)
        if not t0 < middle < t1:
            break
        if (motion.watch(middle, inside(middle))[kind][k] > 0.0) == ended:
            t1 = middle
        else:
            t0 = middle
    return t1


def _balance(system: System, old: State, new: State, work: dict[str, float]) -> EnergyBalance:
    """The works that were integrated; what they miss of the change is the integrator's error."""
    before, after = system.energy(old.q, old.v), system.energy(new.q, new.v)
    known = system.applied_power(old.t, old.q, old.v) is not None
    change = after.kinetic - before.kinetic + (after.potential - before.potential if known else 0.0)
    work["springs"] += after.elastic - before.elastic if known else 0.0
    return EnergyBalance(
        change=change, **work, stabilisation=0.0, truncation=change - sum(work.values()), mass_change=0.0, residual=0.0
    )


def hold(motion: Motion, t: float, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """q and v with rigid joints exactly held: the integrator's error in them taken out, at the least kinetic energy."""
    rigid = motion.forces.rigid
    if not len(rigid):
        return q, v
    system = motion.system
    p, length = np.zeros(motion.nr), motion.length[rigid]
    for _ in range(3):
        found = system.evaluate(motion.candidates, t, q)
        form: Any = system.dynamics(q, found)
        p[rigid] = smallest(form, rigid, length, -found.value[rigid])
        q = system.retract(q, form.velocity_change(p))
    p[rigid] = smallest(form, rigid, length, -(form.velocity_rows(v) + motion._swept(t, q))[rigid])
    return q, v + form.velocity_change(p)
