"""ttp01 §4.1, problems 1 and 2 (eq. 4, 7): a ball that spins in place, and one that slides until it rolls.

Readings. A = JᵀM⁻¹J (the text of §2 prints JᵀMJ), and the normal entry of b in eq. 3 is -9.81. The directions of eq. 5
are 8 on the equator, 5 each at latitudes ±0.5 rad, and the poles; those of eq. 6 are 3 each at ±36°; both in the frame
(t, o, r), whose t lies 45° from x. The directions of problem 2, experiment 2 are not printed: 3 in the tangent plane,
from t on (45°, 165°, 285° from x), and the poles. "The Stewart method" takes everything at the start of a step, as
`AnitescuHart` does; on a plane `StewartTrinkle` is the same. q holds the integral of ω: how a ball is turned does not
matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._check import FloatArray
from ..analysis.convergence import Exact, compare
from ..friction import FrictionSet, Polyhedral, Torsional
from ..friction.ellipsoids import latitudes
from ..schemes import AnitescuHart, TzitzourisPang
from ..schemes.base import Scheme
from ..simulation import Simulator, Trajectory
from ..systems import Gap, GeneralizedSystem, World
from .experiment import EXACT, ORDER, Experiment, Outcome, Quantity, claim
from .ttp01_reference import sliding_ball_polyhedral

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER = "Trinkle, Tzitzouris, Pang 2001"
G, TOL = 9.81, 1e-10
_R = np.sqrt(0.5)
# rows normal, t, o, r: the transpose of the paper's J
ROWS = np.array([[0, 0, 1, 0, 0, 0], [_R, _R, 0, _R, -_R, 0], [-_R, _R, 0, _R, _R, 0], [0, 0, 0, 0, 0, 1.0]])
FRICTION = Torsional(0.2, 1.0, 1.0, 0.4)
POLES = ((1, np.pi / 2), (1, -np.pi / 2))
ALIGNED = FRICTION.rings(*latitudes(8))  # eq. 5
SPIN_MISALIGNED = FRICTION.rings((3, np.pi / 5), (3, -np.pi / 5))  # eq. 6
SLIDE_MISALIGNED = FRICTION.rings((3, 0.0), *POLES)
MUG = FRICTION.mu * G  # N: friction of the sliding ball
SPIN, SPIN_STEP, SPIN_END = 1.962, 0.07, 1.19
SLIDE, SLIDE_STEP, SLIDE_END = 2.0, 0.12, 0.6
# as printed: x, y and moment about z of the columns of eq. 5 and eq. 6
EQ5 = np.array([
    [0.7071, 0.0, -0.7071, -1.0, -0.7071, 0.0, 0.7071, 1.0, 0.4177, -0.2682, -0.5835, -0.0924, 0.5264, 0.4177, -0.2682,
     -0.5835, -0.0924, 0.5264, 0.0, 0.0],
    [0.7071, 1.0, 0.7071, 0.0, -0.7071, -1.0, -0.7071, 0.0, 0.4177, 0.5264, -0.0924, -0.5835, -0.2682, 0.4177, 0.5264,
     -0.0924, -0.5835, -0.2682, 0.0, 0.0],
    [0, 0, 0, 0, 0, 0, 0, 0, 0.3227, 0.3227, 0.3227, 0.3227, 0.3227, -0.3227, -0.3227, -0.3227, -0.3227, -0.3227, 0.4,
     -0.4],
])  # fmt: skip
EQ6 = np.array([
    [0.3410, -0.4659, 0.1248, 0.3410, -0.4659, 0.1248],
    [0.3410, 0.1248, -0.4659, 0.3410, 0.1248, -0.4659],
    [0.3504, 0.3504, 0.3504, -0.3504, -0.3504, -0.3504],
])  # fmt: skip


def ball(
    friction: FrictionSet, v: Sequence[float], position: Sequence[float] = (0.0, 0.0, 1.0), tangents: int = 3
) -> GeneralizedSystem:
    """A uniform ball of unit mass and radius on a plane (figure 2, eq. 3); tangents: 2 leaves out the spin."""
    rows = ROWS[1 : 1 + tangents]
    plane = Gap(lambda q: q[2] - 1.0, lambda q: ROWS[0], lambda q: rows, friction, name="plane")
    return GeneralizedSystem(
        np.diag([1.0, 1.0, 1.0, 0.4, 0.4, 0.4]),
        np.array([0.0, 0.0, -G, 0.0, 0.0, 0.0]),
        q=[*position, 0.0, 0.0, 0.0],
        v=v,
        gaps=[plane],
        names=("x", "y", "z", "rx", "ry", "rz"),
    )


def stewart(system: GeneralizedSystem, h: float, duration: float, eps: float = 1e-3) -> Trajectory:
    """A run by the paper's explicit method: one LCP per step, contacts with gap <= eps [m] act."""
    return Simulator(system, h, scheme=AnitescuHart(eps=eps), solver="lemke", tol=TOL).run(duration, progress=False)


