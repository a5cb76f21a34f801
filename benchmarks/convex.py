"""The convex relaxation of large problems: apgd beside nsgs and conic, on piles of spheres and walls of boxes.

    python benchmarks/convex.py [--spheres 200 1000 4000] [--walls 10]

Each problem is one step of a scene that has fallen for half a second, solved from nothing.
"""

import argparse
import time
import warnings

import numpy as np

import stiction as st
from stiction.solvers import make_solver

DT = 0.005


def pile(n, radius=0.05, seed=0):
    """n spheres on a jittered lattice in an open box."""
    rng = np.random.default_rng(seed)
    side = max(3, round((n / 2) ** (1 / 3)))
    world = st.World()
    world.add_plane()
    for normal in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)):
        world.add_plane(normal, -1.1 * side * radius)
    for i in range(n):
        z, rest = divmod(i, side * side)
        y, x = divmod(rest, side)
        place = np.array([(x - (side - 1) / 2) * 2.1, (y - (side - 1) / 2) * 2.1, 1.0 + 2.05 * z]) * radius
        world.add_body(st.Sphere(radius), mass=0.5, position=place + rng.uniform(-0.04, 0.04, 3) * radius * [1, 1, 0.2])
    return world


def wall(rows):
    """A pyramid of boxes, side by side and on top of each other."""
    world = st.World()
    world.add_plane()
    for r in range(rows):
        for k in range(rows - r):
            world.add_body(st.Box((1, 1, 1)), mass=1.0, position=(1.001 * (k - (rows - 1 - r) / 2), 0.0, 0.5 + r))
    return world


def problem_of(world, settle):
    scheme = st.AnitescuHart(relaxation="convex")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim = st.Simulator(world, DT, scheme=scheme, solver="apgd", tol=1e-5, on_failure="continue")
        sim.run(settle)
    problem = scheme.probe(sim.system, sim.state, DT)
    return problem.replace(p_warm=np.zeros(problem.nr))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spheres", type=int, nargs="*", default=[200, 1000, 4000])
    parser.add_argument("--walls", type=int, nargs="*", default=[10])
    parser.add_argument("--settle", type=float, default=0.5)
    args = parser.parse_args()
    scenes = [(f"{n} spheres", pile(n)) for n in args.spheres] + [(f"wall of {n} rows", wall(n)) for n in args.walls]
    print(f"{'scene':18s} {'contacts':>8s} {'tol':>6s} {'solver':>6s} {'steps':>6s} {'residual':>9s} {'seconds':>8s}")
    for name, world in scenes:
        problem = problem_of(world, args.settle)
        for tol in (1e-4, 1e-6):
            for solver in ("apgd", "nsgs", "conic"):
                if make_solver(solver).refuses(problem):
                    continue
                st.solve(problem, solver, tol=tol, maxiter=1)  # compiled
                start = time.perf_counter()
                s = st.solve(problem, solver, tol=tol)
                took = time.perf_counter() - start
                print(
                    f"{name:18s} {problem.nk:8d} {tol:6.0e} {solver:>6s} {s.iterations:6d} "
                    f"{s.certificate.error:9.1e} {took:8.2f}{'' if s.success else '  missed'}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
