"""Bodies that move as they are told, and what they do to others."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import stiction as st

G = 9.81
STEP = st.AnitescuHart(directions=8)
SCHEMES = [STEP, st.StewartTrinkle(), st.StewartTrinkle(nonlinear=True)]


def scheme_name(scheme):
    return type(scheme).__name__ + (" nonlinear" if getattr(scheme, "nonlinear", False) else "")


def on_belt(dim, mu=0.4, **belt):
    """A box at rest on a kinematic plane."""
    if dim == 2:
        world = st.PlanarWorld()
        floor = world.add_body(st.HalfPlane(), kind="kinematic", **belt)
        box = world.add_body(st.Polygon.box(0.4, 0.2), mass=2.0, position=(0, 0.1))
    else:
        world = st.World()
        floor = world.add_body(st.Plane(), kind="kinematic", **belt)
        box = world.add_body(st.Box((0.4, 0.4, 0.2)), mass=2.0, position=(0, 0, 0.1))
    world.set_contact(floor, box, friction=mu)
    return world, floor, box


def along(dim, x):
    return (x, 0.0) if dim == 2 else (x, 0.0, 0.0)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("scheme", SCHEMES, ids=scheme_name)
@pytest.mark.parametrize("by", ["velocity", "motion"])
def test_conveyor_drags_a_box(dim, scheme, by):
    """µ g until it has the belt's speed, and with it from then on; the belt does F v Δt of work."""
    mu, speed, h = 0.4, 1.5, 0.01
    belt = {"velocity": along(dim, speed)} if by == "velocity" else {"motion": lambda t: along(dim, speed * t)}
    world, floor, box = on_belt(dim, mu, **belt)
    run = st.Simulator(world, h, scheme=scheme).run(0.7)
    np.testing.assert_allclose(run.velocity(box)[:, 0], np.minimum(mu * G * run.times, speed), atol=1e-11)
    np.testing.assert_allclose(run.position(box)[:, -1], 0.1, atol=1e-12)
    np.testing.assert_allclose(run.position(floor)[:, 0], speed * run.times, atol=1e-12)
    work = run.energy.work
    force = run.force(box, floor)[:, 0]
    np.testing.assert_allclose(work["applied"], force * speed * h, atol=1e-11)
    # of m v² half becomes kinetic energy and half heat
    assert work["applied"].sum() == pytest.approx(2.0 * speed**2, rel=1e-9)
    assert work["friction"].sum() == pytest.approx(-0.5 * 2.0 * speed**2, rel=1e-9)
    np.testing.assert_allclose(run.certificate["energy"], 0.0, atol=1e-12)


def test_lift_works_against_gravity():
    """A floor that rises steadily: the box rises with it, and the work is m g v."""
    world, floor, box = on_belt(3, velocity=(0, 0, 0.5))
    run = st.Simulator(world, 0.01, scheme=STEP).run(1.0)
    np.testing.assert_allclose(run.position(box)[:, 2], 0.1 + 0.5 * run.times, atol=1e-11)
    np.testing.assert_allclose(run.energy.work["applied"][1:], 2 * G * 0.5 * 0.01, rtol=1e-9)
    np.testing.assert_allclose(run.force(box, floor)[1:, 2], 2 * G, rtol=1e-9)


@pytest.mark.parametrize("dim", [2, 3])
def test_shaken_box_holds_or_slips(dim):
    """A floor shaken by A sin wt holds the box while A w² < µ g, and slips beyond."""
    mu, w = 0.4, 10.0
    for factor, holds in ((0.95, True), (2.0, False)):
        size = factor * mu * G / w**2

        def shake(t, size=size):
            return along(dim, size * (1 - math.cos(w * t)))

        world, floor, box = on_belt(dim, mu, motion=shake)
        run = st.Simulator(world, 0.004, scheme=STEP).run(0.8)
        slip = run.position(box)[:, 0] - run.position(floor)[:, 0]
        assert (np.abs(slip).max() < 1e-11) == holds
        assert np.abs(np.diff(run.velocity(box)[:, 0])).max() <= mu * G * 0.004 * (1 + 1e-9)


def test_floor_that_falls_faster_than_gravity_leaves_the_box():
    world, floor, box = on_belt(3, motion=lambda t: (0, 0, -10.0 * t**2))
    run = st.Simulator(world, 0.01, scheme=STEP).run(0.3)
    k = np.arange(31)
    np.testing.assert_allclose(run.position(box)[:, 2], 0.1 - G * 1e-4 * k * (k + 1) / 2, atol=1e-12)
    assert np.abs(run.force(box, floor)).max() == 0.0


def test_motion_may_turn():
    """motion(t) -> (position, orientation): the recorded pose and velocity are those of the function."""
    turn = Rotation.from_rotvec

    def swing(t):
        return (0.1 * t, 0, 0), turn([0, 0, math.sin(t)]).as_quat(scalar_first=True)

    world = st.World()
    arm = world.add_body(st.Box((1, 0.1, 0.1)), kind="kinematic", motion=swing)
    world.add_body(st.Sphere(0.1), mass=1.0, position=(0, 0, 5))
    run = st.Simulator(world, 0.01, scheme=STEP).run(1.0)
    for k in (0, 37, 100):
        seen = Rotation.from_quat(run.orientation(arm)[k], scalar_first=True)
        assert (seen * turn([0, 0, math.sin(run.times[k])]).inv()).magnitude() < 1e-12
    np.testing.assert_allclose(run.position(arm), np.outer(run.times, [0.1, 0, 0]), atol=1e-12)
    np.testing.assert_allclose(run.velocity(arm)[1:], np.tile([0.1, 0, 0], (100, 1)), atol=1e-10)
    np.testing.assert_allclose(run.angular_velocity(arm)[1:, 2], np.diff(np.sin(run.times)) / 0.01, atol=1e-9)


