"""Friction sets: support function, projection, gauge, directions, and their code for the kernels."""

from .sets import Coulomb, Frictionless, FrictionSet, Polyhedral, as_friction

__all__ = ["Coulomb", "FrictionSet", "Frictionless", "Polyhedral", "as_friction"]
