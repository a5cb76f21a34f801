"""Events: when contacts are made and broken, change between sticking and slipping, or add energy in an impact."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._check import FloatArray, IntArray
from ..problem.laws import DRY, UNILATERAL, Mode
from ..schemes.base import Contacts, Gain
from ..systems.model.base import CODES
from .recording.layout import KINDS

if TYPE_CHECKING:
    from .trajectory import ContactTable

OPEN, STICK, SLIP = int(Mode.OPEN), int(Mode.STICK), int(Mode.SLIP)
_OWN = 1 << 62  # codes below zero are of constraints that are no pair of bodies


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


class EventTracker:
    """Finds events frame by frame, as they are recorded; what it remembers of the last frame is `memory`."""

    def __init__(self, bodies: int, closed: tuple[IntArray, IntArray], memory: Mapping[str, Any] | None = None):
        """bodies: their number; closed: keys (n,) and bodies (n, 2) of contacts that are pressed before the run."""
        self._bodies, self._fresh = bodies, memory is None
        if memory is None:
            self._codes = np.unique(self._code(*closed))
            self._modes = np.full(len(self._codes), SLIP)
        else:
            given = np.asarray(memory["group"], dtype=np.int64)
            self._codes = np.where(given[:, 0] < 0, given[:, 1] - _OWN, given[:, 0] * bodies + given[:, 1])
            self._modes = np.asarray(memory["mode"], dtype=np.int64)

    def memory(self) -> dict[str, Any]:
        """The contacts that were closed in the last frame and their modes."""
        return {"group": self._groups(self._codes), "mode": self._modes}

    def update(self, contacts: Contacts, gains: tuple[Gain, ...]) -> dict[str, Any]:
        """The events of a frame: kind, group, impulse and energy of each."""
        if not (len(contacts) or len(self._codes)):
            self._fresh = False
            return {}
        rows = np.flatnonzero((contacts.law == UNILATERAL) | (contacts.law == DRY))
        code = self._code(contacts.key[rows], contacts.bodies[rows])
        now, member = _distinct(code)
        mode = np.full(len(now), OPEN)
        for kind in (STICK, SLIP):  # slipping at one point is slipping
            mode[member[contacts.mode[rows] == kind]] = kind
        at = np.minimum(np.searchsorted(now, self._codes), max(0, len(now) - 1))
        still_there = now[at] == self._codes if len(now) else np.zeros(len(self._codes), dtype=bool)
        either, place = now, member
        before, after = np.full(len(now), OPEN), mode
        before[at[still_there]] = self._modes[still_there]
        if not still_there.all():  # contacts that are no longer there
            either = np.union1d(now, self._codes[~still_there])
            place = np.searchsorted(either, code)
            before, after = _look_up(self._codes, self._modes, either), _look_up(now, mode, either)
        if self._fresh:
            # Whether a contact was closed before the run is known, but not whether it stuck: no event of friction.
            dry = np.isin(either, code[contacts.law[rows] == DRY])
            before = np.where((before != OPEN) | dry, np.where(after == OPEN, SLIP, after), OPEN)
            self._fresh = False
        differs = before != after
        changed = np.flatnonzero(differs)
        impulse = np.zeros((len(either), contacts.impulse.shape[1]))
        some = np.flatnonzero(differs[place])
        np.add.at(impulse, place[some], contacts.impulse[rows[some]])
        closed = mode != OPEN
        self._codes, self._modes = now[closed], mode[closed]
        kinds = _kinds(before[changed], after[changed])
        rows_of_gains = [int(np.flatnonzero(contacts.key == gain.key)[0]) for gain in gains]
        groups = [either[changed], self._code(contacts.key[rows_of_gains], contacts.bodies[rows_of_gains])]
        return {
            "kind": np.array([*kinds, *(KINDS.index("capped" if g.capped else "gain") for g in gains)], dtype=np.int64),
            "group": self._groups(np.concatenate(groups)),
            "impulse": np.concatenate([impulse[changed], contacts.impulse[rows_of_gains]]),
            "energy": np.concatenate([np.zeros(len(kinds)), [gain.energy for gain in gains]]),
        }

    def _code(self, keys: IntArray, bodies: IntArray) -> IntArray:
        """(n,) one number for each contact, or for the two bodies whose contact points count as one."""
        a, b = np.minimum(bodies[:, 0], bodies[:, 1]), np.maximum(bodies[:, 0], bodies[:, 1])
        single = (bodies[:, 0] < 0) | (keys < 0)  # a gap function, or a limit or the friction of a joint
        return np.where(single, keys - _OWN, a * self._bodies + b)

    def _groups(self, codes: IntArray) -> IntArray:
        """(n, 2) two bodies, or -1 and a key."""
        single = codes < 0
        size = max(1, self._bodies)
        return np.column_stack([np.where(single, -1, codes // size), np.where(single, codes + _OWN, codes % size)])


def _distinct(codes: IntArray) -> tuple[IntArray, IntArray]:
    """The different codes, sorted, and the place of each; in most scenes every contact is a group of its own."""
    if (codes[1:] > codes[:-1]).all():
        return codes, np.arange(len(codes))
    return np.unique(codes, return_inverse=True)


def _look_up(codes: IntArray, modes: IntArray, wanted: IntArray) -> IntArray:
    """The modes of `wanted`; OPEN where they are not among `codes`, which are sorted."""
    if not len(codes):
        return np.full(len(wanted), OPEN)
    at = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
    return np.where(codes[at] == wanted, modes[at], OPEN)


def closed_before(info: Mapping[str, Any], table: ContactTable | None = None) -> tuple[IntArray, IntArray]:
    """Keys (n,) and bodies (n, 2) of the contacts that were pressed before a run; bodies -1 where there are none."""
    keys, world = np.array(sorted(info["closed"]), dtype=np.int64), info.get("world")
    bodies = np.full((len(keys), 2), -1)
    if world is not None and "shapes" not in world:  # as in files of version 2
        assert table is not None
        seen, at = np.unique(table.key, return_index=True)
        keys = np.intersect1d(keys, seen)
        return keys, table.bodies[at[np.searchsorted(seen, keys)]]
    if world is not None:
        met, shapes = keys >= 0, np.array(world["shapes"], dtype=np.int64)
        for i, part in enumerate(np.divmod(keys[met] // CODES, len(shapes))):
            bodies[met, i] = shapes[part]
    return keys, bodies


def event_rows(n: int, table: ContactTable, info: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The events of each of n steps of a run in memory, as a recording has them."""
    world = info.get("world")
    tracker = EventTracker(0 if world is None else len(world["bodies"]), closed_before(info, table))
    gains: dict[int, list[Gain]] = {}
    for step, *gain in info.get("gains", []):
        gains.setdefault(step, []).append(Gain(*gain))
    ends = [0, *np.searchsorted(table.step, np.arange(n), side="right").tolist()]
    names = ("key", "law", "mode", "bodies", "impulse")
    columns = {name: getattr(table, name) for name in names}
    none = Contacts.none()
    out = []
    for step in range(n):
        some = {name: values[ends[step] : ends[step + 1]] for name, values in columns.items()}
        out.append(tracker.update(replace(none, **some), tuple(gains.get(step, []))))
    return out


def read_events(
    time: float, step: int, rows: Mapping[str, Any], name: Callable[[int], str], world: Mapping[str, Any] | None
) -> list[Event]:
    """The events of a step from their rows; name: of a constraint by its key."""
    bodies = [] if world is None else world["bodies"]
    out = []
    for kind, (a, b), impulse, energy in zip(rows["kind"], rows["group"].tolist(), rows["impulse"], rows["energy"]):
        label = name(b) if a < 0 else f"{bodies[a]}/{bodies[b]}"
        out.append(Event(time, step, KINDS[int(kind)], label, impulse, float(energy)))
    return out


def _kinds(before: IntArray, after: IntArray) -> IntArray:
    """The events, by number, of contacts that have changed from one mode to another."""
    impact, separation, stick, slip = (KINDS.index(kind) for kind in ("impact", "separation", "stick", "slip"))
    closed = np.where(after == OPEN, separation, np.where(after == STICK, stick, slip))
    return np.where(before == OPEN, impact, closed)
