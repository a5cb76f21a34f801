"""Acceleration of the sweeps of block Gauss–Seidel.

A sweep is a map g of the impulses onto themselves whose fixed points are the solutions. From the last few sweeps
Anderson's method takes the combination of the g(x_j) whose changes r_j = g(x_j) - x_j cancel best, in the norm of
energy (weights W_ii), and goes on from there; where r grows it drops its history and starts anew. It is fast until the
contact modes keep changing; there, and on large islands from the start, momentum takes over (Polyak 1964): the next
sweep starts from g(x_j) + β (g(x_j) - g(x_j-1)), or from g(x_j) where r_j points back. On falling piles a constant β of
0.7 to 0.8 took half the sweeps of the β of nonlinear conjugate gradients (Silcowitz, Niebe, Erleben 2010). Long runs
bear a larger β, which depends on the problem: the damping 1 - β shrinks slowly, and is tripled each time that r has
grown. That ends the stretches in which impulses drift along a state of self-stress, every sweep by the same r, until a
contact slips or opens. Some problems with friction go in circles under a large β: where r stops falling, β is at most
0.75 for a while. The bodies' state w is linear in p and follows with the same weights.

The round-off of w must not be corrected on one side of p - g alone: β (p - g) would carry it on, β/(1 - β) times as
large, from one sweep to the next; `realign_history` keeps both sides alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...runtime.jit import njit, prange
from ...runtime.lanes import WIDTH, load, splat, store, sum_lanes
from .parameters import ACCELERATION
from .records import Array

ISLAND_PARTS = 64  # of an island's rows and bodies, for threads to take


class History(NamedTuple):
    """Earlier sweeps, for acceleration: n rows, m differences, and numbers of each island (nisl,)."""

    x: Array  # (n,) impulses before a sweep
    r: Array  # (n,) change by the sweep before
    g: Array  # (n,) impulses after the sweep before
    wg: Array  # (slots, d) the bodies' state after the sweep before
    R: Array  # (m, n) differences of r, g and wg from one sweep to the next
    G: Array  # (m, n); with momentum G[0] and Wg[0] are those after the sweep before
    Wg: Array  # (m, slots, d)
    gram: Array  # (nisl, m, m) products of the rows of R
    momentum: Array  # whether momentum has taken over
    kept_count: Array  # Anderson: differences that are kept
    slot: Array  # where the next difference goes, -1 at the start
    least_change2: Array  # least |r|², with momentum 0 before its first sweep
    progress_change2: Array  # Anderson: |r|² at the last progress
    count: Array  # Anderson: sweeps since the last progress; momentum: updates of β
    damping: Array  # momentum: 1 - β
    damping_bound: Array  # the least 1 - β at present
    bound_change2: Array  # |r|² when that bound was last reviewed
    bound_count: Array  # updates of β since then
    mixing: Array  # large islands: whether groups of sweeps are mixed (`mixing`) in place of momentum
    turn_error2: Array  # the squared error when momentum or mixing last made progress
    turn_sweeps: Array  # the sweeps at that time


@njit
def new_history(accelerate, takes_turns, work):
    """An empty history, with space for differences only where they may be kept.

    takes_turns: whether mixing takes turns with momentum.
    """
    rows, n, islands = work.entries.rows, len(work.entries.src), work.entries.phase.shape[0]
    m = 1
    for isl in range(islands):
        if accelerate and rows[isl + 1] - rows[isl] <= ACCELERATION.anderson_max_rows:
            m = ACCELERATION.anderson_sweeps
    if takes_turns:  # a small island may be given to momentum, too
        m = max(m, ACCELERATION.mixed_groups)
    slots, d = work.w.shape
    history = History(
        np.empty(n), np.empty(n), np.empty(n), np.empty((slots, d)), np.empty((m, n)), np.empty((m, n)),
        np.empty((m, slots, d)), np.empty((islands, m, m)), np.empty(islands, np.bool_), np.empty(islands, np.int64),
        np.empty(islands, np.int64), np.empty(islands), np.empty(islands), np.empty(islands, np.int64),
        np.empty(islands), np.empty(islands), np.empty(islands), np.empty(islands, np.int64),
        np.zeros(islands, np.bool_), np.full(islands, np.inf), np.zeros(islands, np.int64),
    )  # fmt: skip
    for isl in range(islands):
        reset_history(isl, rows[isl + 1] - rows[isl], history)
    return history


@njit(leaf=True)
def reset_history(isl, rows, history):
    """Drop the history of an island with `rows` rows."""
    history.kept_count[isl], history.slot[isl], history.count[isl] = 0, -1, 0
    history.momentum[isl] = rows > ACCELERATION.anderson_max_rows
    if rows <= ACCELERATION.anderson_max_rows:
        history.least_change2[isl], history.progress_change2[isl] = np.inf, 0.0
    else:
        history.least_change2[isl] = 0.0


@njit(leaf=True)
def _copy_part(start, stop, source, target):
    for i in range(start, stop):
        target[i] = source[i]


@njit(parallel=True)
def _copy_parallel(first, last, source, target):
    for part in prange(ISLAND_PARTS):
        c = np.int64(part)
        _copy_part(
            first + (last - first) * c // ISLAND_PARTS, first + (last - first) * (c + 1) // ISLAND_PARTS, source, target
        )


@njit(leaf=True)
def copy_range(first, last, parallel, source, target):
    """target[first:last] = source[first:last]."""
    if parallel:
        _copy_parallel(first, last, source, target)
    else:
        _copy_part(first, last, source, target)


@njit(leaf=True)
def _change_sums_part(c, first, last, p, x, g, weight, part):
    """part[c]: Σ weight (p - x)² and Σ weight (p - x) (p - g) over one of CHUNKS equal parts of the rows."""
    i, end = first + (last - first) * c // ISLAND_PARTS, first + (last - first) * (c + 1) // ISLAND_PARTS
    sizes, products = splat(0.0), splat(0.0)
    while i + WIDTH <= end:
        now = load(p, i)
        change = now - load(x, i)
        weighted = load(weight, i) * change
        sizes = sizes + weighted * change
        products = products + weighted * (now - load(g, i))
        i += WIDTH
    part[c, 0], part[c, 1] = sum_lanes(sizes), sum_lanes(products)
    while i < end:
        weighted = weight[i] * (p[i] - x[i])
        part[c, 0] += weighted * (p[i] - x[i])
        part[c, 1] += weighted * (p[i] - g[i])
        i += 1


@njit(parallel=True)
def _change_sums_parallel(first, last, p, x, g, weight, part):
    for c in prange(ISLAND_PARTS):
        _change_sums_part(np.int64(c), first, last, p, x, g, weight, part)


@njit
def _change_sums(first, last, parallel, p, x, g, weight):
    """Σ weight (p - x)² and Σ weight (p - x) (p - g), in chunks: they do not depend on the number of threads."""
    part = np.empty((ISLAND_PARTS, 2))
    if parallel:
        _change_sums_parallel(first, last, p, x, g, weight, part)
    else:
        for c in range(ISLAND_PARTS):
            _change_sums_part(c, first, last, p, x, g, weight, part)
    size, product = 0.0, 0.0
    for c in range(ISLAND_PARTS):
        size += part[c, 0]
        product += part[c, 1]
    return size, product


@njit(sealed=True)
def combine_sweeps(isl, parallel, adapt, work, history):
    """Set impulses p and states w of an island, after a sweep, to those from which the next sweep starts.

    By Anderson's method or momentum. adapt: whether momentum adapts β to the change of p, which costs a fifth of a
    sweep; `history.x`, the impulses before the sweep, has to be set then, and on small islands.
    """
    if history.momentum[isl]:
        _momentum(isl, parallel, adapt, work, history)
        return
    entries, p, w, weight = work.entries, work.p, work.w, work.local.weight
    first, last, low, high = entries.rows[isl], entries.rows[isl + 1], entries.begin[isl], entries.begin[isl + 1]
    x, r, g, wg = history.x, history.r, history.g, history.wg
    R, G, Wg, gram = history.R, history.G, history.Wg, history.gram
    size = 0.0
    for i in range(first, last):
        size += weight[i] * (p[i] - x[i]) ** 2
    history.count[isl] += 1
    if history.slot[isl] < 0 or size < 0.5 * history.progress_change2[isl]:
        history.progress_change2[isl], history.count[isl] = size, 0
    elif history.count[isl] > ACCELERATION.momentum_after_sweeps:
        history.least_change2[isl], history.momentum[isl] = 0.0, True
        return
    has_previous = history.slot[isl] >= 0
    if has_previous and size > ACCELERATION.drop_growth * history.least_change2[isl]:
        history.kept_count[isl], history.slot[isl], history.least_change2[isl] = 0, 0, size
    elif has_previous:
        _store_differences(isl, work, history)
    history.slot[isl] = max(history.slot[isl], 0)
    history.least_change2[isl] = min(history.least_change2[isl], size)
    d = w.shape[1]
    for i in range(first, last):
        r[i] = p[i] - x[i]
        g[i] = p[i]
    for i in range(low, high):
        for j in range(d):
            wg[i, j] = w[i, j]
    m = history.kept_count[isl]
    if m == 0:
        return
    c = np.empty(ACCELERATION.anderson_sweeps)
    for a in range(m):
        s = 0.0
        for i in range(first, last):
            s += weight[i] * R[a, i] * r[i]
        c[a] = s
    solve_gram(gram[isl], c, m)
    for a in range(m):
        if c[a] != 0.0:
            for i in range(first, last):
                p[i] -= c[a] * G[a, i]
            for i in range(low, high):
                for j in range(d):
                    w[i, j] -= c[a] * Wg[a, i, j]


@njit(leaf=True)
def _extrapolate(i, end, beta, p, g):
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
def _extrapolate_part(c, first, last, low, high, beta, p, w, G, Wg):
    """`_extrapolate` for p and w on part c of ISLAND_PARTS equal parts of the rows and of the bodies."""
    d = w.shape[1]
    _extrapolate(
        first + (last - first) * c // ISLAND_PARTS, first + (last - first) * (c + 1) // ISLAND_PARTS, beta, p, G[0]
    )
    below, above = low + (high - low) * c // ISLAND_PARTS, low + (high - low) * (c + 1) // ISLAND_PARTS
    _extrapolate(below * d, above * d, beta, w.ravel(), Wg[0].ravel())


@njit(parallel=True)
def _extrapolate_parallel(first, last, low, high, beta, p, w, G, Wg):
    for c in prange(ISLAND_PARTS):
        _extrapolate_part(np.int64(c), first, last, low, high, beta, p, w, G, Wg)


@njit(leaf=True)
def _adapt_damping(isl, size, history):
    """Set the damping 1 - β from size = |r|²; returns whether |r|² has grown."""
    history.count[isl] += 1
    history.bound_count[isl] += 1
    if size < 0.5 * history.bound_change2[isl]:
        history.bound_change2[isl], history.bound_count[isl] = size, 0
    elif history.bound_count[isl] > ACCELERATION.stall_updates:
        lowest = history.damping_bound[isl] == ACCELERATION.least_damping
        history.damping_bound[isl] = ACCELERATION.first_damping if lowest else ACCELERATION.least_damping
        history.bound_change2[isl], history.bound_count[isl] = size, 0
    grown = size > ACCELERATION.growth * history.least_change2[isl]
    if grown:
        history.damping[isl], history.least_change2[isl] = ACCELERATION.damping_growth * history.damping[isl], size
    elif history.count[isl] > ACCELERATION.steady_updates:
        history.damping[isl] *= ACCELERATION.damping_shrink
    history.damping[isl] = min(1.0, max(history.damping_bound[isl], history.damping[isl]))
    history.least_change2[isl] = min(history.least_change2[isl], size)
    return grown


@njit
def _momentum(isl, parallel, adapt, work, history):
    """Extrapolate to p + β (p - g), g the sweep before, kept in G[0] and Wg[0]; β = 0 where p - x turns back."""
    entries, p, w, G, Wg = work.entries, work.p, work.w, history.G, history.Wg
    first, last, low, high = entries.rows[isl], entries.rows[isl + 1], entries.begin[isl], entries.begin[isl + 1]
    if history.least_change2[isl] == 0.0:
        history.damping[isl], history.damping_bound[isl] = ACCELERATION.first_damping, ACCELERATION.least_damping
        history.least_change2[isl] = np.inf
        history.count[isl], history.bound_change2[isl], history.bound_count[isl] = 0, np.inf, 0
        copy_range(first, last, parallel, p, G[0])
        copy_range(low * w.shape[1], high * w.shape[1], parallel, w.ravel(), Wg[0].ravel())
        return
    beta = 1.0 - history.damping[isl]
    if adapt:
        size, product = _change_sums(first, last, parallel, p, history.x, G[0], work.local.weight)
        if _adapt_damping(isl, size, history):
            product = 0.0
        beta = 1.0 - history.damping[isl] if product > 0.0 else 0.0
    if parallel:
        _extrapolate_parallel(first, last, low, high, beta, p, w, G, Wg)
    else:
        d = w.shape[1]
        _extrapolate(first, last, beta, p, G[0])
        _extrapolate(low * d, high * d, beta, w.ravel(), Wg[0].ravel())


@njit(leaf=True)
def realign_history(isl, low, high, w, before, history):
    """Correct the state of the sweep before as w has been, which was `before` and is now made from p."""
    d = w.shape[1]
    if history.mixing[isl]:  # keeps no states
        return
    for i in range(low, high):
        for j in range(d):
            if history.momentum[isl]:
                history.Wg[0, i, j] += w[i, j] - before[i, j]
            else:
                history.wg[i, j] += w[i, j] - before[i, j]


@njit(leaf=True)
def _store_differences(isl, work, history):
    """Store the differences to the sweep before in place of the oldest ones."""
    entries, p, w, weight = work.entries, work.p, work.w, work.local.weight
    first, last, low, high = entries.rows[isl], entries.rows[isl + 1], entries.begin[isl], entries.begin[isl + 1]
    x, r, g, R, G, gram = history.x, history.r, history.g, history.R, history.G, history.gram
    slot, d = history.slot[isl], w.shape[1]
    norm2 = 0.0
    for i in range(first, last):
        R[slot, i] = p[i] - x[i] - r[i]
        G[slot, i] = p[i] - g[i]
        norm2 += weight[i] * R[slot, i] * R[slot, i]
    for i in range(low, high):
        for j in range(d):
            history.Wg[slot, i, j] = w[i, j] - history.wg[i, j]
    count = min(history.kept_count[isl] + 1, ACCELERATION.anderson_sweeps)
    for a in range(count):
        if a == slot:
            continue
        s = 0.0
        for i in range(first, last):
            s += weight[i] * R[a, i] * R[slot, i]
        gram[isl, a, slot] = s
        gram[isl, slot, a] = s
    gram[isl, slot, slot] = norm2
    history.kept_count[isl] = count
    history.slot[isl] = (slot + 1) % ACCELERATION.anderson_sweeps


@njit
def solve_gram(A, c, m):
    """c <- (A + 1e-10 trace)⁻¹ c by Gauss elimination without pivoting: A is a Gram matrix."""
    B = np.empty((len(c), len(c)))
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
