"""Systems: what moves."""

from .base import Candidates, Constraints, Energy, State, System
from .bodies import Body
from .compliance import Compliance
from .constraints import Bilateral, DryFriction, Gap
from .drives import Motor
from .generalized import GeneralizedSystem
from .joints import (
    Ball,
    Cylindrical,
    Distance,
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
from .motions import Oscillation, Rotation, Table
from .restitution import Fading, NewtonImpact, PoissonImpact, StrongeImpact
from .shapes import Box, Capsule, Disk, Ellipse, HalfPlane, Plane, Polygon, Rod, Segment, Sphere
from .solids import ConvexHull, Cylinder, Ellipsoid, Mesh
from .world import PlanarWorld, World

__all__ = [
    "Ball", "Bilateral", "Body", "Box", "Candidates", "Capsule", "Compliance", "Constraints", "ConvexHull", "Cylinder",
    "Cylindrical", "Disk", "Distance", "DryFriction", "Ellipse", "Ellipsoid", "Energy", "Fading", "Fixed", "Gap",
    "Gear", "GeneralizedSystem", "HalfPlane", "Joint", "Mesh", "Motor", "NewtonImpact", "Oscillation", "Planar",
    "PlanarWorld", "Plane", "PoissonImpact", "Polygon", "Prismatic", "Rack", "Revolute", "Rod", "Rope", "Rotation",
    "Screw", "Segment", "Sphere", "State", "StrongeImpact", "System", "Table", "Universal", "World",
]  # fmt: skip
