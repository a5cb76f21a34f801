"""Impacts at a fixed configuration, posed as contact problems: from the velocity before to the velocity after.

Two forms of each law. In phases: compression and restitution are one contact problem each (Newton's law is a single
one), and friction acts by the slip at the end of a phase. Followed through: at one contact the slip is integrated
through the impact (`schemes/impact/incremental.py`), and its reversals inside a phase are seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._check import FloatArray
from ..friction import Coulomb
from ..problem import ContactProblem, Dense, Law
from ..schemes.impact.incremental import incremental
from ..schemes.impact.law import newton, poisson, stronge
from ..solvers import Solution, solve

LAWS = ("newton", "poisson", "stronge")


class Exactly:
    """Solves by Lemke's method, to 1e-11, and keeps the worst residuals; what impact laws ask for as `solve`."""

    tol = 1e-11

    def __init__(self) -> None:
        self.worst = {"natural_map": 0.0, "scaled_map": 0.0}

    def largest(self, rows: int) -> float:
        """Nothing above the tolerance."""
        return self.tol

    def __call__(self, problem: ContactProblem, *, tol: float | None = None) -> Solution:
        """The solution, which there must be."""
        answer = solve(problem, "lemke", tol=self.tol)
        assert answer.success, answer.message
        for name, value in self.worst.items():
            self.worst[name] = max(value, float(getattr(answer.certificate, name)))
        return answer


@dataclass(frozen=True)
class Blow:
    """Touching bodies about to hit: mass (n, n) [kg], rows (nr, n) of normal and tangents of each contact, velocity
    v (n,) before; rows_each: rows per contact, 1 without friction, 2 in the plane; mu."""

    mass: FloatArray
    rows: FloatArray
    v: FloatArray
    rows_each: int = 2
    mu: float = 0.0

    def problem(self) -> ContactProblem:
        """The impact problem: no forces, no gaps."""
        count = len(self.rows) // self.rows_each
        return ContactProblem(
            Dense(self.mass, self.rows),
            v_free=self.v,
            row_ptr=self.rows_each * np.arange(count + 1),
            law=[Law.UNILATERAL] * count,
            friction=[Coulomb(self.mu)] * count if self.rows_each > 1 else None,
        )

    def energy(self, v: FloatArray) -> float:
        """Kinetic energy over that before the impact."""
        return float((v @ self.mass @ v) / (self.v @ self.mass @ self.v))

    def after(self, law: str, e: float, by: Exactly) -> FloatArray:
        """The velocity after, in phases."""
        problem = self.problem()
        laws = {"newton": newton, "poisson": poisson, "stronge": stronge}
        hit = laws[law](problem, np.full(problem.nk, e), by)
        assert hit.solved, f"the ratios of {law} were not found"
        return hit.v

    def followed(self, law: str, e: float) -> FloatArray:
        """The velocity after, with the slip at the one contact followed through the impact."""
        W = self.rows @ np.linalg.solve(self.mass, self.rows.T)
        impact = incremental(W, self.rows @ self.v, self.mu, e, law)
        return np.asarray(self.v + np.linalg.solve(self.mass, self.rows.T @ impact.p))


def double_pendulum(mu: float) -> Blow:
    """Kane's example: two unit rods of 1 kg hang from a pin at 20° and 30°, the free end hits a floor; v in rad/s."""
    a, b = np.radians([20.0, 30.0])
    couple = 0.5 * np.cos(a - b)
    mass = np.array([[4.0 / 3.0, couple], [couple, 1.0 / 3.0]])
    return Blow(mass, np.array([[np.sin(a), np.sin(b)], [np.cos(a), np.cos(b)]]), np.array([-0.1, -0.2]), mu=mu)


def oblique_rod(angle: float, slip: float, mu: float, fall: float = 1.0) -> Blow:
    """A rod of 1 kg and 1 m at an angle [rad] to the floor, not turning, falls at `fall` and slides at `slip` [m/s]."""
    rows = np.array([[0.0, 1.0, -0.5 * np.cos(angle)], [1.0, 0.0, 0.5 * np.sin(angle)]])
    return Blow(np.diag([1.0, 1.0, 1.0 / 12.0]), rows, np.array([slip, -fall, 0.0]), mu=mu)


def three_balls(away: float) -> Blow:
    """Three balls of 1 kg in a line, no friction: the first comes at 1 m/s, the third leaves the second at `away`."""
    rows = np.array([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
    return Blow(np.eye(3), rows, np.array([1.0, 0.0, away]), rows_each=1)
