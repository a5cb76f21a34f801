"""Bounds of both sides of every complementary pair, in scaled units; see `pairs`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .._check import FloatArray
from ..problem.contact_problem import ContactProblem
from .pairs import IMPULSE, IMPULSE_RANGE, Pairs
from .tighten import impulse_bounds

Reach = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def bounded(pairs: Pairs, problem: ContactProblem, reach: Reach | None) -> Pairs:
    """The pairs with their bounds. `reach` gives the range of rows of the velocity, or is None where there is none."""
    n = len(pairs.q)
    if n == 0:
        return pairs
    impulse = np.array([group in IMPULSE for group, _ in pairs.names])
    known = _given(pairs, problem)  # widths of boxes
    if reach is None:
        proved = impulse_bounds(pairs)
        z_max = np.where(impulse, np.minimum(known, IMPULSE_RANGE if proved is None else proved), np.inf)
        low, high = _rows_of_box(pairs, impulse, z_max)
        limit = IMPULSE_RANGE * pairs.impulse if proved is None else np.inf
    else:
        low, high = _rows_of_ball(pairs, problem, reach, impulse)
        z_max, limit = known.copy(), np.inf
    z_max[~impulse] = _speeds(pairs, impulse, low)
    if reach is not None:
        z_max, limit = _impulses(pairs, z_max, impulse)
        low, high = _with_compliance(pairs, problem, z_max, low, high)
        z_max[~impulse] = _speeds(pairs, impulse, low)
    return replace(pairs, z_max=z_max, w_max=_other_side(pairs, impulse, z_max, high), limit=limit)


def _given(pairs: Pairs, problem: ContactProblem) -> FloatArray:
    """(n,) the largest impulses of boxes with two bounds, infinite elsewhere."""
    width = np.full(len(pairs.q), np.inf)
    for j, (group, _) in enumerate(pairs.names):
        if group == "box":
            row = int(np.flatnonzero(pairs.P[:, j])[0])
            width[j] = (problem.hi[row] - problem.lo[row]) / pairs.impulse
    return width


def _velocity_rows(pairs: Pairs, impulse: np.ndarray) -> FloatArray:
    """M without the columns of speeds: what the impulses add to the velocity side of w."""
    return np.where(impulse, pairs.M, 0.0)


def _rows_of_box(pairs: Pairs, impulse: np.ndarray, z_max: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The range of the velocity side of w for impulses up to z_max."""
    A, top = _velocity_rows(pairs, impulse), np.where(impulse, z_max, 0.0)
    return pairs.q + np.minimum(A, 0.0) @ top, pairs.q + np.maximum(A, 0.0) @ top


def _rows_of_ball(
    pairs: Pairs, problem: ContactProblem, reach: Reach, impulse: np.ndarray
) -> tuple[FloatArray, FloatArray]:
    """The same where every velocity is bounded; rows of λ and slacks have no velocity and stay at q."""
    along = (pairs.P / np.where(impulse, pairs.impulse, 1.0)).T  # the direction of each impulse in the rows
    for j in np.flatnonzero(impulse).tolist():
        along[j] = _own_rows(pairs, problem, j)
    dynamics = problem.dynamics
    A = along @ dynamics.H  # type: ignore[union-attr]
    offset = along @ problem.b / pairs.speed
    low, high = reach(A)
    return np.where(impulse, low + offset, pairs.q), np.where(impulse, high + offset, pairs.q)


def _own_rows(pairs: Pairs, problem: ContactProblem, j: int) -> FloatArray:
    """The direction of variable j in the rows of its own block, without what joints answer."""
    block = pairs.names[j][1]
    own = np.zeros(problem.nr)
    rows = slice(int(problem.row_ptr[block]), int(problem.row_ptr[block + 1]))
    own[rows] = pairs.P[rows, j] / pairs.impulse
    return own


def _speeds(pairs: Pairs, impulse: np.ndarray, low: FloatArray) -> FloatArray:
    """Bounds of λ and of the slacks of boxes: the fastest slip that their rows can have.

    Larger values would only be other multipliers of the same motion, where a contact is open.
    """
    top = []
    for j in np.flatnonzero(~impulse):
        rows = np.flatnonzero((pairs.M[:, j] > 0.5) & impulse)
        top.append(max(0.0, float(-low[rows].min(initial=0.0))))
    return np.array(top)


def _impulses(pairs: Pairs, z_max: FloatArray, impulse: np.ndarray) -> tuple[FloatArray, float]:
    """Bounds of impulses by linear programs over what dynamics, friction cones and the bounded velocities leave."""
    from scipy.optimize import linprog

    z_max, limit = z_max.copy(), np.inf
    seen = np.isfinite(pairs.v_low)
    A = np.vstack([-pairs.M, pairs.V[seen], -pairs.V[seen]])
    b = np.concatenate([pairs.q, (pairs.v_high - pairs.v0)[seen], (pairs.v0 - pairs.v_low)[seen]])
    own = {"normal", "box"}
    for j, (group, _) in enumerate(pairs.names):
        if group in own and not np.isfinite(z_max[j]):
            cost = np.zeros(len(pairs.q))
            cost[j] = -1.0
            top = np.where(impulse, np.inf, z_max)
            found = linprog(cost, A_ub=A, b_ub=b, bounds=np.column_stack([np.zeros_like(top), top]), method="highs")
            if found.status == 0 and -found.fun < IMPULSE_RANGE:
                z_max[j] = max(0.0, -found.fun) * (1.0 + 1e-6) + 1e-9
            elif found.status == 2:  # nothing is left at all: the program will say so
                z_max[j] = 1e-9
            else:
                z_max[j], limit = IMPULSE_RANGE, IMPULSE_RANGE * pairs.impulse
    for members, _ in pairs.groups:
        betas, lam = members[:-1], members[-1]
        top = pairs.q[lam] + np.maximum(pairs.M[lam], 0.0) @ np.where(np.isfinite(z_max), z_max, 0.0)
        z_max[betas] = top
    return z_max, limit


def _with_compliance(
    pairs: Pairs, problem: ContactProblem, z_max: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The range of rows whose compliance adds to their velocity."""
    if not problem.C.any():
        return low, high
    soft = np.abs(pairs.P.T) @ (problem.C * (np.abs(pairs.P) @ np.where(np.isfinite(z_max), z_max, 0.0)))
    soft /= pairs.speed * pairs.impulse
    return low - soft, high + soft


def _other_side(pairs: Pairs, impulse: np.ndarray, z_max: FloatArray, high: FloatArray) -> FloatArray:
    """Bounds of w: the velocity side of impulses with the speeds on top, the impulse side of λ and slacks."""
    speeds = np.maximum(np.where(impulse, 0.0, pairs.M), 0.0) @ np.where(impulse, 0.0, z_max)
    pressed = pairs.q + np.maximum(pairs.M, 0.0) @ np.where(impulse, z_max, 0.0)
    return np.maximum(0.0, np.where(impulse, high + speeds, pressed)) + 1e-9
