"""newton, proximal, conic and fixed-point agree with each other and with Lemke's method, on every law and set."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import stiction as st
from stiction import ContactProblem, Law
from stiction.solvers.islands import split
from stiction.solvers.newton.equations import Equations
from stiction.solvers.newton.response import make_scaled

EXACT = ["newton", "proximal", "fixed-point"]
SETS = {
    "interval": (1, st.Coulomb(0.5)),
    "disk": (2, st.Coulomb(0.5)),
    "ellipsoid": (3, st.Torsional(0.5, 1.0, 0.6, 0.2)),
    "product": (4, st.Rolling(0.5, 0.1)),
    "square": (2, st.Polyhedral(0.5, directions=[[1, 0], [0, 1], [-1, 0], [0, -1]])),
    "ratchet": (2, st.Polyhedral(0.5, directions=[[1, 0.5], [1, -0.5]])),
}
seeds = hs.integers(0, 10**6)


def contacts(seed, kind, *, associated=False, count=3, rank=None, compliance=0.0, r0=0.0):
    """Contacts with one kind of friction, a joint, a motor and dry friction; `rank` velocities for all the rows."""
    rng = np.random.default_rng(seed)
    dim, friction = SETS[kind]
    sizes = [1 + dim] * count + [1, 2, dim]
    nr = sum(sizes)
    nv = nr + 1 if rank is None else rank
    A = rng.normal(size=(nv, nv))
    return ContactProblem(
        st.Dense(A @ A.T / nv + np.eye(nv), rng.normal(size=(nr, nv))),
        v_free=rng.normal(size=nv),
        row_ptr=np.concatenate([[0], np.cumsum(sizes)]),
        law=[Law.UNILATERAL] * count + [Law.EQUALITY, Law.BOX, Law.DRY],
        friction=[friction] * count + [None, None, friction],
        r0=np.concatenate([np.full(count, r0), [0.0, 0.0, 0.3]]),
        C=np.full(nr, compliance),
        lo=np.full(nr, -0.2),
        hi=np.full(nr, 0.4),
        associated=associated,
    )


@pytest.mark.parametrize("kind", list(SETS))
@pytest.mark.parametrize("associated", [False, True])
@given(seeds, hs.sampled_from([0.0, 0.2]), hs.sampled_from([0.0, 0.5]))
@settings(max_examples=10, deadline=None)
def test_the_answer_of_the_laws_has_the_stated_derivative(kind, associated, seed, r0, compliance):
    """dp/dx by differences, away from the seams between pieces."""
    problem = contacts(seed, kind, associated=associated, r0=r0, compliance=compliance)
    laws, rng = make_scaled(problem), np.random.default_rng(seed)
    x, dx = rng.normal(size=(2, problem.nr))
    (p, more, less), D = np.empty((3, problem.nr)), np.empty((problem.nr, 6))
    laws.respond(x, p, D)
    one, two = D.copy(), D.copy()
    laws.respond(x + 1e-6 * dx, more, one)
    laws.respond(x - 1e-6 * dx, less, two)
    block = np.repeat(np.arange(problem.nk), np.diff(problem.row_ptr))
    smooth = np.array([np.allclose(one[block == k], two[block == k], atol=1e-3) for k in range(problem.nk)])[block]
    change = np.array([D[i] @ np.resize(np.append(dx[block == block[i]], np.zeros(6)), 6) for i in range(problem.nr)])
    np.testing.assert_allclose(((more - less) / 2e-6)[smooth], change[smooth], atol=1e-5)


@pytest.mark.parametrize("kind", list(SETS))
@pytest.mark.parametrize("solver", EXACT)
@given(seeds)
@settings(max_examples=8, deadline=None)
def test_solves_every_law_and_set_to_many_digits(solver, kind, seed):
    s = st.solve(contacts(seed, kind), solver, tol=1e-11)
    assert s.success or s.status in (st.Status.MAXITER, st.Status.NOT_CONVERGED)
    if solver != "newton":  # newton has no safety net
        assert s.certificate.error <= 1e-11, s.message


@pytest.mark.parametrize("kind", list(SETS))
@given(seeds)
@settings(max_examples=8, deadline=None)
def test_convex_velocities_are_unique(kind, seed):
    """W with full rank or not: the velocities of the relaxation are those of a strictly convex program in v."""
    problem = contacts(seed, kind, associated=True, rank=6)
    answers = [st.solve(problem, name, tol=1e-9) for name in ("conic", "proximal", "fixed-point", "nsgs")]
    assert all(s.success for s in answers[:3]), [s.message for s in answers]
    for s in answers:
        if s.success:
            np.testing.assert_allclose(s.v, answers[0].v, atol=1e-5)


@pytest.mark.parametrize("kind", ["interval", "square", "ratchet"])
@given(seeds)
@settings(max_examples=15, deadline=None)
def test_agree_with_lemke_where_friction_is_polyhedral_and_weak(kind, seed):
    """With little friction Coulomb's problem has one solution."""
    problem = contacts(seed, kind)
    friction = problem.friction
    problem = problem.replace(friction=friction._replace(mu=0.1 * friction.mu))
    lemke = st.solve(problem, "lemke", tol=1e-9)
    for name in EXACT[1:]:
        s = st.solve(problem, name, tol=1e-10)
        assert s.success, s.message
        np.testing.assert_allclose(s.u, lemke.u, atol=1e-7 * problem.scale)


