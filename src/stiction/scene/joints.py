"""Joints by the names that they have in Python, with limits, motors and friction."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from .. import systems
from .fields import Name, NotNegative, Number, Positive, Table, Vector, Vector3
from .laws import AnyRestitution

Limit = Annotated[float, Field(strict=True, allow_inf_nan=True)]
Compliance = Annotated[
    Annotated[NotNegative, Tag("<number>")]
    | Annotated[Annotated[list[NotNegative], Field(min_length=1, max_length=6)], Tag("<rows>")],
    Discriminator(lambda value: "<rows>" if isinstance(value, list) else "<number>"),
]


class Motor(Table):
    """Drives the coordinate of a joint."""

    speed: Number | None = None
    """To reach and to hold [rad/s or m/s]."""
    position: Number | None = None
    """To go to [rad or m], instead of a speed."""
    bound: Positive
    """The largest torque [N m] or force [N]."""
    time: NotNegative = 0.1
    """The time constant of a position [s]."""


class Joint(Table):
    """Connects two bodies: [[joints]]. Anchors and axes are in the world at the start."""

    name: Name | None = None
    """By default joint0, joint1 and so on."""
    a: Name | None = None
    """The first body; by default the world."""
    b: Name | None = None
    """The second body; by default the world."""
    compliance: Compliance = 0.0
    """How far the rows give way [m/N, rad/(N m)]."""

    def add(self, world: Any) -> Any:
        """Add it to the world, and return it."""
        given = self.given("a", "b")
        if isinstance(given.get("motor"), Motor):
            given["motor"] = systems.Motor(**given["motor"].given())
        if "restitution" in given:
            given["restitution"] = given["restitution"].make()
        return world.add_joint(getattr(systems, self.type)(self.a, self.b, **given))  # type: ignore[attr-defined]


class Driven(Joint):
    """A joint with one coordinate."""

    limits: Annotated[list[Limit], Field(min_length=2, max_length=2)] | None = None
    """The coordinate stays between them [rad or m]; -inf or inf for none on a side."""
    motor: Motor | None = None
    """What drives it."""
    friction: NotNegative = 0.0
    """The largest torque [N m] or force [N] of dry friction."""
    restitution: AnyRestitution | None = None
    """Of the limits, for the scheme Moreau; a number or a table, by default 0."""


class Fixed(Joint):
    """Holds two bodies together as they are at the start."""

    type: Literal["Fixed"]


class Ball(Joint):
    """A ball joint."""

    type: Literal["Ball"]
    anchor: Vector3
    """[m]"""


class Universal(Joint):
    """A cross of two axes."""

    type: Literal["Universal"]
    anchor: Vector3
    """[m]"""
    axis_a: Vector3
    """Turns with a."""
    axis_b: Vector3
    """Turns with b."""


class Planar(Joint):
    """Keeps a in a plane of b."""

    type: Literal["Planar"]
    anchor: Vector3
    """[m]"""
    normal: Vector3
    """Of the plane."""


class Revolute(Driven):
    """A hinge."""

    type: Literal["Revolute"]
    anchor: Vector
    """[m]"""
    axis: Vector3 | None = None
    """In space."""


class Prismatic(Driven):
    """A slider."""

    type: Literal["Prismatic"]
    axis: Vector
    """Turns with b."""
    anchor: Vector | None = None
    """[m]; by default the centre of mass of a."""


class Cylindrical(Driven):
    """A shaft in a bush."""

    type: Literal["Cylindrical"]
    anchor: Vector3
    """[m]"""
    axis: Vector3
    """Along which it slides and about which it turns."""


class Screw(Driven):
    """A nut on a screw."""

    type: Literal["Screw"]
    anchor: Vector3
    """[m]"""
    axis: Vector3
    """Of the screw."""
    pitch: Number
    """Along the axis for each turn [m]."""


class Gear(Joint):
    """Turns a `ratio` times as fast as b."""

    type: Literal["Gear"]
    ratio: Number
    """Negative for two wheels that mesh from outside."""
    axis_a: Vector3 | None = None
    """Of wheel a, in space."""
    axis_b: Vector3 | None = None
    """Of wheel b, in space; by default axis_a."""


class Rack(Joint):
    """A rack b on a wheel a."""

    type: Literal["Rack"]
    radius: Number
    """Of the wheel [m]."""
    direction: Vector
    """In which the rack moves."""
    axis: Vector3 | None = None
    """Of the wheel, in space."""


class Distance(Joint):
    """Keeps two points at a distance."""

    type: Literal["Distance"]
    anchor_a: Vector
    """On a [m]."""
    anchor_b: Vector
    """On b [m]."""
    length: Positive | None = None
    """[m]; by default the distance at the start."""


class Rope(Joint):
    """Keeps two points within a length."""

    type: Literal["Rope"]
    anchor_a: Vector
    """On a [m]."""
    anchor_b: Vector
    """On b [m]."""
    length: Positive | None = None
    """[m]; by default the distance at the start."""


AnyJoint = Annotated[
    Fixed | Ball | Universal | Planar | Revolute | Prismatic | Cylindrical | Screw | Gear | Rack | Distance | Rope,
    Field(discriminator="type"),
]
