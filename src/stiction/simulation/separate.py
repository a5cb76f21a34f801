"""Bodies that overlap at the start, moved apart by the smallest displacement in the metric of their masses."""

from __future__ import annotations

import numpy as np

from ..errors import ModelError
from ..problem.contact_problem import ContactProblem
from ..solvers import solve
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
        gaps = system.gaps(candidates, state.t, q)
        holds = candidates.contact | candidates.limit
        if -gaps[holds].min(initial=0.0) <= ENOUGH and gaps[candidates.rigid].max(initial=0.0) <= ENOUGH:
            return State(state.t, q, state.v)
        found = system.evaluate(candidates, state.t, q)
        dynamics = system.dynamics(q, found)
        sizes = np.diff(candidates.row_ptr)
        row_law = np.repeat(candidates.law, sizes)
        first = np.zeros(len(row_law), dtype=bool)
        first[candidates.row_ptr[:-1]] = True
        keep = np.repeat(candidates.rigid, sizes) | (np.repeat(holds, sizes) & first)
        W = dynamics.delassus()[np.ix_(keep, keep)]
        law = row_law[keep]
        problem = ContactProblem.from_delassus(W, found.value[keep], row_ptr=np.arange(len(law) + 1), law=law)
        p = np.zeros(len(row_law))
        p[keep] = solve(problem, solver="auto", tol=1e-10).p
        q = system.retract(q, dynamics.velocity_change(p))
    raise ModelError("the bodies could not be separated; move them apart by hand.")
