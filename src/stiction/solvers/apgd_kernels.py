"""The steps of accelerated projected gradient descent, compiled.

Impulses are p = T x and velocities g = Tᵀ u, block by block, with T chosen so that each block's own inertia is about
one and its set stays what it is: one number for a contact (times `length`), one per row for a box, all of W_bb^(-1/2)
for a joint, which has no set. The rows of bodies are J = Tᵀ H L with M⁻¹ = L Lᵀ, so that

    Tᵀ (W + C) T x = J (Jᵀ x) + C̃ x
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import njit
from ..problem.laws import BOX, EQUALITY, UNILATERAL
from ..problem.residuals import LocalSet, in_metres, project_block, projection_room
from .nsgs_setup import _eigen


@njit
def body_rows(row_ptr, body_a, body_b, Ja, Jb, Minv, C, L, J, W):
    """L (nbody+1, d, d) with Minv = L Lᵀ, J = [Ja L_a, Jb L_b] (nr, 2d), and each block's own W + C (nr, 6)."""
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
    for b in range(len(body_a)):
        ia, ib = body_a[b], body_b[b]
        for r in range(row_ptr[b], row_ptr[b + 1]):
            for j in range(d):
                sa = 0.0
                sb = 0.0
                for k in range(j, d):
                    sa += Ja[r, k] * L[ia, k, j]
                    sb += Jb[r, k] * L[ib, k, j]
                J[r, j] = sa
                J[r, d + j] = sb
            if ia == ib:  # a body on itself: one set of columns
                for j in range(d):
                    J[r, j] += J[r, d + j]
                    J[r, d + j] = 0.0
            for l in range(row_ptr[b], r + 1):
                s = C[r] if l == r else 0.0
                for j in range(2 * d):
                    s += J[r, j] * J[l, j]
                W[r, l - row_ptr[b]] = s
                W[l, r - row_ptr[b]] = s


@njit
def matrix_blocks(row_ptr, ptr, index, data, W):
    """Each block's own W (nr, 6) out of one by rows."""
    for b in range(len(row_ptr) - 1):
        for r in range(row_ptr[b], row_ptr[b + 1]):
            for k in range(ptr[r], ptr[r + 1]):
                if row_ptr[b] <= index[k] < row_ptr[b + 1]:
                    W[r, index[k] - row_ptr[b]] += data[k]


@njit
def scaling(law, row_ptr, W, length, rho, T, inverse, moves):
    """T and T⁻¹ (nr, 6) block by block, and moves (nr,): whether an impulse along a row of x does anything."""
    A, U = np.empty((6, 6)), np.empty((6, 6))
    for b in range(len(law)):
        r = row_ptr[b]
        n = row_ptr[b + 1] - r
        most = 0.0
        for k in range(n):
            most = max(most, W[r + k, k])
        if law[b] != EQUALITY:
            for k in range(n):
                unit = math.sqrt(rho[b]) * length[r + k]
                moves[r + k] = most > 0.0
                if law[b] == BOX:
                    moves[r + k] = W[r + k, k] > 0.0
                    unit = 1.0 / math.sqrt(W[r + k, k]) if moves[r + k] else 1.0
                T[r + k, k] = unit
                inverse[r + k, k] = 1.0 / unit
            continue
        for k in range(n):
            for l in range(n):
                A[k, l] = W[r + k, l]
        _eigen(A, n, U)
        most = 0.0
        for k in range(n):
            most = max(most, A[k, k])
        for k in range(n):
            moves[r + k] = A[k, k] > 1e-10 * most  # rows that say the same twice: no impulse in the difference
            if moves[r + k]:
                root = math.sqrt(A[k, k])
                for l in range(n):
                    T[r + l, k] = U[l, k] / root
                    inverse[r + k, l] = U[l, k] * root


@njit
def apply_blocks(row_ptr, T, transposed, x, out):
    """out = T x, or Tᵀ x, block by block."""
    for b in range(len(row_ptr) - 1):
        r = row_ptr[b]
        n = row_ptr[b + 1] - r
        for k in range(n):
            s = 0.0
            for l in range(n):
                s += (T[r + l, k] if transposed else T[r + k, l]) * x[r + l]
            out[r + k] = s


@njit
def turn_rows(row_ptr, T, C, J, Ct):
    """J <- Tᵀ J and Ct = Tᵀ C T (nr, 6), block by block."""
    width = J.shape[1]
    old = np.empty((6, width))
    for b in range(len(row_ptr) - 1):
        r = row_ptr[b]
        n = row_ptr[b + 1] - r
        for k in range(n):
            for j in range(width):
                old[k, j] = J[r + k, j]
        for k in range(n):
            for j in range(width):
                s = 0.0
                for l in range(n):
                    s += T[r + l, k] * old[l, j]
                J[r + k, j] = s
            for m in range(n):
                s = 0.0
                for l in range(n):
                    s += T[r + l, k] * C[r + l] * T[r + l, m]
                Ct[r + k, m] = s


