"""The blocks of rows that joints and springs bring to a step: what they hold, stop, drive, rub and pull."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ... import _check
from ..._check import FloatArray
from ...errors import ModelError
from ...problem.laws import BOX, DRY, EQUALITY, UNILATERAL
from ..builder.handles import Mark, new_mark
from ..model.kernels.mechanism import HOLD, POSITION, RUB, SPEED, SPRING, STOP
from ..model.kernels.space import DISTANCE
from ..restitution import Restitution, checked
from . import drives
from .kinds import Driven, Joint
from .primitives import Place, Primitive


@dataclass(frozen=True)
class Block:
    """Rows between bodies a and b (numbers) under one law, and what they demand (`model.kernels.mechanism.demands`).

    mode: HOLD, STOP, SPRING, SPEED, POSITION or RUB; soft (n,): compliance of HOLD and STOP, stiffness of SPRING, time
    constant of POSITION; damping of SPRING; bound: the largest force of motors and friction; target of motors;
    restitution of limits.
    """

    name: str
    a: int
    b: int
    law: int
    mode: int
    rows: tuple[Primitive, ...]
    soft: FloatArray
    damping: float = 0.0
    bound: float = math.inf
    target: drives.Target = 0.0
    restitution: Restitution = 0.0


def joint_blocks(joint: Joint, name: str, bodies: tuple[int, int], a: Place, b: Place) -> tuple[list[Block], Any]:
    """The blocks of a joint, its own rows first, and its coordinate (a `Primitive`, or None)."""
    rows = tuple(joint.primitives(a, b))
    soft = _compliance(joint, len(rows))
    mode = HOLD if joint.law == EQUALITY else STOP
    blocks = [Block(name, *bodies, joint.law, mode, rows, soft)]
    coordinate = joint.coordinate(a, b)
    if not isinstance(joint, Driven):
        return blocks, coordinate
    assert coordinate is not None
    none = np.zeros(1)
    if joint.limits is not None:
        lo, hi = drives.limits(f"{joint.label} limits", joint.limits)
        e = checked(f"{joint.label} limits", joint.restitution)
        if lo > -math.inf:
            row = coordinate.times(1.0, rest=lo)
            blocks.append(Block(f"{name} lower limit", *bodies, UNILATERAL, STOP, (row,), none, restitution=e))
        if hi < math.inf:
            row = coordinate.times(-1.0, rest=-hi)
            blocks.append(Block(f"{name} upper limit", *bodies, UNILATERAL, STOP, (row,), none, restitution=e))
    motor = joint.motor
    if motor is not None:
        if not isinstance(motor, drives.Motor):
            raise ModelError(f"{joint.label} motor must be a Motor(...); got {_check.describe(motor)}.")
        assert motor.bound is not None
        kind, time = (SPEED, 0.0) if motor.position is None else (POSITION, motor.time)
        goal = drives.target(f"{joint.label} motor", motor.target)
        delay = np.array([time])
        blocks.append(Block(f"{name} motor", *bodies, BOX, kind, (coordinate,), delay, bound=motor.bound, target=goal))
    rub = _check.number(f"{joint.label} friction", joint.friction, low=0.0)
    if rub > 0.0:
        blocks.append(Block(f"{name} friction", *bodies, DRY, RUB, (coordinate,), none, bound=rub))
    return blocks, coordinate


def _compliance(joint: Joint, rows: int) -> FloatArray:
    given = _check.floats(f"{joint.label} compliance", joint.compliance)
    if given.ndim == 0:
        given = np.full(rows, float(given))
    given = _check.floats(f"{joint.label} compliance", given, (rows,))
    if (given < 0.0).any():
        raise ModelError(f"{joint.label} compliance must be at least 0; got {given.min():g}.")
    return given


@dataclass(frozen=True)
class Spring:
    """A linear spring with a damper, `force = -stiffness·x - damping·x'`; the handle that `add_spring` returns.

    x is the coordinate of `joint` less `rest`, or what the row of `between` measures: (body a, body b, row).
    """

    name: str
    stiffness: float
    damping: float
    joint: str | None
    rest: float
    between: tuple[int, int, Primitive] | None
    given: Mapping[str, Any] = field(default_factory=dict)  # anchors and length, as `add_spring` was told
    mark: Mark = field(default_factory=new_mark, repr=False, compare=False)

    @classmethod
    def make(cls, name: str, stiffness: Any, damping: Any, **rest: Any) -> Spring:
        """Checked."""
        k = _check.number(f"spring {name!r} stiffness", stiffness, low=0.0)
        d = _check.number(f"spring {name!r} damping", damping, low=0.0)
        if k == 0.0 and d == 0.0:
            raise ModelError(f"spring {name!r} needs a stiffness [N/m, N m/rad] or a damping.")
        return cls(name, k, d, **rest)

    def block(self, a: int, b: int, measured: Primitive) -> Block:
        """Its row."""
        row = measured if self.joint is None else measured.times(1.0, rest=self.rest)
        return Block(self.name, a, b, EQUALITY, SPRING, (row,), np.array([self.stiffness]), damping=self.damping)


def between_points(name: str, a: Place, b: Place, anchor_a: Any, anchor_b: Any, length: Any) -> Primitive:
    """The distance of two points less the length of a spring, by default the distance at the start."""
    dim = len(a.position)
    pa, pb = (
        _check.floats(f"spring {name!r} {w}", x, (dim,)) for w, x in (("anchor_a", anchor_a), ("anchor_b", anchor_b))
    )
    start = float(np.linalg.norm(pa - pb))
    rest = start if length is None else _check.number(f"spring {name!r} length", length, low=0.0)
    along = (pa - pb) / start if start > 0.0 else np.eye(dim)[0]
    return Primitive.make(DISTANCE, pa=a.point(pa), pb=b.point(pb), ub=b.direction(along), rest=rest)
