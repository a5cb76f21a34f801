"""Configurations moved to where no contact overlaps and every joint holds, by the smallest displacement there is."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._check import FloatArray
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Bodies, Delassus, Dense
from ..solvers import solve
from ..systems.base import Candidates, System

# Flat rows need one round, most curved gaps three. A thin body that would rather turn than rise needs more: it has its
# rounds for as long as each takes a tenth of what was left.
PROJECTIONS_MIN, PROJECTIONS_MAX, PROGRESS_SHARE = 3, 20, 0.9
NEAR_OVERLAPS = 10.0  # times the worst overlap: gaps up to this are held in a projection
RESIDUAL_MIN, RESIDUAL_MAX = 1e-12, 1e-3  # of the overlaps: what may be left of them, whatever is asked for


def violation(system: System, candidates: Candidates, t: float, q: FloatArray) -> float:
    """The deepest overlap, or the largest violation of a joint or limit [m]; angles at the arm of their bodies."""
    gaps = gaps_in_metres(system, candidates, t, q)
    holds = candidates.contact | candidates.limit
    return float(max(-gaps[holds].min(initial=0.0), gaps[candidates.rigid].max(initial=0.0)))


def gaps_in_metres(system: System, candidates: Candidates, t: float, q: FloatArray) -> FloatArray:
    """The gaps of all candidates [m]; those of joints that are angles at the arm of their bodies."""
    gaps = system.gaps(candidates, t, q)
    mechanism = getattr(candidates, "mechanism", None)
    if mechanism is not None and mechanism.n:
        model: Any = system
        value = model.measure(mechanism.rows, q, model.turns(q))[0]
        gaps[: mechanism.n] = mechanism.block_values(mechanism.length * value)
    return gaps


def projected(system: System, candidates: Candidates, t: float, q: FloatArray, drift: float) -> FloatArray:
    """q, moved to where nothing is violated by more than `drift` [m], or as near to that as it gets; the same if it is.

    What is left is carried on from step to step, and pushed out in each of them: that is energy from nowhere.
    """
    left = violation(system, candidates, t, q)
    for count in range(PROJECTIONS_MAX):
        if left <= drift:
            break
        there = project(system, candidates, t, q, 0.1 * drift)
        after = violation(system, candidates, t, there)
        if count >= PROJECTIONS_MIN and not after <= PROGRESS_SHARE * left:
            break
        q, left = there, after
    return q


def project(system: System, candidates: Candidates, t: float, q: FloatArray, tol: float) -> FloatArray:
    """One step towards the nearest admissible configuration, in the metric of the masses; curved gaps need a few.

    tol: what may be left of an overlap [m].

    It solves a frictionless contact problem for the displacement d: `gap + n d >= 0`, joints `value + H d = 0`, at the
    least kinetic energy of d. Contacts that just touch must be among the candidates, or bodies are driven into them;
    those much further apart than the worst overlap is deep are left out.
    """
    gaps = system.gaps(candidates, t, q)
    near = gaps <= NEAR_OVERLAPS * violation(system, candidates, t, q)
    candidates = candidates.take(near | ~candidates.contact)
    found = system.evaluate(candidates, t, q)
    form = system.dynamics(q, found)
    assert not isinstance(form, Delassus)
    sizes = np.diff(candidates.row_ptr)
    first = np.zeros(len(found.value), dtype=bool)
    first[candidates.row_ptr[:-1]] = True
    holds = np.repeat(candidates.contact | candidates.limit, sizes) & first
    keep = np.flatnonzero(np.repeat(candidates.rigid, sizes) | holds)
    if not len(keep):
        return q
    ptr = np.arange(len(keep) + 1)
    if isinstance(form, Bodies):
        body_a, body_b = (np.repeat(body, sizes)[keep] for body in (form.body_a, form.body_b))
        part: Bodies | Dense = Bodies.trusted(body_a, body_b, form.Ja[keep], form.Jb[keep], form.Minv, ptr)
    else:
        part = Dense(form.M, np.ascontiguousarray(form.H[keep]), check=False)
    law = np.repeat(candidates.law, sizes)[keep]
    problem = ContactProblem(part, b=found.value[keep], row_ptr=ptr, law=law, length=found.length[keep])
    left = min(max(tol / problem.scale, RESIDUAL_MIN), RESIDUAL_MAX)
    return system.retract(q, solve(problem, solver="auto", tol=left).v)
