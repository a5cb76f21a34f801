"""Contact forces as they are read from a run: weights, action and reaction, Newton's law step by step."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import stiction as st

G = 9.81
STEP = st.AnitescuHart(directions=8)
SCHEMES = [STEP, st.StewartTrinkle(), st.StewartTrinkle(nonlinear=True)]


def scheme_name(scheme):
    return type(scheme).__name__ + (" nonlinear" if getattr(scheme, "nonlinear", False) else "")


def stacked(dim, masses, size=0.2):
    world = st.World() if dim == 3 else st.PlanarWorld()
    handles = [world.add_plane(name="floor")]
    for i, mass in enumerate(masses):
        height = (i + 0.5) * size
        shape, place = (st.Box((size,) * 3), (0, 0, height)) if dim == 3 else (st.Polygon.box(size, size), (0, height))
        handles.append(world.add_body(shape, mass=mass, position=place))
    return world, handles


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("scheme", SCHEMES, ids=scheme_name)
def test_weights_of_a_stack(dim, scheme):
    """Each carries what stands on it; both readings of a pair are opposite."""
    masses = [3.0, 1.0, 2.0]
    world, handles = stacked(dim, masses)
    run = st.Simulator(world, 0.01, scheme=scheme).run(0.1)
    up = np.eye(dim)[-1]
    for i, (upper, lower) in enumerate(zip(handles[1:], handles[:-1])):
        above = G * sum(masses[i:])
        np.testing.assert_allclose(run.force(upper, lower), np.tile(above * up, (10, 1)), atol=1e-8)
        np.testing.assert_array_equal(run.force(lower, upper), -run.force(upper, lower))
    assert np.all(run.force(handles[1], handles[3]) == 0.0)  # they do not touch


@pytest.mark.parametrize("dim", [2, 3])
def test_normals_point_from_the_second_to_the_first(dim):
    world, (floor, low, high) = stacked(dim, [1.0, 1.0])
    run = st.Simulator(world, 0.01, scheme=STEP).run(0.02)
    up = np.array([0.0, 1.0, 0.0]) if dim == 2 else np.array([0.0, 0.0, 1.0])
    for a, b, sign in ((low, floor, 1), (floor, low, -1), (high, low, 1), (low, high, -1)):
        table = run.contacts(a, b)
        assert len(table.step) == 2 * (2 if dim == 2 else 4)
        np.testing.assert_allclose(table.normal, np.tile(sign * up, (len(table.step), 1)), atol=1e-12)
        assert (table.impulse[:, 0] >= 0).all()
        index = {h.name: i for i, h in enumerate((None, floor, low, high)) if h}
        assert (table.bodies == [index[a.name], index[b.name]]).all()


def test_both_readings_of_a_pair_tell_the_same_story():
    """Turned about: the same normal impulse and gap, and each row's tangent belongs to its own frame."""
    world = st.World()
    floor = world.add_plane(normal=(0.3, 0.2, 1.0))
    box = world.add_body(
        st.Sphere(0.2), mass=1.0, position=0.2 * np.array([0.3, 0.2, 1.0]) / math.sqrt(1.13), velocity=(1, -2, 0)
    )
    world.set_contact(floor, box, friction=0.3)
    run = st.Simulator(world, 0.01, scheme=STEP).run(0.2)
    one, two = run.contacts(box, floor), run.contacts(floor, box)
    np.testing.assert_array_equal(one.gap, two.gap)
    np.testing.assert_array_equal(one.impulse[:, 0], two.impulse[:, 0])
    np.testing.assert_array_equal(one.normal, -two.normal)
    np.testing.assert_array_equal(run.force(box, floor), -run.force(floor, box))


def newton(run, body, others, mass, gravity):
    """m Δv/h - m g - Σ contact forces, of the centre of mass."""
    i, dim = run.info["world"]["bodies"].index(body.name), len(gravity)
    dof = 3 if dim == 2 else 6
    h = np.diff(run.times)[:, None]
    total = sum(run.force(body, other) for other in others)
    return mass * np.diff(run.v[:, i * dof : i * dof + dim], axis=0) / h - mass * gravity - total


