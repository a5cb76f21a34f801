"""The convex relaxation as a conic program with sparse matrices.

With the associated law the contact problem is the optimality condition of

    minimise ½ pᵀ (W + C) p + qᵀ p    over p_n >= 0, p_t in (mu p_n + r0)·F, lo <= p <= hi, joints free

(ah03 eq. 2.10: the LCP of a quadratic program). Where W = H M⁻¹ Hᵀ is not given it is not made: velocities w = Hᵀ p, in
coordinates with M = I, join the variables, and ½ |w|² takes the place of ½ pᵀ W p. Disks, ellipsoids and products of
them make second-order cones, polyhedra linear inequalities.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._check import FloatArray
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Bodies, Delassus, Dense
from ..problem.laws import BOX, DRY, UNILATERAL
from .newton.assembly import state_factors
from .newton.response import Scaled, make_scaled


class ConeProgram:
    """The program of a problem, set up once; solved for any shift of the free velocities.

    Variables are w, if any, and y with p = unit·root·y, where root² is each block's inertia: W is near one in y.
    """

    def __init__(self, problem: ContactProblem, tol: float, maxiter: int):
        from scipy.sparse import block_diag, csc_matrix, diags, identity

        self.problem, laws = problem, make_scaled(problem)
        sizes = np.diff(problem.row_ptr)
        diagonal = (problem.dynamics.delassus_diagonal(problem.row_ptr) + problem.C) * laws.unit**2
        mean = np.add.reduceat(diagonal, problem.row_ptr[:-1]) / sizes
        least = 1e-14 * float(mean.max(initial=0.0)) or 1.0
        block = 1.0 / np.sqrt(np.maximum(mean, least))
        self.factor = laws.unit * np.repeat(block, sizes)
        W, H = _dynamics(problem, self.factor)
        self.nw = 0 if H is None else H.shape[1]
        C = problem.C * self.factor**2
        if H is None:
            P = W + diags(C)
        else:
            P = block_diag([identity(self.nw), diags(C)])
        A, self.b, cones = _constraints(laws, block, self.nw)
        if H is not None:
            import clarabel
            from scipy.sparse import hstack, vstack

            A = vstack([hstack([identity(self.nw), -H.T]), A])
            self.b = np.concatenate([np.zeros(self.nw), self.b])
            cones = [clarabel.ZeroConeT(self.nw), *cones]
        self.P, self.A, self.cones = csc_matrix(P), csc_matrix(A), cones
        self.tol, self.maxiter = tol, maxiter

    def solve(self, shift: FloatArray) -> tuple[FloatArray, str, int]:
        """Impulses for the free velocities q + shift, clarabel's word on them, and its iterations."""
        import clarabel
        from scipy.sparse import triu

        linear = (self.problem.q + shift) * self.factor
        size = float(np.linalg.norm(linear)) or 1.0  # the unknowns in units of this
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_iter = self.maxiter
        # rows and columns are scaled already; scaling twice and strong regularisation cost digits where W is singular
        settings.equilibrate_enable = False
        settings.static_regularization_constant = 1e-10
        settings.iterative_refinement_reltol = settings.iterative_refinement_abstol = 1e-15
        settings.iterative_refinement_max_iter = 30
        for name in ("tol_gap_abs", "tol_gap_rel", "tol_feas", "tol_ktratio"):
            setattr(settings, name, self.tol)
        solution = clarabel.DefaultSolver(
            triu(self.P, format="csc"), np.concatenate([np.zeros(self.nw), linear / size]), self.A, self.b / size,
            self.cones, settings,
        ).solve()  # fmt: skip
        p = np.asarray(solution.x)[self.nw :] * self.factor * size
        return p, str(solution.status), int(solution.iterations)


def _dynamics(problem: ContactProblem, factor: FloatArray) -> tuple[Any, Any]:
    """(W, None) or (None, H) in scaled rows, sparse; the symmetric part of W."""
    from scipy.sparse import block_diag, csr_matrix, diags

    form, scale = problem.dynamics, diags(factor)
    if isinstance(form, Bodies):
        H = scale @ form.matrix @ block_diag(list(state_factors(form)[:-1]), format="csr")
        H = H.tocsc()
        return None, H[:, np.flatnonzero(np.diff(H.indptr))]
    if isinstance(form, Dense) and form.nv < 0.8 * form.nr:
        root = np.linalg.cholesky(form.M)
        return None, csr_matrix(factor[:, None] * np.linalg.solve(root, form.H.T).T)
    W = csr_matrix(form.W if isinstance(form, Delassus) else form.delassus())
    return scale @ (0.5 * (W + W.T)) @ scale, None


