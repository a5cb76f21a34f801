"""Friction sets: support function, projection, gauge, directions, and their code for the kernels."""

from .sets import Coulomb, Frictionless, FrictionSet, Polyhedral, Rolling, Torsional, as_friction

__all__ = ["Coulomb", "FrictionSet", "Frictionless", "Polyhedral", "Rolling", "Torsional", "as_friction"]
