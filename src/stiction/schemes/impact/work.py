"""The work-driven impact: several contacts compress and release together, by their relative stiffness.

The impulse of each contact grows at a rate that its own work sets, dp ∝ (K (work)^η)^(1/(η + 1)) (C. Liu, Z. Zhao and
B. Brogliato, Proc. R. Soc. A 464, 2008): that is what springs do, F = K x^η, at a time scale on which the bodies do not
move. Only the ratios of stiffnesses matter. Without friction and with e = 1 the answer is that of the elastic chain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ... import _check
from ..._check import FloatArray
from ...errors import ModelError
from .rows import Group

STEPS_PER_TIME = 5000  # per unit of time in which the stiffest contact would turn by one radian
STEPS_MAX = 20_000_000
APPROACH_NOISE_SHARE = 1e-10  # an approach, relative to the largest velocity at the start, that counts as none


@dataclass(frozen=True)
class WorkDriven:
    """How contacts share an impact: forces K x^η in the compression x.

    exponent: η, 1 for linear springs, 1.5 for Hertz' contact of balls; stiffness: the stiffness K of a contact from
    its name (`"a/b"` for bodies), of which only ratios count; by default all are equal.
    """

    exponent: float = 1.0
    stiffness: Callable[[str], float] | None = None

    def __post_init__(self) -> None:
        eta = _check.number("exponent", self.exponent)
        if eta < 1.0:
            raise ModelError(f"exponent must be at least 1 (linear springs); got {eta:g}.")

    def of(self, names: list[str]) -> FloatArray:
        """(m,) the stiffness of contacts."""
        if self.stiffness is None:
            return np.ones(len(names))
        return np.array([_check.number(f"stiffness of {n!r}", self.stiffness(n), positive=True) for n in names])


def springs(group: Group, e: FloatArray, K: FloatArray, eta: float) -> tuple[FloatArray, bool]:
    """The impulses (n,) of an impact with coefficients e (m,) and stiffnesses K (m,), and whether it ended."""
    from . import kernels

    u, p, m = group.u.copy(), np.zeros(len(group.rows)), len(group.blocks)
    speed = float(np.abs(group.u).max())
    # the time in which the stiffest contact alone stops a body at this speed: x = speed·t, K x^η t W = speed
    stiff = K / K.max()
    rate = float((stiff * np.diag(group.W)[group.normal]).max())
    unit = (speed ** (1.0 - eta) / rate) ** (1.0 / (eta + 1.0))
    ended = kernels.springs(
        group.W, group.ptr, stiff, float(eta), group.mu, np.ascontiguousarray(e, dtype=np.float64),
        unit / STEPS_PER_TIME, speed, APPROACH_NOISE_SHARE * speed, 1e-13 * speed, STEPS_MAX,
        u, p, np.zeros(m), np.zeros(len(p)), np.zeros(m), np.zeros(m, dtype=np.bool_),
    )  # fmt: skip
    return p, ended == kernels.DONE
