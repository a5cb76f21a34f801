"""Acceleration of the sweeps of block Gauss–Seidel.

A sweep is a map g of the impulses onto themselves whose fixed points are the solutions. From the last few sweeps
Anderson's method takes the combination of the g(x_j) whose changes r_j = g(x_j) - x_j cancel best, in the norm of
energy (weights W_ii), and goes on from there; where r grows it forgets and starts anew. It is fast until the contact
modes keep changing; there, and on large islands from the start, momentum takes over (Polyak 1964): the next sweep
starts from g(x_j) + β (g(x_j) - g(x_j-1)), or from g(x_j) where r_j points back. On falling piles a constant β of
0.7 to 0.8 took half the sweeps of the β of nonlinear conjugate gradients (Silcowitz, Niebe, Erleben 2010). Long runs
bear more, each problem its own: 1 - β shrinks slowly, and is three times as large each time that r has grown. That ends
the stretches in which impulses drift along a state of self-stress, every sweep by the same r, until a contact slips or
opens. Some problems with friction go in circles under a large β: where r stops falling, 0.75 is the most for a while.
The bodies' state w is linear in p and follows with the same weights.

The round-off of w must not be put right on one side of p - g alone: β (p - g) would carry it on, β/(1 - β) times as
large, from one time to the next; `realign` keeps both sides alike.
"""

from __future__ import annotations

import numpy as np

from .._jit import njit, prange
from .._lanes import WIDTH, load, spread, store, total

CHUNKS = 64  # parts of an island's rows that threads take
MEMORY = 8  # sweeps that are combined
MOST_ROWS = 500  # of an island beyond which combining costs more than it saves: momentum alone
_GROWTH = 4.0  # of |r|² over its least value, at which the memory is dropped
_SHARE, _LEAST = 0.25, 0.02  # 1 - β at the start, and at least
_STEADY = 10  # looks of momentum before it changes; most problems of a run have ended by then
_SHRINK = 0.98  # of 1 - β, each look
_CALM = 150  # looks in which |r|² must have halved, else the bound of 1 - β changes from `_LEAST` to `_SHARE`, or back
_GROWN, _MORE = 3.0, 3.0  # growth of |r|² over its least value, at which 1 - β is taken so many times
_PATIENCE = 60  # sweeps in which |r|² must have halved, else momentum takes over

# state (ni, 7): sweeps in memory, or 1 - β of momentum; where the next one goes, -1 at the start, or its least value;
# least |r|², 0 before the first sweep with momentum; |r|² at the last mark, negative once momentum has taken over;
# sweeps since then, or looks of momentum; |r|² at its last mark, and looks since then
STATE = 7


@njit(leaf=True)
def fresh(isl, rows, state):
    """Nothing is known of an island with so many rows."""
    state[isl, 0], state[isl, 1], state[isl, 4] = 0.0, -1.0, 0.0
    if rows <= MOST_ROWS:
        state[isl, 2], state[isl, 3] = np.inf, 0.0
    else:
        state[isl, 2], state[isl, 3] = 0.0, -1.0


@njit(leaf=True)
def remembers(isl, state):
    """Whether sweeps of an island are combined, each with those before."""
    return state[isl, 3] >= 0.0


@njit(leaf=True)
def _copy_rows(start, stop, source, target):
    for i in range(start, stop):
        target[i] = source[i]


