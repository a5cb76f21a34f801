"""The figure of the weak measure differential inclusion (s00 eq. 4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...view.style import COLOURS, STYLES, dress, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..s00_inclusion import Findings

FLOOR = 1e-16  # where zero is drawn


def draw_inclusion(found: Findings) -> Figure:
    """Above, the scenes; below, for each the worst distance from the cones by step and scheme, beside the control."""
    from ..s00_inclusion import SCENES

    figure = new_figure(13, 7.6)
    for place, scene in enumerate(SCENES):
        _forces(figure.add_subplot(2, 3, place + 1), found, scene)
        _distances(figure.add_subplot(2, 3, place + 4), found, scene)
    return figure


def _forces(axes: Any, found: Findings, scene: str) -> None:
    """Sums of the impulses of all contacts, over the step: what has to lie in the cones."""
    from ..s00_inclusion import SCHEMES

    dress(axes, y="contact forces, sum of sizes [N]", title=scene.capitalize())
    run = found.studies[scene, next(iter(SCHEMES))].runs[-1]
    force, friction = np.zeros(len(run.times)), np.zeros(len(run.times))
    contact = run.table.law == 1
    np.add.at(force, run.table.step[contact] + 1, run.table.impulse[contact, 0])
    np.add.at(friction, run.table.step[contact] + 1, np.linalg.norm(run.table.impulse[contact, 1:3], axis=1))
    h = float(run.info["dt"])
    axes.step(run.times, force / h, where="pre", color=COLOURS[0], label="normal")
    axes.step(run.times, friction / h, where="pre", color=COLOURS[1], label="friction")
    top = np.quantile(force[force > 0.0], 0.95) / h
    axes.set_ylim(0.0, 1.6 * top)
    axes.legend(frameon=False, fontsize=8, loc="upper right")


def _distances(axes: Any, found: Findings, scene: str) -> None:
    from ..s00_inclusion import LESS, SCENES, SCHEMES

    dress(axes, x="step h [s]", y="forces outside the cones", title="Worst test function")
    h = np.array(found.steps)
    for scheme, colour, style in zip(SCHEMES, COLOURS, STYLES):
        errors = np.maximum(found.studies[scene, scheme].inclusion_error, FLOOR)
        axes.loglog(h, errors, "o" + style, color=colour, markersize=4, label=scheme)
        control = found.controls[scene, scheme].worst
        axes.loglog(h[-1:], [control], "x", color=colour, markersize=7,
                    label=f"with {LESS:g} of the friction" if scheme == "StewartTrinkle" else None)  # fmt: skip
    axes.loglog(h, h, color="#adb5bd", linestyle="--", linewidth=1.0, label="order 1")
    axes.set_ylim(FLOOR / 3.0, 30.0)
    axes.set_xticks(h, [f"{step:g}" for step in h])
    axes.set_xticks([], minor=True)
    if scene == next(iter(SCENES)):
        axes.legend(frameon=False, fontsize=8, loc="center right")
