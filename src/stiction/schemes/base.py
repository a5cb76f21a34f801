"""What every scheme takes and returns, and the certificate of a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .._check import FloatArray, IntArray
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Delassus
from ..solvers.base import Solution
from ..status import Status
from ..systems.base import MAX_ROWS, Candidates, State, System


class Solve(Protocol):
    """The simulator's solver, as schemes get it; tol: the largest certificate error that the simulator takes."""

    tol: float

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

    joint_drift: the largest violation of a joint's row or limit [m, rad]; contradiction: what rows of redundant joints
    demanded beyond what any velocity can do, and the step left undone [m, rad].
    """

    penetration: float
    joint_drift: float
    energy: EnergyBalance
    contradiction: float = 0.0


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


def gives_way(system: System) -> bool:
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
    from .record_kernels import place_rows

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


def certify_step(
    system: System,
    candidates: Candidates,
    band: float,
    old: State,
    new: State,
    h: float,
    problem: ContactProblem,
    p: FloatArray,
    gaps: FloatArray | None = None,
    given_up: FloatArray | None = None,
) -> StepCertificate:
    """Penetration, drift and energy balance of a step with the impulses p of `problem`.

    `candidates` are all that were detected within `band`, whether they acted or not, and `gaps` (nk,) theirs at the new
    state where they are known; given_up (nv,): velocity that neither forces nor impulses explain. Where impulses have
    made bodies so fast that others may have been reached, contacts are detected anew.
    """
    if h * system.approach_bound(new, band / h) > band:
        candidates, gaps = system.detect(new.t, new.q, 0.0), None
    if gaps is None:
        gaps = system.gaps(candidates, new.t, new.q)
    passed = -gaps[candidates.limit].min(initial=0.0)
    return StepCertificate(
        penetration=float(max(0.0, -gaps[candidates.contact].min(initial=0.0))),
        joint_drift=float(max(passed, gaps[candidates.rigid].max(initial=0.0))),
        energy=_balance(system, old, new, h, problem, p, given_up),
    )


def _balance(
    system: System,
    old: State,
    new: State,
    h: float,
    problem: ContactProblem,
    p: FloatArray,
    given_up: FloatArray | None,
) -> EnergyBalance:
    from .record_kernels import work_of_rows

    dynamics = problem.dynamics
    assert not isinstance(dynamics, Delassus)
    # Prescribed bodies have no mass here: their velocity is given, and what they do is work from outside.
    prescribed = dynamics.prescribed
    mean = np.where(prescribed, new.v, 0.5 * (old.v + new.v))
    before, after = system.energy(old.q, old.v), system.energy(new.q, new.v)
    kinetic = after.kinetic - before.kinetic
    momentum = dynamics.mass(mean)
    # kinetic energy with the mass matrix of the step, against the true one at both ends
    during = _inner(momentum, new.v - old.v)
    force_work = _inner(momentum, problem.v_free - old.v)  # M (v_free - v) = h k
    middle = system.retract(old.q, 0.5 * h * new.v)
    power = system.applied_power(old.t + 0.5 * h, middle, mean)
    potential = after.potential - before.potential
    stored = after.elastic - before.elastic
    forced = force_work if power is None else h * power
    given = 0.0 if given_up is None else _inner(momentum, given_up)
    moved = _inner(p, dynamics.velocity_rows(np.where(prescribed, mean, 0.0))) if prescribed.any() else 0.0
    friction, impact, joints, motors, springs, restoring = work_of_rows(
        problem.row_ptr, problem.law, problem.C, problem.b, p, dynamics.velocity_rows(mean)
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
        "mass_change": kinetic - during,
    }
    change = kinetic + (0.0 if power is None else potential)
    return EnergyBalance(change=change, residual=change - sum(parts.values()), **parts)


def _inner(a: FloatArray, b: FloatArray) -> float:
    """a·b, without BLAS: its threads go on spinning for longer than a step takes, on the cores of the next one."""
    return float(np.einsum("i,i->", a, b))
