"""pr11 §3: impulses of the rod. Both setups have the same two: nothing happens, or the tip comes to rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..analysis import Motions, all_motions, impulse_velocity, rules_of
from ..analysis.dead_ends import after_impulses, search_dead_ends
from .experiment import EXACT, Experiment, Outcome, Quantity, claim
from .pr11_corner import corner
from .pr11_rod import LIFTING, certificate, rod

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STATES = 60  # random states in the search for a dead end


def impulses(torque: float = 0.0) -> Motions:
    """Every solution of the impulse–velocity problem."""
    return all_motions(impulse_velocity(rod(torque)))


def reproduce() -> Outcome:
    """§3.1 and §3.2."""
    pressed, lifted = impulses(), impulses(LIFTING)
    stays, rests = pressed
    search = search_dead_ends(STATES)
    hit = all_motions(corner())
    same = max(float(np.abs(a.forces - b.forces).max()) for a, b in zip(pressed, lifted))
    quantities = (
        Quantity("solutions, pressed (§3.1)", float(len(pressed)), 2.0, "", 2.0),
        Quantity("solutions, lifted (§3.2)", float(len(lifted)), 2.0, "", 2.0),
        Quantity("Λ₁, largest component", float(np.abs(stays.forces).max()), 0.0, "N s", 0.0, EXACT,
                 record_within=1e-12),
        Quantity("Λ₂, normal", float(rests.forces[0]), 0.324759526, "N s", "0.3248"),
        Quantity("Λ₂, friction", float(rests.forces[1]), 0.4375, "N s", "0.4375"),
        Quantity("largest difference between the setups", same, 0.0, "N s", 0.0, EXACT, record_within=1e-12),
        claim("Λ₂ turns sliding into sticking", rests.modes == "s"),
        claim("Λ₂ has the least energy", "least energy" in rules_of(pressed, rests)),
        Quantity("kinetic energy after Λ₂", float(rests.energy or 0.0), 0.28125, "J", reason="0.5 J before"),
        claim("forces exist after Λ₁, pressed", bool(stays.goes_on), record=False, paper=False),
        Quantity("forces exist after Λ₂, pressed", float(bool(rests.goes_on)), 1.0, "",
                 reason="\"unclear to me\" (§3.1): here they do"),
        Quantity("random states without a way out", float(len(search.dead)), 0.0, "", reason=search.words),
        Quantity("impulses of a body that tips into a corner", float(len(hit)), 1.0, "",
                 reason="pr11_corner: floor and wall, µ = 1"),
        Quantity("of these, followed by a state with finite forces", float(sum(bool(m.goes_on) for m in hit)), 0.0, "",
                 reason="so the answer to the question of §3.1 is no"),
        Quantity("a further impulse leads on", float(after_impulses(hit) == "later"), 1.0, "",
                 reason="the foot on the floor lifts off, the other rests at the wall"),
    )  # fmt: skip
    return Outcome(quantities, certificate(pressed, lifted), lambda: _figures(pressed, hit))


def _figures(pressed: Motions, hit: Motions) -> dict[str, Figure]:
    from ..view.solution_space import solution_space
    from .figures.corner import draw_corner

    return {"pr11-impulse-fig3": solution_space(pressed), "pr11-impulse-corner": draw_corner(hit)}


EXPERIMENT = Experiment(
    "pr11-impulse",
    "Preclik, Rüde 2011 (§3, figure 3)",
    "Impulses without an impact: the rod may come to rest",
    reproduce,
)
