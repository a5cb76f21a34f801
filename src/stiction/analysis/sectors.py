"""Round friction cones between polyhedra: a mixed-integer program that holds every solution of the true law.

Where slip points into a sector of the plane, friction lies in the piece of the cone opposite to it, between the chord
of the sector's arc and tangents: an outer polyhedron. At rest it lies in a polygon around the disk. With one yes-or-no
variable for each sector these are linear inequalities, which all solutions of Coulomb's law obey, and the others only
nearly. Sectors and tangents are refined where the program finds something; what it finds is a start for Newton's
method, whose answers are true solutions. So the law is bracketed from outside by the program, from inside by Newton.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._check import FloatArray
from ..friction.sets import ELLIPSOID
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Dense
from ..problem.laws import DRY, EQUALITY, UNILATERAL
from .highs import Answer, solve_milp
from .pairs import IMPULSE_RANGE, _velocities, units, with_masses

SECTORS_START = 8  # sectors at the start


def refuses(problem: ContactProblem) -> str | None:
    """Which problems the sectors do not take."""
    if (problem.law == 2).any():
        return "motors and other boxes are not taken with round friction cones; give directions= instead."
    f = problem.friction
    for k in range(problem.nk):
        s = int(f.set_of[k])
        if int(f.dims[s]) > 2 or (f.dims[s] == 2 and f.kind[s] & 3 != ELLIPSOID):
            return f"friction of {type(f.sets[s]).__name__} is neither flat nor a polyhedron; give directions= instead."
    if problem.associated:
        return "the associated law is convex and needs no search."
    return None


@dataclass
class Sectors:
    """The program of a problem in scaled units; cuts: the sectors' ends, tangents: where they touch the disks [rad]."""

    problem: ContactProblem
    deadline: float
    cuts: dict[int, FloatArray] = field(default_factory=dict)
    tangents: dict[int, FloatArray] = field(default_factory=dict)
    nodes: int = 0

    def __post_init__(self) -> None:
        self.problem = problem = with_masses(self.problem)
        self.speed, self.impulse = units(problem)
        form: Any = problem.dynamics
        assert isinstance(form, Dense)
        self.W = problem.delassus() * self.impulse / self.speed
        self.q = problem.q / self.speed
        self.V = np.array([form.velocity_change(e) for e in np.eye(problem.nr)]).T * self.impulse / self.speed
        self.v0 = problem.v_free / self.speed
        low, high, self.reach = _velocities(problem, self.speed)
        self.v_low, self.v_high = low, high
        f = problem.friction
        for k in range(problem.nk):
            if int(f.dims[f.set_of[k]]) == 2:
                self.cuts[k] = 2 * np.pi * (np.arange(SECTORS_START) + 0.5) / SECTORS_START
                self.tangents[k] = 2 * np.pi * np.arange(2 * SECTORS_START) / (2 * SECTORS_START)
        self._bounds()

    def _bounds(self) -> None:
        """The largest |u| of each row and the largest normal impulse of each contact; `proved` where they are."""
        from scipy.optimize import linprog

        problem, n = self.problem, self.problem.nr
        self.top = np.full(problem.nk, IMPULSE_RANGE)
        self.proved = self.reach is not None
        if self.reach is None:
            span = np.zeros(n)
            for k, rows in self._blocks():
                span[rows] = IMPULSE_RANGE * max(1.0, float(problem.friction.mu[k]))
            self.u_max = np.abs(self.W) @ span + np.abs(self.q)
            return
        low, high = self.reach(problem.dynamics.H)  # type: ignore[union-attr]
        offset = problem.b / self.speed
        self.u_max = np.maximum(np.abs(low + offset), np.abs(high + offset)) + 1e-9
        A, b = self._cone_rows()
        seen = np.isfinite(self.v_low)
        A = np.vstack([A, self.V[seen], -self.V[seen]])
        b = np.concatenate([b, (self.v_high - self.v0)[seen], (self.v0 - self.v_low)[seen]])
        for k in np.flatnonzero(problem.law == UNILATERAL).tolist():
            cost = np.zeros(n)
            cost[problem.row_ptr[k]] = -1.0
            found = linprog(cost, A_ub=A, b_ub=b, bounds=(None, None), method="highs")
            if found.status == 0 and -found.fun < IMPULSE_RANGE:
                self.top[k] = max(0.0, -found.fun) * (1.0 + 1e-6) + 1e-9
            elif found.status != 2:
                self.proved = False

    @property
    def limit(self) -> float:
        """How far impulses are searched [N·s]."""
        return np.inf if self.proved else IMPULSE_RANGE * self.impulse

    def _blocks(self) -> list[tuple[int, slice]]:
        ptr = self.problem.row_ptr.tolist()
        return [(k, slice(ptr[k], ptr[k + 1])) for k in range(self.problem.nk)]

    def _axes(self, k: int) -> FloatArray:
        f = self.problem.friction
        s = int(f.set_of[k])
        return f.semi[s, : int(f.dims[s])] if f.semi[s].any() else np.ones(int(f.dims[s]))

    def _radius(self, k: int) -> tuple[FloatArray, float]:
        """The radius of friction as a row over p, and a constant."""
        row = np.zeros(self.problem.nr)
        if self.problem.law[k] == UNILATERAL:
            row[self.problem.row_ptr[k]] = self.problem.friction.mu[k]
        return row, float(self.problem.r0[k]) / self.impulse

    def _friction_rows(self, k: int) -> slice:
        start, stop = int(self.problem.row_ptr[k]), int(self.problem.row_ptr[k + 1])
        return slice(start + (self.problem.law[k] == UNILATERAL), stop)

    def _cone_rows(self) -> tuple[FloatArray, FloatArray]:
        """A p <= b that all forces of the cones obey: p_n >= 0, u_n >= 0, and the tangents of the disks."""
        n = self.problem.nr
        rows: list[FloatArray] = []
        right: list[float] = []
        for k, block in self._blocks():
            law = self.problem.law[k]
            if law == UNILATERAL:
                unit = np.zeros(n)
                unit[block.start] = -1.0
                rows += [unit, -self.W[block.start]]
                right += [0.0, float(self.q[block.start])]
            if law == EQUALITY:
                continue
            f, (radius, constant) = self._friction_rows(k), self._radius(k)
            dim = f.stop - f.start
            angles = self.tangents.get(k)
            ways = [[1.0], [-1.0]] if angles is None else np.column_stack([np.cos(angles), np.sin(angles)])
            for e in ways if dim else []:
                row = -radius
                row[f] = np.asarray(e)[:dim] / self._axes(k)
                rows.append(row)
                right.append(constant)
        return np.array(rows).reshape(-1, n), np.array(right)

    # --- the program

    def away(self, v: FloatArray, distance: float) -> tuple[FloatArray | None, Answer]:
        """Impulses [N·s] of the relaxed law whose velocity is `distance` (over speed) from v (over speed), if any."""
        made = self._rows()
        moves = np.flatnonzero(np.abs(self.V).max(axis=1, initial=0.0) > 0.0)
        far = self._far(v)
        sides = [made.binary() for _ in range(2 * len(moves))]
        for side, i, sign in zip(sides, np.tile(moves, 2), np.repeat([1.0, -1.0], len(moves))):
            # sign (v0 + V p - v) >= t: as -sign V p + t <= sign (v0 - v) + far (1 - side)
            made.when(side, -sign * self.V[i], sign * (self.v0[i] - v[i]), 2.0 * far, t=1.0)
        made.at_least_one(sides)
        found = made.solve(distance, far, self.deadline - time.monotonic())
        self.nodes += found.nodes
        return (None if found.x is None else found.x[: self.problem.nr] * self.impulse), found

    def empty(self) -> bool:
        """Whether nothing obeys the relaxed law, and so nothing the true one."""
        return self._rows().solve(0.0, 0.0, self.deadline - time.monotonic()).infeasible

    def _rows(self) -> _Rows:
        made = _Rows(self.problem.nr)
        for k, block in self._blocks():
            self._add_block(made, k, block)
        A, b = self._cone_rows()
        made.always(A, b)
        seen = np.isfinite(self.v_low)
        made.always(np.vstack([self.V[seen], -self.V[seen]]),
                    np.concatenate([(self.v_high - self.v0)[seen], (self.v0 - self.v_low)[seen]]))  # fmt: skip
        return made

    def _far(self, v: FloatArray) -> float:
        if np.isfinite(self.v_low).all():
            return float(np.maximum(np.abs(self.v_low - v), np.abs(self.v_high - v)).max(initial=0.0)) + 1e-6
        return float(self.u_max.max(initial=1.0)) + float(np.abs(self.V).sum(axis=1).max(initial=0.0)) * IMPULSE_RANGE

    def _add_block(self, made: _Rows, k: int, block: slice) -> None:
        problem, n = self.problem, self.problem.nr
        law, W, q, U = int(problem.law[k]), self.W, self.q, self.u_max
        if law == EQUALITY:
            made.equal(W[block], -q[block])
            return
        if law == UNILATERAL:
            closed, i = made.binary(), block.start
            unit = np.zeros(n)
            unit[i] = 1.0
            made.when(closed, W[i], -q[i], U[i])  # u_n <= 0 where closed
            made.unless(closed, unit, 0.0, self.top[k])  # p_n <= 0 where open
        f, (radius, constant) = self._friction_rows(k), self._radius(k)
        dim = f.stop - f.start
        if dim == 0 or (law != DRY and problem.friction.mu[k] == 0.0 and problem.r0[k] == 0.0):
            return
        most = 2.0 * (problem.friction.mu[k] * self.top[k] + constant) + 1e-9
        axes = self._axes(k)
        unit = np.zeros((dim, n))
        unit[np.arange(dim), np.arange(f.start, f.stop)] = 1.0 / axes
        u, u0, far = W[f] * axes[:, None], q[f] * axes, float(np.abs(U[f] * axes).max()) * np.sqrt(dim)
        if dim == 1:
            for sign in (1.0, -1.0):  # slip along sign: friction = -sign radius; no slip that way otherwise
                slips = made.binary()
                made.unless(slips, sign * u[0], -sign * u0[0], far)
                made.when(slips, sign * unit[0] + radius, -constant, most)
            return
        ends = self.cuts[k]
        sectors = [made.binary() for _ in ends]
        for sign in (1.0, -1.0):
            for i in range(2):
                made.unless_any(sectors, sign * u[i], -sign * u0[i], far)  # at rest
        for j, s in enumerate(sectors):
            a, z = ends[j], ends[(j + 1) % len(ends)] + (2 * np.pi if j + 1 == len(ends) else 0.0)
            inward = np.array([[-np.sin(a), np.cos(a)], [np.sin(z), -np.cos(z)]])
            for e in inward:
                made.when(s, -e @ u, float(e @ u0), far)  # e·u >= 0
                made.when(s, e @ unit, 0.0, most)  # e·f <= 0
            m = np.array([np.cos(0.5 * (a + z)), np.sin(0.5 * (a + z))])
            c = np.cos(0.5 * (z - a))
            made.when(s, m @ unit + c * radius, -c * constant, 2.0 * most)  # beyond the chord
        made.at_most_one(sectors)

    def refine(self, p: FloatArray) -> None:
        """Split the sectors into which slip points, and add tangents where friction is outside of its disk."""
        x = p / self.impulse
        u = self.W @ x + self.q
        for k, ends in self.cuts.items():
            f, axes = self._friction_rows(k), self._axes(k)
            slip, force = u[f] * axes, x[f] / axes
            row, constant = self._radius(k)
            if np.hypot(*force) > 0.0:
                self.tangents[k] = np.append(self.tangents[k], np.arctan2(force[1], force[0]))
            if np.hypot(*slip) <= 1e-9 or row @ x + constant <= 1e-9:
                continue
            angle = np.arctan2(slip[1], slip[0])
            off = (np.arctan2(-force[1], -force[0]) - angle + np.pi) % (2 * np.pi) - np.pi
            cut = angle + 0.5 * off  # between the slip and the direction that friction opposes
            self.cuts[k] = np.sort(np.append(ends, cut % (2 * np.pi)))
            self.tangents[k] = np.append(self.tangents[k], cut + np.pi)


