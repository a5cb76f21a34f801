"""What the energy of a step is made of: thin bodies that roll fast, turns of radians in a step, marked steps."""

import math

import numpy as np
import pytest

import stiction as st

LYING = (0.5**0.5, 0, 0.5**0.5, 0)


def rolling_rod(friction=0.5, gravity=9.81):
    """A rod of 3 mm by 30 cm that rolls at 1 m/s and yaws a little: it turns by 3.3 rad in 5 ms."""
    world = st.World(gravity=(0, 0, -gravity))
    world.set_material("default", friction=friction)
    world.add_plane()
    world.add_body(
        st.Capsule(0.0015, 0.3), density=1000, position=(0, 0, 0.0015), orientation=LYING, velocity=(0, 1, 0),
        angular_velocity=(0, 0, 0.5),
    )  # fmt: skip
    return world


@pytest.mark.parametrize("scheme", [st.AnitescuHart(), st.Moreau()], ids=["AnitescuHart", "Moreau"])
@pytest.mark.parametrize("h", [0.005, 0.001])
def test_a_thin_rod_that_rolls_gains_nothing(scheme, h):
    """It slides until it rolls at two thirds of its speed, and goes on with that, however far it turns in a step."""
    world = rolling_rod()
    sim = st.Simulator(world, dt=h, scheme=scheme, tol=1e-10)
    start = sim.system.energy(sim.state.q, sim.state.v)
    kinetic = []
    for _ in range(100):
        step = sim.step()
        kinetic.append(sim.system.energy(step.state.q, step.state.v).kinetic)
        assert abs(step.certificate.energy.mass_change) <= 1e-12 * start.kinetic
        assert step.certificate.unexplained_energy == 0.0
    assert max(kinetic) <= start.kinetic * (1 + 1e-9)
    height = abs(sim.state.q[-5] - 0.0015)
    assert height < 1e-5


@pytest.mark.parametrize("scheme", [st.AnitescuHart(), st.Moreau()], ids=["AnitescuHart", "Moreau"])
def test_impulses_and_flight_belong_to_one_identity(scheme):
    """Without gravity a box that is thrown at a plane and tumbles over it only loses energy, and all is booked."""
    world = st.World(gravity=(0, 0, 0))
    world.set_material("default", friction=0.4)
    world.add_plane()
    world.add_body(st.Box((0.3, 0.05, 0.01)), mass=1.0, position=(0, 0, 0.1), velocity=(1, 0.3, -2),
                   angular_velocity=(3, 20, 5), orientation=(0.9, 0.1, 0.3, 0.3))  # fmt: skip
    sim = st.Simulator(world, dt=0.002, scheme=scheme, tol=1e-10)
    before, booked = sim.system.energy(sim.state.q, sim.state.v).kinetic, 0.0
    first = before
    for _ in range(200):
        energy = sim.step().certificate.energy
        after = sim.system.energy(sim.state.q, sim.state.v).kinetic
        assert abs(energy.mass_change) <= 1e-12 * first
        assert abs(energy.residual) <= 1e-11 * first
        assert energy.impact <= 1e-12 * first
        booked += energy.stabilisation
        assert after <= first + booked + 1e-9 * first
        before = after
    assert before < 0.9 * first  # it has hit the plane


def test_steps_that_gain_by_their_own_error_are_marked_and_counted():
    """A box set 2 cm into the floor is pushed out in a step: that is energy from nowhere, in the loop and in Python."""
    world = st.World()
    world.add_plane()
    world.add_body(st.Box((0.2, 0.2, 0.2)), mass=1.0, position=(0, 0, 0.08))
    counts = []
    for every in (1, 40):
        with pytest.warns(st.OverlapWarning):
            sim = st.Simulator(world, dt=0.005)
        run = sim.run(0.2, every=every)
        counts.append(run.certificate.unexplained)
        assert run.certificate.worst["unexplained_energy"] == pytest.approx(8.0, rel=0.1)  # ½ m (2 cm / 5 ms)²
        assert "unexplained energy in 1 steps" in repr(run)
    assert counts == [1, 1]


