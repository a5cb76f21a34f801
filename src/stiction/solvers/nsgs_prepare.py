"""Everything that block Gauss–Seidel on bodies computes once per problem, in one call."""

from __future__ import annotations

import numpy as np

from .._jit import njit, prange
from .nsgs_arms import ARMS, FACTORS, arms_delassus, body_triangles, contact_arms, turn_arms
from .nsgs_forms import body_factors, rows_planar, rows_spatial, turn_rows
from .nsgs_islands import island_rows, row_weights
from .nsgs_items import bounds, classify, list_items
from .nsgs_kernels import DISK, KINDS
from .nsgs_lanes import FEW, PACK, fill_packs, load_packs
from .nsgs_local import PARAMETERS
from .nsgs_newton import band_of
from .nsgs_order import PHASES, find_cells, order_bodies
from .nsgs_setup import frames, least_diagonal

MANY = 10_000  # items from which threads share the work
_CHUNKS = 64


@njit
def _places(start, stop, kind, block, ptr, src, body_a, body_b, slot, world, Ja, Jb, a, b, F, fits):
    """The slots of the bodies of the items start..stop, and the arms of contacts."""
    for i in range(start, stop):
        k, r = block[i], ptr[i]
        a[i] = slot[body_a[k]] if body_a[k] >= 0 else world
        b[i] = slot[body_b[k]] if body_b[k] >= 0 else world
        if len(F) and kind[i] == DISK:
            fits[i] = contact_arms(i, src[r], a[i], b[i], world, Ja, Jb, F)


@njit(parallel=True)
def _places_parallel(kind, block, ptr, src, body_a, body_b, slot, world, Ja, Jb, a, b, F, fits):
    n = len(block)
    for part in prange(_CHUNKS):
        c = np.int64(part)
        _places(
            n * c // _CHUNKS, n * (c + 1) // _CHUNKS, kind, block, ptr, src, body_a, body_b, slot, world, Ja, Jb, a, b,
            F, fits,
        )  # fmt: skip


@njit
def _rows(start, stop, omega, brief, ptr, src, Ja, Jb, L, C, free, p0, a, b, F, B, J, W, q, p):
    """Each item's own W, q and p in the order of items, and packed rows of those that are not brief: known by arms."""
    if L.shape[1] == 6:
        rows_spatial(start, stop, brief, ptr, src, Ja, Jb, L, C, a, b, J, W)
    else:
        rows_planar(start, stop, brief, ptr, src, Ja, Jb, L, C, a, b, J, W)
    for i in range(start, stop):
        if brief[i]:
            arms_delassus(i, ptr[i], a[i], b[i], F, B, W)
        for r in range(ptr[i], ptr[i + 1]):
            q[r], p[r] = free[src[r]], p0[src[r]]
            for l in range(ptr[i + 1] - ptr[i]):
                W[r, l] /= omega


@njit(parallel=True)
def _rows_parallel(omega, brief, ptr, src, Ja, Jb, L, C, free, p0, a, b, F, B, J, W, q, p):
    n = len(a)
    for part in prange(_CHUNKS):
        c = np.int64(part)
        _rows(
            n * c // _CHUNKS, n * (c + 1) // _CHUNKS, omega, brief, ptr, src, Ja, Jb, L, C, free, p0, a, b, F, B, J, W,
            q, p,
        )  # fmt: skip


@njit
def _turn(
    start, stop, arms, brief, tiny, kind, block, ptr, src, lo, hi, down, up, gptr, vptr, law, set_of, shape, mu, r0,
    semi, vertices, vertex_ptr, facets, facet_ptr, C, W, T, J, Cb, q, p, par, wn, sd, G, rim, V, F,
):  # fmt: skip
    """The frames of the items start..stop, and their rows and arms in them."""
    for i in range(start, stop):
        for k in range(PARAMETERS):
            par[i, k] = 0.0
        for r in range(ptr[i], ptr[i + 1]):
            wn[r], sd[r] = 0.0, 0.0
            for k in range(6):
                T[r, k] = 0.0
    frames(
        start, stop, tiny, kind, block, ptr, lo, hi, down, up, gptr, vptr, law, set_of, shape, mu, r0, semi, vertices,
        vertex_ptr, facets, facet_ptr, W, T, q, p, par, wn, sd, G, rim, V,
    )  # fmt: skip
    turn_rows(start, stop, brief, ptr, src, T, C, J, Cb)
    if arms:
        for i in range(start, stop):
            if kind[i] == DISK:
                turn_arms(i, ptr[i], T, F)


