"""Ellipses in the plane: their signed distance from every other shape, with normal and nearest points.

The separation of two convex shapes along a unit vector n (from b to a) is s(n) = min n·a - max n·b, and the signed
distance is the largest s over all n, apart as well as overlapping. With n = (cos θ, sin θ) and w the vector between the
two support points, s' = e·w (e = n turned by 90°) and s'' = -s - (the radii of curvature at these points). So the
largest s is found by Newton's method between directions where s' changes sign, to round-off; a corner of s (an edge of
a polygon) has a closed form. Apart, s is concave where it is positive and there is one such place; overlapping there
are several, and grids of directions, uniform and by the parameter of each ellipse, separate them.

An ellipse is three rows of `verts`: its centre and its two semi-axes as vectors. A pair with an ellipse has one
contact, of type CONVEX and code 0: the signed distance of the two shapes, found again at any configuration.
"""

from __future__ import annotations

import math

import numpy as np

from ...runtime.jit import njit
from ..features import CONVEX, ELLIPSE, PLANE
from .narrow import edge_normal, extent, place2

# directions per grid: two local optima nearer than 15° are told apart by the other grids or not at all
_GRID_DIRECTIONS = 24
_FULL_TURN = 2.0 * math.pi  # rad
_VERTEX_TIE_SHARE = 1e-12  # of the size: by so much a vertex has to separate farther than an edge


@njit(leaf=True)
def tip(ptr, verts, s, nx, ny):
    """The farthest point of the ellipse s along (nx, ny), and the radius of curvature there."""
    p = ptr[s]
    ux, uy, vx, vy = verts[p + 1, 0], verts[p + 1, 1], verts[p + 2, 0], verts[p + 2, 1]
    a, b = nx * ux + ny * uy, nx * vx + ny * vy
    h = math.sqrt(a * a + b * b)
    area = ux * vy - uy * vx
    return verts[p, 0] + (a * ux + b * vx) / h, verts[p, 1] + (a * uy + b * vy) / h, area * area / (h * h * h)


@njit(leaf=True)
def separation_along(ptr, verts, a, b, v, angle):
    """s, s' and s'' of ellipse a from vertex v of b, or from the ellipse b where v is -1."""
    nx, ny = math.cos(angle), math.sin(angle)
    ax, ay, curve = tip(ptr, verts, a, -nx, -ny)
    if v < 0:
        bx, by, more = tip(ptr, verts, b, nx, ny)
        curve += more
    else:
        bx, by = verts[v, 0], verts[v, 1]
    wx, wy = ax - bx, ay - by
    s = nx * wx + ny * wy
    return s, nx * wy - ny * wx, -s - curve


@njit
def climb(ptr, verts, a, b, v, lo, hi, best, angle):
    """The best of (best, angle), of lo and hi, and of a largest separation between these angles, if there is one.

    One at the very end of an arc would be missed by both its neighbours: the sign of the slope there is round-off.
    """
    start, rise, _ = separation_along(ptr, verts, a, b, v, lo)
    end, fall, _ = separation_along(ptr, verts, a, b, v, hi)
    if start > best:
        best, angle = start, lo
    if end > best:
        best, angle = end, hi
    if rise < 0.0 or fall > 0.0:
        return best, angle
    x = 0.5 * (lo + hi)
    s = -math.inf
    for _ in range(80):
        s, slope, bend = separation_along(ptr, verts, a, b, v, x)
        if slope > 0.0:
            lo = x
        elif slope < 0.0:
            hi = x
        else:
            break
        new = x - slope / bend if bend < 0.0 else lo
        if not lo < new < hi:
            new = 0.5 * (lo + hi)
        if abs(new - x) <= 2e-16 * _FULL_TURN:
            break
        x = new
    return (s, x) if s > best else (best, angle)


@njit(leaf=True)
def grid_angle(ptr, verts, a, b, grid, k):
    """Direction k of a grid: 0 uniform, 1 uniform in the parameter of ellipse a, 2 in that of ellipse b."""
    t = _FULL_TURN * k / _GRID_DIRECTIONS
    if grid == 0:
        return t
    p, sign = (ptr[a], -1.0) if grid == 1 else (ptr[b], 1.0)
    ux, uy, vx, vy = verts[p + 1, 0], verts[p + 1, 1], verts[p + 2, 0], verts[p + 2, 1]
    c, d = sign * math.cos(t) / (ux * ux + uy * uy), sign * math.sin(t) / (vx * vx + vy * vy)
    return math.atan2(c * uy + d * vy, c * ux + d * vx)


