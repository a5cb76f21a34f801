"""The figure of a convergence study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .style import dress, finish, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..analysis.convergence import Convergence


def plot_convergence(study: Convergence, *, path: str | Path | None = None) -> Figure:
    """Errors against the step in logarithmic axes, beside a line of order one."""
    figure = new_figure(9, 4.2)
    axes = dress(figure.add_subplot(), x="step h [s]", y="error", title=f"Convergence, against {study.reference}")
    h = study.steps
    top = 0.0
    for name, label in (("velocity_error", "velocity, ∫|v_h − v| dt"), ("position_error", "position, sup |q_h − q|")):
        values = getattr(study, name)
        axes.loglog(h, values, "o-", markersize=4, label=f"{label}: order {study.order(name):.2f}")
        top = max(top, float(np.nanmax(values)))
    axes.loglog(h, top * h / h.max(), color="grey", linestyle="--", linewidth=1.0, label="order 1")
    for contact in study.weak:
        axes.loglog(
            h[:-1], study.weak_error(contact), "s:", markersize=3, linewidth=0.9, label=f"impulse of {contact}, weak*"
        )
    if study.inclusions:
        outside = np.maximum(study.inclusion_error, 1e-16)
        axes.loglog(h, outside, "d-.", markersize=4, label="forces outside the friction cones")
    axes.set_xticks(h, [f"{step:g}" for step in h])
    axes.set_xticks([], minor=True)
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))  # beside, never on the curves
    return finish(figure, path)
