"""The polyhedral LCP of a contact problem, in the variable order of st96 eq. 29: free, β, c_n, box, slack, λ.

With impulses `p = P z + p0` and `u = W p + q`, the rows of β, c_n and of equalities are the columns of P against u,
so the matrix is `Pᵀ W P` plus the incidence of the friction bounds and boxes:

    w_β = D^T u_t + λ e          w_c = u_n (- mu λ for the associated law, ah03 eq. 2.10)
    w_λ = mu c_n + r0 - e^T β    free rows: u = 0        box: w_x = u + s, w_s = hi - lo - x, p = lo + x

P and the incidence depend on the laws and friction sets alone, not on the step's numbers; they are made once for each
combination that occurs and kept for the next steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .. import _check
from .._check import FloatArray, IntArray
from .laws import BOX, EQUALITY, UNILATERAL

if TYPE_CHECKING:
    from .contact_problem import ContactProblem

# groups of unknowns of the LCP, in their order
GROUPS = ("free", "beta", "normal", "box", "slack", "lambda")


@dataclass(frozen=True)
class PolyhedralLCP:
    """A mixed LCP `0 <= z ⟂ M z + q >= 0` (z free and the row zero where `free`), with `p = P z + p0`.

    `names` says what each variable is: ("free" | "beta" | "normal" | "box" | "slack" | "lambda", block). unit_z and
    unit_w (n,): natural units of z and of the rows, in which impulses are velocities times the inertia of the contacts.
    """

    M: FloatArray
    q: FloatArray
    free: npt.NDArray[np.bool_]
    P: FloatArray
    p0: FloatArray
    names: tuple[tuple[str, int], ...]
    unit_z: FloatArray
    unit_w: FloatArray

    def in_units(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """(M, q, d, c) of the same problem without units of mass and length: z is c times its solution.

        c and the factors of rows are powers of two, so that no bit is lost; d is a covering vector of ones in the
        natural units, which chooses the same path of Lemke's method whatever the user's units are.
        """
        c, r = _power_of_two(self.unit_z), 1.0 / _power_of_two(self.unit_w)
        return r[:, None] * self.M * c, r * self.q, r * self.unit_w, c

    def impulses(self, z: FloatArray) -> FloatArray:
        """The impulses p (nr,) of a solution z."""
        return self.P @ z + self.p0


@dataclass(frozen=True)
class _Structure:
    """What does not change from step to step: the map P, the incidence E, and where λ and slacks sit."""

    P: FloatArray
    E: FloatArray
    free: npt.NDArray[np.bool_]
    names: tuple[tuple[str, int], ...]
    slack_at: IntArray
    slack_row: IntArray
    lambda_at: IntArray
    lambda_block: IntArray
    row: IntArray  # of each variable: the first it acts on
    impulse: npt.NDArray[np.bool_]  # whether it is an impulse, and its own row a velocity; else the other way round


def _power_of_two(x: FloatArray) -> FloatArray:
    """The powers of two next to x > 0."""
    mantissa, exponent = np.frexp(x)
    return np.ldexp(1.0, exponent - (mantissa <= np.sqrt(0.5)))


# structures of the last problems, by all that they depend on
_KEPT: dict[object, _Structure] = {}


def to_lcp(problem: ContactProblem, directions: int = 8) -> PolyhedralLCP:
    """Build the LCP; smooth friction sets are replaced by `directions` directions."""
    s = _structure(problem, _check.count("directions", directions))
    W = problem.delassus()
    p0 = np.zeros(problem.nr)
    u0 = problem.q
    if (problem.law == BOX).any():
        p0 = _box_offset(problem)
        u0 = W @ p0 + u0
    M = s.P.T @ W @ s.P + s.E
    q = s.P.T @ u0
    q[s.lambda_at] = problem.r0[s.lambda_block]
    q[s.slack_at] = problem.hi[s.slack_row] - problem.lo[s.slack_row]
    unit_z, unit_w = _units(problem, s, W)
    return PolyhedralLCP(M, q, s.free, s.P, p0, s.names, unit_z, unit_w)


def _units(problem: ContactProblem, s: _Structure, W: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The natural units of variables and rows: a mass, and metres for rotations.

    The mass is what blocks feel in the direction in which they are heaviest: the inverse of the mean smallest
    eigenvalue of their W. For a contact of one body in the plane that is the mass of the body, wherever it touches.
    """
    mass = 1.0 / (float(np.mean([_lightness(problem, W, k) for k in range(problem.nk)] or [1.0])) or 1.0)
    slips = np.array([group in ("beta", "lambda") and problem.law[k] == UNILATERAL for group, k in s.names], dtype=bool)
    length = np.where(slips, 1.0, problem.length[s.row]) if len(s.row) else np.ones(0)  # vertices bring their own
    impulse, velocity = mass * length, 1.0 / length
    return np.where(s.impulse, impulse, velocity), np.where(s.impulse, velocity, impulse)


def _lightness(problem: ContactProblem, W: FloatArray, k: int) -> float:
    """The smallest eigenvalue of W and C in block k, with rows in metres; their mean where that is round-off."""
    rows = slice(problem.row_ptr[k], problem.row_ptr[k + 1])
    length = problem.length[rows]
    W_block = W[rows, rows] * np.outer(length, length) + np.diag(problem.C[rows] * length**2)
    mean = float(np.trace(W_block)) / len(W_block)
    least = float(np.linalg.eigvalsh(0.5 * (W_block + W_block.T))[0])
    return least if least > 1e-9 * mean else mean


