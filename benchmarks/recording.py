"""What recording costs: a pile of 1000 spheres at 60 frames per second, recorded, kept in memory, and neither.

    python benchmarks/recording.py [--spheres 1000] [--seconds 1.0] [--repeat 5] [--flat]

The runs take turns and start from the same settled state; times are of the processor, which others disturb less.
`--flat` runs long with a small world instead, and prints the memory of the process as the recording grows.
"""

import argparse
import resource
import statistics
import tempfile
import time
from pathlib import Path

import stiction as st
from scenes import DT, sphere_scene

FPS = 60
STATES = ("velocity", "certificate", "joints", "checkpoints")  # these need no step in Python


def settled(spheres, tol):
    sim = st.Simulator(sphere_scene(spheres), DT, tol=tol)
    sim.advance(round(1.5 / DT))
    return sim


def timed(sim, state, work):
    sim.start_from(state)
    begin = time.process_time()
    made = work()
    return time.process_time() - begin, made


def cost(spheres, seconds, repeat, tol):
    sim = settled(spheres, tol)
    state = sim.state
    with tempfile.TemporaryDirectory() as folder:
        path, states = Path(folder) / "pile.h5", Path(folder) / "states.h5"
        ways = {
            "advance, nothing kept": lambda: sim.advance(round(seconds / DT)),
            "60 frames/s in memory": lambda: sim.run(seconds, fps=FPS, progress=False),
            "60 frames/s recorded": lambda: sim.run(seconds, fps=FPS, record=path, progress=False),
            "its states recorded": lambda: sim.run(seconds, fps=FPS, record=states, fields=STATES, progress=False),
        }
        for work in ways.values():
            timed(sim, state, work)
        spent = {name: [] for name in ways}
        for _ in range(repeat):
            for name, work in ways.items():
                took, made = timed(sim, state, work)
                spent[name].append(took)
        frames = len(made)
        print(f"{spheres} spheres, tol {tol:g}, {len(sim.state.keys)} contacts, {seconds:g} s of {DT:g} s steps")
        sizes = f"{path.stat().st_size / 1e6:.1f} MB, its states {states.stat().st_size / 1e6:.1f} MB"
        print(f"{frames} frames: {sizes}; seconds, median and least of {repeat}:")
        for name, values in spent.items():
            print(f"  {name:<24s} {statistics.median(values):8.3f} {min(values):8.3f}")
        one, two, three, four = (spent[name] for name in ways)
        print(f"  recorded / in memory     {statistics.median(c / b for b, c in zip(two, three)):8.3f}")
        print(f"  states / advance         {statistics.median(d / a for a, d in zip(one, four)):8.3f}")
        print(f"  recorded / advance       {statistics.median(c / a for a, c in zip(one, three)):8.3f}")


def flat(seconds):
    sim = st.Simulator(sphere_scene(30), DT)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.h5"
        taken = 0

        def watch(steps, result, between):
            nonlocal taken
            taken += 1
            if taken % 5_000 == 0:
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                now = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20
                size = path.stat().st_size / 1e6
                print(f"{taken:8d} frames {size:8.1f} MB on disk; memory {now:7.1f} MiB, peak {peak:7.1f}", flush=True)

        sim.run(seconds, record=path, progress=watch)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spheres", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--flat", action="store_true")
    options = parser.parse_args()
    if options.flat:
        flat(500.0)
    else:
        cost(options.spheres, options.seconds, options.repeat, options.tol)


if __name__ == "__main__":
    main()
