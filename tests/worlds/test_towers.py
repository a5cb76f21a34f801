"""Towers stand: boxes on boxes, heavy on light, walls and arches of few stones."""

import math

import numpy as np
import pytest

import stiction as st

G = 9.81


def tower(dim, masses, size=0.2, offset=0.0, mu=0.5):
    world = st.World() if dim == 3 else st.PlanarWorld()
    world.set_material("default", friction=mu)
    floor, handles = world.add_plane(), []
    for i, mass in enumerate(masses):
        z, x = (i + 0.5) * size, offset * i
        if dim == 3:
            handles.append(world.add_body(st.Box((size,) * 3), mass=mass, position=(x, 0, z)))
        else:
            handles.append(world.add_body(st.Polygon.box(size, size), mass=mass, position=(x, z)))
    return world, floor, handles


def stands(world, handles, duration, solver, directions, h=0.01, tol=1e-6, within=1e-10):
    scheme = st.AnitescuHart(directions=directions)
    run = st.Simulator(world, h, scheme=scheme, solver=solver, tol=tol).run(duration)
    moved = max(np.abs(run.position(b) - run.position(b)[0]).max() for b in handles)
    assert moved < within
    return run


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("count", [2, 3])
def test_small_towers_stand_still(dim, count):
    world, floor, handles = tower(dim, [1.0] * count)
    run = stands(world, handles, 0.5, "lemke", 8, within=1e-12)
    np.testing.assert_allclose(run.force(handles[0], floor)[:, -1], count * G, rtol=1e-9)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("ratio", [1000.0, 1e-3])
def test_heavy_on_light_does_not_sink(dim, ratio):
    """1000:1 and 1:1000: with an exact solver the light box is not squeezed into the floor."""
    world, floor, handles = tower(dim, [1.0, ratio])
    run = stands(world, handles, 0.5, "lemke", 8, within=1e-6)
    assert run.certificate.worst["penetration"] < 1e-6
    np.testing.assert_allclose(run.force(handles[1], handles[0])[:, -1], ratio * G, rtol=1e-7)
    np.testing.assert_allclose(run.force(handles[0], floor)[:, -1], (1 + ratio) * G, rtol=1e-7)


@pytest.mark.parametrize(("solver", "tol"), [("lemke", 1e-6), ("auto", 1e-9)])
def test_heavy_dropped_on_light_comes_to_rest_on_it(solver, tol):
    """Pivoting ends at round-off or not at all; sweeps end where they are told to."""
    world = st.World()
    floor = world.add_plane()
    light = world.add_body(st.Box((0.3, 0.3, 0.1)), mass=1.0, position=(0, 0, 0.05))
    heavy = world.add_body(st.Box((0.2, 0.2, 0.2)), mass=1000.0, position=(0, 0, 0.3))
    run = st.Simulator(world, 0.005, scheme=st.AnitescuHart(directions=8), solver=solver, tol=tol).run(0.6)
    assert run.position(light)[-1, 2] == pytest.approx(0.05, abs=1e-6)
    assert run.position(heavy)[-1, 2] == pytest.approx(0.2, abs=1e-6)
    assert np.abs(run.velocity(heavy)[-1]).max() < 1e-6
    np.testing.assert_allclose(run.force(light, floor)[-1], [0, 0, 1001 * G], rtol=1e-6, atol=1e-4)


@pytest.mark.parametrize("dim", [2, 3])
def test_leaning_tower_stands_or_falls_by_its_centre(dim):
    """Three boxes, each shifted by d: the two upper ones stay on the first while 3d/2 < half an edge."""
    for factor, holds in ((0.97, True), (1.03, False)):
        world, _, handles = tower(dim, [1.0] * 3, offset=factor * 0.2 / 3, mu=0.9)
        scheme = st.AnitescuHart(directions=8)
        run = st.Simulator(world, 0.01, scheme=scheme, solver="lemke").run(0.4)
        moved = np.abs(run.position(handles[2])[-1] - run.position(handles[2])[0]).max()
        assert (moved < 1e-11) == holds


def test_ladder_holds_or_slides():
    """A light bar against a smooth wall: it holds while tan(angle from the floor) > 1/(2µ)."""
    mu, length, r = 0.4, 1.0, 0.02
    for factor, holds in ((1.05, True), (0.95, False)):
        world = st.PlanarWorld()
        floor = world.add_half_plane()
        wall = world.add_half_plane(normal=(1, 0))
        angle = math.atan(factor / (2 * mu))
        foot = np.array([r + length * math.cos(angle), r])
        middle = foot + 0.5 * length * np.array([-math.cos(angle), math.sin(angle)])
        bar = world.add_body(st.Rod(r, length), mass=1.0, position=middle, angle=math.pi - angle)
        world.set_contact(bar, floor, friction=mu)
        world.set_contact(bar, wall, friction=0.0)
        run = st.Simulator(world, 0.005).run(0.3)
        moved = np.abs(run.position(bar) - run.position(bar)[0]).max()
        # friction acts at the floor, a radius below the axis: the threshold shifts by about r/length
        assert (moved < 1e-11) == holds


@pytest.mark.parametrize("dim", [2, 3])
def test_ball_holds_between_hands(dim):
    """Pressed from both sides with F it stays up while 2 µ F > m g: each side carries half, or the ball would turn."""
    for factor, holds in ((1.02, True), (0.98, False)):
        world = st.World() if dim == 3 else st.PlanarWorld()
        mu, mass, axis = 0.5, 1.0, np.eye(dim)[0]
        force = factor * mass * G / (2 * mu)
        round_, flat = (
            (st.Sphere(0.1), st.Box((0.1, 0.3, 0.3))) if dim == 3 else (st.Disk(0.1), st.Polygon.box(0.1, 0.3))
        )
        ball = world.add_body(round_, mass=mass)
        wall = world.add_plane(normal=axis, offset=-0.1)
        hand = world.add_body(flat, mass=0.5, position=0.15 * axis)
        world.add_joint(st.Prismatic(hand, None, axis=axis))
        world.add_force(hand, -force * axis)
        for other in (wall, hand):
            world.set_contact(ball, other, friction=mu)
        run = st.Simulator(world, 0.01, scheme=st.AnitescuHart(directions=8)).run(0.2)
        assert (abs(run.position(ball)[-1, -1]) < 1e-11) == holds
        if holds:
            np.testing.assert_allclose(run.force(ball, wall)[:, -1], mass * G / 2, rtol=1e-8)


@pytest.mark.parametrize("dim", [2, 3])
def test_towers_stand_with_the_true_cones(dim):
    """The iterative solver with smooth cones: to its tolerance."""
    world, floor, handles = tower(dim, [1.0] * 5)
    run = stands(world, handles, 0.3, "nsgs", None, tol=1e-8, within=1e-6)
    np.testing.assert_allclose(run.force(handles[0], floor)[:, -1], 5 * G, rtol=1e-5)


@pytest.mark.long
@pytest.mark.parametrize(("dim", "count"), [(2, 10), (2, 20), (3, 10)])
def test_tall_towers_stand_with_the_true_cones(dim, count):
    world, _, handles = tower(dim, [1.0] * count)
    stands(world, handles, 0.3, "auto", None, tol=1e-8, within=1e-8)


@pytest.mark.long
@pytest.mark.parametrize("dim", [2, 3])
def test_towers_of_rising_mass_stand(dim):
    world, _, handles = tower(dim, [10.0**i for i in range(4)])
    stands(world, handles, 0.3, "lemke", 8, within=1e-6)
