"""Friction sets that users write in Python: by a gauge (s00's ψ), or by a support function."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from .. import _check
from .._arguments import checks_arguments
from .._check import FloatArray
from ..errors import ModelError
from . import cuts
from .polyhedra import Polyhedral
from .sets import MAX_DIM, ROLL_1, FrictionSet, PackedSet, checked_axis, ring, rows_by_count, take_coefficient
from .speed import Coefficient

Function = Callable[[FloatArray], Any]
CHECK_POINTS = 48  # points at which functions are checked
CHECK_TOLERANCE = 1e-8  # how well they must agree there, relative


class ConvexSet(FrictionSet):
    """A friction set given by Python functions of its `rows` friction rows; friction lies in `mu·p_n·F`.

    By its gauge ψ, F = {f : ψ(f) <= 1} (s00 §3.1), or by its support function σ(u) = max of u·f over F. Either is
    convex, of degree one (`ψ(λf) = λ ψ(f)` for λ >= 0) and positive except at 0, so that F is bounded and holds the
    origin inside; F need not be symmetric. The functions take an array (rows,). `subgradient(f)` is the gradient of ψ,
    or one of several at a kink; `support_point(u)`, the gradient of σ, is the f of F with the largest u·f. Where not
    given they are found by differences: to about 1e-10 where the function is smooth, 1e-8 at kinks. `project(f)`, the
    point of F nearest to f, can be given beside `support` and saves time where there is friction without a normal
    impulse. Everything else follows from these.

    The functions are checked when the set is made, at random points. Solvers work with polyhedra inside F that are
    refined where the solution needs it (`solvers/any_law/written_sets.py`); certificates judge by these functions.
    `axis`: see `Anisotropic`; rows in a world: see `Polyhedral.contact_rows`.
    """

    @checks_arguments
    def __init__(
        self,
        mu: Coefficient,
        rows: int = 2,
        *,
        gauge: Function | None = None,
        subgradient: Function | None = None,
        support: Function | None = None,
        support_point: Function | None = None,
        project: Function | None = None,
        axis: Any = None,
    ):
        take_coefficient(self, mu)
        self.axis = checked_axis(axis, "ConvexSet")
        self.rows = _check.count("rows of a ConvexSet", rows)
        if self.rows > MAX_DIM:
            raise ModelError(f"rows of a ConvexSet must be at most {MAX_DIM}; got {self.rows}.")
        if (gauge is None) == (support is None):
            raise ModelError("a ConvexSet needs either gauge= or support=, not both.")
        if gauge is not None and (support_point is not None or project is not None):
            raise ModelError("a ConvexSet by its gauge takes subgradient=, not support_point= or project=.")
        if support is not None and subgradient is not None:
            raise ModelError("a ConvexSet by its support function takes support_point=, not subgradient=.")
        self._by_gauge = gauge is not None
        name, slope_name = ("gauge", "subgradient") if self._by_gauge else ("support", "support_point")
        self._function = _scalar(name, gauge or support)
        slope = subgradient if self._by_gauge else support_point
        self._slope = None if slope is None else _vector(slope_name, slope, self.rows)
        self._project = None if project is None else _vector("project", project, self.rows)
        _check_sublinear(name, self._function, self.rows)
        if self._slope is not None:
            _check_slope(name, slope_name, self._function, self._slope, self.rows)
        if self._project is not None:
            _check_project(self._function, self._project, self.rows)

    def _given(self, x: FloatArray) -> tuple[float, FloatArray]:
        """The given function and its slope."""
        if not x.any():
            return 0.0, np.zeros(self.rows)
        value = self._function(x)
        return value, cuts.gradient(self._function, x) if self._slope is None else self._slope(x)

    def _polar(self, x: FloatArray) -> tuple[float, FloatArray]:
        """The other one of gauge and support function, max of x·y over given(y) <= 1, and its slope, the best y."""
        y = cuts.support_point(self._given, x)
        return float(x @ y), y

    def _rows(self, name: str, x: Any) -> FloatArray:
        return _check.floats(name, x, (self.rows,))

    def contact_rows(self, space: int) -> tuple[int, ...]:
        """As `Polyhedral.contact_rows`."""
        rows = rows_by_count("ConvexSet", self.rows, space)
        if self.speed_law is not None and ROLL_1 in rows and space == 2:
            raise ModelError("a ConvexSet with a law of speed has one row in the plane; use Rolling to roll.")
        return rows

    def support(self, u: Any) -> float:
        """max of u·f over the unit set."""
        u = self._rows("u", u)
        return self._polar(u)[0] if self._by_gauge else self._function(u)

    def support_point(self, u: Any) -> FloatArray:
        """The f of the unit set with the largest u·f."""
        u = self._rows("u", u)
        return self._polar(u)[1] if self._by_gauge else self._given(u)[1]

    def gauge(self, f: Any) -> float:
        """The smallest r >= 0 with f in r·F."""
        f = self._rows("f", f)
        return self._function(f) if self._by_gauge else self._polar(f)[0]

    def project(self, f: Any, radius: float = 1.0) -> FloatArray:
        """The point of radius·F nearest to f."""
        f = self._rows("f", f)
        radius = _check.number("radius", radius, low=0.0)
        if self._project is not None and radius > 0.0:
            return radius * self._project(f / radius)
        return cuts.project(self._gauge_in(np.ones(self.rows)), f, radius)

    def _gauge_in(self, length: FloatArray) -> cuts.Sublinear:
        """Gauge and subgradient for friction whose rows are divided by `length`."""

        def function(f: FloatArray) -> tuple[float, FloatArray]:
            psi, s = self._given(f * length) if self._by_gauge else self._polar(f * length)
            return psi, s * length

        return function

    def project_in(self, x: FloatArray, radius: float, length: FloatArray) -> FloatArray:
        """The point of radius·F nearest to x, where rows are divided by `length`."""
        if (length == 1.0).all():
            return self.project(x, radius)
        return cuts.project(self._gauge_in(length), x, radius)

    def project_cone(self, x: FloatArray, mu: float, r0: float, length: FloatArray) -> FloatArray:
        """The nearest point to x = (x_n, x_t) in {p_n >= 0, p_t in (mu·p_n + r0)·F}, rows divided by `length`."""
        if self._by_gauge or mu == 0.0:
            return cuts.project_cone(self._gauge_in(length), x, mu, r0)
        if r0 > 0.0:
            if self._project is not None and (length == 1.0).all():
                return self._cone_by_project(x, mu, r0)
            return cuts.project_cone(self._gauge_in(length), x, mu, r0)

        def function(w: FloatArray) -> tuple[float, FloatArray]:
            value, f = self._given(w / length)
            return value, f / length

        # Moreau: what is left of x after its projection onto the polar cone, mu·σ(w) <= -m
        m, *w = cuts.project_cone(function, np.append(-x[0], x[1:]), 1.0 / mu, 0.0)
        return x - np.array([-m, *w])

    def _cone_by_project(self, x: FloatArray, mu: float, r0: float) -> FloatArray:
        from scipy.optimize import brentq

        def rises(normal: float) -> float:
            """The derivative of ½ |x - y|² by y_n, where y_t is the best for y_n."""
            away = x[1:] - self.project(x[1:], mu * normal + r0)
            return normal - float(x[0]) - mu * (self._function(away) if away.any() else 0.0)

        low = max(0.0, float(x[0]))
        if rises(low) < 0.0:
            high = low - rises(low)  # the pull of friction only falls
            low = brentq(rises, low, high, xtol=1e-300, rtol=1e-15) if rises(high) > 0.0 else high
        return np.append(low, self.project(x[1:], mu * low + r0))

    def shape(self, x: FloatArray) -> FloatArray:
        """The gauge or the support function, whichever was given, at each row of x."""
        return np.array([self._function(row) for row in x])

    def is_polyhedral(self, dim: int) -> bool:
        """Only with one row, where it is an interval."""
        return dim == 1

    @cached_property
    def _inside(self) -> PackedSet:
        return Polyhedral(self.mu, directions=self.directions(self.rows, 16)).packed(self.rows)

    def packed(self, dim: int) -> PackedSet:
        """The kernels' code of a polyhedron inside the set."""
        if dim != self.rows:
            raise ModelError(f"this ConvexSet has {self.rows} friction rows; the contact has {dim}.")
        return self._inside

    def directions(self, dim: int, count: int = 8) -> FloatArray:
        """Points of the boundary: `count` around the origin in two rows, more in three; all around in four and five."""
        return np.array([self.boundary(d) for d in _around(self.rows, count)])

    def boundary(self, d: FloatArray) -> FloatArray:
        """A point of the boundary: that along d where the gauge is given, the support point of d otherwise."""
        return d / self._function(d) if self._by_gauge else self.support_point(d)

    def __repr__(self) -> str:
        return (
            f"ConvexSet(mu={self.mu:g}, rows={self.rows}, by its {'gauge' if self._by_gauge else 'support function'})"
        )


