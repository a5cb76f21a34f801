"""What must not matter: the choice of coordinates and units, the order of contacts; and what is conserved."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as hs

import stiction as st

G = 9.81
seeds = hs.integers(0, 2**32 - 1)


def scene(A=None, *, mass=1.0, length=1.0, time=1.0, order=(0, 1, 2)):
    """Two particles in the plane on a floor, and their mutual contact; coordinates q with A q = (x1, y1, x2, y2).

    mass, length, time: the size of our units in theirs.
    """
    A = np.eye(4) if A is None else A
    M = np.diag([1.0, 1.0, 3.0, 3.0]) * mass
    k = np.array([0.5, -G, 0.0, -3 * G]) * mass * length / time**2
    q = np.array([0.0, 0.3, 0.4, 0.2]) * length
    v = np.array([2.0, -1.0, -0.5, 0.0]) * length / time
    contacts = [
        (np.array([0.0, 1, 0, 0]), np.array([1.0, 0, 0, 0]), 0.0, 0.3),
        (np.array([0.0, 0, 0, 1]), np.array([0.0, 0, 1, 0]), 0.0, 0.6),
        (np.array([-1.0, 0, 1, 0]), np.array([0.0, -1, 0, 1]), 0.1 * length, 0.2),
    ]
    gaps = [
        st.Gap(lambda x, n=n, c=c: n @ A @ x - c, lambda x, n=n: n @ A, lambda x, t=t: t @ A, mu, name=f"c{i}")
        for i, (n, t, c, mu) in enumerate(contacts)
    ]
    inverse = np.linalg.inv(A)
    return st.GeneralizedSystem(A.T @ M @ A, A.T @ k, q=inverse @ q, v=inverse @ v, gaps=[gaps[i] for i in order])


@given(seeds)
@settings(max_examples=10, deadline=None)
def test_coordinates_do_not_matter(seed):
    A = np.random.default_rng(seed).normal(size=(4, 4)) + 2 * np.eye(4)
    if np.linalg.cond(A) > 50:
        return
    plain, other = st.Simulator(scene(), 0.01).run(0.5), st.Simulator(scene(A), 0.01).run(0.5)
    np.testing.assert_allclose(other.q @ A.T, plain.q, atol=1e-9)
    np.testing.assert_allclose(other.energy.total, plain.energy.total, atol=1e-8)


@pytest.mark.parametrize("units", [{"mass": 1000.0}, {"length": 1000.0}, {"time": 1000.0}, {"mass": 1e-6}])
def test_units_do_not_matter(units):
    plain = st.Simulator(scene(), 0.01).run(0.5)
    other = st.Simulator(scene(**units), 0.01 * units.get("time", 1.0)).run(0.5 * units.get("time", 1.0))
    np.testing.assert_allclose(other.q / units.get("length", 1.0), plain.q, atol=1e-10)
    assert [(e.kind, e.step, e.contact) for e in other.events] == [(e.kind, e.step, e.contact) for e in plain.events]


@pytest.mark.parametrize("order", [(2, 1, 0), (1, 2, 0)])
def test_order_of_contacts_does_not_matter(order):
    plain, other = st.Simulator(scene(), 0.01).run(0.5), st.Simulator(scene(order=order), 0.01).run(0.5)
    np.testing.assert_allclose(other.q, plain.q, atol=1e-11)


@given(hs.floats(-1, 1), hs.floats(0.1, 10), hs.floats(0, 1))
@example(0.662109375, 1.0, 0.0)
@settings(max_examples=15, deadline=None)
def test_momentum_is_conserved_in_a_collision(offset, ratio, mu):
    """Two disks in free space: linear momentum exactly, and no energy gained but by the curvature of the gap.

    Along a convex gap a step that begins and ends touching has n(q⁺)·v⁺ up to ½ h κ v² and n(q⁺)·v up to h κ v² more,
    with κ = 1/(2 R), and an impulse p_n then does the work of at most p_n h κ v²: second order in the step.
    """
    R = 0.5

    def phi(q):
        return math.hypot(q[2] - q[0], q[3] - q[1]) - 2 * R

    def normal(q):
        d = (q[2:] - q[:2]) / math.hypot(q[2] - q[0], q[3] - q[1])
        return np.concatenate([-d, d])

    def tangent(q):
        n = normal(q)[2:]
        t = np.array([-n[1], n[0]])
        return np.concatenate([-t, t])

    m = np.array([1.0, 1.0, ratio, ratio])
    system = st.GeneralizedSystem(
        np.diag(m), q=[0, 0, 1.5, offset], v=[2.0, 0, -1.0, 0], gaps=[st.Gap(phi, normal, tangent, mu)]
    )
    run = st.Simulator(system, 0.01, scheme=st.StewartTrinkle(nonlinear=True)).run(0.6)
    momentum = run.v[:, :2] + ratio * run.v[:, 2:]
    np.testing.assert_allclose(momentum, np.tile(momentum[0], (len(run), 1)), atol=1e-12 * (1 + ratio))
    speed = np.hypot(*(run.v[:, 2:] - run.v[:, :2]).T)
    push = run.contacts("contact0").impulse[:, 0]
    most = push * 0.01 * np.maximum(speed[:-1], speed[1:]) ** 2 / (2 * R)
    assert (np.diff(run.energy.kinetic) <= 1e-12 * (1 + ratio) + most).all()
    assert run.certificate.worst["penetration"] <= 1e-10


def test_head_on_inelastic_collision_ends_at_the_common_velocity():
    touch = st.Gap(lambda q: q[1] - q[0] - 0.1)
    system = st.GeneralizedSystem(np.diag([1.0, 3.0]), q=[0.0, 0.5], v=[2.0, -1.0], gaps=[touch])
    run = st.Simulator(system, 0.01).run(1.0)
    np.testing.assert_allclose(run.v[-1], (2.0 - 3.0) / 4, atol=1e-14)


def test_mirror_image_moves_as_the_mirror_image():
    def thrown(sign):
        floor = st.Gap(lambda q: q[1], lambda q: [0, 1], lambda q: [1, 0], 0.4)
        return st.GeneralizedSystem(np.eye(2), [0.1 * sign, -G], q=[0, 0.2], v=[1.5 * sign, 0.0], gaps=[floor])

    right, left = (st.Simulator(thrown(s), 0.01).run(0.8).q for s in (1, -1))
    np.testing.assert_array_equal(right * [-1, 1], left)


def test_table_on_four_legs_does_not_creep():
    """A table on four legs, heavier on one side: no creep, no sinking, no energy."""
    corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
    gaps = [
        st.Gap(
            lambda q, x=x, y=y: q[2] + y * q[3] - x * q[4],
            lambda q, x=x, y=y: [0, 0, 1, y, -x, 0],
            lambda q, x=x, y=y: [[1, 0, 0, 0, 0, -y], [0, 1, 0, 0, 0, x]],
            0.5,
        )
        for x, y in corners
    ]
    M = np.diag([4.0, 4, 4, 1, 1, 2])
    system = st.GeneralizedSystem(M, [1.0, -2.0, -4 * G, 3.0, 2.0, 1.0], q=np.zeros(6), gaps=gaps)
    run = st.Simulator(system, 0.01).run(2.0)
    assert np.abs(run.q).max() < 1e-13
    assert np.abs(run.v).max() < 1e-13


def test_far_from_the_origin():
    """A floor a thousand kilometres away: gaps have round-off of 1e-10 m, and the ball still lands and rests."""
    far = 1e6
    floor = st.Gap(lambda q: q[0] - far, lambda q: [1.0])
    run = st.Simulator(st.GeneralizedSystem([[1.0]], [-G], q=[far + 0.1], gaps=[floor]), 0.01).run(1.0)
    assert run.success
    assert abs(run.q[-1, 0] - far) < 1e-8
    assert run.q.min() >= far - 1e-9


@pytest.mark.parametrize("scale", [1e-9, 1e-6, 1e6])
def test_very_light_and_very_heavy_bodies_land(scale):
    floor = st.Gap(lambda q: q[1], lambda q: [0, 1], lambda q: [1, 0], 0.3, name="floor")
    system = st.GeneralizedSystem(scale * np.eye(2), [0, -G * scale], q=[0, 0.05], v=[1.0, 0], gaps=[floor])
    run = st.Simulator(system, 0.01).run(1.0)
    assert run.success
    np.testing.assert_allclose(run.v[-1], 0.0, atol=1e-12)
    assert run.force("floor")[-1, 0] == pytest.approx(G * scale)
