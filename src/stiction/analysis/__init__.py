"""Questions about systems and runs that go beyond one trajectory."""

from .contact_modes import ContactMode
from .convergence import Convergence, ImpulseScaling, compare, convergence
from .forms import Form, force_acceleration, impulse_velocity, time_stepping
from .motions import Motion, Motions, all_motions
from .selection import Choosing, Followed, followed, rules_of, select
from .uniqueness import Existence, Extent, Uniqueness, existence, extent, uniqueness

__all__ = [
    "Choosing",
    "ContactMode",
    "Convergence",
    "Existence",
    "Extent",
    "Followed",
    "Form",
    "ImpulseScaling",
    "Motion",
    "Motions",
    "Uniqueness",
    "all_motions",
    "compare",
    "convergence",
    "existence",
    "extent",
    "followed",
    "force_acceleration",
    "impulse_velocity",
    "rules_of",
    "select",
    "time_stepping",
    "uniqueness",
]
