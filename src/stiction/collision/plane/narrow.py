"""Narrow phase in the plane: the contact features of pairs of shapes nearer than a band.

A shape is a convex polygon grown by a radius (one vertex: disk, two: rod or segment) or a half-plane. Vertex i of a
shape is feature 2 i, the edge from it to the next (vertices counter-clockwise) is 2 i + 1; a core of two vertices has
two edges, its two sides. `code` = (feature of a)·2·(vertices of b) + feature of b, where a half-plane counts as
one vertex and its boundary is feature 1: below 4096 as long as the product of the vertex numbers is at most 1024.

A manifold holds the nearest feature pair and one more: of the two facing edges, the vertices over the other edge. Over
a half-plane it holds the ends of the facing edge and all other vertices that may get there before them: see
`space/patch`, whose rule and numbers hold here too. The other tolerances are those of `space/manifold`.
"""

from __future__ import annotations

import math

import numpy as np

from ...runtime.jit import njit
from ..features import CORE, LINE_POINT, PLANE, POINT_LINE, POINT_POINT
from ..records import Candidates, Near
from ..space.manifold import (
    _UNDERCUT_SHARE,
    ALIGNED_COSINE,
    SLOP_SHARE,
    STEEP_SINE,
    THINNED_MIN_VERTICES,
    THINNED_SHARE,
    TIE_DIRECTION,
    TIE_SHARE,
)


@njit(leaf=True)
def edge_normal(ptr, verts, s, i):
    """Outward unit normal of edge i of shape s, and the edge's length; (0, 0) for an edge of no length."""
    n = ptr[s + 1] - ptr[s]
    p, q = ptr[s] + i, ptr[s] + (i + 1) % n
    dx, dy = verts[q, 0] - verts[p, 0], verts[q, 1] - verts[p, 1]
    size = math.sqrt(dx * dx + dy * dy)
    if size == 0.0:
        return 0.0, 0.0, 0.0
    return dy / size, -dx / size, size


@njit(leaf=True)
def separation(ptr, verts, s, other, tie):
    """Largest separation of two cores along the edge normals of shape s, and its edge; (-inf, -1) without edges.

    Of edges that separate equally far, to within `tie`, the first is taken.
    """
    best, chosen, edge = -math.inf, -math.inf, -1
    n = ptr[s + 1] - ptr[s]
    for i in range(n if n > 1 else 0):
        nx, ny, size = edge_normal(ptr, verts, s, i)
        if size == 0.0:
            continue
        p = ptr[s] + i
        low = math.inf
        for v in range(ptr[other], ptr[other + 1]):
            low = min(low, nx * (verts[v, 0] - verts[p, 0]) + ny * (verts[v, 1] - verts[p, 1]))
        best = max(best, low)
        if low > chosen + tie:
            chosen, edge = low, i
    return best, edge


@njit(leaf=True)
def nearest2(ptr, verts, s, x, y):
    """Feature of shape s nearest to a point outside, its distance and the vector from it to the point."""
    n = ptr[s + 1] - ptr[s]
    best, feature, wx, wy = math.inf, 0, 0.0, 0.0
    for i in range(n):
        p = ptr[s] + i
        ex, ey = x - verts[p, 0], y - verts[p, 1]
        d = ex * ex + ey * ey
        if d < best:
            best, feature, wx, wy = d, 2 * i, ex, ey
        if n == 1:
            break
        nx, ny, size = edge_normal(ptr, verts, s, i)
        t = -ny * ex + nx * ey
        h = nx * ex + ny * ey
        if 0.0 < t < size and h >= -1e-9 * size and h * h <= best:
            best, feature, wx, wy = h * h, 2 * i + 1, h * nx, h * ny
    return feature, math.sqrt(best), wx, wy


