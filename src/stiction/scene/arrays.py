"""Many bodies in few lines: [[arrays]] of type Grid, Pile, Wall, Arch, Chain or Random.

The bodies of an array are named by it and numbered: "stone 0", "stone 1" and so on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from .. import systems
from .._check import FloatArray
from ..errors import ModelError
from ..systems.joints.primitives import turn_to, unit_vector
from .bodies import Template, add_body
from .fields import Name, NotNegative, Positive, Vector

SCENE_MAX_BODIES = 200_000  # bodies of a scene
Some = Annotated[int, Field(strict=True, ge=1, le=SCENE_MAX_BODIES)]
Place = tuple[Any, dict[str, Any]]  # shapes, and the options of `add_body` that each body has of its own


class Array(Template):
    """Many bodies: [[arrays]]."""

    name: Name
    """Of the bodies, before their number."""
    position: Vector | None = None
    """Where the array begins, or the middle of its foot [m]; by default the origin."""

    @property
    def count(self) -> int:
        """How many bodies."""
        return 0

    def origin(self, dim: int) -> FloatArray:
        """Where the array is."""
        given = [0.0] * dim if self.position is None else self.position
        if len(given) != dim:
            raise ModelError(f"position must have {dim} numbers; got {len(given)}.")
        return np.array(given)

    def places(self, world: Any, folder: Path | None) -> Iterator[Place]:
        """The bodies, one after the other."""
        yield from ()

    def add(self, world: Any, folder: Path | None) -> None:
        """Add the bodies to the world."""
        common = {k: v for k, v in self.options().items() if k in Template.model_fields}
        for i, (shapes, own) in enumerate(self.places(world, folder)):
            add_body(world, shapes, {**common, **own, "name": f"{self.name} {i}"})


class Grid(Array):
    """Rows, columns and layers."""

    type: Literal["Grid"]
    counts: Annotated[list[Some], Field(min_length=2, max_length=3)]
    """Along each axis."""
    spacing: Annotated[list[NotNegative], Field(min_length=2, max_length=3)]
    """From one body to the next along each axis [m]."""

    @property
    def count(self) -> int:
        """The product of the counts."""
        return math.prod(self.counts)

    def places(self, world: Any, folder: Path | None) -> Iterator[Place]:
        """The first index runs slowest."""
        shapes, origin = self.make_shapes(folder), self.origin(world.dim)
        if len(self.counts) != world.dim or len(self.spacing) != world.dim:
            raise ModelError(f"counts and spacing must have {world.dim} numbers, one for each axis.")
        for index in product(*map(range, self.counts)):
            yield shapes, {"position": origin + np.array(index) * np.array(self.spacing)}


class Pile(Array):
    """Each layer in the hollows of the one below: rows of disks, or squares of balls."""

    type: Literal["Pile"]
    base: Annotated[int, Field(strict=True, ge=1, le=1000)]
    """Bodies along an edge of the lowest layer; each layer above has one less."""
    spacing: Positive
    """Between neighbours [m]: twice the radius, or a little more."""

    @property
    def count(self) -> int:
        """Of a pyramid, or a triangle where that is less than it could be."""
        return sum(n * n for n in range(1, self.base + 1))

    def places(self, world: Any, folder: Path | None) -> Iterator[Place]:
        """From the lowest layer up; `position` is the middle of the lowest centres."""
        shapes, origin = self.make_shapes(folder), self.origin(world.dim)
        rise = self.spacing * (math.sqrt(3) / 2 if world.dim == 2 else 1 / math.sqrt(2))
        for layer in range(self.base):
            line = (np.arange(self.base - layer) - 0.5 * (self.base - layer - 1)) * self.spacing
            for across in product(line, repeat=world.dim - 1):
                yield shapes, {"position": origin + np.array([*across, layer * rise])}


class Wall(Array):
    """Bricks in running bond, along x."""

    type: Literal["Wall"]
    columns: Some
    """Bricks in the lowest row; every second row has one less."""
    rows: Some
    """One upon the other."""
    brick: Annotated[list[Positive], Field(min_length=2, max_length=3)]
    """Edge lengths [m]: along the wall, (through it,) and up."""
    gap: NotNegative = 0.0
    """Between the bricks of a row [m]."""

    @property
    def count(self) -> int:
        """Of all rows."""
        return self.columns * self.rows - (self.rows // 2)

    def places(self, world: Any, folder: Path | None) -> Iterator[Place]:
        """Row by row; `position` is the middle of the wall's foot."""
        no_shape(self)
        if len(self.brick) != world.dim:
            raise ModelError(f"brick must have {world.dim} edge lengths.")
        shape = systems.Box(self.brick) if world.dim == 3 else systems.Polygon.box(*self.brick)
        origin, pitch = self.origin(world.dim), self.brick[0] + self.gap
        for row in range(self.rows):
            n = self.columns - row % 2
            for x in (np.arange(n) - 0.5 * (n - 1)) * pitch:
                at = [x, *[0.0] * (world.dim - 2), (row + 0.5) * self.brick[-1]]
                yield shape, {"position": origin + np.array(at)}


