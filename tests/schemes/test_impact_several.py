"""Impacts at several contacts at once: one after the other, or as springs that share them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import stiction as st

LINEAR, HERTZ = st.WorkDriven(), st.WorkDriven(exponent=1.5)
LINEAR_CRADLE = (-0.132, -0.075, -0.031, 0.296, 0.942)
HERTZ_CRADLE = (-0.071, -0.030, -0.015, 0.127, 0.989)
WAYS = [
    ("newton", "sequential"),
    ("poisson", "sequential"),
    ("stronge", "sequential"),
    ("stronge", LINEAR),
    ("stronge", HERTZ),
]


def row(v, masses=None, e=1.0):
    """Touching balls in a row, as gap functions on a line."""
    n = len(v)
    mass = np.ones(n) if masses is None else np.asarray(masses, dtype=float)
    gaps = [
        st.Gap(lambda q, i=i: q[i + 1] - q[i], restitution=e if np.isscalar(e) else e[i], name=f"{i}")
        for i in range(n - 1)
    ]
    return st.GeneralizedSystem(np.diag(mass), q=np.zeros(n), v=v, gaps=gaps)


def after(system, scheme, steps=3):
    """Velocities after the impact."""
    return st.Simulator(system, dt=1e-3, scheme=scheme, tol=1e-12).run(steps * 1e-3).v[-1]


def chain(v, masses, exponent, stiffness):
    """The compliant chain itself: unilateral springs between the balls, integrated until they have parted."""
    n = len(v)

    def rates(t, z):
        f = stiffness * np.maximum(z[: n - 1] - z[1:n], 0.0) ** exponent
        return np.concatenate([z[n:], (np.concatenate([[0.0], f]) - np.concatenate([f, [0.0]])) / masses])

    z0 = np.concatenate([np.zeros(n), v])
    return solve_ivp(rates, (0.0, 80.0), z0, method="DOP853", rtol=1e-12, atol=1e-13, max_step=0.05).y[n:, -1]


@pytest.mark.parametrize("law", ["newton", "poisson", "stronge"])
def test_cradle_in_sequence(law):
    v = after(row([1.0, 0, 0, 0, 0]), st.Moreau(impact=law, multiple="sequential"))
    assert v == pytest.approx([0, 0, 0, 0, 1], abs=1e-12)


@pytest.mark.parametrize(("way", "printed"), [(LINEAR, LINEAR_CRADLE), (HERTZ, HERTZ_CRADLE)])
def test_cradle_of_springs(way, printed):
    v = after(row([1.0, 0, 0, 0, 0]), st.Moreau(impact="stronge", multiple=way))
    assert v == pytest.approx(printed, abs=6e-4)
    assert v == pytest.approx(chain([1.0, 0, 0, 0, 0], np.ones(5), way.exponent, 1.0), abs=1e-7)
    assert v.sum() == pytest.approx(1.0, abs=1e-13)
    assert v @ v == pytest.approx(1.0, abs=1e-7)


@pytest.mark.parametrize("exponent", [1.0, 1.5])
def test_unequal_chain_of_springs(exponent):
    """Unequal masses and stiffnesses, both ends moving."""
    masses, k, v = np.array([1.0, 0.5, 2.0, 1.0]), np.array([1.0, 0.3, 2.0]), [1.0, 0.2, 0.1, -0.7]
    way = st.WorkDriven(exponent, lambda name: k[int(name)])
    found = after(row(v, masses), st.Moreau(impact="stronge", multiple=way))
    assert found == pytest.approx(chain(v, masses, exponent, k), abs=1e-7)


def test_stiffness_by_the_names_of_bodies():
    """Spheres in a world, between which contacts are known by the names of the two."""
    world = st.World(gravity=(0, 0, 0))
    world.set_material("default", friction=0.0, restitution=1.0)
    v0, k = [1.0, 0.0, 0.0], {"a/b": 1.0, "b/c": 0.3}
    balls = [
        world.add_body(st.Sphere(0.1), mass=1.0, position=(0.2 * i, 0, 0), velocity=(v0[i], 0, 0), name=n)
        for i, n in enumerate("abc")
    ]
    scheme = st.Moreau(impact="stronge", multiple=st.WorkDriven(1.5, k.__getitem__))
    run = st.Simulator(world, dt=1e-3, scheme=scheme, tol=1e-12).run(2e-3)
    found = [run.velocity(ball)[-1, 0] for ball in balls]
    assert found == pytest.approx(chain(v0, np.ones(3), 1.5, np.array([1.0, 0.3])), abs=1e-7)


def test_only_ratios_of_stiffness_matter():
    v = [1.0, 0.0, 0.0]
    a, b = (
        after(row(v), st.Moreau(impact="stronge", multiple=st.WorkDriven(1.5, lambda name, s=s: s * (1 + int(name)))))
        for s in (1.0, 7e5)
    )
    assert a == pytest.approx(b, abs=1e-12)


@pytest.mark.parametrize(("law", "way"), WAYS)
@pytest.mark.parametrize("e", [0.0, 0.4, 0.9, 1.0])
def test_momentum_stays_and_energy_is_lost(law, way, e):
    rng = np.random.default_rng(3)
    masses, v0 = rng.uniform(0.3, 3, 4), np.sort(rng.normal(size=4))[::-1]
    v = after(row(v0, masses, e), st.Moreau(impact=law, multiple=way))
    assert masses @ v == pytest.approx(masses @ v0, abs=1e-12)
    gain = masses @ (v**2 - v0**2)
    assert abs(gain) < 1e-7 if e == 1.0 else gain < -1e-3
    assert (np.diff(v) > -1e-9).all()


def test_two_balls_are_newtons_whichever_way():
    for law, way in WAYS:
        v = after(row([1.0, 0.0], [1.0, 3.0], 0.6), st.Moreau(impact=law, multiple=way))
        assert v == pytest.approx([0.25 - 0.75 * 0.6, 0.25 + 0.25 * 0.6], abs=1e-9)


def test_two_hit_from_both_sides():
    """1 against 1 through a ball at rest: by symmetry the middle one stays, and the ends turn round."""
    for way in (LINEAR, HERTZ):
        v = after(row([1.0, 0.0, -1.0]), st.Moreau(impact="stronge", multiple=way))
        assert v == pytest.approx([-1, 0, 1], abs=1e-8)


def test_sequence_takes_the_fastest_first():
    """A ball between two that come at different speeds meets the faster one first."""
    v = after(row([2.0, 0.0, -1.0]), st.Moreau(multiple="sequential"))
    assert v == pytest.approx([-1.0, 0.0, 2.0], abs=1e-12)  # velocities are passed on, in the end reversed


def test_sequence_uses_the_restitution_of_each_speed():
    def e(speed):
        return 1.0 if speed > 0.75 else 0.0

    gaps = [st.Gap(lambda q, i=i: q[i + 1] - q[i], restitution=e) for i in range(2)]
    system = st.GeneralizedSystem(np.diag([1.0, 3.0, 3.0]), q=np.zeros(3), v=[1.0, 0, 0], gaps=gaps)
    v = after(system, st.Moreau(multiple="sequential"))
    assert v == pytest.approx([-0.5, 0.25, 0.25], abs=1e-9)  # the second is hit at 0.5 m/s


def test_plastic_sequence_ends_together():
    v = after(row([1.0, 0, 0, 0], e=0.0), st.Moreau(multiple="sequential"))
    assert v == pytest.approx(np.full(4, 0.25), abs=1e-10)


@pytest.mark.parametrize("way", [LINEAR, HERTZ])
def test_inelastic_collapse_ends(way):
    """With little restitution a row hits itself ever more often and slower: it ends together, momentum kept."""
    v = after(row([1.0, 0, 0, 0, 0], e=0.05), st.Moreau(impact="stronge", multiple=way), 1)
    assert v == pytest.approx(np.full(5, 0.2), abs=1e-3)
    assert v.sum() == pytest.approx(1.0, abs=1e-13)


def test_wedged_body_comes_to_rest():
    """A body between two walls without room: what leaves one hits the other, until all is lost."""
    from stiction.schemes.impact.rows import Group
    from stiction.schemes.impact.work import springs

    W, u = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([-1.0, 1.0])
    two, none = np.arange(2), np.zeros(0, dtype=np.int64)
    made = st.ContactProblem.from_delassus(W, u, row_ptr=[0, 1, 2], law=[1, 1]).friction
    group = Group(two, two, np.arange(3), W, u, np.zeros(2), made, np.ones(2), none, np.zeros((0, 2)), two)
    p, ended = springs(group, np.array([0.3, 0.3]), np.ones(2), 1.5)
    assert ended
    assert u + W @ p == pytest.approx([0, 0], abs=1e-8)


def test_springs_with_friction_are_the_followed_impact_at_one_contact():
    """The kernel against Routh's and Keller's path, at one contact by itself."""
    from stiction.schemes.impact.incremental import incremental
    from stiction.schemes.impact.rows import Group
    from stiction.schemes.impact.work import springs

    rng = np.random.default_rng(4)
    for i in range(24):
        n = 2 + i % 2
        A, u = rng.normal(size=(n, n)), rng.normal(size=n)
        W, mu, e = A @ A.T + 0.1 * np.eye(n), rng.uniform(0, 1), rng.choice([0.0, 0.3, 0.8, 1.0])
        u[0] = -abs(u[0]) - 0.1
        one, none = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64)
        made = st.Coulomb(mu)
        problem = st.ContactProblem.from_delassus(W, u, row_ptr=[0, n], law=[1], friction=[made])
        ptr, rows = np.array([0, n]), np.arange(n)
        group = Group(one, rows, ptr, W, u, np.array([mu]), problem.friction, np.ones(n), none, np.zeros((0, n)), rows)
        p, ended = springs(group, np.array([e]), np.ones(1), 1.0 + 0.5 * (i % 4 > 1))
        assert ended
        assert p == pytest.approx(incremental(W, u, mu, e, "stronge").p, rel=2e-4, abs=2e-4 * np.abs(p).max())


def test_two_feet_with_friction_lose_energy():
    """A block lands flat on two corners while it slides: springs with friction at both."""
    for e in (0.0, 0.5):
        world = st.PlanarWorld(gravity=(0, 0))
        floor = world.add_plane(normal=(0, 1), offset=0.0)
        block = world.add_body(
            st.Polygon([(-0.5, -0.2), (0.5, -0.2), (0.5, 0.2), (-0.5, 0.2)]),
            mass=1.0,
            position=(0, 0.2),
            velocity=(1.0, -1.0),
        )
        world.set_contact(block, floor, friction=0.3, restitution=e)
        run = st.Simulator(world, dt=1e-3, scheme=st.Moreau(impact="stronge", multiple="work"), tol=1e-10).run(2e-3)
        vx, vy = run.velocity(block)[-1]
        assert vx == pytest.approx(1.0 - 0.3 * (1.0 + vy), abs=1e-9)  # both slide throughout
        assert (vy == pytest.approx(0.0, abs=1e-9)) if e == 0.0 else 0.4 < vy < 0.5
        kinetic = run.energy.kinetic
        assert kinetic[-1] < kinetic[0] * (1 - 1e-3)


def test_joints_hold_through_an_impact():
    """A pendulum bob that hits a wall: the joint is held within the impact, however it is resolved."""
    for law, way in [*WAYS, ("poisson", "simultaneous")]:
        rod = st.Bilateral(lambda q: np.hypot(q[0], q[1]) - 1.0)
        wall = st.Gap(lambda q: q[0] + 0.2, restitution=0.5)
        start = [-0.1, -np.sqrt(0.99)]
        system = st.GeneralizedSystem(
            np.eye(2), q=start, v=[-0.99 * 2, 0.1 * np.sqrt(0.99) * 2], gaps=[wall], constraints=[rod]
        )
        run = st.Simulator(system, dt=1e-3, scheme=st.Moreau(impact=law, multiple=way), tol=1e-11).run(0.1)
        speed = np.linalg.norm(run.v, axis=1)
        assert speed[-1] == pytest.approx(0.5 * speed[0], rel=2e-3)
        assert abs(run.q[-1] @ run.v[-1]) < 1e-2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: st.Moreau(multiple="random"), "multiple"),
        (lambda: st.Moreau(multiple="work"), "stronge"),
        (lambda: st.WorkDriven(exponent=0.5), "exponent"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(st.ModelError, match=message):
        make()


def test_other_friction_is_refused_by_name():
    world = st.World(gravity=(0, 0, 0))
    floor = world.add_plane()
    box = world.add_body(st.Box((1, 1, 1)), mass=1.0, position=(0, 0, 0.5), velocity=(0, 0, -1))
    world.set_contact(box, floor, friction=st.Torsional(0.3, er=0.1), restitution=0.5)
    with pytest.raises(st.ModelError, match="Torsional"):
        st.Simulator(world, dt=1e-3, scheme=st.Moreau(impact="stronge", multiple="work"))


def test_other_friction_at_gaps_is_refused_when_it_hits():
    slip = [[0, 1.0, 0], [0, 0, 1.0]]
    gaps = [st.Gap(lambda q: q[0], tangents=lambda q: slip, friction=st.Anisotropic(0.3, 0.2)) for _ in range(2)]
    system = st.GeneralizedSystem(np.eye(3), q=np.zeros(3), v=[-1.0, 0.5, 0], gaps=gaps)
    with pytest.raises(st.SolverError, match="Coulomb"):
        after(system, st.Moreau(impact="stronge", multiple="work"))


def rocking(width, height, e, mu=1.0):
    """A block of 1 kg that turns about its left corner at 1 rad/s when the right one hits the floor."""
    corners = 0.5 * np.array([[-width, -height], [width, -height]])

    def arm(q, i):
        c, s = np.cos(q[2]), np.sin(q[2])
        return np.array([[c, -s], [s, c]]) @ corners[i]

    gaps = [
        st.Gap(
            lambda q, i=i: q[1] + arm(q, i)[1],
            tangents=lambda q, i=i: [1.0, 0.0, -arm(q, i)[1]],
            friction=mu,
            restitution=e,
        )
        for i in (0, 1)
    ]
    inertia = (width**2 + height**2) / 12
    v = [0.5 * height, -0.5 * width, -1.0]
    return st.GeneralizedSystem(np.diag([1, 1, inertia]), q=[0, 0.5 * height, 0], v=v, gaps=gaps)


@pytest.mark.parametrize(("law", "way"), [("newton", "simultaneous"), ("poisson", "simultaneous"), *WAYS])
def test_slender_block_rocks_as_housner_says(law, way):
    """G. W. Housner, 1963: 1 - 3/2 sin² α of the rate is left, since the corner it turned about lifts off freely."""
    v = after(rocking(1.0, 2.0, 0.0), st.Moreau(impact=law, multiple=way), 1)
    assert -v[2] == pytest.approx(1 - 1.5 * 0.2, abs=1e-6)


def test_squat_block_with_restitution_depends_on_the_way():
    """Its corners hit each other's impulses: at once, one after the other and as springs are three answers."""
    rates = [
        after(rocking(2.0, 1.0, 0.5), st.Moreau(impact="stronge", multiple=way), 1)[2]
        for way in ("simultaneous", "sequential", LINEAR, HERTZ)
    ]
    assert rates == pytest.approx([0.5, 0.26, 0.2989, 0.2698], abs=1e-4)
