"""Geometry of a pair of box cores: numbering of features, separating axes, nearest features.

A core is a box with half extents h, some of them possibly zero: point, segment, rectangle, box. Its features are
numbered: vertex = bits of the sides (x 1, y 2, z 4; 0 where the extent is zero), edge = 8 + 4 axis + sides of the two
other axes, face = 20 + 2 axis + side; 26 is the boundary of a half-space.

For a pair (a, b) everything is measured in the two shape frames: C[i, j] = axis i of a · axis j of b, and the offset
of the centres, off[0] = centre of a in the frame of b, off[1] = centre of b in the frame of a. `own` is 0 when a
feature of a is looked at from b, 1 when one of b is looked at from a.
"""

from __future__ import annotations

import math

from ..runtime.jit import njit

EDGE, FACE, GROUND = 8, 20, 26  # features: 8 vertices, 12 edges and 6 faces of a box; a half-space
ALIGNED_COSINE = 0.9  # cosine up to which the normals of a manifold may differ from its main normal
_PARALLEL_SINE = 1e-6  # sine of an angle up to which two edges are taken for parallel
# sine of an angle that is round-off: of two vertices that support equally far the lower number is taken
_LEVEL_SINE = 1e-12


@njit
def pick(t, k):
    """Component k of a tuple of three; faster than t[k] when k is not a constant."""
    return t[0] if k == 0 else (t[1] if k == 1 else t[2])


@njit
def after(k):
    """The axis after k in cyclic order."""
    return k + 1 if k < 2 else 0


@njit
def before(k):
    """The axis before k in cyclic order."""
    return k - 1 if k > 0 else 2


@njit(leaf=True)
def vertex_exists(half, s, v):
    """Whether v is the number of a vertex of shape s: no side bit where the extent is zero."""
    missing = 0
    for k in range(3):
        if half[s, k] <= 0.0:
            missing |= 1 << k
    return v & missing == 0


@njit(leaf=True)
def face_exists(half, s, axis):
    """Whether shape s has faces across this axis: its two other extents are not zero."""
    return half[s, (axis + 1) % 3] > 0.0 and half[s, (axis + 2) % 3] > 0.0


@njit(leaf=True)
def corner(half, s, v, C, off, own):
    """Vertex v of shape s in the frame of the other shape."""
    x = half[s, 0] if v & 1 else -half[s, 0]
    y = half[s, 1] if v & 2 else -half[s, 1]
    z = half[s, 2] if v & 4 else -half[s, 2]
    if own == 0:
        return (
            off[0, 0] + x * C[0, 0] + y * C[1, 0] + z * C[2, 0],
            off[0, 1] + x * C[0, 1] + y * C[1, 1] + z * C[2, 1],
            off[0, 2] + x * C[0, 2] + y * C[1, 2] + z * C[2, 2],
        )
    return (
        off[1, 0] + x * C[0, 0] + y * C[0, 1] + z * C[0, 2],
        off[1, 1] + x * C[1, 0] + y * C[1, 1] + z * C[1, 2],
        off[1, 2] + x * C[2, 0] + y * C[2, 1] + z * C[2, 2],
    )


@njit
def beyond(q, h):
    """How far the coordinate q lies outside -h..h, with sign; for h zero every q is outside."""
    return q - h if q > 0.0 else q + h


@njit(leaf=True)
def nearest(half, s, q):
    """Feature of shape s nearest to the point q in its frame, or -1 when q is inside, and the vector to q from it."""
    h0, h1, h2 = half[s, 0], half[s, 1], half[s, 2]
    out0 = abs(q[0]) > h0 or h0 <= 0.0
    out1 = abs(q[1]) > h1 or h1 <= 0.0
    out2 = abs(q[2]) > h2 or h2 <= 0.0
    up0 = 1 if q[0] > 0.0 and h0 > 0.0 else 0
    up1 = 1 if q[1] > 0.0 and h1 > 0.0 else 0
    up2 = 1 if q[2] > 0.0 and h2 > 0.0 else 0
    w = (beyond(q[0], h0) if out0 else 0.0, beyond(q[1], h1) if out1 else 0.0, beyond(q[2], h2) if out2 else 0.0)
    if out0:
        if out1:
            return up0 + 2 * up1 + 4 * up2 if out2 else EDGE + 8 + up0 + 2 * up1, w
        return EDGE + 4 + up2 + 2 * up0 if out2 else FACE + (1 if q[0] > 0.0 else 0), w
    if out1:
        return EDGE + up1 + 2 * up2 if out2 else FACE + 2 + (1 if q[1] > 0.0 else 0), w
    return FACE + 4 + (1 if q[2] > 0.0 else 0) if out2 else -1, w


