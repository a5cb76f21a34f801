"""All of detection in space as the compiled loop asks for it: boxes, listed pairs, their features, and the geometry.

The contacts are those of `pairs`, `find3` and `evaluate3`, in the same order and to the same bits. Where there are
many, threads take parts of each stage.
"""

from __future__ import annotations

import numpy as np

from .._jit import njit, prange
from .aabbs import aabbs3
from .features import evaluate3
from .narrow3 import FEATURES, find_range3, place, points
from .neighbours import listed_or_found, neighbours, swept

MANY = 10_000  # pairs, contacts or shapes from which threads share the work
_PARTS = 256
_STRIDE = 95  # the step at which parts of the pairs are dealt to threads: those with planes lie together, in the first


@njit
def _range(c, n):
    """The first and the last of n that belong to part c."""
    return n * c // _PARTS, n * (c + 1) // _PARTS


@njit(leaf=True)
def _boxes(x, R, kind, body, center, rot, half, radius, band, lo, hi, planes, at, axes, point):
    """Boxes, centres and axes of shapes, and which of them are points with a radius."""
    aabbs3(x, R, kind, body, center, rot, half, radius, band, lo, hi, planes)
    place(x, R, body, center, rot, at, axes)
    points(kind, half, radius, point)


@njit(parallel=True)
def _boxes_parallel(x, R, kind, body, center, rot, half, radius, band, lo, hi, planes, at, axes, point):
    for part in prange(_PARTS):
        s, e = _range(np.int64(part), len(kind))
        _boxes(
            x, R, kind[s:e], body[s:e], center[s:e], rot[s:e], half[s:e], radius[s:e], band, lo[s:e], hi[s:e],
            planes[s:e], at[s:e], axes[s:e], point[s:e],
        )  # fmt: skip


@njit(leaf=True)
def _all_boxes(parallel, x, R, kind, body, center, rot, half, radius, band, lo, hi, planes, at, axes, point):
    if parallel and len(kind) > MANY:
        _boxes_parallel(x, R, kind, body, center, rot, half, radius, band, lo, hi, planes, at, axes, point)
    else:
        _boxes(x, R, kind, body, center, rot, half, radius, band, lo, hi, planes, at, axes, point)


@njit
def _room(n):
    """Arrays for n features: shapes, codes and types, points and directions, radii."""
    return (
        np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64), np.empty((n, 3)),
        np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3)), np.empty(n), np.empty(n),
    )  # fmt: skip


@njit(parallel=True)
def _find_parallel(
    at, axes, point, R, kind, body, center, rot, half, radius, pairs, lo, hi, planes, band, each, counts, out
):
    for part in prange(_PARTS):
        c = np.int64(part) * _STRIDE % _PARTS
        s, e = _range(c, len(pairs))
        counts[c] = find_range3(
            s, e, each * s, each * (e - s), at, axes, point, R, kind, body, center, rot, half, radius, pairs, lo, hi,
            planes, band, *out,
        )  # fmt: skip


@njit(leaf=True)
def _copy(start, stop, at, old, body, a, b, new):
    """Features from the rows start..stop of `old` to the rows from `at` on, with the bodies of their shapes."""
    shape_a, shape_b, code, type, pa, da, pb, db, ra, rb = old
    new_shape_a, new_shape_b, new_code, new_type, new_pa, new_da, new_pb, new_db, new_ra, new_rb = new
    for i in range(stop - start):
        o, r = start + i, at + i
        a[r], b[r] = body[shape_a[o]], body[shape_b[o]]
        new_shape_a[r], new_shape_b[r], new_code[r], new_type[r] = shape_a[o], shape_b[o], code[o], type[o]
        new_ra[r], new_rb[r] = ra[o], rb[o]
        for k in range(3):
            new_pa[r, k], new_da[r, k], new_pb[r, k], new_db[r, k] = pa[o, k], da[o, k], pb[o, k], db[o, k]


@njit(parallel=True)
def _collect_parallel(n, each, first, old, body, x, R, found, geometry):
    a, b, new = found[0], found[1], found[2:]
    for part in prange(_PARTS):
        c = np.int64(part)
        start, s, e = each * _range(c, n)[0], first[c], first[c + 1]
        _copy(start, start + e - s, s, old, body, a, b, new)
        _evaluate(s, e, x, R, found, geometry)


@njit(leaf=True)
def _evaluate(s, e, x, R, found, geometry):
    """The geometry of the contacts s..e."""
    a, b, _, _, _, type, pa, da, pb, db, ra, rb = found
    gap, normal, point_a, point_b = geometry
    evaluate3(
        x, R, a[s:e], b[s:e], type[s:e], pa[s:e], da[s:e], pb[s:e], db[s:e], ra[s:e], rb[s:e], gap[s:e], normal[s:e],
        point_a[s:e], point_b[s:e],
    )  # fmt: skip


