"""Contacts as springs and dampers: known answers of one contact first, then systems of every kind."""

from __future__ import annotations

import numpy as np
import pytest

import stiction as st

MASS, GRAVITY = 2.0, 9.81


def mass_on_floor(height: float, speed: float, gravity: float = 0.0, **gap: object) -> st.GeneralizedSystem:
    floor = st.Gap(lambda q: q[0], lambda q: np.ones(1), name="floor", **gap)
    return st.GeneralizedSystem(MASS * np.eye(1), [-MASS * gravity], q=[height], v=[speed], gaps=[floor])


def walk(simulator: st.Simulator, steps: int) -> list[st.StepResult]:
    return [simulator.step() for _ in range(steps)]


def restitution(zeta: float) -> float:
    """Of a mass on a spring that is damped in compression only."""
    return float(np.exp(-zeta * np.arccos(zeta) / np.sqrt(1.0 - zeta**2)))


@pytest.mark.parametrize("method", ["Radau", "LSODA"])
@pytest.mark.parametrize("zeta", [0.0, 0.3, 0.9])
def test_a_bounce_has_the_restitution_and_the_duration_of_spring_and_damper(method: str, zeta: float) -> None:
    kn = 1e4
    omega = np.sqrt(kn / MASS)
    scheme = st.Compliant(kn, 2.0 * zeta * np.sqrt(kn * MASS), 1.0, method=method)
    simulator = st.Simulator(mass_on_floor(0.0071, -1.0), 0.01, scheme=scheme)
    steps = walk(simulator, 10)
    assert simulator.state.v[0] == pytest.approx(restitution(zeta), rel=1e-6)
    impact, separation = (change for step in steps for change in step.changes)
    assert (impact.kind, separation.kind) == ("impact", "separation")
    assert impact.time == pytest.approx(0.0071, abs=1e-12)
    contact = np.arccos(zeta) / (omega * np.sqrt(1.0 - zeta**2)) + 0.5 * np.pi / omega
    assert separation.time - impact.time == pytest.approx(contact, rel=1e-6)
    # impulses are what changes the momentum, and the works are what changes the energy
    pushed = sum(step.contacts.impulse[0, 0] for step in steps)
    assert pushed == pytest.approx(MASS * (1.0 + restitution(zeta)), rel=1e-6)
    energies = [step.certificate.energy for step in steps if step.certificate is not None]
    assert sum(e.impact for e in energies) == pytest.approx(0.5 * MASS * (restitution(zeta) ** 2 - 1.0), abs=1e-6)
    assert max(abs(e.truncation) for e in energies) < 1e-6


def test_at_rest_it_penetrates_by_weight_over_stiffness() -> None:
    simulator = st.Simulator(mass_on_floor(0.0, 0.0, GRAVITY), 0.05, scheme=st.Compliant(1e5, 1e3, 1.0))
    run = simulator.run(2.0)
    assert run.q[-1, 0] == pytest.approx(-MASS * GRAVITY / 1e5, rel=1e-6)
    assert run.table.impulse[-1, 0] == pytest.approx(0.05 * MASS * GRAVITY, rel=1e-6)


def test_a_contact_with_its_own_compliance_uses_that() -> None:
    system = mass_on_floor(0.0, 0.0, GRAVITY, compliance=st.Compliance(2e4, 1e3))
    run = st.Simulator(system, 0.05, scheme=st.Compliant(1e5, 1e3, 1.0)).run(2.0)
    assert run.q[-1, 0] == pytest.approx(-MASS * GRAVITY / 2e4, rel=1e-6)


def test_friction_slides_by_coulomb_and_creeps_when_it_sticks() -> None:
    mu, gamma_t = 0.3, 2e3

    def block(push: float, speed: float) -> st.GeneralizedSystem:
        floor = st.Gap(lambda q: q[1], lambda q: np.array([0.0, 1.0]), lambda q: np.array([1.0, 0.0]), mu)
        weight = MASS * GRAVITY
        return st.GeneralizedSystem(
            MASS * np.eye(2), [push, -weight], q=[0.0, -weight / 1e6], v=[speed, 0.0], gaps=[floor]
        )

    scheme = st.Compliant(1e6, 1e4, gamma_t)
    slides = st.Simulator(block(0.0, 1.0), 0.1, scheme=scheme)
    walk(slides, 3)
    assert slides.state.v[0] == pytest.approx(1.0 - mu * GRAVITY * 0.3, rel=1e-6)
    changes = [change for step in walk(slides, 2) for change in step.changes]
    # it slows at mu g until -gamma_t u would be less than mu m g
    slow = mu * MASS * GRAVITY / gamma_t
    assert [change.kind for change in changes] == ["stick"]
    assert changes[0].time == pytest.approx((1.0 - slow) / (mu * GRAVITY), rel=1e-6)
    push = 0.5 * mu * MASS * GRAVITY
    creeps = st.Simulator(block(push, 0.0), 0.1, scheme=scheme)
    walk(creeps, 2)
    assert creeps.state.v[0] == pytest.approx(push / gamma_t, rel=1e-6)
    assert creeps.contacts is not None
    assert creeps.contacts.mode[0] == st.Mode.STICK


