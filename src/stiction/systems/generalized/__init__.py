"""`GeneralizedSystem`: generalized coordinates, with everything given as functions.

system        the system
constraints   `Gap`, `Bilateral`, `DryFriction`
derivatives   derivatives of functions that come without them
"""

from .constraints import Bilateral, DryFriction, Gap
from .system import GeneralizedSystem

__all__ = ["Bilateral", "DryFriction", "Gap", "GeneralizedSystem"]
