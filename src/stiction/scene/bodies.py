"""Bodies with their shapes, initial states and prescribed motions; springs and forces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from .. import systems
from ..errors import ModelError
from .fields import Name, NotNegative, Number, Positive, Quaternion, Table, Vector, Vector3
from .shapes import AnyShape, HalfPlane, Plane

Rows = 1_000_000


class Motion(Table):
    """A motion that a kinematic body is told to make."""

    def make(self) -> Any:
        """The motion."""
        return getattr(systems, self.type)(**self.given())  # type: ignore[attr-defined]


class Oscillation(Motion):
    """To and fro: amplitude·sin(2π·frequency·t + phase)."""

    type: Literal["Oscillation"]
    frequency: Positive
    """[Hz]"""
    amplitude: Vector | None = None
    """[m]"""
    angle: Number = 0.0
    """[rad]"""
    axis: Vector3 | None = None
    """Of the rotation, in space."""
    phase: Number = 0.0
    """[rad]"""


class Rotation(Motion):
    """Round at a steady rate."""

    type: Literal["Rotation"]
    rate: Number
    """[rad/s]"""
    axis: Vector3 | None = None
    """In space."""
    center: Vector | None = None
    """By default the body's origin [m]."""


class Timetable(Motion):
    """By a table, with straight lines between its rows."""

    type: Literal["Table"]
    times: Annotated[list[Number], Field(min_length=2, max_length=Rows)]
    """Rising [s]."""
    positions: Annotated[list[Vector], Field(min_length=2, max_length=Rows)] | None = None
    """Of the body's origin in the world [m]."""
    angles: Annotated[list[Number], Field(min_length=2, max_length=Rows)] | None = None
    """By which the body is turned [rad]."""
    axis: Vector3 | None = None
    """Of the rotation, in space."""

    def make(self) -> Any:
        """The motion; rows of different lengths are refused here, since they make no array."""
        if self.positions is not None and len({len(row) for row in self.positions}) > 1:
            raise ModelError("Table positions must all have the same length.")
        return super().make()


AnyMotion = Annotated[
    Oscillation | Rotation | Timetable,
    Field(discriminator="type"),
]
Tensor = Annotated[list[Vector3], Field(min_length=3, max_length=3)]


def _inertia(value: Any) -> str:
    if not isinstance(value, list):
        return "<number>"
    return "<matrix>" if any(isinstance(row, list) for row in value) else "<moments>"


def _turning(value: Any) -> str:
    return "<vector>" if isinstance(value, list) else "<number>"


Turning = Annotated[Annotated[Number, Tag("<number>")] | Annotated[Vector3, Tag("<vector>")], Discriminator(_turning)]
Inertia = Annotated[
    Annotated[Positive, Tag("<number>")] | Annotated[Vector3, Tag("<moments>")] | Annotated[Tensor, Tag("<matrix>")],
    Discriminator(_inertia),
]


class Template(Table):
    """What the bodies of an array have in common."""

    shape: AnyShape | None = None
    """Its shape."""
    shapes: list[AnyShape] | None = None
    """Its shapes, if there are several."""
    mass: Positive | None = None
    """[kg]"""
    density: Positive | None = None
    """[kg/m³], in the plane [kg/m²]; instead of mass."""
    inertia: Inertia | None = None
    """About the centre of mass in body axes [kg m²]: a number, three moments or three rows; by default the shapes'."""
    com: Vector | None = None
    """The centre of mass in the body's frame [m]; by default the shapes'."""
    orientation: Quaternion | None = None
    """A quaternion (w, x, y, z), in space."""
    angle: Number | None = None
    """[rad], in the plane."""
    velocity: Vector | None = None
    """Of the body frame's origin [m/s]."""
    angular_velocity: Turning | None = None
    """[rad/s]: a vector in world axes; in the plane a number."""
    material: Name | None = None
    """By name; by default "default"."""
    group: Name | None = None
    """Bodies of one group do not collide with each other."""

    def make_shapes(self, folder: Path | None) -> Any:
        """The shapes."""
        if self.shape is not None and self.shapes is not None:
            raise ModelError("give shape or shapes, not both.")
        if self.shapes is not None:
            return [shape.make(folder) for shape in self.shapes]
        return None if self.shape is None else self.shape.make(folder)

    def options(self) -> dict[str, Any]:
        """The arguments of `add_body` that are not shapes."""
        return {k: v for k, v in self.given("shape", "shapes").items() if v is not None}


