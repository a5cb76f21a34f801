"""Contacts of worlds that resist spin and rolling: closed forms, conservation, and what is recorded of them."""

import numpy as np
import pytest

import stiction as st

G, R, M = 9.81, 0.3, 2.0
SCHEMES = [st.AnitescuHart(), st.StewartTrinkle()]


def scheme_name(scheme):
    return type(scheme).__name__


def roller(dim, friction, speed=0.0, spin=0.0, **options):
    """A ball or disk on the floor that rolls along x, and spins about the normal."""
    if dim == 2:
        world = st.PlanarWorld()
        floor = world.add_plane(name="floor")
        turn = {"velocity": (speed, 0.0), "angular_velocity": -speed / R}
        body = world.add_body(st.Disk(R), mass=M, position=(0, R), name="roller", **turn, **options)
    else:
        world = st.World()
        floor = world.add_plane(name="floor")
        turn = {"velocity": (speed, 0, 0), "angular_velocity": (0, speed / R, spin)}
        body = world.add_body(st.Sphere(R), mass=M, position=(0, 0, R), name="roller", **turn, **options)
    world.set_contact(body, floor, friction=friction)
    return world, body, floor


@pytest.mark.parametrize("scheme", SCHEMES, ids=scheme_name)
@pytest.mark.parametrize(("dim", "share"), [(2, 2 / 3), (3, 5 / 7)])
def test_a_rolling_body_stops_where_its_energy_is_spent(dim, share, scheme):
    """About the contact: (I + m R²) ω' = -mu_r m g, so that a = share·mu_r g/R, with share = m R²/(I + m R²).

    It stops after v²/(2a), within an error of the first order in h, and stays there.
    """
    speed, mu_r = 1.0, 0.03
    a = share * mu_r * G / R
    errors = []
    for h in (0.02, 0.01, 0.005):
        world, body, _ = roller(dim, st.Rolling(0.5, mu_r), speed)
        run = st.Simulator(world, h, scheme=scheme, tol=1e-10).run(speed / a + 0.5)
        v, x = run.velocity(body)[:, 0], run.position(body)[:, 0]
        moving = run.times < speed / a - h
        np.testing.assert_allclose(v[moving], speed - a * run.times[moving], atol=1e-9)
        rest = run.times > speed / a + h
        assert rest.sum() > 10
        np.testing.assert_allclose(v[rest], 0.0, atol=1e-10)
        np.testing.assert_allclose(np.ptp(x[rest]), 0.0, atol=1e-10)
        errors.append(x[-1] - speed**2 / (2 * a))
    np.testing.assert_allclose(errors, [-0.5 * speed * h for h in (0.02, 0.01, 0.005)], rtol=0.02)


@pytest.mark.parametrize(("dim", "share"), [(2, 2 / 3), (3, 5 / 7)])
@pytest.mark.parametrize("ratio", [0.98, 1.05])
def test_a_body_on_a_slope_rolls_where_tan_exceeds_mu_r_over_R(dim, share, ratio):
    mu_r = 0.03
    slope = np.arctan(ratio * mu_r / R)
    world, body, _ = roller(dim, st.Rolling(0.5, mu_r))
    world.gravity = G * np.array([np.sin(slope), *[0.0] * (dim - 2), -np.cos(slope)])
    run = st.Simulator(world, 0.01, tol=1e-12).run(1.0)
    wanted = share * G * max(0.0, np.sin(slope) - mu_r / R * np.cos(slope))
    np.testing.assert_allclose(run.velocity(body)[:, 0], wanted * run.times, atol=1e-9)


def test_a_sliding_ball_with_rolling_friction_begins_to_roll():
    """Sliding: v' = -mu g, ω' = (mu R - mu_r) m g/I; they meet, and then it rolls to a stop."""
    mu, mu_r, h, speed = 0.3, 0.02, 0.001, 2.0
    world = st.World()
    floor = world.add_plane()
    body = world.add_body(st.Sphere(R), mass=M, position=(0, 0, R), velocity=(speed, 0, 0))
    world.set_contact(body, floor, friction=st.Rolling(mu, mu_r))
    run = st.Simulator(world, h).run(1.0)
    gain = (mu * R - mu_r) * G / (0.4 * R * R)
    meets = speed / (mu * G + R * gain)
    v, w = run.velocity(body)[:, 0], run.angular_velocity(body)[:, 1]
    slides = run.times < meets
    np.testing.assert_allclose(v[slides], speed - mu * G * run.times[slides], atol=1e-6)
    np.testing.assert_allclose(w[slides], gain * run.times[slides], atol=1e-5)
    late = run.times > meets + h
    np.testing.assert_allclose(v[late], R * w[late], atol=1e-6)
    np.testing.assert_allclose(np.diff(v[late]), -5 / 7 * mu_r * G / R * h, atol=1e-6)


