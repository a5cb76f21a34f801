"""Missed contacts: a step has run into them unforeseen. They are found after it, and it is solved again with them.

Which contacts may act is detected at the start of a step, within a band. Two things escape that: impulses make a body
faster than the motion by which the band was chosen (`met_beyond_band`), and a body turns so that other features of it
come first than those that were nearest (`met_new_features`). Every rigid scheme takes its steps by
`solve_with_missed_contacts`, which looks for both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._check import FloatArray
from ..problem.contact_problem import ContactProblem
from ..solvers.base import Solution
from ..status import Status
from ..systems.base import Candidates, State, System
from ..systems.model.candidates import WorldCandidates
from ..systems.model.detection import CODES
from .base import Contacts, Scheme, Solve, StepResult, detect_at_end, passed_through

RETRIES_MAX = 3  # times that a step is solved again


@dataclass(frozen=True)
class Attempt:
    """A step solved with the contacts that were foreseen.

    new: where it ends; problem: the contact problem of its last solve; status: how it ended; solves: all that were made
    in the step, by role; to_result: the result, given what is detected at its end.
    """

    new: State
    problem: ContactProblem
    status: Status
    solves: list[tuple[str, Solution]]
    to_result: Callable[[Candidates], StepResult]


def solve_with_missed_contacts(
    scheme: Scheme, system: System, state: State, h: float, solve: Solve, attempt: Callable[[Candidates], Attempt],
    look: bool = True,
) -> StepResult:  # fmt: skip
    """One step by `attempt`, made again with the contacts that it has run into, at most `RETRIES_MAX` times.

    `attempt` gets what is detected within the band of the scheme at the start, and what earlier attempts have run into.
    look: False where the user has said which contacts act, so that there is nothing to look for.
    """
    band = scheme.band(system, state, h)
    found = system.detect(state.t, state.q, band)
    for count in range(RETRIES_MAX + 1):
        attempted = attempt(found)
        new = attempted.new
        if not (np.isfinite(new.q).all() and np.isfinite(new.v).all()):
            bad = Status.NONFINITE
            return StepResult(state, False, bad, bad.sentence, Contacts.none(), tuple(attempted.solves), None)
        at_end = detect_at_end(scheme, system, new, h)
        missed = None
        # gap functions are all there in every step
        if look and attempted.status.taken and isinstance(found, WorldCandidates):
            left = solve.tol if attempted.status.success else solve.largest(attempted.problem.nr)
            missed = met_beyond_band(system, found, state, new, h, band)
            missed = missed or met_new_features(system, found, at_end, state, new, h, attempted.problem, left)
        if missed is None:
            return attempted.to_result(at_end)
        if count < RETRIES_MAX:
            found = system.joined(found, missed)
    assert isinstance(missed, WorldCandidates)
    model: Any = system
    # contacts that were added where nearest points had moved to: points of a rim halve the way to the next each time
    added = missed.key[missed.contact] % CODES >= CODES - RETRIES_MAX - 1
    if (model.rims(missed.features) & added).all():
        return attempted.to_result(at_end)
    name = system.constraint_name(int(missed.key[missed.contact][0]))
    message = f"Solved {RETRIES_MAX + 1} times, the step still runs into what it had not foreseen: contact {name!r}."
    return replace(attempted.to_result(at_end), success=False, status=Status.NOT_CONVERGED, message=message)


def met_beyond_band(
    system: System, found: Candidates, state: State, new: State, h: float, band: float
) -> Candidates | None:
    """Contacts further than `band` that the step has run into, as they are at its start; None where there are none."""
    reach = h * system.approach_bound(new, band / h)
    if reach <= band:
        return None
    wide = system.detect_on_the_way(state.t, state.q, new.q, band, reach)
    known = np.isin(wide.key, found.key)
    through = passed_through(system, wide, state.q, new.q)
    hit = ~known & wide.contact & ((system.gaps(wide, new.t, new.q) < 0.0) | through)
    return wide.take(hit | ~wide.contact) if hit.any() else None


def met_new_features(
    system: System, found: Candidates, at_end: Candidates, state: State, new: State, h: float, problem: ContactProblem,
    tol: float,
) -> Candidates | None:  # fmt: skip
    """Contacts of `at_end`, detected at the end of a step, that overlap there and were not foreseen; None without any.

    Foreseen are those of `found` that are the same two features still. What counts is deeper than these overlap, and
    than a step of first order may miss: ½ (h ω)² times the swing of each body, and what the tolerance leaves. A feature
    that lay beneath the surface at the start, outside the face that it has entered now, bounds nothing there and is
    left out. The nearest points of two convex shapes are no features: they may be elsewhere at the end, where a rod
    lies on the second of its supports, and then act as a point and a plane, fixed to the bodies as they meet there.
    """
    assert isinstance(found, WorldCandidates)
    assert isinstance(at_end, WorldCandidates)
    gaps = system.gaps(at_end, new.t, new.q)
    if not gaps[at_end.contact].min(initial=0.0) < 0.0:
        return None
    model: Any = system
    spin = model.turning(new.v, h)
    f, contact = at_end.features, at_end.contact
    slack = np.zeros(len(gaps))
    slack[contact] = h * tol * problem.scale + spin[f.body_a] + spin[f.body_b]
    foreseen = _foreseen(system, found, at_end, new, gaps, slack)
    least = -gaps[foreseen & contact].min(initial=0.0)
    hit = contact & ~foreseen & (-gaps > np.maximum(least, slack))
    if not hit.any():
        return None
    missed = model.held_where_they_meet(at_end.take(hit | ~contact), new.q, found.key)
    hit = hit[hit | ~contact] & (system.gaps(missed, state.t, state.q) >= -slack[hit | ~contact])
    return missed.take(hit | ~missed.contact) if hit.any() else None


def _foreseen(
    system: System, found: WorldCandidates, at_end: WorldCandidates, new: State, gaps: FloatArray, slack: FloatArray
) -> np.ndarray:
    """Which contacts of `at_end` overlap at the end of the step as much as what was foreseen of them.

    Of a feature of each body that is the same contact of `found`; of two nearest points any such contact of the pair,
    but for shapes with curved sides, on which they move on bit by bit.
    """
    model: Any = system
    meant, then = np.full(len(gaps), np.inf), system.gaps(found, new.t, new.q)
    known = np.isin(at_end.key, found.key)  # both are sorted by key
    meant[known] = then[np.isin(found.key, at_end.key)]
    nearest = np.zeros(len(gaps), dtype=bool)
    nearest[at_end.contact] = model.jumps(at_end.features)
    if nearest.any():
        fixed = found.contact.copy()
        fixed[fixed] = ~model.jumps(found.features)
        pairs, pair = np.unique(np.concatenate([found.key[fixed], at_end.key[nearest]]) // CODES, return_inverse=True)
        least = np.full(len(pairs), np.inf)
        np.minimum.at(least, pair[: fixed.sum()], then[fixed])
        meant[nearest] = least[pair[fixed.sum() :]]
    return meant <= gaps + slack
