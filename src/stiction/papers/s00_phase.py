"""s00 §3.2: "it is tempting to replace (3.11) with 0 <= f(q⁺) ⟂ c_n >= 0. This does not work: the resulting
discretization behaves as if it had a random coefficient of restitution when impacts occur", by the time within the
step at which contact occurs.

A particle meets a wall, with the phase s of the impact within the step as the parameter. Eq. 3.11 gives e whatever the
phase. With f(q⁺) in its place and q⁺ = q + h v⁺ (eq. 3.10, and `StewartTrinkle`) the particle keeps -s of its speed
for one step and then stops: what depends on the phase is over after two steps. The random coefficient is that of
q⁺ = q + ½ h (v + v⁺), the trapezoidal rule of other codes: |1 - 2s|.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._check import FloatArray
from ..problem import ContactProblem, Dense, Law
from ..schemes import Moreau, StewartTrinkle
from ..schemes.base import Scheme
from ..simulation import Simulator, Trajectory
from ..solvers import solve
from ..systems import Gap, GeneralizedSystem
from .experiment import Experiment, Outcome, Quantity, claim

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESTITUTION, STEP, SPEED, MASS = 0.7, 0.01, 1.0, 2.0
PHASES = (np.arange(40) + 0.5) / 40
HEIGHTS, FALL = (0.30, 0.305, 0.31, 0.315), 90  # m, steps: balls that hit the floor at different phases


def particles(phases: FloatArray, e: float) -> GeneralizedSystem:
    """Particles on their way to a wall at 0, each of which would reach it at its phase of the second step."""
    n = len(phases)

    def gap(i: int) -> Gap:
        row = np.eye(n)[i]
        return Gap(lambda q: q[i], lambda q: row, restitution=e)

    start = SPEED * STEP * (1.0 + phases)
    return GeneralizedSystem(MASS * np.eye(n), q=start, v=np.full(n, -SPEED), gaps=[gap(i) for i in range(n)])


def ratios(scheme: Scheme, e: float, phases: FloatArray = PHASES) -> tuple[FloatArray, FloatArray, Trajectory]:
    """-v⁺/v⁻ at the end of the step of the impact, and three steps later; and the run."""
    system = particles(phases, e)
    run = Simulator(system, STEP, scheme=scheme, solver="lemke", tol=1e-12).run(5 * STEP, progress=False)
    return run.v[2] / SPEED, run.v[5] / SPEED, run


def trapezoidal(q: float, v: float, steps: int, gravity: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Positions and velocities of a particle with 0 <= f(q⁺) ⟂ c_n >= 0 and q⁺ = q + ½ h (v + v⁺), from the start."""
    found = [(q, v)]
    for _ in range(steps):
        # f(q⁺) >= 0 as a demand on v⁺: v⁺ + (2q/h + v) >= 0
        problem = ContactProblem(
            Dense([[MASS]], [[1.0]]),
            v_free=[v - STEP * gravity],
            b=[2.0 * q / STEP + v],
            row_ptr=[0, 1],
            law=[Law.UNILATERAL],
        )
        new = float(solve(problem, solver="lemke", tol=1e-12).v[0])
        q, v = q + 0.5 * STEP * (v + new), new
        found.append((q, v))
    return np.array(found).T[0], np.array(found).T[1]


@dataclass(frozen=True)
class Findings:
    """Ratios -v⁺/v⁻ by phase: at the end of the step of the impact, and at last."""

    velocity: FloatArray  # eq. 3.11
    first: FloatArray  # f(q⁺) with eq. 3.10, at the end of the step
    position: FloatArray  # the same, at last
    trapezoid: FloatArray  # f(q⁺) with the trapezoidal rule, at last
    runs: tuple[Trajectory, ...]


def measure() -> Findings:
    """The same impacts by the three forms."""
    _, velocity, by_velocity = ratios(Moreau(), RESTITUTION)
    first, position, by_position = ratios(StewartTrinkle(), 0.0)
    trapezoid = [trapezoidal(SPEED * STEP * (1.0 + s), -SPEED, 5)[1][-1] / SPEED for s in PHASES]
    return Findings(velocity, first, position, np.array(trapezoid), (by_velocity, by_position))


def reproduce() -> Outcome:
    """Spread the impact over the step and look at the velocity after it."""
    found = measure()

    def depends(values: FloatArray) -> bool:
        return float(np.ptp(values)) > 1e-9

    trapezoid = "f(q⁺) ⟂ c_n with q⁺ = q + ½ h (v + v⁺)"
    quantities = (
        claim("eq. 3.11: the ratio depends on the phase", depends(found.velocity), "e = 0.7 at every phase",
              record=False, paper=False),
        Quantity("eq. 3.11: largest distance from e", float(np.abs(found.velocity - RESTITUTION).max()), 0.0, "",
                 record_within=1e-12),
        claim("f(q⁺) ⟂ c_n with q⁺ = q + h v⁺: the ratio depends on the phase", depends(found.position), record=False,
              reason="as printed (eq. 3.10) the impact is inelastic after two steps, at every phase",
              tried=("q⁺ = q + h v⁺, eq. 3.10, after the impact: it does not",
                     "the same, at the end of the step of the impact: it does, -s",
                     "q⁺ = q + ½ h (v + v⁺), the trapezoidal rule: it does, |1 - 2s|"),
              conclude="The random coefficient is that of rules in which v takes part in q⁺, such as the trapezoidal "
              "rule. With eq. 3.10 as it is printed, what is lost is e itself."),
        claim("the same, at the end of the step of the impact", depends(found.first),
              "the particle still approaches, with s times its speed"),
        claim(f"{trapezoid}: the ratio depends on the phase", depends(found.trapezoid),
              "|1 - 2s|, a random coefficient of mean 1/2"),
        Quantity("the same: largest distance from |1 - 2s|",
                 float(np.abs(found.trapezoid - np.abs(1.0 - 2.0 * PHASES)).max()), 0.0, "", record_within=1e-12),
        Quantity("the same: mean coefficient", float(found.trapezoid.mean()), 0.5, "", record_tolerance=1e-9),
    )  # fmt: skip
    worst = [run.certificate.worst for run in found.runs]
    certificate = {name: max(w[name] for w in worst) for name in worst[0]}
    return Outcome(quantities, certificate, lambda: _figures(found))


def _figures(found: Findings) -> dict[str, Figure]:
    from .figures.bounce import draw_phases

    return {"s00-random-restitution": draw_phases(found)}


EXPERIMENT = Experiment(
    "s00-random-restitution",
    "Stewart, survey (§3.2)",
    "The coefficient of restitution against the phase of the impact within the step",
    reproduce,
)
