"""Systems: what moves.

base          `System`, the interface that schemes rest on, and the arrays that pass through it
builder/      `World` and `PlanarWorld`: bodies, materials, forces, prescribed motions
shapes/       shapes of bodies
joints/       joints, motors, limits, springs
model/        what `World.build()` returns: arrays and compiled loops
generalized/  `GeneralizedSystem`, with `Gap`, `Bilateral`, `DryFriction`
restitution   restitution of contacts, for all systems
compliance    springs and dampers at contacts, for all systems
elastic       elastic contacts of worlds: the law `Elastic`, and its form in a step
sizes         how large a system is
"""

from .._moved import keep_old_paths
from .base import Candidates, Constraints, Energy, State, System
from .builder.bodies import Body
from .builder.motions import Oscillation, Rotation, Table
from .builder.world import PlanarWorld, World
from .compliance import Compliance
from .elastic import Elastic
from .generalized import Bilateral, DryFriction, Gap, GeneralizedSystem
from .joints import (
    Ball,
    Cylindrical,
    Distance,
    Fixed,
    Gear,
    Joint,
    Motor,
    Planar,
    Prismatic,
    Rack,
    Revolute,
    Rope,
    Screw,
    Universal,
)
from .restitution import Fading, NewtonImpact, PoissonImpact, StrongeImpact
from .shapes import (
    Box,
    Capsule,
    ConvexHull,
    Cylinder,
    Disk,
    Ellipse,
    Ellipsoid,
    HalfPlane,
    Mesh,
    Plane,
    Polygon,
    Rod,
    Segment,
    Sphere,
)

__all__ = [
    "Ball", "Bilateral", "Body", "Box", "Candidates", "Capsule", "Compliance", "Constraints", "ConvexHull", "Cylinder",
    "Cylindrical", "Disk", "Distance", "DryFriction", "Elastic", "Ellipse", "Ellipsoid", "Energy", "Fading", "Fixed",
    "Gap", "Gear", "GeneralizedSystem", "HalfPlane", "Joint", "Mesh", "Motor", "NewtonImpact", "Oscillation", "Planar",
    "PlanarWorld", "Plane", "PoissonImpact", "Polygon", "Prismatic", "Rack", "Revolute", "Rod", "Rope", "Rotation",
    "Screw", "Segment", "Sphere", "State", "StrongeImpact", "System", "Table", "Universal", "World",
]  # fmt: skip

keep_old_paths(__name__)
