"""Figures of a planar rod with round ends: frames of its motion and its velocities for several steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...view.style import COLOURS, dress, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...simulation.trajectory import Trajectory


def _outline(x: float, y: float, theta: float, length: float, radius: float) -> np.ndarray:
    arc = np.linspace(-np.pi / 2, np.pi / 2, 24)
    cap = np.column_stack([length / 2 + radius * np.cos(arc), radius * np.sin(arc)])
    shape = np.vstack([cap, -cap, cap[:1]])
    c, s = np.cos(theta), np.sin(theta)
    return shape @ np.array([[c, s], [-s, c]]) + [x, y]


def _draw_frames(axes: Any, run: Trajectory, length: float, radius: float, frames: int) -> None:
    end = next((e.time for e in run.events[::-1] if e.kind == "stick"), run.times[-1])
    picked = np.unique(np.searchsorted(run.times, np.linspace(0.0, min(end, run.times[-1]), frames)))
    picked = picked[picked < len(run.times)]
    for number, i in enumerate(picked):
        shade = 0.25 + 0.75 * number / max(1, len(picked) - 1)
        x, y, theta = run.q[i]
        outline = _outline(x, y, theta, length, radius)
        axes.fill(*outline.T, facecolor=COLOURS[0], alpha=0.18 * shade, edgecolor="none")
        axes.plot(*outline.T, color=COLOURS[0], alpha=shade, linewidth=1.0)
        # a mark at the "+" end shows the sense of rotation
        tip = np.array([x, y]) + 0.5 * length * np.array([np.cos(theta), np.sin(theta)])
        axes.plot(*tip, ".", color=COLOURS[1], alpha=shade, markersize=4)
        _label(axes, f"{run.times[i]:.3f} s", tip, theta, radius)
    axes.axhspan(-0.06, 0.0, color="#ced4da")
    axes.axhline(0.0, color="#495057", linewidth=1.0)
    axes.set_aspect("equal")
    axes.margins(x=0.15)  # room for the labels
    axes.set_ylim(-0.06, None)


def _label(axes: Any, text: str, tip: np.ndarray, theta: float, radius: float) -> None:
    """Words beyond the end of the rod, so that they do not lie on it."""
    out = np.array([np.cos(theta), np.sin(theta)])
    sides = {"ha": ("right", "center", "left")[1 + round(out[0])], "va": ("top", "center", "bottom")[1 + round(out[1])]}
    axes.annotate(
        text, tip + radius * out, tuple(4.0 * out), textcoords="offset points", fontsize=7, color="#495057", **sides
    )


def rod_frames(run: Trajectory, length: float, radius: float, frames: int = 9) -> Figure:
    """The rod at several times (st96 figure 2); the dot marks its "+" end."""
    figure = new_figure(6, 6.5)
    axes = dress(figure.add_subplot(), x="x [m]", y="y [m]", title=f"Falling, spinning rod, h = {run.info['dt']:g} s")
    _draw_frames(axes, run, length, radius, frames)
    return figure


def rod_velocities(runs: Mapping[float, Trajectory], name: str, label: str) -> Figure:
    """One velocity for several steps (st96 figures 3–5)."""
    figure = new_figure(8, 4.2)
    axes = dress(figure.add_subplot(), y=label, title="For different steps: the dotted one is too coarse")
    for number, (h, run) in enumerate(sorted(runs.items(), reverse=True)):
        axes.step(
            run.times, run[name], where="pre", linewidth=1.0 if number < len(runs) - 1 else 1.6, label=f"h = {h:g} s",
            color=COLOURS[number % len(COLOURS)], linestyle=":" if number == 0 else "-",
        )  # fmt: skip
    axes.set_xlim(0.3, 0.7)
    axes.legend(frameon=False, fontsize=8)
    return figure


def rod_summary(run: Trajectory, length: float, radius: float) -> Figure:
    """Motion, velocities and certificate of one run, side by side."""
    figure = new_figure(11, 5.2)
    grid = figure.add_gridspec(3, 2, width_ratios=[1.0, 1.35])
    left = dress(figure.add_subplot(grid[:, 0]), x="x [m]", y="y [m]", title="A spinning rod falls onto a table")
    _draw_frames(left, run, length, radius, 8)
    top = dress(figure.add_subplot(grid[0, 1]), x="", y="velocity [m/s]")
    for number, (name, label) in enumerate((("v_x", "horizontal"), ("v_y", "vertical"))):
        top.step(run.times, run[name], where="pre", color=COLOURS[number], label=label)
    top.legend(frameon=False, fontsize=8)
    middle = dress(figure.add_subplot(grid[1, 1], sharex=top), x="", y="spin [rad/s]")
    middle.step(run.times, run["v_theta"], where="pre", color=COLOURS[4])
    low = dress(figure.add_subplot(grid[2, 1], sharex=top), y="residual", title="")
    error = np.maximum(np.maximum(run.certificate["natural_map"], run.certificate["scaled_map"]), 1e-17)
    low.semilogy(run.times[1:], error, color=COLOURS[2], label="natural map of each solve")
    low.axhline(run.info["tol"], color="black", linestyle=":", linewidth=1.0, label="tolerance")
    low.set_ylim(1e-18, 1e-8)
    low.legend(frameon=False, fontsize=8, loc="center left")
    return figure
