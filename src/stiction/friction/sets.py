"""Friction sets: which friction impulses a contact can give for a given normal impulse.

Friction lies in `(mu·p_n + r0)·F`, with F a convex set at unit radius that holds the origin, and among those it
dissipates most (s00 eq. 1.1). Each set knows its support function, projection, gauge, a polyhedral
approximation by directions, and its code for the compiled kernels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from .. import _check
from .._check import FloatArray
from ..errors import ModelError
from .polytope import facets_of, vertices_of

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

    @property
    def axis(self) -> tuple[float, float, float] | None:
        """The direction of tangent 1, fixed in the first body and given in its axes; None where any will do."""
        return None

    def contact_rows(self, space: int) -> tuple[int, ...]:
        """Which rows after the normal a contact needs in a world of `space` dimensions: TANGENT_1 to ROLL_2."""
        return (TANGENT_1, TANGENT_2) if space == 3 else (TANGENT_1,)

    @property
    def slope(self) -> float:
        """How much the radius of friction grows with the normal impulse: `mu`, and never 0 where friction acts."""
        return self.mu

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
        return Polyhedral(self.slope, directions=self.directions(dim, count))

    def is_polyhedral(self, dim: int) -> bool:
        """Whether the set is exactly a polyhedron for `dim` friction rows (one row: every set is an interval)."""
        return dim <= 1 or self.packed(dim).kind in (NONE, POLYHEDRON)

    def groups(self, dim: int, count: int = 8) -> list[tuple[int, FloatArray]]:
        """First row and directions (m, rows) of the factors of the set: one, unless it is a product."""
        return [(0, self.directions(dim, count))]

    def support(self, u: Any) -> float:
        """max of u·f over the unit set: the power that maximum dissipation takes when u is minus the slip velocity."""
        from . import kernels

        u = _check.floats("u", u, (None,))
        s = self.packed(u.size)
        return float(kernels.support(s.kind, s.semi, s.vertices, 0, len(s.vertices), u, u.size))

    def gauge(self, f: Any) -> float:
        """The smallest r >= 0 with f in r·F (s00's ψ); infinite when no multiple of F holds f."""
        from . import kernels

        f = _check.floats("f", f, (None,))
        s = self.packed(f.size)
        return float(kernels.gauge(s.kind, s.semi, s.facets, 0, len(s.facets), f, f.size))

    def project(self, f: Any, radius: float = 1.0) -> FloatArray:
        """The point of radius·F nearest to f."""
        from . import kernels

        f = _check.floats("f", f, (None,))
        radius = _check.number("radius", radius, low=0.0)
        s = self.packed(f.size)
        y = np.zeros_like(f)
        if s.kind & 3 in (ELLIPSOID, PRODUCT):
            kernels.project_product(s.kind, s.semi, f, y, f.size, radius)
        elif s.kind == POLYHEDRON:
            m = len(s.facets)
            G, h = np.ascontiguousarray(s.facets[:, :-1]), s.facets[:, -1] * radius
            kernels.project_polyhedron(G, h, f.size, m, f, y, *kernels.workspace(m, f.size))
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


@dataclass(frozen=True)
class Coulomb(FrictionSet):
    """Isotropic dry friction with coefficient `mu`: an interval in the plane, a disk in space."""

    mu: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", _check.number("friction coefficient mu", self.mu, low=0.0))

    def packed(self, dim: int) -> PackedSet:
        """The kernels' code of the unit interval or disk."""
        if dim not in (1, 2):
            raise ModelError(f"Coulomb friction has 1 or 2 tangent rows; this contact has {dim}.")
        return _ellipsoids(ELLIPSOID, *[1.0] * dim)

    def directions(self, dim: int, count: int = 8) -> FloatArray:
        """`count` unit vectors evenly spread from the first tangent on; two in the plane."""
        if dim == 1:
            return np.array([[1.0], [-1.0]])
        count = _check.count("directions", count, low=3)
        angle = 2 * np.pi * np.arange(count) / count
        ring = np.column_stack([np.cos(angle), np.sin(angle)])
        # Exact zeros and opposite pairs (st96 eq. 13): round-off must not break the symmetry of the set.
        ring[np.abs(ring) < 1e-15] = 0.0
        if count % 2 == 0:
            ring[count // 2 :] = -ring[: count // 2]
        return ring


@dataclass(frozen=True)
class Torsional(FrictionSet):
    """Friction of an area of contact, which resists slip and spin together (ttp01 eq. 1).

    Rows tangent 1, tangent 2, spin: `(f_t/et)² + (f_o/eo)² + (f_r/er)² <= (mu p_n)²`. et and eo are pure numbers, er is
    a length [m]: spinning in place meets the moment `mu·er·p_n`.
    """

    mu: float
    et: float = 1.0
    eo: float = 1.0
    er: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", _check.number("friction coefficient mu", self.mu, low=0.0))
        for name in ("et", "eo", "er"):
            what = f"semi-axis {name} of Torsional friction"
            object.__setattr__(self, name, _check.number(what, getattr(self, name), positive=True))

    def contact_rows(self, space: int) -> tuple[int, ...]:
        """Slip and spin; only in space."""
        if space != 3:
            raise ModelError("Torsional friction needs a contact in space; in the plane nothing spins about a normal.")
        return (TANGENT_1, TANGENT_2, SPIN)

    def packed(self, dim: int) -> PackedSet:
        """The kernels' code of the ellipsoid."""
        if dim != 3:
            raise ModelError(f"Torsional friction has 3 rows (tangent 1, tangent 2, spin); this contact has {dim}.")
        return _ellipsoids(ELLIPSOID, self.et, self.eo, self.er)

    def directions(self, dim: int, count: int = 8) -> FloatArray:
        """`count` directions on the equator, 5/8 as many at latitudes ±0.5 rad each, and the poles (ttp01 eq. 5)."""
        self.packed(dim)
        count = _check.count("directions", count, low=3)
        side = max(3, round(5 * count / 8))
        return self.rings((count, 0.0), (side, 0.5), (side, -0.5), (1, np.pi / 2), (1, -np.pi / 2))

    def rings(self, *rings: tuple[int, float]) -> FloatArray:
        """Directions (m, 3) on circles of latitude, each given by how many it holds and its latitude [rad].

        The latitude is the true angle above the tangent plane, and each direction is then scaled onto the ellipsoid
        (ttp01 eq. 5 and 6). Circles start at tangent 1.
        """
        parts = []
        for number, latitude in rings:
            azimuth = 2 * np.pi * np.arange(_check.count("directions of a ring", number)) / number
            up = np.full(number, np.sin(latitude))
            parts.append(np.column_stack([np.cos(latitude) * np.cos(azimuth), np.cos(latitude) * np.sin(azimuth), up]))
        D = np.vstack(parts)
        D[np.abs(D) < 1e-15] = 0.0
        return np.ascontiguousarray(D / np.linalg.norm(D / [self.et, self.eo, self.er], axis=1)[:, None])


@dataclass(frozen=True)
class Rolling(FrictionSet):
    """Slip, rolling and (with `mu_s`) spin resisted each on its own: the product of a disk, a disk and an interval.

    `|f_t| <= mu p_n`, `|m_roll| <= mu_r p_n`, `|m_spin| <= mu_s p_n`, with mu_r and mu_s lengths [m]. Friction rows of
    a contact in space: tangent 1, tangent 2, roll 1, roll 2, or with `mu_s` tangent 1, tangent 2, spin, roll 1,
    roll 2; in the plane: tangent, roll. Any of the coefficients may be 0. A radius r0 that needs no normal impulse
    counts in N·s of slip where mu > 0: then rolling gets `r0·mu_r/mu`.
    """

    mu: float
    mu_r: float
    mu_s: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", _check.number("friction coefficient mu", self.mu, low=0.0))
        object.__setattr__(self, "mu_r", _check.number("coefficient of rolling friction mu_r", self.mu_r, low=0.0))
        if self.mu_s is not None:
            object.__setattr__(self, "mu_s", _check.number("coefficient of spin friction mu_s", self.mu_s, low=0.0))

    @property
    def slope(self) -> float:
        """`mu`, or where that is 0 the larger of the other coefficients."""
        return self.mu or max(self.mu_r, self.mu_s or 0.0)

    def contact_rows(self, space: int) -> tuple[int, ...]:
        """Slip, spin where `mu_s` is given, and rolling."""
        if space == 2:
            if self.mu_s is not None:
                raise ModelError("Rolling friction with mu_s needs a contact in space; in the plane nothing spins.")
            return (TANGENT_1, ROLL_1)
        spin = () if self.mu_s is None else (SPIN,)
        return (TANGENT_1, TANGENT_2, *spin, ROLL_1, ROLL_2)

    def _groups(self, dim: int) -> tuple[tuple[int, float], ...]:
        """(rows, semi-axis at unit radius) of each factor."""
        unit = self.slope or 1.0
        slip, roll = self.mu / unit, self.mu_r / unit
        if self.mu_s is not None:
            if dim != 5:
                raise ModelError(f"Rolling friction with mu_s has 5 rows (2 of slip, spin, 2 of roll), not {dim}.")
            return (2, slip), (1, self.mu_s / unit), (2, roll)
        if dim not in (2, 4):
            raise ModelError(
                f"Rolling friction without mu_s has 4 rows (2 of slip, 2 of roll), or 2 in the plane, not {dim}."
            )
        return (dim // 2, slip), (dim // 2, roll)

    def packed(self, dim: int) -> PackedSet:
        """The kernels' code of the product."""
        groups = self._groups(dim)
        semi = [a for rows, a in groups for _ in range(rows)]
        return _ellipsoids(product_kind(tuple(rows for rows, _ in groups)), *semi)

    def is_polyhedral(self, dim: int) -> bool:
        """In the plane the set is a rectangle."""
        return all(rows == 1 for rows, _ in self._groups(dim))

    def groups(self, dim: int, count: int = 8) -> list[tuple[int, FloatArray]]:
        """First row and directions of each factor that is not 0: `count` in a disk, two in an interval."""
        parts, first = [], 0
        for rows, a in self._groups(dim):
            if a > 0.0:
                parts.append((first, a * Coulomb(1.0).directions(rows, count)))
            first += rows
        return parts

    def directions(self, dim: int, count: int = 8) -> FloatArray:
        """The vertices of the product of polygons: count² of them in space, twice as many with spin."""
        return _vertices(dim, self.groups(dim, count))

    def polyhedral(self, dim: int, count: int = 8) -> FrictionSet:
        """The product of polygons with `count` vertices each; itself in the plane."""
        if self.is_polyhedral(dim) or not self.slope:
            return self
        return PolygonProduct(self.slope, dim, self.groups(dim, count))


class Polyhedral(FrictionSet):
    """Friction in a polyhedron given by `directions` (m, n) or by `facets` (A, c).

    By directions F = conv(0, d_1, ..., d_m) (st96 eq. 12); they need not come in opposite pairs, so a ratchet that
    resists one way only has one direction. By facets F = {f : A f <= c} with A (k, n) and c >= 0 (ttp01 example b);
    F must be bounded. Both are at unit radius: the friction impulse lies in `mu·p_n·F`.
    """

    def __init__(self, mu: float, *, directions: Any = None, facets: Any = None):
        self.mu = _check.number("friction coefficient mu", mu, low=0.0)
        if (directions is None) == (facets is None):
            raise ModelError("Polyhedral friction needs either directions= or facets=, not both.")
        if directions is not None:
            D = np.atleast_2d(_check.floats("directions", directions))
            if D.ndim != 2 or D.shape[0] == 0 or not 1 <= D.shape[1] <= MAX_DIM:
                raise ModelError(f"directions must have shape (m, n) with m >= 1 and 1 <= n <= {MAX_DIM}.")
            self._directions, self._facets = D, facets_of(D)
        else:
            A = np.atleast_2d(_check.floats("facets[0]", facets[0]))
            c = _check.floats("facets[1]", facets[1], (A.shape[0],))
            self._directions, self._facets = vertices_of(A, c)

    @property
    def dim(self) -> int:
        """The number of friction rows the set is made for."""
        return self._directions.shape[1]

    @property
    def facets(self) -> tuple[FloatArray, FloatArray]:
        """(A, c) with unit rows of A: F = {f : A f <= c}."""
        return self._facets[:, :-1].copy(), self._facets[:, -1].copy()

    def contact_rows(self, space: int) -> tuple[int, ...]:
        """As many as the directions have: slip, then spin, then rolling (four rows: slip and rolling)."""
        known: dict[int, tuple[int, ...]] = {1: (TANGENT_1,), 2: (TANGENT_1, ROLL_1)}
        if space == 3:
            slip = (TANGENT_1, TANGENT_2)
            known = {2: slip, 3: (*slip, SPIN), 4: (*slip, ROLL_1, ROLL_2), 5: (*slip, SPIN, ROLL_1, ROLL_2)}
        if self.dim not in known:
            where = "in space" if space == 3 else "in the plane"
            raise ModelError(f"this Polyhedral friction set has {self.dim} rows; {where} it may have {sorted(known)}.")
        return known[self.dim]

    def packed(self, dim: int) -> PackedSet:
        """The kernels' code of the polyhedron."""
        if dim != self.dim:
            raise ModelError(f"this Polyhedral friction set has {self.dim} rows; the contact has {dim}.")
        return PackedSet(POLYHEDRON, np.zeros(dim), self._directions, self._facets)

    def directions(self, dim: int, count: int = 8) -> FloatArray:
        """The directions as given, or the vertices of the facets; `count` does not matter."""
        self.packed(dim)
        return self._directions

    def __repr__(self) -> str:
        return f"Polyhedral(mu={self.mu:g}, {len(self._directions)} directions in {self.dim} rows)"


class PolygonProduct(Polyhedral):
    """A product of polygons and intervals: few directions per factor make the many vertices of the whole."""

    def __init__(self, mu: float, dim: int, parts: list[tuple[int, FloatArray]]):
        self.mu, self._parts, self._directions = mu, parts, _vertices(dim, parts)
        facets, held = [], np.zeros(dim, dtype=bool)
        for first, D in parts:
            rows = slice(first, first + D.shape[1])
            flat = facets_of(D)
            lifted = np.zeros((len(flat), dim + 1))
            lifted[:, rows], lifted[:, -1] = flat[:, :-1], flat[:, -1]
            facets.append(lifted)
            held[rows] = True
        walls = np.eye(dim, dim + 1)[~held]  # factors that are the origin
        self._facets = np.ascontiguousarray(np.vstack([*facets, walls, -walls]))

    def groups(self, dim: int, count: int = 8) -> list[tuple[int, FloatArray]]:
        """The factors."""
        self.packed(dim)
        return self._parts


def _vertices(dim: int, parts: list[tuple[int, FloatArray]]) -> FloatArray:
    """Every combination of one direction from each part, in rows of length `dim`."""
    combinations = list(product(*(range(len(D)) for _, D in parts)))
    out = np.zeros((len(combinations) if parts else 0, dim))
    for row, choice in zip(out, combinations):
        for (first, D), j in zip(parts, choice):
            row[first : first + D.shape[1]] = D[j]
    return out


@lru_cache
def _ellipsoids(kind: int, *semi: float) -> PackedSet:
    dim = len(semi)
    return PackedSet(kind, np.array(semi), np.zeros((0, dim)), np.zeros((0, dim + 1)))


def as_friction(value: FrictionSet | float | None, what: str = "friction") -> FrictionSet:
    """A number as `Coulomb`, None as `Frictionless`, a set as itself."""
    if value is None:
        return Frictionless()
    if isinstance(value, FrictionSet):
        return value
    return Coulomb(_check.number(f"{what} (a coefficient, Coulomb(mu) or another friction set)", value, low=0.0))