@pytest.mark.parametrize("law", [st.Torsional(0.2, er=0.4), st.Mixed(0.2, er=0.4), st.Rolling(0.2, 0.1, 0.08)])
@pytest.mark.parametrize("scheme", SCHEMES, ids=scheme_name)
def test_a_ball_spinning_in_place_stops_exactly(law, scheme):
    """The moment is 0.2·0.4·m g, whatever the other rows: ω falls linearly by it over I, and ends at 0."""
    loss = 0.2 * 0.4 * G / (0.4 * R * R)
    world, body, _ = roller(3, law, spin=10.0)
    run = st.Simulator(world, 0.01, scheme=scheme, tol=1e-11).run(1.0)
    expected = np.maximum(0.0, 10.0 - loss * run.times)
    np.testing.assert_allclose(run.angular_velocity(body)[:, 2], expected, atol=1e-8)
    np.testing.assert_allclose(run.angular_velocity(body)[-1], 0.0, atol=1e-10)
    np.testing.assert_allclose(run.position(body), np.broadcast_to([0, 0, R], (101, 3)), atol=1e-10)


def test_spin_makes_slip_easier_under_torsional_friction_and_not_under_mixed():
    """A fast spinning ball slides nearly free: the friction of the ellipsoid is shared by power (ttp01 eq. 1)."""
    er, mu, h, spin, speed = 0.1, 0.3, 1e-3, 200.0, 0.5
    lost = {}
    for law in (st.Torsional(mu, er=er), st.Mixed(mu, er=er)):
        world = st.World(gravity=(0, 0, -G))
        floor = world.add_plane()
        turn = {"velocity": (speed, 0, 0), "angular_velocity": (0, 0, spin)}
        body = world.add_body(st.Sphere(R), mass=M, inertia=1e6, position=(0, 0, R), **turn)
        world.set_contact(body, floor, friction=law)
        run = st.Simulator(world, h, tol=1e-11).run(10 * h)
        lost[type(law).__name__] = (speed - run.velocity(body)[-1, 0]) / (10 * h * mu * G)
    assert lost["Mixed"] == pytest.approx(1.0, abs=1e-8)
    assert lost["Torsional"] == pytest.approx(speed / np.hypot(speed, er * spin), rel=1e-2)


def two_balls(dim, law, seed=0, turn=None):
    """Two free bodies that meet; `turn` turns the whole scene."""
    rng = np.random.default_rng(seed)
    if dim == 2:
        world = st.PlanarWorld(gravity=(0, 0))
        a = world.add_body(st.Disk(0.2), mass=1.0, position=(-0.3, 0.05), velocity=(2, 0.3), angular_velocity=8.0)
        shape = st.Polygon.box(0.4, 0.3)
        b = world.add_body(shape, mass=3.0, position=(0.3, -0.02), velocity=(-1, 0), angular_velocity=-1.0)
    else:
        turn = np.eye(3) if turn is None else turn
        world = st.World(gravity=(0, 0, 0))
        x, v = rng.normal([-0.3, 0, 0], 0.02), rng.normal([2, 0.3, 0], 0.1)
        w = rng.normal(size=(2, 3)) * 10
        a = world.add_body(
            st.Sphere(0.2), mass=1.0, position=turn @ x, velocity=turn @ v,
            angular_velocity=turn @ w[0],
        )  # fmt: skip
        b = world.add_body(
            st.Sphere(0.25), mass=3.0, position=turn @ [0.3, 0, 0], velocity=turn @ [-1, 0, 0],
            angular_velocity=turn @ w[1],
        )  # fmt: skip
    world.set_contact(a, b, friction=law)
    return world, a, b


def momentum(world, run):
    """Linear momentum, and angular momentum about the origin, of all moving bodies over time."""
    model = world.build()
    linear, angular = 0.0, 0.0
    for i, s in enumerate(world.bodies):
        if s.kind != "dynamic":
            continue
        x, v = run.position(s.name), run.velocity(s.name)
        w = run.angular_velocity(s.name)
        linear = linear + s.mass * v
        spin = float(model.inertia[i]) * w if model.dim == 2 else w @ model.inertia[i]  # spheres: the same in all axes
        about = np.cross(x, v) if model.dim == 3 else x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0]
        angular = angular + s.mass * about + spin
    return linear, angular


