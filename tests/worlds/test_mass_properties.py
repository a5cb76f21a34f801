"""Mass, centre of mass and inertia of every shape and of bodies of several shapes, and what a position means."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from scipy.spatial.transform import Rotation
from scipy.stats import qmc

import stiction as st

seeds = hs.integers(0, 2**32 - 1)
SHAPES3 = [st.Sphere(0.7), st.Box((0.6, 1.1, 0.3)), st.Capsule(0.25, 0.9), st.Capsule(0.5, 0.1)]
SHAPES2 = [
    st.Disk(0.7, position=(0.3, -0.2)),
    st.Rod(0.2, 1.3, position=(-0.4, 0.1), angle=0.7),
    st.Rod(0.5, 0.05),
    st.Polygon([(0.1, 0.2), (1.4, 0.0), (1.1, 0.9), (0.3, 1.2)]),
    st.Polygon([(0.0, 1.0), (1.0, 0.0), (0.0, 0.0)]),  # clockwise
    st.Polygon.box(0.6, 1.7),
]


def spec(world, body):
    return world.build().specs[body.index]


def inside(core_points, half_or_segments, radius):
    """Whether points lie within `radius` of a core box (half extents)."""
    away = np.maximum(np.abs(core_points) - half_or_segments, 0.0)
    return (away**2).sum(axis=1) <= radius**2


def inside2(points, vertices, radius):
    """Whether points lie in a convex polygon or within `radius` of its boundary."""
    ends = np.roll(vertices, -1, axis=0)
    near = np.full(len(points), False)
    within = np.full(len(points), len(vertices) > 2)
    for a, b in zip(vertices, ends):
        edge = b - a
        along = (points - a) @ edge / max(float(edge @ edge), 1e-300)
        foot = a + np.clip(along, 0, 1)[:, None] * edge
        near |= ((points - foot) ** 2).sum(axis=1) <= radius**2
        within &= edge[0] * (points - a)[:, 1] - edge[1] * (points - a)[:, 0] >= 0
    return near | within


def samples(dim, lo, hi):
    """Points of a Sobol sequence in a box: a quadrature of about 1e-4."""
    points = qmc.scale(qmc.Sobol(dim, seed=1).random_base2(18), lo, hi)
    return points, float(np.prod(np.asarray(hi) - lo)) / len(points)


@pytest.mark.parametrize("shape", SHAPES3, ids=repr)
def test_shapes_in_space_against_quadrature(shape):
    half, radius = shape.core()
    points, weight = samples(3, -half - radius, half + radius)
    points = points[inside(points, half, radius)]
    own = shape.mass_properties()
    square = np.einsum("ni,ni->", points, points) * np.eye(3) - points.T @ points
    assert own.volume == pytest.approx(weight * len(points), rel=1e-3)
    np.testing.assert_allclose(own.com, points.mean(axis=0), atol=1e-3)
    np.testing.assert_allclose(own.inertia, weight * square, atol=2e-3 * np.trace(own.inertia))


@pytest.mark.parametrize("shape", SHAPES2, ids=repr)
def test_shapes_in_the_plane_against_quadrature(shape):
    vertices, radius = shape.core()
    points, weight = samples(2, vertices.min(0) - radius, vertices.max(0) + radius)
    points = points[inside2(points, vertices, radius)]
    own = shape.mass_properties()
    assert own.volume == pytest.approx(weight * len(points), rel=1e-3)
    np.testing.assert_allclose(own.com, points.mean(axis=0), atol=2e-3)
    about = weight * ((points - points.mean(axis=0)) ** 2).sum()
    assert float(own.inertia) == pytest.approx(about, rel=3e-3)


@pytest.mark.parametrize(("thin", "exact"), [(st.Capsule(1e-6, 2.0), 4 / 12), (st.Rod(1e-6, 2.0), 4 / 12)])
def test_thin_rods_have_l_squared_over_twelve(thin, exact):
    own = thin.mass_properties()
    across = float(np.max(own.inertia)) / own.volume
    assert across == pytest.approx(exact, rel=1e-5)


def turned(shape, rng):
    """A copy of a shape at a random place."""
    quat = Rotation.random(random_state=int(rng.integers(2**31))).as_quat(scalar_first=True)
    kind, place = type(shape), {"position": rng.normal(size=3), "orientation": quat}
    if kind is st.Sphere:
        return kind(shape.radius, **place)
    if kind is st.Box:
        return kind(shape.lengths, **place)
    return kind(shape.radius, shape.length, **place)


@given(seeds, hs.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_several_shapes_combine_by_steiner(seed, count):
    rng = np.random.default_rng(seed)
    shapes = [turned(SHAPES3[i], rng) for i in rng.integers(0, len(SHAPES3), size=count)]
    world = st.World()
    made = spec(world, world.add_body(shapes, density=3.0))
    # second moments about the origin simply add
    mass, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for shape in shapes:
        own, R = shape.mass_properties(), Rotation.from_quat(shape.orientation, scalar_first=True).as_matrix()
        moment = 0.5 * np.trace(own.inertia) * np.eye(3) - own.inertia  # ∫ x xᵀ
        mass += 3 * own.volume
        first += 3 * own.volume * shape.position
        second += 3 * (R @ moment @ R.T + own.volume * np.outer(shape.position, shape.position))
    second -= np.outer(first, first) / mass
    assert made.mass == pytest.approx(mass, rel=1e-13)
    np.testing.assert_allclose(made.com, first / mass, atol=1e-13)
    np.testing.assert_allclose(made.inertia, np.trace(second) * np.eye(3) - second, atol=1e-11 * mass)


def test_a_box_is_two_halves():
    world = st.World()
    whole = spec(world, world.add_body(st.Box((2.0, 1.0, 0.5)), density=7.0))
    halves = [st.Box((1.0, 1.0, 0.5), position=(x, 0, 0)) for x in (-0.5, 0.5)]
    parts = spec(world, world.add_body(halves, density=7.0))
    assert parts.mass == pytest.approx(whole.mass)
    np.testing.assert_allclose(parts.com, whole.com, atol=1e-15)
    np.testing.assert_allclose(parts.inertia, whole.inertia, atol=1e-13)


def test_a_polygon_is_its_triangles():
    V = SHAPES2[3].vertices
    world = st.PlanarWorld()
    whole = spec(world, world.add_body(SHAPES2[3], density=2.0))
    parts = spec(world, world.add_body([st.Polygon(V[[0, 1, 2]]), st.Polygon(V[[0, 2, 3]])], density=2.0))
    assert parts.mass == pytest.approx(whole.mass)
    np.testing.assert_allclose(parts.com, whole.com, atol=1e-14)
    assert float(parts.inertia) == pytest.approx(float(whole.inertia), rel=1e-12)


def test_mass_scales_what_density_gives():
    world = st.World()
    by_density = spec(world, world.add_body(SHAPES3[2], density=2.5))
    by_mass = spec(world, world.add_body(SHAPES3[2], mass=by_density.mass))
    np.testing.assert_allclose(by_mass.inertia, by_density.inertia, rtol=1e-14)


def test_a_given_com_moves_the_inertia_by_steiner():
    """The mass stays where the shapes are; about another point the inertia grows by m d²."""
    world, planar = st.World(), st.PlanarWorld()
    d = np.array([0.1, -0.2, 0.3])
    plain = spec(world, world.add_body(st.Sphere(0.5), mass=2.0))
    moved = spec(world, world.add_body(st.Sphere(0.5), mass=2.0, com=d))
    np.testing.assert_allclose(moved.inertia - plain.inertia, 2 * (d @ d * np.eye(3) - np.outer(d, d)), atol=1e-15)
    flat = spec(planar, planar.add_body(st.Disk(0.5), mass=2.0, com=(0.3, 0.4)))
    assert float(flat.inertia) == pytest.approx(2 * (0.5 * 0.25 + 0.25))


@pytest.mark.parametrize("inertia", [2.0, (2.0, 2.0, 2.0), np.diag([2.0, 2.0, 2.0])])
def test_a_given_inertia_is_about_the_com(inertia):
    world = st.World()
    made = spec(world, world.add_body(st.Sphere(0.1), mass=1.0, com=(1.0, 0, 0), inertia=inertia))
    np.testing.assert_array_equal(made.inertia, 2 * np.eye(3))


def test_positions_and_velocities_are_those_of_the_frame():
    """A frame at the end of a rod: its origin is where and as fast as told; the centre of mass follows."""
    turn = Rotation.from_rotvec([0.3, -0.5, 0.8])
    position, velocity, spin = np.array([1.0, 2.0, 3.0]), np.array([0.4, 0.5, -0.6]), np.array([2.0, -1.0, 3.0])
    com = np.array([0.0, 0.0, 0.5])
    world = st.World()
    rod = world.add_body(
        st.Capsule(0.05, 1.0, position=com), mass=1.0, position=position, velocity=velocity,
        angular_velocity=spin, orientation=turn.as_quat(scalar_first=True), name="rod",
    )  # fmt: skip
    state = world.build().initial_state()
    arm = turn.apply(com)
    np.testing.assert_allclose(state.q[7:10], position + arm, atol=1e-15)
    np.testing.assert_allclose(state.v[6:9], velocity + np.cross(spin, arm), atol=1e-15)
    run = st.Simulator(world, 0.01, scheme=st.AnitescuHart(directions=8)).run(0.02)
    for which in (rod, "rod"):
        np.testing.assert_allclose(run.position(which)[0], position, atol=1e-15)
        np.testing.assert_allclose(run.velocity(which)[0], velocity, atol=1e-15)
        np.testing.assert_allclose(run.angular_velocity(which)[0], spin, atol=1e-15)
        np.testing.assert_allclose(run.orientation(which)[0], turn.as_quat(scalar_first=True), atol=1e-15)


def test_positions_in_the_plane_are_those_of_the_frame():
    world = st.PlanarWorld(gravity=(0, 0))
    body = world.add_body(
        st.Disk(0.1, position=(0.5, 0)), mass=1.0, position=(1, 2), angle=math.pi / 2, velocity=(0.1, 0.2),
        angular_velocity=3.0,
    )  # fmt: skip
    state = world.build().initial_state()
    np.testing.assert_allclose(state.q[3:6], [1.0, 2.5, math.pi / 2], atol=1e-15)
    np.testing.assert_allclose(state.v[3:6], [0.1 - 1.5, 0.2, 3.0], atol=1e-15)
    run = st.Simulator(world, 0.001).run(0.4)
    com = np.array([1.0, 2.5]) + np.outer(run.times, [-1.4, 0.2])
    angle = math.pi / 2 + 3 * run.times
    np.testing.assert_allclose(run.angle(body), angle, atol=1e-12)
    arm = 0.5 * np.column_stack([np.cos(angle), np.sin(angle)])
    np.testing.assert_allclose(run.position(body), com - arm, atol=1e-12)
    np.testing.assert_allclose(
        run.velocity(body), [-1.4, 0.2] - 3 * np.column_stack([-arm[:, 1], arm[:, 0]]), atol=1e-12
    )


def test_where_the_frame_lies_changes_no_motion():
    """The same capsule described from its middle and from its end, thrown and dropped on the floor."""
    runs = []
    for z in (0.0, 0.4):
        world = st.World()
        floor = world.add_plane()
        turn = Rotation.from_rotvec([0.6, 0.2, 0.0])
        arm, spin = turn.apply([0, 0, z]), np.array([1.0, 2.0, -1.0])
        body = world.add_body(
            st.Capsule(0.1, 0.8, position=(0, 0, z)), mass=1.0, position=np.array([0, 0, 0.6]) - arm,
            orientation=turn.as_quat(scalar_first=True), velocity=[0.5, 0, 0] - np.cross(spin, arm),
            angular_velocity=spin,
        )  # fmt: skip
        run = st.Simulator(world, 0.005, scheme=st.AnitescuHart(directions=8), solver="lemke").run(0.5)
        assert (run.force(body, floor)[:, 2] > 0).any()
        runs.append(run.q[:, 14:21])
    np.testing.assert_allclose(runs[1], runs[0], atol=1e-9)


def test_a_body_that_hangs_off_its_frame_turns_about_its_com():
    """Free flight: the centre of mass falls on a parabola of steps, whatever the frame does."""
    world = st.World()
    body = world.add_body(st.Sphere(0.1, position=(1, 0, 0)), mass=1.0, angular_velocity=(0, 0, 5.0))
    run = st.Simulator(world, 0.01, scheme=st.AnitescuHart(directions=8)).run(1.0)
    R = Rotation.from_quat(run.orientation(body), scalar_first=True).as_matrix()
    com = run.position(body) + R[:, :, 0]
    k = np.arange(101)
    np.testing.assert_allclose(com[:, 0], 1.0, atol=1e-12)
    np.testing.assert_allclose(com[:, 1], 5.0 * run.times, atol=1e-12)  # the frame starts at rest, so the com moves
    np.testing.assert_allclose(com[:, 2], -9.81 * 1e-4 * k * (k + 1) / 2, atol=1e-12)
