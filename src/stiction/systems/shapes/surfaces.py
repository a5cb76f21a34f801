"""Shapes as triangles, for pictures and exports; the physics never sees them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import lru_cache
from typing import Any

import numpy as np

from ..._check import FloatArray, IntArray
from ..builder.bodies import quaternion_matrix
from .basic import Box, Capsule, Disk, Ellipse, HalfPlane, Plane, Polygon, Rod, Segment, Sphere
from .hulls import fan
from .solids import Cylinder, Ellipsoid, Mesh

SIDES_AROUND, SIDES_UP = 24, 12  # sides of round shapes, around and from pole to pole
SEGMENT_WIDTH_SHARE = 0.01  # of the length of a segment: its drawn width

Surface = tuple[FloatArray, IntArray]


def surface(shape: Any) -> Surface:
    """Vertices (n, 3) in the body frame and triangles (m, 3) of a shape, counter-clockwise seen from outside.

    Shapes of the plane are flat, at z = 0, and face +z. Planes and half-planes are squares of edge 2 about their
    position: whoever draws them scales them (`is_endless`).
    """
    vertices, triangles = _MAKERS[type(shape)](shape) if type(shape) in _MAKERS else _polyhedral(shape)
    if hasattr(shape, "orientation"):
        vertices = vertices @ quaternion_matrix(*shape.orientation).T + shape.position
    return np.ascontiguousarray(vertices, dtype=float), np.ascontiguousarray(triangles, dtype=np.int64)


def is_endless(shape: Any) -> bool:
    """Whether the shape goes on without end, so that its surface is only a piece of it."""
    return isinstance(shape, (Plane, HalfPlane))


def drawn(specs: Any) -> dict[str, Any]:
    """The surfaces of bodies, each once, in frames about the centres of mass; JSON.

    surfaces: vertices, triangles, and whether they are a piece of an endless shape; bodies: the surfaces of each.
    """
    surfaces: list[dict[str, Any]] = []
    known: dict[Any, int] = {}
    names: dict[Any, tuple[str, ...]] = {}  # of thousands of bodies few shapes are of different kinds
    bodies = []
    for spec in specs:
        mine = []
        com = np.zeros(3)
        com[: len(spec.com)] = spec.com
        for shape in spec.shapes:
            kind = type(shape)
            if kind not in names:
                names[kind] = _sizes(kind)
            sizes = [_as_key(getattr(shape, size)) for size in names[kind]]
            name = (kind, com.tobytes(), *(sizes or [id(shape)]))
            if name not in known:
                known[name] = len(surfaces)
                vertices, triangles = surface(shape)
                entry = {"vertices": (vertices - com).tolist(), "triangles": triangles.tolist()}
                surfaces.append({**entry, "endless": is_endless(shape)})
            mine.append(known[name])
        bodies.append(mine)
    return {"surfaces": surfaces, "bodies": bodies}


def _sizes(kind: Any) -> tuple[str, ...]:
    """The fields that tell one shape from another of its kind; none for meshes and hulls."""
    return () if kind not in _MAKERS or kind is Mesh else tuple(field.name for field in fields(kind))


def _as_key(size: Any) -> Any:
    return size if isinstance(size, float) else np.asarray(size, dtype=float).tobytes()


def _polyhedral(shape: Any) -> Surface:
    return shape.polytope.vertices, np.array(fan(shape.polytope.loops))


@lru_cache
def _ball() -> Surface:
    """The unit sphere: rings from the north to the south pole."""
    return _turned(np.linspace(0.0, np.pi, SIDES_UP + 1)[1:-1], lambda a: (np.sin(a), np.cos(a)), (1.0, -1.0))


def _turned(
    rings: FloatArray, profile: Callable[[FloatArray], tuple[FloatArray, FloatArray]], poles: tuple[float, float]
) -> Surface:
    """A surface of revolution about z: rings at the radius and height of a profile, closed at the poles."""
    radius, height = profile(rings)
    angle = 2.0 * np.pi * np.arange(SIDES_AROUND) / SIDES_AROUND
    x, y = (np.outer(radius, f(angle)).ravel() for f in (np.cos, np.sin))
    vertices = np.column_stack([x, y, np.repeat(height, SIDES_AROUND)])
    vertices = np.vstack([vertices, [[0.0, 0.0, poles[0]], [0.0, 0.0, poles[1]]]])
    n, here = len(vertices), np.arange(SIDES_AROUND)
    beside = (here + 1) % SIDES_AROUND
    triangles = [np.column_stack([np.full(SIDES_AROUND, n - 2), here, beside])]
    for k in range(len(rings) - 1):
        a, b, c, d = (
            k * SIDES_AROUND + here,
            k * SIDES_AROUND + beside,
            (k + 1) * SIDES_AROUND + here,
            (k + 1) * SIDES_AROUND + beside,
        )
        triangles += [np.column_stack([a, c, d]), np.column_stack([a, d, b])]
    last = (len(rings) - 1) * SIDES_AROUND
    triangles.append(np.column_stack([np.full(SIDES_AROUND, n - 1), last + beside, last + here]))
    return vertices, np.vstack(triangles)


def _capsule(shape: Capsule) -> Surface:
    upper, lower = (
        np.linspace(0.0, 0.5 * np.pi, SIDES_UP // 2 + 1)[1:],
        np.linspace(0.5 * np.pi, np.pi, SIDES_UP // 2 + 1)[:-1],
    )
    rings, r, half = np.concatenate([upper, lower]), shape.radius, 0.5 * shape.length
    side = np.repeat([half, -half], [len(upper), len(lower)])
    return _turned(rings, lambda a: (r * np.sin(a), r * np.cos(a) + side), (half + r, -half - r))


def _cylinder(shape: Cylinder) -> Surface:
    half, r = 0.5 * shape.length, shape.radius
    return _turned(np.array([half, -half]), lambda z: (np.full(2, r), z), (half, -half))


def _box(shape: Box) -> Surface:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    loops = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    return 0.5 * corners * np.asarray(shape.lengths), np.array(fan(loops))


def _flat(outline: FloatArray) -> Surface:
    """A convex outline (n, 2), counter-clockwise."""
    n = len(outline)
    vertices = np.column_stack([outline, np.zeros(n)])
    return vertices, np.column_stack([np.zeros(n - 2, dtype=int), np.arange(1, n - 1), np.arange(2, n)])


def _circle(start: float = 0.0, stop: float = 2.0 * np.pi, n: int = SIDES_AROUND, end: bool = False) -> FloatArray:
    angle = np.linspace(start, stop, n + end, endpoint=end)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _rod(shape: Rod) -> Surface:
    ends, radius = shape.core()
    turn = shape.angle
    right = ends[1] + radius * _circle(turn - 0.5 * np.pi, turn + 0.5 * np.pi, SIDES_AROUND // 2, True)
    left = ends[0] + radius * _circle(turn + 0.5 * np.pi, turn + 1.5 * np.pi, SIDES_AROUND // 2, True)
    return _flat(np.vstack([right, left]))


def _segment(shape: Segment) -> Surface:
    along = shape.end - shape.start
    aside = 0.5 * SEGMENT_WIDTH_SHARE * np.array([-along[1], along[0]])
    return _flat(np.array([shape.start - aside, shape.end - aside, shape.end + aside, shape.start + aside]))


def _half_plane(shape: HalfPlane) -> Surface:
    n = np.asarray(shape.normal)
    t = np.array([-n[1], n[0]])  # the outside is on its right
    return _flat(shape.position + np.array([t, t - 2.0 * n, -t - 2.0 * n, -t]))


_SQUARE = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
_MAKERS: dict[type, Callable[[Any], Surface]] = {
    Sphere: lambda s: (s.radius * _ball()[0], _ball()[1]),
    Ellipsoid: lambda s: (np.asarray(s.semi_axes) * _ball()[0], _ball()[1]),
    Box: _box,
    Capsule: _capsule,
    Cylinder: _cylinder,
    Mesh: lambda s: (s.vertices, s.triangles),
    Plane: lambda s: (_SQUARE, np.array([[0, 1, 2], [0, 2, 3]])),
    Disk: lambda s: _flat(s.position + s.radius * _circle()),
    Ellipse: lambda s: _flat(s.position + _circle() @ s.semi_axes()),
    Rod: _rod,
    Polygon: lambda s: _flat(np.asarray(s.vertices)),
    Segment: _segment,
    HalfPlane: _half_plane,
}
