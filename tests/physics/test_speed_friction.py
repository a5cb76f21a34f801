"""Friction that depends on the slip speed, against ordinary differential equations and closed forms."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import stiction as st
from stiction.papers.belt import Belt, growth_rate, mean_period, two_coefficient_period

G = 9.81
STRIBECK = st.Stribeck(0.4, 0.25, speed=0.2)
TWO = st.Stribeck(0.4, 0.25, speed=0.0)


def block(mu, *, speed=0.0, slope=0.0, mass=3.0):
    """A block on an incline, coordinates along it and away from it."""
    floor = st.Gap(lambda q: q[1], lambda q: [0.0, 1.0], lambda q: [1.0, 0.0], st.Coulomb(mu), name="floor")
    weight = mass * G * np.array([-math.sin(slope), -math.cos(slope)])
    return st.GeneralizedSystem(mass * np.eye(2), weight, q=[0.0, 0.0], v=[speed, 0.0], gaps=[floor])


def order(steps, errors):
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


@pytest.mark.parametrize(
    ("law", "speed"),
    [(STRIBECK, 0.5), (st.Stribeck(0.4, 0.2, 0.3, viscous=0.3), 0.7), (lambda s: 0.2 + 0.1 / (1 + s), 0.7)],
)
def test_sliding_against_the_differential_equation(law, speed):
    """s' = -mu(s) g, first order in the step."""
    system = block(law, speed=speed)
    mu = system._given[0].friction.speed_law
    end = 0.1
    exact = solve_ivp(lambda t, s: [-mu(s[0]) * G], (0, end), [speed], method="DOP853", rtol=1e-12, atol=1e-12).y[0, -1]
    steps = np.array([0.005, 0.0025, 0.00125])
    errors = [abs(st.Simulator(system, h, tol=1e-10).run(end, progress=False).v[-1, 0] - exact) for h in steps]
    assert errors[-1] < 5e-3
    assert order(steps, errors) == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("scheme", [st.StewartTrinkle(), st.AnitescuHart()])
def test_two_coefficients_slide_with_the_kinetic_one(scheme):
    h, n = 0.01, 20
    run = st.Simulator(block(TWO, speed=1.0), h, scheme=scheme).run(n * h, progress=False)
    np.testing.assert_allclose(run.v[:, 0], 1.0 - 0.25 * G * h * np.arange(n + 1), atol=1e-9)


def test_two_coefficients_hold_up_to_the_static_one():
    mass = 3.0
    for pull, holds in ((0.399, True), (0.401, False)):
        system = block(TWO)
        system._force = system._force + np.array([pull * mass * G, 0.0])
        run = st.Simulator(system, 0.01).run(0.1, progress=False)
        speed = 0.0 if holds else (pull - 0.25) * G * 0.1
        assert run.v[-1, 0] == pytest.approx(speed, abs=1e-9)


@pytest.mark.parametrize("solver", ["auto", "nsgs", "lemke"])
def test_on_an_incline_between_the_two_angles_rest_and_motion_both_last(solver):
    slope = 0.5 * (math.atan(0.25) + math.atan(0.4))
    h, n = 0.005, 100
    rest = st.Simulator(block(TWO, slope=slope), h, solver=solver).run(n * h, progress=False)
    assert np.abs(rest.v).max() < 1e-8
    pushed = st.Simulator(block(TWO, slope=slope, speed=-0.01), h, solver=solver).run(n * h, progress=False)
    acceleration = G * (math.sin(slope) - 0.25 * math.cos(slope))
    np.testing.assert_allclose(pushed.v[:, 0], -0.01 - acceleration * h * np.arange(n + 1), atol=1e-6)


@pytest.mark.parametrize("relaxation", ["convex", "fixed-point"])
def test_relaxations_take_the_coefficient_at_the_end_of_the_step(relaxation):
    """Each step ends at m (s - s0) = -mu(s) p_n with the s that it ends at."""
    h = 0.005
    scheme = st.AnitescuHart(relaxation=relaxation, tolerance=1e-7)
    sim = st.Simulator(block(STRIBECK, speed=0.6, mass=1.0), h, scheme=scheme, solver="conic", tol=1e-9)
    for _ in range(30):
        before = sim.state.v[0]
        result = sim.step()
        assert result.success
        normal, s = result.contacts.impulse[0, 0], sim.state.v[0]
        assert before - s == pytest.approx(STRIBECK(s) * normal, abs=1e-6)