@njit(leaf=True)
def facing2(ptr, verts, s, nx, ny):
    """Edge of shape s whose outward normal is nearest to (nx, ny), and the cosine; (-1, 0) for a single vertex."""
    best, edge = 0.0, -1
    n = ptr[s + 1] - ptr[s]
    for i in range(n if n > 1 else 0):
        ex, ey, _ = edge_normal(ptr, verts, s, i)
        c = ex * nx + ey * ny
        if c > best + 1e-9:
            best, edge = c, i
    return edge, best


@njit(leaf=True)
def add2(found, m, fa, fb, gap, x, y, nx, ny, near):
    """Append a candidate unless it merges with a near one (see `space.manifold.add`); (nx, ny) is its normal."""
    ci, cf = found
    d, slop, tie = near.d, near.slop, TIE_SHARE * near.size
    k = m
    for i in range(m):
        if ci[i, 0] == fa and ci[i, 1] == fb:
            return m
        if abs((cf[i, 1] - x) * ny - (cf[i, 2] - y) * nx) <= 4.0 * slop:
            if gap > d + tie or cf[i, 0] <= d + tie:
                return m
            k = i
            break
    ci[k, 0], ci[k, 1] = fa, fb
    cf[k, 0], cf[k, 1], cf[k, 2], cf[k, 3], cf[k, 4] = gap, x, y, nx, ny
    return max(m, k + 1)


@njit(leaf=True)
def over_edge(ptr, verts, s, edge, other, other_edge, flip, near, found, m):
    """Candidates: ends of the facing edge of `other` (its vertex if it has no edge) over an edge of shape s."""
    d, reach, slop, size = near
    nx, ny, length = edge_normal(ptr, verts, s, edge)
    p = ptr[s] + edge
    n = ptr[other + 1] - ptr[other]
    for k in range(2 if other_edge >= 0 else 1):
        i = (other_edge + k) % n if other_edge >= 0 else 0
        v = ptr[other] + i
        ex, ey = verts[v, 0] - verts[p, 0], verts[v, 1] - verts[p, 1]
        t = -ny * ex + nx * ey
        gap = nx * ex + ny * ey
        if t < -slop or t > length + slop or gap > reach or gap < d - _UNDERCUT_SHARE * size:
            continue
        if flip:
            m = add2(found, m, 2 * edge + 1, 2 * i, gap, verts[v, 0], verts[v, 1], -nx, -ny, near)
        else:
            m = add2(found, m, 2 * i, 2 * edge + 1, gap, verts[v, 0], verts[v, 1], nx, ny, near)
    return m


@njit(leaf=True)
def extent(ptr, verts, s):
    """Largest distance of a vertex of shape s from its first."""
    best = 0.0
    for v in range(ptr[s] + 1, ptr[s + 1]):
        best = max(best, (verts[v, 0] - verts[ptr[s], 0]) ** 2 + (verts[v, 1] - verts[ptr[s], 1]) ** 2)
    return math.sqrt(best)


@njit(leaf=True)
def nearest_pair(ptr, verts, a, b):
    """The nearest vertex and feature of two cores apart: (features of a and b, distance, point, vector from b)."""
    best, fa, fb, x, y, wx, wy = math.inf, 0, 0, 0.0, 0.0, 0.0, 0.0
    for own in range(2):
        s, other = (a, b) if own == 0 else (b, a)
        for v in range(ptr[s], ptr[s + 1]):
            f, gap, ex, ey = nearest2(ptr, verts, other, verts[v, 0], verts[v, 1])
            if gap < best:
                best, x, y = gap, verts[v, 0], verts[v, 1]
                fa, fb = (2 * (v - ptr[s]), f) if own == 0 else (f, 2 * (v - ptr[s]))
                wx, wy = (ex, ey) if own == 0 else (-ex, -ey)
    return fa, fb, best, x, y, wx, wy


