"""pr11 §5: a table that slides down a ramp, whose four legs can share its weight in many ways.

"The problem is overconstrained and has one degree of freedom on how to distribute the contact reactions to the legs of
the table. This can be used to generate considerably different outcomes." A table of 1 kg on a ramp of 30°, legs at
(±0.5, ±0.5) m, centre of mass 0.5 m up, does not turn about the normal; diagonal legs have mu = 0.1 and 0.3. Loads are
N/4 + h F x + t s with s = ±1 by diagonals, so that the friction F = 0.2 N - 0.4 t can be anything from N/9 to 3N/11 by
the choice of t alone. Legs that give way, however little, have t = 0.
"""

from __future__ import annotations

import math

import numpy as np

from .._check import FloatArray
from ..schemes import AnitescuHart, Compliant
from ..simulation import Simulator
from ..solvers import solve
from ..systems import Gap, GeneralizedSystem

SLOPE, HEIGHT, INERTIA, GRAVITY = math.pi / 6.0, 0.5, 1.0 / 6.0, 9.81
LEGS = ((0.5, 0.5, 0.1), (0.5, -0.5, 0.3), (-0.5, -0.5, 0.1), (-0.5, 0.5, 0.3))  # x downhill, y across, mu
WEIGHT = GRAVITY * math.cos(SLOPE)
RANGE = (WEIGHT / 9.0, 3.0 * WEIGHT / 11.0)  # of the friction, by the choice of loads [N]
ELASTIC = 0.2 * WEIGHT


def table(compliance: float | None = None) -> GeneralizedSystem:
    """The table as it slides at 1 m/s: way down the ramp, height, and turns about x and y."""

    def leg(x: float, y: float, mu: float) -> Gap:
        normal, slip = np.array([0.0, 1.0, y, -x]), np.array([1.0, 0.0, 0.0, -HEIGHT])
        return Gap(lambda q: normal @ q, lambda q: normal, lambda q: slip, mu, compliance=compliance)

    pull = GRAVITY * np.array([math.sin(SLOPE), -math.cos(SLOPE), 0.0, 0.0])
    mass = np.diag([1.0, 1.0, INERTIA, INERTIA])
    return GeneralizedSystem(mass, pull, q=np.zeros(4), v=[1.0, 0.0, 0.0, 0.0], gaps=[leg(*one) for one in LEGS])


def loads(solver: str, compliance: float | None = None, h: float = 1e-3) -> tuple[FloatArray, float]:
    """(4,) what the legs carry in a step and the friction along the ramp [N], by a solver."""
    system = table(compliance)
    problem = AnitescuHart().probe(system, system.initial_state(), h)
    p = solve(problem, solver=solver, tol=1e-10).p.reshape(4, 2) / h
    return p[:, 0], -float(p[:, 1].sum())


def settled(kn: float = 1e6) -> tuple[FloatArray, float]:
    """The same by springs and dampers in motion, when the table has settled on them."""
    simulator = Simulator(table(), 0.1, scheme=Compliant(kn, 2.0 * math.sqrt(kn), kn))
    for _ in range(3):
        contacts = simulator.step().contacts
    return contacts.impulse[:, 0] / 0.1, -float(contacts.impulse[:, 1].sum()) / 0.1
