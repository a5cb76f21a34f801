"""The check `memory`: what elastic contacts remember against a second computation from two steps."""

from dataclasses import replace

import h5py
import numpy as np
import pytest

import stiction as st
from stiction.schemes.spring_kernels import KT, XI

AXES = slice(XI, XI + 3)
G = 9.81


def leaning(slope=0.3, law=None):
    """A box that hangs on its springs on a slope of less than its angle of friction."""
    world = st.World(gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    world.set_material("default", friction=0.5, compliance=st.Elastic(1e5, damping=20.0) if law is None else law)
    world.add_plane(name="floor")
    world.add_body(st.Box((0.2, 0.2, 0.1)), mass=1.0, position=(0, 0, 0.05), name="block")
    return world


def tumbling(plane):
    """Bodies of all kinds that fall on each other, spinning."""
    rng = np.random.default_rng(0)
    world = st.PlanarWorld() if plane else st.World()
    world.set_material("default", friction=0.5, compliance=st.Elastic(1e6))
    world.add_plane()
    shapes = (st.Polygon.box(0.1, 0.12), st.Disk(0.05)) if plane else (st.Box((0.08, 0.1, 0.12)), st.Sphere(0.05))
    for i in range(12):
        spin = rng.normal(size=3)
        across = [0.12 * (i % 2) + 0.01 * rng.normal() for _ in range(1 if plane else 2)]
        world.add_body(
            shapes[i % 2], density=2500, position=(*across, 0.1 + 0.15 * (i // 2)),
            angular_velocity=float(spin[0]) if plane else spin,
        )  # fmt: skip
    return world


@pytest.mark.parametrize("plane", [False, True])
def test_what_is_remembered_is_what_two_steps_ask_for(plane):
    """To the tolerance of the solves, through impacts, stick and slip; it falls with that tolerance."""
    worst = []
    for tol in (1e-6, 1e-10):
        simulator = st.Simulator(tumbling(plane), 0.005, tol=tol)
        steps = [simulator.step() for _ in range(100)]
        assert all(step.success for step in steps)
        assert max(step.certificate.elastic_energy for step in steps) > 1e-3
        worst.append(max(step.certificate.memory for step in steps))
    weight = simulator.system.mean_weight
    assert 0.0 < worst[0] < 0.1 * weight
    assert worst[1] < 1e-5 * weight


def test_the_compiled_loop_says_the_same():
    one, other = (st.Simulator(leaning(), 0.005) for _ in range(2))
    assert one._loop is not None
    step = one.advance(50)
    for _ in range(50):
        last = other.step()
    assert step.certificate == last.certificate
    assert step.certificate.memory > 0.0


def test_a_displacement_that_was_changed_shows_in_the_next_certificate():
    """In newtons: a longer, a turned, a lost and a made up displacement, each once, and no other step."""
    simulator = st.Simulator(leaning(), 0.005, tol=1e-10)
    for _ in range(200):
        simulator.step()
    good = simulator.state
    xi, kt = good.springs[:, AXES], good.springs[:, [KT]]
    side = np.array([0.0, 1.0, 0.0])
    for wrong in (1.01 * xi, -xi, 0.0 * xi, np.linalg.norm(xi, axis=1)[:, None] * side, xi + 1e-9 * side):
        springs = good.springs.copy()
        springs[:, AXES] = wrong
        simulator.start_from(replace(good, springs=springs))
        step = simulator.step()
        assert step.success  # nothing else is wrong
        assert step.solution.certificate.ok(1e-10)
        missed = np.linalg.norm(kt * (wrong - xi), axis=1).max()
        assert step.certificate.memory == pytest.approx(missed, rel=1e-3, abs=1e-6)
    simulator.start_from(good)
    assert simulator.step().certificate.memory < 1e-6
    assert simulator.step().certificate.memory < 1e-6


@pytest.mark.parametrize("plane", [False, True])
def test_in_motion_too(plane):
    """The displacement of one contact in a heap that moves, turned a little in its plane or made longer."""
    simulator = st.Simulator(tumbling(plane), 0.005, tol=1e-10)
    simulator.advance(90)
    good, kt = simulator.state, simulator.state.springs[:, KT]
    size = np.linalg.norm(good.springs[:, AXES], axis=1)
    k = int(np.argmax(kt * size))
    springs = good.springs.copy()
    springs[k, AXES] *= 1.1
    simulator.start_from(replace(good, springs=springs))
    assert simulator.step().certificate.memory == pytest.approx(0.1 * kt[k] * size[k], rel=1e-3)


def test_a_damaged_checkpoint_shows(tmp_path):
    st.Simulator(leaning(), 0.005, tol=1e-10).run(0.3, record=tmp_path / "run.h5")
    sound = st.Simulator(leaning(), 0.005, tol=1e-10)
    sound.restore(tmp_path / "run.h5")
    assert sound.step().certificate.memory < 1e-6
    with h5py.File(tmp_path / "run.h5", "r+") as file:
        found = []
        file.visititems(lambda name, item: found.append(item) if name.endswith("springs") else None)
        (springs,) = (item for item in found if isinstance(item, h5py.Dataset))
        springs[:, XI] *= 1.01
    damaged = st.Simulator(leaning(), 0.005, tol=1e-10)
    damaged.restore(tmp_path / "run.h5")
    assert damaged.step().certificate.memory > 1e-3


def test_a_start_has_nothing_to_compare_with():
    simulator = st.Simulator(leaning(), 0.005)
    assert simulator.step().certificate.memory < 1e-6
    simulator.advance(20)
    state = replace(simulator.state, springs=np.zeros((0, 8)))
    simulator.start_from(state)
    assert simulator.step().success


def test_springs_that_are_not_those_of_the_contacts_are_refused():
    simulator = st.Simulator(leaning(), 0.005)
    simulator.advance(20)
    good = simulator.state
    for wrong in (good.springs[:-1], np.vstack([good.springs, good.springs]), good.springs[:, :7]):
        with pytest.raises(st.ModelError, match=r"springs of shape .* for 4 constraints; \(4, 8\)"):
            simulator.start_from(replace(good, springs=wrong))
        simulator.state = replace(good, springs=wrong)
        with pytest.raises(st.ModelError, match="cannot step from its state, which has springs of shape"):
            simulator.advance(2)
    spoiled = good.springs.copy()
    spoiled[1, XI] = np.nan
    with pytest.raises(st.ModelError, match="the spring of contact 'floor/block"):
        simulator.start_from(replace(good, springs=spoiled))
    with pytest.raises(st.ModelError, match=r"impulses of shape \(3, 6\)"):
        simulator.start_from(replace(good, impulses=good.impulses[:-1]))
