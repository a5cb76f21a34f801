"""Figures of a ball in the seam between two spheres (ttp01 figures 19–22, 24 and 25)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...view.style import COLOURS, dress, new_figure
from .torsional import VELOCITIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..._check import FloatArray
    from ...analysis.convergence import Exact
    from ...simulation.trajectory import Trajectory

BESIDE = {"frameon": False, "fontsize": 8, "loc": "center left", "bbox_to_anchor": (1.0, 0.5)}


def _exact_velocities(exact: Exact, end: float) -> tuple[FloatArray, FloatArray]:
    t = np.linspace(0.0, end, 400)
    return t, np.array([exact(float(s))[1] for s in t])


def seam_velocities(run: Trajectory, exact: Exact, title: str) -> Figure:
    """Linear velocities above, angular ones below, and the exact ones dotted."""
    figure = new_figure(8, 6.0)
    t, v = _exact_velocities(exact, float(run.times[-1]))
    for panel, (first, unit) in enumerate(((0, "velocity [m/s]"), (3, "angular velocity [rad/s]"))):
        axes = dress(
            figure.add_subplot(2, 1, panel + 1), x="time [s]" if panel else "", y=unit, title="" if panel else title
        )
        for k in range(3):
            i = first + k
            axes.plot(run.times, run.v[:, i], ".-", markersize=4, linewidth=1.1, color=COLOURS[k], label=VELOCITIES[i])
        axes.plot(t, v[:, first : first + 3], ":", color="black", linewidth=0.9)
        axes.plot([], [], ":", color="black", label="exact")
        axes.legend(**BESIDE)
    return figure


def contact_forces(times: FloatArray, c: FloatArray, title: str) -> Figure:
    """Normal force above, friction below, at one contact; constant in each step."""
    figure = new_figure(8, 5.2)
    top = dress(figure.add_subplot(2, 1, 1), x="", y="$c_n$ [N]", title=f"Forces at the second sphere, {title}")
    top.stairs(c[:, 0], times, baseline=None, color="black", linewidth=1.2)
    low = dress(figure.add_subplot(2, 1, 2, sharex=top), y="friction [N], [N m]")
    for k, name in enumerate(("$c_t$", "$c_o$", "$c_r$")):
        low.stairs(c[:, k + 1], times, baseline=None, color=COLOURS[k], linewidth=1.2, label=name)
    low.legend(**BESIDE)
    return figure


def selected_velocities(runs: Mapping[str, Trajectory], exact: Exact) -> Figure:
    """v_x, v_z and ω_y by two methods (ttp01 figure 24)."""
    figure = new_figure(8, 4.2)
    axes = dress(figure.add_subplot(), y="velocity [m/s], [rad/s]", title="Where the two methods part")
    shown = (0, 2, 4)
    for (label, run), style in zip(runs.items(), ("-", "--")):
        for k, i in enumerate(shown):
            axes.plot(run.times, run.v[:, i], style, color=COLOURS[k], linewidth=1.2)
        axes.plot([], [], style, color="#495057", label=label)
    t, v = _exact_velocities(exact, float(next(iter(runs.values())).times[-1]))
    axes.plot(t, v[:, shown], ":", color="black", linewidth=0.9)
    axes.plot([], [], ":", color="black", label="exact")
    for k, i in enumerate(shown):
        axes.plot([], [], "s", color=COLOURS[k], label=VELOCITIES[i])
    axes.legend(**BESIDE)
    return figure


def moments(measured: Mapping[str, tuple[FloatArray, FloatArray]]) -> Figure:
    """The moment of friction about the normal, one panel per run (ttp01 figure 25)."""
    figure = new_figure(8, 5.2)
    for panel, (label, (times, c)) in enumerate(measured.items()):
        last = panel == len(measured) - 1
        axes = dress(figure.add_subplot(len(measured), 1, panel + 1), x="time [s]" if last else "", y="$c_r$ [N m]",
                     title=label)  # fmt: skip
        axes.stairs(c, times, baseline=None, color=COLOURS[2], linewidth=0.8)
    return figure


def chatter_panels(measured: Mapping[str, tuple[FloatArray, FloatArray]]) -> Figure:
    """The moment of friction by many ways of computing it, small, side by side (ttp01 figure 25 is one of them)."""
    columns = 3
    rows = -(-len(measured) // columns)
    figure = new_figure(12, 1.7 * rows)
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for axes, (label, (times, c)) in zip(panels, measured.items()):
        dress(axes, x="", y="$c_r$ [N m]")
        axes.set_title(label, loc="left", fontsize=7)
        axes.plot(times, c, color=COLOURS[2], linewidth=0.6)
    for axes in panels[len(measured) - columns : len(measured)]:  # the lowest of each column
        axes.tick_params(labelbottom=True)
        axes.set_xlabel("time [s]")
    for axes in panels[len(measured) :]:
        axes.set_visible(False)
    return figure
