"""Every solver on every problem of a collection: FCLIB's files and steps of our own worlds.

    STICTION_FCLIB=folder python benchmarks/profiles.py [--limit 20] [--set NAME] [--only TEXT] [--solver NAMES]

Writes docs/data/solvers.csv, from which `python docs/make_figures.py profiles` draws the performance profiles and the
tables of docs/solvers.md. The sets: FCLIB (needs STICTION_FCLIB, a folder with hdf5/, dat/ and rolling/), worlds, and
relaxed, the problems of the worlds with the convex relaxation of friction.
Times are seconds of one thread without compilation, the fastest of two to five runs (one where it took over 10 s), and
CPU seconds from 0.1 s on, so that what else the machine does matters little. A problem that takes a solver longer than
the limit [s] counts as not solved. With --update the rows that are not measured stay as they are.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import os
import signal
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import stiction as st
from scenes import DT, box_scene, sphere_scene, tower, wall
from stiction.cli.solve import measure, solver_names, tiny
from stiction.solvers import Nsgs

ROOT = Path(__file__).parent.parent
CSV = ROOT / "docs" / "data" / "solvers.csv"
PROBLEMS = ROOT / "build" / "problems"
FIELDS = ("set", "problem", "contacts", "rows", "rank_deficient", "tol", "solver", "by", "iterations", "residual",
          "seconds", "success", "status")  # fmt: skip
TOLERANCES = (1e-4, 1e-8)


# problems of our own worlds: one step each, without the impulses of the step before


def heavy_on_light():
    world = st.World()
    world.add_plane()
    for i in range(5):
        world.add_body(st.Box((1.0, 1.0, 1.0)), mass=1.0 if i < 4 else 1000.0, position=(0, 0, 0.5 + i))
    return world


def rubble(n, seed=0):
    """Boxes and capsules dropped into a crate, in all directions."""
    rng = np.random.default_rng(seed)
    world = st.World()
    world.add_plane()
    for axis in (0, 1):
        for sign in (1.0, -1.0):
            world.add_plane(np.eye(3)[axis] * sign, -0.5)
    for i in range(n):
        place = (*(0.22 * (np.array([i % 4, i // 4 % 4]) - 1.5)), 0.15 + 0.22 * (i // 16))
        turn = rng.normal(size=4)
        shape = st.Box(rng.uniform(0.06, 0.12, size=3)) if i % 3 else st.Capsule(0.04, 0.08)
        world.add_body(shape, density=1000.0, position=place, orientation=turn / np.linalg.norm(turn))
    return world


def disks(n, seed=0):
    rng = np.random.default_rng(seed)
    world = st.PlanarWorld()
    side = 20
    world.add_half_plane()
    for sign in (1.0, -1.0):
        world.add_half_plane(normal=(sign, 0.0), offset=-0.115 * side / 2 - 0.05)
    for i in range(n):
        place = 0.115 * np.array([i % side - (side - 1) / 2, 0.6 + i // side]) + rng.uniform(-0.005, 0.005, size=2)
        world.add_body(st.Disk(0.05 * rng.uniform(0.8, 1.0)), density=1000.0, position=place)
    return world


def chain(links):
    """A chain of capsules on ball joints, dropped onto the floor."""
    world = st.World()
    world.add_plane()
    before = None
    for i in range(links):
        body = world.add_body(st.Capsule(0.03, 0.14), density=1000.0, position=(0.2 * i, 0.002 * i, 0.06),
                              orientation=(np.sqrt(0.5), 0, np.sqrt(0.5), 0))  # fmt: skip
        if before is not None:
            world.add_joint(st.Ball(before, body, anchor=(0.2 * i - 0.1, 0.002 * i, 0.06)))
        before = body
    return world


WORLDS: dict[str, tuple[Any, float]] = {  # the scene, and the seconds that it settles
    "tower of 10 boxes": (lambda: box_scene(tower(10)), 0.1),
    "tower of 30 boxes": (lambda: box_scene(tower(30)), 0.1),
    "heavy box on 4 light ones": (heavy_on_light, 0.1),
    "wall of 55 boxes": (lambda: box_scene(wall(10)), 0.1),
    "wall of 210 boxes": (lambda: box_scene(wall(20)), 0.1),
    "rubble of 64 pieces": (lambda: rubble(64), 0.6),
    "rubble of 256 pieces": (lambda: rubble(256), 0.8),
    "pile of 200 spheres": (lambda: sphere_scene(200), 0.6),
    "pile of 1000 spheres": (lambda: sphere_scene(1000), 0.8),
    "pile of 3000 spheres": (lambda: sphere_scene(3000), 1.0),
    "pile of 400 disks in the plane": (lambda: disks(400), 0.6),
    "chain of 20 capsules": (lambda: chain(20), 0.3),
}


def make_world_problem(name: str) -> Path:
    """The contact problem of one step, after the scene has settled with a rough solver."""
    path = PROBLEMS / f"{name}.hdf5"
    if path.exists():
        return path
    PROBLEMS.mkdir(parents=True, exist_ok=True)
    scene, settle = WORLDS[name]
    scheme = st.AnitescuHart()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim = st.Simulator(scene(), DT, scheme=scheme, solver=Nsgs(maxiter=200), tol=1e-4, on_failure="continue")
    while sim.time < settle:
        sim.step()
    problem = scheme.probe(sim.system, sim.state, DT)
    st.write_fclib(problem.replace(p_warm=np.zeros(problem.nr)), path, title=name)
    return path


# measuring, in a process that can be stopped


def read(group: str, path: Path) -> st.ContactProblem:
    problem = st.read_fclib(path)
    return problem.replace(associated=True) if group == "relaxed" else problem


def _worker(pipe: Any) -> None:
    while True:
        group, path, solver, tol, limit = pipe.recv()
        problem = read(group, path)
        measure(tiny(problem), solver, file="", tol=tol)  # compiles before the clock starts
        signal.setitimer(signal.ITIMER_PROF, limit)  # CPU seconds; the end of them is the end of the process
        found = measure(problem, solver, file=str(path), tol=tol, cpu=True)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        pipe.send(found)


class Worker:
    """A process that measures; a new one takes over where it has used up its time."""

    def __init__(self) -> None:
        self.process: Any = None

    def measure(self, group: str, path: Path, solver: str, tol: float, limit: float) -> Any:
        """The measurement, or None where it took more than `limit` CPU seconds."""
        if self.process is None:
            context = multiprocessing.get_context("spawn")
            self.pipe, theirs = context.Pipe()
            self.process = context.Process(target=_worker, args=(theirs,), daemon=True)
            self.process.start()
            theirs.close()
        self.pipe.send((group, path, solver, tol, limit))
        try:
            return self.pipe.recv()
        except EOFError:
            self.process.join()
            code, self.process = self.process.exitcode, None
            if code != -signal.SIGPROF:
                raise SystemExit(f"{solver} broke on {path.name}: see above.") from None
            return None

    def close(self) -> None:
        """Stop the process."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None


