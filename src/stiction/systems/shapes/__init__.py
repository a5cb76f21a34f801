"""Shapes of bodies, with their mass properties.

basic        the base classes `Shape2` and `Shape3`; rounded convex cores, half-spaces, ellipses
solids       `Cylinder`, `Ellipsoid`, `ConvexHull`, `Mesh`
hulls        convex polyhedra from points
mesh_files   how large a mesh file is, looked at before it is read
surfaces     shapes as triangles, for pictures and exports
"""

from .basic import (
    Box,
    Capsule,
    Disk,
    Ellipse,
    HalfPlane,
    MassProperties,
    Plane,
    Polygon,
    Rod,
    Segment,
    Shape2,
    Shape3,
    Sphere,
)
from .solids import ConvexHull, Cylinder, Ellipsoid, Mesh

__all__ = [
    "Box", "Capsule", "ConvexHull", "Cylinder", "Disk", "Ellipse", "Ellipsoid", "HalfPlane", "MassProperties", "Mesh",
    "Plane", "Polygon", "Rod", "Segment", "Shape2", "Shape3", "Sphere",
]  # fmt: skip