def _around(rows: int, count: int) -> FloatArray:
    """Unit vectors that go around the origin evenly."""
    if rows == 2:
        return ring(count)
    if rows == 3:
        from .ellipsoids import Torsional

        return Torsional(1.0).directions(3, count)
    axes = np.vstack([np.eye(rows), -np.eye(rows)])
    if rows == 1:
        return axes
    corners = np.array(np.meshgrid(*[[1.0, -1.0]] * rows)).reshape(rows, -1).T / np.sqrt(rows)
    return np.vstack([axes, corners])


def _scalar(name: str, function: Any) -> Callable[[FloatArray], float]:
    """The function with its result checked: one finite number."""
    if not callable(function):
        raise ModelError(f"{name} of a ConvexSet must be a function of an array; got {_check.describe(function)}.")

    def checked(x: FloatArray) -> float:
        try:
            value = float(function(x))
        except (TypeError, ValueError, ArithmeticError) as error:
            raise ModelError(f"{name} of a ConvexSet must give one number; at {_text(x)} it fails: {error}.") from error
        if not np.isfinite(value):
            raise ModelError(f"{name} of a ConvexSet must be finite; at {_text(x)} it is {value}.")
        return value

    return checked


def _vector(name: str, function: Any, rows: int) -> Callable[[FloatArray], FloatArray]:
    """The function with its result checked: `rows` finite numbers."""
    if not callable(function):
        raise ModelError(f"{name} of a ConvexSet must be a function of an array; got {_check.describe(function)}.")

    def checked(x: FloatArray) -> FloatArray:
        try:
            value = function(x)
        except (TypeError, ValueError, ArithmeticError) as error:
            raise ModelError(
                f"{name} of a ConvexSet must give {rows} numbers; at {_text(x)} it fails: {error}."
            ) from error
        if (
            isinstance(value, np.ndarray)
            and value.shape == (rows,)
            and value.dtype == float
            and np.isfinite(value).all()
        ):
            return value  # the text of the message below costs more than the function
        return _check.floats(f"{name} of a ConvexSet at {_text(x)}", value, (rows,))

    return checked


