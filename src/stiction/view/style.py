"""One look for every figure: matplotlib is imported here, and only when a figure is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ModelError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Told apart with red-green colour blindness as well: the first four by 38 or more in CIE L*a*b*, all by 18 or more.
COLOURS = ("#1b62a5", "#c0392b", "#3dbb98", "#f0a500", "#4d3566", "#757a7f", "#7cc4dc", "#5b4636")
MODE_COLOURS = {"open": "#e9ecef", "stick": "#1b62a5", "slip": "#f0a500", "bilateral": "#757a7f", "bound": "#c0392b"}
STYLES = ("-", "--", "-.", ":")  # lines of one panel, told apart without colours too


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
