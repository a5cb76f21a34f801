"""The figure of the survey's scheme as printed, beside `Moreau`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...view.style import COLOURS, dress, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..s00_printed import Findings

BLUE, RED, GREY = COLOURS[0], COLOURS[1], COLOURS[5]


def draw_printed(found: Findings) -> Figure:
    """Both schemes where bounces end, on the billiards, in Painlevé's shock, and by step."""
    figure = new_figure(11.5, 8)
    for place, draw in enumerate((_rest, _billiards, _shock, _apart)):
        draw(figure.add_subplot(2, 2, place + 1), found)
    return figure


def _rest(axes: Any, found: Findings) -> None:
    from ..s00_ball import STEPS, ZENO_E, zeno_time

    axes = dress(axes, y="height [mm]", title=f"The last bounces, e = {ZENO_E:g}, h = {1e3 * STEPS[0]:g} ms")
    for (name, runs), colour in zip(found.bounces.items(), (RED, BLUE)):
        axes.plot(runs[0].times, 1e3 * runs[0].q[:, 0], "o-", color=colour, markersize=2.5, linewidth=1.1, label=name)
    axes.axhline(0.0, color=GREY, linewidth=1.0)
    axes.axvline(zeno_time(ZENO_E), color=GREY, linestyle=":", label="Zeno time")
    axes.set_xlim(zeno_time(ZENO_E) - 0.2, found.bounces["Moreau"][0].times[-1])
    axes.set_ylim(-1.0, 5.0)
    axes.legend(frameon=False, fontsize=8)


def _billiards(axes: Any, found: Findings) -> None:
    axes = dress(axes, x="x [m]", y="z [m]", title="Billiards in elevation (figure 3), 1 s")
    for (name, runs), style in zip(found.billiards.items(), ("-", "--")):
        for number, colour in zip(range(1, 5), COLOURS):
            path = runs[-1].position(f"ball {number}")
            axes.plot(path[:, 0], path[:, 2], style, color=colour, linewidth=1.3,
                      label=f"ball {number}, {name}")  # fmt: skip
    axes.legend(frameon=False, fontsize=7, ncols=2, loc="upper right")


def _shock(axes: Any, found: Findings) -> None:
    axes = dress(axes, y="normal impulse up to then [N s]", title="Painlevé's rod: an impulse without impact")
    for (name, runs), colour in zip(found.rods.items(), (RED, BLUE)):
        for run, alpha in ((runs[0], 0.45), (runs[-1], 1.0)):
            total = np.zeros(len(run.times))
            np.add.at(total, run.table.step + 1, run.table.impulse[:, 0])
            axes.step(run.times, np.cumsum(total), where="post", color=colour, alpha=alpha, linewidth=1.3,
                      label=f"{name}, h = {run.info['dt']:g} s")  # fmt: skip
    axes.set_xlim(-0.005, 0.12)
    axes.set_ylim(0.0, 0.5)
    axes.legend(frameon=False, fontsize=8, loc="lower right")


def _apart(axes: Any, found: Findings) -> None:
    from ..s00_painleve import STEPS as RODS
    from ..s00_weak import STEPS as THROWN

    axes = dress(axes, x="step h [s]", y="error", title="Both are of first order")
    for name, colour in zip(found.rods, (RED, BLUE)):
        look: dict[str, Any] = {"color": colour, "markersize": 4}
        axes.loglog(RODS, found.angle_errors(name), "o-", label=f"rod's angle [rad], {name}", **look)
        axes.loglog(RODS, found.impulse_errors(name), "s--", label=f"its impulse [N s], {name}", **look)
        thrown = found.limits[name].study.velocity_error
        axes.loglog(THROWN, thrown, "^:", label=f"thrown particle, v in L¹ [m], {name}", **look)
    axes.set_ylim(bottom=2e-5)  # room for the legend
    axes.legend(frameon=False, fontsize=7, loc="lower right")
