"""StewartTrinkle: the step is the mixed LCP of st96, and the fixed point says when it did not converge."""

import math

import numpy as np
import pytest

import stiction as st
from stiction import Status, StewartTrinkle

G = 9.81


def bowl_system(v=(2.0, -1.0)):
    bowl = st.Gap(
        lambda q: 1.0 - math.hypot(q[0], q[1]),
        None,
        lambda q: np.array([-q[1], q[0]]) / math.hypot(*q),
        0.3,
        name="bowl",
    )
    return st.GeneralizedSystem(np.eye(2), [0.0, -G], q=[0.3, -0.95], v=v, gaps=[bowl])


def test_step_satisfies_eq_14_and_15():
    """From M, n, D and k written down here: the equations of motion, and every complementarity of a 3D contact."""
    rng = np.random.default_rng(2)
    A = rng.normal(size=(3, 3))
    M, k, h = A @ A.T + np.eye(3), np.array([0.5, -0.3, -G]), 0.01
    n, T, mu, alpha = np.array([0.1, 0.2, 1.0]), np.array([[1.0, 0, -0.1], [0, 1.0, -0.2]]), 0.4, -0.005
    gap = st.Gap(lambda q: n @ q - alpha, lambda q: n, lambda q: T, mu)
    system = st.GeneralizedSystem(M, k, q=np.zeros(3), v=[1.0, 0.7, -2.0], gaps=[gap])
    result = st.Simulator(system, h).step()
    v, v_new, q_new = np.array([1.0, 0.7, -2.0]), result.state.v, result.state.q
    c_n, friction = result.contacts.impulse[0, 0], result.contacts.impulse[0, 1:3]
    np.testing.assert_allclose(M @ (v_new - v), n * c_n + T.T @ friction + h * k, atol=1e-12)
    np.testing.assert_allclose(q_new, h * v_new, atol=1e-15)
    assert c_n > 0
    assert n @ q_new == pytest.approx(alpha, abs=1e-14)
    angle = 2 * np.pi * np.arange(8) / 8
    D = T.T @ np.array([np.cos(angle), np.sin(angle)])
    lam = (-D.T @ v_new).max()
    assert lam > 0
    assert friction @ T @ v_new == pytest.approx(-lam * mu * c_n, rel=1e-10)


def test_directions_are_an_argument():
    """The polygon's support: sliding between two directions, friction falls on one of them or their edge."""
    for count in (4, 16):
        floor = st.Gap(lambda q: q[2], lambda q: [0, 0, 1], lambda q: [[1, 0, 0], [0, 1, 0]], 0.5)
        system = st.GeneralizedSystem(
            np.eye(3), [0, 0, -G], q=np.zeros(3), v=[math.cos(0.6), math.sin(0.6), 0.0], gaps=[floor]
        )
        p = st.Simulator(system, 0.01, scheme=StewartTrinkle(directions=count)).step().contacts.impulse[0, :3]
        sector = 2 * math.pi / count
        nearest = round(0.6 / sector) * sector
        np.testing.assert_allclose(p[1:], -0.5 * p[0] * np.array([math.cos(nearest), math.sin(nearest)]), atol=1e-12)


def test_mass_and_normal_are_taken_where_asked():
    """A rod whose inertia depends on q: one step against the same step by hand."""
    h = 0.1

    def mass(q):
        return [[1 + q[0] ** 2]]

    def one(evaluate):
        system = st.GeneralizedSystem(mass, lambda t, q, v: [3.0], q=[0.5], v=[2.0])
        return st.Simulator(system, h, scheme=StewartTrinkle(evaluate=evaluate)).step().state

    assert one("prediction").v[0] == pytest.approx(2.0 + h * 3.0 / (1 + 0.7**2), rel=1e-12)
    new = one("new")
    assert new.v[0] == pytest.approx(2.0 + h * 3.0 / (1 + new.q[0] ** 2), rel=1e-9)
    middle = one("midpoint")
    assert middle.v[0] == pytest.approx(2.0 + h * 3.0 / (1 + (0.25 + middle.q[0] / 2) ** 2), rel=1e-9)


def test_nonlinear_meets_the_gap_itself():
    for h in (0.02, 0.1):
        result = st.Simulator(bowl_system(), h, scheme=StewartTrinkle(nonlinear=True)).step()
        assert result.contacts.impulse[0, 0] > 0
        assert result.contacts.gap[0] == pytest.approx(0.0, abs=1e-11)
        assert result.solves[-1][0] == "fixed point"
    linear = st.Simulator(bowl_system(), 0.1).step()
    assert linear.contacts.gap[0] < -1e-4


