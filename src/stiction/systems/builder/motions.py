"""Motions that kinematic bodies are told to make: to and fro, round and round, or by a table.

Any function of time does as well; see `World.add_body`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import _check
from ..._check import FloatArray
from ...errors import ModelError

Pose = tuple[FloatArray, Any]


class Motion(ABC):
    """A motion from the pose that a body was added with; `at` makes it a function of time."""

    @abstractmethod
    def at(self, what: str, position: FloatArray, turn: Any) -> Callable[[float], Pose]:
        """Pose over time of a body at `position` with the quaternion, in the plane the angle, `turn`."""

    def _axis(self, what: str, dim: int, turns: bool) -> FloatArray | None:
        axis: Any = getattr(self, "axis", None)
        name = type(self).__name__
        if dim == 2 or not turns:
            if axis is not None:
                raise ModelError(f"{what}: {name} takes an axis only where it turns a body in space.")
            return None
        if axis is None:
            raise ModelError(f"{what}: {name} of a body in space needs an axis to turn about.")
        direction = _check.floats(f"{what}: {name} axis", axis, (3,))
        size = float(np.linalg.norm(direction))
        if size == 0.0:
            raise ModelError(f"{what}: {name} axis must not be zero.")
        return direction / size


def _turned(turn: Any, axis: FloatArray | None, angle: float) -> Any:
    """An orientation turned by `angle` about an axis of the world; in the plane the angle itself."""
    if np.ndim(turn) == 0:
        return float(turn) + angle
    if axis is None:
        return turn
    c, (x, y, z) = math.cos(angle / 2), math.sin(angle / 2) * axis
    w, i, j, k = turn
    return np.array(
        [
            c * w - x * i - y * j - z * k,
            c * i + x * w + y * k - z * j,
            c * j - x * k + y * w + z * i,
            c * k + x * j - y * i + z * w,
        ]
    )


def _about(arm: FloatArray, axis: FloatArray | None, angle: float) -> FloatArray:
    """A vector turned by `angle`, about the axis in space."""
    c, s = math.cos(angle), math.sin(angle)
    if axis is None:
        return np.array([c * arm[0] - s * arm[1], s * arm[0] + c * arm[1]])
    along = float(axis @ arm) * axis
    return along + c * (arm - along) + s * np.cross(axis, arm)


@dataclass(frozen=True, eq=False)
class Oscillation(Motion):
    """To and fro with `frequency` [Hz]: by `amplitude` (d,) [m], and turned by `angle` [rad] about `axis`.

    The displacement is amplitude·sin(2π·frequency·t + phase), from the pose that the body was added with; the axis, for
    bodies in space, goes through the origin of the body's frame.
    """

    frequency: float
    amplitude: Any = None
    angle: float = 0.0
    axis: Any = None
    phase: float = 0.0

    def at(self, what: str, position: FloatArray, turn: Any) -> Callable[[float], Pose]:
        """Pose over time."""
        rate = 2.0 * math.pi * _check.number(f"{what}: Oscillation frequency", self.frequency, positive=True)
        phase, most = _check.number(f"{what}: phase", self.phase), _check.number(f"{what}: angle", self.angle)
        dim = len(position)
        if self.amplitude is None and most == 0.0:
            raise ModelError(f"{what}: Oscillation needs an amplitude or an angle.")
        far = np.zeros(dim) if self.amplitude is None else self.amplitude
        far = _check.floats(f"{what}: Oscillation amplitude", far, (dim,)).copy()
        axis = self._axis(what, dim, most != 0.0)

        def pose(t: float) -> Pose:
            s = math.sin(rate * t + phase)
            return position + s * far, _turned(turn, axis, s * most)

        return pose


@dataclass(frozen=True, eq=False)
class Rotation(Motion):
    """Round with a steady `rate` [rad/s], about `axis` in space, through `center` (by default the body's origin)."""

    rate: float
    axis: Any = None
    center: Any = None

    def at(self, what: str, position: FloatArray, turn: Any) -> Callable[[float], Pose]:
        """Pose over time."""
        rate = _check.number(f"{what}: Rotation rate", self.rate)
        dim = len(position)
        axis = self._axis(what, dim, True)
        center = position if self.center is None else _check.floats(f"{what}: Rotation center", self.center, (dim,))
        arm = position - center

        def pose(t: float) -> Pose:
            return center + _about(arm, axis, rate * t), _turned(turn, axis, rate * t)

        return pose


@dataclass(frozen=True, eq=False)
class Table(Motion):
    """By a table, with straight lines between its rows and rest before the first and after the last.

    times (n,) [s], rising; positions (n, d) [m] of the body's origin in the world; angles (n,) [rad] by which the body
    is turned, about `axis` in space, from the orientation that it was added with.
    """

    times: Any
    positions: Any = None
    angles: Any = None
    axis: Any = None

    def at(self, what: str, position: FloatArray, turn: Any) -> Callable[[float], Pose]:
        """Pose over time."""
        times = _check.floats(f"{what}: Table times", self.times, (None,)).copy()
        n, dim = len(times), len(position)
        if n < 2 or (np.diff(times) <= 0.0).any():
            raise ModelError(f"{what}: Table times must be at least two, each later than the one before.")
        if self.positions is None and self.angles is None:
            raise ModelError(f"{what}: Table needs positions or angles.")
        places = angles = None
        if self.positions is not None:
            places = _check.floats(f"{what}: Table positions", self.positions, (n, dim)).copy()
        if self.angles is not None:
            angles = _check.floats(f"{what}: Table angles", self.angles, (n,)).copy()
        axis = self._axis(what, dim, angles is not None)

        def pose(t: float) -> Pose:
            place = position if places is None else np.array([np.interp(t, times, column) for column in places.T])
            return place, _turned(turn, axis, 0.0 if angles is None else float(np.interp(t, times, angles)))

        return pose
