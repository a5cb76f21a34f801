"""stiction beside MuJoCo, PyBullet, DART and Drake on the same scenes, in one process, each on one thread.

    python benchmarks/peers.py [--quick] [--scene NAME ...] [--engine NAME ...] [--setting TEXT ...] [--keep]
                               [--csv docs/data/peers.csv]

Scenes, with friction 0.5 and steps of 5 ms: a box at rest, a tower of 10 boxes, a pyramid wall of 55 boxes (10 s each),
and piles of 200 and 1000 spheres (moving: t = 0.2 to 0.6 s; settled: after 2 s). Engines that are not installed are
left out.

For every engine, setting and phase: time per step (wall, and CPU, which other work on the machine disturbs less; means,
and the median CPU time of a few steps in a row), and
the largest of: the residual of the contact law (natural map with FCLIB's scaling; ours over every step, theirs by
`hard_law.py` at samples), the penetration, and the drift of the boxes (horizontal) or the creep of the pile (rms).
Engines that would take hours (DART and Drake on spheres) take a few steps from the states of our own run, and so do
our own tolerance 1e-6. A structure at rest repeats its step to the bit, and our simulator takes such a step from the
one before; "every step computed" is the same run without that.
"""

import argparse
import csv
import time
import warnings
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

import hard_law
import stiction as st
from engines import ENGINES
from scenes import DT, box_scene, pile, spheres, tower, wall
from stiction.runtime import jit as _jit

PACKAGES = {"stiction": "stiction", "MuJoCo": "mujoco", "PyBullet": "pybullet", "DART": "dartpy", "Drake": "drake"}
FIELDS = (
    "scene", "engine", "version", "setting", "phase", "steps", "wall_s", "cpu_s", "median_s", "residual",
    "penetration_m", "drift", "start",
)  # fmt: skip
TIMES = (0.2, 0.3, 0.4, 0.5, 0.6)  # s: the moving pile
SETTLED = 2.0  # s
SEEDS = range(10)  # piles of which the means are taken: in some of them spheres still slide, at twice the cost
OWN = 1e-4  # tighter tolerances of ours start from states of a looser run
COMPUTED = ", every step computed"
BUDGET = 20.0  # s of CPU time for each engine, setting and phase; fewer steps are taken where that is not enough

NEWTON, CG = {"solver": "Newton"}, {"solver": "CG"}
OTHERS = {  # engine: settings for spheres, settings for boxes
    "MuJoCo": (
        (
            CG,
            {**CG, "iterations": 5},
            {**CG, "iterations": 20},
            NEWTON,
            {**CG, "stiff": True},
            {**NEWTON, "stiff": True},
        ),
        (NEWTON, {**NEWTON, "stiff": True}, {**CG, "stiff": True}),
    ),
    "PyBullet": tuple(({"iterations": 10}, {"iterations": 50}, {"iterations": 200}) for _ in range(2)),
    "DART": (
        ({"solver": "Dantzig", "detector": "DART"}, {"solver": "matrix-free", "detector": "DART"}),
        ({"solver": "Dantzig", "detector": "DART"}, {"solver": "NSGS", "detector": "DART"}),
    ),
    "Drake": (({"solver": "sap"}, {"solver": "lagged"}),) * 2,
}
SLOW = ("DART", "Drake")  # on spheres


class Ours:
    """Our simulator behind the interface of `engines.Engine`; it remembers the worst residual and penetration."""

    def __init__(self, world, tol, state=None, computed=False):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.sim = st.Simulator(world, DT, tol=tol, on_failure="continue")
        if state is not None:
            self.sim.state = state
        self.sim._loop.replay = not computed
        self.model = self.sim.system
        self.worst, self.taken = {}, 0

    def step(self, n):
        """Take n steps in the compiled loop."""
        self.taken += n
        for name, value in self.sim._take_unrecorded(n).items():
            self.worst[name] = max(self.worst.get(name, 0.0), value)

    def poses(self):
        """Centres and quaternions of the bodies that move (n, 7)."""
        return self.sim.state.q.reshape(self.model.nb, 7)[self.model.moves].copy()

    def sample(self):
        """The worst residual and penetration since the last call."""
        worst, self.worst = self.worst, {}
        return worst.get("scaled_map", 0.0), worst.get("penetration", 0.0)

    def close(self):
        """Nothing to give back."""


