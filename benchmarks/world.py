"""Worlds: time per step of each stage (detect, assemble, solve, advance), alone and beside other engines.

    python benchmarks/world.py [--peers]

Scenes: a box at rest, a tower of 10 boxes, a pyramid wall of 55 boxes, and piles of 200 and 1000 spheres. With --peers,
MuJoCo, PyBullet and DART run the same scenes where they are installed (dependency group `bench`), and ratios are
printed.
"""

import argparse
import time
import warnings

import numpy as np

import stiction as st
from stiction.solvers import make_solver

DT = 0.005


def box_scene(places, size=1.0):
    world = st.World()
    world.add_plane()
    for place in places:
        world.add_body(st.Box((size,) * 3), mass=1.0, position=place)
    return world


def tower(n=10):
    return [(0.0, 0.0, 0.5 + i) for i in range(n)]


def wall(rows=10):
    return [(k - (rows - 1 - r) / 2, 0.0, 0.5 + r) for r in range(rows) for k in range(rows - r)]


def sphere_places(n, radius=0.05, seed=0):
    """A jittered lattice above a square box of about ten spheres' width for 200, wider for more."""
    rng = np.random.default_rng(seed)
    side = max(4, round((n / 3) ** (1 / 3) * 1.2))
    pitch = 2.3 * radius
    grid = [(i, j, k) for k in range(n) for j in range(side) for i in range(side)][:n]
    places = (np.array(grid) - [(side - 1) / 2, (side - 1) / 2, -1]) * pitch
    return places + rng.uniform(-0.1, 0.1, places.shape) * radius, 0.5 * side * pitch + radius


def sphere_scene(n, radius=0.05):
    places, half = sphere_places(n, radius)
    world = st.World()
    world.add_plane()
    for axis in (0, 1):
        for sign in (1.0, -1.0):
            normal = np.zeros(3)
            normal[axis] = sign
            world.add_plane(normal, -half)
    for place in places:
        world.add_body(st.Sphere(radius), density=1000.0, position=place)
    return world


def stages(world, *, settle, steps, tol, solver="auto"):
    """Seconds per step of each stage after `settle` seconds, contacts, and the worst residual and penetration."""
    scheme = st.AnitescuHart()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim = st.Simulator(world, DT, scheme=scheme, solver=solver, tol=tol, on_failure="accept")
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


def _timed(step, *, settle, steps):
    """Milliseconds per call of `step` after the scene has settled."""
    for _ in range(int(settle / DT)):
        step()
    start = time.perf_counter()
    for _ in range(steps):
        step()
    return 1e3 * (time.perf_counter() - start) / steps


def _walls(places):
    """Normals and offsets of the four walls around a pile of spheres."""
    _, half = sphere_places(len(places))
    return [((sx, sy, 0.0), half) for sx, sy in ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))]


def mujoco_time(kind, places, **timing):
    import mujoco

    shape = 'type="box" size="0.5 0.5 0.5" mass="1"' if kind == "box" else 'type="sphere" size="0.05" density="1000"'
    walls = ""
    for (x, y, _), half in _walls(places) if kind == "sphere" else ():
        walls += f'<geom type="plane" size="5 5 1" pos="{-x * half} {-y * half} 0" zaxis="{x} {y} 0"/>'
    bodies = "".join(f'<body pos="{x} {y} {z}"><freejoint/><geom {shape}/></body>' for x, y, z in places)
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{DT}" cone="elliptic"/><default><geom friction="0.5 0 0"/></default>
        <worldbody><geom type="plane" size="50 50 1"/>{walls}{bodies}</worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    return _timed(lambda: mujoco.mj_step(model, data), **timing)


