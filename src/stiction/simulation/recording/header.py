"""What the header of a recording must be, field by field: files may come from anywhere."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ... import _check
from ...errors import ModelError
from ...systems.elastic import MEMORY
from ...systems.model.base import CODES
from ..trajectory import BALANCE, CERTIFICATE, LIGHT
from .layout import chosen_fields, is_light


class Kind(NamedTuple):
    """A kind of value: its words, and whether a value is one."""

    words: str
    fits: Callable[[Any], bool]


def _real(x: Any) -> bool:
    return isinstance(x, (int, float)) and not isinstance(x, bool) and abs(x) < 1e300 and math.isfinite(x)


TEXT = Kind("a text", lambda x: isinstance(x, str))
INTEGER = Kind("a whole number", lambda x: type(x) is int and abs(x) < 1 << 62)
COUNT = Kind("a whole number, zero or more", lambda x: type(x) is int and 0 <= x < 1 << 53)
POSITIVE_COUNT = Kind("a whole number above zero", lambda x: type(x) is int and 0 < x < 1 << 53)
REAL = Kind("a number", _real)
POSITIVE = Kind("a number above zero", lambda x: _real(x) and x > 0)
DIMENSION = Kind("2 or 3", lambda x: type(x) is int and x in (2, 3))
FLAG = Kind("true or false", lambda x: isinstance(x, bool))
ANY = Kind("anything", lambda x: True)

# An object is a dict of its fields (`?`: may be missing) or {TEXT: kind of all}; a list is [kind], a tuple a choice.
WORLD = {"dim": DIMENSION, "bodies": [TEXT], "com": [[REAL]], "shapes?": [COUNT]}
INFO = {
    "dt": POSITIVE, "tol": REAL, "accept?": (REAL, None), "scheme?": TEXT, "solver?": TEXT, "system?": TEXT,
    "version?": TEXT, "coordinates": [TEXT], "velocities": [TEXT], "joints": [TEXT], "constraints": {TEXT: TEXT},
    "near?": [INTEGER], "closed": [INTEGER], "indeterminate?": ([TEXT], None), "weight?": (REAL, None),
    "world": (WORLD, None), "gains?": [[ANY]],
}  # fmt: skip
SCHEDULE = {
    "start": COUNT,
    "steps": POSITIVE_COUNT,
    "every": (POSITIVE_COUNT, None),
    "fps": (POSITIVE, None),
    "dt": POSITIVE,
}
HEADER = {
    "info": INFO, "fields": [TEXT],
    "widths": {"q": COUNT, "v": COUNT, "joints": COUNT, "turns": COUNT, "springs?": COUNT},
    "bodies": COUNT, "work": [TEXT], "certificate": [TEXT], "schedule?": SCHEDULE, "origin?": REAL,
    "scene?": (TEXT, None),
}  # fmt: skip
SHAPES = {
    "surfaces": [{"vertices": ANY, "triangles": ANY, "endless": FLAG}], "bodies": [[COUNT]], "kinds?": [TEXT],
    "pins?": [{"a": COUNT, "b": COUNT, "pa": [REAL], "pb": [REAL]}],
}  # fmt: skip


def fault(name: str, value: Any, kind: Any) -> str | None:
    """What is wrong with a value of a kind, as above; None where nothing is."""
    if isinstance(kind, Kind):
        return None if kind.fits(value) else f"{name} is not {kind.words}"
    if kind is None:
        return None if value is None else f"{name} is not null"
    if isinstance(kind, tuple):
        said = [fault(name, value, one) for one in kind]
        return None if None in said else said[0]
    if not isinstance(value, type(kind)):
        return f"{name} is not {'a list' if isinstance(kind, list) else 'an object'}"
    if isinstance(kind, list) and isinstance(kind[0], Kind) and all(map(kind[0].fits, value)):
        return None  # long lists, quickly
    if isinstance(kind, list):
        pairs = [(f"{name}[{i}]", one, kind[0]) for i, one in enumerate(value)]
    elif TEXT in kind:
        pairs = [(f"{name}.{key}", one, kind[TEXT]) for key, one in value.items()]
    else:
        kinds = {key.rstrip("?"): one for key, one in kind.items()}
        missing = next((key for key in kind if not key.endswith("?") and key not in value), None)
        if missing is not None:
            return f"{name} has no {missing}"
        pairs = [(f"{name}.{key}", value[key], one) for key, one in kinds.items() if key in value]
    return next((said for said in (fault(*pair) for pair in pairs) if said), None)


def check_header(header: Any) -> None:
    """Refuse a header of a recording by its first field that is not what it must be, or does not fit another."""
    _refuse(fault("header", header, HEADER))
    info, widths, schedule = header["info"], header["widths"], header.get("schedule")
    world = info["world"]
    chosen = chosen_fields(header["fields"])
    names = LIGHT if is_light(chosen) else CERTIFICATE
    agree = {
        "widths.q and info.coordinates": widths["q"] == len(info["coordinates"]),
        "widths.v and info.velocities": widths["v"] == len(info["velocities"]),
        "widths.joints and info.joints": widths["joints"] == len(info["joints"]),
        "widths.springs and what contacts remember": widths.get("springs", 0) in (0, MEMORY),
        "work and the parts of an energy balance": header["work"] == list(BALANCE),
        "certificate and the residuals": {"scaled_map"} <= {*header["certificate"]} <= {*names},
        "fields and schedule": "checkpoints" not in chosen or (schedule is not None and "origin" in header),
        "schedule.every and schedule.fps": schedule is None or (schedule["every"] is None) != (schedule["fps"] is None),
    }
    if world is None:
        agree["bodies and widths.q"] = header["bodies"] == widths["q"]
    else:
        bodies, dim, shapes = len(world["bodies"]), world["dim"], world.get("shapes")
        keys = info["closed"] + info.get("near", [])
        agree |= {
            "bodies and info.world.bodies": header["bodies"] == bodies,
            "info.coordinates and info.world.bodies": _named(
                info["coordinates"], world["bodies"], 7 if dim == 3 else 3
            ),
            "info.velocities and info.world.bodies": _named(info["velocities"], world["bodies"], 6 if dim == 3 else 3),
            "info.world.shapes and info.world.bodies": max(shapes or [0]) < bodies,
            "info.world.com and info.world.bodies": [len(com) for com in world["com"]] == [dim] * bodies,
            "info.near, info.closed and info.world.shapes": shapes is None
            or max(keys, default=-1) // CODES < len(shapes) ** 2,
        }
    _refuse(next((f"header.{names} contradict each other" for names, fits in agree.items() if not fits), None))


def _named(names: list[str], bodies: list[str], each: int) -> bool:
    """Whether names begin with those of the bodies: `ball.x` and so on, `each` of them, the same for every body."""
    parts = [name.rpartition(".")[2] for name in names[:each]]
    return names[: each * len(bodies)] == [f"{body}.{part}" for body in bodies for part in parts] and len(parts) == each


def check_shapes(shapes: Any, bodies: int, dim: int) -> None:
    """Refuse what the bodies of a recording look like where it is not surfaces of triangles."""
    _refuse(fault("shapes", shapes, SHAPES))
    for i, surface in enumerate(shapes["surfaces"]):
        name = f"shapes.surfaces[{i}]"
        n = len(_check.floats(f"{name}.vertices", surface["vertices"], (None, 3)))
        triangles = _check.integers(f"{name}.triangles", surface["triangles"] or np.zeros((0, 3), int), (None, 3))
        if n == 0 or triangles.min(initial=0) < 0 or triangles.max(initial=0) >= n:
            _refuse(f"{name}.triangles are not numbers of its {n} vertices")
    numbers = [k for mine in shapes["bodies"] for k in mine]
    points = [pin[end] for pin in shapes.get("pins", []) for end in ("pa", "pb")]
    held = [pin[body] for pin in shapes.get("pins", []) for body in ("a", "b")]
    lengths = {len(shapes["bodies"]), len(shapes.get("kinds", shapes["bodies"]))}
    if lengths != {bodies} or any(len(point) != dim for point in points) or max(held, default=-1) >= bodies:
        _refuse(f"shapes are not those of {bodies} bodies")
    if max(numbers, default=-1) >= len(shapes["surfaces"]):
        _refuse("shapes.bodies are not numbers of its surfaces")


def _refuse(said: str | None) -> None:
    if said is not None:
        raise ModelError(f"{said}.")
