"""Coulomb's law as the limit of convex problems.

De Saxcé's form of Coulomb's law is the associated law with `mu σ(-u_t)` added to the normal velocity, σ the support
function of the friction set: sliding contacts must not lift. With that term frozen the problem is the convex relaxation
(ah03 eq. 2.10) of another free velocity, and has a solution; a fixed point of "solve, take the new slip" obeys
Coulomb's law (F. Cadoux, thesis, Grenoble 2009; V. Acary, F. Cadoux, C. Lemaréchal, J. Malick, ZAMM 91, 2011).
Anderson's method speeds the iteration up.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .. import _check
from .._check import FloatArray
from ..friction.kernels import support
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Delassus, Dense
from ..problem.laws import UNILATERAL
from ..runtime.jit import njit
from ..status import Status
from .base import Solution, finish, nothing_to_solve
from .conic import CONIC, inner_tolerance, not_convex
from .newton.proximal import Proximal


class FixedPointParameters(NamedTuple):
    """Rounds of convex problems."""

    default_rounds: int = 100
    """`maxiter` by default; a round is one convex problem."""
    newton_rounds: tuple[int, ...] = (1, 4, 8, 16, 32, 64)
    """Rounds after which Newton's method tries to finish: interior points end at about 1e-8, and the fixed point may be
    slow."""
    newton_steps: int = 40
    """The most Newton steps for that."""
    near_error: float = 1e-3
    """Certificate error of a first guess up to which its slip is taken for the first round."""
    anderson_rounds: int = 8
    """Earlier rounds that Anderson's method combines."""
    astray_factor: float = 2.0
    """Growth of the error over its least value at which Anderson's method drops its history."""
    unsymmetric_share: float = 0.05
    """The largest unsymmetric part of W, as a share of its largest entry: it is frozen too, which converges while it is
    small."""


FIXED_POINT = FixedPointParameters()


def slip(problem: ContactProblem, u: FloatArray) -> FloatArray:
    """(nr,) mu·σ(-u_t) on the normal row of each unilateral block, 0 elsewhere [m/s]."""
    f, out = problem.friction, np.zeros(problem.nr)
    if problem.nk:
        _slip(problem.law, problem.row_ptr, f.set_of, f.mu, f.kind, f.semi, f.vertices, f.vertex_ptr, u, out)
    return out


@njit
def _slip(law, row_ptr, set_of, mu, kind, semi, vertices, vertex_ptr, u, out):
    minus = np.empty(6)
    for b in range(len(law)):
        start = row_ptr[b]
        n = row_ptr[b + 1] - start - 1
        if law[b] != UNILATERAL or n == 0 or mu[b] == 0.0:
            continue
        for k in range(n):
            minus[k] = -u[start + 1 + k]
        s = set_of[b]
        out[start] = mu[b] * support(kind[s], semi[s], vertices, vertex_ptr[s], vertex_ptr[s + 1], minus, n)


class Rounds:
    """The frozen term of the next convex problem, from those of the rounds so far (Anderson's method, type II).

    It starts from the slip of impulses p that are near a solution already, else from none.
    """

    def __init__(self, problem: ContactProblem, p: FloatArray):
        self.problem = problem
        near = not problem.associated and problem.certify(p).error < FIXED_POINT.near_error
        self.term = slip(problem, velocity(problem, p)) if near else np.zeros(problem.nr)
        self._terms: list[FloatArray] = []
        self._new_terms: list[FloatArray] = []
        self._least = np.inf

    def take(self, u: FloatArray, error: float) -> None:
        """Learn that the present term gave the velocities u [m/s] of `problem`, and how far they miss its law."""
        new_term = slip(self.problem, u)
        if error > FIXED_POINT.astray_factor * self._least:  # astray: begin anew
            self._terms, self._new_terms, self._least = [], [], error
        self._least = min(self._least, error)
        self._terms = [*self._terms[-FIXED_POINT.anderson_rounds :], self.term]
        self._new_terms = [*self._new_terms[-FIXED_POINT.anderson_rounds :], new_term]
        self.term = new_term
        if len(self._terms) > 1:
            missed = [a - t for a, t in zip(self._new_terms, self._terms)]
            steps = np.array([b - a for a, b in pairwise(missed)]).T
            moves = np.array([b - a for a, b in pairwise(self._new_terms)]).T
            weight = np.linalg.lstsq(steps, missed[-1], rcond=1e-10)[0]
            self.term = np.maximum(0.0, new_term - moves @ weight)


class FixedPoint:
    """A sequence of convex problems, each by interior points, that ends at Coulomb's law; last digits by `proximal`.

    All laws and friction sets. Each round is a conic program of the size of the problem; W may be a little unsymmetric.

    When not to use it: large problems (`nsgs`), or many digits (`proximal`): its convergence is linear, and with
    strong friction (wedges, mu near 1) it may have none.
    """

    name = "fixed-point"

    def refuses(self, problem: ContactProblem) -> str | None:
        """Dynamics far from symmetric."""
        return not_convex(problem, self.name, FIXED_POINT.unsymmetric_share)

    def solve(
        self, problem: ContactProblem, *, tol: float = 1e-8, maxiter: int | None = None, p0: FloatArray | None = None
    ) -> Solution:
        """Rounds until the certificate is met, at most `maxiter` (default 100); from the slip of `p0` if given."""
        limit = FIXED_POINT.default_rounds if maxiter is None else _check.count("maxiter", maxiter)
        if problem.nr == 0:
            return nothing_to_solve(problem, self.name, tol)
        from .conic_form import ConeProgram

        program = ConeProgram(problem, inner_tolerance(tol), CONIC.interior_steps)
        best = problem.p_warm if p0 is None else _check.floats("p0", p0, (problem.nr,))
        least = problem.certify(best).error
        rounds = Rounds(problem, best)
        p, count, newton = best, 0, 0
        while least > tol and count < limit:
            p = program.solve(rounds.term + _unsymmetric(problem, p))[0]
            count += 1
            if not np.isfinite(p).all():
                break
            error = problem.certify(p).error
            if error < least:
                best, least = p, error
            if not problem.associated:
                rounds.take(velocity(problem, p), error)
            if least > tol and (count in FIXED_POINT.newton_rounds or count == limit or problem.associated):
                # interior points end at about 1e-8, and the fixed point may be slow: Newton's method finishes
                done = Proximal().solve(problem, tol=tol, p0=best, maxiter=FIXED_POINT.newton_steps)
                newton += done.iterations
                if done.certificate.error < least:
                    best, least = done.p, done.certificate.error
        status = Status.SOLVED if least <= tol else Status.NOT_CONVERGED
        message = f"{count} convex problems and {newton} Newton steps, residual {least:.1e}."
        return finish(problem, best, solver=self.name, tol=tol, status=status, message=message, iterations=count)


def velocity(problem: ContactProblem, p: FloatArray) -> FloatArray:
    """u = W p + C p + q."""
    return problem.q + problem.dynamics.delassus_times(p) + problem.C * p


def _unsymmetric(problem: ContactProblem, p: FloatArray) -> FloatArray:
    """½ (W - Wᵀ) p, which the convex problems do not see."""
    form = problem.dynamics
    if isinstance(form, Delassus) or (isinstance(form, Dense) and form.G is not form.H):
        W = form.W if isinstance(form, Delassus) else form.delassus()
        return np.asarray(0.5 * (W @ p - W.T @ p))
    return np.zeros(problem.nr)