def pybullet_time(kind, places, **timing):
    import pybullet as bullet

    client = bullet.connect(bullet.DIRECT)
    bullet.setGravity(0, 0, -9.81)
    bullet.setTimeStep(DT)
    planes = [((0.0, 0.0, 1.0), 0.0), *(_walls(places) if kind == "sphere" else ())]
    fixed = [
        bullet.createMultiBody(
            0, bullet.createCollisionShape(bullet.GEOM_PLANE, planeNormal=n), -1, [-d * c for c in n]
        )
        for n, d in planes
    ]
    if kind == "box":
        shape, mass = bullet.createCollisionShape(bullet.GEOM_BOX, halfExtents=[0.5] * 3), 1.0
    else:
        shape, mass = bullet.createCollisionShape(bullet.GEOM_SPHERE, radius=0.05), 1000 * 4 / 3 * np.pi * 0.05**3
    bodies = [bullet.createMultiBody(mass, shape, -1, list(map(float, p))) for p in places]
    for body in (*fixed, *bodies):
        bullet.changeDynamics(body, -1, lateralFriction=np.sqrt(0.5), restitution=0.0, activationState=0)
    result = _timed(bullet.stepSimulation, **timing)
    bullet.disconnect(client)
    return result


def dart_time(kind, places, **timing):
    import dartpy as dart

    world = dart.simulation.World()
    world.setTimeStep(DT)
    world.setGravity([0, 0, -9.81])
    if kind == "sphere":
        return None  # DART takes about a second per step here
    ground = dart.dynamics.Skeleton("ground")
    _, node = ground.createWeldJointAndBodyNodePair()
    slab = node.createShapeNode(dart.dynamics.BoxShape([100, 100, 1]))
    slab.createCollisionAspect()
    slab.createDynamicsAspect().setFrictionCoeff(0.5)
    slab.setRelativeTranslation([0, 0, -0.5])
    world.addSkeleton(ground)
    for i, place in enumerate(places):
        skeleton = dart.dynamics.Skeleton(f"box {i}")
        joint, node = skeleton.createFreeJointAndBodyNodePair()
        shape = node.createShapeNode(dart.dynamics.BoxShape([1, 1, 1]))
        shape.createCollisionAspect()
        shape.createDynamicsAspect().setFrictionCoeff(0.5)
        joint.setPositions([0, 0, 0, *map(float, place)])
        world.addSkeleton(skeleton)
    return _timed(world.step, **timing)


PEERS = {"MuJoCo": mujoco_time, "PyBullet": pybullet_time, "DART": dart_time}


def peer_time(name, kind, places, **timing):
    """Milliseconds per step of another engine on the same bodies, or None where it is not installed or not asked."""
    try:
        return PEERS[name](kind, places, **timing)
    except ImportError:
        return None


SCENES = (
    ("box at rest", "box", tower(1), {"settle": 0.05, "steps": 50, "tol": 1e-6}),
    ("tower of 10", "box", tower(10), {"settle": 0.05, "steps": 50, "tol": 1e-6}),
    ("wall of 55", "box", wall(), {"settle": 0.05, "steps": 10, "tol": 1e-4}),
    ("200 spheres", "sphere", sphere_places(200)[0], {"settle": 1.5, "steps": 20, "tol": 1e-4}),
    ("1000 spheres", "sphere", sphere_places(1000)[0], {"settle": 1.5, "steps": 10, "tol": 1e-3}),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peers", action="store_true", help="run other engines on the same scenes where installed")
    peers = parser.parse_args().peers
    print("milliseconds per step; residual and penetration are the largest over the timed steps; (ratio ours / theirs)")
    head = f"{'scene':<14s} {'contacts':>8s} {'detect':>8s} {'assemble':>8s} {'solve':>8s} {'advance':>8s} {'step':>8s}"
    print(f"{head} {'residual':>9s} {'depth [m]':>9s}" + "".join(f" {name:>17s}" for name in PEERS if peers))
    for name, kind, places, options in SCENES:
        world = box_scene(places) if kind == "box" else sphere_scene(len(places))
        spent, contacts, residual, depth = stages(world, **options)
        cells = " ".join(f"{1e3 * seconds:8.3f}" for seconds in spent.values())
        line = f"{name:<14s} {contacts:8d} {cells} {residual:9.1e} {depth:9.1e}"
        for peer in PEERS if peers else ():
            theirs = peer_time(peer, kind, places, settle=options["settle"], steps=options["steps"])
            ratio = None if theirs is None else 1e3 * spent["whole step"] / theirs
            line += f" {'-':>17s}" if theirs is None else f" {theirs:8.3f} ({ratio:6.1f})"
        print(line, flush=True)


if __name__ == "__main__":
    main()
