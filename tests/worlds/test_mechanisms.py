"""Pendulums and chains by joints, against closed forms, generalized coordinates and independent integrators."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import stiction as st

G = 9.81
STEP = st.AnitescuHart(directions=8)


@pytest.mark.parametrize("kind", ["distance", "ball"])
def test_conical_pendulum_has_its_period(kind):
    """ω² = g/(L cos a). A round bob on a ball joint turns with the whole and needs no torque: the same period."""
    length, tilt, errors = 0.8, 0.6, []
    rate = math.sqrt(G / (length * math.cos(tilt)))
    start = length * np.array([math.sin(tilt), 0, -math.cos(tilt)])
    for h in (0.01, 0.005):
        world = st.World()
        spin = (0, 0, rate) if kind == "ball" else (0, 0, 0)
        bob = world.add_body(
            st.Sphere(0.1), mass=1.5, position=start, velocity=np.cross((0, 0, rate), start), angular_velocity=spin
        )
        if kind == "ball":
            world.add_joint(st.Ball(bob, None, anchor=(0, 0, 0)))
        else:
            world.add_joint(st.Distance(bob, None, anchor_a=start, anchor_b=(0, 0, 0)))
        run = st.Simulator(world, h, scheme=STEP).run(1.5)
        x = run.position(bob)
        phase = np.unwrap(np.arctan2(x[:, 1], x[:, 0]))
        errors.append(abs(phase[-1] - rate * run.times[-1]) / (rate * run.times[-1]))
        np.testing.assert_allclose(np.linalg.norm(x, axis=1), length, atol=(h * rate) ** 2 * length)
        np.testing.assert_allclose(x[:, 2], start[2], atol=0.1)
    assert errors[0] < 0.01
    assert errors[1] < max(0.6 * errors[0], 5e-4)


def test_compound_pendulum_has_its_elliptic_period():
    """A rod on a hinge, from 60°: T = 4 sqrt(I/(m g a)) K(sin² 30°), to first order at least."""
    swing, errors = math.pi / 3, []
    exact = 4 * math.sqrt((1 / 3) / (G * 0.5)) * ellipk(math.sin(swing / 2) ** 2)
    for h in (0.016, 0.008):
        world = st.PlanarWorld()
        angle = swing - math.pi / 2
        rod = world.add_body(
            None, mass=1.0, inertia=1 / 12, position=0.5 * np.array([math.cos(angle), math.sin(angle)]), angle=angle
        )
        world.add_joint(st.Revolute(rod, None, anchor=(0, 0)))
        run = st.Simulator(world, h).run(1.1 * exact)
        spin = run.angular_velocity(rod)
        up = np.flatnonzero((spin[:-1] > 0) & (spin[1:] <= 0))[0]  # back at the top: one period
        errors.append(abs(run.times[up] + h * spin[up] / (spin[up] - spin[up + 1]) - exact))
    assert errors[1] < 0.01 * exact
    assert errors[1] < 0.7 * errors[0]


def rods(angles, rates, lengths, masses, dim=2):
    """Uniform rods hung one below the other; angles from the downward vertical."""
    world = st.PlanarWorld() if dim == 2 else st.World()
    hook, speed, handles = np.zeros(2), np.zeros(2), [None]
    for angle, rate, length, mass in zip(angles, rates, lengths, masses):
        along = np.array([math.sin(angle), -math.cos(angle)])
        across = rate * np.array([math.cos(angle), math.sin(angle)])
        middle, velocity = hook + 0.5 * length * along, speed + 0.5 * length * across
        if dim == 2:
            body = world.add_body(
                None, mass=mass, inertia=mass * length**2 / 12, position=middle, angle=angle, velocity=velocity,
                angular_velocity=rate,
            )  # fmt: skip
            world.add_joint(st.Revolute(body, handles[-1], anchor=hook))
        else:
            body = world.add_body(
                None, mass=mass, inertia=np.array([1.0, 1.0, 0.5]) * mass * length**2 / 12,
                position=(middle[0], 0, middle[1]), velocity=(velocity[0], 0, velocity[1]),
                orientation=(math.cos(angle / 2), 0, -math.sin(angle / 2), 0), angular_velocity=(0, -rate, 0),
            )  # fmt: skip
            world.add_joint(st.Revolute(body, handles[-1], anchor=(hook[0], 0, hook[1]), axis=(0, 1, 0)))
        handles.append(body)
        hook, speed = hook + length * along, speed + length * across
    return world, handles[1:]


ANGLES, RATES, LENGTHS, MASSES = (1.2, 0.3), (0.5, -2.0), (0.8, 0.5), (1.0, 0.7)


def double_pendulum_mass(q):
    (l1, l2), (m1, m2) = LENGTHS, MASSES
    c = m2 * l1 * l2 / 2 * math.cos(q[0] - q[1])
    return [[m1 * l1**2 / 3 + m2 * l1**2, c], [c, m2 * l2**2 / 3]]


def double_pendulum_potential(q):
    (l1, l2), (m1, m2) = LENGTHS, MASSES
    return -G * ((m1 / 2 + m2) * l1 * math.cos(q[0]) + m2 * l2 / 2 * math.cos(q[1]))


def exact_double_pendulum(duration):
    (l1, l2), (_, m2) = LENGTHS, MASSES

    def rate(t, y):
        s = m2 * l1 * l2 / 2 * math.sin(y[0] - y[1])
        down = G * np.array([(MASSES[0] / 2 + m2) * l1 * math.sin(y[0]), m2 * l2 / 2 * math.sin(y[1])])
        k = np.array([-s * y[3] ** 2, s * y[2] ** 2]) - down
        return [*y[2:], *np.linalg.solve(double_pendulum_mass(y), k)]

    return solve_ivp(rate, (0, duration), [*ANGLES, *RATES], method="DOP853", rtol=1e-12, atol=1e-12).y[:2, -1]


@pytest.mark.parametrize("dim", [2, 3])
def test_double_pendulum_by_joints_converges_to_the_true_one(dim):
    exact, errors = exact_double_pendulum(0.6), []
    for h in (0.008, 0.004, 0.002):
        world, bodies = rods(ANGLES, RATES, LENGTHS, MASSES, dim)
        run = st.Simulator(world, h, scheme=STEP).run(0.6)
        if dim == 2:
            angles = [run.angle(b)[-1] for b in bodies]
        else:
            angles = [-2 * math.atan2(*run.orientation(b)[-1, [2, 0]]) for b in bodies]
        errors.append(np.abs(angles - exact).max())
    assert errors[-1] < 0.02
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.5)
    assert errors[1] / errors[2] == pytest.approx(2.0, abs=0.3)


def test_double_pendulum_by_joints_and_by_coordinates_meet():
    apart = []
    for h in (0.004, 0.002):
        world, bodies = rods(ANGLES, RATES, LENGTHS, MASSES)
        joints = st.Simulator(world, h).run(0.6)
        angles = st.GeneralizedSystem.from_lagrangian(
            double_pendulum_mass, double_pendulum_potential, q=ANGLES, v=RATES
        )
        other = st.Simulator(angles, h).run(0.6)
        apart.append(np.abs(np.column_stack([joints.angle(b) for b in bodies]) - other.q).max())
    assert apart[1] < 0.02
    assert apart[1] < 0.6 * apart[0]


def test_chain_keeps_its_energy_and_its_joints():
    """Five rods let go from the horizontal: energy within a few per cent and falling with h; drift of order h²."""
    lost, drift = [], []
    for h in (0.006, 0.003):
        world, _ = rods([math.pi / 2] * 5, [0.0] * 5, [0.3] * 5, [1.0] * 5)
        run = st.Simulator(world, h).run(1.0)
        scale = 5 * G * 0.75
        lost.append(np.abs(run.energy.total - run.energy.total[0]).max() / scale)
        drift.append(run.certificate.worst["joint_drift"])
        np.testing.assert_allclose(run.certificate["energy"], 0.0, atol=1e-11)
    assert lost[0] < 0.1
    assert lost[1] < 0.75 * lost[0]
    assert drift[1] < 0.4 * drift[0] < 4e-3


def test_hanging_chain_carries_what_is_below():
    world, _ = rods([0.0] * 5, [0.0] * 5, [0.3] * 5, [1.0, 2.0, 0.5, 1.5, 3.0])
    run = st.Simulator(world, 0.01).run(0.3)
    below = G * np.cumsum([3.0, 1.5, 0.5, 2.0, 1.0])[::-1]
    for i, weight in enumerate(below):
        np.testing.assert_allclose(run.force(f"joint{i}")[:, :2], np.tile([0, weight], (30, 1)), atol=1e-9)


def test_four_bar_linkage_closes():
    """A parallelogram: redundant loops are no obstacle, and the coupler stays level."""
    world = st.PlanarWorld()
    rest = {"mass": 1.0, "inertia": 1 / 12}
    left = world.add_body(None, position=(0, 0.5), angle=math.pi / 2, angular_velocity=-3.0, velocity=(1.5, 0), **rest)
    right = world.add_body(None, position=(2, 0.5), angle=math.pi / 2, angular_velocity=-3.0, velocity=(1.5, 0), **rest)
    coupler = world.add_body(None, position=(1, 1), velocity=(3.0, 0), **rest)
    for a, b, anchor in (
        (left, None, (0, 0)),
        (right, None, (2, 0)),
        (coupler, left, (0, 1)),
        (coupler, right, (2, 1)),
    ):
        world.add_joint(st.Revolute(a, b, anchor=anchor))
    run = st.Simulator(world, 0.002).run(0.4)
    np.testing.assert_allclose(run.angle(coupler), 0.0, atol=1e-6)
    np.testing.assert_allclose(run.angle(left), run.angle(right), atol=1e-6)
    assert run.certificate.worst["joint_drift"] < 2e-4


def test_slider_crank_is_kinematic():
    """A crank turned at a steady rate, a rod and a slider: the slider's place is that of geometry, to O(h²)."""
    world = st.PlanarWorld(gravity=(0, 0))
    rate, r, l = 4.0, 0.2, 0.7
    crank = world.add_body(None, kind="kinematic", angular_velocity=rate)
    rod = world.add_body(
        None, mass=1.0, inertia=l**2 / 12, position=(r + l / 2, 0), velocity=(0, rate * r / 2),
        angular_velocity=-rate * r / l,
    )  # fmt: skip
    slider = world.add_body(None, mass=0.5, inertia=1e-3, position=(r + l, 0))
    world.add_joint(st.Revolute(rod, crank, anchor=(r, 0)))
    world.add_joint(st.Revolute(rod, slider, anchor=(r + l, 0)))
    world.add_joint(st.Prismatic(slider, None, axis=(1, 0)))
    errors = []
    for h in (0.01, 0.005):
        run = st.Simulator(world, h).run(1.6)
        a = rate * run.times
        exact = r * np.cos(a) + np.sqrt(l**2 - (r * np.sin(a)) ** 2)
        errors.append(np.abs(run.position(slider)[:, 0] - exact).max())
    assert errors[1] < 0.3 * errors[0]
    assert errors[1] < 1e-3
