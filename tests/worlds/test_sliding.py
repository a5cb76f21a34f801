"""Blocks that slide, stop and hold, in space and in the plane; boxes that slide or tip."""

import math

import numpy as np
import pytest

import stiction as st
from stiction import Mode

G = 9.81
STEP = st.AnitescuHart(directions=8)
SCHEMES = [STEP, st.StewartTrinkle(), st.StewartTrinkle(nonlinear=True)]


def scheme_name(scheme):
    return type(scheme).__name__ + (" nonlinear" if getattr(scheme, "nonlinear", False) else "")


def block(dim, mu, slope=0.0, tilt="plane", speed=0.0, size=(0.4, 0.2), mass=3.0):
    """A box on an incline that rises along +x: the plane is tilted, or gravity is. Positive speed is uphill.

    Returns world, block, ground, and unit vectors uphill and normal.
    """
    c, s = math.cos(slope), math.sin(slope)
    tilted = tilt == "plane"
    up, normal = np.array([c, s]) if tilted else np.array([1.0, 0]), np.array([-s, c]) if tilted else np.array([0, 1.0])
    gravity = np.array([0, -G]) if tilted else G * np.array([-s, -c])
    if dim == 2:
        world = st.PlanarWorld(gravity=gravity)
        ground = world.add_half_plane(normal=normal)
        turn = {"angle": slope if tilted else 0.0}
        shape, lift = st.Polygon.box(*size), lambda x: x
    else:
        lift = lambda x: np.array([x[0], 0.0, x[1]])  # noqa: E731
        world = st.World(gravity=lift(gravity))
        ground = world.add_plane(normal=lift(normal))
        half = -0.5 * slope if tilted else 0.0
        turn = {"orientation": (math.cos(half), 0, math.sin(half), 0)}
        shape = st.Box((size[0], 0.3, size[1]))
    up, normal = lift(up), lift(normal)
    body = world.add_body(shape, mass=mass, position=0.5 * size[1] * normal, velocity=speed * up, **turn)
    world.set_contact(body, ground, friction=mu)
    return world, body, ground, up, normal


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("scheme", SCHEMES, ids=scheme_name)
def test_sliding_block_stops_and_stays(dim, scheme):
    """v falls by µ g h per step; the way is v²/2µg - h v/2 to second order; then no motion at all."""
    mu, speed = 0.35, 2.0
    ways = []
    for h in (0.01, 0.005):
        world, body, _, _, _ = block(dim, mu, speed=speed)
        run = st.Simulator(world, h, scheme=scheme).run(0.8)
        x, v = run.position(body), run.velocity(body)
        k = int(speed / (mu * G) / h)
        np.testing.assert_allclose(v[: k + 1, 0], speed - mu * G * run.times[: k + 1], atol=1e-11)
        assert np.abs(v[k + 1 :]).max() < 1e-12
        np.testing.assert_allclose(x[k + 1 :] - x[k + 1], 0.0, atol=1e-12)
        np.testing.assert_allclose(x[:, -1], 0.1, atol=1e-12)
        ways.append(x[-1, 0])
        assert x[-1, 0] == pytest.approx(speed**2 / (2 * mu * G) - h * speed / 2, abs=2 * mu * G * h**2)
    exact = speed**2 / (2 * mu * G)
    assert (exact - ways[0]) / (exact - ways[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("direction", np.arange(8) * math.pi / 4)
def test_block_slides_along_every_edge_of_the_cone(direction):
    """With eight directions, motion along one of them is Coulomb's to round-off."""
    mu, speed, h = 0.35, 1.0, 0.01
    along = np.array([math.cos(direction), math.sin(direction), 0.0])
    world = st.World()
    ground = world.add_plane()
    body = world.add_body(st.Box((0.4, 0.4, 0.2)), mass=2.0, position=(0, 0, 0.1), velocity=speed * along)
    world.set_contact(body, ground, friction=mu)
    run = st.Simulator(world, h, scheme=STEP).run(0.2)
    np.testing.assert_allclose(run.velocity(body), np.outer(speed - mu * G * run.times, along), atol=1e-12)
    np.testing.assert_allclose(run.angular_velocity(body), 0.0, atol=1e-11)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("tilt", ["plane", "gravity"])
@pytest.mark.parametrize("mu", [0.2, 0.8])
def test_incline_holds_below_the_friction_angle(dim, tilt, mu):
    world, body, ground, _, _ = block(dim, mu, math.atan(0.95 * mu), tilt)
    run = st.Simulator(world, 0.01, scheme=STEP).run(1.0)
    assert np.abs(run.position(body) - run.position(body)[0]).max() < 1e-12
    assert np.abs(run.velocity(body)).max() < 1e-12
    # friction and normal force together carry the weight
    np.testing.assert_allclose(run.force(body, ground), np.tile(-3.0 * world.gravity, (100, 1)), atol=1e-9)
    pressed = run.contacts(body, ground)
    assert set(pressed.mode[pressed.impulse[:, 0] > 1e-9].tolist()) == {int(Mode.STICK)}


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("tilt", ["plane", "gravity"])
@pytest.mark.parametrize("mu", [0.2, 0.8])
def test_incline_slips_above_the_friction_angle(dim, tilt, mu):
    slope = math.atan(1.05 * mu)
    world, body, _, up, normal = block(dim, mu, slope, tilt)
    run = st.Simulator(world, 0.01, scheme=STEP).run(1.0)
    a = G * (math.sin(slope) - mu * math.cos(slope))
    np.testing.assert_allclose(run.velocity(body) @ up, -a * run.times, atol=1e-9)
    np.testing.assert_allclose(run.position(body) @ normal, 0.1, atol=1e-11)


@pytest.mark.parametrize("dim", [2, 3])
def test_block_thrown_uphill_turns_back_or_stays(dim):
    mu, speed, h = 0.3, 2.0, 0.005
    for ratio, back in ((0.8, False), (1.6, True)):
        slope = math.atan(ratio * mu)
        world, body, _, up, _ = block(dim, mu, slope, speed=speed)
        run = st.Simulator(world, h, scheme=STEP).run(0.8)
        way = (run.position(body) - run.position(body)[0]) @ up
        top = speed**2 / (2 * G * (math.sin(slope) + mu * math.cos(slope)))
        assert way.max() == pytest.approx(top - h * speed / 2, abs=3e-4)
        assert (way[-1] < way.max() - 1e-3) == back


def test_free_flight_of_a_body_is_the_sum_of_the_steps():
    world = st.World()
    ball = world.add_body(st.Sphere(0.1), mass=2.0, position=(0, 0, 10), velocity=(1.5, 0, 0))
    run = st.Simulator(world, 0.01, scheme=STEP).run(0.5)
    k = np.arange(51)
    np.testing.assert_allclose(run.position(ball)[:, 0], 0.015 * k, atol=1e-12)
    np.testing.assert_allclose(run.position(ball)[:, 2], 10 - G * 1e-4 * k * (k + 1) / 2, atol=1e-12)


@pytest.mark.parametrize("dim", [2, 3])
def test_fast_flat_box_does_not_lift(dim):
    world, body, _, _, _ = block(dim, 0.5, speed=6.0)
    run = st.Simulator(world, 0.01, scheme=STEP).run(1.0)
    np.testing.assert_allclose(run.position(body)[:, -1], 0.1, atol=1e-10)


@pytest.mark.parametrize("dim", [2, 3])
def test_convex_relaxation_lifts_a_sliding_box_by_h_mu_slip(dim):
    """Φ/h + n v⁺ = µ λ with λ the slip speed: the gap at the end of a step is h µ λ, with a deceleration µ g/(1 + µ²)
    in the first step from rest on that height, and the height follows the slip down to zero."""
    mu, speed, h = 0.5, 6.0, 0.01
    world, body, _, _, _ = block(dim, mu, speed=speed)
    model = world.build()
    sim = st.Simulator(world, h, scheme=st.AnitescuHart(relaxation="convex", directions=8), solver="lemke")
    start = model.initial_state()
    q = start.q.copy()
    q[-2 if dim == 2 else -5] += h * mu * speed  # its height
    sim.state = st.State(0.0, q, start.v)
    run = sim.run(1.0)
    slip = run.velocity(body)[1:, 0]
    np.testing.assert_allclose(run.position(body)[1:, -1] - 0.1, h * mu * slip, atol=1e-10)
    assert slip[0] == pytest.approx(speed - mu * G * h / (1 + mu**2), rel=1e-12)
    assert slip[20] > 3.0


@pytest.mark.parametrize("dim", [2, 3])
def test_convex_relaxation_throws_a_box_that_is_launched_from_the_floor(dim):
    """From gap 0 the lift h µ λ needs the normal velocity µ λ, and friction with it: λ⁺ = (λ - µ g h)/(1 + µ²)."""
    mu, speed, h = 0.5, 6.0, 0.01
    world, body, _, _, _ = block(dim, mu, speed=speed)
    run = st.Simulator(world, h, scheme=st.AnitescuHart(relaxation="convex", directions=8), solver="lemke").run(h)
    slip = (speed - mu * G * h) / (1 + mu**2)
    v = run.velocity(body)[1]
    assert v[0] == pytest.approx(slip, rel=1e-12)
    assert v[-1] == pytest.approx(mu * slip, rel=1e-12)
    assert run.position(body)[1, -1] - 0.1 == pytest.approx(h * mu * slip, rel=1e-9)


def pushed(dim, mu, force, height, width=0.4, tall=0.6, mass=2.0):
    """A box pushed along x at a height above the floor; returns its run."""
    world, body, _, _, _ = block(dim, mu, size=(width, tall), mass=mass)
    push, point = np.zeros(dim), np.zeros(dim)
    push[0], point[-1] = force, height - 0.5 * tall
    world.add_force(body, push, point=point)
    run = st.Simulator(world, 0.005, scheme=STEP).run(0.2)
    turn = run.angle(body) if dim == 2 else -2 * run.orientation(body)[:, 2]
    return run, run.position(body), run.velocity(body), turn


@pytest.mark.parametrize("dim", [2, 3])
def test_pushed_box_slides_or_tips(dim):
    """At rest it tips about its edge if F y > m g b/2 and slides if F > µ m g: which comes first changes at b/2µ."""
    mu, b, m = 0.5, 0.4, 2.0
    weight, height = m * G, b / (2 * mu)
    # below the threshold: a push just too weak to slide does nothing, a stronger one slides it flat
    for factor, slides in ((0.98, False), (1.02, True)):
        _, x, v, turn = pushed(dim, mu, factor * mu * weight, 0.9 * height)
        np.testing.assert_allclose(turn, 0.0, atol=1e-11)
        assert (v[-1, 0] > 1e-3) == slides
        if not slides:
            assert np.abs(x - x[0]).max() < 1e-12
    # above it: a push too weak to slide tips
    for factor, tips in ((0.98, False), (1.02, True)):
        y = 1.2 * height
        force = factor * weight * b / 2 / y
        assert force < mu * weight
        _, x, v, turn = pushed(dim, mu, force, y)
        assert (turn[-1] < -1e-3) == tips
        if not tips:
            assert np.abs(x - x[0]).max() < 1e-12


@pytest.mark.parametrize("dim", [2, 3])
def test_sliding_box_tips_when_the_load_leaves_its_base(dim):
    """While it slides the load moves forward by (F (y - c) + µ N c)/N, c half the height; it tips beyond b/2."""
    mu, b, c, m = 0.3, 0.4, 0.3, 2.0
    force = 2 * mu * m * G
    y = c + m * G * (b / 2 - mu * c) / force
    for factor, tips in ((0.98, False), (1.02, True)):
        run, _, v, turn = pushed(dim, mu, force, c + factor * (y - c))
        assert (turn[-1] < -1e-4) == tips
        if not tips:
            np.testing.assert_allclose(v[:, 0], (force / m - mu * G) * run.times, atol=1e-11)
