"""How large a system is, for what must be small or large beside it: no length of its own is built into a scheme."""

from __future__ import annotations

import numpy as np

from .._check import FloatArray
from .base import System


def extent(system: System) -> float:
    """The size of the bodies [m]; 1 for systems that do not say: their coordinates have the units of their user."""
    return float(getattr(system, "extent", 1.0))


def arms(system: System) -> FloatArray:
    """(nv,) what brings displacements and velocities of every coordinate to metres."""
    found = getattr(system, "arms", None)
    return np.ones(system.nv) if found is None else np.asarray(found)


def reached(system: System, q: FloatArray) -> float:
    """How far coordinates are from the origin [m], and at least the size of the bodies."""
    bodies = getattr(system, "bodies", None)
    places = q if bodies is None else bodies(q)[:, : getattr(system, "dim", 3)]
    return max(extent(system), float(np.abs(places).max(initial=0.0)))
