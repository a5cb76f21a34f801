"""Pendulums: first order against an independent integrator, bounded energy, joints against coordinates."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import stiction as st

M1, M2, L1, L2, G = 1.0, 0.7, 0.8, 0.5, 9.81
START = np.array([1.2, 0.3, 0.5, -2.0])


def mass(q):
    c = M2 * L1 * L2 * math.cos(q[0] - q[1])
    return np.array([[(M1 + M2) * L1**2, c], [c, M2 * L2**2]])


def potential(q):
    return -(M1 + M2) * G * L1 * math.cos(q[0]) - M2 * G * L2 * math.cos(q[1])


def coriolis_by_hand(q, v):
    s = M2 * L1 * L2 * math.sin(q[0] - q[1])
    return np.array([-s * v[1] ** 2, s * v[0] ** 2])


def gravity_by_hand(q):
    return -G * np.array([(M1 + M2) * L1 * math.sin(q[0]), M2 * L2 * math.sin(q[1])])


def double_pendulum():
    return st.GeneralizedSystem.from_lagrangian(mass, potential, q=START[:2], v=START[2:], names=["a", "b"])


def reference(duration):
    def rate(t, y):
        k = coriolis_by_hand(y[:2], y[2:]) + gravity_by_hand(y[:2])
        return [*y[2:], *np.linalg.solve(mass(y[:2]), k)]

    return solve_ivp(rate, (0, duration), START, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]


def test_lagrangian_forces_are_those_derived_by_hand():
    system = double_pendulum()
    rng = np.random.default_rng(0)
    for q, v in rng.normal(size=(50, 2, 2)) * 2:
        wanted = coriolis_by_hand(q, v) + gravity_by_hand(q)
        np.testing.assert_allclose(system.forces(0.0, q, v), wanted, atol=1e-9)


def test_lagrangian_forces_add_to_others():
    system = st.GeneralizedSystem.from_lagrangian(
        mass, potential, forces=lambda t, q, v: [t, -v[1]], q=START[:2], v=START[2:]
    )
    q, v = START[:2], START[2:]
    wanted = coriolis_by_hand(q, v) + gravity_by_hand(q) + [3.0, -v[1]]
    np.testing.assert_allclose(system.forces(3.0, q, v), wanted, atol=1e-10)
    assert system.applied_power(3.0, q, v) == pytest.approx(v[0] * 3.0 - v[1] ** 2)


def test_lagrangian_of_a_constant_mass_has_no_velocity_products():
    system = st.GeneralizedSystem.from_lagrangian(np.diag([2.0, 3.0]), lambda q: q[0] ** 2 * q[1], q=[1.0, 2.0])
    np.testing.assert_allclose(system.forces(0.0, np.array([1.0, 2.0]), np.array([5.0, 7.0])), [-4.0, -1.0], atol=1e-11)


def test_double_pendulum_converges_at_first_order():
    duration = 0.8
    exact = reference(duration)
    errors = []
    for h in (0.004, 0.002, 0.001):
        run = st.Simulator(double_pendulum(), h).run(duration)
        errors.append(np.abs(np.concatenate([run.q[-1], run.v[-1]]) - exact).max())
    assert errors[-1] < 0.05
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.3)
    assert errors[1] / errors[2] == pytest.approx(2.0, abs=0.2)


def test_double_pendulum_energy_error_is_of_first_order():
    drift = []
    for h in (0.004, 0.002):
        run = st.Simulator(double_pendulum(), h).run(2.0)
        drift.append(np.abs(run.energy.total - run.energy.total[0]).max())
        own = [0.5 * v @ mass(q) @ v + potential(q) for q, v in zip(run.q, run.v)]
        np.testing.assert_allclose(run.energy.total, own, atol=1e-9)
    size = 0.5 * START[2:] @ mass(START[:2]) @ START[2:] + abs(potential(START[:2]))
    assert drift[0] < 0.05 * size
    assert drift[1] < 0.65 * drift[0]


@pytest.mark.parametrize("evaluate", ["midpoint", "new"])
def test_double_pendulum_with_the_mass_elsewhere_converges_too(evaluate):
    exact = reference(0.4)
    errors = []
    for h in (0.004, 0.002):
        run = st.Simulator(double_pendulum(), h, scheme=st.StewartTrinkle(evaluate=evaluate)).run(0.4)
        errors.append(np.abs(np.concatenate([run.q[-1], run.v[-1]]) - exact).max())
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.3)


def rod_pendulum(copies=(1.0,)):
    """A particle on a massless rod of 1 m, in x and y; each copy is the same constraint times a factor."""
    rods = [st.Bilateral(lambda q, s=s: s * 0.5 * (q @ q - 1.0), lambda q, s=s: s * q) for s in copies]
    start = 1.0
    q, v = [math.sin(start), -math.cos(start)], [0.4 * math.cos(start), 0.4 * math.sin(start)]
    return st.GeneralizedSystem(2 * np.eye(2), [0.0, -2 * G], q=q, v=v, constraints=rods)


def angle_pendulum():
    return st.GeneralizedSystem([[2.0]], lambda t, q, v: -2 * G * np.sin(q), q=[1.0], v=[0.4])


def test_joint_and_coordinate_give_the_same_pendulum():
    """Both refined: their difference halves with the step."""
    apart = []
    for h in (0.008, 0.004, 0.002):
        joint = st.Simulator(rod_pendulum(), h, scheme=st.StewartTrinkle(nonlinear=True)).run(1.0)
        angle = st.Simulator(angle_pendulum(), h).run(1.0)
        seen = np.arctan2(joint.q[:, 0], -joint.q[:, 1])
        apart.append(np.abs(seen - angle.q[:, 0]).max())
        assert joint.certificate.worst["joint_drift"] < 1e-10
    assert apart[-1] < 0.02
    assert apart[0] / apart[1] == pytest.approx(2.0, abs=0.3)
    assert apart[1] / apart[2] == pytest.approx(2.0, abs=0.3)


def test_both_pendulums_converge_to_the_true_one():
    def rate(t, y):
        return [y[1], -G * math.sin(y[0])]

    exact = solve_ivp(rate, (0, 1.0), [1.0, 0.4], method="DOP853", rtol=1e-12, atol=1e-12).y[0, -1]
    angle, joint = [], []
    for h in (0.004, 0.002):
        angle.append(abs(st.Simulator(angle_pendulum(), h).run(1.0).q[-1, 0] - exact))
        q = st.Simulator(rod_pendulum(), h, scheme=st.StewartTrinkle(nonlinear=True)).run(1.0).q[-1]
        joint.append(abs(math.atan2(q[0], -q[1]) - exact))
    for errors in (angle, joint):
        assert errors[1] < 0.02
        assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.4)


def test_linearised_joint_drifts_at_second_order_per_step():
    """One LCP per step holds the joint up to the curvature of a step: a drift of order h², not growing."""
    drift = []
    for h in (0.004, 0.002):
        run = st.Simulator(rod_pendulum(), h).run(1.0)
        drift.append(run.certificate.worst["joint_drift"])
    assert drift[0] / drift[1] > 3.5


@pytest.mark.parametrize("copies", [(1.0, 1.0), (1.0, 2.0), (1.0, -0.3, 7.0)])
@pytest.mark.parametrize("nonlinear", [False, True])
def test_redundant_joints_change_nothing(copies, nonlinear):
    scheme = st.StewartTrinkle(nonlinear=nonlinear)
    one = st.Simulator(rod_pendulum(), 0.005, scheme=scheme).run(0.5)
    many = st.Simulator(rod_pendulum(copies), 0.005, scheme=scheme).run(0.5)
    np.testing.assert_allclose(many.q, one.q, atol=1e-9)
    np.testing.assert_allclose(many.v, one.v, atol=1e-8)


def test_joints_with_two_rows_hold_a_point():
    """A bead at the end of a two-row joint stays where it is and feels its weight."""
    pin = st.Bilateral(lambda q: q[:2] - [0.3, 0.4], name="pin")
    system = st.GeneralizedSystem(np.eye(3), [0.0, -G, 0.0], q=[0.3, 0.4, 0.0], v=[0.0, 0.0, 1.0], constraints=[pin])
    run = st.Simulator(system, 0.01).run(0.2)
    np.testing.assert_allclose(run.q[:, :2], np.tile([0.3, 0.4], (21, 1)), atol=1e-12)
    np.testing.assert_allclose(run.q[:, 2], run.times, atol=1e-12)
    np.testing.assert_allclose(run.force("pin")[:, :2], np.tile([0.0, G], (20, 1)), atol=1e-9)


def test_moving_joint_drags_the_mass():
    """phi(t, q) = q - sin 3t: the mass follows, and the joint's force is m a up to the step."""
    crank = st.Bilateral(lambda t, q: q - np.sin(3 * t), name="crank")
    run = st.Simulator(st.GeneralizedSystem([[2.0]], q=[0.0], v=[3.0], constraints=[crank]), 0.001).run(1.0)
    np.testing.assert_allclose(run.q[:, 0], np.sin(3 * run.times), atol=1e-11)
    np.testing.assert_allclose(run.force("crank")[5:, 0], -18 * np.sin(3 * run.times[6:]), atol=0.1)
