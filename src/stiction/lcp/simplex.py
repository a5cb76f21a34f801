"""A small dense simplex kernel that answers one question of a polyhedron: which coordinates are zero on all of it?

`{x >= 0: A x = b}` in standard form, where banned columns are fixed at zero. The enumeration asks it at every node, a
few thousand times, for tens of variables; there a tableau in cache is about a hundred times faster than a call of a
general LP code.
"""

from __future__ import annotations

import numpy as np

from ..runtime.jit import njit

_LEAST_PIVOT = 1e-9  # smallest pivot, in equilibrated units where the entries of A are near 1
_CLEARLY_POSITIVE = 1e-6  # a coordinate this large is positive beyond doubt; a smaller one is maximised to the end


@njit
def classify(A, b, banned, tol, total, positive):
    """Find which coordinates are positive somewhere: returns False when the polyhedron is empty, True otherwise.

    positive (N,) is set to 1 where x_j > 0 for some point, 0 where x_j = 0 for all; total (N,) becomes a point of the
    relative interior: the mean of the vertices met plus the rays met.
    """
    rows, N = A.shape
    total[:] = 0.0
    positive[:] = 0
    T = np.empty((rows, N + 1))
    basis = np.empty(rows, np.int64)
    if not first_vertex(A, b, banned, tol, T, basis):
        return False
    met = np.zeros(2, np.int64)
    record(T, basis, tol, total, positive, met)
    for j in range(N):
        if banned[j] == 0 and positive[j] == 0:
            maximise(T, basis, banned, j, tol, total, positive, met)
    return True


@njit
def first_vertex(A, b, banned, tol, T, basis):
    """Phase one: a basic feasible tableau, or False when there is none. Redundant rows end with basis -2 and are
    zeroed.
    """
    rows, N = A.shape
    for i in range(rows):
        sign = 1.0 if b[i] >= 0.0 else -1.0
        basis[i] = -1
        for j in range(N):
            T[i, j] = 0.0 if banned[j] == 1 else sign * A[i, j]
        T[i, N] = sign * b[i]
    reduced = np.empty(N)
    for count in range(50 * (rows + N)):
        reduced[:] = 0.0
        rest = 0.0
        for i in range(rows):
            if basis[i] == -1:
                rest += T[i, N]
                for j in range(N):
                    reduced[j] += T[i, j]
        if rest <= 0.1 * tol:
            break
        enter = -1
        for j in range(N):  # steepest first; the first index after many pivots, so that ties cannot cycle (Bland)
            if reduced[j] > _LEAST_PIVOT and (enter < 0 or (count < 5 * (rows + N) and reduced[j] > reduced[enter])):
                enter = j
        if enter < 0:
            break
        row = blocking(T, basis, enter, count >= 5 * (rows + N))
        if row < 0:
            break
        pivot(T, basis, row, enter)
    rest = 0.0
    for i in range(rows):
        if basis[i] == -1:
            rest += T[i, N]
    if rest > tol:
        return False
    for i in range(rows):
        if basis[i] == -1:
            best = 0
            for j in range(1, N):
                if abs(T[i, j]) > abs(T[i, best]):
                    best = j
            if N > 0 and abs(T[i, best]) > _LEAST_PIVOT:
                T[i, N] = 0.0
                pivot(T, basis, i, best)
            else:
                T[i, :] = 0.0
                basis[i] = -2
    return True


@njit
def blocking(T, basis, enter, bland):
    """The row of the ratio test for the entering column, or -1; ties go to the largest pivot, or to the smallest
    index.
    """
    rows = T.shape[0]
    N = T.shape[1] - 1
    row = -1
    least = np.inf
    for i in range(rows):
        if T[i, enter] > _LEAST_PIVOT:
            ratio = max(T[i, N], 0.0) / T[i, enter]
            if row < 0 or ratio < least - 1e-12 * (1.0 + least):
                row = i
                least = ratio
            elif ratio <= least + 1e-12 * (1.0 + least):
                better = basis[i] < basis[row] if bland else T[i, enter] > T[row, enter]
                if better:
                    row = i
                least = min(least, ratio)
    return row


@njit
def pivot(T, basis, row, enter):
    """Gauss-Jordan step: column `enter` becomes basic in `row`."""
    rows, columns = T.shape
    p = 1.0 / T[row, enter]
    for j in range(columns):
        T[row, j] *= p
    T[row, enter] = 1.0
    for i in range(rows):
        f = T[i, enter]
        if i != row and f != 0.0:
            for j in range(columns):
                T[i, j] -= f * T[row, j]
            T[i, enter] = 0.0
    basis[row] = enter


@njit
def maximise(T, basis, banned, target, tol, total, positive, met):
    """Raise coordinate `target` until it is clearly positive, unbounded or at its maximum; record where that ends."""
    rows = T.shape[0]
    N = T.shape[1] - 1
    limit = 50 * (rows + N)
    for count in range(limit):
        at = -1
        for i in range(rows):
            if basis[i] == target:
                at = i
        if at >= 0 and T[at, N] > _CLEARLY_POSITIVE:
            break
        enter = -1
        if at < 0:
            enter = target
        else:
            for j in range(N):
                if (
                    banned[j] == 0
                    and T[at, j] < -_LEAST_PIVOT
                    and (enter < 0 or (count < limit // 2 and T[at, j] < T[at, enter]))
                ):
                    enter = j
        if enter < 0:
            break
        row = blocking(T, basis, enter, count >= limit // 2)
        if row < 0:
            record_ray(T, basis, enter, total, positive, met)
            return
        pivot(T, basis, row, enter)
    record(T, basis, tol, total, positive, met)


@njit
def record(T, basis, tol, total, positive, met):
    """Let the vertex at hand join the mean of vertices; total holds mean + rays."""
    rows = T.shape[0]
    N = T.shape[1] - 1
    size = 1.0
    for i in range(rows):
        size = max(size, abs(T[i, N]))
    met[0] += 1
    share = 1.0 / met[0]
    for j in range(N):
        total[j] *= 1.0 - share
    for i in range(rows):
        if basis[i] >= 0 and T[i, N] > 0.0:
            total[basis[i]] += share * T[i, N]
            if T[i, N] > tol * size:
                positive[basis[i]] = 1


@njit
def record_ray(T, basis, enter, total, positive, met):
    """Let the ray of the entering column join the point, and note what grows along it."""
    total[enter] += 1.0
    positive[enter] = 1
    for i in range(T.shape[0]):
        if basis[i] >= 0 and T[i, enter] < -_LEAST_PIVOT:
            total[basis[i]] -= T[i, enter]
            positive[basis[i]] = 1
