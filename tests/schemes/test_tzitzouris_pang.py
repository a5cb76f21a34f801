"""The fully implicit scheme: exact answers at the nodes, everything at the new configuration, honest failures."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import brentq, fsolve

import stiction as st
from stiction.schemes.implicit import ImplicitStep

G = 9.81


def rolling_ball(mu=0.2, er=0.4, v=(0.0,) * 6):
    """ttp01 §4.1: unit sphere on a plane; rows normal, two tangents at 45° to the axes, spin."""
    c = np.sqrt(0.5)
    tangents = np.array([[c, c, 0, c, -c, 0], [-c, c, 0, c, c, 0], [0, 0, 0, 0, 0, 1.0]])
    gap = st.Gap(lambda q: q[2] - 1.0, lambda q: np.eye(6)[2], lambda q: tangents, st.Torsional(mu, er=er))
    mass = np.diag([1.0, 1.0, 1.0, 0.4, 0.4, 0.4])
    return st.GeneralizedSystem(mass, [0, 0, -G, 0, 0, 0], q=[0, 0, 1, 0, 0, 0], v=v, gaps=[gap])


def run(system, h, steps, **options):
    sim = st.Simulator(system, dt=h, scheme=st.TzitzourisPang(**options))
    return sim, [sim.step() for _ in range(steps)]


def test_spin_falls_linearly_and_stops_exactly():
    _sim, steps = run(rolling_ball(v=(0, 0, 0, 0, 0, 1.962)), 0.07, 17)
    for k, r in enumerate(steps, start=1):
        exact = max(0.0, 1.962 - 1.962 * 0.07 * k)
        assert r.state.v == pytest.approx([0, 0, 0, 0, 0, exact], abs=1e-13)
        assert r.solution.certificate.error < 1e-10


def test_sliding_turns_into_rolling():
    _sim, steps = run(rolling_ball(v=(2, 0, 0, 0, 0, 0)), 0.12, 5)
    for k, r in enumerate(steps, start=1):
        t = 0.12 * k
        vx, wy = (2 - 0.2 * G * t, 0.5 * G * t) if t < 4 / (7 * 0.2 * G) else (10 / 7, 10 / 7)
        assert r.state.v == pytest.approx([vx, 0, 0, 0, wy, 0], abs=1e-13)


def bowl(h, scheme):
    """A point in a curved track with friction: every row turns as it moves."""
    radius = 2.0

    def phi(q):
        return radius - np.hypot(q[0], q[1] - radius)

    def tangent(q):
        n = -(q - [0, radius]) / np.hypot(q[0], q[1] - radius)
        return np.array([n[1], -n[0]])

    gap = st.Gap(phi, tangents=tangent, friction=0.1)
    system = st.GeneralizedSystem(np.eye(2), [0, -G], q=[0.0, 0.0], v=[2.0, 0.0], gaps=[gap])
    sim = st.Simulator(system, dt=h, scheme=scheme, tol=1e-10)
    return sim, sim.run(0.5)


def test_gap_is_met_at_the_new_configuration():
    _sim, track = bowl(0.02, st.TzitzourisPang())
    assert track.certificate.worst["penetration"] < 1e-12
    assert np.abs(np.hypot(track.q[:, 0], track.q[:, 1] - 2.0) - 2.0).max() < 1e-12


def test_same_equations_as_the_fixed_point_of_stewart_and_trinkle():
    """With constant mass and forces the two nonlinear schemes differ only in how they are solved."""
    _, newton = bowl(0.02, st.TzitzourisPang())
    _, fixed = bowl(0.02, st.StewartTrinkle(nonlinear=True, evaluate="new", directions=None, tolerance=1e-13))
    assert newton.v[-1] == pytest.approx(fixed.v[-1], abs=1e-9)


def test_first_order():
    ends = [bowl(h, st.TzitzourisPang())[1].v[-1] for h in (0.02, 0.01, 0.005, 0.0025)]
    steps = [np.linalg.norm(a - b) for a, b in itertools.pairwise(ends)]
    assert steps[0] / steps[1] == pytest.approx(2.0, abs=0.3)
    assert steps[1] / steps[2] == pytest.approx(2.0, abs=0.3)


def test_forces_are_implicit():
    """A spring too stiff for the step: backward Euler is x⁺ = (x + h v)/(1 + h²k/m), and it does not ring."""
    k, h = 1e6, 0.01
    system = st.GeneralizedSystem([[1.0]], lambda t, q, v: -k * q, q=[1.0], v=[0.0])
    sim, _ = run(system, h, 1)
    assert sim.state.q[0] == pytest.approx(1 / (1 + h * h * k), rel=1e-9)


def test_mass_that_depends_on_the_configuration():
    def mass(q):
        return np.array([[1.0 + q[0] ** 2]])

    def k(t, q, v):
        return np.array([-q[0] * v[0] ** 2 - 3 * q[0]])

    h, q0, v0 = 0.05, 1.0, 0.3
    sim, _ = run(st.GeneralizedSystem(mass, k, q=[q0], v=[v0]), h, 1)

    def residual(v):
        q = q0 + h * v
        return (1 + q * q) * (v - v0) - h * (-q * v * v - 3 * q)

    assert sim.state.v[0] == pytest.approx(brentq(residual, -5, 5, xtol=1e-14), abs=1e-10)


def test_moving_obstacle_carries_the_body():
    gap = st.Gap(lambda t, q: q[0] - 0.1 * t, name="lift")
    sim, _ = run(st.GeneralizedSystem([[2.0]], [-2 * G], q=[0.0], v=[0.1], gaps=[gap]), 0.01, 20)
    assert sim.state.q[0] == pytest.approx(0.02, abs=1e-13)
    assert sim.contacts.impulse[0, 0] == pytest.approx(2 * G * 0.01, abs=1e-10)


def test_speed_law_at_the_end_of_the_step():
    law = st.Stribeck(0.4, 0.2, 0.05)
    gap = st.Gap(lambda q: q[1], lambda q: np.eye(2)[1], lambda q: np.eye(2)[0], st.Coulomb(law))
    sim = st.Simulator(
        st.GeneralizedSystem(np.eye(2), [0, -10.0], q=[0, 0], v=[1.0, 0], gaps=[gap]), 0.01, scheme=st.TzitzourisPang()
    )
    speed = 1.0
    for _ in range(60):
        step = sim.step()
        assert step.solution.certificate.error < 1e-10
        rest = speed - 0.1 * law(0.0) <= 0.0
        speed = 0.0 if rest else brentq(lambda s, v=speed: s - v + 0.1 * law(s), 0.0, speed, xtol=1e-15)
        assert sim.state.v[0] == pytest.approx(speed, abs=1e-9)


# --- worlds


def tumbling_box():
    world = st.World()
    world.add_plane(normal=(0, 0, 1), offset=0.0)
    world.add_body(st.Box((0.2, 0.3, 0.1)), mass=1.0, position=(0, 0, 0.3), angular_velocity=(1, 2, 3))
    return world


def test_box_comes_to_rest_on_four_contacts():
    sim, steps = run(tumbling_box(), 0.01, 120)
    assert max(r.solution.certificate.error for r in steps) < 1e-10
    assert max(r.certificate.penetration for r in steps) < 1e-10
    assert np.abs(sim.state.v).max() < 1e-8
    assert sim.contacts.impulse[:, 0].sum() == pytest.approx(G * 0.01, rel=1e-8)


def heap(n=6):
    rng = np.random.default_rng(3)
    world = st.World()
    world.add_plane(normal=(0, 0, 1), offset=0.0)
    for i in range(n):
        world.add_body(st.Sphere(0.1), mass=1.0, position=(*rng.uniform(-0.1, 0.1, 2), 0.12 + 0.21 * i))
    return world


def test_heap_of_spheres_is_certified():
    _sim, steps = run(heap(), 0.01, 45)
    assert max(r.solution.certificate.error for r in steps) < 1e-10
    assert max(r.certificate.penetration for r in steps) < 1e-11


def test_joints_hold_at_the_new_configuration():
    world = st.World()
    bar = world.add_body(st.Capsule(0.05, 0.3), mass=1.0, position=(0.2, 0, 1), orientation=(0.5**0.5, 0, 0.5**0.5, 0))
    tip = world.add_body(st.Sphere(0.1), mass=2.0, position=(0.6, 0, 1))
    world.add_joint(st.Revolute(None, bar, anchor=(0, 0, 1), axis=(0, 1, 0)))
    world.add_joint(st.Ball(bar, tip, anchor=(0.4, 0, 1)))
    _, steps = run(world, 0.01, 50)
    assert max(r.certificate.joint_drift for r in steps) < 1e-12


def test_kinematic_belt_drags_a_block():
    world = st.World()
    belt = world.add_body(st.Box((4, 1, 0.1)), kind="kinematic", position=(0, 0, -0.05), velocity=(0.5, 0, 0))
    block = world.add_body(st.Box((0.1, 0.1, 0.1)), mass=1.0, position=(0, 0, 0.05))
    world.set_contact(belt, block, friction=0.3)
    sim = st.Simulator(world, dt=0.01, scheme=st.TzitzourisPang())
    track = sim.run(0.3)
    exact = np.minimum(0.3 * G * track.times, 0.5)
    assert track.velocity(block)[:, 0] == pytest.approx(exact, abs=1e-9)


def test_derivatives_by_colours_are_those_of_one_velocity_at_a_time():
    sim = st.Simulator(heap(), dt=0.01, scheme=st.TzitzourisPang())
    for _ in range(25):
        sim.step()
    state, rng = sim.state, np.random.default_rng(0)
    candidates = sim.system.detect(state.t, state.q, sim.scheme.band(sim.system, state, 0.01))
    equations = ImplicitStep(sim.system, state, 0.01, candidates)
    at = equations.at(equations.start() + 0.01 * rng.normal(size=len(state.v)), equations.warm + 0.01)
    K, U = equations.derivatives(at)
    rows = equations.moving  # prescribed velocities have no equation
    for i in rows[::5]:
        v = at.v.copy()
        v[i] += 1e-6
        there = equations.at(v, at.p)
        assert K.toarray()[rows, i] == pytest.approx((there.balance - at.balance)[rows] / 1e-6, abs=1e-5)
        assert U.toarray()[:, i] == pytest.approx((there.u - at.u) / 1e-6, abs=1e-5)


def test_fast_ball_does_not_pass_a_thin_wall():
    world = st.World(gravity=(0, 0, 0))
    world.add_body(st.Box((0.01, 1, 1)), kind="fixed")
    ball = world.add_body(st.Sphere(0.05), mass=1.0, position=(-0.3, 0, 0), velocity=(50, 0, 0))
    track = st.Simulator(world, dt=0.01, scheme=st.TzitzourisPang()).run(0.05)
    assert track.position(ball)[-1, 0] == pytest.approx(-0.055, abs=1e-9)


# --- how it is solved


def test_hot_start_saves_iterations():
    count = {}
    for hot in (True, False):
        _, steps = run(rolling_ball(mu=0.01, er=0.2, v=(1, 0.2, 0, 1, 0.5, 0.2)), 0.05, 100, hot=hot)
        count[hot] = sum(r.solution.iterations for r in steps)
    assert count[True] < 0.7 * count[False]


def test_backward_euler_step_against_an_independent_solver():
    """Sliding on a sphere: the same step by SciPy on the smooth equations of that mode."""
    radius, h, mu = 1.0, 0.05, 0.3

    def normal(q):
        return q / np.linalg.norm(q)

    def tangents(q):
        n = normal(q)
        a = np.cross([0.0, 1.0, 0.0], n)
        a /= np.linalg.norm(a)
        return np.array([a, np.cross(n, a)])

    gap = st.Gap(lambda q: np.linalg.norm(q) - radius, normal, tangents, mu)
    q0, v0 = np.array([0.1, 0.0, np.sqrt(0.99)]), np.array([1.0, 0.3, -0.1])
    v0 -= (v0 @ normal(q0)) * normal(q0)
    sim, _ = run(st.GeneralizedSystem(np.eye(3), [0, 0, -G], q=q0, v=v0, gaps=[gap]), h, 1)

    def equations(z):
        v, pn, lam = z[:3], z[3], z[4]
        q = q0 + h * v
        T = tangents(q)
        slip = T @ v
        friction = -mu * pn * slip / lam
        motion = v - v0 - h * np.array([0, 0, -G]) - normal(q) * pn - T.T @ friction
        return [*motion, np.linalg.norm(q) - radius, lam - np.linalg.norm(slip)]

    z = fsolve(equations, [*v0, h * G, 1.0], xtol=1e-14)
    assert sim.state.v == pytest.approx(z[:3], abs=1e-10)
    assert sim.contacts.impulse[0, 0] == pytest.approx(z[3], abs=1e-10)


def test_failure_is_a_status():
    step = st.Simulator(_never(), dt=0.1, scheme=st.TzitzourisPang(maxiter=5), on_failure="continue").step()
    assert not step.success
    assert step.status == "not converged"
    assert "residual" in step.message
    with pytest.raises(st.SolverError, match="not converged"):
        st.Simulator(_never(), dt=0.1, scheme=st.TzitzourisPang(maxiter=5)).step()


def _never():
    """v⁺ - v = h k(v⁺) has no solution: the force turns around wherever it would be met."""
    return st.GeneralizedSystem([[1.0]], lambda t, q, v: np.array([20.0 if v[0] < 1.0 else -20.0]), q=[0.0], v=[1.0])


def test_bad_options():
    with pytest.raises(st.ModelError, match="tolerance"):
        st.TzitzourisPang(tolerance=0.0)
    with pytest.raises(st.ModelError, match="hot must be"):
        st.TzitzourisPang(hot="yes")
    with pytest.raises(st.ModelError, match="maxiter"):
        st.TzitzourisPang(maxiter=0)


def test_restitution_is_refused():
    world = tumbling_box()
    world.set_contact("default", "default", friction=0.3, restitution=0.5)
    with pytest.raises(st.ModelError, match="restitution"):
        st.Simulator(world, dt=0.01, scheme=st.TzitzourisPang())


def turned(*turns):
    """The quaternion of rotations about the axes of the world, one after the other: (axis, degrees)."""
    q = np.array([1.0, 0.0, 0.0, 0.0])
    for axis, angle in turns:
        c, u = np.cos(np.deg2rad(angle) / 2), np.sin(np.deg2rad(angle) / 2) * np.eye(3)["xyz".index(axis)]
        q = np.array([c * q[0] - u @ q[1:], *(c * q[1:] + q[0] * u + np.cross(u, q[1:]))])
    return q


@pytest.mark.parametrize("ahead", [0.001, 0.0011, 0.0012, 0.0013])
def test_vertex_that_lands_on_an_edge_within_the_step(ahead):
    """The distance of a vertex from an edge has no normal at zero, which is where the step ends."""
    world = st.World()
    world.add_body(st.Box((1.0, 2.0, 1.0)), kind="fixed", position=(-0.5, 0, -0.5))  # its edge is the y axis
    turn = turned(("z", 25), ("y", 38))
    x, y, z = (float(np.array(axis) @ [-0.11, 0.06, -0.04]) for axis in rotation(turn))
    box = world.add_body(
        st.Box((0.22, 0.12, 0.08)), mass=1.5, position=(ahead - x, -y, 1e-4 - z), orientation=turn,
        velocity=(-0.25, 0.1, -0.2),
    )  # fmt: skip
    sim = st.Simulator(world, dt=0.005, scheme=st.TzitzourisPang(), tol=1e-9)
    before = sim.system.energy(sim.state.q, sim.state.v).total
    result = sim.step()
    assert result.solution.certificate.error <= 1e-10
    assert result.contacts.impulse[0, 0] > 1e-3
    at = sim.system.body_state(box.index, sim.state.q, sim.state.v)
    corner = at.position + rotation(at.orientation) @ [-0.11, 0.06, -0.04]
    assert max(corner[0], corner[2]) >= -1e-12  # not within the block
    assert sim.system.energy(sim.state.q, sim.state.v).total <= before


def rotation(q):
    w, u = q[0], np.asarray(q[1:])
    return np.eye(3) + 2 * np.array([w * np.cross(u, e) + np.cross(u, np.cross(u, e)) for e in np.eye(3)]).T


@pytest.mark.parametrize("dim", [2, 3])
def test_corners_against_planes_have_the_same_gaps_and_normals_and_are_linear(dim):
    """Two boxes apart along a diagonal, and in space one above an edge of the other, each in both orders."""
    world = st.World() if dim == 3 else st.PlanarWorld()
    cube = st.Box((1.0,) * 3) if dim == 3 else st.Polygon([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
    turn = {"orientation": turned(("z", 45), ("y", 54.7356))} if dim == 3 else {"angle": np.pi / 4}
    middle = {"position": (0,) * dim} | ({"orientation": turned(("y", 45))} if dim == 3 else turn)
    for place in (0.99 + np.sqrt(dim) / 2, -0.99 - np.sqrt(dim) / 2):
        if place < 0:
            world.add_body(cube, mass=1.0, **middle)
        far = np.zeros(dim)
        far[-1] = place
        world.add_body(cube, mass=1.0, position=far, **turn)
    model = world.build()
    state = model.initial_state()
    found = model.detect(0.0, state.q, 1.0)
    planes = model.with_planes(found, state.q)
    assert planes is not found
    np.testing.assert_allclose(model.gaps(planes, 0.0, state.q), model.gaps(found, 0.0, state.q), atol=1e-14)
    one, other = (model.contact_geometry(c, state.q).normal for c in (found, planes))
    np.testing.assert_allclose(other, one, atol=1e-14)
    step = np.random.default_rng(3).normal(size=model.nv)
    step.reshape(model.nb, -1)[:, dim:] = 0.0  # without rotation
    away = [model.gaps(planes, 0.0, model.retract(state.q, s * step)) for s in (0.0, 0.1, 0.2)]
    np.testing.assert_allclose(away[2] - away[1], away[1] - away[0], atol=1e-12)
