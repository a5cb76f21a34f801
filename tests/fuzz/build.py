"""Random worlds: bodies of every shape over the ground, joints, drives, springs, laws, schemes and solvers, by seed."""

from __future__ import annotations

import numpy as np

import stiction as st
from stiction import Polyhedral, Rolling, Torsional


def direction(rng, dim):
    v = rng.normal(size=dim)
    return v / np.linalg.norm(v)


def random_shape(rng, dim, curved=False):
    """A shape of about half a metre; `curved`: also those whose contacts are found by search."""
    size = rng.uniform(0.1, 0.5)
    kind = rng.integers(6 if curved else 3) if dim == 3 else rng.integers(4 if curved else 3)
    if dim == 3:
        return [
            lambda: st.Sphere(size),
            lambda: st.Box(tuple(2 * size * rng.uniform(0.3, 1.0, 3))),
            lambda: st.Capsule(0.5 * size, size),
            lambda: st.Cylinder(size * rng.uniform(0.3, 1.0), size),
            lambda: st.Ellipsoid(tuple(size * rng.uniform(0.3, 1.0, 3))),
            lambda: st.ConvexHull(size * rng.uniform(-1, 1, (int(rng.integers(6, 20)), 3))),
        ][kind]()
    if kind == 2:
        angle = np.sort(rng.uniform(0, 2 * np.pi, 5)) + np.arange(5) * 1e-3
        return st.Polygon(size * np.column_stack([np.cos(angle), np.sin(angle)]))
    if kind == 3:
        return st.Ellipse(size, size * rng.uniform(0.3, 1.0))
    return st.Disk(size) if kind == 0 else st.Rod(0.4 * size, size)


def random_law(rng, dim):
    """A friction law of worlds that is the same for both bodies."""
    mu, lengths = float(rng.choice([0.0, rng.uniform(0, 1.5)])), rng.uniform(0, 0.3, 2)
    if dim == 2:
        kinds = [Rolling(mu, lengths[0]), Polyhedral(mu, directions=[[1, 0], [-1, 0], [0, 0.1], [0, -0.1]])]
        return kinds[rng.integers(2)]
    er = 10 ** rng.uniform(-3, 0)
    return [
        lambda: Torsional(mu, er=er),
        lambda: st.Mixed(mu, er=er),
        lambda: Rolling(mu, lengths[0]),
        lambda: Rolling(mu, *lengths),
        lambda: Polyhedral(mu, directions=Torsional(1.0, er=er).directions(3, 6)),
    ][rng.integers(5)]()


def random_axis_law(rng):
    """A friction law with an axis, of the first of two bodies in space."""
    mu, axis, er = rng.uniform(0, 1.5, 2), direction(rng, 3), 10 ** rng.uniform(-3, 0)
    return [
        lambda: st.Anisotropic(*mu, axis=axis),
        lambda: st.Anisotropic(0.0, mu[1], axis=axis),
        lambda: Torsional(mu[0], 1.0, 0.1 + mu[1], er, axis=axis),
        lambda: st.Mixed(mu[0], 1.0, 0.1 + mu[1], er, axis=axis),
        lambda: Polyhedral(mu[0], directions=rng.normal(size=(4, 2)), axis=axis),
    ][rng.integers(5)]()


