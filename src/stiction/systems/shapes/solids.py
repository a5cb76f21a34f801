"""Cylinders, ellipsoids, convex hulls and meshes in space, with their mass properties; metres."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ... import _check
from ..._check import FloatArray
from ...errors import ModelError
from .basic import _ORIGIN3, _UPRIGHT, MassProperties, Shape3, _size
from .hulls import Polytope, check_size, fan, polytope, solid
from .mesh_files import check_mesh_file

_CONVEX_VOLUME_TOL = 1e-6  # a mesh whose hull has this much more volume, relatively, is not convex


@dataclass(frozen=True, eq=False)
class Cylinder(Shape3):
    """A cylinder along z with flat ends, `length` between them."""

    radius: float
    length: float
    position: Any = _ORIGIN3
    orientation: Any = field(default=_UPRIGHT, repr=False)

    def __post_init__(self) -> None:
        _size(self, "radius", self.radius)
        _size(self, "length", self.length)
        self._place(self.position, self.orientation)

    def core(self) -> tuple[FloatArray, float]:
        """Half the edges of the box around it."""
        return np.array([self.radius, self.radius, 0.5 * self.length]), 0.0

    @property
    def reach(self) -> float:
        """To the rims."""
        return float(np.hypot(self.radius, 0.5 * self.length))

    def mass_properties(self) -> MassProperties:
        """π r² l; m r²/2 about the axis and m (3 r² + l²)/12 across it."""
        r, l = self.radius, self.length
        volume = np.pi * r**2 * l
        across = volume * (3 * r**2 + l**2) / 12
        return MassProperties(volume, np.zeros(3), np.diag([across, across, 0.5 * volume * r**2]))


@dataclass(frozen=True, eq=False)
class Ellipsoid(Shape3):
    """An ellipsoid with semi-axes (a, b, c) along x, y and z."""

    semi_axes: Any
    position: Any = _ORIGIN3
    orientation: Any = field(default=_UPRIGHT, repr=False)

    def __post_init__(self) -> None:
        semi = _check.floats("Ellipsoid semi_axes", self.semi_axes, (3,)).copy()
        if (semi <= 0).any():
            raise ModelError(f"Ellipsoid semi_axes must be greater than zero; got {semi.tolist()}.")
        object.__setattr__(self, "semi_axes", semi)
        self._place(self.position, self.orientation)

    def core(self) -> tuple[FloatArray, float]:
        """Half the edges of the box around it."""
        return self.semi_axes, 0.0

    @property
    def reach(self) -> float:
        """The largest semi-axis."""
        return float(self.semi_axes.max())

    def mass_properties(self) -> MassProperties:
        """4/3 π a b c and m (b² + c²)/5 and so on."""
        volume = 4 / 3 * np.pi * float(np.prod(self.semi_axes))
        squares = self.semi_axes**2
        return MassProperties(volume, np.zeros(3), volume / 5 * np.diag(squares.sum() - squares))


class _Polyhedral(Shape3):
    """A shape of one convex polyhedron, in the frame of the shape."""

    polytope: Polytope

    def core(self) -> tuple[FloatArray, float]:
        """Half the edges of the box around it."""
        return 0.5 * np.ptp(self.polytope.vertices, axis=0), 0.0

    @property
    def reach(self) -> float:
        """To the farthest vertex."""
        return float(np.linalg.norm(self.polytope.vertices, axis=1).max())

    def mass_properties(self) -> MassProperties:
        """By tetrahedra."""
        return MassProperties(*solid(self.polytope.vertices, fan(self.polytope.loops)))


@dataclass(frozen=True, eq=False)
class ConvexHull(_Polyhedral):
    """The convex hull of points (n, 3) of the shape's frame; they must span a volume."""

    points: Any
    position: Any = _ORIGIN3
    orientation: Any = field(default=_UPRIGHT, repr=False)

    def __post_init__(self) -> None:
        points = _check.floats("ConvexHull points", self.points, (None, 3)).copy()
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "polytope", polytope(points))
        self._place(self.position, self.orientation)

    def __repr__(self) -> str:
        return f"ConvexHull({len(self.polytope.vertices)} vertices)"


@dataclass(frozen=True, eq=False)
class _Part(_Polyhedral):
    """One convex part of a mesh, placed as the mesh is."""

    polytope: Polytope
    position: Any
    orientation: Any


