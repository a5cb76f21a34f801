"""Which contacts may act, and which of them are likely to: by their impulses, and by how bodies would approach."""

from __future__ import annotations

import math

import numpy as np

from ...problem.body_kernels import MANY, PARTS
from ...problem.laws import UNILATERAL
from ...runtime.jit import njit, prange

# Of the mean (root of squares) speed of approach: contacts that part more slowly may act, or are likely to. In falling
# piles the first hardly ever misses one that does, the second up to three in a hundred.
_NEAR_SPEED, _LIKELY_SPEED = 3.0, 0.5


@njit(leaf=True)
def _approach(start, stop, law, row_ptr, free):
    """Sum of squares of the speeds at which contacts approach, and how many do."""
    total, count = 0.0, 0
    for k in range(start, stop):
        speed = free[row_ptr[k]]
        if law[k] == UNILATERAL and speed < 0.0:
            total += speed * speed
            count += 1
    return total, count


@njit(leaf=True)
def _mark(start, stop, speed, law, row_ptr, free, p, near, likely):
    """The marks of the blocks start..stop at a mean speed of approach; whether any of them may act."""
    some = False
    for k in range(start, stop):
        acts = law[k] != UNILATERAL
        for r in range(row_ptr[k], row_ptr[k + 1]):
            acts = acts or p[r] != 0.0
        near[k] = acts or free[row_ptr[k]] < _NEAR_SPEED * speed
        likely[k] = acts or free[row_ptr[k]] < _LIKELY_SPEED * speed
        some = some or near[k]
    return some


@njit(parallel=True)
def _approach_parallel(law, row_ptr, free, total, count):
    n = len(law)
    for part in prange(PARTS):
        c = np.int64(part)
        total[c], count[c] = _approach(n * c // PARTS, n * (c + 1) // PARTS, law, row_ptr, free)


@njit(parallel=True)
def _mark_parallel(speed, law, row_ptr, free, p, near, likely, some):
    n = len(law)
    for part in prange(PARTS):
        c = np.int64(part)
        some[c] = _mark(n * c // PARTS, n * (c + 1) // PARTS, speed, law, row_ptr, free, p, near, likely)


@njit(sealed=True)
def mark_blocks(parallel, laws, free, p, near, likely):
    """near, likely (nk,): blocks that may act, and those that will; returns whether there are any.

    free (nr,): velocities without impulses; p (nr,): a first guess of the impulses.
    """
    law, row_ptr = laws.law, laws.row_ptr
    n = len(law)
    parts = PARTS if n > MANY else 1
    total, count, some = np.empty(parts), np.empty(parts, np.int64), np.empty(parts, np.bool_)
    if parallel and n > MANY:
        _approach_parallel(law, row_ptr, free, total, count)
    else:
        for c in range(parts):
            total[c], count[c] = _approach(n * c // parts, n * (c + 1) // parts, law, row_ptr, free)
    speed = math.sqrt(total.sum() / max(1, count.sum()))
    if parallel and n > MANY:
        _mark_parallel(speed, law, row_ptr, free, p, near, likely, some)
    else:
        for c in range(parts):
            some[c] = _mark(n * c // parts, n * (c + 1) // parts, speed, law, row_ptr, free, p, near, likely)
    return some.any()