class Theirs:
    """Another engine, and our model of the same scene, by which its penetration is measured."""

    def __init__(self, name, settings, model, kind, places, half=None, velocities=None):
        self.engine = ENGINES[name](kind, places, half, velocities, **settings)
        self.model, self.taken = model, 0
        self.poses, self.close = self.engine.poses, self.engine.close

    def step(self, n):
        """Take n steps."""
        self.taken += n
        self.engine.step(n)

    def sample(self):
        """Residual (NaN where it cannot be had) and penetration after one more step."""
        self.taken += 1
        report = self.engine.report()
        q = self.model.initial_state().q.reshape(self.model.nb, 7)
        q[self.model.moves] = self.poses()
        gaps = self.model.gaps(self.model.detect(0.0, q.ravel(), 0.0), 0.0, q.ravel())
        depth = max(0.0, -float(gaps.min())) if len(gaps) else 0.0
        return (np.nan if report is None else hard_law.residual(report)), depth


def timed(run, steps, budget, chunk):
    """Up to `steps` steps, samples among them, in chunks within a budget: seconds per step, and the worst samples."""
    wall = cpu = 0.0
    taken, each, residuals, depths, end = 0, [], [], [], run.taken + steps
    run.sample()
    while run.taken < end and cpu < budget:
        n = min(chunk, end - run.taken)
        w, c = time.perf_counter(), time.process_time()
        run.step(n)
        c = time.process_time() - c
        each.append(c / n)
        cpu += c
        wall += time.perf_counter() - w
        taken += n
        residual, depth = run.sample()
        residuals.append(residual)
        depths.append(depth)
    return {
        "steps": taken, "wall_s": wall / taken, "cpu_s": cpu / taken, "each": each, "residual": np.max(residuals),
        "penetration_m": np.max(depths),
    }  # fmt: skip


def join(parts):
    """Several timed windows as one."""
    steps = sum(p["steps"] for p in parts)
    row = {name: sum(p[name] * p["steps"] for p in parts) / steps for name in ("wall_s", "cpu_s")}
    worst = {name: np.max([p[name] for p in parts]) for name in ("residual", "penetration_m")}
    return {"steps": steps, **row, "each": [t for p in parts for t in p["each"]], **worst}


def boxes(make, places, seconds, budget):
    """Boxes that should stand: time per step after the first second, and the largest horizontal drift."""
    run = make()
    start = np.array(places)
    run.step(int(0.1 / DT))
    row = timed(run, int(seconds / DT) - int(0.1 / DT), budget, chunk=200 if len(places) < 20 else 50)
    drift = np.abs(run.poses()[:, :2] - start[:, :2]).max()
    run.close()
    yield {"phase": "at rest", **row, "drift": drift, "start": "own"}


def creep(run, row_of):
    """The row of a settled window, with the rms speed of the centres over it."""
    before, first = run.poses()[:, :3], run.taken
    row = row_of()
    moved = np.linalg.norm(run.poses()[:, :3] - before, axis=1)
    return {"phase": "settled", **row, "drift": float(np.sqrt(np.mean(moved**2))) / (DT * (run.taken - first))}


def own_piles(make, states, budget):
    """Piles of an engine's own: moving, then settled, the means over several of them."""
    found = {}
    for seed in SEEDS:
        for row in own_pile(lambda seed=seed: make(seed), states, budget):
            found.setdefault(row["phase"], []).append(row)
    for phase, rows in found.items():
        mean = {"drift": float(np.mean([r["drift"] for r in rows]))} if "drift" in rows[0] else {}
        yield {"phase": phase, **join(rows), **mean, "start": "own"}


