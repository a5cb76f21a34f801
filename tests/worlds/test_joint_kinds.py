"""Couplings, limits, motors, friction, springs and compliance of joints, against closed forms."""

import math

import numpy as np
import pytest

import stiction as st

G = 9.81
SCHEMES = [st.AnitescuHart(), st.AnitescuHart(directions=8), st.StewartTrinkle(), st.StewartTrinkle(nonlinear=True)]
SOLVERS = ["auto", "lemke", "nsgs", "newton", "proximal"]


def scheme_name(scheme):
    extra = " nonlinear" if getattr(scheme, "nonlinear", False) else ""
    return type(scheme).__name__ + extra + (" directions" if getattr(scheme, "directions", None) else "")


def wheel(dim, inertia=0.5, spin=0.0, gravity=0.0, **options):
    """A wheel on a hinge about the last axis, its centre of mass on it."""
    if dim == 2:
        world = st.PlanarWorld(gravity=(0, -gravity))
        body = world.add_body(None, mass=1.0, inertia=inertia, angular_velocity=spin, name="wheel")
        hinge = world.add_joint(st.Revolute(body, None, anchor=(0, 0), name="hinge", **options))
    else:
        world = st.World(gravity=(0, 0, -gravity))
        body = world.add_body(None, mass=1.0, inertia=inertia, angular_velocity=(0, 0, spin), name="wheel")
        hinge = world.add_joint(st.Revolute(body, None, anchor=(0, 0, 0), axis=(0, 0, 1), name="hinge", **options))
    return world, body, hinge


def slider(dim, mass=2.0, speed=0.0, gravity=0.0, **options):
    """A body that slides along x; gravity along x too."""
    if dim == 2:
        world = st.PlanarWorld(gravity=(gravity, 0))
        body = world.add_body(None, mass=mass, inertia=1.0, velocity=(speed, 0), name="slider")
        joint = world.add_joint(st.Prismatic(body, None, axis=(1, 0), name="guide", **options))
    else:
        world = st.World(gravity=(gravity, 0, 0))
        body = world.add_body(None, mass=mass, inertia=1.0, velocity=(speed, 0, 0), name="slider")
        joint = world.add_joint(st.Prismatic(body, None, axis=(1, 0, 0), name="guide", **options))
    return world, body, joint


def run_of(world, duration, h=0.01, scheme=None, **options):
    run = st.Simulator(world, h, scheme=scheme, **options).run(duration)
    size = 1.0 + np.abs(run.energy.kinetic).max() + np.abs(run.energy.potential).max()
    assert run.certificate.worst["energy"] < 1e-11 * size  # whatever moves, every joule is booked
    return run


