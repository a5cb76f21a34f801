"""Friction sets that are products: slip, spin and rolling resisted each on its own."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _check
from .._check import FloatArray
from ..errors import ModelError
from .polyhedra import PolygonProduct, vertices_of_product
from .sets import (
    ROLL_1,
    ROLL_2,
    SPIN,
    TANGENT_1,
    TANGENT_2,
    FrictionSet,
    PackedSet,
    checked_axis,
    pack_ellipsoids,
    product_kind,
    ring,
    take_coefficient,
)
from .speed import Coefficient, SpeedLaw


class ProductSet(FrictionSet):
    """A product of intervals and ellipses, given by the semi-axes of each factor at unit radius."""

    @abstractmethod
    def factors(self, dim: int) -> tuple[tuple[float, ...], ...]:
        """The semi-axes of each factor, one or two; all 0 where it is the origin."""

    def packed(self, dim: int) -> PackedSet:
        """The kernels' code of the product."""
        factors = self.factors(dim)
        return pack_ellipsoids(product_kind(tuple(map(len, factors))), *[a for semi in factors for a in semi])

    def is_polyhedral(self, dim: int) -> bool:
        """Where every factor is an interval the set is a box."""
        return all(len(semi) == 1 for semi in self.factors(dim))

    def groups(self, dim: int, count: int = 8) -> list[tuple[int, FloatArray]]:
        """First row and directions of each factor that is not 0: `count` in an ellipse, two in an interval."""
        parts, first = [], 0
        for semi in self.factors(dim):
            if any(semi):
                unit = ring(count) if len(semi) == 2 else np.array([[1.0], [-1.0]])
                parts.append((first, unit * semi))
            first += len(semi)
        return parts

    def directions(self, dim: int, count: int = 8) -> FloatArray:
        """The vertices of the product of polygons: as many as the factors have between them, multiplied."""
        return vertices_of_product(dim, self.groups(dim, count))

    def polyhedral(self, dim: int, count: int = 8) -> FrictionSet:
        """The product of polygons with `count` vertices each; itself where it is a box."""
        if self.is_polyhedral(dim) or not self.slope:
            return self
        return PolygonProduct(self.slope, dim, self.groups(dim, count), smooth=(self, count))


@dataclass(frozen=True, init=False)
class Mixed(ProductSet):
    """Slip resisted in an ellipse and, on its own, spin in an interval (ttp01 example c).

    Rows tangent 1, tangent 2, spin: `(f_t/et)² + (f_o/eo)² <= (mu p_n)²` and `|f_r| <= mu·er·p_n`. et and eo are pure
    numbers, er is a length [m]. Unlike in `Torsional`, spinning does not make slipping easier. `axis`: see
    `Anisotropic`. mu may be a law of the slip speed, in which spin does not count.
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
            what = f"semi-axis {name} of Mixed friction"
            object.__setattr__(self, name, _check.number(what, value, positive=True))
        object.__setattr__(self, "axis", checked_axis(axis, "Mixed"))

    def contact_rows(self, space: int) -> tuple[int, ...]:
        """Slip and spin; only in space."""
        if space != 3:
            raise ModelError("Mixed friction needs a contact in space; in the plane nothing spins about a normal.")
        return (TANGENT_1, TANGENT_2, SPIN)

    def factors(self, dim: int) -> tuple[tuple[float, ...], ...]:
        """The ellipse and the interval."""
        if dim != 3:
            raise ModelError(f"Mixed friction has 3 rows (tangent 1, tangent 2, spin); this contact has {dim}.")
        return (self.et, self.eo), (self.er,)


@dataclass(frozen=True, init=False)
class Rolling(ProductSet):
    """Slip, rolling and (with `mu_s`) spin resisted each on its own: the product of a disk, a disk and an interval.

    `|f_t| <= mu p_n`, `|m_roll| <= mu_r p_n`, `|m_spin| <= mu_s p_n`, with mu_r and mu_s lengths [m]. Friction rows of
    a contact in space: tangent 1, tangent 2, roll 1, roll 2, or with `mu_s` tangent 1, tangent 2, spin, roll 1,
    roll 2; in the plane: tangent, roll. Any of the coefficients may be 0. A radius r0 that needs no normal impulse
    counts in N·s of slip where mu > 0: then rolling gets `r0·mu_r/mu`. mu may be a law of the slip speed; mu_r and mu_s
    are numbers.
    """

    mu: float
    mu_r: float
    mu_s: float | None = None
    speed_law: SpeedLaw | None = None

    def __init__(self, mu: Coefficient, mu_r: float, mu_s: float | None = None):
        take_coefficient(self, mu)
        object.__setattr__(self, "mu_r", _check.number("coefficient of rolling friction mu_r", mu_r, low=0.0))
        mu_s = None if mu_s is None else _check.number("coefficient of spin friction mu_s", mu_s, low=0.0)
        object.__setattr__(self, "mu_s", mu_s)

    def slip_rows(self, dim: int) -> int:
        """One in the plane, two in space."""
        return 1 if dim == 2 else 2

    def with_slip(self, mu: float) -> FrictionSet | None:
        """The set with another coefficient of slip, and the same rolling and spin."""
        return Rolling(mu, self.mu_r, self.mu_s)

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

    def factors(self, dim: int) -> tuple[tuple[float, ...], ...]:
        """Slip, spin where `mu_s` is given, and rolling."""
        unit = self.slope or 1.0
        slip, roll = self.mu / unit, self.mu_r / unit
        if self.mu_s is not None:
            if dim != 5:
                raise ModelError(f"Rolling friction with mu_s has 5 rows (2 of slip, spin, 2 of roll), not {dim}.")
            return (slip, slip), (self.mu_s / unit,), (roll, roll)
        if dim not in (2, 4):
            raise ModelError(
                f"Rolling friction without mu_s has 4 rows (2 of slip, 2 of roll), or 2 in the plane, not {dim}."
            )
        return (slip,) * (dim // 2), (roll,) * (dim // 2)
