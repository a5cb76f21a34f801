"""The steps of accelerated projected gradient descent, compiled.

Impulses are p = T x and velocities g = Tᵀ u, block by block, with T chosen so that each block's own inertia is about
one and its set stays what it is: one number for a contact (times `length`), one per row for a box, all of W_bb^(-1/2)
for a joint, which has no set. The rows of bodies are J = Tᵀ H L with M⁻¹ = L Lᵀ (`gauss_seidel/packed_rows`), so that

    Tᵀ (W + C) T x = J (Jᵀ x) + C̃ x
"""

from __future__ import annotations

import math

import numpy as np

from ..problem.laws import BOX, EQUALITY, UNILATERAL
from ..problem.residuals import LocalSet, in_metres, most_inequalities, project_block, projection_workspace
from ..runtime.jit import njit
from .gauss_seidel.local_frames import eigen


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
        eigen(A, n, U)
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
def descend(laws, disk, moves, step, pace, weight, y, g, x):
    """x = the projection of y - step·pace·g, block by block, with pace (nk,).

    Returns |x - y|², |x|², and the sum of squares of weight (nk,) times |x - y| of each block.
    r0, lo and hi of the laws are in the units of x; disk (nk,): mu where a contact has a disk of friction and no r0,
    else 0; moves (nr,): rows that no impulse moves stay at y.
    """
    law, length = laws.law, laws.length
    most = most_inequalities(laws.facet_ptr)
    width = 8
    z, t, axes = np.empty(width), np.empty(width), np.empty(width)
    F, workspace = np.empty((most, width)), projection_workspace(most)
    total = 0.0
    whole = 0.0
    squares = 0.0
    for b in range(len(law)):
        start, stop = laws.row_ptr[b], laws.row_ptr[b + 1]
        n = stop - start
        for k in range(n):
            z[k] = y[start + k] - step * pace[b] * g[start + k]
        if law[b] == EQUALITY:
            for k in range(n):
                t[k] = z[k]
        elif disk[b] > 0.0:  # most contacts: what `round_cone` gives, with a branch in place of both results
            normal, out = z[0], math.sqrt(z[1] * z[1] + z[2] * z[2])
            scale = 1.0
            if out > disk[b] * normal:
                normal = max(0.0, (normal + disk[b] * out) / (1.0 + disk[b] * disk[b]))
                scale = disk[b] * normal / out if out > 0.0 else 0.0
            t[0], t[1], t[2] = normal, scale * z[1], scale * z[2]
        elif law[b] == BOX:
            for k in range(n):
                t[k] = min(max(z[k], laws.lo[start + k]), laws.hi[start + k])
        else:
            normal = law[b] == UNILATERAL
            shift = 1 if normal else 0
            s = laws.set_of[b]
            count = in_metres(s, start + shift, n - shift, length, laws.semi, laws.facets, laws.facet_ptr, axes, F)
            local_set = LocalSet(laws.shape[s], axes, F, 0, count)
            project_block(local_set, laws.mu[b] if normal else 0.0, laws.r0[b], normal, n - shift, z, t, workspace)
        size = 0.0
        for k in range(n):
            x[start + k] = t[k] if moves[start + k] else y[start + k]
            size += (x[start + k] - y[start + k]) ** 2
            whole += x[start + k] ** 2
        total += size
        squares += size * weight[b] ** 2
    return total, whole, squares


@njit
def add_blocks(row_ptr, B, x, y):
    """y += B x for block-diagonal B (nr, 6)."""
    for b in range(len(row_ptr) - 1):
        start, stop = row_ptr[b], row_ptr[b + 1]
        for r in range(start, stop):
            for k in range(stop - start):
                y[r] += B[r, k] * x[start + k]


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
