"""The sweep list: the blocks of a problem by cells, and in segments of one kind within a cell."""

from __future__ import annotations

import math

import numpy as np

from ...friction.kernels import ELLIPSOID, POLYHEDRON, PRODUCT
from ...problem.body_kernels import THREAD_PARTS, THREADS_MIN_BLOCKS
from ...problem.laws import BOX, DRY, EQUALITY, UNILATERAL
from ...runtime.jit import njit, prange
from ...runtime.lanes import PREFETCH_TURNS, prefetch
from . import kinds


@njit(leaf=True)
def classify_range(start, stop, laws, kind, entry_count):
    """`classify` for the blocks start..stop."""
    nested = False
    round_cones = True
    for k in range(start, stop):
        n = laws.row_ptr[k + 1] - laws.row_ptr[k]
        s = laws.set_of[k]
        kind[k] = kinds.NESTED
        entry_count[k] = 1
        if laws.law[k] == BOX:
            kind[k] = kinds.INTERVAL
            entry_count[k] = n
        elif laws.law[k] == DRY:
            entry_count[k] = 0 if laws.r0[k] == 0.0 else 1
            kind[k] = kinds.INTERVAL if n == 1 else kinds.NESTED
        elif n == 1 or (laws.law[k] == UNILATERAL and laws.mu[k] == 0.0 and laws.r0[k] == 0.0):
            kind[k] = kinds.INTERVAL
        elif laws.law[k] == EQUALITY:
            kind[k] = kinds.BILATERAL
        elif n == 2:
            kind[k] = kinds.PLANAR
        elif n == 3 and laws.shape[s] == ELLIPSOID and laws.mu[k] > 0.0 and laws.r0[k] == 0.0 and not laws.associated:
            kind[k] = kinds.DISK if laws.semi[s, 0] > 0.0 and laws.semi[s, 1] > 0.0 else kinds.NESTED
        nested = nested or (kind[k] == kinds.NESTED and entry_count[k] > 0)
        if laws.law[k] == DRY or (laws.law[k] == UNILATERAL and n > 1):
            round_ = n <= 3 and laws.shape[s] == ELLIPSOID and (n == 2 or laws.semi[s, 0] == laws.semi[s, 1])
            round_cones = (
                round_cones
                and laws.law[k] == UNILATERAL
                and laws.r0[k] == 0.0
                and (round_ or kind[k] == kinds.INTERVAL)
            )
            for r in range(laws.row_ptr[k], laws.row_ptr[k + 1]):
                round_cones = round_cones and laws.length[r] == 1.0
    return nested, round_cones


@njit(parallel=True)
def _classify_parallel(laws, kind, entry_count, nested, round_cones):
    n = len(laws.law)
    for part in prange(THREAD_PARTS):
        c = np.int64(part)
        nested[c], round_cones[c] = classify_range(
            n * c // THREAD_PARTS, n * (c + 1) // THREAD_PARTS, laws, kind, entry_count
        )


@njit
def classify(parallel, laws, kind, entry_count):
    """Set kind (nk,) of each block, and entry_count (nk,): the number of entries it becomes.

    Returns whether there are blocks of the kind NESTED, and whether every cone is round, without an offset, and its
    rows in metres. Rows of boxes do not act on each other's law and are taken one by one; friction rows that can carry
    no impulse and dry friction without a radius are left out: their impulse is 0.
    """
    if not parallel or len(laws.law) <= THREADS_MIN_BLOCKS:
        return classify_range(np.int64(0), len(laws.law), laws, kind, entry_count)
    nested, round_cones = np.empty(THREAD_PARTS, np.bool_), np.empty(THREAD_PARTS, np.bool_)
    _classify_parallel(laws, kind, entry_count, nested, round_cones)
    return nested.any(), round_cones.all()


@njit
def _sort(order, key, largest_key):
    """Stable counting sort of `order` by key[order], values from 0 to most."""
    start = np.zeros(largest_key + 2, np.int64)
    for k in range(len(order)):
        start[key[order[k]] + 1] += 1
    for m in range(largest_key + 1):
        start[m + 1] += start[m]
    out = np.empty_like(order)
    for k in range(len(order)):
        m = key[order[k]]
        out[start[m]] = order[k]
        start[m] += 1
    return out


