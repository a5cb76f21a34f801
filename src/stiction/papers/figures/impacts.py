"""Figures of impact laws: the energy after an impact over that before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...view.style import COLOURS, dress, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..s00_energy import Gains, Losses

BLUE, RED, GREEN, GREY = COLOURS[0], COLOURS[1], COLOURS[2], COLOURS[5]
LAW_COLOURS = {"newton": RED, "poisson": BLUE, "stronge": GREEN}
STYLES = ("-", "--")
RATIO = "energy after over before"


def draw_gains(found: Gains) -> Figure:
    """Kane's pendulum against friction, the rod against its slip, and every rod case in order."""
    figure = new_figure(12, 4.6)
    for place, draw in enumerate((_pendulum, _rod)):
        draw(figure.add_subplot(1, 3, place + 1))
    _cases(figure.add_subplot(1, 3, 3), found)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, fontsize=8, loc="outside lower center", ncols=6)
    return figure


def _lines(axes: Any, x: np.ndarray, values: np.ndarray) -> None:
    from ..impacts import LAWS
    from ..s00_energy import FORMS

    axes.axhspan(1.0, 2.0, color=RED, alpha=0.07, linewidth=0)
    for i, form in enumerate(FORMS):
        for k, law in enumerate(LAWS):
            axes.plot(x, values[:, i, k], STYLES[i], color=LAW_COLOURS[law], linewidth=1.3, label=f"{law}, {form}")


def _pendulum(axes: Any) -> None:
    from ..impacts import Exactly, double_pendulum
    from ..s00_energy import KANE_E, energies

    axes = dress(axes, x="coefficient of friction", y=RATIO, title=f"Kane's double pendulum, e = {KANE_E:g}")
    mu = np.linspace(0.0, 1.0, 41)
    _lines(axes, mu, np.array([energies(double_pendulum(float(m)), KANE_E, Exactly()) for m in mu]))
    axes.text(0.98, 1.62, "energy from nowhere", color=RED, fontsize=8, ha="right")
    axes.set_ylim(0.4, 1.7)


def _rod(axes: Any) -> None:
    from ..impacts import Exactly, oblique_rod
    from ..s00_energy import ROD_ANGLE, ROD_E, ROD_MU, energies

    axes = dress(axes, x="slip before over fall", title=f"Rod at {ROD_ANGLE:g}°, µ = {ROD_MU:g}, e = {ROD_E:g}")
    slips = np.linspace(-1.0, 1.5, 81)
    rods = (oblique_rod(np.radians(ROD_ANGLE), float(s), ROD_MU) for s in slips)
    _lines(axes, slips, np.array([energies(rod, ROD_E, Exactly()) for rod in rods]))
    axes.set_ylim(0.6, 1.2)


def _cases(axes: Any, found: Gains) -> None:
    axes = dress(axes, x="rods, in order", title=f"{len(found.cases)} rods, those that lose least")
    ordered = np.sort(found.cases, axis=0)[::-1][:200]
    _lines(axes, np.arange(1, 1 + len(ordered)), ordered)
    axes.set_ylim(0.8, 1.15)


def draw_losses(found: Losses) -> Figure:
    """Three balls in a line, and random contacts without friction."""
    from ..s00_energy import AWAY

    figure = new_figure(12, 4.2)
    axes = dress(figure.add_subplot(1, 3, 1), x="speed at which the third ball leaves the second [m/s]",
                 y="share of the energy lost", title="Three balls, e = 1, no friction")  # fmt: skip
    axes.plot(AWAY, found.exact, color=GREY, linewidth=1.2, label="min(s, 1 − s)²/4, over the energy")
    axes.plot(AWAY, found.balls, "o", color=BLUE, markersize=3, label="Poisson's law")
    axes.set_ylim(None, 0.13)
    axes.legend(frameon=False, fontsize=8, loc="upper right")
    axes = dress(figure.add_subplot(1, 3, 2), x="speed at which the third ball leaves the second [m/s]",
                 y="velocity after [m/s]", title="What the balls do")  # fmt: skip
    for i in range(3):
        axes.plot(
            AWAY,
            found.after[:, i],
            color=COLOURS[i],
            linestyle=":" if i == 2 else "-",
            linewidth=1.5 + 0.5 * i,
            label=f"ball {i + 1}",
        )
    axes.legend(frameon=False, fontsize=8)
    axes = dress(figure.add_subplot(1, 3, 3), x="share of the impacts", y="share of the energy lost",
                 title="Random impacts at three contacts, e = 1")  # fmt: skip
    for values, colour, label in (
        (found.mixed, RED, "some contacts part at first"),
        (found.approaching, GREEN, "all approach"),
    ):
        axes.plot(np.linspace(0.0, 1.0, len(values)), np.sort(values)[::-1], color=colour, label=label)
    axes.legend(frameon=False, fontsize=8)
    return figure
