"""Questions about systems and runs that go beyond one trajectory."""

from .convergence import Convergence, ImpulseScaling, compare, convergence
from .forms import Form, force_acceleration, impulse_velocity, time_stepping

__all__ = [
    "Convergence",
    "Form",
    "ImpulseScaling",
    "compare",
    "convergence",
    "force_acceleration",
    "impulse_velocity",
    "time_stepping",
]