# --- friction


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("scheme", SCHEMES, ids=scheme_name)
def test_joint_friction_stops_a_wheel_dead(dim, scheme):
    """A spinning wheel slows by torque/inertia, linearly, and then stands."""
    world, _, hinge = wheel(dim, inertia=0.5, spin=3.0, friction=1.2)
    run = run_of(world, 2.0, scheme=scheme)
    joint = run.joint(hinge)
    np.testing.assert_allclose(joint.speed, np.maximum(0.0, 3.0 - 1.2 / 0.5 * joint.times), atol=1e-9)
    moving = joint.times < 1.24
    np.testing.assert_allclose(joint.friction[moving] / 0.01, -1.2, rtol=1e-9)
    np.testing.assert_allclose(joint.friction[~moving][2:], 0.0, atol=1e-12)
    assert run.energy.work["friction"].sum() == pytest.approx(-0.5 * 0.5 * 9.0, rel=1e-9)
    assert [e.kind for e in run.events if e.contact == "hinge friction"] == ["stick"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_takes_friction_limits_and_motors(solver):
    scheme = st.StewartTrinkle() if solver in ("lemke",) else st.AnitescuHart()
    world, _, hinge = wheel(2, spin=3.0, friction=0.2, limits=(-1.0, 1.0), motor=st.Motor(speed=2.0, bound=0.5))
    world.add_spring(hinge, stiffness=0.3, damping=0.01)
    run = run_of(world, 1.0, scheme=scheme, solver=solver, tol=1e-8)
    assert run.joint(hinge).coordinate[-1] == pytest.approx(1.0, abs=1e-9)
    # pressed against the stop by what the motor has over friction and spring
    assert run.joint(hinge).motor[-1] / 0.01 == pytest.approx(0.5, rel=1e-6)


@pytest.mark.parametrize("solver", ["conic", "apgd"])
def test_solvers_of_the_relaxation_take_them_too(solver):
    world, _, hinge = wheel(2, spin=3.0, friction=0.2, limits=(-1.0, 1.0), motor=st.Motor(speed=2.0, bound=0.5))
    world.add_spring(hinge, stiffness=0.3, damping=0.01)
    run = run_of(world, 1.0, scheme=st.AnitescuHart(relaxation="convex"), solver=solver)
    assert run.joint(hinge).coordinate[-1] == pytest.approx(1.0, abs=1e-6)
    assert run.joint(hinge).motor[-1] / 0.01 == pytest.approx(0.5, rel=1e-4)


def test_friction_holds_up_to_its_bound():
    for force, holds in ((0.99, True), (1.01, False)):
        world, body, joint = slider(2, friction=3.0)
        world.add_force(body, (3.0 * force, 0.0))
        run = run_of(world, 0.5)
        assert (run.position(body)[-1, 0] == pytest.approx(0.0, abs=1e-12)) == holds
        assert run.joint(joint).friction[-1] / 0.01 == pytest.approx(-3.0 * min(force, 1.0), rel=1e-9)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("scheme", SCHEMES[1:3], ids=scheme_name)
def test_coulomb_oscillator(dim, scheme):
    """Mass, spring, dry friction F: a half cycle takes 2 F/k off the amplitude, until it stops in the stick band."""
    k, m, F, x0 = 40.0, 2.0, 1.0, 0.33
    world, body, joint = slider(dim, mass=m, friction=F)
    world.add_spring(joint, stiffness=k, rest=-x0)  # the mass starts x0 from where the spring is slack
    h = 2e-3 * 2 * math.pi * math.sqrt(m / k)
    run = run_of(world, 8.0, h=h, scheme=scheme)
    x = run.position(body)[:, 0] + x0
    turn = np.flatnonzero(np.diff(np.sign(np.diff(x))) != 0) + 1
    expected = [x0 - 2 * F / k * (i + 1) for i in range(6)]
    expected = np.array([e for e in expected if e > F / k])
    np.testing.assert_allclose(np.abs(x[turn[: len(expected)]]), expected, atol=1.5e-3 * x0)
    assert abs(x[-1]) <= F / k
    still = run.velocity(body)[-100:, 0]
    np.testing.assert_allclose(still, 0.0, atol=1e-11)
    assert run.energy.work["friction"].sum() == pytest.approx(-0.5 * k * (x0**2 - x[-1] ** 2), rel=2e-3)


# --- limits


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("scheme", SCHEMES, ids=scheme_name)
def test_limits_stop_both_ways(dim, scheme):
    for spin, where in ((3.0, 0.4), (-3.0, -1.3)):
        world, _, hinge = wheel(dim, spin=spin, limits=(-1.3, 0.4))
        joint = run_of(world, 1.0, scheme=scheme).joint(hinge)
        np.testing.assert_allclose(joint.coordinate[-20:], where, atol=1e-9)
        assert joint.coordinate.min() >= -1.3 - 1e-9
        assert joint.coordinate.max() <= 0.4 + 1e-9
        assert joint.limit.sum() == pytest.approx(-0.5 * spin, rel=1e-9)


def test_one_sided_and_many_turn_limits():
    """A limit beyond a full turn is met after a full turn, in space too."""
    for dim in (2, 3):
        world, _, hinge = wheel(dim, spin=9.0, limits=(None, 15.0))
        run = run_of(world, 3.0)
        joint = run.joint(hinge)
        np.testing.assert_allclose(joint.coordinate, np.minimum(9.0 * joint.times, 15.0), atol=1e-9)
        assert [e.contact for e in run.events if e.kind == "impact"] == ["hinge upper limit"]


@pytest.mark.parametrize("dim", [2, 3])
def test_pendulum_with_a_stop(dim):
    """Let go from the horizontal, stopped at the lowest point: it loses all it has, and the stop carries no load."""
    length, m = 0.8, 1.5
    inertia = m * length**2 / 12
    if dim == 2:
        world = st.PlanarWorld()
        bar = world.add_body(None, mass=m, inertia=inertia, position=(length / 2, 0))
        stop = world.add_joint(st.Revolute(bar, None, anchor=(0, 0), limits=(-math.pi / 2, None)))
    else:
        world = st.World()
        bar = world.add_body(None, mass=m, inertia=inertia, position=(length / 2, 0, 0))
        stop = world.add_joint(st.Revolute(bar, None, anchor=(0, 0, 0), axis=(0, -1, 0), limits=(-math.pi / 2, None)))
    run = run_of(world, 1.2, h=0.002)
    joint = run.joint(stop)
    assert joint.coordinate.min() == pytest.approx(-math.pi / 2, abs=1e-9)
    hit = int(np.argmin(joint.speed))
    fall = math.sqrt(3 * G / length)  # ½ J w² = m g L/2
    assert joint.speed[hit] == pytest.approx(-fall, rel=5e-3)
    np.testing.assert_allclose(joint.speed[-50:], 0.0, atol=1e-9)
    assert joint.limit.sum() == pytest.approx(m * length**2 / 3 * fall, rel=5e-3)


def test_limits_without_stabilisation_still_stop():
    world, _, hinge = wheel(2, spin=3.0, limits=(-1.0, 1.0))
    joint = run_of(world, 1.0, scheme=st.AnitescuHart(stabilize=False)).joint(hinge)
    assert joint.coordinate[-1] == pytest.approx(1.0, abs=1e-9)


# --- motors


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("scheme", SCHEMES, ids=scheme_name)
def test_motor_reaches_its_speed_with_its_torque(dim, scheme):
    world, _, hinge = wheel(dim, inertia=0.5, motor=st.Motor(speed=4.0, bound=2.0))
    run = run_of(world, 1.5, scheme=scheme)
    joint = run.joint(hinge)
    np.testing.assert_allclose(joint.speed, np.minimum(4.0, 2.0 / 0.5 * joint.times), atol=1e-9)
    np.testing.assert_allclose(joint.motor[joint.times < 0.99] / 0.01, 2.0, rtol=1e-9)
    assert run.energy.work["motors"].sum() == pytest.approx(0.5 * 0.5 * 16.0, rel=1e-9)


def test_motor_stalls_at_its_bound():
    """A lever of weight m g l: a motor with more holds it with just that; one with less lets it fall with the rest."""
    m, l = 2.0, 0.5
    for bound in (1.2 * m * G * l, 0.7 * m * G * l):
        world = st.PlanarWorld()
        bar = world.add_body(None, mass=m, inertia=1e-3, position=(l, 0))
        hinge = world.add_joint(st.Revolute(bar, None, anchor=(0, 0), motor=st.Motor(speed=0.0, bound=bound)))
        run = run_of(world, 0.01 if bound < m * G * l else 1.0, h=0.001)
        joint = run.joint(hinge)
        torque = min(bound, m * G * l)
        np.testing.assert_allclose(joint.motor[0] / 0.001, torque, rtol=1e-9)
        inertia = 1e-3 + m * l**2
        assert joint.speed[0] == pytest.approx(-0.001 * (m * G * l - torque) / inertia, abs=1e-12)
        if bound > m * G * l:
            np.testing.assert_allclose(joint.coordinate, 0.0, atol=1e-12)


@pytest.mark.parametrize("dim", [2, 3])
def test_motor_goes_to_a_position_over_many_turns(dim):
    """With torque to spare the error falls by 1/(1 + h/time) in each step; targets can be changed."""
    world, _, hinge = wheel(dim, motor=st.Motor(position=20.0, bound=1e9, time=0.05))
    sim = st.Simulator(world, 0.01)
    joint = sim.run(1.0).joint(hinge)
    steps = np.arange(1, 101)
    np.testing.assert_allclose(joint.coordinate, 20.0 * (1 - (1 + 0.01 / 0.05) ** -steps.astype(float)), atol=1e-7)
    sim.set_motor("hinge", -7.0)
    assert sim.run(2.0).joint(hinge).coordinate[-1] == pytest.approx(-7.0, abs=1e-6)
    sim.reset()
    assert sim.run(2.0).joint(hinge).coordinate[-1] == pytest.approx(20.0, abs=1e-6)


def test_motor_follows_a_function_of_time():
    world, _, hinge = wheel(2, motor=st.Motor(speed=lambda t: math.sin(3 * t), bound=100.0))
    joint = run_of(world, 2.0, tol=1e-11).joint(hinge)
    np.testing.assert_allclose(joint.speed, np.sin(3 * joint.times), atol=1e-9)


def test_joints_survive_a_file(tmp_path):
    world, _, hinge = wheel(3, spin=2.0, friction=0.1, limits=(None, 1.0), motor=st.Motor(speed=5.0, bound=0.2))
    run = run_of(world, 1.0)
    run.save(tmp_path / "run.h5")
    ours, theirs = run.joint(hinge), st.load(tmp_path / "run.h5").joint("hinge")
    for name in ("coordinate", "speed", "force", "motor", "limit", "friction", "impulse"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    assert theirs.unique is True


# --- springs and compliance


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("scheme", SCHEMES, ids=scheme_name)
@pytest.mark.parametrize("turning", [False, True])
def test_spring_oscillator_keeps_period_and_energy(dim, scheme, turning):
    """Half a turn of phase is π up to O(h²w²), and the energy returns to its value: nothing is lost in ten cycles."""
    k, m = 50.0, 2.0
    world, _, joint = (wheel if turning else slider)(dim, m)
    world.add_spring(joint, stiffness=k, rest=0.3)
    w = math.sqrt(k / m)
    h = 2 * math.pi / w / 100
    run = run_of(world, 10 * 2 * math.pi / w, h=h, scheme=scheme)
    x = run.joint(joint).coordinate - 0.3
    # the discrete frequency: 2 sin(θ/2) = h w/√(1 + h²w²/4)
    theta = 2 * math.asin(0.5 * h * w / math.sqrt(1 + 0.25 * (h * w) ** 2))
    assert theta == pytest.approx(h * w, rel=1e-3)
    n = np.arange(1, len(x) + 1)
    np.testing.assert_allclose(x, -0.3 * np.cos((n + 0.5) * theta) / math.cos(0.5 * theta), atol=2e-6)
    total = run.energy.total
    assert np.abs(total / total[0] - 1).max() < 0.6 * h * w
    assert np.abs(total[-100:].mean() / total[:100].mean() - 1) < 1e-4


def test_stiff_springs_are_stable_and_damped_ones_settle():
    """A spring ten thousand times too stiff for the step: at rest under its load soon, at F/k."""
    for damping in (0.0, 1e3, 1e9):
        world, _, joint = slider(2, gravity=G)
        world.add_spring(joint, stiffness=1e9, damping=damping)
        run = run_of(world, 5.0 if damping == 1e9 else 0.5, tol=1e-11)
        np.testing.assert_allclose(run.joint(joint).coordinate[-10:], 2.0 * G / 1e9, rtol=1e-2)
        np.testing.assert_allclose(run.joint(joint).speed[-10:], 0.0, atol=1e-8)


def test_damper_slows_by_its_rate():
    world, _, joint = slider(2, speed=3.0)
    world.add_spring(joint, damping=4.0)
    speed = run_of(world, 1.0).joint(joint).speed
    np.testing.assert_allclose(speed, 3.0 * (1 + 0.01 * 4.0 / 2.0) ** -np.arange(1, 101.0), rtol=1e-9)


def test_springs_between_points_pull_along_their_line():
    """Two masses in free space: the centre of mass and the angular momentum stay."""
    world = st.World(gravity=(0, 0, 0))
    a = world.add_body(st.Sphere(0.1), mass=1.0, position=(0.5, 0, 0), velocity=(0, 1.0, 0))
    b = world.add_body(st.Sphere(0.1), mass=3.0, position=(-0.5, 0, 0), velocity=(0, -1 / 3, 0))
    spring = world.add_spring(
        a, b, anchor_a=(0.5, 0, 0), anchor_b=(-0.5, 0, 0), stiffness=20.0, length=0.7, name="coil"
    )
    run = run_of(world, 3.0, h=0.005)
    middle = (run.position(a) + 3 * run.position(b)) / 4
    np.testing.assert_allclose(middle, np.tile(middle[0], (len(middle), 1)), atol=1e-10)
    spin = np.cross(run.position(a), run.velocity(a)) + 3 * np.cross(run.position(b), run.velocity(b))
    np.testing.assert_allclose(spin[:, 2], spin[0, 2], atol=1e-9)
    apart = np.linalg.norm(run.position(a) - run.position(b), axis=1) - 0.7
    np.testing.assert_allclose(run.joint(spring).coordinate, apart[1:], atol=1e-12)
    assert np.abs(run.energy.total / run.energy.total[0] - 1).max() < 0.03


@pytest.mark.parametrize("scheme", SCHEMES, ids=scheme_name)
def test_compliance_gives_way_by_force_times_compliance(scheme):
    c = np.array([1e-3, 2e-3, 5e-4])
    world = st.PlanarWorld(gravity=(3.0, -G))
    body = world.add_body(None, mass=2.0, inertia=0.1)
    world.add_joint(st.Fixed(body, None, compliance=c))
    world.add_force(body, torque=0.7)
    run = run_of(world, 5.0, h=0.05, scheme=scheme)
    np.testing.assert_allclose(run.position(body)[-1], [2.0 * 3.0 * 1e-3, -2.0 * G * 2e-3], rtol=1e-6)
    assert run.angle(body)[-1] == pytest.approx(0.7 * 5e-4, rel=1e-6)
    assert run.certificate.worst["joint_drift"] == 0.0  # a deflection is no drift
    assert run.energy.work["springs"].sum() < 0.0  # implicit Euler damps


# --- ropes


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("scheme", SCHEMES, ids=scheme_name)
def test_rope_is_slack_then_taut(dim, scheme):
    """A weight that falls by the slack of its rope and then hangs; the rope takes its momentum, then its weight."""
    world = st.World() if dim == 3 else st.PlanarWorld()
    top = np.zeros(dim)
    start = np.zeros(dim)
    start[-1] = -0.2
    body = world.add_body(st.Sphere(0.05) if dim == 3 else st.Disk(0.05), mass=2.0, position=start)
    rope = world.add_joint(st.Rope(body, None, anchor_a=start, anchor_b=top, length=0.5))
    run = run_of(world, 1.0, h=0.005, scheme=scheme)
    joint = run.joint(rope)
    assert joint.coordinate.max() == pytest.approx(0.5, abs=1e-9)
    slack = joint.coordinate < 0.5 - 1e-9
    np.testing.assert_array_equal(joint.impulse[slack, 0], 0.0)
    np.testing.assert_allclose(joint.impulse[-20:, 0] / 0.005, 2.0 * G, rtol=1e-9)
    assert joint.impulse[:, 0].sum() == pytest.approx(2.0 * G * 1.0, rel=1e-9)  # from rest to rest
    fall = math.sqrt(2 * G * 0.3)
    first = int(np.argmax(~slack))
    jerk = joint.impulse[first : first + 3, 0].sum() - 3 * 2.0 * G * 0.005
    assert jerk == pytest.approx(2.0 * fall, rel=0.03)


def test_rope_is_a_pendulum_while_it_is_taut():
    world = st.PlanarWorld()
    body = world.add_body(st.Disk(0.05), mass=1.0, position=(0.6, -0.8))
    rope = world.add_joint(st.Rope(body, None, anchor_a=(0.6, -0.8), anchor_b=(0, 0)))
    run = run_of(world, 2.0, h=0.002)
    np.testing.assert_allclose(run.joint(rope).coordinate, 1.0, atol=1e-4)
    assert run.certificate.worst["joint_drift"] < 1e-4
