"""Coefficients of friction that depend on the speed of slip: the coefficient at the END of the step (s00 §5.1).

Any solver solves with given coefficients; sought are those that the slip speeds of its own solution give. Seen from one
contact, with the others as they are, the slip speed falls with the friction impulse as `s = a - w·|p_t|`, so that the
step ends where

    F(s) = s - a + w·R·mu(s)/mu(0) = 0        R = mu(0)·p_n + r0

or at rest; a and R come from the last solution, w is the contact's own entry of W. For one contact whose normal impulse
does not depend on friction this is exact, and the second solve is the last.

Where mu falls with the speed and the step is long, `w·R·|mu'|/mu(0) > 1`, stick and several slips can all solve the
step. The one taken is connected with the start of the step: from the slip speed there, the first zero of F in the
direction in which F pushes. So a contact at rest stays if it can, and one that slips goes on if it can.

Between contacts that act on each other Anderson's method learns from the rounds so far. Each round moves a contact
towards the zero of its F where mu rises, where the plain "take the speed of the solution" overshoots; where mu falls
the plain one never does, and goes to the nearest solution from one side. Newton's method on the law itself finishes
what a few rounds leave (`speed_newton`). (`fixed_point.Rounds` is Anderson's method on frozen terms; here it combines
the steps that were taken, which are not all plain ones.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..._check import FloatArray
from ...friction.speed import SpeedLaw
from ...problem.contact_problem import ContactProblem
from ...problem.laws import UNILATERAL
from ...status import Status
from ..base import Solution, finish
from .parameters import COEFFICIENTS
from .speed_newton import refine_speeds

_NEAR_ENDS = np.logspace(-12, -2, 41)  # of these, those near an end
# where zeros are sought: shares of the way from one speed to the other
SEARCH_SHARES = np.concatenate([[0.0], _NEAR_ENDS, np.linspace(0.02, 0.98, 49), 1.0 - _NEAR_ENDS[::-1], [1.0]])

Inner = Callable[[ContactProblem, float, FloatArray | None], Solution]


def iterate_coefficients(
    problem: ContactProblem, inner: Inner, *, tol: float, p0: FloatArray | None = None
) -> Solution:
    """The solution by `inner` (problem, tol, first guess) with the coefficients that its own slip speeds give."""
    rounds = _Rounds(problem, tol)
    speeds, iterations = rounds.start, 0
    best: Solution | None = None
    disconnected: Solution | None = None  # solves the step, but is not connected with its start
    for count in range(1, COEFFICIENTS.max_rounds + 1):
        given = inner(
            problem.with_coefficients(problem.friction.mu_at(speeds)),
            tol * (COEFFICIENTS.inner_share if count < COEFFICIENTS.strict_round else COEFFICIENTS.strict_share),
            p0,
        )
        iterations += given.iterations
        done = _certified(problem, given, given.p, tol, iterations, count)
        if done.success and count == 1 and rounds.skipped_slip(speeds, given):
            disconnected = done
        elif done.success:
            return done
        finite, solved = bool(np.isfinite(given.p).all()), given.certificate.ok(COEFFICIENTS.inner_share * tol)
        if best is None or done.certificate.error < best.certificate.error:
            best = done
        if finite and (count in COEFFICIENTS.newton_rounds or not solved):
            newton = _certified(problem, given, refine_speeds(problem, given.p, tol), tol, iterations, count)
            if newton.success:
                return replace(newton, message=f"{newton.message} Newton's method finished.")
        if not solved or not finite:
            break
        p0 = given.p if count < COEFFICIENTS.restart_round else best.p
        if count == COEFFICIENTS.restart_round:
            rounds.reset()
            speeds = rounds.start
        else:
            speeds = rounds.next_speeds(speeds, given, plain=count > COEFFICIENTS.restart_round)
    if disconnected is not None:
        return disconnected
    assert best is not None
    if not solved:
        status, message = given.status, f"With coefficients given, in round {count}: {given.message}"
    else:
        status, message = Status.NOT_CONVERGED, (
            f"The coefficients of friction did not agree with the speeds of slip after {_solves(count)}: "
            f"residual {best.certificate.error:.1e}; a smaller step may help."
        )  # fmt: skip
    return replace(best, success=False, status=status, message=message, rounds=count, iterations=iterations)


def _certified(
    problem: ContactProblem, given: Solution, p: FloatArray, tol: float, iterations: int, count: int
) -> Solution:
    """The solution with impulses p, from the solution `given` of round `count`, certified by the true law."""
    message = f"{given.message} Friction agreed with its speed after {_solves(count)}."
    done = finish(
        problem, p, solver=given.solver, tol=tol, status=Status.SOLVED, message=message, iterations=iterations
    )
    return replace(done, stages=given.stages, rounds=count)


def _solves(count: int) -> str:
    return f"{count} solve{'s' if count > 1 else ''}"


class _Rounds:
    """The slip speeds for the next solve, from those so far and their solutions."""

    def __init__(self, problem: ContactProblem, tol: float):
        self.problem, self.table = problem, problem.friction
        self.blocks = self.table.varying
        first = problem.row_ptr[self.blocks + 1] - self.table.dims[self.table.set_of[self.blocks]]
        self.w = problem.dynamics.delassus_diagonal(problem.row_ptr)[first] + problem.C[first]
        self.start, self.rest = np.zeros(problem.nk), COEFFICIENTS.rest_speeds * tol * problem.scale
        if problem.v_start is not None:
            rows = problem.dynamics.velocity_rows(problem.v_start) + problem.b
            speeds = self.table.speeds(rows, problem.row_ptr)
            self.start = np.where(speeds <= self.rest, 0.0, speeds)
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self._speeds: list[FloatArray] = []
        self._missed: list[FloatArray] = []

    def skipped_slip(self, speeds: FloatArray, given: Solution) -> bool:
        """Whether a block came to rest with a coefficient larger than at rest, past a slip that is nearer."""
        slip = self.table.speeds(given.u, self.problem.row_ptr)[self.blocks]
        stopped = (slip <= self.rest) & (self.table.mu_at(speeds) > self.table.mu)[self.blocks]
        return bool(stopped.any() and (self._zero(slip, given.p)[stopped] > self.rest).any())

    def next_speeds(self, speeds: FloatArray, given: Solution, *, plain: bool = False) -> FloatArray:
        """(nk,) the speeds for the next solve, after the solution `given` with coefficients at `speeds`."""
        k = self.blocks
        goal = self.table.speeds(given.u, self.problem.row_ptr)[k]
        if not plain:
            falls = self.table.mu_slope(speeds)[k] <= 0.0 if self._speeds else np.zeros(len(k), dtype=bool)
            goal = np.where(falls, goal, self._zero(goal, given.p))
        here = speeds[k]
        missed = goal - here
        least = min((float(np.linalg.norm(m)) for m in self._missed), default=np.inf)
        if np.linalg.norm(missed) > COEFFICIENTS.astray_factor * least:  # astray: begin anew
            self.reset()
        self._speeds, self._missed = (
            [*self._speeds[-COEFFICIENTS.anderson_rounds :], here],
            [*self._missed[-COEFFICIENTS.anderson_rounds :], missed],
        )
        if len(self._speeds) > 1:
            moves, changes = np.diff(self._speeds, axis=0).T, np.diff(self._missed, axis=0).T
            weight = np.linalg.lstsq(changes, missed, rcond=1e-10)[0]
            goal = np.maximum(0.0, goal - (moves + changes) @ weight)
        out = speeds.copy()
        out[k] = goal
        return out

    def _zero(self, slip: FloatArray, p: FloatArray) -> FloatArray:
        """The zero of each block's own F that is connected with the start."""
        k, ptr = self.blocks, self.problem.row_ptr
        friction = self.table.speeds(p, ptr)[k]  # the norms of the friction impulses, in the same rows
        normal = np.where(self.problem.law[k] == UNILATERAL, p[ptr[k]], 0.0)
        radius = np.maximum(self.table.mu[k] * normal + self.problem.r0[k], 0.0)
        a, c = slip + self.w * friction, self.w * radius
        set_of, out = self.table.set_of[k], np.empty(len(k))
        for s in np.unique(set_of).tolist():
            law, members = self.table.sets[s].speed_law, set_of == s
            assert law is not None
            out[members] = connected_zero(law, a[members], c[members], self.start[k[members]])
        return out


