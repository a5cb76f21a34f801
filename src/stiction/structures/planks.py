"""Towers of planks, houses of cards and rows of dominoes: thin bodies that stand on friction."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _check
from .._arguments import checks_arguments
from ..errors import ModelError
from ..systems import Box, PlanarWorld, Polygon, Rod, World
from .materials import WOOD_DENSITY, begin, edges

CARD_DENSITY = 25.0  # kg/m² in the plane: 1.8 g on 0.8 mm by 88 mm
PLANK = (0.117, 0.0234, 0.0078)  # m: planks of toys, 15 : 3 : 1
MOST = 10_000  # layers, storeys or dominoes


@checks_arguments
def plank_tower(
    layers: int = 40,
    *,
    planks: int = 2,
    size: Any = PLANK,
    density: float = WOOD_DENSITY,
    friction: Any = 0.5,
    compliance: Any = None,
    world: World | None = None,
    position: Any = None,
    name: str = "tower",
) -> World:
    """A shaft of planks: layers of `planks` side by side, every second layer across the one below it.

    The planks of a layer spread over the length of a plank, so that the tower is square. size: length, width and height
    [m] of a plank. Each plank lies on each of the layer below with four contacts: 40 layers of two have 632. position:
    the middle of its foot.
    """
    layers, planks = _count("layers", layers), _count("planks", planks)
    length, width, height = _check.floats("size", size, (3,))
    if min(length, width, height) <= 0.0:
        raise ModelError(f"size must be greater than zero; got {_check.shown(size)}.")
    if planks < 2 or planks * width > length:
        raise ModelError(f"planks must be at least 2, and no more than lie side by side on a length; got {planks}.")
    make = begin(3, name, world, position, density, friction, compliance)
    places = np.linspace(-0.5, 0.5, planks) * (length - width)
    for layer in range(layers):
        across = layer % 2 == 1
        for k, place in enumerate(places):
            shape = Box((width, length, height) if across else (length, width, height))
            where = (place, 0.0) if across else (0.0, place)
            make.add(layer * planks + k, shape, [*where, (layer + 0.5) * height])
    return make.world


@checks_arguments
def card_house(
    storeys: int = 2,
    *,
    length: float = 0.088,
    edge: float = 0.0004,
    slant: float = math.radians(20.0),
    density: float = CARD_DENSITY,
    friction: Any = 0.5,
    compliance: Any = None,
    world: PlanarWorld | None = None,
    position: Any = None,
    name: str = "cards",
) -> PlanarWorld:
    """A house of cards in the plane: tents of two cards, one less on each storey, on cards that lie from top to top.

    length [m]: of the cards that lean, between the centres of their round ends, whose radius is edge [m]; slant [rad]:
    from the vertical. Cards that lie are half as thick, so that their ends meet on the tops. position: the middle of
    the foot of the house.
    """
    storeys = _count("storeys", storeys)
    length, edge = (_check.number(*pair, positive=True) for pair in (("length", length), ("edge", edge)))
    slant = _check.number("slant", slant, positive=True)
    if not slant < math.pi / 3:
        raise ModelError(f"slant must be less than π/3; got {slant:g}.")
    if edge > 0.02 * length:
        raise ModelError(f"edge must be at most a fiftieth of length; got {edge:g} m for cards of {length:g} m.")
    make = begin(2, name, world, position, density, friction, compliance)
    wide, high = length * math.sin(slant), length * math.cos(slant)
    pitch, number = 2.0 * wide + 8.0 * edge, 0  # of the tents: their feet do not touch
    for storey in range(storeys):
        foot = storey * (high + 3.0 * edge)
        tops = (np.arange(storeys - storey) - 0.5 * (storeys - storey - 1)) * pitch
        for x in tops:
            for side in (-1, 1):
                where = (x + side * (edge + 0.5 * wide), foot + edge + 0.5 * high)
                make.add(number, Rod(edge, length), where, angle=side * slant + 0.5 * math.pi)
                number += 1
        for x in 0.5 * (tops[1:] + tops[:-1]):
            make.add(number, Rod(0.5 * edge, pitch - 1.5 * edge), (x, foot + high + 2.5 * edge))
            number += 1
    return make.world


@checks_arguments
def dominoes(
    count: int = 20,
    *,
    size: Any = (0.008, 0.048),
    gap: float = 0.016,
    push: float = 0.0,
    density: float = WOOD_DENSITY,
    friction: Any = 0.3,
    compliance: Any = None,
    world: World | PlanarWorld | None = None,
    position: Any = None,
    name: str = "domino",
) -> World | PlanarWorld:
    """A row of dominoes along x; the first one falls towards the others with the angular speed push [rad/s].

    size: thickness and height [m] in the plane; thickness, width and height in space. gap [m] between two of them.
    push: about the front edge of the first. position: of the foot of the first one.
    """
    count, edge = _count("count", count), edges("size", size)
    gap, push = _check.number("gap", gap, positive=True), _check.number("push", push, low=0.0)
    make = begin(len(edge), name, world, position, density, friction, compliance)
    thick, high = edge[0], edge[-1]
    for k in range(count):
        moving: dict[str, Any] = {}
        if k == 0 and push:
            up = 0.5 * push * thick
            along = 0.5 * push * high
            flat = len(edge) == 2
            moving = {"velocity": (along, up) if flat else (along, 0.0, up)}
            moving["angular_velocity"] = -push if flat else (0.0, push, 0.0)
        shape = Polygon.box(*edge) if len(edge) == 2 else Box(edge)
        make.add(k, shape, [k * (thick + gap), *[0.0] * (len(edge) - 2), 0.5 * high], **moving)
    return make.world


def _count(name: str, value: Any) -> int:
    """A count from 1 to `MOST`."""
    found = _check.count(name, value)
    if found > MOST:
        raise ModelError(f"{name} must be at most {MOST}; got {found}.")
    return found
