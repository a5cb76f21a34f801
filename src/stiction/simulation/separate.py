"""Bodies that overlap at the start, moved apart by the smallest displacement in the metric of their masses."""

from __future__ import annotations

from ..errors import ModelError
from ..schemes.projection import project, violation
from ..systems.base import State, System

ENOUGH = 1e-10  # m: what may remain of an overlap


def separate(system: System, state: State, maxiter: int = 100) -> State:
    """Project the configuration to one without overlaps and joint violations; velocities stay.

    Each iteration solves a frictionless contact problem for the displacement d: `gap + n d >= 0` at the least
    kinetic energy of d, and moves by it; curved gaps need a few.
    """
    q = state.q
    near = system.detect(state.t, q, 0.0)
    band = 2.0 * max(1e-6, float(-system.gaps(near, state.t, q)[near.contact].min(initial=0.0)))
    for _ in range(maxiter):
        # Contacts that just touch are held too, or the next push would drive bodies into them.
        candidates = system.detect(state.t, q, band)
        if violation(system, candidates, state.t, q) <= ENOUGH:
            return State(state.t, q, state.v)
        q = project(system, candidates, state.t, q, ENOUGH)
    raise ModelError("the bodies could not be separated; move them apart by hand.")
