"""What drives a joint, and what stops it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ... import _check
from ...errors import ModelError

Target = float | Callable[[float], float]


def target(what: str, value: Any) -> Target:
    """A number, or a function of time."""
    if callable(value):
        return lambda t: _check.number(f"{what} at t = {t:g} s", value(t))
    return _check.number(what, value)


@dataclass(frozen=True)
class Motor:
    """Drives the coordinate of a joint with a torque [N·m] or force [N] of at most `bound`.

    speed: the speed to reach and to hold [rad/s or m/s]; or position: the place to go to [rad or m], approached with
    the speed (position - coordinate)/time, so that `time` [s] is the time constant while the bound allows it (0: as
    fast as it can). Each may be a function of time; `Simulator.set_motor` changes it. A motor with too little torque
    stalls: it pulls with its bound.
    """

    speed: Any = None
    position: Any = None
    bound: float | None = None
    time: float = 0.1

    def __post_init__(self) -> None:
        if (self.speed is None) == (self.position is None):
            raise ModelError("Motor: give speed= or position=, one of the two.")
        if self.bound is None:
            raise ModelError("Motor needs a bound: the largest torque [N m], or force [N], that it can exert.")
        object.__setattr__(self, "bound", _check.number("Motor bound", self.bound, positive=True))
        object.__setattr__(self, "time", _check.number("Motor time", self.time, low=0.0))
        if not callable(self.target):
            target("Motor target", self.target)

    @property
    def target(self) -> Any:
        """The speed or position."""
        return self.speed if self.position is None else self.position


def limits(what: str, value: Any) -> tuple[float, float]:
    """(lo, hi) with lo < hi; None on a side is no limit there."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise ModelError(f"{what} must be a pair (lo, hi); got {_check.describe(value)}.")
    lo = -math.inf if value[0] is None else _check.number(f"{what} lo", value[0], finite=False)
    hi = math.inf if value[1] is None else _check.number(f"{what} hi", value[1], finite=False)
    if not lo < hi:
        raise ModelError(f"{what} must be (lo, hi) with lo < hi; got ({lo:g}, {hi:g}).")
    return lo, hi