@pytest.mark.parametrize("kind", ["disk", "product", "square"])
def test_compliance_and_cohesion_are_part_of_every_form(kind):
    """Bodies, Dense with few and with many velocities, Delassus: one problem, one answer."""
    problem = contacts(3, kind, compliance=0.1, r0=0.2)
    few = problem.replace(dynamics=st.Dense(*_squeezed(problem)), v_free=None, b=problem.q)
    for given_ in (problem, few):
        alone = ContactProblem.from_delassus(given_.dynamics.delassus(), given_.q, **_blocks(given_))
        answers = [st.solve(p, "proximal", tol=1e-12) for p in (given_, alone)]
        assert all(s.success for s in answers)
        np.testing.assert_allclose(answers[0].u, answers[1].u, atol=1e-9)


def _squeezed(problem):
    H = problem.dynamics.H[:, :4]
    return np.eye(4), np.ascontiguousarray(H)


def _blocks(problem):
    names = ("row_ptr", "law", "friction", "r0", "C", "lo", "hi", "associated", "length")
    return {name: getattr(problem, name) for name in names}


def boxes(places, **scheme):
    world = st.World()
    world.add_plane()
    for place in places:
        world.add_body(st.Box((1, 1, 1)), mass=1.0, position=place)
    model = world.build()
    return st.AnitescuHart(**scheme).probe(model, model.initial_state(), 0.005)


def test_tower_at_rest_from_nothing():
    """Twenty boxes with four contacts each: W has 240 rows and rank 120."""
    problem = boxes([(0, 0, 0.5 + i) for i in range(20)])
    s = st.solve(problem, "proximal", tol=1e-10)
    assert s.success, s.message
    assert np.abs(s.v).max() < 1e-9


@pytest.mark.parametrize("relaxation", ["none", "convex"])
def test_wall_at_rest_from_nothing(relaxation):
    rows = 10
    places = [(k - (rows - 1 - r) / 2, 0.0, 0.5 + r) for r in range(rows) for k in range(rows - r)]
    problem = boxes(places, relaxation=relaxation)
    for name in ("proximal", "auto", "conic" if relaxation == "convex" else "fixed-point"):
        s = st.solve(problem, name, tol=1e-8)
        assert s.success, s.message
        assert np.abs(s.v).max() < 1e-6


def test_mass_ratio_of_a_thousand():
    world = st.World()
    world.add_plane()
    for i in range(8):
        world.add_body(st.Box((1, 1, 1)), mass=10.0 ** (i % 4), position=(0.1 * np.sin(i), 0.1 * np.cos(i), 0.5 + i))
    model = world.build()
    problem = st.AnitescuHart().probe(model, model.initial_state(), 0.005)
    s = st.solve(problem, "proximal", tol=1e-8)
    assert s.success, s.message


def test_bodies_solve_like_their_dense_form():
    world = st.World()
    world.add_plane()
    for i in range(3):
        world.add_body(st.Sphere(0.5), mass=1.0, position=(0.3 * i, 0, 0.49 + 0.9 * i), velocity=(1, 0, -1))
    model = world.build()
    problem = st.AnitescuHart().probe(model, model.initial_state(), 0.005)
    one, two = (st.solve(p, "proximal", tol=1e-11) for p in (problem, problem.to_dense()))
    assert one.success
    assert two.success
    np.testing.assert_allclose(one.u, two.u, atol=1e-8)


