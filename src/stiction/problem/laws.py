"""The laws a block of rows can obey, and the modes it can be in."""

from __future__ import annotations

from enum import IntEnum


class Law(IntEnum):
    """What a block of a contact problem demands of its velocities u and impulses p."""

    EQUALITY = 0
    """u = 0 in every row: joints, bilateral constraints."""
    UNILATERAL = 1
    """Row 0: 0 <= p_n ⟂ u_n >= 0. The other rows: friction in (mu·p_n + r0)·F that dissipates most."""
    BOX = 2
    """lo <= p <= hi, with u = 0 strictly inside, u >= 0 at lo, u <= 0 at hi: motors, actuators with a bound."""
    DRY = 3
    """Friction in r0·F without a normal row (st96 §3.5): gear boxes, bearings."""


# Plain integers for inner loops: looking an enum member up by name costs a tenth of a microsecond each time.
EQUALITY, UNILATERAL, BOX, DRY = (int(law) for law in Law)


class Mode(IntEnum):
    """What a block did in a solution."""

    OPEN = 0
    """Unilateral, no normal impulse."""
    STICK = 1
    """Pressed together, no relative motion in the friction rows."""
    SLIP = 2
    """Pressed together and sliding (also: closed without friction)."""
    BILATERAL = 3
    """An equality, or a box strictly inside its bounds."""
    BOUND = 4
    """A box at one of its bounds."""