@njit(parallel=True)
def _copy_parallel(first, last, source, target):
    for part in prange(CHUNKS):
        c = np.int64(part)
        _copy_rows(first + (last - first) * c // CHUNKS, first + (last - first) * (c + 1) // CHUNKS, source, target)


@njit(leaf=True)
def copy(first, last, parallel, source, target):
    """target[first:last] = source[first:last]."""
    if parallel:
        _copy_parallel(first, last, source, target)
    else:
        _copy_rows(first, last, source, target)


@njit(leaf=True)
def _sums_chunk(c, first, last, p, x, g, weight, part):
    """part[c]: Σ weight (p - x)² and Σ weight (p - x) (p - g) over one of CHUNKS equal parts of the rows."""
    i, end = first + (last - first) * c // CHUNKS, first + (last - first) * (c + 1) // CHUNKS
    sizes, products = spread(0.0), spread(0.0)
    while i + WIDTH <= end:
        now = load(p, i)
        change = now - load(x, i)
        weighted = load(weight, i) * change
        sizes = sizes + weighted * change
        products = products + weighted * (now - load(g, i))
        i += WIDTH
    part[c, 0], part[c, 1] = total(sizes), total(products)
    while i < end:
        weighted = weight[i] * (p[i] - x[i])
        part[c, 0] += weighted * (p[i] - x[i])
        part[c, 1] += weighted * (p[i] - g[i])
        i += 1


@njit(parallel=True)
def _sums_parallel(first, last, p, x, g, weight, part):
    for c in prange(CHUNKS):
        _sums_chunk(np.int64(c), first, last, p, x, g, weight, part)


@njit
def _sums(first, last, parallel, p, x, g, weight):
    """Σ weight (p - x)² and Σ weight (p - x) (p - g), in chunks: they do not depend on the number of threads."""
    part = np.empty((CHUNKS, 2))
    if parallel:
        _sums_parallel(first, last, p, x, g, weight, part)
    else:
        for c in range(CHUNKS):
            _sums_chunk(c, first, last, p, x, g, weight, part)
    size, product = 0.0, 0.0
    for c in range(CHUNKS):
        size += part[c, 0]
        product += part[c, 1]
    return size, product


@njit(sealed=True)
def combine(isl, first, last, low, high, parallel, look, p, w, weight, x, r, g, wg, R, G, Wg, gram, state):
    """One step of Anderson's method on rows first..last and bodies low..high of island isl.

    look: whether momentum looks at the change of p, which costs a fifth of a sweep; x is known only then, and on small
    islands. x: what the sweep began with, p, w: what it gave; both p and w are replaced by the combination. r, g, wg:
    of the sweep before; R, G, Wg (MEMORY, .): differences; gram (ni, m, m): products of them.
    """
    if state[isl, 3] < 0.0:
        _momentum(isl, first, last, low, high, parallel, look, p, w, weight, x, G, Wg, state)
        return
    size = 0.0
    for i in range(first, last):
        size += weight[i] * (p[i] - x[i]) ** 2
    state[isl, 4] += 1.0
    if state[isl, 1] < 0.0 or size < 0.5 * state[isl, 3]:
        state[isl, 3], state[isl, 4] = size, 0.0
    elif state[isl, 4] > _PATIENCE:
        state[isl, 2], state[isl, 3] = 0.0, -1.0
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


@njit(leaf=True)
def _move(i, end, beta, p, g):
    """p <- p + β (p - g) from i to end, and g the p before."""
    while i + WIDTH <= end:
        now = load(p, i)
        store(p, i, now + beta * (now - load(g, i)))
        store(g, i, now)
        i += WIDTH
    while i < end:
        now = p[i]
        p[i] = now + beta * (now - g[i])
        g[i] = now
        i += 1


@njit
def _move_chunk(c, first, last, low, high, beta, p, w, G, Wg):
    """The same for p and w on one of CHUNKS equal parts of the rows and of the bodies."""
    d = w.shape[1]
    _move(first + (last - first) * c // CHUNKS, first + (last - first) * (c + 1) // CHUNKS, beta, p, G[0])
    below, above = low + (high - low) * c // CHUNKS, low + (high - low) * (c + 1) // CHUNKS
    _move(below * d, above * d, beta, w.ravel(), Wg[0].ravel())


@njit(parallel=True)
def _move_parallel(first, last, low, high, beta, p, w, G, Wg):
    for c in prange(CHUNKS):
        _move_chunk(np.int64(c), first, last, low, high, beta, p, w, G, Wg)


@njit(leaf=True)
def _weigh(isl, size, state):
    """The next β, from |r|²; returns whether it has grown."""
    state[isl, 4] += 1.0
    state[isl, 6] += 1.0
    if size < 0.5 * state[isl, 5]:
        state[isl, 5], state[isl, 6] = size, 0.0
    elif state[isl, 6] > _CALM:
        state[isl, 1] = _SHARE if state[isl, 1] == _LEAST else _LEAST
        state[isl, 5], state[isl, 6] = size, 0.0
    grown = size > _GROWN * state[isl, 2]
    if grown:
        state[isl, 0], state[isl, 2] = _MORE * state[isl, 0], size
    elif state[isl, 4] > _STEADY:
        state[isl, 0] *= _SHRINK
    state[isl, 0] = min(1.0, max(state[isl, 1], state[isl, 0]))
    state[isl, 2] = min(state[isl, 2], size)
    return grown


@njit
def _momentum(isl, first, last, low, high, parallel, look, p, w, weight, x, G, Wg, state):
    """p + β (p - g) with g the result of the sweep before, which is kept in G[0] and Wg[0]; β = 0 where p - x turns."""
    if state[isl, 2] == 0.0:
        state[isl, 0], state[isl, 1], state[isl, 2], state[isl, 4] = _SHARE, _LEAST, np.inf, 0.0
        state[isl, 5], state[isl, 6] = np.inf, 0.0
        copy(first, last, parallel, p, G[0])
        copy(low * w.shape[1], high * w.shape[1], parallel, w.ravel(), Wg[0].ravel())
        return
    beta = 1.0 - state[isl, 0]
    if look:
        size, product = _sums(first, last, parallel, p, x, G[0], weight)
        if _weigh(isl, size, state):
            product = 0.0
        beta = 1.0 - state[isl, 0] if product > 0.0 else 0.0
    if parallel:
        _move_parallel(first, last, low, high, beta, p, w, G, Wg)
    else:
        d = w.shape[1]
        _move(first, last, beta, p, G[0])
        _move(low * d, high * d, beta, w.ravel(), Wg[0].ravel())


@njit(leaf=True)
def realign(isl, low, high, w, before, wg, Wg, state):
    """After w has been made anew from p, and was `before`: the same correction to the state of the sweep before."""
    d = w.shape[1]
    for i in range(low, high):
        for j in range(d):
            if state[isl, 3] < 0.0:
                Wg[0, i, j] += w[i, j] - before[i, j]
            else:
                wg[i, j] += w[i, j] - before[i, j]


@njit(leaf=True)
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
