"""Shapes in space and in the plane, with their mass properties; full edge lengths, radii and lengths in metres.

Most shapes are rounded convex cores (`stiction.collision`): in space a box, some of whose half extents may be zero,
and a radius; in the plane a convex polygon and a radius. The others are half-spaces, ellipses, and those of `solids`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from ... import _check
from ..._check import FloatArray
from ...errors import ModelError


@dataclass(frozen=True)
class MassProperties:
    """Volume (area in the plane), centre of mass and inertia about it, for density one."""

    volume: float
    com: FloatArray
    inertia: FloatArray


class Shape3:
    """A shape in space: a core box with half extents (3,), rounded by a radius, placed in the body frame.

    `position` (3,) and `orientation` (w, x, y, z) place the shape in its body; by default at the body's origin.
    """

    position: FloatArray
    orientation: FloatArray
    given: Mapping[str, FloatArray]  # what is kept in another form, as it was given: to write it again to the bit

    def _place(self, position: Any, orientation: Any) -> None:
        name = type(self).__name__
        place = _check.floats(f"{name} position", position, (3,)).copy()
        turn = _check.floats(f"{name} orientation", orientation, (4,))
        size = float(np.linalg.norm(turn))
        if size == 0.0:
            raise ModelError(f"{name} orientation must be a quaternion (w, x, y, z), not zero.")
        object.__setattr__(self, "position", place)
        object.__setattr__(self, "orientation", turn / size)
        object.__setattr__(self, "given", {"orientation": turn})

    def core(self) -> tuple[FloatArray, float]:
        """Half extents of the core and the radius around it."""
        raise ModelError(f"{type(self).__name__} has no core.")

    def mass_properties(self) -> MassProperties | None:
        """For density one in the shape's own frame; None for shapes without volume."""
        return None

    @property
    def parts(self) -> tuple[Shape3, ...]:
        """The convex shapes of which it consists: itself."""
        return (self,)

    @property
    def reach(self) -> float:
        """The radius of the ball around the shape's own centre that holds it."""
        half, radius = self.core()
        return float(np.linalg.norm(half)) + radius


_ORIGIN3, _UPRIGHT = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)


def _size(shape: Any, name: str, value: Any, *, zero: bool = False) -> float:
    label = f"{type(shape).__name__} {name}"
    return _check.number(label, value, low=0.0) if zero else _check.number(label, value, positive=True)


@dataclass(frozen=True, eq=False)
class Sphere(Shape3):
    """A ball of the given radius."""

    radius: float
    position: Any = _ORIGIN3
    orientation: Any = field(default=_UPRIGHT, repr=False)

    def __post_init__(self) -> None:
        _size(self, "radius", self.radius)
        self._place(self.position, self.orientation)

    def core(self) -> tuple[FloatArray, float]:
        """A point."""
        return np.zeros(3), float(self.radius)

    def mass_properties(self) -> MassProperties:
        """4/3 π r³ and 2/5 m r²."""
        volume = 4 / 3 * np.pi * self.radius**3
        return MassProperties(volume, np.zeros(3), 0.4 * volume * self.radius**2 * np.eye(3))


@dataclass(frozen=True, eq=False)
class Box(Shape3):
    """A box with full edge lengths (lx, ly, lz)."""

    lengths: Any
    position: Any = _ORIGIN3
    orientation: Any = field(default=_UPRIGHT, repr=False)

    def __post_init__(self) -> None:
        lengths = _check.floats("Box lengths", self.lengths, (3,)).copy()
        if (lengths <= 0).any():
            raise ModelError(f"Box lengths must be greater than zero; got {lengths.tolist()}.")
        object.__setattr__(self, "lengths", lengths)
        self._place(self.position, self.orientation)

    def core(self) -> tuple[FloatArray, float]:
        """The box itself."""
        return 0.5 * self.lengths, 0.0

    def mass_properties(self) -> MassProperties:
        """m (ly² + lz²)/12 and so on."""
        volume = float(np.prod(self.lengths))
        squares = self.lengths**2
        return MassProperties(volume, np.zeros(3), volume / 12 * np.diag(squares.sum() - squares))


