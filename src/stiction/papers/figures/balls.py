"""Trajectories of balls in elevation and plan (st96 figures 7 and 8), and Table 1 over g."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...view.style import COLOURS, dress, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...simulation.trajectory import Trajectory
    from ..st96_balls import GravityScan


def elevation_and_plan(run: Trajectory, radius: float, outlines: int = 6) -> Figure:
    """Paths of the balls seen from the side and from above, with some outlines along the way."""
    from matplotlib.patches import Circle

    names = [name for name in run.info["world"]["bodies"] if name.startswith("ball")]
    figure = new_figure(9, 6.5)
    for row, (axis, title) in enumerate(((2, "Elevation"), (1, "Plan"))):
        axes = dress(figure.add_subplot(2, 1, row + 1), x="x [m]", y="z [m]" if axis == 2 else "y [m]", title=title)
        for number, name in enumerate(names):
            path = run.position(name)
            colour = COLOURS[number % len(COLOURS)]
            axes.plot(path[:, 0], path[:, axis], color=colour, linewidth=1.2, label=name if row == 0 else None)
            for i in np.linspace(0, len(path) - 1, outlines).astype(int):
                axes.add_patch(
                    Circle((path[i, 0], path[i, axis]), radius, fill=False, color=colour, alpha=0.45, linewidth=0.8)
                )
        if axis == 2:
            axes.axhline(0.0, color="#495057", linewidth=1.0)
        axes.set_aspect("equal")
        if row == 0:
            axes.legend(frameon=False, fontsize=8)
    return figure


def gravity_scan(scan: GravityScan) -> Figure:
    """How far the errors of st96 Table 1 are from the printed ones, by g; and the variations."""
    from ..st96_balls import GRAVITY, STEPS

    figure = new_figure(10, 4.4)
    left, right = figure.subplots(1, 2)
    dress(left, x="g [m/s²]", y="error / printed error − 1 [%]", title="Errors of Table 1")
    for k, h in enumerate(STEPS[:-1]):
        for j, (style, what) in enumerate((("o-", "velocity"), ("s:", "position"))):
            label = f"{what}, h = {h:g} s"
            left.plot(scan.gravity, 100 * scan.off[:, 2 * k + j], style, color=COLOURS[k], markersize=3, label=label)
    left.axhline(0.0, color="#495057", linewidth=0.8)
    left.legend(frameon=False, fontsize=7, ncols=2)
    dress(right, x="g [m/s²]", y="largest of the eight [%]", title="How near the whole table comes")
    right.semilogy(scan.gravity, 100 * scan.worst, "o-", color=COLOURS[0], markersize=4)
    best = int(np.argmin(scan.worst))
    for i, text in ((best, "nearest"), (int(np.argmin(np.abs(scan.gravity - GRAVITY))), "default")):
        note = f"{text}: g = {scan.gravity[i]:g}, {100 * scan.worst[i]:.1f} %"
        right.annotate(note, (scan.gravity[i], 100 * scan.worst[i]), xytext=(-8, 0), textcoords="offset points",
                       fontsize=8, ha="right", va="center")  # fmt: skip
    return figure
