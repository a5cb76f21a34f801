"""An explicit penalty method for disks between walls: what ah03 compares complementarity stepping with.

Overlaps make springs: a normal force `k δ - c δ'`, never pulling, and friction `-µ N v_t / max(|v_t|, v_0)`, both in
the semi-implicit Euler method. It is here for the comparison of step sizes only; nothing else uses it.
"""

from __future__ import annotations

import math

import numpy as np

from .._check import FloatArray
from ..runtime.jit import njit


@njit
def _touch(q, v, f, i, j, nx, ny, depth, radius, k, c, mu, slow):
    """Add the force of one contact to bodies i and j (-1: a wall); the normal points to i."""
    vx, vy, w = v[i, 0], v[i, 1], -radius * v[i, 2]
    if j >= 0:
        vx, vy, w = vx - v[j, 0], vy - v[j, 1], w - radius * v[j, 2]
    normal = max(0.0, k * depth - c * (vx * nx + vy * ny))
    slip = vx * ny - vy * nx + w  # along the tangent (ny, -nx), at the contact point
    friction = -mu * normal * slip / max(abs(slip), slow)
    fx, fy = normal * nx + friction * ny, normal * ny - friction * nx
    f[i, 0] += fx
    f[i, 1] += fy
    f[i, 2] -= radius * friction
    if j >= 0:
        f[j, 0] -= fx
        f[j, 1] -= fy
        f[j, 2] -= radius * friction


@njit
def penalty_run(q, v, walls, radius, mass, inertia, gravity, mu, k, c, slow, h, steps):
    """Advance q and v (n, 3) in place; returns the largest overlap and the largest total energy on the way."""
    n = q.shape[0]
    f = np.empty((n, 3))
    deepest = 0.0
    highest = -math.inf
    for _ in range(steps):
        energy = 0.0
        for i in range(n):
            f[i, 0], f[i, 1], f[i, 2] = 0.0, -mass * gravity, 0.0
            energy += (
                0.5 * mass * (v[i, 0] ** 2 + v[i, 1] ** 2) + 0.5 * inertia * v[i, 2] ** 2 + mass * gravity * q[i, 1]
            )
        highest = max(highest, energy)
        for i in range(n):
            for m in range(walls.shape[0]):
                depth = radius - (walls[m, 0] * q[i, 0] + walls[m, 1] * q[i, 1] - walls[m, 2])
                if depth > 0.0:
                    deepest = max(deepest, depth)
                    _touch(q, v, f, i, -1, walls[m, 0], walls[m, 1], depth, radius, k, c, mu, slow)
            for j in range(i):
                dx, dy = q[i, 0] - q[j, 0], q[i, 1] - q[j, 1]
                d = math.sqrt(dx * dx + dy * dy)
                depth = 2.0 * radius - d
                if depth > 0.0 and d > 0.0:
                    deepest = max(deepest, depth)
                    _touch(q, v, f, i, j, dx / d, dy / d, depth, radius, k, c, mu, slow)
        for i in range(n):
            v[i, 0] += h * f[i, 0] / mass
            v[i, 1] += h * f[i, 1] / mass
            v[i, 2] += h * f[i, 2] / inertia
            for a in range(3):
                q[i, a] += h * v[i, a]
        if not (math.isfinite(energy)):
            return math.inf, math.inf
    return deepest, highest


def largest_penalty_step(
    q: FloatArray,
    walls: FloatArray,
    radius: float,
    mass: float,
    mu: float,
    overlap: float,
    speed: float,
    duration: float,
) -> tuple[float, float, float]:
    """The largest step (a power of two times 0.05 s) of a penalty run that keeps overlaps below `overlap` [m].

    The stiffness is what stops a disk of `speed` within `overlap`: k = m v²/overlap²; the damping is critical. Returns
    the step, the stiffness and the overlap reached.
    """
    k = mass * speed**2 / overlap**2
    c = 2.0 * math.sqrt(k * mass)
    inertia = 0.5 * mass * radius**2
    h = 0.05
    for _ in range(14):
        state, rate = q.copy(), np.zeros_like(q)
        args = (radius, mass, inertia, 9.81, mu, k, c, 1e-2, h, math.ceil(duration / h))
        start = mass * 9.81 * q[:, 1].sum()
        deepest, highest = penalty_run(state, rate, walls, *args)
        if deepest <= overlap and highest <= start * 1.001:
            return h, k, deepest
        h *= 0.5
    return h, k, math.inf
