"""The preparation of block Gauss–Seidel on bodies: all that it computes once per problem, in one call."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...runtime.jit import njit, prange
from ...runtime.lanes import PREFETCH_TURNS, WIDTH, aligned, prefetch
from . import kinds
from .island_newton import band_of
from .local_frames import diagonal_floor, make_frames
from .order import PHASES, find_cells, order_bodies
from .packed_rows import body_factors, pack_rows_planar, pack_rows_spatial, turn_rows
from .point_contacts import (
    BODY_FACTORS,
    POINT_CONTACT_SIZE,
    compact_factors,
    evenly_compliant,
    make_point_contact,
    point_contact_delassus,
    set_compliance,
    turn_point_contact,
)
from .point_contacts_simd import PACK_COMPLIANCE, PACK_SIZE, PACKED_MIN_CONTACTS, fill_packs, load_packs
from .records import Array, LocalProblems, PackedRows, SweepList, Work
from .sweep_island import island_rows, row_weights
from .sweep_list import list_entries

_THREADS_MIN_ENTRIES = 10_000  # from which on threads share the preparation
_THREAD_PARTS = 64  # into which entries and bodies are divided among threads
_UNIT_ENTRIES = 32 * WIDTH  # that are finished together, so that their data stay in the cache meanwhile


class RawEntries(NamedTuple):
    """The data from which the entries are made, in the rows of the problem."""

    omega: Any  # over-relaxation
    p0: Array  # (nr,) the first guess
    compact: Array  # (ni,) whether an entry is stored in compact form alone (`point_contacts`)
    W: Array  # (n, widest) each entry's own Delassus matrix
    tiny: Array  # (_THREAD_PARTS,) what counts as zero on the diagonal of W, by the entries of each part


@njit(leaf=True)
def _compact_part(c, parts, Minv, slot, B):
    """Set the factors of part c of the bodies; False where a body does not have the compact form."""
    n, fits = len(slot), True
    for i in range(n * c // parts, n * (c + 1) // parts):
        if slot[i] < len(B) - 1:
            fits = compact_factors(Minv, i, slot[i], B) and fits
    return fits


@njit(parallel=True)
def _compact_parallel(Minv, slot, B, fits):
    for part in prange(_THREAD_PARTS):
        c = np.int64(part)
        fits[c] = _compact_part(c, _THREAD_PARTS, Minv, slot, B)


@njit
def _all_compact_factors(threads, Minv, slot, B):
    """Set the factors of all bodies that move; returns whether all have the compact form."""
    fits = np.ones(_THREAD_PARTS, np.bool_)
    if threads:
        _compact_parallel(Minv, slot, B, fits)
    else:
        fits[0] = _compact_part(np.int64(0), 1, Minv, slot, B)
    return len(B) > 0 and fits.all()


@njit(leaf=True)
def _place_entries(start, stop, entries, body_slots, world, laws, body_rows, F):
    """Set the body slots of the entries start..stop, and contacts in compact form; False if one has no such form."""
    fits, block, ptr, src, a, b = True, entries.block, entries.ptr, entries.src, entries.a, entries.b
    for i in range(start, stop):
        if i + PREFETCH_TURNS < stop:
            prefetch(body_slots, block[i + PREFETCH_TURNS], 1)
            prefetch(body_rows.Ja, src[ptr[i + PREFETCH_TURNS]], 3)
            prefetch(body_rows.Jb, src[ptr[i + PREFETCH_TURNS]], 3)
        a[i], b[i] = body_slots[block[i], 0], body_slots[block[i], 1]
        if len(F) and entries.kind[i] == kinds.DISK:
            fits = make_point_contact(i, src[ptr[i]], a[i], b[i], world, body_rows.Ja, body_rows.Jb, F) and fits
            fits = fits and evenly_compliant(block[i], laws)
    return fits


@njit(parallel=True)
def _place_entries_parallel(entries, body_slots, world, laws, body_rows, F, fits):
    n = len(entries.block)
    for part in prange(_THREAD_PARTS):
        c = np.int64(part)
        fits[c] = _place_entries(
            n * c // _THREAD_PARTS, n * (c + 1) // _THREAD_PARTS, entries, body_slots, world, laws, body_rows, F
        )


@njit(leaf=True)
def _pack_entries(start, stop, raw, entries, packed, laws, body_rows, free, L, q, p):
    """Set W, q and p of the entries start..stop, and the packed rows of those that are not compact.

    Returns what counts as zero on the diagonal of W, by these entries.
    """
    omega, p0, compact, W, _ = raw
    ptr, src, a, b = entries.ptr, entries.src, entries.a, entries.b
    if packed.J.shape[1] == 12:
        pack_rows_spatial(start, stop, compact, ptr, src, a, b, body_rows, L, laws.C, packed.J, W)
    else:
        pack_rows_planar(start, stop, compact, ptr, src, a, b, body_rows, L, laws.C, packed.J, W)
    for i in range(start, stop):
        if i + PREFETCH_TURNS < stop:
            prefetch(free, src[ptr[i + PREFETCH_TURNS]], 1)
            prefetch(p0, src[ptr[i + PREFETCH_TURNS]], 1)
        if compact[i]:
            point_contact_delassus(i, ptr[i], a[i], b[i], packed.F, packed.B, W)
            for k in range(3):
                W[ptr[i] + k, k] += laws.C[src[ptr[i] + k]]
        for r in range(ptr[i], ptr[i + 1]):
            q[r], p[r] = free[src[r]], p0[src[r]]
            if omega != 1.0:
                for l in range(ptr[i + 1] - ptr[i]):
                    W[r, l] /= omega
    return diagonal_floor(start, stop, ptr, src, laws.length, W)


@njit(parallel=True)
def _pack_entries_parallel(raw, entries, packed, laws, body_rows, free, L, q, p):
    n = len(entries.block)
    for part in prange(_THREAD_PARTS):
        c = np.int64(part)
        start, stop = n * c // _THREAD_PARTS, n * (c + 1) // _THREAD_PARTS
        raw.tiny[c] = _pack_entries(start, stop, raw, entries, packed, laws, body_rows, free, L, q, p)


@njit(leaf=True, sealed=True)
def _finish_unit(u, unit, unit_cell, floor, raw, entries, local, packed, laws, rho, q, p):
    """Set the frames of the entries of unit u, turn their rows into them, and set their weights and packs.

    floor: what counts as zero on the diagonal of W.
    """
    start, stop, c = unit[u], unit[u + 1], unit_cell[u]
    for i in range(start, stop):
        prefetch(laws.set_of, entries.block[i], 1)
        prefetch(laws.mu, entries.block[i], 1)
        prefetch(rho, entries.block[i], 1)
        for k in range(kinds.PARAMETERS):
            local.par[i, k] = 0.0
        for r in range(entries.ptr[i], entries.ptr[i + 1]):
            local.wn[r], local.sd[r] = 0.0, 0.0
            for k in range(local.T.shape[1]):
                local.T[r, k] = 0.0
    make_frames(start, stop, floor, entries, local, laws, raw.W, q, p)
    turn_rows(start, stop, raw.compact, entries.ptr, entries.src, local.T, laws.C, packed.J, local.Cb)
    row_weights(start, stop, entries, local)
    if packed.point_contacts:
        for i in range(start, stop):
            if entries.kind[i] == kinds.DISK:
                turn_point_contact(i, entries.ptr[i], local.T, packed.F)
                if len(local.Cb):
                    set_compliance(i, entries.ptr[i], entries, laws, local.Cb)
        if start >= entries.seg[c, kinds.DISK]:
            first = packed.pack[c] + (start - entries.seg[c, kinds.DISK]) // WIDTH
            last = min(packed.pack[c + 1], first + (stop - start) // WIDTH)
            load_packs(start, first, last, entries, local, packed, laws, rho)


@njit(parallel=True)
def _finish_units_parallel(unit, unit_cell, floor, raw, entries, local, packed, laws, rho, q, p):
    for part in prange(len(unit_cell)):
        _finish_unit(np.int64(part), unit, unit_cell, floor, raw, entries, local, packed, laws, rho, q, p)


@njit
def _make_units(seg):
    """unit (n + 1,): where the units of entries begin, and unit_cell (n,): their cells; packs are not divided."""
    most = seg[-1, kinds.KINDS] // _UNIT_ENTRIES + 2 * seg.shape[0]
    unit, unit_cell, n = np.zeros(most + 1, np.int64), np.empty(most, np.int64), 0
    for c in range(seg.shape[0]):
        at = seg[c, 0]
        while at < seg[c, kinds.KINDS]:
            at = min(at + _UNIT_ENTRIES, seg[c, kinds.DISK] if at < seg[c, kinds.DISK] else seg[c, kinds.KINDS])
            unit_cell[n], unit[n + 1] = c, at
            n += 1
    return unit[: n + 1], unit_cell[:n]


@njit
def _pack_cell(c, likely, seg, block, ptr, src, body_slots, world):
    """Put the contacts of a cell in the order of packs; returns the number of packs.

    Contacts that probably act share packs with each other: most sweeps pass over packs that do not act.
    """
    start, stop = seg[c, kinds.DISK], seg[c, kinds.DISK + 1]
    n = stop - start
    if n < PACKED_MIN_CONTACTS:
        return 0
    a, b, first = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    count = 0
    for needed in (True, False):
        for i in range(n):
            if i + PREFETCH_TURNS < n:
                prefetch(body_slots, block[start + i + PREFETCH_TURNS], 1)
            k = block[start + i]
            if likely[k] == needed:
                a[count], b[count], first[count] = body_slots[k, 0], body_slots[k, 1], i
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
def _pack_cells_parallel(likely, seg, block, ptr, src, body_slots, world, packs):
    for c in prange(len(packs)):
        packs[c] = _pack_cell(np.int64(c), likely, seg, block, ptr, src, body_slots, world)


@njit
def _pack_contacts(threads, likely, seg, block, ptr, src, body_slots, world):
    """pack (cells + 1,): where the packs of each cell's contacts begin."""
    cells = seg.shape[0]
    packs, pack = np.empty(cells, np.int64), np.zeros(cells + 1, np.int64)
    if threads:
        _pack_cells_parallel(likely, seg, block, ptr, src, body_slots, world, packs)
    else:
        for c in range(cells):
            packs[c] = _pack_cell(c, likely, seg, block, ptr, src, body_slots, world)
    for c in range(cells):
        pack[c + 1] = pack[c] + packs[c]
    return pack


