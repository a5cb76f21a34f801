"""The signed distance of two convex shapes in space, to round-off.

The separation along a unit vector n (from b to a) is s(n) = min n·a - max n·b, and the signed distance is the largest
s over all n, apart as well as overlapping: n from `gjk` or `epa` is near the place. There every pair of features of
the two shapes (support point, line or face of each, `support`) has a largest separation of its own: a face fixes n,
two lines fix n at right angles to both, one line confines n to a circle, and what freedom is left is searched by
Newton's method, with w the vector between the two support points: gradient w, second derivative -(curvatures) - s,
both across n. The pair with the largest true separation s is taken, and again from there until nothing is gained. So s
is a true separation at every stage, and at the end no feature near it does better.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..._check import Array
from ...runtime.jit import njit
from ..features import CORE, HULL, PLANE, along, cross, dot, perpendicular
from .epa import EPA_ACCURACY, EPA_MAX_FACES, EPA_MAX_POINTS, grow, next_face, point_of_face
from .gjk import FAR, nearest_points, row
from .manifold import TIE_DIRECTION
from .support import (
    FACE,
    LINE,
    VERTEX,
    bending,
    facing_face,
    highest,
    line_feature,
    lowest,
    minus,
    plus,
    scaled,
    support,
    turned_from,
    turned_to,
)

_MAX_ROUNDS = 6  # of Newton's method, each on the pair of features that the one before ended at
# of Newton's method; a pair of features without a largest separation has none at their end either
_NEWTON_MAX_STEPS = 24
MAX_WAYS_OUT = 6  # ways out of an overlap that are followed to their ends
_SHALLOW_SHARE = 1e-6  # of the size: an overlap for which no other way out is looked for
_EQUAL_SHARE = 1e-12  # of the size: of ways out as equally short as this, the one farther along TIE_DIRECTION is taken
_LEVEL_SINE = 1e-8  # sine of an angle below which lines and faces lie flat on a face


class Support(NamedTuple):
    """A vertex or line of a shape, in world axes."""

    feature: Any  # VERTEX or LINE
    p: Any  # the vertex, or a point of the line
    d: Any  # unit direction of the line
    radius: Any  # of the line [m]


class DistanceWorkspace(NamedTuple):
    """Workspace of `distance3`."""

    W: Array  # (EPA_MAX_POINTS + 1, 3) points of the difference of two shapes
    P: Array  # (EPA_MAX_POINTS + 1, 3) those of the first
    weight: Array  # (4,) of the points of a simplex
    F: Array  # (EPA_MAX_FACES, 3) faces of a polytope
    N: Array  # (EPA_MAX_FACES, 4) their normals and distances
    E: Array  # (EPA_MAX_FACES, 2) edges of its horizon
    ways: Array  # (MAX_WAYS_OUT, 3) ways out of an overlap


@njit
def distance_workspace():
    """A new workspace of `distance3`."""
    return DistanceWorkspace(
        np.zeros((EPA_MAX_POINTS + 1, 3)), np.zeros((EPA_MAX_POINTS + 1, 3)), np.zeros(4),
        np.zeros((EPA_MAX_FACES, 3), np.int64), np.zeros((EPA_MAX_FACES, 4)), np.zeros((EPA_MAX_FACES, 2), np.int64),
        np.zeros((MAX_WAYS_OUT, 3)),
    )  # fmt: skip


@njit
def normalized(v):
    """v/|v|."""
    return scaled(v, 1.0 / math.sqrt(dot(v, v)))


@njit
def separation(geo, axes, a, b, offset, n):
    """s(n) of the shapes."""
    return dot(n, lowest(geo, axes, a, offset, n)) - dot(n, highest(geo, axes, b, n))


@njit
def place_of(geo, axes, s, at, feature, p, d, radius, m):
    """The point of a feature of shape s farthest along m: p moved by the radius for a line, p for a vertex."""
    if feature == LINE:
        across = along(m, -dot(m, d), d)
        return along(p, radius / math.sqrt(dot(across, across)), across)
    if geo.kind[s] == CORE or geo.kind[s] == HULL:
        return p
    q, _ = support(geo, s, turned_to(axes, s, m))
    return plus(at, turned_from(axes, s, q))


@njit
def curve_of(geo, axes, s, feature, radius, m, e, f):
    """e·D f of a feature: see `bending`; a line with a radius bends across itself."""
    if feature == LINE:
        return radius * dot(e, f)
    return bending(geo, s, turned_to(axes, s, m), turned_to(axes, s, e), turned_to(axes, s, f))


@njit
def ascend(geo, axes, a, b, offset, of_a, of_b, n, size):
    """The unit vector near n with the largest separation of a vertex or line of a from a vertex or line of b."""
    fa, pa, da, ra = of_a
    fb, pb, db, rb = of_b
    zero = (0.0, 0.0, 0.0)
    bound = fa == LINE or fb == LINE
    d = da if fa == LINE else db
    if bound:
        n = normalized(along(n, -dot(n, d), d))
    best = -math.inf
    old, step, length = n, zero, 1.0
    for _ in range(_NEWTON_MAX_STEPS):
        back = (-n[0], -n[1], -n[2])
        w = minus(place_of(geo, axes, a, offset, fa, pa, da, ra, back), place_of(geo, axes, b, zero, fb, pb, db, rb, n))
        s = dot(n, w)
        if s < best - 1e-15 * size and length > 1e-6:  # too far: half the way
            length *= 0.5
            n = normalized(along(old, length, step))
            continue
        best, old, length = max(s, best), n, 1.0
        e = cross(d, n) if bound else perpendicular(n)
        f = cross(n, e)
        ge, gf = dot(e, w), 0.0 if bound else dot(f, w)
        ee = -s - curve_of(geo, axes, a, fa, ra, back, e, e) - curve_of(geo, axes, b, fb, rb, n, e, e)
        ef, ff = 0.0, ee
        if not bound:
            ff = -s - curve_of(geo, axes, a, fa, ra, back, f, f) - curve_of(geo, axes, b, fb, rb, n, f, f)
            ef = -curve_of(geo, axes, a, fa, ra, back, e, f) - curve_of(geo, axes, b, fb, rb, n, e, f)
        top = 0.5 * (ee + ff) + math.sqrt(0.25 * (ee - ff) ** 2 + ef * ef)  # the larger eigenvalue
        shift = max(top + 1e-3 * size, 0.0) if top > -1e-12 * size else 0.0
        ee, ff = ee - shift, ff - shift
        det = ee * ff - ef * ef
        se, sf = -(ff * ge - ef * gf) / det, -(ee * gf - ef * ge) / det
        far = math.sqrt(se * se + sf * sf)
        if far > 0.3:
            se, sf = 0.3 * se / far, 0.3 * sf / far
        if not far < math.inf:
            break
        step = plus(scaled(e, se), scaled(f, sf))
        n = normalized(plus(n, step))
        if far <= 1e-9:  # the step after this one would be of the order of its square
            return n
    return old


@njit
def parallel(u, v):
    """Whether two unit vectors are the same to 1e-8."""
    w = minus(u, v)
    return dot(w, w) <= _LEVEL_SINE * _LEVEL_SINE


@njit
def line_of(geo, axes, s, at, m):
    """(there is one, a point, unit direction, radius) of the line of shape s along m, in world axes; `line_feature`."""
    exists, p, q, _, _, radius = line_feature(geo, s, turned_to(axes, s, m))
    d = minus(q, p)
    d = normalized(d) if exists else d
    return exists, plus(at, turned_from(axes, s, p)), turned_from(axes, s, d), radius


@njit
def improve(geo, axes, a, b, offset, n, best, size):
    """The best n over all pairs of features near n: (separation, n, feature of a, feature of b)."""
    zero = (0.0, 0.0, 0.0)
    back = (-n[0], -n[1], -n[2])
    found, choice_a, choice_b = n, -1, -1
    has_la, la, da, ra = line_of(geo, axes, a, offset, back)
    has_lb, lb, db, rb = line_of(geo, axes, b, zero, n)
    va, vb = lowest(geo, axes, a, offset, n), highest(geo, axes, b, n)
    has_fa, _, na = facing_face(geo, a, turned_to(axes, a, back))
    has_fb, _, nb = facing_face(geo, b, turned_to(axes, b, n))
    normal_a, normal_b = turned_from(axes, a, (-na[0], -na[1], -na[2])), turned_from(axes, b, nb)
    gain = 1e-15 * size
    for fa in range(3):
        if (fa == LINE and not has_la) or (fa == FACE and not has_fa):
            continue
        for fb in range(3):
            if (fb == LINE and not has_lb) or (fb == FACE and not has_fb):
                continue
            if fb == FACE:
                m = normal_b
                if (fa == FACE and not parallel(normal_a, m)) or (fa == LINE and abs(dot(da, m)) > _LEVEL_SINE):
                    continue
            elif fa == FACE:
                m = normal_a
                if fb == LINE and abs(dot(db, m)) > _LEVEL_SINE:
                    continue
            else:
                c = cross(da, db)
                if fa == LINE and fb == LINE and dot(c, c) > 1e-14:
                    m = normalized(c)
                    if dot(m, n) < 0.0:
                        m = (-m[0], -m[1], -m[2])
                else:
                    pa, pb = la if fa == LINE else va, lb if fb == LINE else vb
                    of_a, of_b = Support(fa, pa, da, ra), Support(fb, pb, db, rb)
                    m = ascend(geo, axes, a, b, offset, of_a, of_b, n, size)
            s = separation(geo, axes, a, b, offset, m)
            # Flat features go before points at equal separation: theirs is the exact normal.
            if s > best + gain or (s >= best - gain and fa + fb > choice_a + choice_b):
                best, found, choice_a, choice_b = s, m, fa, fb
    return best, found, choice_a, choice_b


@njit
def touching(geo, axes, a, b, offset, n, fa, fb, x, y):
    """The nearest points along n for the chosen features; (x, y) shows the place where they leave it open."""
    pa, pb = lowest(geo, axes, a, offset, n), highest(geo, axes, b, n)
    low, high = dot(n, pa), dot(n, pb)
    if fa == VERTEX:
        return pa, pb if fb == VERTEX else along(pa, high - low, n)
    if fb == VERTEX:
        return along(pb, low - high, n), pb
    if fa == LINE and fb == LINE:
        zero = (0.0, 0.0, 0.0)
        _, p, d, ra = line_of(geo, axes, a, offset, (-n[0], -n[1], -n[2]))
        _, q, e, _ = line_of(geo, axes, b, zero, n)
        c = cross(d, e)
        size = dot(c, c)
        if size > 1e-14:
            t = dot(cross(minus(q, p), e), c) / size
            x = along(along(p, t, d), -ra, n)
            return x, along(x, high - low, n)
    middle = scaled(plus(x, y), 0.5)
    height = dot(n, middle)
    return along(middle, low - height, n), along(middle, high - height, n)


@njit
def finish(geo, axes, a, b, offset, n, x, y, size):
    """(separation, n, point of a, point of b) of the largest separation near n; (x, y) are points near the place."""
    best = separation(geo, axes, a, b, offset, n)
    fa, fb = VERTEX, VERTEX
    for _ in range(_MAX_ROUNDS):
        s, m, ca, cb = improve(geo, axes, a, b, offset, n, best, size)
        if ca < 0:
            break
        n, fa, fb = m, ca, cb
        done = s <= best + 1e-15 * size
        best = s
        if fa == VERTEX and fb == VERTEX:  # two points of the shapes as far apart as the shapes: that is all
            w = along(minus(lowest(geo, axes, a, offset, n), highest(geo, axes, b, n)), -s, n)
            done = done or dot(w, w) <= (1e-13 * size) ** 2
        if done:
            break
    x, y = touching(geo, axes, a, b, offset, n, fa, fb, x, y)
    return best, n, x, y


@njit(leaf=True)
def extent3(half, s):
    """The radius of a ball around a core."""
    return math.sqrt(half[s, 0] ** 2 + half[s, 1] ** 2 + half[s, 2] ** 2)


@njit(leaf=True, sealed=True)
def distance3(geo, at, axes, a, b, reach, workspace):
    """(signed distance of two cores, unit normal from b to a, point of a, point of b), points relative to b's centre.

    A distance above `reach` is a lower bound only. A half-space comes second.
    """
    W, P, weight, F, N, E, C = workspace
    kind, half = geo.kind, geo.half
    offset = (at[a, 0] - at[b, 0], at[a, 1] - at[b, 1], at[a, 2] - at[b, 2])
    if kind[b] == PLANE:
        n = (axes[b, 0, 2], axes[b, 1, 2], axes[b, 2, 2])
        x = lowest(geo, axes, a, offset, n)
        s = dot(n, x)
        return s, n, x, along(x, -s, n)
    size = extent3(half, a) + extent3(half, b)
    outcome, n, x, y = nearest_points(geo, axes, a, b, offset, reach, size, W, P, weight)
    if outcome == FAR:
        return separation(geo, axes, a, b, offset, n), n, x, y
    best, n, x, y = finish(geo, axes, a, b, offset, n, x, y, size)
    if best >= -_SHALLOW_SHARE * size:  # nearly touching, the search above may end apart and far from the best
        return best, n, x, y
    faces, least = grow(geo, axes, a, b, offset, size, W, P, F, N, E)
    for tried in range(MAX_WAYS_OUT):
        face = next_face(N, faces, least + 2.0 * EPA_ACCURACY * size, C, tried)
        if face < 0:
            break
        p, q = point_of_face(W, P, F, face)
        C[tried, 0], C[tried, 1], C[tried, 2] = -N[face, 0], -N[face, 1], -N[face, 2]
        s, m, p, q = finish(geo, axes, a, b, offset, row(C, tried), p, q, size)
        ahead = dot(minus(m, n), turned_from(axes, b, TIE_DIRECTION))
        if s > best + _EQUAL_SHARE * size or (s >= best - _EQUAL_SHARE * size and ahead > _LEVEL_SINE):
            best, n, x, y = s, m, p, q
    return best, n, x, y
