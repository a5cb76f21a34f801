"""How two surfaces bend where they touch: the radius R of Hertz's contact, one number for each pair of features.

Each surface has a symmetric curvature on the tangent plane, zero where it is flat: 1/r of a ball, 1/r across the line
of a rounded edge or the side of a cylinder, the inverse of the derivative of the support point of an ellipsoid, and of
the rim of a cylinder that of a torus. Edges, corners and rims without radius are rounded by their shape's fillet.
The sum of both curvatures has the principal values κ₁ >= κ₂, and

    R = 1/√(κ₁ κ₂)

is that of a ball on a plane which stands for the ellipse of contact. The ellipse itself is stiffer at a load: by 1.7 %
for κ₁/κ₂ = 3, 7 % for 10, 27 % for 100. Where κ₂ is less than a thousandth of κ₁, it is taken for that: lines have a
law of their own (`collision/sizes.py`).
"""

from __future__ import annotations

import math

from ...runtime.jit import njit
from ..features import (
    CONVEX,
    CORE,
    CYLINDER,
    EDGE_EDGE,
    ELLIPSOID,
    LINE_POINT,
    PLANE,
    PLANE_POINT,
    PLANE_RIM,
    POINT_LINE,
    POINT_PLANE,
    RIM_PLANE,
    cross,
    dot,
    perpendicular,
    rotated,
)
from .support import facing_face, line_feature

FLAT, CORNER, EDGE, RIM, SMOOTH = 0, 1, 2, 3, 4  # what of a shape touches; SMOOTH: what its normal says
_ALONG_SINE = 1e-6  # sine of an angle up to which a line or a face lies along the tangent plane
_LINE_SHARE = 1e-3  # κ₂ over κ₁ at least


@njit(leaf=True)
def features_of(type):
    """What of the first and of the second shape touches in a contact of this type."""
    if type == POINT_PLANE:
        return CORNER, FLAT
    if type == PLANE_POINT:
        return FLAT, CORNER
    if type == EDGE_EDGE:
        return EDGE, EDGE
    if type == POINT_LINE:
        return CORNER, EDGE
    if type == LINE_POINT:
        return EDGE, CORNER
    if type == RIM_PLANE:
        return RIM, FLAT
    if type == PLANE_RIM:
        return FLAT, RIM
    return (SMOOTH, SMOOTH) if type == CONVEX else (CORNER, CORNER)


@njit(leaf=True)
def shape_axis(R, shapes, s, k):
    """Axis k of shape s in the world."""
    body, rot = shapes.body[s], shapes.rot
    x, y, z = rot[s, 0, k], rot[s, 1, k], rot[s, 2, k]
    if body < 0:
        return (x, y, z)
    return (
        R[body, 0, 0] * x + R[body, 0, 1] * y + R[body, 0, 2] * z,
        R[body, 1, 0] * x + R[body, 1, 1] * y + R[body, 1, 2] * z,
        R[body, 2, 0] * x + R[body, 2, 1] * y + R[body, 2, 2] * z,
    )


@njit(leaf=True)
def along_line(d, r, e, f):
    """Curvature on the tangents e and f of a surface that bends with radius r across the line d: (ee, ef, ff)."""
    x, y = dot(d, e), dot(d, f)
    size = math.sqrt(x * x + y * y)
    if size == 0.0:
        return 1.0 / r, 0.0, 1.0 / r
    x, y = x / size, y / size
    return (1.0 - x * x) / r, -x * y / r, (1.0 - y * y) / r


@njit(leaf=True)
def _core(R, shapes, s, r, n, e, f):
    """Curvature of the core s where its normal is n: of its face, edge or corner, grown by r."""
    free, line = 0, 0
    for k in range(3):
        if shapes.half[s, k] > 0.0 and abs(dot(shape_axis(R, shapes, s, k), n)) < _ALONG_SINE:
            free, line = free + 1, k
    if free > 1:
        return 0.0, 0.0, 0.0
    if free == 1:
        return along_line(shape_axis(R, shapes, s, line), r, e, f)
    return 1.0 / r, 0.0, 1.0 / r


@njit(leaf=True)
def _cylinder(axis, radius, fillet, feature, n, e, f):
    """Curvature of a cylinder where its normal is n: of its side, of a cap, or of a rim with a fillet."""
    sine = dot(axis, n)
    turn = cross(axis, n)
    across = math.sqrt(dot(turn, turn))
    if feature == SMOOTH and across < _ALONG_SINE:
        return 0.0, 0.0, 0.0
    if feature == SMOOTH and abs(sine) < _ALONG_SINE:
        return along_line(axis, radius, e, f)
    a, b, c = along_line(turn, fillet, e, f)  # along the rim it is a circle of the cylinder's radius
    if across == 0.0:
        return a, b, c
    x, y = dot(turn, e) / across, dot(turn, f) / across
    bend = across / radius
    return a + bend * x * x, b + bend * x * y, c + bend * y * y


