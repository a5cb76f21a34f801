"""Everything that block Gauss–Seidel on bodies computes once per problem, in one call."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...runtime.jit import njit, prange
from ...runtime.lanes import AHEAD, WIDTH, aligned, fetch
from . import kinds
from .island_newton import band_of
from .local_frames import frames, least_diagonal
from .order import PHASES, find_cells, order_bodies
from .packed_rows import body_factors, rows_planar, rows_spatial, turn_rows
from .point_contacts import ARMS, FACTORS, arms_delassus, body_triangle, contact_arms, turn_arms
from .point_contacts_simd import PACK, PACKED_CONTACTS, fill_packs, load_packs
from .records import Array, LocalProblems, PackedRows, SweepList, Work
from .sweep_island import island_rows, row_weights
from .sweep_list import list_items

_THREADED_ITEMS = 10_000  # from which threads share the work
_CHUNKS = 64  # parts that threads take
_UNIT_ITEMS = 32 * WIDTH  # that are finished together: what is known of them stays in the cache meanwhile


class Raw(NamedTuple):
    """What the items are made from, in the rows of the problem."""

    omega: Any  # over-relaxation
    p0: Array  # (nr,) the first guess
    brief: Array  # (ni,) whether an item is known by its arms alone
    W: Array  # (n, widest) each item's own Delassus matrix
    tiny: Array  # (_CHUNKS,) what counts as zero on its diagonal, as far as each part of the items goes


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
def _places(start, stop, items, ends, world, form, F):
    """The slots of the bodies of the items start..stop, and the arms of contacts: False if one has none."""
    fits, block, ptr, src, a, b = True, items.block, items.ptr, items.src, items.a, items.b
    for i in range(start, stop):
        if i + AHEAD < stop:
            fetch(ends, block[i + AHEAD], 1)
            fetch(form.Ja, src[ptr[i + AHEAD]], 3)
            fetch(form.Jb, src[ptr[i + AHEAD]], 3)
        a[i], b[i] = ends[block[i], 0], ends[block[i], 1]
        if len(F) and items.kind[i] == kinds.DISK:
            fits = contact_arms(i, src[ptr[i]], a[i], b[i], world, form.Ja, form.Jb, F) and fits
    return fits


@njit(parallel=True)
def _places_parallel(items, ends, world, form, F, fits):
    n = len(items.block)
    for part in prange(_CHUNKS):
        c = np.int64(part)
        fits[c] = _places(n * c // _CHUNKS, n * (c + 1) // _CHUNKS, items, ends, world, form, F)


@njit(leaf=True)
def _rows(start, stop, raw, items, packed, laws, form, free, L, q, p):
    """Each item's own W, q and p in the order of items, and packed rows of those that are not brief: known by arms.

    Returns what counts as zero on the diagonal of W, as far as these items go.
    """
    omega, p0, brief, W, _ = raw
    ptr, src, a, b = items.ptr, items.src, items.a, items.b
    if packed.J.shape[1] == 12:
        rows_spatial(start, stop, brief, ptr, src, a, b, form, L, laws.C, packed.J, W)
    else:
        rows_planar(start, stop, brief, ptr, src, a, b, form, L, laws.C, packed.J, W)
    for i in range(start, stop):
        if i + AHEAD < stop:
            fetch(free, src[ptr[i + AHEAD]], 1)
            fetch(p0, src[ptr[i + AHEAD]], 1)
        if brief[i]:
            arms_delassus(i, ptr[i], a[i], b[i], packed.F, packed.B, W)
        for r in range(ptr[i], ptr[i + 1]):
            q[r], p[r] = free[src[r]], p0[src[r]]
            if omega != 1.0:
                for l in range(ptr[i + 1] - ptr[i]):
                    W[r, l] /= omega
    return least_diagonal(start, stop, ptr, src, laws.length, W)


@njit(parallel=True)
def _rows_parallel(raw, items, packed, laws, form, free, L, q, p):
    n = len(items.block)
    for part in prange(_CHUNKS):
        c = np.int64(part)
        start, stop = n * c // _CHUNKS, n * (c + 1) // _CHUNKS
        raw.tiny[c] = _rows(start, stop, raw, items, packed, laws, form, free, L, q, p)


@njit(leaf=True, sealed=True)
def _finish(u, unit, of, least, raw, items, local, packed, laws, rho, q, p):
    """The frames of the items of unit u, their rows and arms in them, their weights, and their packs.

    least: what counts as zero on the diagonal of W.
    """
    start, stop, c = unit[u], unit[u + 1], of[u]
    for i in range(start, stop):
        fetch(laws.set_of, items.block[i], 1)
        fetch(laws.mu, items.block[i], 1)
        fetch(rho, items.block[i], 1)
        for k in range(kinds.PARAMETERS):
            local.par[i, k] = 0.0
        for r in range(items.ptr[i], items.ptr[i + 1]):
            local.wn[r], local.sd[r] = 0.0, 0.0
            for k in range(local.T.shape[1]):
                local.T[r, k] = 0.0
    frames(start, stop, least, items, local, laws, raw.W, q, p)
    turn_rows(start, stop, raw.brief, items.ptr, items.src, local.T, laws.C, packed.J, local.Cb)
    row_weights(start, stop, items, local)
    if packed.arms:
        for i in range(start, stop):
            if items.kind[i] == kinds.DISK:
                turn_arms(i, items.ptr[i], local.T, packed.F)
        if start >= items.seg[c, kinds.DISK]:
            first = packed.pack[c] + (start - items.seg[c, kinds.DISK]) // WIDTH
            last = min(packed.pack[c + 1], first + (stop - start) // WIDTH)
            load_packs(start, first, last, packed.F, local.par, items.block, laws.set_of, laws.semi, rho, packed.Z)


@njit(parallel=True)
def _finish_parallel(unit, of, least, raw, items, local, packed, laws, rho, q, p):
    for part in prange(len(of)):
        _finish(np.int64(part), unit, of, least, raw, items, local, packed, laws, rho, q, p)


@njit
def _units(seg):
    """unit (n + 1,): items from where to where are finished together, and of (n,): their cells; packs stay whole."""
    most = seg[-1, kinds.KINDS] // _UNIT_ITEMS + 2 * seg.shape[0]
    unit, of, n = np.zeros(most + 1, np.int64), np.empty(most, np.int64), 0
    for c in range(seg.shape[0]):
        at = seg[c, 0]
        while at < seg[c, kinds.KINDS]:
            at = min(at + _UNIT_ITEMS, seg[c, kinds.DISK] if at < seg[c, kinds.DISK] else seg[c, kinds.KINDS])
            of[n], unit[n + 1] = c, at
            n += 1
    return unit[: n + 1], of[:n]


@njit
def _pack_cell(c, likely, seg, block, ptr, src, ends, world):
    """The number of packs of a cell's contacts, which are put in this order.

    Those that will act share packs with each other: packs that do not act are passed over by most sweeps.
    """
    start, stop = seg[c, kinds.DISK], seg[c, kinds.DISK + 1]
    n = stop - start
    if n < PACKED_CONTACTS:
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
def _by_arms(arms, plain, items, brief, wanted):
    """brief (ni,): contacts of islands that are too large for Newton's method, which alone needs their rows.

    wanted (moving,): the bodies whose whole factors are needed, for rows or for the natural map; returns whether any.
    """
    some, phase, seg = False, items.phase, items.seg
    for isl in range(phase.shape[0]):
        large = arms and band_of(isl, items, 6) < 0
        whole = not (arms and plain)
        for i in range(seg[phase[isl, 0], 0], seg[phase[isl, PHASES] - 1, kinds.KINDS]):
            brief[i] = large and items.kind[i] == kinds.DISK
            whole = whole or not brief[i]
        for i in range(items.begin[isl], items.begin[isl + 1]):
            wanted[i] = whole
        some = some or whole
    return some


@njit(sealed=True)
def prepare(laws, form, free, rho, p0, omega, parallel, kind, times, plain, near, likely):
    """The `Work` of a problem on `Bodies`: its items in order, with packed rows and frames.

    free (nr,): q of the problem; rho (nk,): the blocks' weights; p0 (nr,): the first guess; omega: over-relaxation;
    kind, times (nk,), plain: from `classify`; near (nk,): the blocks that are taken, the others are left out, at an
    impulse of 0; likely (nk,): those that will hardly be open.
    """
    C = laws.C
    d = form.Minv.shape[1]
    slot, begin, chunk = order_bodies(form.body_a, form.body_b, near, form.Minv)
    moving = begin[-1]
    places, phase = find_cells(parallel, form.body_a, form.body_b, near, times, slot, begin, chunk)
    ends, cells = places.ends, phase[-1, -1]
    block, item_kind, ptr, src, seg, gptr, vptr = list_items(
        laws, kind, places.taken, places.cell, cells, places.place, moving
    )
    ni, nrows = len(block), len(src)
    threads, first = parallel and ni > _THREADED_ITEMS, np.int64(0)  # no literal: the signature of the threads' calls
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
    items = SweepList(
        begin, phase, island_rows(phase, seg, ptr), seg, item_kind, block, ptr, src, np.empty(ni, np.int64),
        np.empty(ni, np.int64), gptr, vptr,
    )  # fmt: skip
    B = aligned(moving + 1 if d == 6 and not compliant else 0, FACTORS)
    B[-1:] = 0.0  # what cannot move
    arms = _triangles(threads, form.Minv, slot, B)
    F, fits = aligned(ni if arms else 0, ARMS), np.ones(_CHUNKS, np.bool_)
    if threads:
        _places_parallel(items, ends, moving, form, F, fits)
    else:
        fits[0] = _places(first, ni, items, ends, moving, form, F)
    arms = arms and fits.all()
    brief, wanted = np.empty(ni, np.bool_), np.empty(moving, np.bool_)
    some = _by_arms(arms, plain, items, brief, wanted)
    L = np.empty((moving + 1 if some else 0, d, d))
    if some:
        body_factors(form.Minv, slot, wanted, L)
    wide = 3  # rows of the largest item
    for i in range(ni):
        wide = max(wide, ptr[i + 1] - ptr[i])
    raw = Raw(omega, p0, brief, np.empty((nrows, wide)), np.zeros(_CHUNKS))
    local = LocalProblems(
        np.empty((ni, kinds.PARAMETERS)), np.empty(nrows), np.empty(nrows), np.empty((nrows, wide)),
        np.zeros((nrows if compliant else 0, 6)), np.zeros((gptr[-1], 6)), np.zeros(gptr[-1]), np.zeros((vptr[-1], 6)),
        np.empty(nrows),
    )  # fmt: skip
    packed = PackedRows(np.empty((nrows, 2 * d)), F, B, arms, pack, aligned(pack[-1] if arms else 0, PACK).ravel())
    q, p, w, v = np.empty(nrows), np.empty(nrows), np.empty((moving + 1, d)), np.empty((moving + 1, d))
    if threads:
        _rows_parallel(raw, items, packed, laws, form, free, L, q, p)
    else:
        raw.tiny[0] = _rows(first, ni, raw, items, packed, laws, form, free, L, q, p)
    unit, of = _units(seg)
    least = raw.tiny.max()
    if threads:
        _finish_parallel(unit, of, least, raw, items, local, packed, laws, rho, q, p)
    else:
        for u in range(len(of)):
            _finish(u, unit, of, least, raw, items, local, packed, laws, rho, q, p)
    return Work(items, local, packed, laws, form, free, rho, L, q, p, w, v, plain)
