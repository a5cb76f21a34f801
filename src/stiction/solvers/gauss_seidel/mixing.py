"""Anderson's method on a large island, where momentum no longer helps: groups of sweeps, combined with those before.

Contacts that rest on springs can make plain sweeps, and momentum with them, go round a solution for ever: near it the
map of a sweep has a few growing directions, the sticking of one contact against the opening of another. Anderson's
method finds such a solution all the same, as Newton's method on a few directions would; but only near it, while hardly
any contact changes its mode. So momentum and mixing take turns (`switch_acceleration`): each goes on while it helps.
On 44 hard problems of falling piles (1000 and 200 spheres, W/C = 290 and 950) momentum alone left 28 unsolved; both in
turn left 4, of which two were solved from no impulses.

With the groups g_j(x_j) and their changes r_j = g_j - x_j the next group starts from

    p = g - Σ c_a G_a        c: least |r - Σ c_a R_a| in energy        R_a, G_a: differences of r and g

What is summed is summed in parts of the island, whose number does not depend on the threads.
"""

from __future__ import annotations

import numpy as np

from ...runtime.jit import njit, prange
from ...runtime.lanes import WIDTH, load, splat, store, sum_lanes
from .accelerate import ISLAND_PARTS, solve_gram
from .parameters import ACCELERATION
from .sweep_island import body_state


@njit(inline=True)
def _bounds(c, first, last):
    """The rows of part c of an island."""
    return first + (last - first) * c // ISLAND_PARTS, first + (last - first) * (c + 1) // ISLAND_PARTS


@njit(leaf=True)
def _change_part(c, first, last, p, x, weight, part):
    """part[c, 0]: Σ weight (p - x)² over part c."""
    i, end = _bounds(c, first, last)
    total = splat(0.0)
    while i + WIDTH <= end:
        change = load(p, i) - load(x, i)
        total = total + load(weight, i) * change * change
        i += WIDTH
    part[c, 0] = sum_lanes(total)
    while i < end:
        part[c, 0] += weight[i] * (p[i] - x[i]) ** 2
        i += 1


@njit(leaf=True)
def _differ_part(c, first, last, slot, n, p, history, R, G):
    """R[slot], G[slot]: how r and g have changed since the group before, over part c; r and g become those of now."""
    x, r, g = history.x, history.r, history.g
    i, end = _bounds(c, first, last)
    while i + WIDTH <= end:
        now = load(p, i)
        change = now - load(x, i)
        store(R, slot * n + i, change - load(r, i))
        store(G, slot * n + i, now - load(g, i))
        store(r, i, change)
        store(g, i, now)
        i += WIDTH
    while i < end:
        change = p[i] - x[i]
        R[slot * n + i], G[slot * n + i] = change - r[i], p[i] - g[i]
        r[i], g[i] = change, p[i]
        i += 1


@njit(leaf=True)
def _products_part(c, first, last, slot, m, n, r, R, weight, part):
    """part[c]: Σ weight R_a R_slot and Σ weight R_a r for a < m, over part c."""
    begin, end = _bounds(c, first, last)
    for a in range(m):
        one, other, i = splat(0.0), splat(0.0), begin
        while i + WIDTH <= end:
            weighted = load(weight, i) * load(R, a * n + i)
            one = one + weighted * load(R, slot * n + i)
            other = other + weighted * load(r, i)
            i += WIDTH
        s, t = sum_lanes(one), sum_lanes(other)
        while i < end:
            s += weight[i] * R[a * n + i] * R[slot * n + i]
            t += weight[i] * R[a * n + i] * r[i]
            i += 1
        part[c, 2 * a], part[c, 2 * a + 1] = s, t


@njit(leaf=True)
def _mix_part(c, first, last, m, n, G, coefficients, p):
    """p <- p - Σ c_a G_a over part c."""
    begin, end = _bounds(c, first, last)
    for a in range(m):
        factor, i = coefficients[a], begin
        while i + WIDTH <= end:
            store(p, i, load(p, i) - factor * load(G, a * n + i))
            i += WIDTH
        while i < end:
            p[i] -= factor * G[a * n + i]
            i += 1


@njit(parallel=True)
def _change_parallel(first, last, p, x, weight, part):
    for c in prange(ISLAND_PARTS):
        _change_part(np.int64(c), first, last, p, x, weight, part)


@njit(parallel=True)
def _differ_parallel(first, last, slot, n, p, history, R, G):
    for c in prange(ISLAND_PARTS):
        _differ_part(np.int64(c), first, last, slot, n, p, history, R, G)


