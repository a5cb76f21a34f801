"""Contact problems: the data between schemes and solvers, and the certificates of their solutions.

contact_problem   `ContactProblem`: one linearised step
dynamics          its three forms (matrices, bodies, Delassus); `body_kernels`: products with bodies, compiled
laws              the laws of a block of rows, and its modes
records           a problem as kernels take it
certificate       how well impulses obey the laws; `residuals`: of every block, compiled
python_sets       the same for friction sets that are written in Python
polyhedral        the LCP of a problem with polyhedral friction (st96 eq. 29)
redundant         joints that hold something twice; `redundant_kernels`: their rank
files/            FCLIB and Siconos
"""

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