def implicit(system: GeneralizedSystem | World, h: float, duration: float) -> Trajectory:
    """A run by the paper's implicit method."""
    return Simulator(system, h, scheme=TzitzourisPang(tolerance=TOL), tol=TOL).run(duration, progress=False)


def lcp_size(system: GeneralizedSystem, h: float, scheme: Scheme | None = None) -> int:
    """Unknowns of the LCP of a first step by Stewart's method: directions, a normal and a slip variable per contact."""
    scheme = scheme or AnitescuHart(eps=1e-3)
    return len(scheme.probe(system, system.initial_state(), h).to_lcp().q)


def forces(run: Trajectory, contact: str = "plane") -> FloatArray:
    """(n, 4) contact forces c_n, c_t, c_o [N] and moment c_r [N·m] in each step."""
    values: FloatArray = run.contacts(contact).impulse[:, :4] / np.diff(run.times)[:, None]
    return values


@dataclass(frozen=True)
class Newton:
    """What Newton's method did in a run: iterations of each step from the last step's impulses and from none."""

    hot: FloatArray
    cold: FloatArray
    residual: float


def newton(system: GeneralizedSystem, h: float, duration: float) -> Newton:
    """Step through a run with hot and with cold starts; the larger of the two worst residuals."""
    counts, worst = [], 0.0
    for hot in (True, False):
        sim = Simulator(system, h, scheme=TzitzourisPang(tolerance=TOL, hot=hot), tol=TOL)
        taken = []
        for _ in range(round(duration / h)):
            solution = sim.step().solution
            assert solution is not None
            taken.append(float(solution.iterations))
            worst = max(worst, solution.certificate.error)
        counts.append(np.array(taken))
    return Newton(counts[0], counts[1], worst)


def newton_quantities(n: Newton, hot: float, cold: float, largest: float) -> tuple[Quantity, ...]:
    """Iterations per step, and the residual that every step must meet."""
    return (
        claim("a hot start of Newton's method is effective", n.hot.mean() < n.cold.mean(),
              f"{n.hot.mean():.2f} iterations per step against {n.cold.mean():.2f} from none"),
        Quantity("Newton iterations per step, hot start", float(n.hot.mean()), hot, "", record_within=0.4),
        Quantity("Newton iterations per step, cold start", float(n.cold.mean()), cold, "", record_within=0.4),
        Quantity("Newton iterations of the dearest step, hot start", float(n.hot.max()), largest, "",
                 record_within=1.0),
        Quantity("largest residual of a step of the implicit method", n.residual, 0.0, "", record_within=TOL,
                 reason="the certificate's natural map"),
    )  # fmt: skip


def worst(runs: Sequence[Trajectory]) -> dict[str, float]:
    """The largest residuals over several runs."""
    all_of_them = [run.certificate.worst for run in runs]
    return {name: max(w[name] for w in all_of_them) for name in all_of_them[0]}


def printed_directions(directions: FloatArray, printed: FloatArray) -> float:
    """The largest difference of a printed direction, mapped through J, from ours: 5e-5 is rounding."""
    ours = ROWS[1:].T @ directions.T
    return float(np.abs(ours[[0, 1, 5]] - printed).max())


