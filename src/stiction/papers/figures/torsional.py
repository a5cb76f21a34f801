"""Figures of friction with spin: the friction ellipsoid with its directions, velocities and friction over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...view.style import COLOURS, dress, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..._check import FloatArray
    from ...analysis.convergence import Exact
    from ...friction import Torsional
    from ...simulation.trajectory import Trajectory

MARKERS = ("o", "x")
VELOCITIES = (r"$v_x$", r"$v_y$", r"$v_z$", r"$\omega_x$", r"$\omega_y$", r"$\omega_z$")
FRICTION = (r"$c_t$", r"$c_o$", r"$c_r$")


def friction_ellipsoid(friction: Torsional, directions: FloatArray, load: float = 5.0) -> Figure:
    """The friction ellipsoid at the normal force `load` [N], and the polyhedron of the directions in it."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]
    from scipy.spatial import ConvexHull

    size = friction.mu * load
    figure = new_figure(6.4, 4.6)
    axes: Any = figure.add_subplot(projection="3d")
    around, up = np.meshgrid(np.linspace(0, 2 * np.pi, 49), np.linspace(-np.pi / 2, np.pi / 2, 25))
    shell = size * np.array([
        friction.et * np.cos(up) * np.cos(around), friction.eo * np.cos(up) * np.sin(around), friction.er * np.sin(up),
    ])  # fmt: skip
    axes.plot_wireframe(*shell, color="#adb5bd", linewidth=0.35, rstride=3, cstride=3)
    points = size * directions
    hull = ConvexHull(points, qhull_options="QJ")
    faces = Poly3DCollection(
        points[hull.simplices], facecolor=COLOURS[0], alpha=0.22, edgecolor=COLOURS[0], linewidth=0.5
    )
    axes.add_collection3d(faces)
    axes.scatter(*points.T, color=COLOURS[1], s=22, depthshade=False)
    axes.set_xlabel("$c_t$ [N]")
    axes.set_ylabel("$c_o$ [N]")
    axes.set_zlabel("$c_r$ [N m]")
    for row, semi in zip((axes.xaxis, axes.yaxis, axes.zaxis), (friction.et, friction.eo, friction.er)):
        row.set_ticks([-semi * size, 0.0, semi * size])
    axes.set_box_aspect((friction.et, friction.eo, 1.2 * friction.er), zoom=1.15)
    axes.view_init(elev=28, azim=-58)
    figure.suptitle(
        f"Friction at a normal force of {load:g} N: {len(points)} directions", fontsize=10, fontweight="bold"
    )
    return figure


def velocities_over_time(
    runs: Mapping[str, Trajectory], exact: Exact | None = None, *, shown: Sequence[int] = range(6)
) -> Figure:
    """The velocities of a ball at the ends of the steps, and the exact ones as dotted lines."""
    figure = new_figure(8, 4.2)
    axes = dress(figure.add_subplot(), y="velocity [m/s], [rad/s]")
    first = next(iter(runs.values()))
    moving = [i for i in shown if max(np.abs(run.v[:, i]).max() for run in runs.values()) > 1e-9]
    for k, i in enumerate(moving):
        for run, marker in zip(runs.values(), MARKERS):
            axes.plot(
                run.times, run.v[:, i], marker, color=COLOURS[k], markersize=5, markerfacecolor="none", linestyle="-",
                linewidth=0.7,
            )  # fmt: skip
        axes.plot([], [], "s", color=COLOURS[k], label=VELOCITIES[i])
    still = [i for i in shown if i not in moving]
    if still:
        axes.plot(first.times, 0 * first.times, ".", color="#adb5bd", markersize=4, label="the others: 0")
    if exact is not None:
        t = np.linspace(first.times[0], first.times[-1], 600)
        v = np.array([exact(float(s))[1] for s in t])
        axes.plot(t, v[:, moving], ":", color="black", linewidth=1.0)
        axes.plot([], [], ":", color="black", label="exact")
    for label, marker in zip(runs, MARKERS):
        axes.plot([], [], marker, color="#495057", markersize=5, markerfacecolor="none", linestyle="none", label=label)
    axes.set_title(f"Velocities, h = {first.info['dt']:.3g} s", loc="left", fontsize=10, fontweight="bold")
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def friction_over_time(
    measured: Mapping[str, tuple[FloatArray, FloatArray]], exact: Callable[[float], FloatArray] | None = None
) -> Figure:
    """Friction c_t, c_o [N] and c_r [N m], constant in each step: times (n+1,) and values (n, 3) of each run."""
    figure = new_figure(8, 4.2)
    axes = dress(figure.add_subplot(), y="friction [N], [N m]")
    for k, name in enumerate(FRICTION):
        for (times, values), style in zip(measured.values(), _styles(len(measured))):
            axes.stairs(values[:, k], times, baseline=None, color=COLOURS[k], **style)
        axes.plot([], [], "s", color=COLOURS[k], label=name)
    times = next(iter(measured.values()))[0]
    if exact is not None:
        t = np.linspace(times[0] + 1e-6, times[-1], 2000)
        c = np.array([exact(float(s)) for s in t])
        axes.plot(t, c, ":", color="black", linewidth=1.0)
        axes.plot([], [], ":", color="black", label="exact")
    for label, style in zip(measured, _styles(len(measured))):
        axes.plot([], [], color="#495057", label=label, **style)
    axes.set_title(f"Friction, h = {times[1] - times[0]:.3g} s", loc="left", fontsize=10, fontweight="bold")
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _styles(count: int) -> tuple[dict[str, float], ...]:
    """The first of two lines broad and pale, so that an equal one on top of it leaves both to be seen."""
    return ({"linewidth": 1.4},) if count == 1 else ({"linewidth": 4.5, "alpha": 0.3}, {"linewidth": 1.3})


