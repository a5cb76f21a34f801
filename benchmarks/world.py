"""Worlds: time per step of each stage (detect, assemble, solve, advance); `peers.py` puts other engines beside them.

    python benchmarks/world.py

Scenes: a box at rest, a tower of 10 boxes, a pyramid wall of 55 boxes, and piles of 200 and 1000 spheres.
"""

import time
import warnings

import stiction as st
from scenes import DT, box_scene, sphere_scene, tower, wall
from stiction.solvers import make_solver


def stages(world, *, settle, steps, tol, solver="auto"):
    """Seconds per step of each stage after `settle` seconds, contacts, and the worst residual and penetration."""
    scheme = st.AnitescuHart()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim = st.Simulator(world, DT, scheme=scheme, solver=solver, tol=tol, on_failure="continue")
    sim._loop = None  # a step that repeats itself is computed all the same
    while sim.time < settle:
        sim.step()
    model, chosen = sim.system, make_solver(solver)
    spent = dict.fromkeys(("detect", "assemble", "solve", "whole step"), 0.0)
    contacts, residual, depth = 0, 0.0, 0.0
    for _ in range(steps):
        state, clock = sim.state, time.perf_counter
        t0 = clock()
        model.detect(state.t, state.q, scheme.band(model, state, DT))
        t1 = clock()
        problem = scheme.probe(model, state, DT)
        t2 = clock()
        chosen.solve(problem, tol=tol, p0=problem.p_warm)
        t3 = clock()
        result = sim.step()
        t4 = clock()
        spent["detect"] += t1 - t0
        spent["assemble"] += (t2 - t1) - (t1 - t0)
        spent["solve"] += t3 - t2
        spent["whole step"] += t4 - t3
        contacts = max(contacts, len(result.contacts))
        residual = max(residual, result.solution.certificate.error)
        depth = max(depth, result.certificate.penetration)
    # what is left of a step: new state, certificate of the step, record of the contacts
    whole = spent.pop("whole step")
    spent["advance"] = max(0.0, whole - sum(spent.values()))
    spent["whole step"] = whole
    return {name: value / steps for name, value in spent.items()}, contacts, residual, depth


SCENES = (
    ("box at rest", box_scene(tower(1)), {"settle": 0.05, "steps": 50, "tol": 1e-6}),
    ("tower of 10", box_scene(tower(10)), {"settle": 0.05, "steps": 50, "tol": 1e-6}),
    ("wall of 55", box_scene(wall()), {"settle": 0.05, "steps": 10, "tol": 1e-4}),
    ("200 spheres", sphere_scene(200), {"settle": 1.5, "steps": 20, "tol": 1e-4}),
    ("1000 spheres", sphere_scene(1000), {"settle": 1.5, "steps": 10, "tol": 1e-3}),
)


def main():
    print("milliseconds per step; residual and penetration are the largest over the timed steps")
    head = f"{'scene':<14s} {'contacts':>8s} {'detect':>8s} {'assemble':>8s} {'solve':>8s} {'advance':>8s} {'step':>8s}"
    print(f"{head} {'residual':>9s} {'depth [m]':>9s}")
    for name, world, options in SCENES:
        spent, contacts, residual, depth = stages(world, **options)
        cells = " ".join(f"{1e3 * seconds:8.3f}" for seconds in spent.values())
        print(f"{name:<14s} {contacts:8d} {cells} {residual:9.1e} {depth:9.1e}", flush=True)


if __name__ == "__main__":
    main()
