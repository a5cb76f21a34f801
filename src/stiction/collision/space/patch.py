"""The patch of contact of two convex shapes: where their facing sides lie over each other.

The side that a shape turns to the other is a face (a polygon; a cap of a cylinder has eight points of its rim), a line
(an edge, the side of a cylinder, a capsule), or just a point. Of two facing sides, one is the reference: a face if
there is one; the other is cut by the planes through its edges. What is left are points of one shape over the plane of
the other: contacts of the types POINT_PLANE and PLANE_POINT, exact where the plane is that of a face. The ends of a
cylinder that lies on a face are its two rims (RIM_PLANE), so that it can roll. Two lines side by side use the plane
across the normal.

Beside the corners of the sides, all vertices of a shape over the face of the other, or over a half-space, are
candidates, and none is left out afterwards: lists are long enough for every vertex of the largest hull. Where there are
more than _FEW, those are none that lie over another one more steeply than STEEP_SINE: until the body has turned by that
angle the other one is nearer, whatever the motion. Where that leaves more than MANY (finely rounded hulls), those are
none that lie within `near` of one that is lower: they get deeper than that one by less than `near` times the turn, and
`near` is at most the band, a displacement in a step.

Candidates are rows: integers (what, number, mark) and floats (signed core distance, point relative
to the centre of b); Q and T (., 3) with numbers are the two sides in world axes.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ..._check import Array
from ...runtime.jit import njit
from ..boxes import vertex_exists
from ..features import CORE, CYLINDER, HULL, along, cross, dot
from ..records import Near
from .gjk import row
from .manifold import STEEP_SINE, THINNED_MIN_VERTICES, THINNED_SHARE, local_vertex
from .support import facing_face, line_feature, minus, plus, scaled, turned_from, turned_to

SPARE_CORNERS = 64  # corners by which a polygon may grow by round-off while it is cut
_KEPT_VERTICES = 4  # vertices of which none is left out
_SAME_ANGLE2 = 1e-24  # squared angle up to which two faces oppose the normal equally well
_PARALLEL_SINE = 1e-3  # sine of an angle up to which lines are taken for parallel
_UNDERCUT_SHARE = 1e-11  # a point that seems nearer than the shapes by more than this lies beside the face
PRIMARY, ON_B, ON_A, RIM_ON_B, RIM_ON_A = 0, 1, 2, 3, 4  # what: the pair itself, a point or rim over a plane of b or a
KEPT, ALONG = 1, 2  # marks: a vertex that is not left out; a point whose plane is across the normal of the distance
_SIDES, _CUT = 8190, 8192  # numbers of the ends of two lines side by side, and from where on they are cuts


class Polygon(NamedTuple):
    """A side of a shape in world axes, or what is left of it."""

    corners: Array  # (., 3)
    ids: Array  # (.,) their numbers
    count: Any  # how many there are; 2 of a line, 0 of a point


class PatchWorkspace(NamedTuple):
    """Workspace of `patch`: the vertices of one shape, two sides, and the remainder of a side that is cut."""

    V: Array  # (., 4) height over a plane and point of each vertex
    number: Array  # (.,)
    Q: Array  # (., 3)
    ids_q: Array  # (.,)
    T: Array
    ids_t: Array
    C: Array
    ids_c: Array


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
    kind, half, vert_ptr, verts, loop_ptr, loop = geo.kind, geo.half, geo.vert_ptr, geo.verts, geo.loop_ptr, geo.loop
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
    for k in range(count):
        v = loop[loop_ptr[face] + k]
        put(Q, ids, k, plus(at, turned_from(axes, s, row(verts, v))), v - vert_ptr[s])
    return count


@njit
def line(geo, axes, s, at, l, Q, ids):
    """The ends in Q of the line of shape s that looks along l, a direction in its frame; 2, or 0 without one."""
    exists, p, q, i, j, radius = line_feature(geo, s, l)
    if not exists:
        return 0
    out = (0.0, 0.0, 0.0)
    if radius > 0.0:
        across = math.sqrt(l[0] * l[0] + l[1] * l[1])
        out = (radius * l[0] / across, radius * l[1] / across, 0.0)
    put(Q, ids, 0, plus(at, turned_from(axes, s, plus(p, out))), i)
    put(Q, ids, 1, plus(at, turned_from(axes, s, plus(q, out))), j)
    return 2


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
    return line(geo, axes, s, at, l, Q, ids), m, 0.0


@njit(leaf=True)
def cut(Q, ids, count, T, ids_t, corners, normal, slop, C, ids_c):
    """Cut the polygon or segment Q by the planes through the edges of the polygon T; what is left stands in Q.

    A cut takes one corner at least and adds two, so that Q and C are long enough for the corners of both.
    """
    capacity = len(C)
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
            if u >= 0.0 and left < capacity:
                put(C, ids_c, left, p, ids[i])
                left += 1
            if (u < 0.0) != (v < 0.0) and left < capacity:
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
def add_candidate(found, m, what, number, gap, p, beside):
    """Append a candidate unless one stands within `beside` of it; the number of candidates."""
    ci, cf = found
    for i in range(m):
        e = minus((cf[i, 1], cf[i, 2], cf[i, 3]), p)
        if dot(e, e) <= beside * beside:
            return m
    ci[m, 0], ci[m, 1], ci[m, 2] = what, number, 0
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
def over_plane(geo, axes, s, at, normal, foot, side, what, near, found, m):
    """Candidates: corners of a side of shape s within reach over the plane through `foot`; a lying cylinder's rims."""
    Q, ids, count = side
    d, reach, _, size = near
    lying = geo.kind[s] == CYLINDER and count == 2
    for i in range(count):
        p = row(Q, i)
        gap = dot(normal, minus(p, foot))
        rim = False
        if lying and ids[i] < 2:  # its rim, unless that reaches below the shapes beside the face
            lowest = rim_height(geo.half, axes, s, at, normal, ids[i] == 1) - dot(normal, foot)
            rim = lowest >= d - _UNDERCUT_SHARE * size
            gap = lowest if rim else gap
        if gap <= reach and gap >= d - _UNDERCUT_SHARE * size:
            number = 2 * ids[i] + (what - 1)
            m = add_candidate(found, m, what + 2 if rim else what, number, gap, p, 1e-6 * size)
    return m


