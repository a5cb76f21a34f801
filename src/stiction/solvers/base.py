"""What every solver takes and returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .._check import FloatArray, IntArray
from ..problem.certificate import SolveCertificate, certify
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Delassus, Dense
from ..status import Status


@dataclass(frozen=True)
class Solution:
    """Impulses p (nr,), velocities v (nv,) and u (nr,), the mode of each block (nk,), and how good they are.

    `solver` made the answer; `stages` counts the solvers that `auto` had to try for it, this one included; `rounds`
    counts the problems solved for coefficients of friction that depend on the speed, and is 1 where none does;
    `culprit`, if it is not -1, is the block of a small island for which the whole was not solved.
    """

    p: FloatArray
    v: FloatArray
    u: FloatArray
    modes: IntArray
    success: bool
    status: Status
    message: str
    iterations: int
    certificate: SolveCertificate
    solver: str
    stages: int = 1
    rounds: int = 1
    culprit: int = -1

    @property
    def taken(self) -> bool:
        """Whether a step goes on with it: solved, accepted, or regularised."""
        return self.status.taken


class Solver(Protocol):
    """Finds impulses. A solver never raises on a problem that it accepts: it returns its status and a certificate."""

    name: str

    def refuses(self, problem: ContactProblem) -> str | None:
        """None, or a sentence that says why this solver does not take the problem."""

    def solve(
        self, problem: ContactProblem, *, tol: float, maxiter: int | None = None, p0: FloatArray | None = None
    ) -> Solution:
        """Solve to a certificate error of at most `tol`; `maxiter` and the first guess `p0` where they apply."""


def not_symmetric(problem: ContactProblem, solver: str) -> str | None:
    """The refusal of solvers by sweeps and gradients: G ≠ H, or a W that is not symmetric and positive semidefinite."""
    dynamics = problem.dynamics
    if isinstance(dynamics, Dense) and dynamics.G is not dynamics.H and not np.array_equal(dynamics.G, dynamics.H):
        return f"{solver} needs impulses to act along the rows they answer to; this problem has G different from H."
    if isinstance(dynamics, Delassus) and problem.nr:
        W = dynamics.W
        if abs(W - W.T).max() > 1e-9 * abs(W).max():
            return f"{solver} needs a symmetric Delassus matrix W; this one is not."
        if (W.diagonal() < 0).any():
            return f"{solver} needs a positive semidefinite W; this one has a negative diagonal entry."
    return None


def nothing_to_solve(problem: ContactProblem, solver: str, tol: float) -> Solution:
    """The solution of a problem without rows."""
    message = "There is nothing to solve: no contact acts."
    return finish(problem, np.zeros(0), solver=solver, tol=tol, status=Status.SOLVED, message=message, iterations=0)


def finish(
    problem: ContactProblem, p: FloatArray, *, solver: str, tol: float, status: Status, message: str, iterations: int
) -> Solution:
    """Certify the impulses and make the result; an answer above `tol` is never called solved."""
    dynamics, moves_bodies = problem.dynamics, problem.nr > 0 and not isinstance(problem.dynamics, Delassus)
    change = dynamics.velocity_change(p) if moves_bodies else None
    certificate, modes, u = certify(problem, p, change=change)
    if status.success and not certificate.ok(tol):
        status = Status.INACCURATE
        message = f"{solver} found an answer, but its residual {certificate.error:.2e} is above tol = {tol:.0e}."
    elif not status.success and certificate.ok(tol):  # the certificate decides, whatever the method thought of its path
        message = f"{solver} stopped ({status}), but its answer meets tol = {tol:.0e}: {certificate.error:.2e}."
        status = Status.SOLVED
    v = problem.velocity(p) if change is None else problem.v_free + change
    return Solution(p, v, u, modes, status.success, status, message, iterations, certificate, solver)
