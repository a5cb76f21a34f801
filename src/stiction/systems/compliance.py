"""Contacts that give way: a spring and a damper behind the normal row, and a damper behind the friction rows (pr11 §5).

In continuous time, with gap φ and velocities u_n, u_t of the contact,

    λ_n = -kn φ - gamma_n min(u_n, 0) while φ <= 0, else 0        λ_t = the point of mu λ_n F nearest to -gamma_t u_t

which is never adhesive, and for a disk F is pr11 eq. 22. In a step of length h with the gap and the velocities at its
end, p = h λ, the same law is a row of the complementarity problem (pr11 reference [7]),

    0 <= p_n ⟂ u_n + b + C p_n >= 0        C_n = 1/(h (h kn + gamma_n))        b = kn φ/(h kn + gamma_n)
    friction of maximum dissipation for u_t + C_t p_t                          C_t = 1/(h gamma_t)

because -kn (φ + h u_n) - gamma_n u_n = p_n/h there. Rows that turn (spin, roll) creep by gamma_t times the square of
their length [m], as if they slipped at it. A gap that is still open, φ > 0, has b = φ/h: the damper acts on
what the step moves after closing. Stiffness to infinity gives C = 0 and the rigid row, b = φ/h.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _check
from .._check import FloatArray, IntArray
from ..errors import ModelError
from .elastic import Elastic

RIGID = (math.inf, 0.0, math.inf)


@dataclass(frozen=True)
class Compliance:
    """How a contact gives way: kn, normal stiffness [N/m]; gamma_n, normal damping of approach [N s/m].

    gamma_t [N s/m]: friction is a damper up to Coulomb's bound, so that a sticking contact creeps at |λ_t|/gamma_t;
    infinite (the default) for true sticking in schemes with complementarity.
    """

    kn: float
    gamma_n: float = 0.0
    gamma_t: float = math.inf

    def __post_init__(self) -> None:
        _check.number("kn", self.kn, positive=True)
        _check.number("gamma_n", self.gamma_n, low=0.0)
        _check.number("gamma_t", self.gamma_t, positive=True, finite=False)

    @property
    def row(self) -> tuple[float, float, float]:
        """kn, gamma_n, gamma_t."""
        return float(self.kn), float(self.gamma_n), float(self.gamma_t)


def as_compliance(value: Any, what: str) -> Compliance | Elastic | None:
    """A `Compliance`, an `Elastic`, a number c [m/N] as the stiffness 1/c without dampers, or None and 0 for rigid."""
    if value is None or isinstance(value, Compliance | Elastic):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float, np.floating, np.integer)):
        raise ModelError(
            f"compliance of {what} must be a number [m/N], a Compliance(kn, ...) or an Elastic(kn, ...); got "
            f"{_check.describe(value)}."
        )
    c = _check.number(f"compliance of {what}", value, low=0.0)
    return Compliance(1.0 / c) if c > 0.0 else None


def soften(
    soft: FloatArray, row_ptr: IntArray, length: FloatArray, h: float, start: FloatArray, b: FloatArray, C: FloatArray
) -> None:
    """Put compliance into b and C (nr,) of a step; soft (nk, 3): kn, gamma_n, gamma_t; start (nr,): φ/h."""
    first, sizes = row_ptr[:-1], np.diff(row_ptr)
    give = np.isfinite(soft[:, 0])
    rows, kn, gamma = first[give], soft[give, 0], soft[give, 1]
    C[rows] = 1.0 / (h * (h * kn + gamma))
    b[rows] = start[rows] * np.where(start[rows] > 0.0, 1.0, h * kn / (h * kn + gamma))
    creep = np.repeat(np.where(np.isfinite(soft[:, 2]), 1.0 / (h * soft[:, 2]), 0.0), sizes)
    creep[first] = 0.0
    C += creep / length**2
