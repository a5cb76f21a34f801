"""How deep two convex shapes overlap: the faces of their difference nearest to the origin, by an expanding polytope.

A tetrahedron of support points of the difference, all a - b, grows: the face whose plane is nearest to the origin
(behind it first, so that the origin need not be inside to begin with) is replaced by faces to the support point beyond
it, until little lies beyond. The least overlap then lies at one of the faces that are about as near: `newton` tries
them. W (., 3) are the points, P (., 3) those of a, F (., 3) faces, N (., 4) their outward normals and distances,
E (., 2) the horizon.
"""

from __future__ import annotations

import math

from ...runtime.jit import njit
from ..features import cross, dot, perpendicular
from .gjk import nearest_on_triangle, row
from .support import highest, lowest, minus, plus, scaled

EPA_MAX_POINTS = 96  # of the polytope
EPA_MAX_FACES = 4 * EPA_MAX_POINTS  # of the polytope while it grows
EPA_ACCURACY = 1e-5  # of the size of the shapes: what may lie beyond the nearest face


@njit(leaf=True)
def reach_out(geo, axes, a, b, offset, d, W, P, m):
    """Support point m of the difference along d; its height."""
    n = (-d[0], -d[1], -d[2])
    pa, pb = lowest(geo, axes, a, offset, n), highest(geo, axes, b, n)
    for k in range(3):
        W[m, k] = pa[k] - pb[k]
        P[m, k] = pa[k]
    return d[0] * W[m, 0] + d[1] * W[m, 1] + d[2] * W[m, 2]


@njit
def farther_side(geo, axes, a, b, offset, d, base, W, P, m):
    """Point m: of the support points along d and -d the one farther from the height `base`."""
    up = reach_out(geo, axes, a, b, offset, d, W, P, m) - base
    down = reach_out(geo, axes, a, b, offset, (-d[0], -d[1], -d[2]), W, P, m) + base
    if up > down:
        reach_out(geo, axes, a, b, offset, d, W, P, m)


@njit(leaf=True)
def add_face(W, F, N, count, i, j, k, inside, size):
    """Face count = (i, j, k) with its outward normal and distance.

    One without area, or so thin that round-off turned it over (the point `inside` lies before it), is never nearest.
    """
    p = row(W, i)
    n = cross(minus(row(W, j), p), minus(row(W, k), p))
    length = math.sqrt(dot(n, n))
    F[count, 0], F[count, 1], F[count, 2] = i, j, k
    if length <= 1e-20 * size * size or dot(n, minus(p, inside)) <= 1e-14 * length * size:
        N[count, 0] = N[count, 1] = N[count, 2] = 0.0
        N[count, 3] = math.inf
        return
    for c in range(3):
        N[count, c] = n[c] / length
    N[count, 3] = dot(n, p) / length


@njit
def tetrahedron(geo, axes, a, b, offset, size, W, P, F, N):
    """Four points of the difference that span a volume, and its faces; returns a point inside."""
    reach_out(geo, axes, a, b, offset, (1.0, 0.0, 0.0), W, P, 0)
    reach_out(geo, axes, a, b, offset, (-1.0, 0.0, 0.0), W, P, 1)
    d = minus(row(W, 1), row(W, 0))
    e = perpendicular(scaled(d, 1.0 / math.sqrt(dot(d, d))))
    farther_side(geo, axes, a, b, offset, e, dot(e, row(W, 0)), W, P, 2)
    n = cross(d, minus(row(W, 2), row(W, 0)))
    n = scaled(n, 1.0 / math.sqrt(dot(n, n)))
    farther_side(geo, axes, a, b, offset, n, dot(n, row(W, 0)), W, P, 3)
    outward = dot(n, minus(row(W, 3), row(W, 0))) < 0.0  # face 0 1 2 looks away from point 3
    j, k = (1, 2) if outward else (2, 1)
    inside = scaled(plus(plus(row(W, 0), row(W, 1)), plus(row(W, 2), row(W, 3))), 0.25)
    add_face(W, F, N, 0, 0, j, k, inside, size)
    add_face(W, F, N, 1, 0, k, 3, inside, size)
    add_face(W, F, N, 2, k, j, 3, inside, size)
    add_face(W, F, N, 3, j, 0, 3, inside, size)
    return inside


