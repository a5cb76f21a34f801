"""The scaled map of the islands during the sweeps: the measure of the certificate, on the data of the sweeps.

`rho` is the step of the map, one for each block: its inertia, or 1 where a problem asks for the unit step.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...friction.kernels import round_map
from ...problem.laws import BOX, EQUALITY
from ...problem.records import Laws
from ...problem.residuals import SCALED, block_residuals
from ...runtime.jit import njit, prange
from ...runtime.lanes import WIDTH
from . import kinds
from .order import PHASES, stride
from .point_contacts import measure_point_contacts
from .point_contacts_simd import measure_packs
from .records import Array
from .sweep_island import body_state


class State(NamedTuple):
    """Impulses and the velocities that they give, from which the scaled map is computed (a part of `records.Work`)."""

    free: Array  # (nr,) velocities of the rows without impulses [m/s]
    q: Array  # (n,) the same in the frames
    p: Array  # (n,) impulses in the frames
    w: Array  # (slots, d) state of the bodies
    v: Array  # (slots, d) and their velocities, where rows need them


@njit(leaf=True)
def body_velocities(low, high, L, w, v):
    """Set v = L w for the bodies low..high: the velocity that impulses have given them."""
    d = w.shape[1]
    for i in range(low, high):
        for j in range(d):
            s = 0.0
            for k in range(j + 1):
                s += L[i, j, k] * w[i, k]
            v[i, j] = s


@njit(inline=True)
def block_map(laws, k, n, mu, rho, r, u, p):
    """The square of the scaled map of n rows u, p of block k, which are in metres.

    They begin with row r of the problem; mu: the radius of its round cone.
    """
    error2 = 0.0
    if laws.law[k] == EQUALITY:
        for j in range(n):
            error2 += u[j] * u[j]
        return error2
    if laws.law[k] == BOX:
        for j in range(n):
            low, high = laws.lo[r + j] / laws.length[r + j], laws.hi[r + j] / laws.length[r + j]
            error2 += ((p[j] - min(max(p[j] - rho * u[j], low), high)) / rho) ** 2
        return error2
    if n == 1 or mu == 0.0:
        error2 = (p[0] - max(0.0, p[0] - rho * u[0])) ** 2
        for j in range(1, n):
            error2 += p[j] * p[j]
        return error2 / (rho * rho)
    u0, u1, u2, p2 = u[0], u[1], 0.0, 0.0
    if n == 3:
        u2, p2 = u[2], p[2]
    if not laws.associated:
        u0 += mu * math.sqrt(u1 * u1 + u2 * u2)
    return round_map(mu, rho, p[0], p[1], p2, u0, u1, u2)


@njit
def _measure_by_rows(start, stop, skip_start, skip_stop, entries, T, laws, body_rows, rho, state):
    """`measure_round` for the entries start..stop without skip_start..skip_stop, by their rows."""
    free, p, v = state.free, state.p, state.v
    Ja, Jb, a, b, block = body_rows.Ja, body_rows.Jb, entries.a, entries.b, entries.block
    ptr, src, C, length, mu = entries.ptr, entries.src, laws.C, laws.length, laws.mu
    semi, set_of = laws.semi, laws.set_of
    d = v.shape[1]
    u, f = np.empty(6), np.empty(6)
    error2 = 0.0
    for i in range(start, stop):
        if skip_start <= i < skip_stop:
            continue
        k = block[i]
        n = ptr[i + 1] - ptr[i]
        for j in range(n):
            r = src[ptr[i] + j]
            f[j] = 0.0
            for l in range(n):
                f[j] += T[ptr[i] + j, l] * p[ptr[i] + l]
            s = free[r] + C[r] * f[j]
            for l in range(d):
                s += Ja[r, l] * v[a[i], l] + Jb[r, l] * v[b[i], l]
            u[j], f[j] = s * length[r], f[j] / length[r]
        edge = mu[k] * semi[set_of[k], 0]
        error2 += block_map(laws, k, n, edge, rho[k], src[ptr[i]], u, f)
    return error2


@njit(leaf=True)
def measure_round(c, entries, local, packed, laws, body_rows, rho, state):
    """Sum of squares of the scaled map over a cell with round cones only."""
    q, p, w = state.q, state.p, state.w
    error2, skip_start, skip_stop = 0.0, entries.seg[c, kinds.DISK], entries.seg[c, kinds.DISK]
    if packed.point_contacts:
        start, first, last = entries.seg[c, kinds.DISK], packed.pack[c], packed.pack[c + 1]
        error2 = measure_packs(first, last, start, entries, packed, q, p, w)
        start, skip_stop = start + WIDTH * (last - first), entries.seg[c, kinds.DISK + 1]
        error2 += measure_point_contacts(start, skip_stop, entries, local.Cb, packed, q, p, w, laws, rho)
    if skip_stop - skip_start == entries.seg[c, kinds.KINDS] - entries.seg[c, 0]:
        return error2
    start, stop = entries.seg[c, 0], entries.seg[c, kinds.KINDS]
    return error2 + _measure_by_rows(start, stop, skip_start, skip_stop, entries, local.T, laws, body_rows, rho, state)


@njit(sealed=True)
def measure_any(isl, work):
    """Sum of squares of the scaled map of an island with blocks of any law, by the kernel of the certificate."""
    entries, laws, body_rows, p, v = work.entries, work.laws, work.body_rows, work.p, work.v
    T, free, rho = work.local.T, work.free, work.rho
    Ja, Jb, a, b, block = body_rows.Ja, body_rows.Jb, entries.a, entries.b, entries.block
    ptr, src, C, hi, length = entries.ptr, entries.src, laws.C, laws.hi, laws.length
    lo, row_ptr = laws.lo, laws.row_ptr
    d = v.shape[1]
    start, stop = entries.seg[entries.phase[isl, 0], 0], entries.seg[entries.phase[isl, PHASES] - 1, kinds.KINDS]
    # the island's blocks as a small problem
    count = 0
    for i in range(start, stop):
        if i == start or block[i] != block[i - 1]:
            count += 1
    blocks, island_ptr = np.empty(count, np.int64), np.zeros(count + 1, np.int64)
    count = 0
    for i in range(start, stop):
        if i == start or block[i] != block[i - 1]:
            blocks[count] = block[i]
            island_ptr[count + 1] = island_ptr[count] + row_ptr[block[i] + 1] - row_ptr[block[i]]
            count += 1
    n = island_ptr[count]
    uu, pp = np.zeros(n), np.zeros(n)
    low, high, long = np.empty(n), np.empty(n), np.empty(n)
    at = -1
    for i in range(start, stop):
        if i == start or block[i] != block[i - 1]:
            at += 1
            for r in range(row_ptr[block[i]], row_ptr[block[i] + 1]):
                m = island_ptr[at] + r - row_ptr[block[i]]
                low[m], high[m], long[m] = lo[r], hi[r], length[r]
                s = free[r]
                for l in range(d):
                    s += Ja[r, l] * v[a[i], l] + Jb[r, l] * v[b[i], l]
                uu[m] = s
        for j in range(ptr[i + 1] - ptr[i]):
            r = src[ptr[i] + j]
            m = island_ptr[at] + r - row_ptr[block[i]]
            for l in range(ptr[i + 1] - ptr[i]):
                pp[m] += T[ptr[i] + j, l] * p[ptr[i] + l]
            uu[m] += C[r] * pp[m]
    table, mode = np.empty((count, SCALED + 1)), np.empty(count, np.int64)
    island_laws = Laws(
        laws.law[blocks], island_ptr, laws.set_of[blocks], laws.mu[blocks], laws.r0[blocks], laws.shape, laws.semi,
        laws.vertices, laws.vertex_ptr, laws.facets, laws.facet_ptr, low, high, long, laws.C, laws.associated,
    )  # fmt: skip
    block_residuals(island_laws, rho[blocks], uu, pp, table, mode)
    error2 = 0.0
    for k in range(count):
        error2 += table[k, SCALED] ** 2
    return error2


@njit(parallel=True)
def _measure_parallel(first, last, error2, entries, local, packed, laws, body_rows, rho, state):
    n = last - first
    step = stride(n)
    for k in prange(n):
        at = np.int64(k) * step % n
        error2[at] = measure_round(first + at, entries, local, packed, laws, body_rows, rho, state)


@njit
def _measure_cells(first, last, entries, local, packed, laws, body_rows, rho, state):
    """The sum of `measure_round` over the cells first..last on several threads, added up in the order of cells."""
    error2 = np.empty(last - first)
    _measure_parallel(first, last, error2, entries, local, packed, laws, body_rows, rho, state)
    total = 0.0
    for c in range(last - first):
        total += error2[c]
    return total


@njit(leaf=True, sealed=True)
def measure_island(isl, parallel, rebuild, work):
    """Sum of squares of the scaled map of an island.

    rebuild: whether w is made from p first, so that it does not keep the round-off of many sweeps.
    """
    phase, seg = work.entries.phase, work.entries.seg
    if rebuild:
        body_state(isl, parallel, work.entries, work.packed, work.p, work.w)
    needs_velocities = not (work.packed.point_contacts and work.round_cones)
    for c in range(phase[isl, 0], phase[isl, PHASES]):
        needs_velocities = (
            needs_velocities or seg[c, kinds.DISK] > seg[c, 0] or seg[c, kinds.KINDS] > seg[c, kinds.DISK + 1]
        )
    if needs_velocities:  # contacts in compact form need w alone
        body_velocities(work.entries.begin[isl], work.entries.begin[isl + 1], work.L, work.w, work.v)
    if not work.round_cones:
        return measure_any(isl, work)
    first, last = phase[isl, 0], phase[isl, PHASES]
    arguments = work.entries, work.local, work.packed, work.laws, work.body_rows, work.rho
    state = State(work.free, work.q, work.p, work.w, work.v)
    if parallel and last - first > 1:
        return _measure_cells(first, last, *arguments, state)
    total = 0.0
    for c in range(first, last):
        total += measure_round(c, *arguments, state)
    return total
