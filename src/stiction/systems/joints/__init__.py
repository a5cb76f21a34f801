"""Joints and springs between two bodies.

kinds        the joints: each is a list of primitive rows, with its limits, motor and friction
primitives   the primitive rows, and places on bodies
drives       `Motor`, and limits
blocks       joints and springs as blocks of rows: what they hold, stop, drive, rub and pull
"""

from .drives import Motor
from .kinds import (
    Ball,
    Cylindrical,
    Distance,
    Driven,
    Fixed,
    Gear,
    Joint,
    Planar,
    Prismatic,
    Rack,
    Revolute,
    Rope,
    Screw,
    Universal,
)

__all__ = [
    "Ball", "Cylindrical", "Distance", "Driven", "Fixed", "Gear", "Joint", "Motor", "Planar", "Prismatic", "Rack",
    "Revolute", "Rope", "Screw", "Universal",
]  # fmt: skip
