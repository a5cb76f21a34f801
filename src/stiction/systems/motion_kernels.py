"""Compiled loops over the motion of bodies that plane and space share."""

from __future__ import annotations

import math

from .._jit import njit


@njit
def fastest(v, v_free, reach, dim):
    """The largest speed of any point of any body [m/s] with velocities v or v_free (nb, dof); reach (nb,) in metres."""
    most = 0.0
    for i in range(v.shape[0]):
        linear, spin, linear_free, spin_free = 0.0, 0.0, 0.0, 0.0
        for j in range(v.shape[1]):
            if j < dim:
                linear += v[i, j] * v[i, j]
                linear_free += v_free[i, j] * v_free[i, j]
            else:
                spin += v[i, j] * v[i, j]
                spin_free += v_free[i, j] * v_free[i, j]
        now = math.sqrt(linear) + math.sqrt(spin) * reach[i]
        then = math.sqrt(linear_free) + math.sqrt(spin_free) * reach[i]
        most = max(most, now, then)
    return most
