"""Coefficients of friction that depend on the speed of slip (s00 §5.1).

A friction set takes such a law in place of its number: `Coulomb(Stribeck(0.4, 0.25, speed=0.01))`. Its `mu` is then
the coefficient at rest, and `speed_law` the law. The speed is the Euclidean norm of the slip rows of the contact
[m/s]; spin and rolling do not count, since under a spinning patch every point rubs at a speed of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _check
from .._check import FloatArray
from ..errors import ModelError

CHECK_SPEEDS = np.concatenate([[0.0], np.logspace(-9, 3, 49)])  # m/s: where a function is checked beforehand


class SpeedLaw(ABC):
    """A coefficient of friction mu(s) >= 0 of the slip speed s [m/s], with mu(0) > 0."""

    @abstractmethod
    def values(self, speeds: FloatArray) -> FloatArray:
        """mu at each of the speeds [m/s]."""

    @abstractmethod
    def slopes(self, speeds: FloatArray) -> FloatArray:
        """dmu/ds at each of the speeds [s/m]; at rest the slope of the law for s > 0."""

    @property
    def rest(self) -> float:
        """mu(0)."""
        return float(self.values(np.zeros(1))[0])

    def __call__(self, speed: float) -> float:
        """mu at one speed [m/s]."""
        return float(self.values(np.array([_check.number("speed", speed, low=0.0)]))[0])


@dataclass(frozen=True)
class Stribeck(SpeedLaw):
    """Friction that falls from `static` at rest towards `kinetic` over slip speeds of about `speed` [m/s].

    `mu(s) = kinetic + (static - kinetic)·exp(-(s/speed)²) + viscous·s`, viscous in s/m. With `speed=0` it is the law
    of two coefficients: `static` at rest, `kinetic` (and the viscous part) in slip.
    """

    static: float
    kinetic: float
    speed: float
    viscous: float = 0.0

    def __post_init__(self) -> None:
        for name in ("static", "kinetic", "speed", "viscous"):
            value = _check.number(f"{name} of Stribeck", getattr(self, name), low=0.0, positive=name == "static")
            object.__setattr__(self, name, value)
        if self.kinetic > self.static:
            raise ModelError(f"kinetic of Stribeck must be at most static = {self.static:g}; got {self.kinetic:g}.")

    def values(self, speeds: FloatArray) -> FloatArray:
        """mu at each of the speeds [m/s]."""
        return self.kinetic + (self.static - self.kinetic) * self._fade(speeds) + self.viscous * speeds

    def slopes(self, speeds: FloatArray) -> FloatArray:
        """dmu/ds at each of the speeds [s/m]."""
        if self.speed == 0.0:
            return np.full(np.shape(speeds), self.viscous)
        fall = 2.0 * (self.static - self.kinetic) / self.speed
        return self.viscous - fall * (speeds / self.speed) * self._fade(speeds)

    def _fade(self, speeds: FloatArray) -> FloatArray:
        if self.speed == 0.0:
            return np.where(speeds == 0.0, 1.0, 0.0)
        return np.asarray(np.exp(-((speeds / self.speed) ** 2)))


@dataclass(frozen=True)
class SpeedFunction(SpeedLaw):
    """A coefficient given as a Python function mu(s) of the slip speed s [m/s]: finite, >= 0, and > 0 at rest."""

    function: Callable[[float], float]

    def __post_init__(self) -> None:
        self.values(CHECK_SPEEDS)
        if not self.rest > 0.0:
            raise ModelError(
                "friction coefficient mu as a function of speed must be greater than zero at rest; mu(0) is 0."
            )

    def values(self, speeds: FloatArray) -> FloatArray:
        """mu at each of the speeds [m/s]."""
        flat = np.ravel(speeds)
        return np.array([self._value(s) for s in flat.tolist()]).reshape(np.shape(speeds))

    def slopes(self, speeds: FloatArray) -> FloatArray:
        """dmu/ds at each of the speeds [s/m], by differences (at rest to the right)."""
        step = 1e-6 * np.maximum(speeds, 1e-3)
        left = np.where(speeds >= step, speeds - step, np.minimum(speeds + 1e-3 * step, step))
        return np.asarray((self.values(speeds + step) - self.values(left)) / (speeds + step - left))

    def _value(self, speed: float) -> float:
        mu = self.function(speed)
        if isinstance(mu, np.ndarray) and mu.size == 1:
            mu = mu.item()
        return _check.number(f"friction coefficient mu(speed) at {speed:g} m/s", mu, low=0.0)


Coefficient = float | SpeedLaw | Callable[[float], float]


def coefficient(value: Any, what: str = "friction coefficient mu") -> tuple[float, SpeedLaw | None]:
    """The coefficient at rest, and the law where `value` is one (or a function of speed) and not a number."""
    if not isinstance(value, SpeedLaw) and callable(value):
        value = SpeedFunction(value)
    if isinstance(value, SpeedLaw):
        return value.rest, value
    return _check.number(what, value, low=0.0), None