@njit
def remainder(angle):
    """The angle modulo a full turn, from 0 on."""
    return angle - _FULL_TURN * math.floor(angle / _FULL_TURN)


@njit
def search_arc(ptr, verts, a, b, v, start, width, round_b, best, angle):
    """The largest separation over directions start .. start + width, with vertex v (or ellipse) of b; see `climb`."""
    for grid in range(3 if round_b else 2):
        lo = grid_angle(ptr, verts, a, b, grid, 0)
        for k in range(_GRID_DIRECTIONS):
            hi = grid_angle(ptr, verts, a, b, grid, k + 1)
            at, step = remainder(lo - start), remainder(hi - lo)
            lo = hi
            if at < width:
                best, angle = climb(ptr, verts, a, b, v, start + at, start + min(width, at + step), best, angle)
            if at + step > _FULL_TURN:
                last = min(width, at + step - _FULL_TURN)
                best, angle = climb(ptr, verts, a, b, v, start, start + last, best, angle)
    return best, angle


@njit(leaf=True)
def over_half_plane(ptr, verts, a, b):
    """Signed distance of ellipse a from the half-plane b: s, normal, point of a, point of b."""
    p = ptr[b]
    nx, ny = verts[p + 1, 0], verts[p + 1, 1]
    x, y, _ = tip(ptr, verts, a, -nx, -ny)
    s = nx * (x - verts[p, 0]) + ny * (y - verts[p, 1])
    return s, nx, ny, x, y, x - s * nx, y - s * ny


@njit(leaf=True)
def over_core(kind, ptr, verts, a, b):
    """Signed distance of ellipse a from the core b (polygon, segment, point or ellipse); as `over_half_plane`."""
    if kind[b] == ELLIPSE:
        best, angle = search_arc(ptr, verts, a, b, -1, 0.0, _FULL_TURN, True, -math.inf, 0.0)
        nx, ny = math.cos(angle), math.sin(angle)
        ax, ay, _ = tip(ptr, verts, a, -nx, -ny)
        bx, by, _ = tip(ptr, verts, b, nx, ny)
        return best, nx, ny, ax, ay, bx, by
    n = ptr[b + 1] - ptr[b]
    best, nx, ny, ax, ay, bx, by = -math.inf, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n if n > 1 else 0):
        ex, ey, length = edge_normal(ptr, verts, b, i)
        if length == 0.0:
            continue
        x, y, _ = tip(ptr, verts, a, -ex, -ey)
        wx, wy = x - verts[ptr[b] + i, 0], y - verts[ptr[b] + i, 1]
        s, t = ex * wx + ey * wy, ex * wy - ey * wx
        if 0.0 <= t <= length and s > best:
            best, nx, ny, ax, ay, bx, by = s, ex, ey, x, y, x - s * ex, y - s * ey
    if best > 0.0:  # apart, and this is the one largest separation
        return best, nx, ny, ax, ay, bx, by
    p = ptr[a]
    size = extent(ptr, verts, b) + abs(verts[p + 1, 0]) + abs(verts[p + 1, 1])
    margin = _VERTEX_TIE_SHARE * (size + abs(verts[p + 2, 0]) + abs(verts[p + 2, 1]))
    for i in range(n):
        v = ptr[b] + i
        start, width = 0.0, _FULL_TURN
        if n > 1:
            px, py, before = edge_normal(ptr, verts, b, (i + n - 1) % n)
            qx, qy, after = edge_normal(ptr, verts, b, i)
            if before == 0.0 or after == 0.0:
                continue
            start = math.atan2(py, px)
            width = remainder(math.atan2(qy, qx) - start)
        least = best + margin  # at the ends of its arc a vertex separates as far as the edges beside it
        s, angle = search_arc(ptr, verts, a, b, v, start, width, False, least, 0.0)
        if s > least:
            best, nx, ny = s, math.cos(angle), math.sin(angle)
            ax, ay, _ = tip(ptr, verts, a, -nx, -ny)
            bx, by = verts[v, 0], verts[v, 1]
    return best, nx, ny, ax, ay, bx, by


