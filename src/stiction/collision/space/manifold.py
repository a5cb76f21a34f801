"""The contact manifold of two box cores: which feature pairs describe their contact.

A manifold holds the nearest feature pair (by separating axes and vertex distances when apart, by the axis of least
overlap otherwise) and further pairs near the plane of contact: vertices over the facing face of the other shape, and
crossings of edges of the two facing faces, that is the corners of the clipped contact polygon, each as an exact pair.
Nothing depends on which shape is first, up to ties. Candidates are rows: integers (feature of a, feature of b, sign
of the edge of a) and floats (signed core distance, point in the frame of b).

Tolerances, relative to the sizes of the shapes: features within `slop` (1e-4) outside a face still count as over it, so
that aligned stacks keep their corners; a pair that undercuts the true distance by more than 1e-7 is no part of the
manifold (its planes or lines reach beyond the shapes); distances within 1e-9 are ties, decided in favour of faces.
"""

from __future__ import annotations

import math

from ...runtime.jit import njit
from ..boxes import (
    ALIGNED_COSINE,
    EDGE,
    FACE,
    across,
    after,
    axis_normal,
    before,
    corner,
    crossing,
    facing,
    nearest,
    nearest_edge,
    pick,
    separate,
    support_edge,
    support_vertex,
    vertex_exists,
)
from ..records import Near

MAX_CANDIDATES = 64  # at most 16 vertices, 16 crossings and 16 vertex-edge pairs
STEEP_SINE = 0.3  # sine of the angle from which on a vertex over another one is left out: see `patch`
THINNED_MIN_VERTICES = 16  # vertices above which those near each other are left out
THINNED_SHARE = 0.1  # of the size: the largest distance at which one vertex stands for another then
SLOP_SHARE = 1e-4  # of the smaller shape: how far beside a face a point still counts as over it
TIE_SHARE = 1e-9  # of the size: a difference of two distances that is a tie
_UNDERCUT_SHARE = 1e-7  # of the size: a point that seems nearer than the shapes by more than this is none
TIE_DIRECTION = (0.5377139, 0.7339206, 0.4148251)  # a direction of no importance in the frame of a shape, to break ties


@njit(leaf=True)
def add(found, m, fa, fb, sign, gap, p, n, near):
    """Append a candidate unless it is known or merges with a near one; returns the number of candidates.

    Of two candidates nearer than 4 slop across the main normal n the first stays, unless the second is nearer by more
    than the slop or has the least distance d alone.
    """
    ci, cf = found
    d, slop, tie = near.d, near.slop, TIE_SHARE * near.size
    k = m
    for i in range(m):
        if ci[i, 0] == fa and ci[i, 1] == fb:
            return m
        e0, e1, e2 = cf[i, 1] - p[0], cf[i, 2] - p[1], cf[i, 3] - p[2]
        along = e0 * n[0] + e1 * n[1] + e2 * n[2]
        if e0 * e0 + e1 * e1 + e2 * e2 - along * along <= 16.0 * slop * slop:
            if gap >= cf[i, 0] - slop and (gap > d + tie or cf[i, 0] <= d + tie):
                return m
            k = i
            break
    if k >= MAX_CANDIDATES:
        return m
    ci[k, 0], ci[k, 1], ci[k, 2] = fa, fb, sign
    cf[k, 0] = gap
    cf[k, 1], cf[k, 2], cf[k, 3] = p[0], p[1], p[2]
    return max(m, k + 1)


@njit(leaf=True)
def over_face(half, s, face, q, slop):
    """(over the face of shape s, height over it) for a point q in the frame of s."""
    axis, side = (face - FACE) >> 1, (face - FACE) & 1
    k1, k2 = after(axis), before(axis)
    over = abs(pick(q, k1)) <= half[s, k1] + slop and abs(pick(q, k2)) <= half[s, k2] + slop
    return over, (pick(q, axis) if side == 1 else -pick(q, axis)) - half[s, axis]


@njit
def on_face(v, face):
    """Whether vertex v belongs to a face."""
    return (v >> ((face - FACE) >> 1)) & 1 == (face - FACE) & 1


@njit(leaf=True)
def local_vertex(half, s, v):
    """Vertex v of shape s in its own frame."""
    return (
        half[s, 0] if v & 1 else -half[s, 0],
        half[s, 1] if v & 2 else -half[s, 1],
        half[s, 2] if v & 4 else -half[s, 2],
    )


