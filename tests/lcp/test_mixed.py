"""Mixed problems: free variables and equations beside the complementary pairs."""

import numpy as np
import pytest

import stiction as st
from stiction.lcp import gallery, lemke, residual, solutions

FIRST = np.array([True, False])


@pytest.mark.parametrize("sign", [1, -1])
def test_equation_without_its_own_variable(sign):
    """z_1 = 1 is the equation; w_1 = 0 then fixes the free variable. The free block [[0]] is singular by itself."""
    M, q = np.array([[0.0, 1], [sign, 0]]), np.array([-1.0, 2])
    result = lemke(M, q, free=FIRST)
    assert result.success
    assert np.allclose(result.z, [-2 * sign, 1])


def test_redundant_equations_get_the_smallest_multipliers():
    M, q = np.array([[1.0, 1, 0], [1, 1, 0], [0, 0, 1]]), np.array([-1.0, -1, -1])
    result = lemke(M, q, free=np.array([True, True, False]))
    assert result.success
    assert np.allclose(result.z, [0.5, 0.5, 1])


def test_contradicting_equations_are_singular():
    M, q = np.array([[1.0, 1, 0], [1, 1, 0], [0, 0, 1]]), np.array([-1.0, -2, -1])
    free = np.array([True, True, False])
    result = lemke(M, q, free=free)
    assert result.status is st.Status.SINGULAR
    assert not result.success
    assert result.residual > 0.4
    assert solutions(M, q, free=free).status is st.Status.NO_SOLUTION


def test_only_equations():
    M = np.array([[2.0, 1], [1, 3]])
    result = lemke(M, [1.0, -4], free=np.array([True, True]))
    assert np.allclose(result.z, np.linalg.solve(M, [-1, 4]))
    assert result.pivots == 0


def test_velocities_as_free_variables_give_the_same_impulses():
    """(st96 eqs. 14-15), mixed in (v, β, c_n, λ), against its Schur complement (st96 eq. 17)."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        A = rng.standard_normal((3, 3))
        mass = A @ A.T + np.eye(3)
        n, t, v = rng.standard_normal((3, 3))
        D = np.column_stack([t, -t])
        M, q = gallery.friction_lcp(np.linalg.inv(mass), n[:, None], D, np.array([0.7]), v, np.zeros(1))
        G = np.column_stack([D, n])
        mixed = np.block([[mass, -G, np.zeros((3, 1))], [G.T, np.zeros((3, 3)), M[:3, 3:]], [np.zeros((1, 3)), M[3:]]])
        free = np.arange(7) < 3
        result = lemke(mixed, np.concatenate([-mass @ v, np.zeros(4)]), free=free)
        assert result.success
        assert np.allclose(result.z[3:], lemke(M, q).z, atol=1e-9)


def test_redundant_joints_beside_contacts():
    """Semidefinite M with dependent equations, in both signs of each equation: solved whenever a solution exists."""
    rng = np.random.default_rng(4)
    for _ in range(300):
        n = int(rng.integers(1, 9))
        F, K = rng.integers(-1, 2, (n, int(rng.integers(1, n + 1)))), rng.integers(-1, 2, (n, n))
        M = F @ F.T + (K - K.T)
        free = rng.random(n) < 0.4
        z = np.where(free, rng.integers(-2, 3, n), np.maximum(rng.integers(-1, 3, n), 0))
        q = np.where(free | (z > 0), 0, rng.integers(0, 2, n)) - M @ z
        sign = np.where(free, rng.choice([-1, 1], n), 1)
        M, q = sign[:, None] * M, sign * q
        result = lemke(M, q, free=free)
        assert result.success, (M.tolist(), q.tolist(), free.tolist())
        assert residual(M, q, result.z, free=free) == pytest.approx(result.residual, abs=1e-12)


def test_free_continuum_has_lines():
    """Two multipliers share one equation: their difference is free both ways."""
    M, q = np.array([[1.0, 1, 0], [1, 1, 0], [0, 0, 1]]), np.array([-1.0, -1, -1])
    found = solutions(M, q, free=np.array([True, True, False]))
    assert len(found.isolated) == 0
    (face,) = found.faces
    assert face.dimension == 1
    assert face.lines.shape == (1, 3)
    assert np.allclose(face.lines[0, 0], -face.lines[0, 1])
    assert np.allclose(face.vertices, [[0.5, 0.5, 1]])
    assert face.contains([5, -4, 1])
    assert not face.contains([5, -4, 1.001])


def test_covering_entries_of_free_rows_are_not_used():
    result = lemke([[0, 1], [-1, 0]], [-1, 2], free=FIRST, covering=[-1, 1])
    assert result.success
