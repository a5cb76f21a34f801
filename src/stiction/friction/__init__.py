"""Friction sets: support function, projection, gauge, directions, and their code for the kernels.

sets          `FrictionSet`, what every set offers, and the round one; `table`: the sets of many blocks as arrays
ellipsoids    one ellipsoid: anisotropic slip, slip and spin together
products      slip, spin and rolling, each resisted on its own
polyhedra     polyhedra by directions or facets; `polytope` passes from one to the other
convex        sets that users write in Python; `cuts` derives what they do not give
speed         coefficients that depend on the speed of slip
kernels       support, gauge and projections as compiled leaf functions; `nnls`: least squares for polyhedra
"""

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