def test_sparse_matrices_and_bodies_give_the_newton_step_of_the_dense_one(monkeypatch):
    """(I + B W) dp = -g, solved in every space there is."""
    from scipy.sparse import csr_matrix

    from stiction.solvers.newton import assembly as forms

    problem = boxes([(0, 0, 0.5 + i) for i in range(3)])
    unit, ptr = make_scaled(problem).unit, problem.row_ptr
    rng = np.random.default_rng(0)
    B, g = np.zeros((problem.nr, 6)), rng.normal(size=problem.nr)
    B[:, :3] = rng.uniform(0, 1, size=(problem.nr, 3))
    W = problem.delassus()
    full = np.zeros((problem.nr, problem.nr))
    for i in range(problem.nr):
        full[i, i - i % 3 : i - i % 3 + 3] = B[i, :3]
    expected = np.linalg.solve(np.eye(problem.nr) + full @ W, -g)
    made = [forms.DenseSystem(ptr, W), forms.SparseSystem(ptr, csr_matrix(W)), forms.Bodies(problem.dynamics, unit)]
    monkeypatch.setattr(forms, "ASSEMBLY", forms.ASSEMBLY._replace(dense_max_velocities=0))
    made.append(forms.Bodies(problem.dynamics, unit))
    L = np.linalg.svd(W)
    root = L[0][:, :18] * np.sqrt(L[1][:18])
    made.append(forms.LowRankSystem(ptr, root, root))
    for form in made:
        np.testing.assert_allclose(form.step(B, g), expected, atol=1e-9)
        np.testing.assert_allclose(form.times(g), W @ g, atol=1e-9)
        assert (form.magnitude(g) >= np.abs(W @ g) - 1e-9).all()


@pytest.mark.parametrize("solver", ["proximal", "newton"])
def test_large_sparse_matrices_are_not_made_dense(solver, monkeypatch):
    from scipy.sparse import csr_matrix

    from stiction.solvers.newton import assembly as forms

    problem = boxes([(3.0 * (i % 3), 0, 0.5 + i // 3) for i in range(9)])
    alone = ContactProblem.from_delassus(csr_matrix(problem.delassus()), problem.q, **_blocks(problem))
    monkeypatch.setattr(forms, "ASSEMBLY", forms.ASSEMBLY._replace(dense_max_rows=0))
    monkeypatch.setattr(forms.DenseSystem, "__init__", None)  # would be called for a dense one
    s = st.solve(alone, solver, tol=1e-9)
    assert s.success, s.message
    assert np.abs(s.u).max() < 1e-7


def test_islands_are_problems_of_their_own():
    problem = boxes([(3.0 * i, 0, 0.5) for i in range(4)])
    parts = split(problem, problem.islands())
    assert len(parts) == 4
    assert sorted(np.concatenate([rows for rows, _ in parts]).tolist()) == list(range(problem.nr))
    rng = np.random.default_rng(0)
    p = rng.normal(size=problem.nr)
    u = problem.q + problem.dynamics.delassus_times(p)
    for rows, alone in parts:
        np.testing.assert_allclose(alone.q + alone.dynamics.delassus_times(p[rows]), u[rows], atol=1e-12)


def test_an_unsymmetric_matrix_is_solved_as_it_is():
    """Files hold W with a relative asymmetry of up to 1e-3; the certificate is that of the file's own W."""
    rng = np.random.default_rng(1)
    A = rng.normal(size=(9, 6))
    W = A @ A.T
    W += 1e-3 * np.abs(W).max() * rng.uniform(-1, 1, size=W.shape)
    problem = ContactProblem.from_delassus(
        W, rng.normal(size=9), row_ptr=[0, 3, 6, 9], law=[Law.UNILATERAL] * 3, friction=0.7
    )
    for name in ("newton", "proximal", "fixed-point", "auto"):
        s = st.solve(problem, name, tol=1e-10)
        assert s.success, (name, s.message)


def test_round_off_is_no_residual():
    """Velocities of 1e-18: every tolerance is relative."""
    problem = boxes([(0, 0, 0.5 + i) for i in range(4)])
    tiny = problem.replace(v_free=1e-18 * problem.v_free, b=1e-18 * problem.b)
    s = st.solve(tiny, "proximal", tol=1e-8)
    assert s.success, s.message


def test_newton_residual_is_zero_at_a_solution():
    problem = contacts(5, "disk")
    s = st.solve(problem, "proximal", tol=1e-12)
    equations = Equations(problem)
    assert equations.residual(equations.scaled(s.p)) < 1e-11 * problem.scale