def _constraints(laws: Scaled, block: FloatArray, nw: int) -> tuple[Any, FloatArray, list[Any]]:
    """A, b and the cones of `b - A (w, y)` in K. Impulses in scaled rows are block·y, so bounds are divided by it."""
    import clarabel
    from scipy.sparse import csr_matrix

    ptr, law, mu, groups = laws.row_ptr, laws.law, laws.mu, laws.groups
    nk, nr = len(law), int(ptr[-1])
    first = ptr[:-1] + (law == UNILATERAL)
    rubs = ((law == UNILATERAL) | (law == DRY)) & (ptr[1:] > first)
    rows: list[Any] = []
    columns: list[Any] = []
    values: list[Any] = []
    right: list[Any] = []
    cones: list[Any] = []
    count = 0

    def put(row: Any, column: Any, value: Any) -> None:
        row, column, value = np.broadcast_arrays(row, column, value)
        rows.append(row.ravel())
        columns.append(column.ravel() + nw)
        values.append(value.ravel())

    # bounds: p_n >= 0 where no cone says so, boxes from both sides
    owner = np.repeat(np.arange(nk), np.diff(ptr))
    coned = rubs & (groups > 0) & (mu > 0.0) & (laws.r0 == 0.0)
    low = np.where(law[owner] == BOX, laws.lo, -np.inf)
    low[ptr[:-1][(law == UNILATERAL) & ~coned]] = 0.0
    high = np.where(law[owner] == BOX, laws.hi, np.inf)
    for sign, bound in ((-1.0, low), (1.0, high)):
        at = np.flatnonzero(np.isfinite(bound))
        put(count + np.arange(len(at)), at, sign)
        right.append(sign * bound[at] / block[owner[at]])
        count += len(at)
    # facets a·f <= c (mu p_n + r0)
    facet = np.repeat(np.arange(nk), np.diff(laws.facet_ptr))
    if len(facet):
        size = (ptr[1:] - first)[facet]
        edge = laws.facets[np.arange(len(facet)), size]
        for k in range(int(size.max())):
            long_enough = np.flatnonzero(size > k)
            put(count + long_enough, first[facet[long_enough]] + k, laws.facets[long_enough, k])
        normal = np.flatnonzero(law[facet] == UNILATERAL)
        put(count + normal, ptr[facet[normal]], -(edge * mu[facet])[normal])
        right.append(edge * laws.r0[facet] / block[facet])
        count += len(facet)
    if count:
        cones.append(clarabel.NonnegativeConeT(count))
    # balls |f_g| <= mu p_n + r0, one cone for each group of rows
    rubbing = rubs[owner] & (groups[owner] > 0) & (np.arange(nr) >= first[owner])
    row = np.flatnonzero(rubbing)
    starts = ((groups[owner[row]] >> (row - first[owner[row]])) & 1).astype(np.int64)
    number = np.cumsum(starts)  # groups count from 1: as many heads up to and with this row
    head = count + np.flatnonzero(starts) + np.arange(int(starts.sum()))
    ball_owner = owner[row[starts == 1]]
    put(count + np.arange(len(row)) + number, row, -1.0)
    normal = np.flatnonzero(law[ball_owner] == UNILATERAL)
    put(head[normal], ptr[ball_owner[normal]], -mu[ball_owner[normal]])
    rim = np.zeros(len(row) + len(ball_owner))
    rim[head - count] = laws.r0[ball_owner] / block[ball_owner]
    right.append(rim)
    cones.extend(clarabel.SecondOrderConeT(int(n) + 1) for n in np.bincount(number, minlength=len(ball_owner) + 1)[1:])
    count += len(rim)
    shape = (count, nw + nr)
    A = csr_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=shape)
    return A, np.concatenate(right), cones
