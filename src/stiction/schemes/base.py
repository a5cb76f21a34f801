"""What every scheme takes and returns, and the certificate of a step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from .._check import FloatArray, IntArray
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Bodies, Delassus
from ..solvers.base import Solution
from ..status import Status
from ..systems.base import MAX_ROWS, Candidates, Energy, State, System
from ..systems.elastic import has_springs

FAST_TURN_RAD = 0.3  # rad in a step: further than this a step of first order does not see where surfaces turn to
GAIN_MAX_SHARE = 0.25  # of T + m g·reach: what a step in which bodies turn so far may gain by its own error


class Solve(Protocol):
    """The simulator's solver, as schemes get it; tol: the certificate error that a solve aims at."""

    tol: float

    def largest(self, rows: int) -> float:
        """The largest error that a step goes on with, of a problem with `rows` rows."""

    def __call__(self, problem: ContactProblem, *, tol: float | None = None) -> Solution:
        """Solve to the simulator's tolerance, or to a tighter one."""


@dataclass(frozen=True)
class Contacts:
    """What the constraints did in a step, one entry per block: the arrays that are recorded.

    key, law, mode (nk,); gap (nk,) at the end of the step [m]; impulse (nk, 6) [N·s] and velocity (nk, 6) [m/s] in the
    columns normal, tangent 1, tangent 2, spin, roll 1, roll 2, zero in those that a contact does not have ([N·m·s] and
    [rad/s] in the last three; joints have their own rows one after the other); bodies (nk, 2), -1 where there are none;
    normal (from the second body to the first), point and tangent (nk, 3) in the world where the step took its rows:
    tangent 1, and tangent 2 is normal × tangent 1. In the plane there is tangent 1 only.
    """

    key: IntArray
    law: IntArray
    mode: IntArray
    gap: FloatArray
    impulse: FloatArray
    velocity: FloatArray
    bodies: IntArray
    normal: FloatArray
    point: FloatArray
    tangent: FloatArray

    @classmethod
    def none(cls) -> Contacts:
        """No constraint acted."""
        whole, rows, points = np.zeros(0, dtype=np.int64), np.zeros((0, MAX_ROWS)), np.zeros((0, 3))
        pairs = np.zeros((0, 2), dtype=np.int64)
        return cls(whole, whole, whole, np.zeros(0), rows, rows, pairs, points, points, points)

    def __len__(self) -> int:
        return len(self.key)


@dataclass(frozen=True)
class EnergyBalance:
    """Where the energy went in a step [J]. `change` is the sum of all the others, up to `residual` (round-off).

    applied: work of forces without a potential and of prescribed bodies; friction: work of friction; impact: work of
    normal impulses; joints: work of bilateral constraints; motors: work of boxes; springs: what dampers took, and the
    scheme's error on the potential of springs and compliant joints; stabilisation: work of pushing overlaps and joint
    drift out; truncation: the scheme's error on the potential, and what bodies at rest have given up; mass_change:
    kinetic energy from M(q) changing in the step. The split follows `ΔT = ½ (v + v⁺)ᵀ (h k + Gᵀ p)`, exact for
    constant M.
    """

    change: float
    applied: float
    friction: float
    impact: float
    joints: float
    motors: float
    springs: float
    stabilisation: float
    truncation: float
    mass_change: float
    residual: float


@dataclass(frozen=True)
class StepCertificate:
    """From the system and both states: penetration [m] and joint drift at the new configuration, and the energy.

    penetration: of all pairs of bodies, as they are detected at the new configuration. joint_drift: the largest
    violation of a joint's row or limit [m, rad]; contradiction: what rows of redundant joints demanded beyond what any
    velocity can do, and the step left undone [m, rad]. unexplained_energy [J]: what the step has gained by its own
    error, truncation + mass_change + stabilisation, where that is more than a step of first order may miss, max(1e-3 T,
    m g h |v|); 0 elsewhere. What the residual of the last solve leaves, in the sizes of the scene: overlap_left [m], by
    which bodies still approach in the step beyond what their gaps allow, force_error [N], by which the mean force of a
    contact or joint misses its law, and weight_share, that over the mean weight of a body (None without gravity).
    elastic_energy: what the springs of elastic contacts hold at the end [J]; softened: how many of these are stiffer
    than a step of this length can resolve, and were as stiff as it can (`systems/elastic.py`); hertz_defect: by how
    much the load of a contact differs from Hertz's law at its overlap, relatively and at most, over contacts that bear
    more than a body's weight and whose stiffness is by material and not that of the step: a step has the secant at the
    load of the one before; memory: the largest force [N] by which what a contact remembers misses what this step and
    the one before ask for (`spring_memory.py`).
    """

    penetration: float
    joint_drift: float
    energy: EnergyBalance
    unexplained_energy: float = 0.0
    contradiction: float = 0.0
    overlap_left: float = 0.0
    force_error: float = 0.0
    weight_share: float | None = None
    elastic_energy: float = 0.0
    softened: int = 0
    memory: float = 0.0
    hertz_defect: float = 0.0


