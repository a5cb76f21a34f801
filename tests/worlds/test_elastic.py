"""Elastic contact: closed forms of its law, what is remembered of it, energy, and what it does not go with."""

import numpy as np
import pytest

import stiction as st
from stiction.problem.records import BodyRows
from stiction.schemes.spring_kernels import place_springs, turn_pair
from stiction.schemes.steps.records import WarmStart

G = 9.81


def column(count, law, mass=1.0, radius=0.1):
    """Balls on top of each other, just touching."""
    world = st.World()
    world.set_material("default", friction=0.5, compliance=law)
    world.add_plane(name="floor")
    for i in range(count):
        world.add_body(st.Sphere(radius), mass=mass, position=(0, 0, radius + 2 * radius * i), name=f"ball {i}")
    return world


def block(law, slope=0.0, friction=0.5, size=(0.2, 0.2, 0.1)):
    """A block on a plane; gravity leans by `slope` [rad]."""
    world = st.World(gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    world.set_material("default", friction=friction, compliance=law)
    world.add_plane(name="floor")
    world.add_body(st.Box(size), mass=1.0, position=(0, 0, size[2] / 2), name="block")
    return world


def steps(simulator, count):
    """The last of so many steps, each of which has to succeed."""
    for _ in range(count):
        result = simulator.step()
        assert result.success
    return result


def test_column_sinks_by_the_weight_above_each_contact():
    k, n, dt = 1e5, 5, 0.005
    result = steps(st.Simulator(column(n, st.Elastic(k, damping=200.0)), dt, tol=1e-10), 600)
    weight = (n - np.arange(n)) * G
    assert result.contacts.impulse[:, 0] / dt == pytest.approx(weight, rel=1e-6)
    assert -result.contacts.gap == pytest.approx(weight / k, rel=1e-6)
    assert result.certificate.elastic_energy == pytest.approx(np.sum(weight**2) / (2 * k), rel=1e-6)
    assert result.certificate.softened == 0


def test_what_is_stiffer_than_the_step_gives_way_as_far_as_the_step_asks():
    """Glass beads at 5 ms: C is W/1000, an overlap of g h²/1000 for each of the balls that a contact carries."""
    dt, n = 0.005, 3
    result = steps(st.Simulator(column(n, st.Elastic(1e12)), dt, tol=1e-10), 400)
    load = n - np.arange(n)
    pairs = np.array([1, 2, 2])  # W of the floor's contact is 1/m, that of two balls 2/m
    assert -result.contacts.gap == pytest.approx(G * dt**2 / 1000 * load * pairs, rel=1e-4)
    assert result.certificate.softened == n


def test_a_block_below_its_angle_of_friction_does_not_creep():
    simulator = st.Simulator(block(st.Elastic(1e5, damping=100.0), np.arctan(0.45)), 0.005)  # at the default tolerance
    simulator.advance(400)
    before = simulator.system.bodies(simulator.state.q)[-1, 0]
    result = simulator.advance(2000)
    assert result.success
    after = simulator.system.bodies(simulator.state.q)[-1, 0]
    assert abs(after - before) / 10.0 < 1e-12
    assert before > 1e-6  # it hangs on its springs
    assert (result.contacts.mode == st.Mode.STICK).all()


def test_a_block_above_it_slides_as_a_rigid_one_does():
    slope = 0.6
    simulator = st.Simulator(block(st.Elastic(1e6, damping=500.0), slope), 0.002, tol=1e-9)
    simulator.advance(100)
    v0 = simulator.state.v.reshape(-1, 6)[-1, 0]
    simulator.advance(100)
    v1 = simulator.state.v.reshape(-1, 6)[-1, 0]
    assert (v1 - v0) / 0.2 == pytest.approx(G * (np.sin(slope) - 0.5 * np.cos(slope)), rel=1e-3)


def test_loads_that_come_and_go_leave_nothing():
    """Half a cycle to 0.9 of what friction holds, and back: after the first cycles the block is where it was."""
    world = block(st.Elastic(1e5, damping=200.0))
    force = 0.9 * 0.5 * G
    world.add_force("block", lambda t, s: (force * np.sin(np.pi * t / 0.1) ** 2, 0, 0), point=(0, 0, -0.05))
    simulator = st.Simulator(world, 0.005)
    places = []
    for _ in range(60):
        steps(simulator, 20)
        places.append(simulator.system.bodies(simulator.state.q)[-1, 0])
    assert np.ptp(places[20:]) < 1e-13
    assert max(np.abs(places)) < 1e-5


def test_four_legs_share_the_load_as_springs_under_a_plate():
    k, a, e = 1e7, 0.5, np.array([0.1, 0.2])
    world = st.World()
    world.set_material("default", friction=0.5, compliance=st.Elastic(k, damping=5e3))
    world.add_plane()
    legs = [st.Sphere(0.05, position=(x, y, 0.05)) for x in (-a, a) for y in (-a, a)]
    world.add_body(legs, mass=10.0, inertia=(1.0, 1.0, 1.5), com=(*e, 0.5))
    result = steps(st.Simulator(world, 0.005, tol=1e-10), 600)
    feet = np.array([(x, y) for x in (-a, a) for y in (-a, a)])
    load = 10 * G / 4 * (1 + feet @ e / a**2)
    point = result.contacts.point[:, :2]
    order = [int(np.argmin(np.hypot(*(point - foot).T))) for foot in feet]
    assert result.contacts.impulse[order, 0] / 0.005 == pytest.approx(load, rel=1e-4)


def recalled(kept, normal, kt=1.0, key=5):
    """What contact 5 has of `kept` (8,) at the start of a step in which it has this normal and stiffness."""
    J = np.zeros((3, 6))
    J[0, :3] = normal
    J[1:, :3] = np.linalg.svd(J[:1, :3])[2][1:]
    form = BodyRows(np.zeros(1, np.int64), np.ones(1, np.int64), J, -J, np.zeros((2, 6, 6)))
    springs = np.empty((1, 8))
    place_springs(
        1.0, np.array([[1.0, kt, 0.0]]), np.array([0, 3]), form, np.zeros(3), np.zeros(3), np.array([key]),
        WarmStart(np.array([5]), np.zeros((1, 6)), kept[None]), np.zeros(3), np.zeros(3), springs,
    )  # fmt: skip
    return springs[0]


def test_what_is_remembered_turns_with_a_rigid_pair():
    """Once round about any axis, in steps of any size: the displacement is what it was."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        axis, normal = (x / np.linalg.norm(x) for x in rng.normal(size=(2, 3)))
        xi, count = np.cross(normal, rng.normal(size=3)), int(rng.integers(5, 60))
        kept = np.array([*xi, *normal, 1.0, 1.0])

        def pose(i, axis=axis, count=count):
            q = np.zeros((2, 7))
            q[:, 3], q[:, 4:] = np.cos(np.pi * i / count), np.sin(np.pi * i / count) * axis
            return q

        for i in range(count):
            turn_pair(0, 0, 1, pose(i), pose(i + 1), kept[None])
            place = pose(i + 1)[0]
            w, a = place[3], place[4:]
            now = normal + 2 * np.cross(a, np.cross(a, normal) + w * normal)
            kept = recalled(kept, now)
        assert kept[:3] == pytest.approx(xi, abs=1e-13 * count)


def test_a_stiffer_spring_keeps_its_force_and_a_softer_one_its_displacement():
    kept = np.array([1e-3, 0.0, 0.0, 0.0, 0.0, 1.0, 100.0, 1.0])
    up = np.array([0.0, 0.0, 1.0])
    assert recalled(kept, up, 400.0)[:3] == pytest.approx([1e-3 / 4, 0, 0], abs=1e-18)
    assert recalled(kept, up, 50.0)[:3] == pytest.approx([1e-3, 0, 0], abs=1e-18)
    assert not recalled(kept, up, key=6)[:3].any()


@pytest.mark.parametrize("plane", [False, True])
def test_collisions_never_gain_energy(plane):
    rng = np.random.default_rng(1)
    for _ in range(8):
        world = st.PlanarWorld(gravity=(0, 0)) if plane else st.World(gravity=(0, 0, 0))
        dim = 2 if plane else 3
        world.set_material("default", friction=float(rng.uniform(0, 1)), compliance=st.Elastic(10 ** rng.uniform(3, 6)))
        shape = st.Disk(0.1) if plane else st.Sphere(0.1)
        for i in range(5):
            place = rng.uniform(-0.02, 0.02, dim) + 0.25 * (i - 2) * np.eye(dim)[0]
            spin = rng.normal() if plane else rng.normal(size=3)
            world.add_body(
                shape, mass=float(rng.uniform(0.1, 10)), position=place, angular_velocity=spin,
                velocity=-3.0 * place + 0.1 * rng.normal(size=dim),
            )  # fmt: skip
        simulator = st.Simulator(world, 0.002, tol=1e-9)
        start = simulator.system.energy(simulator.state.q, simulator.state.v).total
        for _ in range(120):
            result = simulator.step()
            total = simulator.system.energy(result.state.q, result.state.v).total + result.certificate.elastic_energy
            assert total <= start * (1 + 1e-9)
            assert abs(result.certificate.energy.residual) <= 1e-12 * start


def test_a_run_goes_on_from_a_checkpoint_to_the_same_bits(tmp_path):
    world = block(st.Elastic(1e5, damping=20.0), 0.3)
    whole = st.Simulator(world, 0.005).run(0.6, record=tmp_path / "whole.h5")
    st.Simulator(world, 0.005).run(0.3, record=tmp_path / "part.h5")
    part = st.Simulator(world, 0.005).resume(tmp_path / "part.h5", duration=0.6)
    assert np.array_equal(whole.q, part.q)


def test_a_start_with_overlaps_is_no_mistake(recwarn):
    low = st.World()
    low.set_material("default", compliance=st.Elastic(1e5))
    low.add_plane()
    low.add_body(st.Sphere(0.1), mass=1.0, position=(0, 0, 0.0999))
    st.Simulator(low, 0.005)
    assert not [w for w in recwarn if issubclass(w.category, st.OverlapWarning)]


def test_analysis_says_that_it_does_not_know_it():
    with pytest.raises(st.ModelError, match="elastic contacts"):
        st.analysis.force_acceleration(column(1, st.Elastic(1e5)))


def test_what_does_not_go_with_it_is_refused():
    with pytest.raises(st.ModelError, match="kn"):
        st.Elastic(-1.0)
    with pytest.raises(st.ModelError, match="restitution and a compliance"):
        st.World().set_material("default", restitution=0.5, compliance=st.Elastic(1e5))
    with pytest.raises(st.ModelError, match="Elastic"):
        st.Gap(lambda q: q[0], compliance=st.Elastic(1e5))
    for scheme in (st.Moreau(), st.Stewart(), st.StewartTrinkle(), st.TzitzourisPang(), st.Compliant(1e5, 1.0, 1.0)):
        with pytest.raises(st.ModelError, match="AnitescuHart"):
            st.Simulator(column(1, st.Elastic(1e5)), 0.01, scheme=scheme)
