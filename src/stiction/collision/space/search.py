"""All of detection in space as the compiled loop asks for it: boxes, listed pairs, their features, and the geometry.

The contacts are those of `pairs`, `find3` and `evaluate3`, in the same order and to the same bits. Where there are
many, threads take parts of each stage.
"""

from __future__ import annotations

import numpy as np

from ...runtime.jit import njit, prange
from ..broad import aabbs3
from ..features import evaluate3, first_of
from ..neighbours import listed_or_found, neighbours, swept
from ..records import Boxes, FeaturePairs, Filters, FoundContacts, Geometry, Placed, SpaceShapes
from .narrow import MAX_FEATURES, find_range3, place, points

THREADS_MIN_PAIRS = 10_000  # pairs, contacts or shapes from which threads share the work
THREAD_PARTS = 256  # into which pairs and contacts are divided among threads
# the step at which parts of the pairs are dealt to threads: those with planes lie together, in the first
PART_STRIDE = 95


@njit
def _range(c, n):
    """The first and the last of n that belong to part c."""
    return n * c // THREAD_PARTS, n * (c + 1) // THREAD_PARTS


@njit(leaf=True)
def _boxes(start, stop, x, R, shapes, band, boxes, placed):
    """Boxes, centres and axes of the shapes start..stop, and which of them are points with a radius."""
    s, e = start, stop
    some = SpaceShapes(
        shapes.kind[s:e], shapes.body[s:e], shapes.group[s:e], shapes.mask[s:e], shapes.excluded, shapes.center[s:e],
        shapes.rot[s:e], shapes.half[s:e], shapes.radius[s:e],
    )  # fmt: skip
    aabbs3(x, R, some, band, Boxes(boxes.lo[s:e], boxes.hi[s:e], boxes.planes[s:e]))
    place(x, R, some, placed.at[s:e], placed.axes[s:e])
    points(some, placed.ball[s:e])


@njit(parallel=True)
def _boxes_parallel(x, R, shapes, band, boxes, placed):
    for part in prange(THREAD_PARTS):
        s, e = _range(np.int64(part), len(shapes.kind))
        _boxes(s, e, x, R, shapes, band, boxes, placed)


@njit(leaf=True)
def _all_boxes(parallel, x, R, shapes, band, boxes, placed):
    ns = len(shapes.kind)
    if parallel and ns > THREADS_MIN_PAIRS:
        _boxes_parallel(x, R, shapes, band, boxes, placed)
    else:
        _boxes(np.int64(0), ns, x, R, shapes, band, boxes, placed)


@njit
def _new_boxes(ns):
    """Arrays for the boxes of ns shapes."""
    return Boxes(np.empty((ns, 3)), np.empty((ns, 3)), np.empty((ns, 4)))


@njit
def _new_contacts(n):
    """Arrays for n contacts."""
    return FoundContacts(
        np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64),
        np.empty(n, np.int64), np.empty(n, np.int64), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3)),
        np.empty((n, 3)), np.empty(n), np.empty(n),
    )  # fmt: skip


@njit(parallel=True)
def _find_parallel(R, shapes, placed, boxes, pairs, band, each, counts, out):
    for part in prange(THREAD_PARTS):
        c = np.int64(part) * PART_STRIDE % THREAD_PARTS
        s, e = _range(c, len(pairs))
        counts[c] = find_range3(s, e, each * s, each * (e - s), R, shapes, placed, boxes, pairs, band, out)


@njit(leaf=True)
def _copy(start, stop, at, old, new):
    """Contacts from the rows start..stop of `old` to the rows from `at` on."""
    for i in range(stop - start):
        o, r = start + i, at + i
        new.body_a[r], new.body_b[r] = old.body_a[o], old.body_b[o]
        new.shape_a[r], new.shape_b[r], new.code[r] = old.shape_a[o], old.shape_b[o], old.code[o]
        new.type[r], new.ra[r], new.rb[r] = old.type[o], old.ra[o], old.rb[o]
        for k in range(3):
            new.pa[r, k], new.da[r, k], new.pb[r, k], new.db[r, k] = (
                old.pa[o, k],
                old.da[o, k],
                old.pb[o, k],
                old.db[o, k],
            )


@njit(parallel=True)
def _collect_parallel(n, each, first, old, x, R, found, geometry):
    for part in prange(THREAD_PARTS):
        c = np.int64(part)
        start, s, e = each * _range(c, n)[0], first[c], first[c + 1]
        _copy(start, start + e - s, s, old, found)
        _evaluate(s, e, x, R, found, geometry)


