"""Products of the `Bodies` form as compiled loops over its blocks, and the scales that residuals are measured by.

Rows of block k act on body_a[k] and body_b[k], -1 for the fixed world; velocities are stacked body by body.
"""

from __future__ import annotations

import math

import numpy as np

from ..runtime.jit import njit, prange
from ..runtime.lanes import PREFETCH_TURNS, prefetch

THREADS_MIN_BLOCKS, THREAD_PARTS = 10_000, 64  # blocks from which threads share the work, and the parts they take
BODY_PARTS = 4  # into which bodies are divided among threads; each part passes over all blocks


@njit(leaf=True)
def rows_times(body_a, body_b, row_ptr, Ja, Jb, v, u):
    """u = H v with v (nbody, d)."""
    d = Ja.shape[1]
    for k in range(len(body_a)):
        a, b = body_a[k], body_b[k]
        for r in range(row_ptr[k], row_ptr[k + 1]):
            s = 0.0
            if a >= 0:
                for j in range(d):
                    s += Ja[r, j] * v[a, j]
            if b >= 0:
                for j in range(d):
                    s += Jb[r, j] * v[b, j]
            u[r] = s


@njit(leaf=True)
def rows_magnitude(body_a, body_b, row_ptr, Ja, Jb, v, u):
    """u = |H| |v|."""
    d = Ja.shape[1]
    for k in range(len(body_a)):
        a, b = body_a[k], body_b[k]
        for r in range(row_ptr[k], row_ptr[k + 1]):
            s = 0.0
            if a >= 0:
                for j in range(d):
                    s += abs(Ja[r, j] * v[a, j])
            if b >= 0:
                for j in range(d):
                    s += abs(Jb[r, j] * v[b, j])
            u[r] = s


@njit(leaf=True)
def _impulses(low, high, body_a, body_b, row_ptr, Ja, Jb, p, f):
    """f[low:high] of Hᵀ p: each body sums its blocks in their order, whatever the part it is in."""
    d = Ja.shape[1]
    for i in range(low, high):
        for j in range(d):
            f[i, j] = 0.0
    for k in range(len(body_a)):
        a, b = body_a[k], body_b[k]
        first, second = low <= a < high, low <= b < high
        if not (first or second):
            continue
        for r in range(row_ptr[k], row_ptr[k + 1]):
            if p[r] == 0.0:
                continue
            if first:
                for j in range(d):
                    f[a, j] += Ja[r, j] * p[r]
            if second:
                for j in range(d):
                    f[b, j] += Jb[r, j] * p[r]


@njit(leaf=True)
def impulses_on_bodies(body_a, body_b, row_ptr, Ja, Jb, p, f):
    """f (nbody, d) = Hᵀ p."""
    _impulses(0, f.shape[0], body_a, body_b, row_ptr, Ja, Jb, p, f)


@njit(parallel=True)
def _change_parallel(body_a, body_b, row_ptr, Ja, Jb, Minv, p, f, v):
    n = len(f)
    for part in prange(BODY_PARTS):
        c = np.int64(part)
        low, high = n * c // BODY_PARTS, n * (c + 1) // BODY_PARTS
        _impulses(low, high, body_a, body_b, row_ptr, Ja, Jb, p, f)
        add_velocity_change(Minv[low:high], f[low:high], v[low:high])


@njit
def velocity_change(parallel, body_a, body_b, row_ptr, Ja, Jb, Minv, p, v):
    """v (nbody, d) = M⁻¹ Hᵀ p."""
    f = np.empty(v.shape)
    for i in range(v.shape[0]):
        for j in range(v.shape[1]):
            v[i, j] = 0.0
    if parallel and len(body_a) > THREADS_MIN_BLOCKS:
        _change_parallel(body_a, body_b, row_ptr, Ja, Jb, Minv, p, f, v)
        return
    impulses_on_bodies(body_a, body_b, row_ptr, Ja, Jb, p, f)
    add_velocity_change(Minv, f, v)


@njit(leaf=True)
def add_velocity_change(Minv, f, v):
    """v += M⁻¹ f, body by body."""
    d = Minv.shape[1]
    for i in range(Minv.shape[0]):
        for j in range(d):
            s = 0.0
            for k in range(d):
                s += Minv[i, j, k] * f[i, k]
            v[i, j] += s