def test_motion_in_the_plane_may_turn():
    world = st.PlanarWorld()
    arm = world.add_body(st.Rod(0.1, 1.0), kind="kinematic", motion=lambda t: ((t, 0.0), 2 * t))
    plain = world.add_body(st.Disk(0.1), kind="kinematic", motion=lambda t: (5.0, t))
    run = st.Simulator(world, 0.01).run(0.5)
    np.testing.assert_allclose(run.angle(arm), 2 * run.times, atol=1e-12)
    np.testing.assert_allclose(run.position(arm), np.outer(run.times, [1, 0]), atol=1e-12)
    np.testing.assert_allclose(run.position(plain), np.column_stack([np.full(51, 5.0), run.times]), atol=1e-12)


@pytest.mark.parametrize("dim", [2, 3])
def test_motion_of_a_position_keeps_the_orientation(dim):
    """A tilted ramp that only moves to and fro stays tilted."""
    if dim == 2:
        world = st.PlanarWorld()
        ramp = world.add_body(st.Polygon.box(2, 0.1), kind="kinematic", angle=0.4, motion=lambda t: (t, 0.0))
        run = st.Simulator(world, 0.01).run(0.05)
        np.testing.assert_allclose(run.angle(ramp), 0.4, atol=1e-14)
    else:
        world = st.World()
        tilt = (math.cos(0.2), 0, math.sin(0.2), 0)
        ramp = world.add_body(st.Box((2, 1, 0.1)), kind="kinematic", orientation=tilt, motion=lambda t: (t, 0.0, 0.0))
        run = st.Simulator(world, 0.01, scheme=STEP).run(0.05)
        np.testing.assert_allclose(run.orientation(ramp), np.tile(tilt, (6, 1)), atol=1e-14)


def test_constant_velocities_turn_a_body_steadily():
    world = st.World()
    spin = np.array([0.5, -1.0, 2.0])
    body = world.add_body(st.Box((1, 1, 1)), kind="kinematic", velocity=(1, 2, 3), angular_velocity=spin)
    run = st.Simulator(world, 0.05, scheme=STEP).run(2.0)
    np.testing.assert_allclose(run.position(body), np.outer(run.times, [1, 2, 3]), atol=1e-12)
    seen = Rotation.from_quat(run.orientation(body)[-1], scalar_first=True)
    assert (seen * Rotation.from_rotvec(2.0 * spin).inv()).magnitude() < 1e-12


def test_turntable_carries_a_box_round():
    """A box near the axis of a slow turntable goes round with it: µ g > w² r."""
    world = st.World()
    table = world.add_body(st.Box((2, 2, 0.1)), kind="kinematic", position=(0, 0, -0.05), angular_velocity=(0, 0, 2.0))
    box = world.add_body(st.Box((0.1, 0.1, 0.1)), mass=1.0, position=(0.5, 0, 0.05), velocity=(0, 1, 0),
                         angular_velocity=(0, 0, 2.0))  # fmt: skip
    world.set_contact(table, box, friction=0.5)
    run = st.Simulator(world, 0.005, scheme=STEP).run(1.0)
    np.testing.assert_allclose(np.linalg.norm(run.position(box)[:, :2], axis=1), 0.5, atol=0.01)
    turn = Rotation.from_quat(run.orientation(box)[-1], scalar_first=True).as_rotvec()
    np.testing.assert_allclose(turn, [0, 0, 2.0], atol=0.02)


def test_kinematic_bodies_feel_nothing():
    """Neither gravity nor contacts nor each other."""
    world = st.World()
    world.add_plane()
    one = world.add_body(st.Sphere(0.5), kind="kinematic", velocity=(1, 0, -1))
    two = world.add_body(st.Sphere(0.5), kind="kinematic", position=(0.2, 0, 0))
    run = st.Simulator(world, 0.01, scheme=STEP).run(0.5)
    np.testing.assert_allclose(run.position(one), np.outer(run.times, [1, 0, -1]), atol=1e-13)
    np.testing.assert_allclose(run.position(two), np.tile([0.2, 0, 0], (51, 1)), atol=1e-15)
    assert len(run.table.step) == 0
    assert np.all(run.energy.total == 0.0)


def test_bad_motions_are_named():
    for motion in (lambda t: (0, 0), lambda t: (0, 0, math.nan), lambda t: ((0, 0, 0), (0, 0, 0, 0))):
        world = st.World()
        world.add_body(st.Sphere(1.0), kind="kinematic", name="piston", motion=motion)
        with pytest.raises(st.ModelError, match="piston"):
            world.build()
    world = st.World()
    world.add_body(
        st.Sphere(1.0), kind="kinematic", name="piston", motion=lambda t: (0, 0, 1e300 if t < 0.05 else math.inf)
    )
    sim = st.Simulator(world, 0.01, scheme=STEP)
    with pytest.raises(st.ModelError, match="piston"):
        sim.run(0.1)