@njit(parallel=True)
def _turn_parallel(
    arms, brief, tiny, kind, block, ptr, src, lo, hi, down, up, gptr, vptr, law, set_of, shape, mu, r0, semi, vertices,
    vertex_ptr, facets, facet_ptr, C, W, T, J, Cb, q, p, par, wn, sd, G, rim, V, F,
):  # fmt: skip
    n = len(block)
    for part in prange(_CHUNKS):
        c = np.int64(part)
        _turn(
            n * c // _CHUNKS, n * (c + 1) // _CHUNKS, arms, brief, tiny, kind, block, ptr, src, lo, hi, down, up, gptr,
            vptr, law, set_of, shape, mu, r0, semi, vertices, vertex_ptr, facets, facet_ptr, C, W, T, J, Cb, q, p, par,
            wn, sd, G, rim, V, F,
        )  # fmt: skip


@njit
def _pack(seg, block, ptr, src, body_a, body_b, slot, world):
    """pack (cells + 1,): the packs of each cell's contacts, which are put in this order."""
    cells = seg.shape[0]
    pack = np.zeros(cells + 1, np.int64)
    a, b = np.empty(len(block), np.int64), np.empty(len(block), np.int64)
    for c in range(cells):
        start, stop = seg[c, DISK], seg[c, DISK + 1]
        pack[c + 1] = pack[c]
        if stop - start < FEW:
            continue
        for i in range(start, stop):
            k = block[i]
            a[i] = slot[body_a[k]] if body_a[k] >= 0 else world
            b[i] = slot[body_b[k]] if body_b[k] >= 0 else world
        order, old = np.empty(stop - start, np.int64), block[start:stop].copy()
        pack[c + 1] += fill_packs(start, stop, a, b, world, order)
        for i in range(start, stop):
            block[i] = old[order[i - start] - start]
        rows = src[ptr[start] : ptr[stop]].copy()
        for i in range(start, stop):
            for m in range(3):
                src[ptr[i] + m] = rows[3 * (order[i - start] - start) + m]
    return pack


@njit
def _by_arms(phase, seg, kind, a, b, begin, brief):
    """brief (ni,): contacts of islands that are too large for Newton's method, which alone needs their rows."""
    for isl in range(phase.shape[0]):
        low, high = (begin[isl], begin[isl + 1]) if len(begin) > 1 else (0, 0)
        if band_of(isl, phase, seg, a, b, begin[-1], low, high, 6) < 0:
            for i in range(seg[phase[isl, 0], 0], seg[phase[isl, PHASES] - 1, KINDS]):
                brief[i] = kind[i] == DISK


@njit
def prepare(
    law, row_ptr, set_of, mu, r0, shape, semi, vertices, vertex_ptr, facets, facet_ptr, lo, hi, length, C, associated,
    omega, parallel, body_a, body_b, Ja, Jb, Minv, free, p0, near,
):  # fmt: skip
    """Order, items, packed rows and frames of a problem on `Bodies`; `free` (nr,) is its q, p0 (nr,) the first guess.

    near (nk,): the blocks that are taken; the others are left out, at an impulse of 0.

    Returns the arrays that `relax` and `measure` read, in their order: begin, phase, rows, seg, block, ptr, src, a, b,
    J, q, p, par, wn, sd, T, L, Cb, gptr, G, rim, vptr, V, weight, F, B, arms (whether contacts are known by F and B),
    pack, Z (`nsgs_lanes`); then whether there are blocks of the kind NESTED, and whether every cone is round without an
    offset.
    """
    d = Minv.shape[1]
    slot, begin, chunk = order_bodies(body_a, body_b, near, Minv)
    cell, phase = find_cells(body_a, body_b, near, slot, begin, chunk)
    nk, moving = len(law), begin[-1]
    cells = phase[-1, -1]
    kind, times, place = np.empty(nk, np.int64), np.empty(nk, np.int64), np.empty(nk, np.int64)
    nested, plain = classify(law, row_ptr, set_of, mu, r0, shape, semi, length, associated, kind, times)
    for k in range(nk):
        times[k] = times[k] if near[k] else 0
        a_ = slot[body_a[k]] if body_a[k] >= 0 else moving
        b_ = slot[body_b[k]] if body_b[k] >= 0 else moving
        place[k] = min(a_, b_) if max(a_, b_) == moving else max(a_, b_)
    block, ptr, src, seg, gptr, vptr = list_items(
        law, row_ptr, kind, times, cell, cells, place, moving, set_of, shape, facet_ptr, vertex_ptr
    )
    ni, nrows = len(block), len(src)
    pack = np.zeros(cells + 1, np.int64)
    if d == 6:
        pack = _pack(seg, block, ptr, src, body_a, body_b, slot, moving)
    low, high, down, up = np.empty(ni), np.empty(ni), np.empty(ni), np.empty(ni)
    bounds(block, ptr, src, law, r0, lo, hi, set_of, shape, semi, vertices, vertex_ptr, low, high, down, up)
    L = np.zeros((moving + 1, d, d))
    body_factors(Minv, slot, L)
    item_kind = np.empty(ni, np.int64)
    for i in range(ni):
        item_kind[i] = kind[block[i]]
    compliant = False
    for r in range(nrows):
        compliant = compliant or C[src[r]] > 0.0
    threads = parallel and ni > MANY
    a, b = np.empty(ni, np.int64), np.empty(ni, np.int64)
    B = np.empty((moving + 1 if d == 6 and not compliant else 0, FACTORS))
    arms = len(B) > 0 and body_triangles(L, B)
    F, fits = np.empty((ni if arms else 0, ARMS)), np.ones(ni, np.bool_)
    if threads:
        _places_parallel(item_kind, block, ptr, src, body_a, body_b, slot, moving, Ja, Jb, a, b, F, fits)
    else:
        _places(0, ni, item_kind, block, ptr, src, body_a, body_b, slot, moving, Ja, Jb, a, b, F, fits)
    for i in range(ni):
        arms = arms and fits[i]
    brief = np.zeros(ni, np.bool_)
    if arms:
        _by_arms(phase, seg, item_kind, a, b, begin, brief)
    J, W = np.empty((nrows, 2 * d)), np.empty((nrows, 6))
    q, p = np.empty(nrows), np.empty(nrows)
    if threads:
        _rows_parallel(omega, brief, ptr, src, Ja, Jb, L, C, free, p0, a, b, F, B, J, W, q, p)
    else:
        _rows(0, ni, omega, brief, ptr, src, Ja, Jb, L, C, free, p0, a, b, F, B, J, W, q, p)
    T, par, wn, sd = np.empty((nrows, 6)), np.empty((ni, PARAMETERS)), np.empty(nrows), np.empty(nrows)
    G, rim, V = np.zeros((gptr[-1], 6)), np.zeros(gptr[-1]), np.zeros((vptr[-1], 6))
    Cb = np.zeros((nrows if compliant else 0, 6))
    tiny = least_diagonal(ptr, W)
    if threads:
        _turn_parallel(
            arms, brief, tiny, item_kind, block, ptr, src, low, high, down, up, gptr, vptr, law, set_of, shape, mu, r0,
            semi, vertices, vertex_ptr, facets, facet_ptr, C, W, T, J, Cb, q, p, par, wn, sd, G, rim, V, F,
        )  # fmt: skip
    else:
        _turn(
            0, ni, arms, brief, tiny, item_kind, block, ptr, src, low, high, down, up, gptr, vptr, law, set_of, shape,
            mu, r0, semi, vertices, vertex_ptr, facets, facet_ptr, C, W, T, J, Cb, q, p, par, wn, sd, G, rim, V, F,
        )  # fmt: skip
    Z = np.empty(pack[-1] * PACK if arms else 0)
    if arms:
        for c in range(cells):
            load_packs(seg[c, DISK], pack[c], pack[c + 1], F, par, Z)
    weight = np.zeros(nrows)
    row_weights(seg, ptr, par, sd, weight)
    rows = island_rows(phase, seg, ptr)
    return (
        begin, phase, rows, seg, block, ptr, src, a, b, J, q, p, par, wn, sd, T, L, Cb, gptr, G, rim, vptr, V, weight,
        F, B, arms, pack, Z, nested, plain,
    )  # fmt: skip