# --- problem 1


def spinning(t: float) -> tuple[FloatArray, FloatArray]:
    """The exact (q, v): ω_z falls by 5/2·mu·e_r·g = 1.962 rad/s² until it is 0 at 1 s."""
    rate = 2.5 * FRICTION.mu * FRICTION.er * G
    s = min(t, SPIN / rate)
    v = np.zeros(6)
    v[5] = SPIN - rate * s
    return np.array([0.0, 0.0, 1.0, 0.0, 0.0, SPIN * s - 0.5 * rate * s * s]), v


def node_error(run: Trajectory, exact: Exact) -> float:
    """The largest velocity error at the ends of the steps."""
    return float(max(np.abs(v - exact(float(t))[1]).max() for t, v in zip(run.times, run.v)))


def reproduce_spin_aligned() -> Outcome:
    """Problem 1 (eq. 4), experiment 1: a direction of friction points where friction does."""
    v = (0.0, 0.0, 0.0, 0.0, 0.0, SPIN)
    polyhedral, one = Polyhedral(0.2, directions=ALIGNED), Polyhedral(0.2, directions=[[0.0, 0.0, -0.4]])
    explicit = stewart(ball(polyhedral, v), SPIN_STEP, SPIN_END)
    smooth = implicit(ball(FRICTION, v), SPIN_STEP, SPIN_END)
    alone = stewart(ball(one, v), SPIN_STEP, SPIN_END)
    drifting = stewart(ball(one, (1.0, 0.5, 0.0, 0.0, 0.0, SPIN)), SPIN_STEP, 10.0)
    c = forces(explicit)
    exact = np.where(explicit.times[1:] <= 1.0, c[0, 3], 0.0)
    wrong = np.flatnonzero(np.abs(c[:, 3] - exact) > EXACT).tolist()
    quantities = (
        claim("directions of eq. 5 are ours", printed_directions(ALIGNED, EQ5) <= 5e-5,
              f"to {printed_directions(ALIGNED, EQ5):.1e}: they are printed with four digits"),
        Quantity("error of v at the nodes, Stewart", node_error(explicit, spinning), 0.0, "rad/s", 0.0, EXACT,
                 "on the line", record_within=1e-12),
        Quantity("error of v at the nodes, Tzitzouris-Pang", node_error(smooth, spinning), 0.0, "rad/s", 0.0, EXACT,
                 "on the line, to Newton's tolerance", record_within=1e-9),
        Quantity("slope of ω_z while it spins", float(np.diff(explicit["v_rz"])[:10].mean() / SPIN_STEP), -1.962,
                 "rad/s²", "-1.962"),
        Quantity("normal force", float(c[:, 0].mean()), G, "N", "9.81",
                 reason="m g in every step, with the printed weight"),
        Quantity("moment c_r while it spins", float(c[0, 3]), -0.7848, "N m", reason="-mu e_r m g"),
        Quantity("moment c_r in the step of the stop", float(c[14, 3]), -0.7848 * 2 / 7, "N m",
                 reason="0.02 s of 0.07 s: the impulse is the exact one"),
        Quantity("friction of the two methods differs by", float(np.abs(c - forces(smooth)).max()), 0.0, "N", 0.0,
                 EXACT, "identical values", record_within=EXACT),
        claim("tangential friction is zero", bool(np.abs(c[:, 1:3]).max() < EXACT), "c_t and c_o"),
        Quantity("torsional impulse of the whole run", float(c[:, 3].sum() * SPIN_STEP), -0.4 * SPIN, "N m s",
                 -0.4 * SPIN, EXACT, "“the total frictional impulse was correct”"),
        claim("friction is wrong in the step from 0.98 to 1.05 s only", wrong == [14],
              "in which the ball stops: step " + ", ".join(str(k + 1) for k in wrong)),
        Quantity("unknowns of the LCP", float(lcp_size(ball(polyhedral, v), SPIN_STEP)), 22.0, "", 22.0),
        Quantity("unknowns with one direction", float(lcp_size(ball(one, v), SPIN_STEP)), 3.0, "", 3.0),
        Quantity("one direction: error of v at the nodes", node_error(alone, spinning), 0.0, "rad/s",
                 record_within=1e-12),
        Quantity("one direction, thrown: speed lost in 10 s", float(np.hypot(1.0, 0.5) - np.hypot(*drifting.v[-1, :2])),
                 0.0, "m/s", 0.0, EXACT, "it translates for ever: nothing resists slip", record_within=1e-12),
        *newton_quantities(newton(ball(FRICTION, v), SPIN_STEP, SPIN_END), 2.176, 4.0, 4.0),
    )  # fmt: skip
    runs = (explicit, smooth, alone, drifting)
    labelled = {"Stewart": explicit, "Tzitzouris–Pang": smooth}
    return Outcome(
        quantities, worst(runs), lambda: _figures("ttp01-spin-aligned", (3, 4, 5), ALIGNED, labelled, spinning)
    )