@njit(leaf=True)
def replace_seen(W, F, N, E, faces, m, inside, size):
    """Replace the faces that see point m by faces from their rim to it; the number of faces, or -1 where none can."""
    edges = 0
    for f in range(faces):
        if not N[f, 0] * W[m, 0] + N[f, 1] * W[m, 1] + N[f, 2] * W[m, 2] - N[f, 3] > 1e-13 * size:
            continue
        for c in range(3):
            i, j = F[f, c], F[f, (c + 1) % 3]
            twin = -1
            for e in range(edges):
                if E[e, 0] == j and E[e, 1] == i:
                    twin = e
                    break
            if twin >= 0:  # inside the seen patch
                edges -= 1
                E[twin, 0], E[twin, 1] = E[edges, 0], E[edges, 1]
            elif edges < E.shape[0]:
                E[edges, 0], E[edges, 1] = i, j
                edges += 1
    if faces + edges > EPA_MAX_FACES or edges == 0:
        return -1
    kept = 0
    for f in range(faces):
        if not N[f, 0] * W[m, 0] + N[f, 1] * W[m, 1] + N[f, 2] * W[m, 2] - N[f, 3] > 1e-13 * size:
            for c in range(3):
                F[kept, c] = F[f, c]
            for c in range(4):
                N[kept, c] = N[f, c]
            kept += 1
    for e in range(edges):
        add_face(W, F, N, kept, E[e, 0], E[e, 1], m, inside, size)
        kept += 1
    return kept


@njit(leaf=True, sealed=True)
def grow(geo, axes, a, b, offset, size, W, P, F, N, E):
    """Grow the polytope until little lies beyond its nearest face; (number of faces, distance of the nearest)."""
    inside = tetrahedron(geo, axes, a, b, offset, size, W, P, F, N)
    faces, m = 4, 4
    while True:
        least, near = math.inf, 0
        for f in range(faces):
            if N[f, 3] < least:
                least, near = N[f, 3], f
        if m >= EPA_MAX_POINTS:
            return faces, least
        d = (N[near, 0], N[near, 1], N[near, 2])
        beyond = reach_out(geo, axes, a, b, offset, d, W, P, m) - least
        if beyond <= EPA_ACCURACY * size or least + beyond < 0.0:
            return faces, least
        grown = replace_seen(W, F, N, E, faces, m, inside, size)
        if grown < 0:
            return faces, least
        faces = grown
        m += 1


@njit(leaf=True)
def point_of_face(W, P, F, f):
    """The points of a and of b whose difference is the point of face f nearest to the origin."""
    i, j, k = F[f, 0], F[f, 1], F[f, 2]
    p, q, r = row(W, i), row(W, j), row(W, k)
    u, v, w, _ = nearest_on_triangle(p, q, r)
    x = plus(plus(scaled(row(P, i), u), scaled(row(P, j), v)), scaled(row(P, k), w))
    return x, minus(x, plus(plus(scaled(p, u), scaled(q, v)), scaled(r, w)))


@njit(leaf=True)
def next_face(N, faces, limit, C, chosen):
    """The nearest face within `limit` whose normal is far (17°) from the directions chosen so far; -1 for none."""
    best, near = limit, -1
    for f in range(faces):
        if N[f, 3] <= best:
            fresh = True
            for c in range(chosen):
                if N[f, 0] * C[c, 0] + N[f, 1] * C[c, 1] + N[f, 2] * C[c, 2] < -0.956:
                    fresh = False
                    break
            if fresh:
                best, near = N[f, 3], f
    return near
