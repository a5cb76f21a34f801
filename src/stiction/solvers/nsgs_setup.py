"""What block Gauss–Seidel computes once per problem: its blocks in segments of one kind, each in its own frame.

A frame is an invertible map of a block's rows, p = T p̃ and ũ = Tᵀ u, under which its law keeps its form and its
own block of the Delassus matrix becomes simple:

    BILATERAL   W̃ = I, and 0 on combinations of rows that are redundant (no impulse there)
    DISK        ellipses become the unit disk, turned so that the Schur complement of the normal row is diagonal
    NESTED      ellipsoids become the unit ball with W̃_tt diagonal; polyhedra move with the rows so that W̃_tt = I;
                products of ellipsoids become products of balls, W̃_tt diagonal within each (all of it is kept in G)

Where W_tt is singular its small eigenvalues are raised to 1e-10 of the largest. As the local problem is posed for the
change of p, this is a proximal term: it slows those directions down and does not move the solution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._check import FloatArray, IntArray
from .._jit import njit
from ..friction.kernels import ELLIPSOID, POLYHEDRON, PRODUCT, starts_group
from ..friction.table import FrictionTable
from ..problem.contact_problem import ContactProblem
from ..problem.laws import BOX, DRY, EQUALITY, UNILATERAL
from .nsgs_kernels import BILATERAL, DISK, INTERVAL, KINDS, NESTED, PARAMETERS, PLANAR

_SMALL = 1e-10


@dataclass(frozen=True)
class Items:
    """What is swept over: kind (ni,), block (ni,), ptr (ni+1,) into packed rows, src (rows,) their original rows.

    Blocks whose rows do not act on each other's law (boxes) are taken row by row; friction rows that can carry no
    impulse and dry friction without a radius are left out: their impulse is 0.
    """

    kind: IntArray
    block: IntArray
    ptr: IntArray
    src: IntArray
    seg: IntArray
    lo: FloatArray
    hi: FloatArray
    down: FloatArray
    up: FloatArray
    gptr: IntArray
    vptr: IntArray


def make_items(problem: ContactProblem) -> Items:
    """Split and sort the blocks of a problem; within a kind they keep their order."""
    law, friction, r0 = problem.law, problem.friction, problem.r0
    n = np.diff(problem.row_ptr)
    mu, shape = friction.mu, friction.kind[friction.set_of]
    bare = (law == UNILATERAL) & ((n == 1) | ((mu == 0) & (r0 == 0)))
    round_ = (shape == ELLIPSOID) & (friction.semi[friction.set_of, :2] > 0).all(axis=1)
    kind = np.full(problem.nk, NESTED)
    kind[(law == UNILATERAL) & (n == 3) & round_ & (mu > 0) & (r0 == 0) & (not problem.associated)] = DISK
    kind[(law == UNILATERAL) & (n == 2)] = PLANAR
    kind[law == EQUALITY] = BILATERAL
    kind[(law == BOX) | (n == 1) | bare] = INTERVAL
    times = np.where(law == BOX, n, np.where((law == DRY) & (r0 == 0), 0, 1))
    block = np.repeat(np.arange(problem.nk), times)
    row = problem.row_ptr[block] + np.arange(len(block)) - np.repeat(np.cumsum(times) - times, times)
    order = np.argsort(kind[block], kind="stable")
    block, row = block[order], row[order]
    kind = kind[block]
    rows = np.where(kind == INTERVAL, 1, n[block])
    ptr = _pointers(rows)
    src = np.repeat(row - ptr[:-1], rows) + np.arange(ptr[-1])
    down, up = (side[friction.set_of[block]] for side in _reach(friction))
    here = law[block]
    lo = np.select([here == BOX, here == DRY, here == UNILATERAL], [problem.lo[row], -down * r0[block], 0.0], -np.inf)
    hi = np.select([here == BOX, here == DRY], [problem.hi[row], up * r0[block]], np.inf)
    sets = friction.set_of[block]
    faces = np.where((kind == NESTED) & (shape[block] == POLYHEDRON), 1, 0)
    coupled = np.where((kind == NESTED) & (shape[block] & 3 == PRODUCT), friction.dims[sets], 0)
    return Items(
        kind, block, ptr, src, np.searchsorted(kind, np.arange(KINDS + 1)).astype(np.int64), lo, hi, down, up,
        _pointers(faces * np.diff(friction.facet_ptr)[sets] + coupled),
        _pointers(faces * np.diff(friction.vertex_ptr)[sets]),
    )  # fmt: skip


def _pointers(counts: IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _reach(friction: FrictionTable) -> tuple[FloatArray, FloatArray]:
    """How far each set reaches down and up along its first row: all there is to know of sets with one row."""
    down, up = friction.semi[:, 0].copy(), friction.semi[:, 0].copy()
    for s in np.flatnonzero((friction.kind == POLYHEDRON) & (friction.dims == 1)):
        vertices = friction.vertices[friction.vertex_ptr[s] : friction.vertex_ptr[s + 1], 0]
        down[s], up[s] = max(0.0, -vertices.min()), max(0.0, vertices.max())
    return down, up


@dataclass(frozen=True)
class Frames:
    """T (rows, 6) block by block, and the local problems in it; q and p are given in the frame."""

    T: FloatArray
    q: FloatArray
    p: FloatArray
    par: FloatArray
    wn: FloatArray
    sd: FloatArray
    G: FloatArray
    rim: FloatArray
    V: FloatArray


def make_frames(problem: ContactProblem, items: Items, W: FloatArray, p0: FloatArray) -> Frames:
    """From each block's own W (rows, 6), with compliance."""
    f = problem.friction
    rows, ni = len(items.src), len(items.kind)
    made = Frames(
        np.zeros((rows, 6)), problem.q[items.src], p0[items.src], np.zeros((ni, PARAMETERS)), np.zeros(rows),
        np.zeros(rows), np.zeros((int(items.gptr[-1]), 6)), np.zeros(int(items.gptr[-1])),
        np.zeros((int(items.vptr[-1]), 6)),
    )  # fmt: skip
    if ni:
        _frames(
            items.kind, items.block, items.ptr, items.lo, items.hi, items.down, items.up, items.gptr, items.vptr,
            problem.law, f.set_of, f.kind, f.mu, problem.r0, f.semi, f.vertices, f.vertex_ptr, f.facets, f.facet_ptr, W,
            made.T, made.q, made.p, made.par, made.wn, made.sd, made.G, made.rim, made.V,
        )  # fmt: skip
    return made


