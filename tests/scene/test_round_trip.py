"""A world becomes a scene and runs to the same bits; what only Python knows is refused by name."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import stiction as st
from stiction.scene import parse_scene

ROOT = Path(__file__).parents[2]


def example(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tilted():
    """Every shape in space, at odd poses, with odd friction, above a tilted plane."""
    world = st.World(gravity=(0.1, -0.2, -9.7))
    world.set_material("rubber", friction=0.9)
    world.set_material("ice", friction=st.Coulomb(st.Stribeck(0.1, 0.05, speed=0.02, viscous=0.3)))
    world.set_material("felt", friction=st.Rolling(0.3, 0.01, 0.002))
    floor = world.add_plane((0.1, 0.2, 1.0), -0.3, name="slope", material="rubber")
    rng = np.random.default_rng(3)
    cube = st.Mesh(
        np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * 0.2,
        [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
         [1, 5, 7], [1, 7, 3]],
        position=(0.1, 0, 0), orientation=(3, 1, 1, 2),
    )  # fmt: skip
    shapes = [
        st.Sphere(0.1, position=(0.01, 0.02, 0.03)), st.Box((0.2, 0.3, 0.1), orientation=(0.3, 0.1, 0.2, 0.9)),
        st.Capsule(0.05, 0.3, orientation=(1, 1, 0, 0)), st.Cylinder(0.1, 0.2), st.Ellipsoid((0.1, 0.2, 0.15)),
        st.ConvexHull(rng.normal(size=(12, 3)) * 0.1), cube, [st.Sphere(0.1), st.Sphere(0.08, position=(0.15, 0, 0))],
    ]  # fmt: skip
    made = []
    for i, shape in enumerate(shapes):
        made.append(world.add_body(
            shape, density=700.0 + i, position=rng.normal(size=3) * 0.1 + [0.6 * i, 0, 0.6],
            orientation=rng.normal(size=4), velocity=rng.normal(size=3), angular_velocity=rng.normal(size=3),
            name=f"part {i}", material=["default", "rubber", "ice", "felt"][i % 4], group="a" if i in (2, 3) else None,
        ))  # fmt: skip
    world.set_contact("ice", "rubber", friction=0.07)
    world.set_contact("ice", "default", friction=0.2)
    for other in ("default", "rubber", "ice"):
        world.set_contact("felt", other, friction=st.Rolling(0.2, 0.003))
    world.set_contact(made[1], floor, friction=st.Anisotropic(0.2, 0.7, axis=(1, 2, 3)))
    world.set_contact(made[4], floor, friction=st.Torsional(st.Stribeck(0.4, 0.3, speed=0.1), er=0.02))
    world.set_contact(made[5], floor, friction=st.Mixed(0.4, et=0.5, eo=0.8, er=0.01, axis=(0.3, 0.4, 1)))
    world.set_contact(
        made[6], floor, friction=st.Polyhedral(0.4, directions=[[1, 0], [-0.5, 0.9], [-0.5, -0.9]], axis=(1, 0, 0))
    )
    world.set_contact(
        made[7], floor, friction=st.Polyhedral(0.5, facets=(np.vstack([np.eye(2), -np.eye(2)]), [1, 1, 1, 1.0]))
    )
    world.exclude(made[0], made[7])
    world.add_force(made[0], (1.0, 0.0, 2.0), torque=(0, 0, 0.1), point=(0.1, 0, 0))
    world.add_spring(made[1], made[2], stiffness=50.0, damping=1.0, anchor_a=(0.6, 0, 0.6), anchor_b=(1.2, 0.1, 0.6))
    return world


def machine():
    """Joints with limits, motors, friction and springs, and bodies that move by themselves."""
    world = st.World()
    arm = world.add_body(st.Box((0.5, 0.1, 0.1)), mass=1.3, position=(0.25, 0, 1), name="arm")
    hand = world.add_body(
        st.Sphere(0.1), mass=0.3, inertia=(0.002, 0.003, 0.004), com=(0.01, 0, 0), position=(0.5, 0, 1)
    )
    hinge = world.add_joint(st.Revolute(
        arm, None, (0, 0, 1), (0, 1, 0.1), limits=(None, 0.5), friction=0.05, compliance=1e-6,
        motor=st.Motor(position=0.3, bound=5.0, time=0.2), name="shoulder",
    ))  # fmt: skip
    world.add_joint(st.Universal(hand, arm, (0.5, 0, 1), (0, 1, 0), (0, 0, 1)))
    world.add_spring(hinge, stiffness=3.0, damping=0.1, rest=-0.2)
    nut = world.add_body(
        st.Cylinder(0.05, 0.1), density=7800.0, position=(2, 0, 0.5), angular_velocity=(0, 0, 3), name="nut"
    )
    world.add_joint(st.Screw(nut, None, anchor=(2, 0, 0.5), axis=(0, 0, 1), pitch=0.01, limits=(-1.0, 40.0)))
    one = world.add_body(st.Sphere(0.2), mass=1.0, position=(0, 3, 1))
    two = world.add_body(st.Sphere(0.2), mass=1.0, position=(1, 3, 1), angular_velocity=(0, 0.1, 1))
    for body, x in ((one, 0), (two, 1)):
        world.add_joint(st.Revolute(body, None, anchor=(x, 3, 1), axis=(0, 0, 1)))
    world.add_joint(st.Gear(one, two, -1.5, axis_a=(0, 0, 1)))
    bob = world.add_body(st.Sphere(0.1), mass=1.0, position=(3, 3, 1), velocity=(1, 0, 0))
    world.add_joint(st.Rope(bob, None, anchor_a=(3, 3, 1), anchor_b=(3, 3, 2), length=1.1))
    table = world.add_body(
        st.Box((1, 1, 0.1)), kind="kinematic", position=(5, 0, 0), motion=st.Oscillation(3.0, (0, 0, 0.01))
    )
    world.add_body(st.Box((0.2, 0.2, 0.2)), mass=1.0, position=(5, 0, 0.151), name="rider")
    world.set_contact("rider", table, friction=0.3)
    wheel = st.Rotation(rate=2.0, axis=(0, 0, 1), center=(7, 0, 0))
    world.add_body(st.Sphere(0.1), kind="kinematic", position=(7.5, 0, 0), motion=wheel, name="wheel")
    way = st.Table([0.0, 0.1, 0.3], positions=[[9, 0, 0], [9, 1, 0], [9, 1, 2]], angles=[0, 1, 2], axis=(1, 0, 0))
    world.add_body(st.Sphere(0.1), kind="kinematic", position=(9, 0, 0), motion=way, name="cart")
    world.add_body(st.Sphere(0.1), kind="kinematic", position=(11, 0, 0), velocity=(1, 0, 0.3), name="train")
    return world


def flat():
    """Every shape in the plane."""
    world = st.PlanarWorld()
    world.set_material("default", friction=0.3)
    world.add_half_plane((0.1, 1.0), -0.2, name="ground")
    world.add_body(st.Segment((0, 0), (1, 0.3)), kind="fixed", position=(4, 0.5), angle=0.3)
    shapes = [st.Disk(0.2), st.Ellipse(0.3, 0.1, angle=0.2), st.Rod(0.05, 0.4, angle=0.4), st.Polygon.box(0.3, 0.2)]
    for i, shape in enumerate(shapes):
        world.add_body(
            shape, mass=1.0 + i, position=(i, 0.9), angle=0.3 * i, velocity=(0.1, i), angular_velocity=-0.5 * i
        )
    world.add_body(st.Polygon([[0, 0], [0, 0.3], [0.2, 0]]), mass=1.0, com=(0.1, 0.05), inertia=0.02, position=(6, 1))
    world.set_contact("body1", "ground", friction=st.Rolling(0.4, 0.01))
    world.set_contact("body3", "ground", friction=0.2, compliance=st.Compliance(1e4, gamma_n=10.0))
    return world


def elastic():
    """Springs at contacts, with numbers of their own and by default."""
    world = flat()
    world.set_contact("body2", "ground", friction=0.2, compliance=st.Elastic(1e5, damping=3.0))
    world.set_contact("body4", "ground", friction=0.2, compliance=st.Elastic(1e5, 7e4))
    return world


def bouncing():
    """Restitution in every form."""
    world = st.PlanarWorld()
    world.add_half_plane((0.0, 1.0), 0.0, name="ground")
    laws = [
        0.5,
        st.NewtonImpact(0.6),
        st.PoissonImpact(st.Fading(0.7, 0.1)),
        st.StrongeImpact(0.8),
        st.Fading(0.9, 0.2),
    ]
    for i, law in enumerate(laws):
        world.add_body(st.Disk(0.1), mass=1.0, position=(i, 0.15), velocity=(0.1 * i, -1.0), name=f"ball{i}")
        world.set_contact(f"ball{i}", "ground", friction=0.3, restitution=law)
    return world


def st96():
    from stiction.papers.st96_balls import balls

    return balls(4)


def billiards():
    from stiction.papers.s00_billiards import table

    return table()


WORLDS = {
    "tilted": (tilted, 0.01, {}, 40),
    "machine": (machine, 0.005, {}, 60),
    "flat": (flat, 0.01, {}, 60),
    "bouncing": (bouncing, 0.01, {"scheme": st.Moreau()}, 30),
    "elastic": (elastic, 0.01, {}, 20),
    "compliant": (flat, 0.01, {"scheme": st.Compliant(1e5, 20.0, 1e3, rtol=1e-6)}, 20),
    "slider crank": (lambda: example("slider_crank").build()[0], 0.002, {"tol": 1e-8}, 100),
    "geneva": (lambda: example("geneva").build(), 0.002, {}, 30),
    "st96": (st96, 0.02, {"scheme": st.StewartTrinkle(nonlinear=True), "solver": "lemke", "tol": 1e-8}, 30),
    "billiards": (billiards, 0.01, {"scheme": st.Moreau(impact="poisson", directions=8), "solver": "lemke"}, 50),
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in ("machine", "flat", "bouncing") else pytest.mark.long) for n in WORLDS]
)
def test_a_world_round_trips_to_the_same_bits(name):
    build, h, options, steps = WORLDS[name]
    world = build()
    simulator = st.Simulator(world, h, **options)
    scene = world.to_scene(simulator, duration=steps * h)
    again = parse_scene(scene.text)  # through the text, as a file would
    assert again.text == scene.text
    assert again.world.to_scene(again.simulator(), duration=steps * h).text == scene.text
    first = simulator.run(steps * h, progress=False)
    second = again.simulator().run(again.duration, progress=False)
    assert len(first) == steps + 1
    assert np.array_equal(first.q, second.q)
    assert np.array_equal(first.v, second.v)
    assert np.array_equal(first.table.impulse, second.table.impulse)
    assert first.info["scheme"] == second.info["scheme"]


def ball(world, **options):
    return world.add_body(st.Sphere(0.1), **{"mass": 1.0, "name": "ball", **options})


def restitution_of_speed(world):
    ball(world)
    world.set_material("default", friction=0.1, restitution=lambda speed: 0.5)


def friction_of_speed(world):
    ball(world)
    world.set_material("default", friction=st.Coulomb(lambda speed: 0.5))


def moved_by_python(world):
    ball(world, kind="kinematic", mass=None, motion=lambda t: (0, 0, t))


def pushed_by_python(world):
    ball(world)
    world.add_force("ball", lambda t, state: (0, 0, 1))


def driven_by_python(world):
    motor = st.Motor(speed=lambda t: t, bound=1.0)
    world.add_joint(st.Revolute(ball(world), None, (0, 0, 0), (0, 0, 1), motor=motor, name="axle"))


def set_by_python(world):
    ball(world)
    world.set_material("default", friction=st.ConvexSet(0.3, gauge=lambda f: float(np.linalg.norm(f))))


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (restitution_of_speed, "restitution of material 'default' is a Python function"),
        (friction_of_speed, "friction of material 'default' depends on speed by a Python function"),
        (moved_by_python, "motion of body 'ball' is a Python function"),
        (pushed_by_python, "the force on body 'ball' is a Python function"),
        (driven_by_python, "the target of the motor of joint 'axle' is a Python function"),
        (set_by_python, "friction of material 'default' is a ConvexSet written in Python"),
    ],
)
def test_what_only_python_knows_is_refused_by_name(build, words):
    world = st.World()
    build(world)
    with pytest.raises(st.SceneError, match=words):
        world.to_scene()
