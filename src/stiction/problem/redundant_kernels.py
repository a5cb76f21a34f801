"""The rank of joint rows by elimination, as compiled loops: BLAS would wake its threads for matrices this small."""

from __future__ import annotations

import math

from ..runtime.jit import njit


@njit(leaf=True)
def delassus_of(rows, block, body_a, body_b, Ja, Jb, Minv, W):
    """W = H M⁻¹ Hᵀ among `rows` (m,); block (m,): the block of each."""
    d = Minv.shape[1]
    for i in range(len(rows)):
        for j in range(i + 1):
            s = 0.0
            for one in range(2):
                k = body_a[block[i]] if one == 0 else body_b[block[i]]
                if k < 0:
                    continue
                for other in range(2):
                    if k != (body_a[block[j]] if other == 0 else body_b[block[j]]):
                        continue
                    J, K = (Ja if one == 0 else Jb), (Ja if other == 0 else Jb)
                    for l in range(d):
                        t = 0.0
                        for m in range(d):
                            t += Minv[k, l, m] * K[rows[j], m]
                        s += J[rows[i], l] * t
            W[i, j] = s
            W[j, i] = s


@njit(leaf=True)
def eliminate(W, least, order):
    """Cholesky's factor of W[order][:, order] in the lower part of W, the row with the most left first; the rank.

    It ends where no row has more than `least` of itself left.
    """
    n = len(order)
    for i in range(n):
        order[i] = i
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if W[i, i] > W[best, best]:
                best = i
        if not W[best, best] > least:
            return k
        if best != k:
            order[k], order[best] = order[best], order[k]
            W[k, k], W[best, best] = W[best, best], W[k, k]
            for j in range(k):
                W[k, j], W[best, j] = W[best, j], W[k, j]
            for i in range(k + 1, best):
                W[i, k], W[best, i] = W[best, i], W[i, k]
            for i in range(best + 1, n):
                W[i, k], W[i, best] = W[i, best], W[i, k]
        pivot = math.sqrt(W[k, k])
        W[k, k] = pivot
        for i in range(k + 1, n):
            W[i, k] /= pivot
            W[k, i] = W[i, k]  # the same in a row, for the loop below to read in order
        for i in range(k + 1, n):
            s = W[i, k]
            for j in range(k + 1, i + 1):
                W[i, j] -= s * W[k, j]
    return n


@njit(leaf=True)
def combinations(L, rank, order, null):
    """Combinations null (n, n - rank) of rows that are zero, orthonormal, from the factor of `eliminate`."""
    n = len(order)
    for c in range(n - rank):
        for i in range(n):
            null[i, c] = 0.0
        null[order[rank + c], c] = 1.0
        for i in range(rank - 1, -1, -1):
            s = -L[rank + c, i]
            for j in range(i + 1, rank):
                s -= L[j, i] * null[order[j], c]
            null[order[i], c] = s / L[i, i]
        for _ in range(2):  # once more, for what round-off has left
            for other in range(c):
                s = 0.0
                for i in range(n):
                    s += null[i, other] * null[i, c]
                for i in range(n):
                    null[i, c] -= s * null[i, other]
        s = 0.0
        for i in range(n):
            s += null[i, c] * null[i, c]
        s = math.sqrt(s)
        for i in range(n):
            null[i, c] /= s


@njit(leaf=True)
def determined(L, rank, order, right, x):
    """x (n,) with W x = right, where it can be: in the rows that `eliminate` has taken, and zero in the others."""
    for i in range(len(order)):
        x[order[i]] = 0.0
    for i in range(rank):
        s = right[order[i]]
        for j in range(i):
            s -= L[i, j] * x[order[j]]
        x[order[i]] = s / L[i, i]
    for i in range(rank - 1, -1, -1):
        s = x[order[i]]
        for j in range(i + 1, rank):
            s -= L[j, i] * x[order[j]]
        x[order[i]] = s / L[i, i]
