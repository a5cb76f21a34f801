"""Every solution: against Lemke's answers, against an oracle of linear programs over all patterns, and in mechanics."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from scipy.optimize import linprog

import stiction as st
from stiction.lcp import gallery, lemke, residual, solutions


@hs.composite
def problems(draw, size=6, mixed=False, low=-2, high=2):
    """Small integers, so that ties, singular blocks and continua are common."""
    n = draw(hs.integers(1, size))
    entry = hs.integers(low, high)
    M = np.array(draw(hs.lists(entry, min_size=n * n, max_size=n * n)), dtype=float).reshape(n, n)
    q = np.array(draw(hs.lists(hs.integers(-3, 3), min_size=n, max_size=n)), dtype=float)
    free = np.array(draw(hs.lists(hs.booleans(), min_size=n, max_size=n))) if mixed else np.zeros(n, dtype=bool)
    return M, q, free


def check_agreement(M, q, free):
    """What Lemke's method calls solved is among the solutions, and every solution reported is one."""
    result = lemke(M, q, free=free)
    found = solutions(M, q, free=free)
    assert found.complete, found.message
    assert result.status in (st.Status.SOLVED, st.Status.RAY, st.Status.SINGULAR)
    if result.success:
        assert found.contains(result.z, tol=1e-10)
    if result.status is st.Status.SINGULAR:
        assert found.status is st.Status.NO_SOLUTION
    points = [*found, *(face.interior for face in found.faces)]
    points += [v + t * r for face in found.faces for v in face.vertices[:3] for r in face.rays for t in (1, 100)]
    points += [v + t * r for face in found.faces for v in face.vertices[:3] for r in face.lines for t in (1, -100)]
    for z in points:
        scale = (np.abs(M) @ np.abs(z) + np.abs(q)).max()
        assert residual(M, q, z, free=free) <= 1e-10 * max(scale, 1e-300)
        assert found.contains(z)


@given(problems())
@settings(max_examples=300, deadline=None)
def test_lemke_is_among_the_solutions(problem):
    check_agreement(*problem)


@given(problems(size=5, mixed=True))
@settings(max_examples=300, deadline=None)
def test_lemke_is_among_the_solutions_of_mixed_problems(problem):
    check_agreement(*problem)


@given(problems(size=6, low=-1, high=1))
@settings(max_examples=200, deadline=None)
def test_lemke_is_among_the_solutions_of_degenerate_problems(problem):
    M, q, free = problem
    check_agreement(M, np.sign(q), free)


@pytest.mark.long
@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_lemke_is_among_the_solutions_of_many_problems(seed, mixed):
    rng = np.random.default_rng(seed)
    for _ in range(2000):
        n = int(rng.integers(1, 7))
        top = int(rng.integers(1, 4))
        M, q = rng.integers(-top, top + 1, (n, n)).astype(float), rng.integers(-3, 4, n).astype(float)
        if rng.random() < 0.3:
            M = M @ M.T + (M - M.T) * int(rng.integers(0, 2))
        check_agreement(M, q, (rng.random(n) < 0.35) & mixed)


def check_against_all_patterns(M, q, free, rng):
    """Each of the 2^m complementary patterns by HiGHS: it has a point in the set, or none at all; isolated means
    isolated.
    """
    n = q.size
    found = solutions(M, q, free=free)
    assert found.complete
    seen = 0
    for choice in product([False, True], repeat=int((~free).sum())):
        basic = free.copy()
        basic[~free] = choice
        bounds = [(None, None) if f else ((0, None) if b else (0, 0)) for f, b in zip(free, basic)]
        for _ in range(3):
            c = rng.integers(-3, 4, n)
            box = [
                (max(lo, -1e3) if lo is not None else -1e3, min(hi, 1e3) if hi is not None else 1e3)
                for lo, hi in bounds
            ]
            lp = linprog(c, -M[~basic], q[~basic], M[basic], -q[basic], bounds=box)
            assert lp.status in (0, 2)
            if lp.status == 2:
                break
            seen += 1
            assert found.contains(lp.x, tol=1e-6), (M.tolist(), q.tolist(), free.tolist(), lp.x)
            for x in found.isolated:  # a pattern that holds an isolated point holds nothing else
                w = M @ x + q
                if (np.abs(x[~basic]) < 1e-7).all() and (np.abs(w[basic]) < 1e-7).all():
                    assert np.abs(lp.x - x).max() < 1e-5
    assert (seen > 0) == (found.status is st.Status.SOLVED)


