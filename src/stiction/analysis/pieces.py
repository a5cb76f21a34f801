"""The solution set of a polyhedral contact problem as pieces, and what a linear map makes of them.

The enumerator gives the set as polyhedra in the variables z of the LCP: normal impulses, multiples of friction
directions, and multipliers. Impulses `p = P z + p0` and velocities are linear in z, so that a piece has an image in
each; where all of a piece moves in one way, only forces or multipliers differ on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .. import lcp as _lcp
from .._check import FloatArray
from ..problem.contact_problem import ContactProblem
from ..problem.polyhedral import PolyhedralLCP

FAR_FACTOR = 1e4  # times q: points farther out are brought back before anything is computed with them
ZERO_TOL = 1e-9  # relative: directions whose image is shorter do not move


@dataclass(frozen=True)
class Piece:
    """The points z = start + yᵀ basis with `A y >= -c`: basis (d, n), A (m, d), c (m,) >= 0; d = 0 for a point."""

    form: PolyhedralLCP
    start: FloatArray
    basis: FloatArray
    A: FloatArray
    c: FloatArray

    @property
    def p(self) -> FloatArray:
        """(nr,) the impulses of a point inside."""
        return self.form.impulses(self.start)

    @cached_property
    def p_basis(self) -> FloatArray:
        """(d, nr) how impulses change along the basis."""
        return self.basis @ self.form.P.T

    def extreme(self, rates: FloatArray) -> tuple[float, FloatArray | None]:
        """The largest `rates·y` on the piece and where it is, y (d,); (inf, None) where there is no largest."""
        if not len(rates):
            return 0.0, np.zeros(0)
        from scipy.optimize import linprog

        found = linprog(-rates, A_ub=-self.A, b_ub=self.c, bounds=(None, None), method="highs")
        if found.status == 3 or found.x is None:
            return np.inf, None
        return float(-found.fun), np.asarray(found.x)

    def range(self, rates: FloatArray) -> tuple[float, float]:
        """The least and the largest of `rates·y`."""
        if not rates.any():
            return 0.0, 0.0
        return -self.extreme(-rates)[0], self.extreme(rates)[0]

    def reaches(self, rates: FloatArray, wanted: FloatArray, tol: float) -> bool:
        """Whether some y has `ratesᵀ y = wanted` to `tol`: rates (d, n), wanted (n,)."""
        if not len(rates):
            return bool(np.abs(wanted).max(initial=0.0) <= tol)
        from scipy.optimize import linprog

        y = np.linalg.lstsq(rates.T, wanted, rcond=None)[0]
        if np.abs(rates.T @ y - wanted).max() > tol:
            return False
        # a point of the affine image is reached when the piece meets the fibre over it
        _, sigma, Vt = np.linalg.svd(rates.T)
        free = Vt[int((sigma > ZERO_TOL * max(sigma.max(initial=0.0), 1e-300)).sum()) :].T
        size = 1e-9 * max(1.0, float(np.abs(self.A @ y).max(initial=0.0)), float(self.c.max(initial=0.0)))
        if not free.size:
            return bool((self.A @ y + self.c >= -size).all())
        found = linprog(
            np.zeros(free.shape[1]), A_ub=-(self.A @ free), b_ub=self.c + self.A @ y + size, bounds=(None, None)
        )
        return bool(found.status == 0)

    def least(self) -> FloatArray:
        """The impulses of least 2-norm on the piece."""
        if not self.p_basis.any():
            return self.p
        import clarabel
        from scipy.sparse import csc_matrix

        d = len(self.basis)
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
        size = max(float(np.abs(self.p_basis).max()), 1e-300)
        B, q = self.p_basis / size, self.p_basis @ self.p / size**2
        solver = clarabel.DefaultSolver(
            csc_matrix(np.triu(B @ B.T)), q, csc_matrix(-self.A), self.c, [clarabel.NonnegativeConeT(len(self.c))],
            settings,
        )  # fmt: skip
        y = np.array(solver.solve().x)
        return self.p + y @ self.p_basis if len(y) == d and np.isfinite(y).all() else self.p


def pieces_of(problem: ContactProblem, limit: int) -> tuple[list[Piece], _lcp.SolutionSet]:
    """Every solution of a polyhedral problem as pieces, and the enumerator's own answer."""
    form = problem.to_lcp()
    found = _lcp.solutions(form.M, form.q, free=form.free, limit=limit)
    n = len(form.q)
    pieces = [Piece(form, z, np.zeros((0, n)), np.zeros((0, 0)), np.zeros(0)) for z in found.isolated]
    for face in found.faces:
        z, D = _inside(form, face), face.directions
        w = form.M @ z + form.q
        bounded = face.support & ~form.free
        A = np.vstack([D.T[bounded], (form.M @ D.T)[face.slack]])
        pieces.append(Piece(form, z, D, A, np.maximum(np.concatenate([z[bounded], w[face.slack]]), 0.0)))
    return pieces, found


def _inside(form: PolyhedralLCP, face: _lcp.Face) -> FloatArray:
    """A point inside a face, near the origin where the face has no end: the enumerator's may be far out on a ray.

    Of the points that keep half of the largest distance (at most the size of q) from all bounds, the smallest.
    """
    z = face.interior
    size = float(np.abs(form.q).max(initial=0.0)) or 1.0
    if np.abs(form.M @ z).max() <= FAR_FACTOR * size:
        return z
    from scipy.optimize import linprog

    on, slack = np.flatnonzero(face.support), face.slack
    bounded = ~form.free[on]
    M, q = form.M[:, on], form.q / size
    room = -np.vstack([M[slack], np.eye(len(on))[bounded]])
    limits = np.concatenate([q[slack], np.zeros(int(bounded.sum()))])
    equal = {"A_eq": np.column_stack([M[~slack], np.zeros(int((~slack).sum()))]), "b_eq": -q[~slack]}
    away = np.column_stack([room, np.ones(len(room))])
    spots = [(None, None)] * len(on)
    most = linprog(-np.eye(len(on) + 1)[-1], A_ub=away, b_ub=limits, bounds=[*spots, (0, 1)], **equal)
    if most.x is None:
        return z
    half = 0.5 * float(most.x[-1])
    near = linprog(
        np.append(bounded.astype(float), 0.0), A_ub=away, b_ub=limits, bounds=[*spots, (half, half)], **equal
    )
    if near.x is None:
        return z
    out = np.zeros(len(z))
    out[on] = size * near.x[:-1]
    out[on] -= np.linalg.lstsq(M[~slack], (form.M @ out + form.q)[~slack], rcond=1e-12)[0]
    return out


def rank(rows: FloatArray, size: float) -> int:
    """How many of the rows are independent, vectors shorter than ZERO·size counting as zero."""
    if not rows.size:
        return 0
    return int((np.linalg.svd(rows, compute_uv=False) > ZERO_TOL * max(size, 1e-300)).sum())
