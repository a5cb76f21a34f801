"""Coulomb's law as the limit of convex problems.

De Saxcé's form of Coulomb's law is the associated law with `mu σ(-u_t)` added to the normal velocity, σ the support
function of the friction set: sliding contacts must not lift. With that term frozen the problem is the convex relaxation
(ah03 eq. 2.10) of another free velocity, and has a solution; a fixed point of "solve, take the new slip" obeys
Coulomb's law (F. Cadoux, thesis, Grenoble 2009; V. Acary, F. Cadoux, C. Lemaréchal, J. Malick, ZAMM 91, 2011).
Anderson's method speeds the iteration up.
"""

from __future__ import annotations

from itertools import pairwise

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
from .conic import INTERIOR_STEPS, not_convex
from .newton.proximal import Proximal

DEFAULT_ROUNDS = 100  # one convex problem each
NEWTON_ROUNDS = (1, 4, 8, 16, 32, 64)  # after which Newton's method tries to finish
NEWTON_STEPS = 40  # that it may take for that
NEAR_ERROR = 1e-3  # certificate error of a first guess whose slip is taken
ANDERSON_ROUNDS = 8  # earlier rounds that Anderson's method looks at
# of the largest entry of W: the unsymmetric part is frozen too, which converges while it is small
UNSYMMETRIC_SHARE = 0.05


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
        near = not problem.associated and problem.certify(p).error < NEAR_ERROR
        self.term = slip(problem, velocity(problem, p)) if near else np.zeros(problem.nr)
        self._terms: list[FloatArray] = []
        self._answers: list[FloatArray] = []
        self._least = np.inf

    def take(self, u: FloatArray, error: float) -> None:
        """Learn that the present term gave the velocities u [m/s] of `problem`, and how far they miss its law."""
        answer = slip(self.problem, u)
        if error > 2.0 * self._least:  # astray: begin anew
            self._terms, self._answers, self._least = [], [], error
        self._least = min(self._least, error)
        self._terms = [*self._terms[-ANDERSON_ROUNDS:], self.term]
        self._answers = [*self._answers[-ANDERSON_ROUNDS:], answer]
        self.term = answer
        if len(self._terms) > 1:
            missed = [a - t for a, t in zip(self._answers, self._terms)]
            steps = np.array([b - a for a, b in pairwise(missed)]).T
            moves = np.array([b - a for a, b in pairwise(self._answers)]).T
            weight = np.linalg.lstsq(steps, missed[-1], rcond=1e-10)[0]
            self.term = np.maximum(0.0, answer - moves @ weight)


class FixedPoint:
    """A sequence of convex problems, each by interior points, that ends at Coulomb's law; last digits by `proximal`.

    All laws and friction sets. Each round is a conic program of the size of the problem; W may be a little unsymmetric.

    When not to use it: large problems (`nsgs`), or many digits (`proximal`): its convergence is linear, and with
    strong friction (wedges, mu near 1) it may have none.
    """

    name = "fixed-point"

    def refuses(self, problem: ContactProblem) -> str | None:
        """Dynamics far from symmetric."""
        return not_convex(problem, self.name, UNSYMMETRIC_SHARE)

    def solve(
        self, problem: ContactProblem, *, tol: float = 1e-8, maxiter: int | None = None, p0: FloatArray | None = None
    ) -> Solution:
        """Rounds until the certificate is met, at most `maxiter` (default 100); from the slip of `p0` if given."""
        limit = DEFAULT_ROUNDS if maxiter is None else _check.count("maxiter", maxiter)
        if problem.nr == 0:
            return nothing_to_solve(problem, self.name, tol)
        from .conic_form import ConeProgram

        program = ConeProgram(problem, max(1e-14, 1e-5 * tol), INTERIOR_STEPS)
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
            if least > tol and (count in NEWTON_ROUNDS or count == limit or problem.associated):
                # interior points end at about 1e-8, and the fixed point may be slow: the rest by Newton's method
                done = Proximal().solve(problem, tol=tol, p0=best, maxiter=NEWTON_STEPS)
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
