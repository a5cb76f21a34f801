"""One thread against two on wide piles of spheres: time per step, whether the bits are the same, parts of a step.

    python benchmarks/threads.py [--quick] [--csv docs/data/threads.csv]

The same steps are taken from the same state with one thread and with two, in turn, and the medians compared. Below, one
step taken apart, by both numbers of threads: detection, preparation of the sweeps (order, cells, packed rows), sweeps
with their measurement of the error, and the rest (rows, free motion, new state, penetration; by difference).
"""

import argparse
import csv
import time
import warnings
from pathlib import Path

import numpy as np

import stiction as st
from scenes import DT, layers, spheres
from stiction.runtime import jit as _jit
from stiction.solvers.gauss_seidel.nsgs import BodySweeps

TOL = 1e-3
SIZES = ((40, 10), (57, 10))  # spheres along a side, and layers
WARM, STEPS, ROUNDS = 20, 3, 15
THREADS = (1, 2)
FIELDS = ("spheres", "contacts", "threads", "stage", "wall_s", "share", "same_bits")


def settle(side, depth):
    """A pile whose layers have met."""
    sim = st.Simulator(spheres(*layers(side, depth)), DT, tol=TOL, on_failure="continue")
    sim._take_unrecorded(WARM)
    return sim


def steps(sim, threads):
    """Seconds per step from the simulator's state, which is put back, and the state it leads to."""
    _jit.set_num_threads(threads)
    state, count = sim.state, sim._steps
    start = time.perf_counter()
    sim._take_unrecorded(STEPS)
    seconds = (time.perf_counter() - start) / STEPS
    q, v = sim.state.q, sim.state.v
    sim.state, sim._steps = state, count
    return seconds, q, v


def stages(sim, threads):
    """Seconds of the stages of one step from the simulator's state (median), by the same kernels as the step's."""
    _jit.set_num_threads(threads)
    model, state, scheme = sim.system, sim.state, sim.scheme
    found = {"detect": [], "prepare": [], "sweeps": []}
    sweeps = 0
    band = scheme.band(model, state, DT)
    problem = scheme.probe(model, state, DT)
    for _ in range(ROUNDS):
        t0 = time.perf_counter()
        model.detect(state.t, state.q, band)
        t1 = time.perf_counter()
        run = BodySweeps(problem, problem.p_warm, 1.0, True, (TOL, 0))
        t2 = time.perf_counter()
        _, sweeps, _ = run.sweep(500, TOL)
        t3 = time.perf_counter()
        for name, seconds in zip(found, (t1 - t0, t2 - t1, t3 - t2)):
            found[name].append(seconds)
    return {name: float(np.median(values)) for name, values in found.items()}, sweeps, problem.nk


def main():
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="4000 spheres only")
    parser.add_argument("--csv", type=Path, help="write the measurements here")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for side, depth in ((20, 10),) if options.quick else SIZES:
        sim = settle(side, depth)
        for threads in THREADS:
            steps(sim, threads)
        times = {threads: [] for threads in THREADS}
        same = True
        for _ in range(ROUNDS):
            ends = []
            for threads in THREADS:
                seconds, *end = steps(sim, threads)
                times[threads].append(seconds)
                ends.append(end)
            same = same and all(np.array_equal(a, b) for a, b in zip(*ends))
        median = {threads: float(np.median(times[threads])) for threads in THREADS}
        ratios = np.array(times[1]) / np.array(times[2])
        n = side * side * depth
        _, sweeps, contacts = stages(sim, 1)
        print(
            f"{n} spheres, {contacts} contacts, tol {TOL:g}: {1e3 * median[1]:.1f} ms per step on one thread, "
            f"{1e3 * median[2]:.1f} on two: {median[1] / median[2]:.2f}x (rounds {ratios.min():.2f} to "
            f"{ratios.max():.2f}); {'same bits' if same else 'DIFFERENT BITS'}; {sweeps} sweeps in the first step",
            flush=True,
        )
        print(
            f"  {'threads':>7s} {'detect':>16s} {'prepare':>16s} {'sweeps':>16s} {'rest':>16s} {'step':>9s}   ms, share"
        )
        for threads in THREADS:
            _jit.set_num_threads(threads)
            spent, _, _ = stages(sim, threads)
            spent["rest"] = max(0.0, median[threads] - sum(spent.values()))
            cells = " ".join(f"{1e3 * s:9.2f} ({100 * s / median[threads]:3.0f} %)" for s in spent.values())
            print(f"  {threads:7d} {cells} {1e3 * median[threads]:9.2f}", flush=True)
            for stage, seconds in (*spent.items(), ("step", median[threads])):
                rows.append((n, contacts, threads, stage, seconds, seconds / median[threads], same))
    if options.csv:
        options.csv.parent.mkdir(parents=True, exist_ok=True)
        with options.csv.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(FIELDS)
            for row in rows:
                writer.writerow([f"{v:.4g}" if isinstance(v, float) else v for v in row])


if __name__ == "__main__":
    main()
