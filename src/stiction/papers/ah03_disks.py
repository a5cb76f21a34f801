"""ah03 §3, figures 3–6 and 8: 21 disks in a cannonball pile between slanted walls.

Readings. The walls are not printed: here their feet are at x = ±70 and they rise at 60° to the table. Disks of radius 3
and density 10 kg/m² (π 9·10 kg), g = 9.81 m/s², µ = 0.2, h = 0.05 s, 20 s, eps = 0.3. The exactly symmetric pile leaves
two disks balanced on others for ever; heights and places are perturbed by up to 1e-6 (a fixed seed). "Unstabilised"
means Δ and Υ zero for the same active set. The fall is chaotic: another round-off gives other overlaps of the same
size, so the values on record are held to their size only.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..friction import Coulomb
from ..schemes import AnitescuHart
from ..simulation import Simulator, Trajectory
from ..systems import Disk, PlanarWorld
from .experiment import Experiment, Outcome, Quantity
from .penalty import largest_penalty_step

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RADIUS, DENSITY, MU, STEP, DURATION, EPS = 3.0, 10.0, 0.2, 0.05, 20.0, 0.3
FOOT, SLOPE, NUDGE = 70.0, np.pi / 3, 1e-6
EPS_STUDY = (0.03, 0.1, 0.3, 1.0, 3.0)


def walls() -> np.ndarray:
    """(3, 3) rows (normal, offset) of the table and the two walls."""
    s, c = np.sin(SLOPE), np.cos(SLOPE)
    return np.array([[0.0, 1.0, 0.0], [s, c, -FOOT * s], [-s, c, -FOOT * s]])


def pile(seed: int = 1) -> np.ndarray:
    """(21, 2) the centres of the pile, six disks at the bottom, nudged apart by about a micrometre."""
    rng = np.random.default_rng(seed)
    places = []
    for row in range(6):
        for k in range(6 - row):
            x, y = (k - (5 - row) / 2) * 2 * RADIUS, RADIUS + row * np.sqrt(3) * RADIUS
            # stretched by 2e-6 so that no nudge makes an overlap
            places.append([x * (1 + NUDGE), y * (1 + NUDGE)] + NUDGE * rng.uniform(0, 0.5, 2))
    return np.array(places)


def disks() -> PlanarWorld:
    """The scene."""
    world = PlanarWorld(gravity=(0.0, -9.81))
    world.set_material("default", friction=Coulomb(MU))
    for name, (nx, ny, offset) in zip(("table", "left wall", "right wall"), walls()):
        world.add_half_plane((nx, ny), offset, name=name)
    for i, place in enumerate(pile()):
        world.add_body(Disk(RADIUS), density=DENSITY, position=place, name=f"disk {i + 1}")
    return world


def _run(*, stabilize: bool = True, eps: float = EPS, h: float = STEP, duration: float = DURATION) -> Trajectory:
    scheme = AnitescuHart(stabilize=stabilize, eps=eps)
    return Simulator(disks(), h, scheme=scheme, solver="auto", tol=1e-6, accept=1e-6).run(duration, progress=False)


def on_table(run: Trajectory) -> int:
    """How many disks touch the table at the end."""
    heights = np.array([run.position(f"disk {i + 1}")[-1, 1] for i in range(21)])
    return int((np.abs(heights - RADIUS) < 1e-6).sum())


@dataclass(frozen=True)
class EpsRow:
    """One line of the study of eps."""

    eps: float
    h: float
    infeasibility: float
    contacts: int


def eps_study() -> list[EpsRow]:
    """The fall of the pile (3 s) for several eps, and for the smallest and the paper's at a smaller step."""
    rows = []
    for eps, h in [*((e, STEP) for e in EPS_STUDY), (EPS_STUDY[0], STEP / 10), (EPS, STEP / 10)]:
        run = _run(eps=eps, h=h, duration=3.0)
        most = int(np.bincount(run.table.step).max(initial=0))
        rows.append(EpsRow(eps, h, run.certificate.worst["penetration"], most))
    return rows


