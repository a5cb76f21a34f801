"""s00 §3.2: the scheme exactly as printed (eq. 3.9–3.13, `Stewart`) beside `Moreau`, on the survey's own examples.

`Moreau` has what the survey does not print: contacts that approach slowly are no impacts, contacts that touch are held,
and overlaps are projected away. The printed rule lets a contact act where f(q + h v) < 0, and nothing else. Here both
meet a single bounce (§4.2), balls that should come to rest, billiards (figure 3), and Painlevé's rod (§1.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._check import FloatArray
from ..schemes import Moreau, Stewart
from ..schemes.base import Scheme
from ..simulation import Simulator, Trajectory
from .experiment import Experiment, Outcome, Quantity
from .pr11_shock import Shock
from .s00_ball import BOUNCES, GRAVITY, HEIGHT, LOW, LOW_STEP, STEPS, ZENO_E, bounce_steps, drop, energies, zeno_time
from .s00_billiards import HARD_THROW, closing_ratio, hits, play
from .s00_painleve import STEPS as ROD_STEPS
from .s00_painleve import UNTIL, order, pendulum, rod
from .s00_phase import RESTITUTION, ratios
from .s00_weak import Limit, limit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMES: dict[str, Scheme] = {"as printed": Stewart(), "Moreau": Moreau()}
BALLS: dict[str, Scheme] = {"as printed": Stewart(directions=8), "Moreau": Moreau(directions=8)}
RESTING = 0.1  # s after the Zeno time
PLAYS, PLAYED = (0.005, 0.0025), 1.0  # s


def vault(scheme: Scheme, h: float) -> Trajectory:
    """Painlevé's rod."""
    return Simulator(rod(), h, scheme=scheme, solver="lemke", tol=1e-9).run(UNTIL, progress=False)


@dataclass(frozen=True)
class Findings:
    """By scheme: ratios of a bounce at every phase, bounces by step, a ball without restitution, a thousand bounces
    without loss, billiards by step, the rod by step, and theorem 1's particle."""

    ratio: dict[str, FloatArray]
    bounces: dict[str, tuple[Trajectory, ...]]
    inelastic: dict[str, Trajectory]
    thousand: dict[str, Trajectory]
    billiards: dict[str, tuple[Trajectory, ...]]
    rods: dict[str, tuple[Trajectory, ...]]
    limits: dict[str, Limit]

    def tremor(self, scheme: str) -> FloatArray:
        """(steps,) the largest speed from 0.1 s after the Zeno time on, over g h."""
        runs = self.bounces[scheme]
        return np.array([
            np.abs(run.v[run.times > zeno_time(ZENO_E) + RESTING]).max() / (GRAVITY * h) for run, h in zip(runs, STEPS)
        ])  # fmt: skip

    def apart(self, k: int) -> float:
        """The largest distance of a ball of the billiards at the end between the schemes [m]."""
        one, other = (self.billiards[name][k] for name in SCHEMES)
        return max(
            float(np.abs(one.position(f"ball {i}")[-1] - other.position(f"ball {i}")[-1]).max()) for i in range(1, 5)
        )

    def impulse_errors(self, scheme: str) -> FloatArray:
        """(steps,) distance of the impulse without impact from Λ₂, in the first step that has one [N s]."""
        return np.array([np.abs(run.table.impulse[0, :2] - Shock().rest).max() for run in self.rods[scheme]])

    def angle_errors(self, scheme: str) -> FloatArray:
        """(steps,) distance of the rod's angle from the pendulum's at the end [rad]."""
        return np.array([abs(run.q[-1, 2] - pendulum(run.times)[-1]) for run in self.rods[scheme]])


def measure() -> Findings:
    """Every run."""
    long = 0.92 * BOUNCES * 2.0 * np.sqrt(2.0 * LOW / GRAVITY)
    zeno = zeno_time(ZENO_E) + 4.0 * RESTING
    both = SCHEMES.items()
    return Findings(
        {name: ratios(scheme, RESTITUTION)[0] for name, scheme in both},
        {name: tuple(drop([HEIGHT], ZENO_E, h, zeno, scheme) for h in STEPS) for name, scheme in both},
        {name: drop([HEIGHT], 0.0, STEPS[0], 0.6, scheme) for name, scheme in both},
        {name: drop([LOW], 1.0, LOW_STEP, long, scheme) for name, scheme in both},
        {name: tuple(play(HARD_THROW, h, PLAYED, scheme=scheme) for h in PLAYS) for name, scheme in BALLS.items()},
        {name: tuple(vault(scheme, h) for h in ROD_STEPS) for name, scheme in both},
        {name: limit(scheme) for name, scheme in both},
    )
