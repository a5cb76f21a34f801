"""Schemes: how time advances."""

from .active import Closing, Growing, Speculative, Within
from .anitescu_hart import AnitescuHart
from .base import Contacts, EnergyBalance, Scheme, StepCertificate, StepResult
from .impact_work import WorkDriven
from .moreau import Moreau
from .stewart_trinkle import StewartTrinkle
from .tzitzouris_pang import TzitzourisPang

__all__ = [
    "AnitescuHart", "Closing", "Contacts", "EnergyBalance", "Growing", "Moreau", "Scheme", "Speculative",
    "StepCertificate", "StepResult", "StewartTrinkle", "TzitzourisPang", "Within", "WorkDriven",
]  # fmt: skip
