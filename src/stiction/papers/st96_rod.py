"""st96 §4, figures 2–5: a spinning rod with round ends falls onto a table.

Readings. The start height is not printed. It is the one datum that is fitted, to the one printed number that the free
flight gives: the lower end touches at 0.383 s from a height of 0.9907 m. All that comes after is then computed. The
spin is +4 rad/s, counter-clockwise, from +30°, and g = 9.81 m/s². The printed friction vectors belong to the axis of
the rod; here they are those of the true contact point, `ρ` below the end of the axis: with the printed ones a
force–acceleration method would have a solution at the first contact, against the paper's claim.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .. import lcp
from ..analysis.convergence import Convergence, compare
from ..friction import Coulomb
from ..problem import ContactProblem, Dense, Law
from ..schemes import StewartTrinkle
from ..simulation import Simulator, Trajectory
from ..systems import Gap, GeneralizedSystem
from .experiment import Experiment, Outcome, Quantity, claim

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LENGTH, RADIUS, MASS, INERTIA, MU, GRAVITY = 0.5, 0.05, 1.0, 0.002, 0.6, 9.81
FIRST_CONTACT, START_ANGLE, SPIN = 0.383, np.pi / 6, 4.0
STEPS = (0.02, 0.01, 0.005, 0.0025, 0.00125, 0.000625)
SPIKE = 2.28040278  # rad/s, ours
PAPER_STEP, COARSE_STEP, DURATION = 0.0025, 0.04, 0.7
ENDS = {"end +": 1.0, "end -": -1.0}


def height_of(contact: float) -> float:
    """The height of the centre from which the free flight touches the table at this time [m]."""
    return float(RADIUS + 0.5 * LENGTH * abs(np.sin(START_ANGLE + SPIN * contact)) + 0.5 * GRAVITY * contact**2)


START_HEIGHT = height_of(FIRST_CONTACT)


def rod(height: float = START_HEIGHT) -> GeneralizedSystem:
    """The rod in coordinates (x, y, θ); the contacts "end +" and "end -" are its two round ends."""
    half = LENGTH / 2

    def end(name: str, s: float) -> Gap:
        return Gap(
            lambda q: q[1] + s * half * np.sin(q[2]) - RADIUS,
            lambda q: np.array([0.0, 1.0, s * half * np.cos(q[2])]),
            lambda q: np.array([1.0, 0.0, RADIUS - s * half * np.sin(q[2])]),
            Coulomb(MU),
            name=name,
        )

    return GeneralizedSystem(
        np.diag([MASS, MASS, INERTIA]),
        np.array([0.0, -MASS * GRAVITY, 0.0]),
        q=[0.0, height, START_ANGLE],
        v=[0.0, 0.0, SPIN],
        gaps=[end(name, s) for name, s in ENDS.items()],
        names=("x", "y", "theta"),
    )


@dataclass(frozen=True)
class InstantContact:
    """The force–acceleration problem of a sliding end: a_n = stiffness·N + offset with 0 <= N ⟂ a_n >= 0."""

    stiffness: float
    offset: float
    solutions: int
    complete: bool
    lemke: str


def instant_contact(q: np.ndarray, v: np.ndarray, end: str) -> InstantContact:
    """Pose the force–acceleration problem (friction μN against the slip) of an end that slides on the table."""
    s, half = ENDS[end], LENGTH / 2
    n = np.array([0.0, 1.0, s * half * np.cos(q[2])])
    t = np.array([1.0, 0.0, RADIUS - s * half * np.sin(q[2])])
    along = n - MU * np.sign(t @ v) * t  # the force per unit N; the acceleration answers along n (G ≠ H)
    offset = -GRAVITY - s * half * np.sin(q[2]) * v[2] ** 2
    M = np.diag([MASS, MASS, INERTIA])
    problem = ContactProblem(Dense(M, n[None, :], along[None, :]), b=[offset], row_ptr=[0, 1], law=[Law.UNILATERAL])
    form = problem.to_lcp()
    found = lcp.solutions(form.M, form.q)
    answer = lcp.lemke(form.M, form.q)
    return InstantContact(float(form.M[0, 0]), float(form.q[0]), len(found), found.complete, str(answer.status))


def touch_time(run: Trajectory, end: str) -> float:
    """When an end first touches [s]: the gap before that step, carried to zero with the velocity there."""
    step = next(e.step for e in run.events if e.kind == "impact" and e.contact == end)
    s, half = ENDS[end], LENGTH / 2
    theta = run["theta"][step]
    gap = run["y"][step] + s * half * np.sin(theta) - RADIUS
    rate = run["v_y"][step] + s * half * np.cos(theta) * run["v_theta"][step]
    return float(run.times[step] - gap / rate)


def rest_time(run: Trajectory) -> float:
    """The end of the first step after which nothing moves any more."""
    moving = np.flatnonzero(np.abs(run.v).max(axis=1) > 1e-9)
    return float(run.times[moving[-1] + 1])


def closed_once(run: Trajectory) -> bool:
    """Whether every end touches the table once and stays there."""
    kinds = [(e.contact, e.kind) for e in run.events if e.kind in ("impact", "separation")]
    return sorted(kinds) == [(end, "impact") for end in sorted(ENDS)]


def spike_steps(run: Trajectory) -> int:
    """How many steps the dip of the angular velocity at the first contact lasts."""
    step = next(e.step for e in run.events if e.kind == "impact")
    spin = run["v_theta"][step + 1 :]
    return int(np.argmax(spin >= SPIN))


def landing(run: Trajectory) -> tuple[float, float]:
    """What is left of the gap after the first step of the first contact, and of the closing speed after the next.

    Both over what they were before: "after the first step in which contact is made, f(q) = 0; on the following step,
    the velocity is made tangential".
    """
    first = next(e for e in run.events if e.kind == "impact")
    s, half, k = ENDS[first.contact], LENGTH / 2, first.step
    gap = run["y"] + s * half * np.sin(run["theta"]) - RADIUS
    rate = run["v_y"] + s * half * np.cos(run["theta"]) * run["v_theta"]
    return float(abs(gap[k + 1] / gap[k])), float(abs(rate[k + 2] / rate[k]))


@dataclass(frozen=True)
class _Runs:
    coarse: Trajectory
    runs: tuple[Trajectory, ...]
    study: Convergence
    nonlinear: Trajectory

    @property
    def paper(self) -> Trajectory:
        """The run at the paper's own step."""
        return self.runs[STEPS.index(PAPER_STEP)]


