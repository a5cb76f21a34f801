"""ah03 §3, figures 1 and 2: an ellipse falls onto a tabletop, rocks, and shows what stabilisation does.

Readings. "Axes 8 and 4" are full lengths (semi-axes 4 and 2), the start angle is 0, the density 10 kg/m²; µ = 0.3,
g = 9.81 m/s², h = 0.05 s, 20 s, eps = 0.3. "Unstabilised" means Δ and Υ zero for the same active set. Rolling on a
curved side, the point of contact moves on, so every step ends a little too deep (of order h²): stabilised, the next
step takes that back, and the infeasibility swings with the rocking; unstabilised, it adds up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..friction import Coulomb
from ..schemes import AnitescuHart
from ..simulation import Simulator, Trajectory
from ..systems import Ellipse, PlanarWorld
from .experiment import ORDER, Experiment, Outcome, Quantity, claim

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SEMI, DENSITY, HEIGHT, SPIN, MU = (4.0, 2.0), 10.0, 8.0, 3.0, 0.3
STEP, DURATION, EPS = 0.05, 20.0, 0.3
LAST = 5.0  # s: "toward the end of the simulation"


def ellipse() -> PlanarWorld:
    """The scene."""
    world = PlanarWorld(gravity=(0.0, -9.81))
    world.set_material("default", friction=Coulomb(MU))
    world.add_half_plane(name="table")
    world.add_body(
        Ellipse(*SEMI), density=DENSITY, position=(0.0, HEIGHT), angular_velocity=SPIN, name="ellipse"
    )  # fmt: skip
    return world


def simulate(*, stabilize: bool = True, h: float = STEP, duration: float = DURATION) -> Trajectory:
    """One run."""
    scheme = AnitescuHart(stabilize=stabilize, eps=EPS)
    return Simulator(ellipse(), h, scheme=scheme, solver="lemke", tol=1e-8).run(duration, progress=False)


def band(values: np.ndarray, parts: int = 3) -> np.ndarray:
    """(parts,) the largest value of each part of the last three quarters of a run."""
    return np.array([part.max() for part in np.array_split(values[len(values) // 4 :], parts)])


def scaled(run: Trajectory) -> float:
    """The largest infeasibility over that of the squared spin: how far it rocks depends on where in a step it lands."""
    infeasible = band(run.certificate["penetration"]).max()
    return float(infeasible / band(run.angular_velocity("ellipse") ** 2).max())


def reproduce() -> Outcome:
    """Both runs, and the stabilised one at half the step."""
    stable, drifting, finer = simulate(), simulate(stabilize=False), simulate(h=STEP / 2)
    infeasible, drifted = stable.certificate["penetration"], drifting.certificate["penetration"]
    last = round(LAST / STEP)
    held, grown = float(infeasible[-last:].max()), float(drifted[-last:].max())
    parts = band(infeasible)
    order = float(np.log2(scaled(stable) / scaled(finer)))
    quantities = (
        Quantity("infeasibility over the last 5 s, stabilised", held, 0.0025129, "m", record_tolerance=5e-3),
        Quantity("infeasibility over the last 5 s, unstabilised", grown, 0.70685, "m", record_tolerance=1e-3),
        claim("more than 100 times smaller by stabilisation", grown > 100 * held, f"{grown / held:.0f} times"),
        claim("stabilised, it oscillates in a narrow range without increase", bool(parts.max() < 1.1 * parts.min()),
              "the largest values of the thirds of the run after 5 s, one over another: "
              f"{parts.max() / parts.min():.3f}"),
        claim("unstabilised, it drifts on", bool((np.diff(band(drifted)) > 0.0).all()),
              "the same thirds: " + ", ".join(f"{x:.2f} m" for x in band(drifted))),
        Quantity("largest over smallest swing of the infeasibility, stabilised", float(parts.max() / parts.min()),
                 1.0, "", record_within=0.05),
        Quantity("largest infeasibility, stabilised", float(infeasible.max()), 0.27813, "m", record_tolerance=4e-4,
                 reason="at the impact: the gap is curved, and one step reaches past it"),
        Quantity("order in h of the stabilised infeasibility", order, 2.0, "", 2.0, ORDER, "O(h²v²), §2.2",
                 record_within=0.1),
        Quantity("height of the centre at the end, stabilised", float(stable.position("ellipse")[-1, 1]), 2.0208, "m",
                 record_tolerance=1e-4),
        Quantity("height of the centre at the end, unstabilised", float(drifting.position("ellipse")[-1, 1]), 1.3096,
                 "m", reason="it sinks", record_tolerance=1e-3),
    )  # fmt: skip
    worst = [run.certificate.worst for run in (stable, drifting, finer)]
    certificate = {name: max(w[name] for w in worst) for name in worst[0]}
    return Outcome(quantities, certificate, lambda: _figures(stable, drifting))


def _figures(stable: Trajectory, drifting: Trajectory) -> dict[str, Figure]:
    from .figures.disks import infeasibility
    from .figures.ellipse import ellipse_frames

    return {
        "ah03-ellipse-fig1": ellipse_frames(stable, SEMI, np.linspace(0.0, 3.6, 10)),
        "ah03-ellipse-fig2": infeasibility(stable, drifting),
    }


EXPERIMENT = Experiment("ah03-ellipse", "Hart, Anitescu 2003", "An ellipse on a tabletop (§3, figures 1, 2)", reproduce)
