"""Coefficients of friction that depend on the speed of slip: the coefficient at the END of the step (s00 §5.1).

Any solver answers with given coefficients; sought are those that the slip speeds of its own answer give. Seen from one
contact, with the others as they are, the slip speed falls with the friction impulse as `s = a - w·|p_t|`, so that the
step ends where

    F(s) = s - a + w·R·mu(s)/mu(0) = 0        R = mu(0)·p_n + r0

or at rest. R, a and w come from the last answer (w, at first the contact's own entry of W, from the last two): with one
contact whose normal impulse does not change the second solve is exact.

Where mu falls with the speed and the step is long, `w·R·|mu'|/mu(0) > 1`, stick and several slips can all solve the
step. The one taken is connected with the start of the step: from the slip speed there, the first zero of F in the
direction in which F pushes. So a contact at rest stays if it can, and one that slips goes on if it can.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .._check import FloatArray
from ..friction.speed import SpeedLaw
from ..problem.contact_problem import ContactProblem
from ..problem.laws import UNILATERAL
from ..status import Status
from .base import Solution, finish

ROUNDS = 60  # solves at most
INNER = 0.5  # of the tolerance is left to the solver, the rest to the coefficients
REST = 10.0  # speeds at the start below this times the residual that `tol` allows count as rest
HALVINGS = 60
_NEAR = np.logspace(-12, -2, 41)
WAY = np.concatenate([[0.0], _NEAR, np.linspace(0.02, 0.98, 49), 1.0 - _NEAR[::-1], [1.0]])  # where zeros are sought
SAME = 1e-6  # changes of friction below this part of it teach nothing
STIFFEST, SOFTEST = 1e4, 1e-2  # times a contact's own entry of W: the coupling between contacts that is believed

Inner = Callable[[ContactProblem, float, FloatArray | None], Solution]


def settle(problem: ContactProblem, inner: Inner, *, tol: float, p0: FloatArray | None = None) -> Solution:
    """The answer of `inner` (problem, tol, first guess) with the coefficients that its own slip speeds give."""
    model = _Slip(problem, tol)
    speeds, iterations, message = model.start, 0, ""
    best: Solution | None = None
    for count in range(1, ROUNDS + 1):
        given = inner(problem.with_coefficients(problem.friction.mu_at(speeds)), INNER * tol, p0)
        iterations += given.iterations
        done = finish(
            problem, given.p, solver=given.solver, tol=tol, status=given.status, message=given.message,
            iterations=iterations,
        )  # fmt: skip
        done = replace(done, stages=given.stages, rounds=count)
        if done.success:
            return replace(done, message=f"{given.message} Friction agreed with its speed after {_solves(count)}.")
        if not np.isfinite(given.p).all():
            return done
        if best is None or done.certificate.error < best.certificate.error:
            best = done
        if not given.success:
            message = f"With coefficients given, in round {count}: {given.message}"
            break
        p0 = given.p
        speeds = model.next(speeds, given)
    assert best is not None
    status = best.status if message else Status.NOT_CONVERGED
    message = message or (
        f"The coefficients of friction did not agree with the speeds of slip after {_solves(ROUNDS)}: "
        f"residual {best.certificate.error:.1e}; a smaller step may help."
    )
    return replace(best, status=status, message=message, rounds=count, iterations=iterations)


def _solves(count: int) -> str:
    return f"{count} solve{'s' if count > 1 else ''}"


class _Slip:
    """What is known of the slip speed of each block as a function of its friction."""

    def __init__(self, problem: ContactProblem, tol: float):
        self.problem = problem
        self.table = problem.friction
        self.k = self.table.varying
        self.start = self._start(tol)
        first = problem.row_ptr[self.k + 1] - self.table.dims[self.table.set_of[self.k]]
        diagonal = problem.dynamics.delassus_diagonal(problem.row_ptr) + problem.C
        self.own = np.maximum(diagonal[first], 1e-300)
        self.w = self.own.copy()
        self.low = np.zeros(len(self.k))
        self.high = np.full(len(self.k), np.inf)
        self.last: tuple[FloatArray, FloatArray] | None = None

    def _start(self, tol: float) -> FloatArray:
        """(nk,) slip speeds at the start of the step; without a start, rest."""
        problem = self.problem
        if problem.v_start is None:
            return np.zeros(problem.nk)
        rows = problem.dynamics.velocity_rows(problem.v_start) + problem.b
        speeds = self.table.speeds(rows, problem.row_ptr)
        return np.where(speeds <= REST * tol * problem.scale, 0.0, speeds)

    def next(self, speeds: FloatArray, given: Solution) -> FloatArray:
        """(nk,) the speeds for the next solve, from the one with coefficients at `speeds`."""
        k, ptr = self.k, self.problem.row_ptr
        slip = self.table.speeds(given.u, ptr)[k]
        friction = self.table.speeds(given.p, ptr)[k]  # norms of the friction impulses in the same rows
        self._learn(slip, friction)
        normal = np.where(self.problem.law[k] == UNILATERAL, given.p[ptr[k]], 0.0)
        radius = np.maximum(self.table.mu[k] * normal + self.problem.r0[k], 0.0)
        found = self._root(slip + self.w * friction, self.w * radius)
        # A bracket keeps one contact alone from going round in circles; where the others have moved it, it is dropped.
        here = speeds[k]
        self.low = np.where(slip > here, np.maximum(self.low, here), self.low)
        self.high = np.where(slip < here, np.minimum(self.high, here), self.high)
        lost = self.low >= self.high
        self.low, self.high = np.where(lost, 0.0, self.low), np.where(lost, np.inf, self.high)
        outside = (found < self.low) | (found > self.high)
        middle = np.where(np.isfinite(self.high), 0.5 * (self.low + self.high), slip)
        out = speeds.copy()
        out[k] = np.where(outside, middle, found)
        return out

    def _learn(self, slip: FloatArray, friction: FloatArray) -> None:
        """w from this solve and the one before, where a block slipped in both."""
        if self.last is not None:
            slip0, friction0 = self.last
            change = friction - friction0
            told = (slip > 0.0) & (slip0 > 0.0) & (np.abs(change) > SAME * np.maximum(friction, friction0))
            w = np.where(told, (slip0 - slip) / np.where(told, change, 1.0), self.w)
            self.w = np.where(w > 0.0, np.clip(w, SOFTEST * self.own, STIFFEST * self.own), self.w)
        self.last = slip, friction

    def _root(self, a: FloatArray, c: FloatArray) -> FloatArray:
        """For each varying block the zero of `F(s) = s - a + c·mu(s)/mu(0)` that is connected with the start."""
        out = np.empty(len(self.k))
        of = self.table.set_of[self.k]
        for s in np.unique(of).tolist():
            law, mine = self.table.sets[s].speed_law, of == s
            assert law is not None
            out[mine] = connected_root(law, a[mine], c[mine], self.start[self.k[mine]])
        return out


def connected_root(law: SpeedLaw, a: FloatArray, c: FloatArray, start: FloatArray) -> FloatArray:
    """The first zero of `F(s) = s - a + c·mu(s)/mu(0)` from `start` on, down where F > 0 there and up where F < 0.

    0 where F > 0 all the way down: rest.
    """

    def force(s: FloatArray, a: FloatArray, c: FloatArray) -> FloatArray:
        return s - a + c * law.values(s) / law.rest

    down = force(start, a, c) >= 0.0
    end = np.where(down, 0.0, np.maximum(a, start))
    way = start[:, None] + (end - start)[:, None] * WAY
    way[:, -1] = end
    signs = force(way, a[:, None], c[:, None]) >= 0.0
    turned = signs != signs[:, :1]
    at = np.where(turned.any(axis=1), turned.argmax(axis=1), WAY.size - 1)
    rows = np.arange(len(a))
    near, far = way[rows, np.maximum(at - 1, 0)], way[rows, at]
    for _ in range(HALVINGS):
        middle = 0.5 * (near + far)
        same = (force(middle, a, c) >= 0.0) == down
        near, far = np.where(same, middle, near), np.where(same, far, middle)
    return np.where(turned.any(axis=1), far, end)
