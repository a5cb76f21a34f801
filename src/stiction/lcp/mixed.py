"""Lemke's method for mixed problems: the free variables are eliminated first, by a rank-revealing factorisation.

With u free and v >= 0 the problem reads `0 = A u + C v + a`, `0 <= v ⟂ w = D u + B v + b >= 0`.

- A regular: `u = -A⁻¹ (C v + a)` and v solves the LCP of the Schur complement `B - D A⁻¹ C`.
- A singular, with null spaces U₂ᵀ A = 0 and A V₂ = 0: what A determines is eliminated as above by its pseudo-inverse.
  There remain the equations `U₂ᵀ (C v + a) = 0`, without any u, and free variables y of `u = ... + V₂ y`, without any
  equation. Dependent equations are dropped when they agree (redundant joints) and reported when they contradict each
  other; free variables that act on nothing are set to zero, the multipliers of minimum norm.
- Equations and variables that are left couple through v alone, as in M = [[0, 1], [-1, 0]] with the first variable
  free. They become an LCP by `y = y⁺ - y⁻` with `y⁺ ⟂ g >= 0`, `y⁻ ⟂ -g >= 0`, which says g = 0. Equations may be
  combined at will, so they are first combined to look like the negative transpose of the columns of y: the matrix is
  then positive semidefinite whenever the given one can be made so, and Lemke's method ends at a solution if there is
  one. For other matrices it may end on a ray, as always.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._check import FloatArray
from ..status import Status
from . import kernels
from .pivoting import lemke_arrays

_REGULAR_CONDITION = 1e9  # condition number below which A is inverted as it is
_RANK_SHARE = 1e-10  # singular values below this share of the largest are zero
_ROUND_OFF_SHARE = 1e-13  # what is smaller beside the terms of its sum is round-off
_AGREEMENT_SHARE = 1e-9  # dependent equations contradict each other above this share of their right-hand side

Answer = tuple[FloatArray, FloatArray, Status, int, float, FloatArray | None]


@dataclass(slots=True)
class Blocks:
    """The equilibrated blocks of a mixed problem (see the head of this file); f and g index free and other rows."""

    f: np.ndarray
    g: np.ndarray
    A: FloatArray
    C: FloatArray
    D: FloatArray
    B: FloatArray
    a: FloatArray
    b: FloatArray


@dataclass(slots=True)
class Reduction:
    """A pure LCP (S, s) in (y⁺, y⁻, v) and the way back: `u = -X v - x + Y (y⁺ - y⁻)`."""

    S: FloatArray
    s: FloatArray
    X: FloatArray
    x: FloatArray
    Y: FloatArray
    agree: bool = True

    def back(self, y: FloatArray, *, ray: bool = False) -> tuple[FloatArray, FloatArray]:
        """(u, v) of a vector of the pure LCP, or of a direction of it."""
        k = self.Y.shape[1]
        v = y[2 * k :]
        u = -self.X @ v + self.Y @ (y[:k] - y[k : 2 * k])
        return (u if ray else u - self.x), v


def lemke_mixed(M: FloatArray, q: FloatArray, free: np.ndarray, d: FloatArray, maxiter: int) -> Answer:
    """The unchecked path of `lemke` with free variables; takes and returns what `lemke_arrays` does, and the mask
    `free` (n,).
    """
    n = q.shape[0]
    r, c = np.empty(n), np.empty(n)
    M = M if M.flags.carray else M.copy(order="C")
    kernels.equilibrate(M, r, c)
    Ms, qs = r[:, None] * M * c, r * q
    f, g = np.flatnonzero(free), np.flatnonzero(~free)
    blocks = Blocks(f, g, Ms[np.ix_(f, f)], Ms[np.ix_(f, g)], Ms[np.ix_(g, f)], Ms[np.ix_(g, g)], qs[f], qs[g])
    reduction = reduce(blocks)
    z = np.zeros(n)
    if not reduction.agree:
        z[f] = -reduction.x
        w, worst, _ = judge(M, q, free, c * z, r)
        return c * z, w, Status.SINGULAR, 0, worst, None
    cover = np.concatenate([np.ones(2 * reduction.Y.shape[1]), d[g] * r[g]])
    y, _, status, pivots, _, direction = lemke_arrays(reduction.S, reduction.s, cover, maxiter)
    z[f], z[g] = reduction.back(y)
    ray = None
    if direction is not None:
        ray = np.zeros(n)
        ray[f], ray[g] = reduction.back(direction, ray=True)
        ray *= c / max(np.abs(ray * c).max(), np.finfo(float).tiny)
    if status is Status.SOLVED or status is Status.INACCURATE:
        z = polish(Ms, qs, free, z)
    z *= c
    w, worst, verified = judge(M, q, free, z, r)
    if verified:
        status, ray = Status.SOLVED, None
    elif status is Status.SOLVED:
        status = Status.INACCURATE
    return z, w, status, pivots, worst, ray


def reduce(p: Blocks) -> Reduction:
    """Eliminate the free variables."""
    try:
        inverse = np.linalg.inv(p.A)
        regular = np.abs(p.A).sum(0).max() * np.abs(inverse).sum(0).max() < _REGULAR_CONDITION
    except np.linalg.LinAlgError:
        regular = False
    if regular:
        X, x = inverse @ p.C, inverse @ p.a
        return Reduction(_minus(p.B, p.D, X), _minus(p.b, p.D, x), X, x, np.zeros((p.f.size, 0)))
    U, sigma, Vt = np.linalg.svd(p.A)
    k = _rank(sigma, 1.0)
    pseudo = (Vt[:k].T / sigma[:k]) @ U[:, :k].T
    X, x = pseudo @ p.C, pseudo @ p.a
    S, s = _minus(p.B, p.D, X), _minus(p.b, p.D, x)
    C, a, agree = _independent(U[:, k:].T @ p.C, U[:, k:].T @ p.a, np.abs(p.a).max(initial=0.0))
    D = p.D @ Vt[k:].T
    _, sigma, Wt = np.linalg.svd(D, full_matrices=True)
    acting = Wt[: _rank(sigma, 1.0)].T
    D, Y = D @ acting, Vt[k:].T @ acting
    C, a, D, Y = _pair(C, a, D, Y)
    C, a, D = _chop(C, 1.0), _chop(a, np.abs(p.a).max(initial=0.0)), _chop(D, 1.0)
    zero = np.zeros((C.shape[0], C.shape[0]))
    S = np.block([[zero, zero, C], [zero, zero, -C], [D, -D, S]])
    return Reduction(S, np.concatenate([a, -a, s]), X, x, Y, agree)


def _minus(B: FloatArray, D: FloatArray, X: FloatArray) -> FloatArray:
    """B - D X, exactly zero where nothing but the round-off of X is left: scaling would blow it up into a pivot."""
    return _chop(B - D @ X, np.abs(B) + np.abs(D) @ np.abs(X))


def _chop(value: FloatArray, size: FloatArray | float) -> FloatArray:
    """The value, exactly zero where it is round-off beside the size of what it was computed from."""
    return np.where(np.abs(value) > _ROUND_OFF_SHARE * size, value, 0.0)


def _rank(sigma: FloatArray, floor: float) -> int:
    """The number of singular values that are not zero, beside the largest or the unit entries of an equilibrated
    matrix.
    """
    return int((sigma > _RANK_SHARE * max(floor, sigma.max(initial=0.0))).sum())


def _independent(C: FloatArray, a: FloatArray, size: float) -> tuple[FloatArray, FloatArray, bool]:
    """Independent combinations of the equations C v + a = 0, and whether the dependent ones agree."""
    U, sigma, _ = np.linalg.svd(C, full_matrices=True)
    k = _rank(sigma, 1.0)
    rest = U[:, k:].T @ a
    return U[:, :k].T @ C, U[:, :k].T @ a, bool(np.abs(rest).max(initial=0.0) <= _AGREEMENT_SHARE * size)


def _pair(
    C: FloatArray, a: FloatArray, D: FloatArray, Y: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """As many equations as free columns (zeros fill up); the equations are combined towards C = -Dᵀ where possible."""
    rows, columns = C.shape[0], D.shape[1]
    if rows == columns and rows > 0:
        inverse = np.linalg.pinv(C)
        combine = -D.T @ inverse
        if np.linalg.svd(combine)[1][-1] > 1e-6 * np.linalg.norm(D) * np.linalg.norm(inverse):
            C, a = combine @ C, combine @ a
    if rows < columns:
        C = np.vstack([C, np.zeros((columns - rows, C.shape[1]))])
        a = np.concatenate([a, np.zeros(columns - rows)])
    elif columns < rows:
        D = np.hstack([D, np.zeros((D.shape[0], rows - columns))])
        Y = np.hstack([Y, np.zeros((Y.shape[0], rows - columns))])
    return C, a, D, Y


def polish(M: FloatArray, q: FloatArray, free: np.ndarray, z: FloatArray) -> FloatArray:
    """Refine z on the full problem, with the rows of free and of positive variables as equations."""
    z = np.where(free, z, np.maximum(z, 0.0))
    active = np.flatnonzero(free | (z > 0))
    block = M[np.ix_(active, active)]
    for _ in range(2):
        rest = M[active] @ z + q[active]
        try:
            step = np.linalg.solve(block, rest)
        except np.linalg.LinAlgError:
            step = None
        if step is None or not np.abs(step).max(initial=0.0) <= 1e-6 * np.abs(z).max(initial=0.0):
            step = np.linalg.lstsq(block, rest, rcond=_RANK_SHARE)[0]
        new = z.copy()
        new[active] -= step
        new[~free] = np.maximum(new[~free], 0.0)
        if np.abs(M[active] @ new + q[active]).max(initial=0.0) >= np.abs(rest).max(initial=0.0):
            break
        z = new
    return z


def judge(
    M: FloatArray, q: FloatArray, free: np.ndarray, z: FloatArray, r: FloatArray
) -> tuple[FloatArray, float, bool]:
    """(w, natural-map residual, verified) of z by the rule of `kernels.finish`; free rows count as equations."""
    w = M @ z + q
    residual = float(np.abs(np.where(free, w, np.minimum(z, w))).max(initial=0.0))
    size = np.abs(M) @ np.abs(z) + np.abs(q)
    basic = free | (z > 0)
    error = np.where(basic, np.abs(w), np.maximum(-w, 0.0))
    verified = bool((z[~free] >= 0).all())
    for unit in (np.ones_like(r), r):
        bound = min(
            kernels.SOLVED_ACCURACY * (unit * size).max(initial=0.0),
            kernels.SOLVED_Q_SHARE * (unit * np.abs(q)).max(initial=0.0),
        )
        verified = verified and (unit * error).max(initial=0.0) <= bound
    if verified:
        w = np.where(basic, 0.0, np.maximum(w, 0.0))
    return w, residual, verified
