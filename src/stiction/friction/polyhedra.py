"""Friction sets that are polyhedra, by their directions or by their facets."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from .. import _check
from .._check import FloatArray
from ..errors import ModelError
from .polytope import facets_of, vertices_of
from .sets import (
    MAX_DIM,
    POLYHEDRON,
    ROLL_1,
    FrictionSet,
    PackedSet,
    checked_axis,
    rows_by_count,
    take_coefficient,
)
from .speed import Coefficient


class Polyhedral(FrictionSet):
    """Friction in a polyhedron given by `directions` (m, n) or by `facets` (A, c).

    By directions F = conv(0, d_1, ..., d_m) (st96 eq. 12); they need not come in opposite pairs, so a ratchet that
    resists one way only has one direction. By facets F = {f : A f <= c} with A (k, n) and c >= 0 (ttp01 example b);
    F must be bounded. Both are at unit radius: the friction impulse lies in `mu·p_n·F`. `axis`: see `Anisotropic`.
    mu may be a law of the slip speed, the norm of the first two rows.
    """

    def __init__(self, mu: Coefficient, *, directions: Any = None, facets: Any = None, axis: Any = None):
        take_coefficient(self, mu)
        self.axis = checked_axis(axis, "Polyhedral")
        if (directions is None) == (facets is None):
            raise ModelError("Polyhedral friction needs either directions= or facets=, not both.")
        if directions is not None:
            D = np.atleast_2d(_check.floats("directions", directions))
            if D.ndim != 2 or D.shape[0] == 0 or not 1 <= D.shape[1] <= MAX_DIM:
                raise ModelError(f"directions must have shape (m, n) with m >= 1 and 1 <= n <= {MAX_DIM}.")
            self._directions, self._facets = D, facets_of(D)
            self.given: dict[str, Any] = {"directions": D}
        else:
            try:
                normals, offsets = facets
            except (TypeError, ValueError):
                raise ModelError("facets must be a pair (A, c): normals (k, n) and offsets (k,), A f <= c.") from None
            A = np.atleast_2d(_check.floats("facets[0]", normals))
            if A.ndim != 2 or A.shape[0] == 0 or not 1 <= A.shape[1] <= MAX_DIM:
                raise ModelError(f"facets[0] must have shape (k, n) with k >= 1 and 1 <= n <= {MAX_DIM}.")
            c = _check.floats("facets[1]", offsets, (A.shape[0],))
            self._directions, self._facets = vertices_of(A, c)
            self.given = {"facets": (A, c)}

    @property
    def dim(self) -> int:
        """The number of friction rows the set is made for."""
        return self._directions.shape[1]

    @property
    def facets(self) -> tuple[FloatArray, FloatArray]:
        """(A, c) with unit rows of A: F = {f : A f <= c}; of a flat set some come in pairs with c = 0."""
        return self._facets[:, :-1].copy(), self._facets[:, -1].copy()

    def contact_rows(self, space: int) -> tuple[int, ...]:
        """As many as the directions have: slip, then spin, then rolling (four rows: slip and rolling)."""
        rows = rows_by_count("Polyhedral friction set", self.dim, space)
        if self.speed_law is not None and ROLL_1 in rows and space == 2:
            raise ModelError("Polyhedral friction with a law of speed has one row in the plane; use Rolling to roll.")
        return rows

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

    def __init__(self, mu: float, dim: int, parts: list[tuple[int, FloatArray]], smooth: tuple[FrictionSet, int]):
        self.mu, self._parts, self._directions = mu, parts, vertices_of_product(dim, parts)
        self._smooth, self.axis, self.speed_law = smooth, smooth[0].axis, smooth[0].speed_law
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

    def slip_rows(self, dim: int) -> int:
        """As in the set that this one approximates."""
        return self._smooth[0].slip_rows(dim)

    def with_slip(self, mu: float) -> FrictionSet | None:
        """The polygons of the set with another coefficient of slip."""
        smooth, count = self._smooth
        other = smooth.with_slip(mu)
        return None if other is None else other.polyhedral(self.dim, count)


def vertices_of_product(dim: int, parts: list[tuple[int, FloatArray]]) -> FloatArray:
    """Every combination of one direction from each part, in rows of length `dim`."""
    combinations = list(product(*(range(len(D)) for _, D in parts)))
    out = np.zeros((len(combinations) if parts else 0, dim))
    for row, choice in zip(out, combinations):
        for (first, D), j in zip(parts, choice):
            row[first : first + D.shape[1]] = D[j]
    return out
