"""Motions with a closed form: free flight, springs, sliding blocks, gear boxes, Painlevé's rod."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import stiction as st
from stiction import Mode

G = 9.81


def block(slope, mu, speed=0.0, mass=3.0):
    """A block on an incline of angle `slope`, in world axes; positive speed is up the slope."""
    n, t = np.array([-math.sin(slope), math.cos(slope)]), np.array([math.cos(slope), math.sin(slope)])
    ramp = st.Gap(lambda q: n @ q, lambda q: n, lambda q: t, mu, name="ramp")
    system = st.GeneralizedSystem(mass * np.eye(2), [0.0, -mass * G], q=[0.0, 0.0], v=speed * t, gaps=[ramp])
    return system, n, t


def test_free_fall_is_the_sum_of_the_steps():
    h, n = 0.01, 50
    system = st.GeneralizedSystem(2 * np.eye(2), [0.0, -2 * G], q=[0.0, 10.0], v=[1.5, 0.0])
    run = st.Simulator(system, h).run(n * h)
    k = np.arange(n + 1)
    np.testing.assert_allclose(run.v, np.column_stack([np.full(n + 1, 1.5), -G * h * k]), atol=1e-12)
    np.testing.assert_allclose(run.q, np.column_stack([1.5 * h * k, 10 - G * h**2 * k * (k + 1) / 2]), atol=1e-12)
    np.testing.assert_allclose(run.times, h * k, atol=1e-15)


def test_one_step_of_a_spring():
    """k is taken at q + h v / 2 and the old velocity (st96 eq. 14)."""
    m, c, d, h = 2.0, 30.0, 0.4, 0.05
    system = st.GeneralizedSystem([[m]], lambda t, q, v: -c * q - d * v, q=[0.3], v=[-1.0])
    state = st.Simulator(system, h).step().state
    v = -1.0 + h * (-c * (0.3 - h / 2) + d) / m
    assert state.v[0] == pytest.approx(v, rel=1e-15)
    assert state.q[0] == pytest.approx(0.3 + h * v, rel=1e-15)


def test_forces_see_the_middle_of_the_step():
    system = st.GeneralizedSystem([[1.0]], lambda t, q, v: [t], q=[0.0], t=2.0)
    assert st.Simulator(system, 0.5).step().state.v[0] == pytest.approx(0.5 * 2.25)


@given(hs.floats(0.1, 5), hs.floats(0.0, 3), hs.floats(0.001, 0.05))
@settings(max_examples=30, deadline=None)
def test_impact_lands_on_the_surface(mass, height, h):
    """One contact, inelastic: c_n makes gap/h + v⁺ = 0 exactly when the free step would end below."""
    floor = st.Gap(lambda q: q[0], name="floor")
    system = st.GeneralizedSystem([[mass]], [-mass * G], q=[height * h], v=[-1.0], gaps=[floor])
    result = st.Simulator(system, h).step()
    free = -1.0 - h * G
    p = max(0.0, mass * (-height - free))
    assert result.state.v[0] == pytest.approx(max(free, -height), rel=1e-12)
    assert result.state.q[0] == pytest.approx(max(height * h + h * free, 0.0), abs=1e-15)
    normal = result.contacts.impulse[0, 0] if len(result.contacts) else 0.0
    assert normal == pytest.approx(p, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize(("force", "speed", "h"), [(3.0, 1.0, 0.01), (0.7, 1.3, 0.013), (5.0, -0.37, 0.003)])
def test_gear_box_stops_in_time_and_holds(force, speed, h):
    """st96 §3.5: |v| falls by F h / m per step, stops at m |v0| / F, and stays exactly there."""
    mass = 2.0
    gear = st.DryFriction([1.0], force, name="gear")
    run = st.Simulator(st.GeneralizedSystem([[mass]], q=[0.0], v=[speed], friction=[gear]), h).run(3 * mass / force)
    stop = mass * abs(speed) / force
    k = math.ceil(stop / h)
    assert run.times[k] - h < stop <= run.times[k]
    np.testing.assert_allclose(run.v[:k, 0], speed - math.copysign(force / mass, speed) * h * np.arange(k), atol=1e-12)
    assert np.all(run.v[k:, 0] == 0.0)
    assert np.all(run.q[k:, 0] == run.q[k, 0])
    assert run.q[-1, 0] == pytest.approx(speed * stop / 2, abs=abs(speed) * h)
    assert [(e.kind, e.contact) for e in run.events] == [("stick", "gear")]
    assert run.events[0].time == run.times[k]


def test_gear_box_holds_a_force_below_its_bound_only():
    for push, moves in ((4.999, False), (5.25, True)):
        system = st.GeneralizedSystem([[2.0]], [push], q=[0.0], friction=[st.DryFriction([1.0], 5.0, name="gear")])
        run = st.Simulator(system, 0.01).run(1.0)
        if moves:
            np.testing.assert_allclose(run.v[:, 0], (push - 5.0) / 2 * run.times, atol=1e-13)
        else:
            assert np.all(run.q == 0.0)
            np.testing.assert_allclose(run.force("gear")[:, 0], -push, rtol=1e-12)


def test_planar_gear_box_opposes_the_slip():
    """Two rows, a disk of eight directions: a motion along one of them keeps its direction."""
    gear = st.DryFriction(np.eye(2), 2.0)
    v0 = np.array([1.0, 1.0]) / math.sqrt(2)
    run = st.Simulator(st.GeneralizedSystem(np.eye(2), q=[0.0, 0.0], v=v0, friction=[gear]), 0.01).run(1.0)
    np.testing.assert_allclose(run.v[:50], np.outer(1 - 2 * run.times[:50], v0), atol=1e-12)
    np.testing.assert_allclose(run.v[51:], 0.0, atol=1e-15)


def test_sliding_block_stops():
    mu, speed, h = 0.3, 2.0, 0.002
    system, _, _ = block(0.0, mu, speed)
    run = st.Simulator(system, h).run(1.0)
    stop = speed / (mu * G)
    k = int(stop / h)
    np.testing.assert_allclose(run.v[: k + 1, 0], speed - mu * G * run.times[: k + 1], atol=1e-12)
    np.testing.assert_allclose(run.v[k + 1 :], 0.0, atol=1e-14)
    # implicit Euler falls short of v²/2µg by h v / 2, to second order
    assert run.q[-1, 0] == pytest.approx(speed**2 / (2 * mu * G) - h * speed / 2, abs=2 * h**2 * mu * G)
    assert np.all(run.q[:, 1] >= -1e-15)


@pytest.mark.parametrize("mu", [0.2, 0.5, 1.3])
def test_incline_holds_below_the_friction_angle(mu):
    system, _, _ = block(math.atan(0.95 * mu), mu)
    run = st.Simulator(system, 0.01).run(3.0)
    assert np.abs(run.q).max() < 1e-14
    series = run.contacts("ramp")
    assert np.all(series.mode == Mode.STICK)


@pytest.mark.parametrize("mu", [0.2, 0.5, 1.3])
def test_incline_slips_above_the_friction_angle(mu):
    slope = math.atan(1.05 * mu)
    system, n, t = block(slope, mu)
    run = st.Simulator(system, 0.01).run(2.0)
    a = G * (math.sin(slope) - mu * math.cos(slope))
    np.testing.assert_allclose(run.v @ t, -a * run.times, atol=1e-12)
    np.testing.assert_allclose(run.q @ n, 0.0, atol=1e-13)
    assert np.all(run.contacts("ramp").mode == Mode.SLIP)


def test_block_thrown_up_an_incline_comes_back_or_stays():
    mu, speed = 0.4, 3.0
    for ratio, back in ((0.8, False), (1.5, True)):
        slope = math.atan(ratio * mu)
        system, _, t = block(slope, mu, speed)
        run = st.Simulator(system, 0.001).run(1.5)
        top = speed**2 / (2 * G * (math.sin(slope) + mu * math.cos(slope)))
        assert (run.q @ t).max() == pytest.approx(top - 0.001 * speed / 2, abs=2e-5)
        assert ((run.q[-1] @ t) < top - 0.1) == back


def test_weight_rests_on_the_floor():
    system, _, _ = block(0.0, 0.5, mass=4.0)
    run = st.Simulator(system, 0.01).run(0.5)
    np.testing.assert_allclose(run.force("ramp")[:, 0], 4.0 * G, rtol=1e-12)
    np.testing.assert_allclose(run.force("ramp")[:, 1:], 0.0, atol=1e-12)


def painleve_rod(torque=0.0):
    """pr11 §2: m = 1, l = 2, I = l²m/12, φ = π/3, µ = 3/2, g = 1, v_x = -1; coordinates x, y, φ."""
    l, phi = 2.0, math.pi / 3
    tip = st.Gap(
        lambda q: q[1] - l / 2 * math.sin(q[2]),
        lambda q: [0, 1, -l / 2 * math.cos(q[2])],
        lambda q: [1, 0, l / 2 * math.sin(q[2])],
        1.5,
        name="tip",
    )
    start = [l / 2 * math.cos(phi), l / 2 * math.sin(phi), phi]
    M = np.diag([1.0, 1.0, l**2 / 12])
    return st.GeneralizedSystem(M, [0.0, -1.0, torque], q=start, v=[-1.0, 0.0, 0.0], gaps=[tip])


@pytest.mark.parametrize("solver", ["lemke", "enumeration", "auto"])
def test_painleve_rod_is_stopped_by_an_impulse(solver):
    result = st.Simulator(painleve_rod(), 0.01, solver=solver).step()
    assert result.success
    np.testing.assert_allclose(result.contacts.impulse[0, :2], [0.3329, 0.4407], atol=5e-5)  # pr11 §4.1
    assert result.contacts.mode[0] == Mode.STICK


def test_painleve_impulse_tends_to_the_instantaneous_one():
    """pr11 §3.1: Λ = (0.3248, 0.4375), approached linearly in h."""
    limit = np.array([0.3248, 0.4375])
    errors = []
    for h in (0.04, 0.02, 0.01):
        errors.append(np.abs(st.Simulator(painleve_rod(), h).step().contacts.impulse[0, :2] - limit).max())
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.1)
    assert errors[1] / errors[2] == pytest.approx(2.0, abs=0.1)


def test_painleve_time_step_has_three_solutions():
    """pr11 §4.2: opening, sliding (0.0755, 0.1133) and sticking (0.3266, 0.4516)."""
    torque = -2 * (4 / 12) / (2 * math.cos(math.pi / 3)) - 1
    system = painleve_rod(torque)
    problem = st.StewartTrinkle().probe(system, system.initial_state(), 0.01)
    problem = st.ContactProblem(
        problem.dynamics, v_free=[-1.0, -0.01, 0.03 * torque], row_ptr=problem.row_ptr, law=problem.law, friction=[1.5]
    )
    form = problem.to_lcp()
    found = sorted({tuple(np.round(form.impulses(z), 9)) for z in st.lcp.solutions(form.M, form.q)})
    np.testing.assert_allclose(found, [[0, 0], [0.0755, 0.1133], [0.3266, 0.4516]], atol=5e-5)
