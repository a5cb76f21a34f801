"""Proximal steps by Newton's method on a small island, and when they are worth it."""

from __future__ import annotations

import numpy as np

from .._jit import njit
from .nsgs_islands import body_state
from .nsgs_kernels import KINDS
from .nsgs_measure import measure_island
from .nsgs_newton import INNER, LEAST, MOST, START, band_of, newton_step
from .nsgs_order import PHASES

STEPS = 12  # proximal steps in one go
SETTLE = 3  # Newton steps towards rest


@njit(sealed=True)
def polish(isl, first, last, low, high, parallel, theta, missed, share, far, q, par, weight, x, f, facts):
    """Proximal steps on an island while they help, down to a residual of √far of its share of the goal.

    A residual far below the goal pays in the next steps of a scene at rest: they start from it, and the first sweep
    ends them. Returns the new square of the residual, θ, whether they are better, and the Newton steps made.
    """
    phase, seg, _, ptr, _, a, b, J, _, _, p, w = facts[:12]
    F, B, arms, pack, Z = facts[-5:]
    band = band_of(isl, phase, seg, a, b, w.shape[0] - 1, low, high, w.shape[1])
    better = False
    if band < 0:
        return missed, theta, better, 0
    D = np.full((seg[phase[isl, PHASES] - 1, KINDS] - seg[phase[isl, 0], 0], 9), -1.0)
    K = np.empty(((high - low) * w.shape[1], 2 * band + 1))
    failed, made = 0, 0
    for _ in range(STEPS):
        for i in range(first, last):
            x[i] = p[i]
        start, previous, count, moved = -1.0, 0.0, 0, True
        while moved and count < INNER:
            if count > 0:
                body_state(isl, low, high, parallel, phase, seg, ptr, a, b, J, p, w, F, B, arms, pack, Z)
            size, moved = newton_step(
                isl, theta, band, phase, seg, ptr, a, b, J, q, x, p, w, par, weight, f, D, K, low, high, 1e-8 * start
            )
            start = size if count == 0 else start
            moved = moved and not (size <= 1e-3 * start and size > 0.25 * previous)  # round-off
            previous = size
            count += 1
        made += count
        new = measure_island(isl, low, high, parallel, True, facts)
        before, after = missed / share, new / share
        if after < before and ((count > 1 and not moved) or after < 0.1 * before):
            missed, better = new, True
            if after <= far or (after <= 1.0 and after > 0.25 * before and theta == MOST):
                break
            theta = min(MOST, (100.0 if count <= 4 else 10.0) * theta)
            continue
        for i in range(first, last):
            p[i] = x[i]
        measure_island(isl, low, high, parallel, True, facts)
        theta = max(LEAST, 0.01 * theta)
        failed += 1
        if failed == 3 or before <= 1.0:
            break
    return missed, theta, better, made


@njit(leaf=True)
def without_overlaps(isl, size, phase, seg, ptr, src, T, length, b, q, still):
    """still = q of an island's rows without entries of b of at most `size` [m/s]; q and still are in the frames."""
    for i in range(seg[phase[isl, 0], 0], seg[phase[isl, PHASES] - 1, KINDS]):
        for k in range(ptr[i], ptr[i + 1]):
            still[k] = q[k]
        for l in range(ptr[i], ptr[i + 1]):
            s = b[src[l]]
            if s != 0.0 and abs(s) * length[src[l]] <= size:
                for k in range(ptr[i + 1] - ptr[i]):
                    still[ptr[i] + k] -= T[l, k] * s


@njit(sealed=True)
def settle(isl, first, last, low, high, parallel, missed, share, still, par, weight, x, f, facts):
    """Newton's method on the problem `still` (rows,), from which overlaps within the tolerance are left out.

    Overlaps contradict each other: to remove them sets bodies in motion that the next step has to stop, and where
    contacts are preloaded their round-off decides which ones open. Without them rest is an answer, one linear step off.
    It is kept where the residual, overlaps included, is within half its share. Returns its square and whether it was.
    """
    phase, seg, _, ptr, _, a, b, J, _, _, p, w = facts[:12]
    F, B, arms, pack, Z = facts[-5:]
    band = band_of(isl, phase, seg, a, b, w.shape[0] - 1, low, high, w.shape[1])
    if band < 0:
        return missed, False
    D = np.full((seg[phase[isl, PHASES] - 1, KINDS] - seg[phase[isl, 0], 0], 9), -1.0)
    K = np.empty(((high - low) * w.shape[1], 2 * band + 1))
    for i in range(first, last):
        x[i] = p[i]
    start, moved = -1.0, True
    for count in range(SETTLE):
        if not moved:
            break
        size, moved = newton_step(
            isl, START, band, phase, seg, ptr, a, b, J, still, x, p, w, par, weight, f, D, K, low, high, 1e-12 * start
        )
        start = size if count == 0 else start
        body_state(isl, low, high, parallel, phase, seg, ptr, a, b, J, p, w, F, B, arms, pack, Z)
    new = measure_island(isl, low, high, parallel, True, facts)
    if new <= 0.25 * share:
        return new, True
    for i in range(first, last):
        p[i] = x[i]
    measure_island(isl, low, high, parallel, True, facts)
    return missed, False
