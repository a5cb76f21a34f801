"""Coefficients of restitution: a number from 0 to 1, or a function of the speed of the impact [m/s]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _check
from .._check import FloatArray
from ..errors import ModelError

Restitution = float | Callable[[float], float]

_SAMPLES = (0.0, 1e-3, 0.01, 0.1, 1.0, 10.0)  # m/s, at which functions are tried when they are given


def checked(what: str, value: Any) -> Restitution:
    """A coefficient, or a function whose values at a few speeds are coefficients."""
    if not callable(value):
        return _within(f"restitution of {what}", value)
    for speed in _SAMPLES:
        _within(f"restitution of {what} at {speed:g} m/s", value(speed))
    return value


def values(what: str, restitution: Restitution, speeds: FloatArray) -> FloatArray:
    """The coefficients at `speeds` (n,)."""
    if not callable(restitution):
        return np.full(len(speeds), restitution)
    return np.array([_within(f"restitution of {what} at {s:g} m/s", restitution(s)) for s in speeds.tolist()])


def most(restitution: Restitution) -> float:
    """The largest coefficient, of a function at the speeds at which it was tried."""
    return max(float(restitution(s)) for s in _SAMPLES) if callable(restitution) else restitution


def _within(what: str, value: Any) -> float:
    e = _check.number(what, value.item() if isinstance(value, np.ndarray) and value.size == 1 else value, low=0.0)
    if e > 1.0:
        raise ModelError(f"{what} must be at most 1; got {e:g}.")
    return e
