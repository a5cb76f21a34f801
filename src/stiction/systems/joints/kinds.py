"""Joints between two bodies, in space and in the plane (ah03 eq. 2.1).

A joint is a list of primitive rows (`joint_rows` in `kernels.space`): two points that coincide along an axis of the
second body, two directions that stay at a right angle, two points at a distance, or a rotation counted over full turns.
Anchors and axes are given in the world at the initial pose. A new joint is a new list.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ... import _check
from ..._check import FloatArray
from ...errors import ModelError
from ...problem.laws import EQUALITY, UNILATERAL
from ..builder.handles import Mark
from ..model.kernels.space import DISTANCE, DOT, POINT_AXIS, TRAVEL, TURN
from ..restitution import Restitution
from .drives import Motor
from .primitives import WORLD, A, B, Place, Primitive, Turn


@dataclass(frozen=True, eq=False)
class Joint:
    """Connects bodies `a` and `b` (handles or names; None for the world).

    compliance: how far the rows give way [m/N, rad/(N·m)], one number or one for each row; 0 is rigid.
    """

    a: Any
    b: Any
    name: str | None = field(default=None, kw_only=True)
    compliance: Any = field(default=0.0, kw_only=True)
    law: ClassVar[int] = EQUALITY
    mark: ClassVar[Mark | None] = None  # of a joint that was added to a world (`handles.py`)

    def primitives(self, a: Place, b: Place) -> list[Primitive]:
        """The rows of the joint."""
        raise ModelError(f"{type(self).__name__} defines no rows.")

    def coordinate(self, a: Place, b: Place) -> Primitive | None:
        """What moves: an angle [rad] or displacement [m], 0 at the start, or a distance [m]; None where several do."""
        return None

    def _vector(self, field: str, dim: int) -> FloatArray:
        return _check.floats(f"{self.label} {field}", getattr(self, field), (dim,))

    @property
    def label(self) -> str:
        """What messages call the joint."""
        return f"{type(self).__name__} {self.name!r}" if self.name else type(self).__name__

    def _axis(self, dim: int, field: str = "axis") -> FloatArray:
        if getattr(self, field, None) is None:
            raise ModelError(f"{self.label} needs an {field}: a direction in the world at the start.")
        axis = self._vector(field, dim)
        size = float(np.linalg.norm(axis))
        if size == 0.0:
            raise ModelError(f"{self.label} {field} must not be zero.")
        return axis / size

    def _in_space(self, a: Place, instead: str) -> None:
        if len(a.position) != 3:
            raise ModelError(f"{self.label} is a joint in space; in the plane use {instead}.")


@dataclass(frozen=True, eq=False)
class Driven(Joint):
    """A joint with one coordinate that can have limits, a motor and friction.

    limits (lo, hi): the coordinate stays between them, None for no limit on a side; motor: a `Motor`; friction: the
    largest torque [N·m] or force [N] of dry friction in the joint (st96 §3.5); restitution of the limits: from 0 to 1,
    or a function of the speed at which they are hit [m/s, rad/s], for the scheme `Moreau`.
    """

    limits: Any = field(default=None, kw_only=True)
    motor: Motor | None = field(default=None, kw_only=True)
    friction: float = field(default=0.0, kw_only=True)
    restitution: Restitution = field(default=0.0, kw_only=True)


def _points(a: Place, b: Place, anchor: FloatArray, axes: FloatArray) -> list[Primitive]:
    """The anchor coincides along the world directions `axes` (m, d), which turn with b."""
    return [Primitive.make(POINT_AXIS, pa=a.point(anchor), pb=b.point(anchor), ub=b.direction(u)) for u in axes]


def _right_angle(a: Place, b: Place, ua: FloatArray, ub: FloatArray) -> Primitive:
    return Primitive.make(DOT, ua=a.direction(ua), ub=b.direction(ub))


def _same_orientation(a: Place, b: Place, dim: int) -> list[Primitive]:
    if dim == 2:
        return [Primitive.make(DOT, ua=np.zeros(2), rest=a.angle - b.angle)]
    e = np.eye(3)
    return [_right_angle(a, b, e[i], e[(i + 1) % 3]) for i in range(3)]


def _same_axis(a: Place, b: Place, axis: FloatArray) -> list[Primitive]:
    return [_right_angle(a, b, axis, across) for across in _across(axis)]


def _across(axis: FloatArray) -> FloatArray:
    """Unit directions (d - 1, d) at right angles to a unit axis."""
    if len(axis) == 2:
        return np.array([[-axis[1], axis[0]]])
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(axis, helper)
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(axis, first)])


def _turn(axis: FloatArray | None, of: int, against: int, a: Place, b: Place) -> Turn:
    """The rotation of one body about a world axis (at the start) fixed in the other, or in the world."""
    places = {A: a, B: b, WORLD: Place(np.zeros(len(a.position)), np.eye(len(a.position)))}
    first, second = places[of], places[against]
    if axis is None:
        return Turn(of, against, np.zeros(2), np.zeros(2), np.zeros(2), first.angle - second.angle)
    across = _across(axis)[0]
    return Turn(of, against, first.direction(across), second.direction(across), second.direction(axis))


def _turning(axis: FloatArray | None, a: Place, b: Place) -> Primitive:
    """The angle of a against b."""
    return Primitive.make(TURN, ua=np.zeros(len(a.position)), turns=((1.0, _turn(axis, A, B, a, b)),))


def _distance(joint: Any, a: Place, b: Place, rest: float) -> tuple[Primitive, float]:
    """The distance of two anchors, and its value at the start."""
    dim = len(a.position)
    pa, pb = joint._vector("anchor_a", dim), joint._vector("anchor_b", dim)
    start = float(np.linalg.norm(pa - pb))
    along = (pa - pb) / start if start > 0.0 else np.eye(dim)[0]
    return Primitive.make(DISTANCE, pa=a.point(pa), pb=b.point(pb), ub=b.direction(along), rest=rest), start


@dataclass(frozen=True, eq=False)
class Fixed(Joint):
    """Holds two bodies together as they are at the start."""

    def primitives(self, a: Place, b: Place) -> list[Primitive]:
        """Same point, same orientation."""
        dim = len(a.position)
        return [*_points(a, b, a.position, np.eye(dim)), *_same_orientation(a, b, dim)]


@dataclass(frozen=True, eq=False)
class Ball(Joint):
    """A ball joint at `anchor` (in space)."""

    anchor: Any

    def primitives(self, a: Place, b: Place) -> list[Primitive]:
        """Same point."""
        self._in_space(a, "Revolute")
        return _points(a, b, self._vector("anchor", 3), np.eye(3))


@dataclass(frozen=True, eq=False)
class Universal(Joint):
    """A cross of two axes at `anchor` (in space): `axis_a` turns with a, `axis_b` with b, always at a right angle."""

    anchor: Any
    axis_a: Any
    axis_b: Any

    def primitives(self, a: Place, b: Place) -> list[Primitive]:
        """Same point, axes at a right angle."""
        self._in_space(a, "Revolute")
        first, second = self._axis(3, "axis_a"), self._axis(3, "axis_b")
        if abs(first @ second) > 1e-9:
            raise ModelError(f"{self.label}: axis_a and axis_b must be at a right angle at the start.")
        second = second - (first @ second) * first
        rows = _points(a, b, self._vector("anchor", 3), np.eye(3))
        return [*rows, _right_angle(a, b, first, second / np.linalg.norm(second))]


@dataclass(frozen=True, eq=False)
class Planar(Joint):
    """Keeps a in a plane of b (in space), through `anchor` and across `normal`; a may turn about the normal."""

    anchor: Any
    normal: Any

    def primitives(self, a: Place, b: Place) -> list[Primitive]:
        """No motion along the normal, same normal."""
        self._in_space(a, "no joint at all")
        normal = self._axis(3, "normal")
        return [*_points(a, b, self._vector("anchor", 3), normal[None]), *_same_axis(a, b, normal)]


@dataclass(frozen=True, eq=False)
class Revolute(Driven):
    """A hinge at `anchor`, about `axis` in space. Its coordinate is the angle of a against b [rad]."""

    anchor: Any
    axis: Any = None

    def primitives(self, a: Place, b: Place) -> list[Primitive]:
        """Same point; in space also the same axis."""
        dim = len(a.position)
        rows = _points(a, b, self._vector("anchor", dim), np.eye(dim))
        return [*rows, *_same_axis(a, b, self._axis(3))] if dim == 3 else rows

    def coordinate(self, a: Place, b: Place) -> Primitive:
        """The angle."""
        return _turning(self._axis(3) if len(a.position) == 3 else None, a, b)


@dataclass(frozen=True, eq=False)
class Prismatic(Driven):
    """A slider along `axis`; the axis turns with `b`, and `a` slides along it without turning against b.

    Its coordinate is the displacement of a along the axis [m].
    """

    axis: Any
    anchor: Any = None

    def primitives(self, a: Place, b: Place) -> list[Primitive]:
        """No motion across the axis, same orientation."""
        dim = len(a.position)
        return [*_points(a, b, self._anchor(a), _across(self._axis(dim))), *_same_orientation(a, b, dim)]

    def coordinate(self, a: Place, b: Place) -> Primitive:
        """The displacement."""
        return _points(a, b, self._anchor(a), self._axis(len(a.position))[None])[0]

    def _anchor(self, a: Place) -> FloatArray:
        return a.position if self.anchor is None else self._vector("anchor", len(a.position))


@dataclass(frozen=True, eq=False)
class Cylindrical(Driven):
    """A shaft in a bush (in space): a slides along `axis` through `anchor` and turns about it.

    Its coordinate is the displacement of a along the axis [m].
    """

    anchor: Any
    axis: Any

    def primitives(self, a: Place, b: Place) -> list[Primitive]:
        """No motion across the axis, same axis."""
        self._in_space(a, "Prismatic")
        axis = self._axis(3)
        return [*_points(a, b, self._vector("anchor", 3), _across(axis)), *_same_axis(a, b, axis)]

    def coordinate(self, a: Place, b: Place) -> Primitive:
        """The displacement."""
        return _points(a, b, self._vector("anchor", 3), self._axis(3)[None])[0]


@dataclass(frozen=True, eq=False)
class Screw(Driven):
    """A nut on a screw (in space): a moves along `axis` by `pitch` [m] for each turn about it.

    Its coordinate is the angle of a against b [rad], counted over full turns. A negative pitch is a left-hand thread.
    """

    anchor: Any
    axis: Any
    pitch: float

    def primitives(self, a: Place, b: Place) -> list[Primitive]:
        """No motion across the axis, same axis, and the displacement follows the angle."""
        self._in_space(a, "Rack")
        axis, anchor = self._axis(3), self._vector("anchor", 3)
        pitch = _nonzero(f"{self.label} pitch", self.pitch)
        advance = _points(a, b, anchor, axis[None])[0].with_turns((-pitch / (2.0 * math.pi), _turn(axis, A, B, a, b)))
        return [*_points(a, b, anchor, _across(axis)), *_same_axis(a, b, axis), advance]

    def coordinate(self, a: Place, b: Place) -> Primitive:
        """The angle."""
        return _turning(self._axis(3), a, b)


@dataclass(frozen=True, eq=False)
class Gear(Joint):
    """Turns a `ratio` times as fast as b: `w_a = ratio·w_b`, negative for two wheels that mesh from outside.

    In space `axis_a` and `axis_b` (by default the same) are the axes of the wheels: parallel, bevel or worm. They stay
    fixed in the world: the bearings, joints of their own, are on a frame that does not move.
    """

    ratio: float
    axis_a: Any = None
    axis_b: Any = None

    def primitives(self, a: Place, b: Place) -> list[Primitive]:
        """One coupling of two angles."""
        ratio = _nonzero(f"{self.label} ratio", self.ratio)
        first = second = None
        if len(a.position) == 3:
            first = self._axis(3, "axis_a")
            second = first if self.axis_b is None else self._axis(3, "axis_b")
        turns = ((1.0, _turn(first, A, WORLD, a, b)), (-ratio, _turn(second, B, WORLD, a, b)))
        return [Primitive.make(TURN, ua=np.zeros(len(a.position)), turns=turns)]


@dataclass(frozen=True, eq=False)
class Rack(Joint):
    """A rack b on a wheel a: b moves by `radius` [m] along `direction` for each radian that a turns.

    In space `axis` is the axis of the wheel. Both directions stay fixed in the world, as those of a `Gear` do.
    """

    radius: float
    direction: Any
    axis: Any = None

    def primitives(self, a: Place, b: Place) -> list[Primitive]:
        """One coupling of a displacement and an angle."""
        dim = len(a.position)
        radius = _nonzero(f"{self.label} radius", self.radius)
        along, turn = self._axis(dim, "direction"), _turn(self._axis(3) if dim == 3 else None, A, WORLD, a, b)
        return [Primitive.make(TRAVEL, ub=along, rest=float(along @ b.position), turns=((-radius, turn),))]


@dataclass(frozen=True, eq=False)
class Distance(Joint):
    """Keeps `anchor_a` on a and `anchor_b` on b at a distance: `length` [m], by default the one at the start."""

    anchor_a: Any
    anchor_b: Any
    length: float | None = None

    def primitives(self, a: Place, b: Place) -> list[Primitive]:
        """One distance."""
        start = _distance(self, a, b, 0.0)[1]
        if start == 0.0:
            raise ModelError(f"{self.label}: the anchors coincide; use Ball or Revolute.")
        rest = start if self.length is None else _check.number(f"{self.label} length", self.length, positive=True)
        return [_distance(self, a, b, rest)[0]]

    def coordinate(self, a: Place, b: Place) -> Primitive:
        """The distance."""
        return _distance(self, a, b, 0.0)[0]


@dataclass(frozen=True, eq=False)
class Rope(Joint):
    """Keeps `anchor_a` and `anchor_b` within `length` [m], by default their distance at the start: it pulls, only."""

    anchor_a: Any
    anchor_b: Any
    length: float | None = None
    law: ClassVar[int] = UNILATERAL

    def primitives(self, a: Place, b: Place) -> list[Primitive]:
        """What is left of the length."""
        row, start = _distance(self, a, b, 0.0)
        length = start if self.length is None else self.length
        return [row.times(-1.0, rest=-_check.number(f"{self.label} length", length, positive=True))]

    def coordinate(self, a: Place, b: Place) -> Primitive:
        """The distance."""
        return _distance(self, a, b, 0.0)[0]


def _nonzero(what: str, value: Any) -> float:
    x = _check.number(what, value)
    if x == 0.0:
        raise ModelError(f"{what} must not be zero.")
    return x
