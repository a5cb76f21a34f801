"""Pairs of shapes that are near for several steps: found once with a margin, and looked through until it is used up.

A list made from boxes grown by a margin holds every pair whose boxes overlap, for as long as all boxes stay inside the
grown ones. What counts are the pairs whose present boxes overlap, in the same order: exactly those that `pairs`
finds, so that a step does not depend on when the list was made.
"""

from __future__ import annotations

import math

import numpy as np

from ..runtime.jit import njit
from .broad import meets, overlap, pairs
from .features import PLANE
from .records import Boxes, NearPairs

_MARGIN_MAX_SHARE = 0.25  # of the mean size of the shapes: the widest margin
_MARGIN_BANDS = 4.0  # bands: a margin for some steps of the fastest body


def no_neighbours(d: int) -> NearPairs:
    """An empty list of pairs, which serves no scene."""
    return NearPairs(np.empty((0, 2), np.int64), np.empty((0, d)), np.empty((0, d)), np.empty((0, d + 1)))


@njit(leaf=True)
def _margin(boxes, kind, band):
    """How much to grow the boxes; none where it would be used up by the next step."""
    lo, hi, _ = boxes
    n, d = lo.shape
    size, count = 0.0, 0
    for s in range(n):
        if kind[s] != PLANE and hi[s, 0] - lo[s, 0] < math.inf:
            for k in range(d):
                size += hi[s, k] - lo[s, k] - band
            count += d
    widest = _MARGIN_MAX_SHARE * size / count if count else 0.0
    return min(_MARGIN_BANDS * band, widest) if band < widest else 0.0


@njit(leaf=True)
def _inside(boxes, kept):
    """Whether all boxes and half-spaces lie within those of a list."""
    lo, hi, planes = boxes
    old_lo, old_hi, old_planes = kept.lo, kept.hi, kept.planes
    n, d = lo.shape
    if old_lo.shape[0] != n:
        return False
    for s in range(n):
        for k in range(d):
            if not (lo[s, k] >= old_lo[s, k] and hi[s, k] <= old_hi[s, k] and planes[s, k] == old_planes[s, k]):
                return False
        if not planes[s, d] <= old_planes[s, d]:
            return False
    return True


@njit(leaf=True)
def boxes_overlap(i, j, boxes, kind):
    """Whether the boxes of a listed pair overlap."""
    lo, hi, planes = boxes
    if kind[i] == PLANE:
        return meets(i, j, lo, hi, planes)
    if kind[j] == PLANE:
        return meets(j, i, lo, hi, planes)
    return overlap(lo, hi, i, j)


@njit
def overlapping(listed, boxes, kind):
    """Those of the listed pairs whose boxes overlap."""
    out = np.empty((len(listed), 2), np.int64)
    count = 0
    for k in range(len(listed)):
        i, j = listed[k, 0], listed[k, 1]
        out[count, 0], out[count, 1] = i, j
        count += 1 if boxes_overlap(i, j, boxes, kind) else 0
    return out[:count]


@njit(sealed=True)
def neighbours(boxes, kind, filters, band, kept, parallel):
    """A list that holds all that `pairs` gives for boxes inflated by `band`/2, and what to keep for the next call.

    Those of the list whose boxes overlap are the pairs that `pairs` gives, in the same order.
    """
    if _inside(boxes, kept):
        return kept.pairs, kept
    grow = _margin(boxes, kind, band)
    if grow == 0.0:
        return pairs(boxes, kind, filters, parallel), kept
    lo, hi, planes = boxes
    wide_lo, wide_hi, wide_planes = lo - grow, hi + grow, planes.copy()
    for s in range(lo.shape[0]):
        if kind[s] == PLANE:
            wide_planes[s, lo.shape[1]] += grow
    listed = pairs(Boxes(wide_lo, wide_hi, wide_planes), kind, filters, parallel)
    return listed, NearPairs(listed, wide_lo, wide_hi, wide_planes)


@njit(sealed=True)
def listed_or_found(boxes, kind, filters, kept, parallel):
    """A list that holds all that `pairs` gives for these boxes: the one that is kept, where it does."""
    if _inside(boxes, kept):
        return kept.pairs
    return pairs(boxes, kind, filters, parallel)


@njit
def swept(boxes, later):
    """Boxes at the start and the end of a motion: the first become those that hold both.

    Planes of the compiled loop keep their direction, or turn with a body; those are taken as everywhere.
    """
    lo, hi, planes = boxes
    d = lo.shape[1]
    for s in range(lo.shape[0]):
        for j in range(d):
            lo[s, j], hi[s, j] = min(lo[s, j], later.lo[s, j]), max(hi[s, j], later.hi[s, j])
        same = True
        for j in range(d):
            same = same and planes[s, j] == later.planes[s, j]
        planes[s, d] = max(planes[s, d], later.planes[s, d]) if same else math.inf
