"""Joints that hold the same thing more than once: which of their demands no velocity can meet, and what is left.

In a closed loop some combinations z of the rows of rigid joints may move nothing, Hᵀz = 0. What they demand,
zᵀ(H v + b), is then zero for every velocity or for none. On a mechanism that fits exactly the demands agree; after a
step of length h the joints are open by a truncation of order h², so that b = gap/h no longer lies in the range of H,
and H itself is turned a little: what was zero is a singular value of that order, and v would have to be huge along it,
or to stop. Neither is mechanics. Such combinations demand nothing here: b is shifted, in these directions alone, to
what v does.

Rows are measured by √W_rr, W = H M⁻¹ Hᵀ: the velocity that a unit of kinetic energy gives a row acting alone. So
scaled, W has the diagonal 1, sizes are free of units, and projections are those of the metric of the masses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._check import FloatArray, IntArray
from .dynamics import Bodies, Dense
from .laws import EQUALITY

if TYPE_CHECKING:
    from .contact_problem import ContactProblem

# What a row may have left of its own mobility W_rr, once the rows that it depends on are held, to count as one of its
# own: an angle of 1e-5 between what it holds and what they hold. To close a gap there takes 1e5 times the motion that
# it takes alone, far beyond where rows taken at one configuration say anything. Joints open by truncation leave (turn
# per step)⁴ to rows that have nothing, 1e-15 to 1e-11 at the steps that linkages want; long or slender mechanisms that
# are determined have 1e-5.
DEPENDENT_SHARE = 1e-10
# of the bodies' own velocity, in the metric of the masses: what contradicts by more is no truncation
TRUNCATION_SHARE = 0.1
RANK_MAX_ROWS = 1500  # rows of a mechanism up to which their rank is computed


def closed_loops(bodies: IntArray, moves: np.ndarray) -> list[IntArray]:
    """The joints in closed loops, mechanism by mechanism; where chains end, joints hold nothing twice.

    bodies (n, 2): what each joint connects; moves (nb,): whether each of these bodies can move.
    """
    left = np.arange(len(bodies))
    while True:
        ends = bodies[left]
        count = np.bincount(ends.ravel(), minlength=len(moves))
        last = (moves[ends] & (count[ends] == 1)).any(axis=1)
        if not last.any():
            break
        left = left[~last]
    return [left[part] for part in mechanisms(bodies[left], moves)]


def mechanisms(bodies: IntArray, moves: np.ndarray) -> list[IntArray]:
    """Joints in parts that share no body that can move."""
    root = list(range(len(moves)))

    def find(i: int) -> int:
        while root[i] != i:
            root[i] = i = root[root[i]]
        return i

    for a, b in bodies[moves[bodies].all(axis=1)].tolist():
        root[find(a)] = find(b)
    first = np.where(moves[bodies[:, 0]], bodies[:, 0], bodies[:, 1])
    part = np.array([find(i) for i in first.tolist()], dtype=np.int64)
    return [np.flatnonzero(part == i) for i in dict.fromkeys(part.tolist())]


@dataclass(frozen=True)
class Redundant:
    """The rigid rows of a mechanism that hold something more than once.

    rows (m,); moving (nv,): the velocities that are in them; unit (m,): √W_rr; null (m, k): the combinations that move
    nothing, orthonormal in rows divided by `unit`; factor, order: Cholesky's of the scaled W, of which the first m - k
    rows of `order` are independent.
    """

    rows: IntArray
    moving: np.ndarray
    unit: FloatArray
    null: FloatArray
    factor: FloatArray
    order: IntArray

    def free(self, x: FloatArray) -> FloatArray:
        """The part of x (m,), in scaled rows, that no velocity can give and no impulse needs."""
        return np.asarray(np.einsum("ik,k->i", self.null, np.einsum("ik,i->k", self.null, x)))

    def pull(self, u: FloatArray) -> FloatArray:
        """(m,) scaled impulses that cause the velocities u (m,) in scaled rows, up to their free part."""
        from .redundant_kernels import determined

        x = np.empty(len(u))
        determined(self.factor, len(u) - self.null.shape[1], self.order, u - self.free(u), x)
        return x


def redundant(problem: ContactProblem) -> list[Redundant]:
    """The mechanisms of rigid joints whose rows depend on each other; none of more than `RANK_MAX_ROWS` rows."""
    form, law = problem.dynamics, np.repeat(problem.law, np.diff(problem.row_ptr))
    rigid = (law == EQUALITY) & (problem.C == 0.0)
    if isinstance(form, Bodies):
        parts = _looped(problem, form, rigid)
    elif isinstance(form, Dense) and form.G is form.H:
        parts = [np.flatnonzero(rigid)]
    else:
        return []
    found = (_find_redundant(problem, rows) for rows in parts if 1 < len(rows) <= RANK_MAX_ROWS)
    return [one for one in found if one is not None]


def _looped(problem: ContactProblem, form: Bodies, rigid: np.ndarray) -> list[IntArray]:
    """The rigid rows of each mechanism that has a closed loop."""
    block = np.repeat(np.arange(problem.nk), np.diff(problem.row_ptr))
    joints = np.unique(block[rigid])
    bodies = np.stack([form.body_a, form.body_b], axis=1)[joints]
    bodies[bodies < 0] = form.nbody
    moves = np.append(~form.prescribed.reshape(form.nbody, -1).all(axis=1), False)
    held = moves[bodies].any(axis=1)  # not: a joint between bodies that cannot move
    joints, bodies = joints[held], bodies[held]
    loops = closed_loops(bodies, moves)
    if not loops:
        return []
    looped = np.concatenate(loops)
    parts = [part for part in mechanisms(bodies, moves) if np.isin(part, looped).any()]
    return [np.flatnonzero(rigid & np.isin(block, joints[part])) for part in parts]


def _find_redundant(problem: ContactProblem, rows: IntArray) -> Redundant | None:
    from .redundant_kernels import combinations, delassus_of, eliminate

    form: Any = problem.dynamics
    if isinstance(form, Bodies):
        block = np.searchsorted(problem.row_ptr, rows, side="right") - 1
        W = np.empty((len(rows), len(rows)))
        delassus_of(rows, block, form.body_a, form.body_b, form.Ja, form.Jb, form.Minv, W)
        moving = np.zeros(form.nbody + 1, dtype=bool)
        moving[form.body_a[block]] = moving[form.body_b[block]] = True
        moving = np.repeat(moving[:-1], form.Minv.shape[1])
    else:
        W, moving = form.delassus_among(rows), np.ones(form.nv, dtype=bool)
    unit = np.sqrt(W.diagonal())
    if not (unit > 0.0).all() or not np.isfinite(W).all():
        return None
    W = np.ascontiguousarray(W / np.outer(unit, unit))
    order = np.empty(len(rows), dtype=np.int64)
    rank = int(eliminate(W, DEPENDENT_SHARE, order))
    if rank == len(rows):
        return None
    null = np.empty((len(rows), len(rows) - rank))
    combinations(W, rank, order, null)
    return Redundant(rows, moving, unit, null, W, order)


@dataclass(frozen=True)
class Agreement:
    """What the rows of a problem can do together: b (nr,) that they can meet, and impulses p (nr,) to start from.

    left [m/s, rad/s]: the most by which b differs from what was demanded.
    """

    b: FloatArray
    p: FloatArray
    left: float


def find_agreement(problem: ContactProblem, p: FloatArray) -> Agreement | None:
    """Demands that rigid joints can meet, near the velocity that impulses p (nr,) give; None where there is no need.

    Of all velocities at which the joints do what can be done, the one nearest to that of p is taken, and redundant
    combinations demand what they do there: their impulses are those of least size. None too where they contradict each
    other by more than a share of the motion: that is no truncation, but joints or given motions that do not fit.
    """
    if not np.isfinite(p).all() or not problem.redundant:
        return None
    form: Any = problem.dynamics
    better = p.copy()
    missed = form.velocity_rows(problem.velocity(p)) + problem.b
    for part in problem.redundant:
        scaled = p[part.rows] * part.unit - part.pull(missed[part.rows] / part.unit)
        better[part.rows] = (scaled - part.free(scaled)) / part.unit
    v = problem.velocity(better)
    missed = form.velocity_rows(v) + problem.b
    energies = [w * form.mass(w) for w in (v, problem.v_free)]  # twice those of each velocity
    b, left = problem.b.copy(), 0.0
    for part in problem.redundant:
        none = part.free(missed[part.rows] / part.unit)
        if float((none**2).sum()) > TRUNCATION_SHARE**2 * max(float(energy[part.moving].sum()) for energy in energies):
            return None
        change = part.unit * none
        b[part.rows] -= change
        left = max(left, float(np.abs(change).max()))
    return Agreement(b, better, left) if left > 0.0 else None
