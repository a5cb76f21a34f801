"""Friction sets that are one ellipsoid: slip alone, harder one way than the other, or slip and spin together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _check
from .._check import FloatArray
from ..errors import ModelError
from .sets import (
    ELLIPSOID,
    SPIN,
    TANGENT_1,
    TANGENT_2,
    FrictionSet,
    PackedSet,
    checked_axis,
    pack_ellipsoids,
    ring,
    take_coefficient,
)
from .speed import Coefficient, SpeedLaw


@dataclass(frozen=True)
class Anisotropic(FrictionSet):
    """Friction that depends on the direction of slip: an ellipse with semi-axes `mu_x p_n` and `mu_y p_n`.

    `(f_1/mu_x)² + (f_2/mu_y)² <= p_n²`, with tangent 1 along `axis`: a vector in the axes of the first body, which
    turns with it and is projected onto the tangent plane. An ice skate has a small mu_x along its blade and a large
    mu_y across; either may be 0. While sliding, friction does not oppose the slip velocity u but leans towards the
    rough axis: `f = -p_n (mu_x² u_1, mu_y² u_2)/|(mu_x u_1, mu_y u_2)|`. In a `GeneralizedSystem` the tangents are
    given by hand and `axis` has no use. `mu` is the larger coefficient; a radius r0 that needs no normal impulse
    counts along its axis.
    """

    mu_x: float
    mu_y: float
    axis: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        for name in ("mu_x", "mu_y"):
            what = f"coefficient {name} of Anisotropic friction"
            object.__setattr__(self, name, _check.number(what, getattr(self, name), low=0.0))
        object.__setattr__(self, "axis", checked_axis(self.axis, "Anisotropic"))

    @property
    def mu(self) -> float:  # type: ignore[override]
        """The larger of the two coefficients."""
        return max(self.mu_x, self.mu_y)

    @property
    def semi(self) -> tuple[float, float]:
        """Semi-axes of the unit set: the larger is 1."""
        return (self.mu_x / self.mu, self.mu_y / self.mu) if self.mu > 0.0 else (1.0, 1.0)

    def contact_rows(self, space: int) -> tuple[int, ...]:
        """Slip; only in space."""
        if space != 3:
            raise ModelError("Anisotropic friction needs a contact in space; in the plane there is one tangent.")
        return (TANGENT_1, TANGENT_2)

    def packed(self, dim: int) -> PackedSet:
        """The kernels' code of the ellipse."""
        if dim != 2:
            raise ModelError(f"Anisotropic friction has 2 tangent rows; this contact has {dim}.")
        return pack_ellipsoids(ELLIPSOID, *self.semi)

    def is_polyhedral(self, dim: int) -> bool:
        """With one coefficient 0 the set is an interval."""
        return 0.0 in self.semi

    def directions(self, dim: int, count: int = 8) -> FloatArray:
        """`count` points of the boundary, those of a circle stretched; the two ends of an interval."""
        self.packed(dim)
        if self.is_polyhedral(dim):
            return np.array([self.semi, self.semi]) * [[1.0], [-1.0]] + 0.0
        return ring(count) * self.semi


def latitudes(count: int) -> tuple[tuple[int, float], ...]:
    """Circles of latitude: how many directions each holds, and where it lies [rad].

    5/8 as many at the sides as on the equator. But as many where the equator's polygon is so coarse that the sides
    reach beyond its edges: other corners there would give the set a preferred direction of slip.
    """
    count = _check.count("directions", count, low=3)
    side = count if np.cos(np.pi / count) < np.cos(0.5) else round(5 * count / 8)
    return (count, 0.0), (side, 0.5), (side, -0.5), (1, np.pi / 2), (1, -np.pi / 2)


@dataclass(frozen=True, init=False)
class Torsional(FrictionSet):
    """Friction of an area of contact, which resists slip and spin together (ttp01 eq. 1).

    Rows tangent 1, tangent 2, spin: `(f_t/et)² + (f_o/eo)² + (f_r/er)² <= (mu p_n)²`. et and eo are pure numbers, er is
    a length [m]: spinning in place meets the moment `mu·er·p_n`. `axis`: see `Anisotropic`.
    mu may be a law of the slip speed, in which spin does not count.
    """

    mu: float
    et: float = 1.0
    eo: float = 1.0
    er: float = 1.0
    axis: tuple[float, float, float] | None = None
    speed_law: SpeedLaw | None = None

    def __init__(self, mu: Coefficient, et: float = 1.0, eo: float = 1.0, er: float = 1.0, axis: Any = None):
        take_coefficient(self, mu)
        for name, value in (("et", et), ("eo", eo), ("er", er)):
            what = f"semi-axis {name} of Torsional friction"
            object.__setattr__(self, name, _check.number(what, value, positive=True))
        object.__setattr__(self, "axis", checked_axis(axis, "Torsional"))

    def contact_rows(self, space: int) -> tuple[int, ...]:
        """Slip and spin; only in space."""
        if space != 3:
            raise ModelError("Torsional friction needs a contact in space; in the plane nothing spins about a normal.")
        return (TANGENT_1, TANGENT_2, SPIN)

    def packed(self, dim: int) -> PackedSet:
        """The kernels' code of the ellipsoid."""
        if dim != 3:
            raise ModelError(f"Torsional friction has 3 rows (tangent 1, tangent 2, spin); this contact has {dim}.")
        return pack_ellipsoids(ELLIPSOID, self.et, self.eo, self.er)

    def directions(self, dim: int, count: int = 8) -> FloatArray:
        """`count` directions on the equator, fewer at latitudes ±0.5 rad each (`latitudes`), and the poles.

        Those of a ball, stretched to the ellipsoid: true latitudes, as in ttp01 eq. 5 (`rings`), would depend on the
        unit of length, since er is one.
        """
        self.packed(dim)
        return Torsional(1.0).rings(*latitudes(count)) * [self.et, self.eo, self.er]

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
