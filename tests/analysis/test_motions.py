"""All motions of a problem: counts known by hand, one motion with many forces, continua, and random problems."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

import stiction as st
from stiction.analysis import all_motions, force_acceleration, impulse_velocity, time_stepping
from stiction.papers.pr11_rod import LIFTING, rod

G = 9.81
SQUARE = [(1, 0), (0, 1), (-1, 0), (0, -1)]


def table(mu, slope=0.0, v=(0.0, 0.0, 0.0), high=0.7):
    """Four feet at (±0.5, ±0.5), in turn; the centre of mass `high` above them; x points down the slope."""
    gaps = []
    for i, (x, y) in enumerate([(0.5, 0.5), (0.5, -0.5), (-0.5, -0.5), (-0.5, 0.5)]):
        arm = np.array([x, y, -high])
        n, *T = (np.concatenate([d, np.cross(arm, d)]) for d in np.eye(3)[[2, 0, 1]])
        friction = st.Polyhedral(mu[i], directions=SQUARE)
        gaps.append(st.Gap(lambda q, n=n: n @ q, lambda q, n=n: n, lambda q, T=T: np.array(T), friction=friction))
    k = [G * np.sin(slope), 0, -G * np.cos(slope), 0, 0, 0]
    return st.GeneralizedSystem(np.diag([1, 1, 1, 0.3, 0.3, 0.2]), k, q=np.zeros(6), v=[*v, 0, 0, 0], gaps=gaps)


def planar(rng, bodies, contacts, mu):
    """A random planar problem: contacts between random points of bodies and the ground, impulses from rest or not."""
    H = np.zeros((2 * contacts, 3 * bodies))
    for i in range(contacts):
        a, angle = rng.integers(bodies), rng.uniform(0, 2 * np.pi)
        n = np.array([np.cos(angle), np.sin(angle)])
        others = [b for b in range(-1, bodies) if b != a]
        for body, sign in ((a, 1.0), (others[rng.integers(len(others))], -1.0)):
            if body >= 0:
                r = rng.normal(size=2)
                for row, d in enumerate((n, np.array([n[1], -n[0]]))):
                    H[2 * i + row, 3 * body : 3 * body + 3] = sign * np.array([*d, r[0] * d[1] - r[1] * d[0]])
    M = np.diag(rng.uniform(0.5, 2.0, 3 * bodies))
    blocks = {"row_ptr": np.arange(0, 2 * contacts + 1, 2), "law": [st.Law.UNILATERAL] * contacts, "friction": mu}
    return st.ContactProblem(st.Dense(M, H), v_free=rng.normal(size=3 * bodies), **blocks)


@pytest.mark.parametrize(("torque", "counts"), [(0.0, (0, 2, 1)), (LIFTING, (2, 2, 3))])
def test_counts_of_the_painleve_rod(torque, counts):
    system = rod(torque)
    forms = force_acceleration(system), impulse_velocity(system), time_stepping(system, h=0.01)
    found = [all_motions(form) for form in forms]
    assert tuple(len(motions) for motions in found) == counts
    assert all(motions.complete for motions in found)
    assert not any(motion.freedom or motion.dimension for motions in found for motion in motions)


def test_what_the_rod_does_in_words():
    motions = all_motions(rod(LIFTING), h=0.01)
    assert [motion.modes for motion in motions] == ["o", "-", "s"]
    assert [motion.contacts[0].words for motion in motions] == ["tip opens", "tip slides along -t", "tip comes to rest"]
    assert motions.message == "3 motions."
    lost = [0.5 - motion.energy for motion in motions]
    assert lost[0] < lost[1] < lost[2]


def test_after_which_impulse_finite_forces_exist():
    """pr11 §3.1: staying in motion leads back to the problem without a solution, coming to rest does not."""
    stays, rests = all_motions(rod())
    assert stays.goes_on is False
    assert rests.goes_on is True
    assert [motion.modes for motion in rests.next] == ["s"]
    assert "no finite force exists after it" in stays.words


def test_a_table_on_four_legs_stands_in_one_way_with_many_forces():
    motions = all_motions(force_acceleration(table([0.5] * 4)))
    assert motions.unique
    (stands,) = motions
    assert np.abs(stands.v).max() < 1e-12
    assert stands.freedom == 6  # twelve forces, six equations
    assert stands.forces.reshape(4, 3) == pytest.approx(np.array([[G / 4, 0, 0]] * 4), abs=1e-7)  # the least of all
    assert stands.range[0] == pytest.approx([0.0, G / 2], abs=1e-9)  # a diagonal can bear everything


def test_three_boxes_in_a_pile_rest_in_one_way():
    """Six contacts in the plane; in each layer the friction of the two can be traded."""
    world = st.PlanarWorld(gravity=(0, -G))
    below = world.add_plane(normal=(0, 1), offset=0.0)
    square = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]
    for i in range(3):
        box = world.add_body(st.Polygon(square), mass=1.0, position=(0, 0.5 + i))
        world.set_contact(below, box, friction=0.5)
        below = box
    (rests,) = motions = all_motions(force_acceleration(world))
    assert motions.unique
    assert rests.modes == "ssssss"
    assert rests.freedom == 3
    assert np.sort(rests.forces[::2]) == pytest.approx(G * np.array([0.5, 0.5, 1.0, 1.0, 1.5, 1.5]), abs=1e-6)


def test_equal_legs_slide_in_one_way():
    motions = all_motions(force_acceleration(table([0.2] * 4, slope=0.4, v=(1, 0, 0))))
    assert motions.unique
    assert motions[0].freedom == 1
    assert motions[0].v[0] == pytest.approx(G * (np.sin(0.4) - 0.2 * np.cos(0.4)))


def test_unequal_legs_slide_in_a_continuum_of_ways():
    """µ = 0.1, 0.3, 0.1, 0.3 in turn on 25°: with load rF on the front legs, r = 1.4, the load of the diagonals shifts
    until a rear leg is free: friction is 0.1 N/(1 - 0.1 r) to 0.3 N/(1 + 0.1 r), 1.03 to 2.34 N per kg.
    """
    slope = np.radians(25.0)
    motions = all_motions(force_acceleration(table([0.1, 0.3, 0.1, 0.3], slope, v=(1, 0, 0))))
    (slides,) = motions
    assert not motions.unique
    assert (slides.dimension, slides.freedom) == (1, 0)
    N = G * np.cos(slope)
    friction = np.sort(G * np.sin(slope) - slides.ends[:, 0])
    assert friction == pytest.approx([0.1 * N / 0.86, 0.3 * N / 1.14])
    assert friction == pytest.approx([1.03, 2.34], abs=5e-3)


def test_two_walls_that_wedge_have_forces_at_rest():
    """A block between walls with strong friction: any squeeze holds, so that the impulses have no bound."""
    row = [st.Gap(lambda q, s=s: s * q[0], lambda q, s=s: [s, 0.0], lambda q: [0.0, 1.0], 1.0) for s in (1.0, -1.0)]
    motions = all_motions(force_acceleration(st.GeneralizedSystem(np.eye(2), [0.0, -G], q=[0, 0], gaps=row)))
    holds = next(motion for motion in motions if np.abs(motion.v).max() < 1e-9)
    assert holds.range[0] == pytest.approx([G / 2, np.inf])
    assert holds.forces == pytest.approx([G / 2, G / 2, G / 2, G / 2], abs=1e-6)
    assert holds.freedom == 2


@settings(max_examples=40, deadline=None)
@given(some.integers(0, 2**32 - 1), some.integers(1, 3), some.integers(1, 5))
def test_without_friction_there_is_always_one_motion(seed, bodies, contacts):
    problem = planar(np.random.default_rng(seed), bodies, contacts, 0.5)
    smooth = st.ContactProblem(
        st.Dense(problem.dynamics.M, problem.dynamics.H[::2]),
        v_free=problem.v_free,
        row_ptr=np.arange(contacts + 1),
        law=problem.law,
    )
    assert all_motions(smooth).unique


@settings(max_examples=40, deadline=None)
@given(some.integers(0, 2**32 - 1), some.integers(1, 3), some.integers(1, 4), some.floats(0.1, 2.0))
def test_every_motion_obeys_the_laws_and_lemkes_is_among_them(seed, bodies, contacts, mu):
    problem = planar(np.random.default_rng(seed), bodies, contacts, mu)
    motions = all_motions(problem)
    assert motions.success
    for motion in motions:
        assert problem.certify(motion.p).ok(1e-7)
    assert motions.find(st.solve(problem, "lemke").v) is not None


def test_problems_without_masses_are_told_apart_by_their_rows():
    impact = impulse_velocity(rod()).problem
    bare = st.ContactProblem.from_delassus(impact.delassus(), impact.q, row_ptr=[0, 2], law=[1], friction=1.5)
    motions = all_motions(bare)
    assert [motion.modes for motion in motions] == ["t", "s"]
    assert motions[1].p == pytest.approx([0.3248, 0.4375], abs=5e-5)


def test_smooth_cones_are_refused_with_the_way_out():
    world = st.World(gravity=(0, 0, -G))
    floor = world.add_plane(normal=(0, 0, 1), offset=0.0)
    ball = world.add_body(st.Sphere(0.1), mass=1.0, position=(0, 0, 0.1), velocity=(0, 0, -1))
    world.set_contact(ball, floor, friction=0.5)
    with pytest.raises(st.ModelError, match="polyhedral"):
        all_motions(world)
    assert all_motions(impulse_velocity(world, directions=4)).unique
