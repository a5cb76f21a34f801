"""Every solver passes the same facts; a new one joins by being added to `stiction.solvers.SOLVERS`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import stiction as st
from stiction import ContactProblem, Dense, Law, Status
from stiction.solvers import SOLVERS, make_solver

# without a proof of convergence: about one in a thousand of these random problems is not solved
ITERATIVE = {"nsgs", "newton", "proximal", "fixed-point"}
every_solver = pytest.mark.parametrize("solver", list(SOLVERS))
coulomb_solver = pytest.mark.parametrize("solver", [name for name in SOLVERS if name not in ("conic", "apgd")])
seeds = hs.integers(0, 2**32 - 1)


def spd(rng, n):
    A = rng.normal(size=(n, n))
    return A @ A.T + 0.5 * np.eye(n)


def planar(seed, contacts=2):
    """Contacts with one tangent each, a joint, a motor and a gear box, on a random mass matrix."""
    rng = np.random.default_rng(seed)
    rows = 2 * contacts + 3
    sizes = [2] * contacts + [1, 1, 1]
    return ContactProblem(
        Dense(spd(rng, rows + 1), rng.normal(size=(rows, rows + 1))),
        row_ptr=np.concatenate([[0], np.cumsum(sizes)]),
        law=[Law.UNILATERAL] * contacts + [Law.EQUALITY, Law.BOX, Law.DRY],
        friction=[*rng.uniform(0.1, 1.0, size=contacts).tolist(), None, None, 1.0],
        r0=np.append(np.zeros(contacts + 2), 0.3),
        lo=np.full(rows, -0.2),
        hi=np.full(rows, 0.4),
        v_free=rng.normal(size=rows + 1),
        b=np.abs(rng.normal(size=rows)) * np.array([1, 0] * contacts + [0, 0, 0]),
    )


@coulomb_solver
@given(seeds)
@settings(max_examples=25, deadline=None)
def test_solves_random_problems(solver, seed):
    problem = planar(seed)
    s = st.solve(problem, solver, tol=1e-10)
    if solver in ITERATIVE and s.status is Status.MAXITER:
        return
    assert s.success, s.message
    assert s.certificate.error <= 1e-10
    # the laws, checked here from p and v alone
    u = problem.dynamics.H @ s.v + problem.b
    np.testing.assert_allclose(u, s.u, atol=1e-9)
    for k, mu in enumerate(problem.friction.mu[:2]):
        p_n, p_t, u_n, u_t = s.p[2 * k], s.p[2 * k + 1], u[2 * k], u[2 * k + 1]
        assert min(p_n, u_n) == pytest.approx(0.0, abs=1e-8)
        assert abs(p_t) <= mu * p_n + 1e-8
        assert p_t * u_t == pytest.approx(-mu * p_n * abs(u_t), abs=1e-7)
    assert u[4] == pytest.approx(0.0, abs=1e-8)
    assert s.p[5] == pytest.approx(np.clip(s.p[5] - u[5], -0.2, 0.4), abs=1e-8)
    assert s.p[6] == pytest.approx(np.clip(s.p[6] - u[6], -0.3, 0.3), abs=1e-8)
    np.testing.assert_allclose(problem.dynamics.M @ (s.v - problem.v_free), problem.dynamics.G.T @ s.p, atol=1e-8)


@coulomb_solver
def test_result_says_how_it_went(solver):
    problem = planar(1)
    s = st.solve(problem, solver)
    assert s.success is True
    assert s.status is Status.SOLVED
    assert isinstance(s.message, str)
    assert s.message
    assert s.solver in SOLVERS
    assert isinstance(s.iterations, int)
    assert (s.p.shape, s.v.shape, s.u.shape, s.modes.shape) == ((7,), (8,), (7,), (5,))
    assert s.certificate.natural_map == problem.certify(s.p).natural_map


@coulomb_solver
def test_same_problem_same_bits(solver):
    one, two = st.solve(planar(3), solver), st.solve(planar(3), solver)
    assert one.p.tobytes() == two.p.tobytes()
    assert one.v.tobytes() == two.v.tobytes()


def sliding_painleve(torque=0.0):
    """The sliding rod of pr11 §2 as a force-acceleration problem: friction is mu λ_n, so G = n + mu t and W < 0."""
    m, l, phi, mu, g = 1.0, 2.0, np.pi / 3, 1.5, 1.0
    M = np.diag([m, m, l**2 * m / 12])
    n, t = np.array([0, 1, -l / 2 * np.cos(phi)]), np.array([1, 0, l / 2 * np.sin(phi)])
    force = np.array([0, -m * g, torque])
    return ContactProblem(
        Dense(M, [n], [n + mu * t]), row_ptr=[0, 1], law=[Law.UNILATERAL], v_free=np.linalg.solve(M, force)
    )


@every_solver
def test_says_when_there_is_no_solution(solver):
    problem = sliding_painleve()
    assert problem.delassus()[0, 0] < 0
    if make_solver(solver).refuses(problem):  # some take symmetric problems only, and these always have a solution
        with pytest.raises(st.ModelError, match=r"G different from H|negative diagonal"):
            st.solve(problem, solver)
        return
    s = st.solve(problem, solver)
    assert s.success is False
    assert s.status in (Status.RAY, Status.NO_SOLUTION) or (solver in ITERATIVE and s.status is Status.MAXITER)
    assert len(s.message) > 20
    assert s.certificate.error > 0.1


def test_two_solutions_are_opening_and_sliding():
    """pr11 §2.2: the torque that opens the contact also allows λ = (7.5545, 11.3317)."""
    m, l, phi, g = 1.0, 2.0, np.pi / 3, 1.0
    torque = 2 * (-m * g) * (l**2 * m / 12) / (m * l * np.cos(phi)) - 1
    problem = sliding_painleve(torque)
    form = problem.to_lcp()
    found = sorted(float(form.impulses(z)[0]) for z in st.lcp.solutions(form.M, form.q))
    assert found == pytest.approx([0.0, 7.5545], abs=5e-5)
    assert st.solve(problem, "enumeration").p[0] == 0.0  # the one of least impulse


def test_enumeration_knows_that_there_is_none():
    assert st.solve(sliding_painleve(), "enumeration").status is Status.NO_SOLUTION
    assert "enumeration" in st.solve(sliding_painleve(), "auto").message


@coulomb_solver
def test_smooth_cones_are_refused_or_solved(solver):
    rng = np.random.default_rng(0)
    problem = ContactProblem(
        Dense(spd(rng, 3), np.eye(3)), row_ptr=[0, 3], law=[Law.UNILATERAL], friction=[0.5], v_free=[-1, 2, 3]
    )
    reason = make_solver(solver).refuses(problem)
    if reason is None:
        assert st.solve(problem, solver).success
        return
    assert reason.endswith(".")
    with pytest.raises(st.ModelError, match="smooth friction cones"):
        st.solve(problem, solver)
    assert st.solve(problem.polyhedral(8), solver).success


@every_solver
def test_rigid_rest_on_too_many_supports(solver):
    """A block on three supports, more than its two degrees of freedom need: the motion is unique, the load is not."""
    problem = ContactProblem(
        Dense(np.diag([2.0, 1.0]), [[1.0, -1.0], [1.0, 0.0], [1.0, 1.0]]), row_ptr=[0, 1, 2, 3],
        law=[Law.UNILATERAL] * 3, v_free=[-1.0, 0.25],
    )  # fmt: skip
    s = st.solve(problem, solver, tol=1e-10)
    assert s.success, s.message
    np.testing.assert_allclose(s.v, [0.0, 0.0], atol=1e-9)
    assert s.p.sum() == pytest.approx(2.0)
    assert (s.p >= 0).all()


def test_pivot_limit_is_reported():
    s = st.solve(planar(2), "lemke", maxiter=1)
    assert (s.success, s.status) == (False, Status.MAXITER)
    assert not np.isnan(s.certificate.error)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: st.solve(planar(0), "lemk"), "Did you mean 'lemke'"),
        (lambda: st.solve(planar(0), "fast"), "solver must be one of"),
        (lambda: st.solve(planar(0), 3), "solver must be a name"),
        (lambda: st.solve("problem"), "ContactProblem"),
        (lambda: st.solve(planar(0), tol=0.0), "tol"),
        (lambda: st.solve(planar(0), tol=float("nan")), "tol"),
        (lambda: st.solve(planar(0), "lemke", maxiter=-1), "maxiter"),
        (lambda: st.solve(planar(0, contacts=20), "enumeration"), "small problems"),
    ],
)
def test_bad_calls_are_refused_by_name(call, word):
    with pytest.raises(st.ModelError, match=word):
        call()


@pytest.mark.long
@coulomb_solver
@given(seeds, hs.integers(1, 4))
@settings(max_examples=300, deadline=None)
def test_solves_many_random_problems(solver, seed, contacts):
    s = st.solve(planar(seed, contacts), solver, tol=1e-8)
    assert s.success or (solver in ITERATIVE and s.status is Status.MAXITER), s.message
