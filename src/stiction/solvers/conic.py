"""The convex relaxation as a conic program, by clarabel's interior-point method.

With the associated law the contact problem is the optimality condition of

    minimise ½ pᵀ (W + C) p + qᵀ p    over p_n >= 0, p_t in (mu p_n + r0)·F, lo <= p <= hi, joints free

(ah03 eq. 2.10: the LCP of a quadratic program). Disks make second-order cones, polyhedra linear inequalities.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._check import FloatArray
from ..friction.sets import ELLIPSOID, POLYHEDRON
from ..problem.contact_problem import ContactProblem
from ..problem.laws import BOX, DRY, UNILATERAL
from ..status import Status
from .base import Solution, finish, nothing_to_solve

MOST_ROWS = 6000


class Conic:
    """Interior points on the convex form: tens of iterations whatever the size, to about 1e-9.

    When not to use it: Coulomb's own law (it is not a convex program), or where only a rough answer is needed fast.
    """

    name = "conic"

    def refuses(self, problem: ContactProblem) -> str | None:
        """Coulomb's law with friction, unsymmetric dynamics, and more rows than a dense matrix should have."""
        coupled = (problem.law == UNILATERAL) & (problem.friction.mu > 0)
        if coupled.any() and not problem.associated:
            return 'conic solves the convex relaxation, and this problem has Coulomb\'s law; use relaxation="convex".'
        if problem.nr > MOST_ROWS:
            return f"conic works on a dense matrix; {problem.nr} rows are more than its limit of {MOST_ROWS}."
        W = problem.delassus()
        if W.size and np.abs(W - W.T).max() > 1e-8 * np.abs(W).max():
            return "conic needs a symmetric W; here impulses act along other directions than velocities answer to."
        if (W.diagonal() < 0).any():
            return "conic needs a positive semidefinite W, and this one has a negative diagonal: no convex program."
        return None

    def solve(
        self, problem: ContactProblem, *, tol: float = 1e-8, maxiter: int | None = None, p0: FloatArray | None = None
    ) -> Solution:
        """Solve with tolerances far below `tol` inside: near the boundary of a cone errors go with their root."""
        if problem.nr == 0:
            return nothing_to_solve(problem, self.name, tol)
        import clarabel
        from scipy.sparse import csc_matrix, triu

        # Units: rows in metres, impulses by the mean inertia, velocities by the largest: numbers near one.
        unit = float(np.mean(problem.rho)) * problem.scale
        L = problem.length
        W = problem.delassus() * np.outer(L, L)
        A, b, cones = _constraints(problem, unit)
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_iter = 200 if maxiter is None else maxiter
        for name in ("tol_gap_abs", "tol_gap_rel", "tol_feas", "tol_ktratio"):
            setattr(settings, name, max(1e-14, 1e-5 * tol))
        answer = clarabel.DefaultSolver(
            triu(csc_matrix(W * unit / problem.scale), format="csc"), problem.q * L / problem.scale,
            csc_matrix(A), b, cones, settings,
        ).solve()  # fmt: skip
        p = np.asarray(answer.x) * unit * L
        # The certificate judges: clarabel may stop short of its own tolerances with an answer that is good enough.
        status = Status.SOLVED if np.isfinite(p).all() else Status.INACCURATE
        p = np.where(np.isfinite(p), p, 0.0)
        message = f"clarabel: {answer.status} after {answer.iterations} iterations."
        return finish(
            problem, p, solver=self.name, tol=tol, status=status, message=message, iterations=int(answer.iterations)
        )


def _constraints(problem: ContactProblem, unit: float) -> tuple[FloatArray, FloatArray, list[Any]]:
    """A, b and the cones of `b - A x` in K for x = p / (unit·length), block by block."""
    import clarabel

    nr, f, L = problem.nr, problem.friction, problem.length
    rows: list[FloatArray] = []
    right: list[float] = []
    cones: list[Any] = []

    def row(entries: dict[int, float], value: float) -> None:
        line = np.zeros(nr)
        for i, x in entries.items():
            line[i] = x
        rows.append(line)
        right.append(value)

    for k, (start, stop) in enumerate(zip(problem.row_ptr[:-1].tolist(), problem.row_ptr[1:].tolist())):
        law = problem.law[k]
        if law == BOX:
            bounds = [(i, s, s * x / (unit * L[i])) for i in range(start, stop)
                      for s, x in ((1.0, problem.hi[i]), (-1.0, problem.lo[i])) if np.isfinite(x)]  # fmt: skip
            for i, s, value in bounds:
                row({i: s}, value)
            if bounds:
                cones.append(clarabel.NonnegativeConeT(len(bounds)))
        if law not in (UNILATERAL, DRY):
            continue
        normal = law == UNILATERAL
        first = start + 1 if normal else start
        mu, r0, s = float(f.mu[k]) if normal else 0.0, float(problem.r0[k]) / unit, int(f.set_of[k])
        if normal:
            row({start: -1.0}, 0.0)
            cones.append(clarabel.NonnegativeConeT(1))
        n = stop - first
        if n and f.kind[s] == ELLIPSOID:
            row({start: -mu} if normal else {}, r0)
            for i in range(n):
                row({first + i: -L[first + i] / f.semi[s, i]}, 0.0)
            cones.append(clarabel.SecondOrderConeT(n + 1))
        elif n and f.kind[s] == POLYHEDRON:
            facets = f.facets[f.facet_ptr[s] : f.facet_ptr[s + 1]]
            for a in facets:
                entries = {first + i: float(a[i]) * L[first + i] for i in range(n)}
                if normal:
                    entries[start] = -float(a[n]) * mu
                row(entries, float(a[n]) * r0)
            cones.append(clarabel.NonnegativeConeT(len(facets)))
    A = np.array(rows).reshape(len(rows), nr)
    return A, np.array(right), cones
