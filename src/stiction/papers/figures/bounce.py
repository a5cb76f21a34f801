"""Figures of bounces: a ball that comes to rest or bounces for ever, and what decides the ratio of its velocities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...view.style import COLOURS, dress, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..s00_ball import Findings as Ball
    from ..s00_phase import Findings as Phases
    from ..s00_weak import Findings as Weak

BLUE, RED, GREEN, GREY = COLOURS[0], COLOURS[1], COLOURS[2], COLOURS[5]


def draw_ball(found: Ball) -> Figure:
    """Heights up to the Zeno time, its neighbourhood, energies without loss, and errors against the step."""
    figure = new_figure(11, 7.5)
    for place, draw in enumerate((_heights, _near_zeno, _energies, _errors)):
        draw(figure.add_subplot(2, 2, place + 1), found)
    return figure


def _heights(axes: Any, found: Ball) -> None:
    from ..s00_ball import STEPS, ZENO_E, zeno_time

    axes = dress(axes, y="height [m]", title=f"Bounces with e = {ZENO_E:g} end in finite time")
    for h, run, colour in ((STEPS[0], found.zeno[0], RED), (STEPS[-1], found.zeno[-1], BLUE)):
        axes.plot(run.times, run.q[:, 0], color=colour, linewidth=1.2, label=f"h = {h:g} s")
    axes.axvline(zeno_time(ZENO_E), color=GREY, linestyle=":", label="Zeno time")
    axes.legend(frameon=False, fontsize=8)


def _near_zeno(axes: Any, found: Ball) -> None:
    from ..s00_ball import STEPS, ZENO_E, zeno_time

    end = zeno_time(ZENO_E)
    axes = dress(axes, y="velocity [m/s]", title="The last bounces, and rest")
    for h, run, colour in zip(STEPS, found.zeno, (RED, COLOURS[3], GREEN, BLUE)):
        axes.step(run.times, run.v[:, 0], where="pre", color=colour, linewidth=1.1, label=f"h = {h:g} s")
    axes.axvline(end, color=GREY, linestyle=":")
    axes.set_xlim(end - 0.22, end + 0.1)
    axes.set_ylim(-0.75, 0.75)
    axes.legend(frameon=False, fontsize=8, loc="lower right", ncols=2)


def _energies(axes: Any, found: Ball) -> None:
    from ..s00_ball import BOUNCES, LOW_STEP, bounce_steps, energies

    run = found.thousand
    energy, kept = energies(run)
    hits = bounce_steps(run.v[:, 0])
    number = np.searchsorted(hits, np.arange(len(energy)))  # bounces before each state
    axes = dress(axes, x="bounce", y="energy over its first value", title=f"e = 1, h = {LOW_STEP:g} s, from 12 mm")
    low, high = (
        np.array([reach(energy[number == k]) for k in range(BOUNCES)]) / energy[0] for reach in (np.min, np.max)
    )
    axes.fill_between(
        np.arange(BOUNCES), low, high, color=BLUE, alpha=0.3, linewidth=0, label="E: range in each bounce"
    )
    axes.plot(number[number < BOUNCES], (kept / kept[0])[number < BOUNCES], color=RED, label="E − ½ h m g v")
    axes.legend(frameon=False, fontsize=8, loc="lower left")


def _errors(axes: Any, found: Ball) -> None:
    from ..s00_ball import APEX_E, PHASES, STEPS, SWING_STEPS, ZENO_E

    axes = dress(axes, x="step h [s]", y="error", title="Errors are of first order")
    axes.loglog(
        STEPS, found.late, "o-", color=BLUE, markersize=4, label=f"rest after the Zeno time, e = {ZENO_E:g} [s]"
    )
    axes.loglog(STEPS, found.apex, "s-", color=GREEN, markersize=4,
                label=f"first rebound, e = {APEX_E:g}, worst of {PHASES} phases [m]")  # fmt: skip
    axes.loglog(SWING_STEPS, found.swing, "^-", color=RED, markersize=4, label="swing of E, e = 1 [relative]")
    h = np.array([STEPS[-1], SWING_STEPS[0]])
    axes.loglog(h, 4.0 * h, color=GREY, linestyle="--", linewidth=1.0, label="order 1")
    axes.legend(frameon=False, fontsize=8)


def draw_phases(found: Phases) -> Figure:
    """The ratio of the velocities against the phase of the impact, and balls that land at different phases."""
    figure = new_figure(11, 4.4)
    _ratios(figure.add_subplot(1, 2, 1), found)
    _landings(figure.add_subplot(1, 2, 2))
    return figure


def _ratios(axes: Any, found: Phases) -> None:
    from ..s00_phase import PHASES, RESTITUTION

    axes = dress(axes, x="phase of the impact within the step", y="−v⁺/v⁻", title="Ratio of velocities at an impact")
    for values, style, colour, label in (
        (found.velocity, "o", BLUE, f"n·(v⁺ + e v⁻) ⊥ c, e = {RESTITUTION:g} (eq. 3.11)"),
        (found.trapezoid, "s", RED, "f(q⁺) ⊥ c, q⁺ = q + ½ h (v + v⁺)"),
        (found.position, "^", GREEN, "f(q⁺) ⊥ c, q⁺ = q + h v⁺ (eq. 3.10)"),
        (found.first, ".", GREY, "the same, at the end of the step"),
    ):
        axes.plot(PHASES, values, style, color=colour, markersize=3.5, label=label)
    axes.set_ylim(-1.05, 1.75)
    axes.legend(frameon=False, fontsize=8, loc="upper center", ncols=1)


def _landings(axes: Any) -> None:
    from ..s00_phase import FALL, HEIGHTS, STEP, trapezoidal

    axes = dress(axes, y="height [m]", title="Balls from nearly one height, trapezoidal rule")
    for height, colour in zip(HEIGHTS, COLOURS):
        q, _ = trapezoidal(height, 0.0, FALL, gravity=9.81)
        axes.plot(STEP * np.arange(FALL + 1), q, color=colour, linewidth=1.2, label=f"from {height:g} m")
    axes.axhline(0.0, color=GREY, linewidth=1.0)
    axes.legend(frameon=False, fontsize=8, loc="upper right")


def draw_weak(found: Weak) -> Figure:
    """Distances of the impulse in three senses, velocities of a thrown particle, and errors of its limit."""
    figure = new_figure(12, 4.2)
    _senses(figure.add_subplot(1, 3, 1), found)
    _thrown(figure.add_subplot(1, 3, 2), found)
    _limits(figure.add_subplot(1, 3, 3), found)
    return figure


def _senses(axes: Any, found: Weak) -> None:
    from ..s00_weak import STEPS

    axes = dress(axes, x="step h [s]", y="distance over s*", title="One bounce: three senses of distance")
    lines = (
        ("norm", [b.norm.max() for b in found.bounces], RED, "s-"),
        ("∫φ dp, φ with a jump at t*", [b.jump.max() for b in found.bounces], COLOURS[3], "^-"),
        ("∫φ dp, φ continuous", [b.weak.max() for b in found.bounces], BLUE, "o-"),
    )
    for label, values, colour, style in lines:
        axes.loglog(STEPS, values, style, color=colour, markersize=4, label=label)
    h = np.array(STEPS)
    axes.loglog(h, 1.5 * h, color=GREY, linestyle="--", linewidth=1.0, label="order 1")
    _mark_steps(axes, STEPS)
    axes.legend(frameon=False, fontsize=8, loc="center right")


def _thrown(axes: Any, found: Weak) -> None:
    axes = dress(axes, y="vertical velocity [m/s]", title="Inelastic landing of a thrown particle")
    for limit, colour, name in ((found.velocity, BLUE, "eq. 3.11"), (found.position, GREEN, "f(q⁺) ⊥ c")):
        for run, width, alpha in ((limit.study.runs[0], 1.0, 0.45), (limit.study.runs[-1], 1.3, 1.0)):
            axes.step(run.times, run.v[:, 1], where="pre", color=colour, linewidth=width, alpha=alpha,
                      label=f"{name}, h = {run.info['dt']:g} s")  # fmt: skip
    axes.set_xlim(0.4, 0.6)
    axes.legend(frameon=False, fontsize=8, loc="lower right")


def _limits(axes: Any, found: Weak) -> None:
    from ..s00_weak import STEPS

    axes = dress(axes, x="step h [s]", y="error", title="Theorem 1: q uniformly, v in L¹")
    for limit, colour, name in ((found.velocity, BLUE, "eq. 3.11"), (found.position, GREEN, "f(q⁺) ⊥ c")):
        axes.loglog(STEPS, limit.study.position_error, "o-", color=colour, markersize=4, label=f"q, {name} [m]")
        axes.loglog(STEPS, limit.study.velocity_error, "s--", color=colour, markersize=4, label=f"v, {name} [m]")
    h = np.array(STEPS)
    axes.loglog(h, 8.0 * h, color=GREY, linestyle=":", linewidth=1.0, label="order 1")
    _mark_steps(axes, STEPS)
    axes.legend(frameon=False, fontsize=8)


def _mark_steps(axes: Any, steps: Sequence[float]) -> None:
    """Ticks at the steps themselves: within one decade the usual ones overlap."""
    axes.set_xticks(steps, [f"{h:g}" for h in steps])
    axes.set_xticks([], minor=True)
