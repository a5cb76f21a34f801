"""Conic programs over the forces that the contacts of a problem can give, whatever the motion.

The forces p of a problem's contacts lie in a product of cones: `p_n >= 0, p_t in mu p_n F` at a contact, any force at a
joint; motors and dry friction with a bound give none without end. `Cones` minimises a linear function over them with
clarabel, the true cones as second-order cones and polyhedra by their facets. The friction cone of s00 is their image
under Hᵀ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._check import FloatArray
from ..friction.sets import ELLIPSOID, POLYHEDRON
from ..problem.contact_problem import ContactProblem
from ..problem.laws import EQUALITY, UNILATERAL

FEASIBILITY_TOL = 1e-8  # relative to the constraints: what counts as obeying them


@dataclass(frozen=True)
class Best:
    """The forces p (nr,) of least cost, and the cost; `found` is False where nothing obeys the constraints.

    unbounded: the cost falls without end.
    """

    p: FloatArray
    value: float
    found: bool
    unbounded: bool = False


class Cones:
    """The cones of a problem, with other coefficients mu (nk,) and only some contacts (nk,) where these are given."""

    def __init__(
        self, problem: ContactProblem, mu: FloatArray | None = None, contacts: npt.NDArray[np.bool_] | None = None
    ):
        self.problem = problem
        self.mu = problem.friction.mu if mu is None else mu
        rows, law = problem.row_ptr[:-1], problem.law
        self.contacts = (law == UNILATERAL) if contacts is None else (law == UNILATERAL) & contacts
        self.normal = rows[self.contacts]
        self.able = np.repeat(self.contacts | (law == EQUALITY), np.diff(problem.row_ptr))

    def least(self, cost: Any, equal: Any = None, value: Any = None, *, most: float | None = None) -> Best:
        """Minimise cost·p over the cones, with `equal @ p = value` and the normal forces of a sum of at most `most`."""
        cost = np.append(np.asarray(cost, dtype=float), 0.0)
        return self._solve(cost, equal, value, most, loose=False)

    def excess(self, equal: Any, value: Any) -> Best:
        """The least t for which forces with `equal @ p = value` obey all friction cones widened by t.

        It is zero or negative where the cones themselves hold such forces, and positive where they do not. A contact
        without a load keeps it from being negative.
        """
        return self._solve(np.append(np.zeros(self.problem.nr), 1.0), equal, value, None, loose=True)

    def _solve(self, cost: FloatArray, equal: Any, value: Any, most: float | None, *, loose: bool) -> Best:
        import clarabel
        from scipy.sparse import csc_matrix

        n = self.problem.nr
        A: list[FloatArray] = []
        b: list[float] = []
        cones: list[Any] = []

        def add(rows: FloatArray, right: Any, cone: Any) -> None:
            A.append(rows)
            b.extend(np.broadcast_to(right, len(rows)).tolist())
            cones.append(cone(len(rows)))

        unit = np.eye(n + 1)
        if equal is not None and len(equal):
            add(np.hstack([equal, np.zeros((len(equal), 1))]), value, clarabel.ZeroConeT)
        none = unit[np.append(~self.able, not loose)]
        add(none, 0.0, clarabel.ZeroConeT)
        if len(self.normal):
            add(-unit[self.normal], 0.0, clarabel.NonnegativeConeT)
            if most is not None:
                add(unit[self.normal].sum(axis=0)[None], most, clarabel.NonnegativeConeT)
        for k in np.flatnonzero(self.contacts).tolist():
            self._friction(k, unit, add)
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
        settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = settings.reduced_tol_feas = 1e-7
        if loose:  # keeps the program bounded below: t >= -1
            add(-unit[-1:], 1.0, clarabel.NonnegativeConeT)
        left, right = np.vstack(A), np.array(b)
        answer = clarabel.DefaultSolver(
            csc_matrix((n + 1, n + 1)), cost, csc_matrix(left), right, cones, settings
        ).solve()
        word = str(answer.status)
        x = np.asarray(answer.x)
        if "DualInfeasible" in word:
            return Best(np.zeros(n), -np.inf, True, unbounded=True)
        # At the border of what is possible the solver may end undecided: what it has then must obey the constraints.
        off = np.abs(left @ x + np.asarray(answer.s) - right).max(initial=0.0)
        found = "Infeasible" not in word and bool(off <= FEASIBILITY_TOL * (1.0 + np.abs(right).max(initial=0.0)))
        return Best(x[:n], float(cost @ x) if found else np.inf, found)

    def _friction(self, k: int, unit: FloatArray, add: Any) -> None:
        """The friction cone of block k: radius mu p_n + t."""
        import clarabel

        f, first = self.problem.friction, int(self.problem.row_ptr[k])
        s = int(f.set_of[k])
        dim, kind = int(f.dims[s]), int(f.kind[s])
        rows = np.arange(first + 1, first + 1 + dim)
        radius = self.mu[k] * unit[first] + unit[-1]
        if dim == 0:
            return
        if self.mu[k] == 0.0 and kind & 3 != POLYHEDRON and not f.semi[s, :dim].any():
            add(unit[rows], 0.0, clarabel.ZeroConeT)
        elif kind & 3 == POLYHEDRON:
            facets = f.facets[f.facet_ptr[s] : f.facet_ptr[s + 1]]
            add(facets[:, :dim] @ unit[rows] - facets[:, [-1]] * radius, 0.0, clarabel.NonnegativeConeT)
        else:
            starts = [0] if kind & 3 == ELLIPSOID else [j for j in range(dim) if j == 0 or kind >> (2 + j) & 1]
            for a, z in zip(starts, [*starts[1:], dim]):
                acts = f.semi[s, a:z] > 0.0
                part = unit[rows[a:z][acts]] / f.semi[s, a:z][acts][:, None]
                add(np.vstack([-radius[None], -part]), 0.0, clarabel.SecondOrderConeT)
                if not acts.all():
                    add(unit[rows[a:z][~acts]], 0.0, clarabel.ZeroConeT)
