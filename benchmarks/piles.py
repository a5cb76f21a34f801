"""Default runs of piles as a new user makes them: `st.Simulator(world, 0.005).run(2.0)`, every step recorded.

    python benchmarks/piles.py [--pile 200 1000 boxes300 ...] [--seeds 5] [--seconds 2] [--tol 1e-6] [--csv FILE]
    python benchmarks/piles.py --elastic 1e6 1e7 --pile 200        # contacts of these stiffnesses [N/m], strict

Every run is a process of its own with one thread. A row says what the run cost (CPU time, slowest step), how its steps
ended (solved, between tol and accept, regularised, failed), the worst residual in words of the scene, and the kinetic
energy at the end as a share of its largest: of all bodies, and of those that are held, by as many loaded contacts as
space has dimensions. `--seconds 5` shows whether a pile comes to rest; a ball on the ground may roll on for ever.
"""

import argparse
import csv
import statistics
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import stiction as st
from scenes import DT, MU, RADIUS, sides, spheres
from scenes import pile as sphere_places

FIELDS = (
    "pile", "seed", "tol", "steps", "cpu_s", "slowest_s", "accepted", "regularised", "failed", "worst", "worst_at_s",
    "approach_m_s", "force_N", "share", "penetration_m", "kinetic_share", "held_share", "stopped",
)  # fmt: skip


def lattice(n, pitch, seed, dim=3):
    """Centres (n, dim) of n bodies on a jittered lattice above the ground, and half the width of their box."""
    rng = np.random.default_rng(seed)
    side = max(4, round((n / 3) ** (1 / 3) * 1.2)) if dim == 3 else max(8, round((n / 2) ** 0.5))
    across = np.arange(n)[:, None] // side ** np.arange(dim) % side
    across[:, -1] = np.arange(n) // side ** (dim - 1)
    places = (across - np.r_[np.full(dim - 1, (side - 1) / 2), -1.0]) * pitch
    return places + rng.uniform(-0.05, 0.05, places.shape) * pitch, 0.5 * side * pitch + 0.25 * pitch


def turned(rng):
    """A quaternion of any orientation."""
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def boxed(half):
    """Ground and four walls."""
    world = st.World()
    world.set_material("default", friction=st.Coulomb(MU))
    world.add_plane()
    for normal, distance in sides(half):
        world.add_plane(normal, -distance)
    return world


def boxes(n, seed):
    """Boxes of 8 × 10 × 12 cm, turned at random, dropped into a box."""
    places, half = lattice(n, 0.19, seed)
    world, rng = boxed(half), np.random.default_rng(seed + 1)
    for place in places:
        world.add_body(st.Box((0.08, 0.1, 0.12)), density=1000.0, position=place, orientation=turned(rng))
    return world


def mixed(n, seed):
    """Hulls of ten points and capsules, by turns, dropped into a box."""
    places, half = lattice(n, 0.19, seed)
    world, rng = boxed(half), np.random.default_rng(seed + 1)
    for i, place in enumerate(places):
        points = rng.normal(size=(10, 3))
        points *= 0.07 / np.linalg.norm(points, axis=1)[:, None]
        shape = st.ConvexHull(points) if i % 2 else st.Capsule(0.04, 0.08)
        world.add_body(shape, density=1000.0, position=place, orientation=turned(rng))
    return world


def disks(n, seed):
    """Disks of 5 cm radius dropped into a box in the plane."""
    places, half = lattice(n, 2.3 * RADIUS, seed, dim=2)
    world = st.PlanarWorld()
    world.set_material("default", friction=st.Coulomb(MU))
    world.add_plane()
    for side in (1.0, -1.0):
        world.add_plane((side, 0.0), -half)
    for place in places:
        world.add_body(st.Disk(RADIUS), density=1000.0, position=place)
    return world


PILES = {str(n): lambda seed, n=n: spheres(*sphere_places(n, seed)) for n in (200, 500, 1000, 2000, 4000)}
PILES |= {f"boxes{n}": lambda seed, n=n: boxes(n, seed) for n in (300, 1000)}
PILES |= {f"disks{n}": lambda seed, n=n: disks(n, seed) for n in (400, 2000)}
PILES |= {"mixed200": lambda seed: mixed(200, seed)}


def make(name, seed, kn=0.0):
    """A pile; with contacts of the stiffness kn [N/m], where that is not 0."""
    world = PILES[name](seed)
    if kn:
        world.set_material("default", friction=st.Coulomb(MU), compliance=st.Elastic(kn))
    return world


