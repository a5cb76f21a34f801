"""What recording costs: a pile of 1000 spheres at 60 frames per second, recorded, kept in memory, and neither.

    python benchmarks/recording.py [--spheres 1000] [--seconds 1.0] [--repeat 5] [--flat]

While the spheres fall, from the first step on, and when they lie still. What recording costs is told against `advance`,
which keeps nothing at all. The runs take turns and start from the same state; ratios are medians over the turns, of the
clock and of the processor: frames are judged and written while a thread takes the next steps. A run is the whole call:
the file is made, filled and closed in it.
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
STATES = ("velocity", "certificate", "joints", "checkpoints")  # nothing is looked at in the steps themselves


def phases(spheres, tol):
    """A simulator, and the states from which it is measured."""
    sim = st.Simulator(sphere_scene(spheres), DT, tol=tol)
    start = sim.state
    sim.advance(round(2.0 / DT))
    return sim, {"falling": start, "settled": sim.state}


def timed(sim, state, work):
    sim.start_from(state)
    clock, processor = time.perf_counter(), time.process_time()
    made = work()
    return time.perf_counter() - clock, time.process_time() - processor, made


def cost(spheres, seconds, repeat, tol):
    sim, states = phases(spheres, tol)
    for phase, state in states.items():
        with tempfile.TemporaryDirectory() as folder:
            measure(sim, phase, state, seconds, repeat, Path(folder))


def measure(sim, phase, state, seconds, repeat, folder):
    whole, states = folder / "pile.h5", folder / "states.h5"
    ways = {
        "advance, nothing kept": lambda: sim.advance(round(seconds / DT)),
        "60 frames/s in memory": lambda: sim.run(seconds, fps=FPS, progress=False),
        "60 frames/s recorded": lambda: sim.run(seconds, fps=FPS, record=whole, progress=False),
        "its states recorded": lambda: sim.run(seconds, fps=FPS, record=states, fields=STATES, progress=False),
    }
    for work in ways.values():
        timed(sim, state, work)
    spent = {name: [] for name in ways}
    for _ in range(repeat):
        for name, work in ways.items():
            *took, made = timed(sim, state, work)
            spent[name].append(took)
    sizes = f"{whole.stat().st_size / 1e6:.1f} MB, its states {states.stat().st_size / 1e6:.1f} MB"
    print(f"{phase}: {seconds:g} s of {DT:g} s steps, {len(sim.state.keys)} contacts; {len(made)} frames: {sizes}")
    nothing = spent["advance, nothing kept"]
    for name, values in spent.items():
        clock, processor = (sorted(v[i] / n[i] for v, n in zip(values, nothing)) for i in (0, 1))
        shown = f"{statistics.median(clock):.3f} ({clock[0]:.3f} to {clock[-1]:.3f}) of advance"
        also = f"processor {statistics.median(processor):.3f}"
        print(f"  {name:<24s} {statistics.median(v[0] for v in values):8.3f} s, {shown}; {also}", flush=True)


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
