"""The shock of Painlevé's rod (pr11) in closed form, rigid and as the limit of springs and dampers.

A slender rod of mass 1 and length 2 at 60° to the floor slides to the left on its lower end, g = 1 and mu = 3/2. In the
impulse–velocity problem, with W of the contact, u = W Λ + (0, u_t): while it slides, Λ_t = mu Λ_n, the end is pressed
*into* the floor, u_n = A Λ_n with A = W_nn + mu W_nt < 0, and slip ends at Λ_n = P = 1/(W_tn + mu W_tt). With friction
that then sticks, u_t = 0, the end is stopped by the inverse mass S = W_nn - W_nt²/W_tt > 0, at Λ₂ = -W⁻¹u.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from .._check import FloatArray
from .pr11_rod import ANGLE, GRAVITY, INERTIA, LENGTH, LIFTING, MASS, MU, SPEED


class Shock:
    """The impulse–velocity problem of the rod, and what springs and dampers make of it as they become stiff.

    With gamma_n = c sqrt(kn) and gamma_t/sqrt(kn) → ∞, time in units of 1/sqrt(kn) shows a limit problem in which
    forces are the spring and the damper alone: sliding leaves the rigid state along its unstable direction, with the
    rate r of r² = |A| (1 + c r), until slip ends with the normal impulse P; then the end is stopped with u_t = 0, at
    Λ₂ exactly, and thrown back by what the spring has kept.
    """

    def __init__(self, angle: float = ANGLE, mu: float = MU, speed: float = SPEED):
        half, c, s = 0.5 * LENGTH, math.cos(angle), math.sin(angle)
        H = np.array([[0.0, 1.0, -half * c], [1.0, 0.0, half * s]])
        self.H = H
        self.W: FloatArray = H @ np.diag([1.0 / MASS, 1.0 / MASS, 1.0 / INERTIA]) @ H.T
        self.rest: FloatArray = np.linalg.solve(self.W, [0.0, -speed])  # Λ₂
        W = self.W
        self.A = float(W[0, 0] + mu * W[0, 1])
        self.P = -speed / float(W[1, 0] + mu * W[1, 1])
        self.S = float(W[0, 0] - W[0, 1] ** 2 / W[1, 1])
        self.stuck = np.array([1.0, -W[0, 1] / W[1, 1]])  # impulses that leave u_t = 0

    def rebound(self, c: float) -> float:
        """The normal velocity with which the end leaves the floor, in the limit of gamma_n = c sqrt(kn) [m/s]."""
        a, S = -self.A, self.S
        rate = 0.5 * (a * c + math.sqrt((a * c) ** 2 + 4.0 * a))
        depth, speed = a * self.P / rate, a * self.P  # sqrt(kn) times the depth, and the speed, when slip ends
        # d'' = -S (d + c d') until d' = 0; then the spring alone, so that the end leaves at sqrt(S) d
        damped = 0.5 * S * c
        swing = np.sqrt(complex(S - damped**2))
        if abs(swing) < 1e-9:
            swing = 1e-9
        slope = (speed + damped * depth) / swing
        # d = e^{-damped t} (depth cos + slope sin): d' = 0 at tan(swing t) = speed / (swing depth + damped slope)
        angle = np.arctan(speed / (swing * depth + damped * slope))
        if angle.real < 0.0:
            angle += np.pi
        t = (angle / swing).real
        deepest = (np.exp(-damped * t) * (depth * np.cos(swing * t) + slope * np.sin(swing * t))).real
        return math.sqrt(S) * float(deepest)

    def limit(self, c: float) -> FloatArray:
        """(2,) normal and friction impulse in the limit of gamma_n = c sqrt(kn); Λ₂ for c → ∞."""
        return np.asarray(self.rest + self.rebound(c) / self.S * self.stuck)

    @cached_property
    def load(self) -> float:
        """The normal force that holds the stuck rod after the shock Λ₂ under gravity [N]: its end stays at rest."""
        v = np.array([SPEED, 0.0, 0.0]) + np.diag([1.0 / MASS, 1.0 / MASS, 1.0 / INERTIA]) @ self.H.T @ self.rest
        turning = 0.5 * LENGTH * v[2] ** 2 * np.array([math.sin(ANGLE), math.cos(ANGLE)])
        return float(np.linalg.solve(self.W, np.array([GRAVITY, 0.0]) - turning)[0])

    @cached_property
    def dynamic(self) -> float:
        """The normal force of the sliding solution of pr11 §2.2 [N]: with kn·depth above it the rod jams."""
        b = -GRAVITY / MASS - 0.5 * LENGTH * math.cos(ANGLE) * LIFTING / INERTIA
        return b / -self.A
