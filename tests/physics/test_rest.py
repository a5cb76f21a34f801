"""Bodies at rest stay where they are to the bit, what could move is never frozen, and what is given up is certified."""

import math
import warnings

import numpy as np
import pytest
from scipy.optimize import linprog

import stiction as st
from stiction.schemes.solves import bring_to_rest
from stiction.simulation.simulator import _SolveHandle

DT, G = 0.005, 9.81


def pile(places, gravity=(0.0, 0.0, -G), mu=0.5):
    world = st.World(gravity=gravity)
    world.set_contact("default", "default", friction=st.Coulomb(mu))
    world.add_plane()
    for place in places:
        world.add_body(st.Box((1.0, 1.0, 1.0)), density=1000.0, position=place)
    return world


def box():
    return pile([(0.0, 0.0, 0.5)])


def tower():
    return pile([(0.02 * math.sin(i), 0.0, 0.5 + i) for i in range(6)])


def wall():
    return pile([(i + 0.5 * row - 2.0, 0.0, 0.5 + row) for row in range(4) for i in range(4 - row)])


def planar_tower():
    world = st.PlanarWorld()
    world.add_plane()
    for i in range(5):
        world.add_body(st.Polygon.box(1.0, 1.0), mass=1.0, position=(0.1 * (i % 2), 0.5 + i))
    return world


def simulator(world, tol=1e-8, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return st.Simulator(world, DT, tol=tol, **options)


def same(a, b):
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("q", "v", "keys", "impulses"))


def one_step(sim):
    """The problem of the next step, the solution, and which bodies are held."""
    problem = sim.scheme.probe(sim.system, sim.state, DT)
    return (problem, *bring_to_rest(problem, _SolveHandle(sim)(problem), sim.tol))


@pytest.mark.parametrize("make", [box, tower, wall, planar_tower])
@pytest.mark.parametrize("tol", [1e-8, 1e-4])
def test_what_stands_stays_to_the_bit(make, tol):
    sim = simulator(make(), tol)
    start = sim.state.q.copy()
    sim._loop.replay = False
    sim.advance(10)
    rest = sim.state
    assert not rest.v.any()
    sim.advance(1000)
    assert same(rest, sim.state)
    assert np.abs(sim.state.q - start).max() < 1e-6
    slow = simulator(make(), tol)
    slow._loop = None
    for _ in range(12):
        slow.step()
    assert same(rest, slow.state)


@pytest.mark.parametrize("make", [tower, planar_tower])
def test_the_velocity_that_is_given_up_is_in_the_certificate(make):
    """It is what impulses and forces would leave, and below the tolerance; so are the laws, at the velocity zero."""
    sim = simulator(make())
    for _ in range(3):
        problem, solution, held = one_step(sim)
        result = sim.step()
        certificate = result.solution.certificate
        assert held.all()
        missing = np.abs(problem.velocity(solution.p) - result.state.v).max()
        assert certificate.dynamics == missing
        assert missing <= 1e-8 * certificate.scale
        assert certificate.error <= 1e-8
        assert not result.solution.v.any()
        assert not result.contacts.velocity.any()
    assert sim.run(0.05).certificate.worst["dynamics"] == pytest.approx(missing, abs=1e-14)


@pytest.mark.parametrize("tol", [1e-10, 1e-8])
def test_a_block_just_beyond_the_friction_angle_slides(tol):
    mu = 0.5
    slope = math.atan(mu * (1.0 + 1e-6))
    world = pile([(0.0, 0.0, 0.5)], gravity=(G * math.sin(slope), 0.0, -G * math.cos(slope)), mu=mu)
    sim = simulator(world, tol)
    assert one_step(sim)[2] is None
    sim.advance(200)
    expected = G * (math.sin(slope) - mu * math.cos(slope)) * 200 * DT
    assert sim.state.v.reshape(-1, 6)[-1, 0] == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("tol", [1e-8, 1e-6, 1e-3])