@njit(leaf=True)
def _ellipsoid(R, shapes, s, n, e, f):
    """Curvature of an ellipsoid where its normal is n: the inverse of D, the derivative of the support point."""
    ee, ef, ff, h2, le, lf = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        axis, square = shape_axis(R, shapes, s, k), shapes.half[s, k] * shapes.half[s, k]
        x, y, z = dot(axis, n), dot(axis, e), dot(axis, f)
        h2 += square * x * x
        le, lf = le + square * x * y, lf + square * x * z
        ee, ef, ff = ee + square * y * y, ef + square * y * z, ff + square * z * z
    h = math.sqrt(h2)
    ee, ef, ff = (ee - le * le / h2) / h, (ef - le * lf / h2) / h, (ff - lf * lf / h2) / h
    inverse = 1.0 / (ee * ff - ef * ef)
    return ff * inverse, -ef * inverse, ee * inverse


@njit(leaf=True)
def curvature(feature, s, d, R, surfaces, n, e, f):
    """Curvature (ee, ef, ff) on the tangents e, f of shape s, of which a feature with direction d touches along n."""
    shapes = surfaces.shapes
    kind = shapes.kind[s]
    if feature == FLAT or kind == PLANE:
        return 0.0, 0.0, 0.0
    if kind == ELLIPSOID:
        return _ellipsoid(R, shapes, s, n, e, f)
    fillet = surfaces.fillet[s]
    if kind == CYLINDER:
        return _cylinder(shape_axis(R, shapes, s, 2), shapes.half[s, 0], fillet, feature, n, e, f)
    r = shapes.radius[s] if shapes.radius[s] > 0.0 else fillet
    if feature == SMOOTH and kind == CORE:
        return _core(R, shapes, s, r, n, e, f)
    if feature == EDGE:
        return along_line(d, r, e, f)
    return 1.0 / r, 0.0, 1.0 / r


@njit(leaf=True)
def relative_radius(i, R, surfaces, n):
    """R of contact i with the normal n [m]."""
    pairs, hulls = surfaces.pairs, surfaces.hulls
    a, b = surfaces.shape_a[i], surfaces.shape_b[i]
    feature_a, feature_b = features_of(pairs.type[i])
    da, db = rotated(R, pairs.body_a[i], pairs.da, i), rotated(R, pairs.body_b[i], pairs.db, i)
    if len(hulls) > 0 and feature_a == SMOOTH:
        if hulls[i, 0, 0] >= 0.0:
            feature_a, da = int(hulls[i, 0, 0]), (hulls[i, 0, 1], hulls[i, 0, 2], hulls[i, 0, 3])
        if hulls[i, 1, 0] >= 0.0:
            feature_b, db = int(hulls[i, 1, 0]), (hulls[i, 1, 1], hulls[i, 1, 2], hulls[i, 1, 3])
    e = perpendicular(n)
    f = cross(n, e)
    p, q, r = curvature(feature_a, a, da, R, surfaces, n, e, f)
    u, v, w = curvature(feature_b, b, db, R, surfaces, n, e, f)
    p, q, r = p + u, q + v, r + w
    mean, apart = 0.5 * (p + r), 0.5 * (p - r)
    most = mean + math.sqrt(apart * apart + q * q)
    if most <= 0.0:  # two faces of which one point is known
        most = 1.0 / max(surfaces.fillet[a], surfaces.fillet[b])
    least = max((p * r - q * q) / most, _LINE_SHARE * most)
    return 1.0 / math.sqrt(most * least)


@njit(leaf=True)
def hull_features(R, geo, surfaces, normal, hulls):
    """hulls (n, 2, 4): what of a hull touches in contacts of type CONVEX, and the direction of an edge; -1 for others.

    Of both shapes of each contact with its normal (n, 3), from the second to the first.
    """
    shapes, type = surfaces.shapes, surfaces.pairs.type
    for i in range(len(type)):
        for side in range(2):
            s = surfaces.shape_a[i] if side == 0 else surfaces.shape_b[i]
            hulls[i, side, 0] = -1.0
            if type[i] != CONVEX or shapes.kind[s] in (PLANE, CORE, CYLINDER, ELLIPSOID):
                continue
            out = -1.0 if side == 0 else 1.0
            n = (out * normal[i, 0], out * normal[i, 1], out * normal[i, 2])
            x, y, z = shape_axis(R, shapes, s, 0), shape_axis(R, shapes, s, 1), shape_axis(R, shapes, s, 2)
            own = (dot(x, n), dot(y, n), dot(z, n))
            _, _, facing = facing_face(geo, s, own)
            turn = cross(facing, own)
            if dot(facing, own) > 0.0 and dot(turn, turn) < _ALONG_SINE * _ALONG_SINE:
                hulls[i, side, 0] = FLAT
                continue
            _, p, q, _, _, _ = line_feature(geo, s, own)
            d = (q[0] - p[0], q[1] - p[1], q[2] - p[2])
            size = math.sqrt(dot(d, d))
            hulls[i, side, 0] = EDGE if abs(dot(d, own)) < _ALONG_SINE * size else CORNER
            for k in range(3):
                hulls[i, side, 1 + k] = x[k] * d[0] + y[k] * d[1] + z[k] * d[2]