@njit(leaf=True)
def vertices_on_face(half, a, b, own, face, incident, C, off, n, near, found, m):
    """Candidates: vertices of one shape (a when own is 0) over a face of the other.

    Also how many of them belong to its own facing side: the face `incident`, or any when it has none.
    """
    s, other = (a, b) if own == 0 else (b, a)
    d, reach, slop, size = near
    count, over_it = 0, 0
    for v in range(8):
        if vertex_exists(half, s, v):
            over, gap = over_face(half, other, face, corner(half, s, v, C, off, own), slop)
            if over and gap <= reach and gap >= d - _UNDERCUT_SHARE * size:
                count += 1
                over_it |= 1 << v
    own_side = 0
    for v in range(8):
        if not (over_it >> v) & 1 or (count > 4 and incident >= 0 and not on_face(v, incident)):
            continue
        q = corner(half, s, v, C, off, own)
        _, gap = over_face(half, other, face, q, slop)
        own_side += 1 if incident < 0 or on_face(v, incident) else 0
        fa, fb, p = (v, face, q) if own == 0 else (face, v, local_vertex(half, s, v))
        m = add(found, m, fa, fb, 1, gap, p, n, near)
    return m, own_side


@njit(leaf=True)
def face_edge(half, s, face, k):
    """The k-th of up to 4 edges of a face, or of a core without faces its k-th edge; -1 when there are no more."""
    if face < 0:
        for axis in range(3):
            if half[s, axis] > 0.0:
                return EDGE + 4 * axis if k == 0 else -1
        return -1
    axis, side = (face - FACE) >> 1, (face - FACE) & 1
    side = side if half[s, axis] > 0.0 else 0
    other = k & 1  # side along the remaining axis
    if k < 2:  # the axes after that of the edge are the remaining one, then that of the face
        return EDGE + 4 * after(axis) + other + 2 * side
    return EDGE + 4 * before(axis) + side + 2 * other


@njit(leaf=True)
def edges_across(half, a, b, face_a, face_b, C, off, n, near, found, m):
    """Candidates: crossings of edges of the two facing faces."""
    d, reach, slop, size = near
    for k in range(4):
        ea = face_edge(half, a, face_a, k)
        if ea < 0:
            break
        for l in range(4):
            eb = face_edge(half, b, face_b, l)
            if eb < 0:
                break
            if not across(ea, eb, C, n):
                continue
            inside, gap, sign, p = crossing(half, a, b, ea, eb, C, off, n, slop)
            if inside and gap <= reach and gap >= d - _UNDERCUT_SHARE * size:
                m = add(found, m, ea, eb, sign, gap, p, n, near)
    return m


@njit(leaf=True)
def outward(own, w, size, C):
    """The unit normal from b to a, in the frame of b, of a vector w (of length size) from a feature to a vertex."""
    if size < 1e-150:
        return (0.0, 0.0, 0.0)
    if own == 0:
        return (w[0] / size, w[1] / size, w[2] / size)
    return (
        -(w[0] * C[0, 0] + w[1] * C[1, 0] + w[2] * C[2, 0]) / size,
        -(w[0] * C[0, 1] + w[1] * C[1, 1] + w[2] * C[2, 1]) / size,
        -(w[0] * C[0, 2] + w[1] * C[1, 2] + w[2] * C[2, 2]) / size,
    )


@njit(leaf=True)
def vertices_on_edges(half, a, b, C, off, n, near, found, m):
    """Candidates: vertices of each shape nearest to an edge of the other, or at its end, with a normal near n."""
    d, reach, slop, size = near
    for own in range(2):
        s, other = (a, b) if own == 0 else (b, a)
        for v in range(8):
            if not vertex_exists(half, s, v):
                continue
            q = corner(half, s, v, C, off, own)
            f, w = nearest_edge(half, other, q, slop)
            gap = math.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
            if f < EDGE or f >= FACE or gap > reach or gap < d - _UNDERCUT_SHARE * size:
                continue
            u = outward(own, w, gap, C)
            if (
                gap <= TIE_SHARE * size or u[0] * n[0] + u[1] * n[1] + u[2] * n[2] >= ALIGNED_COSINE
            ):  # on it: any normal will do
                fa, fb, p = (v, f, q) if own == 0 else (f, v, local_vertex(half, s, v))
                m = add(found, m, fa, fb, 1, gap, p, n, near)
    return m


