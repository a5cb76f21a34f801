"""Compiled parts of the Newton solvers: products with rows between bodies, and the assembly of their equations."""

from __future__ import annotations

import numpy as np

from ...runtime.jit import njit


@njit
def weigh(row_ptr, D, rho, C, f, B, g):
    """B = E D ρ and g = E f with E = (I + D ρ C)⁻¹ block by block: compliance C (none where empty) put into the law."""
    A = np.empty((6, 13))
    for b in range(len(row_ptr) - 1):
        r, n = row_ptr[b], row_ptr[b + 1] - row_ptr[b]
        for i in range(r, r + n):
            g[i] = f[i]
            for k in range(n):
                B[i, k] = D[i, k] * rho[b]
        if len(C):
            _comply(r, n, C, B, g, A)


@njit
def _comply(r, n, C, B, g, A):
    """Solve (I + B C) [B', g'] = [B, g] in place by elimination with the largest pivot."""
    m = n + 1
    for i in range(n):
        for k in range(n):
            A[i, k] = B[r + i, k] * C[r + k] + (1.0 if i == k else 0.0)
            A[i, n + k] = B[r + i, k]
        A[i, 2 * n] = g[r + i]
    for i in range(n):
        best = i
        for k in range(i + 1, n):
            if abs(A[k, i]) > abs(A[best, i]):
                best = k
        for j in range(n + m):
            A[i, j], A[best, j] = A[best, j], A[i, j]
        for k in range(n):
            if k != i and A[k, i] != 0.0:
                ratio = A[k, i] / A[i, i]
                for j in range(i, n + m):
                    A[k, j] -= ratio * A[i, j]
    for i in range(n):
        for k in range(n):
            B[r + i, k] = A[i, n + k] / A[i, i]
        g[r + i] = A[i, 2 * n] / A[i, i]


@njit
def block_rows(row_ptr, B, H, T):
    """T = B H for block-diagonal B (nr, 6) and dense H (nr, n)."""
    for b in range(len(row_ptr) - 1):
        r, n = row_ptr[b], row_ptr[b + 1] - row_ptr[b]
        for i in range(r, r + n):
            for j in range(H.shape[1]):
                T[i, j] = 0.0
            for k in range(n):
                s = B[i, k]
                if s != 0.0:
                    for j in range(H.shape[1]):
                        T[i, j] += s * H[r + k, j]


@njit
def body_velocity(row_ptr, a, b, J, p, w):
    """w (nbody+1, d) = Jᵀ p; the last row is the fixed world."""
    d = w.shape[1]
    for i in range(w.shape[0]):
        for j in range(d):
            w[i, j] = 0.0
    for i in range(len(row_ptr) - 1):
        for r in range(row_ptr[i], row_ptr[i + 1]):
            for j in range(d):
                w[a[i], j] += J[r, j] * p[r]
                w[b[i], j] += J[r, d + j] * p[r]
    for j in range(d):
        w[w.shape[0] - 1, j] = 0.0


@njit
def body_rows_times(row_ptr, a, b, J, w, u):
    """u = J w."""
    d = w.shape[1]
    for i in range(len(row_ptr) - 1):
        for r in range(row_ptr[i], row_ptr[i + 1]):
            s = 0.0
            for j in range(d):
                s += J[r, j] * w[a[i], j] + J[r, d + j] * w[b[i], j]
            u[r] = s


@njit
def body_matrix(row_ptr, a, b, J, B, slot, K):
    """K (slots, d, d) = I on the diagonal (the first slots) + Σ Jᵀ B J over blocks; slot (nk, 4): aa, ab, ba, bb.

    Slots of the fixed world are the last one, which is not read.
    """
    d = K.shape[1]
    T = np.empty((6, 2 * d))
    for s in range(K.shape[0]):
        for i in range(d):
            for j in range(d):
                K[s, i, j] = 0.0
    for c in range(len(row_ptr) - 1):
        r, n = row_ptr[c], row_ptr[c + 1] - row_ptr[c]
        acts = False
        for k in range(n):  # T = B J
            for j in range(2 * d):
                T[k, j] = 0.0
            for l in range(n):
                s = B[r + k, l]
                if s != 0.0:
                    acts = True
                    for j in range(2 * d):
                        T[k, j] += s * J[r + l, j]
        if not acts:
            continue
        aa, ab, ba, bb = slot[c, 0], slot[c, 1], slot[c, 2], slot[c, 3]
        for k in range(n):
            for i in range(d):
                left, right = J[r + k, i], J[r + k, d + i]
                if left != 0.0:
                    for j in range(d):
                        K[aa, i, j] += left * T[k, j]
                        K[ab, i, j] += left * T[k, d + j]
                if right != 0.0:
                    for j in range(d):
                        K[ba, i, j] += right * T[k, j]
                        K[bb, i, j] += right * T[k, d + j]


@njit
def block_times(row_ptr, B, x, y):
    """y = B x for block-diagonal B (nr, 6)."""
    for b in range(len(row_ptr) - 1):
        r, n = row_ptr[b], row_ptr[b + 1] - row_ptr[b]
        for i in range(r, r + n):
            s = 0.0
            for k in range(n):
                s += B[i, k] * x[r + k]
            y[i] = s