class Arch(Array):
    """A half circle of loose wedges that stands on its feet."""

    type: Literal["Arch"]
    stones: Annotated[int, Field(strict=True, ge=2, le=10_000)]
    """How many."""
    radius: Positive
    """Of the middle line [m]."""
    thickness: Positive
    """Along the radius [m]."""
    depth: Positive | None = None
    """Across the arch [m], in space."""

    @property
    def count(self) -> int:
        """The stones."""
        return self.stones

    def places(self, world: Any, folder: Path | None) -> Iterator[Place]:
        """From the right foot to the left; `position` is the centre of the circle."""
        no_shape(self)
        if self.thickness >= 2 * self.radius:
            raise ModelError("thickness must be less than twice the radius.")
        if (self.depth is None) != (world.dim == 2):
            raise ModelError("depth is needed in space, and only there.")
        origin = self.origin(world.dim)
        angle = math.pi * np.arange(self.stones + 1) / self.stones
        radial = np.column_stack([np.cos(angle), np.sin(angle)])
        inner, outer = ((self.radius + side * self.thickness / 2) * radial for side in (-1.0, 1.0))
        for i in range(self.stones):
            corners = np.array([inner[i], outer[i], outer[i + 1], inner[i + 1]])
            middle = systems.Polygon(corners).mass_properties().com
            if world.dim == 2:
                yield systems.Polygon(corners - middle), {"position": origin + middle}
                continue
            assert self.depth is not None
            flat = corners - middle
            points = [[x, side * self.depth / 2, z] for side in (-1.0, 1.0) for x, z in flat]
            yield systems.ConvexHull(points), {"position": origin + np.array([middle[0], 0.0, middle[1]])}


class Chain(Array):
    """Links with round ends, joined by hinges in the plane and ball joints in space."""

    type: Literal["Chain"]
    links: Annotated[int, Field(strict=True, ge=1, le=10_000)]
    """How many."""
    length: Positive
    """Of a link, from joint to joint [m]."""
    radius: Positive
    """Of a link [m]."""
    direction: Vector | None = None
    """In which it hangs or lies at the start; by default x."""
    start: Name | None = None
    """The body that holds the first link, or "world"; by default none does."""
    end: Name | None = None
    """The body that holds the last link, or "world"; by default none does."""

    @property
    def count(self) -> int:
        """The links."""
        return self.links

    def add(self, world: Any, folder: Path | None) -> None:
        """Add the links and their joints "NAME joint 0" and so on."""
        no_shape(self)
        dim = world.dim
        origin = self.origin(dim)
        along = unit_vector("direction", self.direction or [1.0, *[0.0] * (dim - 1)], dim)
        common = self.options()
        for wrong in ("orientation", "angle"):
            if wrong in common:
                raise ModelError(f"a chain has a direction, and no {wrong}.")
        common = {k: v for k, v in common.items() if k in Template.model_fields}
        turn = {"orientation": turn_to(along)} if dim == 3 else {"angle": math.atan2(along[1], along[0])}
        shape = systems.Capsule(self.radius, self.length) if dim == 3 else systems.Rod(self.radius, self.length)
        kind: Any = systems.Ball if dim == 3 else systems.Revolute
        previous: Any = None if self.start is None else systems.Body(self.start, 0)
        for i in range(self.links):
            own = {"position": origin + (i + 0.5) * self.length * along, "name": f"{self.name} {i}", **turn}
            link = add_body(world, shape, {**common, **own})
            if previous is not None:
                self._join(world, kind, link, previous, origin + i * self.length * along, i)
            previous = link
        if self.end is not None:
            last = origin + self.links * self.length * along
            self._join(world, kind, previous, systems.Body(self.end, 0), last, self.links)

    def _join(self, world: Any, kind: Any, link: Any, other: Any, anchor: FloatArray, i: int) -> None:
        world.add_joint(kind(link, other, anchor=anchor, name=f"{self.name} joint {i}"))