def random_world(rng, dim, rich=False):
    """A few bodies over the ground, some of them jointed; `rich`: curved shapes, drives, springs, a shaken plate."""
    world = st.World() if dim == 3 else st.PlanarWorld()
    world.set_material("default", friction=float(rng.choice([0.0, rng.uniform(0, 1.5)])))
    world.add_plane()
    if rng.random() < 0.3:
        tilted = direction(rng, dim)
        tilted[-1] = abs(tilted[-1]) + 0.2
        world.add_plane(tilted, -0.2)
    bodies = []
    for i in range(rng.integers(1, 8)):
        place = rng.uniform(-0.6, 0.6, size=dim)
        place[-1] = 0.55 + rng.uniform(0.0, 0.9) * i
        turn = {"orientation": direction(rng, 4)} if dim == 3 else {"angle": rng.uniform(0, 6)}
        if rng.random() < 0.4:
            turn = {}
        spin = rng.normal(size=3) * 5 if dim == 3 else rng.normal() * 5
        turn |= {"velocity": rng.normal(size=dim) * 2, "angular_velocity": spin}
        mass = 10 ** rng.uniform(-2, 2)
        bodies.append(world.add_body(random_shape(rng, dim, rich), mass=mass, position=place, **turn))
    for a, b in zip(bodies[1:], bodies):
        if rng.random() < 0.3:
            add_joint(rng, world, a, b, dim)
        elif rich and rng.random() < 0.5:
            add_drive(rng, world, a, b, dim)
    if rich and rng.random() < 0.3:
        plate = st.Box((4.0, 4.0, 0.1)) if dim == 3 else st.Polygon.box(4.0, 0.1)
        up = np.eye(dim)[-1]
        motion = st.Oscillation(frequency=rng.uniform(1, 10), amplitude=0.05 * up)
        world.add_body(plate, kind="kinematic", position=-0.3 * up, motion=motion)
    if rng.random() < 0.4:
        world.set_material("default", friction=random_law(rng, dim))
    names = [spec.name for spec in world.bodies[1:]]
    for i, a in enumerate(names):
        for b in names[:i]:
            if rng.random() < 0.2:
                law = random_axis_law(rng) if dim == 3 and rng.random() < 0.5 else random_law(rng, dim)
                world.set_contact(*((a, b) if rng.random() < 0.5 else (b, a)), friction=law)
    return world


def add_drive(rng, world, a, b, dim):
    """A joint with limits, motor, friction or compliance, a rope, a coupling or a spring."""
    anchor, axis = rng.uniform(-0.5, 0.5, size=dim), direction(rng, dim)
    options = {}
    if rng.random() < 0.5:
        options["limits"] = (-rng.uniform(0, 1), rng.uniform(0, 1))
    if rng.random() < 0.5:
        options["motor"] = st.Motor(speed=rng.normal() * 5, bound=10 ** rng.uniform(-1, 2))
    if rng.random() < 0.5:
        options["friction"] = 10 ** rng.uniform(-2, 1)
    if rng.random() < 0.3:
        options["compliance"] = 10 ** rng.uniform(-8, -3)
    hinge = {"axis": axis} if dim == 3 else {}
    kind = rng.integers(7 if dim == 3 else 4)
    if kind == 0:
        world.add_joint(st.Revolute(a, b, anchor, **hinge, **options))
    elif kind == 1:
        world.add_joint(st.Prismatic(a, b, axis, **options))
    elif kind == 2:
        world.add_joint(st.Rope(a, b, anchor, anchor + 0.3 * axis, length=0.5))
    elif kind == 3:
        ends = {"anchor_a": anchor, "anchor_b": anchor + 0.3 * axis}
        world.add_spring(a, b, **ends, stiffness=10 ** rng.uniform(0, 6), damping=10 ** rng.uniform(-2, 3))
    elif kind == 4:
        world.add_joint(st.Screw(a, b, anchor, axis, pitch=rng.uniform(0.01, 0.5), **options))
    elif kind == 5:
        world.add_joint(st.Cylindrical(a, b, anchor, axis, **options))
    else:
        across = np.cross(axis, direction(rng, 3))
        world.add_joint(st.Universal(a, b, anchor, axis, across / np.linalg.norm(across)))


def add_joint(rng, world, a, b, dim):
    anchor, axis = rng.uniform(-0.5, 0.5, size=dim), direction(rng, dim)
    make = [
        lambda: st.Fixed(a, b),
        lambda: st.Revolute(a, b, anchor, axis) if dim == 3 else st.Revolute(a, b, anchor),
        lambda: st.Prismatic(a, b, axis),
        lambda: st.Distance(a, b, anchor, anchor + 0.3 * axis),
        lambda: st.Ball(a, b, anchor) if dim == 3 else st.Revolute(a, b, anchor),
    ]
    world.add_joint(make[rng.integers(len(make))]())


def random_choice(rng):
    """Scheme, solver and step."""
    name = str(rng.choice(["auto", "auto", "nsgs", "newton", "conic", "apgd"]))
    scheme = st.AnitescuHart(relaxation="convex") if name in ("conic", "apgd") else st.AnitescuHart()
    if name in ("auto", "nsgs") and rng.random() < 0.3:
        scheme = st.StewartTrinkle()
    return scheme, name, float(10 ** rng.uniform(-4, np.log10(2e-2)))
