"""Piles of elastic spheres, every step computed and held to its tolerance, beside MuJoCo where it is installed.

    python benchmarks/elastic.py [--n 1000 8000] [--ratio 300 760] [--tol 1e-6 1e-8] [--seeds 3] [--steps 400]

Spheres of 5 cm and 1000 kg/m³ fall into a box at steps of 5 ms. ratio: W/C of two of them, which is 2 h² kn/m. Each
step is timed by itself, in CPU time of one thread; MuJoCo (conjugate gradients until they have converged, elliptic
cones, the stiffest contacts that its manual allows) takes a step of the same scene after each of ours. Depth is the
median of the deepest overlap of each step.
"""

import argparse
import time
import warnings

import numpy as np

import stiction as st
from engines import MuJoCo
from scenes import DENSITY, DT, MU, RADIUS, spheres
from scenes import pile as sphere_places

MASS = DENSITY * 4 / 3 * np.pi * RADIUS**3


def simulator(n, seed, ratio, tol):
    """The pile, with contacts of that W/C."""
    world = spheres(*sphere_places(n, seed))
    stiffness = ratio * MASS / (2 * DT**2)
    world.set_material("default", friction=st.Coulomb(MU), compliance=st.Elastic(stiffness))
    return st.Simulator(world, DT, tol=tol, accept=tol, on_failure="continue")


def peer(n, seed):
    """The same pile in MuJoCo, or None where it is not installed."""
    places, half = sphere_places(n, seed)
    try:
        return MuJoCo("sphere", places, half, solver="CG", stiff=True)
    except ImportError:
        return None


def measure(n, seed, ratio, tol, steps):
    """Seconds and depths of each step, ours and MuJoCo's, and how many of ours missed the tolerance."""
    ours, other = simulator(n, seed, ratio, tol), peer(n, seed)
    seconds, depth, missed = np.zeros((2, steps)), np.zeros((2, steps)), 0
    for k in range(steps):
        start = time.process_time()
        result = ours.advance(1)
        seconds[0, k] = time.process_time() - start
        depth[0, k], missed = result.certificate.penetration, missed + (not result.success)
        if other is not None:
            start = time.process_time()
            other.step(1)
            seconds[1, k] = time.process_time() - start
            depth[1, k] = max(0.0, -other.data.contact.dist.min(initial=0.0))
    return seconds, depth, missed


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", type=int, nargs="+", default=[1000])
    parser.add_argument("--ratio", type=float, nargs="+", default=[300.0, 760.0])
    parser.add_argument("--tol", type=float, nargs="+", default=[1e-6])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=400)
    options = parser.parse_args()
    from stiction.runtime import jit as _jit
    from stiction.simulation import loop

    warnings.simplefilter("ignore")
    _jit.set_num_threads(1)
    loop.COMPILE_MIN_STEPS = 0
    simulator(200, 99, 300.0, 1e-6).advance(20)
    print(
        f"{'spheres':>7s} {'W/C':>5s} {'tol':>6s} {'seed':>4s} {'median ms':>9s} {'worst ms':>9s} {'missed':>6s} "
        f"{'depth m':>8s}   {'MuJoCo ms':>9s} {'worst':>7s} {'depth m':>8s}"
    )
    for n in options.n:
        for ratio in options.ratio:
            for tol in options.tol:
                for seed in range(options.seeds):
                    seconds, depth, missed = measure(n, seed, ratio, tol, options.steps)
                    median, worst, deep = 1e3 * np.median(seconds, 1), 1e3 * seconds.max(1), np.median(depth, 1)
                    print(
                        f"{n:7d} {ratio:5.0f} {tol:6.0e} {seed:4d} {median[0]:9.1f} {worst[0]:9.0f} {missed:6d} "
                        f"{deep[0]:8.1e}   {median[1]:9.1f} {worst[1]:7.0f} {deep[1]:8.1e}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
