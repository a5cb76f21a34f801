"""Events: when contacts are made and broken, change between sticking and slipping, or add energy in an impact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._check import FloatArray, IntArray
from ..problem.laws import DRY, UNILATERAL, Mode

if TYPE_CHECKING:
    from .trajectory import ContactTable

OPEN, STICK, SLIP = int(Mode.OPEN), int(Mode.STICK), int(Mode.SLIP)


@dataclass(frozen=True)
class Event:
    """Something happened at a contact in the step that ends at `time` [s].

    kind: "impact" (open before, closed now), "separation", "stick" (slip to stick) or "slip" (stick to slip); "gain"
    (an impact law has added `energy` [J], here and at contacts that act on this one) or "capped" (it would have:
    `Moreau(gains="cap")`); contact: the name of the contact, or of the two bodies, whose contact points count as one;
    impulse (6,): the impulse of the contact in that step [N·s], of several points the sum of their rows. A
    position-level scheme spreads an impact over two steps, so that its impulse continues into the next one.
    """

    time: float
    step: int
    kind: str
    contact: str
    impulse: FloatArray
    energy: float = 0.0

    def __repr__(self) -> str:
        more = f", energy {self.energy:.4g} J" if self.energy else ""
        place = f"{self.kind} at {self.contact!r}, t = {self.time:.6g} s"
        return f"Event({place}, normal impulse {self.impulse[0]:.4g} N s{more})"


def find_events(
    times: FloatArray,
    table: ContactTable,
    names: dict[int, str],
    bodies: list[str],
    closed: set[int],
    gains: list[tuple[int, int, float, bool]],
) -> list[Event]:
    """All events of a run, sorted by step and then by contact; `closed`: keys of contacts pressed before the run.

    gains: step, key of the contact, energy [J], and whether it was capped.
    """
    rows = np.flatnonzero((table.law == UNILATERAL) | (table.law == DRY))
    groups: dict[tuple[int, int], list[int]] = {}
    for row in rows.tolist():
        a, b = table.bodies[row].tolist()
        own = a < 0 or table.key[row] < 0  # a gap function, or a limit or the friction of a joint
        name = (-1, int(table.key[row])) if own else (min(a, b), max(a, b))
        groups.setdefault(name, []).append(row)
    found: list[tuple[int, int, Event]] = []
    for number, (name, members) in enumerate(sorted(groups.items())):
        label = names[name[1]] if name[0] < 0 else f"{bodies[name[0]]}/{bodies[name[1]]}"
        found += [
            (event.step, number, event) for event in _group_events(times, table, np.array(members), label, closed)
        ]
    for step, key, energy, capped in gains:
        at = int(np.flatnonzero((table.step == step) & (table.key == key))[0])
        a, b = sorted(table.bodies[at].tolist())
        label = names[key] if a < 0 or key < 0 else f"{bodies[a]}/{bodies[b]}"
        kind = "capped" if capped else "gain"
        event = Event(float(times[step + 1]), step, kind, label, table.impulse[at], energy)
        found.append((step, len(groups), event))
    return [event for _, _, event in sorted(found, key=lambda item: item[:2])]


def _group_events(times: FloatArray, table: ContactTable, rows: IntArray, label: str, closed: set[int]) -> list[Event]:
    """The events of one contact, or of all contact points between two bodies."""
    n = len(times) - 1
    mode, impulse = np.full(n, OPEN), np.zeros((n, table.impulse.shape[1]))
    np.add.at(impulse, table.step[rows], table.impulse[rows])
    for kind in (STICK, SLIP):  # slipping at one point is slipping
        mode[table.step[rows[table.mode[rows] == kind]]] = kind
    was_closed = table.law[rows[0]] == DRY or bool(closed & set(table.key[rows].tolist()))
    # Whether a contact was closed before the first step is known, but not whether it stuck: no event of friction.
    start = OPEN if not was_closed else int(mode[0]) if mode[0] != OPEN else SLIP
    before = np.concatenate([[start], mode[:-1]])
    return [
        Event(float(times[step + 1]), step, _kind(int(before[step]), int(mode[step])), label, impulse[step])
        for step in np.flatnonzero(mode != before).tolist()
    ]


def _kind(before: int, after: int) -> str:
    if before == OPEN:
        return "impact"
    if after == OPEN:
        return "separation"
    return "stick" if after == STICK else "slip"