def reproduce() -> Outcome:
    """Both runs, the study of eps, and the penalty method's step."""
    start = time.perf_counter()
    stable, drifting = _run(), _run(stabilize=False)
    seconds = time.perf_counter() - start
    study = eps_study()
    by_eps = {(r.eps, r.h): r for r in study}
    tail = slice(int(0.9 * len(stable)), None)
    infeasible, drifted = stable.certificate["penetration"], drifting.certificate["penetration"]
    most = int(np.bincount(stable.table.step).max())
    speed = float(np.linalg.norm(stable.v.reshape(-1, 3)[:, :2], axis=1).max())
    mass = DENSITY * np.pi * RADIUS**2
    q = np.column_stack([pile(), np.zeros(21)])
    step, stiffness, reached = largest_penalty_step(
        q, walls(), RADIUS, mass, MU, float(infeasible.max()), speed, DURATION
    )
    still = "without the gap term contacts stay as deep, or as far apart, as they were when they became active"
    quantities = (
        Quantity("disks on the table at the end", float(on_table(stable)), 21.0, "", 21.0, 0.0),
        Quantity("largest infeasibility, stabilised", float(infeasible.max()), 0.1002, "m", record_tolerance=0.03,
                 reason="a disk that falls at 8.7 m/s, more than eps in a step, is not seen before it hits"),
        Quantity("largest infeasibility, unstabilised", float(drifted.max()), 0.036, "m", record_tolerance=0.2),
        Quantity("infeasibility at the end, stabilised", float(infeasible[tail].max()), 0.0, "m", 0.0, 1e-6,
                 "essentially zero in print"),
        Quantity("infeasibility at the end, unstabilised", float(drifted[tail].max()), 0.033, "m", 0.0, 1e-6, still,
                 record_tolerance=0.2),
        Quantity("largest LCP", 4.0 * most, 204.0, "unknowns", record_tolerance=0.1),
        Quantity("infeasibility, eps = 0.03", by_eps[0.03, STEP].infeasibility, 0.3251, "m",
                 reason="too small an eps misses collisions", record_tolerance=0.3),
        Quantity("contacts, eps = 3", float(by_eps[3.0, STEP].contacts), 56.0, "", record_tolerance=0.1,
                 reason=f"a larger eps grows the LCP: {by_eps[EPS, STEP].contacts} at eps = 0.3"),
        Quantity("infeasibility, eps = 0.03, h/10", by_eps[0.03, STEP / 10].infeasibility, 0.0024, "m",
                 reason=f"at eps = 0.3: {by_eps[EPS, STEP / 10].infeasibility:.1e} m; no influence as h goes to 0",
                 record_tolerance=0.01),
        Quantity("step of a penalty method, overlap no deeper", step, 0.003125, "s", record_tolerance=1e-3,
                 reason=f"{STEP / step:.0f} times smaller by halving; k = {stiffness:.2g} N/m, {reached:.3f} m"),
    )  # fmt: skip
    worst = [run.certificate.worst for run in (stable, drifting)]
    certificate = {name: max(w[name] for w in worst) for name in worst[0]}
    each = 1e3 * seconds / 2 / (len(stable) - 1)
    notes = (f"both runs of {len(stable) - 1} steps: {seconds:.1f} s with compilation, {each:.1f} ms per step",)
    return Outcome(quantities, certificate, lambda: _figures(stable, drifting, study), notes)


def _figures(stable: Trajectory, drifting: Trajectory, study: list[EpsRow]) -> dict[str, Figure]:
    from ..view.disks import disk_frames, infeasibility

    return {
        "ah03-disks-frames": disk_frames(stable, RADIUS, walls(), (0.0, 2.0, 5.0, 20.0)),
        "ah03-disks-fig8": infeasibility(stable, drifting),
    }


EXPERIMENT = Experiment(
    "ah03-disks", "Hart, Anitescu 2003", "21 disks fall between slanted walls (§3, figures 3–6, 8)", reproduce
)
