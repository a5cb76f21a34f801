"""What collision kernels know of shapes, and what they find, as records of arrays that they hand on.

Sizes: ns shapes, nb bodies, n contacts or pairs, d coordinates (2 in the plane, 3 in space).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .._check import Array

__all__ = [
    "Boxes",
    "Candidates",
    "Cores",
    "FeaturePairs",
    "Filters",
    "FoundContacts",
    "Geometry",
    "Near",
    "NearPairs",
    "Placed",
    "PlaneShapes",
    "SpaceShapes",
    "Surfaces",
]


class SpaceShapes(NamedTuple):
    """The shapes of a world in space, each a core grown by a radius."""

    kind: Array  # (ns,) CORE (a box, some extents of which may be zero), PLANE, CYLINDER, ELLIPSOID or HULL
    body: Array  # (ns,) -1 for the world
    group: Array  # (ns,) collision groups, a bit each
    mask: Array  # (ns,) groups that it may touch
    excluded: Array  # pairs of bodies that do not touch, a·nb + b with a < b, sorted
    center: Array  # (ns, 3) centre of the core in the frame of the body [m]
    rot: Array  # (ns, 3, 3) its axes in that frame, as columns; the third is the outward normal of a PLANE
    half: Array  # (ns, 3) half extents [m]
    radius: Array  # (ns,) [m]


class PlaneShapes(NamedTuple):
    """The shapes of a world in the plane, each a core grown by a radius."""

    kind: Array  # (ns,) CORE (a convex polygon, a segment or a point), PLANE or ELLIPSE
    body: Array  # (ns,) and the next three: as in `SpaceShapes`
    group: Array
    mask: Array
    excluded: Array
    vert_ptr: Array  # (ns + 1,) where the rows of each shape start
    verts: Array  # (., 2) vertices; of a PLANE a point and the normal, of an ELLIPSE its centre and semi-axes [m]
    radius: Array  # (ns,) [m]


class Filters(NamedTuple):
    """Which shapes may touch (`broad.allowed`)."""

    body: Array  # (ns,) and the next two: as in `SpaceShapes`
    group: Array
    mask: Array
    movable: Array  # (nb,) whether forces move a body
    excluded: Array


class Cores(NamedTuple):
    """The cores of shapes in space with the vertices, edges and faces of hulls, shape after shape (`space/support`).

    Vertices and faces have numbers over all shapes.
    """

    kind: Array  # (ns,) as in `SpaceShapes`
    half: Array  # (ns, 3) of a cylinder (r, r, length/2), of an ellipsoid its semi-axes, of a hull its box [m]
    vert_ptr: Array  # (ns + 1,) where the vertices of each shape start
    verts: Array  # (., 3) in the frame of the shape [m]
    link_ptr: Array  # one more than vertices
    link: Array  # neighbours of each vertex
    face_ptr: Array  # (ns + 1,)
    face_normal: Array  # (., 3)
    loop_ptr: Array  # one more than faces
    loop: Array  # vertices of each face, counter-clockwise


class Boxes(NamedTuple):
    """Boxes around shapes, their sides along the axes of the world; a half-space has an infinite one."""

    lo: Array  # (ns, d) least corner [m]
    hi: Array  # (ns, d) largest
    planes: Array  # (ns, d + 1) outward normal and offset of each PLANE, zero for others


class NearPairs(NamedTuple):
    """Pairs of shapes that were near, and the boxes they were found for (`neighbours`)."""

    pairs: Array  # (n, 2)
    lo: Array  # (ns, d) and the next two: as in `Boxes`
    hi: Array
    planes: Array


class Placed(NamedTuple):
    """Shapes where their bodies are."""

    at: Array  # (ns, 3) centres in the world [m]
    axes: Array  # (ns, 3, 3) axes in the world, as columns
    ball: Array  # (ns,) radius of those whose core is a point, -1 for others


class FoundContacts(NamedTuple):
    """Contacts within a band, sorted by key: bodies, shapes, and the pair of features, or arrays for them."""

    body_a: Array  # (n,)
    body_b: Array
    shape_a: Array
    shape_b: Array
    code: Array  # which features of the two shapes
    type: Array  # which kinds of features (`collision/features.py`)
    pa: Array  # (n, d) point and direction of each feature, in its body
    da: Array
    pb: Array
    db: Array
    ra: Array  # (n,) radius
    rb: Array


class FeaturePairs(NamedTuple):
    """Pairs of features of two bodies each, as in `FoundContacts`: all that their geometry depends on."""

    body_a: Array  # (n,)
    body_b: Array
    type: Array  # (n,)
    pa: Array  # (n, d)
    da: Array
    pb: Array
    db: Array
    ra: Array  # (n,)
    rb: Array


class Surfaces(NamedTuple):
    """What touches in contacts of shapes in space, as far as it says how the surfaces bend (`space/curvature`)."""

    shapes: SpaceShapes
    fillet: Array  # (ns,) radius of edges and corners that have none of their own [m]
    pairs: FeaturePairs  # of n contacts
    shape_a: Array  # (n,)
    shape_b: Array
    hulls: Array  # (n, 2, 4) what of a hull touches, where that is not in the pairs; (0, 2, 4) without curved shapes


class Geometry(NamedTuple):
    """Where contacts are at one configuration."""

    gap: Array  # (n,) [m]
    normal: Array  # (n, d) from the second body to the first
    point_a: Array  # (n, d) nearest points
    point_b: Array


class Candidates(NamedTuple):
    """Pairs of features of which the contacts of two shapes are chosen, one in a row (`manifold`, `patch` in
    `space/`)."""

    ci: Array  # what they are: numbers of features
    cf: Array  # signed core distance, then the point, relative to the second shape [m]


class Near(NamedTuple):
    """Which pairs of features of two shapes are candidates."""

    d: Any  # signed distance of the cores [m]
    reach: Any  # largest distance of a candidate [m]
    slop: Any  # how far beside a feature still counts as over it [m]
    size: Any  # of the two shapes: what is round-off [m]
