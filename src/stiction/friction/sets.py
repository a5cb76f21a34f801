"""Friction sets: which friction impulses a contact can give for a given normal impulse.

Friction lies in `(mu·p_n + r0)·F`, with F a convex set at unit radius that holds the origin, and among those it
dissipates most (s00 eq. 1.1). Each set knows its support function, projection, gauge, a polyhedral
approximation by directions, and its code for the compiled kernels. Here: what all sets share, no friction, and
Coulomb's disk; the others are in `ellipsoids`, `products` and `polyhedra`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from .. import _check
from .._check import FloatArray
from ..errors import ModelError
from .speed import Coefficient, SpeedLaw, coefficient

MAX_DIM = 5  # tangent 1, tangent 2, spin, roll 1, roll 2
TANGENT_1, TANGENT_2, SPIN, ROLL_1, ROLL_2 = 1, 2, 3, 4, 5  # rows of a contact after the normal

NONE, ELLIPSOID, POLYHEDRON, PRODUCT = 0, 1, 2, 3  # as in friction/kernels.py, repeated so that this file stays light


def product_kind(sizes: tuple[int, ...]) -> int:
    """The kernels' kind of a product of ellipsoids with `sizes` rows: PRODUCT | mask << 2, bit k: row k starts one."""
    starts = np.cumsum((0, *sizes[:-1])).tolist()
    return PRODUCT | sum(1 << k for k in starts) << 2


@dataclass(frozen=True)
class PackedSet:
    """A set at unit radius as the kernels read it: kind, semi-axes (n,), vertices (m, n), facets (k, n+1).

    The low two bits of `kind` are NONE, ELLIPSOID, POLYHEDRON or PRODUCT; see `product_kind` for the rest.
    """

    kind: int
    semi: FloatArray
    vertices: FloatArray
    facets: FloatArray


class FrictionSet(ABC):
    """A convex friction set with its coefficient `mu`. Arrays of friction have the rows of the contact last."""

    mu: float
    speed_law: SpeedLaw | None = None
    """How the coefficient depends on the speed of slip, `mu` being its value at rest; None where it does not."""
    axis: tuple[float, float, float] | None = None
    """The direction of tangent 1, fixed in the first body and given in its axes; None where any will do."""

    def contact_rows(self, space: int) -> tuple[int, ...]:
        """Which rows after the normal a contact needs in a world of `space` dimensions: TANGENT_1 to ROLL_2."""
        return (TANGENT_1, TANGENT_2) if space == 3 else (TANGENT_1,)

    @property
    def slope(self) -> float:
        """How much the radius of friction grows with the normal impulse: `mu`, and never 0 where friction acts."""
        return self.mu

    def slip_rows(self, dim: int) -> int:
        """How many of the `dim` friction rows are slip: the first ones, whose norm is the speed of `speed_law`."""
        return min(dim, 2)

    def with_slip(self, mu: float) -> FrictionSet | None:
        """The set with another coefficient of slip; None where `mu` is a factor of the whole set."""
        return None

    @abstractmethod
    def packed(self, dim: int) -> PackedSet:
        """The kernels' code of the unit set for a contact with `dim` friction rows."""

    @abstractmethod
    def directions(self, dim: int, count: int = 8) -> FloatArray:
        """Directions (m, dim) at unit radius whose convex hull approximates the set from inside (st96 eq. 12)."""

    def polyhedral(self, dim: int, count: int = 8) -> FrictionSet:
        """The set with `count` directions in place of a smooth boundary; itself when it is a polyhedron already."""
        if self.is_polyhedral(dim):
            return self
        from .polyhedra import Polyhedral

        return Polyhedral(self.speed_law or self.slope, directions=self.directions(dim, count), axis=self.axis)

    def is_polyhedral(self, dim: int) -> bool:
        """Whether the set is exactly a polyhedron for `dim` friction rows (one row: every set is an interval)."""
        return dim <= 1 or self.packed(dim).kind in (NONE, POLYHEDRON)

    def groups(self, dim: int, count: int = 8) -> list[tuple[int, FloatArray]]:
        """First row and directions (m, rows) of the factors of the set: one, unless it is a product."""
        return [(0, self.directions(dim, count))]

    def _unit(self, name: str, value: Any) -> tuple[FloatArray, PackedSet]:
        """An array, and the unit set of as many friction rows as it has numbers."""
        x = _check.floats(name, value, (None,))
        try:
            return x, self.packed(x.size)
        except ModelError as error:
            raise ModelError(f"{name} has {x.size} rows: {error}") from None

    def support(self, u: Any) -> float:
        """max of u·f over the unit set: the power that maximum dissipation takes when u is minus the slip velocity."""
        from . import kernels

        u, s = self._unit("u", u)
        return float(kernels.support(s.kind, s.semi, s.vertices, 0, len(s.vertices), u, u.size))

    def support_point(self, u: Any) -> FloatArray:
        """The point f of the unit set with the largest u·f: friction at unit radius when the slip velocity is -u.

        Where several points do as well (slip 0, flat sides) it is one of them.
        """
        u, s = self._unit("u", u)
        f = np.zeros_like(u)
        if s.kind == POLYHEDRON:
            work = s.vertices @ u
            return s.vertices[work.argmax()].copy() if work.max() > 0.0 else f
        starts = [k for k in range(u.size) if k == 0 or s.kind >> (2 + k) & 1]
        for first, last in zip(starts, [*starts[1:], u.size]):
            rows = slice(first, last)
            size = np.linalg.norm(s.semi[rows] * u[rows])
            f[rows] = s.semi[rows] * (s.semi[rows] * u[rows] / size) if size > 0.0 else 0.0
        return f

    def gauge(self, f: Any) -> float:
        """The smallest r >= 0 with f in r·F (s00's ψ); infinite when no multiple of F holds f."""
        from . import kernels

        f, s = self._unit("f", f)
        return float(kernels.gauge(s.kind, s.semi, s.facets, 0, len(s.facets), f, f.size))

    def project(self, f: Any, radius: float = 1.0) -> FloatArray:
        """The point of radius·F nearest to f."""
        f, _ = self._unit("f", f)
        return self.project_in(f, radius, np.ones(f.size))

    def project_in(self, x: Any, radius: float, length: FloatArray) -> FloatArray:
        """The point of radius·F nearest to x, where rows are divided by `length`."""
        from . import kernels

        x, s = self._unit("f", x)
        length = _check.floats("length", length, x.shape)
        radius = _check.number("radius", radius, low=0.0)
        y = np.zeros_like(x)
        if s.kind & 3 in (ELLIPSOID, PRODUCT):
            kernels.project_product(s.kind, s.semi / length, x, y, x.size, radius)
        elif s.kind == POLYHEDRON:
            m = len(s.facets)
            G, h = np.ascontiguousarray(s.facets[:, :-1] * length), s.facets[:, -1] * radius
            kernels.project_polyhedron(G, h, x.size, m, x, y, kernels.polyhedron_workspace(m, x.size))
        return y


