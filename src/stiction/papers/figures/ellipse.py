"""Frames of an ellipse on a tabletop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...view.style import COLOURS, dress, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...simulation.trajectory import Trajectory


def ellipse_frames(run: Trajectory, semi: tuple[float, float], times: np.ndarray) -> Figure:
    """The body "ellipse" at several times (ah03 figure 1); a spoke along its first axis shows how it has turned."""
    from matplotlib.patches import Ellipse

    columns = 5
    figure = new_figure(10, 2.6 * -(-len(times) // columns))
    for k, t in enumerate(times):
        i = int(np.argmin(np.abs(run.times - t)))
        left, bottom = k % columns == 0, k >= len(times) - columns
        axes = dress(
            figure.add_subplot(-(-len(times) // columns), columns, k + 1),
            x="x [m]" if bottom else "",
            y="y [m]" if left else "",
        )
        x, y = run.position("ellipse")[i]
        angle = run.angle("ellipse")[i]
        width, height, turn = 2 * semi[0], 2 * semi[1], float(np.degrees(angle))
        body = Ellipse((x, y), width, height, angle=turn, facecolor=COLOURS[0], alpha=0.25, edgecolor=COLOURS[0])
        axes.add_patch(body)
        axes.plot([x, x + semi[0] * np.cos(angle)], [y, y + semi[0] * np.sin(angle)], color=COLOURS[0], linewidth=0.8)
        axes.axhline(0.0, color="#495057", linewidth=1.0)
        axes.set_xlim(-6.0, 6.0)
        axes.set_ylim(-0.8, 12.2)
        axes.set_aspect("equal")
        axes.set_title(f"t = {run.times[i]:.2f} s", fontsize=9)
    return figure
