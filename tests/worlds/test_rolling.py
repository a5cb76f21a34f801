"""Balls and disks: from sliding to rolling, down inclines, and over round things."""

import math

import numpy as np
import pytest

import stiction as st
from stiction import Mode

G, R = 9.81, 0.3
STEP = st.AnitescuHart(directions=8)
SCHEMES = [STEP, st.StewartTrinkle(), st.StewartTrinkle(nonlinear=True)]
# I = β m r²
BETA = {2: 0.5, 3: 0.4}


def scheme_name(scheme):
    return type(scheme).__name__ + (" nonlinear" if getattr(scheme, "nonlinear", False) else "")


def roller(dim, mu, slope=0.0, speed=0.0):
    """A disk or ball on a ground inclined about the origin; along: downhill."""
    c, s = math.cos(slope), math.sin(slope)
    if dim == 2:
        world = st.PlanarWorld()
        normal, along = np.array([s, c]), np.array([c, -s])
        ground, shape = world.add_half_plane(normal=normal), st.Disk(R)
    else:
        world = st.World()
        normal, along = np.array([s, 0, c]), np.array([c, 0, -s])
        ground, shape = world.add_plane(normal=normal), st.Sphere(R)
    body = world.add_body(shape, mass=2.0, position=R * normal, velocity=speed * along)
    world.set_contact(body, ground, friction=mu)
    return world, body, ground, along


def rolling_spin(run, body, dim):
    """Angular velocity in the sense of rolling along +x."""
    return -run.angular_velocity(body) if dim == 2 else run.angular_velocity(body)[:, 1]


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("scheme", SCHEMES, ids=scheme_name)
def test_sliding_becomes_rolling(dim, scheme):
    """v falls by µ g, ω r rises by µ g/β; they meet at v0 β/((1 + β) µ g), at v0/(1 + β): 5/7 v0 and 2/3 v0."""
    mu, speed, h = 0.3, 4.0, 0.01
    beta = BETA[dim]
    world, body, ground, _ = roller(dim, mu, speed=speed)
    run = st.Simulator(world, h, scheme=scheme).run(1.0)
    meets = speed * beta / ((1 + beta) * mu * G)
    assert meets == pytest.approx(2 * speed / (7 * mu * G) if dim == 3 else speed / (3 * mu * G))
    v, spin = run.velocity(body)[:, 0], rolling_spin(run, body, dim)
    k = int(meets / h)
    np.testing.assert_allclose(v[: k + 1], speed - mu * G * run.times[: k + 1], atol=1e-11)
    np.testing.assert_allclose(R * spin[: k + 1], mu * G / beta * run.times[: k + 1], atol=1e-11)
    # the moment of momentum about the floor is kept, so the final speed has no error of the step
    np.testing.assert_allclose(v[k + 1 :], speed / (1 + beta), atol=1e-11)
    np.testing.assert_allclose(R * spin[k + 1 :], speed / (1 + beta), atol=1e-11)
    mode = run.contacts(body, ground).mode
    assert (mode[:k] == Mode.SLIP).all()
    assert (mode[k + 1 :] == Mode.STICK).all()
    stick = [event.time for event in run.events if event.kind == "stick"]
    assert stick == [pytest.approx(meets, abs=h)]


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("scheme", SCHEMES, ids=scheme_name)
def test_rolling_down_an_incline(dim, scheme):
    """g sin a/(1 + β): 5/7 g sin a for a ball, 2/3 g sin a for a disk; friction is β/(1 + β) m g sin a."""
    slope, beta = 0.4, BETA[dim]
    world, body, ground, along = roller(dim, 0.5, slope)
    run = st.Simulator(world, 0.01, scheme=scheme).run(0.5)
    a = G * math.sin(slope) / (1 + beta)
    np.testing.assert_allclose(run.velocity(body) @ along, a * run.times, atol=1e-10)
    np.testing.assert_allclose(R * rolling_spin(run, body, dim), a * run.times, atol=1e-10)
    # the work of friction is zero up to round-off, since the contact point is at rest
    np.testing.assert_allclose(run.energy.work["friction"], 0.0, atol=1e-9)
    np.testing.assert_allclose(
        run.force(body, ground) @ along, -2.0 * beta / (1 + beta) * G * math.sin(slope), atol=1e-8
    )


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize(("factor", "slips"), [(0.99, False), (1.02, True), (1.5, True)])
def test_steep_inclines_slip(dim, factor, slips):
    """Beyond tan a = µ (1 + β)/β (7µ/2 for a ball, 3µ for a disk) it slips with g (sin a - µ cos a)."""
    mu, beta = 0.3, BETA[dim]
    slope = math.atan(factor * mu * (1 + beta) / beta)
    world, body, _, along = roller(dim, mu, slope)
    run = st.Simulator(world, 0.01, scheme=STEP).run(0.5)
    linear = G * (math.sin(slope) - mu * math.cos(slope)) if slips else G * math.sin(slope) / (1 + beta)
    turning = mu * G * math.cos(slope) / beta if slips else linear
    np.testing.assert_allclose(run.velocity(body) @ along, linear * run.times, atol=1e-10)
    np.testing.assert_allclose(R * rolling_spin(run, body, dim), turning * run.times, atol=1e-10)


