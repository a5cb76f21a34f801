"""Proximal steps by Newton's method on a small island, and when they are worth it."""

from __future__ import annotations

import numpy as np

from ...runtime.jit import njit
from . import kinds
from .island_newton import CENTRE_STEPS, THETA_LEAST, THETA_MOST, THETA_START, band_of, newton_step
from .measure import measure_island
from .order import PHASES
from .sweep_island import body_state

PROXIMAL_STEPS = 12  # in one go
REST_STEPS = 3  # of Newton's method towards rest


@njit
def _room(isl, band, work):
    """D and K of `newton_step`: nothing is known of the modes yet."""
    items = work.items
    n = (items.begin[isl + 1] - items.begin[isl]) * work.w.shape[1]
    count = items.seg[items.phase[isl, PHASES] - 1, kinds.KINDS] - items.seg[items.phase[isl, 0], 0]
    return np.full((count, 9), -1.0), np.empty((n, 2 * band + 1))


@njit(sealed=True)
def polish(isl, parallel, theta, missed, share, far, work, x, f):
    """Proximal steps on an island while they help, down to a residual of √far of its share of the goal.

    A residual far below the goal pays in the next steps of a scene at rest: they start from it, and the first sweep
    ends them. x, f (n,): room. Returns the new square of the residual, θ, whether they are better, and the Newton steps
    made.
    """
    items, packed, p, w = work.items, work.packed, work.p, work.w
    first, last = items.rows[isl], items.rows[isl + 1]
    band = band_of(isl, items, w.shape[1])
    better = False
    if band < 0:
        return missed, theta, better, 0
    D, K = _room(isl, band, work)
    failed, made = 0, 0
    for _ in range(PROXIMAL_STEPS):
        for i in range(first, last):
            x[i] = p[i]
        start, previous, count, moved = -1.0, 0.0, 0, True
        while moved and count < CENTRE_STEPS:
            if count > 0:
                body_state(isl, parallel, items, packed, p, w)
            size, moved = newton_step(isl, theta, band, work.q, x, work, f, D, K, 1e-8 * start)
            start = size if count == 0 else start
            moved = moved and not (size <= 1e-3 * start and size > 0.25 * previous)  # round-off
            previous = size
            count += 1
        made += count
        new = measure_island(isl, parallel, True, work)
        before, after = missed / share, new / share
        if after < before and ((count > 1 and not moved) or after < 0.1 * before):
            missed, better = new, True
            if after <= far or (after <= 1.0 and after > 0.25 * before and theta == THETA_MOST):
                break
            theta = min(THETA_MOST, (100.0 if count <= 4 else 10.0) * theta)
            continue
        for i in range(first, last):
            p[i] = x[i]
        measure_island(isl, parallel, True, work)
        theta = max(THETA_LEAST, 0.01 * theta)
        failed += 1
        if failed == 3 or before <= 1.0:
            break
    return missed, theta, better, made


@njit(leaf=True)
def without_overlaps(isl, size, overlap, work, still):
    """still = q of an island's rows without overlaps of at most `size` [m/s]; q and still are in the frames."""
    items, T, length = work.items, work.local.T, work.laws.length
    ptr, src = items.ptr, items.src
    for i in range(items.seg[items.phase[isl, 0], 0], items.seg[items.phase[isl, PHASES] - 1, kinds.KINDS]):
        for k in range(ptr[i], ptr[i + 1]):
            still[k] = work.q[k]
        for l in range(ptr[i], ptr[i + 1]):
            s = overlap[src[l]]
            if s != 0.0 and abs(s) * length[src[l]] <= size:
                for k in range(ptr[i + 1] - ptr[i]):
                    still[ptr[i] + k] -= T[l, k] * s


@njit(sealed=True)
def settle(isl, parallel, missed, share, still, work, x, f):
    """Newton's method on the problem `still` (n,), from which overlaps within the tolerance are left out.

    Overlaps contradict each other: to remove them sets bodies in motion that the next step has to stop, and where
    contacts are preloaded their round-off decides which ones open. Without them rest is an answer, one linear step off.
    It is kept where the residual, overlaps included, is within half its share. Returns its square and whether it was.
    """
    items, packed, p, w = work.items, work.packed, work.p, work.w
    first, last = items.rows[isl], items.rows[isl + 1]
    band = band_of(isl, items, w.shape[1])
    if band < 0:
        return missed, False
    D, K = _room(isl, band, work)
    for i in range(first, last):
        x[i] = p[i]
    start, moved = -1.0, True
    for count in range(REST_STEPS):
        if not moved:
            break
        size, moved = newton_step(isl, THETA_START, band, still, x, work, f, D, K, 1e-12 * start)
        start = size if count == 0 else start
        body_state(isl, parallel, items, packed, p, w)
    new = measure_island(isl, parallel, True, work)
    if new <= 0.25 * share:
        return new, True
    for i in range(first, last):
        p[i] = x[i]
    measure_island(isl, parallel, True, work)
    return missed, False
