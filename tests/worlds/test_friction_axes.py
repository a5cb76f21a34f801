"""Friction that depends on the direction of slip, along axes fixed in a body: pucks, skates, sleds and skis."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import stiction as st

G = 9.81
STEPS = (0.01, 0.005, 0.0025)


def slider(friction, velocity, yaw=0.0, angle=0.0, first="body"):
    """A ball that cannot tip: it touches in one point, slides, and turns about the vertical."""
    world = st.World()
    floor = world.add_plane(name="floor")
    body = world.add_body(
        st.Sphere(0.1), name="slider", mass=2.0, inertia=(1e9, 1e9, 0.01), position=(0, 0, 0.1),
        velocity=(*velocity, 0), angular_velocity=(0, 0, yaw),
        orientation=(np.cos(0.5 * angle), 0, 0, np.sin(0.5 * angle)),
    )  # fmt: skip
    world.set_contact(*((body, floor) if first == "body" else (floor, body)), friction=friction)
    return world, body


def force(mu, velocity, angle=0.0):
    """Friction per normal force on a point that slips: f = -R mu² Rᵀ v/|mu Rᵀ v| with R the turn by `angle`."""
    c, s = np.cos(angle), np.sin(angle)
    own = np.array([c * velocity[0] + s * velocity[1], -s * velocity[0] + c * velocity[1]])
    f = -np.square(mu) * own / np.linalg.norm(mu * own)
    return np.array([c * f[0] - s * f[1], s * f[0] + c * f[1]])


def check_first_order(errors):
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (np.abs(rates - 1.0) < 0.15).all(), errors


@pytest.mark.parametrize("first", ["body", "floor"])
def test_a_puck_on_grained_ground_follows_a_power_law(first):
    """v_x'/v_x : v_y'/v_y = mu_x² : mu_y², so that |v_x| ∝ |v_y|^((mu_x/mu_y)²), whoever owns the grain."""
    mu, start = np.array([0.2, 0.4]), np.array([1.0, 2.0])
    power = (mu[0] / mu[1]) ** 2
    errors = []
    for h in STEPS:
        world, body = slider(st.Anisotropic(*mu, axis=(1, 0, 0)), start, first=first)
        v = st.Simulator(world, h).run(0.3).velocity(body)
        errors.append(np.abs(v[:, 0] / start[0] - (v[:, 1] / start[1]) ** power).max())
        assert v[-1, 1] < 0.6 * start[1]
    check_first_order(errors)


def test_sticking_puck():
    """It stays where the pull is inside the ellipse, and slides outside of it."""
    for pull, moves in ((0.19, False), (0.21, True)):
        for way, factor in (((1, 0), 1.0), ((0, 1), 3.0)):
            world, body = slider(st.Anisotropic(0.2, 0.6, axis=(1, 0, 0)), (0, 0))
            world.add_force(body, (*(pull * factor * 2.0 * G * np.array(way)), 0))
            speed = np.linalg.norm(st.Simulator(world, 0.01, tol=1e-9).run(0.1).velocity(body)[-1])
            assert speed == pytest.approx(0.01 * factor * G * 0.1 if moves else 0.0, rel=1e-6, abs=1e-9)


def test_a_skate_that_turns():
    """One skate with a given yaw rate, against the equations of motion: v' = g f(v, θ), θ' = const."""
    mu, start, yaw, end = np.array([0.02, 0.5]), np.array([3.0, 0.3]), 1.5, 0.6

    def rate(t, y):
        return [y[2], y[3], *(G * force(mu, y[2:], yaw * t))]

    exact = solve_ivp(rate, (0, end), [0, 0, *start], rtol=1e-11, atol=1e-12, method="LSODA").y[:, -1]
    errors = []
    for h in STEPS:
        world, body = slider(st.Anisotropic(*mu, axis=(1, 0, 0)), start, yaw)
        run = st.Simulator(world, h, tol=1e-9).run(end)
        errors.append(np.abs([*run.position(body)[-1, :2], *run.velocity(body)[-1, :2]] - exact).max())
        np.testing.assert_allclose(run.angular_velocity(body)[:, 2], yaw, rtol=1e-9)
    check_first_order(errors)
    assert errors[-1] < 0.01


RUNNERS = 0.4 * np.array([[np.cos(a), np.sin(a)] for a in 2 * np.pi * np.arange(3) / 3])


def test_a_sled_on_three_runners_slides_and_yaws():
    """Three runners with the load of a third each (the centre of mass is at the ground, so that nothing tips)."""
    mu, mass, inertia, end = np.array([0.05, 0.3]), 3.0, 0.2, 0.5
    start, spin = np.array([2.0, 0.5]), 4.0

    def rate(t, y):
        angle, turning = y[2], y[5]
        c, s = np.cos(angle), np.sin(angle)
        push, torque = np.zeros(2), 0.0
        for x, z in RUNNERS:
            arm = np.array([c * x - s * z, s * x + c * z])
            f = mass * G / 3 * force(mu, y[3:5] + turning * np.array([-arm[1], arm[0]]), angle)
            push += f
            torque += arm[0] * f[1] - arm[1] * f[0]
        return [*y[3:], *(push / mass), torque / inertia]

    exact = solve_ivp(rate, (0, end), [0, 0, 0, *start, spin], rtol=1e-11, atol=1e-12, method="LSODA").y[:, -1]
    errors = []
    for h in STEPS:
        world = st.World()
        floor = world.add_plane()
        sled = world.add_body(
            [st.Sphere(0.05, position=(x, y, 0.05)) for x, y in RUNNERS], mass=mass, inertia=(1.0, 1.0, inertia),
            com=(0, 0, 0), velocity=(*start, 0), angular_velocity=(0, 0, spin),
        )  # fmt: skip
        world.set_contact(sled, floor, friction=st.Anisotropic(*mu, axis=(1, 0, 0)))
        run = st.Simulator(world, h, tol=1e-9).run(end)
        v = [*run.velocity(sled)[-1, :2], run.angular_velocity(sled)[-1, 2]]
        errors.append(np.abs([*run.position(sled)[-1, :2], *v] - exact[[0, 1, 3, 4, 5]]).max())
        np.testing.assert_allclose(run.position(sled)[:, 2], 0.0, atol=1e-9)
    check_first_order(errors)


@pytest.mark.parametrize("angle", [0.0, 0.7, 2.5])
@pytest.mark.parametrize("floor_first", [False, True])
def test_a_ski_with_skins_slides_forwards_only(angle, floor_first):
    """Of a set that is not symmetric friction acts on the first body, in the order of `set_contact`.

    The ski's own: friction on it acts along +axis only, against sliding backwards. Of a floor with scales: friction
    on the floor acts along +axis, and so on the ski along -axis. In whatever order the bodies were added.
    """
    mu, h = 0.3, 0.01
    for add_floor_first in (True, False):
        for speed in (1.0, -1.0):
            world = st.World()
            way = np.array([np.cos(angle), np.sin(angle), 0])
            floor = world.add_plane(name="floor") if add_floor_first else None
            ski = world.add_body(
                st.Sphere(0.1), name="ski", mass=2.0, inertia=1e9, position=(0, 0, 0.1), velocity=speed * way,
                orientation=(np.cos(0.5 * angle), 0, 0, np.sin(0.5 * angle)),
            )  # fmt: skip
            floor = floor or world.add_plane(name="floor")
            axis = way if floor_first else (1, 0, 0)
            law = st.Polyhedral(mu, directions=[[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], axis=axis)
            world.set_contact(*((floor, ski) if floor_first else (ski, floor)), friction=law)
            run = st.Simulator(world, h, tol=1e-10).run(0.1)
            free = speed < 0 if floor_first else speed > 0
            wanted = speed if free else speed - np.sign(speed) * mu * G * 0.1
            np.testing.assert_allclose(run.velocity(ski)[-1], wanted * way, atol=1e-8)


def test_tangents_follow_the_axis_and_are_recorded():
    """Tangent 1 is the axis in the tangent plane, tangent 2 = normal × tangent 1, and the owner is first."""
    law = st.Anisotropic(0.1, 0.5, axis=(1, 0, 5))
    world, body = slider(law, (2, 1), yaw=3.0)
    run = st.Simulator(world, 0.01, tol=1e-10).run(0.2)
    table = run.table
    assert (table.bodies == [world.body(body), world.body("floor")]).all()
    np.testing.assert_allclose(table.normal, np.tile([0, 0, 1.0], (20, 1)), atol=1e-9)
    turn = 3.0 * run.times[:-1]
    np.testing.assert_allclose(table.tangent, np.column_stack([np.cos(turn), np.sin(turn), 0 * turn]), atol=1e-9)
    v = run.velocity(body)
    u = np.column_stack(
        [np.cos(turn) * v[1:, 0] + np.sin(turn) * v[1:, 1], np.cos(turn) * v[1:, 1] - np.sin(turn) * v[1:, 0]]
    )
    np.testing.assert_allclose(table.velocity[:, 1:3], u, atol=1e-8)
    np.testing.assert_allclose(run.force(body, "floor")[:, :2] / 2.0, np.diff(v[:, :2], axis=0) / 0.01, atol=1e-7)
    turned = run.contacts("floor", body)
    np.testing.assert_allclose(run.force("floor", body), -run.force(body, "floor"), atol=1e-9)
    np.testing.assert_allclose(turned.normal, -table.normal)


def test_an_axis_along_the_normal_leaves_the_usual_frame():
    law = st.Anisotropic(0.2, 0.4, axis=(0, 0, 1))
    world, body = slider(law, (1, 0))
    run = st.Simulator(world, 0.01).run(0.1)
    assert np.isfinite(run.velocity(body)).all()
    np.testing.assert_allclose(np.abs(run.table.tangent), np.tile([0, 1.0, 0], (10, 1)), atol=1e-12)  # n × x
    np.testing.assert_allclose(run.velocity(body)[-1, 0], 1 - 0.4 * G * 0.1, atol=1e-6)


@pytest.mark.parametrize("axis_of", ["ball", "box"])
@pytest.mark.parametrize("law", [st.Anisotropic, st.Torsional, st.Mixed])
def test_neither_the_order_of_bodies_nor_the_frame_matters(axis_of, law):
    """A ball on a box on a floor, with anisotropic friction owned by either, in other axes and another order."""
    rng = np.random.default_rng(1)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    angle = np.arccos(0.5 * (np.trace(turn) - 1))
    way = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / (2 * np.sin(angle))
    quaternion = np.array([np.cos(0.5 * angle), *(np.sin(0.5 * angle) * way)])
    runs = []
    for frame, quat, backwards in (
        (np.eye(3), (1, 0, 0, 0), False),
        (np.eye(3), (1, 0, 0, 0), True),
        (turn, quaternion, False),
    ):
        world = st.World(gravity=frame @ [0, 0, -G])
        make = [
            lambda w=world, f=frame: w.add_plane(f @ [0, 0, 1], name="floor"),
            lambda w=world, f=frame, o=quat: w.add_body(
                st.Box((2.0, 2.0, 0.2)), mass=5.0, position=f @ [0, 0, 0.1], orientation=o, name="box"
            ),
            lambda w=world, f=frame, o=quat: w.add_body(
                st.Sphere(0.2), mass=1.0, position=f @ [0, 0, 0.4], velocity=f @ [1.0, 0.7, 0], orientation=o,
                angular_velocity=f @ [0, 0, 9.0], name="ball",
            ),
        ]  # fmt: skip
        for one in reversed(make) if backwards else make:
            one()
        friction = (
            law(0.2, 0.5, axis=(1, 0.3, 0)) if law is st.Anisotropic else law(0.4, 1, 0.4, 0.05, axis=(1, 0.3, 0))
        )
        world.set_contact(*(("ball", "box") if axis_of == "ball" else ("box", "ball")), friction=friction)
        world.set_contact("box", "floor", friction=5.0)
        runs.append((frame, st.Simulator(world, 0.01, tol=1e-12).run(0.3)))
    plain = runs[0][1]
    assert np.ptp(plain.velocity("ball")[:, :2]) > 0.1
    for frame, run in runs[1:]:
        for what in (st.Trajectory.position, st.Trajectory.velocity, st.Trajectory.angular_velocity):
            np.testing.assert_allclose(what(run, "ball"), what(plain, "ball") @ frame.T, atol=1e-8)


def test_materials_keep_their_order():
    """The first named material owns the axis, whichever body was added first."""
    for backwards in (False, True):
        world = st.World()
        for name in ("wood", "steel"):
            world.set_material(name, friction=0.3)
        make = [
            lambda w=world: w.add_plane(material="wood", name="floor"),
            lambda w=world: w.add_body(
                st.Sphere(0.1), mass=1.0, inertia=1e9, position=(0, 0, 0.1), velocity=(1, 0, 0), material="steel",
                orientation=(0.5**0.5, 0, 0, 0.5**0.5), name="puck",
            ),
        ]  # fmt: skip
        for one in reversed(make) if backwards else make:
            one()
        for names, mu in ((("wood", "steel"), 0.1), (("steel", "wood"), 0.5)):  # the puck's own x is the world's y
            world.set_contact(*names, friction=st.Anisotropic(0.1, 0.5, axis=(1, 0, 0)))
            run = st.Simulator(world, 0.01).run(0.1)
            np.testing.assert_allclose(run.velocity("puck")[-1, 0], 1 - mu * G * 0.1, atol=1e-6)


AXIS = (1, 0, 0)


@pytest.mark.parametrize(
    ("friction", "message"),
    [
        (lambda: st.Anisotropic(0.1, 0.2), "'box' and 'floor'.*direction.*axis="),
        (lambda: st.Torsional(0.1, 1.0, 0.5, 0.1), "direction.*axis="),
        (lambda: st.Mixed(0.1, 1.0, 0.5, 0.1), "direction.*axis="),
        (lambda: st.Polyhedral(0.1, directions=[[1, 0], [-1, 0], [0, 0.5], [0, -0.5]]), "direction.*axis="),
        (lambda: st.Polyhedral(0.1, directions=[[1, 0]]), "direction.*axis="),
        (lambda: st.Polyhedral(0.1, directions=[[1], [-1]]), "1 rows"),
        (lambda: st.Anisotropic(0.1, 0.2, axis=(0, 0, 0)), "axis.*zero"),
        (lambda: st.Anisotropic(0.1, 0.2, axis=(0, np.nan, 0)), "axis"),
        (lambda: st.Anisotropic(0.1, 0.2, axis=(1, 0)), "axis"),
    ],
)
def test_bad_axes_are_refused_in_space(friction, message):
    world = st.World()
    world.add_plane(name="floor")
    box = world.add_body(st.Box((1, 1, 1)), mass=1.0, name="box")
    with pytest.raises(st.ModelError, match=message):
        world.set_contact(box, "floor", friction=friction())


@pytest.mark.parametrize(
    ("friction", "message"),
    [
        (st.Torsional(0.3), "'box' and 'floor'.*in the plane"),
        (st.Mixed(0.3), "in the plane"),
        (st.Anisotropic(0.1, 0.2, axis=AXIS), "in the plane"),
        (st.Rolling(0.1, 0.2, 0.3), "in the plane"),
        (st.Polyhedral(0.1, directions=[[1], [-1]], axis=AXIS), "axis has no meaning in the plane"),
        (st.Polyhedral(0.1, directions=[[1, 0, 0], [-1, 0, 0]]), "3 rows"),
    ],
)
def test_friction_of_space_is_refused_in_the_plane(friction, message):
    world = st.PlanarWorld()
    world.add_plane(name="floor")
    box = world.add_body(st.Polygon.box(1, 1), mass=1.0, name="box")
    with pytest.raises(st.ModelError, match=message):
        world.set_contact(box, "floor", friction=friction)


def test_an_axis_needs_a_pair_that_can_be_told_apart():
    law = st.Anisotropic(0.1, 0.2, axis=AXIS)
    world = st.World()
    with pytest.raises(st.ModelError, match=r"'wood'.*first.*set_contact\(a, b"):
        world.set_material("wood", friction=law)
    world.set_material("wood", friction=0.3)
    with pytest.raises(st.ModelError, match="none is first"):
        world.set_contact("wood", "wood", friction=law)
    planar = st.PlanarWorld()
    with pytest.raises(st.ModelError, match="none is first"):
        planar.set_material("wood", friction=st.Polyhedral(0.1, directions=[[1, 0], [-1, 0], [0, 0.1]]))
    planar.set_material("wood", friction=st.Rolling(0.3, 0.1))


@pytest.mark.parametrize("count", [3, 4, 5, 8, 12])
def test_regular_polygons_need_no_axis(count):
    world = st.World()
    world.set_material("wood", friction=st.Polyhedral(0.3, directions=st.Coulomb(1.0).directions(2, count)))
    world.set_material("clay", friction=st.Polyhedral(0.3, directions=st.Torsional(1.0, er=0.1).directions(3, count)))


def test_a_wheel_with_a_freewheel_turns_one_way():
    """In the plane rolling has a sign: that of the first body less the second, in the order of `set_contact`."""
    for first in ("wheel", "floor"):
        for floor_added_first in (True, False):
            for speed in (1.0, -1.0):
                world = st.PlanarWorld()
                turn = {"velocity": (speed, 0), "angular_velocity": -speed / 0.3}
                if floor_added_first:
                    world.add_plane(name="floor")
                wheel = world.add_body(st.Disk(0.3), mass=2.0, position=(0, 0.3), name="wheel", **turn)
                if not floor_added_first:
                    world.add_plane(name="floor")
                # moments on the first body are counter-clockwise: they brake what turns clockwise
                law = st.Polyhedral(1.0, directions=[[0.5, 0.0], [-0.5, 0.0], [0.5, 0.02], [-0.5, 0.02]])
                world.set_contact(first, "floor" if first == "wheel" else "wheel", friction=law)
                run = st.Simulator(world, 0.01, tol=1e-10).run(0.1)
                brakes = (speed > 0) == (first == "wheel")
                wanted = speed - np.sign(speed) * brakes * 2 / 3 * 0.02 * G / 0.3 * 0.1
                np.testing.assert_allclose(run.velocity(wheel)[-1, 0], wanted, atol=1e-8)