def bowling_velocities(runs: Mapping[str, Trajectory], slips: Mapping[str, FloatArray], exact: Exact) -> Figure:
    """Velocities of a ball (top) and slip and spin at its contact (below), by two methods, over the exact ones."""
    figure = new_figure(8, 6.4)
    top = dress(figure.add_subplot(2, 1, 1), x="", y="velocity [m/s], [rad/s]", title="Velocities of the ball")
    low = dress(figure.add_subplot(2, 1, 2, sharex=top), y="slip [m/s], spin [rad/s]", title="At the contact")
    t = np.linspace(0.0, next(iter(runs.values())).times[-1], 400)
    v = np.array([exact(float(s))[1] for s in t])
    for number, (label, run) in enumerate(runs.items()):
        style = _styles(len(runs))[number]
        for k, i in enumerate((0, 1, 3, 4, 5)):
            top.plot(run.times, run.v[:, i], color=COLOURS[k], label=VELOCITIES[i] if number else None, **style)
        for k, name in enumerate((r"$v_t$", r"$v_o$", r"$v_r$")):
            low.plot(run.times, slips[label][:, k], color=COLOURS[k], label=name if number else None, **style)
        top.plot([], [], color="#495057", label=label, **style)
    top.plot(t, v[:, [0, 1, 3, 4, 5]], ":", color="black", linewidth=0.9)
    top.plot([], [], ":", color="black", label="exact")
    for axes in (top, low):
        axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def bowling_path(runs: Mapping[str, Trajectory]) -> Figure:
    """The path of a ball seen from above."""
    figure = new_figure(8, 3.0)
    axes = dress(
        figure.add_subplot(), x="x [m]", y="y [m]", title="Path of the ball, seen from above; a dot each second"
    )
    for (label, run), style, colour in zip(runs.items(), _styles(len(runs)), COLOURS):
        axes.plot(run.q[:, 0], run.q[:, 1], color=colour, label=label, **style)
        every = round(1.0 / run.info["dt"])
        axes.plot(run.q[::every, 0], run.q[::every, 1], "o", color=colour, markersize=3.5)
    axes.legend(frameon=False, fontsize=8)
    return figure


def friction_slack(times: FloatArray, c: FloatArray, slack: FloatArray, stop: float) -> Figure:
    """How far friction stays inside its ellipsoid, and when the contact slides (ttp01 figure 17)."""
    figure = new_figure(8, 4.2)
    axes = dress(figure.add_subplot(), y="force [N], moment [N m]", title="Friction and its slack, Stewart's method")
    for k, name in enumerate(FRICTION):
        axes.stairs(c[:, k + 1], times, baseline=None, color=COLOURS[k], linewidth=1.1, label=name)
    axes.stairs(slack, times, baseline=None, color="black", linewidth=1.4, label="slack")
    axes.plot([times[0], stop, stop, times[-1]], [0.13, 0.13, 0.0, 0.0], "--", color="#5c677d", label="slides")
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def convergence_lines(errors: Mapping[str, tuple[Sequence[float], FloatArray]]) -> Figure:
    """Position errors [m] against the step of several methods, beside a line of order one."""
    figure = new_figure(8, 4.2)
    axes = dress(figure.add_subplot(), x="step h [s]", y="position error [m]", title="Convergence, sup |q_h − q|")
    for (label, (h, error)), marker in zip(errors.items(), ("o-", "s-", "^--", "v:")):
        axes.loglog(h, error, marker, markersize=4, linewidth=1.1, markerfacecolor="none", label=label)
    h, error = next(iter(errors.values()))
    axes.loglog(h, 0.6 * error[0] * np.array(h) / h[0], color="grey", linestyle="--", linewidth=1.0, label="order 1")
    axes.set_xticks(h, [f"{step:.4g}" for step in h])
    axes.xaxis.minorticks_off()
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure
