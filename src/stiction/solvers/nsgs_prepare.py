"""Everything that block Gauss–Seidel on bodies computes once per problem, in one call."""

from __future__ import annotations

import numpy as np

from .._jit import njit, prange
from .._lanes import AHEAD, WIDTH, aligned, fetch
from .nsgs_arms import ARMS, FACTORS, arms_delassus, body_triangle, contact_arms, turn_arms
from .nsgs_forms import body_factors, rows_planar, rows_spatial, turn_rows
from .nsgs_islands import island_rows, row_weights
from .nsgs_items import list_items
from .nsgs_kernels import DISK, KINDS
from .nsgs_lanes import FEW, PACK, fill_packs, load_packs
from .nsgs_local import PARAMETERS
from .nsgs_newton import band_of
from .nsgs_order import PHASES, find_cells, order_bodies
from .nsgs_setup import frames, least_diagonal

MANY = 10_000  # items from which threads share the work
_CHUNKS = 64
_UNIT = 32 * WIDTH  # items that are finished together: what is known of them stays in the cache meanwhile


@njit(leaf=True)
def _some_triangles(c, parts, Minv, slot, B):
    """The factors of part c of the bodies; False where one does not have the form that arms need."""
    n, fits = len(slot), True
    for i in range(n * c // parts, n * (c + 1) // parts):
        if slot[i] < len(B) - 1:
            fits = body_triangle(Minv, i, slot[i], B) and fits
    return fits


@njit(parallel=True)
def _triangles_parallel(Minv, slot, B, fits):
    for part in prange(_CHUNKS):
        c = np.int64(part)
        fits[c] = _some_triangles(c, _CHUNKS, Minv, slot, B)


@njit
def _triangles(threads, Minv, slot, B):
    """The factors of all bodies that move, and whether they have the form that arms need."""
    fits = np.ones(_CHUNKS, np.bool_)
    if threads:
        _triangles_parallel(Minv, slot, B, fits)
    else:
        fits[0] = _some_triangles(np.int64(0), 1, Minv, slot, B)
    return len(B) > 0 and fits.all()


@njit(leaf=True)
def _places(start, stop, kind, block, ptr, src, ends, world, Ja, Jb, a, b, F):
    """The slots of the bodies of the items start..stop, and the arms of contacts: False if one has none."""
    fits = True
    for i in range(start, stop):
        if i + AHEAD < stop:
            fetch(ends, block[i + AHEAD], 1)
            fetch(Ja, src[ptr[i + AHEAD]], 3)
            fetch(Jb, src[ptr[i + AHEAD]], 3)
        a[i], b[i] = ends[block[i], 0], ends[block[i], 1]
        if len(F) and kind[i] == DISK:
            fits = contact_arms(i, src[ptr[i]], a[i], b[i], world, Ja, Jb, F) and fits
    return fits


@njit(parallel=True)
def _places_parallel(kind, block, ptr, src, ends, world, Ja, Jb, a, b, F, fits):
    n = len(block)
    for part in prange(_CHUNKS):
        c = np.int64(part)
        fits[c] = _places(n * c // _CHUNKS, n * (c + 1) // _CHUNKS, kind, block, ptr, src, ends, world, Ja, Jb, a, b, F)


@njit(leaf=True)
def _rows(start, stop, omega, brief, ptr, src, length, Ja, Jb, L, C, free, p0, a, b, F, B, J, W, q, p):
    """Each item's own W, q and p in the order of items, and packed rows of those that are not brief: known by arms.

    Returns what counts as zero on the diagonal of W, as far as these items go.
    """
    if L.shape[1] == 6:
        rows_spatial(start, stop, brief, ptr, src, Ja, Jb, L, C, a, b, J, W)
    else:
        rows_planar(start, stop, brief, ptr, src, Ja, Jb, L, C, a, b, J, W)
    for i in range(start, stop):
        if i + AHEAD < stop:
            fetch(free, src[ptr[i + AHEAD]], 1)
            fetch(p0, src[ptr[i + AHEAD]], 1)
        if brief[i]:
            arms_delassus(i, ptr[i], a[i], b[i], F, B, W)
        for r in range(ptr[i], ptr[i + 1]):
            q[r], p[r] = free[src[r]], p0[src[r]]
            if omega != 1.0:
                for l in range(ptr[i + 1] - ptr[i]):
                    W[r, l] /= omega
    return least_diagonal(start, stop, ptr, src, length, W)


@njit(parallel=True)
def _rows_parallel(omega, brief, ptr, src, length, Ja, Jb, L, C, free, p0, a, b, F, B, J, W, q, p, tiny):
    n = len(a)
    for part in prange(_CHUNKS):
        c = np.int64(part)
        tiny[c] = _rows(
            n * c // _CHUNKS, n * (c + 1) // _CHUNKS, omega, brief, ptr, src, length, Ja, Jb, L, C, free, p0, a, b, F,
            B, J, W, q, p,
        )  # fmt: skip


@njit(leaf=True, sealed=True)
def _finish(
    u, unit, of, seg, pack, rho, weight, Z, arms, brief, tiny, kind, block, ptr, src, lo, hi, gptr, vptr, law, set_of,
    shape, mu, r0, semi, vertices, vertex_ptr, facets, facet_ptr, length, C, W, T, J, Cb, q, p, par, wn, sd, G, rim,
    V, F,
):  # fmt: skip
    """The frames of the items of unit u, their rows and arms in them, their weights, and their packs."""
    start, stop, c = unit[u], unit[u + 1], of[u]
    for i in range(start, stop):
        fetch(set_of, block[i], 1)
        fetch(mu, block[i], 1)
        fetch(rho, block[i], 1)
        for k in range(PARAMETERS):
            par[i, k] = 0.0
        for r in range(ptr[i], ptr[i + 1]):
            wn[r], sd[r] = 0.0, 0.0
            for k in range(T.shape[1]):
                T[r, k] = 0.0
    frames(
        start, stop, tiny, kind, block, ptr, src, lo, hi, gptr, vptr, law, set_of, shape, mu, r0, semi, vertices,
        vertex_ptr, facets, facet_ptr, length, W, T, q, p, par, wn, sd, G, rim, V,
    )  # fmt: skip
    turn_rows(start, stop, brief, ptr, src, T, C, J, Cb)
    row_weights(start, stop, kind, ptr, par, sd, weight)
    if arms:
        for i in range(start, stop):
            if kind[i] == DISK:
                turn_arms(i, ptr[i], T, F)
        if start >= seg[c, DISK]:
            first = pack[c] + (start - seg[c, DISK]) // WIDTH
            last = min(pack[c + 1], first + (stop - start) // WIDTH)
            load_packs(start, first, last, F, par, block, set_of, semi, rho, Z)


@njit(parallel=True)
def _finish_parallel(
    unit, of, seg, pack, rho, weight, Z, arms, brief, tiny, kind, block, ptr, src, lo, hi, gptr, vptr, law, set_of,
    shape, mu, r0, semi, vertices, vertex_ptr, facets, facet_ptr, length, C, W, T, J, Cb, q, p, par, wn, sd, G, rim,
    V, F,
):  # fmt: skip
    for part in prange(len(of)):
        _finish(
            np.int64(part), unit, of, seg, pack, rho, weight, Z, arms, brief, tiny, kind, block, ptr, src, lo, hi, gptr,
            vptr, law, set_of, shape, mu, r0, semi, vertices, vertex_ptr, facets, facet_ptr, length, C, W, T, J, Cb, q,
            p, par, wn, sd, G, rim, V, F,
        )  # fmt: skip


@njit
def _units(seg):
    """unit (n + 1,): items from where to where are finished together, and of (n,): their cells; packs stay whole."""
    most = seg[-1, KINDS] // _UNIT + 2 * seg.shape[0]
    unit, of, n = np.zeros(most + 1, np.int64), np.empty(most, np.int64), 0
    for c in range(seg.shape[0]):
        at = seg[c, 0]
        while at < seg[c, KINDS]:
            at = min(at + _UNIT, seg[c, DISK] if at < seg[c, DISK] else seg[c, KINDS])
            of[n], unit[n + 1] = c, at
            n += 1
    return unit[: n + 1], of[:n]


@njit
def _pack_cell(c, likely, seg, block, ptr, src, ends, world):
    """The number of packs of a cell's contacts, which are put in this order.

    Those that will act share packs with each other: packs that do not act are passed over by most sweeps.
    """
    start, stop = seg[c, DISK], seg[c, DISK + 1]
    n = stop - start
    if n < FEW:
        return 0
    a, b, first = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    count = 0
    for wanted in (True, False):
        for i in range(n):
            if i + AHEAD < n:
                fetch(ends, block[start + i + AHEAD], 1)
            k = block[start + i]
            if likely[k] == wanted:
                a[count], b[count], first[count] = ends[k, 0], ends[k, 1], i
                count += 1
    order, old, rows = np.empty(n, np.int64), block[start:stop].copy(), src[ptr[start] : ptr[stop]].copy()
    packs = fill_packs(a, b, world, order)
    for i in range(n):
        at = first[order[i]]
        block[start + i] = old[at]
        for m in range(3):
            src[ptr[start + i] + m] = rows[3 * at + m]
    return packs


@njit(parallel=True)
def _pack_parallel(likely, seg, block, ptr, src, ends, world, packs):
    for c in prange(len(packs)):
        packs[c] = _pack_cell(np.int64(c), likely, seg, block, ptr, src, ends, world)


@njit
def _pack(threads, likely, seg, block, ptr, src, ends, world):
    """pack (cells + 1,): where the packs of each cell's contacts begin."""
    cells = seg.shape[0]
    packs, pack = np.empty(cells, np.int64), np.zeros(cells + 1, np.int64)
    if threads:
        _pack_parallel(likely, seg, block, ptr, src, ends, world, packs)
    else:
        for c in range(cells):
            packs[c] = _pack_cell(c, likely, seg, block, ptr, src, ends, world)
    for c in range(cells):
        pack[c + 1] = pack[c] + packs[c]
    return pack


@njit(leaf=True)
def _by_arms(arms, plain, phase, seg, kind, a, b, begin, brief, wanted):
    """brief (ni,): contacts of islands that are too large for Newton's method, which alone needs their rows.

    wanted (moving,): the bodies whose whole factors are needed, for rows or for the natural map; returns whether any.
    """
    some = False
    for isl in range(phase.shape[0]):
        low, high = begin[isl], begin[isl + 1]
        large = arms and band_of(isl, phase, seg, a, b, begin[-1], low, high, 6) < 0
        whole = not (arms and plain)
        for i in range(seg[phase[isl, 0], 0], seg[phase[isl, PHASES] - 1, KINDS]):
            brief[i] = large and kind[i] == DISK
            whole = whole or not brief[i]
        for i in range(low, high):
            wanted[i] = whole
        some = some or whole
    return some


@njit(sealed=True)
def prepare(
    law, row_ptr, set_of, mu, r0, shape, semi, vertices, vertex_ptr, facets, facet_ptr, lo, hi, length, C, associated,
    omega, parallel, body_a, body_b, Ja, Jb, Minv, free, rho, p0, kind, times, plain, near,
    likely,
):  # fmt: skip
    """Order, items, packed rows and frames of a problem on `Bodies`; `free` (nr,) is its q, p0 (nr,) the first guess.

    rho (nk,): the blocks' weights; kind, times (nk,), plain: from `classify`; near (nk,): the blocks that are taken;
    the others are left out, at an impulse of 0; likely (nk,): those that will hardly be open. Returns the arrays that
    `relax` and `measure` read, in their order: begin, phase, rows, seg, block, ptr, src, a, b, J, q, p, par, wn, sd, T,
    L (of the bodies of which it is read), Cb, gptr, G, rim, vptr, V, weight, F, B, arms (whether contacts are known by
    F and B), pack, Z (`nsgs_lanes`).
    """
    d = Minv.shape[1]
    slot, begin, chunk = order_bodies(body_a, body_b, near, Minv)
    moving = begin[-1]
    cell, place, taken, ends, phase = find_cells(parallel, body_a, body_b, near, times, slot, begin, chunk)
    cells = phase[-1, -1]
    block, item_kind, ptr, src, seg, gptr, vptr = list_items(
        law, row_ptr, kind, taken, cell, cells, place, moving, set_of, shape, facet_ptr, vertex_ptr
    )
    ni, nrows = len(block), len(src)
    threads, first = parallel and ni > MANY, np.int64(0)  # no literal: the signature of the threads' calls
    pack = np.zeros(cells + 1, np.int64)
    if d == 6:
        pack = _pack(threads, likely, seg, block, ptr, src, ends, moving)
    compliant = False
    for r in range(len(C)):
        compliant = compliant or C[r] > 0.0
    if compliant:  # of the blocks that are taken
        compliant = False
        for r in range(nrows):
            compliant = compliant or C[src[r]] > 0.0
    a, b = np.empty(ni, np.int64), np.empty(ni, np.int64)
    B = aligned(moving + 1 if d == 6 and not compliant else 0, FACTORS)
    B[-1:] = 0.0  # what cannot move
    arms = _triangles(threads, Minv, slot, B)
    F, fits = aligned(ni if arms else 0, ARMS), np.ones(_CHUNKS, np.bool_)
    if threads:
        _places_parallel(item_kind, block, ptr, src, ends, moving, Ja, Jb, a, b, F, fits)
    else:
        fits[0] = _places(first, ni, item_kind, block, ptr, src, ends, moving, Ja, Jb, a, b, F)
    arms = arms and fits.all()
    brief, wanted = np.empty(ni, np.bool_), np.empty(moving, np.bool_)
    some = _by_arms(arms, plain, phase, seg, item_kind, a, b, begin, brief, wanted)
    L = np.empty((moving + 1 if some else 0, d, d))
    if some:
        body_factors(Minv, slot, wanted, L)
    wide = 3  # rows of the largest item
    for i in range(ni):
        wide = max(wide, ptr[i + 1] - ptr[i])
    J, W, T = np.empty((nrows, 2 * d)), np.empty((nrows, wide)), np.empty((nrows, wide))
    q, p, tiny = np.empty(nrows), np.empty(nrows), np.zeros(_CHUNKS)
    if threads:
        _rows_parallel(omega, brief, ptr, src, length, Ja, Jb, L, C, free, p0, a, b, F, B, J, W, q, p, tiny)
    else:
        tiny[0] = _rows(first, ni, omega, brief, ptr, src, length, Ja, Jb, L, C, free, p0, a, b, F, B, J, W, q, p)
    par, wn, sd, weight = np.empty((ni, PARAMETERS)), np.empty(nrows), np.empty(nrows), np.empty(nrows)
    G, rim, V = np.zeros((gptr[-1], 6)), np.zeros(gptr[-1]), np.zeros((vptr[-1], 6))
    Cb = np.zeros((nrows if compliant else 0, 6))
    Z = aligned(pack[-1] if arms else 0, PACK).ravel()
    unit, of = _units(seg)
    known = (
        unit, of, seg, pack, rho, weight, Z, arms, brief, tiny.max(), item_kind, block, ptr, src, lo, hi, gptr, vptr,
        law, set_of, shape, mu, r0, semi, vertices, vertex_ptr, facets, facet_ptr, length, C, W, T, J, Cb, q, p, par,
        wn, sd, G, rim, V, F,
    )  # fmt: skip
    if threads:
        _finish_parallel(*known)
    else:
        for u in range(len(of)):
            _finish(u, *known)
    rows = island_rows(phase, seg, ptr)
    return (
        begin, phase, rows, seg, block, ptr, src, a, b, J, q, p, par, wn, sd, T, L, Cb, gptr, G, rim, vptr, V, weight,
        F, B, arms, pack, Z,
    )  # fmt: skip
