"""Schemes: how time advances.

base                what a scheme takes and returns, the certificate of a step
anitescu_hart, stewart_trinkle, tzitzouris_pang, moreau, stewart, compliance/
                    the schemes; `implicit` has the equations of `tzitzouris_pang`
active              rules for which contacts act
missed_contacts     contacts that a step has run into unforeseen: it is solved again with them
solves              redundant joints that contradict each other; bodies that come to rest
approach, impact/   which contacts hit each other, and the laws of impact
projection          configurations moved to where nothing overlaps
springs             elastic contacts in a step: what their springs demand and remember; compiled: `spring_kernels`
spring_memory       what they remember, computed a second time for the certificate
step_kernels        what steps in Python and in the compiled loop share
steps/              an Anitescu–Hart step of a world as compiled stages, and a loop over them
"""

from .._moved import keep_old_paths
from .active import Closing, Growing, Speculative, Within
from .anitescu_hart import AnitescuHart
from .base import Change, Contacts, EnergyBalance, Scheme, StepCertificate, StepResult
from .compliance.compliant import Compliant
from .impact.work import WorkDriven
from .moreau import Moreau
from .stewart import Stewart
from .stewart_trinkle import StewartTrinkle
from .tzitzouris_pang import TzitzourisPang

__all__ = [
    "AnitescuHart", "Change", "Closing", "Compliant", "Contacts", "EnergyBalance", "Growing", "Moreau", "Scheme",
    "Speculative", "StepCertificate", "StepResult", "Stewart", "StewartTrinkle", "TzitzourisPang", "Within",
    "WorkDriven",
]  # fmt: skip

keep_old_paths(__name__)