@dataclass(frozen=True)
class Gain:
    """Energy [J] that an impact law has added in a step, among contacts of which `key` had the largest impulse.

    capped: it would have added so much, and was given smaller coefficients of restitution.
    """

    key: int
    energy: float
    capped: bool


@dataclass(frozen=True)
class Change:
    """At `time` [s], within a step, the constraint `key` did `kind`: "impact", "separation", "stick" or "slip"."""

    time: float
    key: int
    kind: str


@dataclass(frozen=True)
class StepResult:
    """A step: the new state, how it ended, what the contacts did, the solves by role, and the certificate.

    gains: impacts that added energy, or would have; changes: what happened within the step, in order, where the scheme
    knows the moment (`Compliant`).
    """

    state: State
    success: bool
    status: Status
    message: str
    contacts: Contacts
    solves: tuple[tuple[str, Solution], ...]
    certificate: StepCertificate | None
    gains: tuple[Gain, ...] = ()
    changes: tuple[Change, ...] = ()

    @property
    def taken(self) -> bool:
        """Whether a run goes on with it: solved, accepted, or regularised."""
        return self.status.taken

    @property
    def solution(self) -> Solution | None:
        """The last solve, whose impulses made the step."""
        return self.solves[-1][1] if self.solves else None


class Scheme(Protocol):
    """How time advances. A pure step: it never saves, prints, raises on a failed solve, or loops over time."""

    def band(self, system: System, state: State, h: float) -> float:
        """How far to look for contacts [m]."""

    def refuses(self, system: System) -> str | None:
        """None, or a sentence that says why this scheme cannot step the system."""

    def probe(self, system: System, state: State, h: float) -> ContactProblem:
        """A problem of the kind that `step` will make, with every candidate: to ask whether a solver takes it."""

    def step(self, system: System, state: State, h: float, solve: Solve) -> StepResult:
        """One step of length h [s]."""


def inelastic_only(system: System, scheme: str) -> str | None:
    """The refusal of schemes without restitution."""
    e = float(getattr(system, "restitution", 0.0))
    if e == 0.0:
        return None
    return f"{scheme} has inelastic impacts, but a contact has a restitution of {e:g}; set it to 0."


def elastic_refused(system: System, scheme: str) -> str | None:
    """The refusal of schemes that remember no displacement of contacts, which elastic ones need."""
    if not has_springs(system):
        return None
    return f"{scheme} does not take elastic contacts, whose displacement must be remembered; use AnitescuHart()."


def has_compliance(system: System) -> bool:
    """Whether a contact of the system has a `Compliance`."""
    state = system.initial_state()
    laws = getattr(system, "laws", None)
    if laws is not None:
        return laws.soft is not None
    return system.evaluate(system.detect(state.t, state.q, 0.0), state.t, state.q).soft is not None


def passed_through(system: System, candidates: Candidates, q0: FloatArray, q1: FloatArray) -> np.ndarray:
    """(nk,) contacts whose normal turns by more than a right angle from q0 to q1: fast bodies change sides that way."""
    before, after = (system.contact_geometry(candidates, q)[1] for q in (q0, q1))
    return np.asarray(np.einsum("ki,ki->k", before, after) < 0.0)


def pad_rows(values: FloatArray, row_ptr: IntArray) -> FloatArray:
    """Row values (nr,) as (nk, 6), one after the other, padded with zeros."""
    padded = np.zeros((len(row_ptr) - 1, MAX_ROWS))
    padded[np.arange(MAX_ROWS) < np.diff(row_ptr)[:, None]] = values
    return padded


