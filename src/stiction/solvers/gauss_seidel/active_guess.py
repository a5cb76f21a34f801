"""Which contacts may act, and which of them are likely to: by their impulses, and by how bodies would approach."""

from __future__ import annotations

import math

import numpy as np

from ...problem.body_kernels import THREAD_PARTS, THREADS_MIN_BLOCKS
from ...problem.laws import UNILATERAL
from ...runtime.jit import njit, prange
from .parameters import ATTEMPT


@njit(leaf=True)
def _approach_speeds(start, stop, law, row_ptr, free):
    """The sum of squares of the speeds at which contacts approach, and the number of these contacts."""
    squares, count = 0.0, 0
    for k in range(start, stop):
        speed = free[row_ptr[k]]
        if law[k] == UNILATERAL and speed < 0.0:
            squares += speed * speed
            count += 1
    return squares, count


@njit(leaf=True)
def _guess_blocks(start, stop, speed, law, row_ptr, free, p, active, likely):
    """Set active and likely of the blocks start..stop by the mean speed of approach; returns whether any is active."""
    any_active = False
    for k in range(start, stop):
        acts = law[k] != UNILATERAL
        for r in range(row_ptr[k], row_ptr[k + 1]):
            acts = acts or p[r] != 0.0
        active[k] = acts or free[row_ptr[k]] < ATTEMPT.active_speeds * speed
        likely[k] = acts or free[row_ptr[k]] < ATTEMPT.likely_speeds * speed
        any_active = any_active or active[k]
    return any_active


@njit(parallel=True)
def _approach_speeds_parallel(law, row_ptr, free, squares, count):
    n = len(law)
    for part in prange(THREAD_PARTS):
        c = np.int64(part)
        squares[c], count[c] = _approach_speeds(n * c // THREAD_PARTS, n * (c + 1) // THREAD_PARTS, law, row_ptr, free)


@njit(parallel=True)
def _guess_blocks_parallel(speed, law, row_ptr, free, p, active, likely, any_active):
    n = len(law)
    for part in prange(THREAD_PARTS):
        c = np.int64(part)
        any_active[c] = _guess_blocks(
            n * c // THREAD_PARTS, n * (c + 1) // THREAD_PARTS, speed, law, row_ptr, free, p, active, likely
        )


@njit(sealed=True)
def guess_active(parallel, laws, free, p, active, likely):
    """Set active, likely (nk,): blocks that may act, and blocks that probably will; returns whether any is active.

    free (nr,): velocities without impulses; p (nr,): a first guess of the impulses.
    """
    law, row_ptr = laws.law, laws.row_ptr
    n = len(law)
    parts = THREAD_PARTS if n > THREADS_MIN_BLOCKS else 1
    squares, count, any_active = np.empty(parts), np.empty(parts, np.int64), np.empty(parts, np.bool_)
    if parallel and n > THREADS_MIN_BLOCKS:
        _approach_speeds_parallel(law, row_ptr, free, squares, count)
    else:
        for c in range(parts):
            squares[c], count[c] = _approach_speeds(n * c // parts, n * (c + 1) // parts, law, row_ptr, free)
    speed = math.sqrt(squares.sum() / max(1, count.sum()))
    if parallel and n > THREADS_MIN_BLOCKS:
        _guess_blocks_parallel(speed, law, row_ptr, free, p, active, likely, any_active)
    else:
        for c in range(parts):
            any_active[c] = _guess_blocks(
                n * c // parts, n * (c + 1) // parts, speed, law, row_ptr, free, p, active, likely
            )
    return any_active.any()
