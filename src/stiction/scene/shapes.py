"""Shapes by the names that they have in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from .. import systems
from ..errors import ModelError
from ..systems.joints.primitives import turn_to, unit_vector
from ..systems.shapes.mesh_files import check_mesh_file
from .fields import Number, Positive, Quaternion, Table, Vector2, Vector3

MESH_ENDINGS = ("stl", "ply", "obj", "off", "glb", "gltf")  # none of them is read with the help of files elsewhere
SHAPE_MAX_POINTS = 100_000


class Shape(Table):
    """A shape."""

    def make(self, folder: Path | None) -> Any:
        """The shape itself; `folder` is where meshes are."""
        return getattr(systems, self.type)(**self.given())  # type: ignore[attr-defined]


class Solid(Shape):
    """A shape in space, placed in the frame of its body."""

    position: Vector3 | None = None
    """Of the shape's own origin in the body's frame [m]."""
    orientation: Quaternion | None = None
    """A quaternion (w, x, y, z)."""


class Sphere(Solid):
    """A ball."""

    type: Literal["Sphere"]
    radius: Positive
    """[m]"""


class Box(Solid):
    """A box."""

    type: Literal["Box"]
    lengths: Annotated[list[Positive], Field(min_length=3, max_length=3)]
    """Full edge lengths [m]."""


class Capsule(Solid):
    """A cylinder along z with round caps."""

    type: Literal["Capsule"]
    radius: Positive
    """[m]"""
    length: Positive
    """Between the centres of the caps [m]."""


class Cylinder(Solid):
    """A cylinder along z with flat ends."""

    type: Literal["Cylinder"]
    radius: Positive
    """[m]"""
    length: Positive
    """[m]"""


class Ellipsoid(Solid):
    """An ellipsoid."""

    type: Literal["Ellipsoid"]
    semi_axes: Annotated[list[Positive], Field(min_length=3, max_length=3)]
    """Along x, y and z [m]."""


class ConvexHull(Solid):
    """The convex hull of points."""

    type: Literal["ConvexHull"]
    points: Annotated[list[Vector3], Field(min_length=4, max_length=SHAPE_MAX_POINTS)]
    """In the shape's frame [m]."""


class Mesh(Solid):
    """A closed surface, from a file in the scene's folder or below it, or by its vertices and faces."""

    type: Literal["Mesh"]
    path: str | None = None
    """Relative to the scene file: .stl, .ply, .obj, .off, .glb, .gltf, or an archive of one (.zip, .tar.gz, .bz2)."""
    vertices: Annotated[list[Vector3], Field(max_length=SHAPE_MAX_POINTS)] | None = None
    """[m], instead of a path."""
    faces: (
        Annotated[list[Annotated[list[int], Field(min_length=3, max_length=3)]], Field(max_length=2 * SHAPE_MAX_POINTS)]
        | None
    ) = None
    """Three vertices for each triangle, counter-clockwise seen from outside."""
    decompose: bool = False
    """Split a surface that is not convex into convex parts (the extra "mesh")."""

    def make(self, folder: Path | None) -> Any:
        """Read it, if it is a file that may be read."""
        rest = self.given("path", "vertices", "faces")
        if self.path is not None:
            if self.vertices is not None or self.faces is not None:
                raise ModelError("Mesh: give a path, or vertices and faces, not both.")
            return systems.Mesh(mesh_file(self.path, folder), **rest)
        if self.vertices is None or self.faces is None:
            raise ModelError("Mesh needs a path, or vertices and faces.")
        return systems.Mesh(self.vertices, self.faces, **rest)


def mesh_file(path: str, folder: Path | None) -> str:
    """The file of a mesh: below the folder of the scene, links resolved, of a format that names no file elsewhere."""
    if folder is None:
        raise ModelError(f"Mesh path {path!r}: this scene has no folder; give vertices and faces.")
    if "\0" in path or not path or Path(path).is_absolute():
        raise ModelError(f"Mesh path {path!r} must be relative to the scene file.")
    home = folder.resolve()
    try:
        file = (home / path).resolve()
    except (OSError, RuntimeError) as error:
        raise ModelError(f"Mesh path {path!r} cannot be followed: {error}") from None
    if not file.is_relative_to(home):
        raise ModelError(f"Mesh path {path!r} leads out of the scene's folder; copy the file into it.")
    if not file.is_file():
        raise ModelError(f"Mesh path {path!r}: there is no such file in {home}.")
    check_mesh_file(file, f"Mesh path {path!r}", MESH_ENDINGS)
    return str(file)


