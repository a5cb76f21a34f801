"""Friction sets: support function, projection, gauge, directions, and their code for the kernels."""

from .convex import ConvexSet
from .ellipsoids import Anisotropic, Torsional
from .polyhedra import Polyhedral
from .products import Mixed, Rolling
from .sets import Coulomb, Frictionless, FrictionSet, as_friction
from .speed import SpeedLaw, Stribeck

__all__ = [
    "Anisotropic",
    "ConvexSet",
    "Coulomb",
    "FrictionSet",
    "Frictionless",
    "Mixed",
    "Polyhedral",
    "Rolling",
    "SpeedLaw",
    "Stribeck",
    "Torsional",
    "as_friction",
]
