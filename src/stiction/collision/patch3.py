"""The patch of contact of two convex shapes: where their facing sides lie over each other.

The side that a shape turns to the other is a face (a polygon; a cap of a cylinder has eight points of its rim), a line
(an edge, the side of a cylinder, a capsule), or just a point. Of two facing sides, one is the reference: a face if
there is one; the other is cut by the planes through its edges. What is left are points of one shape over the plane of
the other: contacts of the types POINT_PLANE and PLANE_POINT, exact where the plane is that of a face. The ends of a
cylinder that lies on a face are its two rims (RIM_PLANE), so that it can roll. Two lines side by side use the plane
across the normal.

Candidates are rows: integers (what, number) and floats (signed core distance, point relative to the centre of b); Q and
T (., 3) with numbers are the two sides in world axes.
"""

from __future__ import annotations

import math

from .._jit import njit
from .features import CORE, CYLINDER, along, cross, dot
from .gjk3 import row
from .support3 import facing_face, line_feature, minus, plus, scaled, turned_from, turned_to

CAPACITY = 64  # candidates of one pair
ROOM = 256  # corners of a side, while it is cut
_CORNERS = 96  # of a face that are looked at
_PARALLEL = 1e-3
_UNDERCUT = 1e-11  # a point that seems nearer than the shapes by more than this lies beside the face
PRIMARY, ON_B, ON_A, RIM_ON_B, RIM_ON_A = 0, 1, 2, 3, 4  # what: the pair itself, a point or rim over a plane of b or a
_CUT = 8192  # numbers from here on are cuts


@njit
def squared(v):
    """v·v."""
    return dot(v, v)


@njit(leaf=True)
def put(Q, ids, k, p, number):
    """Corner k of a side."""
    Q[k, 0], Q[k, 1], Q[k, 2] = p
    ids[k] = number


@njit(leaf=True)
def rim_corner(half, s, k, top):
    """Corner k of the eight of a cap of a cylinder."""
    t = 0.25 * math.pi * k
    return (half[s, 0] * math.cos(t), half[s, 0] * math.sin(t), half[s, 2] if top else -half[s, 2])


