"""The linear algebra of the Newton solvers: steps `(I + B W) dp = -g` with a block-diagonal B, in the cheapest space.

Every form has scaled rows (`response.Scaled`), gives products with W, and solves for a step:

    Whole     W itself, dense; only rows whose law moves are factorised
    Sparse    W itself, sparse
    Factored  W = H Gᵀ with dense factors of fewer columns than rows: (I + Gᵀ B H) y = -Gᵀ g, dp = -g - B H y
    Bodies    the same with rows between pairs of bodies: y has the velocities of the bodies, no W is made

In all of them hyperstatic contacts (W singular) do no harm: B is at most the proximal step ρ, so I + B W is regular.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..._check import FloatArray, IntArray
from ...problem import dynamics as problem_dynamics
from ...problem.contact_problem import ContactProblem
from . import kernels
from .parameters import ASSEMBLY


class LinearSystem(Protocol):
    """What a Newton step needs of the dynamics."""

    diagonal: FloatArray

    def times(self, p: FloatArray) -> FloatArray:
        """W p."""

    def magnitude(self, p: FloatArray) -> FloatArray:
        """|W| |p|, or what stands for it in the products made: the terms whose round-off is in W p."""

    def step(self, B: FloatArray, g: FloatArray) -> FloatArray:
        """dp with (I + B W) dp = -g; may raise LinAlgError."""


def make_linear_system(problem: ContactProblem, unit: FloatArray) -> LinearSystem:
    """The form of a problem with rows scaled by `unit`, without compliance."""
    form, ptr = problem.dynamics, problem.row_ptr
    if isinstance(form, problem_dynamics.Bodies):
        return Bodies(form, unit)
    if isinstance(form, problem_dynamics.Dense):
        if form.nv < ASSEMBLY.factored_velocities_share * form.nr:
            root = np.linalg.cholesky(form.M)
            H, G = (unit[:, None] * np.linalg.solve(root, rows.T).T for rows in (form.H, form.G))
            return LowRankSystem(ptr, np.ascontiguousarray(H), np.ascontiguousarray(G))
        return DenseSystem(ptr, form.delassus() * unit[:, None] * unit)
    W = form.W
    if problem.nr > ASSEMBLY.dense_max_rows:
        from scipy.sparse import csr_matrix, diags

        return SparseSystem(ptr, diags(unit) @ csr_matrix(W) @ diags(unit))
    W = form.delassus() * unit[:, None] * unit
    L = _low_rank(W)
    return DenseSystem(ptr, W) if L is None else LowRankSystem(ptr, L, L, W)


def _low_rank(W: FloatArray) -> FloatArray | None:
    """L with W = L Lᵀ, near enough for Newton's steps, and few enough columns to pay; None where there is none."""
    from scipy.linalg.lapack import dpstrf

    n = len(W)
    if n < ASSEMBLY.low_rank_min_rows or np.abs(W - W.T).max() > 1e-9 * np.abs(W).max():
        return None
    c, piv, rank, _ = dpstrf(W, tol=1e-15 * n * float(W.diagonal().max(initial=0.0)), lower=1)
    if rank > ASSEMBLY.low_rank_share * n:
        return None
    L = np.zeros((n, rank))
    L[piv - 1] = np.tril(c)[:, :rank]
    return L if np.abs(L @ L.T - W).max() <= 1e-9 * np.abs(W).max() else None


def state_factors(form: problem_dynamics.Bodies) -> FloatArray:
    """(nbody + 1, d, d) lower triangular L with M⁻¹ = L Lᵀ of each body; the last, for the fixed world, is zero."""
    from ..gauss_seidel.packed_rows import body_factors

    d = form.Minv.shape[1]
    L = np.zeros((form.nbody + 1, d, d))
    body_factors(form.Minv, np.arange(form.nbody), np.ones(form.nbody, np.bool_), L)
    return L


class DenseSystem:
    """W as a dense matrix."""

    def __init__(self, row_ptr: IntArray, W: FloatArray):
        self.row_ptr, self.W = row_ptr, np.ascontiguousarray(W)
        self.diagonal = np.ascontiguousarray(W.diagonal())
        self.T = np.empty(W.shape)

    def times(self, p: FloatArray) -> FloatArray:
        """W p."""
        return self.W @ p

    def magnitude(self, p: FloatArray) -> FloatArray:
        """|W| |p|."""
        return np.abs(self.W) @ np.abs(p)

    def step(self, B: FloatArray, g: FloatArray) -> FloatArray:
        """Rows whose law does not move have dp = -g; the others are solved for."""
        kernels.block_rows(self.row_ptr, B, self.W, self.T)
        dp = -g
        moving = np.flatnonzero(B.any(axis=1))
        if len(moving):
            right = dp[moving]
            if len(moving) < len(g):
                still = np.flatnonzero(~B.any(axis=1))
                right = right - self.T[np.ix_(moving, still)] @ dp[still]
                A = self.T[np.ix_(moving, moving)]
            else:
                A = self.T
            A.flat[:: len(A) + 1] += 1.0
            dp[moving] = np.linalg.solve(A, right)
        return dp


