"""Rotation in free flight: momentum, energy, the flip of an asymmetric top, and the configuration manifold."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from scipy.special import ellipk

import stiction as st
from stiction.systems.model.kernels import space as space_kernels

seeds = hs.integers(0, 2**32 - 1)
MOMENTS = np.array([1.0, 2.0, 2.7])


def fly(moments, spin, h, steps, turn=(1.0, 0, 0, 0), inertia=None, every=1):
    """Quaternions and angular velocities of one free body, straight from the kernel."""
    I = np.diag(moments)[None] if inertia is None else np.asarray(inertia)[None]
    q, v = np.array([[0.0, 0, 0, *turn]]), np.array([[0.0, 0, 0, *spin]])
    moves = np.ones(1, dtype=bool)
    turns, spins = [q[0, 3:].copy()], [v[0, 3:].copy()]
    for k in range(steps):
        q_new, v_new = np.empty((1, 7)), np.empty((1, 6))
        space_kernels.move(q, v, h, I, moves, q_new, v_new)
        q, v = q_new, v_new
        if (k + 1) % every == 0:
            turns.append(q[0, 3:].copy())
            spins.append(v[0, 3:].copy())
    return np.array(turns), np.array(spins)


def momentum(turns, spins, inertia):
    R = Rotation.from_quat(turns, scalar_first=True).as_matrix()
    return np.einsum("nij,jk,nlk,nl->ni", R, inertia, R, spins)


def in_body(turns, spins):
    return Rotation.from_quat(turns, scalar_first=True).inv().apply(spins)


def test_momentum_is_kept_over_many_large_steps():
    """1e5 steps of half a radian: the vector L stays to 1e-10, and so does the energy."""
    spin = np.array([0.3, 1.0, 0.4])
    h = 0.5 / np.linalg.norm(spin)
    turns, spins = fly(MOMENTS, spin, h, 100_000, every=10)
    L = momentum(turns, spins, np.diag(MOMENTS))
    np.testing.assert_allclose(L, np.tile(L[0], (len(L), 1)), atol=1e-10 * np.linalg.norm(L[0]))
    energy = 0.5 * (L * spins).sum(axis=1)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-10)
    np.testing.assert_allclose(np.linalg.norm(turns, axis=1), 1.0, atol=1e-15)


@given(seeds, hs.floats(-3, 1), hs.floats(0, 6))
@settings(max_examples=100, deadline=None)
def test_momentum_and_energy_are_kept_for_any_tensor_and_any_angle(seed, angle, slender):
    """Up to 10 rad in a step, and moments that differ by up to a million."""
    rng = np.random.default_rng(seed)
    angle, squares = 10.0**angle, 10.0 ** -rng.uniform(0.0, slender, size=3)
    R = Rotation.random(random_state=int(rng.integers(2**31))).as_matrix()
    I = R @ np.diag(squares.sum() - squares) @ R.T
    spin = rng.normal(size=3)
    turn = rng.normal(size=4)
    turns, spins = fly(None, spin, angle / np.linalg.norm(spin), 50, turn / np.linalg.norm(turn), inertia=I)
    L = momentum(turns, spins, I)
    np.testing.assert_allclose(L, np.tile(L[0], (51, 1)), atol=1e-10 * np.linalg.norm(L[0]))
    energy = np.einsum("ni,ni->n", L, spins)
    parts = 50 * max(1.0, angle / 0.5)  # a step turns by half a radian at a time
    np.testing.assert_allclose(energy, energy[0], rtol=1e-12 + parts * np.finfo(float).eps * np.linalg.cond(I))


def flip_period(moments, spin):
    """The period of the angular velocity in body axes, by Jacobi's elliptic functions (moments rising)."""
    A, B, C = moments
    twice, square = float(moments @ spin**2), float((moments * spin) @ (moments * spin))
    if square < twice * B:
        A, C = C, A
    modulus = (B - A) * (twice * C - square) / ((C - B) * (square - twice * A))
    return 4 * math.sqrt(A * B * C / ((C - B) * (square - twice * A))) * ellipk(modulus)


