"""One solve of the moving pile's problems to 1e-6: `auto` against plain block Gauss–Seidel, one thread each.

    python benchmarks/solves.py [--quick] [--csv docs/data/solves.csv]

Ten piles of 1000 spheres at five times while they fall, from zero (cold) and from the impulses of the step before
(warm). Plain sweeps stop at 100 000, solved or not; what they leave after 200 and 2000 says how hard a problem is.
"""

import argparse
import csv
import time
import warnings
from pathlib import Path

import numpy as np

import stiction as st
from scenes import DT, pile, spheres
from stiction.runtime import jit as _jit
from stiction.solvers.gauss_seidel.nsgs import BodySweeps

TOL = 1e-6
PILES, TIMES = range(10), (0.2, 0.3, 0.4, 0.5, 0.6)  # s
FIRST, MOST = (200, 2000), 100_000  # sweeps of plain Gauss–Seidel
FIELDS = (
    "pile", "t_s", "start", "contacts", "auto_s", "auto_residual", "plain_s", "plain_residual", "plain_sweeps",
    "plain_after_200", "plain_after_2000",
)  # fmt: skip


def plain(problem, p0, most):
    """Block Gauss–Seidel and nothing else: contact after contact, each solved exactly, one at a time."""
    run = BodySweeps(problem, p0, 1.0, False, (TOL, 0))
    packed = run.work.packed
    run.work = run.work._replace(packed=packed._replace(pack=np.zeros_like(packed.pack)))  # no packs of eight contacts
    _, sweeps, error = run.sweep(most, TOL)
    return error, sweeps


def problems(n, piles):
    """The contact problems, with what is said of them in a row."""
    for seed in piles:
        sim = st.Simulator(spheres(*pile(n, seed)), DT, tol=1e-3, on_failure="continue")
        for t in TIMES:
            sim._take_unrecorded(round(t / DT) - round(sim.time / DT))
            problem = sim.scheme.probe(sim.system, sim.state, DT)
            for start, p0 in (("cold", np.zeros(problem.nr)), ("warm", problem.p_warm)):
                yield problem, p0, {"pile": seed, "t_s": t, "start": start, "contacts": problem.nk}


def measure(problem, p0):
    """Both solvers on one problem, by CPU time."""
    begin = time.process_time()
    error = st.solvers.Auto().solve(problem, tol=TOL, p0=p0).certificate.error
    middle = time.process_time()
    left, sweeps = plain(problem, p0, MOST)
    end = time.process_time()
    return {
        "auto_s": middle - begin, "auto_residual": error, "plain_s": end - middle, "plain_residual": left,
        "plain_sweeps": sweeps, **{f"plain_after_{most}": plain(problem, p0, most)[0] for most in FIRST},
    }  # fmt: skip


def main():
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one pile of 300 spheres")
    parser.add_argument("--csv", type=Path, help="write the measurements here")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    _jit.set_num_threads(1)
    n, piles = (300, PILES[:1]) if options.quick else (1000, PILES)
    problem, p0, _ = next(problems(n, piles))
    measure(problem, p0)  # compile, and load
    rows = []
    print(
        f"{'pile':>4s} {'t s':>5s} {'start':>5s} {'auto ms':>9s} {'residual':>9s} {'plain ms':>9s} {'residual':>9s} "
        f"{'sweeps':>7s} {'ratio':>6s}"
    )
    for problem, p0, said in problems(n, piles):
        row = {**said, **measure(problem, p0)}
        rows.append(row)
        print(
            f"{row['pile']:4d} {row['t_s']:5.2f} {row['start']:>5s} {1e3 * row['auto_s']:9.2f} "
            f"{row['auto_residual']:9.1e} {1e3 * row['plain_s']:9.2f} {row['plain_residual']:9.1e} "
            f"{row['plain_sweeps']:7d} {row['plain_s'] / row['auto_s']:6.1f}",
            flush=True,
        )
    for t in (*TIMES, None):
        ratios = [row["plain_s"] / row["auto_s"] for row in rows if t in (row["t_s"], None)]
        print(f"{'all' if t is None else f'{t} s'}: {np.median(ratios):.1f} times (median of {len(ratios)})")
    if options.csv:
        with options.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows({k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()} for row in rows)


if __name__ == "__main__":
    main()
