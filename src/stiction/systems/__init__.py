"""Systems: what moves."""

from .base import Candidates, Constraints, Energy, State, System
from .bodies import Body
from .constraints import Bilateral, DryFriction, Gap
from .generalized import GeneralizedSystem
from .joints import Ball, Distance, Fixed, Joint, Prismatic, Revolute
from .shapes import Box, Capsule, Disk, Ellipse, HalfPlane, Plane, Polygon, Rod, Segment, Sphere
from .world import PlanarWorld, World

__all__ = [
    "Ball", "Bilateral", "Body", "Box", "Candidates", "Capsule", "Constraints", "Disk", "Distance", "DryFriction",
    "Ellipse", "Energy", "Fixed", "Gap", "GeneralizedSystem", "HalfPlane", "Joint", "PlanarWorld", "Plane", "Polygon",
    "Prismatic", "Revolute", "Rod", "Segment", "Sphere", "State", "System", "World",
]  # fmt: skip