LAWS = [st.Torsional(0.4, er=0.05), st.Mixed(0.4, er=0.05), st.Rolling(0.4, 0.05), st.Rolling(0.4, 0.03, 0.04)]


@pytest.mark.parametrize("law", [st.Rolling(0.5, 0.1), st.Rolling(0.0, 0.1)])
def test_action_and_reaction_in_the_plane(law):
    world, a, b = two_balls(2, law)
    run = st.Simulator(world, 0.01).run(0.5)
    table = run.contacts(a, b)
    assert np.abs(table.impulse[:, 4]).max() > 0
    for part in momentum(world, run):
        np.testing.assert_allclose(part, np.broadcast_to(part[0], part.shape), atol=1e-12)


@pytest.mark.parametrize(
    "law", [*LAWS, st.Anisotropic(0.1, 0.6, axis=(1, 2, 0)), st.Torsional(0.3, 1.0, 0.2, 0.1, (0, 0, 1))]
)
@pytest.mark.parametrize("seed", range(3))
def test_action_and_reaction_in_space(law, seed):
    world, a, b = two_balls(3, law, seed)
    run = st.Simulator(world, 0.01).run(0.3)
    rows = law.contact_rows(3)
    assert (np.abs(run.contacts(a, b).impulse[:, rows]).max(axis=0) > 0).all()
    for part in momentum(world, run):
        np.testing.assert_allclose(part, np.broadcast_to(part[0], part.shape), atol=1e-12)
    assert np.diff(run.energy.total).max() < 1e-12


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("seed", range(3))
def test_turning_the_scene_turns_the_result(law, seed):
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    runs = []
    for scene in (None, turn):
        world, *bodies = two_balls(3, law, seed, scene)
        runs.append((st.Simulator(world, 0.01, tol=1e-12).run(0.3), bodies))
    (still, one), (turned, other) = runs
    for a, b in zip(one, other):
        for what in (st.Trajectory.position, st.Trajectory.velocity, st.Trajectory.angular_velocity):
            np.testing.assert_allclose(what(turned, b), what(still, a) @ turn.T, atol=1e-9)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("dim", [2, 3])
def test_the_order_of_bodies_does_not_matter(law, dim):
    law = law if dim == 3 else st.Rolling(0.4, 0.05)
    shape = (st.Sphere(R), st.Box((0.5, 0.4, 0.3))) if dim == 3 else (st.Disk(R), st.Polygon.box(0.5, 0.4))
    up = np.eye(dim)[-1]
    spin = (3.0, 4.0, 5.0) if dim == 3 else 4.0
    runs = []
    for turned in (False, True):
        world = st.World() if dim == 3 else st.PlanarWorld()
        make = [
            lambda w=world: w.add_plane(name="floor"),
            lambda w=world: w.add_body(shape[0], mass=M, position=R * up, angular_velocity=spin, name="ball"),
            lambda w=world: w.add_body(shape[1], mass=1.0, position=3 * R * up, name="box"),
        ]
        for one in reversed(make) if turned else make:
            one()
        for pair in (("floor", "ball"), ("ball", "box")):
            world.set_contact(*(reversed(pair) if turned else pair), friction=law)
        runs.append(st.Simulator(world, 0.01, tol=1e-12).run(0.2))
    for body in ("ball", "box"):
        np.testing.assert_allclose(runs[1].position(body), runs[0].position(body), atol=1e-9)
        np.testing.assert_allclose(runs[1].angular_velocity(body), runs[0].angular_velocity(body), atol=1e-7)
    for pair in (("floor", "ball"), ("ball", "floor"), ("box", "ball")):
        tables = [run.contacts(*pair) for run in runs]
        assert len(tables[0].step) > 2
        for name in ("impulse", "velocity", "normal", "tangent"):
            np.testing.assert_allclose(getattr(tables[1], name), getattr(tables[0], name), atol=1e-7)