@pytest.mark.parametrize(
    "scheme", [st.AnitescuHart(), st.StewartTrinkle(), st.Moreau()], ids=lambda s: type(s).__name__
)
def test_what_is_marked_is_what_a_step_may_not_gain(scheme):
    """A box tumbles down a step and starts 3 mm deep in it: the rule, from states and books alone."""
    h, mass = 0.005, 1.0
    world = st.World()
    world.set_material("default", friction=0.4)
    world.add_body(st.Box((0.4, 1.0, 0.2)), kind="fixed", position=(0, 0, -0.1))
    world.add_plane(offset=-0.4)
    world.add_body(st.Box((0.2, 0.15, 0.1)), mass=mass, position=(0.1, 0, 0.047), velocity=(1.0, 0.1, 0))
    with pytest.warns(st.OverlapWarning):
        sim = st.Simulator(world, dt=h, scheme=scheme)
    run = sim.run(0.6)
    work = run.energy.work
    gained = work["truncation"] + work["mass_change"] + work["stabilisation"]
    kinetic = np.maximum(run.energy.kinetic[1:], run.energy.kinetic[:-1])
    speed = np.linalg.norm(run.velocity("body1"), axis=1)
    allowed = np.maximum(1e-3 * kinetic, mass * 9.81 * h * np.maximum(speed[1:], speed[:-1]))
    marked = run.certificate["unexplained_energy"]
    assert (marked[gained < 0.95 * allowed] == 0.0).all()
    high = gained > 1.05 * allowed
    np.testing.assert_allclose(marked[high], gained[high])
    assert run.certificate.unexplained == (marked > 0).sum()
    assert high[0] or isinstance(scheme, st.Moreau)  # which pushes overlaps out without a velocity


def test_a_turn_that_no_step_resolves_is_a_failure():
    """A thin ellipsoid that turns by radians in a step and is pushed out of the floor would gain without end."""
    world = st.World()
    world.set_material("default", friction=0.0)
    world.add_plane()
    world.add_body(st.Ellipsoid((0.26, 0.03, 0.002)), density=1000.0, position=(0, 0, 0.05),
                   orientation=(0.8, 0.3, 0.4, 0.3), velocity=(0.5, 0, -0.5), angular_velocity=(4, 15, 5))  # fmt: skip
    sim = st.Simulator(world, dt=0.3, tol=1e-10)
    with pytest.raises(st.SolverError, match=r"turns by .* rad in a step.*smaller step") as failed:
        sim.run(60.0)
    assert failed.value.status == st.Status.UNRESOLVED


@pytest.mark.parametrize("scheme", [st.AnitescuHart, st.Moreau])
@pytest.mark.parametrize("h", [0.004, 0.002])
def test_the_truncation_of_gravity_is_half_a_step_of_its_power(scheme, h):
    """Over a whole run h m g (v - v₀)/2, with v the speed upwards: what was lost on the way down comes back.

    So a body that is dropped never rises above its first energy by it; an ellipsoid that rocks regains what it lost.
    """
    world, angle, mass = st.World(), 0.4, 2.0
    world.set_material("default", friction=0.0)
    world.add_plane()
    high = math.hypot(0.2 * math.sin(angle), 0.1 * math.cos(angle))
    turn = (math.cos(0.5 * angle), 0, math.sin(0.5 * angle), 0)
    body = world.add_body(st.Ellipsoid((0.2, 0.1, 0.1)), mass=mass, position=(0, 0, high), orientation=turn)
    run = st.Simulator(world, h, scheme=scheme(), tol=1e-10).run(0.6)
    speed = run.velocity(body)[:, 2]
    lost = np.cumsum(run.energy.work["truncation"])[-len(speed) + 1 :]
    np.testing.assert_allclose(lost, 0.5 * h * mass * 9.81 * (speed[1:] - speed[0]), rtol=0, atol=1e-12)
    assert lost.min() < -h  # J
    assert lost.max() > h
