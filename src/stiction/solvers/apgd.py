"""Accelerated projected gradient descent (APGD) for the convex relaxation of very large problems.

    minimise ½ pᵀ (W + C) p + qᵀ p    over the admissible impulses K, a product of one set per block

Nesterov's method with an adaptive step and restarts, after H. Mazhar, T. Heyn, D. Negrut, A. Tasora, Using Nesterov's
method to accelerate multibody dynamics with friction and contact, ACM Trans. Graphics 34 (2015); the sign of restart is
that of B. O'Donoghue, E. Candès, Found. Comput. Math. 15 (2015).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .. import _check
from .._check import FloatArray, IntArray
from ..friction.sets import ELLIPSOID
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Bodies, Delassus
from ..problem.laws import BOX, DRY, EQUALITY, UNILATERAL
from ..status import Status
from .base import Solution, finish, not_symmetric, nothing_to_solve
from .newton.assembly import state_factors


class ApgdParameters(NamedTuple):
    """Accelerated projected gradient descent."""

    default_steps: int = 20_000
    """`maxiter` by default."""
    curvature_fall: float = 0.99
    """Factor by which the estimate of the largest curvature falls in each step, until a step shows more."""
    estimate_steps: int = 10
    """Steps between two estimates of the residual."""
    certificate_steps: int = 500
    """Steps between two certificates, whatever the estimate says."""
    curvature_floor: float = 1e-26
    """|x - y|² / |x|² of a step below which the curvature along it is round-off."""


APGD = ApgdParameters()


class Apgd:
    """One product with W and one projection of each block per step: no matrix, no sweep order, no local solves.

    Takes every law and every friction set. Impulses are scaled by one number per block (its inertia `rho`), joints by
    all of their own W, so that the sets stay what they are. On `Bodies` products are matrix-free.

    When to use it: the convex relaxation with hundreds of contacts and more. On piles of 200 to 4000 spheres
    (`benchmarks/convex.py`, 1e-4 and 1e-6) it took 0.8 to 0.1 of the time of `nsgs` and a third to a sixtieth of that
    of `conic`, the less the larger the pile. When not: Coulomb's own law (`nsgs`), 1e-8 and better on problems that
    `conic` can factorise, or jams, where impulses are huge against what they move.
    """

    name = "apgd"

    def __init__(self, maxiter: int = APGD.default_steps):
        self.maxiter = _check.count("maxiter", maxiter)

    def refuses(self, problem: ContactProblem) -> str | None:
        """Coulomb's law with friction, and problems that are not symmetric: they are no convex program."""
        coupled = (problem.law == UNILATERAL) & (problem.friction.mu > 0)
        if coupled.any() and not problem.associated:
            return (
                "apgd solves the convex relaxation, and this problem has Coulomb's law; "
                'use nsgs, or relaxation="convex".'
            )
        return not_symmetric(problem, self.name)

    def solve(
        self, problem: ContactProblem, *, tol: float = 1e-8, maxiter: int | None = None, p0: FloatArray | None = None
    ) -> Solution:
        """Descend from `p0`, or from the problem's `p_warm`; `maxiter` limits the steps (default 20 000)."""
        limit = self.maxiter if maxiter is None else _check.count("maxiter", maxiter)
        if problem.nr == 0:
            return nothing_to_solve(problem, self.name, tol)
        start = problem.p_warm if p0 is None else _check.floats("p0", p0, (problem.nr,))
        p, status, message, steps = _Descent(problem).run(start, tol, limit)
        return finish(problem, p, solver=self.name, tol=tol, status=status, message=message, iterations=steps)


