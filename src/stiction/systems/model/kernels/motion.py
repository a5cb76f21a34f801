"""Compiled loops over the motion of bodies that plane and space share."""

from __future__ import annotations

import math

import numpy as np

from ....runtime.jit import njit

PAIRWISE_MAX_BODIES = 300  # fast bodies that are compared one by one


@njit(leaf=True)
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


@njit(leaf=True)
def fastest_spin(v, moves, swing, dim):
    """The largest angular speed of a body that forces move, and with a swing [rad/s]."""
    most = 0.0
    for i in range(v.shape[0]):
        spin = 0.0
        for j in range(dim, v.shape[1]):
            spin += v[i, j] * v[i, j]
        if moves[i] and swing[i] > 0.0:
            most = max(most, spin)
    return math.sqrt(most)


@njit(leaf=True)
def _speeds(v, reach, dim, speed, turn):
    """Of each body the speed of its fastest point, at most, and what of it is turning."""
    for i in range(v.shape[0]):
        linear, spin = 0.0, 0.0
        for j in range(v.shape[1]):
            if j < dim:
                linear += v[i, j] * v[i, j]
            else:
                spin += v[i, j] * v[i, j]
        turn[i] = math.sqrt(spin) * reach[i]
        speed[i] = math.sqrt(linear) + turn[i]


@njit
def approach(v, reach, dim, enough):
    """A bound of the speed at which points of two bodies with velocities v (nb, dof) approach each other [m/s].

    The sum of the two largest speeds; where that is more than `enough`, which is all that is asked, the bodies that are
    fast enough to be such a pair are compared one by one, as long as they are few.
    """
    n = v.shape[0]
    speed, turn = np.empty(n), np.empty(n)
    _speeds(v, reach, dim, speed, turn)
    first, second = 0.0, 0.0
    for i in range(n):
        if speed[i] > first:
            first, second = speed[i], first
        else:
            second = max(second, speed[i])
    if first + second <= enough:
        return first + second
    fast, count = np.empty(PAIRWISE_MAX_BODIES, np.int64), 0
    for i in range(n):
        if speed[i] + first > enough:
            if count == PAIRWISE_MAX_BODIES:
                return first + second
            fast[count] = i
            count += 1
    most = 0.0
    for k in range(count):
        for m in range(k):
            a, b, square = fast[k], fast[m], 0.0
            for j in range(dim):
                square += (v[a, j] - v[b, j]) ** 2
            most = max(most, math.sqrt(square) + turn[a] + turn[b])
    return max(most, min(enough, first + second))
