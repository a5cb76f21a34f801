"""Structures of many bodies: what stands, what falls, and what each step costs.

    python benchmarks/structures.py                              # every scene but the long ones
    python benchmarks/structures.py --scene tower --seconds 600  # 60 000 steps of 10 ms
    python benchmarks/structures.py --scene walls arches mail pile --csv FILE

tower     40 layers of planks, 632 contacts, at dt 10 ms for `--seconds` (by default 20)
walls     one step from zero impulses, to 1e-8, of walls of 55 and 210 boxes: rigid, and of stone (young 50 GPa)
arches    25, 101, 501 and 951 stones, 1 % thicker and 1 % thinner than statics says, for `--seconds` (10)
cards     a house of three storeys, 1 % above and 1 % below the least friction of statics
dominoes  a row of 100, pushed
mail      32 × 32 links, held at the frame, let go
pile      one step from zero impulses, to 1e-8, of the 2048 spheres in STICTION_PILES, without rotation, young 50 GPa

Every row is a process of its own with one thread; compiling is not counted. Every step is computed, also those that
end where they began, which a run would replay. `drift` is the largest displacement of a body; `residual` the worst
scaled natural map of all steps; `accepted` counts the steps between `tol` and what a default run goes on with,
`regular` those that were solved with a little compliance in every contact. A step that misses that too stops the run,
and the row says so. `slowest` is the mean of the slowest stretch of steps between two reports of progress. `tol` is
`--tol` (1e-6 as in a default run), and 1e-8, with nothing accepted above it, where one step is measured.
"""

import argparse
import csv
import os
import time
import warnings
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import stiction as st

FIELDS = (
    "scene", "bodies", "contacts", "dt", "steps", "tol", "statics", "ends", "drift_m", "residual", "accepted",
    "regularised", "ms_per_step", "slowest_ms", "message",
)  # fmt: skip
STONE = {"young": 50e9, "poisson": 0.25}
structures = st.structures


def tower():
    """The tower of planks."""
    return structures.plank_tower(40), 0.01


def wall(rows, elastic):
    """A wall of boxes of 1 m and 1 kg, each row one shorter."""
    world = structures.wall(rows, rows, size=(1, 1, 1), ends="stepped", density=1.0, friction=0.5)
    if elastic:
        world.set_material("wall", friction=0.5, **STONE)
    return world, 0.005


def arch(stones, factor):
    """An arch of `factor` times the least thickness."""
    return structures.arch(stones, factor * structures.least_thickness(stones)), 0.005


def cards(factor):
    """A house of cards with `factor` times the least friction."""
    least = st.analysis.statics(structures.card_house(3)).least_friction
    return structures.card_house(3, friction=factor * least), 0.002


def dominoes():
    """A hundred dominoes in the plane."""
    return structures.dominoes(100, push=4.0, friction=0.2), 0.001


def mail(links):
    """A sheet of chain mail."""
    return structures.chain_mail(links, links, held="frame"), 0.001


def pile(file, dt):
    """The spheres of a VTK file in the box [0, 10]³, without rotation: their inertia is a million times their own."""
    data = {a.get("Name"): a for a in ElementTree.parse(file).getroot().iter("DataArray")}
    places = np.fromstring(next(ElementTree.parse(file).getroot().iter("DataArray")).text, sep=" ").reshape(-1, 3)
    radii, masses = (np.fromstring(data[name].text, sep=" ") for name in ("radius", "mass"))
    velocity = np.fromstring(data["velocity"].text, sep=" ").reshape(-1, 3)
    world = st.World(gravity=(0.0, 0.0, -10.0))
    world.set_material("default", friction=0.4, **STONE)
    for axis in np.eye(3):
        world.add_plane(axis, 0.0)
        world.add_plane(-axis, -10.0)
    for x, r, m, v in zip(places, radii, masses, velocity):
        world.add_body(st.Sphere(r), mass=m, position=x, velocity=v, inertia=1e6 * 0.4 * m * r**2)
    return world, dt


def scenes(options):
    """{name: (builder, its arguments, seconds, tol, whether one step is measured)} of the parts that are asked for."""
    found = {}

    def add(part, name, build, *arguments, seconds=0.0, tol=options.tol, one=False):
        if part in options.scene:
            given = options.seconds if options.seconds is not None and not one else seconds
            found[name] = (build, arguments, given, tol, tol if one else options.accept, one)

    add("tower", "tower of planks", tower, seconds=20.0)
    for rows in (10, 20):
        for elastic in (False, True):
            kind = "stone" if elastic else "rigid"
            add("walls", f"wall of {rows * (rows + 1) // 2}, {kind}", wall, rows, elastic, tol=1e-8, one=True)
    for stones in options.stones:
        for factor in (1.01, 0.99):
            add("arches", f"arch of {stones}, {factor:g} t", arch, stones, factor, seconds=10.0)
    for factor in (1.01, 0.99):
        add("cards", f"house of cards, {factor:g} µ", cards, factor, seconds=2.0)
    add("dominoes", "100 dominoes", dominoes, seconds=3.0)
    add("mail", f"mail {options.links} × {options.links}", mail, options.links, seconds=0.3)
    folder = os.environ.get("STICTION_PILES")
    for file in sorted(Path(folder).glob("*.vtu")) if folder else []:
        for dt in (0.001, 0.005, 0.01):
            add("pile", f"{file.stem}, {1e3 * dt:g} ms", pile, file, dt, tol=1e-8, one=True)
    return found