def test_nonlinear_and_linear_agree_on_half_spaces():
    def system():
        floor = st.Gap(lambda q: q[1], lambda q: [0, 1], lambda q: [1, 0], 0.4)
        return st.GeneralizedSystem(np.eye(2), [0, -G], q=[0, 0.2], v=[1.0, 0.0], gaps=[floor])

    one = st.Simulator(system(), 0.01).run(0.5)
    two = st.Simulator(system(), 0.01, scheme=StewartTrinkle(nonlinear=True)).run(0.5)
    np.testing.assert_allclose(two.q, one.q, atol=1e-12)


def test_fixed_point_that_does_not_converge_says_so():
    sim = st.Simulator(bowl_system(), 0.05, scheme=StewartTrinkle(nonlinear=True, maxiter=1))
    with pytest.raises(st.SolverError, match="did not converge: after 1 iterations") as error:
        sim.step()
    assert error.value.status is Status.NOT_CONVERGED
    assert error.value.result.success is False
    assert "smaller step" in error.value.result.message
    assert sim.time == 0.0


def test_nasty_gap_does_not_converge():
    """A gap that jumps from -5 mm to 15 mm is zero nowhere: no fixed point exists."""

    def phi(q):
        return q[0] + (0.01 if q[0] >= 0.005 else -0.01)

    floor = st.Gap(phi, lambda q: [1.0], name="rough")
    system = st.GeneralizedSystem([[1.0]], [-G], q=[0.1], v=[-1.0], gaps=[floor])
    sim = st.Simulator(system, 0.013, scheme=StewartTrinkle(nonlinear=True, maxiter=7), on_failure="continue")
    run = sim.run(0.3)
    assert len(run.certificate.failed_steps) >= 1
    assert not run.success


def test_step_is_a_pure_function_of_the_state():
    system, scheme = bowl_system(), StewartTrinkle(nonlinear=True)
    state = system.initial_state()
    q, v = state.q.copy(), state.v.copy()

    def solve(problem):
        return st.solve(problem)

    one, two = scheme.step(system, state, 0.01, solve), scheme.step(system, state, 0.01, solve)
    assert one.state.q.tobytes() == two.state.q.tobytes()
    assert one.state.impulses.tobytes() == two.state.impulses.tobytes()
    np.testing.assert_array_equal(state.q, q)
    np.testing.assert_array_equal(state.v, v)
    assert one.state.t == 0.01


def test_probe_is_the_problem_with_every_candidate():
    gaps = [st.Gap(lambda q, c=c: q[1] + c) for c in (1.0, 2.0, 100.0)]
    system = st.GeneralizedSystem(np.eye(2), q=[0.0, 0.0], gaps=gaps)
    problem = StewartTrinkle().probe(system, system.initial_state(), 0.01)
    assert problem.nk == 3
    np.testing.assert_allclose(problem.b, [100.0, 200.0, 10000.0])


def slider(friction, v=(1.0, 0.5), **options):
    """A unit mass on a plane with two tangent rows, and one step of it."""
    gap = st.Gap(lambda q: q[2], lambda q: np.eye(3)[2], lambda q: np.eye(3)[:2], friction)
    system = st.GeneralizedSystem(np.eye(3), [0, 0, -10.0], q=np.zeros(3), v=[*v, 0.0], gaps=[gap])
    sim = st.Simulator(system, dt=0.01, scheme=st.StewartTrinkle(**options), tol=1e-10)
    return sim.step().state.v[:2]


def test_smooth_cone_opposes_the_slip_exactly():
    v = np.array([1.0, 0.5])
    assert slider(0.3, directions=None) == pytest.approx(v - 0.03 * v / np.linalg.norm(v), abs=1e-12)


def test_polygon_tends_to_the_smooth_cone():
    smooth = slider(0.3, directions=None)
    miss = [np.linalg.norm(slider(0.3, directions=n) - smooth) for n in (8, 16, 32, 64)]
    assert miss[-1] < 0.2 * miss[0]


def test_given_directions_are_scaled_onto_the_set():
    """Only where directions point matters: friction along -x is that of the ellipse's own axis (ttp01 eq. 5, 6)."""
    ellipse = st.Anisotropic(0.2, 0.4)
    cross = [[7.0, 0.0], [-7.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
    assert slider(ellipse, v=(1.0, 0.0), directions=cross) == pytest.approx([1.0 - 0.02, 0.0], abs=1e-12)
    assert slider(ellipse, v=(0.0, 1.0), directions=cross) == pytest.approx([0.0, 1.0 - 0.04], abs=1e-12)


@pytest.mark.parametrize(
    ("directions", "message"),
    [
        (2, "directions"),
        ([[0.0, 0.0]], "points nowhere"),
        ([[1.0, 0.0, 0.0]], "rows of 3"),
        ([[np.nan, 1.0]], "finite"),
    ],
)
def test_bad_directions(directions, message):
    with pytest.raises(st.ModelError, match=message):
        slider(0.3, directions=directions)
