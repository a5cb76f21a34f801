"""pr11 §2: forces and accelerations of the sliding rod. Pressed down it has no solution, lifted it has two."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..analysis import Motions, all_motions, force_acceleration, select
from ..analysis.mode_map import ModeMap, mode_map
from .experiment import EXACT, Experiment, Outcome, Quantity, claim
from .pr11_rod import ANGLE, GRAVITY, LENGTH, LIFTING, MASS, MU, certificate, rod, sliding_inertia

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPIN = 1.5  # rad/s: turns the tip away from the ground as the torque does


def forces(torque: float = 0.0, spin: float = 0.0) -> Motions:
    """Every solution of the force–acceleration problem."""
    return all_motions(force_acceleration(rod(torque, spin=spin)))


def none() -> Outcome:
    """§2.1: without a torque."""
    found = forces()
    problem = found.form.problem
    quantities = (
        Quantity("solutions", float(len(found)), 0.0, "", 0.0, reason="of a complete enumeration"),
        claim("A is negative for µ = 3/2 and φ = π/3", problem.delassus()[0, 0] < 0.0),
        Quantity("A of eq. 10", float(problem.delassus()[0, 0]), sliding_inertia(ANGLE, MU), "1/kg",
                 reason="1 + 3 cos φ (cos φ - µ sin φ)"),
        Quantity("b of eq. 11", -float(problem.q[0]), 1.0, "m/s²", 1.0),
    )  # fmt: skip
    return Outcome(quantities, certificate(found), lambda: _figures(found, "pr11-painleve-none"))


def many() -> Outcome:
    """§2.2: with a torque that lifts the tip, and with a spin that does."""
    found, spun = forces(LIFTING), forces(spin=SPIN)
    opens, slides = found
    quantities = (
        Quantity("solutions", float(len(found)), 2.0, "", 2.0),
        Quantity("λ₁, largest component", float(np.abs(opens.forces).max()), 0.0, "N", 0.0, EXACT, record_within=1e-12),
        Quantity("λ₂, normal", float(slides.forces[0]), 7.554499726, "N", "7.5545"),
        Quantity("λ₂, friction", float(slides.forces[1]), 11.331749590, "N", "11.3317"),
        claim("the first opens", opens.modes == "o"),
        claim("the second slides on", slides.modes == "-"),
        Quantity("solutions with a spin instead of the torque", float(len(spun)), 2.0, "", 2.0,
                 reason=f"ω = {SPIN:g} rad/s, above √(g/(½ l sin φ)) = {math.sqrt(1.0 / math.sin(ANGLE)):.4f} rad/s"),
        claim("Painlevé's principle takes the one that opens", select(found, "painleve") == (opens,), "§6"),
    )  # fmt: skip
    return Outcome(quantities, certificate(found, spun), lambda: _figures(found, "pr11-painleve-many"))


def _figures(found: Motions, name: str) -> dict[str, Figure]:
    from ..view.solution_space import mode_diagram, solution_space
    from .figures import drawings

    figures = {name: solution_space(found)}
    degrees = np.linspace(1.0, 89.0, 45)
    phi, fine = np.radians(degrees), np.radians(np.linspace(1.0, 89.0, 300))
    title = "Forces of the rod that slides to the left"
    if name == "pr11-painleve-none":
        figures = {f"{name}-fig2": drawings.painleve_rod(ANGLE, LENGTH, "pr11"), **figures}
        mus = np.linspace(0.1, 3.0, 30)
        over = mode_map(lambda a, mu: force_acceleration(rod(angle=a, mu=mu)), phi, mus)
        bound = (1.0 / 3.0 + np.cos(fine) ** 2) / (np.sin(fine) * np.cos(fine))
        labels, curves = "coefficient of friction µ", {"(1/3 + cos²φ)/(sin φ cos φ)": bound}
    else:
        over = mode_map(lambda a, torque: force_acceleration(rod(torque, angle=a)), phi, np.linspace(-4.0, 2.0, 31))
        bound = -MASS * GRAVITY * LENGTH / (6.0 * np.cos(fine))  # 2 f_y I/(m l cos φ)
        labels, curves = "torque τ [N m]", {"eq. 12: lifted below": bound}
        title += f", µ = {MU:g}"
    figures[f"{name}-map"] = mode_diagram(
        ModeMap(degrees, over.y, over.modes), x="inclination φ [°]", y=labels, title=title,
        curves={label: (np.degrees(fine), line) for label, line in curves.items()},
    )  # fmt: skip
    return figures


NONE = Experiment(
    "pr11-painleve-none", "Preclik, Rüde 2011 (§2.1)", "Painlevé's rod: no force can keep it from the ground", none
)
MANY = Experiment(
    "pr11-painleve-many", "Preclik, Rüde 2011 (§2.2)", "Painlevé's rod, lifted by a torque: two solutions", many
)
