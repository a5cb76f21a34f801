"""Lemke's method: what it promises about its answers, its ends and its input."""

import numpy as np
import pytest
from scipy.optimize import linprog

import stiction as st
from stiction.lcp import gallery, kernels, lemke, residual, simplex, solutions


def scale(M, q, z):
    return (np.abs(M) @ np.abs(z) + np.abs(q)).max()


def assert_solved(M, q, result, free=None):
    assert result.success, result.message
    assert result.status is st.Status.SOLVED
    assert result.ray is None
    other = slice(None) if free is None else ~free
    assert (result.z[other] >= 0).all()
    assert (result.w >= 0).all()
    assert (result.z * result.w == 0).all()
    assert result.residual == pytest.approx(residual(M, q, result.z, free=free), abs=1e-13 * scale(M, q, result.z))
    assert result.residual <= 1e-10 * scale(M, q, result.z)


def test_small_problem_by_hand():
    result = lemke([[2, 1], [1, 2]], [-5, -6])
    assert np.allclose(result.z, [4 / 3, 7 / 3], atol=1e-15)
    assert result.pivots >= 2
    assert "solved" in result.message


def test_nonnegative_q_needs_no_pivot():
    result = lemke(-np.eye(3), [1, 0, 2])
    assert result.pivots == 0
    assert (result.z == 0).all()
    assert (result.w == [1, 0, 2]).all()


def test_problem_without_variables():
    assert lemke(np.zeros((0, 0)), []).success
    assert residual(np.zeros((0, 0)), [], []) == 0


def test_residual_at_600_unknowns_is_round_off():
    M, q = gallery.random_friction(np.random.default_rng(3), 60, bodies=25)
    result = lemke(M, q)
    assert q.size == 600
    assert_solved(M, q, result)
    assert result.residual <= 1e-12 * scale(M, q, result.z)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_residual_of_semidefinite_problems_at_600(seed):
    rng = np.random.default_rng(seed)
    F = rng.standard_normal((600, 150))
    K = rng.standard_normal((600, 600))
    z = np.maximum(rng.standard_normal(600), 0)
    M = F @ F.T + (K - K.T)
    q = np.where(z > 0, 0, rng.uniform(0, 1, 600)) - M @ z
    assert_solved(M, q, lemke(M, q))


def test_friction_matrix_is_copositive_and_not_copositive_plus():
    """(st96 eq. 18) and the sentence after it."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        M, _q = gallery.random_friction(rng, 1, directions=4, bodies=1)
        for z in rng.exponential(size=(200, 6)) * rng.integers(0, 2, (200, 6)):
            assert z @ M @ z >= -1e-12
        slip = np.array([0, 0, 0, 0, 0, 1.0])
        assert slip @ M @ slip == 0
        assert np.abs((M + M.T) @ slip).max() == M[5, 4] > 0  # µ


@pytest.mark.parametrize("seed", range(40))
def test_never_a_ray_on_friction_problems(seed):
    """(st96 section 3.2): with gaps >= 0 Lemke's method ends at a solution, for every geometry."""
    rng = np.random.default_rng(seed)
    for contacts, directions, bodies, regular in (
        (1, 8, 1, False),
        (4, 2, 1, False),
        (9, 8, 2, False),
        (7, 8, 1, True),
    ):
        M, q = gallery.random_friction(rng, contacts, directions=directions, bodies=bodies, regular=regular)
        assert_solved(M, q, lemke(M, q))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(60))
def test_never_a_ray_on_large_friction_problems(seed):
    rng = np.random.default_rng(1000 + seed)
    for contacts in rng.integers(1, 61, 4):
        for regular in (False, True):
            bodies = int(rng.integers(1, 12))
            M, q = gallery.random_friction(rng, int(contacts), bodies=bodies, regular=regular)
            assert_solved(M, q, lemke(M, q))


def test_never_a_ray_on_dry_friction():
    """(st96 eq. 32): copositive-plus and feasible."""
    rng = np.random.default_rng(5)
    for _ in range(200):
        A = rng.integers(-2, 3, (3, 3))
        D = rng.integers(-2, 3, (3, 3))
        D = np.hstack([D, -D])
        M, q = gallery.dry_friction_lcp(np.linalg.inv(A @ A.T + np.eye(3)), D, rng.integers(-2, 3, 3), 0.5)
        assert_solved(M, q, lemke(M, q))


def test_unique_solution_of_p_matrices_is_found_from_any_covering_vector():
    rng = np.random.default_rng(7)
    for _ in range(200):
        n = int(rng.integers(1, 12))
        # Row-diagonally dominant with a positive diagonal: all principal minors are positive.
        M = rng.standard_normal((n, n))
        np.fill_diagonal(M, np.abs(M).sum(1))
        z = np.maximum(rng.standard_normal(n), 0)
        q = np.where(z > 0, 0, rng.uniform(0, 1, n)) - M @ z
        for covering in (None, rng.uniform(0.1, 5, n)):
            result = lemke(M, q, covering=covering)
            assert_solved(M, q, result)
            assert np.allclose(result.z, z, atol=1e-11)


