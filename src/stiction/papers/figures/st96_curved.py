"""The lever that st96's linearised step throws away: why, how fast by phase, and what random systems did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...view.style import COLOURS, dress, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..st96_curved import Findings

BLUE, RED, GREY = COLOURS[0], COLOURS[1], COLOURS[5]
SHOWN_AS_ZERO = 0.1  # rad/s: where a speed of 0 stands on the logarithmic axis


def draw_lever(found: Findings) -> Figure:
    """The gap and its linearisation, the angle, the largest speed by phase, and the gains of the search."""
    figure = new_figure(12, 8.2)
    for place, draw in enumerate((_gap, _angles, _speeds, _gains)):
        draw(figure.add_subplot(2, 2, place + 1), found)
    return figure


def _gap(axes: Any, found: Findings) -> None:
    from ..st96_curved import PHASES, REACH, SHOWN, SPEED, STEP, STOP

    axes = dress(axes, x="angle from the dead centre [rad]", y="gap [m]", title="One step, linearised at q + h v")
    angle = np.linspace(-0.25, 0.55, 200)
    axes.plot(angle, REACH - np.cos(angle), color=BLUE, label="gap of the lever")
    start = STOP + STEP * SPEED * (1.0 - PHASES[SHOWN])
    ahead = start - STEP * SPEED
    at, slope = REACH - np.cos(ahead), np.sin(ahead)
    end = ahead - at / slope
    line = np.array([ahead, end])
    axes.plot(line, at + slope * (line - ahead), color=RED, linestyle="--", label="linearised at the prediction")
    for x, y, name, marker, shift in (
        (start, REACH - np.cos(start), "q", "o", (9, -3)), (ahead, at, "q + h v", "s", (0, -14)),
        (end, 0.0, "q⁺", "D", (4, 7)),
    ):  # fmt: skip
        axes.plot(x, y, marker, color="black", markersize=5)
        axes.annotate(name, (x, y), shift, textcoords="offset points", fontsize=9)
    axes.axhline(0.0, color=GREY, linewidth=1.0)
    axes.set_ylim(-0.03, 0.12)
    axes.set_xlim(-0.25, 1.15 * end)
    axes.legend(frameon=False, fontsize=8, loc="upper right")
    inset = axes.inset_axes((0.66, 0.33, 0.3, 0.42))
    inset.plot([0.0, np.cos(start)], [0.0, np.sin(start)], color="black", linewidth=3, solid_capstyle="round")
    inset.plot(0.0, 0.0, "o", color=GREY)
    inset.axvline(REACH, color=BLUE)
    inset.set(xlim=(-0.1, 1.1), ylim=(-0.5, 0.7), aspect="equal", xticks=[], yticks=[])
    inset.set_title("pin, lever, stop", fontsize=8)


def _angles(axes: Any, found: Findings) -> None:
    from ..st96_curved import PHASES, SHOWN, STOP

    axes = dress(axes, y="angle [rad]", title=f"The lever, impact at phase {PHASES[SHOWN]:g} of a step")
    for (name, runs), colour in zip(found.runs.items(), (RED, COLOURS[2], COLOURS[3], BLUE, "black")):
        axes.plot(runs[SHOWN].times, runs[SHOWN].q[:, 0], "o-", color=colour, markersize=3, linewidth=1.1, label=name)
    axes.axhspan(-STOP, STOP, color=GREY, alpha=0.15, linewidth=0)
    axes.text(0.1, 0.0, "behind the stop", fontsize=8, color=GREY, ha="right", va="center")
    axes.set_ylim(-1.0, 2.0)
    axes.legend(frameon=False, fontsize=8, loc="upper right")


def _speeds(axes: Any, found: Findings) -> None:
    from ..st96_curved import PHASES, SPEED

    axes = dress(axes, x="phase of the impact within the step", y="largest speed afterwards [rad/s]",
                 title="Speed after an inelastic impact; it should be 0")  # fmt: skip
    colours = (RED, COLOURS[2], COLOURS[3], BLUE, "black")
    for name, marker, colour in zip(found.runs, "os^vD", colours):
        axes.semilogy(PHASES, np.maximum(found.speeds(name), SHOWN_AS_ZERO), marker, color=colour, markersize=4,
                      label=name)  # fmt: skip
    axes.axhline(SPEED, color=GREY, linestyle="--", linewidth=1.0)
    axes.text(0.51, 1.1 * SPEED, "before", fontsize=8, color=GREY, ha="center")
    axes.text(0.0, 1.3 * SHOWN_AS_ZERO, "0", fontsize=8)
    axes.set_ylim(0.08, 3e4)
    axes.legend(frameon=False, fontsize=8, loc="upper right", ncols=2)


def _gains(axes: Any, found: Findings) -> None:
    axes = dress(axes, x="largest kinetic energy over all energy at the start", y="systems with more",
                 title="Random systems, linearised")  # fmt: skip
    for (name, gains), colour in zip(found.search.items(), COLOURS):
        axes.step(np.sort(gains)[::-1], np.arange(1, len(gains) + 1) / len(gains), where="pre", color=colour,
                  linewidth=1.4, label=f"{name} ({len(gains)})")  # fmt: skip
    axes.axvline(1.0, color=GREY, linestyle="--", linewidth=1.0)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.legend(frameon=False, fontsize=8, loc="upper right")