def in_columns(candidates: Candidates, *rows: FloatArray) -> FloatArray:
    """Values (nr,) of rows as (nk, 6) each: normal, tangents 1 and 2, spin, rolls 1 and 2; those of joints in order."""
    from .step_kernels import place_rows

    placed = np.zeros((len(rows), len(candidates.key), MAX_ROWS))
    codes = candidates.codes
    for values, out in zip(rows, placed):
        place_rows(candidates.row_ptr, candidates.law, codes, values, out)
    return placed


def record_contacts(
    system: System, candidates: Candidates, new: State, at: FloatArray, problem: ContactProblem, solution: Solution
) -> Contacts:
    """The arrays of a step's constraints, rows padded to six; `at` is where the rows of the problem were taken."""
    velocity = solution.u - problem.b - problem.C * solution.p  # what the rows do, without gaps and other demands
    impulse, velocity = in_columns(candidates, solution.p, velocity)
    gap = system.gaps(candidates, new.t, new.q)
    place = system.contact_geometry(candidates, at)
    return Contacts(candidates.key, candidates.law, solution.modes, gap, impulse, velocity, *place)


def detect_at_end(scheme: Scheme, system: System, new: State, h: float) -> Candidates:
    """What is detected at the end of a step: what the certificate measures is the detection of the next step.

    Where forces or motions are functions of time, how far the next step looks is not asked before its time.
    """
    band = scheme.band(system, new, h) if getattr(system, "steady", False) else 0.0
    return system.detect(new.t, new.q, band)


def certify_step(
    system: System,
    at_end: Candidates,
    old: State,
    new: State,
    h: float,
    problem: ContactProblem,
    v: FloatArray,
    p: FloatArray,
    *,
    mass_at: FloatArray,
    projected: State | None = None,
    given_up: FloatArray | None = None,
) -> StepCertificate:
    """Penetration, drift and energy balance of a step with the impulses p of `problem`, which lead to the velocity v.

    From v the bodies move on to `new`, and, where a scheme corrects configurations afterwards, to `projected`. at_end:
    all that is detected there, whatever acted in the step; mass_at: the configuration at which the step took its mass;
    given_up (nv,): velocity that neither forces nor impulses explain.
    """
    end = new if projected is None else projected
    gaps = system.gaps(at_end, end.t, end.q)
    before, after = system.energy(old.q, old.v), system.energy(new.q, new.v)
    last = after if projected is None else system.energy(end.q, end.v)
    energy = _balance(system, old, new, h, problem, v, p, mass_at, (before, after), given_up)
    if projected is not None:
        work = last.total - after.total
        energy = replace(energy, change=energy.change + work, stabilisation=energy.stabilisation + work)
    gained = energy.truncation + energy.mass_change + energy.stabilisation
    return StepCertificate(
        penetration=float(0.0 - gaps[at_end.contact].min(initial=0.0)),
        joint_drift=float(np.maximum(-gaps[at_end.limit].min(initial=0.0), gaps[at_end.rigid].max(initial=0.0))),
        energy=energy,
        unexplained_energy=gained if gained > _expected_gain(old, v, problem, before, last) else 0.0,
    )


def refuse_unresolved_turn(taken: StepResult, system: System, old: State, h: float) -> StepResult:
    """The step, or its failure where a body turns by more than `FAST_TURN_RAD` and its energy comes from that.

    A surface that has turned so far, in this step or in the one before, is not where the rows of the step expect it.
    What is then pushed out gains energy step by step; one that gains a quarter of what there is, T + m g·reach, is not
    taken for a success.
    """
    model: Any = system
    seen = taken.certificate
    if not (taken.taken and seen is not None and hasattr(system, "lift")):
        return taken
    turn = h * max(model.fastest_spin(old.v), model.fastest_spin(taken.state.v))
    gained = seen.energy.truncation + seen.energy.mass_change + seen.energy.stabilisation
    if turn <= FAST_TURN_RAD or gained <= GAIN_MAX_SHARE * (system.energy(old.q, old.v).kinetic + model.lift):
        return taken
    message = (
        f"A body turns by {turn:.2g} rad in a step, which gains {gained:.2g} J by its own error; take a smaller step."
    )
    return replace(taken, success=False, status=Status.UNRESOLVED, message=message)


