"""pr11 §4: one step of the rod. Forces and impulses come out of one problem, with one solution or with three."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._check import FloatArray
from ..analysis import Motions, all_motions, followed, time_stepping
from .experiment import EXACT, ORDER, Experiment, Outcome, Quantity
from .pr11_forces import forces
from .pr11_impulse import impulses
from .pr11_rod import LIFTING, certificate, rod

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEP = 0.01
STEPS = STEP * 0.5 ** np.arange(8)


def step(torque: float = 0.0, h: float = STEP) -> Motions:
    """Every solution of a step of length h [s]."""
    return all_motions(time_stepping(rod(torque), h=h))


def distances() -> dict[str, FloatArray]:
    """How far the solutions of smaller steps are from those of §3 and §2 [N s]."""
    jump = impulses()[1].forces
    slide = forces(LIFTING)[1].forces
    out: dict[str, list[float]] = {"pressed, to Λ₂": [], "lifted, to Λ₂": [], "lifted, sliding, to 0": []}
    out["lifted, sliding, to h λ₂"] = []
    for h in STEPS:
        (only,), (_, slides, rests) = step(0.0, h), step(LIFTING, h)
        for name, gap in zip(
            out, (only.forces - jump, rests.forces - jump, slides.forces, slides.forces - h * slide), strict=True
        ):
            out[name].append(float(np.linalg.norm(gap)))
    return {name: np.array(values) for name, values in out.items()}


def order(values: FloatArray) -> float:
    """The order of convergence between the two smallest steps."""
    return float(np.log2(values[-2] / values[-1]))


def reproduce() -> Outcome:
    """§4.1 and §4.2, and the distances to §2 and §3 for smaller steps."""
    pressed, lifted = step(), step(LIFTING)
    (only,), (opens, slides, rests) = pressed, lifted
    away = distances()
    taken = followed(rod(LIFTING), h=STEP)
    quantities = (
        Quantity("solutions, pressed (§4.1)", float(len(pressed)), 1.0, "", 1.0),
        Quantity("δt λ, normal", float(only.forces[0]), 0.332884526, "N s", "0.3329"),
        Quantity("δt λ, friction", float(only.forces[1]), 0.440747595, "N s", "0.4407"),
        Quantity("order in h of its distance to Λ₂", order(away["pressed, to Λ₂"]), 1.0, "", 1.0, ORDER,
                 record_within=1e-3),
        Quantity("solutions, lifted (§4.2)", float(len(lifted)), 3.0, "", 3.0),
        Quantity("δt λ₁, largest component", float(np.abs(opens.forces).max()), 0.0, "N s", 0.0, EXACT,
                 record_within=1e-12),
        Quantity("δt λ₂, normal", float(slides.forces[0]), 0.075544997, "N s", "0.0755"),
        Quantity("δt λ₂, friction", float(slides.forces[1]), 0.113317496, "N s", "0.1133"),
        Quantity("δt λ₃, normal", float(rests.forces[0]), 0.326634526, "N s", "0.3266"),
        Quantity("δt λ₃, friction", float(rests.forces[1]), 0.451572912, "N s", "0.4516"),
        Quantity("order in h of the distance of δt λ₃ to Λ₂", order(away["lifted, to Λ₂"]), 1.0, "", 1.0, ORDER,
                 record_within=1e-3),
        Quantity("order in h of δt λ₂", order(away["lifted, sliding, to 0"]), 1.0, "", 1.0, ORDER, record_within=1e-3),
        Quantity("largest distance of δt λ₂ to δt times λ₂ of §2.2", float(away["lifted, sliding, to h λ₂"].max()),
                 0.0, "N s", 0.0, EXACT, record_within=1e-12),
        Quantity("Lemke's method comes to rest", float(taken.motion is not None and taken.motion.modes == "s"), 1.0, "",
                 reason="of the three it takes the one of least energy"),
    )  # fmt: skip
    return Outcome(quantities, certificate(pressed, lifted), lambda: _figures(pressed, lifted, away), (taken.words,))


def _figures(pressed: Motions, lifted: Motions, away: dict[str, FloatArray]) -> dict[str, Figure]:
    from ..view.solution_space import solution_space
    from ..view.style import COLOURS, dress, new_figure

    figure = new_figure(6.4, 4.2)
    axes = dress(figure.add_subplot(), x="step δt [s]", y="distance [N s]", title="Solutions of a step are O(δt) away")
    shown = [name for name in away if not name.endswith("h λ₂")]
    for number, name in enumerate(shown):
        axes.loglog(STEPS, away[name], "o-", color=COLOURS[number], markersize=4, label=name)
    axes.loglog(STEPS, 0.5 * away[shown[0]][0] * STEPS / STEPS[0], color="#adb5bd", linestyle="--", label="slope 1")
    axes.legend(frameon=False, fontsize=8)
    return {
        "pr11-stepping-fig4": solution_space(pressed),
        "pr11-stepping-fig5": solution_space(lifted),
        "pr11-stepping-orders": figure,
    }


EXPERIMENT = Experiment(
    "pr11-stepping",
    "Preclik, Rüde 2011 (§4, figures 4 and 5)",
    "One step of the rod: one solution, and three",
    reproduce,
)