@dataclass(frozen=True, eq=False)
class Mesh(Shape3):
    """A closed surface of triangles, from a file (anything trimesh reads) or from vertices (n, 3) and faces (m, 3).

    A body needs convex shapes: a mesh that is not convex is refused, or with `decompose=True` split into convex parts
    by coacd (the extra "mesh"), which touch the outside of the mesh to a few per cent of its size. Mass properties are
    those of the surface itself. Faces are counter-clockwise seen from outside.
    """

    source: Any
    faces: Any = None
    position: Any = _ORIGIN3
    orientation: Any = field(default=_UPRIGHT, repr=False)
    decompose: bool = False

    def __post_init__(self) -> None:
        vertices, triangles, what = _read(self.source, self.faces)
        own = _checked(vertices, triangles, what)
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "triangles", triangles)
        self._place(self.position, self.orientation)
        whole = polytope(vertices, f"{what} vertices")
        volume = solid(whole.vertices, fan(whole.loops))[0]
        convex = volume - own.volume <= _CONVEX_VOLUME_TOL * volume
        if not convex and not self.decompose:
            raise ModelError(
                f"{what} is not convex (its hull has {100 * (volume / own.volume - 1):.3g} % more volume): use "
                "Mesh(..., decompose=True) to split it into convex parts, or ConvexHull for its hull."
            )
        pieces = [whole] if convex else _decomposed(vertices, triangles, what)
        parts = tuple(_Part(piece, self.position, self.orientation) for piece in pieces)
        object.__setattr__(self, "_own", own)
        object.__setattr__(self, "_parts", parts)

    @property
    def parts(self) -> tuple[Shape3, ...]:
        """The convex parts."""
        return self._parts  # type: ignore[attr-defined]

    @property
    def reach(self) -> float:
        """To the farthest vertex."""
        return max(part.reach for part in self.parts)

    def mass_properties(self) -> MassProperties:
        """Of the surface, by tetrahedra."""
        return self._own  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f"Mesh({len(self.vertices)} vertices, {len(self.parts)} convex parts)"  # type: ignore[attr-defined]


def _read(source: Any, faces: Any) -> tuple[FloatArray, np.ndarray, str]:
    """Vertices with coincident ones merged, triangles, and a name for messages."""
    import trimesh

    if faces is None:
        what = f"Mesh {str(source)!r}"
        if not isinstance(source, (str, Path)):
            raise ModelError(f"Mesh needs a path, or vertices and faces; got {_check.describe(source)}.")
        if not Path(source).exists():
            raise ModelError(f"{what} does not exist.")
        if not Path(source).is_file():  # a device or a pipe may have no end
            raise ModelError(f"{what} is not a file.")
        try:
            check_mesh_file(Path(source), what)
            mesh = trimesh.load_mesh(str(source))
        except ModelError:
            raise
        except Exception as error:
            outside = "escapes resolver root" in str(error)  # as trimesh says it
            words = str(error).splitlines() or [type(error).__name__]
            said = "it names a file outside of its own folder" if outside else words[0]
            raise ModelError(f"{what} cannot be read: {said}") from error
        points, corners = np.asarray(mesh.vertices), np.asarray(mesh.faces)
        if not len(corners):  # noise may pass for a file without content
            raise ModelError(f"{what} cannot be read: no triangles were found in it.")
    else:
        what = "Mesh"
        points = source
        corners = _check.any_array(f"{what} faces", faces)
    points = _check.floats(f"{what} vertices", points, (None, 3))
    if corners.ndim != 2 or corners.shape[1] != 3 or not np.issubdtype(corners.dtype, np.integer) or not len(corners):
        raise ModelError(f"{what} faces must be whole numbers (m, 3), three vertices per triangle.")
    if corners.min() < 0 or corners.max() >= len(points):
        raise ModelError(
            f"{what} faces must name vertices 0 to {len(points) - 1}; got {corners.min()} to {corners.max()}."
        )
    check_size(f"{what} vertices", float(np.ptp(points, axis=0).max()))
    mesh = trimesh.Trimesh(points, corners, process=False)
    mesh.merge_vertices()
    mesh.update_faces(mesh.nondegenerate_faces())
    mesh.remove_unreferenced_vertices()
    return np.ascontiguousarray(mesh.vertices, dtype=float), np.asarray(mesh.faces, dtype=np.int64), what


def _checked(vertices: FloatArray, triangles: np.ndarray, what: str) -> MassProperties:
    """Mass properties of a surface that is closed, has a volume, and whose faces look outward."""
    size = float(np.ptp(vertices, axis=0).max()) if len(vertices) else 0.0
    if len(triangles) < 4 or np.ptp(vertices, axis=0).min() <= 1e-12 * size:
        raise ModelError(f"{what} has no volume; its faces must enclose one.")
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    keys = edges[:, 0] * len(vertices) + edges[:, 1]
    twins = edges[:, 1] * len(vertices) + edges[:, 0]
    unpaired = ~np.isin(keys, twins)
    _, count = np.unique(np.sort(edges, axis=1), axis=0, return_counts=True)
    if (count == 1).any():
        raise ModelError(f"{what} is open: {int((count == 1).sum())} edges belong to one face only; close its surface.")
    if unpaired.any() or len(np.unique(keys)) < len(keys):
        raise ModelError(
            f"{what} has flipped faces: neighbours disagree on which side is outside. Make them all outward."
        )
    volume, com, inertia = solid(vertices, triangles)
    if abs(volume) <= 1e-12 * size**3:
        raise ModelError(f"{what} has no volume; its faces must enclose one.")
    if volume < 0:
        raise ModelError(f"{what} is inside out: all its faces are flipped. Reverse the order of their vertices.")
    return MassProperties(volume, com, inertia)


def _decomposed(vertices: FloatArray, triangles: np.ndarray, what: str) -> list[Polytope]:
    """Convex parts by coacd, the same at every call."""
    try:
        import coacd
    except ImportError as error:
        raise ModelError(
            f'{what}: decompose=True needs coacd; install it with pip install "stiction[mesh]".'
        ) from error
    coacd.set_log_level("error")
    pieces = coacd.run_coacd(coacd.Mesh(vertices, triangles), seed=0)
    return [polytope(np.asarray(points, dtype=float), f"{what} part") for points, _ in pieces]
