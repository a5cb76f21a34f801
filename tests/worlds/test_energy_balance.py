"""The energy of random worlds: every step's balance closes, and each part has its sign."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import stiction as st

STEP = st.AnitescuHart(directions=8)
PARTS = ("applied", "friction", "impact", "joints", "motors", "springs", "stabilisation", "truncation", "mass_change")
seeds = hs.integers(0, 2**32 - 1)


def crowd(seed, dim=3, count=4, joint=False, kinematic=False, force=False):
    rng = np.random.default_rng(seed)
    world = st.World() if dim == 3 else st.PlanarWorld()
    world.add_plane()
    handles = []
    for i in range(count):
        if dim == 3:
            shape = [st.Sphere(0.2), st.Box((0.3, 0.5, 0.1)), st.Capsule(0.1, 0.4)][int(rng.integers(3))]
            options = {"orientation": rng.normal(size=4), "angular_velocity": 4 * rng.normal(size=3)}
        else:
            shape = [st.Disk(0.2), st.Polygon.box(0.3, 0.4), st.Rod(0.1, 0.3)][int(rng.integers(3))]
            options = {"angle": float(rng.normal()), "angular_velocity": 4 * float(rng.normal())}
        place = np.zeros(dim)
        place[0], place[-1] = 0.2 * rng.normal(), 0.5 + 0.7 * i
        handles.append(world.add_body(shape, mass=float(rng.uniform(0.5, 2)), position=place,
                                      velocity=rng.normal(size=dim), **options))  # fmt: skip
    if joint:
        anchor = np.zeros(dim)
        anchor[-1] = 0.85
        world.add_joint(st.Ball(*handles[:2], anchor=anchor) if dim == 3 else st.Revolute(*handles[:2], anchor=anchor))
    if kinematic:
        shape = st.Box((3, 3, 0.2)) if dim == 3 else st.Polygon.box(3, 0.2)
        turn = {"angular_velocity": (0, 0, 1.0)} if dim == 3 else {}
        velocity = np.zeros(dim)
        velocity[0], velocity[-1] = 1.0, 0.3
        world.add_body(shape, kind="kinematic", velocity=velocity, **turn)
    if force:
        world.add_force(handles[0], lambda t, s: 3 * np.sin(5 * t) * np.ones(dim) - 0.3 * s.velocity)
    return world


def check(world, scheme, steps=45, h=0.01):
    sim = st.Simulator(world, h, scheme=scheme, tol=1e-9, on_failure="continue")
    for _ in range(steps):
        old = sim.state
        result = sim.step()
        balance = result.certificate.energy
        model = sim.system
        before, after = model.energy(old.q, old.v), model.energy(result.state.q, result.state.v)
        size = 1.0 + before.kinetic + after.kinetic
        assert balance.change == pytest.approx(after.total - before.total, abs=1e-11 * size)
        assert abs(balance.residual) < 1e-10 * size
        assert sum(getattr(balance, part) for part in PARTS) == pytest.approx(balance.change, abs=1e-9 * size)
        contacts = result.contacts
        slip, push = contacts.velocity[:, 1:3], contacts.impulse[:, 1:3]
        pressed = contacts.law == int(st.Law.UNILATERAL)
        # friction never drives the slip that it leaves
        assert ((slip * push).sum(axis=1)[pressed] <= 1e-8 * size).all()
        assert (contacts.impulse[pressed, 0] >= 0).all()
        yield balance


@pytest.mark.parametrize("dim", [2, 3])
@given(seed=seeds, joint=hs.booleans(), kinematic=hs.booleans(), force=hs.booleans())
@settings(max_examples=5, deadline=None)
def test_balance_closes_in_every_step(dim, seed, joint, kinematic, force):
    for balance in check(crowd(seed, dim, 3, joint, kinematic, force), STEP):
        assert joint or balance.joints == 0.0
        assert balance.motors == 0.0
        assert kinematic or force or balance.applied == 0.0
        assert dim == 3 or abs(balance.mass_change) < 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_balance_closes_for_stewart_trinkle(seed):
    for dim in (2, 3):
        balances = list(check(crowd(seed, dim, 3), st.StewartTrinkle(), steps=40))
        assert min(balance.impact for balance in balances) < -1e-3  # they did fall on the floor


@pytest.mark.parametrize("mu", [0.1, 0.6])
def test_friction_of_a_single_body_only_takes(mu):
    """A box thrown flat on a floor, and a ball: the work of friction is never positive."""
    for shape, z in ((st.Box((0.6, 0.6, 0.1)), 0.05), (st.Sphere(0.2), 0.2)):
        world = st.World()
        floor = world.add_plane()
        body = world.add_body(shape, mass=1.0, position=(0, 0, z), velocity=(1.5, 0.7, 0), angular_velocity=(0, 0, 3.0))
        world.set_contact(floor, body, friction=mu)
        run = st.Simulator(world, 0.01, scheme=STEP).run(1.0)
        assert run.energy.work["friction"].max() < 1e-12
        assert run.energy.work["friction"].sum() < -0.1
        assert run.energy.total[-1] <= run.energy.total[0] + 1e-12


def test_gyroscopic_motion_is_booked_without_remainder():
    """A tumbling box in free flight: no force works, and M turns with the box without taking or giving energy."""
    world = st.World(gravity=(0, 0, 0))
    world.add_body(st.Box((0.2, 0.5, 1.0)), mass=2.0, angular_velocity=(0.1, 5.0, 0.2))
    run = st.Simulator(world, 0.02, scheme=STEP).run(3.0)
    np.testing.assert_allclose(run.certificate["energy"], 0.0, atol=1e-12)
    np.testing.assert_allclose(run.energy.total, run.energy.total[0], rtol=1e-12)
    assert np.ptp(run.angular_velocity("body0")[:, 0]) > 1.0  # it turns over
    for name in ("applied", "friction", "impact", "joints", "motors", "stabilisation"):
        np.testing.assert_array_equal(run.energy.work[name], 0.0)


def test_joint_that_holds_is_workless_to_first_order():
    """A pendulum: the joint's work is of the order of the step and vanishes with it."""
    works = []
    for h in (0.01, 0.005):
        world = st.PlanarWorld()
        rod = world.add_body(st.Rod(0.02, 1.0), mass=1.0, position=(0.5, 0))
        world.add_joint(st.Revolute(rod, None, anchor=(0, 0)))
        run = st.Simulator(world, h).run(1.0)
        works.append(np.abs(run.energy.work["joints"]).sum())
    assert works[1] < 0.7 * works[0]


