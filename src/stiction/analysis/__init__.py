"""Questions about systems and runs that go beyond one trajectory."""

from .convergence import Convergence, ImpulseScaling, compare, convergence
from .forms import Form, force_acceleration, impulse_velocity, time_stepping
from .uniqueness import Existence, Extent, Uniqueness, existence, extent, uniqueness

__all__ = [
    "Convergence",
    "Existence",
    "Extent",
    "Form",
    "ImpulseScaling",
    "Uniqueness",
    "compare",
    "convergence",
    "existence",
    "extent",
    "force_acceleration",
    "impulse_velocity",
    "time_stepping",
    "uniqueness",
]
