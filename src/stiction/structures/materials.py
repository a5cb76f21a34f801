"""What all builders of structures share: the world, its ground, and the material of the structure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _check
from .._check import FloatArray
from ..errors import ModelError
from ..systems import PlanarWorld, World

STONE_DENSITY = 2000.0  # kg/m³, of masonry
WOOD_DENSITY = 600.0  # kg/m³, of planks
STEEL_DENSITY = 7850.0  # kg/m³, of chain mail


@dataclass(frozen=True)
class Builder:
    """Adds numbered bodies of one material to a world; `origin` is what their places are relative to."""

    world: Any
    name: str
    origin: FloatArray
    density: float

    def add(self, number: int | str, shape: Any, position: Any, **options: Any) -> None:
        """Add the body `name number`; a fixed one with kind="fixed"."""
        if options.get("kind", "dynamic") == "dynamic":
            options["density"] = self.density
        where = self.origin + np.asarray(position, dtype=float)
        self.world.add_body(shape, name=f"{self.name} {number}", material=self.name, position=where, **options)


def begin(
    dim: int, name: str, world: Any, position: Any, density: Any, friction: Any, compliance: Any, *, ground: bool = True
) -> Builder:
    """The builder of a structure in `world`, or in a new one of `dim` dimensions, with a ground at height 0."""
    if not isinstance(name, str) or not name:
        raise ModelError(f"name must be a non-empty string; got {_check.describe(name)}.")
    density = _check.number("density", density, positive=True)
    origin = np.zeros(dim) if position is None else _check.floats("position", position, (dim,))
    new = world is None
    if new:
        world = World() if dim == 3 else PlanarWorld()
    elif not isinstance(world, (World, PlanarWorld)):
        raise ModelError(f"world must be a World, a PlanarWorld or None; got {_check.describe(world)}.")
    elif world.dim != dim:
        raise ModelError(f"world has {world.dim} dimensions, and the {name} is built in {dim}.")
    if name in world.materials.named:
        raise ModelError(f"name must differ from the materials of the world; there is one called {name!r}.")
    world.set_material(name, friction=friction, compliance=compliance)
    if new and ground:
        world.add_plane(name="ground", material=name)
    return Builder(world, name, origin, density)


def edges(name: str, value: Any) -> FloatArray:
    """`value` as two edge lengths [m] of a body in the plane, or three in space; all greater than zero."""
    found = _check.floats(name, value)
    if found.shape not in ((2,), (3,)):
        raise ModelError(f"{name} must be two edge lengths in the plane or three in space; got shape {found.shape}.")
    if (found <= 0.0).any():
        raise ModelError(f"{name} must be greater than zero; got {_check.shown(found.tolist())}.")
    return found