@njit(parallel=True)
def _products_parallel(first, last, slot, m, n, r, R, weight, part):
    for c in prange(ISLAND_PARTS):
        _products_part(np.int64(c), first, last, slot, m, n, r, R, weight, part)


@njit(parallel=True)
def _mix_parallel(first, last, m, n, G, coefficients, p):
    for c in prange(ISLAND_PARTS):
        _mix_part(np.int64(c), first, last, m, n, G, coefficients, p)


@njit
def _change(first, last, parallel, p, x, weight, part):
    """Σ weight (p - x)² of the rows first..last."""
    if parallel:
        _change_parallel(first, last, p, x, weight, part)
    else:
        for c in range(ISLAND_PARTS):
            _change_part(c, first, last, p, x, weight, part)
    return part[:, 0].sum()


@njit
def _store_differences(isl, first, last, parallel, work, history, part, c):
    """Keep the differences to the group before in place of the oldest ones, and set c (m,) = Σ weight R_a r."""
    slot, n, weight, p = history.slot[isl], len(work.p), work.local.weight, work.p
    R, G = history.R.ravel(), history.G.ravel()
    m = min(history.kept_count[isl] + 1, ACCELERATION.mixed_groups)
    if parallel:
        _differ_parallel(first, last, slot, n, p, history, R, G)
        _products_parallel(first, last, slot, m, n, history.r, R, weight, part)
    else:
        for k in range(ISLAND_PARTS):
            _differ_part(k, first, last, slot, n, p, history, R, G)
        for k in range(ISLAND_PARTS):
            _products_part(k, first, last, slot, m, n, history.r, R, weight, part)
    for a in range(m):
        s, c[a] = 0.0, 0.0
        for k in range(ISLAND_PARTS):
            s += part[k, 2 * a]
            c[a] += part[k, 2 * a + 1]
        history.gram[isl, a, slot], history.gram[isl, slot, a] = s, s
    history.kept_count[isl], history.slot[isl] = m, (slot + 1) % ACCELERATION.mixed_groups


@njit(sealed=True)
def mix_sweeps(isl, parallel, work, history):
    """Set impulses p and states w of an island, after a group of sweeps, to those from which the next one starts.

    `history.x`: the impulses before the group.
    """
    entries, p, n, R, G = work.entries, work.p, len(work.p), history.R.ravel(), history.G.ravel()
    first, last = entries.rows[isl], entries.rows[isl + 1]
    part, c = np.empty((ISLAND_PARTS, 2 * ACCELERATION.mixed_groups)), np.empty(ACCELERATION.mixed_groups)
    size = _change(first, last, parallel, p, history.x, work.local.weight, part)
    begun = history.slot[isl] >= 0
    if not begun or size > ACCELERATION.drop_growth * history.least_change2[isl]:
        # nothing to compare with: the slot is written over by the next group
        history.kept_count[isl], history.slot[isl], history.least_change2[isl] = 0, 0, size
        if parallel:
            _differ_parallel(first, last, 0, n, p, history, R, G)
        else:
            for k in range(ISLAND_PARTS):
                _differ_part(k, first, last, 0, n, p, history, R, G)
        return
    history.least_change2[isl] = min(history.least_change2[isl], size)
    _store_differences(isl, first, last, parallel, work, history, part, c)
    m = history.kept_count[isl]
    solve_gram(history.gram[isl], c, m)
    if parallel:
        _mix_parallel(first, last, m, n, G, c, p)
    else:
        for k in range(ISLAND_PARTS):
            _mix_part(k, first, last, m, n, G, c, p)
    body_state(isl, parallel, entries, work.packed, p, work.w)


@njit(leaf=True)
def switch_acceleration(isl, done, error2, progress_factor, history):
    """Let momentum and mixing take turns on a large island; returns whether they have changed.

    done: its sweeps so far; error2: its squared error now. The one that has not halved the error for its patience
    makes room for the other.
    """
    if not error2 > progress_factor * history.turn_error2[isl]:
        history.turn_error2[isl], history.turn_sweeps[isl] = error2, done
        return False
    patience = ACCELERATION.mixing_sweeps if history.mixing[isl] else ACCELERATION.momentum_sweeps
    if done - history.turn_sweeps[isl] <= patience:
        return False
    history.mixing[isl] = not history.mixing[isl]
    history.turn_error2[isl], history.turn_sweeps[isl] = error2, done
    history.kept_count[isl], history.slot[isl], history.least_change2[isl] = 0, -1, 0.0
    return True
