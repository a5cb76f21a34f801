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
from typing import Any, cast

import numpy as np

from .._check import FloatArray, IntArray
from ..problem.contact_problem import ContactProblem
from ..problem.laws import Mode
from ..solvers.base import Solution
from ..systems.base import Candidates, State, System
from .spring_kernels import KT, NORMAL, XI

AXES = slice(XI, XI + 3)  # of the displacement in what a contact remembers
ACROSS = slice(NORMAL, NORMAL + 3)  # and of its normal


def memory_error(
    system: System, candidates: Candidates, old: State, new: State, h: float, problem: ContactProblem,
    solution: Solution,
) -> float:  # fmt: skip
    """The largest kt |Δξ| [N] between what contacts remember and what two steps ask for.

    The step of length h went from `old` to `new`, with the impulses of `solution`, among `candidates`.
    """
    left, model = new.springs, cast(Any, system)
    form: Any = problem.dynamics
    tangents = _Tangents.of(form.Ja, problem.row_ptr)
    found, at = old.find(problem.key) if len(old.springs) else (np.zeros(0, np.int64), np.zeros(0, np.int64))
    elastic = (left[found, KT] > 0.0) & (old.springs[at, KT] > 0.0)
    found, kept = found[elastic], old.springs[at[elastic]]
    xi, kt, held = _after(h, kept, left, found, tangents, problem, solution), left[:, KT], left[:, AXES]
    a, b, nb = form.body_a, form.body_b, len(form.Minv)
    places = model.bodies(old.q), model.bodies(new.q)
    if len(found):  # and the step before, in the same arrays
        start, _ = model.move(old.q, -old.v, h)
        Ja = model.evaluate(candidates, old.t - h, start).rows.Ja
        impulse = tangents.vectors(old.warm(problem.key, problem.row_ptr), Ja)[found]
        xi = np.concatenate([xi, -impulse / (h * kept[:, KT, None])])
        kt, held = np.concatenate([kt, kept[:, KT]]), np.concatenate([held, kept[:, AXES]])
        a, b = np.concatenate([a, a[found] + nb]), np.concatenate([b, b[found] + nb])
        places = np.concatenate([places[0], model.bodies(start)]), np.concatenate([places[1], places[0]])
    missed = held - (_turned_in_plane if model.dim == 2 else _turned_in_space)(*places, a, b, xi)
    return float(np.sqrt(np.max(kt**2 * np.einsum("ki,ki->k", missed, missed), initial=0.0)))


def _after(
    h: float, kept: FloatArray, left: FloatArray, found: IntArray, tangents: _Tangents, problem: ContactProblem,
    solution: Solution,
) -> FloatArray:  # fmt: skip
    """(nk, 3) what contacts remember of a step, before it is turned with them.

    kept: what those numbered `found` have remembered before it; left (nk, 8): what all do afterwards, for kt.
    """
    form: Any = problem.dynamics
    first, kt, dim = problem.row_ptr[:-1], left[:, KT], tangents.dim
    normal = np.zeros((len(found), 3))
    normal[:, :dim] = form.Ja[first[found], :dim]
    xi = h * tangents.vectors(form.velocity_rows(solution.v), form.Ja)
    share = np.minimum(1.0, kept[:, KT] / kt[found])
    share *= np.einsum("ki,ki->k", kept[:, ACROSS], normal) >= -0.5  # turned further it is another contact
    xi[found] += share[:, None] * _least_turn(kept[:, ACROSS], normal, kept[:, AXES])
    force = tangents.vectors(solution.p, form.Ja)
    slips = (solution.modes == Mode.SLIP) & (kt > 0.0)
    xi[slips] = -force[slips] / (h * kt[slips, None])
    xi[(solution.p[first] <= 0.0) | (kt == 0.0)] = 0.0
    return xi


@dataclass(frozen=True)
class _Tangents:
    """The rows of slip of all blocks, as they follow each other: row (n,), and where those of each of `block` begin."""

    dim: int
    count: int
    row: IntArray
    block: IntArray
    begin: IntArray

    @classmethod
    def of(cls, Ja: FloatArray, row_ptr: IntArray) -> _Tangents:
        """Rows that are no normal and have a part along the axes: spin and rolling have none."""
        dim = 2 if Ja.shape[1] == 3 else 3
        slips = (Ja[:, :dim] != 0.0).any(axis=1)
        slips[row_ptr[:-1]] = False
        row = np.flatnonzero(slips)
        block, begin = np.unique(np.searchsorted(row_ptr, row, side="right") - 1, return_index=True)
        return cls(dim, len(row_ptr) - 1, row, block, begin)

    def vectors(self, values: FloatArray, Ja: FloatArray) -> FloatArray:
        """(nk, 3) in space, of values (nr,) in the rows Ja, by block."""
        out = np.zeros((self.count, 3))
        if len(self.row):
            parts = values[self.row, None] * Ja[self.row, : self.dim]
            out[self.block, : self.dim] = np.add.reduceat(parts, self.begin)
        return out


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


def _turned_in_plane(q0: FloatArray, q1: FloatArray, a: IntArray, b: IntArray, xi: FloatArray) -> FloatArray:
    """(n, 3) xi, turned by the mean rotation of bodies a and b from q0 to q1 (nb, 3)."""
    angle = q1[:, 2] - q0[:, 2]
    half = 0.5 * (angle[a] + angle[b])
    c, s = np.cos(half), np.sin(half)
    return np.stack([c * xi[:, 0] - s * xi[:, 1], s * xi[:, 0] + c * xi[:, 1], xi[:, 2]], axis=1)


def _turned_in_space(q0: FloatArray, q1: FloatArray, a: IntArray, b: IntArray, xi: FloatArray) -> FloatArray:
    """The same from q0 to q1 (nb, 7), by the sum of both rotations' quaternions."""
    w0, x0, w1, x1 = q0[:, 3:4], q0[:, 4:7], q1[:, 3:4], q1[:, 4:7]
    turn = np.concatenate(
        [w0 * w1 + np.einsum("ki,ki->k", x0, x1)[:, None], w0 * x1 - w1 * x0 + _cross(x0, x1)], axis=1
    )
    one, two = turn[a], turn[b]
    mean = one + np.copysign(1.0, np.einsum("ki,ki->k", one, two))[:, None] * two
    mean /= np.sqrt(np.einsum("ki,ki->k", mean, mean))[:, None]
    across = _cross(mean[:, 1:], xi)
    return xi + 2.0 * (mean[:, :1] * across + _cross(mean[:, 1:], across))


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """a × b: `np.cross` takes twice as long for few rows."""
    return a[:, [1, 2, 0]] * b[:, [2, 0, 1]] - a[:, [2, 0, 1]] * b[:, [1, 2, 0]]
