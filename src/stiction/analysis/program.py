"""The mixed-integer program of a contact problem: every solution of its complementary pairs, and nothing else.

One binary d_i per pair says which side is zero, `0 <= z_i <= z_max d_i` and `0 <= w_i <= w_max (1 - d_i)`. HiGHS
(through `scipy.optimize.milp`) searches it to a tolerance of 1e-6, through which a large bound can leak; so every
answer is recomputed with its pattern of zeros held exactly, by a linear program, and a pattern that does not hold is
cut off and the search goes on.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._check import FloatArray
from .highs import solve_milp
from .pairs import Pairs
from .tighten import tightened

LEAKS_MAX = 30


@dataclass(frozen=True)
class Found:
    """What a search gave: z (n,) or None; `exhausted`: nothing else is left; bound: the best that is not excluded."""

    z: FloatArray | None
    exhausted: bool
    bound: float
    nodes: int


@dataclass
class Program:
    """The program of `pairs`; `deadline` is a time of `time.monotonic`."""

    pairs: Pairs
    deadline: float
    cuts: list[tuple[FloatArray, float]] = field(default_factory=list)
    nodes: int = 0

    @property
    def n(self) -> int:
        """Number of pairs."""
        return len(self.pairs.q)

    @property
    def left(self) -> float:
        """Seconds left."""
        return self.deadline - time.monotonic()

    def best(self, cost: FloatArray, *, first: bool = False) -> Found:
        """A solution with the least cost·z; with `first`, the first that is found."""
        rows, lo, hi = self.rows()
        padded = np.concatenate([cost, np.zeros(self.n)])
        return self._search(padded, rows, lo, hi, np.zeros(0), np.zeros(0), first, lambda d: self.exact(d, cost))

    def away(self, z: FloatArray, distance: float) -> Found:
        """A solution whose velocity differs from that of z by at least `distance` in a coordinate (in `speed`)."""
        self.pairs = tightened(self.pairs)
        pairs, n = self.pairs, self.n
        moves = np.flatnonzero(np.abs(pairs.V).max(axis=1, initial=0.0) > 0.0)
        if not len(moves):
            return Found(None, True, 0.0, 0)
        A, v = np.vstack([pairs.V[moves], -pairs.V[moves]]), pairs.V[moves] @ z
        high = np.concatenate([pairs.v_high[moves], -pairs.v_low[moves]])
        start = np.concatenate([v, -v])
        ends = np.maximum(A, 0.0) @ pairs.z_max
        reach = np.minimum(ends, high - np.concatenate([pairs.v0[moves], -pairs.v0[moves]])) - start
        sides = reach >= distance  # a coordinate that cannot move so far needs no binary
        A, start, reach = A[sides], start[sides], reach[sides]
        k = len(start)
        if k == 0:
            return Found(None, True, 0.0, 0)
        rows, lo, hi = self.rows(extra=k + 1)
        far = float(reach.max())
        # t <= A z - start + (1 - e) (far - least), sum e = 1: the chosen coordinate has moved by t
        least = np.minimum(A, 0.0) @ pairs.z_max - start
        least = np.maximum(least, -2.0 * far - np.abs(start) - 1.0) if np.isfinite(least).all() else least
        slack = far - least
        T = np.hstack([-A, np.zeros((k, n)), np.diag(slack), np.ones((k, 1))])
        S = np.concatenate([np.zeros(2 * n), np.ones(k), [0.0]])[None]
        rows, lo, hi = (
            np.vstack([rows, T, S]),
            np.concatenate([lo, np.full(k, -np.inf), [1.0]]),
            np.concatenate([hi, slack - start, [1.0]]),
        )
        cost = np.zeros(2 * n + k + 1)
        cost[-1] = -1.0
        low = np.append(np.zeros(k), distance)
        top = np.append(np.ones(k), far)
        found = self._search(cost, rows, lo, hi, low, top, True, lambda d: self._farthest(d, A, start, distance))
        return replace(found, bound=max(found.bound, -far))  # without a word from HiGHS, what the bounds leave

    def _farthest(self, d: np.ndarray, A: FloatArray, start: FloatArray, distance: float) -> FloatArray | None:
        for row, at in zip(A, start):
            z = self.exact(d, -row)
            if z is not None and row @ z - at >= distance * (1.0 - 1e-6):
                return z
        return None

    def exact(self, d: np.ndarray, cost: FloatArray, *, bounded: bool = True) -> FloatArray | None:
        """The solution of least cost with the pattern d held exactly; None where the pattern has none, or no end.

        bounded: within the bounds of the search.
        """
        from scipy.optimize import linprog

        pairs = self.pairs
        top = np.where(d, pairs.z_max if bounded else np.inf, 0.0)
        found = linprog(
            cost, A_ub=-pairs.M[~d], b_ub=pairs.q[~d], A_eq=pairs.M[d] if d.any() else None,
            b_eq=-pairs.q[d] if d.any() else None, bounds=np.column_stack([np.zeros_like(top), top]), method="highs",
            options={"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
        )  # fmt: skip
        return np.maximum(found.x, 0.0) if found.status == 0 else None

    # --- the rows

    def rows(self, extra: int = 0) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Constraints `lo <= A (z, d, extra) <= hi` of the pairs and of what is known of them."""
        pairs, n = self.pairs, self.n
        eye = np.eye(n)
        parts: list[tuple[FloatArray, FloatArray, FloatArray, FloatArray]] = []

        def add(Z: FloatArray, D: FloatArray, lo: Any, hi: Any) -> None:
            k = len(Z)
            parts.append((Z, D, np.broadcast_to(lo, k), np.broadcast_to(hi, k)))

        add(eye, -np.diag(pairs.z_max), -np.inf, 0.0)
        add(pairs.M, np.diag(pairs.w_max), -np.inf, pairs.w_max - pairs.q)
        add(pairs.M, np.zeros((n, n)), -pairs.q, np.inf)
        seen = np.isfinite(pairs.v_low) & (np.abs(pairs.V).max(axis=1, initial=0.0) > 0.0)
        if seen.any():
            add(pairs.V[seen], np.zeros((int(seen.sum()), n)), (pairs.v_low - pairs.v0)[seen],
                (pairs.v_high - pairs.v0)[seen])  # fmt: skip
        self._friction(add)
        for row, bound in self.cuts:
            add(np.zeros((1, n)), row[None], bound, np.inf)
        A = np.vstack([np.hstack([Z, D]) for Z, D, _, _ in parts])
        A = np.hstack([A, np.zeros((len(A), extra))])
        return A, np.concatenate([lo for _, _, lo, _ in parts]), np.concatenate([hi for _, _, _, hi in parts])

    def _friction(self, add: Any) -> None:
        """Of the directions of a set no more than its dimension need act, and none where the contact is open."""
        pairs, n = self.pairs, self.n
        normal = {block: j for j, (group, block) in enumerate(pairs.names) if group == "normal"}
        for members, dim in pairs.groups:
            betas, lam = members[:-1], members[-1]
            row = np.zeros((1, n))
            row[0, betas] = 1.0
            if len(betas) > dim:
                add(np.zeros((1, n)), row, -np.inf, float(dim))
            j = normal.get(pairs.names[lam][1])
            if j is not None and pairs.q[lam] == 0.0:
                D = np.zeros((len(betas), n))
                D[np.arange(len(betas)), betas] = 1.0
                D[:, j] = -1.0
                add(np.zeros((len(betas), n)), D, -np.inf, 0.0)

    # --- the search

    def _search(
        self, cost: FloatArray, A: FloatArray, lo: FloatArray, hi: FloatArray, low: FloatArray, top: FloatArray,
        first: bool, exact: Any,
    ) -> Found:  # fmt: skip
        n, extra, known = self.n, len(low), len(self.cuts)
        whole = np.concatenate([np.zeros(n), np.ones(n), np.ones(max(extra - 1, 0)), np.zeros(min(extra, 1))])
        low, top = np.concatenate([np.zeros(2 * n), low]), np.concatenate([self.pairs.z_max, np.ones(n), top])
        best, value, bound = None, np.inf, -np.inf
        for _ in range(LEAKS_MAX):
            if self.left <= 0.0:
                break
            new = [(np.concatenate([np.zeros(n), row, np.zeros(extra)]), least) for row, least in self.cuts[known:]]
            rows = np.vstack([A, *(row for row, _ in new)])
            limits = np.append(lo, [least for _, least in new]), np.append(hi, np.full(len(new), np.inf))
            found = solve_milp(cost, whole, low, top, rows, *limits, seconds=self.left, gap=1e9 if first else 1e-9)
            self.nodes += found.nodes
            bound = found.bound
            if found.infeasible:
                return Found(best, True, bound, self.nodes)
            if found.x is None:
                break
            d = found.x[n : 2 * n] > 0.5
            z = exact(d)
            if z is not None and (first or cost[:n] @ z < value):
                best, value = z, float(cost[:n] @ z)
            if best is not None and (first or value <= found.value + 1e-6 * max(1.0, abs(value))):
                return Found(best, found.optimal and not first, bound, self.nodes)
            self.cuts.append((np.where(d, -1.0, 1.0), 1.0 - float(d.sum())))  # seen: its best is known exactly
        return Found(best, False, bound, self.nodes)
