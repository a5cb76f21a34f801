"""s00 §3.2, eq. 3.9–3.13, on the simplest impact there is: a ball that falls on a floor and bounces.

The survey prints no numbers; the closed forms are known. With e < 1 the bounces end at the Zeno time
`sqrt(2H/g) (1 + e)/(1 - e)`, through which the scheme steps. With e = 1 it keeps `E - ½ h m g v` exactly, in flight and
at bounces, so that the energy E itself swings by O(h) and never drifts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._check import FloatArray, IntArray
from ..schemes import Moreau
from ..schemes.base import Scheme
from ..simulation import Simulator, Trajectory
from ..systems import Gap, GeneralizedSystem
from .experiment import Experiment, Outcome, Quantity, claim

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GRAVITY, HEIGHT = 9.81, 1.0
STEPS = (0.008, 0.004, 0.002, 0.001)
ZENO_E, APEX_E = 0.5, 0.8
SWING_STEPS = (0.02, 0.01, 0.005)
BOUNCES, LOW, LOW_STEP = 1000, 0.012, 0.01  # a thousand bounces: from 12 mm, some eight steps each
PHASES = 8  # heights that spread the first impact over the step


def balls(heights: Sequence[float] | FloatArray, e: float) -> GeneralizedSystem:
    """Balls of 1 kg over a floor, dropped from these heights [m], each on its own."""
    n = len(heights)

    def gap(i: int) -> Gap:
        row = np.eye(n)[i]
        return Gap(lambda q: q[i], lambda q: row, restitution=e, name=f"floor {i + 1}")

    return GeneralizedSystem(np.eye(n), np.full(n, -GRAVITY), q=heights, gaps=[gap(i) for i in range(n)])


def drop(
    heights: Sequence[float] | FloatArray, e: float, h: float, duration: float, scheme: Scheme | None = None
) -> Trajectory:
    """The run of these balls by a velocity-level scheme, by default `Moreau`."""
    scheme = Moreau() if scheme is None else scheme
    return Simulator(balls(heights, e), h, scheme=scheme, solver="lemke", tol=1e-12).run(duration, progress=False)


def bounce_steps(v: FloatArray) -> IntArray:
    """The steps in which a velocity turns upwards."""
    return np.flatnonzero((v[:-1] < 0.0) & (v[1:] > 0.0)).astype(np.int64)


def zeno_time(e: float, height: float = HEIGHT) -> float:
    """When infinitely many bounces are over [s]."""
    return float(np.sqrt(2.0 * height / GRAVITY) * (1.0 + e) / (1.0 - e))


def rest_time(run: Trajectory) -> float:
    """The end of the first step after which nothing moves any more [s]."""
    return float(run.times[np.flatnonzero(np.abs(run.v).max(axis=1) > 1e-9)[-1] + 1])


def energies(run: Trajectory) -> tuple[FloatArray, FloatArray]:
    """E and E - ½ h m g v of the first ball [J]."""
    y, v = run.q[:, 0], run.v[:, 0]
    energy = 0.5 * v**2 + GRAVITY * y
    return energy, energy - 0.5 * run.info["dt"] * GRAVITY * v


def apex_errors(h: float) -> FloatArray:
    """The height of the first rebound less e² H, for impacts spread over the step [m]."""
    fall = np.sqrt(2.0 * HEIGHT / GRAVITY)
    heights = 0.5 * GRAVITY * (fall + h * np.arange(PHASES) / PHASES) ** 2
    run = drop(heights, APEX_E, h, fall * (1.0 + 1.5 * APEX_E))
    tops = [run.q[bounce_steps(run.v[:, i])[0] :, i].max() for i in range(PHASES)]
    return np.asarray(tops - APEX_E**2 * heights)


@dataclass(frozen=True)
class Findings:
    """What the experiment measured, for its numbers and its figure; arrays by step size."""

    zeno: tuple[Trajectory, ...]  # e = ZENO_E at STEPS
    swings: tuple[Trajectory, ...]  # e = 1 at SWING_STEPS
    thousand: Trajectory
    apex: FloatArray  # the largest error over the phases

    @property
    def late(self) -> FloatArray:
        """By how much rest comes after the Zeno time [s]."""
        return np.array([rest_time(run) for run in self.zeno]) - zeno_time(ZENO_E)

    @property
    def swing(self) -> FloatArray:
        """The largest |E/E₀ - 1| at SWING_STEPS."""
        return np.array([np.abs(energies(run)[0] / energies(run)[0][0] - 1.0).max() for run in self.swings])


def order(steps: Sequence[float], errors: FloatArray) -> float:
    """The slope of log error against log h."""
    return float(np.polyfit(np.log(steps), np.log(np.abs(errors)), 1)[0])


def measure() -> Findings:
    """Every run."""
    # bounces happen above the floor, up to v h of it, and so follow each other faster than in closed form
    duration = 0.92 * BOUNCES * 2.0 * np.sqrt(2.0 * LOW / GRAVITY)
    return Findings(
        tuple(drop([HEIGHT], ZENO_E, h, zeno_time(ZENO_E) + 0.1) for h in STEPS),
        tuple(drop([HEIGHT], 1.0, h, 3.0) for h in SWING_STEPS),
        drop([LOW], 1.0, LOW_STEP, duration),
        np.array([np.abs(apex_errors(h)).max() for h in STEPS]),
    )


def reproduce() -> Outcome:
    """Bounces to their end, and a thousand of them without loss."""
    found = measure()
    late, swing = found.late, found.swing
    energy, kept = energies(found.thousand)
    bounces = len(bounce_steps(found.thousand.v[:, 0]))
    drift = np.polyfit(np.linspace(0.0, bounces, len(energy)), energy / energy[0], 1)[0] * bounces
    finest = found.zeno[-1]
    v = finest.v[:, 0]
    hits = bounce_steps(v)
    fast = hits[-v[hits] > 4.0 * GRAVITY * STEPS[-1]]
    ratio = np.abs(-v[fast + 1] / v[fast] - ZENO_E).max()
    quantities = (
        Quantity("rest, e = 0.5, h = 0.001 s", rest_time(finest), 1.370, "s", record_within=1e-6,
                 reason=f"Zeno time sqrt(2H/g)(1 + e)/(1 - e) = {zeno_time(ZENO_E):.4f} s"),
        Quantity("rest less Zeno time, h = 0.008 s", float(late[0]), 0.0854291, "s", record_tolerance=1e-5,
                 reason="; ".join(f"{1e3 * d:.0f} ms at {1e3 * h:g} ms" for h, d in zip(STEPS[1:], late[1:]))),
        Quantity("bounces until then, h = 0.001 s", float(len(hits)), 9.0, "", reason="of infinitely many"),
        claim("every bounce has the coefficient e", ratio < 1e-10, "at every phase of the impact in the step"),
        Quantity("largest distance of a bounce from e", float(ratio), 0.0, "", record_within=1e-10,
                 reason="exact at every bounce, whatever its phase in the step"),
        Quantity("height of the first rebound: order over h", order(STEPS, found.apex), 1.01063, "",
                 record_tolerance=0.01,
                 reason=f"e = 0.8, worst of {PHASES} phases; {1e3 * found.apex[-1]:.1f} mm of 0.64 m at h = 0.001 s"),
        Quantity("bounces with e = 1", float(bounces), 1011.0),
        Quantity("E - ½ h m g v changes over them by", float(np.abs(kept / kept[0] - 1.0).max()), 0.0, "",
                 record_within=1e-10, reason="relative"),
        Quantity("E drifts over them by", float(drift), 9.87417e-05, "", record_tolerance=0.01,
                 reason="relative, a straight line through every step"),
        Quantity("E swings by, from 1 m, h = 0.01 s", float(swing[1]), 0.0215820, "", record_tolerance=1e-3,
                 reason="relative"),
        Quantity("swing of E: order over h", order(SWING_STEPS, swing), 0.991849, "", record_tolerance=0.01),
    )  # fmt: skip
    worst = [run.certificate.worst for run in (*found.zeno, *found.swings, found.thousand)]
    certificate = {name: max(w[name] for w in worst) for name in worst[0]}
    return Outcome(quantities, certificate, lambda: _figures(found))


def _figures(found: Findings) -> dict[str, Figure]:
    from .figures.bounce import draw_ball

    return {"s00-bouncing-ball": draw_ball(found)}


EXPERIMENT = Experiment(
    "s00-bouncing-ball",
    "Stewart, survey (§3.2)",
    "A bouncing ball: through the Zeno time, and a thousand bounces without loss",
    reproduce,
)