def test_feasible_copositive_plus_problems_are_solved():
    rng = np.random.default_rng(8)
    for _ in range(300):
        n = int(rng.integers(1, 12))
        F, K = rng.integers(-1, 2, (n, max(1, n // 2))), rng.integers(-1, 2, (n, n))
        M = F @ F.T + (K - K.T)
        q = rng.integers(0, 2, n) - M @ rng.integers(0, 2, n)  # some z >= 0 has w >= 0: feasible
        assert_solved(M, q, lemke(M, q))


@pytest.mark.parametrize("n", [6, 9, 12])
def test_murty_takes_exponentially_many_pivots(n):
    M, q = gallery.murty(n)
    result = lemke(M, q)
    assert_solved(M, q, result)
    assert result.pivots == 2**n
    assert result.z.tolist() == [1.0] + [0.0] * (n - 1)


def test_iteration_limit_is_reported():
    result = lemke(*gallery.murty(8), maxiter=20)
    assert result.status is st.Status.MAXITER
    assert not result.success
    assert result.pivots == 20
    assert result.residual > 0


def test_cyclic_p_matrix_with_full_ties():
    """Murty's 3 x 3 example, on which principal pivoting cycles; q = -e ties all rows."""
    M, q = np.array([[1.0, 2, 0], [0, 1, 2], [2, 0, 1]]), -np.ones(3)
    result = lemke(M, q)
    assert_solved(M, q, result)
    assert np.allclose(result.z, 1 / 3)


BEALE = (
    np.array([[-0.25, 60, 1 / 25, -9], [-0.5, 90, 1 / 50, -3], [0, 0, -1, 0]]),
    np.array([0.0, 0, -1]),
    np.array([-0.75, 150, -0.02, 6]),
)
MARSHALL_SUURBALLE = (
    np.array([[-0.5, 5.5, 2.5, -9], [-0.5, 1.5, 0.5, -1], [-1, 0, 0, 0]]),
    np.array([0.0, 0, -1]),
    np.array([-10.0, 57, 9, 24]),
)


@pytest.mark.parametrize(("program", "optimum"), [(BEALE, -0.05), (MARSHALL_SUURBALLE, -1.0)])
def test_linear_programs_on_which_the_simplex_method_cycles(program, optimum):
    A, b, c = program
    M, q = gallery.linear_program(A, b, c)
    result = lemke(M, q)
    assert_solved(M, q, result)
    assert c @ result.z[: c.size] == pytest.approx(optimum, abs=1e-12)
    assert linprog(c, -A, -b).fun == pytest.approx(optimum, abs=1e-9)


def test_wholly_degenerate_problems_end():
    rng = np.random.default_rng(11)
    for _ in range(500):
        n = int(rng.integers(2, 9))
        M, q = rng.integers(-1, 2, (n, n)), rng.integers(-1, 1, n)
        assert lemke(M, q).status in (st.Status.SOLVED, st.Status.RAY)


def test_bimatrix_game_has_solutions_off_the_path():
    """Cottle, Pang, Stone, example 4.4.23: three equilibria, but the method leaves on a ray at once (M >= 0 has a zero
    diagonal). It must say so, and not claim that there is no solution."""
    A, B = np.array([[10.0, 30], [20, 15]]), np.array([[10.0, 20], [30, 15]])
    M, q = gallery.bimatrix_game(A, B)
    result = lemke(M, q)
    assert result.status is st.Status.RAY
    assert "there may be none" in result.message
    every = list(solutions(M, q))
    assert len(every) == 3
    for z in every:  # no player gains by another pure strategy
        x, y = z[:2] / z[:2].sum(), z[2:] / z[2:].sum()
        assert x @ A @ y == pytest.approx((A @ y).min())
        assert x @ B @ y == pytest.approx((x @ B).min())


def test_ray_of_a_problem_without_solution():
    M, q = np.array([[0.0, 1], [-1, 0]]), np.array([1.0, -1])
    result = lemke(M, q)
    assert result.status is st.Status.RAY
    assert not result.success
    assert result.ray.max() == 1
    assert (result.ray >= 0).all()
    # A secondary ray solves the homogeneous problem up to the covering column: rayᵀ M ray <= 0 (Cottle, Pang, Stone,
    # 4.4.9).
    assert result.ray @ M @ result.ray <= 0
    nothing = solutions(M, q)
    assert len(nothing) == 0
    assert nothing.complete
    assert nothing.status is st.Status.NO_SOLUTION


def test_units_do_not_matter():
    """z = C z', w = R⁻¹ w' with twelve decades in R and C: the same path, the same answer."""
    rng = np.random.default_rng(13)
    for _ in range(200):
        n = int(rng.integers(2, 15))
        F, K = rng.standard_normal((n, n)), rng.standard_normal((n, n))
        M, q = 0.1 * F @ F.T + (K - K.T) + 0.01 * np.eye(n), rng.standard_normal(n)
        R, C = 10.0 ** rng.uniform(-6, 6, n), 10.0 ** rng.uniform(-6, 6, n)
        given = lemke(R[:, None] * M * C, R * q, covering=R)
        plain = lemke(M, q)
        assert given.success
        assert np.allclose(given.z * C, plain.z, rtol=1e-8, atol=1e-8 * plain.z.max())


def test_covering_vector_chooses_the_path():
    """On the indeterminate rod (pr11 section 4.2) ones lead to the sticking branch, another vector elsewhere."""
    M, q = gallery.painleve_rod(torque=True)
    assert lemke(M, q).z[2] == pytest.approx(0.3266, abs=1e-4)
    found = {round(float(lemke(M, q, covering=d).z[2]), 4) for d in np.random.default_rng(0).exponential(size=(200, 4))}
    assert found <= {0.0, 0.0755, 0.3266}
    assert len(found) >= 2


BAD = [
    ("M", {"M": [[1, np.nan], [0, 1]], "q": [1, 1]}),
    ("M", {"M": [[1, 0, 0], [0, 1, 0]], "q": [1, 1]}),
    ("M", {"M": [1, 2], "q": [1, 1]}),
    ("M", {"M": "no", "q": [1]}),
    ("q", {"M": np.eye(2), "q": [1, 2, 3]}),
    ("q", {"M": np.eye(2), "q": [1, np.inf]}),
    ("free", {"M": np.eye(2), "q": [1, 2], "free": [True]}),
    ("free", {"M": np.eye(2), "q": [1, 2], "free": [0, 1]}),
    ("covering", {"M": np.eye(2), "q": [1, 2], "covering": [1, 0]}),
    ("covering", {"M": np.eye(2), "q": [1, 2], "covering": [1, -1]}),
    ("covering", {"M": np.eye(2), "q": [1, 2], "covering": [1, 1, 1]}),
    ("maxiter", {"M": np.eye(2), "q": [1, 2], "maxiter": -1}),
    ("maxiter", {"M": np.eye(2), "q": [1, 2], "maxiter": 2.5}),
]


@pytest.mark.parametrize(("name", "arguments"), BAD)
def test_bad_input_is_refused_by_name(name, arguments):
    with pytest.raises(st.ModelError, match=rf"^{name}\b"):
        lemke(**arguments)


def test_solution_that_overflows_is_none():
    """z = 1e300/1e-320 is no number."""
    with np.errstate(all="ignore"):
        for answer in (lemke([[1e-320]], [-1e300]), solutions([[1e-320]], [-1e300])):
            assert not answer.success


def test_bad_input_to_residual_and_solutions():
    for call in (lambda **k: residual(z=[0, 0], **k), solutions):
        with pytest.raises(st.ModelError, match=r"^M must be finite"):
            call(M=[[1, np.nan], [0, 1]], q=[1, 1])
        with pytest.raises(st.ModelError, match=r"^free must be a boolean mask"):
            call(M=np.eye(2), q=[1, 1], free=[True])
    with pytest.raises(st.ModelError, match=r"^z must have shape"):
        residual(np.eye(2), [1, 1], [1])
    with pytest.raises(st.ModelError, match=r"^limit"):
        solutions(np.eye(2), [1, 1], limit=0)


def test_residual_of_known_points():
    assert residual([[2]], [-4], [2]) == 0
    assert residual([[2]], [-4], [1]) == 2
    assert residual([[2]], [-4], [-1]) == 6
    assert residual([[2]], [4], [0.5]) == 0.5
    assert residual([[2]], [-4], [1], free=np.array([True])) == 2


def test_input_is_not_changed_and_kernels_have_one_signature():
    M, q = gallery.random_friction(np.random.default_rng(1), 3)
    frozen_M, frozen_q = M.copy(), q.copy()
    frozen_M.flags.writeable = False
    frozen_q.flags.writeable = False
    reference = lemke(M, q).z
    odd = np.empty(M.nbytes + 1, dtype=np.uint8)[1:].view(np.float64).reshape(M.shape)
    odd[:] = M
    for A, b in (
        (frozen_M, frozen_q),
        (np.asfortranarray(M), q),
        (M.tolist(), q.tolist()),
        (odd, np.repeat(q, 2)[::2]),
    ):
        assert (lemke(A, b).z == reference).all()
        assert solutions(A, b, limit=5).nodes == 5
    lemke(np.eye(2, dtype=int), [-1, 2], maxiter=np.int32(7), covering=[1, 2])
    lemke(np.eye(2), [-1, 2], free=np.array([True, False]))
    lemke(*gallery.murty(8))
    lemke([[0, 1], [-1, 0]], [1, -1])
    for kernel in (
        kernels.solve_small,
        kernels.path,
        kernels.finish,
        kernels.direction,
        kernels.equilibrate,
        simplex.classify,
    ):
        assert len(kernel.signatures) == 1, kernel
