"""Time of Lemke's method against size on friction problems, and of the enumeration of all solutions."""

from __future__ import annotations

import time

import numpy as np

from stiction.lcp import gallery, lemke, solutions


def seconds(function, problems) -> float:
    """The smallest mean time per problem over a few rounds."""
    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        for problem in problems:
            function(*problem)
        best = min(best, (time.perf_counter() - start) / len(problems))
    return best


def main() -> None:
    rng = np.random.default_rng(0)
    lemke(*gallery.random_friction(rng, 40))  # compile
    solutions(*gallery.random_friction(rng, 1))
    print("Lemke's method, friction problems (st96 eq. 29), 8 directions per contact, half as many bodies as contacts")
    print(f"{'n':>6} {'contacts':>9} {'pivots':>8} {'time':>12} {'per pivot':>12} {'residual':>10}")
    sizes, times = [], []
    for contacts in (1, 2, 4, 8, 16, 32, 64):
        problems = [gallery.random_friction(rng, contacts) for _ in range(20 if contacts < 16 else 5)]
        results = [lemke(*problem) for problem in problems]
        pivots = float(np.mean([r.pivots for r in results]))
        t = seconds(lemke, problems)
        n = 10 * contacts
        sizes.append(n)
        times.append(t)
        worst = max(r.residual for r in results)
        print(
            f"{n:>6} {contacts:>9} {pivots:>8.0f} {1e6 * t:>9.0f} µs {1e6 * t / max(pivots, 1):>9.2f} µs {worst:>10.1e}"
        )
    exponent = np.polyfit(np.log(sizes[3:]), np.log(times[3:]), 1)[0]
    print(f"growth: time ~ n^{exponent:.2f} for n >= {sizes[3]}\n")

    print("Small problems, planar contacts with 2 directions (what a time step calls)")
    print(f"{'n':>6} {'pivots':>8} {'time':>12}")
    for contacts in (1, 2, 3, 5):
        problems = [gallery.random_friction(rng, contacts, directions=2, bodies=1) for _ in range(300)]
        pivots = float(np.mean([lemke(*problem).pivots for problem in problems]))
        print(f"{4 * contacts:>6} {pivots:>8.1f} {1e6 * seconds(lemke, problems):>9.1f} µs")

    print("\nEvery solution")
    print(f"{'n':>6} {'problem':>22} {'nodes':>8} {'points':>7} {'faces':>6} {'time':>12}")
    for name, problem in (
        ("Painlevé's rod", gallery.painleve_rod(torque=True)),
        ("1 contact", gallery.random_friction(rng, 1)),
        ("2 contacts, 1 body", gallery.random_friction(rng, 2, bodies=1)),
        ("4 contacts, regular", gallery.random_friction(rng, 4, directions=4, regular=True)),
        ("-I, q = 1 (2^12)", (-np.eye(12), np.ones(12))),
    ):
        found = solutions(*problem)
        t = seconds(solutions, [problem])
        row = f"{problem[1].size:>6} {name:>22} {found.nodes:>8} {len(found.isolated):>7} {len(found.faces):>6}"
        print(f"{row} {1e3 * t:>9.2f} ms")


if __name__ == "__main__":
    main()