@pytest.mark.parametrize("excess", [1e-3, 1e-6, 0.0])
def test_a_block_at_the_friction_angle_is_not_held(tol, excess):
    """A coarse tolerance cannot tell whether it slides, and does not say that it stands."""
    slope = math.atan(0.5 * (1.0 + excess))
    sim = simulator(pile([(0.0, 0.0, 0.5)], gravity=(G * math.sin(slope), 0.0, -G * math.cos(slope))), tol)
    for _ in range(20):
        assert one_step(sim)[2] is None
        sim.step()


@pytest.mark.parametrize("share", [0.5, 0.9, 0.999])
def test_a_block_within_the_friction_angle_is_held(share):
    """Also where a solver has put the friction of its corners on the edge, against each other."""
    slope = math.atan(share * 0.5)
    sim = simulator(pile([(0.0, 0.0, 0.5)], gravity=(G * math.sin(slope), 0.0, -G * math.cos(slope))))
    sim.advance(50)
    assert not sim.state.v.any()


def test_feet_that_are_pressed_apart_hold_in_the_plane():
    """A box that has fallen on its face, both corners on the edge of their cones: neither slips without the other."""
    world = st.PlanarWorld()
    world.add_plane()
    world.add_body(st.Polygon.box(0.4, 0.2), mass=1.0, position=(0.0, 0.25), angle=0.4)
    sim = simulator(world, 1e-6)
    sim.advance(200)
    assert not sim.state.v.any()
    rest = sim.state
    sim._loop.replay = False
    sim.advance(100)
    assert same(rest, sim.state)


def test_a_ball_on_the_slightest_slope_rolls():
    slope = 1e-6
    world = st.World(gravity=(G * math.sin(slope), 0.0, -G * math.cos(slope)))
    world.add_plane()
    world.add_body(st.Sphere(0.5), density=1000.0, position=(0.0, 0.0, 0.5))
    sim = simulator(world, 1e-10)
    sim.advance(200)
    assert sim.state.v.reshape(-1, 6)[-1, 0] == pytest.approx(5.0 / 7.0 * G * slope * 200 * DT, rel=1e-3)


def test_a_pendulum_at_its_turning_point_swings_back():
    """From rest, a hundred-thousandth of a radian from where it would hang still, to as far on the other side."""
    angle, length = 1e-5, 1.0
    world = st.World()
    place = (length * math.sin(angle), 0.0, -length * math.cos(angle))
    bob = world.add_body(st.Sphere(1e-3), mass=1.0, inertia=np.eye(3) * 1e-9, position=place)
    world.add_joint(st.Revolute(bob, None, anchor=(0, 0, 0), axis=(0, 1, 0)))
    sim = simulator(world)
    sim.advance(round(math.pi * math.sqrt(length / G) / DT))
    assert sim.state.q.reshape(-1, 7)[-1, 0] == pytest.approx(-length * angle, rel=0.05)


def test_what_lies_on_a_belt_moves_with_it():
    world = st.World()
    belt = world.add_body(st.Box((4.0, 1.0, 0.1)), kind="kinematic", position=(0, 0, -0.05), velocity=(1e-6, 0, 0))
    load = world.add_body(st.Box((0.2, 0.2, 0.2)), mass=1.0, position=(0, 0, 0.1))
    world.set_contact(belt, load, friction=st.Coulomb(0.3))
    sim = simulator(world)
    sim.advance(400)
    assert sim.state.q.reshape(-1, 7)[-1, 0] == pytest.approx(1e-6 * 400 * DT, rel=1e-2)


def hinged(**options):
    """A block on a hinge, away from all else."""
    world = st.World(gravity=(0.0, 0.0, -G))
    block = world.add_body(st.Box((0.4, 0.1, 0.1)), mass=1.0, position=(0.2, 0.0, 0.0))
    joint = world.add_joint(st.Revolute(block, None, anchor=(0, 0, 0), axis=(0, 1, 0), **options))
    return world, joint


