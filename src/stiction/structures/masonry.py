"""Masonry without mortar: walls in running bond, arches of wedges.

The stones of an arch are the parts of a ring between radial joints. With the mean radius R, the thickness t and the
angle of embrace α, joint i of n stones lies at (π - α)/2 + i α/n from the horizontal, between R - t/2 and R + t/2. The
springers, which are fixed, are one more part of the ring at each end. Without slip a semicircular arch with many stones
stands for t/R >= 0.1075 (Milankovitch 1907; Heyman 1969, with weights on the middle line, gives 0.106).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _check
from .._arguments import checks_arguments
from .._check import FloatArray
from ..analysis.statics import statics
from ..errors import ModelError
from ..systems import Box, ConvexHull, PlanarWorld, Polygon, World
from .materials import STONE_DENSITY, Builder, begin, edges

ENDS = ("half", "toothed", "stepped")
ARCH_MAX_THICKNESS = 1.0  # times the mean radius, in the search for the least thickness
MOST = 10_000  # rows, or stones of a row or an arch


@checks_arguments
def wall(
    rows: int,
    stones: int,
    *,
    size: Any = (0.4, 0.2, 0.2),
    ends: str = "half",
    gap: float = 0.0,
    density: float = STONE_DENSITY,
    friction: Any = 0.6,
    compliance: Any = None,
    world: World | PlanarWorld | None = None,
    position: Any = None,
    name: str = "wall",
) -> World | PlanarWorld:
    """A wall in running bond: `rows` of `stones` along x, every second one shifted by half a stone.

    size: edge lengths [m] along, through and up; two of them, along and up, make a wall in the plane. ends: "half"
    closes every second row with half stones, "toothed" gives it a stone less, and "stepped" gives every row one less
    than that below, down to a single stone. gap [m] between the stones of a row. position: the middle of its foot.
    """
    rows, stones = _counts(rows=rows, stones=stones)
    edge, gap = edges("size", size), _check.number("gap", gap, low=0.0)
    _check.choice("ends", ends, ENDS)
    if ends == "stepped" and rows > stones:
        raise ModelError(f"rows must be at most stones ({stones}) in a wall with stepped ends; got {rows}.")
    if gap >= 0.5 * edge[0]:
        raise ModelError(f"gap must be less than half a stone ({0.5 * edge[0]:g} m); got {gap:g}.")
    make = begin(len(edge), name, world, position, density, friction, compliance)
    pitch, number = edge[0] + gap, 0
    for row in range(rows):
        less = row if ends == "stepped" else row % 2
        lengths = np.full(stones - less, edge[0])
        middles = (np.arange(stones - less) - 0.5 * (stones - less - 1)) * pitch
        if ends == "half" and row % 2:
            half, far = 0.5 * (edge[0] - gap), 0.5 * ((stones - 1) * pitch + edge[0])
            middles = np.concatenate([[0.5 * half - far], middles, [far - 0.5 * half]])
            lengths = np.concatenate([[half], lengths, [half]])
        for x, length in zip(middles, lengths):
            sides = np.concatenate([[length], edge[1:]])
            shape = Box(sides) if len(edge) == 3 else Polygon.box(*sides)
            make.add(number, shape, [x, *[0.0] * (len(edge) - 2), (row + 0.5) * edge[-1]])
            number += 1
    return make.world


@checks_arguments
def arch(
    stones: int,
    thickness: float,
    *,
    radius: float = 1.0,
    angle: float = math.pi,
    depth: float | None = None,
    density: float = STONE_DENSITY,
    friction: Any = 0.7,
    compliance: Any = None,
    world: World | PlanarWorld | None = None,
    position: Any = None,
    name: str = "arch",
) -> World | PlanarWorld:
    """An arch of loose wedges between two fixed springers, "arch left" and "arch right"; its stones go from the right.

    thickness: over the mean radius [m]; angle: of embrace [rad], π for a semicircle; depth [m]: across the arch, in
    space; without it the arch is in the plane. position: the centre of the circle. There is no ground below it.
    """
    (stones,) = _counts(stones=stones)
    if stones < 2:
        raise ModelError(f"stones must be at least 2 in an arch; got {stones}.")
    thickness, radius, angle = _ring(thickness, radius, angle)
    if depth is not None:
        depth = _check.number("depth", depth, positive=True)
    make = begin(2 if depth is None else 3, name, world, position, density, friction, compliance, ground=False)
    corners = ring(stones, thickness, radius, angle)
    for i, wedge in enumerate(corners):
        end = {0: "right", stones + 1: "left"}.get(i)
        _add_wedge(make, i - 1 if end is None else end, wedge, depth, "dynamic" if end is None else "fixed")
    return make.world


@checks_arguments
def least_thickness(
    stones: int, *, friction: Any = 0.7, angle: float = math.pi, most: float = ARCH_MAX_THICKNESS, tol: float = 1e-6
) -> float:
    """The least thickness over the mean radius with which an `arch` stands by statics, to tol; infinite above most."""
    low, high = 0.0, _check.number("most", most, positive=True)
    tol = _check.number("tol", tol, positive=True)
    if high >= 2.0:
        raise ModelError(f"most must be less than twice the mean radius; got {high:g}.")

    def stands(thickness: float) -> bool:
        return statics(arch(stones, thickness, angle=angle, friction=friction)).stands

    if not stands(high):
        return math.inf
    while high - low > tol:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if stands(middle) else (middle, high)
    return high


def ring(stones: int, thickness: float, radius: float, angle: float) -> FloatArray:
    """Corners (stones + 2, 4, 2) [m] of the springer on the right, the stones, and the springer on the left."""
    joints = 0.5 * (math.pi - angle) + angle / stones * np.arange(-1, stones + 2)
    radial = np.column_stack([np.cos(joints), np.sin(joints)])
    inner, outer = (radius * (1.0 + side * 0.5 * thickness) * radial for side in (-1.0, 1.0))
    return np.stack([inner[:-1], outer[:-1], outer[1:], inner[1:]], axis=1)


def _add_wedge(make: Builder, number: int | str, corners: FloatArray, depth: float | None, kind: str) -> None:
    """The wedge with these corners (4, 2), in the plane or with a depth across it."""
    middle = Polygon(corners).mass_properties().com
    flat = corners - middle
    if depth is None:
        make.add(number, Polygon(flat), middle, kind=kind)
        return
    points = [[x, side * 0.5 * depth, z] for side in (-1.0, 1.0) for x, z in flat]
    make.add(number, ConvexHull(points), [middle[0], 0.0, middle[1]], kind=kind)


def _counts(**given: Any) -> list[int]:
    """Counts from 1 to `MOST`."""
    found = [_check.count(name, value) for name, value in given.items()]
    for name, value in given.items():
        if value > MOST:
            raise ModelError(f"{name} must be at most {MOST}; got {value}.")
    return found


def _ring(thickness: Any, radius: Any, angle: Any) -> tuple[float, float, float]:
    """The numbers of a ring, checked."""
    thickness = _check.number("thickness", thickness, positive=True)
    if thickness >= 2.0:
        raise ModelError(f"thickness must be less than twice the mean radius; got {thickness:g} of it.")
    radius = _check.number("radius", radius, positive=True)
    angle = _check.number("angle", angle, positive=True)
    if angle > 1.5 * math.pi:
        raise ModelError(f"angle must be at most 3π/2; got {angle:g}.")
    return thickness, radius, angle
