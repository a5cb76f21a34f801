"""The joints and springs of a world as arrays: rows, laws and demands, and the coordinates of joints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np

from ..._check import FloatArray, IntArray
from ...errors import ModelError
from ...problem.laws import DRY, EQUALITY, UNILATERAL
from ...problem.redundant import RANK_MAX_ROWS, closed_loops
from ..joints import drives
from ..joints.blocks import Block
from ..joints.primitives import A, B, Primitive, Turn
from ..restitution import law_code, most, values
from .kernels.mechanism import HOLD, POSITION, SPEED, SPRING, STOP, demands
from .kernels.space import DISTANCE, DOT, POINT_AXIS, TURN
from .records import JointDemands, JointRows


class Rows:
    """Primitives between pairs of bodies as arrays (`JointRows`), with the turns that they measure."""

    def __init__(self, flat: Sequence[tuple[int, int, Primitive]], dim: int):
        n = len(flat)
        turns: dict[Turn, int] = {}
        ends: list[tuple[int, int]] = []
        turn_of, weight = np.full((n, 2), -1, dtype=np.int64), np.zeros((n, 2))
        for j, (a, b, p) in enumerate(flat):
            for m, (factor, turn) in enumerate(p.turns):
                if turn not in turns:
                    turns[turn] = len(turns)
                    body = {A: a, B: b}
                    ends.append((body.get(turn.of, 0), body.get(turn.against, 0)))
                turn_of[j, m], weight[j, m] = turns[turn], factor

        def stack(items: Sequence[Any], name: str) -> FloatArray:
            return np.array([getattr(p, name) for p in items], dtype=float).reshape(len(items), dim)

        rows, measured = [p for _, _, p in flat], list(turns)
        self.n = n
        self.measured = measured
        self.turns = len(measured)
        self.start = np.array([t.start for t in measured], dtype=float)
        self.arrays = JointRows(
            np.array([p.kind for p in rows], dtype=np.int64),
            np.array([a for a, _, _ in flat], dtype=np.int64),
            np.array([b for _, b, _ in flat], dtype=np.int64),
            stack(rows, "pa"), stack(rows, "pb"), stack(rows, "ua"), stack(rows, "ub"),
            np.array([p.rest for p in rows], dtype=float),
            np.array([p.scale for p in rows], dtype=float),
            turn_of, weight,
            np.array([a for a, _ in ends], dtype=np.int64),
            np.array([b for _, b in ends], dtype=np.int64),
            stack(measured, "u"), stack(measured, "e"), stack(measured, "n"),
        )  # fmt: skip


class Mechanism:
    """The blocks of all joints and springs, in order, with keys -n..-1; one row set for them and one for coordinates.

    In space the turns that blocks depend on are counted: they are the last numbers of q. light (nb, 2): the inverse
    mass of each body and its mean inverse moment of inertia, zero for those that no force moves.
    """

    def __init__(
        self,
        blocks: Sequence[Block],
        coordinates: Mapping[str, tuple[int, int, Primitive]],
        dim: int,
        light: FloatArray,
    ):
        self.blocks = tuple(blocks)
        self.n = len(blocks)
        self.names = [block.name for block in blocks]
        self.size = np.array([len(block.rows) for block in blocks], dtype=np.int64)
        self.ptr = np.concatenate([[0], np.cumsum(self.size)]).astype(np.int64)
        self.bodies = np.array([(block.a, block.b) for block in blocks], dtype=np.int64).reshape(self.n, 2)
        self.law = np.array([block.law for block in blocks], dtype=np.int64)
        self.rows = Rows([(block.a, block.b, p) for block in blocks for p in block.rows], dim)
        self.length = self._lengths(light)
        self.coordinate_names = list(coordinates)
        self.coordinates = Rows(list(coordinates.values()), dim)
        place = {turn: c for c, turn in enumerate(self.rows.measured)}
        self.known_turns = np.array([place.get(turn, -1) for turn in self.coordinates.measured], dtype=np.int64)
        self.bound = np.array([block.bound if block.law == DRY else 0.0 for block in blocks], dtype=float)

        def spread(values: Sequence[Any], kind: Any = float) -> Any:
            return np.repeat(np.array(values, dtype=kind), self.size)

        self.mode: IntArray = spread([block.mode for block in blocks], np.int64)
        self.soft = np.concatenate([np.zeros(0), *(block.soft for block in blocks)])
        self.damping: FloatArray = spread([block.damping for block in blocks])
        self.row_bound: FloatArray = spread([block.bound for block in blocks])
        self._targets: list[drives.Target] = [block.target for block in blocks]
        self.plain = bool((self.mode == HOLD).all() and not self.soft.any())
        self.elastic = np.where(self.mode == SPRING, self.soft, 1.0 / np.where(self.soft > 0.0, self.soft, np.inf))
        self.elastic[(self.mode != SPRING) & (self.mode != HOLD) & (self.mode != STOP)] = 0.0
        stiff = ((self.mode == HOLD) | (self.mode == STOP)) & (self.soft == 0.0)
        has_stiff = np.bincount(np.repeat(np.arange(self.n), self.size)[stiff], minlength=self.n) > 0
        self.rigid, self.stops = (self.law == EQUALITY) & has_stiff, (self.law == UNILATERAL) & has_stiff
        self.judged = stiff | ~np.repeat(has_stiff, self.size)  # rows that say how far a block is off

    def _lengths(self, light: FloatArray) -> FloatArray:
        """(nr,) metres for rows that measure an angle, 1 for the others.

        At that distance the two bodies, as if each hung on the joint alone, are as heavy to move as they are to turn:
        the radius of gyration about the joint where one is fixed. Residuals of joints in m/s then do not depend on the
        unit of length.
        """
        held: dict[tuple[int, int], tuple[float, float]] = {}  # how far from the centres of mass joints hold two bodies
        for block in self.blocks:
            points = [p for p in block.rows if p.kind in (POINT_AXIS, DISTANCE)]
            if points:
                far = held.get((block.a, block.b), (0.0, 0.0))
                held[block.a, block.b] = (
                    max(far[0], *(float(np.linalg.norm(p.pa)) for p in points)),
                    max(far[1], *(float(np.linalg.norm(p.pb)) for p in points)),
                )
        arm = np.array([held.get((block.a, block.b), (0.0, 0.0)) for block in self.blocks]).reshape(self.n, 2)
        own = light[self.bodies]  # about the joint, by Steiner's theorem
        with np.errstate(divide="ignore", invalid="ignore"):
            turn = np.where(own[..., 0] > 0.0, 1.0 / (1.0 / own[..., 1] + arm**2 / own[..., 0]), 0.0)
        both = np.column_stack([own[..., 0].sum(axis=1), turn.sum(axis=1)])
        turning = np.isin(self.rows.arrays.kind, [DOT, TURN])
        with np.errstate(divide="ignore", invalid="ignore"):
            length = np.sqrt(both[:, 0] / both[:, 1])
        length = np.where((both > 0.0).all(axis=1), length, 1.0)
        return np.where(turning, np.repeat(length, self.size), 1.0)

    def anchors(self) -> list[dict[str, Any]]:
        """Where joints and springs hold, for pictures: bodies a and b, and the points pa and pb in them; JSON."""
        found: dict[tuple[Any, ...], dict[str, Any]] = {}
        for block in self.blocks:
            row = next((p for p in block.rows if p.kind in (POINT_AXIS, DISTANCE)), None)
            if row is not None:  # a joint's motor, limits and friction hold where the joint does
                place = (block.a, block.b, *row.pa.tolist(), *row.pb.tolist())
                entry = {"name": block.name, "a": block.a, "b": block.b}
                found.setdefault(place, {**entry, "pa": row.pa.tolist(), "pb": row.pb.tolist()})
        return list(found.values())

    @cached_property
    def bounciest(self) -> float:
        """The largest coefficient of restitution of a limit."""
        return max((most(block.restitution) for block in self.blocks), default=0.0)

    @cached_property
    def impact_laws(self) -> IntArray:
        """(n,) the impact law of each block; 0: that of the scheme."""
        return np.array([law_code(block.restitution) for block in self.blocks], dtype=np.int64)

    def restitution(self, speed: FloatArray) -> FloatArray:
        """(n,) the coefficients of restitution of blocks that are hit at `speed` (n,) [m/s, rad/s]."""
        blocks = zip(self.blocks, speed)
        return np.array([values(block.name, block.restitution, np.array([s]))[0] for block, s in blocks])

    @property
    def timed(self) -> bool:
        """Whether a motor follows a function of time."""
        return any(callable(target) for target in self._targets)

    @property
    def dry(self) -> bool:
        """Whether a joint has friction."""
        return bool((self.law == DRY).any())

    def targets(self, t: float) -> FloatArray:
        """(nr,) the targets of motors at time t [s], 0 elsewhere."""
        values = [target(t) if callable(target) else target for target in self._targets]
        return np.repeat(np.array(values, dtype=float), self.size)

    def with_target(self, joint: str, target: float | Callable[[float], float]) -> Mechanism:
        """The same with another target for a joint's motor."""
        name = f"{joint} motor"
        if name not in self.names or self.blocks[self.names.index(name)].mode not in (SPEED, POSITION):
            have = [n.removesuffix(" motor") for n, b in zip(self.names, self.blocks) if b.mode in (SPEED, POSITION)]
            known = f"there are {', '.join(map(repr, have))}" if have else "no joint has one"
            raise ModelError(f"set_motor: there is no joint {joint!r} with a motor; {known}.")
        made = copy(self)
        made._targets = list(self._targets)
        made._targets[self.names.index(name)] = drives.target(f"target of {name!r}", target)
        return made

    def demand(
        self, t: float, h: float, stabilize: bool, seen: tuple[FloatArray, ...], out: tuple[FloatArray, ...]
    ) -> None:
        """Fill out = (b, C, lo, hi) of the rows for a step that ends at t.

        seen: φ/h at the start of the step, the speed H v before it, and diag(H M⁻¹ Hᵀ).
        """
        joints = JointDemands(self.mode, self.soft, self.damping, self.row_bound, self.targets(t))
        demands(h, stabilize, joints, *seen, *out)

    def block_values(self, value: FloatArray) -> FloatArray:
        """(n,) the largest residual of each joint or spring, the gap of each limit, 0 for motors and friction."""
        size = np.maximum.reduceat(np.where(self.judged, np.abs(value), 0.0), self.ptr[:-1])
        first = value[self.ptr[:-1]]
        return np.where(self.law == EQUALITY, size, np.where(self.law == UNILATERAL, first, 0.0))

    def potential(self, value: FloatArray) -> float:
        """The energy in springs and compliant rows [J]."""
        stretch = np.where((self.mode == STOP) & (value > 0.0), 0.0, value)
        return 0.5 * float(np.sum(self.elastic * stretch**2))

    def indeterminate(self, Ja: FloatArray, Jb: FloatArray, moves: np.ndarray) -> list[str] | None:
        """Names of the blocks of which the rigid rows depend on others: their impulses are not unique.

        p can change along z where Hᵀz = 0 on the bodies that move; a block is concerned when some such z is not zero in
        its rows. None where loops of joints have too many rows to tell.
        """
        concerned = np.zeros(self.n, dtype=bool)
        rows = (self.mode == HOLD) & (self.soft == 0.0)
        joints = np.flatnonzero(self.rigid)
        for loop in closed_loops(self.bodies[joints], moves):
            blocks = joints[loop]
            inside = np.zeros(self.n, dtype=bool)
            inside[blocks] = True
            stiff = np.flatnonzero(rows & np.repeat(inside, self.size))
            if len(stiff) > RANK_MAX_ROWS:
                return None
            block = np.repeat(np.arange(self.n), self.size)[stiff]
            bodies = np.unique(self.bodies[blocks])
            H = np.zeros((len(stiff), len(bodies), Ja.shape[1]))
            for side, J in enumerate((Ja, Jb)):
                H[np.arange(len(stiff)), np.searchsorted(bodies, self.bodies[block, side])] += J[stiff]
            flat = H[:, moves[bodies]].reshape(len(stiff), -1)
            U, sizes, _ = np.linalg.svd(flat / np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), 1e-300))
            null = U[:, int((sizes > 1e-9 * sizes[0]).sum()) :]
            concerned[block[(np.abs(null) > 1e-8).any(axis=1)]] = True
        return [self.names[k] for k in np.flatnonzero(concerned)]