@njit(leaf=True, sealed=True)
def core_core2(ptr, verts, a, b, reach, found):
    """Candidates of the manifold of two polygon cores nearer than `reach`; at most 5."""
    size_a, size_b = extent(ptr, verts, a), extent(ptr, verts, b)
    size = size_a + size_b
    slop = SLOP_SHARE * (min(size_a, size_b) if min(size_a, size_b) > 0.0 else size)
    tie = TIE_SHARE * size
    sep_a, edge_a = separation(ptr, verts, a, b, tie)
    sep_b, edge_b = separation(ptr, verts, b, a, tie)
    sat = max(sep_a, sep_b)
    if sat > reach:
        return 0
    nx, ny = 0.0, 0.0
    by_b = edge_b >= 0 and sep_b >= sep_a - tie
    if by_b:
        nx, ny, _ = edge_normal(ptr, verts, b, edge_b)
    elif edge_a >= 0:
        nx, ny, _ = edge_normal(ptr, verts, a, edge_a)
        nx, ny = -nx, -ny
    fa, fb, d, x, y = 0, 0, sat, 0.0, 0.0
    apart = sat == -math.inf or sat >= -1e-12 * size
    wx, wy = 0.0, 0.0
    if apart:
        fa, fb, d, x, y, wx, wy = nearest_pair(ptr, verts, a, b)
        if d > reach:
            return 0
        if not (edge_a >= 0 or edge_b >= 0) or d > sat + tie:
            nx, ny = (wx / d, wy / d) if d > 1e-150 else (0.0, 0.0)
    face_a, cos_a = facing2(ptr, verts, a, -nx, -ny)
    face_b, cos_b = facing2(ptr, verts, b, nx, ny)
    m, near = 0, Near(d, reach, slop, size)
    if face_b >= 0 and cos_b >= ALIGNED_COSINE:
        m = over_edge(ptr, verts, b, face_b, a, face_a, False, near, found, m)
    if face_a >= 0 and cos_a >= ALIGNED_COSINE:
        m = over_edge(ptr, verts, a, face_a, b, face_b, True, near, found, m)
    for i in range(m):
        if found.cf[i, 0] <= d + tie:
            return m
    if not apart:  # the vertex that supports the axis of least overlap
        s, sign = (a, -1.0) if by_b else (b, 1.0)
        low, pick = math.inf, 0
        for v in range(ptr[s], ptr[s + 1]):
            along = -sign * (nx * verts[v, 0] + ny * verts[v, 1])
            if along < low:
                low, pick, x, y = along, v - ptr[s], verts[v, 0], verts[v, 1]
        fa, fb = (2 * pick, 2 * edge_b + 1) if by_b else (2 * edge_a + 1, 2 * pick)
    return add2(found, m, fa, fb, d, x, y, nx, ny, near)


@njit(leaf=True)
def core_plane2(ptr, verts, a, b, reach, near, ci, cf):
    """Candidates of the polygon a against the half-plane b: ends of the facing edge, or the single vertex, and others.

    The others are vertices on either side of that edge, for as long as each lies within reach and not steeply over the
    one before it; those within `near` of that are left out.
    """
    p = ptr[b]
    nx, ny = verts[p + 1, 0], verts[p + 1, 1]
    edge, _ = facing2(ptr, verts, a, -nx, -ny)
    n = ptr[a + 1] - ptr[a]
    m = 0
    for k in range(2 if edge >= 0 else 1):
        i = (edge + k) % n if edge >= 0 else 0
        v = ptr[a] + i
        gap = nx * (verts[v, 0] - verts[p, 0]) + ny * (verts[v, 1] - verts[p, 1])
        if gap <= reach:
            ci[m, 0], ci[m, 1] = 2 * i, 1
            cf[m, 0], cf[m, 1], cf[m, 2], cf[m, 3], cf[m, 4] = gap, verts[v, 0], verts[v, 1], nx, ny
            m += 1
    for onward in range(2 if n > 2 else 0):
        i = (edge + onward) % n
        before = ptr[a] + i
        for _ in range(n - 2):
            i = (i + 1) % n if onward == 1 else (i + n - 1) % n
            v = ptr[a] + i
            ex, ey = verts[v, 0] - verts[before, 0], verts[v, 1] - verts[before, 1]
            far = math.sqrt(ex * ex + ey * ey)
            gap = nx * (verts[v, 0] - verts[p, 0]) + ny * (verts[v, 1] - verts[p, 1])
            if gap > reach or (far > 0.0 and nx * ex + ny * ey >= STEEP_SINE * far):
                break
            if far > near:
                ci[m, 0], ci[m, 1] = 2 * i, 1
                cf[m, 0], cf[m, 1], cf[m, 2], cf[m, 3], cf[m, 4] = gap, verts[v, 0], verts[v, 1], nx, ny
                before, m = v, m + 1
    return m