def own_pile(make, states, budget):
    """A pile of an engine's own: moving, then settled. Our states at `TIMES` and `SETTLED` are kept in `states`."""
    run = make()
    parts = []
    for t, end in zip(TIMES, (*TIMES[1:], None)):
        run.step(max(0, round(t / DT) - run.taken))
        keep(run, states, t)
        if end is not None:
            parts.append(timed(run, round(end / DT) - run.taken, budget / 4, chunk=5))
    row = join(parts)
    yield {"phase": "moving", **row, "start": "own"}
    if row["cpu_s"] * SETTLED / DT > 4 * budget:  # too slow to wait until it has settled
        run.close()
        return
    run.step(round(SETTLED / DT) - run.taken)
    keep(run, states, SETTLED)
    yield {**creep(run, lambda: timed(run, 200, budget, chunk=10)), "start": "own"}
    run.close()


def keep(run, states, t):
    """Remember a state of ours."""
    if isinstance(run, Ours):
        states.setdefault(t, run.sim.state)


def sampled_pile(make, states, budget):
    """A few steps from each of our states."""
    parts = []
    for t in TIMES[:-1]:
        run = make(states[t])
        parts.append(timed(run, 5, budget / 4, chunk=1))
        run.close()
    yield {"phase": "moving", **join(parts), "start": "ours"}
    run = make(states[SETTLED])
    run.step(1)
    yield {**creep(run, lambda: timed(run, 20, budget, chunk=5)), "start": "ours"}
    run.close()


def runs(scene, kind, places, half, tols, engines, wanted, budget, seconds):
    """Rows of one scene: ours at each tolerance, and the others at each of their settings that is `wanted`."""
    world = box_scene(places) if kind == "box" else spheres(places, half)
    model, states = world.build(), {}
    jitter = {seed: pile(len(places), seed)[0] for seed in SEEDS} if kind == "sphere" else {}
    piles = {seed: spheres(places, half) for seed, places in jitter.items()}
    # 1e-3 goes first: its states are where others start
    for tol in sorted(tols, key=lambda t: (t != 1e-3, -t)) if "stiction" in engines or kind == "sphere" else ():
        for computed in (False, True) if kind == "box" else (False,):
            setting = f"tol {tol:g}" + (COMPUTED if computed else "")
            if kind == "box":
                found = boxes(partial(Ours, world, tol, computed=computed), places, seconds, budget)
            elif tol >= OWN:
                found = own_piles(lambda seed, tol=tol: Ours(piles[seed], tol), states, budget)
            else:
                found = sampled_pile(lambda state, tol=tol: Ours(world, tol, state), states, budget)
            for row in found:
                yield {"engine": "stiction", "setting": setting, **row}
    for name in ENGINES:
        for settings in OTHERS[name][kind == "box"] if name in engines else ():

            def make(state=None, name=name, settings=settings):
                if state is None:
                    return Theirs(name, settings, model, kind, places, half)
                x = state.q.reshape(model.nb, 7)[model.moves, :3]
                return Theirs(name, settings, model, kind, x, half, state.v.reshape(model.nb, 6)[model.moves])

            def fresh(seed, name=name, settings=settings):
                return Theirs(name, settings, model, kind, jitter[seed], half)

            if kind == "box":
                found = boxes(make, places, seconds, budget)
            elif name in SLOW:
                found = sampled_pile(make, states, budget)
            else:
                found = own_piles(fresh, states, budget)
            setting = " ".join(f"{key} {value}" for key, value in settings.items())
            if not wanted(setting):
                continue
            try:
                for row in found:
                    yield {"engine": name, "setting": setting, **row}
            except ImportError:
                print(f"{name} is not installed.")
                break
            except RuntimeError as error:  # an engine's own way to say that it failed
                print(f"{name} ({setting}) on {scene}: {str(error).splitlines()[0]}")


