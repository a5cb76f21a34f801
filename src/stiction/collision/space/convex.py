"""Narrow phase of pairs with a cylinder, an ellipsoid or a hull: contacts found, and measured at any configuration.

The contacts of a pair are the points of its patch (`patch`) and, unless one of them has the least distance already,
the pair itself: type CONVEX and code 0, the signed distance of the two shapes (`newton`), found again wherever it is
measured. A code names the corner or the cut of the side from which a point came, so that it lives on in the next step.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..._check import Array
from ...runtime.jit import njit
from ..features import (
    CONVEX,
    ELLIPSOID,
    PLANE,
    PLANE_POINT,
    PLANE_RIM,
    POINT_PLANE,
    RIM_PLANE,
    along,
    dot,
    placed,
    rotated,
)
from ..records import Candidates, Near
from .manifold import SLOP_SHARE, TIE_DIRECTION, reduce
from .narrow import exchanged, placed_shapes, spheres_apart
from .newton import distance3, distance_workspace, extent3
from .patch import ALONG, KEPT, ON_B, PRIMARY, RIM_ON_B, SPARE_CORNERS, PatchWorkspace, edges, on_half_space, patch
from .support import minus, plus, turned_from


class ConvexWorkspace(NamedTuple):
    """Workspace for one pair of shapes while its contacts are found."""

    search: Any  # a `DistanceWorkspace`
    sides: Any  # a `PatchWorkspace`
    found: Any  # the `Candidates`
    keep: Array  # which of them become contacts
    normal: Array  # (3,) from the second shape to the first
    sweep: Array  # (3,) direction that breaks ties


_BESIDE_SHARE = 1e-3  # of the size: how far from the nearest points a patch that is not flat on them may begin
_FLAT_SINE = 1e-6  # angle up to which a patch lies flat on the nearest points
_TIE_SHARE = 1e-9  # of the size: a patch within this of the distance needs no other point


@njit(leaf=True)
def write_place(x, R, body, at, b, p, out, row):
    """out[row]: the point p, relative to the centre of shape b, in the frame of a body."""
    q = (p[0] + at[b, 0], p[1] + at[b, 1], p[2] + at[b, 2])
    if body >= 0:
        q = (q[0] - x[body, 0], q[1] - x[body, 1], q[2] - x[body, 2])
    write_direction(R, body, q, out, row)


@njit(leaf=True)
def write_direction(R, body, v, out, row):
    """out[row]: the vector v in the frame of a body."""
    if body < 0:
        out[row, 0], out[row, 1], out[row, 2] = v
        return
    for k in range(3):
        out[row, k] = R[body, 0, k] * v[0] + R[body, 1, k] * v[1] + R[body, 2, k] * v[2]


@njit(leaf=True)
def rim_centre(half, at, axes, s, b, top):
    """The centre of a cap of the cylinder s, relative to the centre of shape b."""
    h = half[s, 2] if top else -half[s, 2]
    return (
        at[s, 0] - at[b, 0] + h * axes[s, 0, 2],
        at[s, 1] - at[b, 1] + h * axes[s, 1, 2],
        at[s, 2] - at[b, 2] + h * axes[s, 2, 2],
    )


@njit(inline=True)
def write_contact(x, R, shapes, poses, a, b, swap, found, k, normal, row, out):
    """One contact: candidate k of shapes a and b, written with b in front where they were exchanged."""
    body, half, radius = shapes.body, shapes.half, shapes.radius
    at, axes, _ = poses
    body_a, body_b, shape_a, shape_b, code, type, pa, da, pb, db, ra, rb = out
    what, number, gap, p = (
        found.ci[k, 0],
        found.ci[k, 1],
        found.cf[k, 0],
        (found.cf[k, 1], found.cf[k, 2], found.cf[k, 3]),
    )
    first, second = (b, a) if swap else (a, b)
    body_a[row], body_b[row], shape_a[row], shape_b[row] = body[first], body[second], first, second
    code[row] = 0 if what == PRIMARY else 1 + number
    for i in range(3):
        pa[row, i] = da[row, i] = pb[row, i] = db[row, i] = 0.0
    ra[row] = rb[row] = 0.0
    type[row] = CONVEX
    if what == PRIMARY:
        return
    on_b = what % 2 == ON_B
    point, plane = (a, b) if on_b else (b, a)
    foot = along(p, -gap, normal)
    rim = what >= RIM_ON_B
    q, r = p, radius[point]
    if rim:
        q, r = rim_centre(half, at, axes, point, b, number >= 2), half[point, 0]
    axis = (axes[point, 0, 2], axes[point, 1, 2], axes[point, 2, 2])
    if point == first:
        type[row] = RIM_PLANE if rim else POINT_PLANE
        write_place(x, R, body[point], at, b, q, pa, row)
        write_place(x, R, body[plane], at, b, foot, pb, row)
        write_direction(R, body[plane], normal, db, row)
        if rim:
            write_direction(R, body[point], axis, da, row)
        ra[row], rb[row] = r, radius[plane]
    else:
        type[row] = PLANE_RIM if rim else PLANE_POINT
        write_place(x, R, body[point], at, b, q, pb, row)
        write_place(x, R, body[plane], at, b, foot, pa, row)
        write_direction(R, body[plane], normal, da, row)
        if rim:
            write_direction(R, body[point], axis, db, row)
        rb[row], ra[row] = r, radius[plane]


@njit(leaf=True)
def drop_near(ci, cf, m, p, near):
    """Leave out the candidates within `near` of the point p; how many are left."""
    kept = 0
    for i in range(m):
        e = minus((cf[i, 1], cf[i, 2], cf[i, 3]), p)
        if dot(e, e) > near * near:
            for k in range(3):
                ci[kept, k] = ci[i, k]
            for k in range(4):
                cf[kept, k] = cf[i, k]
            kept += 1
    return kept


@njit(leaf=True)
def keep_marked(ci, m, keep, kept):
    """Append to the `kept` candidates in `keep` those that are marked and not among them; how many there are then."""
    chosen = kept
    for i in range(m):
        if ci[i, 2] != KEPT:
            continue
        known = False
        for k in range(chosen):
            known = known or keep[k] == i
        if not known:
            keep[kept] = i
            kept += 1
    return kept


@njit
def _convex_workspace(geo):
    """A workspace for the contacts of any pair of these shapes."""
    most = 8
    for s in range(len(geo.kind)):
        most = max(most, geo.vert_ptr[s + 1] - geo.vert_ptr[s])
    corners = 2 * most + SPARE_CORNERS  # corners of one side cut by another: those of both
    every = most + corners + 3  # vertices, corners of the cut side, two ends of a line, the pair itself
    sides = PatchWorkspace(
        np.zeros((most, 4)), np.zeros(most, np.int64), np.zeros((corners, 3)), np.zeros(corners, np.int64),
        np.zeros((corners, 3)), np.zeros(corners, np.int64), np.zeros((corners, 3)), np.zeros(corners, np.int64),
    )  # fmt: skip
    found = Candidates(np.zeros((every, 3), np.int64), np.zeros((every, 4)))
    return ConvexWorkspace(distance_workspace(), sides, found, np.zeros(every, np.int64), np.zeros(3), np.zeros(3))


@njit(inline=True)
def _candidates(geo, poses, a, b, n, p, near, band, sides, found):
    """The candidates of shapes a and b with the nearest points along n, p that of a: (number, normal of the patch)."""
    at, axes, _ = poses
    kind, half = geo.kind, geo.half
    ci, cf = found
    d, size = near.d, near.size
    offset = (at[a, 0] - at[b, 0], at[a, 1] - at[b, 1], at[a, 2] - at[b, 2])
    m, plane_normal = 0, n
    round_a, round_b = kind[a] == ELLIPSOID, kind[b] == ELLIPSOID
    if kind[b] == PLANE:
        if not round_a:
            m = on_half_space(geo, axes, a, offset, n, near, band, sides, found)
    elif not (round_a or round_b or extent3(half, a) == 0.0 or extent3(half, b) == 0.0):
        m, plane_normal = patch(geo, axes, a, b, offset, n, near, band, sides, found)
    least = math.inf
    flat = minus(plane_normal, n) if dot(plane_normal, n) > 0.0 else plus(plane_normal, n)
    if dot(flat, flat) <= _FLAT_SINE * _FLAT_SINE:
        for i in range(m):
            least = min(least, cf[i, 0])
    else:  # a corner beside the nearest points has the normal of the distance, not that of the face
        m = drop_near(ci, cf, m, p, _BESIDE_SHARE * size)
        beside = m
        m = edges(geo, axes, a, b, offset, n, near, sides, found, m)
        for i in range(beside, m):
            least = min(least, cf[i, 0])
    if least > d + _TIE_SHARE * size:
        ci[m, 0], ci[m, 1], ci[m, 2] = PRIMARY, 0, 0
        cf[m, 0], cf[m, 1], cf[m, 2], cf[m, 3] = d, p[0], p[1], p[2]
        m += 1
    return m, plane_normal


@njit
def find_convex3(x, R, geo, shapes, pairs, band, out):
    """The contacts of pairs (np, 2) of shapes within `band`, one of each curved or a hull; result as in `find3`.

    `geo` holds the shapes as in `support`.
    """
    return _find(x, R, geo, shapes, placed_shapes(x, R, shapes), pairs, band, _convex_workspace(geo), out)


@njit(leaf=True)
def _find(x, R, geo, shapes, poses, pairs, band, workspace, out):
    """`find_convex3` with the workspace of one pair; a leaf: references to its arrays would be counted for each."""
    kind, half, radius = geo.kind, geo.half, shapes.radius
    at, axes, _ = poses
    search, sides, found, keep, normal, sweep = workspace
    count, capacity = 0, len(out.code)
    for pair in range(pairs.shape[0]):
        first, second = pairs[pair, 0], pairs[pair, 1]
        swap = exchanged(shapes, at, axes, first, second)
        a, b = (second, first) if swap else (first, second)
        reach = band + radius[a] + radius[b]
        smallest = half[a, 0]
        if kind[b] != PLANE:
            apart, _, smallest = spheres_apart(at, half, a, b, reach)
            if apart:
                continue
        d, n, p, _ = distance3(geo, at, axes, a, b, reach, search)
        if d > reach:
            continue
        near = Near(d, reach, SLOP_SHARE * smallest, extent3(half, a) + extent3(half, b))
        m, plane_normal = _candidates(geo, poses, a, b, n, p, near, band, sides, found)
        normal[0], normal[1], normal[2] = n
        sweep[0], sweep[1], sweep[2] = turned_from(axes, b, TIE_DIRECTION)
        kept = keep_marked(found.ci, m, keep, reduce(found.cf, m, normal, sweep, near.size, keep))
        for i in range(kept):
            k, row = keep[i], count
            count += 1
            if row >= capacity:
                continue
            along_distance = found.ci[k, 2] == ALONG
            write_contact(x, R, shapes, poses, a, b, swap, found, k, n if along_distance else plane_normal, row, out)
    return count


@njit
def rim_plane(centre, axis, r, foot, normal):
    """Signed distance of a rim (circle) from a plane, and its lowest point; from the centre where all are as low."""
    across = along(normal, -dot(normal, axis), axis)
    size = math.sqrt(dot(across, across))
    p = along(centre, -r / size, across) if size > 1e-12 else centre
    return dot(normal, minus(p, foot)), p


@njit
def evaluate_convex3(x, R, geo, shapes, shape_a, shape_b, found, geometry):
    """The `Geometry` of contacts of types CONVEX, RIM_PLANE and PLANE_RIM between these shapes; others are left alone.

    found: their `FeaturePairs`.
    """
    _evaluate(x, R, geo, shapes, placed_shapes(x, R, shapes), shape_a, shape_b, found, distance_workspace(), geometry)


@njit(leaf=True)
def _evaluate(x, R, geo, shapes, poses, shape_a, shape_b, found, workspace, geometry):
    _, _, type, pa, da, pb, db, ra, rb = found
    gap, normal, point_a, point_b = geometry
    body, radius = shapes.body, shapes.radius
    at, axes, _ = poses
    for i in range(type.size):
        if type[i] < CONVEX:
            continue
        first, second = shape_a[i], shape_b[i]
        if type[i] == CONVEX:
            swap = exchanged(shapes, at, axes, first, second)
            a, b = (second, first) if swap else (first, second)
            s, n, p, q = distance3(geo, at, axes, a, b, math.inf, workspace)
            p, q = along(p, -radius[a], n), along(q, radius[b], n)
            gap[i] = s - radius[a] - radius[b]
            if swap:
                n, p, q = (-n[0], -n[1], -n[2]), q, p
            for k in range(3):
                normal[i, k] = n[k]
                point_a[i, k], point_b[i, k] = p[k] + at[b, k], q[k] + at[b, k]
            continue
        centre, foot = placed(x, R, body[first], pa, i), placed(x, R, body[second], pb, i)
        axis, n = rotated(R, body[first], da, i), rotated(R, body[second], db, i)
        r, thick, sign = ra[i], rb[i], 1.0
        if type[i] == PLANE_RIM:
            centre, foot, axis, n = foot, centre, n, axis
            r, thick, sign = thick, r, -1.0
        s, p = rim_plane(centre, axis, r, foot, n)
        gap[i] = s - thick
        q = along(p, thick - s, n)
        for k in range(3):
            normal[i, k] = sign * n[k]
            point_a[i, k], point_b[i, k] = (p[k], q[k]) if sign > 0.0 else (q[k], p[k])