def _text(x: FloatArray) -> str:
    return "(" + ", ".join(f"{value:.4g}" for value in x) + ")"


def _samples(rows: int) -> FloatArray:
    """Unit vectors: the axes, and random ones, always the same."""
    random = np.random.default_rng(0).normal(size=(CHECK_POINTS, rows))
    return np.vstack([np.eye(rows), -np.eye(rows), random / np.linalg.norm(random, axis=1)[:, None]])


def _check_sublinear(name: str, function: Callable[[FloatArray], float], rows: int) -> None:
    what = f"{name} of a ConvexSet"
    points = _samples(rows)
    values = [function(x) for x in points]
    if min(values) <= 0.0:
        k = int(np.argmin(values))
        why = "the set is unbounded" if name == "gauge" else "the origin does not lie inside the set"
        raise ModelError(f"{what} must be positive; at {_text(points[k])} it is {values[k]:g}: {why} that way.")
    if abs(function(np.zeros(rows))) > CHECK_TOLERANCE * min(values):
        raise ModelError(f"{what} must be 0 at the origin; it is {function(np.zeros(rows)):g}.")
    for x, value in zip(points, values):
        for factor in (0.01, 7.0):
            found = function(factor * x)
            if abs(found - factor * value) > CHECK_TOLERANCE * factor * value:
                raise ModelError(
                    f"{what} must be of degree one; at {_text(x)} it is {value:g}, at {factor:g} times it {found:g}."
                )
    for k, (x, value) in enumerate(zip(points, values)):
        for y, other in zip(points[:k], values[:k]):
            found = function(x + y)
            if found > (1.0 + CHECK_TOLERANCE) * (value + other):
                raise ModelError(
                    f"{what} must be convex; at {_text(x + y)} it is {found:g}, more than the sum "
                    f"{value + other:g} of its values at {_text(x)} and {_text(y)}."
                )


def _check_slope(
    name: str, slope_name: str, function: Callable[[FloatArray], float], slope: Callable[..., FloatArray], rows: int
) -> None:
    points = _samples(rows)
    values = np.array([function(x) for x in points])
    for x, value in zip(points, values):
        s = slope(3.0 * x)  # the same as at x, since the function is of degree one
        if abs(s @ x - value) > CHECK_TOLERANCE * value or (points @ s > values + CHECK_TOLERANCE * values.max()).any():
            raise ModelError(
                f"{slope_name} of a ConvexSet must be a gradient of {name}; at {_text(x)} it is {_text(s)}, "
                f"whose product with that point must be {value:g}, and with no other point more than its {name}."
            )


def _check_project(
    support: Callable[[FloatArray], float], project: Callable[[FloatArray], FloatArray], rows: int
) -> None:
    for x in _samples(rows):
        for far in (0.5, 2.0):
            f = far * x * support(x)
            y = project(f)
            size = float(np.linalg.norm(f))
            a = f - y
            most = support(a) if a.any() else 0.0
            outside = max(y @ d - support(d) for d in _samples(rows))
            if outside > CHECK_TOLERANCE * size or abs(a @ y - most) > CHECK_TOLERANCE * size**2:
                raise ModelError(
                    f"project of a ConvexSet must give the point of the set nearest to {_text(f)}; {_text(y)} is not, "
                    "by the support function."
                )
