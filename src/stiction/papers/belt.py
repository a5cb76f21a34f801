"""A block on a moving belt, held by a spring: by the scheme, by located events, linearised, and in closed form.

    m x'' = -k x - c x' + N mu(V - x')        while the block is slower than the belt

x is the stretch of the spring [m], V the speed of the belt [m/s], N the normal force [N]. The block rides with the
belt (stick) until the spring pulls with mu(0) N.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._check import FloatArray
from ..friction import Coulomb
from ..friction.speed import SpeedLaw
from ..schemes.base import Scheme
from ..simulation import Simulator, Trajectory
from ..systems import DryFriction, GeneralizedSystem


@dataclass(frozen=True)
class Belt:
    """The block, its spring and its belt: law mu(s); speed V [m/s]; mass [kg]; stiffness k [N/m]; normal force N [N];
    damping c [N s/m] of the block against the ground."""

    law: SpeedLaw
    speed: float
    mass: float = 1.0
    stiffness: float = 100.0
    normal: float = 9.81
    damping: float = 0.0

    @property
    def steady(self) -> float:
        """The stretch at which the block stands and the belt slides below it [m]."""
        return self.normal * self.law(self.speed) / self.stiffness

    @property
    def breakaway(self) -> float:
        """The stretch at which stick ends [m]."""
        return (self.normal * self.law.rest - self.damping * self.speed) / self.stiffness

    @property
    def growth(self) -> float:
        """The growth rate (-mu'(V) N - c)/(2m) of small oscillations about steady sliding [1/s]; < 0: they die out."""
        slope = float(self.law.slopes(np.array([self.speed]))[0])
        return (-slope * self.normal - self.damping) / (2.0 * self.mass)

    def system(self, stretch: float, velocity: float) -> GeneralizedSystem:
        """In coordinates that move with the belt, where its surface stands still; x and x' at the start."""
        k, c, V = self.stiffness, self.damping, self.speed
        rubs = DryFriction([1.0], self.normal * self.law.rest, shape=Coulomb(self.law), name="belt")
        return GeneralizedSystem(
            [[self.mass]],
            lambda t, q, v: -k * (q + V * t) - c * (v + V),
            q=[stretch],
            v=[velocity - V],
            friction=[rubs],
        )

    def run(
        self,
        h: float,
        duration: float,
        *,
        stretch: float,
        velocity: float,
        tol: float = 1e-9,
        scheme: Scheme | None = None,
    ) -> tuple[Trajectory, FloatArray, FloatArray]:
        """The run of a scheme, and x and x' over its times."""
        simulator = Simulator(self.system(stretch, velocity), h, scheme=scheme, tol=tol)
        run = simulator.run(duration, progress=False)
        return run, run.q[:, 0] + self.speed * run.times, run.v[:, 0] + self.speed

    def slip(self, duration: float = 5.0) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """Times, x and x' of one slip, from the end of a stick to the next, its end located to round-off.

        duration: how long to wait for it [s].

        None where the block never catches up with the belt again: stick–slip dies out.
        """
        from scipy.integrate import solve_ivp

        def rate(t: float, y: FloatArray) -> list[float]:
            force = -self.stiffness * y[0] - self.damping * y[1] + self.normal * self.law(max(self.speed - y[1], 0.0))
            return [y[1], force / self.mass]

        def caught(t: float, y: FloatArray) -> float:
            return float(y[1] - self.speed)

        caught.terminal, caught.direction = True, 1.0  # type: ignore[attr-defined]
        # An instant after stick ends, by the first term of its series: x'' = 0 there and x''' = -k V/m. With a law that
        # jumps, x'' < 0 at once.
        first = 1e-7
        drop = self.normal * (self.law.rest - self.law(1e-30)) / self.mass
        jerk = self.stiffness * self.speed / self.mass
        start = [self.breakaway + self.speed * first, self.speed - drop * first - 0.5 * jerk * first**2]
        out = solve_ivp(
            rate, (first, duration), start, method="DOP853", rtol=1e-11, atol=1e-13, max_step=0.01, events=caught
        )
        if out.status != 1:
            return None
        return out.t, out.y[0], out.y[1]

    @property
    def period(self) -> float:
        """The period of stick–slip [s] by located events; infinite where there is none."""
        slip = self.slip()
        if slip is None:
            return np.inf
        times, x, _ = slip
        return float(times[-1] + (self.breakaway - x[-1]) / self.speed)


def two_coefficient_period(belt: Belt) -> float:
    """The period of stick–slip for two coefficients without damping, in closed form [s].

    With ΔF the difference of the two friction forces and ω² = k/m: stick lasts `2ΔF/(kV)`, and slip is an arc of a
    harmonic oscillation about the kinetic force that lasts `(2/ω)(π - atan(ΔF/(V√(km))))`.
    """
    k, m, V = belt.stiffness, belt.mass, belt.speed
    fall = belt.normal * (belt.law.rest - belt.law(V))
    return float(2.0 * fall / (k * V) + 2.0 * np.sqrt(m / k) * (np.pi - np.arctan2(fall, V * np.sqrt(k * m))))


def crossings(times: FloatArray, values: FloatArray, level: float) -> FloatArray:
    """When values rise through a level, between samples by a straight line."""
    i = np.flatnonzero((values[:-1] < level) & (values[1:] >= level))
    part = (level - values[i]) / (values[i + 1] - values[i])
    return np.asarray(times[i] + part * (times[i + 1] - times[i]))


def mean_period(times: FloatArray, values: FloatArray, level: float) -> float:
    """The mean time between upward crossings of a level, without the first (the start); NaN where there are too few."""
    found = crossings(times, values, level)
    return float((found[-1] - found[1]) / (len(found) - 2)) if len(found) > 2 else np.nan


def growth_rate(times: FloatArray, values: FloatArray) -> float:
    """The growth rate of an oscillation about 0 [1/s]: a straight line through the logarithms of its extremes."""
    size = np.abs(values)
    i = np.flatnonzero((size[1:-1] > size[:-2]) & (size[1:-1] >= size[2:])) + 1
    bend = size[i - 1] - 2.0 * size[i] + size[i + 1]
    peak = size[i] - (size[i + 1] - size[i - 1]) ** 2 / (8.0 * bend)
    return float(np.polyfit(times[i], np.log(peak), 1)[0])
