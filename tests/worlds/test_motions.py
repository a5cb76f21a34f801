"""Bodies that oscillate, rotate or follow a table, forces that change with time, and the work that they do."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import stiction as st

G = 9.81


def test_oscillation_rotation_and_table_are_where_they_say():
    world = st.World()
    turn = (math.cos(0.2), 0, math.sin(0.2), 0)
    shaker = world.add_body(
        st.Box((1, 1, 0.1)), kind="kinematic", position=(0, 0, 1), orientation=turn,
        motion=st.Oscillation(2.0, amplitude=(0, 0, 0.03), angle=0.4, axis=(0, 0, 2.0), phase=0.5),
    )  # fmt: skip
    spinner = world.add_body(
        st.Sphere(0.1), kind="kinematic", position=(2, 1, 0), motion=st.Rotation(3.0, axis=(0, 0, 1), center=(1, 1, 0))
    )
    cam = world.add_body(
        st.Sphere(0.1), kind="kinematic", position=(5, 0, 0),
        motion=st.Table(
            [0.1, 0.3, 0.8], positions=[(5, 0, 0), (5, 1, 0), (6, 1, 0)], angles=[0, 7.0, 7.0], axis=(1, 0, 0)
        ),
    )  # fmt: skip
    run = st.Simulator(world, 0.01).run(1.0)
    t = run.times
    wave = np.sin(4 * math.pi * t + 0.5)
    np.testing.assert_allclose(run.position(shaker), np.outer(1 + 0.03 * wave, [0, 0, 1]), atol=1e-13)
    np.testing.assert_allclose(run.position(spinner), np.column_stack([1 + np.cos(3 * t), 1 + np.sin(3 * t), 0 * t]), atol=1e-13)  # fmt: skip  # noqa: E501
    np.testing.assert_allclose(run.position(cam)[:, 0], np.interp(t, [0.3, 0.8], [5, 6]), atol=1e-13)
    np.testing.assert_allclose(run.position(cam)[:, 1], np.interp(t, [0.1, 0.3], [0, 1]), atol=1e-13)
    first = Rotation.from_quat(turn, scalar_first=True)
    for k in (0, 13, 77):
        seen = Rotation.from_quat(run.orientation(shaker)[k], scalar_first=True)
        assert (seen * (Rotation.from_rotvec([0, 0, 0.4 * wave[k]]) * first).inv()).magnitude() < 1e-12
        seen = Rotation.from_quat(run.orientation(spinner)[k], scalar_first=True)
        assert (seen * Rotation.from_rotvec([0, 0, 3 * t[k]]).inv()).magnitude() < 1e-12
        seen = Rotation.from_quat(run.orientation(cam)[k], scalar_first=True)
        assert (seen * Rotation.from_rotvec([np.interp(t[k], [0.1, 0.3], [0, 7.0]), 0, 0]).inv()).magnitude() < 1e-12


def test_motions_in_the_plane():
    world = st.PlanarWorld()
    rocker = world.add_body(None, kind="kinematic", angle=0.3, motion=st.Oscillation(1.0, angle=0.2))
    wheel = world.add_body(None, kind="kinematic", position=(1, 0), motion=st.Rotation(2.0, center=(0, 0)))
    follower = world.add_body(None, kind="kinematic", angle=1.0, motion=st.Table([0, 1], angles=[0, 9.0]))
    run = st.Simulator(world, 0.01).run(1.0)
    t = run.times
    np.testing.assert_allclose(run.angle(rocker), 0.3 + 0.2 * np.sin(2 * math.pi * t), atol=1e-13)
    np.testing.assert_allclose(run.position(wheel), np.column_stack([np.cos(2 * t), np.sin(2 * t)]), atol=1e-13)
    np.testing.assert_allclose(run.angle(wheel), 2 * t, atol=1e-13)
    np.testing.assert_allclose(run.angle(follower), 1.0 + 9.0 * t, atol=1e-12)


@pytest.mark.parametrize("scheme", [st.AnitescuHart(), st.StewartTrinkle()], ids=["AnitescuHart", "StewartTrinkle"])
def test_power_of_a_shaken_pivot_is_booked(scheme):
    """A pendulum on a pivot that is shaken: applied work is the force of the joint along the pivot's way."""
    world = st.PlanarWorld()
    pivot = world.add_body(None, kind="kinematic", motion=st.Oscillation(2.0, amplitude=(0.1, 0.02)))
    bar = world.add_body(None, mass=1.5, inertia=0.1, position=(0, -0.5))
    hinge = world.add_joint(st.Revolute(bar, pivot, anchor=(0, 0), friction=0.1))
    run = st.Simulator(world, 0.005, scheme=scheme, tol=1e-10).run(2.0)
    np.testing.assert_allclose(run.certificate["energy"], 0.0, atol=1e-11)
    force = run.joint(hinge).force[:, :2]  # on the bar, along x and y: the pivot does not turn
    moved = np.diff(run.position(pivot), axis=0)
    np.testing.assert_allclose(run.energy.work["applied"], np.einsum("ni,ni->n", force, moved), atol=1e-9)
    assert np.abs(run.energy.work["applied"]).sum() > 0.1
    total = sum(values.sum() for values in run.energy.work.values())
    assert total == pytest.approx(run.energy.total[-1] - run.energy.total[0], abs=1e-9)


@pytest.mark.parametrize("dim", [2, 3])
def test_power_of_a_force_that_changes_with_time(dim):
    """F = F0 cos wt on a free mass: v = F0/(m w) sin wt, and the work is the kinetic energy."""
    m, F0, w = 2.0, 3.0, 5.0
    gravity = np.zeros(dim)
    world = st.World(gravity=gravity) if dim == 3 else st.PlanarWorld(gravity=gravity)
    body = world.add_body(None, mass=m, inertia=1.0)
    world.add_force(body, lambda t, s: F0 * math.cos(w * t) * np.eye(dim)[0])
    errors = []
    for h in (0.01, 0.005):
        run = st.Simulator(world, h).run(2.0)
        errors.append(np.abs(run.velocity(body)[:, 0] - F0 / (m * w) * np.sin(w * run.times)).max())
        np.testing.assert_allclose(run.certificate["energy"], 0.0, atol=1e-12)
        work = run.energy.work
        assert (work["applied"] + work["truncation"]).sum() == pytest.approx(run.energy.kinetic[-1], abs=1e-12)
        # the force is taken at the start of each step: ½ h ∫ |F' v| dt, with ∫ sin² wt dt = 1 - sin(20)/20 over 2 s
        late = 0.5 * h * F0**2 / m * (1 - math.sin(20.0) / 20)
        assert np.abs(work["truncation"]).sum() == pytest.approx(late, rel=3 * h)
    assert errors[1] == pytest.approx(0.5 * errors[0], rel=0.1)
