"""The rod of pr11 (figure 2): its lower end touches the ground and slides to the left."""

from __future__ import annotations

import math

import numpy as np

from .. import _check
from .._check import FloatArray
from ..analysis import Motions
from ..problem.certificate import UNITS
from ..systems import Gap, GeneralizedSystem

MASS, LENGTH, GRAVITY, MU, ANGLE, SPEED = 1.0, 2.0, 1.0, 1.5, math.pi / 3, -1.0  # §3.1, without units
INERTIA = LENGTH**2 * MASS / 12.0
LIFTING = (
    -2.0 * MASS * GRAVITY * INERTIA / (MASS * LENGTH * math.cos(ANGLE)) - 1.0
)  # τ of §2.2 and 4.2, eq. 12 and 20, less 1
"""The torque of §2.2, for which the force problem has two solutions."""


def rod(
    torque: float = 0.0,
    *,
    mu: float = MU,
    angle: float = ANGLE,
    spin: float = 0.0,
    slide: float = SPEED,
    drop: float = 0.0,
    gap: float = 0.0,
) -> GeneralizedSystem:
    """The rod with coordinates (x, y, φ) of its centre (pr11 eq. 1–3, s00 eq. 1.2), its lower end at height `gap` [m].

    The end moves with (slide, -drop) [m/s] while the rod turns with `spin` [rad/s]; pr11's data are the defaults.
    """
    half = 0.5 * LENGTH

    def normal(q: FloatArray) -> FloatArray:
        return np.array([0.0, 1.0, -half * math.cos(q[2])])

    def tangent(q: FloatArray) -> FloatArray:
        return np.array([1.0, 0.0, half * math.sin(q[2])])

    angle = _check.number("angle", angle)
    c, s = half * math.cos(angle), half * math.sin(angle)
    tip = Gap(lambda q: q[1] - half * math.sin(q[2]), normal, tangent, friction=mu, name="tip")
    return GeneralizedSystem(
        np.diag([MASS, MASS, INERTIA]),
        [0.0, -MASS * GRAVITY, torque],
        q=[c, s + gap, angle],
        v=[slide - s * spin, c * spin - drop, spin],
        gaps=[tip],
        names=["x", "y", "phi"],
    )


def sliding_inertia(angle: float, mu: float, inertia: float = INERTIA) -> float:
    """A of pr11 eq. 10 [1/kg]: the normal acceleration that a unit of normal force makes at the sliding end."""
    lever = LENGTH**2 / (4.0 * inertia)
    return 1.0 / MASS + lever * math.cos(angle) ** 2 - mu * lever * math.sin(angle) * math.cos(angle)


def certificate(*found: Motions) -> dict[str, float]:
    """The worst residuals over all motions."""
    all_of_them = [motions.form.problem.certify(motion.p).as_dict() for motions in found for motion in motions]
    return {name: max((one[name] for one in all_of_them), default=0.0) for name in UNITS}
