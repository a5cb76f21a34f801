"""The frame of each block of block Gauss–Seidel, computed once per problem.

A frame is an invertible map of a block's rows, p = T p̃ and ũ = Tᵀ u, under which its law keeps its form and its
own block of the Delassus matrix becomes simple:

    INTERVAL    rotational rows become metres (`length`), here and in BILATERAL
    BILATERAL   W̃ = I, and 0 on combinations of rows that are redundant (no impulse there)
    DISK        ellipses become the unit disk, turned so that the Schur complement of the normal row is diagonal
    NESTED      ellipsoids become the unit ball with W̃_tt diagonal; polyhedra move with the rows so that W̃_tt = I;
                products of ellipsoids become products of balls, W̃_tt diagonal within each (all of it is kept in G)

Where W_tt is singular its small eigenvalues are raised to 1e-10 of the largest. As the local problem is posed for the
change of p, this is a proximal term: it slows those directions down and does not move the solution.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import njit
from ..friction.kernels import PRODUCT, starts_group
from ..problem.laws import UNILATERAL
from .nsgs_items import bounds
from .nsgs_kernels import BILATERAL, DISK, INTERVAL, NESTED, PLANAR
from .nsgs_local import (
    BILATERAL_SIZE,
    DISK_E1,
    DISK_E2,
    DISK_INVERSE,
    DISK_MU,
    DISK_NN,
    DISK_S1,
    DISK_S2,
    INTERVAL_HIGH,
    INTERVAL_INVERSE,
    INTERVAL_LOW,
    INTERVAL_OWN,
    NESTED_MU,
    NESTED_NN,
    NESTED_NORMAL,
    NESTED_PRODUCT,
    NESTED_R0,
    PLANAR_MU_DOWN,
    PLANAR_MU_UP,
    PLANAR_NN,
    PLANAR_NT,
    PLANAR_R0_DOWN,
    PLANAR_R0_UP,
    PLANAR_TT,
)

_SMALL = 1e-10


@njit(leaf=True)
def _eigen(A, n, U):
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
def least_diagonal(start, stop, ptr, src, length, W):
    """What counts as zero on the diagonal of W, as far as the items start..stop go: 1e-20 of its largest entry.

    The largest of rows in metres.
    """
    tiny = 0.0
    for i in range(start, stop):
        for k in range(ptr[i + 1] - ptr[i]):
            r = ptr[i] + k
            tiny = max(tiny, 1e-20 * W[r, k] * length[src[r]] * length[src[r]])
    return tiny


@njit
def frames(start, stop, tiny, items, local, laws, W, q, p):
    """From each item's own W (rows, most rows), with compliance: T, as W, and the local problems in it, q and p too.

    For the items start..stop; a diagonal of W up to `tiny` counts as zero.
    """
    facet_ptr, facets, law, length, mu = laws.facet_ptr, laws.facets, laws.law, laws.length, laws.mu
    r0, semi, set_of, shape, vertex_ptr = laws.r0, laws.semi, laws.set_of, laws.shape, laws.vertex_ptr
    vertices, G, V, rim = laws.vertices, local.G, local.V, local.rim
    block, kind, ptr, src, gptr, vptr = items.block, items.kind, items.ptr, items.src, items.gptr, items.vptr
    T, par, wn, sd = local.T, local.par, local.wn, local.sd
    A, U, inv = np.empty((6, 6)), np.empty((6, 6)), np.empty((6, 6))
    x, y = np.empty(6), np.empty(6)
    for i in range(start, stop):
        r, b = ptr[i], block[i]
        n = ptr[i + 1] - r
        s = set_of[b]
        if kind[i] == INTERVAL:
            m = length[src[r]]
            T[r, 0] = m
            q[r], p[r] = q[r] * m, p[r] / m
            low, high, _, _ = bounds(b, src[r], laws)
            _interval(i, r, W[r, 0] * m * m, tiny, low / m, high / m, q, p, par)
            continue
        if kind[i] == PLANAR:
            _, _, down, up = bounds(b, src[r], laws)
            T[r, 0] = 1.0
            T[r + 1, 1] = 1.0
            wnn, wnt = W[r, 0], W[r, 1]
            if wnn > tiny:
                par[i, PLANAR_NN], par[i, PLANAR_NT] = wnn, wnt
                par[i, PLANAR_TT] = max(W[r + 1, 1], wnt * wnt / wnn * (1.0 + _SMALL), _SMALL * wnn)
            else:
                p[r] = 0.0
                p[r + 1] = 0.0
            par[i, PLANAR_MU_DOWN], par[i, PLANAR_MU_UP] = mu[b] * down, mu[b] * up
            par[i, PLANAR_R0_DOWN], par[i, PLANAR_R0_UP] = r0[b] * down, r0[b] * up
            continue
        if kind[i] == DISK:
            _disk(i, r, W, tiny, semi[s, 0], semi[s, 1], mu[b], T, q, p, par, sd)
            continue
        shift = 1 if kind[i] != BILATERAL and law[b] == UNILATERAL else 0
        t = n - shift
        product = kind[i] == NESTED and shape[s] & 3 == PRODUCT
        polyhedral = gptr[i + 1] > gptr[i] and not product
        wnn = W[r, 0] if shift else 0.0
        moves = shift == 0 or wnn > tiny
        for k in range(t):
            x[k] = length[src[r + k]] if kind[i] == BILATERAL else 1.0 if polyhedral else semi[s, k]
        for k in range(t):
            for l in range(t):
                own = W[r + shift + k, shift + l]
                A[k, l] = x[k] * own * x[l]
        if product:
            _uncouple(A, t, shape[s])
        _eigen(A, t, U)
        most = tiny
        for k in range(t):
            most = max(most, A[k, k])
        for k in range(t):
            value = max(A[k, k], _SMALL * most)
            whiten = polyhedral or kind[i] == BILATERAL
            scale = 1.0 / math.sqrt(value) if whiten and value > 0.0 else 1.0
            if kind[i] == BILATERAL and A[k, k] <= _SMALL * most:
                scale = 0.0
            sd[r + shift + k] = value if not whiten and value > 0.0 else 1.0
            for l in range(t):
                T[r + shift + l, shift + k] = x[l] * U[l, k] * scale
                inv[k, l] = U[l, k] / (x[l] * scale) if x[l] * scale > 0.0 else 0.0
        if shift:
            T[r, 0] = 1.0
        for k in range(n):  # q <- Tᵀ q, p <- T⁻¹ p
            x[k] = q[r + k]
            y[k] = p[r + k] if moves else 0.0
        for k in range(n):
            q[r + k] = 0.0
            for l in range(n):
                q[r + k] += T[r + l, k] * x[l]
        for k in range(t):
            p[r + shift + k] = 0.0
            for l in range(t):
                p[r + shift + k] += inv[k, l] * y[shift + l]
                wn[r + shift + k] += T[r + shift + l, shift + k] * W[r, shift + l] if shift else 0.0
        if shift and not moves:
            p[r] = 0.0
        if kind[i] == BILATERAL:
            par[i, BILATERAL_SIZE] = math.sqrt(most)
        else:
            par[i, NESTED_NN], par[i, NESTED_NORMAL] = wnn if moves else 0.0, float(shift)
            par[i, NESTED_MU], par[i, NESTED_R0] = mu[b] if shift else 0.0, r0[b]
            if product:
                par[i, NESTED_PRODUCT] = float(shape[s])
                _couple(r, shift, t, shape[s], most, W, T, sd, G, gptr[i])
                continue
            _move_polyhedron(
                gptr[i], gptr[i + 1], facet_ptr[s], vptr[i], vptr[i + 1], vertex_ptr[s], facets,
                vertices, T, inv, r, shift, t, G, rim, V,
            )  # fmt: skip


@njit(leaf=True)
def _uncouple(A, n, shape):
    """Zero between the groups of a product, so that the frame turns each within itself."""
    group = 0
    for k in range(n):
        group = k if starts_group(shape, k) else group
        for l in range(group):
            A[k, l] = 0.0
            A[l, k] = 0.0


@njit(leaf=True)
def _couple(r, shift, n, shape, most, W, T, sd, G, g0):
    """All of W̃_tt of a product into G (n, 6), and sd; diagonals are raised by 1e-10 of their group's largest.

    By their group's, as the groups have units of their own: where rolling has a small radius, so has its diagonal.
    """
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
        if largest <= 1e-10 * _SMALL * most:  # a group without friction, or that cannot move
            largest = most if most > 0.0 else 1.0
        for k in range(first, end):
            G[g0 + k, k] += _SMALL * largest
            sd[r + shift + k] = G[g0 + k, k]
        first = end


@njit(leaf=True)
def _disk(i, r, W, tiny, x1, x2, mu, T, q, p, par, sd):
    """One rotation makes S = W_tt - W_tn W_nt / W_nn diagonal, after x1, x2 have made the ellipse a disk.

    What is the normal's in `par` is zero where it cannot move, so that p stays 0.
    """
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
    most = max(tiny, s11, s22, wnn * x1 * x1)
    T[r, 0] = 1.0
    T[r + 1, 1], T[r + 1, 2], T[r + 2, 1], T[r + 2, 2] = x1 * c, x1 * s, -x2 * s, x2 * c
    q1, q2, p1, p2 = q[r + 1] * x1, q[r + 2] * x2, p[r + 1] / x1, p[r + 2] / x2
    q[r + 1], q[r + 2] = c * q1 - s * q2, s * q1 + c * q2
    p[r + 1], p[r + 2] = c * p1 - s * p2, s * p1 + c * p2
    for k in range(1, 3):
        value = max(s11 if k == 1 else s22, _SMALL * most)
        sd[r + k] = value if value > 0.0 else 1.0
    par[i, DISK_S1], par[i, DISK_S2], par[i, DISK_MU] = sd[r + 1], sd[r + 2], mu
    if moves:
        par[i, DISK_INVERSE], par[i, DISK_NN] = 1.0 / wnn, wnn
        par[i, DISK_E1], par[i, DISK_E2] = (c * w1 - s * w2) / wnn, (s * w1 + c * w2) / wnn
    else:
        p[r], p[r + 1], p[r + 2] = 0.0, 0.0, 0.0


@njit(leaf=True)
def _interval(i, r, w, tiny, lo, hi, q, p, par):
    """A row that cannot move keeps the bound that its velocity asks for, else what is nearest to no impulse."""
    par[i, INTERVAL_LOW], par[i, INTERVAL_HIGH] = lo, hi
    if w > tiny:
        par[i, INTERVAL_INVERSE], par[i, INTERVAL_OWN] = 1.0 / w, w
        return
    p[r] = min(max(0.0, lo), hi)
    if q[r] > 0.0 and lo > -math.inf:
        p[r] = lo
    elif q[r] < 0.0 and hi < math.inf:
        p[r] = hi


@njit(leaf=True)
def _move_polyhedron(g0, g1, f0, v0, v1, w0, facets, vertices, T, inv, r, shift, n, G, rim, V):
    """Facets a·f <= c and vertices f of the set in the frame: a·T f̃ <= c, f̃ = T⁻¹ f."""
    for j in range(g1 - g0):
        rim[g0 + j] = facets[f0 + j, n]
        for k in range(n):
            G[g0 + j, k] = 0.0
            for l in range(n):
                G[g0 + j, k] += facets[f0 + j, l] * T[r + shift + l, shift + k]
    for j in range(v1 - v0):
        for k in range(n):
            V[v0 + j, k] = 0.0
            for l in range(n):
                V[v0 + j, k] += inv[k, l] * vertices[w0 + j, l]