@njit(leaf=True)
def nearest_edge(half, s, q, slop):
    """As `nearest`, but a point nearest to a vertex, at most `slop` beyond the end of an edge, is over that edge.

    Where two edges end side by side, round-off would otherwise say whether the end of one lies over the other.
    """
    f, w = nearest(half, s, q)
    if f < 0 or f >= EDGE:
        return f, w
    beside, axis = slop, -1
    for k in range(3):
        if half[s, k] > 0.0 and abs(pick(w, k)) <= beside:
            beside, axis = abs(pick(w, k)), k
    if axis < 0:
        return f, w
    f = EDGE + 4 * axis + ((f >> after(axis)) & 1) + 2 * ((f >> before(axis)) & 1)
    return f, (0.0 if axis == 0 else w[0], 0.0 if axis == 1 else w[1], 0.0 if axis == 2 else w[2])


@njit(leaf=True)
def separate(half, a, b, C, off, tie):
    """Separating axis test: (largest separation over all axes, best face separation, its axis, best edge separation,
    its axis). Of axes that separate equally far, to within `tie`, the first is taken: round-off does not decide.

    Face axes are 0..2 of a and 3..5 of b, edge axes 3 i + j. The first value also counts axes of flat cores that are
    not face normals: they can separate but carry no feature.
    """
    every = -math.inf
    face, face_axis, best_face = -math.inf, -1, -math.inf
    edge, edge_axis, best_edge = -math.inf, -1, -math.inf
    for i in range(3):
        s = abs(off[1, i]) - half[a, i]
        for j in range(3):
            s -= half[b, j] * abs(C[i, j])
        every = max(every, s)
        if face_exists(half, a, i):
            best_face = max(best_face, s)
            if s > face + tie:
                face, face_axis = s, i
    for j in range(3):
        s = abs(off[0, j]) - half[b, j]
        for i in range(3):
            s -= half[a, i] * abs(C[i, j])
        every = max(every, s)
        if face_exists(half, b, j):
            best_face = max(best_face, s)
            if s > face + tie:
                face, face_axis = s, 3 + j
    for i in range(3):
        if half[a, i] <= 0.0:
            continue
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            size = 1.0 - C[i, j] * C[i, j]
            if half[b, j] <= 0.0 or size < _PARALLEL_SINE * _PARALLEL_SINE:
                continue
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            s = abs(C[i1, j] * off[1, i2] - C[i2, j] * off[1, i1])
            s -= half[a, i1] * abs(C[i2, j]) + half[a, i2] * abs(C[i1, j])
            s -= half[b, j1] * abs(C[i, j2]) + half[b, j2] * abs(C[i, j1])
            s /= math.sqrt(size)
            best_edge = max(best_edge, s)
            if s > edge + tie:
                edge, edge_axis = s, 3 * i + j
    return max(every, best_edge), best_face, face_axis, best_edge, edge_axis


@njit(leaf=True)
def axis_normal(axis, is_face, C, off, tie, n):
    """The unit normal n (in the frame of b, from b to a) of a face or edge axis of `separate`.

    Centres less than `tie` apart along it do not decide its sign.
    """
    if is_face and axis < 3:
        sign = 1.0 if off[1, axis] <= tie else -1.0
        for k in range(3):
            n[k] = sign * C[axis, k]
    elif is_face:
        for k in range(3):
            n[k] = 0.0
        n[axis - 3] = 1.0 if off[0, axis - 3] >= -tie else -1.0
    else:
        i, j = axis // 3, axis % 3
        j1, j2 = (j + 1) % 3, (j + 2) % 3
        # axis i of a × axis j of b, in the frame of b
        n[j] = 0.0
        n[j1] = C[i, j2]
        n[j2] = -C[i, j1]
        size = math.sqrt(n[j1] * n[j1] + n[j2] * n[j2])
        if n[j1] * off[0, j1] + n[j2] * off[0, j2] < -tie * size:
            size = -size
        n[j1] /= size
        n[j2] /= size