@pytest.mark.parametrize(
    ("motor", "held"),
    [
        (st.Motor(speed=0.0, bound=10.0), True),
        (st.Motor(speed=0.0, bound=1.0), False),  # too weak for the weight
        (st.Motor(speed=1e-7, bound=10.0), False),
        (None, False),
    ],
)
def test_a_motor_within_its_bound_holds(motor, held):
    sim = simulator(hinged(motor=motor)[0])
    for _ in range(20):
        assert (one_step(sim)[2] is not None) is held
        assert sim.step().state.v.any() != held


@pytest.mark.parametrize(("limits", "angle"), [((-1.0, 0.0), 0.0), ((0.0, 1.0), 1.0)])
def test_a_limit_that_presses_holds(limits, angle):
    """At once, or after it was reached; its weight turns the block to larger angles."""
    world, _ = hinged(limits=limits)
    sim = simulator(world)
    assert sim.step().state.v.any() == (angle > 0.0)
    sim.advance(200)
    assert not sim.state.v.any()
    assert sim.state.q.reshape(-1)[-1] == pytest.approx(angle, abs=1e-3)


def test_a_spring_holds_nothing():
    world, joint = hinged()
    world.add_spring(joint, stiffness=1e3, damping=5.0)
    sim = simulator(world)
    for _ in range(200):
        assert one_step(sim)[2] is None
        sim.step()


def test_held_bodies_have_no_velocity_but_zero():
    """Linear programs: no velocity of the bodies that are called held is permitted by the laws of their contacts."""
    rng = np.random.default_rng(3)
    world = pile([(*rng.uniform(-1.0, 1.0, 2), 0.6 + 1.2 * i) for i in range(5)])
    for x, y in rng.uniform(-3.0, 3.0, (4, 2)):
        world.add_body(st.Sphere(0.4), mass=1.0, position=(x, y, 0.41))
    sim = simulator(world, 1e-6, on_failure="continue")
    seen = 0
    for _ in range(20):
        sim.advance(20)
        problem, solution, held = one_step(sim)
        if held is None:
            continue
        seen += 1
        p, form, shut, ahead = solution.p, problem.dynamics, [], []
        H = np.zeros((problem.nr, len(held), 6))
        for k, (first, last) in enumerate(zip(problem.row_ptr, problem.row_ptr[1:])):
            H[first:last, form.body_a[k]] += form.Ja[first:last]
            H[first:last, form.body_b[k]] += form.Jb[first:last]
            friction = p[first + 1 : last]
            if not (held[form.body_a[k]] and held[form.body_b[k]] and p[first] > 0.0):
                continue
            if np.linalg.norm(friction) < (1.0 - 1e-9) * problem.friction.mu[k] * p[first]:
                shut += list(H[first:last])
            else:
                shut += [H[first], np.tensordot([-friction[1], friction[0]], H[first + 1 : last], 1)]
                ahead.append(-np.tensordot(friction, H[first + 1 : last], 1))
        columns = held & sim.system.moves
        assert not solution.v.reshape(-1, 6)[columns].any()
        assert all(isinstance(sim.system.specs[i].shapes[0], st.Box) for i in np.flatnonzero(columns))
        A = np.array(shut)[:, columns].reshape(len(shut), -1)
        B = -np.array(ahead)[:, columns].reshape(len(ahead), -1) if ahead else None
        for _ in range(4):
            best = linprog(
                rng.normal(size=A.shape[1]), A_eq=A, b_eq=np.zeros(len(A)), A_ub=B,
                b_ub=None if B is None else np.zeros(len(B)), bounds=(-1.0, 1.0),
            )  # fmt: skip
            assert abs(best.fun) < 1e-4
    assert seen > 5


def test_a_force_that_grows_moves_a_block_at_once():
    """Beyond mu m g from 0.5 s on: until then it stands exactly, and from then on it has the closed form's speed."""
    world = pile([(0.0, 0.0, 0.5)], mu=0.5)
    push = 0.6 * 1000.0 * G
    world.add_force(world.bodies[-1].name, lambda t, state: (push if t > 0.5 - 1e-9 else 0.1 * push, 0.0, 0.0))
    sim = simulator(world)
    for _ in range(100):
        assert not sim.step().state.v.any()
    sim.advance(100)
    assert sim.state.v.reshape(-1, 6)[-1, 0] == pytest.approx(0.1 * G * 100 * DT, rel=1e-6)


