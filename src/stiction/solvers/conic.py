"""The convex relaxation by clarabel's interior-point method, on the conic program of `conic_form`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._check import FloatArray
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Delassus, Dense
from ..problem.laws import UNILATERAL
from ..status import Status
from .base import Solution, finish, nothing_to_solve
from .newton.proximal import iterate


class ConicParameters(NamedTuple):
    """Interior points on the convex form, and Newton's method after them."""

    interior_steps: int = 200
    """`maxiter` by default: steps of clarabel, which takes tens whatever the size."""
    newton_steps: int = 200
    """The most Newton steps after them, for the last digits: interior points end at about 1e-8."""
    inner_tolerance_factor: float = 1e-5
    """The tolerance of clarabel over `tol`: near the boundary of a cone errors go with the root of its tolerance."""
    least_inner_tolerance: float = 1e-14
    """The least tolerance of clarabel."""
    symmetry_share: float = 1e-8
    """The largest unsymmetric part of W, as a share of its largest entry."""


CONIC = ConicParameters()


class Conic:
    """Interior points on the convex form: tens of iterations whatever the size, to about 1e-8; Newton's method after.

    All laws and friction sets, with sparse matrices; on `Bodies` no Delassus matrix is made.

    When not to use it: Coulomb's own law (it is not a convex program: `proximal`, or the fixed point of
    `AnitescuHart`), or where only a rough answer is needed fast.

    Reference: P. Goulart, Y. Chen, Clarabel: an interior-point solver for conic programs, 2024.
    """

    name = "conic"

    def refuses(self, problem: ContactProblem) -> str | None:
        """Coulomb's law with friction, and dynamics that are not symmetric and positive semidefinite."""
        coupled = (problem.law == UNILATERAL) & (problem.friction.mu > 0)
        if coupled.any() and not problem.associated:
            return 'conic solves the convex relaxation, and this problem has Coulomb\'s law; use relaxation="convex".'
        return not_convex(problem, self.name)

    def solve(
        self, problem: ContactProblem, *, tol: float = 1e-8, maxiter: int | None = None, p0: FloatArray | None = None
    ) -> Solution:
        """Solve with tolerances far below `tol` inside: near the boundary of a cone errors go with their root."""
        if problem.nr == 0:
            return nothing_to_solve(problem, self.name, tol)
        from .conic_form import ConeProgram

        program = ConeProgram(problem, max(1e-14, 1e-5 * tol), CONIC.interior_steps if maxiter is None else maxiter)
        p, word, steps = program.solve(np.zeros(problem.nr))
        # The certificate judges: clarabel may stop short of its own tolerances with an answer that is good enough.
        status = Status.SOLVED if np.isfinite(p).all() else Status.INACCURATE
        p = np.where(np.isfinite(p), p, 0.0)
        message = f"clarabel: {word} after {steps} iterations."
        if not problem.certify(p).ok(tol):
            # the last digits: Newton's method from where interior points end
            p, _, more = iterate(problem, p, tol, CONIC.newton_steps)
            message = f"{message[:-1]}, then {more} Newton steps."
            steps += more
        return finish(problem, p, solver=self.name, tol=tol, status=status, message=message, iterations=steps)


def inner_tolerance(tol: float) -> float:
    """The tolerance of clarabel for a certificate error of `tol`."""
    return max(CONIC.least_inner_tolerance, CONIC.inner_tolerance_factor * tol)


def not_convex(problem: ContactProblem, solver: str, share: float = CONIC.symmetry_share) -> str | None:
    """A sentence where W is not symmetric (to `share` of its largest entry) or has a negative diagonal."""
    form = problem.dynamics
    if (isinstance(form, Dense) and form.G is form.H) or not isinstance(form, (Dense, Delassus)):
        return None
    W = form.W if isinstance(form, Delassus) else form.delassus()
    if problem.nr and abs(W - W.T).max() > share * abs(W).max():
        return f"{solver} needs a symmetric W; here impulses act along other directions than velocities answer to."
    if (W.diagonal() < 0).any():
        return f"{solver} needs a positive semidefinite W, and this one has a negative diagonal: no convex program."
    return None
