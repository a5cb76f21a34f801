"""Which contacts hit each other in a step, and how fast: what `Moreau` decides before it solves anything.

A contact that approaches no faster than what forces do in two steps is not an impact: it rests, or is about to. For
bodies in free flight only the forces along the normal count, so that a ball strikes a wall however slowly. A body that
others press gets forces from any side, through them: there the whole change of velocity counts, 2 h times weight over
mass, and a pile comes to rest.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from .._check import FloatArray, IntArray
from ..problem.dynamics import Bodies, Dense
from ..systems.base import Candidates, State, System
from ..systems.restitution import LAWS, SCHEME

APPROACH_ROUND_OFF = 1e-13  # of the velocities whose difference is an approach


@dataclass(frozen=True)
class Approach:
    """Contacts at the start of a step, each array (nk,).

    gap [m]; rate: what obstacles given as functions of time do to it [m/s], which no velocity knows of; before: its
    speed with that; pull [m/s]: what forces along the normal can add to an approach in the step; e and law: restitution
    and whose (`systems/restitution.py`); slow [m/s]: an approach up to this is not an impact; hits: whether it is one.
    """

    gap: FloatArray
    rate: FloatArray
    before: FloatArray
    pull: FloatArray
    e: FloatArray
    law: IntArray
    slow: FloatArray
    hits: np.ndarray

    @classmethod
    def of(
        cls,
        system: System,
        candidates: Candidates,
        state: State,
        h: float,
        form: Dense | Bodies,
        v_free: FloatArray,
        impact: str,
        tol: float,
    ) -> Approach:
        """Of the candidates, whose rows are those of `form`; impact: the law of the scheme; tol: of its solver."""
        normal, contact = candidates.row_ptr[:-1], candidates.contact
        gap = system.gaps(candidates, state.t, state.q)
        rate = np.where(contact, (system.gaps(candidates, state.t + h, state.q) - gap) / h, 0.0)
        before = form.velocity_rows(state.v)[normal] + rate
        e = candidates.restitution(np.maximum(-before, 0.0))
        given = candidates.impact_laws
        law = np.where(given == SCHEME, LAWS.index(impact), given)
        change = v_free - state.v
        pressed = _pressed(form, state.was_active(candidates.key) & contact)
        pull = form.row_magnitude(change)[normal]
        slow = 2.0 * np.where(pressed, form.row_reach(change)[normal], pull)
        # bodies that move together do not hit each other, whatever round-off and the solver's tolerance leave
        noise = APPROACH_ROUND_OFF * form.row_magnitude(state.v)[normal]
        noise = np.maximum(noise, tol * np.sqrt(np.mean(before[contact] ** 2)) if contact.any() else 0.0)
        reached = gap + h * (before - pull) <= 0.0
        struck = reached & (contact | (candidates.limit & (e > 0.0)))
        hits = struck & (before < -np.maximum(slow, noise)) & (before < 0.0)
        return cls(gap, rate, before, pull, e, law, slow, hits)

    def take(self, mask: np.ndarray) -> Approach:
        """A selection."""
        return Approach(*(getattr(self, field.name)[mask] for field in fields(self)))


def _pressed(form: Dense | Bodies, active: np.ndarray) -> np.ndarray:
    """(nk,) contacts with a body that carried an impulse before; without bodies, those that carried one themselves."""
    if isinstance(form, Dense):
        return active
    moves = np.append(np.abs(form.Minv).sum(axis=(1, 2)) > 0.0, False)
    held = np.zeros(len(moves), dtype=bool)
    held[form.body_a[active]] = held[form.body_b[active]] = True
    held &= moves
    return np.asarray(held[form.body_a] | held[form.body_b])
