"""Lemke's method: one solution of a linear complementarity problem, or a plain word why not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _check
from .._arguments import checks_arguments
from .._check import FloatArray
from ..errors import ModelError
from ..status import Status
from . import kernels
from .kernels import LOST, MAXITER, RAY, REFACTOR, SOLVED

# (pivots between checks of drift, tolerance of ties, smallest pivot, seed of uneven covering), each tried when
# the one before failed or met a ray: rounding may have sent the path astray, and then other tolerances and a fresher
# inverse find the way. Where nearly every ratio is a tie (many contacts at rest, W of low rank, q at round-off), only
# another path helps: a covering vector with uneven entries. Five rays are an answer.
_ATTEMPTS = (
    (128, 1e-12, 1e-11, 0),
    (16, 1e-10, 1e-9, 0),
    (4, 1e-13, 1e-12, 0),
    (16, 1e-10, 1e-9, 1),
    (16, 1e-10, 1e-9, 2),
    (16, 1e-10, 1e-9, 3),
    (16, 1e-11, 1e-10, 4),
)


@dataclass(slots=True)
class LCPResult:
    """The outcome of `lemke`: `z` and `w` (n,), `success`, `status`, `message`, `pivots`, `residual` and `ray`.

    `residual` is the natural map (see `residual`). On success `z >= 0` and `w >= 0` hold exactly, `w` is exactly zero
    where z is basic, and `w = M z + q` holds to round-off. `ray` (n,) is the direction along which the method left
    when `status` is `Status.RAY`, else None; z is then the point where the ray starts and no solution.
    """

    z: FloatArray
    w: FloatArray
    status: Status
    pivots: int
    residual: float
    ray: FloatArray | None = None

    @property
    def success(self) -> bool:
        """True when the residual was verified to be at round-off."""
        return self.status is Status.SOLVED

    @property
    def message(self) -> str:
        """What happened, in a sentence."""
        return f"{self.status.sentence} ({self.pivots} pivots, residual {self.residual:.1e}.)"


@checks_arguments
def lemke(M: Any, q: Any, *, free: Any = None, covering: Any = None, maxiter: int | None = None) -> LCPResult:
    """Solve `0 <= z ⟂ w = M z + q >= 0` by Lemke's method with the lexicographic ratio test, so that it cannot cycle.

    M is (n, n) and q (n,). `free` is a boolean mask (n,): there z_i has any sign and w_i = 0 (a mixed problem). The
    positive `covering` vector d (n,), default ones, chooses the path `w = M z + q + d z0` on which z0 falls to zero;
    entries of free rows are not used. `maxiter` limits the pivots (default the larger of 10 000 and 50 n). The method
    ends at a solution or on a ray; a ray proves that there is no solution only for some matrices (copositive-plus
    ones, for example). It always ends at a solution for the friction problems (st96 eqs. 17, 29, 32) with gaps >= 0.
    Cost: about n pivots of O(n²). (Cottle, Pang, Stone, The Linear Complementarity Problem, Algorithm 4.4.1 and
    section 4.9.)
    """
    M = _check.floats("M", M, (None, None))
    n = M.shape[0]
    if M.shape[1] != n:
        raise ModelError(f"M must be square; got {M.shape}.")
    q = _check.floats("q", q, (n,))
    mask = None if free is None else free_mask(free, n)
    if covering is None:
        d = np.ones(n)
    else:
        d = _check.floats("covering", covering, (n,))
        wrong = (d <= 0) if mask is None else (d <= 0) & ~mask
        if wrong.any():
            i = int(np.argmax(wrong))
            raise ModelError(f"covering must be greater than zero; covering[{i}] is {d[i]:g}.")
    limit = max(10_000, 50 * n) if maxiter is None else _check.count("maxiter", maxiter, low=0)
    if mask is not None and mask.any():
        from .mixed import lemke_mixed

        return LCPResult(*lemke_mixed(M, q, mask, d, limit))
    return LCPResult(*lemke_arrays(M, q, d, limit))


def free_mask(free: Any, n: int) -> np.ndarray:
    """`free` as a boolean array (n,), or a ModelError."""
    mask = _check.any_array("free", free)
    if mask.dtype != np.bool_ or mask.shape != (n,):
        raise ModelError(f"free must be a boolean mask of shape ({n},); got {mask.dtype} of shape {mask.shape}.")
    return mask


def lemke_arrays(
    M: FloatArray, q: FloatArray, d: FloatArray, maxiter: int
) -> tuple[FloatArray, FloatArray, Status, int, float, FloatArray | None]:
    """The unchecked fast path of `lemke` without free variables: returns (z, w, status, pivots, residual, ray or None).

    M (n, n), q (n,) and d (n,) are finite float64 arrays, d > 0; they are not changed.
    """
    # One kernel, one signature: Numba has other types for read-only, strided and unaligned arrays.
    M, q, d = (a if a.flags.carray else a.copy(order="C") for a in (M, q, d))
    work = _Work(q.shape[0])
    pivots = 0
    rays = 0
    best = work.z, work.w, np.inf  # of the attempts that lost their way: often good enough for their purpose
    for every, tie, pivot, spread in _ATTEMPTS:
        code = work.run(M, q, d * _spread(d.size, spread) if spread else d, maxiter, every, tie, pivot)
        pivots += work.pivots
        if code == SOLVED:
            return work.z, work.w, Status.SOLVED, pivots, work.residual, None
        if code == MAXITER:
            return work.z, work.w, Status.MAXITER, pivots, work.residual, None
        rays += code == RAY
        if rays == 5:
            return work.z, work.w, Status.RAY, pivots, work.residual, work.ray()
        if code == LOST and work.residual < best[2]:
            best = work.z.copy(), work.w.copy(), work.residual
    if code == RAY and not best[2] < work.residual:
        return work.z, work.w, Status.RAY, pivots, work.residual, work.ray()
    return best[0], best[1], Status.INACCURATE, pivots, best[2], None


def _spread(n: int, seed: int) -> FloatArray:
    """Factors between 0.5 and 1.5, the same in every run."""
    return np.random.default_rng(seed).uniform(0.5, 1.5, n)


class _Work:
    """The arrays of one solve and the loop around the kernels that refactors the inverse when it is due."""

    __slots__ = ("residual", "s", "tableau", "w", "z")

    def __init__(self, n: int):
        qs, ds, r, c, x, self.z, self.w = np.empty((7, n))
        MT, V = np.empty((2, n, n))
        basis, slot = np.empty((2, n), np.int64)
        self.tableau = kernels.Tableau(MT, qs, ds, r, c, V, x, basis, slot, np.zeros(5, np.int64))

    @property
    def pivots(self) -> int:
        """How many there were in the last attempt."""
        return int(self.tableau.info[kernels.PIVOTS])

    def run(
        self, M: FloatArray, q: FloatArray, d: FloatArray, maxiter: int, every: int, tie: float, pivot: float
    ) -> int:
        """One attempt: SOLVED (verified), RAY (verified with a fresh inverse), MAXITER or LOST."""
        code, self.s, self.residual, verified = kernels.solve_small(
            M, q, d, maxiter, every, tie, pivot, self.tableau, self.z, self.w
        )
        if verified:
            return SOLVED
        while code == REFACTOR or (code == RAY and self.tableau.info[kernels.SINCE] > 0):
            if not self.refactor():
                code = LOST
                break
            code = kernels.path(self.tableau, maxiter, every, tie, pivot)
        # A verified answer is a solution however the path ended: on a ray with z0 at round-off, for example.
        if self.certify(M, q) or (code == SOLVED and self.refactor() and self.certify(M, q)):
            return SOLVED
        return LOST if code == SOLVED else int(code)

    def refactor(self) -> bool:
        """Recompute the inverse of the basis by LAPACK; False when the basis is singular to working precision.

        With the rows ordered (w_j basic, others) the basis is [[I, N₁], [0, N₂]]: only the block N₂ of active pairs is
        inverted.
        """
        MT, _, ds, _, _, V, x, basis, slot, info = self.tableau
        n = x.shape[0]
        inside = np.flatnonzero(slot < 0)
        outside = np.flatnonzero(slot >= 0)
        places = np.flatnonzero(basis >= n)
        N = np.array([-ds if b == 2 * n else -MT[b - n] for b in basis[places]]).reshape(-1, n).T
        try:
            inverse = np.linalg.inv(N[inside])
        except np.linalg.LinAlgError:
            return False
        V[:] = 0.0
        V[outside, slot[outside]] = 1.0
        V[np.ix_(inside, places)] = inverse.T
        V[np.ix_(inside, slot[outside])] = -(N[outside] @ inverse).T
        info[kernels.SINCE], info[kernels.FRESH], info[kernels.UNCHECKED] = 0, 1, 0
        return bool(np.isfinite(inverse).all())

    def certify(self, M: FloatArray, q: FloatArray) -> bool:
        """Fill z, w and the residual from the basis; True when they are verified to be a solution."""
        self.residual, verified = kernels.finish(M, q, self.tableau, self.s, self.z, self.w)
        return bool(verified)

    def ray(self) -> FloatArray:
        """The z part of the secondary ray, its largest entry 1."""
        ray = np.empty_like(self.z)
        kernels.direction(self.tableau, ray)
        return ray
