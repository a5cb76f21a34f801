"""No overlap at the end of any step: exactly on half-spaces, to 1e-10 m on curved and moving obstacles."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import stiction as st

G = 9.81
NONLINEAR = st.StewartTrinkle(nonlinear=True)


def bowl(mu=0.0, radius=1.0):
    """A particle inside a circle."""

    def phi(q):
        return radius - math.hypot(q[0], q[1])

    def tangent(q):
        return np.array([-q[1], q[0]]) / math.hypot(q[0], q[1])

    return st.Gap(phi, None, tangent if mu else None, mu or None, name="bowl")


@given(hs.floats(-1.2, 1.2), hs.floats(-3.0, 3.0), hs.sampled_from([0.0, 0.3]))
@settings(max_examples=8, deadline=None)
def test_particle_in_a_bowl(angle, speed, mu):
    q = 0.9 * np.array([math.sin(angle), -math.cos(angle)])
    system = st.GeneralizedSystem(np.eye(2), [0.0, -G], q=q, v=[speed, 0.0], gaps=[bowl(mu)])
    run = st.Simulator(system, 0.01, scheme=NONLINEAR).run(1.0)
    assert (1 - np.hypot(*run.q.T)).min() >= -1e-10
    assert run.certificate.worst["penetration"] <= 1e-10


def test_linearised_bowl_overlaps_by_the_curvature_of_a_step():
    """Without the fixed point the overlap is of order (h v)²: the reason for st96 §3.6."""
    worst = []
    for h in (0.01, 0.005):
        system = st.GeneralizedSystem(np.eye(2), [0.0, -G], q=[0.0, -1.0], v=[3.0, 0.0], gaps=[bowl()])
        worst.append(st.Simulator(system, h).run(1.0).certificate.worst["penetration"])
    assert worst[0] > 1e-7
    assert worst[1] < 0.4 * worst[0]


def test_particle_thrown_at_a_round_obstacle():
    """It lands on the obstacle, slides down its side without friction and leaves at cos θ = 2/3 of the height."""
    obstacle = st.Gap(lambda q: math.hypot(q[0], q[1]) - 1.0, name="drum")
    system = st.GeneralizedSystem(np.eye(2), [0.0, -G], q=[0.02, math.sqrt(1 - 0.02**2)], gaps=[obstacle])
    run = st.Simulator(system, 0.0005, scheme=NONLINEAR).run(1.6)
    assert (np.hypot(*run.q.T) - 1).min() >= -1e-10
    leaves = [e for e in run.events if e.kind == "separation"]
    assert len(leaves) == 1
    at = run.q[leaves[0].step]
    # from rest at height cos θ0 it leaves where g cos θ = v², that is at 2/3 of the starting height
    assert at[1] == pytest.approx(2 / 3 * run.q[0, 1], abs=5e-3)


def rod(speed, spin, mu=0.5, height=0.7, angle=0.5):
    """A rod of half length 0.5 with round ends of radius 0.05 above a floor; coordinates x, y, θ."""
    r, a = 0.05, 0.5

    def end(s):
        return st.Gap(
            lambda q: q[1] + s * a * math.sin(q[2]) - r,
            lambda q: [0, 1, s * a * math.cos(q[2])],
            lambda q: [1, 0, r - s * a * math.sin(q[2])],  # the true contact point, radius included
            mu,
            name="right" if s > 0 else "left",
        )

    M = np.diag([1.0, 1.0, 0.1])
    return st.GeneralizedSystem(
        M, [0, -G, 0], q=[0, height, angle], v=[speed, 0, spin], gaps=[end(1), end(-1)], names=["x", "y", "theta"]
    )


@given(hs.floats(-2, 2), hs.floats(-6, 6), hs.floats(-1.4, 1.4))
@settings(max_examples=6, deadline=None)
def test_rod_with_round_ends(speed, spin, angle):
    run = st.Simulator(rod(speed, spin, angle=angle), 0.01, scheme=NONLINEAR).run(1.0)
    for s in (1, -1):
        assert (run["y"] + s * 0.5 * np.sin(run["theta"]) - 0.05).min() >= -1e-10
    assert run.success


def test_rod_comes_to_rest_on_both_ends():
    run = st.Simulator(rod(0.3, 1.0, mu=0.8), 0.01, scheme=NONLINEAR).run(3.0)
    np.testing.assert_allclose(run.q[-1, 1], 0.05, atol=1e-9)
    assert math.sin(run.q[-1, 2]) == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(run.v[-1], 0.0, atol=1e-9)
    forces = [run.force(end)[-1, 0] for end in ("left", "right")]
    np.testing.assert_allclose(forces, G / 2, rtol=1e-6)


def test_moving_floor_carries_and_throws():
    """A table moving as A sin ωt with Aω² > g: the particle rides, is thrown off, and never falls through."""
    A, w = 0.05, 20.0
    table = st.Gap(lambda t, q: q[0] - A * math.sin(w * t), name="table")
    system = st.GeneralizedSystem([[2.0]], [-2 * G], q=[0.0], v=[A * w], gaps=[table])
    run = st.Simulator(system, 0.0005).run(1.0)
    gap = run.q[:, 0] - A * np.sin(w * run.times)
    assert gap.min() >= -1e-10
    leaves = next(e for e in run.events if e.kind == "separation")
    # it leaves when the table's downward acceleration passes g: sin ωt = g / (A ω²)
    assert leaves.time == pytest.approx(math.asin(G / (A * w**2)) / w, abs=2e-3)
    assert gap.max() > 0.01


def test_curved_moving_obstacle():
    """A drum that rises under a particle pushes it aside."""
    drum = st.Gap(lambda t, q: math.hypot(q[0], q[1] + 1.2 - 0.8 * t) - 1.0, name="drum")
    system = st.GeneralizedSystem(np.eye(2), [0.0, -G], q=[0.3, 0.0], gaps=[drum])
    run = st.Simulator(system, 0.005, scheme=NONLINEAR).run(0.6)
    gap = np.hypot(run.q[:, 0], run.q[:, 1] + 1.2 - 0.8 * run.times) - 1
    assert gap.min() >= -1e-10
    assert len(run.events) >= 1


def test_wedge_of_two_walls_holds():
    """Three dependent contacts on a particle in the plane: a corner with a redundant wall."""
    walls = [[1.0, 1.0], [-1.0, 1.0], [0.0, 1.0]]
    gaps = [
        st.Gap(lambda q, n=n: q @ n, lambda q, n=n: n, lambda q, n=n: [n[1], -n[0]], 0.3) for n in map(np.array, walls)
    ]
    system = st.GeneralizedSystem(np.eye(2), [0.5, -G], q=[0.1, 0.5], v=[-0.3, -2.0], gaps=gaps)
    run = st.Simulator(system, 0.01).run(1.0)
    assert (run.q @ np.array(walls).T).min() >= -1e-12
    np.testing.assert_allclose(run.q[-1], 0.0, atol=1e-9)


def rod_in_a_corner(velocity, mu=1.2):
    """One end on the floor, the other at the wall, both just touching, and friction cones that hold each other."""
    r, a, angle = 0.15, 0.5, 0.836
    floor = st.Gap(
        lambda q: q[1] - a * math.sin(q[2]) - r,
        lambda q: [0, 1, -a * math.cos(q[2])],
        lambda q: [1, 0, r + a * math.sin(q[2])],
        mu,
        name="floor",
    )
    wall = st.Gap(
        lambda q: -q[0] - a * math.cos(q[2]) - r,
        lambda q: [-1, 0, a * math.sin(q[2])],
        lambda q: [0, 1, r + a * math.cos(q[2])],
        mu,
        name="wall",
    )
    start = [-a * math.cos(angle) - r, a * math.sin(angle) + r, angle]
    return st.GeneralizedSystem(np.diag([1.0, 1, 0.083]), [0, -G, 0], q=start, v=velocity, gaps=[floor, wall])


@pytest.mark.parametrize("nonlinear", [False, True])
@pytest.mark.parametrize("velocity", [(0.75, -0.48, -1.43), (1.0, -1.0, -0.5), (2.0, 0.0, -3.0)])
def test_rod_jams_in_a_corner(velocity, nonlinear):
    """Rest is admissible, so every step has a solution, also where a gap linearised ahead is negative at q itself."""
    sim = st.Simulator(rod_in_a_corner(velocity), 0.01, scheme=st.StewartTrinkle(nonlinear=nonlinear))
    run = sim.run(0.1)
    assert run.success
    np.testing.assert_allclose(run.v[-1], 0.0, atol=1e-9)
    assert (np.diff(run.energy.total) <= 1e-12).all()


@pytest.mark.long
@given(
    hs.floats(-3, 3), hs.floats(-12, 12), hs.floats(-1.5, 1.5), hs.floats(0, 1.5), hs.sampled_from([0.002, 0.01, 0.03])
)
@settings(max_examples=60, deadline=None)
def test_many_thrown_rods(speed, spin, angle, mu, h):
    run = st.Simulator(rod(speed, spin, mu=mu, angle=angle), h, scheme=NONLINEAR).run(1.5)
    assert run.certificate.worst["penetration"] <= 1e-10