@dataclass(frozen=True, eq=False)
class Capsule(Shape3):
    """A cylinder along z with round caps; `length` is between the centres of the caps."""

    radius: float
    length: float
    position: Any = _ORIGIN3
    orientation: Any = field(default=_UPRIGHT, repr=False)

    def __post_init__(self) -> None:
        _size(self, "radius", self.radius)
        _size(self, "length", self.length)
        self._place(self.position, self.orientation)

    def core(self) -> tuple[FloatArray, float]:
        """A segment."""
        return np.array([0.0, 0.0, 0.5 * self.length]), float(self.radius)

    def mass_properties(self) -> MassProperties:
        """A cylinder and two half balls, each about the common centre."""
        r, l = self.radius, self.length
        cylinder, ball = np.pi * r**2 * l, 4 / 3 * np.pi * r**3
        axial = 0.5 * cylinder * r**2 + 0.4 * ball * r**2
        across = cylinder * (l**2 / 12 + r**2 / 4) + ball * (0.4 * r**2 + l**2 / 4 + 3 / 8 * l * r)
        return MassProperties(cylinder + ball, np.zeros(3), np.diag([across, across, axial]))


@dataclass(frozen=True, eq=False)
class Plane(Shape3):
    """A half-space below the plane through `position` with normal z of `orientation`; for fixed or kinematic bodies."""

    position: Any = _ORIGIN3
    orientation: Any = field(default=_UPRIGHT, repr=False)

    def __post_init__(self) -> None:
        self._place(self.position, self.orientation)

    @property
    def reach(self) -> float:
        """Without end."""
        return np.inf


class Shape2:
    """A shape in the plane: a convex polygon (m, 2), counter-clockwise, rounded by a radius, in the body frame."""

    given: Mapping[str, FloatArray] = MappingProxyType({})  # as in `Shape3`

    def core(self) -> tuple[FloatArray, float]:
        """Vertices in the body frame and the radius around them."""
        raise ModelError(f"{type(self).__name__} has no core.")

    @property
    def parts(self) -> tuple[Shape2, ...]:
        """The convex shapes of which it consists: itself."""
        return (self,)

    def mass_properties(self) -> MassProperties | None:
        """For density one (per area) in the body frame; None for shapes without area."""
        return None


def _point(shape: Any, value: Any, name: str = "position") -> FloatArray:
    return _check.floats(f"{type(shape).__name__} {name}", value, (2,)).copy()


@dataclass(frozen=True, eq=False)
class Disk(Shape2):
    """A disk of the given radius."""

    radius: float
    position: Any = (0.0, 0.0)

    def __post_init__(self) -> None:
        _size(self, "radius", self.radius)
        object.__setattr__(self, "position", _point(self, self.position))

    def core(self) -> tuple[FloatArray, float]:
        """A point."""
        return self.position[None, :].copy(), float(self.radius)

    def mass_properties(self) -> MassProperties:
        """π r² and m r²/2."""
        area = np.pi * self.radius**2
        return MassProperties(area, self.position, np.array(0.5 * area * self.radius**2))


@dataclass(frozen=True, eq=False)
class Ellipse(Shape2):
    """An ellipse with semi-axes a along x and b along y, turned by `angle`."""

    a: float
    b: float
    position: Any = (0.0, 0.0)
    angle: float = 0.0

    def __post_init__(self) -> None:
        _size(self, "a", self.a)
        _size(self, "b", self.b)
        _check.number("Ellipse angle", self.angle)
        object.__setattr__(self, "position", _point(self, self.position))

    def semi_axes(self) -> FloatArray:
        """(2, 2) the two semi-axes as vectors of the body frame."""
        c, s = np.cos(self.angle), np.sin(self.angle)
        return np.array([[self.a * c, self.a * s], [-self.b * s, self.b * c]])

    def mass_properties(self) -> MassProperties:
        """π a b and m (a² + b²)/4."""
        area = np.pi * self.a * self.b
        return MassProperties(area, self.position, np.array(0.25 * area * (self.a**2 + self.b**2)))


@dataclass(frozen=True, eq=False)
class Rod(Shape2):
    """A rod along x with round ends; `length` is between the centres of the ends."""

    radius: float
    length: float
    position: Any = (0.0, 0.0)
    angle: float = 0.0

    def __post_init__(self) -> None:
        _size(self, "radius", self.radius)
        _size(self, "length", self.length)
        _check.number("Rod angle", self.angle)
        object.__setattr__(self, "position", _point(self, self.position))

    def core(self) -> tuple[FloatArray, float]:
        """A segment."""
        arm = 0.5 * self.length * np.array([np.cos(self.angle), np.sin(self.angle)])
        return np.array([self.position - arm, self.position + arm]), float(self.radius)

    def mass_properties(self) -> MassProperties:
        """A rectangle and two half disks, about the common centre."""
        r, l = self.radius, self.length
        rectangle, disk = 2 * r * l, np.pi * r**2
        half_disks = disk * (0.5 * r**2 + l**2 / 4 + 4 * l * r / (3 * np.pi))
        return MassProperties(
            rectangle + disk, self.position, np.array(rectangle * (l**2 + 4 * r**2) / 12 + half_disks)
        )


