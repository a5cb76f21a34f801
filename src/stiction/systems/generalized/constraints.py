"""Constraints of a generalized system, given as functions of the configuration."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import _check
from ..._check import FloatArray
from ...errors import ModelError
from ...friction.sets import Coulomb, FrictionSet, as_friction
from ...problem.laws import Law
from ..base import MAX_ROWS
from ..compliance import Compliance, as_compliance
from ..restitution import Restitution, checked, most
from .derivatives import derivative

Function = Callable[..., Any]


def of_time_and_q(name: str, function: Any) -> Callable[[float, FloatArray], Any]:
    """A function of q, or of (t, q), as a function of (t, q)."""
    if not callable(function):
        raise ModelError(f"{name} must be a function of q, or of t and q; got {type(function).__name__}.")
    try:
        parameters = inspect.signature(function).parameters.values()
        required = [
            p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
        ]
        takes = len(required)
    except (TypeError, ValueError):
        takes = 1
    if takes == 2:
        return function
    if takes != 1:
        raise ModelError(f"{name} must take q, or t and q; it takes {takes} arguments.")
    return lambda t, q: function(q)


def _label(kind: str, name: Any) -> str:
    """What messages call a constraint."""
    if name is not None and not isinstance(name, str):
        raise ModelError(f"{kind} name must be a string; got {_check.describe(name)}.")
    return f"{kind} {name!r}" if name else kind


def _matrix(name: str, value: Any, nv: int) -> FloatArray:
    array = _check.floats(name, value)
    if array.ndim == 1:
        array = array.reshape(1, -1)
    return _check.floats(name, array, (None, nv))


class Gap:
    """A unilateral contact: a gap function with its normal, tangent directions and friction.

    What it stands for: gap >= 0 complementary to the normal force, and the whole force in the friction cone (st96
    eq. 2, 3, 9, 11, ah03 eq. 2.3–2.5, s00 eq. 3.4).
    phi(q), or phi(t, q) for moving obstacles: the gap [m], positive when apart. normal(q) -> (nv,) is its gradient,
    computed by differences when not given. tangents(q) -> (nt, nv) or (nv,) maps velocities to the slip velocity at the
    contact point (st96: the transformed unit tangents); needed when there is friction. friction: a coefficient,
    `Coulomb(mu)` or another friction set. restitution: from 0 to 1, or a function of the impact's speed [m/s], for
    schemes with impacts that bounce (`Moreau`). compliance: how the contact gives way, a number [m/N] or a
    `Compliance(kn, gamma_n, gamma_t)`; rigid by default. All functions may take (t, q).
    """

    law = Law.UNILATERAL

    def __init__(
        self,
        phi: Function,
        normal: Function | None = None,
        tangents: Function | None = None,
        friction: FrictionSet | float | None = None,
        *,
        restitution: Restitution = 0.0,
        compliance: Compliance | float | None = None,
        name: str | None = None,
    ):
        self.name = self.given_name = name
        self._label = _label("gap", name)
        self.compliance = as_compliance(compliance, self._label)
        self.restitution = checked(self._label, restitution)
        if self.compliance is not None and most(self.restitution) > 0.0:
            raise ModelError(f"{self._label} cannot have a restitution and a compliance: it bounces by its damping.")
        self._phi = of_time_and_q(f"{self._label}: phi", phi)
        self._normal = None if normal is None else of_time_and_q(f"{self._label}: normal", normal)
        self._tangents = None if tangents is None else of_time_and_q(f"{self._label}: tangents", tangents)
        self.friction = as_friction(friction, f"friction of {self._label}")
        self.nt = 0

    def prepare(self, name: str, t: float, q: FloatArray, nv: int) -> None:
        """Take a name, check every function at the initial state, and learn the number of tangent rows."""
        self.name = name
        self._label = f"gap {name!r}"
        self.value(t, q)
        if self.friction.slope > 0:
            if self._tangents is None:
                raise ModelError(f"{self._label} has friction but no tangents; give tangents(q) -> (nt, {nv}).")
            self.nt = len(_matrix(f"{self._label}: tangents(q)", self._tangents(t, q), nv))
            if not 1 <= self.nt < MAX_ROWS:
                raise ModelError(f"{self._label}: tangents(q) must have 1 to {MAX_ROWS - 1} rows; got {self.nt}.")
            self.friction.packed(self.nt)
        rows = self.rows(t, q)
        if not np.abs(rows[0]).max() > 0:
            raise ModelError(f"{self._label}: the normal (gradient of phi) is zero at the initial configuration.")

    @property
    def size(self) -> int:
        """Number of rows."""
        return 1 + self.nt

    def value(self, t: float, q: FloatArray) -> float:
        """The gap [m]."""
        raw = self._phi(t, q)
        array = np.asarray(raw)
        if array.ndim and array.size != 1:
            raise ModelError(
                f"{self._label}: phi must return one number, the gap in metres; got an array of shape {array.shape}."
            )
        if array.dtype.kind not in "biuf":
            raise ModelError(f"{self._label}: phi must return a real number; got {type(raw).__name__}.")
        value = float(array.reshape(()))
        if not np.isfinite(value):
            raise ModelError(
                f"{self._label}: phi returned {value} at t = {t:g} s, q = {np.array2string(q, precision=4)}."
            )
        return value

    def values(self, t: float, q: FloatArray) -> FloatArray:
        """The gap in the normal row, 0 in the friction rows."""
        out = np.zeros(self.size)
        out[0] = self.value(t, q)
        return out

    def rows(self, t: float, q: FloatArray) -> FloatArray:
        """(1 + nt, nv): the normal, then the tangents."""
        nv = q.size
        if self._normal is not None:
            normal = _check.floats(f"{self._label}: normal(q)", self._normal(t, q), (nv,))
        else:
            normal = derivative(lambda x: self.value(t, x), q)
        if not self.nt:
            return normal.reshape(1, nv)
        assert self._tangents is not None
        tangents = _matrix(f"{self._label}: tangents(q)", self._tangents(t, q), nv)
        if len(tangents) != self.nt:
            raise ModelError(f"{self._label}: tangents(q) had {self.nt} rows and now has {len(tangents)}.")
        return np.vstack([normal, tangents])

    def bound(self, t: float, q: FloatArray) -> float:
        """No friction without normal force."""
        return 0.0


class Bilateral:
    """A bilateral constraint phi(q) = 0, or phi(t, q) = 0, of 1 to 6 rows: a joint, a guide (st96 eq. 8, ah03 eq. 2.1).

    jacobian(q) -> (m, nv), or (nv,) for one row: its gradient (ah03 eq. 2.2), computed by differences when not given.
    """

    law = Law.EQUALITY
    friction = as_friction(None)

    def __init__(self, phi: Function, jacobian: Function | None = None, *, name: str | None = None):
        self.name = self.given_name = name
        self._label = _label("constraint", name)
        self._phi = of_time_and_q(f"{self._label}: phi", phi)
        self._jacobian = None if jacobian is None else of_time_and_q(f"{self._label}: jacobian", jacobian)
        self.size = 0

    def prepare(self, name: str, t: float, q: FloatArray, nv: int) -> None:
        """Take a name, check the functions at the initial state, and learn the number of rows."""
        self.name = name
        self._label = f"constraint {name!r}"
        self.size = _check.floats(f"{self._label}: phi(q)", self._phi(t, q)).size
        if not 1 <= self.size <= MAX_ROWS:
            raise ModelError(f"{self._label}: phi(q) must have 1 to {MAX_ROWS} entries; got {self.size}.")
        self.rows(t, q)

    def value(self, t: float, q: FloatArray) -> float:
        """The largest residual."""
        return float(np.abs(self.values(t, q)).max())

    def values(self, t: float, q: FloatArray) -> FloatArray:
        """phi, (size,)."""
        raw = _check.floats(f"{self._label}: phi(q)", self._phi(t, q)).ravel()
        return _check.floats(f"{self._label}: phi(q)", raw, (self.size,))

    def rows(self, t: float, q: FloatArray) -> FloatArray:
        """(size, nv): the Jacobian of phi."""
        if self._jacobian is None:
            return derivative(lambda x: self.values(t, x), q)
        rows = _matrix(f"{self._label}: jacobian(q)", self._jacobian(t, q), q.size)
        return _check.floats(f"{self._label}: jacobian(q)", rows, (self.size, q.size))

    def bound(self, t: float, q: FloatArray) -> float:
        """No friction."""
        return 0.0


class DryFriction:
    """Friction without a contact, with its own bound (st96 §3.5, eq. 30–32): a gear box, a bearing.

    rows: (m, nv) or (nv,), or a function of q: the velocities that rub. bound: the largest friction force [N] (or
    moment [N·m]), a number or a function of q or (t, q). shape: the friction set at unit bound; by default an interval
    for one row and a disk for two. With `shape=Coulomb(law)`, law a `Stribeck` or another function of the speed s of
    these rows, `bound` holds at rest and changes as mu(s)/mu(0).
    """

    law = Law.DRY

    def __init__(
        self, rows: Any, bound: float | Function, *, shape: FrictionSet | None = None, name: str | None = None
    ):
        self.name = self.given_name = name
        self._label = _label("dry friction", name)
        if callable(rows):
            self._rows = of_time_and_q(f"{self._label}: rows", rows)
        else:
            constant = _check.floats(f"{self._label}: rows", rows)
            self._rows = lambda t, q: constant
        if callable(bound):
            self._bound = of_time_and_q(f"{self._label}: bound", bound)
        else:
            number = _check.number(f"{self._label}: bound", bound, low=0.0)
            self._bound = lambda t, q: number
        self.friction = Coulomb(1.0) if shape is None else as_friction(shape)
        self.size = 0

    def prepare(self, name: str, t: float, q: FloatArray, nv: int) -> None:
        """Take a name, check the functions at the initial state, and learn the number of rows."""
        self.name = name
        self._label = f"dry friction {name!r}"
        self.size = len(_matrix(f"{self._label}: rows", self._rows(t, q), nv))
        self.friction.packed(self.size)
        self.bound(t, q)

    def value(self, t: float, q: FloatArray) -> float:
        """Dry friction has no gap."""
        return 0.0

    def values(self, t: float, q: FloatArray) -> FloatArray:
        """Zeros, (size,)."""
        return np.zeros(self.size)

    def rows(self, t: float, q: FloatArray) -> FloatArray:
        """(size, nv)."""
        rows = _matrix(f"{self._label}: rows", self._rows(t, q), q.size)
        return _check.floats(f"{self._label}: rows", rows, (self.size, q.size))

    def bound(self, t: float, q: FloatArray) -> float:
        """The largest friction force [N]."""
        return _check.number(f"{self._label}: bound", self._bound(t, q), low=0.0)