@njit
def face_corners(geo, axes, s, at, face, normal, Q, ids):
    """The corners of a face (its number and normal by `facing_face`), counter-clockwise from outside; how many."""
    kind, half, vert_ptr, verts, loop_ptr, loop = geo[0], geo[1], geo[2], geo[3], geo[8], geo[9]
    if kind[s] == CYLINDER:
        up = normal[2] > 0.0
        for k in range(8):
            turn = k if up else 7 - k
            put(Q, ids, k, plus(at, turned_from(axes, s, rim_corner(half, s, turn, up))), turn + (8 if up else 0))
        return 8
    if kind[s] == CORE:
        sign = normal[0] + normal[1] + normal[2]
        i = (face + 1) % 3
        for k in range(4):
            x = 1.0 if k == 1 or k == 2 else -1.0
            y = 1.0 if k >= 2 else -1.0
            x = x if sign > 0.0 else -x  # seen from below the other way round
            p = (0.0, 0.0, 0.0)
            bits = 0
            for axis in range(3):
                c = sign if axis == face else (x if axis == i else y)
                bits += 1 << axis if c > 0.0 and half[s, axis] > 0.0 else 0
                c *= half[s, axis]
                p = (c if axis == 0 else p[0], c if axis == 1 else p[1], c if axis == 2 else p[2])
            put(Q, ids, k, plus(at, turned_from(axes, s, p)), bits)
        return 4
    count = loop_ptr[face + 1] - loop_ptr[face]
    kept = min(count, _CORNERS)
    for k in range(kept):
        v = loop[loop_ptr[face] + k * count // kept]
        put(Q, ids, k, plus(at, turned_from(axes, s, row(verts, v))), v - vert_ptr[s])
    return kept


@njit
def side(geo, axes, s, at, m, Q, ids):
    """The side of shape s that looks along m: (corners, 2 of a line and 0 of a point; outward normal; how far off)."""
    l = turned_to(axes, s, m)
    exists, face, normal = facing_face(geo, s, l)
    if exists:
        return (
            face_corners(geo, axes, s, at, face, normal, Q, ids),
            turned_from(axes, s, normal),
            squared(minus(normal, l)),
        )
    exists, p, q, i, j, radius = line_feature(geo, s, l)
    if not exists:
        return 0, m, 0.0
    out = (0.0, 0.0, 0.0)
    if radius > 0.0:
        across = math.sqrt(l[0] * l[0] + l[1] * l[1])
        out = (radius * l[0] / across, radius * l[1] / across, 0.0)
    put(Q, ids, 0, plus(at, turned_from(axes, s, plus(p, out))), i)
    put(Q, ids, 1, plus(at, turned_from(axes, s, plus(q, out))), j)
    return 2, m, 0.0


@njit(leaf=True)
def cut(Q, ids, count, T, ids_t, corners, normal, slop, C, ids_c):
    """Cut the polygon or segment Q by the planes through the edges of the polygon T; what is left stands in Q."""
    for j in range(corners):
        r = row(T, j)
        inward = cross(normal, minus(row(T, (j + 1) % corners), r))
        length = math.sqrt(dot(inward, inward))
        if length == 0.0 or count == 0:
            continue
        inward = scaled(inward, 1.0 / length)
        left = 0
        for i in range(count):
            p, q = row(Q, i), row(Q, (i + 1) % count)
            u, v = dot(inward, minus(p, r)) + slop, dot(inward, minus(q, r)) + slop
            if u >= 0.0 and left < ROOM:
                put(C, ids_c, left, p, ids[i])
                left += 1
            if (u < 0.0) != (v < 0.0) and left < ROOM:
                # the two ends in the order of their numbers, so that a cut has one name and one place
                number = min(ids[i], ids[(i + 1) % count]) * 67 + max(ids[i], ids[(i + 1) % count])
                t = min(max((u - slop) / (u - v), 0.0), 1.0)  # on the plane itself, or the end within the slop
                put(C, ids_c, left, along(p, t, minus(q, p)), _CUT + (number * 131 + ids_t[j] * 7 + 1) % 2000000)
                left += 1
        count = left
        for i in range(count):
            put(Q, ids, i, row(C, i), ids_c[i])
    return count


@njit(leaf=True)
def add_candidate(ci, cf, m, what, number, gap, p, near):
    """Append a candidate unless one stands within `near` of it; the number of candidates."""
    for i in range(m):
        e = minus((cf[i, 1], cf[i, 2], cf[i, 3]), p)
        if dot(e, e) <= near * near:
            return m
    if m >= CAPACITY:
        return m
    ci[m, 0], ci[m, 1] = what, number
    cf[m, 0], cf[m, 1], cf[m, 2], cf[m, 3] = gap, p[0], p[1], p[2]
    return m + 1


@njit(leaf=True)
def rim_height(half, axes, s, at, normal, top):
    """The least height along `normal` of the points of a rim of the cylinder s."""
    axis = (axes[s, 0, 2], axes[s, 1, 2], axes[s, 2, 2])
    c = dot(normal, axis)
    across = along(normal, -c, axis)
    return dot(normal, at) + (c if top else -c) * half[s, 2] - half[s, 0] * math.sqrt(dot(across, across))


@njit(leaf=True)
def over_plane(geo, axes, s, at, normal, foot, Q, ids, count, what, d, reach, size, ci, cf, m):
    """Candidates: corners of a side of shape s within reach over the plane through `foot`; a lying cylinder's rims."""
    lying = geo[0][s] == CYLINDER and count == 2
    for i in range(count):
        p = row(Q, i)
        gap = dot(normal, minus(p, foot))
        rim = False
        if lying and ids[i] < 2:  # its rim, unless that reaches below the shapes beside the face
            lowest = rim_height(geo[1], axes, s, at, normal, ids[i] == 1) - dot(normal, foot)
            rim = lowest >= d - _UNDERCUT * size
            gap = lowest if rim else gap
        if gap <= reach and gap >= d - _UNDERCUT * size:
            number = 2 * ids[i] + (what - 1)
            m = add_candidate(ci, cf, m, what + 2 if rim else what, number, gap, p, 1e-6 * size)
    return m


@njit
def side_by_side(Q, ids, T, n, d, reach, size, ci, cf, m):
    """Candidates of two nearly parallel lines Q (of a) and T (of b): the ends of the stretch that they share."""
    p, q = row(Q, 0), row(T, 0)
    u, v = minus(row(Q, 1), p), minus(row(T, 1), q)
    lu, lv = math.sqrt(dot(u, u)), math.sqrt(dot(v, v))
    c = cross(u, v)
    if dot(c, c) > (_PARALLEL * lu * lv) ** 2:
        return m
    u = scaled(u, 1.0 / lu)
    start, stop = dot(minus(q, p), u), dot(minus(row(T, 1), p), u)
    first, last = max(0.0, min(start, stop)), min(lu, max(start, stop))
    if last - first <= 1e-6 * size:
        return m
    for k in range(2):
        t = first if k == 0 else last
        x = along(p, t, u)
        y = along(q, (t - start) / (stop - start), v)
        gap = dot(n, minus(x, y))
        if gap <= reach and gap >= d - _UNDERCUT * size:
            m = add_candidate(ci, cf, m, ON_B, k, gap, x, 1e-6 * size)
    return m


@njit
def patch(geo, axes, a, b, offset, n, d, reach, slop, size, Q, ids_q, T, ids_t, C, ids_c, ci, cf):
    """Candidates of the patch for the normal n and core distance d; (their number, outward normal of its plane)."""
    zero = (0.0, 0.0, 0.0)
    na, normal_a, off_a = side(geo, axes, a, offset, (-n[0], -n[1], -n[2]), Q, ids_q)
    nb, normal_b, off_b = side(geo, axes, b, zero, n, T, ids_t)
    if na == 0 or nb == 0:
        return 0, n
    if na == 2 and nb == 2:
        return side_by_side(Q, ids_q, T, n, d, reach, size, ci, cf, 0), n
    if nb > 2 and (na == 2 or off_b <= off_a):
        foot = row(T, 0)
        left = cut(Q, ids_q, na, T, ids_t, nb, normal_b, slop, C, ids_c)
        m = over_plane(geo, axes, a, offset, normal_b, foot, Q, ids_q, left, ON_B, d, reach, size, ci, cf, 0)
        return m, normal_b
    foot = row(Q, 0)
    left = cut(T, ids_t, nb, Q, ids_q, na, normal_a, slop, C, ids_c)
    m = over_plane(geo, axes, b, zero, normal_a, foot, T, ids_t, left, ON_A, d, reach, size, ci, cf, 0)
    return m, normal_a


@njit(leaf=True)
def on_half_space(geo, axes, a, offset, n, d, reach, size, Q, ids, ci, cf):
    """Candidates of core a over a half-space with normal n: vertices of a hull, rims of a cylinder; their number."""
    kind, vert_ptr, verts = geo[0], geo[2], geo[3]
    zero = (0.0, 0.0, 0.0)
    back = (-n[0], -n[1], -n[2])
    if kind[a] == CYLINDER:
        count, _, _ = side(geo, axes, a, offset, back, Q, ids)
        if count == 2:
            return over_plane(geo, axes, a, offset, n, zero, Q, ids, 2, ON_B, -math.inf, reach, size, ci, cf, 0)
        m = 0
        for k in range(8 if count else 0):
            p = row(Q, k)
            if dot(n, p) <= reach:
                m = add_candidate(ci, cf, m, ON_B, 2 * ids[k], dot(n, p), p, 0.0)
        return m
    within = 0
    for v in range(vert_ptr[a], vert_ptr[a + 1]):
        within += 1 if dot(n, plus(offset, turned_from(axes, a, row(verts, v)))) <= reach else 0
    m = 0
    if within <= CAPACITY:
        for v in range(vert_ptr[a], vert_ptr[a + 1]):
            p = plus(offset, turned_from(axes, a, row(verts, v)))
            if dot(n, p) <= reach:
                m = add_candidate(ci, cf, m, ON_B, 2 * (v - vert_ptr[a]), dot(n, p), p, 0.0)
        return m
    count, _, _ = side(geo, axes, a, offset, back, Q, ids)
    return over_plane(geo, axes, a, offset, n, zero, Q, ids, count, ON_B, d, reach, size, ci, cf, 0)
