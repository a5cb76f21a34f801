"""How time and memory grow with the number of spheres, at equal residual (tol 1e-3) and on one thread.

    python benchmarks/growth.py [--quick] [--csv docs/data/growth.csv]

Piles of constant depth (10 layers in a box that gets wider, 1000 to 64 000 spheres) and of constant width (10 × 10 in a
box that gets deeper, to 16 000). Every size runs in a process of its own: first steps untimed, 20 of 5 ms for 10
layers and more for more, in which the loosely packed layers fall onto each other; then 10 timed ones, five times over,
of which the median counts.

Memory per contact is the peak resident size of the process over the steps, less its size when the world was built,
divided by the number of contacts: what the stages of a step need at once. The world is shown apart, per sphere.
"""

import argparse
import csv
import resource
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import stiction as st
from scenes import DT, layers, spheres
from stiction.runtime import jit as _jit
from stiction.solvers.gauss_seidel.nsgs import Nsgs

TOL = 1e-3
WARM, STEPS, ROUNDS = 20, 10, 5
WIDE = ((10, 10), (14, 10), (20, 10), (28, 10), (40, 10), (57, 10), (80, 10))  # spheres along a side, and layers
DEEP = ((10, 10), (10, 20), (10, 40), (10, 80), (10, 160))
FIELDS = (
    "pile", "spheres", "side", "depth", "contacts", "wall_s", "cpu_s", "residual", "penetration_m", "sweeps",
    "bytes_per_contact", "bytes_per_sphere",
)  # fmt: skip


def resident():
    """The present resident size [bytes]."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def measure(side, depth):
    """One size, in a process of its own."""
    warnings.simplefilter("ignore")
    _jit.set_num_threads(1)
    small = st.Simulator(spheres(*layers(4, 4)), DT, tol=TOL, on_failure="continue")  # compile, and load
    small._take_unrecorded(WARM)
    Nsgs().solve(small.scheme.probe(small.system, small.state, DT), tol=TOL)
    empty = resident()
    sim = st.Simulator(spheres(*layers(side, depth)), DT, tol=TOL, on_failure="continue")
    built = resident()
    sim._take_unrecorded(round(WARM * (depth / 10) ** 0.5))  # the time in which the top layer falls
    state, count, times = sim.state, sim._steps, []
    for _ in range(ROUNDS):  # the same steps: others on the machine disturb the ones that wait for memory
        sim.state, sim._steps = state, count
        w, c = time.perf_counter(), time.process_time()
        worst = sim._take_unrecorded(STEPS)
        times.append((time.perf_counter() - w, time.process_time() - c))
    wall, cpu = np.median(times, axis=0)
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    problem = sim.scheme.probe(sim.system, sim.state, DT)
    sweeps = Nsgs().solve(problem, tol=TOL, p0=problem.p_warm).iterations
    n = side * side * depth
    return {
        "spheres": n, "side": side, "depth": depth, "contacts": problem.nk, "wall_s": float(wall) / STEPS,
        "cpu_s": float(cpu) / STEPS,
        "residual": worst["scaled_map"], "penetration_m": worst["penetration"], "sweeps": sweeps,
        "bytes_per_contact": (peak - built) / problem.nk, "bytes_per_sphere": (built - empty) / n,
    }  # fmt: skip


def exponent(rows, what):
    """The slope of time against `what` in log-log."""
    return float(np.polyfit(np.log([r[what] for r in rows]), np.log([r["cpu_s"] for r in rows]), 1)[0])


def main():
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="the three smallest sizes of each")
    parser.add_argument("--csv", type=Path, help="write the measurements here")
    options = parser.parse_args()
    print(f"one thread, tol {TOL:g}; ms per step")
    print(
        f"{'pile':<15s} {'spheres':>8s} {'contacts':>8s} {'wall ms':>9s} {'CPU ms':>9s} {'µs/contact':>10s} "
        f"{'sweeps':>6s} {'residual':>9s} {'depth m':>9s} {'B/contact':>9s} {'B/sphere':>9s}"
    )
    rows = []
    for pile, sizes in (("constant depth", WIDE), ("constant width", DEEP)):
        mine = []
        for side, layer in sizes[:3] if options.quick else sizes:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                row = {"pile": pile, **pool.submit(measure, side, layer).result()}
            mine.append(row)
            print(
                f"{pile:<15s} {row['spheres']:8d} {row['contacts']:8d} {1e3 * row['wall_s']:9.2f} "
                f"{1e3 * row['cpu_s']:9.2f} {1e6 * row['cpu_s'] / row['contacts']:10.2f} {row['sweeps']:6d} "
                f"{row['residual']:9.1e} {row['penetration_m']:9.1e} {row['bytes_per_contact']:9.0f} "
                f"{row['bytes_per_sphere']:9.0f}",
                flush=True,
            )
        by_spheres, by_contacts = exponent(mine, "spheres"), exponent(mine, "contacts")
        print(f"{pile}: CPU time grows like spheres^{by_spheres:.2f}, contacts^{by_contacts:.2f}")
        rows += mine
    if options.csv:
        options.csv.parent.mkdir(parents=True, exist_ok=True)
        with options.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            for row in rows:
                writer.writerow({k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()})


if __name__ == "__main__":
    main()
