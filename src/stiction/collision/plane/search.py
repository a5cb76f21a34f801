"""All of detection in the plane as the stages of a step ask for it; in space it is that of `space/search`.

The contacts are those of `pairs`, `find2` and `evaluate2`, in the same order and to the same bits. The functions take
what those of `space/search` take, but in the plane threads do not share the work: `parallel` is for space.
"""

from __future__ import annotations

import numpy as np

from ...runtime.jit import njit
from ..broad import aabbs2
from ..features import evaluate2, first_of
from ..neighbours import listed_or_found, neighbours, overlapping, swept
from ..records import Boxes, FeaturePairs, Filters, FoundContacts, Geometry
from .narrow import find2


@njit
def _new_boxes(ns):
    """Arrays for the boxes of ns shapes."""
    return Boxes(np.empty((ns, 2)), np.empty((ns, 2)), np.empty((ns, 3)))


@njit(sealed=True)
def search(x, angle, band, capacity, parallel, kept, shapes, moves):
    """The pairs to keep, and the contacts within `band` at positions x (nb, 2) and angles (nb,), sorted by key.

    Of these `FoundContacts` and `Geometry`.
    """
    boxes = _new_boxes(len(shapes.kind))
    aabbs2(x, angle, shapes, band, boxes)
    filters = Filters(shapes.body, shapes.group, shapes.mask, moves, shapes.excluded)
    listed, kept = neighbours(boxes, shapes.kind, filters, band, kept, False)
    found = _contacts(x, angle, overlapping(listed, boxes, shapes.kind), band, capacity, shapes)
    return kept, found, measure(x, angle, False, found)


@njit(sealed=True)
def search_on_the_way(x, angle, new_x, new_angle, band, reach, capacity, parallel, kept, shapes, moves):
    """As `detect_on_the_way` of the model: contacts within `reach` at x, angle of shapes that may meet on the way."""
    boxes, later = _new_boxes(len(shapes.kind)), _new_boxes(len(shapes.kind))
    aabbs2(x, angle, shapes, band, boxes)
    aabbs2(new_x, new_angle, shapes, band, later)
    swept(boxes, later)
    filters = Filters(shapes.body, shapes.group, shapes.mask, moves, shapes.excluded)
    listed = listed_or_found(boxes, shapes.kind, filters, kept, False)
    found = _contacts(x, angle, overlapping(listed, boxes, shapes.kind), reach, capacity, shapes)
    return found, measure(x, angle, False, found)


@njit(sealed=True)
def _contacts(x, angle, near, band, capacity, shapes):
    """The contacts within `band` of pairs of shapes, sorted by key."""
    while True:
        out = FoundContacts(
            np.empty(capacity, np.int64), np.empty(capacity, np.int64), np.empty(capacity, np.int64),
            np.empty(capacity, np.int64), np.empty(capacity, np.int64), np.empty(capacity, np.int64),
            np.empty((capacity, 2)), np.empty((capacity, 2)), np.empty((capacity, 2)), np.empty((capacity, 2)),
            np.empty(capacity), np.empty(capacity),
        )  # fmt: skip
        count = find2(x, angle, shapes, near, band, out)
        if count <= capacity:
            return first_of(out, count)
        capacity = int(1.5 * count)


@njit(sealed=True)
def measure(x, angle, parallel, found):
    """`Geometry` of contacts at other poses."""
    a, b, _, _, _, type, pa, da, pb, db, ra, rb = found
    n = len(a)
    geometry = Geometry(np.empty(n), np.empty((n, 2)), np.empty((n, 2)), np.empty((n, 2)))
    evaluate2(x, angle, FeaturePairs(a, b, type, pa, da, pb, db, ra, rb), geometry)
    return geometry
