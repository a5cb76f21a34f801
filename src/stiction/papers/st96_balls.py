"""st96 §4, Table 1 and figures 6–8: balls on a table, two and four of them.

Readings. The nonlinear version with its fixed point converged, 8 directions, g = 9.81 m/s². In Table 1 the errors are
∞-norms over 24 components (linear and angular velocity of 4 balls; the angular part of q is the integral of ω), v is
piecewise constant, and the "velocity variation" is the largest total variation of a component. The data of the
two-ball test are not printed; it uses the same balls and throws, stated below.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..analysis.convergence import Convergence, compare
from ..friction import Coulomb
from ..schemes import StewartTrinkle
from ..simulation import Event, Simulator, Trajectory
from ..systems import Sphere, World
from .experiment import Experiment, Outcome, Quantity

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RADIUS, MASS, MU, GAP = 0.1, 1.0, 0.4, 1e-5
THROWN, THROW = (0.0, 0.0, 1.0), (1.5, 0.1, 0.0)
DIRECTIONS = 8
AIR_THROW = (2.5, 0.1, 0.0)  # two balls, in the air: fast enough to meet the second ball before the table
STEPS = (0.02, 0.01, 0.005, 0.0025, 0.00125)
TABLE = {  # h: velocity error, position error, velocity variation
    0.02: (0.5050, 0.2505, 19.4046),
    0.01: (0.3523, 0.2015, 19.1728),
    0.005: (0.1657, 0.0838, 19.1702),
    0.0025: (0.0700, 0.0298, 19.0862),
    0.00125: (None, None, 19.0690),
}
RECORD = {
    0.02: (0.4957, 0.2509, 19.4110),
    0.01: (0.3507, 0.2008, 19.1754),
    0.005: (0.1649, 0.0831, 19.1698),
    0.0025: (0.0650, 0.0331, 19.0870),
    0.00125: (0.0, 0.0, 19.0698),
}


def balls(count: int = 4, throw: tuple[float, float, float] = THROW) -> World:
    """A thrown ball and `count` - 1 balls in a line on a table, 10 µm apart."""
    world = World(gravity=(0.0, 0.0, -9.81))
    world.set_material("default", friction=Coulomb(MU))
    world.add_plane(name="table")
    world.add_body(Sphere(RADIUS), mass=MASS, position=THROWN, velocity=throw, name="ball 1")
    for i in range(count - 1):
        place = (1.0 + i * (2 * RADIUS + GAP), 0.0, RADIUS)
        world.add_body(Sphere(RADIUS), mass=MASS, position=place, name=f"ball {i + 2}")
    return world


def _run(world: World, h: float, duration: float = 1.0) -> Trajectory:
    scheme = StewartTrinkle(nonlinear=True, directions=DIRECTIONS)
    return Simulator(world, h, scheme=scheme, solver="lemke", tol=1e-8).run(duration, progress=False)


def first_impact(run: Trajectory, pair: str) -> Event:
    """The first impact of a pair of bodies."""
    return next(e for e in run.events if e.kind == "impact" and e.contact == pair)


def lcp_size(run: Trajectory) -> int:
    """The largest LCP of a run: 8 directions, a normal and a slip variable for each contact."""
    return 10 * int(np.bincount(run.table.step).max(initial=0))


@dataclass(frozen=True)
class Collision:
    """The impulses of the first collision in the line of balls (figure 6), as vectors on the balls, summed over it."""

    on_thrown: np.ndarray
    table_on_second: np.ndarray
    on_third: np.ndarray
    on_fourth: np.ndarray
    table_on_fourth: np.ndarray
    spin_second: float


def collision(run: Trajectory) -> Collision:
    """Impulses in the two steps of the collision, and the spin that it gives the second ball."""
    hit = first_impact(run, "ball 1/ball 2").step
    steps, h = slice(hit, hit + 2), float(run.info["dt"])
    spin = run.angular_velocity("ball 2")
    return Collision(
        run.force("ball 1", "ball 2")[steps].sum(axis=0) * h,
        run.force("ball 2", "table")[steps].sum(axis=0) * h,
        run.force("ball 3", "ball 2")[steps].sum(axis=0) * h,
        run.force("ball 4", "ball 3")[steps].sum(axis=0) * h,
        run.force("ball 4", "table")[steps].sum(axis=0) * h,
        float(spin[hit + 2, 1] - spin[hit, 1]),
    )


def _table_quantities(study: Convergence) -> list[Quantity]:
    found = []
    for i, h in enumerate(STEPS):
        values = (study.velocity_error[i], study.position_error[i], study.velocity_variation[i])
        for name, unit, ours, paper, record in zip(
            ("velocity error", "position error", "velocity variation"), ("", "", ""), values, TABLE[h], RECORD[h]
        ):
            if paper is None:
                continue
            off = 100 * (ours / paper - 1)
            reason = f"{off:+.2f} % from Table 1"
            found.append(
                Quantity(f"{name}, h = {h:g} s", float(ours), record, unit, paper, 5e-5, reason, record_tolerance=1e-4)
            )
    return found


def reproduce_four() -> Outcome:
    """Run the four balls at the five steps of Table 1."""
    runs = tuple(_run(balls(), h) for h in STEPS)
    study = compare(runs)
    finest = runs[-1]
    table, hit = first_impact(finest, "table/ball 1").time, first_impact(finest, "ball 1/ball 2").time
    c = collision(finest)
    linear, angular = _split_errors(study)
    quantities = [
        Quantity("first ball hits the table", table, 0.42875, "s", 0.42, 0.01, "printed with two digits"),
        Quantity("first ball hits the line", hit, 0.58375, "s", 0.59, 0.005, "0.59 s at h = 0.01 s"),
        *_table_quantities(study),
        Quantity("largest LCP", float(lcp_size(finest)), 70.0, "unknowns", 70.0, 0.0),
        Quantity("angular over linear velocity error, h = 0.005 s", angular / linear, 5.656, "", record_tolerance=1e-3,
                 reason="the paper: about an order of magnitude"),
        Quantity("friction lifts the thrown ball", float(c.on_thrown[2] > 0), 1.0, "", 1.0, 0.0, "1 = yes, figure 6"),
        Quantity("the table pushes the second ball up", float(c.table_on_second[2] > 0), 1.0, "", 1.0, 0.0, "figure 6"),
        Quantity("the table's friction on it points backwards", float(c.table_on_second[0] < 0), 1.0, "", 1.0, 0.0,
                 "figure 6"),
        Quantity("the second ball spins against its motion", float(c.spin_second < 0), 1.0, "", 1.0, 0.0, "figure 6"),
        Quantity("friction lifts the third ball", float(c.on_third[2] > 0), 1.0, "", 1.0, 0.0, "figure 6"),
    ]  # fmt: skip
    worst = [run.certificate.worst for run in runs]
    certificate = {name: max(w[name] for w in worst) for name in worst[0]}
    quantities += [
        Quantity("friction presses the fourth ball down", float(c.on_fourth[2] < 0), 1.0, "", 1.0, 0.0, "figure 6"),
        Quantity("the table pushes it up, and back by friction",
                 float(c.table_on_fourth[2] > 0 and c.table_on_fourth[0] < 0), 1.0, "", 1.0, 0.0, "figure 6"),
    ]  # fmt: skip
    return Outcome(tuple(quantities), certificate, lambda: _figures("st96-balls-four", finest, study))


def _split_errors(study: Convergence) -> tuple[float, float]:
    """The L¹ error at h = 0.005 s over linear and over angular components."""
    coarse, fine = study.runs[2], study.runs[-1]
    ratio = round(coarse.info["dt"] / fine.info["dt"])
    steps = np.minimum(np.arange(len(fine.times) - 1) // ratio, len(coarse.times) - 2)
    gap = np.abs(coarse.v[1:][steps] - fine.v[1:]).reshape(len(steps), -1, 6)
    h = float(fine.info["dt"])
    return float(gap[..., :3].max(axis=(1, 2)).sum() * h), float(gap[..., 3:].max(axis=(1, 2)).sum() * h)


def reproduce_two() -> Outcome:
    """One ball thrown at another, in the air and after landing on the table and rolling."""
    h = 0.0025
    air, rolled = _run(balls(2, AIR_THROW), h), _run(balls(2), h)
    in_air = [e for e in air.events if e.kind == "impact" and "ball 1" in e.contact]
    on_table = [e for e in rolled.events if e.kind == "impact" and "ball 1" in e.contact]
    quantities = (
        Quantity("in the air: balls meet first", float(in_air[0].contact == "ball 1/ball 2"), 1.0, "", 1.0, 0.0,
                 "1 = yes; thrown at 2.5 m/s"),
        Quantity("in the air: they meet at", in_air[0].time, 0.38, "s"),
        Quantity("rolling: the table comes first", float(on_table[0].contact == "table/ball 1"), 1.0, "", 1.0, 0.0,
                 "1 = yes; thrown at 1.5 m/s"),
        Quantity("rolling: balls meet at", first_impact(rolled, "ball 1/ball 2").time, 0.585, "s"),
        Quantity("rolling: largest LCP", float(lcp_size(rolled)), 30.0, "unknowns"),
    )  # fmt: skip
    worst = [run.certificate.worst for run in (air, rolled)]
    certificate = {name: max(w[name] for w in worst) for name in worst[0]}
    return Outcome(
        quantities, certificate,
        lambda: {**_figures("st96-balls-two-air", air), **_figures("st96-balls-two-rolling", rolled)},
        ("the paper prints no data for two balls: these are the balls of the four-ball test",),
    )  # fmt: skip


def _figures(name: str, run: Trajectory, study: Convergence | None = None) -> dict[str, Figure]:
    from ..view.balls import elevation_and_plan
    from . import drawings, st96_balls_figures

    figures = {name: elevation_and_plan(run, RADIUS)}
    if study is not None:
        figures["st96-balls-four-fig1"] = drawings.cone(MU, DIRECTIONS, "β")
        figures["st96-balls-four-fig6"] = st96_balls_figures.draw(run)
        figures[f"{name}-convergence"] = study.plot()
    return figures


FOUR = Experiment(
    "st96-balls-four",
    "Stewart, Trinkle 1996",
    "A ball thrown at three in a line (§4, Table 1, figures 6–8)",
    reproduce_four,
)
TWO = Experiment("st96-balls-two", "Stewart, Trinkle 1996", "A ball thrown at another (§4)", reproduce_two)
