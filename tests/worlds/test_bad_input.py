"""Bad input is refused with a ModelError that names the culprit."""

import math

import numpy as np
import pytest

import stiction as st

NAN, INF = math.nan, math.inf


def refused(words):
    return pytest.raises(st.ModelError, match=words)


@pytest.mark.parametrize("mass", [0, -1.0, NAN, INF, "heavy", None, True])
@pytest.mark.parametrize("dim", [2, 3])
def test_masses(mass, dim):
    world, shape = (st.World(), st.Sphere(0.1)) if dim == 3 else (st.PlanarWorld(), st.Disk(0.1))
    with refused("'nut'"):
        world.add_body(shape, name="nut", mass=mass)
    assert len(world.bodies) == 1  # a refused body leaves no trace


@pytest.mark.parametrize("density", [0, -1.0, NAN])
def test_densities(density):
    with refused("'nut' density"):
        st.World().add_body(st.Sphere(0.1), name="nut", density=density)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mass": 1.0, "density": 1.0}, "'nut'.*mass= or density="),
        ({}, "'nut'.*mass"),
        ({"mass": 1.0, "inertia": (1.0, 1.0, 2.5)}, "'nut' inertia.*triangle"),
        ({"mass": 1.0, "inertia": (1.0, 1.0, 0.0)}, "'nut' inertia"),
        ({"mass": 1.0, "inertia": -1.0}, "'nut' inertia"),
        ({"mass": 1.0, "inertia": (1.0, 2.0)}, "'nut' inertia"),
        ({"mass": 1.0, "inertia": [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]}, "'nut' inertia.*symmetric"),
        ({"mass": 1.0, "inertia": (1.0, NAN, 1.0)}, "'nut' inertia"),
        ({"mass": 1.0, "com": (0, NAN, 0)}, "'nut' com"),
        ({"mass": 1.0, "com": (0, 0)}, "'nut' com"),
        ({"mass": 1.0, "position": (0, 0)}, "'nut' position"),
        ({"mass": 1.0, "position": (0, INF, 0)}, "'nut' position"),
        ({"mass": 1.0, "position": "here"}, "'nut' position"),
        ({"mass": 1.0, "orientation": (0, 0, 0, 0)}, "'nut' orientation"),
        ({"mass": 1.0, "orientation": (1, 0, 0)}, "'nut' orientation"),
        ({"mass": 1.0, "orientation": (1, 0, 0, NAN)}, "'nut' orientation"),
        ({"mass": 1.0, "velocity": (NAN, 0, 0)}, "'nut' velocity"),
        ({"mass": 1.0, "angular_velocity": 1.0}, "'nut' angular_velocity"),
        ({"mass": 1.0, "kind": "dynamc"}, "'nut' kind.*Did you mean 'dynamic'"),
        ({"mass": 1.0, "group": 3}, "'nut' group"),
        ({"mass": 1.0, "motion": lambda t: (0, 0, 0)}, "'nut'.*motion"),
        ({"kind": "kinematic", "motion": (0, 0, 0)}, "'nut'.*motion"),
        ({"kind": "fixed", "mass": 1.0}, "'nut' is fixed"),
        ({"kind": "kinematic", "density": 1.0}, "'nut' is kinematic"),
        ({"kind": "fixed", "velocity": (1, 0, 0)}, "'nut' is fixed"),
    ],
)
def test_bodies(options, words):
    with refused(words):
        st.World().add_body(st.Sphere(0.1), name="nut", **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mass": 1.0, "angle": NAN}, "'nut' angle"),
        ({"mass": 1.0, "inertia": 0.0}, "'nut' inertia"),
        ({"mass": 1.0, "angular_velocity": (0, 0, 1)}, "'nut' angular_velocity"),
        ({"mass": 1.0, "position": (0, 0, 0)}, "'nut' position"),
    ],
)
def test_bodies_in_the_plane(options, words):
    with refused(words):
        st.PlanarWorld().add_body(st.Disk(0.1), name="nut", **options)