@pytest.mark.parametrize("dim", [2, 3])
def test_each_row_has_its_own_column(dim):
    """A ball that rolls along x turns about y: its rolling resistance is about y, wherever the tangents are."""
    law = st.Rolling(0.5, 0.03)
    world, body, floor = roller(dim, law, 1.0)
    h = 0.01
    run = st.Simulator(world, h).run(0.1)
    for first, sign in (((body, floor), 1.0), ((floor, body), -1.0)):
        table = run.contacts(*first)
        assert (table.impulse[:, 3] == 0).all()  # no spin
        np.testing.assert_allclose(table.impulse[:, 0], M * G * h, rtol=1e-9)
        if dim == 2:
            assert (table.impulse[:, [2, 5]] == 0).all()
            np.testing.assert_allclose(table.impulse[:, 4], sign * 0.03 * M * G * h, rtol=1e-9)
            np.testing.assert_allclose(table.velocity[:, 4], sign * run.angular_velocity(body)[1:], atol=1e-12)
            continue
        tangents = np.stack([table.tangent, np.cross(table.normal, table.tangent)], axis=1)
        moment = np.einsum("ki,kij->kj", table.impulse[:, 4:], tangents)
        np.testing.assert_allclose(moment, np.tile([0, -sign * 0.03 * M * G * h, 0], (10, 1)), atol=1e-9)
        turning = np.einsum("ki,kij->kj", table.velocity[:, 4:], tangents)
        np.testing.assert_allclose(turning, sign * run.angular_velocity(body)[1:], atol=1e-9)
    share = 2 / 3 if dim == 2 else 5 / 7
    force = run.force(body, floor)
    np.testing.assert_allclose(force[:, 0], -share * 0.03 * M * G / R, rtol=1e-6)


def test_spin_is_recorded_about_the_normal(tmp_path):
    world, body, floor = roller(3, st.Torsional(0.2, er=0.4), spin=5.0)
    run = st.Simulator(world, 0.01).run(0.1)
    run.save(tmp_path / "run.h5")
    for one in (run, st.load(tmp_path / "run.h5")):
        for pair in ((body, floor), (floor, body)):
            table = one.contacts(*pair)
            np.testing.assert_allclose(table.impulse[:, 3], -0.2 * 0.4 * M * G * 0.01, rtol=1e-9)
            np.testing.assert_allclose(table.velocity[:, 3], one.angular_velocity(body)[1:, 2], atol=1e-12)


def test_rolling_of_generalized_systems_has_its_columns_too():
    """A wheel by hand: rows normal, slip, roll go to columns 0, 1 and 4."""
    gap = st.Gap(lambda q: q[1] - R, lambda q: [0, 1.0, 0], lambda q: [[1.0, 0, R], [0, 0, 1.0]], st.Rolling(0.5, 0.03))
    system = st.GeneralizedSystem(
        np.diag([M, M, 0.5 * M * R * R]), [0, -M * G, 0], q=[0, R, 0], v=[1.0, 0, -1.0 / R], gaps=[gap]
    )
    row = st.Simulator(system, 0.01).run(0.05).table.impulse[2]
    np.testing.assert_allclose(
        row, [M * G * 0.01, -2 / 3 * 0.03 * M * G * 0.01 / R, 0, 0, 0.03 * M * G * 0.01, 0], atol=1e-9
    )


@pytest.mark.parametrize("seed", range(6))
def test_friction_takes_energy_and_gives_none(seed):
    """Random heaps under every law: at each contact the rows of friction take power, and the whole never gains."""
    rng = np.random.default_rng(seed)
    dim = 2 if seed % 3 == 2 else 3
    world = st.World() if dim == 3 else st.PlanarWorld()
    world.add_plane(name="floor")
    laws = [*LAWS, st.Anisotropic(0.2, 0.7, axis=(1, 0, 0.2)), st.Polyhedral(0.4, directions=LAWS[0].directions(3))]
    laws = laws if dim == 3 else [st.Rolling(0.4, 0.05), st.Rolling(0.0, 0.1), st.Coulomb(0.5)]
    names = ["floor"]
    for i in range(4):
        place = np.array([0.1 * rng.normal(), *[0.1 * rng.normal()] * (dim - 2), 0.25 + 0.45 * i])
        turn = {"angular_velocity": 10 * rng.normal(size=3) if dim == 3 else 10 * rng.normal()}
        shape = (st.Sphere(0.2), st.Box((0.4, 0.3, 0.2))) if dim == 3 else (st.Disk(0.2), st.Polygon.box(0.4, 0.3))
        world.add_body(
            shape[int(rng.integers(2))], mass=rng.uniform(0.3, 3), position=place, velocity=rng.normal(size=dim),
            name=f"part{i}", **turn,
        )  # fmt: skip
        for other in names:
            world.set_contact(f"part{i}", other, friction=laws[int(rng.integers(len(laws)))])
        names.append(f"part{i}")
    run = st.Simulator(world, 0.005, tol=1e-9, on_failure="warn").run(0.6)
    power = np.einsum("ki,ki->k", run.table.impulse[:, 1:], run.table.velocity[:, 1:])
    assert power.max() < 1e-7
    assert power.min() < -1e-4
    gained = np.diff(run.energy.total) - run.energy.work["stabilisation"] - run.energy.work["truncation"]
    assert gained.max() < 1e-6
