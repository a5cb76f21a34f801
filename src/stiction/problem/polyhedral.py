"""The polyhedral LCP of a contact problem, in the variable order of st96 eq. 29: free, β, c_n, box, λ.

With impulses `p = P z + p0` and `u = W p + q`, the rows of β, c_n and of equalities are the columns of P against u,
so the matrix is `Pᵀ W P` plus the incidence of the friction bounds:

    w_β = D^T u_t + λ e          w_c = u_n (- mu λ for the associated law, ah03 eq. 2.10)
    w_λ = mu c_n + r0 - e^T β    free rows: u = 0        box: w_x = u + s, w_s = hi - lo - x, p = lo + x
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .._check import FloatArray
from .laws import Law

if TYPE_CHECKING:
    from .contact_problem import ContactProblem


@dataclass(frozen=True)
class PolyhedralLCP:
    """A mixed LCP `0 <= z ⟂ M z + q >= 0` (z free and the row zero where `free`), with `p = P z + p0`.

    `names` says what each variable is: ("free" | "beta" | "normal" | "box" | "slack" | "lambda", block).
    """

    M: FloatArray
    q: FloatArray
    free: npt.NDArray[np.bool_]
    P: FloatArray
    p0: FloatArray
    names: tuple[tuple[str, int], ...]

    def impulses(self, z: FloatArray) -> FloatArray:
        """The impulses p (nr,) of a solution z."""
        return self.P @ z + self.p0


def to_lcp(problem: ContactProblem, directions: int = 8) -> PolyhedralLCP:
    """Build the LCP; smooth friction sets are replaced by `directions` directions."""
    columns: dict[str, list[tuple[FloatArray, int]]] = {name: [] for name in ("free", "beta", "normal", "box")}
    p0 = np.zeros(problem.nr)
    bounded: list[tuple[int, int]] = []  # (position in "box", row) of boxes with two finite bounds
    rubbing: list[int] = []  # blocks with a friction multiplier λ

    def add(group: str, block: int, rows: slice | int, values: FloatArray | float) -> None:
        column = np.zeros(problem.nr)
        column[rows] = values
        columns[group].append((column, block))

    for k, (start, stop) in enumerate(zip(problem.row_ptr[:-1].tolist(), problem.row_ptr[1:].tolist())):
        law = problem.law[k]
        if law == Law.EQUALITY:
            for row in range(start, stop):
                add("free", k, row, 1.0)
        elif law == Law.BOX:
            for row in range(start, stop):
                _add_box(problem, k, row, add, p0, bounded, columns)
        else:
            first = start
            if law == Law.UNILATERAL:
                add("normal", k, start, 1.0)
                first = start + 1
            if stop > first and (problem.friction.mu[k] > 0 or problem.r0[k] > 0):
                for d in problem.friction.directions(k, directions):
                    add("beta", k, slice(first, stop), d)
                rubbing.append(k)

    order = [(group, column, block) for group in ("free", "beta", "normal", "box") for column, block in columns[group]]
    names = [(group, block) for group, _, block in order]
    names += [("slack", block) for _, block in (columns["box"][i] for i, _ in bounded)]
    names += [("lambda", block) for block in rubbing]
    P = np.zeros((problem.nr, len(names)))
    for j, (_, column, _) in enumerate(order):
        P[:, j] = column
    W = problem.delassus()
    M = P.T @ W @ P
    q = P.T @ (W @ p0 + problem.q) if p0.any() else P.T @ problem.q
    _couple_boxes(problem, M, q, names, bounded)
    _couple_friction(problem, M, q, names)
    free = np.array([name == "free" for name, _ in names], dtype=bool)
    return PolyhedralLCP(M, q, free, P, p0, tuple(names))


def _add_box(problem, k, row, add, p0, bounded, columns) -> None:  # type: ignore[no-untyped-def]
    lo, hi = problem.lo[row], problem.hi[row]
    if np.isinf(lo) and np.isinf(hi):
        add("free", k, row, 1.0)
    elif np.isinf(lo):
        p0[row] = hi  # p = hi - x
        add("box", k, row, -1.0)
    else:
        p0[row] = lo
        if np.isfinite(hi):
            bounded.append((len(columns["box"]), row))
        add("box", k, row, 1.0)


def _couple_boxes(problem, M, q, names, bounded) -> None:  # type: ignore[no-untyped-def]
    boxes = [j for j, (name, _) in enumerate(names) if name == "box"]
    slacks = [j for j, (name, _) in enumerate(names) if name == "slack"]
    for s, (position, row) in zip(slacks, bounded):
        x = boxes[position]
        M[x, s] = 1.0
        M[s, x] = -1.0
        q[s] = problem.hi[row] - problem.lo[row]


def _couple_friction(problem, M, q, names) -> None:  # type: ignore[no-untyped-def]
    normal = {block: j for j, (name, block) in enumerate(names) if name == "normal"}
    betas: dict[int, list[int]] = {}
    for j, (name, block) in enumerate(names):
        if name == "beta":
            betas.setdefault(block, []).append(j)
    for j, (name, block) in enumerate(names):
        if name != "lambda":
            continue
        M[betas[block], j] = 1.0
        M[j, betas[block]] = -1.0
        q[j] = problem.r0[block]
        if block in normal:
            mu = problem.friction.mu[block]
            M[j, normal[block]] = mu
            if problem.associated:
                M[normal[block], j] = -mu
