"""What the kernels of rows know of joints and of the laws of contacts, as records of arrays.

Sizes: nm rows of joints, nt turns that they measure, nl contact laws, nb bodies, d coordinates (2 or 3).
"""

from __future__ import annotations

from typing import NamedTuple

from ..._check import Array

__all__ = ["JointDemands", "JointRows", "RowLaws"]


class JointRows(NamedTuple):
    """Rows of joints, each a primitive between two bodies (`kernels.space.joint_rows`), and the turns they measure."""

    kind: Array  # (nm,) POINT_AXIS, DOT, DISTANCE, TRAVEL or TURN
    body_a: Array  # (nm,)
    body_b: Array
    pa: Array  # (nm, d) points [m] and directions in the frames of the bodies
    pb: Array
    ua: Array
    ub: Array
    rest: Array  # (nm,) what is taken off the value
    scale: Array  # (nm,) factor of the primitive
    turn_of: Array  # (nm, 2) the turns that are added, -1 for none
    weight: Array  # (nm, 2) and their factors
    turn_a: Array  # (nt,) bodies of each turn
    turn_b: Array
    turn_u: Array  # (nt, d) direction in a whose angle is measured
    turn_e: Array  # (nt, d) from this direction in b
    turn_n: Array  # (nt, d) about this axis of b


class JointDemands(NamedTuple):
    """What each row of a joint is for, and what it demands (`kernels.mechanism`)."""

    mode: Array  # (nm,) HOLD, STOP, SPRING, SPEED, POSITION or RUB
    soft: Array  # (nm,) compliance of HOLD and STOP, stiffness of a SPRING, time of a POSITION
    damping: Array  # (nm,)
    bound: Array  # (nm,) largest force of a motor [N, N m]
    target: Array  # (nm,) speed or place


class RowLaws(NamedTuple):
    """Which rows contacts have by the number of their law."""

    codes: Array  # (nl, 5) what the rows after the normal are, TANGENT_1 to ROLL_2
    axis: Array  # (nl, 3) axis of anisotropic friction
    side: Array  # (nl,) the body that has the axis: 1 the first, -1 the second, 0 none
    lever: Array  # (nb,) [m] of rolling, the body's reach; infinite where no force moves it