@njit(leaf=True)
def reduce2(ci, cf, m):
    """Leave the nearest candidate (the first of those that tie) and the one farthest from it; their number."""
    if m <= 2:
        return m
    low, near = math.inf, 0
    for i in range(m):
        if cf[i, 0] < low:
            low, near = cf[i, 0], i
    best, far = -1.0, 0
    for i in range(m):
        d = (cf[i, 1] - cf[near, 1]) ** 2 + (cf[i, 2] - cf[near, 2]) ** 2
        if d > best and i != near:
            best, far = d, i
    first, second = min(near, far), max(near, far)
    for k in range(2):
        pick = first if k == 0 else second
        ci[k, 0], ci[k, 1] = ci[pick, 0], ci[pick, 1]
        for j in range(5):
            cf[k, j] = cf[pick, j]
    return 2


@njit(leaf=True)
def place2(x, angle, shapes, out):
    """Vertices of all shapes in the world; of a half-plane its point and normal, of an ellipse centre and semi-axes."""
    kind, body, ptr, verts = shapes.kind, shapes.body, shapes.vert_ptr, shapes.verts
    for s in range(kind.size):
        b = body[s]
        c, d = (math.cos(angle[b]), math.sin(angle[b])) if b >= 0 else (1.0, 0.0)
        px, py = (x[b, 0], x[b, 1]) if b >= 0 else (0.0, 0.0)
        for v in range(ptr[s], ptr[s + 1]):
            free = kind[s] != CORE and v > ptr[s]
            out[v, 0] = c * verts[v, 0] - d * verts[v, 1] + (0.0 if free else px)
            out[v, 1] = d * verts[v, 0] + c * verts[v, 1] + (0.0 if free else py)


