"""Hashes of the states and certificates of many scenes: a change that should keep every bit shows here that it does.

    python benchmarks/hashes.py --out before.json          # then change the code
    python benchmarks/hashes.py --against before.json      # names what differs; exit status 1 where anything does

Scenes are those of the loop tests, of `examples/scenes`, of the benchmarks, and single solves of every solver. Each is
stepped by the compiled loop and, for some steps, by Python; with one thread and with `--threads`. `--papers` adds every
number of `stiction reproduce all` (minutes). A hash covers positions, velocities, impulses with their keys, and all
numbers of the last certificate.
"""

import argparse
import hashlib
import json
import runpy
import sys
import warnings
from dataclasses import asdict, is_dataclass
from pathlib import Path

import numpy as np

import stiction as st
from scenes import box_scene, pile, spheres, tower, wall

ROOT = Path(__file__).resolve().parent.parent
SOLVERS = ("auto", "nsgs", "newton", "proximal", "conic", "apgd", "fixed-point", "lemke", "enumeration")
SCHEMES = ("AnitescuHart", "StewartTrinkle", "Moreau", "TzitzourisPang", "Compliant")
STIFF = {"kn": 1e5, "gamma_n": 30.0, "gamma_t": 1e3}  # N/m, N s/m


def digest(*values):
    """A short hash of arrays, numbers, and dataclasses of them."""
    found = hashlib.sha256()

    def take(value):
        if is_dataclass(value) and not isinstance(value, type):
            value = asdict(value)
        if isinstance(value, dict):
            for name in sorted(value):
                take(name)
                take(value[name])
        elif isinstance(value, (tuple, list)):
            for part in value:
                take(part)
        elif isinstance(value, np.ndarray):
            found.update(str(value.shape).encode() + np.ascontiguousarray(value).tobytes())
        else:
            found.update(repr(value).encode())

    take(values)
    return found.hexdigest()[:16]


def of_state(state):
    """What a step starts from."""
    return state.q, state.v, state.keys, state.impulses


def followed(make, steps, **options):
    """The hash of a simulation: compiled steps, then some one by one, with what the last one says of itself."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            made = make()
            sim = made if isinstance(made, st.Simulator) else st.Simulator(made, **options)
            sim.on_failure = "continue"
            sim.advance(steps)
            middle = digest(*of_state(sim.state))
            for _ in range(3):
                last = sim.step()
        except st.StictionError as error:
            return f"{type(error).__name__}: {error}"[:100]
    solves = [(role, s.p, s.v, s.u, s.modes, s.certificate, s.status.name, s.iterations) for role, s in last.solves]
    return f"{middle} {digest(*of_state(last.state), last.certificate, last.contacts, solves)}"


def scenes(large):
    """Names with functions that hash them."""
    tests = runpy.run_path(str(ROOT / "tests" / "simulation" / "test_loop.py"))
    jobs = {}
    for make in tests["SCENES"]:
        for solver in ("auto", "nsgs"):
            name = f"loop {make.__name__} {solver}"
            jobs[name] = lambda make=make, solver=solver: followed(make, 60, dt=0.005, tol=1e-6, solver=solver)
    for scheme in SCHEMES:
        for make in (tests["tower"], tests["disks"]):
            name = f"scheme {scheme} {make.__name__}"
            law = getattr(st, scheme)(**(STIFF if scheme == "Compliant" else {}))
            jobs[name] = lambda make=make, law=law: followed(make, 12, dt=0.005, tol=1e-8, scheme=law)
    for file in sorted((ROOT / "examples" / "scenes").glob("*.toml")):
        jobs[f"scene {file.stem}"] = lambda file=file: followed(lambda: st.read_scene(file).simulator(), 40)
    piles = {
        "pile of 200": lambda: spheres(*pile(200)), "pile of 1000": lambda: spheres(*pile(1000)),
        "wall": lambda: box_scene(wall()), "tower of boxes": lambda: box_scene(tower()),
    }  # fmt: skip
    if large:
        piles |= {"pile of 8000": lambda: spheres(*pile(8000))}
    for name, make in piles.items():
        steps = 20 if "8000" in name else 150
        jobs[name] = lambda make=make, steps=steps: followed(make, steps, dt=0.005, tol=1e-6)
    problem = st.read_fclib(ROOT / "tests" / "solvers" / "data" / "jammed_spheres.hdf5")
    for solver in SOLVERS:
        jobs[f"solve {solver}"] = lambda solver=solver: solved(problem, solver)
    return jobs


def solved(problem, solver):
    """The hash of one solve."""
    try:
        answer = st.solve(problem, solver=solver, tol=1e-6, maxiter=100)
    except st.StictionError as error:
        return f"{type(error).__name__}: {error}"[:100]
    return digest(answer.p, answer.v, answer.u, answer.certificate, answer.status.name, answer.iterations)


def papers():
    """Every number of the experiments."""
    from stiction.papers import experiments

    for name, experiment in experiments().items():
        outcome = experiment.run()
        yield f"paper {name}", digest([(q.name, float(q.ours)) for q in outcome.quantities], dict(outcome.certificate))


def main():
    """Hash, write, compare."""
    from stiction.runtime import jit as _jit

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="write the hashes here")
    parser.add_argument("--against", type=Path, help="compare with the hashes of this file")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", default="", help="names that contain this")
    parser.add_argument("--large", action="store_true", help="a pile of 8000 spheres too")
    parser.add_argument("--papers", action="store_true", help="all experiments of the papers too")
    options = parser.parse_args()
    from stiction.simulation import loop

    loop.COMPILE_MIN_STEPS = 0
    before = json.loads(options.against.read_text()) if options.against else {}
    found, differ = {}, []

    def note(name, value):
        found[name] = value
        word = "" if name not in before else "same" if before[name] == value else f"DIFFERS, was {before[name]}"
        differ.extend([name] if word.startswith("DIFFERS") else [])
        print(f"{name:<44s} {value} {word}", flush=True)

    for threads in options.threads:
        _jit.set_num_threads(threads)
        for name, job in scenes(options.large).items():
            if options.only in name:
                note(f"{name}, {threads} thread{'s' * (threads > 1)}", job())
    if options.papers:
        for name, value in papers():
            note(name, value)
    if options.out:
        options.out.write_text(json.dumps(found, indent=1))
    if before:
        print(f"{len(differ)} of {len(found)} differ" + "".join(f"\n  {name}" for name in differ))
    sys.exit(bool(differ))


if __name__ == "__main__":
    main()