@njit(leaf=True)
def collect(half, a, b, C, off, n, near, found):
    """Candidates of vertex-face and edge-edge kind for the main normal n; their number."""
    face_a, cos_a = facing(half, a, C, n, 0)
    face_b, cos_b = facing(half, b, C, n, 1)
    m = 0
    found_a, found_b = 0, 0
    if face_b >= 0 and cos_b >= ALIGNED_COSINE:
        m, found_a = vertices_on_face(half, a, b, 0, face_b, face_a, C, off, n, near, found, m)
    if face_a >= 0 and cos_a >= ALIGNED_COSINE:
        m, found_b = vertices_on_face(half, a, b, 1, face_a, face_b, C, off, n, near, found, m)
    whole_a = found_a >= (4 if face_a >= 0 else 2)  # the facing side of a lies over the face of b: nothing to clip
    whole_b = found_b >= (4 if face_b >= 0 else 2)
    if not (whole_a or whole_b):
        m = edges_across(half, a, b, face_a, face_b, C, off, n, near, found, m)
    return m


@njit(leaf=True)
def nearest_vertex(half, a, b, C, off):
    """Vertex nearest to the other shape: (distance, whose: 0 a or 1 b, vertex, feature of the other, vector)."""
    best = math.inf
    own_best, vertex, feature = 0, 0, -1
    vector = (0.0, 0.0, 0.0)
    for own in range(2):
        s, other = (a, b) if own == 0 else (b, a)
        for v in range(8):
            if not vertex_exists(half, s, v):
                continue
            f, w = nearest(half, other, corner(half, s, v, C, off, own))
            d2 = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
            if d2 < best:
                best, own_best, vertex, feature, vector = d2, own, v, f, w
    return math.sqrt(best), own_best, vertex, feature, vector