class Plane(Table):
    """A half-space, for fixed or kinematic bodies: by normal and offset, or by position and orientation."""

    type: Literal["Plane"]
    normal: Vector3 | None = None
    """Outward; by default z."""
    offset: Number | None = None
    """Along the normal, from the body's origin [m]."""
    position: Vector3 | None = None
    """A point on it [m], instead of offset."""
    orientation: Quaternion | None = None
    """Takes z to the normal, instead of normal."""

    def make(self, folder: Path | None) -> Any:
        """As `World.add_plane` makes it."""
        placed, leaning = {"position", "orientation"}, {"normal", "offset"}
        if self.model_fields_set & placed and self.model_fields_set & leaning:
            raise ModelError("Plane: give normal and offset, or position and orientation, not both.")
        if self.model_fields_set & placed:
            return systems.Plane(**self.given())
        n = unit_vector("Plane normal", self.normal or [0.0, 0.0, 1.0], 3)
        return systems.Plane((self.offset or 0.0) * n, turn_to(n))


class HalfPlane(Table):
    """All points below a line, for fixed or kinematic bodies in the plane."""

    type: Literal["HalfPlane"]
    normal: Vector2 | None = None
    """Outward; by default y."""
    offset: Number | None = None
    """Along the normal, from the body's origin [m]."""
    position: Vector2 | None = None
    """A point on it [m], instead of offset."""

    def make(self, folder: Path | None) -> Any:
        """As `PlanarWorld.add_half_plane` makes it."""
        if self.position is not None:
            if self.offset is not None:
                raise ModelError("HalfPlane: give offset or position, not both.")
            return systems.HalfPlane(**self.given())
        n = unit_vector("HalfPlane normal", self.normal or [0.0, 1.0], 2)
        return systems.HalfPlane(n, (self.offset or 0.0) * n)


class Disk(Shape):
    """A disk in the plane."""

    type: Literal["Disk"]
    radius: Positive
    """[m]"""
    position: Vector2 | None = None
    """[m]"""


class Ellipse(Shape):
    """An ellipse in the plane."""

    type: Literal["Ellipse"]
    a: Positive
    """Semi-axis along x [m]."""
    b: Positive
    """Semi-axis along y [m]."""
    position: Vector2 | None = None
    """[m]"""
    angle: Number = 0.0
    """[rad]"""


class Rod(Shape):
    """A rod along x with round ends, in the plane."""

    type: Literal["Rod"]
    radius: Positive
    """[m]"""
    length: Positive
    """Between the centres of the ends [m]."""
    position: Vector2 | None = None
    """[m]"""
    angle: Number = 0.0
    """[rad]"""


class Polygon(Shape):
    """A convex polygon in the plane, by its vertices or as a rectangle about the origin."""

    type: Literal["Polygon"]
    vertices: Annotated[list[Vector2], Field(min_length=3, max_length=SHAPE_MAX_POINTS)] | None = None
    """[m]"""
    lengths: Annotated[list[Positive], Field(min_length=2, max_length=2)] | None = None
    """Width and height of a rectangle [m], instead of vertices."""

    def make(self, folder: Path | None) -> Any:
        """The polygon."""
        if (self.vertices is None) == (self.lengths is None):
            raise ModelError("Polygon needs vertices, or the lengths of a rectangle.")
        return systems.Polygon(self.vertices) if self.lengths is None else systems.Polygon.box(*self.lengths)


class Segment(Shape):
    """A thin segment in the plane, without area."""

    type: Literal["Segment"]
    start: Vector2
    """[m]"""
    end: Vector2
    """[m]"""


AnyShape = Annotated[
    Sphere
    | Box
    | Capsule
    | Cylinder
    | Ellipsoid
    | ConvexHull
    | Mesh
    | Plane
    | HalfPlane
    | Disk
    | Ellipse
    | Rod
    | Polygon
    | Segment,
    Field(discriminator="type"),
]
