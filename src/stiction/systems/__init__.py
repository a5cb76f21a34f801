"""Systems: what moves."""

from .base import Candidates, Constraints, Energy, State, System
from .constraints import Bilateral, DryFriction, Gap
from .generalized import GeneralizedSystem

__all__ = [
    "Bilateral", "Candidates", "Constraints", "DryFriction", "Energy", "Gap", "GeneralizedSystem", "State", "System",
]  # fmt: skip