def test_backspin_brings_a_ball_back():
    """v⁺ = (v0 - β r ω0)/(1 + β): enough backspin reverses the motion."""
    mu, v0, spin = 0.4, 1.0, 15.0
    world = st.World()
    ground = world.add_plane()
    ball = world.add_body(
        st.Sphere(R), mass=1.0, position=(0, 0, R), velocity=(v0, 0, 0), angular_velocity=(0, -spin, 0)
    )
    world.set_contact(ball, ground, friction=mu)
    run = st.Simulator(world, 0.005, scheme=STEP).run(1.5)
    final = (v0 - 0.4 * R * spin) / 1.4
    assert final < 0
    np.testing.assert_allclose(run.velocity(ball)[-1], [final, 0, 0], atol=1e-10)


def test_a_ball_spinning_about_the_vertical_keeps_on():
    """Point contact with Coulomb friction has no moment about its normal."""
    world = st.World()
    world.add_plane()
    ball = world.add_body(st.Sphere(R), mass=1.0, position=(0, 0, R), angular_velocity=(0, 0, 10.0))
    run = st.Simulator(world, 0.01, scheme=STEP).run(1.0)
    np.testing.assert_allclose(run.angular_velocity(ball), np.tile([0, 0, 10.0], (101, 1)), atol=1e-12)
    np.testing.assert_allclose(run.velocity(ball), 0.0, atol=1e-14)


def test_capsule_rolls_like_a_cylinder_of_its_inertia():
    """Lying across the slope, two contacts: a = g sin a/(1 + I/m r²)."""
    world, slope = st.World(), 0.3
    ground = world.add_plane(normal=(math.sin(slope), 0, math.cos(slope)))
    lying = (math.sqrt(0.5), math.sqrt(0.5), 0, 0)  # its axis along y
    body = world.add_body(
        st.Capsule(0.1, 0.5), mass=1.0, position=0.1 * np.array([math.sin(slope), 0, math.cos(slope)]),
        orientation=lying,
    )  # fmt: skip
    world.set_contact(body, ground, friction=0.6)
    run = st.Simulator(world, 0.01, scheme=STEP).run(0.4)
    beta = world.build().specs[body.index].inertia[2, 2] / 0.01
    a = G * math.sin(slope) / (1 + beta)
    np.testing.assert_allclose(run.velocity(body) @ [math.cos(slope), 0, -math.sin(slope)], a * run.times, atol=1e-9)
    np.testing.assert_allclose(run.angular_velocity(body)[:, 1], a / 0.1 * run.times, atol=1e-8)


