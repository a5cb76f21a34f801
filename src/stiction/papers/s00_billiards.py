"""s00 §3.2, figure 3: "a thrown ball falling and then colliding with the first of three balls on a flat table".

Printed are e = 0.9 and mu ≈ 0.4 and nothing else. The rest is chosen: the balls of st96 (0.1 m, 1 kg, in a line from
x = 1 m, 10 µm apart, the thrown one at a height of 1 m), e at every contact, 8 directions, and a throw at
(2.2, 0.1, 0) m/s. st96's own throw, (1.5, 0.1, 0) m/s, would with e = 0.9 bounce off the table and over the first two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..friction import Coulomb
from ..schemes import Moreau
from ..schemes.base import Scheme
from ..simulation import Simulator, Trajectory
from ..systems import World
from .experiment import Experiment, Outcome, Quantity, claim
from .st96_balls import RADIUS, THROW, balls

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESTITUTION, MU = 0.9, 0.4
HARD_THROW = (2.2, 0.1, 0.0)  # m/s: lands on the first ball
STEPS = (0.01, 0.005, 0.0025)
DURATION = 1.0


def table(throw: tuple[float, float, float] = HARD_THROW) -> World:
    """A ball thrown at three in a line, all bouncing."""
    world = balls(4, throw)
    world.set_material("default", friction=Coulomb(MU), restitution=RESTITUTION)
    return world


def play(
    throw: tuple[float, float, float], h: float, duration: float, impact: str = "newton", scheme: Scheme | None = None
) -> Trajectory:
    """The run by a velocity-level scheme with polygonal cones, by default `Moreau`."""
    scheme = Moreau(impact=impact, directions=8) if scheme is None else scheme
    return Simulator(table(throw), h, scheme=scheme, solver="lemke", tol=1e-8).run(duration, progress=False)


def hits(run: Trajectory) -> list[tuple[float, str]]:
    """When the thrown ball hits something, and what [s]."""
    return [(e.time, e.contact) for e in run.events if e.kind == "impact" and "ball 1" in e.contact]


def closing_ratio(run: Trajectory) -> float:
    """-n·u⁺ / n·u⁻ of the thrown ball and the first of the three, in the step in which they meet."""
    step = next(e.step for e in run.events if e.kind == "impact" and e.contact == "ball 1/ball 2")
    apart = run.position("ball 1")[step] - run.position("ball 2")[step]
    before, after = (apart @ (run.velocity("ball 1")[k] - run.velocity("ball 2")[k]) for k in (step, step + 1))
    return float(-after / before)


def reproduce() -> Outcome:
    """Throw the ball, and st96's throw for comparison."""
    runs = [play(HARD_THROW, h, DURATION) for h in STEPS]
    poisson = play(HARD_THROW, STEPS[-1], DURATION, "poisson")
    soft = play(THROW, STEPS[0], 1.3)
    finest = runs[-1]
    energy = finest.energy.total
    away = finest.velocity("ball 1")[-1]
    apart = max(
        float(np.abs(poisson.position(f"ball {i}")[-1] - finest.position(f"ball {i}")[-1]).max()) for i in range(1, 5)
    )
    quantities = (
        claim("the thrown ball hits the first of the three", hits(finest)[0][1] == "ball 1/ball 2",
              "the throw was chosen for it", fitted=True),
        Quantity("they meet at", hits(finest)[0][0], 0.3925, "s"),
        Quantity("ratio of their normal velocities", closing_ratio(finest), 0.9, "", "0.9",
                 reason="e as printed"),
        Quantity("the thrown ball jumps back with v_x", float(away[0]), -1.94473, "m/s", record_tolerance=2e-3),
        Quantity("and to the side with v_y", float(away[1]), 1.01957, "m/s", record_tolerance=2e-3,
                 reason="it meets the first ball 39 mm off the line"),
        Quantity("energy left", float(energy[-1] / energy[0]), 0.712435, "", record_tolerance=1e-3,
                 reason="of 15.2 J, after 1 s; the balls behind touch when they are hit"),
        Quantity("largest gain of energy in a step", float(np.diff(energy).max() / energy[0]), 6.43e-5, "",
                 record_tolerance=0.05, reason="of that: truncation at small hops on the table, ∝ h²"),
        Quantity("places after 1 s by Poisson's law instead, apart by", apart, 0.0587528, "m", record_tolerance=1e-3,
                 reason="of four balls"),
        Quantity("st96's throw: the first ball that is hit", float(_first_ball(soft)), 4.0, "",
                 reason="of 2, 3, 4: it bounces off the table at 0.43 s and flies over two"),
    )  # fmt: skip
    worst = [run.certificate.worst for run in (*runs, poisson, soft)]
    certificate = {name: max(w[name] for w in worst) for name in worst[0]}
    ends = "; ".join(f"{run.info['dt']:g} s: {np.round(run.position('ball 1')[-1], 3)}" for run in runs)
    return Outcome(quantities, certificate, lambda: _figures(finest), (f"the thrown ball after 1 s by step: {ends} m",))


def _first_ball(run: Trajectory) -> int:
    struck = next(name for _, name in hits(run) if "table" not in name)
    return int(struck.rsplit(" ", 1)[1])


def _figures(run: Trajectory) -> dict[str, Figure]:
    from .figures import drawings
    from .figures.balls import elevation_and_plan

    return {
        "s00-billiards": elevation_and_plan(run, RADIUS),
        "s00-billiards-fig2": drawings.cone(MU, 8, "ψ"),
    }


EXPERIMENT = Experiment(
    "s00-billiards", "Stewart, survey (§3.2)", "Billiards with partly elastic impacts (figure 3)", reproduce
)
