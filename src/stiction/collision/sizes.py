"""How large contacts are: the radius R of a point, and the length s of a patch, from which their stiffness follows.

Contacts of one pair of shapes stand together, sorted by key. Of these a patch has the deepest one, and all that overlap
or lie level with it: no more than `FLAT_SLOPE` times their distance higher. Other contacts of the pair are points, and
so is one that is alone. The points of a patch share its stiffness E* s evenly,

    s = 2 √(A/π)    of a face, A the area of the convex polygon around its points: the disk of that area, pressed in
    s = π/4 L       of a line, L its length; a polygon is a line where A is less than a hundredth of L²
    s = π/4 l       in the plane, for any contact: bodies are l = 1 m deep, and touch along that

so that the size of each is s over their number. Caps of cylinders count as the polygon of their points (an octagon: s
is 5 % less than that of the disk). R is that of `space/curvature.py`.
"""

from __future__ import annotations

import math

from ..runtime.jit import njit
from .features import cross, dot, perpendicular
from .space.curvature import relative_radius

FLAT_SLOPE = 1e-3  # rad
_STRIP_SHARE = 0.01  # area over the square of the length below which a polygon is a line
_SAME_SHARE = 1e-9  # of the length: points nearer than this are one
RADIUS, PATCH = 0, 1  # columns of sizes


@njit(leaf=True)
def in_patch(k, low, geometry):
    """Whether contact k belongs to the patch of the deepest one of its pair."""
    gap, point = geometry.gap, geometry.point_a
    square = 0.0
    for j in range(point.shape[1]):
        square += (point[k, j] - point[low, j]) ** 2
    return gap[k] <= 0.0 or gap[k] - gap[low] <= FLAT_SLOPE * math.sqrt(square)


@njit(leaf=True)
def pair_of(start, keep, shape_a, shape_b, geometry):
    """The end of the contacts of a pair that begin at `start`, the deepest one, and how many the patch has."""
    first, stop, low = keep[start], start + 1, start
    while stop < len(keep) and shape_a[keep[stop]] == shape_a[first] and shape_b[keep[stop]] == shape_b[first]:
        if geometry.gap[stop] < geometry.gap[low]:
            low = stop
        stop += 1
    count = 0
    for k in range(start, stop):
        count += 1 if in_patch(k, low, geometry) else 0
    return stop, low, count


@njit(leaf=True)
def _place(k, low, point, e, f):
    """Where contact k lies on the tangents e and f, from the deepest one."""
    w = (point[k, 0] - point[low, 0], point[k, 1] - point[low, 1], point[k, 2] - point[low, 2])
    return dot(w, e), dot(w, f)


@njit(leaf=True)
def _length(start, stop, low, geometry, e, f):
    """The largest distance of two points of a patch."""
    square = 0.0
    for k in range(start, stop):
        if in_patch(k, low, geometry):
            x, y = _place(k, low, geometry.point_a, e, f)
            for l in range(k + 1, stop):
                if in_patch(l, low, geometry):
                    u, v = _place(l, low, geometry.point_a, e, f)
                    square = max(square, (u - x) * (u - x) + (v - y) * (v - y))
    return math.sqrt(square)


@njit(leaf=True)
def _area(start, stop, low, length, geometry, e, f):
    """The area of the convex polygon around the points of a patch, from one of its corners to the next."""
    point, x, y = geometry.point_a, 0.0, 0.0
    for k in range(start, stop):
        if in_patch(k, low, geometry):
            u, v = _place(k, low, point, e, f)
            if u < x or (u == x and v < y):
                x, y = u, v
    x0, y0, area = x, y, 0.0
    near = (_SAME_SHARE * length) ** 2
    for _ in range(stop - start):
        following, nx, ny, far = -1, 0.0, 0.0, 0.0
        for k in range(start, stop):
            if not in_patch(k, low, geometry):
                continue
            u, v = _place(k, low, point, e, f)
            u, v = u - x, v - y
            square = u * u + v * v
            if square <= near:
                continue
            turn = nx * v - ny * u
            if following < 0 or turn < 0.0 or (turn == 0.0 and square > far):
                following, nx, ny, far = k, u, v, square
        if following < 0:
            break
        area += 0.5 * ((x - x0) * (y + ny - y0) - (y - y0) * (x + nx - x0))
        x, y = x + nx, y + ny
        if (x - x0) * (x - x0) + (y - y0) * (y - y0) <= near:
            break
    return abs(area)


@njit(leaf=True)
def _share(start, stop, low, count, geometry):
    """The length of each point of a patch of `count`."""
    if count < 2:
        return 0.0
    normal = geometry.normal
    n = (normal[low, 0], normal[low, 1], normal[low, 2])
    e = perpendicular(n)
    f = cross(n, e)
    length = _length(start, stop, low, geometry, e, f)
    area = _area(start, stop, low, length, geometry, e, f) if count > 2 else 0.0
    whole = 2.0 * math.sqrt(area / math.pi) if area > _STRIP_SHARE * length * length else 0.25 * math.pi * length
    return whole / count


@njit(leaf=True)
def contact_sizes3(R, surfaces, keep, geometry, sizes):
    """sizes (n, 2): R and s of the contacts in space whose places among those of `surfaces` are keep (n,).

    R: rotations of bodies; surfaces: `Surfaces`; geometry: where these n are.
    """
    start = 0
    while start < len(keep):
        stop, low, count = pair_of(start, keep, surfaces.shape_a, surfaces.shape_b, geometry)
        share = _share(start, stop, low, count, geometry)
        for k in range(start, stop):
            n = (geometry.normal[k, 0], geometry.normal[k, 1], geometry.normal[k, 2])
            sizes[k, RADIUS] = relative_radius(keep[k], R, surfaces, n)
            sizes[k, PATCH] = share if in_patch(k, low, geometry) else 0.0
        start = stop


@njit(leaf=True)
def contact_sizes2(shape_a, shape_b, keep, geometry, sizes):
    """The same in the plane, where R plays no part."""
    start = 0
    while start < len(keep):
        stop, low, count = pair_of(start, keep, shape_a, shape_b, geometry)
        for k in range(start, stop):
            sizes[k, RADIUS] = 0.0
            sizes[k, PATCH] = 0.25 * math.pi / (count if in_patch(k, low, geometry) else 1)
        start = stop