def installed(package):
    """The version of a package, or an empty string."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def show(row):
    """One line of the table."""

    def number(value, form):
        return "–" if value is None or value == "" or np.isnan(value) else format(value, form)

    print(
        f"{row['scene']:<13s} {row['engine']:<9s} {row['setting']:<36s} {row['phase']:<15s} {row['steps']:6d} "
        f"{1e3 * row['wall_s']:9.4f} {1e3 * row['cpu_s']:9.4f} {number(row.get('residual'), '9.1e'):>9s} "
        f"{number(row.get('penetration_m'), '9.1e'):>9s} {number(row.get('drift'), '9.1e'):>9s} {row['start']:>5s}",
        flush=True,
    )


def earlier(path):
    """The rows of an earlier measurement."""
    if path is None or not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def merged(old, rows):
    """Earlier rows in their order, each that was measured anew replaced; then those that are new."""

    def key(row):
        return tuple(row[name] for name in ("scene", "engine", "setting", "phase", "start"))

    anew = {key(row): row for row in rows}
    return [anew.pop(key(row), row) for row in old] + list(anew.values())


def write(path, rows, old):
    """The measurements so far, as CSV where a path is given; old: earlier ones to keep."""
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, restval="")
            writer.writeheader()
            for row in merged(old, rows):
                writer.writerow({k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()})


def main():
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small scenes and few steps: does it run?")
    parser.add_argument("--scene", nargs="*", help="only scenes whose name contains one of these")
    parser.add_argument("--engine", nargs="*", default=list(PACKAGES), help="only these engines")
    parser.add_argument("--setting", nargs="*", help="of the others only settings that contain one of these")
    parser.add_argument("--keep", action="store_true", help="keep the rows of the CSV that are not measured anew")
    parser.add_argument("--tol", nargs="*", type=float, help="only these tolerances of ours")
    parser.add_argument("--budget", type=float, default=BUDGET, help="CPU seconds for each setting and phase")
    parser.add_argument("--csv", type=Path, help="write the measurements here")
    options = parser.parse_args()
    _jit.set_num_threads(1)
    budget, seconds = (1.0, 0.5) if options.quick else (options.budget, 10.0)
    tight, loose = (1e-2, 1e-3, 1e-4, 1e-6), (1e-2, 1e-3, 1e-4, 1e-6, 1e-8)
    scenes = [
        ("box", "box", tower(1), None, loose), ("tower of 10", "box", tower(10), None, loose),
        ("wall of 55", "box", wall(), None, loose),
        *((f"{n} spheres", "sphere", *pile(n), tight) for n in ((30,) if options.quick else (200, 1000))),
    ]  # fmt: skip
    wanted = [s for s in scenes if not options.scene or any(part in s[0] for part in options.scene)]
    versions = {name: installed(package) for name, package in PACKAGES.items()}
    print("one thread each;", ", ".join(f"{name} {v or 'not installed'}" for name, v in versions.items()))
    print(
        f"{'scene':<13s} {'engine':<9s} {'setting':<36s} {'phase':<15s} {'steps':>6s} {'wall ms':>9s} {'CPU ms':>9s} "
        f"{'residual':>9s} {'depth m':>9s} {'drift':>9s} start   (drift: m for boxes, m/s for piles)"
    )
    Ours(spheres(*pile(30)), 1e-6).step(60)  # compile, and fill the caches
    Ours(box_scene(tower(2)), 1e-6).step(10)
    rows, old = [], earlier(options.csv) if options.keep else []

    def add(scene, row):
        if "each" in row:
            row["median_s"] = float(np.median(row.pop("each")))
        row = {"scene": scene, "version": versions[row["engine"]], **row}
        rows.append(row)
        show(row)

    def asked(setting):
        return not options.setting or any(part in setting for part in options.setting)

    for scene, kind, places, half, tols in wanted:
        tols = [tol for tol in tols if not options.tol or tol in options.tol]
        for row in runs(scene, kind, places, half, tols, options.engine, asked, budget, seconds):
            add(scene, row)
        write(options.csv, rows, old)
    write(options.csv, rows, old)


if __name__ == "__main__":
    main()