def rank_deficient(problem: st.ContactProblem) -> str:
    """Whether W is singular; by counting alone where it is too large for its eigenvalues."""
    form = problem.dynamics
    if isinstance(form, st.Bodies):
        touched = np.unique(np.concatenate([form.body_a, form.body_b]))
        freedom = int((~form.prescribed.reshape(form.nbody, -1)[touched[touched >= 0]]).sum())
        if problem.nr > freedom:
            return "yes"
    if problem.nr > 3000:
        return ""
    W = problem.delassus()
    values = np.linalg.eigvalsh(0.5 * (W + W.T))
    return "yes" if values[0] <= 1e-10 * values[-1] else "no"


def collection() -> list[tuple[str, str, Path]]:
    """(set, name, file) of every problem."""
    found = []
    if "STICTION_FCLIB" in os.environ:
        for folder in ("hdf5", "dat", "rolling"):
            files = sorted((Path(os.environ["STICTION_FCLIB"]) / folder).iterdir())
            found += [("FCLIB", f.name, f) for f in files if f.suffix in (".hdf5", ".dat")]
    return found + [(group, name, PROBLEMS / f"{name}.hdf5") for group in ("worlds", "relaxed") for name in WORLDS]


def key(row: dict[str, Any]) -> tuple[str, ...]:
    return row["set"], row["problem"], row["tol"], row["solver"]


def write(path: Path, rows: dict[tuple[str, ...], dict[str, Any]]) -> None:
    """All rows in the order of the collection, the tolerances and the solvers."""
    order = {(group, name): i for i, (group, name, _) in enumerate(collection())}
    solvers = solver_names("all")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, FIELDS)
        table.writeheader()
        for k in sorted(rows, key=lambda k: (order.get(k[:2], len(order)), -float(k[2]), solvers.index(k[3]))):
            table.writerow(rows[k])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=20.0, help="CPU seconds after which a solver is stopped")
    parser.add_argument("--set", default="", choices=["", "FCLIB", "worlds", "relaxed"], help="one set alone")
    parser.add_argument("--only", default="", help="problems whose name holds this text")
    parser.add_argument("--solver", default="all", help="names with commas, or all")
    parser.add_argument("--csv", type=Path, default=CSV)
    parser.add_argument("--update", action="store_true", help="keep the other rows of the file")
    options = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"  # read by the processes that measure
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    if options.update:
        with options.csv.open(newline="") as file:
            rows = {key(row): row for row in csv.DictReader(file)}
    worker = Worker()
    for group, name, path in collection():
        if options.only not in name or options.set not in ("", group):
            continue
        if group != "FCLIB":
            make_world_problem(name)
        problem = read(group, path)
        singular = rank_deficient(problem)
        for tol in TOLERANCES:
            for solver in solver_names(options.solver):
                start = time.perf_counter()
                m = worker.measure(group, path, solver, tol, options.limit)
                row = {"set": group, "problem": name, "contacts": int((problem.law == 1).sum()), "rows": problem.nr,
                       "rank_deficient": singular, "tol": f"{tol:.0e}", "solver": solver}  # fmt: skip
                if m is None:
                    row |= {"success": False, "status": f"over {options.limit:.0f} s"}
                elif m.status == "refused":
                    row |= {"success": False, "status": m.status}
                    if solver != "auto":
                        rows.pop(key(row), None)
                        continue
                else:
                    row |= {
                        "by": m.by,
                        "iterations": m.iterations,
                        "residual": "" if m.residual is None else f"{m.residual:.2e}",
                        "seconds": f"{m.seconds:.3g}",
                        "success": m.success,
                        "status": m.status,
                    }
                rows[key(row)] = row
                print(*(row.get(f, "") for f in FIELDS[1:]), f"{time.perf_counter() - start:.1f} s", flush=True)
        write(options.csv, rows)
    worker.close()


if __name__ == "__main__":
    main()
