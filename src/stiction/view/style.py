"""One look for every figure: matplotlib is imported here, and only when a figure is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ModelError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#1f5f8b", "#d1495b", "#2e8b57", "#edae49", "#6a4c93", "#5c677d", "#00798c", "#b56576")
MODE_COLOURS = {"open": "#e9ecef", "stick": "#2e8b57", "slip": "#edae49", "bilateral": "#5c677d", "bound": "#d1495b"}


def new_figure(width: float, height: float) -> Figure:
    """A figure that belongs to no window, so that plots work without a screen and leave no global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def dress(axes: Any, *, x: str = "time [s]", y: str = "", title: str = "") -> Any:
    """Labels, a light grid and no box."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if title:
        axes.set_title(title, loc="left", fontsize=10, fontweight="bold")
    axes.grid(True, color="#dee2e6", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.set_prop_cycle(color=COLOURS)
    return axes


def finish(figure: Figure, path: str | Path | None) -> Figure:
    """Write the figure if a path is given, and return it."""
    if path is not None:
        path = Path(path)
        if not path.parent.is_dir():
            raise ModelError(f"cannot write {path}: there is no folder {path.parent}.")
        figure.savefig(path)
    return figure
