"""The frame of each block of block Gauss–Seidel, computed once per problem.

A frame is an invertible map of a block's rows, p = T p̃ and ũ = Tᵀ u, under which its law keeps its form and its
own block of the Delassus matrix becomes simple:

    INTERVAL    rotational rows become metres (`length`), here and in BILATERAL
    BILATERAL   W̃ = I, and 0 on combinations of rows that are redundant (no impulse there)
    PLANAR      as it is: one row of slip
    DISK        ellipses become the unit disk, turned so that the Schur complement of the normal row is diagonal
    NESTED      ellipsoids become the unit ball with W̃_tt diagonal; polyhedra move with the rows so that W̃_tt = I;
                products of ellipsoids become products of balls, W̃_tt diagonal within each (all of it is kept in G)

Where W_tt is singular its small eigenvalues are raised to 1e-10 of the largest. As the local problem is posed for the
change of p, this is a proximal term: it slows those directions down and does not move the solution.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...friction.kernels import PRODUCT, starts_group
from ...problem.laws import UNILATERAL
from ...runtime.jit import njit
from . import kinds
from .parameters import LOCAL
from .records import Array
from .sweep_list import entry_bounds


@njit(leaf=True)
def eigen(A, n, U):
    """Cyclic Jacobi: A (n, n) becomes diagonal with its eigenvalues, the columns of U their vectors."""
    for i in range(n):
        for j in range(n):
            U[i, j] = 1.0 if i == j else 0.0
    for _ in range(30):
        off = 0.0
        size = 0.0
        for i in range(n):
            size += A[i, i] * A[i, i]
            for j in range(i):
                off += A[i, j] * A[i, j]
        if off <= 1e-34 * size:
            return
        for i in range(n):
            for j in range(i):
                if A[i, j] == 0.0:
                    continue
                theta = 0.5 * (A[j, j] - A[i, i]) / A[i, j]
                t = 1.0 / (abs(theta) + math.sqrt(theta * theta + 1.0))
                t = -t if theta < 0.0 else t
                c = 1.0 / math.sqrt(t * t + 1.0)
                s = t * c
                for k in range(n):
                    x, y = A[i, k], A[j, k]
                    A[i, k], A[j, k] = c * x - s * y, s * x + c * y
                for k in range(n):
                    x, y = A[k, i], A[k, j]
                    A[k, i], A[k, j] = c * x - s * y, s * x + c * y
                    x, y = U[k, i], U[k, j]
                    U[k, i], U[k, j] = c * x - s * y, s * x + c * y


@njit(leaf=True)
def diagonal_floor(start, stop, ptr, src, length, W):
    """What counts as zero on the diagonal of W: 1e-20 of its largest in the entries start..stop, rows in metres."""
    tiny = 0.0
    for i in range(start, stop):
        for k in range(ptr[i + 1] - ptr[i]):
            r = ptr[i] + k
            tiny = max(tiny, 1e-20 * W[r, k] * length[src[r]] * length[src[r]])
    return tiny


class Workspace(NamedTuple):
    """Work arrays for the frame of one entry of up to six rows."""

    A: Array  # (6, 6) its own W in scaled rows, then the eigenvalues on the diagonal
    U: Array  # (6, 6) the eigenvectors
    inverse: Array  # (6, 6) T⁻¹ of the friction rows, or of all rows of a joint
    x: Array  # (6,)
    y: Array  # (6,)


@njit
def make_frames(start, stop, tiny, entries, local, laws, W, q, p):
    """Set the frames T and local problems of the entries start..stop from their own W (rows, widest), with compliance.

    q and p are turned into the frames; a diagonal of W up to `tiny` counts as zero.
    """
    kind, ptr, T, par = entries.kind, entries.ptr, local.T, local.par
    workspace = Workspace(np.empty((6, 6)), np.empty((6, 6)), np.empty((6, 6)), np.empty(6), np.empty(6))
    for i in range(start, stop):
        r, b = ptr[i], entries.block[i]
        s = laws.set_of[b]
        if kind[i] == kinds.INTERVAL:
            row = entries.src[r]
            m = laws.length[row]
            T[r, 0] = m
            q[r], p[r] = q[r] * m, p[r] / m
            low, high, _, _ = entry_bounds(b, row, laws)
            _interval_frame(i, r, W[r, 0] * m * m, tiny, low / m, high / m, q, p, par)
        elif kind[i] == kinds.PLANAR:
            _planar_frame(i, r, b, tiny, entries, laws, W, T, p, par)
        elif kind[i] == kinds.DISK:
            _disk_frame(i, r, W, tiny, laws.semi[s, 0], laws.semi[s, 1], laws.mu[b], T, q, p, local)
        else:
            _general_frame(i, tiny, entries, local, laws, W, q, p, workspace)


@njit(inline=True)
def _planar_frame(i, r, b, tiny, entries, laws, W, T, p, par):
    """The frame of a contact in the plane: rows stay as they are; W_tt is raised so that W is positive definite."""
    _, _, down, up = entry_bounds(b, entries.src[r], laws)
    T[r, 0] = 1.0
    T[r + 1, 1] = 1.0
    wnn, wnt = W[r, 0], W[r, 1]
    if wnn > tiny:
        par[i, kinds.PLANAR_NN], par[i, kinds.PLANAR_NT] = wnn, wnt
        raised = LOCAL.raised_share
        par[i, kinds.PLANAR_TT] = max(W[r + 1, 1], wnt * wnt / wnn * (1.0 + raised), raised * wnn)
    else:
        p[r] = 0.0
        p[r + 1] = 0.0
    par[i, kinds.PLANAR_MU_DOWN], par[i, kinds.PLANAR_MU_UP] = laws.mu[b] * down, laws.mu[b] * up
    par[i, kinds.PLANAR_R0_DOWN], par[i, kinds.PLANAR_R0_UP] = laws.r0[b] * down, laws.r0[b] * up


@njit(inline=True)
def _general_frame(i, tiny, entries, local, laws, W, q, p, workspace):
    """The frame of a joint (BILATERAL) or of a contact with any friction set (NESTED)."""
    r, b, par = entries.ptr[i], entries.block[i], local.par
    s, n, joint = laws.set_of[b], entries.ptr[i + 1] - r, entries.kind[i] == kinds.BILATERAL
    shift = 1 if not joint and laws.law[b] == UNILATERAL else 0
    t = n - shift
    product = not joint and laws.shape[s] & 3 == PRODUCT
    polyhedral = entries.gptr[i + 1] > entries.gptr[i] and not product
    wnn = W[r, 0] if shift else 0.0
    moves = shift == 0 or wnn > tiny
    A, x = workspace.A, workspace.x
    for k in range(t):
        x[k] = laws.length[entries.src[r + k]] if joint else 1.0 if polyhedral else laws.semi[s, k]
    for k in range(t):
        for l in range(t):
            w_kl = W[r + shift + k, shift + l]
            A[k, l] = x[k] * w_kl * x[l]
    if product:
        _zero_coupling(A, t, laws.shape[s])
    largest = _diagonalise(r, shift, t, tiny, joint or polyhedral, joint, local, workspace)
    if shift:
        local.T[r, 0] = 1.0
    _turn_rows(r, shift, t, moves, local.T, q, p, workspace)
    for k in range(t if shift else 0):
        for l in range(t):
            local.wn[r + shift + k] += local.T[r + shift + l, shift + k] * W[r, shift + l]
    if joint:
        par[i, kinds.BILATERAL_SIZE] = math.sqrt(largest)
        return
    par[i, kinds.NESTED_NN], par[i, kinds.NESTED_NORMAL] = wnn if moves else 0.0, float(shift)
    par[i, kinds.NESTED_MU], par[i, kinds.NESTED_R0] = laws.mu[b] if shift else 0.0, laws.r0[b]
    if product:
        par[i, kinds.NESTED_PRODUCT] = float(laws.shape[s])
        _product_coupling(r, shift, t, laws.shape[s], largest, W, local, entries.gptr[i])
    else:
        _move_polyhedron(i, r, s, shift, t, entries, local, laws, workspace.inverse)


@njit(inline=True)
def _diagonalise(r, shift, n, tiny, whiten, joint, local, workspace):
    """Set T, its inverse and W̃_tt from W_tt in the workspace, scaled by x; returns the largest eigenvalue.

    whiten: W̃_tt = 1. joint: without the directions that are redundant.
    """
    A, U, inverse, x, T, sd = workspace.A, workspace.U, workspace.inverse, workspace.x, local.T, local.sd
    eigen(A, n, U)
    largest = tiny
    for k in range(n):
        largest = max(largest, A[k, k])
    for k in range(n):
        value = max(A[k, k], LOCAL.raised_share * largest)
        scale = 1.0 / math.sqrt(value) if whiten and value > 0.0 else 1.0
        if joint and A[k, k] <= LOCAL.raised_share * largest:
            scale = 0.0
        sd[r + shift + k] = value if not whiten and value > 0.0 else 1.0
        for l in range(n):
            T[r + shift + l, shift + k] = x[l] * U[l, k] * scale
            inverse[k, l] = U[l, k] / (x[l] * scale) if x[l] * scale > 0.0 else 0.0
    return largest


@njit(inline=True)
def _turn_rows(r, shift, n, moves, T, q, p, workspace):
    """q <- Tᵀ q and p <- T⁻¹ p of the rows of an entry; no impulses where its normal row cannot move."""
    x, y, inverse = workspace.x, workspace.y, workspace.inverse
    for k in range(n + shift):
        x[k] = q[r + k]
        y[k] = p[r + k] if moves else 0.0
    for k in range(n + shift):
        q[r + k] = 0.0
        for l in range(n + shift):
            q[r + k] += T[r + l, k] * x[l]
    for k in range(n):
        p[r + shift + k] = 0.0
        for l in range(n):
            p[r + shift + k] += inverse[k, l] * y[shift + l]
    if not moves:
        p[r] = 0.0


@njit(inline=True)
def _zero_coupling(A, n, shape):
    """Set A to zero between the groups of a product, so that the frame turns each group within itself."""
    group = 0
    for k in range(n):
        group = k if starts_group(shape, k) else group
        for l in range(group):
            A[k, l] = 0.0
            A[l, k] = 0.0


@njit(inline=True)
def _product_coupling(r, shift, n, shape, scale, W, local, g0):
    """Set G (n, 6) to all of W̃_tt of a product, and sd; diagonals are raised by 1e-10 of their group's largest.

    By their group's, as the groups have units of their own: where rolling has a small radius, so has its diagonal.
    """
    T, sd, G = local.T, local.sd, local.G
    for k in range(n):
        for l in range(n):
            G[g0 + k, l] = 0.0
            for i in range(n):
                for j in range(n):
                    G[g0 + k, l] += (
                        T[r + shift + i, shift + k] * W[r + shift + i, shift + j] * T[r + shift + j, shift + l]
                    )
    first = 0
    for end in range(1, n + 1):
        if end < n and not starts_group(shape, end):
            continue
        largest = 0.0
        for k in range(first, end):
            largest = max(largest, G[g0 + k, k])
        if largest <= 1e-10 * LOCAL.raised_share * scale:  # a group without friction, or that cannot move
            largest = scale if scale > 0.0 else 1.0
        for k in range(first, end):
            G[g0 + k, k] += LOCAL.raised_share * largest
            sd[r + shift + k] = G[g0 + k, k]
        first = end


@njit(leaf=True)
def _disk_frame(i, r, W, tiny, x1, x2, mu, T, q, p, local):
    """The frame of a contact in space: x1, x2 make the ellipse a disk, a rotation W_tt - W_tn W_nt / W_nn diagonal.

    The numbers of the normal row in `par` are zero where it cannot move, so that p stays 0.
    """
    par, sd = local.par, local.sd
    wnn, w1, w2 = W[r, 0], x1 * W[r, 1], x2 * W[r, 2]
    moves = wnn > tiny
    s11, s12, s22 = x1 * x1 * W[r + 1, 1], x1 * x2 * W[r + 1, 2], x2 * x2 * W[r + 2, 2]
    if moves:
        s11, s12, s22 = s11 - w1 * w1 / wnn, s12 - w1 * w2 / wnn, s22 - w2 * w2 / wnn
    c, s = 1.0, 0.0
    if abs(s12) > 1e-17 * (abs(s11) + abs(s22)):
        theta = 0.5 * (s22 - s11) / s12
        t = 1.0 / (abs(theta) + math.sqrt(theta * theta + 1.0))
        t = -t if theta < 0.0 else t
        c = 1.0 / math.sqrt(t * t + 1.0)
        s = t * c
        s11, s22 = s11 - t * s12, s22 + t * s12
    largest = max(tiny, s11, s22, wnn * x1 * x1)
    T[r, 0] = 1.0
    T[r + 1, 1], T[r + 1, 2], T[r + 2, 1], T[r + 2, 2] = x1 * c, x1 * s, -x2 * s, x2 * c
    q1, q2, p1, p2 = q[r + 1] * x1, q[r + 2] * x2, p[r + 1] / x1, p[r + 2] / x2
    q[r + 1], q[r + 2] = c * q1 - s * q2, s * q1 + c * q2
    p[r + 1], p[r + 2] = c * p1 - s * p2, s * p1 + c * p2
    for k in range(1, 3):
        value = max(s11 if k == 1 else s22, LOCAL.raised_share * largest)
        sd[r + k] = value if value > 0.0 else 1.0
    par[i, kinds.DISK_S1], par[i, kinds.DISK_S2], par[i, kinds.DISK_MU] = sd[r + 1], sd[r + 2], mu
    if moves:
        par[i, kinds.DISK_INVERSE], par[i, kinds.DISK_NN] = 1.0 / wnn, wnn
        par[i, kinds.DISK_E1], par[i, kinds.DISK_E2] = (c * w1 - s * w2) / wnn, (s * w1 + c * w2) / wnn
    else:
        p[r], p[r + 1], p[r + 2] = 0.0, 0.0, 0.0


@njit(leaf=True)
def _interval_frame(i, r, w, tiny, lo, hi, q, p, par):
    """The local problem of one row. If it cannot move, p is the bound that its velocity asks for, or nearest to 0."""
    par[i, kinds.INTERVAL_LOW], par[i, kinds.INTERVAL_HIGH] = lo, hi
    if w > tiny:
        par[i, kinds.INTERVAL_INVERSE], par[i, kinds.INTERVAL_W] = 1.0 / w, w
        return
    p[r] = min(max(0.0, lo), hi)
    if q[r] > 0.0 and lo > -math.inf:
        p[r] = lo
    elif q[r] < 0.0 and hi < math.inf:
        p[r] = hi


@njit(inline=True)
def _move_polyhedron(i, r, s, shift, n, entries, local, laws, inverse):
    """Set facets a·f <= c and vertices f of a polyhedron in the frame: a·T f̃ <= c, f̃ = T⁻¹ f."""
    T, G, V = local.T, local.G, local.V
    for g in range(entries.gptr[i], entries.gptr[i + 1]):
        f = laws.facet_ptr[s] + g - entries.gptr[i]
        local.rim[g] = laws.facets[f, n]
        for k in range(n):
            G[g, k] = 0.0
            for l in range(n):
                G[g, k] += laws.facets[f, l] * T[r + shift + l, shift + k]
    for v in range(entries.vptr[i], entries.vptr[i + 1]):
        f = laws.vertex_ptr[s] + v - entries.vptr[i]
        for k in range(n):
            V[v, k] = 0.0
            for l in range(n):
                V[v, k] += inverse[k, l] * laws.vertices[f, l]