@njit
def times_bodies(row_ptr, a, b, J, Ct, compliant, x, w, out):
    """out = J Jᵀ x + C̃ x; a and b are bodies, the last of w (nbody+1, d) the fixed world."""
    d = w.shape[1]
    for i in range(w.shape[0]):
        for j in range(d):
            w[i, j] = 0.0
    for i in range(len(a)):
        ia, ib = a[i], b[i]
        for r in range(row_ptr[i], row_ptr[i + 1]):
            if x[r] != 0.0:
                for j in range(d):
                    w[ia, j] += J[r, j] * x[r]
                    w[ib, j] += J[r, d + j] * x[r]
    for i in range(len(a)):
        ia, ib = a[i], b[i]
        start = row_ptr[i]
        for r in range(start, row_ptr[i + 1]):
            s = 0.0
            for j in range(d):
                s += J[r, j] * w[ia, j] + J[r, d + j] * w[ib, j]
            if compliant:
                for l in range(row_ptr[i + 1] - start):
                    s += Ct[r, l] * x[start + l]
            out[r] = s


@njit
def times_matrix(ptr, index, data, x, out):
    """out = W x for W by rows."""
    for r in range(len(out)):
        s = 0.0
        for k in range(ptr[r], ptr[r + 1]):
            s += data[k] * x[index[k]]
        out[r] = s


@njit
def descend(
    law, row_ptr, set_of, mu, r0, kind, semi, facets, facet_ptr, lo, hi, length, disk, moves, step, pace, weight, y, g,
    x,
):  # fmt: skip
    """x = the projection of y - step·pace·g, block by block, with pace (nk,).

    Returns |x - y|², |x|², and the sum of squares of weight (nk,) times |x - y| of each block.
    r0, lo and hi in the units of x; disk (nk,): mu where a contact has a disk of friction and no r0, else 0;
    moves (nr,): rows that no impulse moves stay at y.
    """
    most = 2
    for s in range(len(kind)):
        most = max(most, facet_ptr[s + 1] - facet_ptr[s] + 2)
    width = 8
    z, t, axes = np.empty(width), np.empty(width), np.empty(width)
    F, room = np.empty((most, width)), projection_room(most)
    total = 0.0
    whole = 0.0
    squares = 0.0
    for b in range(len(law)):
        start, stop = row_ptr[b], row_ptr[b + 1]
        n = stop - start
        for k in range(n):
            z[k] = y[start + k] - step * pace[b] * g[start + k]
        if law[b] == EQUALITY:
            for k in range(n):
                t[k] = z[k]
        elif disk[b] > 0.0:  # closed form, for the many contacts of this kind; `project_block` does the same
            normal, out = z[0], math.sqrt(z[1] * z[1] + z[2] * z[2])
            scale = 1.0
            if out > disk[b] * normal:
                normal = max(0.0, (normal + disk[b] * out) / (1.0 + disk[b] * disk[b]))
                scale = disk[b] * normal / out if out > 0.0 else 0.0
            t[0], t[1], t[2] = normal, scale * z[1], scale * z[2]
        elif law[b] == BOX:
            for k in range(n):
                t[k] = min(max(z[k], lo[start + k]), hi[start + k])
        else:
            normal = law[b] == UNILATERAL
            shift = 1 if normal else 0
            s = set_of[b]
            count = in_metres(s, start + shift, n - shift, length, semi, facets, facet_ptr, axes, F)
            own = LocalSet(kind[s], axes, F, 0, count)
            project_block(own, mu[b] if normal else 0.0, r0[b], normal, n - shift, z, t, room)
        size = 0.0
        for k in range(n):
            x[start + k] = t[k] if moves[start + k] else y[start + k]
            size += (x[start + k] - y[start + k]) ** 2
            whole += x[start + k] ** 2
        total += size
        squares += size * weight[b] ** 2
    return total, whole, squares


@njit
def curvature(x, y, Wx, Wy):
    """(x - y)·W (x - y)."""
    s = 0.0
    for i in range(len(x)):
        s += (x[i] - y[i]) * (Wx[i] - Wy[i])
    return s


@njit
def climbs(g, x, old):
    """Whether g·(x - old) > 0: the step went up the slope at y, and momentum is dropped."""
    s = 0.0
    for i in range(len(x)):
        s += g[i] * (x[i] - old[i])
    return s > 0.0


@njit
def extrapolate(beta, q, x, old, Wx, Wold, y, Wy, g):
    """y = x + beta (x - old) with its W y and g = W y + q."""
    for i in range(len(x)):
        y[i] = x[i] + beta * (x[i] - old[i])
        Wy[i] = Wx[i] + beta * (Wx[i] - Wold[i])
        g[i] = Wy[i] + q[i]