def with_scene_sizes(result: StepResult, system: System, h: float) -> StepResult:
    """The step with what its residual means in this scene in its certificate."""
    solution, certificate = result.solution, result.certificate
    if solution is None or certificate is None:
        return result
    seen, weight = solution.certificate, getattr(system, "mean_weight", None)
    force = seen.impulse_error / h
    told = replace(
        certificate, overlap_left=h * seen.penetration_rate, force_error=force,
        weight_share=force / weight if weight else None,
    )  # fmt: skip
    return replace(result, certificate=told)


def _expected_gain(old: State, v: FloatArray, problem: ContactProblem, before: Energy, after: Energy) -> float:
    """The energy [J] by which a step of first order may miss its balance: max(1e-3 T, Σ |h k| |v|).

    The second is m g h |v| for bodies in gravity: what forces do on the way of a step.
    """
    dynamics = problem.dynamics
    assert not isinstance(dynamics, Delassus)
    kinetic = max(before.kinetic, after.kinetic)
    round_off = 1e-13 * (kinetic + abs(before.potential) + abs(after.potential))
    dof = dynamics.Minv.shape[1] if isinstance(dynamics, Bodies) else 1
    parts = [slice(0, 1)] if dof == 1 else [slice(0, 2), slice(2, 3)] if dof == 3 else [slice(0, 3), slice(3, 6)]
    rows = [x.reshape(-1, dof) for x in (dynamics.mass(problem.v_free - old.v), old.v, v)]
    work = 0.0
    for part in parts:
        push, start, stop = (np.sqrt(np.einsum("bi,bi->b", x[:, part], x[:, part])) for x in rows)
        work += float(np.einsum("b,b->", push, np.maximum(start, stop)))
    return max(1e-3 * kinetic, work, round_off)


def _balance(
    system: System,
    old: State,
    new: State,
    h: float,
    problem: ContactProblem,
    v: FloatArray,
    p: FloatArray,
    mass_at: FloatArray,
    energies: tuple[Energy, Energy],
    given_up: FloatArray | None,
) -> EnergyBalance:
    from .step_kernels import work_of_rows

    dynamics = problem.dynamics
    assert not isinstance(dynamics, Delassus)
    # Prescribed bodies have no mass here: their velocity is given, and what they do is work from outside.
    prescribed = dynamics.prescribed
    mean = np.where(prescribed, v, 0.5 * (old.v + v))
    before, after = energies
    # forces and impulses change the velocity at the mass of the step; before and after that M(q) changes
    turned = after.kinetic - system.energy(mass_at, v).kinetic
    if mass_at is not old.q:
        turned -= before.kinetic - system.energy(mass_at, old.v).kinetic
    kinetic = after.kinetic - before.kinetic
    momentum = dynamics.mass(mean)
    force_work = _inner(momentum, problem.v_free - old.v)  # M (v_free - v) = h k
    middle = system.retract(old.q, 0.5 * h * v)
    power = system.applied_power(old.t + 0.5 * h, middle, mean)
    potential = after.potential - before.potential
    stored = after.elastic - before.elastic
    forced = force_work if power is None else h * power
    given = 0.0 if given_up is None else _inner(momentum, given_up)
    moved = _inner(p, dynamics.velocity_rows(np.where(prescribed, mean, 0.0))) if prescribed.any() else 0.0
    friction, impact, joints, motors, springs, restoring = work_of_rows(
        problem.row_ptr, problem.law, problem.C, problem.b, p, dynamics.velocity_rows(mean), dynamics.velocity_rows(v)
    )
    parts = {
        "applied": forced - moved,
        "friction": friction,
        "impact": impact,
        "joints": joints,
        "motors": motors,
        "springs": springs + stored,
        "stabilisation": restoring,
        "truncation": force_work - forced + (0.0 if power is None else potential - stored) + given,
        "mass_change": turned,
    }
    change = kinetic + (0.0 if power is None else potential)
    return EnergyBalance(change=change, residual=change - sum(parts.values()), **parts)


def _inner(a: FloatArray, b: FloatArray) -> float:
    """a·b, without BLAS: its threads go on spinning for longer than a step takes, on the cores of the next one."""
    return float(np.einsum("i,i->", a, b))
