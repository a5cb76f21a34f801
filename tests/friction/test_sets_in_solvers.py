"""Every solver takes every set: answers that agree where they must, and certificates by a law written out here."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import stiction as st
from stiction import Anisotropic, ContactProblem, Dense, Law, Mixed, Polyhedral, Status
from stiction.solvers import SOLVERS, make_solver

seeds = hs.integers(0, 2**32 - 1)
ITERATIVE = {"nsgs", "newton", "proximal", "fixed-point"}  # without a proof of convergence for Coulomb's law
SETS = [
    (Anisotropic(0.05, 0.4), 2),
    (Anisotropic(0.0, 0.4), 2),
    (Anisotropic(0.3, 0.0), 2),
    (Mixed(0.3, 1.0, 0.6, 0.2), 3),
    (Polyhedral(0.4, facets=([[1, 1], [-1, 0], [0, -1]], [1, 0.5, 0.3])), 2),
    (Polyhedral(0.4, directions=[[0.0, 1.0, 0.0], [0.0, -1.0, 0.2], [0.0, -1.0, -0.2]]), 3),
]
every_set = pytest.mark.parametrize(("friction", "n"), SETS, ids=[repr(F).split(" d")[0] for F, _ in SETS])


def random_problem(seed, friction, n, contacts=3, **fields):
    rng = np.random.default_rng(seed)
    rows = (n + 1) * contacts
    A = rng.normal(size=(rows + 2, rows + 2))
    return ContactProblem(
        Dense(A @ A.T / rows + 0.5 * np.eye(rows + 2), rng.normal(size=(rows, rows + 2))),
        row_ptr=np.arange(contacts + 1) * (n + 1), law=[Law.UNILATERAL] * contacts, friction=[friction] * contacts,
        v_free=rng.normal(size=rows + 2), **fields,
    )  # fmt: skip


def answers(problem):
    """The answers of all solvers that take the problem."""
    for name in SOLVERS:
        if make_solver(name).refuses(problem) is None:
            s = st.solve(problem, name, tol=1e-9)
            if not problem.associated and name in ITERATIVE and s.status is Status.MAXITER:
                continue
            assert s.success, f"{name}: {s.message}"
            yield name, s


@every_set
@given(seeds)
@settings(max_examples=6, deadline=None)
def test_solvers_agree_on_the_relaxation(friction, n, seed):
    """Its velocities are unique."""
    problem = random_problem(seed, friction, n, associated=True)
    found = dict(answers(problem))
    assert {"nsgs", "apgd", "newton", "conic", "proximal", "auto"} <= set(found)
    for s in found.values():
        np.testing.assert_allclose(s.u, found["conic"].u, atol=1e-6)


@every_set
@given(seeds)
@settings(max_examples=6, deadline=None)
def test_answers_obey_the_law(friction, n, seed):
    """0 <= p_n ⟂ u_n >= 0, friction in its set, and u_t·f = -mu p_n σ(-u_t), from p and u alone."""
    problem = random_problem(seed, friction, n)
    for _, s in answers(problem):
        for p, u in zip(s.p.reshape(-1, n + 1), s.u.reshape(-1, n + 1)):
            assert min(p[0], u[0]) == pytest.approx(0.0, abs=1e-7)
            radius = friction.slope * p[0]
            assert np.linalg.norm(friction.project(p[1:], max(0.0, radius)) - p[1:]) < 1e-7
            assert u[1:] @ p[1:] == pytest.approx(-radius * friction.support(-u[1:]), abs=1e-7)


def test_a_perfect_skate_glides_along_its_blade_and_holds_across():
    problem = ContactProblem(
        Dense(np.diag([2.0, 2.0, 2.0]), np.eye(3)), row_ptr=[0, 3], law=[Law.UNILATERAL],
        friction=[Anisotropic(0.0, 0.5)], v_free=[-0.1, 3.0, 0.04],
    )  # fmt: skip
    for _, s in answers(problem):
        np.testing.assert_allclose(s.v, [0, 3.0, 0], atol=1e-8)
        np.testing.assert_allclose(s.p, [0.2, 0, -0.08], atol=1e-8)


def test_a_skate_is_pushed_across_by_friction():
    """Sliding at 45° friction leans to the rough axis: f = -p_n (mu_x² u_1, mu_y² u_2)/|(mu_x u_1, mu_y u_2)|."""
    F = Anisotropic(0.1, 0.4)
    problem = ContactProblem(
        Dense(np.eye(3), np.eye(3)), row_ptr=[0, 3], law=[Law.UNILATERAL], friction=[F], v_free=[-1.0, 2.0, 2.0]
    )
    for _, s in answers(problem):
        mu2, u = np.array([0.01, 0.16]), s.u[1:]
        np.testing.assert_allclose(s.p[1:], -s.p[0] * mu2 * u / np.sqrt(mu2 @ u**2), atol=1e-8)
        assert abs(s.p[2]) > 3 * abs(s.p[1])
