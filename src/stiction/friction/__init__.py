"""Friction sets: support function, projection, gauge, directions, and their code for the kernels."""

from .ellipsoids import Anisotropic, Torsional
from .polyhedra import Polyhedral
from .products import Mixed, Rolling
from .sets import Coulomb, Frictionless, FrictionSet, as_friction

__all__ = [
    "Anisotropic",
    "Coulomb",
    "FrictionSet",
    "Frictionless",
    "Mixed",
    "Polyhedral",
    "Rolling",
    "Torsional",
    "as_friction",
]