@njit
def mass_times(Minv, v, f):
    """f = M v, body by body, from M⁻¹ = L D Lᵀ; zero where M⁻¹ has no row: no force moves that."""
    d = Minv.shape[1]
    L, D = np.empty((d, d)), np.empty(d)
    for i in range(Minv.shape[0]):
        for j in range(d):
            locked = True
            for k in range(d):
                locked = locked and Minv[i, j, k] == 0.0
            D[j], f[i, j] = (1.0, 0.0) if locked else (Minv[i, j, j], v[i, j])
            for k in range(j):
                s = Minv[i, j, k]
                for l in range(k):
                    s -= L[j, l] * L[k, l] * D[l]
                L[j, k] = s / D[k]
                D[j] -= L[j, k] * s
                f[i, j] -= L[j, k] * f[i, k]
        for j in range(d - 1, -1, -1):
            s = f[i, j] / D[j]
            for k in range(j + 1, d):
                s -= L[k, j] * f[i, k]
            f[i, j] = s


@njit(leaf=True)
def quadratic_form(M, v):
    """The sum of v·M v over bodies."""
    total = 0.0
    for b in range(M.shape[0]):
        for i in range(M.shape[1]):
            s = 0.0
            for j in range(M.shape[2]):
                s += v[b, i] * M[b, i, j] * v[b, j]
            total += s
    return total


@njit(leaf=True)
def _quadratic(J, r, M, i):
    """J[r] M[i] J[r]ᵀ for a symmetric M."""
    s = 0.0
    for j in range(J.shape[1]):
        t = 0.5 * M[i, j, j] * J[r, j]
        for l in range(j):
            t += M[i, j, l] * J[r, l]
        s += J[r, j] * t
    return 2.0 * s


@njit(inline=True)
def _quadratic3(J, r, M, i, k):
    """The part of J[r] M[i] J[r]ᵀ that belongs to the entries k to k + 2."""
    x, y, z = J[r, k], J[r, k + 1], J[r, k + 2]
    mixed = M[i, k + 1, k] * x * y + M[i, k + 2, k] * x * z + M[i, k + 2, k + 1] * y * z
    return M[i, k, k] * x * x + M[i, k + 1, k + 1] * y * y + M[i, k + 2, k + 2] * z * z + 2.0 * mixed


@njit(leaf=True)
def _decoupled(start, stop, Minv, decoupled):
    for i in range(start, stop):
        decoupled[i] = Minv.shape[1] == 6
        for j in range(3):
            for k in range(3, Minv.shape[1]):
                decoupled[i] = decoupled[i] and Minv[i, k, j] == 0.0