@pytest.mark.parametrize("seed", range(4))
def test_against_linear_programs_over_all_patterns(seed):
    rng = np.random.default_rng(seed)
    for _ in range(8):
        n = int(rng.integers(1, 5))
        M, q = rng.integers(-2, 3, (n, n)).astype(float), rng.integers(-2, 3, n).astype(float)
        check_against_all_patterns(M, q, (rng.random(n) < 0.25) & (seed % 2 == 1), rng)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_many_against_linear_programs_over_all_patterns(seed):
    rng = np.random.default_rng(100 + seed)
    for _ in range(25):
        n = int(rng.integers(1, 6))
        top = int(rng.integers(1, 3))
        M, q = rng.integers(-top, top + 1, (n, n)).astype(float), rng.integers(-top, top + 1, n).astype(float)
        check_against_all_patterns(M, q, (rng.random(n) < 0.25) & (seed % 2 == 1), rng)


def test_segment_of_solutions_is_one_face():
    """Cottle, Pang, Stone, remark 4.1.14: the solutions are z_1 + z_2 = 1."""
    found = solutions([[1, 1], [1, 1]], [-1, -1])
    assert len(found.isolated) == 0
    (face,) = found.faces
    assert face.dimension == 1
    assert face.support.tolist() == [True, True]
    assert sorted(face.vertices.tolist()) == [[0, 1], [1, 0]]
    assert face.rays.size == face.lines.size == 0
    assert face.contains([0.25, 0.75])
    assert not face.contains([0.25, 0.5])
    assert not face.contains([1.5, -0.5])
    assert 0 < face.interior[0] < 1
    assert len(found) == 2
    assert sorted(z.tolist() for z in found) == [[0, 1], [1, 0]]
    assert "1 face" in found.message


def test_whole_orthant():
    (face,) = solutions(np.zeros((3, 3)), np.zeros(3)).faces
    assert face.dimension == 3
    assert face.vertices.tolist() == [[0, 0, 0]]
    assert sorted(face.rays.tolist()) == [[0, 0, 1], [0, 1, 0], [1, 0, 0]]


def test_two_rays_that_meet_are_two_faces():
    """z_1 z_2 = 0 in the quarter plane: M = [[0, 1], [1, 0]], q = 0."""
    found = solutions([[0, 1], [1, 0]], [0, 0])
    assert sorted(face.support.tolist() for face in found.faces) == [[False, True], [True, False]]
    assert [face.dimension for face in found.faces] == [1, 1]
    assert len(found) == 1  # the common vertex, once


def test_all_patterns_of_one_point_are_one_point():
    """M = I, q = 0: every one of 2^20 patterns holds the origin, and nothing else."""
    found = solutions(np.eye(20), np.zeros(20))
    assert found.isolated.tolist() == [[0.0] * 20]
    assert len(found.faces) == 0
    assert found.nodes < 100


def test_every_pattern_has_its_own_solution():
    """M = -I, q = 1: z_i is 0 or 1 each."""
    found = solutions(-np.eye(8), np.ones(8))
    assert len(found.isolated) == len(found) == 256
    assert found.success


def test_limit_makes_it_incomplete():
    found = solutions(-np.eye(8), np.ones(8), limit=50)
    assert not found.complete
    assert not found.success
    assert found.status is st.Status.LIMIT
    assert found.nodes == 50
    for z in found:
        assert residual(-np.eye(8), np.ones(8), z) == 0


def test_infeasible_problem_has_none():
    """w_2 = -z_1 - 1 < 0 whatever z."""
    found = solutions([[0, 1, -1], [-1, 0, 0], [-1, 0, 0]], [0, -1, 1])
    assert found.status is st.Status.NO_SOLUTION
    assert len(found) == 0
    assert found.complete
    assert not found.contains([0, 0, 0])


def test_isolated_solution_of_a_singular_matrix():
    """Pang's example: (1, 0, 0) is the only solution although its pattern leaves a singular block."""
    found = solutions([[0, -1, -1], [1, 0, 0], [-1, 0, 0]], [0, -1, 1])
    assert found.isolated.tolist() == [[1, 0, 0]]
    assert len(found.faces) == 0