def measure(name, build, arguments, seconds, tol, accept, one):
    """One row, in a process of its own."""
    from stiction.runtime import jit as _jit
    from stiction.simulation import loop

    _jit.set_num_threads(1)
    loop.COMPILE_MIN_STEPS = 0
    warnings.simplefilter("ignore")
    world, dt = build(*arguments)
    st.Simulator(_small(name), dt, tol=tol, on_failure="continue").run(5 * dt)  # compile
    found = st.analysis.statics(world)
    judged = "" if found.contacts == 0 else "stands" if found.stands else "falls"
    sim = st.Simulator(world, dt, tol=tol, accept=accept)
    if sim._loop is not None:
        sim._loop.replay = False
    acting = sim.scheme.probe(sim.system, sim.state, dt).nk
    start, slowest, last = time.process_time(), 0.0, time.process_time()

    def look(steps, result, between):
        nonlocal last, slowest
        now = time.process_time()
        slowest, last = max(slowest, (now - last) / max(steps, 1)), now

    steps = 1 if one else round(seconds / dt)
    stopped = ""
    try:
        run = sim.run(steps * dt, every=max(1, steps // 200), progress=look)
    except st.SolverError as error:
        stopped, run = str(error), error.trajectory
    spent = time.process_time() - start
    moving = [b.name for b in world.bodies if b.kind == "dynamic"]
    drift = max(float(np.linalg.norm(run.position(b) - run.position(b)[0], axis=1).max()) for b in moving)
    certificate = run.certificate
    ends = "" if one else "moves" if drift > 1e-3 else "stands"
    return {
        "scene": name, "bodies": len(moving), "contacts": acting, "dt": dt, "steps": run.steps, "tol": tol,
        "statics": judged, "ends": ends, "drift_m": drift, "residual": float(np.max(certificate["scaled_map"])),
        "accepted": certificate.accepted, "regularised": certificate.regularised,
        "ms_per_step": 1e3 * spent / max(run.steps, 1), "slowest_ms": 1e3 * slowest, "message": stopped,
    }  # fmt: skip


def _small(name):
    """A world with the kernels of a scene."""
    if name.startswith("tower"):
        return structures.plank_tower(3)
    if name.startswith("wall"):
        return wall(2, name.endswith("stone"))[0]
    if name.startswith("mail"):
        return structures.chain_mail(4, 4, held="frame")
    if name.startswith(("arch", "house", "100")):
        return structures.arch(5, 0.2)
    world = st.World()
    world.set_material("default", friction=0.4, **STONE)
    world.add_plane()
    for k in range(2):
        world.add_body(st.Sphere(0.1), mass=1.0, position=(0.0, 0.0, 0.1 + 0.2 * k))
    return world


def main():
    """Measure, print, write."""
    parts = ["tower", "walls", "arches", "cards", "dominoes", "mail", "pile"]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scene", nargs="+", default=parts, choices=parts)
    parser.add_argument("--seconds", type=float, help="simulated, of scenes that run")
    parser.add_argument("--stones", type=int, nargs="+", default=[25, 101, 501, 951])
    parser.add_argument("--links", type=int, default=32, help="per side of the sheet of mail")
    parser.add_argument("--tol", type=float, default=1e-6, help="of scenes that run")
    parser.add_argument("--accept", type=float, help="of scenes that run; by default as in a default run")
    parser.add_argument("--csv", type=Path, help="add the measurements to this file")
    options = parser.parse_args()
    print(
        f"{'scene':<24s} {'bodies':>6s} {'contacts':>8s} {'steps':>6s} {'statics':>7s} {'ends':>7s} {'drift m':>8s} "
        f"{'residual':>8s} {'accepted':>8s} {'regular':>7s} {'ms/step':>9s} {'slowest':>9s}"
    )
    for name, what in scenes(options).items():
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            row = pool.submit(measure, name, *what).result()
        how = "  STOPPED" if row["message"] else ""
        print(
            f"{name:<24s} {row['bodies']:6d} {row['contacts']:8d} {row['steps']:6d} {row['statics']:>7s} "
            f"{row['ends']:>7s} {row['drift_m']:8.1e} {row['residual']:8.1e} {row['accepted']:8d} "
            f"{row['regularised']:7d} {row['ms_per_step']:9.2f} {row['slowest_ms']:9.2f}{how}",
            flush=True,
        )
        if options.csv:
            new = not options.csv.exists()
            with options.csv.open("a", newline="") as file:
                writer = csv.DictWriter(file, FIELDS)
                if new:
                    writer.writeheader()
                writer.writerow({k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()})


if __name__ == "__main__":
    main()
