"""Convex shapes in space by their support points and features, in the frame of the shape.

`geo` is a record `Cores`. At a direction n a shape offers up to three features: its support point (a vertex, a point of
a rim or of an ellipsoid), the line nearest to it (an edge, the side of a cylinder as an axis with a radius), and the
face that looks along n.
"""

from __future__ import annotations

import math

from ...runtime.jit import njit
from ..features import CORE, CYLINDER, ELLIPSOID, dot

VERTEX, LINE, FACE = 0, 1, 2  # kinds of a supporting feature
_LINE_MAX_SINE = 0.25  # sine of the angle to a line above which it is no candidate
_TIE_COSINE = 1e-12  # of two faces that look along a direction equally well the first is taken
_FACE_MIN_COSINE = 0.9  # cosine of the angle to a face normal below which it is no candidate


@njit
def support(geo, s, n):
    """The farthest point of core s along n, and its number for a vertex of a hull."""
    kind, half, vert_ptr, verts, link_ptr, link = geo.kind, geo.half, geo.vert_ptr, geo.verts, geo.link_ptr, geo.link
    h = (half[s, 0], half[s, 1], half[s, 2])
    if kind[s] == CORE:
        return (h[0] if n[0] >= 0.0 else -h[0], h[1] if n[1] >= 0.0 else -h[1], h[2] if n[2] >= 0.0 else -h[2]), 0
    if kind[s] == CYLINDER:
        z = h[2] if n[2] >= 0.0 else -h[2]
        across = math.sqrt(n[0] * n[0] + n[1] * n[1])
        if across < 1e-150:
            return (0.0, 0.0, z), 0
        return (h[0] * n[0] / across, h[0] * n[1] / across, z), 0
    if kind[s] == ELLIPSOID:
        x, y, z = h[0] * n[0], h[1] * n[1], h[2] * n[2]
        size = math.sqrt(x * x + y * y + z * z)
        return (h[0] * x / size, h[1] * y / size, h[2] * z / size), 0
    v = vert_ptr[s]
    best = n[0] * verts[v, 0] + n[1] * verts[v, 1] + n[2] * verts[v, 2]
    better = True
    while better:  # to the best neighbour, until there is none
        better = False
        here = v
        for k in range(link_ptr[here], link_ptr[here + 1]):
            w = link[k]
            height = n[0] * verts[w, 0] + n[1] * verts[w, 1] + n[2] * verts[w, 2]
            if height > best:
                best, v, better = height, w, True
    return (verts[v, 0], verts[v, 1], verts[v, 2]), v


@njit
def unit(axis, sign):
    """± a coordinate vector."""
    return (sign if axis == 0 else 0.0, sign if axis == 1 else 0.0, sign if axis == 2 else 0.0)


@njit
def line_feature(geo, s, n):
    """(there is one, its ends, their numbers, radius) of the line of core s that comes nearest to supporting n.

    Numbers of ends: corners of a core as in `boxes`, vertices of a hull from 0, bottom 0 and top 1 of a cylinder.
    """
    kind, half, vert_ptr, verts, link_ptr, link = geo.kind, geo.half, geo.vert_ptr, geo.verts, geo.link_ptr, geo.link
    zero = (0.0, 0.0, 0.0)
    if kind[s] == ELLIPSOID:
        return False, zero, zero, 0, 0, 0.0
    if kind[s] == CYLINDER:
        return abs(n[2]) < _LINE_MAX_SINE, (0.0, 0.0, -half[s, 2]), (0.0, 0.0, half[s, 2]), 0, 1, half[s, 0]
    p, v = support(geo, s, n)
    if kind[s] == CORE:
        least, axis, bits = math.inf, -1, 0
        for k in range(3):
            c = n[0] if k == 0 else (n[1] if k == 1 else n[2])
            if half[s, k] > 0.0:
                bits += 1 << k if c >= 0.0 else 0
                if abs(c) < least:
                    least, axis = abs(c), k
        q = (-p[0] if axis == 0 else p[0], -p[1] if axis == 1 else p[1], -p[2] if axis == 2 else p[2])
        other = bits ^ (1 << max(axis, 0))
        if other < bits:  # the ends in the order of their numbers: round-off does not exchange them
            return least < _LINE_MAX_SINE, q, p, other, bits, 0.0
        return least < _LINE_MAX_SINE, p, q, bits, other, 0.0
    least, other = math.inf, v
    for k in range(link_ptr[v], link_ptr[v + 1]):
        w = link[k]
        d = (verts[w, 0] - p[0], verts[w, 1] - p[1], verts[w, 2] - p[2])
        slope = abs(dot(d, n)) / math.sqrt(dot(d, d))
        if slope < least:
            least, other = slope, w
    q = (verts[other, 0], verts[other, 1], verts[other, 2])
    if other < v:
        return least < _LINE_MAX_SINE, q, p, other - vert_ptr[s], v - vert_ptr[s], 0.0
    return least < _LINE_MAX_SINE, p, q, v - vert_ptr[s], other - vert_ptr[s], 0.0


