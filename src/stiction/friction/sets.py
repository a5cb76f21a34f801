"""Friction sets: which friction impulses a contact can give for a given normal impulse.

Friction lies in `(mu·p_n + r0)·F`, with F a convex set at unit radius that holds the origin, and among those it
dissipates most (s00 eq. 1.1). Each set knows its support function, projection, gauge, a polyhedral
approximation by directions, and its code for the compiled kernels.
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
from .polytope import facets_of, vertices_of

MAX_DIM = 5  # tangent 1, tangent 2, spin, roll 1, roll 2

NONE, ELLIPSOID, POLYHEDRON = 0, 1, 2  # the kinds of friction/kernels.py, repeated so that this file stays light


@dataclass(frozen=True)
class PackedSet:
    """A set at unit radius as the kernels read it: kind, semi-axes (n,), vertices (m, n), facets (k, n+1)."""

    kind: int
    semi: FloatArray
    vertices: FloatArray
    facets: FloatArray


class FrictionSet(ABC):
    """A convex friction set with its coefficient `mu`. Arrays of friction have the rows of the contact last."""

    mu: float

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
        return Polyhedral(self.mu, directions=self.directions(dim, count))

    def is_polyhedral(self, dim: int) -> bool:
        """Whether the set is exactly a polyhedron for `dim` friction rows (one row: every set is an interval)."""
        return dim <= 1 or self.packed(dim).kind != ELLIPSOID

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
        if s.kind == ELLIPSOID:
            kernels.project_ellipsoid(s.semi, f, y, f.size, radius)
        elif s.kind == POLYHEDRON:
            m = len(s.facets)
            G, h = np.ascontiguousarray(s.facets[:, :-1]), s.facets[:, -1] * radius
            kernels.project_polyhedron(G, h, f.size, m, f, y, *kernels.workspace(m, f.size))
        return y


@dataclass(frozen=True)
class Frictionless(FrictionSet):
    """No friction: the set is the origin."""

    mu: float = field(default=0.0, init=False)

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
        return _unit_ball(dim)

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


@lru_cache
def _unit_ball(dim: int) -> PackedSet:
    return PackedSet(ELLIPSOID, np.ones(dim), np.zeros((0, dim)), np.zeros((0, dim + 1)))


def as_friction(value: FrictionSet | float | None, what: str = "friction") -> FrictionSet:
    """A number as `Coulomb`, None as `Frictionless`, a set as itself."""
    if value is None:
        return Frictionless()
    if isinstance(value, FrictionSet):
        return value
    return Coulomb(_check.number(f"{what} (a coefficient, Coulomb(mu) or another friction set)", value, low=0.0))