def warm(name, kn):
    """Compile what the run of a pile needs, so that its time is that of its steps."""
    from stiction.runtime import jit as _jit
    from stiction.simulation import loop

    _jit.set_num_threads(1)
    loop.COMPILE_MIN_STEPS = 0
    warnings.simplefilter("ignore")
    st.Simulator(make(name, 99, kn), DT, tol=1e-3, on_failure="continue").run(0.1)


def kinetic_of_held(sim, run, dim):
    """The kinetic energy [J] at the end of the bodies that as many loaded contacts hold as space has dimensions."""
    table, v = run.table, run.v[-1].reshape(-1, 3 * (dim - 1))
    loaded = (table.step == table.step.max(initial=-1)) & (table.impulse[:, 0] > 0.0)
    bodies = table.bodies[loaded]
    held = np.bincount(bodies[bodies >= 0], minlength=len(v)) >= dim
    return sim.system.energy(run.q[-1], np.where(held[:, None], v, 0.0).ravel()).kinetic


def measure(name, seed, seconds, tol, every, kn):
    """One run, in a process of its own; elastic contacts are held to `tol` in every step."""
    warm(name, kn)
    sim = st.Simulator(make(name, seed, kn), DT, tol=tol, accept=tol if kn else None)
    last, slowest, kinetic = time.process_time(), 0.0, [0.0]

    def look(steps, result, between):
        nonlocal last, slowest
        now = time.process_time()
        slowest, last = max(slowest, (now - last) / steps), now
        kinetic.append(sim.system.energy(sim.state.q, sim.state.v).kinetic)

    start = last
    stopped = ""
    try:
        run = sim.run(seconds, every=every, progress=look)
    except st.SolverError as error:
        stopped, run = str(error), error.trajectory
    spent = time.process_time() - start
    found = run.certificate
    error = found["scaled_map"]
    at = int(np.argmax(error)) if len(error) else 0
    left = run.physical
    held = kinetic_of_held(sim, run, 2 if name.startswith("disks") else 3)
    return {
        "pile": f"{name} {kn:.0e}" if kn else name, "seed": seed,
        "tol": tol, "steps": run.steps, "cpu_s": spent, "slowest_s": slowest,
        "accepted": found.accepted, "regularised": found.regularised,
        "failed": len(found.failed_steps) - found.accepted - found.regularised if every == 1 else "",
        "worst": float(error[at]), "worst_at_s": float(run.times[1 + at]), "approach_m_s": left["approach"],
        "force_N": left["force"], "share": left["share"], "penetration_m": found.worst["penetration"],
        "kinetic_share": kinetic[-1] / max(kinetic), "held_share": held / max(kinetic), "stopped": stopped,
    }  # fmt: skip


def main():
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pile", nargs="+", default=list(PILES), choices=list(PILES))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--tol", type=float, nargs="+", default=[1e-6], help="interleaved, run by run")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--elastic", type=float, nargs="+", default=[0.0], help="stiffness of contacts [N/m]; 0: rigid")
    parser.add_argument("--csv", type=Path, help="write the measurements here")
    options = parser.parse_args()
    print(
        f"{'pile':<11s} {'seed':>4s} {'tol':>6s} {'CPU s':>7s} {'slowest':>8s} {'accepted':>8s} {'regular.':>8s} "
        f"{'worst':>8s} {'at s':>6s} {'m/s':>8s} {'N':>8s} {'depth m':>8s} {'T/Tmax':>8s} {'held':>8s}"
    )
    rows = []
    for name, kn in product(options.pile, options.elastic):
        for seed in range(options.seeds):
            for tol in options.tol:
                with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                    row = pool.submit(measure, name, seed, options.seconds, tol, options.every, kn).result()
                rows.append(row)
                print(
                    f"{row['pile']:<11s} {seed:4d} {tol:6.0e} {row['cpu_s']:7.2f} {row['slowest_s']:8.3f} "
                    f"{row['accepted']:8d} {row['regularised']:8d} {row['worst']:8.1e} {row['worst_at_s']:6.2f} "
                    f"{row['approach_m_s']:8.1e} {row['force_N']:8.1e} {row['penetration_m']:8.1e} "
                    f"{row['kinetic_share']:8.1e} {row['held_share']:8.1e}{'  STOPPED' if row['stopped'] else ''}",
                    flush=True,
                )
                if row["stopped"]:
                    print(f"          {row['stopped']}", flush=True)
    for name in dict.fromkeys(row["pile"] for row in rows):
        for tol in options.tol:
            mine = [r["cpu_s"] for r in rows if r["pile"] == name and r["tol"] == tol]
            print(f"{name:<11s} tol {tol:.0e}: median {statistics.median(mine):.2f} s of CPU")
    if options.csv:
        options.csv.parent.mkdir(parents=True, exist_ok=True)
        with options.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            for row in rows:
                writer.writerow({k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()})


if __name__ == "__main__":
    main()
