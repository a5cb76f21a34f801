"""pr11 §3.1's open question, answered by an example: a body tips into the corner of a floor and a wall.

"Whether there is always a solution leading to a solvable force-acceleration contact problem is unclear to me." Here
there is not. A body of mass 1 and moment of inertia 1/2 touches the floor with a foot at (3/4, -3/2) from its centre
and a wall on its right with another at (2, -1), µ = 1 at both; it moves to the right with 1/2 and turns clockwise
with 1, so that the foot on the floor is driven in and the one at the wall is leaving. One impulse is possible: the
floor's drives the other foot into the wall, and both slide. After it the normal accelerations are

    a = [[35/8, 5/2], [-11/2, -1]] λ + b,    b₁ < 0 < b₂

and of the four patterns none has a solution for b = (-0.820, 0.240). A second impulse is needed, from the wall alone:
the foot on the floor lifts off, the one at the wall sticks.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .._check import FloatArray
from ..systems import Gap, GeneralizedSystem

FEET = ((0.75, -1.5), (2.0, -1.0))
NORMALS = ((0.0, 1.0), (-1.0, 0.0))
START = (0.5, 0.0, -1.0)
INERTIA, MU, GRAVITY = 0.5, 1.0, 1.0


def corner() -> GeneralizedSystem:
    """The body with coordinates (x, y, angle) about its centre, its feet on "floor" and "wall"."""
    gaps = []
    for name, foot, n in zip(("floor", "wall"), FEET, NORMALS):

        def arm(q: FloatArray, foot: tuple[float, float] = foot) -> FloatArray:
            c, s = math.cos(q[2]), math.sin(q[2])
            return np.array([c * foot[0] - s * foot[1], s * foot[0] + c * foot[1]])

        def row(d: tuple[float, float], arm: Callable[..., FloatArray] = arm) -> Callable[[FloatArray], FloatArray]:
            return lambda q: np.array([d[0], d[1], arm(q)[0] * d[1] - arm(q)[1] * d[0]])

        def gap(
            q: FloatArray,
            n: tuple[float, float] = n,
            foot: tuple[float, float] = foot,
            arm: Callable[..., FloatArray] = arm,
        ) -> float:
            return float(np.dot(n, q[:2] + arm(q) - foot))

        gaps.append(Gap(gap, row(n), row((n[1], -n[0])), friction=MU, name=name))
    return GeneralizedSystem(
        np.diag([1.0, 1.0, INERTIA]), [0.0, -GRAVITY, 0.0], q=np.zeros(3), v=START, gaps=gaps, names=["x", "y", "phi"]
    )
