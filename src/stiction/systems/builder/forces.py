"""Forces that users apply to bodies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ... import _check
from ..._check import FloatArray
from ...errors import ModelError
from .bodies import BodySpec


class BodyState(NamedTuple):
    """What a force function sees: the body frame's origin, orientation (an angle in the plane), and velocities."""

    position: FloatArray
    orientation: Any
    velocity: FloatArray
    angular_velocity: Any


@dataclass(frozen=True)
class AppliedForce:
    """A force and a torque on a body, as functions of (t, BodyState); `arm` is where the force acts, from the com."""

    body: int
    name: str
    force: Callable[[float, BodyState], FloatArray]
    torque: Callable[[float, BodyState], FloatArray]
    arm: FloatArray
    com: FloatArray
    given: Mapping[str, Any]  # what `add_force` was told, for `to_scene`

    @property
    def steady(self) -> bool:
        """Whether it is always the same in world axes: constant, and without an arm that turns with the body."""
        force, torque = self.given["force"], self.given["torque"]
        return not callable(force) and not callable(torque) and (force is None or not self.arm.any())

    @classmethod
    def make(cls, index: int, spec: BodySpec, dim: int, force: Any, torque: Any, point: Any) -> AppliedForce:
        """Checked."""
        if force is None and torque is None:
            raise ModelError(f"add_force on {spec.name!r}: give a force or a torque.")
        turns = 3 if dim == 3 else 1
        arm = np.zeros(dim) if point is None else _check.floats("add_force point", point, (dim,)) - spec.com
        return cls(
            index, spec.name, _function(spec.name, "force", force, dim), _function(spec.name, "torque", torque, turns),
            arm, spec.com, {"force": force, "torque": torque, "point": point},
        )  # fmt: skip

    def wrench(self, t: float, state: BodyState, rotation: FloatArray) -> FloatArray:
        """Force and torque about the centre of mass of a body with this state and rotation matrix."""
        push, torque = self.force(t, state), self.torque(t, state)
        arm = rotation @ self.arm
        moment = np.cross(arm, push) if len(push) == 3 else np.array([arm[0] * push[1] - arm[1] * push[0]])
        return np.concatenate([push, torque + moment])


def _function(body: str, what: str, value: Any, size: int) -> Callable[[float, BodyState], FloatArray]:
    label = f"{what} on {body!r}"
    if value is None:
        zero = np.zeros(size)
        return lambda t, state: zero
    if callable(value):
        return lambda t, state: _vector(f"{label} at t = {t:g} s", value(t, state), size)
    constant = _vector(label, value, size).copy()
    return lambda t, state: constant


def _vector(label: str, value: Any, size: int) -> FloatArray:
    return _check.floats(label, np.atleast_1d(_check.any_array(label, value)), (size,))
