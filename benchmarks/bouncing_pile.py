"""What restitution costs: a pile of spheres with e = 0.8 beside the inelastic one, step by step, in the same run.

    python benchmarks/bouncing_pile.py [--spheres 1000] [--seconds 2.5] [--error 0.03]

Tolerances are relative to |q|, the velocities that contacts would have without impulses, and the problems of the two
schemes list different contacts. So that all are solved equally well, each step gets the tolerance that asks for the
same absolute error (natural map, 2-norm over all contacts) [m/s].
"""

import argparse
import time

import numpy as np

import stiction as st
from scenes import DT, sphere_scene


class Absolute:
    """The default solver, to an absolute error."""

    name = "auto"

    def __init__(self, error):
        from stiction.solvers import make_solver

        self.inner, self.error = make_solver("auto"), error

    def refuses(self, problem):
        """Nothing."""
        return

    def solve(self, problem, *, tol, maxiter=None, p0=None):
        """Solve to the absolute error, at most a tenth of |q|."""
        wanted = min(0.1, self.error / problem.scale)
        return self.inner.solve(problem, tol=wanted, maxiter=maxiter, p0=p0)


def main():
    """Print time per step, sweeps and kinetic energy over the run, and the ratios of the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spheres", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=2.5)
    parser.add_argument("--error", type=float, default=0.03)
    options = parser.parse_args()
    runs = {}
    for name, e, scheme in (
        ("AnitescuHart, e = 0", 0.0, st.AnitescuHart()),
        ("Moreau, e = 0", 0.0, st.Moreau()),
        ("Moreau, e = 0.8", 0.8, st.Moreau()),
        ("Poisson, e = 0.8", 0.8, st.Moreau(impact="poisson")),
    ):
        world = sphere_scene(options.spheres)
        world.set_material("default", friction=0.5, restitution=e)
        runs[name] = st.Simulator(world, DT, scheme=scheme, solver=Absolute(options.error), tol=0.1)
        runs[name].step()  # compiles
    blocks = 10
    steps = int(options.seconds / DT / blocks)
    total = dict.fromkeys(runs, 0.0)
    print(f"{'t [s]':>6}  " + "  ".join(f"{name:>32}" for name in runs))
    for block in range(blocks):
        spent, sweeps = dict.fromkeys(runs, 0.0), dict.fromkeys(runs, 0)
        for _ in range(steps):
            for name, sim in runs.items():
                start = time.process_time()
                result = sim.step()
                spent[name] += time.process_time() - start
                sweeps[name] += sum(solution.iterations for _, solution in result.solves)
        parts = []
        for name, sim in runs.items():
            total[name] += spent[name]
            kinetic = sim.system.energy(sim.state.q, sim.state.v).kinetic
            parts.append(f"{1e3 * spent[name] / steps:6.1f} ms {sweeps[name] / steps:5.0f} sweeps {kinetic:7.1e} J")
        print(f"{(block + 1) * steps * DT:6.2f}  " + "  ".join(f"{part:>32}" for part in parts), flush=True)
    first, second, *_ = total.values()
    for name, seconds in total.items():
        ratios = f"{seconds / first:.2f} of AnitescuHart, {seconds / second:.2f} of the inelastic Moreau"
        print(f"{name:22} {1e3 * seconds / (blocks * steps):6.1f} ms per step: {ratios}")
    fast = np.abs(runs["Moreau, e = 0.8"].state.v.reshape(-1, 6)[:, :3]).max()
    print(f"fastest sphere with e = 0.8 at the end: {fast:.1e} m/s")


if __name__ == "__main__":
    main()
