"""Joints between two bodies, in space and in the plane (ah03 eq. 2.1).

A joint is a list of primitive rows (`kernels3.joint_rows`): two points that coincide along an axis of the second body,
two directions that stay at a right angle, or two points at a distance. Anchors and axes are given in the world at the
initial pose. A new joint is a new list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _check
from .._check import FloatArray
from ..errors import ModelError
from .kernels3 import DISTANCE, DOT, POINT_AXIS


@dataclass(frozen=True)
class Primitive:
    """One row: its kind, points pa, pb and directions ua, ub in the body frames (about the com), and its rest value."""

    kind: int
    pa: FloatArray
    pb: FloatArray
    ua: FloatArray
    ub: FloatArray
    rest: float = 0.0


@dataclass(frozen=True)
class Place:
    """Where a body's centre of mass is at the start: position (d,), rotation (d, d) body to world, and its angle."""

    position: FloatArray
    rotation: FloatArray
    angle: float = 0.0

    def point(self, world: FloatArray) -> FloatArray:
        """A world point in the body frame."""
        return self.rotation.T @ (world - self.position)

    def direction(self, world: FloatArray) -> FloatArray:
        """A world direction in the body frame."""
        return self.rotation.T @ world


class Joint:
    """Connects bodies `a` and `b` (handles or names; None for the world)."""

    a: Any
    b: Any
    name: str | None

    def primitives(self, a: Place, b: Place) -> list[Primitive]:
        """The rows of the joint."""
        raise ModelError(f"{type(self).__name__} defines no rows.")

    def _vector(self, field: str, dim: int) -> FloatArray:
        return _check.floats(f"{self._label()} {field}", getattr(self, field), (dim,))

    def _label(self) -> str:
        return f"{type(self).__name__} {self.name!r}" if self.name else type(self).__name__

    def _axis(self, dim: int) -> FloatArray:
        if getattr(self, "axis", None) is None:
            raise ModelError(f"{self._label()} needs an axis: a direction in the world at the start.")
        axis = self._vector("axis", dim)
        size = float(np.linalg.norm(axis))
        if size == 0.0:
            raise ModelError(f"{self._label()} axis must not be zero.")
        return axis / size


def _points(a: Place, b: Place, anchor: FloatArray, axes: FloatArray) -> list[Primitive]:
    """The anchor coincides along the world directions `axes` (m, d), which turn with b."""
    zero = np.zeros(len(anchor))
    return [Primitive(POINT_AXIS, a.point(anchor), b.point(anchor), zero, b.direction(u)) for u in axes]


def _right_angle(a: Place, b: Place, ua: FloatArray, ub: FloatArray) -> Primitive:
    zero = np.zeros(len(ua))
    return Primitive(DOT, zero, zero, a.direction(ua), b.direction(ub))


def _same_orientation(a: Place, b: Place, dim: int) -> list[Primitive]:
    if dim == 2:
        zero = np.zeros(2)
        return [Primitive(DOT, zero, zero, zero, zero, a.angle - b.angle)]
    e = np.eye(3)
    return [_right_angle(a, b, e[i], e[(i + 1) % 3]) for i in range(3)]


def _across(axis: FloatArray) -> FloatArray:
    """Unit directions (d - 1, d) at right angles to a unit axis."""
    if len(axis) == 2:
        return np.array([[-axis[1], axis[0]]])
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(axis, helper)
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(axis, first)])


@dataclass(frozen=True, eq=False)
class Fixed(Joint):
    """Holds two bodies together as they are at the start."""

    a: Any
    b: Any
    name: str | None = None

    def primitives(self, a: Place, b: Place) -> list[Primitive]:
        """Same point, same orientation."""
        dim = len(a.position)
        return [*_points(a, b, a.position, np.eye(dim)), *_same_orientation(a, b, dim)]


@dataclass(frozen=True, eq=False)
class Ball(Joint):
    """A ball joint at `anchor` (in space)."""

    a: Any
    b: Any
    anchor: Any
    name: str | None = None

    def primitives(self, a: Place, b: Place) -> list[Primitive]:
        """Same point."""
        if len(a.position) != 3:
            raise ModelError(f"{self._label()} is a joint in space; in the plane use Revolute.")
        return _points(a, b, self._vector("anchor", 3), np.eye(3))


@dataclass(frozen=True, eq=False)
class Revolute(Joint):
    """A hinge at `anchor`, about `axis` in space."""

    a: Any
    b: Any
    anchor: Any
    axis: Any = None
    name: str | None = None

    def primitives(self, a: Place, b: Place) -> list[Primitive]:
        """Same point; in space also the same axis."""
        dim = len(a.position)
        rows = _points(a, b, self._vector("anchor", dim), np.eye(dim))
        if dim == 3:
            axis = self._axis(3)
            rows += [_right_angle(a, b, axis, across) for across in _across(axis)]
        return rows


@dataclass(frozen=True, eq=False)
class Prismatic(Joint):
    """A slider along `axis`; the axis turns with `b`, and `a` slides along it without turning against b."""

    a: Any
    b: Any
    axis: Any
    anchor: Any = None
    name: str | None = None

    def primitives(self, a: Place, b: Place) -> list[Primitive]:
        """No motion across the axis, same orientation."""
        dim = len(a.position)
        anchor = a.position if self.anchor is None else self._vector("anchor", dim)
        return [*_points(a, b, anchor, _across(self._axis(dim))), *_same_orientation(a, b, dim)]


@dataclass(frozen=True, eq=False)
class Distance(Joint):
    """Keeps `anchor_a` on a and `anchor_b` on b at a distance: `length` [m], by default the one at the start."""

    a: Any
    b: Any
    anchor_a: Any
    anchor_b: Any
    length: float | None = None
    name: str | None = None

    def primitives(self, a: Place, b: Place) -> list[Primitive]:
        """One distance."""
        dim = len(a.position)
        pa, pb = self._vector("anchor_a", dim), self._vector("anchor_b", dim)
        start = float(np.linalg.norm(pa - pb))
        if start == 0.0:
            raise ModelError(f"{self._label()}: the anchors coincide; use Ball or Revolute.")
        rest = start if self.length is None else _check.number(f"{self._label()} length", self.length, positive=True)
        zero = np.zeros(dim)
        return [Primitive(DISTANCE, a.point(pa), b.point(pb), zero, b.direction((pa - pb) / start), rest)]
