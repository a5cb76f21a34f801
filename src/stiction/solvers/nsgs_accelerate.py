"""Acceleration of the sweeps of block Gauss–Seidel.

A sweep is a map g of the impulses onto themselves whose fixed points are the solutions. From the last few sweeps
Anderson's method takes the combination of the g(x_j) whose changes r_j = g(x_j) - x_j cancel best, in the norm of
energy (weights W_ii), and goes on from there; where r grows it forgets and starts anew. It is fast until the contact
modes keep changing; there the nonsmooth nonlinear conjugate gradients of Silcowitz, Niebe and Erleben (2010) take over,
which only add momentum. The bodies' state w is linear in p and follows with the same weights.
"""

from __future__ import annotations

import numpy as np

from .._jit import njit, prange
from .._lanes import WIDTH, load, spread, store, total

CHUNKS = 64  # parts of an island's rows that threads take
MEMORY = 8  # sweeps that are combined
MOST_ROWS = 500  # of an island beyond which combining costs more than it saves: momentum alone
_GROWTH = 4.0  # of |r|² over its least value, at which the memory is dropped
_PATIENCE = 60  # sweeps in which |r|² must have halved, else momentum takes over

# state (ni, 5): sweeps in memory; where the next one goes, -1 at the start; least |r|²; |r|² at the last mark, negative
# once momentum has taken over; sweeps since that mark
STATE = 5


@njit
def fresh(isl, rows, state):
    """Nothing is known of an island with so many rows."""
    state[isl, 0], state[isl, 1], state[isl, 4] = 0.0, -1.0, 0.0
    if rows <= MOST_ROWS:
        state[isl, 2], state[isl, 3] = np.inf, 0.0
    else:
        state[isl, 2], state[isl, 3] = 0.0, -1.0


@njit
def _sum_chunk(c, first, last, p, x, weight, part):
    """part[c] = Σ weight (p - x)² over one of CHUNKS equal parts of the rows."""
    i, end = first + (last - first) * c // CHUNKS, first + (last - first) * (c + 1) // CHUNKS
    eight = spread(0.0)
    while i + WIDTH <= end:
        change = load(p, i) - load(x, i)
        eight = eight + load(weight, i) * change * change
        i += WIDTH
    s = total(eight)
    while i < end:
        s += weight[i] * (p[i] - x[i]) ** 2
        i += 1
    part[c] = s


@njit(parallel=True)
def _sum_parallel(first, last, p, x, weight, part):
    for c in prange(CHUNKS):
        _sum_chunk(np.int64(c), first, last, p, x, weight, part)


@njit
def _size(first, last, parallel, p, x, weight):
    """Σ weight (p - x)², in chunks, so that it does not depend on the number of threads."""
    part = np.empty(CHUNKS)
    if parallel:
        _sum_parallel(first, last, p, x, weight, part)
    else:
        for c in range(CHUNKS):
            _sum_chunk(c, first, last, p, x, weight, part)
    size = 0.0
    for c in range(CHUNKS):
        size += part[c]
    return size


@njit
def combine(isl, first, last, low, high, parallel, p, w, weight, x, wx, r, g, wg, R, G, Wg, gram, state):
    """One step of Anderson's method on rows first..last and bodies low..high of island isl.

    x, wx: what the sweep began with, p, w: what it gave; both p and w are replaced by the combination. r, g, wg: of the
    sweep before; R, G, Wg (MEMORY, .): differences; gram (ni, m, m): products of them.
    """
    size = _size(first, last, parallel, p, x, weight)
    if state[isl, 3] >= 0.0:
        state[isl, 4] += 1.0
        if state[isl, 1] < 0.0 or size < 0.5 * state[isl, 3]:
            state[isl, 3], state[isl, 4] = size, 0.0
        elif state[isl, 4] > _PATIENCE:
            state[isl, 2], state[isl, 3] = 0.0, -1.0
    if state[isl, 3] < 0.0:
        _momentum(isl, first, last, low, high, parallel, size, p, w, x, wx, G, Wg, state)
        return
    known = state[isl, 1] >= 0.0
    if known and size > _GROWTH * state[isl, 2]:
        state[isl, 0], state[isl, 1], state[isl, 2] = 0.0, 0.0, size
    elif known:
        _remember(isl, first, last, low, high, p, w, weight, x, r, g, wg, R, G, Wg, gram, state)
    state[isl, 1] = max(state[isl, 1], 0.0)
    state[isl, 2] = min(state[isl, 2], size)
    d = w.shape[1]
    for i in range(first, last):
        r[i] = p[i] - x[i]
        g[i] = p[i]
    for i in range(low, high):
        for j in range(d):
            wg[i, j] = w[i, j]
    m = int(state[isl, 0])
    if m == 0:
        return
    c = np.empty(MEMORY)
    for a in range(m):
        s = 0.0
        for i in range(first, last):
            s += weight[i] * R[a, i] * r[i]
        c[a] = s
    _solve(gram[isl], c, m)
    for a in range(m):
        if c[a] != 0.0:
            for i in range(first, last):
                p[i] -= c[a] * G[a, i]
            for i in range(low, high):
                for j in range(d):
                    w[i, j] -= c[a] * Wg[a, i, j]


