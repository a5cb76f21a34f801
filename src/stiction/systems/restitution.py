"""Restitution of a contact: a coefficient from 0 to 1, or a function of the impact's speed, and the law it obeys.

A plain coefficient obeys the law of the scheme, `Moreau(impact=...)`; `NewtonImpact(e)`, `PoissonImpact(e)` and
`StrongeImpact(e)` give a pair its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import _check
from .._check import FloatArray
from ..errors import ModelError

Coefficient = float | Callable[[float], float]

SCHEME, NEWTON, POISSON, STRONGE = range(4)
LAWS = ("", "newton", "poisson", "stronge")

_SAMPLE_SPEEDS = (0.0, 1e-3, 0.01, 0.1, 1.0, 10.0)  # m/s, at which functions are tried when they are given


@dataclass(frozen=True)
class Fading:
    """A coefficient of restitution that fades with the speed of impact: e (1 - exp(-v / speed)), speed [m/s].

    Fast impacts have e; slow ones hardly bounce, so that a bouncing body comes to rest after finitely many impacts.
    """

    e: float
    speed: float

    def __post_init__(self) -> None:
        _within("e of Fading", self.e)
        _check.number("speed of Fading", self.speed, positive=True)

    def __call__(self, v: float) -> float:
        """The coefficient at the speed v [m/s]."""
        return -self.e * math.expm1(-v / self.speed)


@dataclass(frozen=True)
class ImpactLaw:
    """A coefficient of restitution e, a number or a function of the speed of impact [m/s], with its own law."""

    e: Coefficient
    code: ClassVar[int] = SCHEME


class NewtonImpact(ImpactLaw):
    """Newton's law for a pair, whatever that of the scheme: the normal velocity after is -e times that before."""

    code = NEWTON


class PoissonImpact(ImpactLaw):
    """Poisson's law for a pair, whatever that of the scheme: restitution has e times the impulse of compression."""

    code = POISSON


class StrongeImpact(ImpactLaw):
    """Stronge's law for a pair, whatever that of the scheme: restitution gives back e² of the work of compression."""

    code = STRONGE


Restitution = Coefficient | ImpactLaw


def checked(what: str, value: Any) -> Restitution:
    """A coefficient, or a function whose values at a few speeds are coefficients, or a law with one of these."""
    if isinstance(value, ImpactLaw):
        return type(value)(_coefficient(what, value.e))
    return _coefficient(what, value)


def _coefficient(what: str, value: Any) -> Coefficient:
    if not callable(value):
        return _within(f"restitution of {what}", value)
    for speed in _SAMPLE_SPEEDS:
        _within(f"restitution of {what} at {speed:g} m/s", value(speed))
    made: Coefficient = value
    return made


def law_code(restitution: Restitution) -> int:
    """The law of a pair: `SCHEME`, `NEWTON`, `POISSON` or `STRONGE`."""
    return restitution.code if isinstance(restitution, ImpactLaw) else SCHEME


def values(what: str, restitution: Restitution, speeds: FloatArray) -> FloatArray:
    """The coefficients at `speeds` (n,)."""
    e = restitution.e if isinstance(restitution, ImpactLaw) else restitution
    if not callable(e):
        return np.full(len(speeds), e)
    return np.array([_within(f"restitution of {what} at {s:g} m/s", e(s)) for s in speeds.tolist()])


def most(restitution: Restitution) -> float:
    """The largest coefficient, of a function at the speeds at which it was tried."""
    e = restitution.e if isinstance(restitution, ImpactLaw) else restitution
    return max(float(e(s)) for s in _SAMPLE_SPEEDS) if callable(e) else e


def _within(what: str, value: Any) -> float:
    e = _check.number(what, value.item() if isinstance(value, np.ndarray) and value.size == 1 else value, low=0.0)
    if e > 1.0:
        raise ModelError(f"{what} must be at most 1; got {e:g}.")
    return e
