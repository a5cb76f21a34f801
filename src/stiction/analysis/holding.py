"""What a resting part holds against: the largest pull in a direction, and the largest in any.

At rest the contact forces balance the loads, `Hᵀp + w = 0` with p in the friction cones. A pull F d on a body is held
as long as some forces of the cones balance it too, so that the largest F is a conic program. Forces of motors and of
dry friction in joints are not counted on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _check
from .._arguments import checks_arguments
from .._check import FloatArray
from ..errors import ModelError
from ..systems.base import State
from .cones import Cones
from .forms import Form, force_acceleration

PULL_NOISE_SHARE = 1e-7  # relative to the loads: a smaller pull counts as none


@dataclass(frozen=True)
class Holding:
    """The pull that a body holds in any direction: `least` [N], the weakest `direction` (a unit vector), by `body`.

    `rests` is False where the loads alone are not balanced; least is infinite where any pull is held.
    """

    body: str
    rests: bool
    least: float
    direction: FloatArray


@checks_arguments
def balances(posed: Form) -> bool:
    """Whether forces of the friction cones balance the loads, so that what rests can stay at rest."""
    H, w = _statics(posed)
    if not len(w):
        return True
    size = float(np.abs(w).max(initial=0.0)) or 1.0
    best = Cones(posed.problem).least(np.zeros(posed.problem.nr), H.T, -w / size)
    if not posed.problem.nr:
        return bool(np.abs(w).max(initial=0.0) == 0.0)
    return best.found


@checks_arguments
def largest_pull(posed: Form, direction: Any) -> float:
    """The largest F with which a generalized force F·direction (nv,) is held; negative infinity where none is."""
    H, w = _statics(posed)
    d = _check.floats("direction", direction, posed._moving.shape)[posed._moving]
    length = float(d @ d)
    if length == 0.0:
        raise ModelError("direction must have a component that forces can move.")
    size = float(np.abs(w).max(initial=0.0)) or 1.0
    across = np.linalg.svd(d[None])[2][1:]  # all that is orthogonal to d must balance by itself
    best = Cones(posed.problem).least(H @ d / length, across @ H.T, -(across @ w) / size)
    if best.unbounded:
        return np.inf
    return size * (-best.value) - float(d @ w) / length if best.found else -np.inf


@checks_arguments
def holding(system: Any, state: State | None = None, *, closed: float = 1e-9, rest: float = 1e-9) -> list[Holding]:
    """For every body that can move, the largest pull at its centre of mass that is held in any direction.

    Systems without bodies are pulled along their coordinates. The weakest direction is searched among many and then
    refined. Nothing may slide: the state must be at rest to `rest` [m/s].
    """
    posed = force_acceleration(system, state, closed=closed, rest=rest)
    assert posed.state is not None
    if np.abs(posed.slip).max(initial=0.0) > rest or np.abs(posed.state.v[posed._moving]).max(initial=0.0) > rest:
        raise ModelError("holding is about what rests, and something moves at this state.")
    rests = balances(posed)
    return [_weakest(posed, name, basis, rests) for name, basis in _bodies(posed)]


def _statics(posed: Form) -> tuple[FloatArray, FloatArray]:
    """H (nr, nv) and the loads w (nv,) = M a_free."""
    dense = posed.problem.to_dense()
    form: Any = dense.dynamics
    return form.H, form.M @ dense.v_free


def _bodies(posed: Form) -> list[tuple[str, FloatArray]]:
    """Names, and an orthonormal basis (k, nv) of the generalized forces of pulls at the centre of mass."""
    system: Any = posed.system
    nv = system.nv
    names = getattr(system, "names", None)
    if names is None:
        return [(name, np.eye(nv)[[i]]) for i, name in enumerate(system.coordinate_names)]
    dof = nv // max(len(names), 1)
    space = 3 if dof == 6 else 2
    out = []
    for i, name in enumerate(names):
        rows = np.eye(nv)[dof * i : dof * i + space]
        if posed._moving[dof * i : dof * i + space].all():
            out.append((name, rows))
    return out


def _weakest(posed: Form, name: str, basis: FloatArray, rests: bool) -> Holding:
    k = len(basis)
    if not rests:
        return Holding(name, False, 0.0, np.eye(k)[0])

    def pull(d: FloatArray) -> float:
        return largest_pull(posed, d @ basis)

    tried = _directions(k)
    held = [pull(d) for d in tried]
    best = int(np.argmin(held))
    d, least = tried[best], held[best]
    if k > 1 and np.isfinite(least):
        d, least = _refine(pull, d, least)
    size = float(np.abs(_statics(posed)[1]).max(initial=0.0)) or 1.0
    return Holding(name, True, 0.0 if abs(least) <= PULL_NOISE_SHARE * size else max(least, 0.0), d)


def _directions(k: int) -> FloatArray:
    """Unit vectors all around, and the axes."""
    if k == 1:
        return np.array([[1.0], [-1.0]])
    if k == 2:
        angle = 2 * np.pi * np.arange(48) / 48
        return np.column_stack([np.cos(angle), np.sin(angle)])
    i = np.arange(100)
    z, angle = 1 - (2 * i + 1) / 100, np.pi * (3 - np.sqrt(5)) * i
    ring = np.column_stack([np.sqrt(1 - z**2) * np.cos(angle), np.sqrt(1 - z**2) * np.sin(angle), z])
    return np.vstack([ring, np.eye(3), -np.eye(3)])


def _refine(pull: Any, d: FloatArray, least: float) -> tuple[FloatArray, float]:
    """The weakest direction near d, by steps across it that shrink."""
    step = 0.07
    while step > 1e-5:
        for across in np.vstack([np.linalg.svd(d[None])[2][1:], -np.linalg.svd(d[None])[2][1:]]):
            there = (d + step * across) / np.sqrt(1 + step**2)
            value = pull(there)
            if value < least:
                d, least = there, value
                break
        else:
            step *= 0.4
    return d, least