class SparseSystem:
    """W as a sparse matrix."""

    def __init__(self, row_ptr: IntArray, W: Any):
        self.row_ptr, self.W = row_ptr, W.tocsr()
        self.diagonal = np.ascontiguousarray(W.diagonal())
        sizes = np.diff(row_ptr)
        count = np.repeat(sizes, sizes)
        self.row = np.repeat(np.arange(len(count)), count)
        self.column = np.arange(len(self.row)) - np.repeat(np.cumsum(count) - count, count)
        self.at = self.column + np.repeat(np.repeat(row_ptr[:-1], sizes), count)

    def times(self, p: FloatArray) -> FloatArray:
        """W p."""
        return np.asarray(self.W @ p)

    def magnitude(self, p: FloatArray) -> FloatArray:
        """|W| |p|."""
        return np.asarray(abs(self.W) @ np.abs(p))

    def step(self, B: FloatArray, g: FloatArray) -> FloatArray:
        """By SuperLU."""
        from scipy.sparse import csr_matrix, identity

        n = len(g)
        left = csr_matrix((B[self.row, self.column], (self.row, self.at)), shape=(n, n))
        return -_sparse_solve((identity(n) + left @ self.W).tocsc(), g)


class LowRankSystem:
    """W = H Gᵀ with dense factors (nr, n); products with the given W where there is one, so that no digit is lost."""

    def __init__(self, row_ptr: IntArray, H: FloatArray, G: FloatArray, W: FloatArray | None = None):
        self.row_ptr, self.H, self.G, self.W = row_ptr, H, G, W
        self.diagonal = np.einsum("ij,ij->i", H, G)
        self.T = np.empty(H.shape)

    def times(self, p: FloatArray) -> FloatArray:
        """W p."""
        return self.H @ (self.G.T @ p) if self.W is None else self.W @ p

    def magnitude(self, p: FloatArray) -> FloatArray:
        """|W| |p|, or |H| |Gᵀ| |p|."""
        if self.W is not None:
            return np.abs(self.W) @ np.abs(p)
        return np.abs(self.H) @ (np.abs(self.G).T @ np.abs(p))

    def step(self, B: FloatArray, g: FloatArray) -> FloatArray:
        """In the space of the factors."""
        kernels.block_rows(self.row_ptr, B, self.H, self.T)
        moving = np.flatnonzero(B.any(axis=1))
        T = self.T[moving]
        A = self.G[moving].T @ T
        A.flat[:: len(A) + 1] += 1.0
        y = np.linalg.solve(A, self.G.T @ -g)
        dp = -g
        dp[moving] -= T @ y
        return dp


