"""Nonnegative least squares, small and compiled: what the projection onto a polyhedron rests on."""

from __future__ import annotations

import math

from ..runtime.jit import njit


@njit(leaf=True)
def nnls(A, d, m, b, w, r, active, gram, rhs, sol):
    """Lawson–Hanson: w >= 0 minimising |sum_j w_j A[j] - b|, rows A[j] of length d; r becomes b - sum_j w_j A[j].

    Work arrays: active (d+1,) int64, gram (d+1, d+1), rhs (d+1,), sol (d+1,). At most d rows are ever active.
    """
    for j in range(m):
        w[j] = 0.0
    scale = 0.0
    for k in range(d):
        r[k] = b[k]
        scale = max(scale, abs(b[k]))
    count = 0
    for _ in range(3 * m + 30):
        best = 1e-15 * scale
        enter = -1
        for j in range(m):
            taken = False
            for i in range(count):
                taken = taken or active[i] == j
            if taken:
                continue
            s = 0.0
            size = 0.0
            for k in range(d):
                s += A[j, k] * r[k]
                size += A[j, k] * A[j, k]
            s = s / math.sqrt(size) if size > 0.0 else 0.0
            if s > best:
                best = s
                enter = j
        if enter < 0 or count >= d:
            break
        active[count] = enter
        count += 1
        for _inner in range(2 * d + 2):
            if not _least_squares(A, d, active, count, b, gram, rhs, sol):
                count -= 1  # the new row depends on the others: it cannot improve the fit
                w[active[count]] = 0.0
                enter = -1
                break
            alpha = 1.0
            for i in range(count):
                if sol[i] <= 0.0:
                    j = active[i]
                    gapw = w[j] - sol[i]
                    alpha = min(alpha, w[j] / gapw if gapw > 0.0 else 0.0)
            for i in range(count):
                j = active[i]
                w[j] = sol[i] if alpha == 1.0 else w[j] + alpha * (sol[i] - w[j])
            if alpha == 1.0:
                break
            kept = 0
            for i in range(count):
                j = active[i]
                if w[j] > 1e-15 * abs(sol[i]) and not (sol[i] <= 0.0 and w[j] <= 1e-14 * (abs(sol[i]) + w[j])):
                    active[kept] = j
                    kept += 1
                else:
                    w[j] = 0.0
            count = kept
        for k in range(d):
            s = b[k]
            for i in range(count):
                s -= w[active[i]] * A[active[i], k]
            r[k] = s
        if enter < 0:
            break


@njit(leaf=True)
def _least_squares(A, d, active, count, b, gram, rhs, sol):
    """Least squares on the active rows by modified Gram–Schmidt; False when they are linearly dependent."""
    # gram[:, i] holds the i-th orthonormal vector; sol collects the triangular factor's solve in place.
    for i in range(count):
        size0 = 0.0
        for k in range(d):
            gram[k, i] = A[active[i], k]
            size0 += gram[k, i] ** 2
        for _pass in range(2):
            for j in range(i):
                s = 0.0
                for k in range(d):
                    s += gram[k, j] * gram[k, i]
                for k in range(d):
                    gram[k, i] -= s * gram[k, j]
        size = 0.0
        for k in range(d):
            size += gram[k, i] ** 2
        if size <= 1e-26 * size0:
            return False
        size = math.sqrt(size)
        for k in range(d):
            gram[k, i] /= size
        s = 0.0
        for k in range(d):
            s += gram[k, i] * b[k]
        rhs[i] = s
    for back in range(count):
        i = count - 1 - back
        s = rhs[i]
        diagonal = 0.0
        for k in range(d):
            diagonal += gram[k, i] * A[active[i], k]
        for j in range(i + 1, count):
            entry = 0.0
            for k in range(d):
                entry += gram[k, i] * A[active[j], k]
            s -= entry * sol[j]
        sol[i] = s / diagonal
    return True