@dataclass(frozen=True)
class Frictionless(FrictionSet):
    """No friction: the set is the origin."""

    mu: float = field(default=0.0, init=False)

    def contact_rows(self, space: int) -> tuple[int, ...]:
        """None."""
        return ()

    def packed(self, dim: int) -> PackedSet:
        """The kernels' code of the origin."""
        return PackedSet(NONE, np.zeros(dim), np.zeros((0, dim)), np.zeros((0, dim + 1)))

    def directions(self, dim: int, count: int = 8) -> FloatArray:
        """No directions."""
        return np.zeros((0, dim))


@dataclass(frozen=True, init=False)
class Coulomb(FrictionSet):
    """Isotropic dry friction with coefficient `mu`: an interval in the plane, a disk in space.

    mu: a number, or a law or function of the slip speed [m/s], such as `Stribeck`.
    """

    mu: float
    speed_law: SpeedLaw | None = None

    def __init__(self, mu: Coefficient):
        take_coefficient(self, mu)

    def packed(self, dim: int) -> PackedSet:
        """The kernels' code of the unit interval or disk."""
        if dim not in (1, 2):
            raise ModelError(f"Coulomb friction has 1 or 2 tangent rows; this contact has {dim}.")
        return pack_ellipsoids(ELLIPSOID, *[1.0] * dim)

    def directions(self, dim: int, count: int = 8) -> FloatArray:
        """`count` unit vectors evenly spread from the first tangent on; two in the plane."""
        if dim == 1:
            return np.array([[1.0], [-1.0]])
        return ring(count)


def take_coefficient(friction: FrictionSet, mu: Coefficient) -> None:
    """Give a set its coefficient: the number at rest, and the law where there is one."""
    rest, law = coefficient(mu)
    object.__setattr__(friction, "mu", rest)
    object.__setattr__(friction, "speed_law", law)


def ring(count: int) -> FloatArray:
    """`count` unit vectors of the plane, evenly spread from the first axis on."""
    count = _check.count("directions", count, low=3)
    angle = 2 * np.pi * np.arange(count) / count
    out = np.column_stack([np.cos(angle), np.sin(angle)])
    # Exact zeros and opposite pairs (st96 eq. 13): round-off must not break the symmetry of the set.
    out[np.abs(out) < 1e-15] = 0.0
    if count % 2 == 0:
        out[count // 2 :] = -out[: count // 2]
    return out


@lru_cache
def pack_ellipsoids(kind: int, *semi: float) -> PackedSet:
    """The kernels' code of an ellipsoid or of a product of them, by its kind and semi-axes."""
    dim = len(semi)
    return PackedSet(kind, np.array(semi), np.zeros((0, dim)), np.zeros((0, dim + 1)))


def as_friction(value: FrictionSet | float | None, what: str = "friction") -> FrictionSet:
    """A number as `Coulomb`, None as `Frictionless`, a set as itself."""
    if value is None:
        return Frictionless()
    if isinstance(value, FrictionSet):
        return value
    return Coulomb(_check.number(f"{what} (a coefficient, Coulomb(mu) or another friction set)", value, low=0.0))


def checked_axis(value: Any, what: str) -> tuple[float, float, float] | None:
    """A direction as three numbers of length one; None stays None."""
    if value is None:
        return None
    a = _check.floats(f"axis of {what} friction (a vector in the axes of the first body)", value, (3,))
    size = float(np.linalg.norm(a))
    if not size > 0.0:
        raise ModelError(f"axis of {what} friction must not be zero: it is the direction of the first tangent.")
    # what is of length one already stays as it is, so that an axis that was read and written is the same to the bit
    x, y, z = (a if abs(size - 1.0) <= 4e-16 else a / size).tolist()
    return x, y, z


def rows_by_count(what: str, dim: int, space: int) -> tuple[int, ...]:
    """The rows of a set that says only how many it has: slip, then spin, then rolling (four rows: slip and rolling)."""
    known: dict[int, tuple[int, ...]] = {1: (TANGENT_1,), 2: (TANGENT_1, ROLL_1)}
    if space == 3:
        slip = (TANGENT_1, TANGENT_2)
        known = {2: slip, 3: (*slip, SPIN), 4: (*slip, ROLL_1, ROLL_2), 5: (*slip, SPIN, ROLL_1, ROLL_2)}
    if dim not in known:
        where = "in space" if space == 3 else "in the plane"
        raise ModelError(f"this {what} has {dim} rows; {where} it may have {sorted(known)}.")
    return known[dim]
