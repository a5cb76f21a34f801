"""The figure of a block on a belt with friction that falls with the speed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...view.style import COLOURS, dress, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..s00_speed import Findings

BLUE, RED, GREEN, GREY = COLOURS[0], COLOURS[1], COLOURS[2], COLOURS[5]


def draw_belt(findings: Findings) -> Figure:
    """The law, the phase portrait, growth rates against the linearised ones, and the end of a stick."""
    figure = new_figure(11, 8)
    for place, draw in enumerate((_law, _portrait, _growth, _end_of_stick)):
        draw(figure.add_subplot(2, 2, place + 1), findings)
    return figure


def _law(axes: Any, findings: Findings) -> None:
    from ..s00_speed import CALM, LAW, RISING, SPEED

    axes = dress(axes, x="slip speed s [m/s]", y="coefficient µ", title="Friction against speed")
    s = np.linspace(0.0, 0.25, 400)
    axes.plot(s, LAW.values(s), color=BLUE, label=f"Stribeck, over {LAW.speed:g} m/s")
    axes.plot(s, RISING.values(s), color=GREEN, linestyle="--", label="with viscous friction")
    axes.plot([0.0], [LAW.static], "o", color=BLUE, markersize=4)
    for speed, colour, below in ((SPEED, RED, True), (CALM, GREEN, False)):
        axes.plot([speed], [LAW(speed)], "s", color=colour, markersize=6)
        axes.annotate(f"belt at {speed:g} m/s", (speed, LAW(speed)), (0, -16 if below else 8), fontsize=8,
                      textcoords="offset points", ha="center", color=colour)  # fmt: skip
    axes.annotate("falls: sliding is unstable\nunless damped", (0.05, LAW(0.05)), (30, 10), textcoords="offset points",
                  fontsize=8, color=GREY, arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.7})  # fmt: skip
    axes.set_ylim(0.2, 0.42)
    axes.legend(frameon=False, fontsize=8)


def _portrait(axes: Any, findings: Findings) -> None:
    from ..s00_speed import CALM, SPEED, belt

    axes = dress(
        axes,
        x="stretch of the spring x [mm]",
        y="velocity x' [m/s]",
        title="Phase portrait: two belts, both from a nudge",
    )
    for (_, x, v), speed, colour, end in (
        (findings.spiral, SPEED, RED, "grows into stick–slip"), (findings.calm, CALM, GREEN, "dies out"),
    ):  # fmt: skip
        axes.plot(1e3 * x, v, color=colour, linewidth=0.9, label=f"V = {speed:g} m/s: {end}")
        axes.plot(1e3 * belt(speed).steady, 0.0, "+", color=colour, markersize=10)
    slip = belt(SPEED).slip()
    assert slip is not None
    _, x, v = slip
    axes.plot(1e3 * np.append(x, x[0]), np.append(v, v[0]), "k:", linewidth=1.4, label="cycle by located events, h → 0")
    axes.annotate("stick: rides with the belt", (1e3 * x.mean(), SPEED), (0, 4), textcoords="offset points", fontsize=8,
                  ha="center", color=GREY)  # fmt: skip
    axes.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)


def _growth(axes: Any, findings: Findings) -> None:
    from ..s00_speed import SPEEDS, belt

    axes = dress(axes, x="speed of the belt V [m/s]", y="growth rate [1/s]", title="Small oscillations about sliding")
    V = np.linspace(0.085, 0.16, 200)
    axes.axhspan(0.0, 2.5, color=RED, alpha=0.07, linewidth=0)
    axes.axhspan(-1.0, 0.0, color=GREEN, alpha=0.07, linewidth=0)
    axes.plot(V, [belt(s).growth for s in V], color=BLUE, label="(−µ'(V) N − c)/(2m), linearised")
    axes.plot(SPEEDS, findings.growth, "o", color="black", markersize=4, label="time steps")
    axes.axvline(findings.stable, color=GREY, linestyle=":", linewidth=1.0)
    axes.text(findings.stable, -0.97, f" stable from {findings.stable:.3f} m/s;\n kicked hard, it still\n "
              f"sticks and slips up to {findings.limit:.2f} m/s", fontsize=8, color=GREY, va="bottom")  # fmt: skip
    axes.text(0.155, 2.2, "grows", color=RED, ha="right", fontsize=8)
    axes.text(0.155, -0.15, "dies out", color=GREEN, ha="right", fontsize=8)
    axes.set_xlim(0.085, 0.16)
    axes.set_ylim(-1.0, 2.5)
    axes.legend(frameon=False, fontsize=8, loc="upper center")


def _end_of_stick(axes: Any, findings: Findings) -> None:
    from ..s00_speed import CREEP, FAST, LAW, SLOW, belt

    axes = dress(axes, y="coefficient that acts", title=f"The end of a stick, belt at {SLOW:g} m/s")
    t, x, v = findings.pulled
    slip = SLOW - v
    h = t[1] - t[0]
    at = belt(SLOW)  # what acts, from the motion itself: m x'' + k x + c x' = N mu
    middle = x[:-1] + 0.5 * h * v[:-1]
    acts = (at.mass * np.diff(v) / h + at.stiffness * middle + at.damping * v[:-1]) / at.normal
    axes.plot(t[1:], acts, color=BLUE, label="friction over normal force")
    for value, name in ((LAW.static, "static"), (LAW.kinetic, "kinetic")):
        axes.axhline(value, color=GREY, linestyle=":", linewidth=1.0)
        axes.text(t[0], value, f" {name}", va="bottom", fontsize=8, color=GREY)
    axes.annotate("sticks again", (t[1:][acts.argmin()], 0.3), (-22, 0), textcoords="offset points", fontsize=8,
                  ha="right", color=GREY)  # fmt: skip
    fast = int(np.argmax(slip > FAST))
    creep = int(np.flatnonzero(slip[:fast] <= CREEP)[-1])
    axes.axvspan(t[creep], t[fast], color=RED, alpha=0.1, linewidth=0)
    axes.text(t[creep] + 0.01, 0.29, f"falling branch\n{t[fast] - t[creep]:.2f} s of a\nperiod of "
              f"{at.period:.1f} s", fontsize=8, color=RED)  # fmt: skip
    axes.set_xlim(t[0], t[-1])
    axes.set_ylim(0.2, 0.42)
    axes.legend(frameon=False, fontsize=8, loc="lower left")