@pytest.mark.parametrize("make", [tower, planar_tower])
def test_steps_that_repeat_are_as_if_computed(make):
    """Frames, contacts, residuals and states, whether a repeated step is remembered or taken again."""
    short, long = simulator(make()), simulator(make())
    long._loop.replay = False
    for every in (1, 7):
        one, two = short.run(0.2, every=every), long.run(0.2, every=every)
        for name in ("times", "q", "v"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        np.testing.assert_array_equal(one.table.impulse, two.table.impulse)
        for name, values in one.certificate.residuals.items():
            np.testing.assert_array_equal(values, two.certificate.residuals[name], err_msg=name)
    assert short._take_unrecorded(50) == long._take_unrecorded(50)
    assert short._loop._fixed_point is not None
    assert long._loop._fixed_point is None
    for sim in (short, long):
        sim.step()
    assert (short._steps, short.time) == (long._steps, long.time)
    assert same(short.state, long.state)


def test_any_change_of_state_is_noticed():
    """Also one in place, and one of the last step's impulses alone."""
    sim = simulator(tower())
    sim.advance(50)
    results = [sim.step(), sim.advance(1)]
    results[0].contacts.impulse[:] = 7.0  # what a caller does to a result is its own affair
    assert not (sim.step().contacts.impulse == 7.0).any()
    for change in ("v", "q", "impulses"):
        fresh = simulator(tower())
        fresh.advance(53)
        for one in (sim, fresh):
            if one is fresh:
                one._loop.replay, one._loop._fixed_point = False, None
            array = getattr(one.state, change).reshape(len(getattr(one.state, change)), -1)
            array[-1 if change == "impulses" else -6 if change == "v" else -5] += 0.5
            one.advance(5)
        np.testing.assert_array_equal(sim.state.q, fresh.state.q)
        np.testing.assert_array_equal(sim.state.v, fresh.state.v)
        assert change == "impulses" or sim.state.v.any()
        sim.reset()
        sim.advance(53)


def test_a_ball_that_falls_on_a_resting_tower():
    world = tower()
    world.add_body(st.Sphere(0.3), density=3000.0, position=(0.1, 0.05, 8.0))
    fast, slow = simulator(world, 1e-6), simulator(world, 1e-6)
    slow._loop = None
    fast.advance(60)
    assert not fast.state.v.reshape(-1, 6)[1:-1].any()
    before = fast.state.impulses[:, 0].sum()
    for _ in range(60):
        slow.step()
    assert same(fast.state, slow.state)
    run = fast.run(0.6)
    hit = 0.0
    for _ in range(120):
        hit = max(hit, slow.step().state.impulses[:, 0].sum())
    assert same(fast.state, slow.state)
    assert hit > 2.0 * before  # all the tower feels it
    assert not run.v.reshape(len(run.times), -1, 6)[-1, 1:-1].any()


@pytest.mark.long
def test_boxes_that_have_fallen_into_a_heap_come_to_rest():
    """Ten seconds: they stand to the bit, or what is not held does not creep."""
    world = st.World()
    world.add_plane()
    rng = np.random.default_rng(2)
    for i in range(30):
        turn = rng.normal(size=4)
        place = (*rng.uniform(-0.6, 0.6, 2), 0.5 + 0.5 * i)
        world.add_body(st.Box((0.4, 0.3, 0.2)), density=1000.0, position=place, orientation=turn / np.linalg.norm(turn))
    sim = simulator(world, 1e-6, on_failure="continue")
    sim.advance(1000)
    settled = sim.state.q.copy()
    sim.advance(1000)
    assert np.abs(sim.state.q - settled).max() < 1e-6
