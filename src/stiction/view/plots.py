"""Plots of a trajectory: states, energy, impulses, contact modes, certificate, or any component by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .. import _check
from ..problem.laws import Law, Mode
from .style import COLOURS, MODE_COLOURS, dress, finish, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..simulation.trajectory import Trajectory

TINY = 1e-17  # floor of logarithmic residual axes, below round-off


def plot(run: Trajectory, what: str | list[str] = "states", *, path: str | Path | None = None) -> Figure:
    """A figure of a run: a preset by name, or one panel per component name."""
    if isinstance(what, str) and what in PRESETS:
        return finish(PRESETS[what](run), path)
    names = [what] if isinstance(what, str) else list(what)
    known = [*run.coordinate_names, *run.velocity_names]
    for name in names:
        _check.choice("what", name, [*PRESETS, *known] if len(names) == 1 else known)
    figure = new_figure(7, 0.8 + 2.0 * len(names))
    for i, name in enumerate(names):
        axes = dress(figure.add_subplot(len(names), 1, i + 1), y=name)
        axes.plot(run.times, run[name])
    return finish(figure, path)


def _states(run: Trajectory) -> Figure:
    nq, nv = run.q.shape[1], run.v.shape[1]
    figure = new_figure(9, 0.8 + 1.7 * max(nq, nv))
    for column, (values, names) in enumerate(((run.q, run.coordinate_names), (run.v, run.velocity_names))):
        for i, name in enumerate(names):
            axes = dress(figure.add_subplot(max(nq, nv), 2, 2 * i + column + 1), y=name)
            axes.plot(run.times, values[:, i], color=COLOURS[column])
    return figure


def _energy(run: Trajectory) -> Figure:
    figure = new_figure(8, 6)
    top = dress(figure.add_subplot(2, 1, 1), y="energy [J]", title="Energy")
    top.plot(run.times, run.energy.kinetic, label="kinetic")
    top.plot(run.times, run.energy.potential, label="potential")
    top.plot(run.times, run.energy.total, color="black", linewidth=1.0, label="total")
    top.legend(frameon=False, fontsize=8)
    low = dress(figure.add_subplot(2, 1, 2), y="cumulated work [J]", title="Where it went")
    for name, work in run.energy.work.items():
        if name != "residual" and np.abs(work).max(initial=0.0) > 1e-12:
            low.plot(run.times[1:], np.cumsum(work), label=name.replace("_", " "))
    if low.lines:
        low.legend(frameon=False, fontsize=8)
    return figure


def _acting(run: Trajectory, laws: tuple[Law, ...]) -> list[str]:
    names = run.constraint_names
    keys = np.unique(run.table.key[np.isin(run.table.law, [int(law) for law in laws])])
    return [names[int(key)] for key in keys]


def _impulses(run: Trajectory) -> Figure:
    names = _acting(run, tuple(Law))
    figure = new_figure(8, 0.8 + 2.1 * max(1, len(names)))
    if not names:
        dress(figure.add_subplot(), y="impulse [N s]", title="No contact acted")
    for i, name in enumerate(names):
        axes = dress(figure.add_subplot(len(names), 1, i + 1), y="impulse [N s]", title=name)
        series = run.contacts(name)
        for row, label in enumerate(("normal", "tangent 1", "tangent 2", "spin", "roll 1", "roll 2")):
            if row == 0 or series.impulse[:, row].any():
                axes.plot(series.times, series.impulse[:, row], ".-", markersize=3, linewidth=0.8, label=label)
        axes.legend(frameon=False, fontsize=8)
    return figure


def _modes(run: Trajectory) -> Figure:
    names = _acting(run, (Law.UNILATERAL, Law.DRY, Law.BOX))
    figure = new_figure(8, 1.3 + 0.45 * max(1, len(names)))
    axes = dress(figure.add_subplot(), title="Contact modes")
    edges = run.times
    used = set()
    for row, name in enumerate(names):
        mode = run.contacts(name).mode
        starts = np.flatnonzero(np.concatenate([[True], mode[1:] != mode[:-1]]))
        stops = np.append(starts[1:], len(mode))
        for start, stop in zip(starts, stops):
            label = Mode(int(mode[start])).name.lower()
            axes.barh(
                row, edges[stop] - edges[start], left=edges[start], height=0.7, color=MODE_COLOURS[label],
                label=None if label in used else label,
            )  # fmt: skip
            used.add(label)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(max(1, len(names)) - 0.4, -0.6)  # the first constraint on top
    axes.set_xlim(edges[0], edges[-1])
    if used:
        axes.legend(frameon=False, fontsize=8, ncols=len(used), loc="lower right", bbox_to_anchor=(1.0, 1.0))
    return figure


def _certificate(run: Trajectory) -> Figure:
    figure = new_figure(8, 4)
    axes = dress(figure.add_subplot(), y="residual (SI units)", title="Certificate of each step")
    for name, values in run.certificate.residuals.items():
        size = np.abs(values)
        if size.max(initial=0.0) > 0:
            axes.semilogy(run.times[1:], np.maximum(size, TINY), linewidth=0.9, label=name.replace("_", " "))
    axes.axhline(run.info["tol"], color="black", linestyle=":", linewidth=1.0, label="tolerance of a solve")
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


PRESETS: dict[str, Callable[[Trajectory], Figure]] = {
    "states": _states,
    "energy": _energy,
    "impulses": _impulses,
    "modes": _modes,
    "certificate": _certificate,
}