def measured_period(h, spin, periods=4):
    steps = int(periods * flip_period(MOMENTS, spin) / h * 1.2)
    turns, spins = fly(MOMENTS, spin, h, steps)
    w = in_body(turns, spins)[:, 1]
    up = np.flatnonzero((w[:-1] < 0) & (w[1:] >= 0))
    times = []
    for k in up:  # cubic interpolation: far below the error of the step
        x = np.arange(-1, 3)
        roots = np.roots(np.polyfit(x, w[k - 1 : k + 3], 3))
        real = roots[np.abs(roots.imag) < 1e-9].real
        times.append(h * (k + real[(real > -1e-6) & (real < 1 + 1e-6)][0]))
    return (times[-1] - times[0]) / (len(times) - 1)


@pytest.mark.parametrize("spin", [(0.05, 1.0, 0.05), (0.3, 1.0, 0.02), (0.02, 1.0, 0.4)])
def test_tumbling_period_is_jacobis_to_second_order(spin):
    spin = np.array(spin)
    exact = flip_period(MOMENTS, spin)
    errors = np.array([measured_period(h, spin) - exact for h in (0.08, 0.04, 0.02)])
    assert abs(errors[-1]) < 2e-3 * exact
    np.testing.assert_allclose(np.log2(errors[:-1] / errors[1:]), 2.0, atol=0.1)


def test_orientation_is_of_second_order():
    """Against Euler's equations by an independent integrator."""
    spin, end = np.array([0.4, 1.0, -0.3]), 5.0

    def rate(t, y):
        w = np.linalg.solve(np.diag(MOMENTS), y[4:])
        a, b = y[0], y[1:4]
        return [*(0.5 * np.concatenate([[-b @ w], a * w + np.cross(b, w)])), *np.cross(y[4:], w)]

    start = [1.0, 0, 0, 0, *(MOMENTS * spin)]
    exact = Rotation.from_quat(
        solve_ivp(rate, (0, end), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:4, -1], scalar_first=True
    )
    errors = []
    for n in (50, 100, 200):
        turns, _ = fly(MOMENTS, spin, end / n, n)
        errors.append((Rotation.from_quat(turns[-1], scalar_first=True) * exact.inv()).magnitude())
    np.testing.assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), 2.0, atol=0.1)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_spin_about_a_principal_axis_is_exact(axis):
    """Turned by R₀ to a random attitude: after n steps the orientation is exp(n h ω) R₀ to round-off."""
    start = Rotation.from_rotvec([0.4, -1.1, 0.7])
    spin = 3.0 * start.as_matrix()[:, axis]
    h, n = 0.2, 500
    turns, spins = fly(MOMENTS, spin, h, n, start.as_quat(scalar_first=True))
    for k in range(1, 40 if axis == 1 else n, 13):  # about the middle axis round-off grows exponentially
        exact = Rotation.from_rotvec(k * h * spin) * start
        limit = 1e-14 + 4e-16 * k**2 if axis != 1 else 1e-3  # a round-off of the spin in each step, added up twice
        assert (Rotation.from_quat(turns[k], scalar_first=True) * exact.inv()).magnitude() < limit
        np.testing.assert_allclose(spins[k], spin, atol=1e-14 + 4e-15 * k if axis != 1 else 1e-3)


def test_a_sphere_spins_about_any_axis_exactly():
    spin = np.array([1.0, -2.0, 0.7])
    turns, spins = fly([0.4, 0.4, 0.4], spin, 0.1, 1000)
    np.testing.assert_allclose(spins, np.tile(spin, (1001, 1)), atol=1e-12)
    exact = Rotation.from_rotvec(1000 * 0.1 * spin)
    assert (Rotation.from_quat(turns[-1], scalar_first=True) * exact.inv()).magnitude() < 1e-11


def test_symmetric_top_precesses_at_its_rate():
    """Torque-free precession of the axis about L at |L|/I₁, to second order in the step."""
    moments, spin = np.array([2.0, 2.0, 1.0]), np.array([0.5, 0.0, 2.0])
    L = moments * spin
    rate = np.linalg.norm(L) / 2.0
    errors = []
    for h in (0.04, 0.02):
        turns, _ = fly(moments, spin, h, round(2.0 / h))
        tip = Rotation.from_quat(turns[-1], scalar_first=True).apply([0, 0, 1])
        exact = Rotation.from_rotvec(2.0 * rate * L / np.linalg.norm(L)).apply([0, 0, 1])
        errors.append(np.linalg.norm(tip - exact))
    assert errors[0] < 1e-3
    assert errors[0] / errors[1] > 3.7  # the axis gains two orders, for its precession and nutation are those of L