def connected_zero(law: SpeedLaw, a: FloatArray, c: FloatArray, start: FloatArray) -> FloatArray:
    """The first zero of `F(s) = s - a + c·mu(s)/mu(0)` from `start` on, down where F > 0 there and up where F < 0.

    0 where F > 0 all the way down: rest. All arrays have one entry per contact, speeds in m/s.
    """

    rest = law.rest

    def force(s: FloatArray, a: FloatArray, c: FloatArray) -> FloatArray:
        return s - a + c * law.values(s) / rest

    down = force(start, a, c) >= 0.0
    end = np.where(down, 0.0, np.maximum(a, start))
    way = start[:, None] + (end - start)[:, None] * SEARCH_SHARES
    way[:, -1] = end
    turned = (force(way, a[:, None], c[:, None]) >= 0.0) != down[:, None]
    found, at, rows = turned.any(axis=1), turned.argmax(axis=1), np.arange(len(a))
    near, far = way[rows, np.maximum(at - 1, 0)], way[rows, at]
    s = 0.5 * (near + far)
    for _ in range(COEFFICIENTS.max_halvings):  # Newton's method, or half of what is left where that leaves it
        value = force(s, a, c)
        same = (value >= 0.0) == down
        near, far = np.where(same, s, near), np.where(same, far, s)
        slope = 1.0 + c * law.slopes(s) / rest
        newton = s - value / np.where(slope == 0.0, 1.0, slope)
        inside = (newton - near) * (newton - far) <= 0.0
        new = np.where(inside & (slope != 0.0), newton, 0.5 * (near + far))
        done = np.abs(new - s) <= 1e-15 * new
        s = new
        if (done | ~found).all():
            break
    return np.where(found, s, end)