@pytest.mark.parametrize(
    "make",
    [
        lambda: st.Sphere(0.0),
        lambda: st.Sphere(-1.0),
        lambda: st.Sphere(NAN),
        lambda: st.Sphere("big"),
        lambda: st.Sphere(1.0, position=(0, 0)),
        lambda: st.Sphere(1.0, position=(0, 0, NAN)),
        lambda: st.Box((1, 1)),
        lambda: st.Box((1, 1, 0)),
        lambda: st.Box((1, -1, 1)),
        lambda: st.Box((1, NAN, 1)),
        lambda: st.Box((1, 1, 1), orientation=(0, 0, 0, 0)),
        lambda: st.Capsule(0.1, 0.0),
        lambda: st.Capsule(0.0, 1.0),
        lambda: st.Capsule(0.1, INF),
        lambda: st.Plane(orientation=(0, 0, 0, 0)),
        lambda: st.Disk(0.0),
        lambda: st.Disk(1.0, position=(NAN, 0)),
        lambda: st.Rod(0.1, -1.0),
        lambda: st.Rod(0.1, 1.0, angle=NAN),
        lambda: st.Segment((0, 0), (0, 0)),
        lambda: st.HalfPlane(normal=(0, 0)),
        lambda: st.HalfPlane(normal=(0, NAN)),
        lambda: st.Polygon([(0, 0), (1, 0)]),
        lambda: st.Polygon([(0, 0), (1, 0), (2, 0)]),
        lambda: st.Polygon([(0, 0), (1, 0), (NAN, 1)]),
        lambda: st.Polygon([(0, 0), (1, 0), (1, 0), (0, 1)]),
        lambda: st.Polygon([(0, 0), (2, 0), (1, 0.2), (1, 2)]),  # a dent
        lambda: st.Polygon([(0, 0), (1, 0), (2, 0), (1, 1)]),  # a vertex on an edge
        lambda: st.Polygon([(0, 0), (1, 1), (1, 0), (0, 1)]),  # crosses itself
        lambda: st.Polygon(
            [(math.cos(4 * math.pi * k / 5), math.sin(4 * math.pi * k / 5)) for k in range(5)]
        ),  # a star
        lambda: st.Polygon.box(0.0, 1.0),
    ],
)
def test_shapes(make):
    with refused("Sphere|Box|Capsule|Plane|Disk|Rod|Segment|Polygon|width"):
        make()


def test_shapes_belong_to_their_world():
    with refused("'nut'.*space"):
        st.World().add_body(st.Disk(0.1), name="nut", mass=1.0)
    with refused("'nut'.*the plane"):
        st.PlanarWorld().add_body(st.Sphere(0.1), name="nut", mass=1.0)
    with refused("'nut'"):
        st.World().add_body([st.Sphere(0.1), "ball"], name="nut", mass=1.0)
    with refused("'nut'"):
        st.World().add_body(st.Sphere, name="nut", mass=1.0)


def test_planes_have_no_mass():
    with refused("'ground'.*plane"):
        st.World().add_body(st.Plane(), name="ground", mass=1.0)
    with refused("'ground'.*plane"):
        st.PlanarWorld().add_body([st.Disk(1.0), st.HalfPlane()], name="ground", mass=1.0)


def test_shapeless_and_thin_bodies_need_an_inertia():
    with refused("'nut'.*inertia"):
        st.World().add_body(None, name="nut", mass=1.0)
    with refused("'nut'"):
        st.World().add_body(None, name="nut", density=1.0)
    with refused("'wall'"):
        st.PlanarWorld().add_body(st.Segment((0, 0), (1, 0)), name="wall", mass=1.0)


def test_planes_need_a_direction():
    for normal in ((0, 0, 0), (0, NAN, 1), (0, 1)):
        with refused("'ground' normal"):
            st.World().add_plane(normal=normal, name="ground")
    with refused("'ground' offset"):
        st.World().add_plane(offset=NAN, name="ground")
    with refused("'ground' normal"):
        st.PlanarWorld().add_half_plane(normal=(0, 0), name="ground")


@pytest.mark.parametrize("gravity", [(0, 0), (0, 0, NAN), "down", 9.81])
def test_gravity(gravity):
    with refused("gravity"):
        st.World(gravity=gravity)


def test_names():
    world = st.World()
    world.add_body(st.Sphere(0.1), mass=1.0, name="piston")
    with refused("two bodies are named 'piston'"):
        world.add_body(st.Sphere(0.1), mass=1.0, name="piston")
    with refused("two bodies are named 'world'"):
        world.add_plane(name="world")
    for name in ("", 3):
        with refused("name"):
            world.add_body(st.Sphere(0.1), mass=1.0, name=name)
    for ask in (lambda: world.exclude("pistn", "piston"), lambda: world.add_force("pistn", (0, 0, 1))):
        with refused("'pistn'.*Did you mean 'piston'"):
            ask()
    with refused("'pistn'.*Did you mean 'piston'"):
        world.set_contact("pistn", "piston", friction=0.1)
    run = st.Simulator(world, 0.01, scheme=st.AnitescuHart(directions=8)).run(0.01)
    for ask in (run.position, run.velocity, run.orientation, run.angular_velocity):
        with refused("pistn"):
            ask("pistn")
    with refused("pistn"):
        run.force("piston", "pistn")
    with refused("pistn"):
        run.joint("pistn")
    with refused("orientation"):
        run.angle("piston")


