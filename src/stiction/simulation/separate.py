"""Bodies that overlap at the start: found, and moved apart by the smallest displacement in the metric of masses."""

from __future__ import annotations

import numpy as np

from ..errors import ModelError
from ..problem.laws import UNILATERAL
from ..schemes.projection import gaps_in_metres, project, violation
from ..systems.base import State, System
from ..systems.sizes import extent

# Of the size of the bodies: what may remain of an overlap, what is refused at a start, and how far is looked at least.
OVERLAP_LEFT_SHARE, OVERLAP_REFUSED_SHARE, BAND_MIN_SHARE = 1e-10, 1e-9, 1e-6


def overlaps(system: System, state: State, soft: bool) -> dict[str, float]:
    """How deep [m] pairs of bodies overlap, by name; joints that are violated are refused.

    soft: all contacts give way, and so may overlap; those with a compliance of their own may in any case.
    """
    candidates = system.detect(state.t, state.q, 0.0)
    gaps = system.gaps(candidates, state.t, state.q)
    at_start = system.evaluate(candidates, state.t, state.q)
    gives = soft & (candidates.law == UNILATERAL)
    for own in (at_start.soft, at_start.elastic):
        if own is not None:
            gives = gives | np.isfinite(own[:, 0])
    off, metres = (
        np.where(candidates.rigid, g, np.where(candidates.contact | candidates.limit, -g, 0.0))
        for g in (gaps, gaps_in_metres(system, candidates, state.t, state.q))
    )
    found: dict[str, float] = {}
    for k in np.flatnonzero((metres > OVERLAP_REFUSED_SHARE * extent(system)) & ~gives).tolist():
        name = system.constraint_name(int(candidates.key[k]))
        if not candidates.contact[k]:
            raise ModelError(f"constraint {name!r} is violated by {off[k]:.3g} at the start; correct the initial q.")
        pair = name.rsplit(" ", 1)[0] if "/" in name else name
        found[pair] = max(found.get(pair, 0.0), float(off[k]))
    return found


def separate(system: System, state: State, maxiter: int = 100) -> State:
    """Project the configuration to one without overlaps and joint violations; velocities stay.

    Each iteration solves a frictionless contact problem for the displacement d: `gap + n d >= 0` at the least
    kinetic energy of d, and moves by it; curved gaps need a few.
    """
    q = state.q
    near = system.detect(state.t, q, 0.0)
    size = extent(system)
    band = 2.0 * max(BAND_MIN_SHARE * size, float(-system.gaps(near, state.t, q)[near.contact].min(initial=0.0)))
    for _ in range(maxiter):
        # Contacts that just touch are held too, or the next push would drive bodies into them.
        candidates = system.detect(state.t, q, band)
        if violation(system, candidates, state.t, q) <= OVERLAP_LEFT_SHARE * size:
            return State(state.t, q, state.v)
        q = project(system, candidates, state.t, q, OVERLAP_LEFT_SHARE * size)
    raise ModelError("the bodies could not be separated; move them apart by hand.")
