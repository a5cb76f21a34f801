"""How far a step may give way that was solved with a little compliance in every contact."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..problem.laws import UNILATERAL
from ..status import Status
from ..systems.base import System
from .base import StepResult

DEEPEST = 0.01  # of the smaller body's reach: regularised piles overlap by a thousandth


def bounded(result: StepResult, system: System) -> StepResult:
    """The step; a failure where it is regularised, and a contact is deeper than `DEEPEST` at its end and gets deeper.

    That is what no motion of rigid bodies can do: a compliance lets two plates close on a stone, step after step.
    """
    if result.status is not Status.REGULARISED:
        return result
    contacts = result.contacts
    size = getattr(system, "lever", None)  # infinite for bodies that no force moves
    if size is None:
        return result
    smaller = size[contacts.bodies].min(axis=1)
    deep = (contacts.law == UNILATERAL) & (contacts.gap < -DEEPEST * smaller) & (contacts.velocity[:, 0] < 0.0)
    if not deep.any():
        return result
    worst = int(np.argmin(np.where(deep, contacts.gap, 0.0)))
    message = (
        f"{result.message} That leaves {system.constraint_name(int(contacts.key[worst]))!r} overlapping by "
        f"{-contacts.gap[worst]:.1e} m, more than a hundredth of the body, and deeper than before: no motion of rigid "
        f"bodies does what is asked."
    )
    return replace(result, success=False, status=Status.NOT_CONVERGED, message=message)