class Bodies:
    """Rows between pairs of bodies, in coordinates where every mass matrix is the identity."""

    def __init__(self, form: problem_dynamics.Bodies, unit: FloatArray):
        nk, d = len(form.body_a), form.Minv.shape[1]
        self.row_ptr = form.row_ptr
        L = state_factors(form)
        moves = np.abs(L).sum(axis=(1, 2)) > 0.0
        used, index = np.unique(np.concatenate([form.body_a, form.body_b]), return_inverse=True)
        # bodies that appear and can move are numbered 0..n-1, all others are n, the fixed world
        number = np.cumsum(moves[used]) - 1
        self.n = int(number[-1]) + 1 if len(used) else 0
        number = np.where(moves[used], number, self.n)
        self.a, self.b = (np.ascontiguousarray(part) for part in number[index].reshape(2, nk).astype(np.int64))
        rows_a, rows_b = (np.repeat(body, np.diff(self.row_ptr)) for body in (form.body_a, form.body_b))
        self.J = np.empty((form.nr, 2 * d))
        self.J[:, :d] = np.einsum("ri,rij->rj", unit[:, None] * form.Ja, L[rows_a])
        self.J[:, d:] = np.einsum("ri,rij->rj", unit[:, None] * form.Jb, L[rows_b])
        self.w, self.d = np.zeros((self.n + 1, d)), d
        self._same_body()
        self.diagonal = np.einsum("ij,ij->i", self.J, self.J)
        self._pattern()

    def _same_body(self) -> None:
        """A block of a body with itself keeps one set of columns."""
        twice = np.repeat((self.a == self.b) & (self.a < self.n), np.diff(self.row_ptr))
        if twice.any():
            self.J[twice, : self.d] += self.J[twice, self.d :]
            self.J[twice, self.d :] = 0.0

    def _pattern(self) -> None:
        """Slots of the d x d blocks of the matrix: the diagonal first, then pairs of bodies, one for the world."""
        n, a, b = self.n, self.a, self.b
        pair = (a < n) & (b < n) & (a != b)
        codes = np.unique(np.concatenate([a[pair] * n + b[pair], b[pair] * n + a[pair]]))
        self.count = n + len(codes)
        self.block_row = np.concatenate([np.arange(n), codes // max(n, 1)])
        self.block_column = np.concatenate([np.arange(n), codes % max(n, 1)])
        world = self.count
        self.slot = np.full((len(a), 4), world, dtype=np.int64)
        self.slot[:, 0] = np.where(a < n, a, world)
        self.slot[:, 3] = np.where(b < n, b, world)
        self.slot[pair, 1] = n + np.searchsorted(codes, a[pair] * n + b[pair])
        self.slot[pair, 2] = n + np.searchsorted(codes, b[pair] * n + a[pair])
        same = (a == b) & (a < n)
        self.slot[same, 3] = world
        self.K = np.empty((self.count + 1, self.d, self.d))
        size = n * self.d
        self.full = size <= ASSEMBLY.dense_max_velocities
        if not self.full:
            self._order()

    def _order(self) -> None:
        """Where each entry of the blocks goes in a compressed matrix by columns, bodies in an order of little fill."""
        from scipy.sparse import csc_matrix

        d = self.d
        i = (self.block_row[:, None, None] * d + np.arange(d)[None, :, None] + np.zeros((1, 1, d), dtype=int)).ravel()
        j = (
            self.block_column[:, None, None] * d + np.arange(d)[None, None, :] + np.zeros((1, d, 1), dtype=int)
        ).ravel()
        size = self.n * d
        made = csc_matrix((np.arange(1, len(i) + 1), (i, j)), shape=(size, size))
        made.sort_indices()
        self.source, self.indices, self.indptr = made.data - 1, made.indices, made.indptr

    def times(self, p: FloatArray) -> FloatArray:
        """W p, by way of the bodies."""
        u = np.empty(len(p))
        kernels.body_velocity(self.row_ptr, self.a, self.b, self.J, p, self.w)
        kernels.body_rows_times(self.row_ptr, self.a, self.b, self.J, self.w, u)
        return u

    def magnitude(self, p: FloatArray) -> FloatArray:
        """|J| |Jᵀ| |p|."""
        u, size = np.empty(len(p)), np.abs(self.J)
        kernels.body_velocity(self.row_ptr, self.a, self.b, size, np.abs(p), self.w)
        kernels.body_rows_times(self.row_ptr, self.a, self.b, size, self.w, u)
        return u

    def step(self, B: FloatArray, g: FloatArray) -> FloatArray:
        """In the space of the bodies' velocities."""
        kernels.body_matrix(self.row_ptr, self.a, self.b, self.J, B, self.slot, self.K)
        kernels.body_velocity(self.row_ptr, self.a, self.b, self.J, g, self.w)
        right = self.w[:-1].ravel()
        size = len(right)
        if self.full:
            blocks = np.zeros((self.n, self.d, self.n, self.d))
            blocks[self.block_row, :, self.block_column, :] = self.K[:-1]
            dense = blocks.reshape(size, size)
            dense.flat[:: size + 1] += 1.0
            y = np.linalg.solve(dense, right)
        else:
            from scipy.sparse import csc_matrix

            self.K[: self.n, np.arange(self.d), np.arange(self.d)] += 1.0
            data = self.K[:-1].ravel()[self.source]
            A = csc_matrix((data, self.indices, self.indptr), shape=(size, size), copy=True)
            A.eliminate_zeros()  # bodies whose contacts are open are not coupled
            y = _sparse_solve(A, right)
        self.w[:-1] = y.reshape(self.n, self.d)
        u, dp = np.empty(len(g)), np.empty(len(g))
        kernels.body_rows_times(self.row_ptr, self.a, self.b, self.J, self.w, u)
        kernels.block_times(self.row_ptr, B, u, dp)
        return dp - g


def _sparse_solve(A: Any, b: FloatArray) -> FloatArray:
    """A x = b by SuperLU, ordered for a symmetric pattern, with one step of refinement."""
    from scipy.sparse.linalg import splu

    try:
        factors = splu(A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.01, options={"SymmetricMode": True})
    except RuntimeError as error:
        raise np.linalg.LinAlgError(str(error)) from error
    x = factors.solve(b)
    return np.asarray(x + factors.solve(b - A @ x))