def over_a_ball(big=1.0, small=0.2, mu=0.8, start=0.15, dim=3):
    """A ball that starts rolling near the top of a fixed ball."""
    world = st.World() if dim == 3 else st.PlanarWorld()
    place = (big + small) * np.array([math.sin(start), math.cos(start)])
    if dim == 3:
        hill = world.add_body(st.Sphere(big), kind="fixed", name="hill")
        ball = world.add_body(st.Sphere(small), mass=1.0, position=(place[0], 0, place[1]), name="ball")
    else:
        hill = world.add_body(st.Disk(big), kind="fixed", name="hill")
        ball = world.add_body(st.Disk(small), mass=1.0, position=place, name="ball")
    world.set_contact(hill, ball, friction=mu)
    return world, hill, ball


@pytest.mark.parametrize("dim", [2, 3])
def test_rolling_over_a_ball_never_overlaps_and_lifts_by_half_h2_v2_over_r(dim):
    """The distance of round things is convex, so a step along the tangent plane lifts by at most ½ h² v²/(R + r)."""
    constants = []
    for h in (0.016, 0.008, 0.004):
        world, hill, ball = over_a_ball(dim=dim)
        run = st.Simulator(world, h, scheme=STEP).run(0.9)
        pressed = run.contacts(ball, hill)
        rows = pressed.impulse[:, 0] > 0
        speed = np.linalg.norm(run.velocity(ball), axis=1)[pressed.step[rows] + 1]
        gap = pressed.gap[rows]
        assert gap.min() > -1e-13
        constants.append(float((gap / (h**2 * speed**2 / 1.2))[speed > 0.1].max()))
    np.testing.assert_allclose(constants, 0.5, atol=0.02)


@pytest.mark.parametrize("dim", [2, 3])
def test_ball_leaves_the_hill_at_the_known_angle(dim):
    """Rolling without slip from rest at a0 the ball leaves where cos a = 2 cos a0/(3 + β), to first order in h."""
    beta, start = BETA[dim], 0.15
    exact = math.acos(2 * math.cos(start) / (3 + beta))
    rate = math.sqrt(G * math.cos(exact) / 1.2)  # of the angle when it leaves
    for h in (0.01, 0.005):
        world, hill, ball = over_a_ball(mu=50.0, start=start, dim=dim)
        run = st.Simulator(world, h, scheme=STEP).run(1.3)
        table = run.contacts(ball, hill)
        last = int(table.step[table.impulse[:, 0] > 0].max())
        x = run.position(ball)[last + 1]
        assert math.atan2(x[0], x[-1]) == pytest.approx(exact, abs=2 * h * rate)


def paddle(h, rate=2.0, r=0.1):
    """A ball swept along by the face of a turning paddle: the one kind of contact whose gap is concave."""
    world = st.World(gravity=(0, 0, 0))
    arm = world.add_body(st.Box((2.0, 0.1, 0.4)), kind="kinematic", angular_velocity=(0, 0, rate), name="paddle")
    ball = world.add_body(st.Sphere(r), mass=1.0, position=(0.5, 0.05 + r, 0), velocity=(0, 0.5 * rate, 0))
    world.set_contact(arm, ball, friction=0.0)
    return st.Simulator(world, h, scheme=STEP).run(0.35), ball, arm


def test_overlap_on_a_turning_face_is_of_second_order():
    """gap'' = -2 ω v along the face and less: the overlap is at most C h² ω v with C near 1, pulled back each step."""
    constants = []
    for h in (0.01, 0.005, 0.0025):
        run, ball, _ = paddle(h)
        speed = np.linalg.norm(run.velocity(ball), axis=1).max()
        constants.append(run.certificate.worst["penetration"] / (h**2 * 2.0 * speed))
    assert constants[0] > 0.1
    assert max(constants) < 1.5
    assert np.ptp(constants) < 0.2 * max(constants)
