"""Which rows of a system act at an instant, in which directions, and which forces are known beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._check import FloatArray, IntArray
from ..errors import ModelError
from ..friction.sets import FrictionSet
from ..friction.table import FrictionTable
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Dense
from ..problem.laws import BOX, DRY, UNILATERAL
from ..systems.model.kernels.mechanism import POSITION, SPEED, SPRING, STOP
from .instant import Instant
from .slip import opposing_face


class NeedsImpulse(ModelError):
    """No force can do at once what a contact, joint or motor demands at this state: an impulse comes first."""


class Rows:
    """The rows that a problem keeps, each a combination of the system's, and the forces that are known beforehand."""

    def __init__(self, now: Instant):
        self.now = now
        self.known = np.zeros(len(now.value))
        self.H: list[FloatArray] = []
        self.G: list[FloatArray] = []
        self.blocks: list[tuple[int, int, int]] = []  # rows, law, the number of the block in the system
        self.sets: list[FrictionSet | None] = []
        self.numbers: list[tuple[float, float]] = []  # mu, r0
        self.bounds: list[tuple[float, float]] = []

    def keep(
        self,
        k: int,
        law: int,
        rows: Any,
        *,
        friction: FrictionSet | None = None,
        mu: float = 0.0,
        r0: float = 0.0,
        acting: FloatArray | None = None,
        answering: FloatArray | None = None,
        bound: float = np.inf,
    ) -> None:
        """A block with the given rows, or with combinations of all: those that act, and those that answer."""
        unit = np.eye(len(self.known))[rows]
        H, G = unit if answering is None else answering, unit if acting is None else acting
        if len(H):
            self.H.append(H)
            self.G.append(G)
            self.blocks.append((len(H), law, k))
            self.sets.append(friction)
            self.numbers.append((mu, r0))
            self.bounds += [(-bound, bound)] * len(H)

    def problem(
        self, free: FloatArray, offset: FloatArray, still: FloatArray, *, fixed: bool = True
    ) -> tuple[ContactProblem, FloatArray]:
        """The problem with free motion `free` (nv,), known forces included, and the rows' offset (nr,).

        still: what prescribed bodies do. With it comes the map (nr, rows kept) from its unknowns to the system's rows.
        """
        now, n = self.now, len(self.known)
        M, H, prescribed = now.dense_rows()
        S, G = (np.vstack([np.zeros((0, n)), *parts]) for parts in (self.H, self.G))
        free = free + now.dynamics.velocity_change(self.known)
        sizes = [size for size, _, _ in self.blocks]
        law = np.array([law for _, law, _ in self.blocks], dtype=np.int64)
        at = np.array([k for _, _, k in self.blocks], dtype=np.int64)
        dims = [size - 1 if law == UNILATERAL else size if law == DRY else 0 for size, law, _ in self.blocks]
        mu, r0 = np.array(self.numbers).reshape(-1, 2).T
        table = FrictionTable.build(self.sets, dims)
        if len(mu):
            table = table._replace(mu=np.where(np.array(dims) > 0, mu, 0.0), fixed=fixed)
        lo, hi = np.array(self.bounds).reshape(-1, 2).T
        row_ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        normal = np.zeros(len(S), dtype=bool)
        normal[row_ptr[:-1]] = law == UNILATERAL
        length = np.abs(S) @ now.found.length / np.maximum(np.abs(S).sum(axis=1), 1e-300)
        length[normal] = 1.0
        problem = ContactProblem(
            Dense(M, S @ H, G @ H),
            v_free=free[now.moving],
            b=S @ (offset + prescribed @ still),
            row_ptr=row_ptr,
            law=law,
            friction=table,
            r0=r0,
            lo=lo,
            hi=hi,
            length=length,
            key=now.candidates.key[at],
        )
        return problem, G.T


