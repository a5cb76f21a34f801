"""Every joint: its rows, what it lets through and what it holds, how it drifts, and what it carries."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import stiction as st

G = 9.81
STEP = st.AnitescuHart(directions=8)
seeds = hs.integers(0, 2**32 - 1)
ANCHOR3, AXIS3 = np.array([0.3, -0.2, 0.5]), np.array([1.0, 2.0, -2.0]) / 3
ANCHOR2, AXIS2 = np.array([0.3, -0.2]), np.array([0.6, 0.8])

JOINTS3 = {
    "fixed": (lambda a, b: st.Fixed(a, b), 6),
    "ball": (lambda a, b: st.Ball(a, b, anchor=ANCHOR3), 3),
    "revolute": (lambda a, b: st.Revolute(a, b, anchor=ANCHOR3, axis=5 * AXIS3), 5),
    "prismatic": (lambda a, b: st.Prismatic(a, b, axis=AXIS3), 5),
    "prismatic at an anchor": (lambda a, b: st.Prismatic(a, b, axis=AXIS3, anchor=ANCHOR3), 5),
    "distance": (lambda a, b: st.Distance(a, b, anchor_a=ANCHOR3, anchor_b=(1.0, 1.0, 0.2)), 1),
}
JOINTS2 = {
    "fixed": (lambda a, b: st.Fixed(a, b), 3),
    "revolute": (lambda a, b: st.Revolute(a, b, anchor=ANCHOR2), 2),
    "prismatic": (lambda a, b: st.Prismatic(a, b, axis=AXIS2), 2),
    "prismatic at an anchor": (lambda a, b: st.Prismatic(a, b, axis=AXIS2, anchor=ANCHOR2), 2),
    "distance": (lambda a, b: st.Distance(a, b, anchor_a=ANCHOR2, anchor_b=(1.0, 1.0)), 1),
}
EVERY = [(dim, name) for dim, joints in ((2, JOINTS2), (3, JOINTS3)) for name in joints]


def pair(dim, name, seed=0, to_world=False, **second):
    """Two bodies at random poses (or one and the world) with a joint between them."""
    rng = np.random.default_rng(seed)
    world = st.World() if dim == 3 else st.PlanarWorld()
    shape = st.Box((0.3, 0.2, 0.4)) if dim == 3 else st.Polygon.box(0.3, 0.2)

    def pose():
        turn = {"orientation": rng.normal(size=4)} if dim == 3 else {"angle": float(rng.normal())}
        com = {"com": 0.1 * rng.normal(size=dim)}
        return {"position": rng.normal(size=dim), **turn, **com}

    a = world.add_body(shape, mass=1.3, name="a", **pose())
    b = None if to_world else world.add_body(shape, mass=0.7, name="b", **pose(), **second)
    make, _ = (JOINTS3 if dim == 3 else JOINTS2)[name]
    return world, a, b, world.add_joint(make(a, b))


def rows_and_values(model, q):
    found = model.evaluate(model.detect(0.0, q, 0.0), 0.0, q)
    return model.dynamics(q, found).matrix.toarray(), found.value.copy()


@pytest.mark.parametrize(("dim", "name"), EVERY)
@given(seed=seeds, far=hs.booleans())
@settings(max_examples=15, deadline=None)
def test_rows_are_the_derivatives_of_the_values(dim, name, seed, far):
    """Central differences along the manifold, at the start and anywhere else."""
    world, *_ = pair(dim, name, seed)
    model = world.build()
    rng = np.random.default_rng(seed)
    q = model.initial_state().q
    moves = np.repeat(model.moves, model.dof)
    q = model.retract(q, np.where(moves, 1.5 * far * rng.normal(size=model.nv), 0.0))
    H, _ = rows_and_values(model, q)
    step = 1e-6
    for _ in range(4):
        d = np.where(moves, rng.normal(size=model.nv), 0.0)
        ahead, behind = (rows_and_values(model, model.retract(q, s * step * d))[1] for s in (1, -1))
        np.testing.assert_allclose(H @ d, (ahead - behind) / (2 * step), atol=2e-8)


@pytest.mark.parametrize(("dim", "name"), EVERY)
def test_joints_are_satisfied_at_the_start_and_of_full_rank(dim, name):
    for seed in range(5):
        model = pair(dim, name, seed)[0].build()
        H, value = rows_and_values(model, model.initial_state().q)
        count = (JOINTS3 if dim == 3 else JOINTS2)[name][1]
        assert np.abs(value).max() < 1e-14
        assert H.shape[0] == count
        assert np.linalg.matrix_rank(H, tol=1e-9) == count


def twist(dim, model, body, linear, spin, at):
    """The velocity of a body that moves with `linear` at the point `at` and turns with `spin`."""
    v = np.zeros(model.nv).reshape(model.nb, -1)
    x = model.initial_state().q.reshape(model.nb, -1)[body.index, :dim]
    if dim == 3:
        v[body.index] = [*(linear + np.cross(spin, x - at)), *spin]
    else:
        r = x - at
        v[body.index] = [linear[0] - spin * r[1], linear[1] + spin * r[0], spin]
    return v.ravel()


@pytest.mark.parametrize(("dim", "name"), EVERY)
def test_joints_let_the_right_motions_through(dim, name):
    """The motion of both together, and the relative motions of the joint; with full rank nothing else is free."""
    rng = np.random.default_rng(3)
    for seed in range(3):
        world, a, b, _ = pair(dim, name, seed)
        model = world.build()
        H, _ = rows_and_values(model, model.initial_state().q)
        for _ in range(3):
            linear, spin = rng.normal(size=dim), rng.normal(size=3) if dim == 3 else rng.normal()
            together = twist(dim, model, a, linear, spin, 0.0) + twist(dim, model, b, linear, spin, 0.0)
            np.testing.assert_allclose(H @ together, 0.0, atol=1e-13)
        still, anchor = np.zeros(dim), ANCHOR3 if dim == 3 else ANCHOR2
        axis = AXIS3 if dim == 3 else AXIS2
        allowed = {
            "ball": [(still, e, anchor) for e in np.eye(3)],
            "revolute": [(still, AXIS3 if dim == 3 else 1.0, anchor)],
            "prismatic": [(axis, np.zeros(3) if dim == 3 else 0.0, anchor)],
            "distance": [(still, e, anchor) for e in (np.eye(3) if dim == 3 else [1.0])],
        }
        for linear, spin, at in allowed.get(name.split()[0], []):
            np.testing.assert_allclose(H @ twist(dim, model, a, linear, spin, at), 0.0, atol=1e-13)
        blocked = rng.normal(size=dim) if dim == 3 else np.array([1.0, -2.0])
        assert np.abs(H @ twist(dim, model, a, blocked, np.zeros(3) if dim == 3 else 0.0, anchor)).max() > 1e-2


def thrown(dim, name, h, stabilize=True, duration=0.4, seed=1):
    world, *_ = pair(dim, name, seed)
    sim = st.Simulator(world, h, scheme=st.AnitescuHart(directions=8, stabilize=stabilize))
    rng = np.random.default_rng(5)
    model = sim.system
    v = np.where(np.repeat(model.moves, model.dof), rng.normal(size=model.nv), 0.0)
    H, _ = rows_and_values(model, sim.state.q)
    v -= np.linalg.pinv(H * np.repeat(model.moves, model.dof)) @ (H @ v)  # start with a motion that the joint allows
    sim.state = st.State(0.0, sim.state.q, v)
    return sim.run(duration)


@pytest.mark.parametrize(("dim", "name"), EVERY)
def test_drift_is_of_second_order_and_bounded(dim, name):
    """With stabilisation the drift is that of one step: the curvature of paths, h² ω (ω r + 2 v)."""
    worst = []
    for h in (0.016, 0.008):
        run = thrown(dim, name, h)
        drift, first = run.certificate["joint_drift"], 3 if dim == 2 else 6
        spin = max(np.abs(run.v[:, first + dim : 2 * first]).max(), np.abs(run.v[:, 2 * first + dim :]).max())
        speed = max(np.abs(run.v[:, first : first + dim]).max(), np.abs(run.v[:, 2 * first : 2 * first + dim]).max())
        assert drift.max() < h**2 * spin * (3.0 * spin + 2.0 * speed)
        worst.append(drift.max())
    assert worst[1] < 1e-13 or worst[1] < 0.35 * worst[0]  # linear constraints hold exactly


@pytest.mark.parametrize(("dim", "name"), [(2, "revolute"), (3, "ball"), (3, "revolute"), (3, "distance")])
def test_without_stabilisation_joints_drift_away(dim, name):
    held, loose = (thrown(dim, name, 0.01, stabilize=s, duration=0.8).certificate["joint_drift"] for s in (True, False))
    assert loose.max() > 10 * held.max()


@pytest.mark.parametrize("dim", [2, 3])
def test_drift_on_a_circle_has_a_closed_form(dim):
    """Unstabilised, each step goes along the tangent: r² grows by h² v², and r v, the moment of momentum, stays."""
    h, n = 0.02, 100
    for stabilize in (False, True):
        world = st.World(gravity=(0, 0, 0)) if dim == 3 else st.PlanarWorld(gravity=(0, 0))
        shape = st.Sphere(0.1) if dim == 3 else st.Disk(0.1)
        start, velocity = np.eye(dim)[0], 1.5 * np.eye(dim)[1]
        body = world.add_body(shape, mass=1.0, position=start, velocity=velocity)
        world.add_joint(st.Distance(body, None, anchor_a=start, anchor_b=np.zeros(dim)))
        run = st.Simulator(world, h, scheme=st.AnitescuHart(stabilize=stabilize, directions=8)).run(n * h)
        r = [1.0]
        for _ in range(n):
            r.append(math.sqrt(r[-1] ** 2 + (h * 1.5 / r[-1]) ** 2))
        seen = np.linalg.norm(run.position(body), axis=1)
        if stabilize:
            assert np.abs(seen - 1).max() < 0.6 * (h * 1.5) ** 2
        else:
            np.testing.assert_allclose(seen, r, rtol=1e-11)
            assert seen[-1] > 1.03


@pytest.mark.parametrize(("dim", "name"), EVERY)
def test_stewart_trinkle_holds_joints_exactly_when_nonlinear(dim, name):
    world, *_ = pair(dim, name, 2)
    run = st.Simulator(world, 0.01, scheme=st.StewartTrinkle(nonlinear=True)).run(0.1)
    assert run.certificate.worst["joint_drift"] < 1e-9


def test_fixed_joint_makes_one_body_of_two():
    """Two halves of a box, joined and thrown: the motion of the whole."""
    spin, h = np.array([0.7, 1.0, -0.4]), 0.001
    whole = st.World()
    box = whole.add_body(st.Box((2.0, 1.0, 0.5)), mass=2.0, angular_velocity=spin)
    halves = st.World()
    left, right = (
        halves.add_body(
            st.Box((1.0, 1.0, 0.5)), mass=1.0, position=(x, 0, 0), velocity=np.cross(spin, [x, 0, 0]),
            angular_velocity=spin,
        )
        for x in (-0.5, 0.5)
    )  # fmt: skip
    halves.add_joint(st.Fixed(left, right))
    one = st.Simulator(whole, h, scheme=STEP).run(0.3)
    two = st.Simulator(halves, h, scheme=STEP).run(0.3)
    middle = 0.5 * (two.position(left) + two.position(right))
    np.testing.assert_allclose(middle, one.position(box), atol=1e-9)
    np.testing.assert_allclose(two.orientation(left), one.orientation(box), atol=3e-3)


WEIGHTS = {
    "ball": st.Ball("body", None, anchor=(0, 0, 1)),
    "fixed": st.Fixed("body", None),
    "revolute": st.Revolute("body", None, anchor=(0, 0, 1), axis=(0, 1, 0)),
    "prismatic": st.Prismatic("body", None, axis=(1, 0, 0)),
    "distance": st.Distance("body", None, anchor_a=(0, 0, 0.5), anchor_b=(0, 0, 1)),
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_joints_carry_the_weight(name):
    """Hung or held at rest: the impulse per step is m g h, up; here its size, for rows have their own axes."""
    world = st.World()
    body = world.add_body(st.Box((0.2, 0.3, 1.0)), mass=2.5, name="body")
    joint = world.add_joint(WEIGHTS[name])
    run = st.Simulator(world, 0.01, scheme=STEP).run(0.5)
    np.testing.assert_allclose(run.position(body), 0.0, atol=1e-13)
    series = run.joint(joint)
    np.testing.assert_allclose(np.linalg.norm(series.impulse, axis=1), 2.5 * G * 0.01, rtol=1e-10)
    np.testing.assert_array_equal(run.joint(joint.name).impulse, series.impulse)
    if name in ("ball", "fixed", "revolute"):  # their first rows are the axes of the world
        np.testing.assert_allclose(series.impulse[:, :3], np.tile([0, 0, 2.5 * G * 0.01], (50, 1)), atol=1e-11)
    if name == "distance":  # pulled down by its weight, towards a greater distance
        np.testing.assert_allclose(series.impulse[:, 0], -2.5 * G * 0.01, rtol=1e-10)


def test_joint_impulses_in_the_plane_carry_the_weight_too():
    world = st.PlanarWorld()
    body = world.add_body(st.Polygon.box(1.0, 0.2), mass=2.0, position=(0.5, 0), name="beam")
    wall = world.add_joint(st.Fixed(body, None, name="wall"))
    run = st.Simulator(world, 0.01).run(0.2)
    np.testing.assert_allclose(run.force("wall")[:, :3], np.tile([0, 2 * G, 0], (20, 1)), atol=1e-9)
    np.testing.assert_allclose(run.force(wall), run.force("wall"))


def test_prismatic_joint_slides_down_its_axis():
    """A slider on a slope without friction: g sin a along the axis, no turning, however off its centre the anchor."""
    slope = 0.5
    axis = np.array([math.cos(slope), 0, -math.sin(slope)])
    world = st.World()
    body = world.add_body(st.Box((0.2, 0.3, 0.4)), mass=2.0, orientation=(1, 2, 3, 4))
    world.add_joint(st.Prismatic(body, None, axis=axis, anchor=(1.0, 1.0, 1.0)))
    run = st.Simulator(world, 0.01, scheme=STEP).run(0.5)
    np.testing.assert_allclose(run.velocity(body), np.outer(G * math.sin(slope) * run.times, axis), atol=1e-10)
    np.testing.assert_allclose(run.angular_velocity(body), 0.0, atol=1e-11)


def test_revolute_joint_lets_a_flywheel_turn():
    """Balanced about its axis it keeps its speed, and the joint carries its weight."""
    world = st.World()
    wheel = world.add_body(st.Capsule(0.3, 0.1), mass=2.0, angular_velocity=(0, 0, 20.0))
    joint = world.add_joint(st.Revolute(wheel, None, anchor=(0, 0, 0.4), axis=(0, 0, 1)))
    run = st.Simulator(world, 0.01, scheme=STEP).run(1.0)
    np.testing.assert_allclose(run.angular_velocity(wheel), np.tile([0, 0, 20.0], (101, 1)), atol=1e-10)
    np.testing.assert_allclose(run.joint(joint).impulse[:, 2], 2 * G * 0.01, rtol=1e-10)


def test_distance_of_another_length_than_the_present_one_is_refused():
    world = st.World()
    body = world.add_body(st.Sphere(0.1), mass=1.0)
    world.add_joint(st.Distance(body, None, anchor_a=(0, 0, 0), anchor_b=(0, 0, 1), length=0.8, name="rope"))
    with pytest.raises(st.ModelError, match="rope"):
        st.Simulator(world, 0.01, scheme=STEP)


def test_joints_to_moving_bodies_drag():
    """A bar hinged to a kinematic cart that moves steadily: in the cart's frame it is a bar at rest."""
    world = st.PlanarWorld()
    cart = world.add_body(None, kind="kinematic", velocity=(2.0, 0.0))
    bar = world.add_body(st.Rod(0.02, 1.0), mass=1.0, position=(0, -0.5), angle=math.pi / 2, velocity=(2.0, 0))
    world.add_joint(st.Revolute(bar, cart, anchor=(0, 0)))
    run = st.Simulator(world, 0.01).run(1.0)
    np.testing.assert_allclose(run.position(bar), np.column_stack([2 * run.times, np.full(101, -0.5)]), atol=1e-11)
    assert run.certificate.worst["joint_drift"] < 1e-12
