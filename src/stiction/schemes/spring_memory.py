"""What elastic contacts remember, computed a second time: the check `memory` in the certificate of a step.

A step that begins with a wrong displacement ξ meets every law: it holds the bodies where the wrong ξ says, and its
residual is as small as ever. Two steps can tell. Let q0 → q1 be a step of length h with the impulses p_t along the
tangents, R the mean rotation of the two bodies in it, and T the least rotation between two normals. Afterwards a
contact remembers

    open     ξ = 0
    slip     ξ = R (-p_t/(h kt))
    stick    ξ = R (s T ξ0 + h u_t)         s = min(1, kt of the step before/kt)

with ξ0 as the step before had left it. And ξ0 itself must be what the impulses of the step before ask for, which the
state holds beside it:

    ξ0 = R (-p_t/(h kt))                    of that step; where it stuck, up to the residual of its solve

That step began at q0 less the free flight of h with its velocities. Both are held against `State.springs`, and the
largest kt |Δξ| is the number [N]: the force by which the spring of a contact misses what its history asks for.

Everything here is NumPy, from states, poses and impulses: none of it is shared with `spring_kernels`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._check import FloatArray, IntArray
from ..problem.contact_problem import ContactProblem
from ..problem.laws import Mode
from ..solvers.base import Solution
from ..systems.base import Candidates, State, System
from .spring_kernels import KT, NORMAL, XI

AXES = slice(XI, XI + 3)  # of the displacement in what a contact remembers
ACROSS = slice(NORMAL, NORMAL + 3)  # and of its normal


@dataclass(frozen=True)
class _Tangents:
    """The rows of slip of some constraints: block (n,) of each, row (n,) in the problem, axis (n, 3) in space."""

    block: IntArray
    row: IntArray
    axis: FloatArray

    @classmethod
    def of(cls, Ja: FloatArray, row_ptr: IntArray) -> _Tangents:
        """Rows that are no normal and have a part along the axes: spin and rolling have none."""
        dim = 2 if Ja.shape[1] == 3 else 3
        first = np.zeros(len(Ja), dtype=bool)
        first[row_ptr[:-1]] = True
        row = np.flatnonzero(~first & (Ja[:, :dim] != 0.0).any(axis=1))
        block = np.repeat(np.arange(len(row_ptr) - 1), np.diff(row_ptr))[row]
        return cls(block, row, _in_space(Ja[row, :dim]))

    def vectors(self, values: FloatArray, count: int) -> FloatArray:
        """(count, 3) in space, of values (nr,) in the rows, by block."""
        parts = values[self.row, None] * self.axis
        return np.stack([np.bincount(self.block, parts[:, j], count) for j in range(3)], axis=1)


def memory_error(
    system: System, candidates: Candidates, old: State, new: State, h: float, problem: ContactProblem,
    solution: Solution,
) -> float:  # fmt: skip
    """The largest kt |Δξ| [N] between what contacts remember and what two steps ask for.

    The step of length h went from `old` to `new`, with the impulses of `solution`, among `candidates`.
    """
    left, model = new.springs, system
    found, at = old.find(problem.key)
    if len(old.springs):
        elastic = (left[found, KT] > 0.0) & (old.springs[at, KT] > 0.0)
        found, at = found[elastic], at[elastic]
    else:  # nothing was remembered: a start
        found, at = found[:0], at[:0]
    asked = _after(h, old.springs[at], left, (found, problem, solution), _Poses.of(model, old.q, new.q))
    worst = _largest_force(left[:, KT], left[:, AXES] - asked)
    if len(found):
        asked = _before(model, candidates, old, h, found, old.springs[at, KT])
        worst = max(worst, _largest_force(old.springs[at, KT], old.springs[at, AXES] - asked))
    return worst


def _after(
    h: float, kept: FloatArray, left: FloatArray, step: tuple[IntArray, ContactProblem, Solution], poses: _Poses
) -> FloatArray:
    """(nk, 3) what contacts remember of a step; kept: what those numbered step[0] have remembered before it."""
    found, problem, solution = step
    form: Any = problem.dynamics
    nk, kt = len(left), left[:, KT]
    inverse = np.divide(1.0, h * kt, out=np.zeros(nk), where=kt > 0.0)
    tangents = _Tangents.of(form.Ja, problem.row_ptr)
    normal = _in_space(form.Ja[problem.row_ptr[:-1], : poses.dim])
    xi = h * tangents.vectors(form.velocity_rows(solution.v), nk)
    stiffer = np.minimum(1.0, kept[:, KT] / kt[found])
    near = np.einsum("ki,ki->k", kept[:, ACROSS], normal[found]) >= -0.5  # turned further it is another contact
    start = _least_turn(kept[:, ACROSS], normal[found], kept[:, AXES])
    xi[found] += (stiffer * near)[:, None] * start
    slips = solution.modes == Mode.SLIP
    xi[slips] = -(inverse[:, None] * tangents.vectors(solution.p, nk))[slips]
    xi[(solution.p[problem.row_ptr[:-1]] <= 0.0) | (kt == 0.0)] = 0.0
    return poses.turned(form.body_a, form.body_b, xi)


def _before(
    system: Any, candidates: Candidates, old: State, h: float, found: IntArray, kt: FloatArray
) -> FloatArray:
    """(n, 3) what the contacts `found` must remember of the step that ended in `old`, by its impulses."""
    start, _ = system.move(old.q, -old.v, h)
    rows, row_ptr = system.evaluate(candidates, old.t - h, start).rows, candidates.row_ptr
    impulse = _Tangents.of(rows.Ja, row_ptr).vectors(old.warm(candidates.key, row_ptr), len(candidates.key))[found]
    xi = -impulse / (h * kt[:, None])
    return _Poses.of(system, start, old.q).turned(rows.body_a[found], rows.body_b[found], xi)


def _largest_force(kt: FloatArray, xi: FloatArray) -> float:
    return float(np.sqrt(np.max(kt**2 * np.einsum("ki,ki->k", xi, xi), initial=0.0)))


def _in_space(vectors: FloatArray) -> FloatArray:
    """(n, 3) of vectors (n, 2|3)."""
    return np.pad(vectors, ((0, 0), (0, 3 - vectors.shape[1])))


def _least_turn(old: FloatArray, normal: FloatArray, xi: FloatArray) -> FloatArray:
    """(n, 3) xi turned by the least rotation from `old` to `normal`, without a part along this.

    That rotation is two reflections: on the plane across the old normal, and on the one across the sum of both.
    """
    across = old + normal
    size = np.einsum("ki,ki->k", across, across)
    first = xi - 2.0 * np.einsum("ki,ki->k", old, xi)[:, None] * old
    share = np.divide(2.0 * np.einsum("ki,ki->k", across, first), size, out=np.zeros(len(size)), where=size > 0.0)
    turned = first - share[:, None] * across
    return turned - np.einsum("ki,ki->k", normal, turned)[:, None] * normal


@dataclass(frozen=True)
class _Poses:
    """How bodies turn in a step: angle (nb,) in the plane, turn (nb, 4) as quaternions in space, w first."""

    dim: int
    turn: FloatArray

    @classmethod
    def of(cls, system: Any, q0: FloatArray, q1: FloatArray) -> _Poses:
        """From q0 to q1."""
        one, two = system.bodies(q0), system.bodies(q1)
        if system.dim == 2:
            return cls(2, two[:, 2] - one[:, 2])
        w0, x0, w1, x1 = one[:, 3], one[:, 4:7], two[:, 3], two[:, 4:7]
        turn = np.empty((len(one), 4))
        turn[:, 0] = w0 * w1 + np.einsum("ki,ki->k", x0, x1)
        turn[:, 1:] = w0[:, None] * x1 - w1[:, None] * x0 + _cross(x0, x1)
        turn[turn[:, 0] < 0.0] *= -1.0
        return cls(3, turn)

    def turned(self, a: IntArray, b: IntArray, xi: FloatArray) -> FloatArray:
        """(n, 3) vectors, by the mean rotation of bodies a and b."""
        if self.dim == 2:
            half = 0.5 * (self.turn[a] + self.turn[b])
            c, s = np.cos(half), np.sin(half)
            return np.stack([c * xi[:, 0] - s * xi[:, 1], s * xi[:, 0] + c * xi[:, 1], xi[:, 2]], axis=1)
        one, two = self.turn[a], self.turn[b]
        mean = one + np.where(np.einsum("ki,ki->k", one, two) < 0.0, -1.0, 1.0)[:, None] * two
        mean /= np.sqrt(np.einsum("ki,ki->k", mean, mean))[:, None]
        across = _cross(mean[:, 1:], xi)
        return xi + 2.0 * (mean[:, :1] * across + _cross(mean[:, 1:], across))


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """a × b by components: `np.cross` takes five times as long for few rows."""
    return np.stack(
        [
            a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1],
            a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2],
            a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0],
        ],
        axis=1,
    )  # fmt: skip