def test_simulated_flight_is_that_of_the_kernel():
    world = st.World(gravity=(0, 0, 0))
    spin = (0.3, 1.0, 0.4)
    top = world.add_body(st.Sphere(0.1), mass=1.0, inertia=MOMENTS, angular_velocity=spin)
    run = st.Simulator(world, 0.3, scheme=st.AnitescuHart(directions=8)).run(30.0)
    turns, spins = fly(MOMENTS, spin, 0.3, 100)
    np.testing.assert_allclose(run.orientation(top), turns, atol=1e-12)
    np.testing.assert_allclose(run.angular_velocity(top), spins, atol=1e-12)


def test_torque_changes_momentum_by_its_impulse():
    """L⁺ = L + h τ exactly, whatever the attitude."""
    world = st.World(gravity=(0, 0, 0))
    top = world.add_body(None, mass=1.0, inertia=MOMENTS, angular_velocity=(0.3, 1.0, 0.4))
    world.add_force(top, torque=lambda t, s: (math.sin(t), 0.2, -t))
    run = st.Simulator(world, 0.1, scheme=st.AnitescuHart(directions=8)).run(5.0)
    L = momentum(run.orientation(top), run.angular_velocity(top), np.diag(MOMENTS))
    t = run.times[:-1]
    torque = np.column_stack([np.sin(t), np.full(50, 0.2), -t])
    np.testing.assert_allclose(np.diff(L, axis=0), 0.1 * torque, atol=1e-13)


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_retract_and_difference_are_inverse(seed):
    rng = np.random.default_rng(seed)
    world = st.World()
    for _ in range(3):
        world.add_body(st.Sphere(0.1), mass=1.0, position=rng.normal(size=3), orientation=rng.normal(size=4))
    model = world.build()
    q = model.initial_state().q
    dq = rng.normal(size=model.nv)
    turn = dq.reshape(-1, 6)[:, 3:]
    turn *= (rng.uniform(0, 0.99 * math.pi, size=4) / np.linalg.norm(turn, axis=1))[:, None]
    np.testing.assert_allclose(model.difference(q, model.retract(q, dq)), dq, atol=1e-13)
    other = model.retract(q, dq)
    np.testing.assert_allclose(model.retract(q, model.difference(q, other)), other, atol=1e-14)
    np.testing.assert_allclose(model.difference(other, q), -dq, atol=1e-13)
    # against scipy: rotations from the left
    for i in range(1, 4):
        before = Rotation.from_quat(q[7 * i + 3 : 7 * i + 7], scalar_first=True)
        after = Rotation.from_quat(other[7 * i + 3 : 7 * i + 7], scalar_first=True)
        assert (after * (Rotation.from_rotvec(turn[i]) * before).inv()).magnitude() < 1e-13


@pytest.mark.parametrize("size", [0.0, 1e-300, 1e-17, 1e-13, 1e-9, 1e-7, 1e-6, 1.1e-6, 1e-3, 3.14])
def test_small_and_large_turns_come_back(size):
    world = st.World()
    world.add_body(st.Sphere(0.1), mass=1.0)
    model = world.build()
    q, dq = model.initial_state().q, np.zeros(model.nv)
    dq[9:12] = size * np.array([0.6, 0.0, -0.8])
    np.testing.assert_allclose(model.difference(q, model.retract(q, dq)), dq, rtol=1e-12, atol=1e-300)


def test_opposite_quaternions_are_the_same_orientation():
    world = st.World()
    world.add_body(st.Sphere(0.1), mass=1.0, orientation=(0.5, 0.5, -0.5, 0.5))
    model = world.build()
    q = model.initial_state().q
    other = q.copy()
    other[10:14] *= -1
    np.testing.assert_allclose(model.difference(q, other), 0.0, atol=1e-15)


@pytest.mark.long
def test_quaternions_stay_of_length_one_for_a_million_steps():
    spin = np.array([0.3, 1.0, 0.4])
    turns, spins = fly(MOMENTS, spin, 0.4, 1_000_000, every=100)
    np.testing.assert_allclose(np.linalg.norm(turns, axis=1), 1.0, atol=4e-16)
    L = momentum(turns, spins, np.diag(MOMENTS))
    np.testing.assert_allclose(L, np.tile(L[0], (len(L), 1)), atol=1e-9 * np.linalg.norm(L[0]))
