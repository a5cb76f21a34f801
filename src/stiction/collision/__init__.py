"""Collision: pairs of near shapes, their contact features, and the gap of a feature pair at any configuration."""

from .broad import aabbs2, aabbs3, pairs
from .features import (
    CONVEX,
    CORE,
    EDGE_EDGE,
    ELLIPSE,
    LINE_POINT,
    PLANE,
    PLANE_POINT,
    POINT_LINE,
    POINT_PLANE,
    POINT_POINT,
    evaluate2,
    evaluate3,
)
from .narrow2 import find2
from .narrow3 import find3

__all__ = [
    "CONVEX",
    "CORE",
    "EDGE_EDGE",
    "ELLIPSE",
    "LINE_POINT",
    "PLANE",
    "PLANE_POINT",
    "POINT_LINE",
    "POINT_PLANE",
    "POINT_POINT",
    "aabbs2",
    "aabbs3",
    "evaluate2",
    "evaluate3",
    "find2",
    "find3",
    "pairs",
]