def _structure(problem: ContactProblem, directions: int) -> _Structure:
    bounds = np.isfinite(problem.lo) * 2 + np.isfinite(problem.hi)
    f = problem.friction
    name = (
        f.sets, f.set_of.tobytes(), f.mu.tobytes(), problem.law.tobytes(), problem.row_ptr.tobytes(), bounds.tobytes(),
        (problem.r0 > 0).tobytes(), directions, problem.associated,
    )  # fmt: skip
    if name not in _KEPT:
        if len(_KEPT) >= 128:
            _KEPT.pop(next(iter(_KEPT)))  # the oldest
        _KEPT[name] = _build(problem, directions)
    return _KEPT[name]


def _build(problem: ContactProblem, directions: int) -> _Structure:
    # (group, block, row or slice, value, row) of every column; λ and slacks have no impulse of their own
    columns: dict[str, list[tuple[int, slice, FloatArray | float]]] = {group: [] for group in GROUPS}
    for k, (start, stop) in enumerate(zip(problem.row_ptr[:-1].tolist(), problem.row_ptr[1:].tolist())):
        law = problem.law[k]
        if law == EQUALITY:
            columns["free"] += [(k, slice(row, row + 1), 1.0) for row in range(start, stop)]
        elif law == BOX:
            for row in range(start, stop):
                _add_box(problem, columns, k, row)
        else:
            first = start
            if law == UNILATERAL:
                columns["normal"].append((k, slice(start, start + 1), 1.0))
                first = start + 1
            if stop > first and (problem.friction.mu[k] > 0 or problem.r0[k] > 0):
                for row, D in problem.friction.groups(k, directions):  # a product of sets: one λ for each
                    rows = slice(first + row, first + row + D.shape[1])
                    columns["beta"] += [(k, rows, d) for d in D]
                    columns["lambda"].append((k, rows, 0.0))
    flat = [(group, *column) for group in GROUPS for column in columns[group]]
    names = tuple((group, block) for group, block, _, _ in flat)
    P = np.zeros((problem.nr, len(flat)))
    for j, (group, _, rows, values) in enumerate(flat):
        if group not in ("slack", "lambda"):
            P[rows, j] = values
    where = {group: np.array([j for j, (g, _) in enumerate(names) if g == group], dtype=np.int64) for group in GROUPS}
    E = np.zeros((len(flat), len(flat)))
    _couple_friction(problem, E, names, [rows.start for _, _, rows, _ in flat])
    slack_row = np.array([rows.start for _, rows, _ in columns["slack"]], dtype=np.int64)
    box_of_row = {rows.start: j for j, (_, rows, _) in zip(where["box"].tolist(), columns["box"])}
    for s, row in zip(where["slack"].tolist(), slack_row.tolist()):
        E[box_of_row[row], s] = 1.0
        E[s, box_of_row[row]] = -1.0
    free = np.array([group == "free" for group, _ in names], dtype=bool)
    lambda_block = np.array([block for block, _, _ in columns["lambda"]], dtype=np.int64)
    acts_on = np.array([rows.start for _, _, rows, _ in flat], dtype=np.int64)
    impulse = np.array([group not in ("slack", "lambda") for group, _ in names], dtype=bool)
    return _Structure(P, E, free, names, where["slack"], slack_row, where["lambda"], lambda_block, acts_on, impulse)


def _add_box(
    problem: ContactProblem, columns: dict[str, list[tuple[int, slice, FloatArray | float]]], k: int, row: int
) -> None:
    """p = lo + x with a slack at hi, p = hi - x with hi alone, or a free impulse without bounds."""
    here = slice(row, row + 1)
    if np.isfinite(problem.lo[row]):
        columns["box"].append((k, here, 1.0))
        if np.isfinite(problem.hi[row]):
            columns["slack"].append((k, here, 0.0))
    elif np.isfinite(problem.hi[row]):
        columns["box"].append((k, here, -1.0))
    else:
        columns["free"].append((k, here, 1.0))


def _box_offset(problem: ContactProblem) -> FloatArray:
    row_law = np.repeat(problem.law, np.diff(problem.row_ptr))
    start = np.where(np.isfinite(problem.lo), problem.lo, np.where(np.isfinite(problem.hi), problem.hi, 0.0))
    return np.where(row_law == BOX, start, 0.0)


def _couple_friction(
    problem: ContactProblem, E: FloatArray, names: tuple[tuple[str, int], ...], first: list[int]
) -> None:
    normal = {block: j for j, (group, block) in enumerate(names) if group == "normal"}
    betas: dict[int, list[int]] = {}  # by the first row of their set
    for j, (group, _) in enumerate(names):
        if group == "beta":
            betas.setdefault(first[j], []).append(j)
    for j, (group, block) in enumerate(names):
        if group != "lambda":
            continue
        E[betas[first[j]], j] = 1.0
        E[j, betas[first[j]]] = -1.0
        if block in normal:
            mu = problem.friction.mu[block]
            E[j, normal[block]] = mu
            if problem.associated:
                E[normal[block], j] = -mu
