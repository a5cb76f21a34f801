"""The rows of a problem in the layout of block Gauss–Seidel: on bodies, or as columns of a Delassus matrix."""

from __future__ import annotations

import math

import numpy as np

from ...runtime.jit import njit


@njit(leaf=True)
def _factor(Minv, body, first, last, L, b):
    """Cholesky's factor of the block first..last of a body's M⁻¹; zero columns where it is singular."""
    for j in range(first, last):
        s = Minv[body, j, j]
        for k in range(first, j):
            s -= L[b, j, k] * L[b, j, k]
        if s <= 1e-15 * Minv[body, j, j]:
            continue
        root = math.sqrt(s)
        L[b, j, j] = root
        for i in range(j + 1, last):
            s = Minv[body, i, j]
            for k in range(first, j):
                s -= L[b, i, k] * L[b, j, k]
            if s != 0.0:
                L[b, i, j] = s / root


@njit(leaf=True)
def body_factors(Minv, slot, wanted, L):
    """Set L (moving + 1, d, d), lower triangular by slot, with Minv = L Lᵀ, of those bodies that are wanted.

    Zero for the last: all that cannot move.
    """
    nbody, d = Minv.shape[0], Minv.shape[1]
    for j in range(d):
        for k in range(d):
            L[L.shape[0] - 1, j, k] = 0.0
    for body in range(nbody):
        b = slot[body]
        if b == L.shape[0] - 1 or not wanted[b]:
            continue
        for j in range(d):
            for k in range(d):
                L[b, j, k] = 0.0
        apart = d == 6
        for j in range(3):
            for k in range(3, d):
                apart = apart and Minv[body, k, j] == 0.0
        if apart:  # as for most bodies in space: velocity and spin do not act on each other
            _factor(Minv, body, 0, 3, L, b)
            _factor(Minv, body, 3, 6, L, b)
        else:
            _factor(Minv, body, 0, d, L, b)


def _make_pack_rows(d):
    """The packing of rows for bodies with d velocities each; d is closed over so that its loops are unrolled."""

    @njit(leaf=True)
    def pack_rows(start, stop, skip, ptr, src, a, b, body_rows, L, C, J, W):
        """Set packed rows J = [Ja L_a, Jb L_b] (rows, 2d) and each entry's own W (rows, 6), but for entries to skip."""
        Ja, Jb = body_rows.Ja, body_rows.Jb
        for i in range(start, stop):
            if skip[i]:
                continue
            ia, ib = a[i], b[i]
            for r in range(ptr[i], ptr[i + 1]):
                g = src[r]
                for j in range(d):
                    sa = 0.0
                    sb = 0.0
                    for k in range(j, d):
                        sa += Ja[g, k] * L[ia, k, j]
                        sb += Jb[g, k] * L[ib, k, j]
                    J[r, j] = sa
                    J[r, d + j] = sb
                if ia == ib:  # a body on itself: one set of columns
                    for j in range(d):
                        J[r, j] += J[r, d + j]
                        J[r, d + j] = 0.0
                for l in range(r - ptr[i] + 1):
                    m = ptr[i] + l
                    s = C[g] if m == r else 0.0
                    for j in range(2 * d):
                        s += J[r, j] * J[m, j]
                    W[r, l] = s
                    W[m, r - ptr[i]] = s

    return pack_rows


pack_rows_planar, pack_rows_spatial = _make_pack_rows(3), _make_pack_rows(6)


@njit
def turn_rows(start, stop, skip, ptr, src, T, C, J, Cb):
    """J <- Tᵀ J and Cb = Tᵀ C T for the entries start..stop but those to skip; Cb may have no rows."""
    width = J.shape[1]
    old = np.empty((6, width))
    for i in range(start, stop):
        if skip[i]:
            continue
        r = ptr[i]
        n = ptr[i + 1] - r
        contact = n == 3 and T[r, 0] == 1.0 and T[r, 1] == 0.0 and T[r, 2] == 0.0
        if contact and len(Cb) == 0:  # the tangents
            t11, t21, t12, t22 = T[r + 1, 1], T[r + 2, 1], T[r + 1, 2], T[r + 2, 2]
            for j in range(width):
                x, y = J[r + 1, j], J[r + 2, j]
                J[r + 1, j] = t11 * x + t21 * y
                J[r + 2, j] = t12 * x + t22 * y
            continue
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


@njit(leaf=True)
def matrix_blocks(ptr, col, index, data, W):
    """Set W (rows, 6): each block's own part of a sparse matrix."""
    for i in range(len(ptr) - 1):
        for r in range(ptr[i], ptr[i + 1]):
            for k in range(col[r], col[r + 1]):
                if ptr[i] <= index[k] < ptr[i + 1]:
                    W[r, index[k] - ptr[i]] = data[k]


@njit(leaf=True)
def unpack(start, stop, ptr, src, T, p, out):
    """out[src] = T p of the entries start..stop."""
    for i in range(start, stop):
        for k in range(ptr[i], ptr[i + 1]):
            s = 0.0
            for l in range(ptr[i + 1] - ptr[i]):
                s += T[k, l] * p[ptr[i] + l]
            out[src[k]] = s