@njit(parallel=True)
def _evaluate_parallel(x, R, found, geometry):
    for part in prange(_PARTS):
        s, e = _range(np.int64(part), len(found[0]))
        _evaluate(s, e, x, R, found, geometry)


@njit
def _geometry(n):
    """Arrays for gaps, normals and points of n contacts."""
    return np.empty(n), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3))


@njit(sealed=True)
def measure(x, R, parallel, found):
    """Gap, normal and points of contacts at other poses."""
    n = len(found[0])
    geometry = _geometry(n)
    if parallel and n > MANY:
        _evaluate_parallel(x, R, found, geometry)
    else:
        _evaluate(0, n, x, R, found, geometry)
    return geometry


@njit(sealed=True)
def search(x, R, band, room, parallel, kept, shapes, moves):
    """The pairs to keep, and the contacts within `band` at positions x (nb, 3) and rotations R, sorted by key.

    Of these their bodies, shapes, codes and features; and the gap, the normal, and the two points of each.
    """
    kind, body, group, mask, excluded, center, rot, half, radius = shapes
    ns = len(kind)
    lo, hi, planes = np.empty((ns, 3)), np.empty((ns, 3)), np.empty((ns, 4))
    at, axes, point = np.empty((ns, 3)), np.empty((ns, 3, 3)), np.empty(ns)
    _all_boxes(parallel, x, R, kind, body, center, rot, half, radius, band, lo, hi, planes, at, axes, point)
    listed, kept = neighbours(lo, hi, planes, kind, body, group, mask, moves, excluded, band, kept, parallel)
    return kept, *_contacts(x, R, at, axes, point, listed, lo, hi, planes, band, room, parallel, shapes)


@njit(sealed=True)
def _contacts(x, R, at, axes, point, listed, lo, hi, planes, band, room, parallel, shapes):
    """The contacts within `band` of those listed pairs whose boxes overlap, and their geometry."""
    kind, body, _, _, _, center, rot, half, radius = shapes
    if parallel and len(listed) > MANY:
        each = FEATURES if half.any() else 1  # spheres touch in a point
        old = _room(each * len(listed))
        counts, first = np.zeros(_PARTS, np.int64), np.zeros(_PARTS + 1, np.int64)
        _find_parallel(
            at, axes, point, R, kind, body, center, rot, half, radius, listed, lo, hi, planes, band, each, counts, old
        )
        for c in range(_PARTS):
            first[c + 1] = first[c] + counts[c]
        n = first[_PARTS]
        found = (np.empty(n, np.int64), np.empty(n, np.int64)) + _room(n)  # noqa: RUF005 (Numba)
        geometry = _geometry(n)
        _collect_parallel(len(listed), each, first, old, body, x, R, found, geometry)
        return found, geometry
    while True:
        out = _room(room)
        n = find_range3(
            0, len(listed), 0, room, at, axes, point, R, kind, body, center, rot, half, radius, listed, lo, hi, planes,
            band, *out,
        )  # fmt: skip
        if n <= room:
            break
        room = int(1.5 * n)
    sa, sb, code, type, pa, da, pb, db, ra, rb = out
    a, b = np.empty(n, np.int64), np.empty(n, np.int64)
    for k in range(n):
        a[k], b[k] = body[sa[k]], body[sb[k]]
    found = (a, b, sa[:n], sb[:n], code[:n], type[:n], pa[:n], da[:n], pb[:n], db[:n], ra[:n], rb[:n])
    return found, measure(x, R, False, found)


@njit(sealed=True)
def search_on_the_way(x, R, new_x, new_R, band, reach, room, parallel, kept, shapes, moves):
    """As `detect_on_the_way` of the model: contacts within `reach` at x, R of shapes that may meet on the way."""
    kind, body, group, mask, excluded, center, rot, half, radius = shapes
    ns = len(kind)
    at, axes, point = np.empty((ns, 3)), np.empty((ns, 3, 3)), np.empty(ns)
    lo, hi, planes = np.empty((2, ns, 3)), np.empty((2, ns, 3)), np.empty((2, ns, 4))
    sizes = (kind, body, center, rot, half, radius, band)
    _all_boxes(parallel, new_x, new_R, *sizes, lo[1], hi[1], planes[1], at, axes, point)
    _all_boxes(parallel, x, R, *sizes, lo[0], hi[0], planes[0], at, axes, point)
    swept(lo, hi, planes)
    listed = listed_or_found(lo[0], hi[0], planes[0], kind, body, group, mask, moves, excluded, kept, parallel)
    return _contacts(x, R, at, axes, point, listed, lo[0], hi[0], planes[0], reach, room, parallel, shapes)