@njit(leaf=True)
def smaller(kind, ptr, verts, radius, a, b):
    """Whether shape a is the ellipse that goes first: of two the smaller one, by its semi-axes."""
    if kind[b] != ELLIPSE:
        return True
    if kind[a] != ELLIPSE:
        return False
    size_a = size_b = 0.0
    for k in range(1, 3):
        for c in range(2):
            size_a += verts[ptr[a] + k, c] ** 2
            size_b += verts[ptr[b] + k, c] ** 2
    return size_a < size_b if size_a != size_b else a < b


@njit(leaf=True, sealed=True)
def distance2(kind, ptr, verts, radius, first, second):
    """Signed distance of two shapes of which one is an ellipse, normal from the second to the first, their points."""
    swap = not smaller(kind, ptr, verts, radius, first, second)
    a, b = (second, first) if swap else (first, second)
    if kind[b] == PLANE:
        s, nx, ny, ax, ay, bx, by = over_half_plane(ptr, verts, a, b)
    else:
        s, nx, ny, ax, ay, bx, by = over_core(kind, ptr, verts, a, b)
    bx, by = bx + radius[b] * nx, by + radius[b] * ny
    if swap:
        return s - radius[b], -nx, -ny, bx, by, ax, ay
    return s - radius[b], nx, ny, ax, ay, bx, by


@njit(leaf=True)
def far_apart(kind, ptr, verts, radius, a, b, reach):
    """Whether the circles around two shapes, of which none is a half-plane, are farther apart than reach."""
    size = reach
    for k in range(2):
        s = a if k == 0 else b
        if kind[s] == ELLIPSE:
            p = ptr[s]
            u = verts[p + 1, 0] ** 2 + verts[p + 1, 1] ** 2
            v = verts[p + 2, 0] ** 2 + verts[p + 2, 1] ** 2
            size += math.sqrt(max(u, v))
        else:
            size += extent(ptr, verts, s) + radius[s]
    dx, dy = verts[ptr[a], 0] - verts[ptr[b], 0], verts[ptr[a], 1] - verts[ptr[b], 1]
    return dx * dx + dy * dy > size * size


@njit
def find_ellipses2(x, angle, shapes, pairs, band, out):
    """The contacts of pairs (np, 2) of shapes, one of each an ellipse; arguments and result as in `find2`."""
    kind, body, _, _, _, vert_ptr, verts, radius = shapes
    body_a, body_b, shape_a, shape_b, code, type, pa, da, pb, db, ra, rb = out
    world = np.empty((verts.shape[0], 2))
    place2(x, angle, shapes, world)
    count = 0
    for pair in range(pairs.shape[0]):
        a, b = pairs[pair, 0], pairs[pair, 1]
        plane = kind[a] == PLANE or kind[b] == PLANE
        if not plane and far_apart(kind, vert_ptr, world, radius, a, b, band):
            continue
        gap, _, _, _, _, _, _ = distance2(kind, vert_ptr, world, radius, a, b)
        if gap > band:
            continue
        if count < code.size:
            body_a[count], body_b[count] = body[a], body[b]
            shape_a[count], shape_b[count], code[count], type[count] = a, b, 0, CONVEX
            ra[count] = rb[count] = 0.0
            for k in range(2):
                pa[count, k] = da[count, k] = pb[count, k] = db[count, k] = 0.0
        count += 1
    return count


@njit
def evaluate_ellipses2(x, angle, shapes, shape_a, shape_b, type, geometry):
    """The `Geometry` of contacts of type CONVEX between these shapes, as `evaluate2`; the others are left alone."""
    kind, vert_ptr, verts, radius = shapes.kind, shapes.vert_ptr, shapes.verts, shapes.radius
    gap, normal, point_a, point_b = geometry
    world = np.empty((verts.shape[0], 2))
    place2(x, angle, shapes, world)
    for i in range(type.size):
        if type[i] == CONVEX:
            s, nx, ny, ax, ay, bx, by = distance2(kind, vert_ptr, world, radius, shape_a[i], shape_b[i])
            gap[i] = s
            normal[i, 0], normal[i, 1] = nx, ny
            point_a[i, 0], point_a[i, 1], point_b[i, 0], point_b[i, 1] = ax, ay, bx, by