@njit(leaf=True)
def write_feature2(kind, ptr, verts, s, f, p, d, row):
    """Point p[row] and outward normal d[row] (zero for a vertex) of feature f of shape s, in the body frame."""
    v = ptr[s] + (0 if kind[s] == PLANE else f // 2)
    p[row, 0], p[row, 1] = verts[v, 0], verts[v, 1]
    d[row, 0] = d[row, 1] = 0.0
    if kind[s] == PLANE:
        d[row, 0], d[row, 1] = verts[v + 1, 0], verts[v + 1, 1]
    elif f % 2 == 1:
        d[row, 0], d[row, 1], _ = edge_normal(ptr, verts, s, f // 2)


@njit(leaf=True)
def smaller_first2(kind, ptr, radius, verts, a, b):
    """Whether shape a comes first in computations: half-planes last, then by vertices, radius and place.

    The place is that of the other shape in the frames of both, as in `space.narrow.smaller_first`.
    """
    if kind[a] != kind[b]:
        return kind[b] == PLANE
    size_a, size_b = ptr[a + 1] - ptr[a], ptr[b + 1] - ptr[b]
    if size_a != size_b:
        return size_a < size_b
    if radius[a] != radius[b]:
        return radius[a] < radius[b]
    x, y = 0.0, 0.0  # from the middle of a to that of b
    for k in range(size_a):
        x += (verts[ptr[b] + k, 0] - verts[ptr[a] + k, 0]) / size_a
        y += (verts[ptr[b] + k, 1] - verts[ptr[a] + k, 1]) / size_a
    ahead, size = 0.0, 0.0
    for s in (a, b):
        p = ptr[s]
        ex, ey = verts[p + size_a - 1, 0] - verts[p, 0], verts[p + size_a - 1, 1] - verts[p, 1]
        length = math.sqrt(ex * ex + ey * ey)
        if length > 0.0:
            ahead += (TIE_DIRECTION[0] * (ex * x + ey * y) + TIE_DIRECTION[1] * (ex * y - ey * x)) / length
        size += length
    return ahead > 0.0 if abs(ahead) > TIE_SHARE * size else a < b


@njit(leaf=True)
def _write(angle, shapes, first, second, fa, fb, nx, ny, row, out):
    """One contact of two features, all but its code; (nx, ny) is its normal."""
    kind, body, _, _, _, ptr, verts, radius = shapes
    b = body[second]
    out.body_a[row], out.body_b[row], out.shape_a[row], out.shape_b[row] = body[first], b, first, second
    out.ra[row], out.rb[row] = radius[first], radius[second]
    out.type[row] = LINE_POINT if fa % 2 == 1 else (POINT_LINE if fb % 2 == 1 else POINT_POINT)
    write_feature2(kind, ptr, verts, first, fa, out.pa, out.da, row)
    write_feature2(kind, ptr, verts, second, fb, out.pb, out.db, row)
    if out.type[row] == POINT_POINT:  # the normal at this time, in the frame of the second body
        c, d = (math.cos(angle[b]), math.sin(angle[b])) if b >= 0 else (1.0, 0.0)
        out.db[row, 0], out.db[row, 1] = c * nx + d * ny, c * ny - d * nx


@njit
def find2(x, angle, shapes, pairs, band, out):
    """Contact features of the pairs (np, 2) of shapes in the plane; returns their number.

    x (nb, 2), angle (nb,): poses; shapes: `PlaneShapes`; out, and the rule for its capacity, as in `find3`.
    """
    kind, vert_ptr, verts, radius = shapes.kind, shapes.vert_ptr, shapes.verts, shapes.radius
    world = np.empty((verts.shape[0], 2))
    place2(x, angle, shapes, world)
    most = 8
    for s in range(len(kind)):
        most = max(most, vert_ptr[s + 1] - vert_ptr[s])
    ci = np.zeros((most, 2), np.int64)
    cf = np.zeros((most, 5))
    count, capacity = 0, len(out.code)
    for pair in range(pairs.shape[0]):
        first, second = pairs[pair, 0], pairs[pair, 1]
        if kind[first] == PLANE and kind[second] == PLANE:
            continue
        swap = not smaller_first2(kind, vert_ptr, radius, world, first, second)
        a, b = (second, first) if swap else (first, second)
        reach = band + radius[a] + radius[b]
        if kind[b] == PLANE:
            m = core_plane2(vert_ptr, world, a, b, reach, 0.0, ci, cf)
            if m > THINNED_MIN_VERTICES:
                share = THINNED_SHARE * extent(vert_ptr, world, a)
                m = core_plane2(vert_ptr, world, a, b, reach, min(band, share), ci, cf)
        else:
            m = reduce2(ci, cf, core_core2(vert_ptr, world, a, b, reach, Candidates(ci, cf)))
        of_a, of_b = (1, 0) if swap else (0, 1)
        width = 2 * (1 if kind[second] == PLANE else vert_ptr[second + 1] - vert_ptr[second])
        last = -1
        for _ in range(m):  # in the order of their codes
            k, least = 0, 1 << 62
            for i in range(m):
                c = ci[i, of_a] * width + ci[i, of_b]
                if last < c < least:
                    k, least = i, c
            last = least
            if count < capacity:
                fa, fb, sign = ci[k, of_a], ci[k, of_b], -1.0 if swap else 1.0
                out.code[count] = fa * width + fb
                _write(angle, shapes, first, second, fa, fb, sign * cf[k, 3], sign * cf[k, 4], count, out)
            count += 1
    return count
