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

from typing import NamedTuple

import numpy as np

from ...runtime.jit import njit, prange
from ...runtime.lanes import WIDTH, load, spread, store, total
from .records import Array

THREAD_PARTS = 64  # of an island's rows and bodies, for threads to take
ANDERSON_SWEEPS = 8  # that are combined
ANDERSON_MAX_ROWS = 500  # of an island: beyond, combining costs more than it saves, and momentum takes over at once
_GROWTH = 4.0  # of |r|² over its least value, at which the memory is dropped
_FIRST_SHARE, _LEAST_SHARE = 0.25, 0.02  # 1 - β at the start, and at least
_STEADY_LOOKS = 10  # of momentum before it changes; most problems of a run have ended by then
_SHRINK = 0.98  # of 1 - β, each look
# in which |r|² must have halved, else the bound of 1 - β changes from `_LEAST_SHARE` to `_FIRST_SHARE`, or back
_CALM_LOOKS = 150
_GROWN, _MORE = 3.0, 3.0  # growth of |r|² over its least value, at which 1 - β is taken so many times
_MOMENTUM_AFTER_SWEEPS = 60  # in which |r|² must have halved, else momentum takes over


class History(NamedTuple):
    """What is kept of earlier sweeps: n rows, m differences, and numbers of each island (nisl,)."""

    x: Array  # (n,) impulses before a sweep
    r: Array  # (n,) change by the sweep before
    g: Array  # (n,) impulses after the sweep before
    wg: Array  # (slots, d) and the bodies' state
    R: Array  # (m, n) differences of r, g and wg from one sweep to the next
    G: Array  # (m, n); with momentum G[0] and Wg[0] are those after the sweep before
    Wg: Array  # (m, slots, d)
    gram: Array  # (nisl, m, m) products of the rows of R
    momentum: Array  # whether momentum has taken over
    stored: Array  # Anderson: differences that are kept
    slot: Array  # where the next one goes, -1 at the start
    least: Array  # least |r|², with momentum 0 before its first sweep
    mark: Array  # Anderson: |r|² at the last progress
    since: Array  # sweeps since then; looks with momentum
    share: Array  # momentum: 1 - β
    lowest: Array  # the bound of 1 - β
    calm: Array  # |r|² when the bound was last judged
    calm_since: Array  # looks since then


@njit
def new_history(accelerate, work):
    """Nothing is kept yet; room for differences only where an island is small enough for them."""
    rows, n, islands = work.items.rows, len(work.items.src), work.items.phase.shape[0]
    m = 1
    for isl in range(islands):
        if accelerate and rows[isl + 1] - rows[isl] <= ANDERSON_MAX_ROWS:
            m = ANDERSON_SWEEPS
    slots, d = work.w.shape
    history = History(
        np.empty(n), np.empty(n), np.empty(n), np.empty((slots, d)), np.empty((m, n)), np.empty((m, n)),
        np.empty((m, slots, d)), np.empty((islands, m, m)), np.empty(islands, np.bool_), np.empty(islands, np.int64),
        np.empty(islands, np.int64), np.empty(islands), np.empty(islands), np.empty(islands, np.int64),
        np.empty(islands), np.empty(islands), np.empty(islands), np.empty(islands, np.int64),
    )  # fmt: skip
    for isl in range(islands):
        forget(isl, rows[isl + 1] - rows[isl], history)
    return history


@njit(leaf=True)
def forget(isl, rows, history):
    """Nothing is known of an island with so many rows."""
    history.stored[isl], history.slot[isl], history.since[isl] = 0, -1, 0
    history.momentum[isl] = rows > ANDERSON_MAX_ROWS
    if rows <= ANDERSON_MAX_ROWS:
        history.least[isl], history.mark[isl] = np.inf, 0.0
    else:
        history.least[isl] = 0.0


@njit(leaf=True)
def _copy_rows(start, stop, source, target):
    for i in range(start, stop):
        target[i] = source[i]


