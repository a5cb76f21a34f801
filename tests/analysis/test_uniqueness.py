"""One motion, several or none: decided by a mixed-integer program, and held against enumeration and known answers."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

import stiction as st
from stiction import analysis

# a busy machine must not decide what is true
existence, extent, uniqueness = (
    partial(f, time_limit=3600.0) for f in (analysis.existence, analysis.extent, analysis.uniqueness)
)

MASS, INERTIA, ANGLE = 1.0, 1.0 / 3.0, np.pi / 3  # pr11: m = 1, l = 2, I = m l²/12
NORMAL = np.array([0.0, 1.0, -np.cos(ANGLE)])
TANGENT = np.array([1.0, 0.0, np.sin(ANGLE)])
TORQUE = 2.0 * -1.0 * INERTIA / (2.0 * np.cos(ANGLE)) - 1.0


def sliding_rod(mu=1.5, torque=0.0):
    """pr11 §2: friction opposes the slip to the left, so that the force acts along NORMAL + mu TANGENT."""
    M = np.diag([MASS, MASS, INERTIA])
    return st.ContactProblem(
        st.Dense(M, [NORMAL], [NORMAL + mu * TANGENT]), v_free=[0.0, -1.0, torque / INERTIA], row_ptr=[0, 1], law=[1]
    )


def rod_step(h, torque=0.0, mu=1.5):
    return st.ContactProblem(
        st.Dense(np.diag([MASS, MASS, INERTIA]), [NORMAL, TANGENT]),
        v_free=[-1.0, -h, h * torque / INERTIA],
        row_ptr=[0, 2],
        law=[1],
        friction=[mu],
    )


def test_painleve_rod_has_no_finite_force():
    answer = existence(sliding_rod())
    assert answer.exists is False
    assert answer.success
    assert answer.limit == np.inf  # for forces of any size
    assert uniqueness(sliding_rod()).status is st.Status.NO_SOLUTION


def test_painleve_rod_with_torque_has_two_motions():
    answer = uniqueness(sliding_rod(torque=TORQUE))
    assert answer.unique is False
    forces = sorted([answer.first.p[0], answer.second.p[0]])
    assert np.allclose(forces, [0.0, 7.5545], atol=5e-5)


def test_below_the_bound_of_friction_there_is_one_motion():
    answer = uniqueness(sliding_rod(mu=1.2))
    assert answer.unique is True
    assert answer.limit == np.inf


def test_impulse_and_step_of_the_rod():
    assert uniqueness(rod_step(0.0)).unique is False
    assert uniqueness(rod_step(0.01)).unique is True
    assert uniqueness(rod_step(0.01, TORQUE)).unique is False


def test_a_known_solution_is_the_reference():
    stuck = np.array([0.32475953, 0.4375])
    answer = uniqueness(rod_step(0.0), solution=stuck)
    assert answer.unique is False
    assert np.allclose(answer.first.p, stuck, atol=1e-7)
    assert np.allclose(answer.second.p, 0.0, atol=1e-9)


LEGS = ((0.5, 0.5), (0.5, -0.5), (-0.5, -0.5), (-0.5, 0.5))  # m, around the table; the centre of mass is 0.7 m up
SLOPE = np.radians(25.0)


def table(mu, slope, slides):
    """A table of 1 kg on four legs; `slides`: down the slope, else at rest."""
    H, G = [], []
    for leg, m in zip(LEGS, mu):
        r = np.array([*leg, -0.7])
        rows = [np.concatenate([a, np.cross(r, a)]) for a in np.eye(3)[[2, 0, 1]]]
        H += rows[:1] if slides else rows
        G += [rows[0] - m * rows[1]] if slides else rows
    pull = 9.81 * np.array([np.sin(slope), 0.0, -np.cos(slope), 0.0, 0.0, 0.0])
    return st.ContactProblem(
        st.Dense(np.diag([1.0, 1.0, 1.0, 0.1, 0.1, 0.15]), H, G),
        v_free=pull,
        row_ptr=np.arange(5) * (1 if slides else 3),
        law=[1] * 4,
        friction=None if slides else [st.Polyhedral(m, directions=[[1, 0], [-1, 0], [0, 1], [0, -1]]) for m in mu],
    )


def test_a_table_at_rest_has_many_forces_and_one_motion():
    at_rest = table([0.5] * 4, 0.0, slides=False)
    assert uniqueness(at_rest).unique is True
    load = np.zeros(12)
    load[0] = 1.0
    leg = extent(at_rest, load)  # a leg carries nothing, or half of the weight
    assert (leg.low, leg.high) == pytest.approx((0.0, 0.5 * 9.81), abs=1e-6)


def test_a_table_sliding_on_equal_legs_has_one_motion():
    slides = table([0.2] * 4, SLOPE, slides=True)
    assert uniqueness(slides).unique is True
    total = extent(slides, [0.2] * 4)
    assert total.low == pytest.approx(0.2 * 9.81 * np.cos(SLOPE))
    assert total.high == pytest.approx(total.low)


def test_a_table_sliding_on_unequal_legs_has_a_range_of_friction():
    """pr11 §5. With half length a and height c of the centre of mass the ends are 0.1 W/(1 - 0.1 c/a) and
    0.3 W/(1 + 0.1 c/a), W being the load on the slope.
    """
    mu = [0.1, 0.3, 0.1, 0.3]
    slides = table(mu, SLOPE, slides=True)
    assert uniqueness(slides).unique is False
    total = extent(slides, mu)
    W, r = 9.81 * np.cos(SLOPE), 0.7 / 0.5
    assert total.low == pytest.approx(0.1 * W / (1 - 0.1 * r))
    assert total.high == pytest.approx(0.3 * W / (1 + 0.1 * r))
    assert (round(total.low, 2), round(total.high, 2)) == (1.03, 2.34)


def test_parts_that_do_not_act_on_each_other_are_decided_apart():
    rods = [rod_step(0.01), rod_step(0.0), rod_step(0.01)]

    def together(those):
        n = len(those)
        return st.ContactProblem(
            st.Dense(np.kron(np.eye(n), those[0].dynamics.M), np.kron(np.eye(n), those[0].dynamics.H)),
            v_free=np.concatenate([r.v_free for r in those]),
            row_ptr=2 * np.arange(n + 1),
            law=[1] * n,
            friction=[1.5] * n,
        )

    three = together(rods)
    answer = uniqueness(three)
    assert answer.unique is False
    assert answer.first.success
    assert answer.second.success
    moved = np.abs(answer.second.v - answer.first.v).reshape(3, 3).max(axis=1)
    assert (moved > answer.distance).tolist() == [False, True, False]  # the one in the middle has two motions
    assert uniqueness(together(rods[::2])).unique is True
    assert uniqueness(three, solution=answer.second.p).unique is False


def test_joints_that_contradict_each_other():
    two = st.ContactProblem(st.Dense(np.eye(2), [[1.0, 0.0], [1.0, 0.0]]), b=[0.0, 1.0], row_ptr=[0, 1, 2], law=[0, 0])
    assert existence(two).exists is False
    assert "contradict" in uniqueness(two).message


def test_a_motor_at_its_bound_and_a_joint():
    """A block pushed over rough ground by a motor that is too weak, and held sideways by a joint."""
    H = np.array([[0, 0, 1.0], [1.0, 0, 0], [1.0, 0, 0], [0, 1.0, 0]])
    problem = st.ContactProblem(
        st.Dense(2.0 * np.eye(3), H),
        v_free=[0.0, 0.3, -0.1],
        b=[0.0, 0.0, -1.0, 0.0],
        row_ptr=[0, 2, 3, 4],
        law=[1, 2, 0],
        friction=[0.5, None, None],
        lo=[-np.inf, -np.inf, -0.05, -np.inf],
        hi=[np.inf, np.inf, 0.05, np.inf],
    )
    answer = uniqueness(problem)
    assert answer.unique is True
    assert np.allclose(answer.first.p, [0.2, -0.05, 0.05, -0.6])
    assert np.allclose(answer.first.v, 0.0)


def test_time_runs_out_honestly():
    answer = uniqueness(random_planar(5, 12, 6, 0.4, 0.0, False), time_limit=0.05)
    assert answer.unique is None
    assert answer.status is st.Status.LIMIT
    assert "Not decided" in answer.message
    assert np.isfinite(answer.bound)  # at most so far away


def random_planar(seed, contacts, bodies, mu, approach, slides):
    """Random rows. approach: how far gaps may be closed beforehand; slides: friction opposes a given slip."""
    rng = np.random.default_rng(seed)
    nv = 3 * bodies
    A = 0.2 * rng.normal(size=(nv, nv))
    M = np.diag(rng.uniform(0.2, 2.0, nv)) + A @ A.T
    H = rng.normal(size=(2 * contacts, nv))
    mu = rng.uniform(0.0, mu, contacts)
    v = rng.normal(size=nv)
    if slides:
        acting = H[::2] - (mu * rng.choice([-1.0, 1.0], contacts))[:, None] * H[1::2]
        return st.ContactProblem(
            st.Dense(M, H[::2], acting), v_free=v, row_ptr=np.arange(contacts + 1), law=[1] * contacts
        )
    b = np.zeros(2 * contacts)
    b[::2] = rng.uniform(-approach, 0.3, contacts) * (rng.random(contacts) < 0.5)
    return st.ContactProblem(
        st.Dense(M, H), v_free=v, b=b, row_ptr=2 * np.arange(contacts + 1), law=[1] * contacts, friction=mu.tolist()
    )


def by_enumeration(problem, distance):
    """None, True or False: no solution, one motion, several."""
    form = problem.to_lcp()
    found = st.lcp.solutions(form.M, form.q, free=form.free)
    assert found.complete
    points = [*found, *(face.interior for face in found.faces)]
    rays = [r for face in found.faces for r in (*face.rays, *face.lines)]
    if not points:
        return None
    v = np.array([problem.velocity(form.impulses(z)) for z in points])
    runs = max((np.abs(problem.dynamics.velocity_change(form.P @ r)).max() for r in rays), default=0.0)
    return bool((v.max(axis=0) - v.min(axis=0)).max() < distance and runs < 1e-9)


PLANAR = some.fixed_dictionaries(
    {
        "seed": some.integers(0, 2**32 - 1),
        "contacts": some.integers(1, 3),
        "bodies": some.integers(1, 2),
        "mu": some.sampled_from([0.0, 0.5, 1.5, 4.0]),
        "approach": some.sampled_from([0.0, 0.3]),
        "slides": some.booleans(),
    }
)


def agrees(case):
    problem = random_planar(**case)
    answer = uniqueness(problem)
    expected = by_enumeration(problem, answer.distance)
    if expected is None:
        assert answer.status is st.Status.NO_SOLUTION
        assert existence(problem).exists is False
    else:
        assert answer.success
        assert answer.unique is expected
        assert case["mu"] > 0.0 or expected  # without friction there is always one motion
        for solution in (answer.first, answer.second):
            assert solution is None or problem.certify(solution.p).ok(1e-6)


@settings(max_examples=40, deadline=None)
@given(PLANAR)
def test_uniqueness_agrees_with_enumeration(case):
    agrees(case)


@pytest.mark.long
@settings(max_examples=2000, deadline=None)
@given(PLANAR)
def test_uniqueness_agrees_with_enumeration_on_thousands(case):
    agrees(case)


def test_what_the_search_gives_up_is_decided_by_listing():
    """The bounds on its forces are thousands of times as large as those that act."""
    agrees({"seed": 93399419, "contacts": 3, "bodies": 1, "mu": 0.5, "approach": 0.3, "slides": False})


@pytest.mark.parametrize("mu", [0.5, 4.0])
def test_bounds_by_cone_programs_keep_every_solution(mu, monkeypatch):
    """They are for large programs; here for small ones, of which enumeration knows every solution."""
    monkeypatch.setattr("stiction.analysis.tighten.PAIRS_MIN", 0)
    for seed in range(4):
        agrees({"seed": seed, "contacts": 2 + seed % 2, "bodies": 1, "mu": mu, "approach": 0.3, "slides": False})


@pytest.mark.long
@pytest.mark.parametrize("mu", [0.3, 1.0])
def test_twenty_contacts_are_decided(mu):
    answer = uniqueness(random_planar(5, 20, 7, mu, 0.0, False), time_limit=3600.0)
    assert answer.unique is True
    assert answer.limit == np.inf


def random_mixture(rng):
    """Joints, contacts with and without friction, in the plane and on a square of directions, motors, dry friction;
    rows may be compliant or equal.
    """
    nv = int(rng.integers(3, 7))
    A = 0.2 * rng.normal(size=(nv, nv))
    law, size, friction, lo, hi, r0, C = [], [], [], [], [], [], []
    square = [[1, 0], [0, 1], [-1, 0], [0, -1]]
    for _ in range(int(rng.integers(1, 4))):
        law.append(int(rng.choice([0, 1, 1, 1, 2, 3])))
        n = int(rng.integers(1, 4)) if law[-1] == 1 else 1
        size.append(n)
        mu = float(rng.uniform(0.1, 1.5))
        rubs = {2: mu, 3: st.Polyhedral(mu, directions=square)}.get(n)
        friction.append(1.0 if law[-1] == 3 else rubs)
        r0.append(float(rng.uniform(0.0, 0.5)) if law[-1] == 3 else 0.0)
        box = law[-1] == 2
        lo += [float(rng.uniform(-1.0, 0.2)) if box else -np.inf] * n
        hi += [float(rng.choice([0.3, 1.0, np.inf])) if box else np.inf] * n
        C += [float(rng.choice([0.0, 0.0, 0.0, 0.5]))] * n
    H = rng.normal(size=(sum(size), nv))
    H[-1] = H[0] if rng.random() < 0.2 else H[-1]
    return st.ContactProblem(
        st.Dense(np.diag(rng.uniform(0.2, 2.0, nv)) + A @ A.T, H),
        v_free=rng.normal(size=nv),
        b=rng.uniform(-0.3, 0.3, len(H)) * (rng.random() < 0.5),
        row_ptr=np.concatenate([[0], np.cumsum(size)]),
        law=law,
        friction=friction,
        lo=lo,
        hi=hi,
        r0=r0,
        C=C,
    )


@pytest.mark.long
def test_mixtures_of_all_laws_agree_with_enumeration():
    rng = np.random.default_rng(7)
    for _ in range(300):
        problem = random_mixture(rng)
        answer = uniqueness(problem)
        expected = by_enumeration(problem, answer.distance)
        found = None if answer.status is st.Status.NO_SOLUTION else answer.unique
        assert found is expected