# --- a block on a belt that moves at 0.1 m/s, held by a spring of 100 N/m (stiction.papers.belt)

SMOOTH = st.Stribeck(0.4, 0.25, speed=0.05)


def test_the_closed_form_of_the_period_is_that_of_located_events():
    belt = Belt(TWO, 0.1)
    assert belt.period == pytest.approx(two_coefficient_period(belt), rel=1e-11)
    assert two_coefficient_period(belt) == pytest.approx(0.7278369627704, rel=1e-12)


def test_the_reference_sticks_at_the_force_of_rest_and_slips_without_gain():
    """The energy changes by the work of friction on the block."""
    belt = Belt(SMOOTH, 0.1)
    t, x, v = belt.slip()
    friction = belt.normal * belt.law.values(belt.speed - v)
    energy = 0.5 * belt.mass * v**2 + 0.5 * belt.stiffness * x**2
    work = np.sum(0.5 * (friction[1:] * v[1:] + friction[:-1] * v[:-1]) * np.diff(t))
    assert v[-1] == pytest.approx(belt.speed, abs=1e-12)
    assert energy[-1] - energy[0] == pytest.approx(work, abs=2e-3)
    assert belt.stiffness * x[0] == pytest.approx(0.4 * belt.normal, rel=1e-6)


@pytest.mark.parametrize(
    ("law", "steps"),
    [
        (TWO, [0.008, 0.004]),
        (SMOOTH, [0.008, 0.004]),
        pytest.param(TWO, [0.004, 0.002, 0.001, 0.0005], marks=pytest.mark.long),
        pytest.param(SMOOTH, [0.004, 0.002, 0.001, 0.0005], marks=pytest.mark.long),
    ],
)
def test_stick_slip_period(law, steps):
    """First order in the step."""
    belt = Belt(law, 0.1)
    errors = []
    for h in steps:
        run, x, _ = belt.run(h, 4.0, stretch=0.0, velocity=0.1)
        errors.append(abs(mean_period(run.times, x, 0.03) / belt.period - 1.0))
        assert run.certificate.worst["natural_map"] <= 1e-9
    assert errors[-1] < 5 * steps[-1]
    assert order(steps, errors) == pytest.approx(1.0, abs=0.25)


@pytest.mark.parametrize(("viscous", "rate"), [(0.0, 1.078058504990894), (0.3, -0.3934414950091061)])
def test_sliding_is_unstable_where_mu_falls_and_stable_where_it_rises(viscous, rate):
    """s00 §5.1, by the growth rate (-mu'(V) N - c)/(2m) of the linearised equation; first order in the step."""
    belt = Belt(st.Stribeck(0.4, 0.25, speed=0.05, viscous=viscous), 0.1)
    assert belt.growth == pytest.approx(rate)
    steps, errors = np.array([0.008, 0.004]), []
    for h in steps:
        run, x, _ = belt.run(h, 2.0, stretch=belt.steady + 1e-5, velocity=0.0, tol=1e-11)
        errors.append(abs(growth_rate(run.times, x - belt.steady) - rate))
    assert errors[-1] < 0.12
    assert order(steps, errors) == pytest.approx(1.0, abs=0.1)


def test_stick_slip_of_a_world():
    """The same block as a body on a kinematic belt, held by a spring between two points."""
    belt = Belt(SMOOTH, 0.1)
    world = st.PlanarWorld(gravity=(0.0, -9.81))
    slab = world.add_body(
        st.Polygon.box(20.0, 0.2), kind="kinematic", motion=lambda t: ((0.1 * t, -0.1), 0.0), name="belt"
    )
    body = world.add_body(st.Polygon.box(0.2, 0.02), mass=1.0, position=(0.0, 0.01), velocity=(0.1, 0.0), name="block")
    world.set_contact(body, slab, friction=st.Coulomb(SMOOTH))
    world.add_spring(body, stiffness=100.0, anchor_a=(0.0, 0.01), anchor_b=(-1.0, 0.01))
    run = st.Simulator(world, 0.004).run(2.6, progress=False)
    assert mean_period(run.times, run.position("block")[:, 0], 0.03) == pytest.approx(belt.period, rel=0.03)


