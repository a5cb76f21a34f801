"""Narrow phase in space: the contact features of pairs of shapes nearer than a band.

Shapes are boxes with some extents zero, grown by a radius (sphere, capsule, box, and their rounded relatives), and
half-spaces. The features of a pair are written in the order of their codes; `code` = 32 (feature of a) + feature of b
with the numbers of `boxes`, below 1024, and depends on nothing but the two features.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..._check import Array
from ...runtime.jit import njit
from ...runtime.lanes import PREFETCH_TURNS, prefetch
from ..boxes import EDGE, FACE, GROUND, edge_side, nearest, pick, vertex_exists
from ..features import EDGE_EDGE, LINE_POINT, PLANE, PLANE_POINT, POINT_LINE, POINT_PLANE, POINT_POINT
from ..neighbours import boxes_overlap
from ..records import Boxes, Candidates, Placed
from .manifold import (
    MAX_CANDIDATES,
    SLOP_SHARE,
    TIE_DIRECTION,
    TIE_SHARE,
    core_core,
    keep_vertices,
    local_vertex,
    reduce,
)

MAX_FEATURES = 8  # of a pair, at most: two faces with four corners each overlap in a polygon of eight
_BLOCK_PAIRS = 64  # pairs that are tested for distance before the near ones are followed


class PairWorkspace(NamedTuple):
    """Workspace for one pair of cores while its contacts are found."""

    C: Array  # (3, 3) and the next: their relative pose, as in `boxes`
    off: Array  # (2, 3)
    n: Array  # (3,) main normal
    sweep: Array  # (3,) direction that breaks ties
    keep: Array  # (MAX_FEATURES,) which candidates become contacts
    ci: Array  # (MAX_CANDIDATES, 3) the `Candidates`
    cf: Array  # (MAX_CANDIDATES, 4)
    hits: Array  # (_BLOCK_PAIRS,) pairs that are near


@njit
def feature_type(fa, fb):
    """The type of a pair of features."""
    if fa < EDGE:
        return POINT_POINT if fb < EDGE else (POINT_LINE if fb < FACE else POINT_PLANE)
    if fb < EDGE:
        return LINE_POINT if fa < FACE else PLANE_POINT
    return EDGE_EDGE


@njit(leaf=True)
def write_feature(center, rot, half, s, f, sign, p, d, row):
    """Point p[row] and direction d[row] of feature f of shape s, in the body frame."""
    x, y, z = 0.0, 0.0, 0.0
    axis = 2
    if f < EDGE:
        x, y, z = local_vertex(half, s, f)
    elif f < FACE:
        axis = (f - EDGE) // 4
        x, y, z = edge_side(half, s, f, 0), edge_side(half, s, f, 1), edge_side(half, s, f, 2)
    elif f < GROUND:
        axis = (f - FACE) // 2
        sign = 1.0 if (f - FACE) % 2 == 1 else -1.0
        x = sign * half[s, 0] if axis == 0 else 0.0
        y = sign * half[s, 1] if axis == 1 else 0.0
        z = sign * half[s, 2] if axis == 2 else 0.0
    for k in range(3):
        p[row, k] = center[s, k] + rot[s, k, 0] * x + rot[s, k, 1] * y + rot[s, k, 2] * z
        d[row, k] = sign * rot[s, k, axis] if f >= EDGE else 0.0


@njit(leaf=True)
def write_normal(axes, b, R, body, n0, n1, n2, d, row):
    """Direction d[row] in the frame of a body of a vector given in the frame of shape b."""
    x = axes[b, 0, 0] * n0 + axes[b, 0, 1] * n1 + axes[b, 0, 2] * n2
    y = axes[b, 1, 0] * n0 + axes[b, 1, 1] * n1 + axes[b, 1, 2] * n2
    z = axes[b, 2, 0] * n0 + axes[b, 2, 1] * n1 + axes[b, 2, 2] * n2
    if body < 0:
        d[row, 0], d[row, 1], d[row, 2] = x, y, z
    else:
        for k in range(3):
            d[row, k] = R[body, 0, k] * x + R[body, 1, k] * y + R[body, 2, k] * z


@njit(leaf=True)
def place(x, R, shapes, at, axes):
    """Centres (ns, 3) and axes (ns, 3, 3; columns) of all shapes in the world."""
    body, center, rot = shapes.body, shapes.center, shapes.rot
    for s in range(body.size):
        b = body[s]
        for i in range(3):
            if b < 0:
                at[s, i] = center[s, i]
                for j in range(3):
                    axes[s, i, j] = rot[s, i, j]
            else:
                at[s, i] = x[b, i] + R[b, i, 0] * center[s, 0] + R[b, i, 1] * center[s, 1] + R[b, i, 2] * center[s, 2]
                for j in range(3):
                    axes[s, i, j] = R[b, i, 0] * rot[s, 0, j] + R[b, i, 1] * rot[s, 1, j] + R[b, i, 2] * rot[s, 2, j]


@njit(leaf=True)
def relate(at, axes, a, b, C, off, point):
    """Relative pose of two shapes (see `boxes`); of a point only its place in the frame of b."""
    t0, t1, t2 = at[a, 0] - at[b, 0], at[a, 1] - at[b, 1], at[a, 2] - at[b, 2]
    for j in range(3):
        off[0, j] = t0 * axes[b, 0, j] + t1 * axes[b, 1, j] + t2 * axes[b, 2, j]
    if point:
        return
    for i in range(3):
        off[1, i] = -(t0 * axes[a, 0, i] + t1 * axes[a, 1, i] + t2 * axes[a, 2, i])
        for j in range(3):
            C[i, j] = axes[a, 0, i] * axes[b, 0, j] + axes[a, 1, i] * axes[b, 1, j] + axes[a, 2, i] * axes[b, 2, j]


@njit(leaf=True)
def point_core(half, b, off, reach, n, ci, cf):
    """The one candidate of a point a against the core b, and its normal n; 0 when farther than `reach`."""
    q = (off[0, 0], off[0, 1], off[0, 2])
    f, w = nearest(half, b, q)
    size = math.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    if size > reach:
        return 0
    if f < 0:
        size, tie = -math.inf, TIE_SHARE * (half[b, 0] + half[b, 1] + half[b, 2])
        for k in range(3):
            depth = abs(pick(q, k)) - half[b, k]
            if depth > size + tie:
                size = depth
                f = FACE + 2 * k + (1 if pick(q, k) > 0.0 else 0)
    ci[0, 0], ci[0, 1], ci[0, 2] = 0, f, 1
    cf[0, 0] = size
    cf[0, 1], cf[0, 2], cf[0, 3] = q
    scale = 1.0 / size if size > 1e-150 else 0.0
    n[0], n[1], n[2] = scale * w[0], scale * w[1], scale * w[2]
    return 1


@njit(leaf=True)
def core_plane(at, axes, half, a, b, reach, ci, cf):
    """Candidates of the core a against the half-space b: its vertices within reach, of the facing face if many."""
    centre = 0.0
    slope = (0.0, 0.0, 0.0)
    for k in range(3):
        n = axes[b, k, 2]
        centre += n * (at[a, k] - at[b, k])
        slope = (slope[0] + n * axes[a, k, 0], slope[1] + n * axes[a, k, 1], slope[2] + n * axes[a, k, 2])
    steepest, height = 0, 0.0
    count = 0
    for k in range(3):
        if abs(pick(slope, k)) > height + 1e-9 and half[a, k] > 0.0:
            steepest, height = k, abs(pick(slope, k))
    for v in range(8):
        if vertex_exists(half, a, v):
            p = local_vertex(half, a, v)
            if centre + p[0] * slope[0] + p[1] * slope[1] + p[2] * slope[2] <= reach:
                count += 1
    m = 0
    low = 1 if pick(slope, steepest) < 0.0 else 0  # the lower side across the steepest axis
    for v in range(8):
        if not vertex_exists(half, a, v) or (count > 4 and (v >> steepest) & 1 != low):
            continue
        p = local_vertex(half, a, v)
        gap = centre + p[0] * slope[0] + p[1] * slope[1] + p[2] * slope[2]
        if gap <= reach:
            ci[m, 0], ci[m, 1], ci[m, 2] = v, GROUND, 1
            cf[m, 0] = gap
            m += 1
    return m


@njit(leaf=True)
def smaller_first(half, radius, at, axes, a, b):
    """Whether shape a comes first in computations: the smaller one, of equals the one that sees the other ahead.

    Ahead is a fixed direction in the frames of both. So results do not depend on the order of the shapes, nor on where
    and how the pair lies in the world, nor on round-off when bodies rest on each other. Pairs that look the same from
    either of the two are left to the order of the shapes.
    """
    size_a = half[a, 0] + half[a, 1] + half[a, 2]
    size_b = half[b, 0] + half[b, 1] + half[b, 2]
    if size_a != size_b:
        return size_a < size_b
    if radius[a] != radius[b]:
        return radius[a] < radius[b]
    ahead = 0.0
    for i in range(3):
        t = at[b, i] - at[a, i]
        for k in range(3):
            ahead += TIE_DIRECTION[k] * t * (axes[a, i, k] + axes[b, i, k])
    return ahead > 0.0 if abs(ahead) > TIE_SHARE * (size_a + size_b) else a < b


@njit(leaf=True)
def exchanged(shapes, at, axes, first, second):
    """Whether the second of two shapes comes first in computations; a half-space comes last."""
    kind = shapes.kind
    if kind[first] == PLANE or kind[second] == PLANE:
        return kind[first] == PLANE
    return not smaller_first(shapes.half, shapes.radius, at, axes, first, second)


@njit(leaf=True)
def spheres_apart(at, half, a, b, reach):
    """(bounding spheres of two cores farther apart than reach, their radii's sum, least extent that is not zero)."""
    size_a, size_b, distance = 0.0, 0.0, 0.0
    smallest = math.inf
    for k in range(3):
        size_a += half[a, k] * half[a, k]
        size_b += half[b, k] * half[b, k]
        distance += (at[a, k] - at[b, k]) ** 2
        if half[a, k] > 0.0:
            smallest = min(smallest, half[a, k])
        if half[b, k] > 0.0:
            smallest = min(smallest, half[b, k])
    size = math.sqrt(size_a) + math.sqrt(size_b)
    return distance > (size + reach) ** 2, size, smallest


@njit(leaf=True)
def next_code(ci, keep, kept, swap):
    """The least code of the kept candidates and its place in `keep`; entries of -1 have been written."""
    least, place_of = 1 << 30, 0
    for i in range(kept):
        if keep[i] >= 0:
            fa, fb = ci[keep[i], 0], ci[keep[i], 1]
            c = fb * 32 + fa if swap else fa * 32 + fb
            if c < least:
                least, place_of = c, i
    return least, place_of


@njit(leaf=True)
def points(shapes, point):
    """point (ns,): the radius of shapes whose core is a point, -1 for others."""
    kind, half, radius = shapes.kind, shapes.half, shapes.radius
    for s in range(len(kind)):
        lone = kind[s] != PLANE and half[s, 0] == 0.0 and half[s, 1] == 0.0 and half[s, 2] == 0.0
        point[s] = radius[s] if lone else -1.0


@njit
def placed_shapes(x, R, shapes):
    """Where shapes are."""
    ns = len(shapes.kind)
    placed = Placed(np.empty((ns, 3)), np.empty((ns, 3, 3)), np.empty(ns))
    place(x, R, shapes, placed.at, placed.axes)
    points(shapes, placed.ball)
    return placed


@njit(leaf=True)
def write_spheres(first, second, distance, row, at, R, shapes, out):
    """The one feature pair of two spheres, most frequent of all, without the search for features."""
    body, center, radius = shapes.body, shapes.center, shapes.radius
    body_a, body_b, shape_a, shape_b, code, type, pa, da, pb, db, ra, rb = out
    body_a[row], body_b[row] = body[first], body[second]
    shape_a[row], shape_b[row], code[row], type[row] = first, second, 0, POINT_POINT
    ra[row], rb[row] = radius[first], radius[second]
    x, y, z = at[first, 0] - at[second, 0], at[first, 1] - at[second, 1], at[first, 2] - at[second, 2]
    b = body[second]
    for k in range(3):
        pa[row, k], pb[row, k], da[row, k] = center[first, k], center[second, k], 0.0
        turned = R[b, 0, k] * x + R[b, 1, k] * y + R[b, 2, k] * z if b >= 0 else (x, y, z)[k]
        db[row, k] = turned / distance


@njit(leaf=True)
def _find_pair(first, second, count, base, capacity, R, shapes, placed, band, work, out):
    """The features of any pair of shapes, written behind `count` others; how many there are then."""
    kind, body, _, _, _, center, rot, half, radius = shapes
    at, axes, _ = placed
    C, off, n, sweep, keep, ci, cf, _ = work
    body_a, body_b, shape_a, shape_b, code, type, pa, da, pb, db, ra, rb = out
    swap = exchanged(shapes, at, axes, first, second)
    a, b = (second, first) if swap else (first, second)
    reach = band + radius[a] + radius[b]
    if kind[b] == PLANE:
        kept = core_plane(at, axes, half, a, b, reach, ci, cf)
        for i in range(kept):
            keep[i] = i
    else:
        apart, size, smallest = spheres_apart(at, half, a, b, reach)
        if apart:
            return count
        point = half[a, 0] + half[a, 1] + half[a, 2] == 0.0
        relate(at, axes, a, b, C, off, point)
        if point:
            kept = point_core(half, b, off, reach, n, ci, cf)
            keep[0] = 0
        else:
            m = core_core(half, a, b, C, off, reach, SLOP_SHARE * smallest, n, Candidates(ci, cf))
            kept = keep_vertices(ci, m, keep, reduce(cf, m, n, sweep, size, keep))
    for _ in range(kept):
        c, i = next_code(ci, keep, kept, swap)
        k, row = keep[i], count
        keep[i] = -1
        count += 1
        if row >= capacity:
            continue
        row += base
        body_a[row], body_b[row] = body[first], body[second]
        shape_a[row], shape_b[row], code[row] = first, second, c
        ra[row], rb[row] = radius[first], radius[second]
        type[row] = feature_type(c // 32, c % 32)
        sign = float(ci[k, 2])  # of the edge of a
        write_feature(center, rot, half, first, c // 32, 1.0 if swap else sign, pa, da, row)
        write_feature(center, rot, half, second, c % 32, sign if swap else 1.0, pb, db, row)
        if type[row] <= LINE_POINT:  # the normal goes into the free direction
            turn = -1.0 if swap else 1.0
            n0, n1, n2 = turn * n[0], turn * n[1], turn * n[2]
            if type[row] == POINT_LINE:
                write_normal(axes, b, R, body[first], n0, n1, n2, da, row)
            else:
                write_normal(axes, b, R, body[second], n0, n1, n2, db, row)
    return count


@njit(leaf=True)
def _candidates(start, stop, last, band, R, body, placed, boxes, pairs, hits):
    """hits: the pairs start..stop that are not spheres too far apart; returns how many. What they need is fetched."""
    at, _, balls = placed
    lo, hi, _ = boxes
    n = 0
    for pair in range(start, stop):
        if pair + PREFETCH_TURNS < last:
            prefetch(at, pairs[pair + PREFETCH_TURNS, 1], 1)
            prefetch(balls, pairs[pair + PREFETCH_TURNS, 1], 1)
        first, second = pairs[pair, 0], pairs[pair, 1]
        if balls[first] >= 0.0 and balls[second] >= 0.0:
            x, y, z = at[first, 0] - at[second, 0], at[first, 1] - at[second, 1], at[first, 2] - at[second, 2]
            reach = band + balls[first] + balls[second]
            if x * x + y * y + z * z > 1.000001 * (reach * reach):  # without the root, which settles the rest
                continue
        hits[n] = pair
        n += 1
        prefetch(lo, second, 1)
        prefetch(hi, second, 1)
        prefetch(R, body[second], 2)
    return n


@njit(sealed=True)
def find_range3(start, stop, base, capacity, R, shapes, placed, boxes, pairs, band, out):
    """Write the features of the pairs start..stop to the rows from `base` on, at most `capacity`; returns their number.

    Where boxes are given (not none of them), of the pairs whose boxes overlap.
    """
    work = PairWorkspace(
        np.zeros((3, 3)), np.zeros((2, 3)), np.zeros(3), np.array(TIE_DIRECTION), np.zeros(MAX_FEATURES, np.int64),
        np.zeros((MAX_CANDIDATES, 3), np.int64), np.zeros((MAX_CANDIDATES, 4)), np.empty(_BLOCK_PAIRS, np.int64),
    )  # fmt: skip
    return _find_range(start, stop, base, capacity, R, shapes, placed, boxes, pairs, band, work, out)


@njit(leaf=True)
def _find_range(start, stop, base, capacity, R, shapes, placed, boxes, pairs, band, work, out):
    """`find_range3` with the workspace of one pair; a leaf: references to its arrays would be counted for each."""
    kind, at, balls = shapes.kind, placed.at, placed.ball
    hits, checked, count = work.hits, len(boxes.lo) > 0, 0
    for low in range(start, stop, _BLOCK_PAIRS):
        n = _candidates(low, min(low + _BLOCK_PAIRS, stop), stop, band, R, shapes.body, placed, boxes, pairs, hits)
        for h in range(n):
            first, second = pairs[hits[h], 0], pairs[hits[h], 1]
            distance = 0.0
            if balls[first] >= 0.0 and balls[second] >= 0.0:
                x, y, z = at[first, 0] - at[second, 0], at[first, 1] - at[second, 1], at[first, 2] - at[second, 2]
                distance = math.sqrt(x * x + y * y + z * z)
                if distance > band + balls[first] + balls[second]:
                    continue
            elif kind[first] == PLANE and kind[second] == PLANE:
                continue
            if checked and not boxes_overlap(first, second, boxes, kind):
                continue
            if distance > 1e-150:
                if count < capacity:
                    write_spheres(first, second, distance, base + count, at, R, shapes, out)
                count += 1
                continue
            count = _find_pair(first, second, count, base, capacity, R, shapes, placed, band, work, out)
    return count


@njit
def find3(x, R, shapes, pairs, band, out):
    """Contact features of the pairs (np, 2) of shapes whose signed distance is at most `band`; returns their number.

    x (nb, 3), R (nb, 3, 3): poses; shapes: `SpaceShapes`; out: `FoundContacts` of m rows. When the result exceeds m
    only the first m were written: call again with more rows. The features of a pair, at most 8, are those of
    `manifold`; the least gap is the signed distance of the pair.
    """
    placed = placed_shapes(x, R, shapes)
    none = np.empty((0, 3))
    return find_range3(
        0, len(pairs), 0, len(out.code), R, shapes, placed, Boxes(none, none, np.empty((0, 4))), pairs, band, out
    )
