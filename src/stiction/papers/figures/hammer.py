"""The figure of the rod over the edge of a table (pr11 §6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...view.style import COLOURS, dress, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..pr11_hammer import Findings


def draw_hammer(found: Findings) -> Figure:
    """What the blow does to a rigid and to a hinged rod, forces over time, and the impulse over the ratio."""
    from .. import pr11_hammer as paper

    figure = new_figure(11, 7.5)
    grid = figure.add_gridspec(2, 2, height_ratios=(0.75, 1.0))
    _scene(figure.add_subplot(grid[0, :]), paper)
    _forces(figure.add_subplot(grid[1, 0]), found, paper)
    _ratio(figure.add_subplot(grid[1, 1]), found, paper)
    return figure


def _scene(axes: Any, paper: Any) -> None:
    axes.set_title("Velocities after the blow, before the table answers", loc="left", fontsize=10, fontweight="bold")
    axes.fill_between([-0.4, paper.EDGE], -0.55, 0.0, color="#e9ecef")
    axes.plot([-0.4, paper.EDGE, paper.EDGE], [0.0, 0.0, -0.55], color="#5c677d")
    x = np.array([0.0, 1.0, 2.0])
    scale = 0.05
    for rigid, colour, name in ((True, COLOURS[0], "rigid rod"), (False, COLOURS[1], "hinged in the middle")):
        v = paper.struck(rigid)[2]
        heights = scale * np.array([v[0] - v[1], v[0], v[0] + v[-1]])
        axes.plot(x, heights, "o-", color=colour, linewidth=2, label=f"{name}: inner end {v[0] - v[1]:+.0f} m/s")
    axes.plot(x, 0.0 * x, color="#212529", linewidth=3, alpha=0.25, solid_capstyle="round")
    axes.annotate("", xy=(2.0, 0.02), xytext=(2.0, 0.42), arrowprops={"arrowstyle": "-|>", "color": "#212529", "lw": 2})
    axes.text(2.03, 0.3, "blow, 1 N s", fontsize=8)
    axes.text(-0.35, -0.12, "table", fontsize=8, color="#5c677d")
    axes.set_xlim(-0.4, 2.5)
    axes.set_ylim(-0.55, 0.5)
    axes.set_xlabel("place along the rod [m]")
    axes.set_yticks([])
    axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(0.12, 1.0))
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _forces(axes: Any, found: Findings, paper: Any) -> None:
    dress(axes, x="time [ms]", y="force at the inner end [N]", title="The inner end presses, then lifts")
    for blow, ratio, colour in zip(found.early, paper.SHOWN, COLOURS[1::-1]):
        label = f"torsion spring {ratio:g} of the table's: {blow.force[:, 0].sum() * blow.times[0]:.3f} N s"
        axes.plot(1e3 * blow.times, blow.force[:, 0], color=colour, label=label)
    axes.legend(fontsize=8, frameon=False)


def _ratio(axes: Any, found: Findings, paper: Any) -> None:
    dress(axes, x="torsion stiffness / table stiffness [m²]", y="impulse at the inner end [N s]",
          title="Which answer in which limit")  # fmt: skip
    axes.semilogx(paper.RATIOS, found.inner, "o-", color=COLOURS[2], label="spring and table in motion")
    axes.semilogx(
        paper.RATIOS[:1],
        found.dull.impulse[:1],
        "D",
        color=COLOURS[3],
        label=f"table damped {paper.DULL:g} times as much",
    )
    axes.axhline(float(found.hinged[0][0]), color=COLOURS[1], linestyle=":", label="complementarity, hinged rod")
    axes.axhline(float(found.rigid[0][0]), color=COLOURS[0], linestyle=":", label="complementarity, rigid rod")
    axes.text(2e-6, 0.02, "table stiffer", fontsize=8)
    axes.text(5e5, 0.02, "rod stiffer", fontsize=8, ha="right")
    axes.legend(fontsize=8, frameon=False)