def test_plane_space_and_gap_functions_bounce_alike() -> None:
    scheme = st.Compliant(1e4, 30.0, 100.0)
    space, plane = st.World(), st.PlanarWorld()
    space.add_body(st.Sphere(0.1), mass=MASS, position=(0, 0, 0.15), name="ball")
    plane.add_body(st.Disk(0.1), mass=MASS, position=(0, 0.15), name="ball")
    for world in (space, plane):
        world.add_plane()
    heights = [st.Simulator(w, 0.02, scheme=scheme).run(0.4).position("ball")[:, -1] - 0.1 for w in (space, plane)]
    own = st.Simulator(mass_on_floor(0.05, 0.0, GRAVITY), 0.02, scheme=scheme).run(0.4).q[:, 0]
    np.testing.assert_allclose(heights[0], own, atol=1e-7)
    np.testing.assert_allclose(heights[1], own, atol=1e-7)


def test_a_tumbling_body_keeps_its_energy_and_momentum() -> None:
    world = st.World(gravity=(0, 0, 0))
    world.add_body(st.Box((0.3, 0.2, 0.1)), mass=1.0, name="box", angular_velocity=(3.0, 0.1, 2.0))
    run = st.Simulator(world, 0.1, scheme=st.Compliant(1e4, 0.0, 1.0)).run(2.0)
    assert np.ptp(run.energy.total) < 1e-6 * run.energy.total[0]
    free = st.Simulator(world, 0.001).run(2.0)
    np.testing.assert_allclose(run.orientation("box")[-1], free.orientation("box")[-1], atol=1e-4)


def test_rigid_joints_hold_and_springs_swing() -> None:
    world = st.PlanarWorld()
    bob = world.add_body(st.Disk(0.05), mass=1.0, position=(1.0, 0.0), name="bob")
    slide = world.add_body(st.Disk(0.05), mass=2.0, position=(5.0, 0.0), name="slide")
    world.add_joint(st.Revolute(bob, None, anchor=(0, 0)))
    rail = world.add_joint(st.Prismatic(slide, None, anchor=(5.0, 0.0), axis=(1, 0)))
    world.add_spring(rail, stiffness=200.0, rest=0.1)
    run = st.Simulator(world, 0.05, scheme=st.Compliant(1e5, 1e3, 1e3)).run(0.5)
    assert run.certificate.worst["joint_drift"] < 1e-12
    assert np.ptp(run.energy.total) < 1e-6
    np.testing.assert_allclose(run.position("slide")[:, 0], 5.1 - 0.1 * np.cos(10.0 * run.times), atol=1e-6)


def test_a_limit_is_a_contact_and_a_motor_pulls_up_to_its_bound() -> None:
    world = st.PlanarWorld(gravity=(0, 0))
    body = world.add_body(st.Disk(0.05), mass=1.0, name="slide")
    rail = st.Prismatic(
        body, None, anchor=(0, 0), axis=(1, 0), limits=(-1.0, 0.02), motor=st.Motor(speed=1.0, bound=3.0)
    )
    world.add_joint(rail)
    run = st.Simulator(world, 0.02, scheme=st.Compliant(1e4, 1e3, 1e3)).run(0.8)
    assert run.v[1, 3] == pytest.approx(0.02 * 3.0, rel=1e-6)  # 3 N on 1 kg at first
    assert run.position("slide")[-1, 0] == pytest.approx(0.02 + 3.0 / 1e4, rel=1e-4)  # and 3 N on the stop at last