def reproduce_spin_misaligned() -> Outcome:
    """Problem 1, experiment 2: no direction of friction points where friction does."""
    v = (0.0, 0.0, 0.0, 0.0, 0.0, SPIN)
    polyhedral = Polyhedral(0.2, directions=SPIN_MISALIGNED)
    run = stewart(ball(polyhedral, v), SPIN_STEP, SPIN_END)
    q = run.q[0]
    limit = sliding_ball_polyhedral(ROWS[1:], 0.2, SPIN_MISALIGNED, q, run.v[0])
    c = forces(run)
    left = float(np.abs(run.v[-1]).max())
    # as printed, with four digits: do they leave one?
    columns = np.array([ROWS[1:, [0, 1, 5]] @ column / (ROWS[1:] ** 2)[:, [0, 1, 5]].sum(axis=1) for column in EQ6.T])
    digits = stewart(ball(Polyhedral(0.2, directions=columns), v), SPIN_STEP, SPIN_END)
    rounded = (f"the directions with their four printed digits: {np.abs(digits.v[-1]).max():.0e}",)
    quantities = (
        claim("directions of eq. 6 are ours", printed_directions(SPIN_MISALIGNED, EQ6) <= 5e-5,
              f"to {printed_directions(SPIN_MISALIGNED, EQ6):.1e}: they are printed with four digits"),
        claim("the frictional moment is reduced", abs(c[0, 3]) < 0.7848, "all six directions lie at 36°"),
        Quantity("friction moment over the exact one", float(c[0, 3] / -0.7848), 0.876011, ""),
        claim("the deceleration is slower", limit.starts[-1] > 1.0, "the exact friction stops the ball at 1 s"),
        Quantity("spinning stops", limit.starts[-1], 1.141538, "s"),
        Quantity("error of v at the nodes against the exact polyhedral answer", node_error(run, limit), 0.0, "rad/s",
                 record_within=1e-12),
        Quantity("torsional impulse of the whole run", float(c[:, 3].sum() * SPIN_STEP), -0.7848, "N m s",
                 "-0.7848", reason="“identical to that predicted analytically”, 2/5 of 1.962"),
        claim("a very small residual velocity is left", left > 1e-12, f"ours is {left:.0e}: the six directions have 0 "
              "inside their hull, so that rest satisfies the LCP exactly", record=False,
              tried=("the directions computed to full precision", *rounded),
              conclude="The printed residual is not of the method; what is left is at the level of the arithmetic, or "
              "of a tolerance of the LCP solver."),
        Quantity("unknowns of the LCP", float(lcp_size(ball(polyhedral, v), SPIN_STEP)), 8.0, ""),
    )  # fmt: skip
    return Outcome(
        quantities,
        worst((run,)),
        lambda: _figures("ttp01-spin-misaligned", (6, 7, 8), SPIN_MISALIGNED, {"Stewart": run}, spinning),
    )


# --- problem 2


