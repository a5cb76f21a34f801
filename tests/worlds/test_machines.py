"""Machines that work by contact: a Geneva drive, a ratchet, bearings. They run ten seconds and end where they must."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

import stiction as st


def example(name):
    path = Path(__file__).parents[2] / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.long
def test_geneva_drive_turns_by_quarters():
    """A quarter turn for each turn of the driver, as pin and slot demand, locked in between; drift is O(h²)."""
    geneva, drifts = example("geneva"), []
    for h in (0.004, 0.002):
        run = st.Simulator(geneva.build(), h).run(10.0)
        driver, wheel = run.joint("driver axis").coordinate, run.joint("wheel axis").coordinate
        np.testing.assert_allclose(driver, geneva.SPEED * run.times[1:], atol=1e-4)
        angle, play = geneva.geometry(driver)
        # what clearance allows for, and a step of the pin in the slot
        assert (np.abs(wheel - angle) < play * (1 + 50 * h)).all()
        assert wheel[-1] == pytest.approx(-5 * math.pi / 2, abs=1.1 * geneva.CLEARANCE / geneva.ARM)
        drifts.append([run.certificate.worst[name] for name in ("joint_drift", "penetration")])
    np.testing.assert_allclose(drifts[0], 4 * np.array(drifts[1]), rtol=0.15)


TEETH = 12


def ratchet():
    """A wheel of saw teeth that a motor turns, and a pawl that a spring presses onto it from above."""
    world = st.PlanarWorld()
    world.set_material("default", friction=0.2)
    angle = 2 * math.pi * np.arange(TEETH) / TEETH + 0.1
    tip, root = (r * np.column_stack([np.cos(angle), np.sin(angle)]) for r in (0.1, 0.08))
    teeth = [st.Polygon([(0, 0), tip[i], root[(i + 1) % TEETH]]) for i in range(TEETH)]
    wheel = world.add_body(teeth, mass=1.0, inertia=5e-3, com=(0.002, 0), name="wheel")
    pivot, length, radius = np.array([0.07, 0.10]), 0.07, 0.002
    pawl = world.add_body(
        st.Rod(radius, length), mass=0.05, position=pivot - [length / 2, -0.00125], angle=math.pi - 0.0357, name="pawl"
    )
    world.add_joint(st.Revolute(wheel, None, anchor=(0, 0), motor=st.Motor(speed=1.0, bound=1.0), name="axis"))
    hinge = world.add_joint(st.Revolute(pawl, None, anchor=pivot, name="hinge"))
    world.add_spring(hinge, stiffness=0.2, damping=1e-3, rest=0.6)
    return world


@pytest.mark.long
def test_ratchet_turns_one_way_only():
    """Forward with the motor, one click per tooth; backward it is blocked within one tooth, the motor at its bound."""
    stops, drifts = [], []
    for h in (0.004, 0.002):
        sim = st.Simulator(ratchet(), h, tol=1e-8)
        forward = sim.run(6.0)
        turned = forward.joint("axis").coordinate[-1]
        assert turned == pytest.approx(6.0, abs=0.01)
        pawl = forward.joint("hinge").coordinate
        clicks = np.count_nonzero((pawl[1:] > 0.1) & (pawl[:-1] <= 0.1))
        assert clicks == pytest.approx(turned * TEETH / (2 * math.pi), abs=1)
        sim.set_motor("axis", -1.0)
        back = sim.run(4.0)
        axis = back.joint("axis")
        assert 0 < turned - axis.coordinate.min() < 2 * math.pi / TEETH
        rest = slice(len(axis.speed) // 2, None)
        assert np.abs(axis.speed[rest]).max() < 2e-5
        np.testing.assert_allclose(axis.motor[rest], -h, rtol=1e-12)
        stops.append(axis.coordinate[-1])
        drifts.append(forward.certificate.worst["joint_drift"])
    assert stops[0] == pytest.approx(stops[1], abs=1e-6)
    assert drifts[0] == pytest.approx(4 * drifts[1], rel=0.15)


def thrust_bearing(balls=6, r=0.05, middle=0.3):
    """Balls in a cage between a fixed plate and one above that a motor turns and its weight presses down."""
    world = st.World()
    world.set_material("default", friction=0.3)
    plate = st.Box((1.4, 1.4, 0.1))
    world.add_body(plate, kind="fixed", position=(0, 0, -0.05))
    shaft = world.add_body(None, mass=5.0, inertia=0.1, position=(0, 0, 0.3))
    upper = world.add_body(plate, mass=20.0, position=(0, 0, 2 * r + 0.05))
    world.add_joint(st.Prismatic(shaft, None, axis=(0, 0, 1)))
    motor = st.Motor(speed=3.0, bound=20.0)
    world.add_joint(st.Revolute(upper, shaft, anchor=(0, 0, 0.2), axis=(0, 0, 1), motor=motor, name="shaft"))
    cage = world.add_body(None, mass=0.5, inertia=(0.02, 0.02, 0.04), position=(0, 0, r))
    world.add_joint(st.Revolute(cage, None, anchor=(0, 0, r), axis=(0, 0, 1), name="cage"))
    for k in range(balls):
        angle = 2 * math.pi * k / balls
        place = np.array([middle * math.cos(angle), middle * math.sin(angle), r])
        ball = world.add_body(st.Sphere(r), mass=0.2, position=place, name=f"ball {k}")
        world.add_joint(st.Ball(ball, cage, anchor=place))
    return world


@pytest.mark.long
def test_thrust_bearing_rolls():
    """The cage turns half as fast as the plate, also while the motor speeds up, and balls spin at w·r_m/(2 r)."""
    slips, drifts = [], []
    for h in (0.01, 0.005):
        run = st.Simulator(thrust_bearing(), h, tol=1e-8).run(10.0)
        shaft, cage = run.joint("shaft"), run.joint("cage")
        assert shaft.speed[-1] == pytest.approx(3.0, abs=1e-6)
        assert shaft.coordinate[-1] > 27.0
        slips.append(np.abs(cage.coordinate - 0.5 * shaft.coordinate).max())
        drifts.append(run.certificate.worst["joint_drift"])
        spin = np.linalg.norm(run.angular_velocity("ball 1")[-1])
        assert spin == pytest.approx(3.0 * 0.3 / (2 * 0.05), rel=10 * h**2)
        assert run.certificate.worst["penetration"] < 1e-9
    assert slips[1] < 1e-5 * 28  # of the 28 rad that the plate turned
    assert slips[1] < 0.3 * slips[0]
    assert drifts[0] == pytest.approx(4 * drifts[1], rel=0.05)


@pytest.mark.long
def test_radial_bearing_rolls():
    """Loaded balls roll at w·r_i/2 along sides at R - r: the cage turns at w·r_i/(2 (R - r))·(π/n)/tan(π/n)."""
    bearing, drifts = example("ball_bearing"), []
    for h in (0.008, 0.004):
        run = st.Simulator(bearing.build(), h).run(10.0 / bearing.SPEED)
        shaft, cage = run.joint("shaft").coordinate, run.joint("cage axis").coordinate
        assert shaft[-1] == pytest.approx(10.0, abs=1e-6)
        first = len(shaft) // 10
        assert (cage[-1] - cage[first]) / (shaft[-1] - shaft[first]) == pytest.approx(bearing.RATIO, rel=1e-3)
        drifts.append(run.certificate.worst["joint_drift"])
    assert drifts[1] < 0.4 * drifts[0]
