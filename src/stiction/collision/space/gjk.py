"""The nearest points of two convex shapes by the method of Gilbert, Johnson and Keerthi.

The difference of the shapes, all a - b, is searched for its point nearest to the origin by a simplex of up to four of
its support points. W (., 3) holds the points of the difference, P (., 3) those of a; everything is relative to the
centre of b. The result is good to about 1e-6 on curved shapes: `newton` finishes it.
"""

from __future__ import annotations

import math

from ...runtime.jit import njit
from ..features import cross, dot
from .support import highest, lowest, minus, plus, scaled

APART, FAR, OVERLAP = 0, 1, 2  # outcomes of `nearest_points`
_MAX_STEPS = 48  # of the search, at most
_BOUND_GAP = 1e-7  # relative gap between the bounds of the distance at which the search ends


@njit(leaf=True)
def row(W, i):
    """Row i as a tuple."""
    return (W[i, 0], W[i, 1], W[i, 2])


@njit
def nearest_on_segment(a, b):
    """Weights of the point of a segment nearest to the origin, and its squared distance."""
    d = minus(b, a)
    size = dot(d, d)
    t = min(max(-dot(a, d) / size, 0.0), 1.0) if size > 0.0 else 0.0
    p = plus(a, scaled(d, t))
    return 1.0 - t, t, dot(p, p)


@njit
def nearest_on_triangle(a, b, c):
    """Weights of the point of a triangle nearest to the origin, and its squared distance."""
    ab, ac = minus(b, a), minus(c, a)
    n = cross(ab, ac)
    size = dot(n, n)
    if size > 1e-28 * dot(ab, ab) * dot(ac, ac):
        u = dot(cross(b, c), n) / size
        v = dot(cross(c, a), n) / size
        w = 1.0 - u - v
        if u >= 0.0 and v >= 0.0 and w >= 0.0:
            h = dot(a, n)
            return u, v, w, h * h / size
    best, wa, wb, wc = math.inf, 1.0, 0.0, 0.0
    p, q, d = nearest_on_segment(a, b)
    if d < best:
        best, wa, wb, wc = d, p, q, 0.0
    p, q, d = nearest_on_segment(b, c)
    if d < best:
        best, wa, wb, wc = d, 0.0, p, q
    p, q, d = nearest_on_segment(c, a)
    if d < best:
        best, wa, wb, wc = d, q, 0.0, p
    return wa, wb, wc, best


@njit(leaf=True)
def nearest_on_simplex(W, n, weight):
    """Weights of the point of the simplex of the first n rows nearest to the origin; True when the origin is inside."""
    for i in range(4):
        weight[i] = 0.0
    if n == 1:
        weight[0] = 1.0
        return False
    if n == 2:
        weight[0], weight[1], _ = nearest_on_segment(row(W, 0), row(W, 1))
        return False
    if n == 3:
        weight[0], weight[1], weight[2], _ = nearest_on_triangle(row(W, 0), row(W, 1), row(W, 2))
        return False
    a = row(W, 0)
    e1, e2, e3 = minus(row(W, 1), a), minus(row(W, 2), a), minus(row(W, 3), a)
    volume = abs(dot(cross(e1, e2), e3))
    flat = volume <= 1e-14 * math.sqrt(dot(e1, e1) * dot(e2, e2) * dot(e3, e3))
    best, inside = math.inf, True
    for left_out in range(4):
        i, j, k = (left_out + 1) % 4, (left_out + 2) % 4, (left_out + 3) % 4
        p, q, r = row(W, i), row(W, j), row(W, k)
        normal = cross(minus(q, p), minus(r, p))
        side, own = -dot(p, normal), dot(minus(row(W, left_out), p), normal)
        if not flat and side * own > 0.0:
            continue
        inside = False
        u, v, w, d = nearest_on_triangle(p, q, r)
        if d < best:
            best = d
            weight[left_out] = 0.0
            weight[i], weight[j], weight[k] = u, v, w
    return inside


@njit(leaf=True)
def nearest_points(geo, axes, a, b, offset, reach, size, W, P, weight):
    """(outcome, unit vector from b to a, point of a, point of b) of two cores; n for FAR separates by more than reach.

    OVERLAP when the cores overlap or touch to 1e-10 of their size; the vector then means nothing.
    """
    v = offset if dot(offset, offset) > 1e-20 * size * size else (size, 0.0, 0.0)
    x = y = v
    n, m = v, 0
    last = math.inf
    for _ in range(_MAX_STEPS):
        length = math.sqrt(dot(v, v))
        if m > 0 and length <= 1e-10 * size:
            return OVERLAP, n, x, y
        n = scaled(v, 1.0 / length)
        pa, pb = lowest(geo, axes, a, offset, n), highest(geo, axes, b, n)
        w = minus(pa, pb)
        bound = dot(n, w)
        if bound > reach:
            return FAR, n, pa, pb
        if m > 0 and (length - bound <= _BOUND_GAP * length or length >= last):
            return APART, n, x, y
        if m > 0:
            last = length
        for i in range(m):
            if W[i, 0] == w[0] and W[i, 1] == w[1] and W[i, 2] == w[2]:
                return APART, n, x, y
        for k in range(3):
            W[m, k] = w[k]
            P[m, k] = pa[k]
        m += 1
        if nearest_on_simplex(W, m, weight):
            return OVERLAP, n, x, y
        kept = 0
        v, x = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for i in range(m):
            if weight[i] > 0.0:
                v = plus(v, scaled(row(W, i), weight[i]))
                x = plus(x, scaled(row(P, i), weight[i]))
                for k in range(3):
                    W[kept, k] = W[i, k]
                    P[kept, k] = P[i, k]
                kept += 1
        m = kept
        y = minus(x, v)
    return APART, n, x, y
