"""The compiled loop: the same bits as step by step, with the same certificates, and Python where it must."""

import runpy
import sys
import threading
import warnings
from dataclasses import fields

import numpy as np
import pytest

import stiction as st
from stiction.schemes.base import with_scene_sizes
from stiction.simulation.loop import CompiledLoop
from stiction.simulation.simulator import _SolveHandle


def spheres(n=30):
    world = st.World()
    world.add_plane()
    rng = np.random.default_rng(1)
    for i in range(n):
        place = (0.12 * (i % 3), 0.12 * (i // 3 % 3), 0.06 + 0.12 * (i // 9))
        world.add_body(
            st.Sphere(0.05), density=1000.0, position=np.array(place) + 0.01 * rng.normal(size=3) * [1, 1, 0]
        )
    return world


def tower():
    world = st.World()
    world.add_plane()
    for i in range(4):
        world.add_body(st.Box((1.0, 1.0, 1.0)), mass=1.0, position=(0.01 * i, 0.0, 0.5 + i))
    return world


def chain():
    world = st.World()
    world.add_plane(offset=-1.0)
    flat = (0.5**0.5, 0.0, 0.5**0.5, 0.0)
    link = st.Capsule(0.05, 0.3)
    links = [world.add_body(link, mass=0.5, position=(0.3 * i, 0, 0), orientation=flat) for i in range(4)]
    world.add_joint(st.Ball(None, links[0], anchor=(-0.15, 0, 0)))
    for i in range(3):
        world.add_joint(st.Ball(links[i], links[i + 1], anchor=(0.3 * i + 0.15, 0, 0)))
    return world


def moving_floor():
    world = st.World()
    belt = world.add_body(st.Box((4.0, 1.0, 0.1)), kind="kinematic", position=(0, 0, -0.05), velocity=(0.3, 0, 0))
    load = world.add_body(st.Box((0.2, 0.2, 0.2)), mass=1.0, position=(0, 0, 0.1))
    world.set_contact(belt, load, friction=st.Coulomb(0.3))
    return world


def disks():
    world = st.PlanarWorld()
    world.add_plane()
    for i in range(12):
        world.add_body(st.Disk(0.1), mass=1.0, position=(0.05 * np.sin(7 * i), 0.12 + 0.21 * i))
    world.add_body(st.Polygon([(-0.2, -0.1), (0.2, -0.1), (0.0, 0.2)]), mass=2.0, position=(1.0, 0.3), angle=0.3)
    return world


def machine():
    """Every kind of row: limit, motor, friction, spring, compliance, screw, gear, rope, and a contact."""
    world = st.World()
    world.add_plane(offset=-1.0)
    box = st.Box((0.3, 0.1, 0.1))
    arm = world.add_body(box, mass=1.0, position=(0, 0, 0), angular_velocity=(0, 0, 4.0))
    nut = world.add_body(box, mass=1.0, position=(1, 0, 0))
    lever = world.add_body(box, mass=1.0, position=(2, 0, 0))
    bob = world.add_body(st.Sphere(0.1), mass=0.5, position=(2.15, 0, -0.4))
    world.add_body(st.Sphere(0.1), mass=0.5, position=(0, 0, 0.5))
    drive = st.Motor(position=30.0, bound=0.3)
    turn = world.add_joint(st.Revolute(arm, None, anchor=(0, 0, 0), axis=(0, 0, 1), friction=0.05, motor=drive))
    world.add_joint(st.Screw(nut, None, anchor=(1, 0, 0), axis=(0, 0, 1), pitch=0.05, limits=(-8.0, 8.0)))
    world.add_joint(st.Gear(arm, nut, ratio=2.0, axis_a=(0, 0, 1), compliance=1e-3))
    hinge = world.add_joint(st.Revolute(lever, None, anchor=(1.85, 0, 0), axis=(0, 1, 0), limits=(-0.5, 0.5)))
    world.add_spring(hinge, stiffness=2.0, damping=0.1)
    world.add_spring(turn, stiffness=0.01)
    world.add_joint(st.Rope(lever, bob, anchor_a=(2.15, 0, 0), anchor_b=(2.15, 0, -0.4), length=0.5))
    return world


def planar_machine():
    world = st.PlanarWorld()
    world.add_plane(offset=-1.0)
    wheel = world.add_body(st.Disk(0.2), mass=1.0, angular_velocity=4.0)
    rack = world.add_body(st.Polygon.box(0.5, 0.1), mass=1.0, position=(0, 0.25))
    bob = world.add_body(st.Disk(0.1), mass=1.0, position=(1.0, 0.0))
    world.add_joint(st.Revolute(wheel, None, anchor=(0, 0), motor=st.Motor(speed=3.0, bound=2.0), friction=0.1))
    guide = world.add_joint(st.Prismatic(rack, None, axis=(1, 0), limits=(-0.6, 0.4), compliance=1e-4))
    world.add_joint(st.Rack(wheel, rack, radius=-0.2, direction=(1, 0)))
    world.add_spring(guide, stiffness=1e5, damping=1.0, rest=-0.1)
    world.add_joint(st.Rope(bob, None, anchor_a=(1, 0), anchor_b=(0.5, 0.5), length=1.0))
    return world


def linkage():
    """Joints and no shapes at all."""
    world = st.PlanarWorld()
    crank = world.add_body(None, mass=2.0, inertia=0.05)
    rod = world.add_body(None, mass=1.0, inertia=0.04, position=(0.55, 0))
    slider = world.add_body(None, mass=1.5, inertia=1e-3, position=(0.9, 0))
    world.add_joint(st.Revolute(crank, None, anchor=(0, 0), motor=st.Motor(speed=10.0, bound=4.0)))
    world.add_joint(st.Revolute(rod, crank, anchor=(0.2, 0)))
    world.add_joint(st.Revolute(rod, slider, anchor=(0.9, 0)))
    world.add_joint(st.Prismatic(slider, None, axis=(1, 0), friction=2.0))
    return world


def marbles():
    """Spin and rolling, sets with an axis in either body, and bodies that slip only, all in one heap."""
    world = spheres(12)
    balls = [b.name for b in world.bodies if b.name.startswith("body")]
    plank = world.add_body(st.Box((0.3, 0.2, 0.05)), mass=0.5, position=(0.1, 0.1, 0.4), velocity=(0.3, 0, 0))
    laws = [st.Torsional(0.3, er=0.01), st.Rolling(0.4, 0.002), st.Rolling(0.3, 0.001, 0.003), st.Mixed(0.2, er=0.02)]
    for i, ball in enumerate(balls):
        world.set_contact(ball, "plane0", friction=laws[i % 4])
        world.set_contact(ball, balls[i - 1], friction=laws[(i + 1) % 4])
        world.set_contact(*((plank, ball) if i % 2 else (ball, plank)), friction=st.Anisotropic(0.1, 0.6, (1, 1, 0)))
    world.set_contact("plane0", plank, friction=st.Anisotropic(0.0, 0.5, axis=(1, 0, 0)))
    return world


def wheels():
    world = disks()
    for body in world.bodies[2:]:
        world.set_contact("plane0", body.name, friction=st.Rolling(0.5, 0.01))
    return world


def clamped():
    """Constant forces and torques, as clamps and fans apply them."""
    world = tower()
    world.add_force(world.bodies[-1].name, (0.3, 0.2, -5.0), torque=(0.0, 0.0, 0.4))
    world.add_force(world.bodies[-2].name, torque=(0.1, 0.0, 0.0), point=(0.1, 0.0, 0.0))
    return world


def blown():
    world = disks()
    for body in world.bodies[2:]:
        world.add_force(body.name, (1.5, 0.0), torque=0.1)
    return world


SCENES = [
    spheres, tower, chain, moving_floor, disks, machine, planar_machine, linkage, marbles, wheels, clamped, blown,
]  # fmt: skip


def simulator(make, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return st.Simulator(make(), 0.005, **{"tol": 1e-6, **options})


@pytest.mark.parametrize("make", SCENES)
@pytest.mark.parametrize("solver", ["auto", "nsgs"])
def test_same_bits_as_step_by_step(make, solver):
    fast, slow = (
        simulator(make, solver=solver, on_failure="continue"),
        simulator(make, solver=solver, on_failure="continue"),
    )
    assert fast._loop is not None
    last = fast.advance(120)
    for _ in range(120):
        result = slow.step()
    for a, b in ((fast.state, slow.state), (last.state, result.state)):
        assert a.t == b.t
        np.testing.assert_array_equal(a.q, b.q)
        np.testing.assert_array_equal(a.v, b.v)
        np.testing.assert_array_equal(a.keys, b.keys)
        np.testing.assert_array_equal(a.impulses, b.impulses)
    np.testing.assert_array_equal(last.contacts.gap, result.contacts.gap)


def assert_same(a, b):
    """Two steps, field by field, to the bit; the certificates' blocks and messages too."""
    for name in (field.name for field in fields(a.contacts)):
        np.testing.assert_array_equal(getattr(a.contacts, name), getattr(b.contacts, name), err_msg=name)
    for name in ("q", "v", "keys", "impulses", "t"):
        np.testing.assert_array_equal(getattr(a.state, name), getattr(b.state, name), err_msg=name)
    assert a.certificate == b.certificate
    assert [role for role, _ in a.solves] == [role for role, _ in b.solves]
    for name in ("p", "v", "u", "modes"):
        np.testing.assert_array_equal(getattr(a.solution, name), getattr(b.solution, name), err_msg=name)
    for name in ("certificate", "status", "message", "iterations", "solver", "stages", "rounds"):
        assert getattr(a.solution, name) == getattr(b.solution, name), name
    assert (a.success, a.status, a.message, a.gains) == (b.success, b.status, b.message, b.gains)


OPTIONS = [(make, {}) for make in SCENES] + [
    (disks, {"eps": 0.01}), (spheres, {"eps": 0.002}), (planar_machine, {"stabilize": False}),
    (disks, {"relaxation": "convex"}),
]  # fmt: skip


@pytest.mark.parametrize("make", [disks, spheres, planar_machine])
@pytest.mark.parametrize("work", [400_000, 1])
def test_a_group_knows_the_state_before_its_last_step(make, work, monkeypatch):
    """Also where it returns to Python between: its worst residuals are those of the steps before the last."""
    monkeypatch.setattr("stiction.simulation.loop.CALL_MAX_BLOCKS", work)
    sim = simulator(make, on_failure="continue")
    loop, state = sim._loop, sim.state
    group, before, after = loop.take_group(state, 5), loop.take_steps(state, 4), loop.take_steps(state, 5)
    assert (group.taken, before.taken, after.taken) == (4, 4, 5)
    assert np.array_equal(group.worst, before.worst)
    for one, other in ((group.before, before.before), (group.after, after.before)):
        assert all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("q", "v", "keys", "impulses"))


@pytest.mark.parametrize(("make", "options"), OPTIONS)
def test_a_compiled_step_says_what_the_python_step_says(make, options):
    """Contacts, modes, impulses, certificates and the energy balance that recordings keep."""
    sim = simulator(make, on_failure="continue", scheme=st.AnitescuHart(**options))
    compiled = 0
    for _ in range(8):
        sim.advance(12)
        group = sim._loop.take_group(sim.state, 1)
        fast = None if group.after is None else sim._loop.to_step_result(sim.state, group.after, group.last)
        slow = with_scene_sizes(sim.scheme.step(sim.system, sim.state, sim.dt, _SolveHandle(sim)), sim.system, sim.dt)
        if fast is not None:
            assert_same(fast, slow)
            compiled += 1
    assert compiled >= 4


@pytest.mark.parametrize("make", [machine, planar_machine])
def test_frames_of_the_compiled_loop_are_those_of_python(make, tmp_path):
    """Joints, motors, springs and contacts: what is recorded is the same to the bit, whoever took the steps."""
    fast, slow = simulator(make), simulator(make)
    slow._loop = None
    one, two = fast.run(0.2, record=tmp_path / "fast.h5"), slow.run(0.2, record=tmp_path / "slow.h5")
    for name in ("times", "q", "v", "joints"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    for name in (field.name for field in fields(one.table)):
        np.testing.assert_array_equal(getattr(one.table, name), getattr(two.table, name), err_msg=name)
    for name in ("kinetic", "potential"):
        np.testing.assert_array_equal(getattr(one.energy, name), getattr(two.energy, name))
    for a, b in ((one.energy.work, two.energy.work), (one.certificate.residuals, two.certificate.residuals)):
        for name, values in a.items():
            np.testing.assert_array_equal(values, b[name], err_msg=name)
    assert one.constraint_names == two.constraint_names
    assert repr(one.events) == repr(two.events)


def test_a_short_run_does_not_wait_until_the_loop_is_compiled(monkeypatch):
    """Its steps are the same without it; a long run, or one whose loop is on disk already, takes it."""
    asked = []

    def group(loop, state, *rest, real=CompiledLoop.take_group):
        asked.append(state.t)
        return real(loop, state, *rest)

    def taken(few, compiled, **how):
        asked.clear()
        monkeypatch.setattr("stiction.simulation.loop.COMPILE_MIN_STEPS", few)
        monkeypatch.setattr("stiction.runtime.jit.compiled", lambda kernel: compiled)
        simulator(disks).run(0.05, **how)
        return len(asked)

    monkeypatch.setattr(CompiledLoop, "take_group", group)
    assert taken(100, compiled=False) == 0
    assert taken(100, compiled=True) == taken(5, compiled=False) == 10
    assert taken(100, compiled=False, every=5) == 2  # the residuals of the steps between are not the same number


def test_what_was_called_or_is_on_disk_is_compiled(monkeypatch, tmp_path):
    from stiction.runtime.jit import compiled

    monkeypatch.setenv("STICTION_CACHE_DIR", str(tmp_path))  # where no earlier run has left the kernel
    path = tmp_path / "kernel.py"
    path.write_text("from stiction.runtime.jit import njit\n\n\n@njit\ndef double(x):\n    return 2 * x\n")

    def fresh():
        return runpy.run_path(str(path))["double"]

    kernel = fresh()
    assert not compiled(kernel)
    assert kernel(2) == 4
    assert compiled(kernel)
    assert compiled(fresh())
    assert compiled(kernel.py_func)  # as where Numba is switched off


@pytest.mark.parametrize("make", [spheres, chain, disks, machine, planar_machine])
def test_recording_every_tenth_step_keeps_frames_and_the_worst_residuals(make):
    whole, thin = simulator(make).run(0.5), simulator(make).run(0.5, every=10)
    assert len(thin.times) == 11
    np.testing.assert_array_equal(thin.times, whole.times[::10])
    np.testing.assert_array_equal(thin.q, whole.q[::10])
    np.testing.assert_array_equal(thin.v, whole.v[::10])
    for name in ("penetration", "joint_drift"):
        assert thin.certificate.worst[name] == pytest.approx(whole.certificate.worst[name], rel=1e-9, abs=1e-15)
    assert thin.certificate.worst["scaled_map"] <= 1e-6


def test_the_last_step_is_always_recorded():
    run = simulator(tower).run(0.1, every=7)
    assert run.times[-1] == pytest.approx(0.1)
    np.testing.assert_allclose(run.times[:-1], 0.035 * np.arange(3))


@pytest.fixture
def always_prefetching(monkeypatch):
    """Steps of small worlds too are prefetched."""
    monkeypatch.setattr("stiction.simulation.prefetch.PREFETCH_MIN_BLOCKS", 0)
    monkeypatch.setattr("os.cpu_count", lambda: 2)


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("make", [spheres, machine, planar_machine])
def test_prefetched_steps_are_the_same(make, every, monkeypatch):
    """While a step is judged a thread takes the next ones: what is recorded does not depend on it."""
    runs = []
    for worth in (0, 10**9):
        monkeypatch.setattr("stiction.simulation.prefetch.PREFETCH_MIN_BLOCKS", worth)
        sim = simulator(make, on_failure="continue")
        runs.append((sim.run(0.3, every=every), sim.advance(1)))
    (one, last), (two, same) = runs
    np.testing.assert_array_equal(one.q, two.q)
    np.testing.assert_array_equal(one.v, two.v)
    for name, values in one.certificate.residuals.items():
        np.testing.assert_array_equal(values, two.certificate.residuals[name], err_msg=name)
    assert_same(last, same)


@pytest.mark.usefixtures("always_prefetching")
def test_hard_steps_are_not_prefetched():
    fast, slow = simulator(tower, tol=1e-10), simulator(tower, tol=1e-10)
    slow._loop = None
    np.testing.assert_array_equal(fast.run(0.1, every=4).q, slow.run(0.1, every=4).q)


@pytest.mark.usefixtures("always_prefetching")
def test_what_a_progress_function_changes_counts_from_the_next_step_on():
    """A new target, another state: what was prefetched is forgotten."""

    def run(loop):
        sim = simulator(planar_machine)
        if not loop:
            sim._loop = None

        def change(steps, result, between):
            if sim._steps == 10:
                sim.set_motor("joint0", -5.0)
                if not loop:
                    sim._loop = None
            if sim._steps == 20:
                sim.state = st.State(sim.state.t, sim.state.q + 0.0, 0.5 * sim.state.v)
            if sim._steps == 30:
                sim.state.v[:] *= 0.5  # even in place
            if sim._steps == 35:
                sim.state = st.State(sim.state.t, sim.state.q, sim.state.v)  # a cold start

        return sim.run(0.2, progress=change).q

    np.testing.assert_array_equal(run(True), run(False))


@pytest.mark.usefixtures("always_prefetching")
def test_a_run_that_is_ended_is_where_it_was_ended():
    """An interrupt leaves the simulator at the last recorded step, and it goes on to the same bits."""
    ended, whole, patience = simulator(spheres), simulator(spheres), sys.getswitchinterval()

    def end(steps, result, between):
        if ended._steps == 24:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ended.run(0.5, every=4, progress=end)
    assert ended._steps == 24
    ended.advance(26)
    whole.advance(50)
    np.testing.assert_array_equal(ended.state.q, whole.state.q)
    assert not [t for t in threading.enumerate() if t.name.startswith("stiction steps")]
    assert sys.getswitchinterval() == patience


def test_hard_steps_go_to_python_and_back():
    """A tolerance that sweeps miss: the other solvers of auto take those steps, and bits stay the same."""
    fast, slow = simulator(tower, tol=1e-10), simulator(tower, tol=1e-10)
    fast.advance(20)
    for _ in range(20):
        slow.step()
    np.testing.assert_array_equal(fast.state.q, slow.state.q)
    assert fast.advance(1).solution.certificate.error <= 1e-10


def test_what_needs_python_has_no_loop():
    pushed = tower()
    pushed.add_force(pushed.bodies[-1].name, lambda t, s: (1.0, 0.0, 0.0))
    assert st.Simulator(pushed, 0.005)._loop is None
    turning = tower()
    turning.add_force(turning.bodies[-1].name, (1.0, 0.0, 0.0), point=(0.1, 0.0, 0.0))
    assert st.Simulator(turning, 0.005)._loop is None  # its moment changes as the body turns
    assert simulator(tower, scheme=st.StewartTrinkle())._loop is None
    assert simulator(tower, scheme=st.AnitescuHart(directions=8))._loop is None
    assert simulator(tower, solver="newton")._loop is None
    timed = tower()
    drive = st.Motor(speed=lambda t: t, bound=1.0)
    timed.add_joint(st.Revolute(timed.bodies[-1].name, None, anchor=(0, 0, 4), axis=(0, 0, 1), motor=drive))
    assert st.Simulator(timed, 0.005)._loop is None
    guided = st.World()
    guided.add_body(st.Box((1, 1, 1)), kind="kinematic", motion=lambda t: (0.0, 0.0, t))
    guided.add_body(st.Sphere(0.1), mass=1.0, position=(0, 0, 2.0))
    assert st.Simulator(guided, 0.005)._loop is None


def test_schemes_options_reach_the_loop():
    """eps and stabilize change the motion, in the loop as step by step."""
    for options in ({"eps": 0.01}, {"stabilize": False}, {"eps": 0.0}):
        scheme = st.AnitescuHart(**options)
        fast, slow = (simulator(disks, scheme=scheme, on_failure="continue") for _ in range(2))
        assert fast._loop is not None
        fast.advance(100)
        for _ in range(100):
            slow.step()
        np.testing.assert_array_equal(fast.state.q, slow.state.q)


def test_motors_can_be_set_between_compiled_steps():
    fast, slow = simulator(machine), simulator(machine)
    for target in (30.0, -5.0, 2.0):
        for sim in (fast, slow):
            sim.set_motor("joint0", target)
        fast.advance(50)
        for _ in range(50):
            slow.step()
        np.testing.assert_array_equal(fast.state.q, slow.state.q)
    fast.reset()
    again = simulator(machine)
    fast.advance(50)
    again.advance(50)
    np.testing.assert_array_equal(fast.state.q, again.state.q)


def test_numbers_of_steps_are_checked():
    sim = simulator(tower)
    for bad in (0, -1, 1.5):
        with pytest.raises(st.ModelError, match="steps"):
            sim.advance(bad)
        with pytest.raises(st.ModelError, match="every"):
            sim.run(0.1, every=bad)


@pytest.mark.parametrize("dim", [2, 3])
def test_loop_stops_before_a_configuration_that_is_not_finite(dim):
    """A body of a finite velocity that is carried beyond the largest number within a step."""
    world = st.World() if dim == 3 else st.PlanarWorld()
    world.add_plane()
    for x, speed in ((0.0, 0.0), (1.0, 1e306)):
        shape = st.Sphere(0.1) if dim == 3 else st.Disk(0.1)
        up, away = (0.0,) * (dim - 2) + (0.1,), (speed,) + (0.0,) * (dim - 1)
        world.add_body(shape, mass=1.0, position=(x, *up), velocity=away)
    sim = st.Simulator(world, 100.0)
    assert sim._loop.take_steps(sim.state, 5).taken == 1
    with np.errstate(all="ignore"), pytest.raises(st.SolverError, match=r"finite|residual inf"):
        sim.advance(5)
    assert np.isfinite(sim.state.q).all()
    assert sim.time == 100.0


def ellipse():
    world = st.PlanarWorld()
    world.add_plane()
    world.add_body(st.Ellipse(0.2, 0.1), mass=1.0, position=(0.0, 0.3), angle=0.3)
    return world


def solids():
    world = st.World()
    world.add_plane()
    world.add_body(st.Cylinder(0.2, 0.1), mass=1.0, position=(0.0, 0.0, 0.1), orientation=(0.9, 0.3, 0.0, 0.1))
    world.add_body(st.Ellipsoid((0.1, 0.2, 0.1)), mass=1.0, position=(0.0, 0.0, 0.4))
    world.add_body(st.Sphere(0.1), mass=1.0, position=(0.5, 0.0, 0.1))
    return world


@pytest.mark.parametrize("make", [ellipse, solids])
def test_curved_shapes_run_step_by_step(make):
    """They have no compiled loop: `advance` takes the steps one by one, to the same bits."""
    world = make()
    fast, slow = st.Simulator(world, 0.005), st.Simulator(world, 0.005)
    assert fast._loop is None
    fast.advance(100)
    for _ in range(100):
        slow.step()
    np.testing.assert_array_equal(fast.state.q, slow.state.q)
