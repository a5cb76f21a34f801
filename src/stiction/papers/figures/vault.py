"""The figure of Painlevé's rod simulated through its shock (s00 §1.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...view.style import COLOURS, dress, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..s00_painleve import Findings


def draw_vault(found: Findings) -> Figure:
    """The motion, the impulse of the first step, the angle, and the energy."""
    from .. import s00_painleve as paper

    figure = new_figure(11, 8)
    axes = figure.subplots(2, 2)
    _frames(axes[0, 0], found)
    _orders(axes[0, 1], found, paper)
    _forces(axes[1, 0], found, paper)
    _energy(axes[1, 1], found)
    return figure


def _frames(axes: Any, found: Findings) -> None:
    run = found.fall
    last = float(run.times[np.flatnonzero(np.abs(run.v).max(axis=1) > 1e-6)[-1]])
    moments = np.linspace(0.0, last, 9)
    dress(axes, x="x [m]", y="y [m]", title="It stops, and is vaulted over its end")
    for k, t in enumerate(moments):
        x, y, angle = run.q[int(np.argmin(np.abs(run.times - t)))]
        along = np.array([-1.0, 1.0])
        shade = 0.25 + 0.75 * k / (len(moments) - 1)
        axes.plot(x + along * np.cos(angle), y + along * np.sin(angle), color=COLOURS[0], alpha=shade, linewidth=2)
        axes.text(x + 1.08 * np.cos(angle), max(0.06, y + 1.05 * np.sin(angle)), f"{t:.1f} s", fontsize=7, ha="center")
    axes.axhline(0.0, color="#5c677d", linewidth=1)
    axes.annotate("slides at 1 m/s", xy=(-0.12, 0.06), xytext=(0.35, 0.06), fontsize=8, va="center",
                  arrowprops={"arrowstyle": "->", "color": COLOURS[1]})  # fmt: skip
    axes.set_aspect("equal")
    axes.margins(x=0.1)  # room for the labels


def _orders(axes: Any, found: Findings, paper: Any) -> None:
    dress(axes, x="h [s]", y="error", title="First order, in every scheme")
    for scheme, colour in zip(paper.SCHEMES, COLOURS):
        axes.loglog(paper.STEPS, found.impulse_errors(scheme), "o-", color=colour, label=f"{scheme}: impulse [N s]")
        axes.loglog(paper.STEPS, found.angle_errors(scheme), "s--", color=colour, label="angle after 1 s [rad]")
    axes.set_xticks(paper.STEPS, [f"{h:g}" for h in paper.STEPS])
    axes.minorticks_off()
    axes.set_ylim(5e-5, 3e-2)
    axes.legend(fontsize=7, frameon=False, ncol=2, loc="lower right")


def _forces(axes: Any, found: Findings, paper: Any) -> None:
    dress(axes, x="time [s]", y="normal impulse up to then [N s]", title="An impulse, not a force: it stays as h falls")
    for run, h, colour in zip(found.runs["AnitescuHart"], paper.STEPS, COLOURS):
        mine = run.table.impulse[:, 0][run.table.key == 0]
        total = np.concatenate([[0.0], np.cumsum(mine)])
        axes.step(run.times, total, where="post", color=colour, label=f"h = {h:g} s")
    axes.axhline(found.shock.rest[0], color="#5c677d", linestyle=":", label="Λ₂")
    axes.set_xlim(-0.005, 0.1)
    axes.set_ylim(0.0, 0.42)
    axes.legend(fontsize=8, frameon=False, loc="lower right")


def _energy(axes: Any, found: Findings) -> None:
    dress(axes, x="time [s]", y="energy [J]", title="Energy falls: in the shock, in the last slip, in the landing")
    energy = found.fall.energy
    axes.plot(found.fall.times, energy.total, color=COLOURS[0], label="total")
    axes.plot(found.fall.times, energy.kinetic, color=COLOURS[1], linewidth=1, label="kinetic")
    axes.plot(found.fall.times, energy.potential, color=COLOURS[2], linewidth=1, label="potential")
    axes.legend(fontsize=8, frameon=False)