@njit
def facing_face(geo, s, n):
    """(there is one, its number, outward normal) of the face of core s that looks along n: cosine above 0.9.

    The number is the axis for a core, 0 for a cap of a cylinder, and that of the face for a hull.
    """
    kind, half, face_ptr, face_normal = geo.kind, geo.half, geo.face_ptr, geo.face_normal
    if kind[s] == ELLIPSOID:
        return False, 0, n
    if kind[s] == CYLINDER:
        return abs(n[2]) > _FACE_MIN_COSINE, 0, (0.0, 0.0, 1.0 if n[2] > 0.0 else -1.0)
    if kind[s] == CORE:
        most, axis, sign = 0.0, 0, 1.0
        for k in range(3):
            c = n[0] if k == 0 else (n[1] if k == 1 else n[2])
            exists = half[s, (k + 1) % 3] > 0.0 and half[s, (k + 2) % 3] > 0.0
            if exists and abs(c) > most:
                most, axis, sign = abs(c), k, (1.0 if c > 0.0 else -1.0)
        return most > _FACE_MIN_COSINE, axis, unit(axis, sign)
    most, face = -2.0, face_ptr[s]
    for f in range(face_ptr[s], face_ptr[s + 1]):
        c = n[0] * face_normal[f, 0] + n[1] * face_normal[f, 1] + n[2] * face_normal[f, 2]
        if c > most + _TIE_COSINE:
            most, face = c, f
    return most > _FACE_MIN_COSINE, face, (face_normal[face, 0], face_normal[face, 1], face_normal[face, 2])


@njit
def bending(geo, s, n, e, f):
    """e·D f, where D is the derivative of the support point at n: the curvature of rims and ellipsoids, else 0."""
    kind, half = geo.kind, geo.half
    if kind[s] == ELLIPSOID:
        a, b, c = half[s, 0] * half[s, 0], half[s, 1] * half[s, 1], half[s, 2] * half[s, 2]
        h2 = a * n[0] * n[0] + b * n[1] * n[1] + c * n[2] * n[2]
        left = a * n[0] * e[0] + b * n[1] * e[1] + c * n[2] * e[2]
        right = a * n[0] * f[0] + b * n[1] * f[1] + c * n[2] * f[2]
        return (a * e[0] * f[0] + b * e[1] * f[1] + c * e[2] * f[2] - left * right / h2) / math.sqrt(h2)
    if kind[s] == CYLINDER:
        across = math.sqrt(n[0] * n[0] + n[1] * n[1])
        if across < 1e-12:
            return 0.0
        u, v = -n[1] / across, n[0] / across
        return half[s, 0] / across * (u * e[0] + v * e[1]) * (u * f[0] + v * f[1])
    return 0.0


@njit(leaf=True)
def turned_to(axes, s, v):
    """The vector v of the world in the frame of shape s."""
    return (
        axes[s, 0, 0] * v[0] + axes[s, 1, 0] * v[1] + axes[s, 2, 0] * v[2],
        axes[s, 0, 1] * v[0] + axes[s, 1, 1] * v[1] + axes[s, 2, 1] * v[2],
        axes[s, 0, 2] * v[0] + axes[s, 1, 2] * v[1] + axes[s, 2, 2] * v[2],
    )


@njit(leaf=True)
def turned_from(axes, s, v):
    """The vector v of the frame of shape s in the world."""
    return (
        axes[s, 0, 0] * v[0] + axes[s, 0, 1] * v[1] + axes[s, 0, 2] * v[2],
        axes[s, 1, 0] * v[0] + axes[s, 1, 1] * v[1] + axes[s, 1, 2] * v[2],
        axes[s, 2, 0] * v[0] + axes[s, 2, 1] * v[1] + axes[s, 2, 2] * v[2],
    )


@njit
def plus(a, b):
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@njit
def minus(a, b):
    """a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@njit
def scaled(a, s):
    """s a."""
    return (s * a[0], s * a[1], s * a[2])


@njit
def lowest(geo, axes, a, offset, n):
    """The point of shape a (centre at `offset`) with the least n·x, in world axes."""
    p, _ = support(geo, a, turned_to(axes, a, (-n[0], -n[1], -n[2])))
    return plus(offset, turned_from(axes, a, p))


@njit
def highest(geo, axes, b, n):
    """The point of shape b (centre at the origin) with the largest n·x, in world axes."""
    p, _ = support(geo, b, turned_to(axes, b, n))
    return turned_from(axes, b, p)
