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

from .._check import FloatArray, IntArray
from ..friction.sets import ELLIPSOID, POLYHEDRON
from ..friction.table import FrictionTable
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


@dataclass(frozen=True)
class ForceRows:
    """The rows in which forces can act: row_ptr (nk+1,), law (nk,), friction; H (nr, nv) sparse, of what can move."""

    row_ptr: IntArray
    law: IntArray
    friction: FrictionTable
    H: Any

    @property
    def nr(self) -> int:
        """Number of rows."""
        return int(self.row_ptr[-1])

    @property
    def nk(self) -> int:
        """Number of blocks."""
        return len(self.law)


class Cones:
    """The cones of a problem, with other coefficients mu (nk,) and only some contacts (nk,) where these are given."""

    def __init__(
        self,
        problem: ContactProblem | ForceRows,
        mu: FloatArray | None = None,
        contacts: npt.NDArray[np.bool_] | None = None,
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
        from scipy.sparse import coo_matrix, csc_matrix

        n = self.problem.nr
        rows = _Rows()
        if equal is not None and equal.shape[0]:
            matrix = coo_matrix(equal)
            rows.add_block(matrix.row, matrix.col, matrix.data, value, equal.shape[0], clarabel.ZeroConeT)
        none = np.flatnonzero(np.append(~self.able, not loose))
        rows.add_block(np.arange(len(none)), none, np.ones(len(none)), 0.0, len(none), clarabel.ZeroConeT)
        k = len(self.normal)
        if k:
            rows.add_block(np.arange(k), self.normal, -np.ones(k), 0.0, k, clarabel.NonnegativeConeT)
            if most is not None:
                rows.add_block(np.zeros(k), self.normal, np.ones(k), most, 1, clarabel.NonnegativeConeT)
        for block in np.flatnonzero(self.contacts).tolist():
            self._friction(block, rows)
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
        settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = settings.reduced_tol_feas = 1e-7
        if loose:  # keeps the program bounded below: t >= -1
            rows.add([{n: -1.0}], 1.0, clarabel.NonnegativeConeT)
        left, right = rows.matrix(n + 1), np.array(rows.right)
        answer = clarabel.DefaultSolver(csc_matrix((n + 1, n + 1)), cost, left, right, rows.cones, settings).solve()
        word = str(answer.status)
        x = np.asarray(answer.x)
        if "DualInfeasible" in word:
            return Best(np.zeros(n), -np.inf, True, unbounded=True)
        # At the border of what is possible the solver may end undecided: what it has then must obey the constraints.
        off = np.abs(left @ x + np.asarray(answer.s) - right).max(initial=0.0)
        found = "Infeasible" not in word and bool(off <= FEASIBILITY_TOL * (1.0 + np.abs(right).max(initial=0.0)))
        return Best(x[:n], float(cost @ x) if found else np.inf, found)

    def _friction(self, k: int, rows: _Rows) -> None:
        """The friction cone of block k: radius mu p_n + t."""
        import clarabel

        f, first = self.problem.friction, int(self.problem.row_ptr[k])
        s, mu, t = int(f.set_of[k]), float(self.mu[k]), self.problem.nr
        dim, kind = int(f.dims[s]), int(f.kind[s])
        if dim == 0:
            return
        tangent = range(first + 1, first + 1 + dim)
        if mu == 0.0 and kind & 3 != POLYHEDRON and not f.semi[s, :dim].any():
            rows.add([{i: 1.0} for i in tangent], 0.0, clarabel.ZeroConeT)
        elif kind & 3 == POLYHEDRON:
            facets = f.facets[f.facet_ptr[s] : f.facet_ptr[s + 1]].tolist()
            given = [{**dict(zip(tangent, row)), first: -mu * row[-1], t: -row[-1]} for row in facets]
            rows.add(given, 0.0, clarabel.NonnegativeConeT)
        else:
            starts = [0] if kind & 3 == ELLIPSOID else [j for j in range(dim) if j == 0 or kind >> (2 + j) & 1]
            semi = f.semi[s, :dim].tolist()
            for a, z in zip(starts, [*starts[1:], dim]):
                part = [{tangent[j]: -1.0 / semi[j]} for j in range(a, z) if semi[j] > 0.0]
                rows.add([{first: -mu, t: -1.0}, *part], 0.0, clarabel.SecondOrderConeT)
                none = [{tangent[j]: 1.0} for j in range(a, z) if semi[j] <= 0.0]
                if none:
                    rows.add(none, 0.0, clarabel.ZeroConeT)


class _Rows:
    """The rows of a conic program as they are added, cone by cone: `A x + s = right` with s in the cones."""

    def __init__(self) -> None:
        self.right: list[float] = []
        self.cones: list[Any] = []
        self._entries: list[tuple[Any, Any, Any]] = []

    def add(self, rows: list[dict[int, float]], right: float, cone: Any) -> None:
        """Rows {column: coefficient} of one cone."""
        i = [k for k, row in enumerate(rows) for _ in row]
        self.add_block(i, [j for row in rows for j in row], [x for row in rows for x in row.values()], right,
                       len(rows), cone)  # fmt: skip

    def add_block(self, i: Any, j: Any, x: Any, right: Any, count: int, cone: Any) -> None:
        """`count` rows of one cone by their entries: row (from 0), column, coefficient."""
        if count:
            self._entries.append((np.asarray(i, dtype=np.int64) + len(self.right), j, x))
            self.right.extend(np.broadcast_to(right, count).tolist())
            self.cones.append(cone(count))

    def matrix(self, columns: int) -> Any:
        """A as a sparse matrix."""
        from scipy.sparse import coo_matrix

        i, j, x = (np.concatenate([np.asarray(part) for part in parts]) for parts in zip(*self._entries))
        return coo_matrix((x.astype(float), (i, j.astype(np.int64))), shape=(len(self.right), columns)).tocsc()
