"""Questions about systems and runs that go beyond one trajectory."""

from .convergence import Convergence, ImpulseScaling, compare, convergence

__all__ = ["Convergence", "ImpulseScaling", "compare", "convergence"]
