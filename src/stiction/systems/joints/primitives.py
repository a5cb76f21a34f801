"""The rows that joints are made of, in the frames of the bodies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ... import _check
from ..._check import FloatArray
from ...errors import ModelError

A, B, WORLD = 0, 1, -1  # which body of a joint a rotation is of, and against which it is measured


@dataclass(frozen=True)
class Place:
    """Where a body's centre of mass is at the start: position (d,), rotation (d, d) body to world, and its angle."""

    position: FloatArray
    rotation: FloatArray
    angle: float = 0.0

    def point(self, world: FloatArray) -> FloatArray:
        """A world point in the body frame."""
        return self.rotation.T @ (world - self.position)

    def direction(self, world: FloatArray) -> FloatArray:
        """A world direction in the body frame."""
        return self.rotation.T @ world


@dataclass(frozen=True, eq=False)
class Turn:
    """The rotation of the body `of` about an axis of the body `against`, counted over full turns, 0 at the start.

    In space u is a direction in the first body, e and n in the second, where n is the axis and e at a right angle to
    it: the angle from e to u about n. In the plane: the difference of the two angles less `start`.
    """

    of: int
    against: int
    u: FloatArray
    e: FloatArray
    n: FloatArray
    start: float = 0.0


@dataclass(frozen=True, eq=False)
class Primitive:
    """One row: `scale` times its geometry, plus weighted turns, minus `rest`.

    kind: the geometry (`joint_rows` in `kernels.space`); pa, pb: points, ua, ub: directions, in the body frames about
    the centres of mass.
    """

    kind: int
    pa: FloatArray
    pb: FloatArray
    ua: FloatArray
    ub: FloatArray
    rest: float = 0.0
    scale: float = 1.0
    turns: tuple[tuple[float, Turn], ...] = ()

    @classmethod
    def make(cls, kind: int, **given: Any) -> Primitive:
        """With zeros for the points and directions that the geometry does not use."""
        dim = next(len(given[name]) for name in ("ua", "ub", "pa") if name in given)
        vectors = {name: given.pop(name, np.zeros(dim)) for name in ("pa", "pb", "ua", "ub")}
        return cls(kind, **vectors, **given)

    def times(self, factor: float, rest: float) -> Primitive:
        """The same quantity times a factor, against another rest value."""
        turns = tuple((factor * weight, turn) for weight, turn in self.turns)
        return replace(self, scale=factor * self.scale, turns=turns, rest=rest)

    def with_turns(self, *turns: tuple[float, Turn]) -> Primitive:
        """With weighted rotations added."""
        return replace(self, turns=turns)


def unit_vector(what: str, value: Any, dim: int) -> FloatArray:
    """A direction (dim,) of length one."""
    n = _check.floats(what, value, (dim,))
    size = float(np.linalg.norm(n))
    if size == 0.0:
        raise ModelError(f"{what} must not be zero.")
    return n / size


def turn_to(n: FloatArray) -> FloatArray:
    """The shortest rotation that takes z to the unit vector n."""
    w = 1.0 + n[2]
    if w < 1e-12:
        return np.array([0.0, 1.0, 0.0, 0.0])
    q = np.array([w, -n[1], n[0], 0.0])
    return q / np.linalg.norm(q)