def test_impact_takes_the_kinetic_energy_of_the_approach():
    """A ball dropped on the floor loses all of ½ m v², booked as impact; the rest is gravity's."""
    world = st.World()
    floor = world.add_plane()
    ball = world.add_body(st.Sphere(0.1), mass=2.0, position=(0, 0, 0.6))
    run = st.Simulator(world, 0.001, scheme=STEP).run(0.5)
    assert run.energy.work["impact"].sum() == pytest.approx(-2.0 * 9.81 * 0.5, rel=0.01)
    assert run.energy.total[-1] == pytest.approx(2 * 9.81 * 0.1)
    assert [event.kind for event in run.events] == ["impact"]
    assert run.events[0].time == pytest.approx(np.sqrt(2 * 0.5 / 9.81), abs=0.002)
    assert np.abs(run.force(ball, floor)[-1] - [0, 0, 2 * 9.81]).max() < 1e-8


def test_pushing_out_an_overlap_is_booked_as_stabilisation():
    world = st.World(gravity=(0, 0, 0))
    world.add_plane()
    world.add_body(st.Sphere(0.1), mass=2.0, position=(0, 0, 0.099))
    with pytest.warns(st.OverlapWarning):
        sim = st.Simulator(world, 0.01, scheme=STEP)
    balance = sim.step().certificate.energy
    assert balance.change == pytest.approx(0.5 * 2.0 * 0.1**2)
    assert balance.stabilisation == pytest.approx(balance.change)
    assert balance.impact == pytest.approx(0.0, abs=1e-15)


@pytest.mark.long
@given(seed=seeds, dim=hs.sampled_from([2, 3]), joint=hs.booleans(), kinematic=hs.booleans(), force=hs.booleans())
@settings(max_examples=60, deadline=None)
def test_balance_closes_in_larger_crowds(seed, dim, joint, kinematic, force):
    for _ in check(crowd(seed, dim, 6, joint, kinematic, force), STEP, steps=60):
        pass
