"""pr11 appendix A: from which coefficient of friction on a sliding rod can be without a solution.

With κ = m l²/(4I) (eq. 23–26), m A = 1 + κ cos φ (cos φ - µ sin φ) is least at tan φ* = 1/µ + √(1/µ² + 1), where it is
1 + ½ κ (1 - √(1 + µ²)). So a rod can be without a solution from µ = 2 √(1/κ² + 1/κ) on: 4/3 for a slender one (κ = 3).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..analysis import all_motions, force_acceleration
from .experiment import Experiment, Outcome, Quantity
from .pr11_rod import INERTIA, LENGTH, MASS, MU, certificate, rod, sliding_inertia

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def steepest(mu: float) -> float:
    """φ* of eq. 26 [rad], where m A is least: the root (eq. 25) of ∂A/∂φ = 0 (eq. 23), made a square (eq. 24)."""
    return math.atan(1.0 / mu + math.sqrt(1.0 / mu**2 + 1.0))


def critical_friction(inertia: float = INERTIA) -> float:
    """The root µ of A at φ*(µ), found numerically for any moment of inertia (pr11: "one can numerically determine")."""
    from scipy.optimize import brentq

    return float(brentq(lambda mu: sliding_inertia(steepest(mu), mu, inertia), 0.01, 100.0, xtol=1e-13))


def unsolvable(mu: float = MU) -> tuple[float, float]:
    """The inclinations [rad] between which enumeration finds no force, by bisection on the problem itself."""

    def has_none(angle: float) -> bool:
        return len(all_motions(force_acceleration(rod(angle=angle, mu=mu)))) == 0

    ends = []
    for outside in (0.01, math.pi / 2 - 0.01):
        low, high = outside, steepest(mu)
        while abs(high - low) > 1e-9:
            middle = 0.5 * (low + high)
            low, high = (low, middle) if has_none(middle) else (middle, high)
        ends.append(0.5 * (low + high))
    return ends[0], ends[1]


def reproduce() -> Outcome:
    """The critical coefficient, its angle, and the unsolvable range at µ = 3/2."""
    mu = critical_friction()
    low, high = unsolvable()
    # 1 + 3 cos φ (cos φ - µ sin φ) = 0  is  tan²φ - 3 µ tan φ + 4 = 0
    roots = [math.atan(0.5 * (3.0 * MU + sign * math.sqrt(9.0 * MU**2 - 16.0))) for sign in (-1.0, 1.0)]
    dumbbell = MASS * LENGTH**2 / 4.0
    at = all_motions(force_acceleration(rod(angle=steepest(mu), mu=mu * (1.0 - 1e-6))))
    quantities = (
        Quantity("critical µ of a slender rod", mu, 4.0 / 3.0, "", 4.0 / 3.0, 1e-9, "printed as 4/3"),
        Quantity("φ* at it", math.degrees(steepest(mu)), 63.434948823, "°", 63.435, 5e-4),
        Quantity("solutions at φ* with a little less friction", float(len(at)), 1.0, "",
                 reason="with 1e-6 less; none with 1e-6 more"),
        Quantity("and with a little more", float(len(all_motions(force_acceleration(
            rod(angle=steepest(mu), mu=mu * (1.0 + 1e-6)))))), 0.0, "", 0.0, 0.0),
        Quantity("unsolvable at µ = 3/2 from", math.degrees(low), math.degrees(roots[0]), "°",
                 reason="figure 8(a) shows it; closed form tan²φ - 3µ tan φ + 4 = 0"),
        Quantity("to", math.degrees(high), math.degrees(roots[1]), "°"),
        Quantity("least m A at µ = 3/2", MASS * sliding_inertia(steepest(MU), MU),
                 1.0 + 1.5 * (1.0 - math.hypot(1.0, MU)), reason="figure 8(a)"),
        Quantity("critical µ of two masses at the ends", critical_friction(dumbbell), 2.0 * math.sqrt(2.0), "",
                 reason="κ = 1: 2 √(1/κ² + 1/κ)"),
    )  # fmt: skip
    return Outcome(quantities, certificate(at), _figures)


def _figures() -> dict[str, Figure]:
    from ..view.solution_space import sliding_inertia_curves

    return {"pr11-critical-fig8": sliding_inertia_curves(MASS, sliding_inertia, (1.0, 4.0 / 3.0, MU, 2.0))}


EXPERIMENT = Experiment(
    "pr11-critical", "Preclik, Rüde 2011 (appendix A, figure 8)", "The friction at which a rod can lose all solutions",
    reproduce,
)  # fmt: skip
