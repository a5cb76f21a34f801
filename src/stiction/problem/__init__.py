"""Contact problems: the data between schemes and solvers, and the certificates of their answers."""

from .certificate import SolveCertificate
from .contact_problem import ContactProblem
from .dynamics import Bodies, Delassus, Dense
from .laws import Law, Mode
from .polyhedral import PolyhedralLCP

__all__ = ["Bodies", "ContactProblem", "Delassus", "Dense", "Law", "Mode", "PolyhedralLCP", "SolveCertificate"]
