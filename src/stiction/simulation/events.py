"""Events: when contacts are made and broken, and when they change between sticking and slipping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._check import FloatArray
from ..problem.laws import Law, Mode

if TYPE_CHECKING:
    from .trajectory import ContactTable


@dataclass(frozen=True)
class Event:
    """Something happened at a contact in the step that ends at `time` [s].

    kind: "impact" (open before, closed now), "separation", "stick" (slip to stick) or "slip" (stick to slip); impulse
    (6,): the contact's impulse in that step [N·s]. A position-level scheme spreads an impact over two steps, so the
    impulse of an impact continues into the next one.
    """

    time: float
    step: int
    kind: str
    contact: str
    impulse: FloatArray

    def __repr__(self) -> str:
        return (
            f"Event({self.kind} at {self.contact!r}, t = {self.time:.6g} s, normal impulse {self.impulse[0]:.4g} N s)"
        )


def find_events(times: FloatArray, table: ContactTable, names: dict[int, str], closed: set[int]) -> list[Event]:
    """All events of a run, sorted by step and then by constraint key; `closed`: contacts pressed before the run."""
    found: list[tuple[int, int, Event]] = []
    n = len(times) - 1
    for key in np.unique(table.key).tolist():
        rows = np.flatnonzero(table.key == key)
        law = table.law[rows[0]]
        if law not in (Law.UNILATERAL, Law.DRY):
            continue
        mode = np.full(n, int(Mode.OPEN))
        mode[table.step[rows]] = table.mode[rows]
        row_of = {int(step): int(row) for step, row in zip(table.step[rows], rows)}
        # Whether a contact was closed before the first step is known, but not whether it stuck: no event of friction.
        open_before = law == Law.UNILATERAL and key not in closed
        start = int(Mode.OPEN) if open_before else int(mode[0])
        if law == Law.UNILATERAL and key in closed and mode[0] == Mode.OPEN:
            start = int(Mode.SLIP)
        before = np.concatenate([[start], mode[:-1]])
        for step in np.flatnonzero(mode != before).tolist():
            kind = _kind(int(before[step]), int(mode[step]))
            row = row_of.get(step)
            impulse = np.zeros(6) if row is None else table.impulse[row]
            found.append((step, key, Event(float(times[step + 1]), step, kind, names[key], impulse)))
    return [event for _, _, event in sorted(found, key=lambda item: item[:2])]


def _kind(before: int, after: int) -> str:
    if before == Mode.OPEN:
        return "impact"
    if after == Mode.OPEN:
        return "separation"
    return "stick" if after == Mode.STICK else "slip"
