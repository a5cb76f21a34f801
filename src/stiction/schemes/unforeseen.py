"""Contacts that a step has run into and that nobody had foreseen: found after it, so that it is solved again with them.

Which contacts may act is detected at the start of a step, within a band. Two things escape that: impulses make a body
faster than the motion by which the band was chosen (`reached`), and a body turns so that other features of it come
first than those that were nearest (`crossed`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..problem.contact_problem import ContactProblem
from ..systems.base import Candidates, State, System
from ..systems.candidates import WorldCandidates
from .base import passed_through

ROUNDS = 3  # times that a step is solved again


def reached(system: System, found: Candidates, state: State, new: State, h: float, band: float) -> Candidates | None:
    """Contacts further than `band` that the step has run into, as they are at its start; None where there are none."""
    reach = h * system.approach_bound(new, band / h)
    if reach <= band:
        return None
    wide = system.detect_on_the_way(state.t, state.q, new.q, band, reach)
    known = np.isin(wide.key, found.key)
    through = passed_through(system, wide, state.q, new.q)
    hit = ~known & wide.contact & ((system.gaps(wide, new.t, new.q) < 0.0) | through)
    return wide.take(hit | ~wide.contact) if hit.any() else None


def crossed(
    system: System, found: Candidates, ahead: Candidates, state: State, new: State, h: float, problem: ContactProblem,
    tol: float,
) -> Candidates | None:  # fmt: skip
    """Contacts of `ahead`, detected at the end of a step, that overlap there and are none of `found`; None without any.

    What counts is deeper than the foreseen contacts overlap, and than a step of first order may miss: ½ (h ω)² times
    the swing of each body, and what the tolerance leaves. A feature that lay beneath the surface at the start, outside
    the face that it has entered now, bounds nothing there and is left out.
    """
    if not isinstance(ahead, WorldCandidates):
        return None  # gap functions are all there in every step
    gaps = system.gaps(ahead, new.t, new.q)
    if not gaps[ahead.contact].min(initial=0.0) < 0.0:
        return None
    known = np.isin(ahead.key, found.key)
    model: Any = system
    spin = model.turning(new.v, h)
    f, contact = ahead.features, ahead.contact
    slack = h * tol * problem.scale + spin[f.body_a] + spin[f.body_b]
    least = -gaps[known & contact].min(initial=0.0)
    hit = np.zeros(len(gaps), dtype=bool)
    hit[contact] = -gaps[contact] > np.maximum(least, slack)
    hit &= ~known
    if not hit.any():
        return None
    hit[contact] &= system.gaps(ahead, state.t, state.q)[contact] >= -slack
    return ahead.take(hit | ~contact) if hit.any() else None