@njit(leaf=True)
def _evaluate(s, e, x, R, found, geometry):
    """The geometry of the contacts s..e."""
    some = FeaturePairs(
        found.body_a[s:e], found.body_b[s:e], found.type[s:e], found.pa[s:e], found.da[s:e], found.pb[s:e],
        found.db[s:e], found.ra[s:e], found.rb[s:e],
    )  # fmt: skip
    gap, normal, point_a, point_b = geometry
    evaluate3(x, R, some, Geometry(gap[s:e], normal[s:e], point_a[s:e], point_b[s:e]))


@njit(parallel=True)
def _evaluate_parallel(x, R, found, geometry):
    for part in prange(THREAD_PARTS):
        s, e = _range(np.int64(part), len(found.code))
        _evaluate(s, e, x, R, found, geometry)


@njit
def _geometry(n):
    """Arrays for the geometry of n contacts."""
    return Geometry(np.empty(n), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3)))


@njit(sealed=True)
def measure(x, R, parallel, found):
    """`Geometry` of contacts at other poses."""
    n = len(found.code)
    geometry = _geometry(n)
    if parallel and n > THREADS_MIN_PAIRS:
        _evaluate_parallel(x, R, found, geometry)
    else:
        _evaluate(np.int64(0), n, x, R, found, geometry)
    return geometry


@njit(sealed=True)
def search(x, R, band, capacity, parallel, kept, shapes, moves):
    """The pairs to keep, and the contacts within `band` at positions x (nb, 3) and rotations R, sorted by key.

    Of these `FoundContacts` and `Geometry`.
    """
    ns = len(shapes.kind)
    boxes, placed = _new_boxes(ns), Placed(np.empty((ns, 3)), np.empty((ns, 3, 3)), np.empty(ns))
    _all_boxes(parallel, x, R, shapes, band, boxes, placed)
    filters = Filters(shapes.body, shapes.group, shapes.mask, moves, shapes.excluded)
    listed, kept = neighbours(boxes, shapes.kind, filters, band, kept, parallel)
    return kept, *_contacts(x, R, shapes, placed, boxes, listed, band, capacity, parallel)


@njit(sealed=True)
def _contacts(x, R, shapes, placed, boxes, listed, band, capacity, parallel):
    """The contacts within `band` of those listed pairs whose boxes overlap, and their geometry."""
    if parallel and len(listed) > THREADS_MIN_PAIRS:
        each = MAX_FEATURES if shapes.half.any() else 1  # spheres touch in a point
        old = _new_contacts(each * len(listed))
        counts, first = np.zeros(THREAD_PARTS, np.int64), np.zeros(THREAD_PARTS + 1, np.int64)
        _find_parallel(R, shapes, placed, boxes, listed, band, each, counts, old)
        for c in range(THREAD_PARTS):
            first[c + 1] = first[c] + counts[c]
        n = first[THREAD_PARTS]
        found, geometry = _new_contacts(n), _geometry(n)
        _collect_parallel(len(listed), each, first, old, x, R, found, geometry)
        return found, geometry
    while True:
        out = _new_contacts(capacity)
        n = find_range3(0, len(listed), 0, capacity, R, shapes, placed, boxes, listed, band, out)
        if n <= capacity:
            break
        capacity = int(1.5 * n)
    found = first_of(out, n)
    return found, measure(x, R, False, found)


@njit(sealed=True)
def search_on_the_way(x, R, new_x, new_R, band, reach, capacity, parallel, kept, shapes, moves):
    """As `detect_on_the_way` of the model: contacts within `reach` at x, R of shapes that may meet on the way."""
    ns = len(shapes.kind)
    boxes, later = _new_boxes(ns), _new_boxes(ns)
    placed = Placed(np.empty((ns, 3)), np.empty((ns, 3, 3)), np.empty(ns))
    _all_boxes(parallel, new_x, new_R, shapes, band, later, placed)
    _all_boxes(parallel, x, R, shapes, band, boxes, placed)
    swept(boxes, later)
    filters = Filters(shapes.body, shapes.group, shapes.mask, moves, shapes.excluded)
    listed = listed_or_found(boxes, shapes.kind, filters, kept, parallel)
    return _contacts(x, R, shapes, placed, boxes, listed, reach, capacity, parallel)