@njit(parallel=True)
def _decoupled_parallel(Minv, decoupled):
    n = len(decoupled)
    for part in prange(THREAD_PARTS):
        c = np.int64(part)
        _decoupled(n * c // THREAD_PARTS, n * (c + 1) // THREAD_PARTS, Minv, decoupled)


@njit
def decoupled_bodies(parallel, Minv, decoupled):
    """Set decoupled (nbody,): whether velocity and spin of a body do not act on each other, as for most in space."""
    if parallel and len(decoupled) > THREADS_MIN_BLOCKS:
        _decoupled_parallel(Minv, decoupled)
    else:
        _decoupled(np.int64(0), len(decoupled), Minv, decoupled)


@njit(inline=True)
def _body_quadratic(J, r, Minv, i, decoupled):
    """J[r] M⁻¹ J[r]ᵀ for body i, 0 for the world."""
    if i < 0:
        return 0.0
    if decoupled[i]:
        return _quadratic3(J, r, Minv, i, 0) + _quadratic3(J, r, Minv, i, 3)
    return _quadratic(J, r, Minv, i)


@njit
def delassus_diagonal(body_a, body_b, row_ptr, Ja, Jb, Minv, w):
    """w = diag(H M⁻¹ Hᵀ); where both sides are one body, without the cross term."""
    decoupled = np.empty(Minv.shape[0], np.bool_)
    decoupled_bodies(False, Minv, decoupled)
    for k in range(len(body_a)):
        a, b = body_a[k], body_b[k]
        for r in range(row_ptr[k], row_ptr[k + 1]):
            w[r] = _body_quadratic(Ja, r, Minv, a, decoupled) + _body_quadratic(Jb, r, Minv, b, decoupled)


@njit(leaf=True)
def row_terms(start, stop, body_rows, row_ptr, arrays):
    """Set H v, |H||v| and diag(H M⁻¹ Hᵀ) of the blocks start..stop, to the bits of the three functions above.

    arrays: `RowTerms`.
    """
    body_a, body_b, Ja, Jb, Minv = body_rows
    decoupled, v, u, terms, w = arrays
    d = Ja.shape[1]
    for k in range(start, stop):
        if k + PREFETCH_TURNS < stop:
            prefetch(v, body_b[k + PREFETCH_TURNS], 1)
            prefetch(Minv, body_b[k + PREFETCH_TURNS], 5)
        a, b = body_a[k], body_b[k]
        for r in range(row_ptr[k], row_ptr[k + 1]):
            s, t = 0.0, 0.0
            if a >= 0:
                for j in range(d):
                    x = Ja[r, j] * v[a, j]
                    s += x
                    t += abs(x)
            if b >= 0:
                for j in range(d):
                    x = Jb[r, j] * v[b, j]
                    s += x
                    t += abs(x)
            u[r], terms[r] = s, t
            w[r] = _body_quadratic(Ja, r, Minv, a, decoupled) + _body_quadratic(Jb, r, Minv, b, decoupled)


@njit(leaf=True)
def block_weights(start, stop, row_ptr, diagonal, C, length, rho):
    """Set rho (nk,): the reciprocal of the mean of diag(W + C) over a block's rows in metres, or 1 where it is zero."""
    for k in range(start, stop):
        s = 0.0
        for r in range(row_ptr[k], row_ptr[k + 1]):
            s += (diagonal[r] + C[r]) * length[r] * length[r]
        s /= row_ptr[k + 1] - row_ptr[k]
        rho[k] = 1.0 / s if s > 0.0 else 1.0


@njit(leaf=True)
def scale_sums(start, stop, row_ptr, q, terms, b, length, r0, lo, hi, rho, sums):
    """Set sums (5,): the squares of which `residual_scale` is made, over the blocks start..stop."""
    size, floor, low, high, dry = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(start, stop):
        dry += (r0[k] / length[row_ptr[k]] / rho[k]) ** 2
        for r in range(row_ptr[k], row_ptr[k + 1]):
            size += (q[r] * length[r]) ** 2
            floor += ((terms[r] + abs(b[r])) * length[r]) ** 2
            if abs(lo[r]) < math.inf:
                low += (lo[r] / length[r] / rho[k]) ** 2
            if abs(hi[r]) < math.inf:
                high += (hi[r] / length[r] / rho[k]) ** 2
    sums[0], sums[1], sums[2], sums[3], sums[4] = size, floor, low, high, dry


@njit
def scale_of(sums):
    """The scale from sums (parts, 5)."""
    total = np.zeros(5)
    for c in range(sums.shape[0]):
        for j in range(5):
            total[j] += sums[c, j]
    floor = math.sqrt(total[1]) + math.sqrt(total[4]) + math.sqrt(total[2]) + math.sqrt(total[3])
    scale = max(math.sqrt(total[0]), 1e-8 * floor)
    return scale if scale > 0.0 else 1.0


@njit
def residual_scale(row_ptr, q, terms, b, length, r0, lo, hi, rho):
    """|q|, or 1e-8 of the terms whose round-off is in u where q is tiny; `terms` is |H||v_free|."""
    n = len(row_ptr) - 1
    parts = THREAD_PARTS if n > THREADS_MIN_BLOCKS else 1
    sums = np.empty((parts, 5))
    for c in range(parts):
        scale_sums(n * c // parts, n * (c + 1) // parts, row_ptr, q, terms, b, length, r0, lo, hi, rho, sums[c])
    return scale_of(sums)


@njit(leaf=True)
def _weigh_range(start, stop, laws, diagonal, terms, b, q, rho, sums):
    row_ptr, length = laws.row_ptr, laws.length
    for r in range(row_ptr[start], row_ptr[stop]):
        q[r] = q[r] + b[r]
    block_weights(start, stop, row_ptr, diagonal, laws.C, length, rho)
    scale_sums(start, stop, row_ptr, q, terms, b, length, laws.r0, laws.lo, laws.hi, rho, sums)


@njit(parallel=True)
def _weigh_parallel(laws, diagonal, terms, b, q, rho, sums):
    n = len(laws.law)
    for part in prange(THREAD_PARTS):
        c = np.int64(part)
        _weigh_range(n * c // THREAD_PARTS, n * (c + 1) // THREAD_PARTS, laws, diagonal, terms, b, q, rho, sums[c])


@njit
def weigh_blocks(parallel, laws, diagonal, terms, b, q, rho):
    """q += b, the blocks' weights, and the scale: `block_weights` and `residual_scale` in one go."""
    n = len(laws.law)
    sums = np.empty((THREAD_PARTS if n > THREADS_MIN_BLOCKS else 1, 5))
    if parallel and n > THREADS_MIN_BLOCKS:
        _weigh_parallel(laws, diagonal, terms, b, q, rho, sums)
        return scale_of(sums)
    parts = sums.shape[0]
    for c in range(parts):
        _weigh_range(n * c // parts, n * (c + 1) // parts, laws, diagonal, terms, b, q, rho, sums[c])
    return scale_of(sums)