def test_names_that_are_not_given_never_clash():
    world = st.World()
    world.add_body(st.Sphere(0.1), mass=1.0, name="body1")
    names = {world.add_body(st.Sphere(0.1), mass=1.0).name for _ in range(5)}
    assert len(names | {"body1"}) == 6


def two():
    world = st.World()
    a = world.add_body(st.Sphere(0.1), mass=1.0, name="a")
    world.add_body(st.Sphere(0.1), mass=1.0, name="b", position=(1, 0, 0))
    world.add_plane(name="floor", offset=-5)
    world.add_body(st.Box((1, 1, 1)), kind="kinematic", name="cart", position=(0, 0, 5))
    return world, a


@pytest.mark.parametrize(
    ("joint", "words"),
    [
        (lambda: st.Revolute("a", "b", anchor=(0, 0, 0), axis=(0, 0, 0)), "Revolute axis"),
        (lambda: st.Revolute("a", "b", anchor=(0, 0, 0)), "Revolute.*axis"),
        (lambda: st.Revolute("a", "b", anchor=(0, 0), axis=(0, 0, 1), name="pin"), "Revolute 'pin' anchor"),
        (lambda: st.Revolute("a", "b", anchor=(0, 0, NAN), axis=(0, 0, 1)), "Revolute anchor"),
        (lambda: st.Ball("a", "b", anchor=None), "Ball anchor"),
        (lambda: st.Prismatic("a", "b", axis=(0, 0, 0)), "Prismatic axis"),
        (lambda: st.Prismatic("a", "b", axis=(0, NAN, 0)), "Prismatic axis"),
        (lambda: st.Distance("a", "b", anchor_a=(0, 0, 0), anchor_b=(0, 0, 0)), "Distance.*coincide"),
        (lambda: st.Distance("a", "b", anchor_a=(0, 0, 0), anchor_b=(1, 0, 0), length=-1.0), "Distance length"),
        (lambda: st.Distance("a", "b", anchor_a=(0, 0, 0), anchor_b=(1, 0, 0), length=NAN), "Distance length"),
        (lambda: st.Fixed("a", "a", name="weld"), "'weld'.*'a' with itself"),
        (lambda: st.Fixed("a", "c", name="weld"), "'weld'.*no body 'c'"),
        (lambda: st.Fixed("floor", "cart", name="weld"), "'weld'.*cannot be moved"),
        (lambda: st.Fixed(None, None, name="weld"), "'weld'"),
        (lambda: "weld", "joint must be"),
        (lambda: st.Fixed, "joint must be"),
    ],
)
def test_joints(joint, words):
    world, _ = two()
    with refused(words):
        world.add_joint(joint())
    assert world.joints == []
    assert world.excluded == set()


def test_joints_of_the_wrong_dimension_and_names():
    world = st.PlanarWorld()
    world.add_body(st.Disk(0.1), mass=1.0, name="a")
    with refused("Ball.*Revolute"):
        world.add_joint(st.Ball("a", None, anchor=(0, 0)))
    world.add_joint(st.Revolute("a", None, anchor=(0, 0), name="pin"))
    with refused("two joints are named 'pin'"):
        world.add_joint(st.Fixed("a", None, name="pin"))


def test_forces_on_bodies_that_cannot_move():
    world, _ = two()
    for name in ("floor", "cart"):
        with refused(f"{name!r}"):
            world.add_force(name, (0, 0, 1))


def test_simulators():
    world, _ = two()
    for dt in (0.0, -1.0, NAN, "short"):
        with refused("dt"):
            st.Simulator(world, dt)
    with refused("scheme"):
        st.Simulator(world, 0.01, scheme=st.AnitescuHart)
    with refused("system"):
        st.Simulator(st.World, 0.01)
    with refused("on_overlap.*Did you mean 'separate'"):
        st.Simulator(world, 0.01, scheme=st.AnitescuHart(directions=8), on_overlap="seperate")
    for bad in ({"relaxation": "convx"}, {"eps": -1.0}, {"eps": NAN}, {"directions": 2}, {"directions": 4.0}):
        with refused(next(iter(bad))):
            st.AnitescuHart(**bad)


def test_arrays_handed_in_stay_the_callers():
    """Changing them later changes no body."""
    position, gravity = np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, -9.81])
    world = st.World(gravity=gravity)
    body = world.add_body(st.Sphere(0.1), mass=1.0, position=position)
    position[2], gravity[2] = 7.0, 0.0
    run = st.Simulator(world, 0.1, scheme=st.AnitescuHart(directions=8)).run(0.1)
    assert run.position(body)[0, 2] == 1.0
    assert run.velocity(body)[1, 2] == pytest.approx(-0.981)
