"""Bodies that overlap at the start: told, refused, or moved apart by the smallest displacement."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import stiction as st

STEP = st.AnitescuHart(directions=8)


def balls(masses, places, radius=0.5, floor=False, **options):
    world = st.World(gravity=(0, 0, 0))
    if floor:
        world.add_plane(name="floor")
    handles = [
        world.add_body(st.Sphere(radius), mass=m, position=x, name=f"ball{i}", **options)
        for i, (m, x) in enumerate(zip(masses, places))
    ]
    return world, handles


def start(world, how):
    sim = st.Simulator(world, 0.01, scheme=STEP, on_overlap=how)
    return sim.run(0.01)


def test_worlds_warn_with_depth_and_pair():
    world, _ = balls([1, 1], [(0, 0, 0), (0.9, 0, 0)])
    with pytest.warns(st.OverlapWarning, match=r"ball0/ball1' overlaps by 0\.1 m.*separate"):
        st.Simulator(world, 0.01, scheme=STEP)
    world, _ = balls([1, 1, 1], [(0, 0, 0), (0.9, 0, 0), (0.45, 0.7, 0)])
    with pytest.warns(st.OverlapWarning, match=r"overlaps by 0\.168 m.*and 2 more"):
        st.Simulator(world, 0.01, scheme=STEP)


def test_raise_refuses():
    world, _ = balls([1, 1], [(0, 0, 0), (0.9, 0, 0)])
    with pytest.raises(st.ModelError, match=r"ball0/ball1.*0\.1 m"):
        st.Simulator(world, 0.01, scheme=STEP, on_overlap="raise")


def test_touching_is_not_overlapping():
    world, _ = balls([1, 1], [(0, 0, 0.5), (1.0, 0, 0.5)], floor=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        st.Simulator(world, 0.01, scheme=STEP, on_overlap="raise")


@pytest.mark.parametrize(("m1", "m2"), [(1.0, 1.0), (1.0, 4.0), (1000.0, 1.0)])
def test_separation_is_shared_inversely_to_mass(m1, m2):
    """Two equal balls move half each; a heavy one moves less by the ratio of masses; nothing turns."""
    world, (a, b) = balls([m1, m2], [(0, 0, 0), (0.9, 0, 0)])
    run = start(world, "separate")
    np.testing.assert_allclose(run.position(a)[0], [-0.1 * m2 / (m1 + m2), 0, 0], atol=1e-9)
    np.testing.assert_allclose(run.position(b)[0], [0.9 + 0.1 * m1 / (m1 + m2), 0, 0], atol=1e-9)
    np.testing.assert_allclose(run.orientation(a)[0], [1, 0, 0, 0], atol=1e-14)
    np.testing.assert_allclose(run.velocity(a), 0.0, atol=1e-7)


def test_separation_from_a_floor_moves_the_body_alone():
    world, (a,) = balls([2.0], [(0.3, 0.2, 0.4)], floor=True)
    run = start(world, "separate")
    np.testing.assert_allclose(run.position(a)[0], [0.3, 0.2, 0.5], atol=1e-10)


def test_separation_keeps_velocities_and_sets_reset():
    world, (a, _) = balls([1, 1], [(0, 0, 0), (0.9, 0, 0)], velocity=(0, 0, 3.0))
    sim = st.Simulator(world, 0.01, scheme=STEP, on_overlap="separate")
    first = sim.run(0.02)
    np.testing.assert_allclose(first.velocity(a), np.tile([0, 0, 3.0], (3, 1)), atol=1e-7)
    sim.reset()
    np.testing.assert_array_equal(sim.run(0.02).q, first.q)


@given(hs.integers(0, 2**32 - 1))
@settings(max_examples=10, deadline=None)
def test_no_overlap_remains(seed):
    """A heap of balls, capsules and boxes in each other and in the floor; the centre of mass moves only upwards."""
    rng = np.random.default_rng(seed)
    world = st.World()
    world.add_plane()
    for _ in range(5):
        shape = [st.Sphere(0.3), st.Capsule(0.15, 0.4), st.Box((0.3, 0.4, 0.5))][int(rng.integers(3))]
        world.add_body(shape, mass=float(rng.uniform(0.5, 3)), position=rng.uniform([-0.4, -0.4, 0.1], [0.4, 0.4, 0.8]),
                       orientation=rng.normal(size=4))  # fmt: skip
    sim = st.Simulator(world, 0.01, scheme=STEP, on_overlap="separate")
    model = sim.system
    found = model.detect(0.0, sim.state.q, 0.0)
    assert model.gaps(found, 0.0, sim.state.q).min(initial=0.0) > -1e-9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.step()


def test_separation_in_the_plane():
    world = st.PlanarWorld()
    world.add_plane()
    box = world.add_body(st.Polygon.box(1.0, 0.5), mass=1.0, position=(0, 0.2))
    disk = world.add_body(st.Disk(0.2), mass=1.0, position=(0, 0.5))
    sim = st.Simulator(world, 0.01, on_overlap="separate")
    run = sim.run(0.01)
    np.testing.assert_allclose(run.position(box)[0], [0, 0.25], atol=1e-9)
    np.testing.assert_allclose(run.position(disk)[0], [0, 0.7], atol=1e-9)
    assert run.angle(box)[0] == pytest.approx(0.0, abs=1e-9)


def test_separation_respects_joints():
    """A bar pinned to the world, its end in the floor: it turns out of it about the pin."""
    world = st.PlanarWorld()
    world.add_plane()
    bar = world.add_body(st.Rod(0.05, 1.0), mass=1.0, position=(0.5, 0.04), name="bar")
    pin = np.array([-0.4, 0.3])
    world.add_joint(st.Revolute(bar, None, anchor=pin))
    sim = st.Simulator(world, 0.01, on_overlap="separate")
    run = sim.run(0.01)
    x, angle = run.position(bar)[0], run.angle(bar)[0]
    c, s = math.cos(angle), math.sin(angle)
    arm = np.array([-0.9, 0.26])
    np.testing.assert_allclose(x + np.array([[c, -s], [s, c]]) @ arm, pin, atol=1e-8)
    ends = x[1] + 0.5 * np.array([-s, s])
    assert ends.min() - 0.05 > -1e-9


def test_what_cannot_be_separated_is_refused():
    world, _ = balls([1.0], [(0, 0, 0)], radius=0.5)
    world.add_plane(normal=(0, 0, 1), offset=-0.4)
    world.add_plane(normal=(0, 0, -1), offset=-0.4)
    with pytest.raises(st.ModelError, match="separated"):
        st.Simulator(world, 0.01, scheme=STEP, on_overlap="separate")