def sliding(t: float) -> tuple[FloatArray, FloatArray]:
    """The exact (q, v): slides along x until 2 v/(7 mu g) = 0.2912 s and then rolls at 5/7 of its speed."""
    pull = FRICTION.mu * G
    end = 2 * SLIDE / (7 * pull)
    s, rest = min(t, end), max(0.0, t - end)
    vx, spin = SLIDE - pull * s, 2.5 * pull * s
    q = np.array([SLIDE * s - 0.5 * pull * s * s + vx * rest, 0, 1, 0, 1.25 * pull * s * s + spin * rest, 0.0])
    return q, np.array([vx, 0.0, 0.0, 0.0, spin, 0.0])


def transition(run: Trajectory) -> float:
    """When sliding ends [s]: the last saturated step, and the part of the next that friction of its size needs."""
    size = np.hypot(*forces(run)[:, 1:3].T)
    return float(np.diff(run.times) @ (size / size[0]))


def reproduce_slide_aligned() -> Outcome:
    """Problem 2 (eq. 7), experiment 1, at the paper's step and at a tenth of it."""
    v = (SLIDE, 0.0, 0.0, 0.0, 0.0, 0.0)
    polyhedral = Polyhedral(0.2, directions=ALIGNED)
    explicit, finer = (stewart(ball(polyhedral, v), h, SLIDE_END) for h in (SLIDE_STEP, SLIDE_STEP / 10))
    smooth, smooth_finer = (implicit(ball(FRICTION, v), h, SLIDE_END) for h in (SLIDE_STEP, SLIDE_STEP / 10))
    study = compare((smooth, smooth_finer), exact=sliding)
    c = forces(explicit)
    quantities = (
        Quantity("rolling begins", transition(explicit), 2 * SLIDE / (7 * 0.2 * G), "s", "0.291",
                 reason="2 v/(7 mu g), at both steps and by both methods"),
        Quantity("angular velocity of rolling", float(explicit["v_ry"][-1]), 10 / 7, "rad/s", "1.429"),
        Quantity("error of v at the nodes, Stewart", node_error(explicit, sliding), 0.0, "m/s", 0.0, EXACT,
                 "both methods matched the exact velocities", record_within=1e-12),
        Quantity("error of v at the nodes, Tzitzouris-Pang", node_error(smooth, sliding), 0.0, "m/s", 0.0, EXACT,
                 record_within=1e-9),
        Quantity("error of v at the nodes, h/10, Stewart", node_error(finer, sliding), 0.0, "m/s",
                 record_within=1e-12),
        Quantity("error of v at the nodes, h/10, Tzitzouris-Pang", node_error(smooth_finer, sliding), 0.0, "m/s",
                 record_within=1e-9),
        Quantity("c_t + c_o", float(np.abs(c[:, 1] + c[:, 2]).max()), 0.0, "N", record_within=1e-12,
                 reason="equal and opposite: friction points along -x, 45° from both"),
        Quantity("order of the position error, h to h/10", study.order("position_error"), 0.957397, "", 1.0,
                 ORDER, record_tolerance=1e-3, reason="first-order, §4; the paper: convergence with decreasing step"),
        *newton_quantities(newton(ball(FRICTION, v), SLIDE_STEP, SLIDE_END), 2.6, 4.2, 4.0),
    )  # fmt: skip
    runs = (explicit, finer, smooth, smooth_finer)
    labelled = {"Stewart": explicit, "Tzitzouris–Pang": smooth}
    return Outcome(
        quantities, worst(runs), lambda: _figures("ttp01-slide-aligned", (0, 9, 10), None, labelled, sliding)
    )