@njit(parallel=True)
def _copy_parallel(first, last, source, target):
    for part in prange(THREAD_PARTS):
        c = np.int64(part)
        _copy_rows(
            first + (last - first) * c // THREAD_PARTS, first + (last - first) * (c + 1) // THREAD_PARTS, source, target
        )


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
    i, end = first + (last - first) * c // THREAD_PARTS, first + (last - first) * (c + 1) // THREAD_PARTS
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
    for c in prange(THREAD_PARTS):
        _sums_chunk(np.int64(c), first, last, p, x, g, weight, part)


@njit
def _sums(first, last, parallel, p, x, g, weight):
    """Σ weight (p - x)² and Σ weight (p - x) (p - g), in chunks: they do not depend on the number of threads."""
    part = np.empty((THREAD_PARTS, 2))
    if parallel:
        _sums_parallel(first, last, p, x, g, weight, part)
    else:
        for c in range(THREAD_PARTS):
            _sums_chunk(c, first, last, p, x, g, weight, part)
    size, product = 0.0, 0.0
    for c in range(THREAD_PARTS):
        size += part[c, 0]
        product += part[c, 1]
    return size, product


@njit(sealed=True)
def combine(isl, parallel, look, work, history):
    """One step of Anderson's method, or of momentum, on an island after a sweep: new impulses p and states w.

    look: whether momentum looks at the change of p, which costs a fifth of a sweep; `history.x`, what the sweep began
    with, is known only then, and on small islands.
    """
    if history.momentum[isl]:
        _momentum(isl, parallel, look, work, history)
        return
    items, p, w, weight = work.items, work.p, work.w, work.local.weight
    first, last, low, high = items.rows[isl], items.rows[isl + 1], items.begin[isl], items.begin[isl + 1]
    x, r, g, wg = history.x, history.r, history.g, history.wg
    R, G, Wg, gram = history.R, history.G, history.Wg, history.gram
    size = 0.0
    for i in range(first, last):
        size += weight[i] * (p[i] - x[i]) ** 2
    history.since[isl] += 1
    if history.slot[isl] < 0 or size < 0.5 * history.mark[isl]:
        history.mark[isl], history.since[isl] = size, 0
    elif history.since[isl] > _MOMENTUM_AFTER_SWEEPS:
        history.least[isl], history.momentum[isl] = 0.0, True
        return
    known = history.slot[isl] >= 0
    if known and size > _GROWTH * history.least[isl]:
        history.stored[isl], history.slot[isl], history.least[isl] = 0, 0, size
    elif known:
        _remember(isl, work, history)
    history.slot[isl] = max(history.slot[isl], 0)
    history.least[isl] = min(history.least[isl], size)
    d = w.shape[1]
    for i in range(first, last):
        r[i] = p[i] - x[i]
        g[i] = p[i]
    for i in range(low, high):
        for j in range(d):
            wg[i, j] = w[i, j]
    m = history.stored[isl]
    if m == 0:
        return
    c = np.empty(ANDERSON_SWEEPS)
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
    _move(first + (last - first) * c // THREAD_PARTS, first + (last - first) * (c + 1) // THREAD_PARTS, beta, p, G[0])
    below, above = low + (high - low) * c // THREAD_PARTS, low + (high - low) * (c + 1) // THREAD_PARTS
    _move(below * d, above * d, beta, w.ravel(), Wg[0].ravel())


@njit(parallel=True)
def _move_parallel(first, last, low, high, beta, p, w, G, Wg):
    for c in prange(THREAD_PARTS):
        _move_chunk(np.int64(c), first, last, low, high, beta, p, w, G, Wg)


@njit(leaf=True)
def _next_share(isl, size, history):
    """The next β, from |r|²; returns whether it has grown."""
    history.since[isl] += 1
    history.calm_since[isl] += 1
    if size < 0.5 * history.calm[isl]:
        history.calm[isl], history.calm_since[isl] = size, 0
    elif history.calm_since[isl] > _CALM_LOOKS:
        history.lowest[isl] = _FIRST_SHARE if history.lowest[isl] == _LEAST_SHARE else _LEAST_SHARE
        history.calm[isl], history.calm_since[isl] = size, 0
    grown = size > _GROWN * history.least[isl]
    if grown:
        history.share[isl], history.least[isl] = _MORE * history.share[isl], size
    elif history.since[isl] > _STEADY_LOOKS:
        history.share[isl] *= _SHRINK
    history.share[isl] = min(1.0, max(history.lowest[isl], history.share[isl]))
    history.least[isl] = min(history.least[isl], size)
    return grown


@njit
def _momentum(isl, parallel, look, work, history):
    """p + β (p - g) with g the result of the sweep before, which is kept in G[0] and Wg[0]; β = 0 where p - x turns."""
    items, p, w, G, Wg = work.items, work.p, work.w, history.G, history.Wg
    first, last, low, high = items.rows[isl], items.rows[isl + 1], items.begin[isl], items.begin[isl + 1]
    if history.least[isl] == 0.0:
        history.share[isl], history.lowest[isl], history.least[isl] = _FIRST_SHARE, _LEAST_SHARE, np.inf
        history.since[isl], history.calm[isl], history.calm_since[isl] = 0, np.inf, 0
        copy(first, last, parallel, p, G[0])
        copy(low * w.shape[1], high * w.shape[1], parallel, w.ravel(), Wg[0].ravel())
        return
    beta = 1.0 - history.share[isl]
    if look:
        size, product = _sums(first, last, parallel, p, history.x, G[0], work.local.weight)
        if _next_share(isl, size, history):
            product = 0.0
        beta = 1.0 - history.share[isl] if product > 0.0 else 0.0
    if parallel:
        _move_parallel(first, last, low, high, beta, p, w, G, Wg)
    else:
        d = w.shape[1]
        _move(first, last, beta, p, G[0])
        _move(low * d, high * d, beta, w.ravel(), Wg[0].ravel())


@njit(leaf=True)
def realign(isl, low, high, w, before, history):
    """After w has been made anew from p, and was `before`: the same correction to the state of the sweep before."""
    d = w.shape[1]
    for i in range(low, high):
        for j in range(d):
            if history.momentum[isl]:
                history.Wg[0, i, j] += w[i, j] - before[i, j]
            else:
                history.wg[i, j] += w[i, j] - before[i, j]


@njit(leaf=True)
def _remember(isl, work, history):
    """Keep the differences to the sweep before in place of the oldest ones."""
    items, p, w, weight = work.items, work.p, work.w, work.local.weight
    first, last, low, high = items.rows[isl], items.rows[isl + 1], items.begin[isl], items.begin[isl + 1]
    x, r, g, R, G, gram = history.x, history.r, history.g, history.R, history.G, history.gram
    slot, d = history.slot[isl], w.shape[1]
    own = 0.0
    for i in range(first, last):
        R[slot, i] = p[i] - x[i] - r[i]
        G[slot, i] = p[i] - g[i]
        own += weight[i] * R[slot, i] * R[slot, i]
    for i in range(low, high):
        for j in range(d):
            history.Wg[slot, i, j] = w[i, j] - history.wg[i, j]
    count = min(history.stored[isl] + 1, ANDERSON_SWEEPS)
    for a in range(count):
        if a == slot:
            continue
        s = 0.0
        for i in range(first, last):
            s += weight[i] * R[a, i] * R[slot, i]
        gram[isl, a, slot] = s
        gram[isl, slot, a] = s
    gram[isl, slot, slot] = own
    history.stored[isl] = count
    history.slot[isl] = (slot + 1) % ANDERSON_SWEEPS


@njit
def _solve(A, c, m):
    """c <- (A + 1e-10 trace)⁻¹ c by Gauss elimination without pivoting: A is a Gram matrix."""
    B = np.empty((ANDERSON_SWEEPS, ANDERSON_SWEEPS))
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