class _Rows:
    """Rows over (p, binaries, t), gathered one by one."""

    def __init__(self, n: int):
        self.n, self.k = n, 0
        self.rows: list[tuple[FloatArray, dict[int, float], float, float, float]] = []  # p, binaries, t, lo, hi

    def binary(self) -> int:
        """A new yes-or-no variable."""
        self.k += 1
        return self.k - 1

    def when(self, s: int, row: FloatArray, right: float, most: float, t: float = 0.0) -> None:
        """row·p + t <= right where s is 1; `most`: how much more it can be otherwise."""
        self.rows.append((row, {s: most}, t, -np.inf, right + most))

    def unless(self, s: int, row: FloatArray, right: float, most: float) -> None:
        """row·p <= right where s is 0."""
        self.rows.append((row, {s: -most}, 0.0, -np.inf, right))

    def unless_any(self, some: list[int], row: FloatArray, right: float, most: float) -> None:
        """row·p <= right where all of `some` are 0."""
        self.rows.append((row, dict.fromkeys(some, -most), 0.0, -np.inf, right))

    def always(self, A: FloatArray, b: FloatArray) -> None:
        """A p <= b."""
        self.rows += [(row, {}, 0.0, -np.inf, float(right)) for row, right in zip(A, b)]

    def equal(self, A: FloatArray, b: FloatArray) -> None:
        """A p = b."""
        self.rows += [(row, {}, 0.0, float(right), float(right)) for row, right in zip(A, b)]

    def at_most_one(self, some: list[int]) -> None:
        """Of some binaries one is 1 at most."""
        self.rows.append((np.zeros(self.n), dict.fromkeys(some, 1.0), 0.0, -np.inf, 1.0))

    def at_least_one(self, some: list[int]) -> None:
        """Of some binaries one is 1 at least."""
        self.rows.append((np.zeros(self.n), dict.fromkeys(some, 1.0), 0.0, 1.0, np.inf))

    def solve(self, least: float, most: float, seconds: float) -> Answer:
        """The largest t between `least` and `most`, or the first that is found."""
        A = np.zeros((len(self.rows), self.n + self.k + 1))
        for i, (row, binaries, t, _, _) in enumerate(self.rows):
            A[i, : self.n], A[i, -1] = row, t
            for s, value in binaries.items():
                A[i, self.n + s] = value
        low = np.concatenate([np.full(self.n, -np.inf), np.zeros(self.k), [least]])
        top = np.concatenate([np.full(self.n, np.inf), np.ones(self.k), [max(most, least)]])
        whole = np.concatenate([np.zeros(self.n), np.ones(self.k), [0.0]])
        cost = np.zeros(A.shape[1])
        cost[-1] = -1.0
        return solve_milp(cost, whole, low, top, A, np.array([r[3] for r in self.rows]),
                          np.array([r[4] for r in self.rows]), seconds=seconds, gap=1e9)  # fmt: skip