def _run_all() -> _Runs:
    def run(h: float, scheme: StewartTrinkle | None = None) -> Trajectory:
        return Simulator(rod(), h, scheme=scheme, solver="lemke", tol=1e-10).run(DURATION, progress=False)

    runs = tuple(run(h) for h in STEPS)
    return _Runs(run(COARSE_STEP), runs, compare(runs), run(PAPER_STEP, StewartTrinkle(nonlinear=True)))


def reproduce() -> Outcome:
    """Run the experiment at all step sizes and judge its numbers."""
    data = _run_all()
    paper, finest = data.paper, data.runs[-1]
    first, second = [e for e in finest.events if e.kind == "impact"][:2]
    instant = instant_contact(finest.q[first.step], finest.v[first.step], first.contact)
    t1, t2, rest = touch_time(finest, first.contact), touch_time(finest, second.contact), rest_time(finest)
    spike = float(paper["v_theta"][next(e.step for e in paper.events if e.kind == "impact") + 1])
    stepping = all(run.success for run in (data.coarse, *data.runs))
    slides = next(e.step for e in paper.events if e.kind == "impact" and e.contact == second.contact) + 2
    left = min(ENDS, key=lambda end: ENDS[end] * np.cos(paper["theta"][-1]))
    tilt = float(np.sin(paper["theta"][-1]))
    late = rest_time(data.coarse) - rest_time(finest)
    landed = landing(paper)
    quantities = (
        Quantity("first contact", t1, 0.382643614, "s", "0.383", fitted=True,
                 reason=f"the start height, {START_HEIGHT:.4f} m, is that from which the free flight touches then"),
        Quantity("second contact", t2, 0.548228711, "s", "0.548", reason="nothing was chosen for it"),
        Quantity("sliding after the second contact", rest - t2, 0.0161462888, "s", "0.02",
                 reason="printed with one digit"),
        Quantity("force-acceleration solutions at first contact", float(instant.solutions), 0.0, "", 0.0,
                 reason=f"a_n = {instant.stiffness:.3f} N {instant.offset:+.3f} is negative for every N >= 0; "
                        f"Lemke ends on a {instant.lemke}"),
        claim("the rod slides left after the second contact", float(paper["v_x"][slides]) < 0.0,
              f"at {paper['v_x'][slides]:.2f} m/s"),
        claim("the end that lands second is the left one", second.contact == left, f"“{second.contact}”"),
        claim("the rod is then horizontal and at rest", bool(np.abs(paper.v[-1]).max() < 1e-9 and abs(tilt) < 1e-3),
              f"{tilt:.0e} rad from it"),
        claim("time-stepping solves every step", stepping, "with a certificate for each"),
        Quantity("steps of the angular-velocity spike", float(spike_steps(paper)), 1.0, "", 1.0),
        Quantity("angular velocity in the spike, h = 0.0025 s", spike, SPIKE, "rad/s"),
        Quantity("position order over h", data.study.order("position_error"), 0.746121488, "",
                 record_tolerance=1e-4, reason="figures 3-5 show convergence without a number"),
        Quantity("velocity order over h", data.study.order("velocity_error"), 0.880777999, "",
                 record_tolerance=1e-4, reason="L1 in time, against h = 0.000625 s"),
        claim("the spike comes of two steps: first the gap closes, then the end moves along the table",
              max(landed) < 0.01, f"of the gap {landed[0]:.0e} is left after the first, of the closing speed "
              f"{landed[1]:.0e} after the next"),
        claim("no numerical chattering", all(closed_once(run) for run in data.runs),
              f"each end closes once and never opens, at {len(STEPS)} steps"),
        claim("steps of 1/25 s are not sufficient", late > 0.1, f"rest comes {late:.3f} s too late"),
        Quantity("rest at h = 0.04 s, too late by", late, 0.155625, "s"),
        Quantity("largest penetration, linearised", paper.certificate.worst["penetration"], 0.0, "m",
                 record_within=1e-6, reason="of second order in h"),
        Quantity("largest penetration, nonlinear", data.nonlinear.certificate.worst["penetration"], 0.0, "m",
                 record_within=1e-10),
    )  # fmt: skip
    worst = [run.certificate.worst for run in (data.coarse, *data.runs, data.nonlinear)]
    certificate = {name: max(w[name] for w in worst) for name in worst[0]}
    notes = (
        "contact times are interpolated within the step and taken at the finest step, h = 0.000625 s",
        f"impulses: {', '.join(sorted({s.kind for s in data.study.scalings}))} at both contacts as h goes to 0",
    )
    return Outcome(quantities, certificate, lambda: _figures(data), notes)


def _figures(data: _Runs) -> dict[str, Figure]:
    from .figures.rod import rod_frames, rod_summary, rod_velocities

    by_step = {run.info["dt"]: run for run in (data.coarse, *data.runs)}
    return {
        "st96-rod": rod_summary(data.paper, LENGTH, RADIUS),
        "st96-rod-fig2": rod_frames(data.paper, LENGTH, RADIUS),
        "st96-rod-fig3": rod_velocities(by_step, "v_y", "vertical velocity [m/s]"),
        "st96-rod-fig4": rod_velocities(by_step, "v_theta", "angular velocity [rad/s]"),
        "st96-rod-fig5": rod_velocities(by_step, "v_x", "horizontal velocity [m/s]"),
        "st96-rod-convergence": data.study.plot(),
    }


EXPERIMENT = Experiment(
    "st96-rod", "Stewart, Trinkle 1996", "A spinning rod falls onto a table (§4, figures 2–5)", reproduce
)
