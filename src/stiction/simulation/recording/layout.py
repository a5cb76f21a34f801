"""The layout of a recording: which datasets there are, of what type and width (docs/recordings.md says it for readers).

A recording is a sequence of frames. `frames/*` have one row per frame; the first frame is the state at the start, to
which no step led: its step columns are zero. Tables (`contacts`, `events`, `memory`, `groups`) have any number of rows
per frame: those of frame i are `first[i]` to `first[i] + count[i]`; rows between belong to no frame. The writer appends
whole chunks and then says in `committed` how many frames are complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from ...errors import ModelError
from ...schemes.base import Contacts

FORMAT = "stiction-recording"
VERSION = 3
FIELDS = ("velocity", "energy", "certificate", "joints", "contacts", "events", "checkpoints")
KINDS = ("impact", "separation", "stick", "slip", "gain", "capped")  # of events, by number


@dataclass(frozen=True)
class Column:
    """A dataset: what one row of it is."""

    name: str
    dtype: str
    width: tuple[int, ...] = ()


_DTYPES = {"law": "i1", "mode": "i1", "bodies": "i4", "key": "i8"}
_WIDTHS = {"impulse": (6,), "velocity": (6,), "bodies": (2,), "normal": (3,), "point": (3,), "tangent": (3,)}
CONTACTS = tuple(
    Column(field.name, _DTYPES.get(field.name, "f8"), _WIDTHS.get(field.name, ())) for field in fields(Contacts)
)
EVENTS = (
    Column("kind", "i1"),
    Column("group", "i8", (2,)),  # two bodies, or -1 and the key of a constraint
    Column("impulse", "f8", (6,)),
    Column("energy", "f8"),
)
MEMORY = (Column("key", "i8"), Column("impulse", "f8", (6,)))
GROUPS = (Column("group", "i8", (2,)), Column("mode", "i1"))


def chosen_fields(wanted: Any) -> tuple[str, ...]:
    """The fields to record, checked: names of `FIELDS`, or `contacts.gap` and the like; all for None."""
    if wanted is None:
        return FIELDS
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    columns = [f"contacts.{column.name}" for column in CONTACTS]
    for name in names:
        if name not in FIELDS and name not in columns:
            raise ModelError(f"fields: {name!r} is not known; there are {', '.join((*FIELDS, *columns))}.")
    if "checkpoints" in names and "velocity" not in names:
        raise ModelError("fields: checkpoints need the velocity; add 'velocity' or leave 'checkpoints' out.")
    return tuple(name for name in (*FIELDS, *columns) if name in names)


@dataclass(frozen=True)
class Layout:
    """The columns of `frames` and of the tables by name, and the number of bodies, by which chunks are sized."""

    frames: tuple[Column, ...]
    tables: dict[str, tuple[Column, ...]]
    bodies: int

    @classmethod
    def of(cls, header: Mapping[str, Any]) -> Layout:
        """The layout that the header of a recording describes."""
        chosen, widths = header["fields"], header["widths"]
        frames = frame_columns(chosen, widths, len(header["work"]), len(header["certificate"]))
        return cls(frames, tables(chosen, widths.get("springs", 0)), int(header["bodies"]))


def is_light(chosen: Iterable[str]) -> bool:
    """Whether states alone are recorded, so that the compiled loop needs no step in Python at a frame."""
    return not any(name in ("energy", "events", "contacts") or name.startswith("contacts.") for name in chosen)


def frame_columns(chosen: Iterable[str], widths: Mapping[str, int], work: int, residuals: int) -> tuple[Column, ...]:
    """The columns of `frames`; widths: those of q, v, joints and turns."""
    columns = [Column("step", "i8"), Column("time", "f8"), Column("q", "f8", (widths["q"],)), Column("success", "i1")]
    optional = {
        "velocity": [Column("v", "f8", (widths["v"],))],
        "energy": [Column("energy", "f8", (2,)), Column("work", "f8", (work,))],
        "certificate": [Column("certificate", "f8", (residuals,))],
        "joints": [Column("joints", "f8", (widths["joints"], 2))],
        "checkpoints": [Column("checkpoint", "i1"), Column("turns", "f8", (widths["turns"],))],
    }
    columns += [column for name in chosen for column in optional.get(name, [])]
    return tuple(column for column in columns if 0 not in column.width)


def tables(chosen: Iterable[str], springs: int = 0) -> dict[str, tuple[Column, ...]]:
    """The tables of a recording with these fields, by name; springs: what elastic contacts remember, in numbers."""
    names = set(chosen)
    found: dict[str, tuple[Column, ...]] = {}
    contacts = tuple(c for c in CONTACTS if "contacts" in names or f"contacts.{c.name}" in names or c.name == "key")
    if "contacts" in names or len(contacts) > 1:
        found["contacts"] = contacts
    if "events" in names:
        found["events"] = EVENTS
    if "checkpoints" in names:
        found |= {"memory": (*MEMORY, Column("springs", "f8", (springs,))) if springs else MEMORY, "groups": GROUPS}
    return found