class _Descent:
    """A problem in the units of `apgd_kernels`, and the iteration on it."""

    def __init__(self, problem: ContactProblem):
        from . import apgd_kernels as kernels
        from .gauss_seidel import packed_rows as packed_rows
        from .newton import kernels as products

        self.problem, self.kernels, self.products, self.packed_rows = problem, kernels, products, packed_rows
        dynamics, ptr, nr, f, length = problem.dynamics, problem.row_ptr, problem.nr, problem.friction, problem.length
        W_blocks, self.T, self.inverse = (np.zeros((nr, 6)) for _ in range(3))
        self.moves = np.zeros(nr, dtype=bool)
        if isinstance(dynamics, Bodies):
            self._pack(dynamics, W_blocks)
        else:
            W = _sparse(problem)
            packed_rows.matrix_blocks(ptr, W.indptr.astype(np.int64), W.indices.astype(np.int64), W.data, W_blocks)
        kernels.scaling(problem.law, ptr, W_blocks, length, problem.rho, self.T, self.inverse, self.moves)
        turn = _block_diagonal(self.T, ptr)
        if isinstance(dynamics, Bodies):
            self.Ct = np.zeros((nr if problem.C.any() else 0, 6))
            none = np.zeros(problem.nk, np.bool_)
            packed_rows.turn_rows(0, problem.nk, none, ptr, np.arange(nr), self.T, problem.C, self.J, self.Ct)
        else:
            self.W = (turn.T @ W @ turn).tocsr()
        self.q = turn.T @ problem.q
        box = np.repeat(problem.law == BOX, np.diff(ptr))
        unit = np.where(box, self.T[np.arange(nr), np.arange(nr) - np.repeat(ptr[:-1], np.diff(ptr))], 1.0)
        sets = f.set_of
        tangent = np.minimum(ptr[:-1] + 1, nr - 1)  # of a contact; the next row is its other tangent
        disk = (problem.law == UNILATERAL) & (np.diff(ptr) == 3) & (problem.r0 == 0) & (f.kind[sets] == ELLIPSOID)
        disk &= (f.semi[sets, 0] == f.semi[sets, 1]) & (length[tangent] == length[np.minimum(tangent + 1, nr - 1)])
        self.laws = problem.laws._replace(
            r0=problem.r0 / np.sqrt(problem.rho), lo=problem.lo / unit, hi=problem.hi / unit
        )
        self.disk = np.where(disk, f.mu * f.semi[sets, 0] / length[tangent], 0.0)
        self.one = np.ones(problem.nk)
        # at least the root of the largest eigenvalue of a block's own W, in metres
        self.softest = np.sqrt(np.add.reduceat(W_blocks.max(axis=1) * length**2, ptr[:-1]))

    def _pack(self, dynamics: Bodies, W_blocks: FloatArray) -> None:
        """The rows on the bodies' states, and each block's own W + C (nr, 6)."""
        d, ptr, nk = dynamics.Minv.shape[1], self.problem.row_ptr, self.problem.nk
        self.a, self.b = (np.where(body < 0, dynamics.nbody, body) for body in (dynamics.body_a, dynamics.body_b))
        self.J, self.w = np.zeros((self.problem.nr, 2 * d)), np.zeros((dynamics.nbody + 1, d))
        rows = self.packed_rows.pack_rows_planar if d == 3 else self.packed_rows.pack_rows_spatial
        rows(
            0, nk, np.zeros(nk, np.bool_), ptr, np.arange(self.problem.nr), self.a, self.b, dynamics.body_rows,
            state_factors(dynamics), self.problem.C, self.J, W_blocks,
        )  # fmt: skip

    def times(self, x: FloatArray, out: FloatArray) -> None:
        """out = Tᵀ (W + C) T x."""
        if not isinstance(self.problem.dynamics, Bodies):
            out[:] = self.W @ x
            return
        ptr, products = self.problem.row_ptr, self.products
        products.body_velocity(ptr, self.a, self.b, self.J, x, self.w)
        products.body_rows_times(ptr, self.a, self.b, self.J, self.w, out)
        if len(self.Ct):
            self.kernels.add_blocks(ptr, self.Ct, x, out)

    def impulses(self, x: FloatArray) -> FloatArray:
        """p = T x."""
        p = np.empty_like(x)
        self.products.block_times(self.problem.row_ptr, self.T, x, p)
        return p

    def _start(self, p0: FloatArray) -> FloatArray:
        """x of the admissible impulses nearest to p0; where nothing moves, what the given velocity asks for."""
        problem, kernels = self.problem, self.kernels
        x, y = np.empty(problem.nr), np.empty(problem.nr)
        self.products.block_times(problem.row_ptr, self.inverse, p0, y)
        if not self.moves.all():
            law = np.repeat(problem.law, np.diff(problem.row_ptr))
            far = 1e12 * self.laws.r0.max() / (np.abs(self.q).max() or 1.0)
            everything = np.ones(problem.nr, dtype=bool)
            kernels.descend(self.laws, self.disk, everything, far, self.one, self.one, np.zeros(problem.nr), self.q, x)
            bound = np.where(self.q > 0, problem.lo, np.where(self.q < 0, problem.hi, 0.0))
            bound = np.clip(np.where(np.isfinite(bound), bound, 0.0), problem.lo, problem.hi)
            asked = np.select([law == DRY, law == BOX], [x, bound], 0.0)
            y = np.where(self.moves, y, asked)
        self._descend(0.0, y, self.q, x)
        return x

    def _descend(self, step: float, y: FloatArray, g: FloatArray, x: FloatArray) -> tuple[float, float, float]:
        """x = the projection of y - step·g; returns what `apgd_kernels.descend` does."""
        found: tuple[float, float, float] = self.kernels.descend(
            self.laws, self.disk, self.moves, step, self.one, self.one, y, g, x
        )
        return found

    def estimate(self, x: FloatArray, Wx: FloatArray) -> float:
        """What the certificate's error will be, without the work: the same map, in the units of x.

        Joints are taken as if all of their velocity lay along their softest direction, so that it is never too small.
        """
        rho, step, g, scratch = self.problem.rho, self.problem.map_step, Wx + self.q, np.empty_like(x)
        joint = self.problem.law == EQUALITY
        pace, weight = np.where(joint, 1.0, step / rho), np.where(joint, self.softest, np.sqrt(rho) / step)
        squares = self.kernels.descend(self.laws, self.disk, self.moves, 1.0, pace, weight, x, g, scratch)[2]
        return float(math.sqrt(squares) / self.problem.scale)

    def run(self, p0: FloatArray, tol: float, limit: int) -> tuple[FloatArray, Status, str, int]:
        """The impulses, how it ended, and the number of steps."""
        kernels = self.kernels
        x = self._start(p0)
        new, Wx, Wnew, y, Wy, g = (np.empty_like(x) for _ in range(6))
        self.times(self.moves.astype(np.float64), Wnew)
        L = max(math.sqrt(float((Wnew * Wnew).sum()) / max(1, int(self.moves.sum()))), 1e-3)
        self.times(x, Wx)
        kernels.extrapolate(0.0, self.q, x, x, Wx, Wx, y, Wy, g)
        best, least = self.impulses(x), math.inf
        bound, theta, done = tol, 1.0, 0
        while True:
            if done % APGD.estimate_steps == 0 or done == limit:
                estimate = self.estimate(x, Wx)
                if estimate <= bound or done % APGD.certificate_steps == 0 or done == limit:
                    p = self.impulses(x)
                    error = self.problem.certify(p).error
                    if error < least:
                        best, least = p, error
                    if error <= tol:
                        return p, Status.SOLVED, f"apgd met the tolerance after {done} steps.", done
                    bound = min(bound, 0.9 * tol / error * estimate)
                if done == limit:
                    message = f"apgd stopped after {done} steps with residual {least:.2e}, above tol = {tol:.0e}."
                    return best, Status.MAXITER, message, done
            done += 1
            while True:  # until the quadratic with curvature L lies above the function between y and the new point
                moved, whole, _ = kernels.descend(
                    self.laws, self.disk, self.moves, 1.0 / L, self.one, self.one, y, g, new
                )
                self.times(new, Wnew)
                bend = kernels.curvature(new, y, Wnew, Wy)
                if not bend > L * moved * (1.0 + 1e-10) or moved <= APGD.curvature_floor * whole:
                    break
                L = min(2.0 * L, max(1.4 * L, 1.05 * bend / moved))
            if not math.isfinite(bend):
                message = f"apgd left the range of numbers after {done} steps."
                return best, Status.NONFINITE, message, done
            beta = 0.0
            if kernels.climbs(g, new, x):
                theta = 1.0
            else:
                after = 0.5 * theta * (math.sqrt(theta * theta + 4.0) - theta)
                beta = theta * (1.0 - theta) / (theta * theta + after)
                theta = after
            x, new, Wx, Wnew = new, x, Wnew, Wx  # what was new is here, and `new` holds the point before
            kernels.extrapolate(beta, self.q, x, new, Wx, Wnew, y, Wy, g)
            L *= APGD.curvature_fall


def _sparse(problem: ContactProblem) -> Any:
    """W + diag(C) by rows."""
    from scipy.sparse import csr_array, diags_array

    dynamics = problem.dynamics
    W = dynamics.W if isinstance(dynamics, Delassus) else dynamics.delassus()
    return csr_array(csr_array(W) + diags_array(problem.C))


def _block_diagonal(T: FloatArray, row_ptr: IntArray) -> Any:
    from scipy.sparse import csr_array

    start = np.repeat(row_ptr[:-1], np.diff(row_ptr))
    row, k = np.nonzero(T)
    return csr_array((T[row, k], (row, start[row] + k)), shape=(len(T), len(T)))