@njit
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


@njit
def _frames(
    kind, block, ptr, lo, hi, down, up, gptr, vptr, law, set_of, shape, mu, r0, semi, vertices, vertex_ptr, facets,
    facet_ptr, W, T, q, p, par, wn, sd, G, rim, V,
):  # fmt: skip
    A, U, inv = np.empty((6, 6)), np.empty((6, 6)), np.empty((6, 6))
    x, y = np.empty(6), np.empty(6)
    tiny = 0.0
    for i in range(len(kind)):
        for k in range(ptr[i + 1] - ptr[i]):
            tiny = max(tiny, 1e-20 * W[ptr[i] + k, k])
    for i in range(len(kind)):
        r, b = ptr[i], block[i]
        n = ptr[i + 1] - r
        s = set_of[b]
        if kind[i] == INTERVAL:
            T[r, 0] = 1.0
            _interval(i, r, W[r, 0], tiny, lo[i], hi[i], q, p, par)
            continue
        if kind[i] == PLANAR:
            T[r, 0] = 1.0
            T[r + 1, 1] = 1.0
            wnn, wnt = W[r, 0], W[r, 1]
            if wnn > tiny:
                par[i, 0], par[i, 1] = wnn, wnt
                par[i, 2] = max(W[r + 1, 1], wnt * wnt / wnn * (1.0 + _SMALL), _SMALL * wnn)
            else:
                p[r] = 0.0
                p[r + 1] = 0.0
            par[i, 3], par[i, 4] = mu[b] * down[i], mu[b] * up[i]
            par[i, 5], par[i, 6] = r0[b] * down[i], r0[b] * up[i]
            continue
        shift = 1 if kind[i] != BILATERAL and law[b] == UNILATERAL else 0
        t = n - shift
        product = kind[i] == NESTED and shape[s] & 3 == PRODUCT
        polyhedral = gptr[i + 1] > gptr[i] and not product
        wnn = W[r, 0] if shift else 0.0
        moves = shift == 0 or wnn > tiny
        for k in range(t):
            x[k] = 1.0 if polyhedral or kind[i] == BILATERAL else semi[s, k]
        for k in range(t):
            for l in range(t):
                own = W[r + shift + k, shift + l]
                if kind[i] == DISK and moves:
                    own -= W[r, shift + k] * W[r, shift + l] / wnn
                A[k, l] = x[k] * own * x[l]
        if product:
            _uncouple(A, t, shape[s])
        _eigen(A, t, U)
        most = tiny
        for k in range(t):
            most = max(most, A[k, k])
        if kind[i] == DISK:
            most = max(most, wnn * semi[s, 0] * semi[s, 0])
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
            par[i, 0] = math.sqrt(most)
        elif kind[i] == DISK:
            _disk(i, r, wnn, moves, mu[b], wn, sd, par)
        else:
            par[i, 0], par[i, 1] = wnn if moves else 0.0, float(shift)
            par[i, 2], par[i, 3] = mu[b] if shift else 0.0, r0[b]
            if product:
                par[i, 5] = float(shape[s])
                _couple(r, shift, t, shape[s], most, W, T, sd, G, gptr[i])
                continue
            _move_polyhedron(
                gptr[i], gptr[i + 1], facet_ptr[s], vptr[i], vptr[i + 1], vertex_ptr[s], facets, vertices, T, inv, r,
                shift, t, G, rim, V,
            )  # fmt: skip


@njit
def _uncouple(A, n, shape):
    """Zero between the groups of a product, so that the frame turns each within itself."""
    group = 0
    for k in range(n):
        group = k if starts_group(shape, k) else group
        for l in range(group):
            A[k, l] = 0.0
            A[l, k] = 0.0


@njit
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


@njit
def _disk(i, r, wnn, moves, mu, wn, sd, par):
    """1/W_nn, e, S, mu, a first guess of λ, W_nn; all of the normal's zero where it cannot move, so that p stays 0."""
    if moves:
        par[i, 0], par[i, 7] = 1.0 / wnn, wnn
        par[i, 1], par[i, 2] = wn[r + 1] / wnn, wn[r + 2] / wnn
    par[i, 3], par[i, 4], par[i, 5] = sd[r + 1], sd[r + 2], mu


@njit
def _interval(i, r, w, tiny, lo, hi, q, p, par):
    """A row that cannot move keeps the bound that its velocity asks for, else what is nearest to no impulse."""
    par[i, 1], par[i, 2] = lo, hi
    if w > tiny:
        par[i, 0], par[i, 3] = 1.0 / w, w
        return
    p[r] = min(max(0.0, lo), hi)
    if q[r] > 0.0 and lo > -math.inf:
        p[r] = lo
    elif q[r] < 0.0 and hi < math.inf:
        p[r] = hi


@njit
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