@njit
def side_by_side(Q, T, n, near, found, m):
    """Candidates of two nearly parallel lines Q (of a) and T (of b): the ends of the stretch that they share."""
    d, reach, _, size = near
    p, q = row(Q, 0), row(T, 0)
    u, v = minus(row(Q, 1), p), minus(row(T, 1), q)
    lu, lv = math.sqrt(dot(u, u)), math.sqrt(dot(v, v))
    c = cross(u, v)
    if dot(c, c) > (_PARALLEL_SINE * lu * lv) ** 2:
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
        if gap <= reach and gap >= d - _UNDERCUT_SHARE * size:
            kept = add_candidate(found, m, ON_B, 2 * _SIDES + k, gap, x, 1e-6 * size)
            if kept > m:
                found.ci[m, 2] = ALONG
            m = kept
    return m


@njit
def edges(geo, axes, a, b, offset, n, near, workspace, found, m):
    """Candidates where the shapes touch beside their faces: the ends of what two nearly parallel lines share."""
    Q, T = workspace.Q, workspace.T
    zero = (0.0, 0.0, 0.0)
    if line(geo, axes, a, offset, turned_to(axes, a, (-n[0], -n[1], -n[2])), Q, workspace.ids_q) == 0:
        return m
    if line(geo, axes, b, zero, turned_to(axes, b, n), T, workspace.ids_t) == 0:
        return m
    return side_by_side(Q, T, n, near, found, m)


@njit(leaf=True)
def over_polygon(p, T, corners, normal, slop):
    """Whether the point p lies over the polygon T (corners, 3) with outward normal, or at most `slop` beside it."""
    for j in range(corners):
        r = row(T, j)
        inward = cross(normal, minus(row(T, (j + 1) % corners), r))
        if dot(inward, minus(p, r)) < -slop * math.sqrt(dot(inward, inward)):
            return False
    return True


@njit(leaf=True)
def choose(V, number, count, normal, near, tie):
    """Move those of the points V (count, 4: height, point) that are candidates to the front; how many they are.

    From the lowest on, each leaves out those that lie steeply over it, or within `near` of it and not lower. Of points
    equally high, to within `tie`, that of the least number goes first.
    """
    kept = 0
    while kept < count:
        low, pick = math.inf, kept
        for i in range(kept, count):
            low = min(low, V[i, 0])
        for i in range(kept, count):
            if V[i, 0] <= low + tie and (V[pick, 0] > low + tie or number[i] < number[pick]):
                pick = i
        swap(V, number, kept, pick)
        p = (V[kept, 1], V[kept, 2], V[kept, 3])
        kept += 1
        i = kept
        while i < count:
            e = minus((V[i, 1], V[i, 2], V[i, 3]), p)
            up, far = dot(normal, e), math.sqrt(dot(e, e))
            if up >= STEEP_SINE * far or far <= near:
                count -= 1
                swap(V, number, i, count)
            else:
                i += 1
    return kept


@njit(leaf=True)
def swap(V, number, i, j):
    """Exchange the points i and j."""
    number[i], number[j] = number[j], number[i]
    for k in range(4):
        V[i, k], V[j, k] = V[j, k], V[i, k]


