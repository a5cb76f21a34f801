"""Contact problems: the data between schemes and solvers, and the certificates of their answers."""

from .certificate import SolveCertificate
from .contact_problem import ContactProblem
from .dynamics import Bodies, Delassus, Dense
from .files.fclib import read_fclib
from .files.fclib_write import write_fclib
from .laws import Law, Mode
from .polyhedral import PolyhedralLCP

__all__ = [
    "Bodies",
    "ContactProblem",
    "Delassus",
    "Dense",
    "Law",
    "Mode",
    "PolyhedralLCP",
    "SolveCertificate",
    "read_fclib",
    "write_fclib",
]