@njit
def _move(i, end, beta, p, x, g):
    """p += β g and g <- β g + p - x from i to end, x the p before; β = 0: g <- 0."""
    while i + WIDTH <= end:
        now = load(p, i)
        along = beta * load(g, i)
        store(g, i, along + now - load(x, i))
        store(p, i, now + along)
        i += WIDTH
    while i < end:
        along = beta * g[i]
        g[i] = along + p[i] - x[i]
        p[i] += along
        i += 1


@njit
def _move_chunk(c, first, last, low, high, beta, p, w, x, wx, G, Wg):
    """p += β d and d <- β d + r on one of CHUNKS equal parts of the rows and of the bodies; β = 0: d <- 0."""
    start, end = first + (last - first) * c // CHUNKS, first + (last - first) * (c + 1) // CHUNKS
    below, above = low + (high - low) * c // CHUNKS, low + (high - low) * (c + 1) // CHUNKS
    if beta > 0.0:
        d = w.shape[1]
        _move(start, end, beta, p, x, G[0])
        _move(below * d, above * d, beta, w.ravel(), wx.ravel(), Wg[0].ravel())
        return
    for i in range(start, end):
        G[0, i] = 0.0
    for i in range(below, above):
        for j in range(w.shape[1]):
            Wg[0, i, j] = 0.0


@njit(parallel=True)
def _move_parallel(first, last, low, high, beta, p, w, x, wx, G, Wg):
    for c in prange(CHUNKS):
        _move_chunk(np.int64(c), first, last, low, high, beta, p, w, x, wx, G, Wg)


@njit
def _momentum(isl, first, last, low, high, parallel, size, p, w, x, wx, G, Wg, state):
    """p += β d with d <- β d + r and β = |r|² / |r before|²; none where r has grown. d is kept in G[0] and Wg[0]."""
    beta = size / state[isl, 2] if state[isl, 2] > 0.0 else 2.0
    beta = 0.0 if beta > 1.0 else beta
    state[isl, 2] = size
    if parallel:
        _move_parallel(first, last, low, high, beta, p, w, x, wx, G, Wg)
    else:
        for c in range(CHUNKS):
            _move_chunk(c, first, last, low, high, beta, p, w, x, wx, G, Wg)


@njit
def _remember(isl, first, last, low, high, p, w, weight, x, r, g, wg, R, G, Wg, gram, state):
    """Keep the differences to the sweep before in place of the oldest ones."""
    slot = int(state[isl, 1])
    count = int(state[isl, 0])
    d = w.shape[1]
    own = 0.0
    for i in range(first, last):
        R[slot, i] = p[i] - x[i] - r[i]
        G[slot, i] = p[i] - g[i]
        own += weight[i] * R[slot, i] * R[slot, i]
    for i in range(low, high):
        for j in range(d):
            Wg[slot, i, j] = w[i, j] - wg[i, j]
    count = min(count + 1, MEMORY)
    for a in range(count):
        if a == slot:
            continue
        s = 0.0
        for i in range(first, last):
            s += weight[i] * R[a, i] * R[slot, i]
        gram[isl, a, slot] = s
        gram[isl, slot, a] = s
    gram[isl, slot, slot] = own
    state[isl, 0] = count
    state[isl, 1] = (slot + 1) % MEMORY


@njit
def _solve(A, c, m):
    """c <- (A + 1e-10 trace)⁻¹ c by Gauss elimination without pivoting: A is a Gram matrix."""
    B = np.empty((MEMORY, MEMORY))
    trace = 0.0
    for i in range(m):
        trace += A[i, i]
    for i in range(m):
        for j in range(m):
            B[i, j] = A[i, j]
        B[i, i] += 1e-10 * trace
    for i in range(m):
        if not B[i, i] > 0.0:
            for j in range(m):
                c[j] = 0.0
            return
        for k in range(i + 1, m):
            f = B[k, i] / B[i, i]
            for j in range(i, m):
                B[k, j] -= f * B[i, j]
            c[k] -= f * c[i]
    for back in range(m):
        i = m - 1 - back
        for j in range(i + 1, m):
            c[i] -= B[i, j] * c[j]
        c[i] /= B[i, i]
