"""The dynamics of a problem as block Gauss–Seidel reads them: rows of bodies, or columns of a Delassus matrix."""

from __future__ import annotations

import math

import numpy as np

from .._jit import njit


@njit
def body_factors(Minv, L):
    """L (nbody+1, d, d) lower triangular with Minv = L Lᵀ; zero where a body cannot move, and for the fixed world."""
    nbody, d = Minv.shape[0], Minv.shape[1]
    for b in range(nbody):
        for j in range(d):
            s = Minv[b, j, j]
            for k in range(j):
                s -= L[b, j, k] * L[b, j, k]
            if s <= 1e-15 * Minv[b, j, j]:
                continue
            root = math.sqrt(s)
            L[b, j, j] = root
            for i in range(j + 1, d):
                s = Minv[b, i, j]
                for k in range(j):
                    s -= L[b, i, k] * L[b, j, k]
                L[b, i, j] = s / root


@njit
def body_rows(block, ptr, src, body_a, body_b, Ja, Jb, L, C, J, W, a, b):
    """Packed rows J = [Ja L_a, Jb L_b] (rows, 2d), the bodies of each item, and each block's own W (rows, 6)."""
    d = L.shape[1]
    world = L.shape[0] - 1
    for i in range(len(block)):
        a[i] = body_a[block[i]] if body_a[block[i]] >= 0 else world
        b[i] = body_b[block[i]] if body_b[block[i]] >= 0 else world
        for r in range(ptr[i], ptr[i + 1]):
            for j in range(d):
                sa = 0.0
                sb = 0.0
                for k in range(j, d):
                    sa += Ja[src[r], k] * L[a[i], k, j]
                    sb += Jb[src[r], k] * L[b[i], k, j]
                J[r, j] = sa
                J[r, d + j] = sb
            if a[i] == b[i]:  # a body on itself: one set of columns
                for j in range(d):
                    J[r, j] += J[r, d + j]
                    J[r, d + j] = 0.0
            for l in range(r - ptr[i] + 1):
                s = C[src[r]] if ptr[i] + l == r else 0.0
                for j in range(2 * d):
                    s += J[r, j] * J[ptr[i] + l, j]
                W[r, l] = s
                W[ptr[i] + l, r - ptr[i]] = s


@njit
def turn_rows(ptr, src, T, C, J, Cb):
    """J <- Tᵀ J and Cb = Tᵀ C T, block by block; Cb is left alone when it has no rows."""
    width = J.shape[1]
    old = np.empty((6, width))
    for i in range(len(ptr) - 1):
        r = ptr[i]
        n = ptr[i + 1] - r
        for k in range(n):
            for j in range(width):
                old[k, j] = J[r + k, j]
        for k in range(n):
            for j in range(width):
                s = 0.0
                for l in range(n):
                    s += T[r + l, k] * old[l, j]
                J[r + k, j] = s
            if len(Cb):
                for m in range(n):
                    s = 0.0
                    for l in range(n):
                        s += T[r + l, k] * C[src[r + l]] * T[r + l, m]
                    Cb[r + k, m] = s


@njit
def matrix_blocks(ptr, col, index, data, W):
    """Each block's own W (rows, 6) out of a sparse one."""
    for i in range(len(ptr) - 1):
        for r in range(ptr[i], ptr[i + 1]):
            for k in range(col[r], col[r + 1]):
                if ptr[i] <= index[k] < ptr[i + 1]:
                    W[r, index[k] - ptr[i]] = data[k]


@njit
def body_state(ptr, a, b, J, p, w):
    """w = Jᵀ p from nothing, so that round-off of many sweeps does not stay."""
    d = w.shape[1]
    for i in range(w.shape[0]):
        for j in range(d):
            w[i, j] = 0.0
    for i in range(len(ptr) - 1):
        for r in range(ptr[i], ptr[i + 1]):
            for j in range(d):
                w[a[i], j] += J[r, j] * p[r]
                w[b[i], j] += J[r, d + j] * p[r]


@njit
def unpack(ptr, src, T, p, out):
    """out[src] = T p, block by block."""
    for i in range(len(ptr) - 1):
        for k in range(ptr[i], ptr[i + 1]):
            s = 0.0
            for l in range(ptr[i + 1] - ptr[i]):
                s += T[k, l] * p[ptr[i] + l]
            out[src[k]] = s