@pytest.mark.parametrize("scheme", SCHEMES, ids=scheme_name)
def test_forces_are_mass_times_acceleration_on_a_hill(scheme):
    """A ball that rolls down a ball, through every inclination: in each step the force that is read is the one that
    acted, to round-off."""
    world = st.World()
    hill = world.add_body(st.Sphere(1.0), kind="fixed")
    place = 1.2 * np.array([math.sin(0.3), 0, math.cos(0.3)])
    ball = world.add_body(st.Sphere(0.2), mass=1.5, position=place, velocity=(0.2, 0.4, 0.0))
    world.set_contact(hill, ball, friction=0.3)
    run = st.Simulator(world, 0.01, scheme=scheme).run(0.5)
    assert (np.linalg.norm(run.force(ball, hill), axis=1) > 1).sum() > 30
    np.testing.assert_allclose(newton(run, ball, [hill], 1.5, world.gravity), 0.0, atol=1e-9)


def test_forces_are_mass_times_acceleration_in_the_plane():
    world = st.PlanarWorld()
    hill = world.add_body(st.Disk(1.0), kind="fixed")
    ball = world.add_body(st.Disk(0.2), mass=1.5, position=1.2 * np.array([math.sin(0.3), math.cos(0.3)]))
    run = st.Simulator(world, 0.01).run(0.5)
    np.testing.assert_allclose(newton(run, ball, [hill], 1.5, world.gravity), 0.0, atol=1e-9)


@given(hs.integers(0, 2**32 - 1))
@settings(max_examples=8, deadline=None)
def test_forces_on_a_flat_floor_are_mass_times_acceleration(seed):
    """Boxes, capsules and balls thrown on planes, whose normals do not turn."""
    rng = np.random.default_rng(seed)
    world = st.World()
    floor, wall = world.add_plane(), world.add_plane(normal=(-1, 0.2, 0.1), offset=-0.8)
    shape = [st.Box((0.3, 0.2, 0.4)), st.Capsule(0.1, 0.3), st.Sphere(0.2)][int(rng.integers(3))]
    throw = rng.normal(size=3) + np.array([2, 0, -1])
    turn = {"orientation": rng.normal(size=4), "angular_velocity": 3 * rng.normal(size=3)}
    body = world.add_body(shape, mass=2.0, position=(0, 0, 0.4), velocity=throw, **turn)
    run = st.Simulator(world, 0.01, scheme=STEP).run(0.4)
    np.testing.assert_allclose(newton(run, body, [floor, wall], 2.0, world.gravity), 0.0, atol=1e-8)


def test_momentum_of_colliding_balls_is_kept():
    """Free balls meet: the sum of momenta, and of moments of momentum about the origin, stays."""
    rng = np.random.default_rng(0)
    world = st.World(gravity=(0, 0, 0))
    masses = [1.0, 3.0, 0.5, 2.0]
    for m, x in zip(masses, [(-1, 0, 0), (1, 0.1, 0), (0, 1, 0.1), (0.1, -1, 0)]):
        x = np.array(x)
        world.add_body(st.Sphere(0.3), mass=m, position=x, velocity=-2 * x, angular_velocity=rng.normal(size=3))
    run = st.Simulator(world, 0.005, scheme=STEP).run(0.6)
    assert len(run.events) > 2
    V = run.v.reshape(len(run), -1, 6)[:, 1:]
    momentum = np.einsum("b,nbi->ni", masses, V[:, :, :3])
    np.testing.assert_allclose(momentum, np.tile(momentum[0], (len(run), 1)), atol=1e-11)


def test_jamming_a_wedge_carries_more_than_its_weight():
    """A ball in a V of half angle a, without friction: each wall pushes with m g/(2 sin a)."""
    world, a = st.PlanarWorld(), math.radians(20)
    left = world.add_half_plane(normal=(math.cos(a), math.sin(a)))
    right = world.add_half_plane(normal=(-math.cos(a), math.sin(a)))
    ball = world.add_body(st.Disk(0.1), mass=1.0, position=(0, 0.1 / math.sin(a)))
    world.set_material("default", friction=0.0)
    run = st.Simulator(world, 0.01).run(0.1)
    np.testing.assert_allclose(np.linalg.norm(run.force(ball, left), axis=1), G / (2 * math.sin(a)), rtol=1e-9)
    np.testing.assert_allclose(run.force(ball, left) + run.force(ball, right), np.tile([0, G], (10, 1)), atol=1e-9)
