"""Collision: pairs of near shapes, their contact features, and the gap of a feature pair at any configuration.

broad        boxes around shapes, and pairs whose boxes overlap; `neighbours` keeps near pairs for several steps
plane/       contact features of shapes in the plane
space/       and in space; `boxes` has the features of two boxes
features     gap, normal and points of a feature pair at any configuration
sizes        how large contacts are: radius of a point (`space/curvature`), face or line of several; for elastic bodies
records      shapes and contacts as kernels take them
"""

from .broad import aabbs2, aabbs3, pairs
from .features import (
    CONVEX,
    CORE,
    CYLINDER,
    EDGE_EDGE,
    ELLIPSE,
    ELLIPSOID,
    HULL,
    LINE_POINT,
    PLANE,
    PLANE_POINT,
    PLANE_RIM,
    POINT_LINE,
    POINT_PLANE,
    POINT_POINT,
    RIM_PLANE,
    evaluate2,
    evaluate3,
)
from .plane.narrow import find2
from .space.narrow import find3

__all__ = [
    "CONVEX",
    "CORE",
    "CYLINDER",
    "EDGE_EDGE",
    "ELLIPSE",
    "ELLIPSOID",
    "HULL",
    "LINE_POINT",
    "PLANE",
    "PLANE_POINT",
    "PLANE_RIM",
    "POINT_LINE",
    "POINT_PLANE",
    "POINT_POINT",
    "RIM_PLANE",
    "aabbs2",
    "aabbs3",
    "evaluate2",
    "evaluate3",
    "find2",
    "find3",
    "pairs",
]