@njit(leaf=True)
def vertices_over(geo, axes, s, at, normal, foot, side, what, near, band, workspace, found):
    """The first candidates: vertices of shape s within reach over a plane, and over a side where that has corners."""
    T, _, corners = side
    V, number, (d, reach, slop, size) = workspace.V, workspace.number, near
    kind, half, vert_ptr, verts = geo.kind, geo.half, geo.vert_ptr, geo.verts
    first, last = (vert_ptr[s], vert_ptr[s + 1]) if kind[s] == HULL else (0, 8 if kind[s] == CORE else 0)
    count = 0
    for v in range(first, last):
        if kind[s] == CORE:
            if not vertex_exists(half, s, v):
                continue
            p = local_vertex(half, s, v)
        else:
            p = row(verts, v)
        p = plus(at, turned_from(axes, s, p))
        height = dot(normal, minus(p, foot))
        if height > reach or height < d - _UNDERCUT_SHARE * size:
            continue
        if corners == 0 or over_polygon(p, T, corners, normal, slop):
            V[count, 0], V[count, 1], V[count, 2], V[count, 3] = height, p[0], p[1], p[2]
            number[count] = v - first
            count += 1
    if count > _KEPT_VERTICES:
        count = choose(V, number, count, normal, 0.0, 1e-10 * size)
        if count > THINNED_MIN_VERTICES:
            own = math.sqrt(half[s, 0] * half[s, 0] + half[s, 1] * half[s, 1] + half[s, 2] * half[s, 2])
            count = choose(V, number, count, normal, min(band, THINNED_SHARE * own), 1e-10 * size)
    m = 0
    for i in range(count):
        p = (V[i, 1], V[i, 2], V[i, 3])
        kept = add_candidate(found, m, what, 2 * number[i] + (what - 1), V[i, 0], p, 0.0)
        if kept > m:
            found.ci[m, 2] = KEPT
        m = kept
    return m


@njit(sealed=True)
def patch(geo, axes, a, b, offset, n, near, band, workspace, found):
    """Candidates of the patch for the normal n; (their number, outward normal of its plane)."""
    Q, ids_q, T, ids_t, slop = workspace.Q, workspace.ids_q, workspace.T, workspace.ids_t, near.slop
    zero = (0.0, 0.0, 0.0)
    na, normal_a, off_a = side(geo, axes, a, offset, (-n[0], -n[1], -n[2]), Q, ids_q)
    nb, normal_b, off_b = side(geo, axes, b, zero, n, T, ids_t)
    if nb > 2 and (na <= 2 or off_b <= off_a + _SAME_ANGLE2):
        foot = row(T, 0)
        face = Polygon(T, ids_t, nb)
        m = vertices_over(geo, axes, a, offset, normal_b, foot, face, ON_B, near, band, workspace, found)
        left = Polygon(Q, ids_q, cut(Q, ids_q, na, T, ids_t, nb, normal_b, slop, workspace.C, workspace.ids_c))
        m = over_plane(geo, axes, a, offset, normal_b, foot, left, ON_B, near, found, m)
        return m, normal_b
    if na > 2:
        foot = row(Q, 0)
        face = Polygon(Q, ids_q, na)
        m = vertices_over(geo, axes, b, zero, normal_a, foot, face, ON_A, near, band, workspace, found)
        left = Polygon(T, ids_t, cut(T, ids_t, nb, Q, ids_q, na, normal_a, slop, workspace.C, workspace.ids_c))
        m = over_plane(geo, axes, b, zero, normal_a, foot, left, ON_A, near, found, m)
        return m, normal_a
    if na == 2 and nb == 2:
        return side_by_side(Q, T, n, near, found, 0), n
    return 0, n


@njit(leaf=True, sealed=True)
def on_half_space(geo, axes, a, offset, n, near, band, workspace, found):
    """Candidates of core a over a half-space with normal n: vertices of a hull, rims of a cylinder; their number."""
    Q, ids = workspace.Q, workspace.ids_q
    zero = (0.0, 0.0, 0.0)
    back = (-n[0], -n[1], -n[2])
    if geo.kind[a] == CYLINDER:
        count, _, _ = side(geo, axes, a, offset, back, Q, ids)
        if count == 2:
            any_depth = Near(-math.inf, near.reach, near.slop, near.size)
            return over_plane(geo, axes, a, offset, n, zero, Polygon(Q, ids, 2), ON_B, any_depth, found, 0)
        m = 0
        across = cross(n, (axes[a, 0, 2], axes[a, 1, 2], axes[a, 2, 2]))
        mark = KEPT if dot(across, across) > _PARALLEL_SINE * _PARALLEL_SINE else 0  # four will do while it stands
        for k in range(8 if count else 0):
            p = row(Q, k)
            if dot(n, p) <= near.reach:
                m = add_candidate(found, m, ON_B, 2 * ids[k], dot(n, p), p, 0.0)
                found.ci[m - 1, 2] = mark
        return m
    return vertices_over(geo, axes, a, offset, n, zero, Polygon(Q, ids, 0), ON_B, near, band, workspace, found)
