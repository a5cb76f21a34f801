"""What ah03 states about its scheme, as numbers: drift of joints, infeasibility of contacts, error of the relaxation.

§2.2 and §3: with stabilisation the infeasibility is of order h²v² and does not grow; without it, it drifts. The relaxed
law changes the motion by at most a constant times the largest µλ, µ times the slip speed. The scenes are ours: a double
pendulum on hinges, a disk on a turning paddle (a gap that curves the wrong way), and a box that slides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..friction import Coulomb
from ..schemes import AnitescuHart
from ..simulation import Simulator, Trajectory
from ..systems import Disk, PlanarWorld, Polygon, Revolute, Rod
from .experiment import ORDER, Experiment, Outcome, Quantity, claim

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEPS = (0.02, 0.01, 0.005, 0.0025)
DRIFT_STEPS = (0.02, 0.01, 0.005)
RATES = (0.5, 1.0, 2.0)
TOL = 1e-8
Log = list[dict[str, float]]  # the worst residuals of every run
FRICTIONS = (0.05, 0.1, 0.2, 0.4)


def pendulum() -> PlanarWorld:
    """Two rods of one metre on hinges, released from horizontal."""
    world = PlanarWorld()
    first = world.add_body(Rod(0.01, 1.0), mass=1.0, position=(0.5, 0.0), name="first", group="rods")
    second = world.add_body(Rod(0.01, 1.0), mass=1.0, position=(1.5, 0.0), name="second", group="rods")
    world.add_joint(Revolute(first, None, anchor=(0.0, 0.0)))
    world.add_joint(Revolute(second, first, anchor=(1.0, 0.0)))
    return world


def paddle(rate: float) -> PlanarWorld:
    """A disk slides on a paddle that turns at `rate` [rad/s]: all speeds scale with it, and gravity with its square."""
    world = PlanarWorld(gravity=(0.0, -9.81 * rate**2))
    world.set_material("default", friction=None)
    world.add_body(
        Polygon.box(8.0, 0.2), kind="kinematic", motion=lambda t: ((0.0, -0.1), -0.5 * rate * t), name="paddle"
    )
    world.add_body(Disk(0.1), mass=1.0, position=(0.5, 0.1), name="disk")
    return world


def sliding_box(mu: float) -> PlanarWorld:
    """A flat box that slides at 2 m/s."""
    world = PlanarWorld()
    world.set_material("default", friction=Coulomb(mu))
    world.add_half_plane(name="floor")
    world.add_body(Polygon.box(1.0, 0.2), mass=1.0, position=(0.0, 0.1), velocity=(2.0, 0.0), name="box")
    return world


def _run(log: Log, world: PlanarWorld, h: float, duration: float, **options: object) -> Trajectory:
    scheme = AnitescuHart(**options)  # type: ignore[arg-type]
    run = Simulator(world, h, scheme=scheme, solver="lemke", tol=TOL).run(duration, progress=False)
    log.append(run.certificate.worst)
    return run


def _order(steps: tuple[float, ...], values: np.ndarray) -> float:
    return float(np.polyfit(np.log(steps), np.log(values), 1)[0])


def drift(log: Log, stabilize: bool, duration: float = 4.0) -> tuple[np.ndarray, np.ndarray]:
    """For each step: the largest joint drift over the whole run, and over its first half."""
    runs = [_run(log, pendulum(), h, duration, stabilize=stabilize).certificate["joint_drift"] for h in DRIFT_STEPS]
    return np.array([r.max() for r in runs]), np.array([r[: len(r) // 2].max() for r in runs])


def infeasibility(log: Log) -> tuple[np.ndarray, np.ndarray]:
    """The largest overlap on the paddle for each step at rate 1, and for each rate at h = 0.005 s on the same path."""
    by_step = [_run(log, paddle(1.0), h, 0.8).certificate.worst["penetration"] for h in STEPS]
    by_rate = [_run(log, paddle(r), 0.005, 0.8 / r).certificate.worst["penetration"] for r in RATES]
    return np.array(by_step), np.array(by_rate)


def relaxation(log: Log) -> np.ndarray:
    """For each coefficient: the largest difference of v between the two laws over 0.1 s, divided by the largest µλ."""
    ratios = []
    for mu in FRICTIONS:
        exact, relaxed = (_run(log, sliding_box(mu), 0.005, 0.1, relaxation=law) for law in ("none", "convex"))
        ratios.append(float(np.abs(exact.v - relaxed.v).max() / (mu * 2.0)))
    return np.array(ratios)


def reproduce() -> Outcome:
    """Measure the three claims."""
    log: Log = []
    held, held_early = drift(log, True)
    free, free_early = drift(log, False)
    by_step, by_rate = infeasibility(log)
    ratios = relaxation(log)
    quantities = (
        Quantity("order of the joint drift in h, stabilised", _order(DRIFT_STEPS, held), 1.9456, "", 2.0, ORDER,
                 record_within=0.01),
        claim("stabilised, the drift does not grow in time", held[-1] < 1.1 * held_early[-1], "over the second half"),
        claim("the relaxation is off by no more than a multiple of µλ", bool(ratios.max() < 2.0 * ratios.min()),
              "µ = 0.05 to 0.4, a factor of eight in µλ: " + ", ".join(f"{r:.2f}" for r in ratios)),
        Quantity("growth of the drift over the second half, stabilised", float(held[-1] / held_early[-1]), 1.0, "",
                 reason="bounded: about 1", record_within=0.01),
        Quantity("growth of the drift over the second half, unstabilised", float(free[-1] / free_early[-1]), 1.929, "",
                 reason="it drifts", record_tolerance=0.03),
        Quantity("drift unstabilised over stabilised, h = 0.005 s", float(free[-1] / held[-1]), 101.28, "",
                 record_tolerance=0.03),
        Quantity("order of the infeasibility in h", _order(STEPS, by_step), 2.076, "", 2.0, ORDER, record_within=0.01),
        Quantity("order of the infeasibility in v", _order(RATES, by_rate), 2.028, "", 2.0, ORDER, record_within=0.01),
        Quantity("largest change by the relaxation over µλ", float(ratios.max()), 0.9963, "",
                 reason=f"µ = 0.05 to 0.4: {', '.join(f'{r:.2f}' for r in ratios)}; bounded", record_within=0.01),
    )  # fmt: skip
    certificate = {name: max(worst[name] for worst in log) for name in log[0]}
    return Outcome(quantities, certificate, lambda: _figures(held, free, by_step))


def _figures(held: np.ndarray, free: np.ndarray, by_step: np.ndarray) -> dict[str, Figure]:
    from ..view.style import dress, new_figure

    figure = new_figure(6.5, 4.2)
    axes = dress(figure.add_subplot(), x="step h [s]", y="violation [m]", title="Constraint violation against the step")
    for steps, values, label in (
        (DRIFT_STEPS, free, "joints, unstabilised"), (DRIFT_STEPS, held, "joints, stabilised"),
        (STEPS, by_step, "contact on the paddle"),
    ):  # fmt: skip
        axes.loglog(steps, values, "o-", markersize=4, label=f"{label}: order {_order(steps, values):.2f}")
    h = np.array(STEPS)
    axes.loglog(h, held[0] * (h / h[0]) ** 2, "--", color="grey", linewidth=1.0, label="order 2")
    axes.legend(frameon=False, fontsize=8)
    return {"ah03-claims": figure}


EXPERIMENT = Experiment(
    "ah03-claims", "Hart, Anitescu 2003", "Drift, infeasibility and relaxation, measured", reproduce
)