@njit(leaf=True)
def add_axis(half, a, b, axis, is_face, C, off, n, near, found, m):
    """Candidate: the features that support a separating axis with normal n."""
    if not is_face:
        ea = support_edge(half, a, C, n, 0, -1.0, axis // 3)
        eb = support_edge(half, b, C, n, 1, 1.0, axis % 3)
        _, gap, sign, p = crossing(half, a, b, ea, eb, C, off, n, math.inf)
        return add(found, m, ea, eb, sign, gap, p, n, near)
    if axis < 3:
        fa = FACE + 2 * axis + (1 if C[axis, 0] * n[0] + C[axis, 1] * n[1] + C[axis, 2] * n[2] < 0.0 else 0)
        fb = support_vertex(half, b, C, n, 1, 1.0)
        return add(found, m, fa, fb, 1, near.d, local_vertex(half, b, fb), n, near)
    fa = support_vertex(half, a, C, n, 0, -1.0)
    fb = FACE + 2 * (axis - 3) + (1 if n[axis - 3] > 0.0 else 0)
    return add(found, m, fa, fb, 1, near.d, corner(half, a, fa, C, off, 0), n, near)


@njit(leaf=True)
def least(cf, m):
    """The least distance of the candidates."""
    d = math.inf
    for i in range(m):
        d = min(d, cf[i, 0])
    return d


@njit(leaf=True)
def segment_axis(half, s):
    """The axis of a core that is a segment."""
    return 0 if half[s, 0] > 0.0 else (1 if half[s, 1] > 0.0 else 2)


@njit(leaf=True, sealed=True)
def core_core(half, a, b, C, off, reach, slop, n, found):
    """All candidates of the manifold of two cores nearer than `reach`; their number, and the main normal in n."""
    cf = found.cf
    size = 0.0
    for k in range(3):
        size += half[a, k] + half[b, k]
    tie = TIE_SHARE * size
    every, face, face_axis, edge, edge_axis = separate(half, a, b, C, off, tie)
    if every > reach:
        return 0
    is_face = face_axis >= 0 and (edge_axis < 0 or edge <= face + tie)
    axis = face_axis if is_face else edge_axis
    sat = face if is_face else edge
    if every < -1e-12 * size:
        axis_normal(axis, is_face, C, off, tie, n)
        near = Near(sat, reach, slop, size)
        m = collect(half, a, b, C, off, n, near, found)
        if not is_face or least(cf, m) > sat + tie:
            m = add_axis(half, a, b, axis, is_face, C, off, n, near, found, m)
        return m
    d, own, vertex, feature, w = nearest_vertex(half, a, b, C, off)
    distance = d  # of the nearest vertex; d becomes that of the shapes
    if edge_axis >= 0:
        axis_normal(edge_axis, False, C, off, tie, n)
        ea = support_edge(half, a, C, n, 0, -1.0, edge_axis // 3)
        eb = support_edge(half, b, C, n, 1, 1.0, edge_axis % 3)
        inside, gap, _, _ = crossing(half, a, b, ea, eb, C, off, n, 0.0)
        if inside and gap < d:
            d = max(gap, 0.0)
    if axis >= 0:
        axis_normal(axis, is_face, C, off, tie, n)
    tight = axis >= 0 and d <= sat + tie
    if is_face and not tight:  # parallel faces may cross without a vertex over either: only the clipped set shows it
        m = collect(half, a, b, C, off, n, Near(sat, reach, 0.0, size), found)
        if least(cf, m) < d - tie:
            d = least(cf, m)
            tight = True
    if not tight:
        u = outward(own, w, distance, C)
        n[0], n[1], n[2] = u
        if axis < 0 and distance <= tie:  # segments that lie on each other: across them
            n[0], n[1], n[2] = 0.0, 0.0, 0.0
            n[after(segment_axis(half, b))] = 1.0
    if d > reach:
        return 0
    near = Near(d, reach, slop, size)
    m = collect(half, a, b, C, off, n, near, found)
    if not (tight and is_face):
        m = vertices_on_edges(half, a, b, C, off, n, near, found, m)
    if least(cf, m) > d + tie:
        if tight and not is_face:
            m = add_axis(half, a, b, axis, is_face, C, off, n, near, found, m)
        elif feature >= 0:
            q = corner(half, a, vertex, C, off, 0) if own == 0 else local_vertex(half, b, vertex)
            fa, fb = (vertex, feature) if own == 0 else (feature, vertex)
            m = add(found, m, fa, fb, 1, distance, q, n, near)
        else:
            m = add_axis(half, a, b, axis, is_face, C, off, n, near, found, m)
    return m


@njit(leaf=True)
def area(cf, i, j, k, n):
    """Twice the signed area of three candidate points seen along n."""
    x0, x1, x2 = cf[j, 1] - cf[i, 1], cf[j, 2] - cf[i, 2], cf[j, 3] - cf[i, 3]
    y0, y1, y2 = cf[k, 1] - cf[i, 1], cf[k, 2] - cf[i, 2], cf[k, 3] - cf[i, 3]
    return n[0] * (x1 * y2 - x2 * y1) + n[1] * (x2 * y0 - x0 * y2) + n[2] * (x0 * y1 - x1 * y0)


@njit(leaf=True)
def keep_vertices(ci, m, keep, kept):
    """Append to the `kept` candidates in `keep` all vertices over a face that are not among them; how many there are.

    A crossing of two edges that is left out lies between others; a vertex need not, and could pass through the face.
    """
    for i in range(m):
        vertex, face = min(ci[i, 0], ci[i, 1]), max(ci[i, 0], ci[i, 1])
        if vertex >= EDGE or face < FACE or kept >= len(keep):
            continue
        known = False
        for k in range(kept):
            known = known or keep[k] == i
        if not known:
            keep[kept] = i
            kept += 1
    return kept


@njit(leaf=True)
def reduce(cf, m, n, sweep, size, keep):
    """Four of m candidates: the nearest, the farthest from it, and two that make the area large; their number.

    `keep` receives their indices; `sweep` is the direction, in the frame of the points, along which ties are broken.
    """
    if m <= 4:
        for i in range(m):
            keep[i] = i
        return m
    d = least(cf, m) + TIE_SHARE * size
    span = 0.0
    for stage in range(4):
        best, top, pick = 0.0, -math.inf, -1
        for i in range(m):
            key = sweep[0] * cf[i, 1] + sweep[1] * cf[i, 2] + sweep[2] * cf[i, 3]
            if stage == 0:
                score = 1.0 if cf[i, 0] <= d else 0.0
            elif stage == 1:
                e0, e1, e2 = cf[i, 1] - cf[keep[0], 1], cf[i, 2] - cf[keep[0], 2], cf[i, 3] - cf[keep[0], 3]
                along = e0 * n[0] + e1 * n[1] + e2 * n[2]
                score = e0 * e0 + e1 * e1 + e2 * e2 - along * along
            elif stage == 2:
                score = abs(area(cf, keep[0], keep[1], i, n))
            else:
                turn = 1.0 if area(cf, keep[0], keep[1], keep[2], n) > 0.0 else -1.0
                score = -turn * area(cf, keep[0], keep[1], i, n)
                score = max(score, -turn * area(cf, keep[1], keep[2], i, n))
                score = max(score, -turn * area(cf, keep[2], keep[0], i, n))
            margin = 1e-7 * (span if stage > 1 else best)
            if score > best + margin or (score >= best - margin and pick >= 0 and key > top):
                best, top, pick = max(score, best), key, i
        if stage == 1:
            span = best
        if pick < 0 or best <= 1e-12 * span:
            return max(stage, 1)
        keep[stage] = pick
    return 4
