"""Time per step of whole simulations against the number of contacts; prints a table and the growth exponent.

python benchmarks/steps.py
"""

import time

import numpy as np

import stiction as st
from stiction.papers.st96_rod import rod


def blocks(n: int) -> st.GeneralizedSystem:
    """n blocks in a row on a table, pushed from one side and coupled by contact: n floors and n - 1 neighbours."""

    def floor(i: int) -> st.Gap:
        normal, tangent = np.zeros(2 * n), np.zeros(2 * n)
        normal[2 * i + 1] = tangent[2 * i] = 1.0
        return st.Gap(lambda q: q[2 * i + 1], lambda q: normal, lambda q: tangent, 0.3, name=f"floor {i}")

    def neighbour(i: int) -> st.Gap:
        normal = np.zeros(2 * n)
        normal[2 * i], normal[2 * i + 2] = -1.0, 1.0
        return st.Gap(lambda q: q[2 * i + 2] - q[2 * i] - 1.0, lambda q: normal, name=f"side {i}")

    q = np.column_stack([np.arange(n), np.zeros(n)]).ravel()
    force = np.tile([0.0, -9.81], n)
    force[0] = 2.0 * n
    gaps = [*(floor(i) for i in range(n)), *(neighbour(i) for i in range(n - 1))]
    return st.GeneralizedSystem(np.eye(2 * n), force, q=q, gaps=gaps)


def time_per_step(system: st.GeneralizedSystem, dt: float, steps: int) -> tuple[float, float]:
    """Seconds per step (best of three runs) and the largest residual."""
    st.Simulator(system, dt).run(2 * dt)  # compile, and fill the caches
    best, worst = np.inf, 0.0
    for _ in range(3):
        simulator = st.Simulator(system, dt)
        start = time.perf_counter()
        run = simulator.run(steps * dt, progress=False)
        best = min(best, (time.perf_counter() - start) / steps)
        worst = max(worst, run.certificate.worst["natural_map"])
    return best, worst


def main() -> None:
    print(f"{'scene':<16s} {'contacts':>8s} {'ms/step':>9s} {'residual':>10s}")
    seconds, residual = time_per_step(rod(), 0.0025, 280)
    print(f"{'st96 rod':<16s} {2:8d} {1e3 * seconds:9.3f} {residual:10.1e}")
    sizes, times = [], []
    for n in (1, 2, 4, 8, 16, 32):
        seconds, residual = time_per_step(blocks(n), 0.01, 40)
        sizes.append(2 * n - 1)
        times.append(seconds)
        print(f"{f'{n} blocks':<16s} {2 * n - 1:8d} {1e3 * seconds:9.3f} {residual:10.1e}")
    exponent = np.polyfit(np.log(sizes[-3:]), np.log(times[-3:]), 1)[0]
    print(f"time grows like contacts^{exponent:.2f} over the last three sizes (dense LCP: at most cubic)")


if __name__ == "__main__":
    main()