class Body(Template):
    """A body: [[bodies]]."""

    name: Name | None = None
    """By which others speak of it; by default body0, body1 and so on."""
    kind: Literal["dynamic", "fixed", "kinematic"] | None = None
    """Moved by forces, not at all, or as `motion` or its velocity says; by default dynamic, planes fixed."""
    position: Vector | None = None
    """Of the body frame's origin [m]."""
    motion: AnyMotion | None = None
    """Of a kinematic body."""

    def add(self, world: Any, folder: Path | None) -> Any:
        """Add it to the world, and return its handle."""
        options = self.options()
        if self.motion is not None:
            options["motion"] = self.motion.make()
        if self.kind is None:
            flat = any(isinstance(s, (Plane, HalfPlane)) for s in [self.shape, *(self.shapes or [])])
            options["kind"] = "fixed" if flat else "dynamic"
        return add_body(world, self.make_shapes(folder), options)


def add_body(world: Any, shapes: Any, options: dict[str, Any]) -> Any:
    """`add_body`, with words for what a world of this kind does not have."""
    wrong, right = ("angle", "orientation") if world.dim == 3 else ("orientation", "angle")
    if wrong in options:
        raise ModelError(f"{wrong} is for worlds in {'the plane' if world.dim == 3 else 'space'}; give {right}.")
    if "angular_velocity" in options and isinstance(options["angular_velocity"], list) != (world.dim == 3):
        raise ModelError(f"angular_velocity must be {'a vector' if world.dim == 3 else 'a number'} [rad/s].")
    return world.add_body(shapes, **options)


class Spring(Table):
    """A spring and damper between two points, or on a joint: [[springs]]."""

    name: Name | None = None
    """By default spring0, spring1 and so on."""
    joint: Name | None = None
    """The joint that it acts on, instead of bodies."""
    a: Name | None = None
    """A body."""
    b: Name | None = None
    """The other body; by default the world."""
    stiffness: NotNegative = 0.0
    """[N/m], on a joint [N m/rad]."""
    damping: NotNegative = 0.0
    """[N s/m], on a joint [N m s/rad]."""
    anchor_a: Vector | None = None
    """Where it holds a, in the world at the start [m]."""
    anchor_b: Vector | None = None
    """Where it holds b, in the world at the start [m]."""
    length: NotNegative | None = None
    """Without force [m]; by default the distance at the start."""
    rest: Number | None = None
    """The coordinate of the joint without torque or force [rad, m]."""

    def add(self, world: Any) -> Any:
        """Add it to the world."""
        if (self.joint is None) == (self.a is None):
            raise ModelError("a spring is on a joint, or between a body a and another: give joint, or a.")
        given = self.given("joint", "a", "b")
        if self.joint is not None:
            if self.joint not in world.joint_names:
                raise ModelError(f"there is no joint {self.joint!r}.")
            return world.add_spring(self.joint, _body(self.b), **given)
        if "rest" in given:
            raise ModelError("rest is for springs on joints; between points give length.")
        return world.add_spring(_body(self.a), _body(self.b), **given)


def _body(name: str | None) -> Any:
    """A body by name, as a handle; joints may have the same names."""
    return None if name is None else systems.Body(name, 0)


class Force(Table):
    """A constant force and torque on a body, in world axes: [[forces]]."""

    body: Name
    """On which it acts."""
    force: Vector | None = None
    """[N]"""
    torque: Turning | None = None
    """[N m]: a vector; in the plane a number."""
    point: Vector | None = None
    """Of the body's frame, where the force acts [m]; by default the centre of mass."""

    def add(self, world: Any) -> None:
        """Add it to the world."""
        world.add_force(**self.given())