@njit(leaf=True)
def support_vertex(half, s, C, n, own, sign):
    """Vertex of shape s farthest along sign·n, n in the frame of b; s is a when own is 0, else b."""
    v = 0
    for k in range(3):
        along = C[k, 0] * n[0] + C[k, 1] * n[1] + C[k, 2] * n[2] if own == 0 else n[k]
        if sign * along > _LEVEL_SINE and half[s, k] > 0.0:
            v |= 1 << k
    return v


@njit(leaf=True)
def support_edge(half, s, C, n, own, sign, axis):
    """Edge of shape s along `axis` farthest along sign·n."""
    v = support_vertex(half, s, C, n, own, sign)
    return EDGE + 4 * axis + ((v >> ((axis + 1) % 3)) & 1) + 2 * ((v >> ((axis + 2) % 3)) & 1)


@njit(leaf=True)
def facing(half, s, C, n, own):
    """Face of shape s most opposed to the other shape across the normal n, and the cosine; (-1, 0) without faces."""
    best, face = -1.0, -1
    for k in range(3):
        if not face_exists(half, s, k):
            continue
        along = -(C[k, 0] * n[0] + C[k, 1] * n[1] + C[k, 2] * n[2]) if own == 0 else n[k]
        if abs(along) > best + 1e-9:
            best = abs(along)
            face = FACE + 2 * k + (1 if along > 0.0 else 0)
    return face, best


@njit(leaf=True)
def edge_side(half, s, edge, k):
    """Coordinate k of the midpoint of an edge of shape s in its own frame."""
    axis, sides = (edge - EDGE) >> 2, (edge - EDGE) & 3
    if k == axis:
        return 0.0
    bit = sides & 1 if k == after(axis) else sides >> 1
    return half[s, k] if bit else -half[s, k]


@njit(leaf=True)
def across(ea, eb, C, n):
    """Whether the common normal of two edges is near the main normal n (cosine at least ALIGNED_COSINE)."""
    i, j = (ea - EDGE) >> 2, (eb - EDGE) >> 2
    j1, j2 = after(j), before(j)
    m = C[i, j2] * n[j1] - C[i, j1] * n[j2]
    return m * m >= ALIGNED_COSINE * ALIGNED_COSINE * (1.0 - C[i, j] * C[i, j])


@njit(leaf=True)
def crossing(half, a, b, ea, eb, C, off, n, slop):
    """Edges ea of a and eb of b: (cross inside both, signed distance, sign, point).

    `sign` is that of (direction of ea × direction of eb)·n; the point lies on b, in the frame of b. With an infinite
    `slop` the lines may cross anywhere. Parallel edges, and edges that do not cross, give zeros.
    """
    i, j = (ea - EDGE) >> 2, (eb - EDGE) >> 2
    j1, j2 = after(j), before(j)
    size = 1.0 - C[i, j] * C[i, j]
    if size < _PARALLEL_SINE * _PARALLEL_SINE:
        return False, 0.0, 1, (0.0, 0.0, 0.0)
    x, y, z = edge_side(half, a, ea, 0), edge_side(half, a, ea, 1), edge_side(half, a, ea, 2)
    p = (edge_side(half, b, eb, 0), edge_side(half, b, eb, 1), edge_side(half, b, eb, 2))
    w0 = off[0, j] + x * C[0, j] + y * C[1, j] + z * C[2, j]
    w1 = off[0, j1] + x * C[0, j1] + y * C[1, j1] + z * C[2, j1] - pick(p, j1)
    w2 = off[0, j2] + x * C[0, j2] + y * C[1, j2] + z * C[2, j2] - pick(p, j2)
    # the nearest points of two lines: s solves the two equations across the direction j of b
    s = -(w1 * C[i, j1] + w2 * C[i, j2]) / size
    t = w0 + s * C[i, j]
    if abs(s) > half[a, i] + slop or abs(t) > half[b, j] + slop:
        return False, 0.0, 1, (0.0, 0.0, 0.0)
    size = math.sqrt(size)
    m1, m2 = C[i, j2] / size, -C[i, j1] / size
    g = m1 * w1 + m2 * w2
    point = (t if j == 0 else p[0], t if j == 1 else p[1], t if j == 2 else p[2])
    if m1 * n[j1] + m2 * n[j2] < 0.0:
        return True, -g, -1, point
    return True, g, 1, point
