"""Applied forces and torques: constant and as functions, at points, and the power they are booked with."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import stiction as st

G = 9.81
STEP = st.AnitescuHart(directions=8)


def floating(dim, **options):
    world = st.World(gravity=(0, 0, 0)) if dim == 3 else st.PlanarWorld(gravity=(0, 0))
    shape = st.Sphere(0.5) if dim == 3 else st.Disk(0.5)
    return world, world.add_body(shape, mass=2.0, name="body", **options)


@pytest.mark.parametrize("dim", [2, 3])
def test_constant_force_accelerates(dim):
    world, body = floating(dim)
    force = np.array([3.0, -1.0, 2.0])[:dim]
    world.add_force(body, force)
    run = st.Simulator(world, 0.01, scheme=STEP).run(1.0)
    np.testing.assert_allclose(run.velocity(body), np.outer(run.times, force / 2), atol=1e-12)
    np.testing.assert_allclose(run.v[:, -1], 0.0, atol=1e-15)
    # the work is force times way, with the velocity in the middle of the step
    middle = 0.5 * (run.velocity(body)[1:] + run.velocity(body)[:-1])
    np.testing.assert_allclose(run.energy.work["applied"], 0.01 * middle @ force, rtol=1e-10)
    np.testing.assert_allclose(run.energy.total[-1], run.energy.work["applied"].sum(), rtol=1e-10)


@pytest.mark.parametrize("dim", [2, 3])
def test_force_at_a_point_also_turns(dim):
    """τ = r × F with r turning with the body; for one small step by hand."""
    turn = 0.7
    place = {"angle": turn} if dim == 2 else {"orientation": (math.cos(turn / 2), 0, 0, math.sin(turn / 2))}
    world, body = floating(dim, **place)
    force, point = np.array([1.0, 2.0, 0.0])[:dim], np.array([0.3, -0.1, 0.0])[:dim]
    world.add_force(body, force, point=point)
    run = st.Simulator(world, 0.01, scheme=STEP).run(0.01)
    arm = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]]) @ point[:2]
    moment = arm[0] * force[1] - arm[1] * force[0]
    inertia = 2.0 * 0.25 * (0.4 if dim == 3 else 0.5)
    assert run.v[1, -1] == pytest.approx(0.01 * moment / inertia, rel=1e-10)
    np.testing.assert_allclose(run.velocity(body)[1], 0.01 * force / 2, atol=1e-12)


@pytest.mark.parametrize("dim", [2, 3])
def test_points_are_given_in_the_body_frame(dim):
    """At the centre of mass, wherever the frame is, a force does not turn; at the frame's origin it does."""
    offset = np.array([0.4, 0.0, 0.0])[:dim]
    force = np.eye(dim)[1]
    for point, turns in ((None, False), (offset, False), (np.zeros(dim), True)):
        world = st.World(gravity=(0, 0, 0)) if dim == 3 else st.PlanarWorld(gravity=(0, 0))
        shape = st.Sphere(0.1, position=offset) if dim == 3 else st.Disk(0.1, position=offset)
        body = world.add_body(shape, mass=1.0)
        world.add_force(body, force, point=point)
        run = st.Simulator(world, 0.01, scheme=STEP).run(0.01)
        assert (abs(run.v[1, -1]) > 1e-6) == turns


def test_forces_of_time_are_taken_at_the_start_or_the_middle():
    """AnitescuHart takes forces at the start of a step (ah03 eq. 2.8), StewartTrinkle in its middle (st96 eq. 14)."""
    for scheme, offset in ((STEP, 0.0), (st.StewartTrinkle(), 0.5)):
        world, body = floating(2)
        world.add_force(body, lambda t, s: (t, 0.0))
        run = st.Simulator(world, 0.1, scheme=scheme).run(1.0)
        k = np.arange(11)
        np.testing.assert_allclose(run.velocity(body)[:, 0], 0.01 * (k * (k - 1) / 2 + offset * k) / 2, atol=1e-14)


def test_functions_see_the_frame_of_the_body():
    seen = []
    world = st.World(gravity=(0, 0, 0))
    turn = Rotation.from_rotvec([0.3, 0.2, -0.4]).as_quat(scalar_first=True)
    body = world.add_body(
        st.Sphere(0.1, position=(0.5, 0, 0)), mass=1.0, position=(1, 2, 3), velocity=(0.1, 0.2, 0.3),
        angular_velocity=(1, 2, 3), orientation=turn,
    )  # fmt: skip

    def look(t, state):
        seen.append((t, state))
        return (0.0, 0.0, 0.0)

    world.add_force(body, look)
    st.Simulator(world, 0.01, scheme=STEP).step()
    state = next(s for t, s in seen if t == 0.0)
    np.testing.assert_allclose(state.position, [1, 2, 3], atol=1e-14)
    np.testing.assert_allclose(state.velocity, [0.1, 0.2, 0.3], atol=1e-14)
    np.testing.assert_allclose(state.angular_velocity, [1, 2, 3], atol=1e-14)
    np.testing.assert_allclose(state.orientation, turn, atol=1e-14)


