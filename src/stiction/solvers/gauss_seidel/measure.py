"""The scaled map of the islands during the sweeps: the certificate's own measure, on what the sweeps hold.

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
from .point_contacts import measure_arms
from .point_contacts_simd import measure_packs
from .records import Array
from .sweep_island import body_state


class State(NamedTuple):
    """Impulses, and the velocities that they give: what the scaled map judges (a part of `records.Work`)."""

    free: Array  # (nr,) velocities of the rows without impulses [m/s]
    q: Array  # (n,) the same in the frames
    p: Array  # (n,) impulses in the frames
    w: Array  # (slots, d) state of the bodies
    v: Array  # (slots, d) and their velocities, where rows need them


@njit(leaf=True)
def body_velocities(low, high, L, w, v):
    """v = L w for the bodies low..high: the velocity that impulses have given them."""
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
    missed = 0.0
    if laws.law[k] == EQUALITY:
        for j in range(n):
            missed += u[j] * u[j]
        return missed
    if laws.law[k] == BOX:
        for j in range(n):
            low, high = laws.lo[r + j] / laws.length[r + j], laws.hi[r + j] / laws.length[r + j]
            missed += ((p[j] - min(max(p[j] - rho * u[j], low), high)) / rho) ** 2
        return missed
    if n == 1 or mu == 0.0:
        missed = (p[0] - max(0.0, p[0] - rho * u[0])) ** 2
        for j in range(1, n):
            missed += p[j] * p[j]
        return missed / (rho * rho)
    u0, u1, u2, p2 = u[0], u[1], 0.0, 0.0
    if n == 3:
        u2, p2 = u[2], p[2]
    if not laws.associated:
        u0 += mu * math.sqrt(u1 * u1 + u2 * u2)
    return round_map(mu, rho, p[0], p[1], p2, u0, u1, u2)


@njit
def _measure_others(start, stop, without, until, items, T, laws, form, rho, state):
    """What `measure_round` says of the items start..stop but without..until."""
    free, p, v = state.free, state.p, state.v
    Ja, Jb, a, b, block = form.Ja, form.Jb, items.a, items.b, items.block
    ptr, src, C, length, mu = items.ptr, items.src, laws.C, laws.length, laws.mu
    semi, set_of = laws.semi, laws.set_of
    d = v.shape[1]
    u, f = np.empty(6), np.empty(6)
    missed = 0.0
    for i in range(start, stop):
        if without <= i < until:
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
        missed += block_map(laws, k, n, edge, rho[k], src[ptr[i]], u, f)
    return missed


@njit(leaf=True)
def measure_round(c, items, T, packed, laws, form, rho, state):
    """Sum of squares of the scaled map over a cell with round cones only."""
    q, p, w = state.q, state.p, state.w
    missed, without, until = 0.0, items.seg[c, kinds.DISK], items.seg[c, kinds.DISK]
    if packed.arms:
        start, first, last = items.seg[c, kinds.DISK], packed.pack[c], packed.pack[c + 1]
        missed = measure_packs(first, last, start, items.ptr[start], items.a, items.b, packed.Z, packed.B, q, p, w)
        start += WIDTH * (last - first)
        missed += measure_arms(start, items.seg[c, kinds.DISK + 1], items, packed, q, p, w, laws, rho)
        until = items.seg[c, kinds.DISK + 1]
    if until - without == items.seg[c, kinds.KINDS] - items.seg[c, 0]:
        return missed
    start, stop = items.seg[c, 0], items.seg[c, kinds.KINDS]
    return missed + _measure_others(start, stop, without, until, items, T, laws, form, rho, state)


@njit(sealed=True)
def measure_any(isl, work):
    """The same for an island with blocks of any law and friction set, by the kernel of the certificate."""
    items, laws, form, p, v = work.items, work.laws, work.form, work.p, work.v
    T, free, rho = work.local.T, work.free, work.rho
    Ja, Jb, a, b, block = form.Ja, form.Jb, items.a, items.b, items.block
    ptr, src, C, hi, length = items.ptr, items.src, laws.C, laws.hi, laws.length
    lo, row_ptr = laws.lo, laws.row_ptr
    d = v.shape[1]
    start, stop = items.seg[items.phase[isl, 0], 0], items.seg[items.phase[isl, PHASES] - 1, kinds.KINDS]
    # the island's blocks as a small problem of their own
    count = 0
    for i in range(start, stop):
        if i == start or block[i] != block[i - 1]:
            count += 1
    pick, own_ptr = np.empty(count, np.int64), np.zeros(count + 1, np.int64)
    count = 0
    for i in range(start, stop):
        if i == start or block[i] != block[i - 1]:
            pick[count] = block[i]
            own_ptr[count + 1] = own_ptr[count] + row_ptr[block[i] + 1] - row_ptr[block[i]]
            count += 1
    n = own_ptr[count]
    uu, pp = np.zeros(n), np.zeros(n)
    low, high, long = np.empty(n), np.empty(n), np.empty(n)
    at = -1
    for i in range(start, stop):
        if i == start or block[i] != block[i - 1]:
            at += 1
            for r in range(row_ptr[block[i]], row_ptr[block[i] + 1]):
                m = own_ptr[at] + r - row_ptr[block[i]]
                low[m], high[m], long[m] = lo[r], hi[r], length[r]
                s = free[r]
                for l in range(d):
                    s += Ja[r, l] * v[a[i], l] + Jb[r, l] * v[b[i], l]
                uu[m] = s
        for j in range(ptr[i + 1] - ptr[i]):
            r = src[ptr[i] + j]
            m = own_ptr[at] + r - row_ptr[block[i]]
            for l in range(ptr[i + 1] - ptr[i]):
                pp[m] += T[ptr[i] + j, l] * p[ptr[i] + l]
            uu[m] += C[r] * pp[m]
    table, mode = np.empty((count, SCALED + 1)), np.empty(count, np.int64)
    own = Laws(
        laws.law[pick], own_ptr, laws.set_of[pick], laws.mu[pick], laws.r0[pick], laws.shape, laws.semi, laws.vertices,
        laws.vertex_ptr, laws.facets, laws.facet_ptr, low, high, long, laws.C, laws.associated,
    )  # fmt: skip
    block_residuals(own, rho[pick], uu, pp, table, mode)
    missed = 0.0
    for k in range(count):
        missed += table[k, SCALED] ** 2
    return missed


@njit(parallel=True)
def _measure_parallel(first, last, missed, items, T, packed, laws, form, rho, state):
    n = last - first
    step = stride(n)
    for k in prange(n):
        at = np.int64(k) * step % n
        missed[at] = measure_round(first + at, items, T, packed, laws, form, rho, state)


@njit
def _measure_cells(first, last, items, T, packed, laws, form, rho, state):
    """What `measure_round` says of the cells first..last, on several threads: added up in the order of cells."""
    missed = np.empty(last - first)
    _measure_parallel(first, last, missed, items, T, packed, laws, form, rho, state)
    total = 0.0
    for c in range(last - first):
        total += missed[c]
    return total


@njit(leaf=True, sealed=True)
def measure_island(isl, parallel, anew, work):
    """Sum of squares of the scaled map of an island.

    anew: w is made from p, else it is what sweeps have left; the round-off of many must not stay in it.
    """
    phase, seg = work.items.phase, work.items.seg
    if anew:
        body_state(isl, parallel, work.items, work.packed, work.p, work.w)
    others = not (work.packed.arms and work.plain)
    for c in range(phase[isl, 0], phase[isl, PHASES]):
        others = others or seg[c, kinds.DISK] > seg[c, 0] or seg[c, kinds.KINDS] > seg[c, kinds.DISK + 1]
    if others:  # contacts that are known by their arms need w alone
        body_velocities(work.items.begin[isl], work.items.begin[isl + 1], work.L, work.w, work.v)
    if not work.plain:
        return measure_any(isl, work)
    first, last = phase[isl, 0], phase[isl, PHASES]
    known = work.items, work.local.T, work.packed, work.laws, work.form, work.rho
    state = State(work.free, work.q, work.p, work.w, work.v)
    if parallel and last - first > 1:
        return _measure_cells(first, last, *known, state)
    total = 0.0
    for c in range(first, last):
        total += measure_round(c, *known, state)
    return total