class Random(Array):
    """Bodies at random places that do not overlap, from a seed."""

    type: Literal["Random"]
    number: Some
    """How many."""
    low: Vector
    """The lowest corner of where their origins may be [m], from `position`."""
    high: Vector
    """The highest corner [m]."""
    distance: NotNegative
    """The least distance of two origins [m]."""
    seed: Annotated[int, Field(strict=True, ge=0, le=2**63 - 1)]
    """The same seed gives the same places."""
    turned: bool = False
    """Whether they are turned at random."""
    speed: NotNegative = 0.0
    """The standard deviation of each component of a random velocity [m/s]."""

    @property
    def count(self) -> int:
        """How many."""
        return self.number

    def places(self, world: Any, folder: Path | None) -> Iterator[Place]:
        """One after the other, each tried until it is far enough from those before it."""
        dim, shapes = world.dim, self.make_shapes(folder)
        low, high = np.array(self.low), np.array(self.high)
        if len(low) != dim or len(high) != dim or (high < low).any():
            raise ModelError(f"low and high must have {dim} numbers each, and no number of low may be above high.")
        rng = np.random.default_rng(self.seed)
        for at in scatter(rng, self.number, low, high, self.distance):
            own: dict[str, Any] = {"position": self.origin(dim) + at}
            if self.turned:
                own |= {"orientation": rng.normal(size=4)} if dim == 3 else {"angle": rng.uniform(0.0, 2.0 * math.pi)}
            if self.speed > 0.0:
                own["velocity"] = np.array(self.velocity or [0.0] * dim) + self.speed * rng.normal(size=dim)
            yield shapes, own


def scatter(rng: Any, count: int, low: FloatArray, high: FloatArray, distance: float) -> list[FloatArray]:
    """Places in a box, no two nearer than `distance`; an error where no room is found in a number of tries."""
    if distance == 0.0:
        return list(rng.uniform(low, high, (count, len(low))))
    cells: dict[tuple[int, ...], list[FloatArray]] = {}
    found: list[FloatArray] = []
    around = list(product((-1, 0, 1), repeat=len(low)))
    tries = 1000 + 50 * count
    while len(found) < count and tries > 0:
        tries -= 1
        at = rng.uniform(low, high)
        cell = tuple(np.floor((at - low) / distance).astype(int).tolist())
        near = (other for step in around for other in cells.get(tuple(c + s for c, s in zip(cell, step)), ()))
        if all(float(np.linalg.norm(at - other)) >= distance for other in near):
            cells.setdefault(cell, []).append(at)
            found.append(at)
    if len(found) < count:
        raise ModelError(
            f"there is room for about {len(found)} of {count} bodies; make the box larger or count smaller."
        )
    return found


def no_shape(array: Array) -> None:
    """Arrays that make their own shapes refuse others."""
    if array.shape is not None or array.shapes is not None:
        raise ModelError(f"{type(array).__name__} makes its own shapes; drop shape.")


AnyArray = Annotated[
    Grid | Pile | Wall | Arch | Chain | Random,
    Field(discriminator="type"),
]
