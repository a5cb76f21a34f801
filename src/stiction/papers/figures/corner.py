"""The figure of a body that tips into a corner: before, after the only impulse, and after a second one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...view.style import COLOURS, dress, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..._check import FloatArray
    from ...analysis.motions import Motions


def draw_corner(hit: Motions) -> Figure:
    """Three panels with the velocities of the feet (thick) and of the centre, and the impulses that led there."""
    from ...analysis import all_motions, impulse_velocity
    from ..pr11_corner import START, corner

    (first,) = hit
    assert first.after is not None
    second = next(m for m in all_motions(impulse_velocity(corner(), first.after)) if m.goes_on)
    figure = new_figure(11, 4.4)
    panels: tuple[Any, ...] = tuple(figure.subplots(1, 3, sharey=True))
    still = np.zeros(4)
    for axes, v, p, title in (
        (panels[0], np.array(START), still, "before: the floor is hit"),
        (panels[1], first.v, first.forces, "the only impulse: both slide,\nno finite force exists"),
        (panels[2], second.v, second.forces, "a second impulse: the floor is left,\nthe wall holds"),
    ):
        _panel(axes, v, p, title)
    panels[0].set_ylabel("y")
    return figure


def _panel(axes: Any, v: FloatArray, p: FloatArray, title: str) -> None:
    from ..pr11_corner import FEET, NORMALS

    dress(axes, x="x", title=title)
    axes.axhspan(-2.15, FEET[0][1], color="#ced4da")
    axes.axvspan(FEET[1][0], 2.3, color="#ced4da")
    axes.fill(*np.array([*FEET, (0.5, 1.0), (-0.8, 0.3)]).T, color=COLOURS[0], alpha=0.22)
    axes.plot(0.0, 0.0, "o", color=COLOURS[0])
    _arrow(axes, (0.0, 0.0), 0.5 * v[:2], COLOURS[0], "")
    for k, (foot, n) in enumerate(zip(FEET, NORMALS)):
        speed = v[:2] + v[2] * np.array([-foot[1], foot[0]])
        _arrow(axes, foot, 0.5 * speed, COLOURS[2], "velocity (x 1/2)" if k == 0 else "")
        push = p[2 * k] * np.array(n) + p[2 * k + 1] * np.array([n[1], -n[0]])
        _arrow(axes, foot, 4.0 * push, COLOURS[1], "impulse (x 4)" if k == 0 else "")
        axes.plot(*foot, "o", color="black", markersize=4, zorder=6)
    axes.set_aspect("equal")
    axes.set_xlim(-1.2, 2.3)
    axes.set_ylim(-2.15, 1.3)
    axes.legend(frameon=False, fontsize=8, loc="upper right")


def _arrow(axes: Any, start: Any, along: FloatArray, colour: str, label: str) -> None:
    axes.plot([], [], color=colour, label=label or "_nothing")
    if np.linalg.norm(along) > 1e-9:
        end = np.asarray(start) + along
        line = {"arrowstyle": "-|>", "color": colour, "lw": 1.8}
        axes.annotate("", end, start, arrowprops=line, zorder=5, annotation_clip=False)