@dataclass(frozen=True, eq=False)
class Polygon(Shape2):
    """A convex polygon with vertices (m, 2) in the body frame, in either sense of rotation."""

    vertices: Any

    def __post_init__(self) -> None:
        V = _check.floats("Polygon vertices", self.vertices, (None, 2)).copy()
        if len(V) < 3:
            raise ModelError(f"Polygon needs at least 3 vertices; got {len(V)}.")
        area = _shoelace(V)
        size = float(np.ptp(V, axis=0).max())
        if abs(area) <= 1e-12 * size**2:
            raise ModelError("Polygon vertices lie on a line; they must span an area.")
        if area < 0:
            V = V[::-1].copy()
        edges = np.roll(V, -1, axis=0) - V
        following = np.roll(edges, -1, axis=0)
        turns = edges[:, 0] * following[:, 1] - edges[:, 1] * following[:, 0]
        lengths = np.linalg.norm(edges, axis=1)
        if (lengths <= 1e-12 * size).any():
            raise ModelError(f"Polygon vertex {int(np.argmin(lengths))} is repeated.")
        if (turns <= 1e-12 * size**2).any() or not np.isclose(np.sum(np.arctan2(turns, (edges * following).sum(1))), 2 * np.pi):  # fmt: skip  # noqa: E501
            raise ModelError(
                "Polygon must be strictly convex; split it into convex polygons or drop vertices on edges."
            )
        object.__setattr__(self, "vertices", V)

    @classmethod
    def box(cls, width: float, height: float) -> Polygon:
        """A rectangle of full edge lengths about the origin."""
        w, h = 0.5 * _check.number("width", width, positive=True), 0.5 * _check.number("height", height, positive=True)
        return cls([[-w, -h], [w, -h], [w, h], [-w, h]])

    def core(self) -> tuple[FloatArray, float]:
        """The polygon itself."""
        return self.vertices, 0.0

    def mass_properties(self) -> MassProperties:
        """By triangles from the origin."""
        V, W = self.vertices, np.roll(self.vertices, -1, axis=0)
        cross = V[:, 0] * W[:, 1] - V[:, 1] * W[:, 0]
        area = 0.5 * cross.sum()
        com = ((V + W) * cross[:, None]).sum(axis=0) / (6 * area)
        about_origin = (cross * ((V * V).sum(1) + (V * W).sum(1) + (W * W).sum(1))).sum() / 12
        return MassProperties(area, com, np.array(about_origin - area * float(com @ com)))


@dataclass(frozen=True, eq=False)
class Segment(Shape2):
    """A thin segment between two points of the body frame; it has no area, so a body of segments needs its own mass."""

    start: Any
    end: Any

    def __post_init__(self) -> None:
        start, end = _point(self, self.start, "start"), _point(self, self.end, "end")
        if np.allclose(start, end, rtol=0, atol=1e-12 * (1 + np.abs(start).max())):
            raise ModelError("Segment start and end must differ.")
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "end", end)

    def core(self) -> tuple[FloatArray, float]:
        """The segment itself."""
        return np.array([self.start, self.end]), 0.0


@dataclass(frozen=True, eq=False)
class HalfPlane(Shape2):
    """All points below the line through `position` with outward `normal`; for fixed or kinematic bodies."""

    normal: Any = (0.0, 1.0)
    position: Any = (0.0, 0.0)

    def __post_init__(self) -> None:
        normal = _point(self, self.normal, "normal")
        size = float(np.linalg.norm(normal))
        if size == 0.0:
            raise ModelError("HalfPlane normal must not be zero.")
        object.__setattr__(self, "normal", normal / size)
        object.__setattr__(self, "given", {"normal": normal})
        object.__setattr__(self, "position", _point(self, self.position))


def _shoelace(V: FloatArray) -> float:
    W = np.roll(V, -1, axis=0)
    return 0.5 * float((V[:, 0] * W[:, 1] - V[:, 1] * W[:, 0]).sum())