def test_what_moves_by_itself_carries_along() -> None:
    world = st.PlanarWorld()
    belt = world.add_body(st.Polygon([(-5, -1), (5, -1), (5, 0), (-5, 0)]), kind="kinematic", velocity=(0.5, 0))
    world.add_body(st.Disk(0.1), mass=1.0, inertia=1e9, position=(0.0, 0.1 - 9.81e-6), name="load")
    world.set_contact("load", belt, friction=0.2)
    run = st.Simulator(world, 0.02, scheme=st.Compliant(1e6, 1e4, 1e4)).run(0.4)
    assert run.velocity("load")[5, 0] == pytest.approx(0.2 * 9.81 * 0.1, rel=1e-4)
    assert run.velocity("load")[-1, 0] == pytest.approx(0.5, rel=1e-4)
    works = run.energy.work
    assert sum(works[name].sum() for name in ("applied", "friction", "impact")) == pytest.approx(
        run.energy.total[-1] - run.energy.total[0], abs=1e-6
    )


def test_a_floor_that_moves_as_a_function_of_time_lifts() -> None:
    lift = st.Gap(lambda t, q: q[0] - 0.3 * t, lambda t, q: np.ones(1))
    system = st.GeneralizedSystem(np.eye(1), [-GRAVITY], q=[-GRAVITY / 1e5], v=[0.3], gaps=[lift])
    run = st.Simulator(system, 0.1, scheme=st.Compliant(1e5, 1e3, 1.0)).run(1.0)
    assert run.q[-1, 0] == pytest.approx(0.3 - GRAVITY / 1e5, abs=1e-8)


def test_bad_combinations_are_refused() -> None:
    with pytest.raises(st.ModelError, match="bounces by its springs"):
        st.Simulator(mass_on_floor(1.0, 0.0, restitution=0.5), 0.01, scheme=st.Compliant(1e4, 0.0, 1.0))
    for bad in ({"kn": 0.0}, {"gamma_n": -1.0}, {"gamma_t": np.inf}, {"method": "RK45"}):
        with pytest.raises(st.ModelError, match=next(iter(bad))):
            st.Compliant(**{"kn": 1e4, "gamma_n": 0.0, "gamma_t": 1.0, **bad})


@pytest.mark.parametrize("kn", [1e160, 1e305])
def test_what_cannot_be_integrated_fails_and_says_so(kn: float) -> None:
    simulator = st.Simulator(mass_on_floor(0.005, -1.0), 0.01, scheme=st.Compliant(kn, 0.0, 1.0))
    with pytest.raises(st.SolverError, match="Radau gave up"):
        walk(simulator, 2)
    assert np.isfinite(simulator.state.q).all()


def pile(seed: int) -> st.PlanarWorld:
    """Disks thrown together above a floor: their gaps are smooth, so that springs have an energy of their own."""
    rng = np.random.default_rng(seed)
    world = st.PlanarWorld()
    world.add_half_plane(name="floor")
    for i in range(3):
        world.add_body(
            st.Disk(0.1), mass=float(rng.uniform(0.5, 2.0)), position=(0.1 * rng.normal(), 0.2 + 0.3 * i),
            angle=float(rng.uniform(0, 3)), velocity=tuple(rng.normal(size=2)), angular_velocity=float(rng.normal()),
        )  # fmt: skip
    world.set_material("default", friction=float(rng.uniform(0.0, 0.8)))
    return world


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_a_pile_loses_what_its_dampers_and_friction_take_and_no_more(seed: int) -> None:
    """Energy with that of the springs never grows, works add up to its change, friction takes, and nothing adheres."""
    kn = 1e4
    run = st.Simulator(pile(seed), 0.02, scheme=st.Compliant(kn, 20.0, 200.0)).run(0.6)
    assert run.certificate.success.all()
    assert max(np.abs(run.energy.work["truncation"])) < 1e-6
    contacts = run.table
    stored = np.zeros(len(run.times))
    depth = np.minimum(contacts.gap, 0.0)
    np.add.at(stored, contacts.step + 1, 0.5 * kn * depth**2)
    assert np.diff(run.energy.total + stored).max() < 1e-6
    assert (run.energy.work["friction"] <= 1e-9).all()
    assert (contacts.impulse[:, 0] >= 0.0).all()


@pytest.mark.long
def test_the_step_only_says_how_often_to_report() -> None:
    world = st.World()
    world.add_plane(name="floor")
    world.add_body(
        st.Box((1.0, 0.6, 0.4)), mass=2.0, position=(0, 0, 0.45), orientation=(1, 0.12, 0.21, 0.1), name="box",
        velocity=(0.5, 0, 0), angular_velocity=(0.1, 0.2, 1.0),
    )  # fmt: skip
    ends = [st.Simulator(world, dt, scheme=st.Compliant(1e4, 1e2, 1e3)).run(0.3).q[-1] for dt in (0.05, 0.02)]
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6)