def reproduce_slide_misaligned() -> Outcome:
    """Problem 2, experiment 2: three directions in the tangent plane, none along -x."""
    v = (SLIDE, 0.0, 0.0, 0.0, 0.0, 0.0)
    polyhedral = Polyhedral(0.2, directions=SLIDE_MISALIGNED)
    run = stewart(ball(polyhedral, v), SLIDE_STEP, SLIDE_END)
    limit = sliding_ball_polyhedral(ROWS[1:], 0.2, SLIDE_MISALIGNED, run.q[0], run.v[0])
    impulse = run.v[-1, :2] - run.v[0, :2]
    against = float(-(run.v[1, 0] - run.v[0, 0]) / SLIDE_STEP)
    quantities = (
        Quantity("angular velocity of rolling", float(run["v_ry"][-1]), 10 / 7, "rad/s", "1.429",
                 reason="the total impulse is the exact one"),
        Quantity("impulse along x", float(impulse[0]), -4 / 7, "N s", -2 * SLIDE / 7, EXACT,
                 "the total impulse matches that of the exact solution"),
        Quantity("impulse along y", float(impulse[1]), 0.0, "N s", 0.0, EXACT, record_within=1e-12),
        claim("a longer sliding period", limit.starts[-1] > 0.2912),
        claim("frictional impulses are reduced", against < MUG, f"{against:.3f} N of {MUG:.3f} N against the motion, "
              "in the first step"),
        Quantity("rolling begins", limit.starts[-1], 0.411887, "s", reason="with the exact friction 0.291 s",
                 record_tolerance=1e-5),
        Quantity("largest velocity across", float(np.abs(run["v_y"]).max()), 0.119233, "m/s", record_tolerance=1e-5,
                 reason="three directions push the ball sideways, and take it back"),
        Quantity("unknowns of the LCP", float(lcp_size(ball(polyhedral, v), SLIDE_STEP)), 7.0, ""),
    )  # fmt: skip
    return Outcome(
        quantities,
        worst((run,)),
        lambda: _figures("ttp01-slide-misaligned", (11, 12, 13), SLIDE_MISALIGNED, {"Stewart": run}, sliding),
        ("the directions are not printed: 45°, 165° and 285° from x, and the poles",),
    )


def _figures(
    name: str,
    numbers: tuple[int, int, int],
    directions: FloatArray | None,
    runs: Mapping[str, Trajectory],
    exact: Exact,
) -> dict[str, Figure]:
    from .figures import drawings
    from .figures.torsional import friction_ellipsoid, friction_over_time, velocities_over_time

    measured = {label: (run.times, forces(run)[:, 1:]) for label, run in runs.items()}
    found = {f"{name}-fig2": drawings.ball_on_plane(ROWS)} if name == "ttp01-spin-aligned" else {}
    if directions is not None:
        found[f"{name}-fig{numbers[0]}"] = friction_ellipsoid(FRICTION, directions)
    found[f"{name}-fig{numbers[1]}"] = velocities_over_time(runs, exact)
    found[f"{name}-fig{numbers[2]}"] = friction_over_time(measured, lambda t: _exact_friction(exact, t))
    return found


def _exact_friction(exact: Exact, t: float) -> FloatArray:
    """(c_t, c_o, c_r) of an exact motion on the plane: the force that its velocity, piecewise linear in t, asks for."""
    before, after = exact(t - 1e-6)[1], exact(t)[1]
    a = (after - before) / 1e-6
    return np.append(ROWS[1:3, :2] @ a[:2], 0.4 * a[5])


SPIN_ALIGNED = Experiment(
    "ttp01-spin-aligned", PAPER, "A ball spins in place (§4.1.1, figures 2–5)", reproduce_spin_aligned
)
SPIN_MISALIGNED_EXPERIMENT = Experiment(
    "ttp01-spin-misaligned",
    PAPER,
    "A ball spins in place, directions off (§4.1.2, figures 6–8)",
    reproduce_spin_misaligned,
)
SLIDE_ALIGNED = Experiment(
    "ttp01-slide-aligned", PAPER, "A sliding ball begins to roll (§4.1.3, figures 9, 10)", reproduce_slide_aligned
)
SLIDE_MISALIGNED_EXPERIMENT = Experiment(
    "ttp01-slide-misaligned",
    PAPER,
    "A sliding ball, directions off (§4.1.4, figures 11–13)",
    reproduce_slide_misaligned,
)
EXPERIMENTS = (SPIN_ALIGNED, SPIN_MISALIGNED_EXPERIMENT, SLIDE_ALIGNED, SLIDE_MISALIGNED_EXPERIMENT)
