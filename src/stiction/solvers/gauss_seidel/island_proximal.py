"""Proximal steps by Newton's method on a small island."""

from __future__ import annotations

import numpy as np

from ...runtime.jit import njit
from . import kinds
from .island_newton import band_of, newton_step
from .measure import measure_island
from .order import PHASES
from .parameters import ISLAND_NEWTON
from .sweep_island import body_state


@njit
def _newton_workspace(isl, band, work):
    """D and K of `newton_step` for its first call."""
    entries = work.entries
    n = (entries.begin[isl + 1] - entries.begin[isl]) * work.w.shape[1]
    count = entries.seg[entries.phase[isl, PHASES] - 1, kinds.KINDS] - entries.seg[entries.phase[isl, 0], 0]
    return np.full((count, 9), -1.0), np.empty((n, 2 * band + 1))


@njit(sealed=True)
def refine_proximally(isl, parallel, theta, error2, goal2, target2, work, x, f):
    """Take proximal steps on an island while they help, down to a squared error of `target2` times its goal.

    An error far below the goal pays in the next steps of a scene at rest: they start from it, and the first sweep ends
    them. x, f (n,): workspace. Returns the new squared error, θ, whether the error is smaller, and the number of Newton
    steps.
    """
    entries, packed, p, w = work.entries, work.packed, work.p, work.w
    first, last = entries.rows[isl], entries.rows[isl + 1]
    band = band_of(isl, entries, w.shape[1])
    improved = False
    if band < 0:
        return error2, theta, improved, 0
    D, K = _newton_workspace(isl, band, work)
    failed, steps = 0, 0
    for _ in range(ISLAND_NEWTON.proximal_steps):
        for i in range(first, last):
            x[i] = p[i]
        start, previous, count, moved = -1.0, 0.0, 0, True
        while moved and count < ISLAND_NEWTON.centre_steps:
            if count > 0:
                body_state(isl, parallel, entries, packed, p, w)
            size, moved = newton_step(isl, theta, band, work.q, x, work, f, D, K, 1e-8 * start)
            start = size if count == 0 else start
            moved = moved and not (size <= 1e-3 * start and size > 0.25 * previous)  # round-off
            previous = size
            count += 1
        steps += count
        new = measure_island(isl, parallel, True, work)
        before, after = error2 / goal2, new / goal2
        if after < before and ((count > 1 and not moved) or after < 0.1 * before):
            error2, improved = new, True
            if after <= target2 or (after <= 1.0 and after > 0.25 * before and theta == ISLAND_NEWTON.theta_most):
                break
            theta = min(ISLAND_NEWTON.theta_most, (100.0 if count <= 4 else 10.0) * theta)
            continue
        for i in range(first, last):
            p[i] = x[i]
        measure_island(isl, parallel, True, work)
        theta = max(ISLAND_NEWTON.theta_least, 0.01 * theta)
        failed += 1
        if failed == 3 or before <= 1.0:
            break
    return error2, theta, improved, steps


@njit(leaf=True)
def leave_out_overlaps(isl, size, overlap, work, q_rest):
    """q_rest = q of an island's rows without overlaps of at most `size` [m/s]; both q are in the frames.

    What a spring bears is no overlap: rows with compliance keep theirs.
    """
    entries, T, length, C = work.entries, work.local.T, work.laws.length, work.laws.C
    ptr, src = entries.ptr, entries.src
    for i in range(entries.seg[entries.phase[isl, 0], 0], entries.seg[entries.phase[isl, PHASES] - 1, kinds.KINDS]):
        for k in range(ptr[i], ptr[i + 1]):
            q_rest[k] = work.q[k]
        for l in range(ptr[i], ptr[i + 1]):
            s = overlap[src[l]]
            if s != 0.0 and C[src[l]] == 0.0 and abs(s) * length[src[l]] <= size:
                for k in range(ptr[i + 1] - ptr[i]):
                    q_rest[ptr[i] + k] -= T[l, k] * s


@njit(sealed=True)
def approach_rest(isl, parallel, error2, goal2, q_rest, work, x, f):
    """Take Newton's steps on the problem `q_rest` (n,), from which overlaps within the tolerance are left out.

    Overlaps contradict each other: to remove them sets bodies in motion that the next step has to stop, and where
    contacts are preloaded their round-off decides which ones open. Without overlaps rest is a solution, one linear step
    away. The result is kept where its error, overlaps included, is at most half the goal. Returns the squared error and
    whether the result was kept.
    """
    entries, packed, p, w = work.entries, work.packed, work.p, work.w
    first, last = entries.rows[isl], entries.rows[isl + 1]
    band = band_of(isl, entries, w.shape[1])
    if band < 0:
        return error2, False
    D, K = _newton_workspace(isl, band, work)
    for i in range(first, last):
        x[i] = p[i]
    start, moved = -1.0, True
    for count in range(ISLAND_NEWTON.rest_steps):
        if not moved:
            break
        size, moved = newton_step(isl, ISLAND_NEWTON.theta_start, band, q_rest, x, work, f, D, K, 1e-12 * start)
        start = size if count == 0 else start
        body_state(isl, parallel, entries, packed, p, w)
    new = measure_island(isl, parallel, True, work)
    if new <= 0.25 * goal2:
        return new, True
    for i in range(first, last):
        p[i] = x[i]
    measure_island(isl, parallel, True, work)
    return error2, False
