"""Chain mail: a sheet of links, each of which hangs in four others.

A link is a square of four capsules, with half the side a between the middle lines of its wires of radius r. The links
of a row lie side by side, turned about the row's direction x by 30°; those of the next row are turned the other way,
and shifted by half the pitch s = 2 (a + r + c) along x and by d along y. The wires of two rows along y cross in the
plane x = const., so that r + c apart are those that pass through each other's links, and the bars along x are
2 a cos 30° - d apart, measured across the plane of a link (2 a cos 30° - d) sin 30°, which is 2 r + c. With a >= 4.5 r
the four links of a neighbourhood, and rows two apart, whose planes are d apart, do not touch.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _check
from .._arguments import checks_arguments
from ..errors import ModelError
from ..systems import Capsule, World
from ..systems.joints.primitives import turn_to
from .materials import STEEL_DENSITY, begin

TILT = math.radians(30.0)
CLEARANCE = 0.2  # between links, in radii of the wire
HELD = ("row", "frame", "none")
MOST = 1000  # rows or columns


@checks_arguments
def chain_mail(
    rows: int,
    columns: int,
    *,
    wire: float = 0.001,
    side: float = 0.010,
    held: str = "row",
    density: float = STEEL_DENSITY,
    friction: Any = 0.3,
    compliance: Any = None,
    world: World | None = None,
    position: Any = None,
    name: str = "link",
) -> World:
    """A sheet of square links, rows × columns, level at height 0; an inner link hangs in four others.

    wire [m]: radius of the wire; side [m]: of a link, between the middle lines of its wires, at least 9 radii. held:
    the links that are fixed: those of the first "row", those of the "frame" around the sheet, or "none". position: the
    middle of the sheet. A new world has no ground.
    """
    rows, columns = _count("rows", rows), _count("columns", columns)
    r, a = _check.number("wire", wire, positive=True), 0.5 * _check.number("side", side, positive=True)
    if a < 4.5 * r * (1.0 - 1e-12):
        raise ModelError(f"side must be at least 9 radii of the wire; got {side:g} m for {wire:g} m.")
    _check.choice("held", held, HELD)
    make = begin(3, name, world, position, density, friction, compliance, ground=False)
    pitch, step = row_pitches(r, a)
    for j in range(rows):
        shape = _link(r, a, TILT if j % 2 == 0 else -TILT)
        for i in range(columns):
            border = j in (0, rows - 1) or i in (0, columns - 1)
            fixed = (held == "row" and j == 0) or (held == "frame" and border)
            x = (i - 0.5 * (columns - 1) + (0.25 if j % 2 else -0.25)) * pitch
            y = (0.5 * (rows - 1) - j) * step
            make.add(j * columns + i, shape, [x, y, 0.0], kind="fixed" if fixed else "dynamic")
    return make.world


def row_pitches(r: float, a: float) -> tuple[float, float]:
    """The pitch of the links in a row, and of the rows [m], for the radius r of the wire and half the side a."""
    apart = CLEARANCE * r
    return 2.0 * (a + r + apart), 2.0 * a * math.cos(TILT) - (2.0 * r + apart) / math.sin(TILT)


def _link(r: float, a: float, tilt: float) -> list[Capsule]:
    """Four capsules around a square, turned about x by `tilt`."""
    y = np.array([0.0, math.cos(tilt), math.sin(tilt)])
    along_x, along_y = turn_to(np.array([1.0, 0.0, 0.0])), turn_to(y)
    bars = [Capsule(r, 2.0 * a, position=sign * a * y, orientation=along_x) for sign in (-1.0, 1.0)]
    wires = [Capsule(r, 2.0 * a, position=(sign * a, 0.0, 0.0), orientation=along_y) for sign in (-1.0, 1.0)]
    return [*bars, *wires]


def _count(name: str, value: Any) -> int:
    """A count from 1 to `MOST`."""
    found = _check.count(name, value)
    if found > MOST:
        raise ModelError(f"{name} must be at most {MOST}; got {found}.")
    return found
