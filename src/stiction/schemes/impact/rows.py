"""The contacts of an impact that act on each other, as small dense arrays.

Joints hold during an impact, so that they are eliminated: W is the Delassus operator of the contacts with the joints
in place. Motors, springs, dry friction and every other finite force have no impulse in no time, and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..._check import FloatArray, IntArray
from ...friction.sets import Coulomb, Frictionless
from ...friction.table import FrictionTable
from ...problem.contact_problem import ContactProblem
from ...problem.dynamics import Delassus
from ...problem.laws import EQUALITY, UNILATERAL


@dataclass(frozen=True)
class Group:
    """Contacts `blocks` (m,) of a problem with rows `rows` (n,), of which contact i has ptr[i] to ptr[i + 1].

    W (n, n) and u (n,) at the start; mu (m,): the coefficient of Coulomb's law, nan where friction obeys another;
    friction and length (n,) as in the problem; joints (j,) rows that are held, which take the impulses `held` @ p for
    impulses p of the contacts; island: every row of the problem that moves with them.
    """

    blocks: IntArray
    rows: IntArray
    ptr: IntArray
    W: FloatArray
    u: FloatArray
    mu: FloatArray
    friction: FrictionTable
    length: FloatArray
    joints: IntArray
    held: FloatArray
    island: IntArray

    @property
    def lone(self) -> bool:
        """Whether it is one contact, with Coulomb's law or without friction."""
        return len(self.blocks) == 1 and self.coulomb

    @property
    def coulomb(self) -> bool:
        """Whether friction obeys Coulomb's law at every contact."""
        return not bool(np.isnan(self.mu).any())

    @property
    def normal(self) -> IntArray:
        """(m,) the normal rows."""
        return self.ptr[:-1]

    def spread(self, p: FloatArray, out: FloatArray) -> None:
        """Write impulses p (n,), and those of the joints, to the rows of the problem."""
        out[self.island] = 0.0
        out[self.rows] = p
        out[self.joints] = self.held @ p


def groups(problem: ContactProblem) -> Iterator[Group]:
    """Each island of a problem in which a contact approaches."""
    contact = problem.law == UNILATERAL
    label = problem.islands()
    # bodies that move together approach each other by round-off, and that is no impact
    noise = 1e-13 * problem.dynamics.row_magnitude(problem.v_free)[problem.row_ptr[:-1]]
    near = contact & (problem.q[problem.row_ptr[:-1]] < -noise)
    for island in np.unique(label[near]).tolist():
        yield _group(problem, np.flatnonzero((label == island) & contact), np.flatnonzero(label == island))


def _group(problem: ContactProblem, blocks: IntArray, island: IntArray) -> Group:
    ptr = problem.row_ptr
    rows, joints = _rows(ptr, blocks), _rows(ptr, island[problem.law[island] == EQUALITY])
    joints = joints[problem.C[joints] == 0.0]
    dynamics = problem.dynamics
    assert not isinstance(dynamics, Delassus)
    every = np.concatenate([rows, joints])
    W, n = dynamics.delassus_among(every), len(rows)
    held = -np.linalg.pinv(W[n:, n:], hermitian=True) @ W[n:, :n]  # a joint may be held twice
    sizes = np.concatenate([[0], np.cumsum(np.diff(ptr)[blocks])]).astype(np.int64)
    mu = np.array([_coefficient(problem, int(k)) for k in blocks], dtype=np.float64)
    reduced = W[:n, :n] + W[:n, n:] @ held
    return Group(
        blocks=blocks,
        rows=rows,
        ptr=sizes,
        W=np.ascontiguousarray(reduced),
        u=problem.q[rows],
        mu=mu,
        friction=problem.friction.take(blocks),
        length=problem.length[rows],
        joints=joints,
        held=held,
        island=_rows(ptr, island),
    )


def _rows(ptr: IntArray, blocks: IntArray) -> IntArray:
    parts = [np.arange(ptr[k], ptr[k + 1]) for k in blocks]
    return np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, dtype=np.int64)


def _coefficient(problem: ContactProblem, k: int) -> float:
    """mu of a contact with Coulomb's law, 0 without friction, nan for other sets and laws of speed."""
    table = problem.friction
    number = int(table.set_of[k])
    made, dim = table.sets[number], int(table.dims[number])
    if dim == 0 or isinstance(made, Frictionless):
        return 0.0
    if k in table.varying:
        return float("nan")
    if isinstance(made, Coulomb):
        return float(table.mu[k])
    # an interval is a disk in the plane, whoever made it
    ends = [made.support([s]) for s in (1.0, -1.0)] if dim == 1 else [0.0, np.nan]
    return float(table.mu[k] * ends[0]) if ends[0] == ends[1] else float("nan")
