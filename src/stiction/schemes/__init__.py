"""Schemes: how time advances."""

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