def test_a_world_with_a_law_of_speed_runs_step_by_step_to_the_same_bits():
    def sliding():
        world = st.PlanarWorld()
        floor = world.add_half_plane(name="floor")
        box = world.add_body(st.Polygon.box(0.4, 0.2), mass=1.0, position=(0.0, 0.1), velocity=(1.0, 0.0), name="box")
        world.set_contact(box, floor, friction=st.Coulomb(STRIBECK))
        return st.Simulator(world, 0.01)

    one, other = sliding(), sliding()
    one.advance(20)
    for _ in range(20):
        other.step()
    np.testing.assert_array_equal(one.state.v, other.state.v)
    exact = solve_ivp(lambda t, s: [-STRIBECK(s[0]) * G], (0, 0.2), [1.0], rtol=1e-10, atol=1e-10).y[0, -1]
    assert one.state.v.reshape(-1, 3)[-1, 0] == pytest.approx(exact, abs=1e-3)


def test_materials_with_a_law_of_speed_do_not_combine():
    world = st.PlanarWorld()
    world.set_material("steel", friction=st.Coulomb(STRIBECK))
    world.set_material("wood", friction=0.3)
    world.add_body(st.Disk(0.1), mass=1.0, position=(0.0, 0.1), material="steel")
    world.add_half_plane(material="wood")
    with pytest.raises(st.ModelError, match="depends on speed"):
        world.build()


@pytest.mark.parametrize("law", [STRIBECK, TWO, st.Stribeck(0.3, 0.3, 1.0, viscous=0.5)])
def test_every_scheme_ends_a_step_with_the_coefficient_of_its_last_speed(law):
    """m (s0 - s) = mu(s) m g h for a block that slides, by every scheme."""
    h, mass = 0.01, 3.0
    for scheme in (st.StewartTrinkle(), st.StewartTrinkle(directions=None), st.AnitescuHart(), st.TzitzourisPang()):
        sim = st.Simulator(block(law, speed=0.5, mass=mass), h, scheme=scheme, tol=1e-9)
        for _ in range(10):
            before = sim.state.v[0]
            assert sim.step().success
            s = sim.state.v[0]
            assert before - s == pytest.approx(law(s) * G * h, rel=1e-6)


def test_spin_does_not_count_as_speed():
    """A ball that slides and spins in place of rolling: its slip has mu at the slip speed, whatever the spin."""
    law, h = st.Stribeck(0.4, 0.1, speed=0.05), 0.001
    for spin in (0.0, 200.0):
        world = st.World()
        floor = world.add_plane(normal=(0, 0, 1), offset=0.0, name="floor")
        ball = world.add_body(
            st.Sphere(0.1), mass=1.0, position=(0, 0, 0.1), velocity=(1.0, 0, 0), angular_velocity=(0, 0, spin)
        )
        world.set_contact(ball, floor, friction=st.Mixed(law, er=0.01))
        result = st.Simulator(world, h, tol=1e-9).step()
        assert result.success
        impulse = result.contacts.impulse[0]
        assert np.hypot(impulse[1], impulse[2]) == pytest.approx(0.1 * impulse[0], rel=1e-6)
        assert abs(impulse[3]) == pytest.approx(0.1 * 0.01 * impulse[0] if spin else 0.0, rel=1e-6, abs=1e-12)


def test_a_set_written_in_python_takes_a_law_of_speed():
    law, h = st.Stribeck(0.4, 0.1, speed=0.05), 0.01
    for slide, mu in ((1.0, 0.1), (0.02, None)):
        world = st.World()
        floor = world.add_plane(normal=(0, 0, 1), offset=0.0, name="floor")
        ball = world.add_body(st.Box((0.2, 0.2, 0.02)), mass=1.0, position=(0, 0, 0.01), velocity=(slide, 0, 0))
        world.set_contact(ball, floor, friction=st.ConvexSet(law, rows=2, gauge=lambda f: float(np.hypot(*f))))
        sim = st.Simulator(world, h, tol=1e-7)
        result = sim.step()
        assert result.success
        if mu is None:
            assert np.abs(sim.state.v).max() < 1e-6
        else:
            assert sim.state.v[-6] == pytest.approx(slide - mu * G * h, rel=1e-6)