def rubbing(
    made: Rows, now: Instant, table: FrictionTable, k: int, law: int, rows: slice, rest: float, r0: float
) -> None:
    """A contact or dry friction in the force–acceleration problem; r0: the radius without normal force [N]."""
    first, n = rows.start, len(now.value)
    if law == UNILATERAL:
        if not _touches(now, k, first, rest):
            return
        first += 1
    friction = slice(first, rows.stop)
    mu = float(table.mu[k])
    if first == rows.stop or (mu == 0.0 and r0 == 0.0):
        if law == UNILATERAL:
            made.keep(k, law, slice(rows.start, first))
        return
    face = opposing_face(table.sets[table.set_of[k]], mu, now.speed[friction], rest / now.found.length[friction])
    unit = np.eye(n)
    made.known[friction] += r0 * face.point
    left = face.basis @ unit[friction]
    if law == DRY:
        made.keep(k, law, rows, friction=face.left, mu=mu, r0=r0, acting=left, answering=left)
        return
    acts = unit[rows.start] + mu * (face.point @ unit[friction])
    acting, answering = np.vstack([acts, left]), np.vstack([unit[rows.start], left])
    made.keep(k, law, rows, friction=face.left, mu=mu, r0=r0, acting=acting, answering=answering)


def yielding(made: Rows, now: Instant, table: FrictionTable, k: int, rows: slice, rest: float) -> None:
    """A compliant contact (pr11 §5): its normal force is known, and friction is bounded by it."""
    assert now.found.soft is not None
    kn, gamma_n, gamma_t = now.found.soft[k]
    load = max(0.0, -kn * now.value[rows.start] - gamma_n * min(now.speed[rows.start], 0.0))
    made.known[rows.start] = load
    friction = slice(rows.start + 1, rows.stop)
    radius = float(table.mu[k]) * load
    if rows.stop == friction.start or radius == 0.0:
        return
    if np.isfinite(gamma_t):
        unit = table.sets[table.set_of[k]]
        made.known[friction] = unit.project(-gamma_t * now.speed[friction], radius)
    else:
        rubbing(made, now, table, k, DRY, friction, rest, radius)


def _touches(now: Instant, k: int, row: int, rest: float) -> bool:
    """Whether a closed contact stays so as far as velocities tell; refused where it is closing."""
    if now.speed[row] < -rest:
        raise NeedsImpulse(
            f"{now.name(k)} is closing at {-now.speed[row]:.3g} m/s, which no force can stop at once; "
            "find the impulses first (impulse_velocity), or give a larger rest."
        )
    return bool(now.speed[row] <= rest)


def must_hold(now: Instant, k: int, rows: IntArray, rest: float) -> None:
    """Refuse a joint whose rows move."""
    off = float(np.abs(now.speed[rows]).max(initial=0.0))
    if off > rest:
        raise NeedsImpulse(
            f"{now.name(k)} is pulled apart at {off:.3g} m/s (or rad/s), which no force can stop at once; "
            "find the impulses first (impulse_velocity), or give a larger rest."
        )


def driven(made: Rows, now: Instant, k: int, law: int, rows: slice, rest: float) -> None:
    """Joints, limits, motors and springs of a world in the force–acceleration problem."""
    mechanism = now.found.mechanism
    assert mechanism is not None
    block = mechanism.blocks[k]
    value, speed = now.value[rows], now.speed[rows]
    if block.mode == SPRING:
        made.known[rows] = -block.soft * value - block.damping * speed
    elif block.mode in (SPEED, POSITION):
        if abs(speed[0]) <= rest:
            made.keep(k, BOX, rows, bound=block.bound)
        elif np.isinf(block.bound):
            raise NeedsImpulse(
                f"{now.name(k)} is {speed[0]:.3g} off its speed and has no bound, so that it acts at once; "
                "find the impulses first (impulse_velocity)."
            )
        else:
            made.known[rows] = -np.sign(speed[0]) * block.bound
    else:
        soft = block.soft > 0.0
        pull = -value / np.where(soft, block.soft, 1.0)
        made.known[rows] = np.where(soft, np.maximum(pull, 0.0) if block.mode == STOP else pull, 0.0)
        if block.mode == STOP and not (soft.all() or (value[0] <= now.closed and _touches(now, k, rows.start, rest))):
            return
        stiff = np.arange(rows.start, rows.stop)[~soft]
        if block.mode != STOP:
            must_hold(now, k, stiff, rest)
        made.keep(k, law, stiff)


def held(made: Rows, now: Instant, k: int, law: int, rows: slice) -> None:
    """Joints and limits of a world in the impulse–velocity problem: the rows that hold exactly."""
    mechanism = now.found.mechanism
    assert mechanism is not None
    block = mechanism.blocks[k]
    if block.mode == SPRING or (block.mode == STOP and now.value[rows.start] > now.closed):
        return
    made.keep(k, law, np.arange(rows.start, rows.stop)[block.soft == 0.0])