@njit
def _sorted_blocks(entry_count, cell, kind, place, cells, places):
    """The blocks that become entries, sorted by cell, kind and the place of their bodies."""
    order, n = np.empty(len(cell), np.int64), 0
    for k in range(len(cell)):
        order[n] = k
        n += 1 if entry_count[k] > 0 else 0
    group = np.empty(len(cell), np.int64)
    for k in order[:n]:
        group[k] = (kinds.KINDS + 1) * cell[k] + kind[k]
    return _sort(_sort(order[:n], place, places), group, (kinds.KINDS + 1) * cells)


@njit(sealed=True)
def list_entries(laws, kind, entry_count, cell, cells, place, places):
    """The entries sorted by cell, kind and place.

    Returns block, kind (ni,), ptr (ni + 1,) into packed rows, src (rows,) the original rows, seg (cells, KINDS + 1):
    where each kind starts in a cell, and gptr, vptr (ni + 1,): places for the facets and vertices of polyhedra.
    """
    facet_ptr, law, row_ptr, set_of, shape = laws.facet_ptr, laws.law, laws.row_ptr, laws.set_of, laws.shape
    vertex_ptr = laws.vertex_ptr
    order = _sorted_blocks(entry_count, cell, kind, place, cells, places)
    ni = 0
    nrows = 0
    for k in order:
        ni += entry_count[k]
        nrows += entry_count[k] * (1 if kind[k] == kinds.INTERVAL else row_ptr[k + 1] - row_ptr[k])
    block, ptr, src = np.empty(ni, np.int64), np.zeros(ni + 1, np.int64), np.empty(nrows, np.int64)
    entry_kind = np.empty(ni, np.int8)
    gptr, vptr = np.zeros(ni + 1, np.int64), np.zeros(ni + 1, np.int64)
    count = np.zeros((cells, kinds.KINDS + 1), np.int64)
    i = 0
    for m in range(len(order)):
        if m + PREFETCH_TURNS < len(order):
            prefetch(row_ptr, order[m + PREFETCH_TURNS], 1)
            prefetch(set_of, order[m + PREFETCH_TURNS], 1)
            prefetch(cell, order[m + PREFETCH_TURNS], 1)
        k = order[m]
        s = set_of[k]
        faces = kind[k] == kinds.NESTED and shape[s] == POLYHEDRON
        coupled = 0  # rows for all of W_tt of a product
        if kind[k] == kinds.NESTED and shape[s] & 3 == PRODUCT:
            coupled = row_ptr[k + 1] - row_ptr[k] - (1 if law[k] == UNILATERAL else 0)
        for t in range(entry_count[k]):
            block[i], entry_kind[i] = k, kind[k]
            n = 1 if kind[k] == kinds.INTERVAL else row_ptr[k + 1] - row_ptr[k]
            ptr[i + 1] = ptr[i] + n
            for l in range(n):
                src[ptr[i] + l] = row_ptr[k] + t + l
            gptr[i + 1] = gptr[i] + (facet_ptr[s + 1] - facet_ptr[s] if faces else coupled)
            vptr[i + 1] = vptr[i] + (vertex_ptr[s + 1] - vertex_ptr[s] if faces else 0)
            count[cell[k], kind[k]] += 1
            i += 1
    seg = np.empty((cells, kinds.KINDS + 1), np.int64)
    at = 0
    for c in range(cells):
        for m in range(kinds.KINDS + 1):
            seg[c, m] = at
            at += count[c, m]
    return block, entry_kind, ptr, src, seg, gptr, vptr


@njit(leaf=True)
def entry_bounds(k, row, laws):
    """Bounds of an entry of block k with one row, `row`, and the reach of its friction set down and up its first row.

    Returns low, high, down, up.
    """
    s = laws.set_of[k]
    down, up = laws.semi[s, 0], laws.semi[s, 0]
    if laws.shape[s] == POLYHEDRON:
        down, up = 0.0, 0.0
        for j in range(laws.vertex_ptr[s], laws.vertex_ptr[s + 1]):
            down, up = max(down, -laws.vertices[j, 0]), max(up, laws.vertices[j, 0])
    if laws.law[k] == BOX:
        return laws.lo[row], laws.hi[row], down, up
    if laws.law[k] == DRY:
        return -down * laws.r0[k], up * laws.r0[k], down, up
    return 0.0 if laws.law[k] == UNILATERAL else -math.inf, math.inf, down, up
