"""The scaled map of the islands during the sweeps: the certificate's own measure, on what the sweeps hold.

`rho` is the step of the map, one for each block: its inertia, or 1 where a problem asks for the unit step.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import njit, prange
from .._lanes import WIDTH
from ..problem.laws import BOX, EQUALITY
from ..problem.residuals import block_residuals
from .nsgs_arms import measure_arms
from .nsgs_islands import body_state
from .nsgs_kernels import DISK, KINDS
from .nsgs_lanes import measure_packs
from .nsgs_order import PHASES, stride

SCALED = 8  # the column of `block_residuals`


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


@njit(leaf=True)
def _round_cone(a, n, x, y):
    """y: the point of the cone |y_t| <= a·y_n nearest to x, with n tangent entries."""
    size = 0.0
    for k in range(1, n + 1):
        size += x[k] * x[k]
    size = math.sqrt(size)
    if size <= a * x[0]:
        for k in range(n + 1):
            y[k] = x[k]
    elif a * size <= -x[0]:
        for k in range(n + 1):
            y[k] = 0.0
    else:
        y[0] = (x[0] + a * size) / (1.0 + a * a)
        for k in range(1, n + 1):
            y[k] = a * y[0] * x[k] / size


@njit(leaf=True)
def block_map(law, n, mu, associated, rho, lo, hi, length, r, u, p, x, y):
    """The square of the scaled map of a block whose rows u, p are in metres; u may be changed.

    Its rows from r on have the bounds lo, hi, which are not.
    """
    missed = 0.0
    if law == EQUALITY:
        for k in range(n):
            missed += u[k] * u[k]
        return missed
    if law == BOX:
        for k in range(n):
            low, high = lo[r + k] / length[r + k], hi[r + k] / length[r + k]
            missed += ((p[k] - min(max(p[k] - rho * u[k], low), high)) / rho) ** 2
        return missed
    if n == 1:
        return ((p[0] - max(0.0, p[0] - rho * u[0])) / rho) ** 2
    if not associated:
        slip = 0.0
        for k in range(1, n):
            slip += u[k] * u[k]
        u[0] += mu * math.sqrt(slip)
    for k in range(n):
        x[k] = p[k] - rho * u[k]
    _round_cone(mu, n - 1, x, y)
    for k in range(n):
        missed += ((p[k] - y[k]) / rho) ** 2
    return missed


@njit
def _measure_others(
    start, stop, without, until, block, ptr, src, a, b, T, p, v, free, Ja, Jb, C, law, set_of, mu, semi,
    lo, hi, length, rho, associated,
):  # fmt: skip
    """What `measure_round` says of the items start..stop but without..until."""
    d = v.shape[1]
    u, f, x, y = np.empty(6), np.empty(6), np.empty(6), np.empty(6)
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
        missed += block_map(law[k], n, edge, associated, rho[k], lo, hi, length, src[ptr[i]], u, f, x, y)
    return missed


@njit(leaf=True)
def measure_round(
    c, seg, block, ptr, src, a, b, T, p, v, free, Ja, Jb, C, law, row_ptr, set_of, mu, semi, lo, hi, length, rho,
    associated, w, q, F, B, arms, pack, Z,
):  # fmt: skip
    """Sum of squares of the scaled map over a cell with round cones only."""
    missed, without, until = 0.0, seg[c, DISK], seg[c, DISK]
    if arms:
        start, first, last = seg[c, DISK], pack[c], pack[c + 1]
        missed = measure_packs(first, last, start, ptr[start], a, b, Z, B, q, p, w)
        start += WIDTH * (last - first)
        missed += measure_arms(start, seg[c, DISK + 1], block, ptr, a, b, F, B, q, p, w, set_of, mu, semi, rho)
        until = seg[c, DISK + 1]
    if until - without == seg[c, KINDS] - seg[c, 0]:
        return missed
    return missed + _measure_others(
        seg[c, 0], seg[c, KINDS], without, until, block, ptr, src, a, b, T, p, v, free, Ja, Jb, C, law, set_of, mu,
        semi, lo, hi, length, rho, associated,
    )  # fmt: skip


@njit(sealed=True)
def measure_any(
    isl, phase, seg, block, ptr, src, a, b, T, p, v, free, Ja, Jb, C, law, row_ptr, set_of, mu, r0, shape, semi,
    vertices, vertex_ptr, facets, facet_ptr, lo, hi, length, rho, associated,
):  # fmt: skip
    """The same for blocks of any law and friction set, by the kernel of the certificate."""
    d = v.shape[1]
    start, stop = seg[phase[isl, 0], 0], seg[phase[isl, PHASES] - 1, KINDS]
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
    block_residuals(
        law[pick], own_ptr, set_of[pick], mu[pick], r0[pick], shape, semi, vertices, vertex_ptr, facets, facet_ptr,
        low, high, long, associated, rho[pick], uu, pp, table, mode,
    )  # fmt: skip
    missed = 0.0
    for k in range(count):
        missed += table[k, SCALED] ** 2
    return missed


@njit(parallel=True)
def _measure_parallel(
    first, last, missed, seg, block, ptr, src, a, b, T, p, v, free, Ja, Jb, C, law, row_ptr, set_of, mu, semi, lo, hi,
    length, rho, associated, w, q, F, B, arms, pack, Z,
):  # fmt: skip
    n = last - first
    step = stride(n)
    for k in prange(n):
        at = np.int64(k) * step % n
        missed[at] = measure_round(
            first + at, seg, block, ptr, src, a, b, T, p, v, free, Ja, Jb, C, law, row_ptr, set_of, mu, semi, lo, hi,
            length, rho, associated, w, q, F, B, arms, pack, Z,
        )  # fmt: skip


@njit
def _measure_cells(first, last, facts):
    """What `measure_round` says of the cells first..last, on several threads: added up in the order of cells."""
    missed = np.empty(last - first)
    _measure_parallel(first, last, missed, *facts)
    total = 0.0
    for c in range(last - first):
        total += missed[c]
    return total


@njit(leaf=True, sealed=True)
def measure_island(isl, low, high, parallel, anew, facts):
    """Sum of squares of the scaled map of an island.

    anew: w is made from p, else it is what sweeps have left; the round-off of many must not stay in it.
    """
    (
        phase, seg, block, ptr, src, a, b, J, T, L, p, w, v, free, Ja, Jb, C, law, row_ptr, set_of, mu, r0, shape,
        semi, vertices, vertex_ptr, facets, facet_ptr, lo, hi, length, rho, associated, plain, q, F, B, arms, pack, Z,
    ) = facts  # fmt: skip
    if anew:
        body_state(isl, low, high, parallel, phase, seg, ptr, a, b, J, p, w, F, B, arms, pack, Z)
    others = not (arms and plain)
    for c in range(phase[isl, 0], phase[isl, PHASES]):
        others = others or seg[c, DISK] > seg[c, 0] or seg[c, KINDS] > seg[c, DISK + 1]
    if others:  # contacts that are known by their arms need w alone
        body_velocities(low, high, L, w, v)
    if not plain:
        return measure_any(
            isl, phase, seg, block, ptr, src, a, b, T, p, v, free, Ja, Jb, C, law, row_ptr, set_of, mu, r0, shape, semi,
            vertices, vertex_ptr, facets, facet_ptr, lo, hi, length, rho, associated,
        )  # fmt: skip
    first, last = phase[isl, 0], phase[isl, PHASES]
    known = (
        seg, block, ptr, src, a, b, T, p, v, free, Ja, Jb, C, law, row_ptr, set_of, mu, semi, lo, hi, length, rho,
        associated, w, q, F, B, arms, pack, Z,
    )  # fmt: skip
    if parallel and last - first > 1:
        return _measure_cells(first, last, known)
    total = 0.0
    for c in range(first, last):
        total += measure_round(c, *known)
    return total
