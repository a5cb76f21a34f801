"""What constraints did over time, as arrays: the table of all, and one over the steps."""

from __future__ import annotations

from dataclasses import dataclass

from ..._check import FloatArray, IntArray
from .lazy import Lazy


@dataclass(frozen=True)
class ContactTable(Lazy):
    """Every active constraint of every step, in the order of the steps.

    step (m,), 0 for the first; key, law, mode (m,); gap (m,) at the end of the step; impulse [N·s, of the last three
    N·m·s] and velocity [m/s, rad/s] (m, 6) in the columns normal, tangent 1, tangent 2, spin, roll 1, roll 2, zero
    where a contact has no such row; bodies (m, 2), -1 where there are none: impulses act on the first, and velocities
    are its own less those of the second. Normal (from the second body to the first), point and tangent (m, 3) in the
    world: tangent 1, and tangent 2 is normal × tangent. Spin is the rotation about the normal, rolling that about the
    tangents (in the plane roll 1 is all of it). Under a law with an axis tangent 1 is the axis in the tangent plane,
    and the body that has it is first.
    """

    step: IntArray
    key: IntArray
    law: IntArray
    mode: IntArray
    gap: FloatArray
    impulse: FloatArray
    velocity: FloatArray
    bodies: IntArray
    normal: FloatArray
    point: FloatArray
    tangent: FloatArray


@dataclass(frozen=True)
class ContactSeries:
    """One constraint over time, one row per step; where it was not active, gap is NaN and the impulse zero.

    times (n,): the ends of the steps [s]; gap (n,) [m]; impulse (n, 6) [N·s, N·m·s] and velocity (n, 6) [m/s, rad/s]
    in the columns of `ContactTable`; mode (n,) of `Mode`.
    """

    name: str
    times: FloatArray
    gap: FloatArray
    impulse: FloatArray
    velocity: FloatArray
    mode: IntArray


@dataclass(frozen=True)
class JointSeries(ContactSeries):
    """A joint over time: what a `ContactSeries` has, and its motion, one entry per step, at the end of the step.

    coordinate, speed (n,): angle [rad, rad/s], displacement or distance [m, m/s], NaN for joints without a single
    coordinate; force (n, 6): the impulses of its rows over the step, [N] and [N·m]; motor, limit, friction (n,):
    impulses along the coordinate [N·s, N·m·s]; unique: False when the impulses of the rows are one choice of many,
    because other joints hold the same (`Simulator.indeterminate`), at the start and at the end of the run; None when
    there are too many joints to tell.
    """

    coordinate: FloatArray
    speed: FloatArray
    force: FloatArray
    motor: FloatArray
    limit: FloatArray
    friction: FloatArray
    unique: bool | None