@njit(leaf=True)
def _choose_compact(point_contacts, round_cones, entries, compact, needed):
    """Set compact (ni,): contacts of islands that are too large for Newton's method, which alone needs their rows.

    needed (moving,): the bodies whose whole factors are needed, for rows or for the natural map; returns whether any.
    """
    any_whole, phase, seg = False, entries.phase, entries.seg
    for isl in range(phase.shape[0]):
        large = point_contacts and band_of(isl, entries, 6) < 0
        whole = not (point_contacts and round_cones)
        for i in range(seg[phase[isl, 0], 0], seg[phase[isl, PHASES] - 1, kinds.KINDS]):
            compact[i] = large and entries.kind[i] == kinds.DISK
            whole = whole or not compact[i]
        for i in range(entries.begin[isl], entries.begin[isl + 1]):
            needed[i] = whole
        any_whole = any_whole or whole
    return any_whole


@njit(sealed=True)
def prepare(laws, body_rows, free, rho, p0, omega, parallel, kind, entry_count, round_cones, active, likely):
    """The `Work` of a problem on `Bodies`: its entries in order, with packed rows and frames.

    free (nr,): q of the problem; rho (nk,): the blocks' weights; p0 (nr,): the first guess; omega: over-relaxation;
    kind, entry_count (nk,), round_cones: from `classify`; active (nk,): blocks that may act, all others are left out
    with an impulse of 0; likely (nk,): blocks that probably act.
    """
    C = laws.C
    d = body_rows.Minv.shape[1]
    slot, begin, chunk = order_bodies(body_rows.body_a, body_rows.body_b, active, body_rows.Minv)
    moving = begin[-1]
    places, phase = find_cells(parallel, body_rows.body_a, body_rows.body_b, active, entry_count, slot, begin, chunk)
    body_slots, cells = places.body_slots, phase[-1, -1]
    block, entry_kind, ptr, src, seg, gptr, vptr = list_entries(
        laws, kind, places.active_count, places.cell, cells, places.place, moving
    )
    ni, nrows = len(block), len(src)
    threads = parallel and ni > _THREADS_MIN_ENTRIES
    first = np.int64(0)  # no literal: the signature of the threads' calls
    pack = np.zeros(cells + 1, np.int64)
    if d == 6:
        pack = _pack_contacts(threads, likely, seg, block, ptr, src, body_slots, moving)
    compliant = False
    for r in range(len(C)):
        compliant = compliant or C[r] > 0.0
    if compliant:  # by the active blocks
        compliant = False
        for r in range(nrows):
            compliant = compliant or C[src[r]] > 0.0
    entries = SweepList(
        begin, phase, island_rows(phase, seg, ptr), seg, entry_kind, block, ptr, src, np.empty(ni, np.int64),
        np.empty(ni, np.int64), gptr, vptr,
    )  # fmt: skip
    B = aligned(moving + 1 if d == 6 else 0, BODY_FACTORS)
    B[-1:] = 0.0  # what cannot move
    point_contacts = _all_compact_factors(threads, body_rows.Minv, slot, B)
    F, fits = aligned(ni if point_contacts else 0, POINT_CONTACT_SIZE), np.ones(_THREAD_PARTS, np.bool_)
    if threads:
        _place_entries_parallel(entries, body_slots, moving, laws, body_rows, F, fits)
    else:
        fits[0] = _place_entries(first, ni, entries, body_slots, moving, laws, body_rows, F)
    point_contacts = point_contacts and fits.all()
    compact, needed = np.empty(ni, np.bool_), np.empty(moving, np.bool_)
    any_whole = _choose_compact(point_contacts, round_cones, entries, compact, needed)
    L = np.empty((moving + 1 if any_whole else 0, d, d))
    if any_whole:
        body_factors(body_rows.Minv, slot, needed, L)
    widest = 3  # rows of the largest entry
    for i in range(ni):
        widest = max(widest, ptr[i + 1] - ptr[i])
    raw = RawEntries(omega, p0, compact, np.empty((nrows, widest)), np.zeros(_THREAD_PARTS))
    local = LocalProblems(
        np.empty((ni, kinds.PARAMETERS)), np.empty(nrows), np.empty(nrows), np.empty((nrows, widest)),
        np.zeros((nrows if compliant else 0, 6)), np.zeros((gptr[-1], 6)), np.zeros(gptr[-1]), np.zeros((vptr[-1], 6)),
        np.empty(nrows),
    )  # fmt: skip
    packed = PackedRows(
        np.empty((nrows, 2 * d)), F, B, point_contacts, pack,
        aligned(pack[-1] if point_contacts else 0, PACK_SIZE).ravel(),
        aligned(pack[-1] if point_contacts and compliant else 0, PACK_COMPLIANCE).ravel(),
    )  # fmt: skip
    q, p, w, v = np.empty(nrows), np.empty(nrows), np.empty((moving + 1, d)), np.empty((moving + 1, d))
    if threads:
        _pack_entries_parallel(raw, entries, packed, laws, body_rows, free, L, q, p)
    else:
        raw.tiny[0] = _pack_entries(first, ni, raw, entries, packed, laws, body_rows, free, L, q, p)
    unit, unit_cell = _make_units(seg)
    floor = raw.tiny.max()
    if threads:
        _finish_units_parallel(unit, unit_cell, floor, raw, entries, local, packed, laws, rho, q, p)
    else:
        for u in range(len(unit_cell)):
            _finish_unit(u, unit, unit_cell, floor, raw, entries, local, packed, laws, rho, q, p)
    return Work(entries, local, packed, laws, body_rows, free, rho, L, q, p, w, v, round_cones)
