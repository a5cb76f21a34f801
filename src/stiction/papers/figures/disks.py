"""Figures of disks between walls: frames of the motion, and infeasibility over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...view.style import COLOURS, dress, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...simulation.trajectory import Trajectory


def disk_frames(run: Trajectory, radius: float, walls: np.ndarray, times: tuple[float, ...]) -> Figure:
    """The disks at several times (ah03 figures 3–6); a spoke shows how far each has turned."""
    figure = new_figure(9, 1.0 + 1.35 * len(times))
    names = [name for name in run.info["world"]["bodies"] if name.startswith("disk")]
    width = max(np.abs(run.position(name)[:, 0]).max() for name in names) + 2 * radius
    for row, t in enumerate(times):
        i = min(int(np.searchsorted(run.times, t - 1e-9)), len(run.times) - 1)
        axes = dress(figure.add_subplot(len(times), 1, row + 1), x="x [m]" if row == len(times) - 1 else "", y="y [m]")
        _draw(axes, run, names, radius, i)
        for nx, ny, offset in walls:
            foot, along = offset * np.array([nx, ny]), np.array([ny, -nx])
            axes.plot(*np.array([foot - 300 * along, foot + 300 * along]).T, color="#495057", linewidth=1.0)
        axes.set_xlim(-width, width)
        axes.set_ylim(-1.0, 40.0)
        axes.set_aspect("equal")
        axes.annotate(f"t = {run.times[i]:g} s", (0.01, 0.86), xycoords="axes fraction", fontsize=9)
    return figure


def _draw(axes: Any, run: Trajectory, names: list[str], radius: float, i: int) -> None:
    from matplotlib.patches import Circle

    for name in names:
        x, y = run.position(name)[i]
        angle = run.angle(name)[i]
        axes.add_patch(Circle((x, y), radius, facecolor=COLOURS[0], alpha=0.25, edgecolor=COLOURS[0], linewidth=0.8))
        axes.plot([x, x + radius * np.cos(angle)], [y, y + radius * np.sin(angle)], color=COLOURS[0], linewidth=0.8)


def infeasibility(stable: Trajectory, drifting: Trajectory) -> Figure:
    """The largest overlap over time with and without stabilisation (ah03 figure 8)."""
    figure = new_figure(8, 4)
    axes = dress(figure.add_subplot(), y="largest overlap [m]", title="Constraint infeasibility")
    for number, (run, label) in enumerate(((drifting, "unstabilised"), (stable, "stabilised"))):
        values = np.maximum(run.certificate["penetration"], 1e-16)
        axes.semilogy(run.times[1:], values, color=COLOURS[1 - number], linewidth=1.0, label=label)
    axes.legend(frameon=False, fontsize=8)
    return figure


def infeasibility_by_eps(pairs: Mapping[float, tuple[Trajectory, Trajectory]]) -> Figure:
    """The same for several eps, one panel each: unstabilised and stabilised."""
    figure = new_figure(11, 3.6)
    panels = figure.subplots(1, len(pairs), sharey=True)
    for axes, (eps, runs) in zip(panels, pairs.items()):
        top = max(float(run.certificate["penetration"].max()) for run in runs)
        dress(axes, y="largest overlap [m]" if axes is panels[0] else "", title=f"eps = {eps:g}: at most {top:.1g} m")
        for run, colour, label in zip(runs, COLOURS[1::-1], ("unstabilised", "stabilised")):
            values = np.maximum(run.certificate["penetration"], 1e-16)
            axes.semilogy(run.times[1:], values, color=colour, linewidth=0.9, label=label)
    panels[0].legend(frameon=False, fontsize=8)
    return figure