def test_twenty_pairs():
    """P-matrix: exactly one solution, found among 2^20 patterns."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((20, 20))
    M, q = A @ A.T + 0.1 * np.eye(20) + (A - A.T), rng.standard_normal(20)
    found = solutions(M, q)
    assert found.success
    assert len(found.isolated) == 1
    assert np.allclose(found.isolated[0], lemke(M, q).z, atol=1e-9)


@pytest.mark.parametrize(
    ("torque", "published"), [(False, [(0.3329, 0.4407)]), (True, [(0, 0), (0.0755, 0.1133), (0.3266, 0.4516)])]
)
def test_painleve_rod_has_one_impulse_or_three(torque, published):
    """pr11 sections 4.1 and 4.2, to the printed digits; multipliers alone are free on the faces, never the impulse."""
    M, q = gallery.painleve_rod(torque=torque)
    found = solutions(M, q)
    assert found.complete
    impulse = np.array([[0.0, 0, 1, 0], [1, -1, 0, 0]])  # (normal, tangential) of (β₊, β₋, c_n, λ)
    for face in found.faces:
        assert np.abs(impulse @ face.directions.T).max() < 1e-12
    points = [*found.isolated, *(face.interior for face in found.faces)]
    distinct = sorted({tuple(np.round(impulse @ z, 9)) for z in points})
    assert len(distinct) == len(published)
    assert np.allclose(distinct, published, atol=5.1e-5)


def test_sticking_contact_in_space_is_one_face():
    """Eight directions, β free but for D β and the sum: one face with vertices, whatever the 2^8 patterns."""
    n = np.array([[0.0], [0], [1]])
    angles = np.pi * np.arange(8) / 4
    D = np.vstack([np.cos(angles), np.sin(angles), np.zeros(8)])
    M, q = gallery.friction_lcp(np.eye(3), n, D, np.array([0.8]), np.array([0.1, 0.05, -1]), np.zeros(1))
    found = solutions(M, q)
    (face,) = found.faces
    assert len(found.isolated) == 0
    assert face.dimension == 6
    assert np.allclose(face.vertices[:, 8], 1)  # c_n = 1 stops the fall
    assert np.allclose(face.vertices[:, :8] @ D.T, [-0.1, -0.05, 0])  # and the friction stops the slip
    assert len(face.vertices) > 8
    assert found.contains(lemke(M, q).z)
    mean = face.vertices.mean(0)
    assert face.contains(mean)
    assert residual(M, q, mean) < 1e-12


def test_opening_contact_leaves_its_multiplier_free():
    M, q = gallery.friction_lcp(np.eye(3), np.eye(3)[:, 2:], np.array([[1.0, -1], [0, 0], [0, 0]]), np.array([0.5]),
                                np.array([0.3, 0, 1]), np.zeros(1))  # fmt: skip
    (face,) = solutions(M, q).faces
    assert np.allclose(face.vertices, [[0, 0, 0, 0.3]])
    assert np.allclose(face.rays, [[0, 0, 0, 1]])


@pytest.mark.parametrize("seed", range(30))
def test_friction_problems_from_geometry(seed):
    rng = np.random.default_rng(seed)
    contacts, directions = ((1, 8), (2, 4), (3, 2))[seed % 3]
    M, q = gallery.random_friction(rng, contacts, directions=directions, bodies=1, regular=seed % 2 == 1)
    check_agreement(M, q, np.zeros(q.size, dtype=bool))


def test_units_do_not_matter():
    rng = np.random.default_rng(17)
    for _ in range(50):
        n = int(rng.integers(1, 6))
        M, q = rng.integers(-2, 3, (n, n)).astype(float), rng.integers(-3, 4, n).astype(float)
        R, C = 10.0 ** rng.integers(-5, 6, n), 10.0 ** rng.integers(-5, 6, n)
        plain, given_units = solutions(M, q), solutions(R[:, None] * M * C, R * q)
        assert len(plain.isolated) == len(given_units.isolated)
        assert sorted(f.dimension for f in plain.faces) == sorted(f.dimension for f in given_units.faces)
        for x in given_units.isolated:
            assert plain.contains(x * C, tol=1e-8)