def test_functions_in_the_plane_see_an_angle():
    world, body = floating(2, angle=0.3, angular_velocity=-2.0, position=(1, 2))
    states = []
    world.add_force(body, torque=lambda t, s: states.append(s) or 0.0)
    st.Simulator(world, 0.01).step()
    assert states[0].orientation == 0.3
    assert states[0].angular_velocity == -2.0
    np.testing.assert_allclose(states[0].position, [1, 2])


def test_spring_and_damper_oscillate_as_they_should():
    """m x'' = -c x - d x' against its closed form, to first order."""
    c, d, m = 30.0, 1.0, 2.0
    errors = []
    for h in (0.008, 0.004):
        world, body = floating(3, position=(0.3, 0, 0))
        world.add_force(body, lambda t, s: -c * s.position - d * s.velocity)
        run = st.Simulator(world, h, scheme=STEP).run(1.0)
        decay, rate = d / (2 * m), math.sqrt(c / m - (d / (2 * m)) ** 2)
        t = run.times
        exact = 0.3 * np.exp(-decay * t) * (np.cos(rate * t) + decay / rate * np.sin(rate * t))
        errors.append(np.abs(run.position(body)[:, 0] - exact).max())
    assert errors[1] < 0.02
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.2)


@pytest.mark.parametrize("dim", [2, 3])
def test_torque_turns_and_its_power_is_booked(dim):
    world, body = floating(dim)
    torque = 1.5 if dim == 2 else (0, 0, 1.5)
    world.add_force(body, torque=torque)
    run = st.Simulator(world, 0.01, scheme=STEP).run(1.0)
    inertia = 2.0 * 0.25 * (0.4 if dim == 3 else 0.5)
    spin = run.v[:, -1]
    np.testing.assert_allclose(spin, 1.5 / inertia * run.times, atol=1e-11)
    np.testing.assert_allclose(run.energy.work["applied"], 0.01 * 1.5 * 0.5 * (spin[1:] + spin[:-1]), rtol=1e-9)
    assert run.energy.total[-1] == pytest.approx(0.5 * inertia * spin[-1] ** 2, rel=1e-12)


def test_forces_add():
    world, body = floating(2)
    world.add_force(body, (1.0, 0.0))
    world.add_force("body", lambda t, s: (0.0, 2.0))
    world.add_force(body, torque=0.5)
    run = st.Simulator(world, 0.01).run(0.5)
    np.testing.assert_allclose(run.velocity(body)[-1], [0.25, 0.5], atol=1e-12)
    assert run.angular_velocity(body)[-1] == pytest.approx(0.5 * 0.5 / 0.25)


def test_drag_takes_energy_out():
    """F = -d v: its power -d v² is booked as applied work."""
    world, body = floating(3, velocity=(2.0, 0, 0))
    world.add_force(body, lambda t, s: -0.8 * s.velocity)
    run = st.Simulator(world, 0.004, scheme=STEP).run(1.0)
    v = run.velocity(body)[:, 0]
    np.testing.assert_allclose(v, 2.0 * (1 - 0.0016) ** np.arange(251), rtol=1e-10)
    assert run.energy.work["applied"].sum() == pytest.approx(run.energy.total[-1] - run.energy.total[0], rel=5e-3)
    np.testing.assert_allclose(run.certificate["energy"], 0.0, atol=1e-13)


def test_a_force_that_holds_a_body_up():
    """Thrust equal to the weight: it stays, and the ground carries nothing."""
    world = st.World()
    ground = world.add_plane()
    body = world.add_body(st.Sphere(0.1), mass=2.0, position=(0, 0, 0.1))
    world.add_force(body, (0, 0, 2.0 * G))
    run = st.Simulator(world, 0.01, scheme=STEP).run(0.3)
    np.testing.assert_allclose(run.position(body)[:, 2], 0.1, atol=1e-13)
    np.testing.assert_allclose(run.force(body, ground), 0.0, atol=1e-10)


@pytest.mark.parametrize(
    ("force", "words"),
    [
        ({"force": (1.0, 2.0)}, "force on 'body'"),
        ({"force": (1.0, 2.0, math.nan)}, "force on 'body'"),
        ({"torque": 1.0}, "torque on 'body'"),
        ({"force": (1.0, 0, 0), "point": (0, 0)}, "point"),
        ({"force": "up"}, "force on 'body'"),
        ({}, "body"),
    ],
)
def test_bad_forces_are_named(force, words):
    world, body = floating(3)
    with pytest.raises(st.ModelError, match=words):
        world.add_force(body, **force)


def test_functions_that_return_nonsense_are_named():
    for value in ((1.0, 2.0), (math.nan, 0, 0), "up", None):
        world, body = floating(3)
        world.add_force(body, lambda t, s, value=value: value)
        with pytest.raises(st.ModelError, match="force on 'body' at t ="):
            st.Simulator(world, 0.01, scheme=STEP).step()
