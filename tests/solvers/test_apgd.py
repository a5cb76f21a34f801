"""Accelerated projected gradient descent: every law and set, against other solvers, and its scaling."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import stiction as st
from stiction import Bodies, ContactProblem, Coulomb, Dense, Law, Polyhedral, Rolling, Torsional
from stiction.problem.certificate import certify
from stiction.solvers.apgd import _Descent

seeds = hs.integers(0, 2**32 - 1)
OCTAGON = Polyhedral(0.6, directions=Coulomb(1.0).directions(2))
BLOCKS = [  # law, rows, friction, r0
    (Law.UNILATERAL, 1, None, 0.0),
    (Law.UNILATERAL, 2, Coulomb(0.5), 0.0),
    (Law.UNILATERAL, 3, Coulomb(0.7), 0.0),
    (Law.UNILATERAL, 3, Coulomb(0.4), 0.1),
    (Law.UNILATERAL, 3, OCTAGON, 0.0),
    (Law.UNILATERAL, 4, Torsional(0.5, 1.0, 0.6, 0.2), 0.0),
    (Law.UNILATERAL, 3, Rolling(0.5, 0.1), 0.0),
    (Law.UNILATERAL, 5, Rolling(0.5, 0.1), 0.0),
    (Law.UNILATERAL, 6, Rolling(0.5, 0.1, 0.05), 0.1),
    (Law.EQUALITY, 3, None, 0.0),
    (Law.BOX, 2, None, 0.0),
    (Law.DRY, 2, Coulomb(1.0), 0.3),
    (Law.DRY, 1, Coulomb(1.0), 0.2),
]


def mixture(rng, blocks, *, spare=4, lengths=True, **fields):
    """The blocks on one random mass matrix with more velocities than rows: u is unique and every law can be met."""
    sizes = [rows for _, rows, _, _ in blocks]
    nr = sum(sizes)
    length = np.ones(nr)
    if lengths:
        length[rng.random(nr) < 0.3] = 0.5
        length[np.cumsum([0, *sizes[:-1]])] = 1.0
    return ContactProblem(
        Dense(np.diag(rng.uniform(0.5, 4, size=nr + spare)), rng.normal(size=(nr, nr + spare))),
        row_ptr=np.concatenate([[0], np.cumsum(sizes)]), law=[law for law, *_ in blocks],
        friction=[f for _, _, f, _ in blocks], r0=[r for *_, r in blocks], lo=np.full(nr, -0.2), hi=np.full(nr, 0.3),
        v_free=rng.normal(size=nr + spare), associated=True, length=length, **fields,
    )  # fmt: skip


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_each_law_and_set(block):
    """Three blocks of a kind coupled to each other: block Gauss–Seidel and gradient descent find the same motion."""
    for seed in range(5):
        problem = mixture(np.random.default_rng(seed), [block] * 3)
        s = st.solve(problem, "apgd", tol=1e-10)
        assert s.success, s.message
        exact = st.solve(problem, "nsgs", tol=1e-11)
        assert exact.success, exact.message
        np.testing.assert_allclose(s.u, exact.u, atol=1e-7)


@given(seeds)
@settings(max_examples=25, deadline=None)
def test_agrees_with_conic_on_mixtures(seed):
    rng = np.random.default_rng(seed)
    blocks = [BLOCKS[i] for i in rng.permutation(len(BLOCKS))[:6]]
    problem = mixture(rng, blocks, C=np.where(rng.random(sum(b[1] for b in blocks)) < 0.3, 0.2, 0.0))
    s = st.solve(problem, "apgd", tol=1e-8)
    assert s.success, s.message
    exact = st.solve(problem, "conic", tol=1e-6)  # an interior point: its own errors are the larger ones here
    assert exact.success, exact.message
    np.testing.assert_allclose(s.u, exact.u, atol=1e-5 * problem.scale)


def chain(rng, n=12, mass=None):
    """Bodies in a row on a floor, rubbing at random points; the last two are joined."""
    a, b = np.arange(n), np.arange(n) - 1  # -1 is the floor
    sizes = np.array([3] * (n - 1) + [5])
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    Minv = np.zeros((n, 6, 6))
    for i in range(n):
        A = rng.normal(size=(6, 6))
        Minv[i] = (A @ A.T / 6 + np.eye(6)) / (1.0 if mass is None else mass[i])
    Ja, Jb = rng.normal(size=(2, ptr[-1], 6))
    return ContactProblem(
        Bodies(a, b, Ja, Jb, Minv, ptr), row_ptr=ptr, law=[Law.UNILATERAL] * (n - 1) + [Law.EQUALITY],
        friction=[0.5] * (n - 1) + [None], v_free=rng.normal(size=6 * n), associated=True,
    )  # fmt: skip


def test_same_answer_on_bodies_and_matrix():
    problem = chain(np.random.default_rng(0))
    s, dense = st.solve(problem, "apgd", tol=1e-10), st.solve(problem.to_dense(), "apgd", tol=1e-10)
    assert s.success
    assert dense.success
    np.testing.assert_allclose(s.u, dense.u, atol=1e-8)
    local = ContactProblem.from_delassus(
        problem.delassus(), problem.q, row_ptr=problem.row_ptr, law=problem.law, friction=problem.friction,
        associated=True,
    )  # fmt: skip
    np.testing.assert_allclose(st.solve(local, "apgd", tol=1e-10).u, s.u, atol=1e-8)


def test_steps_do_not_depend_on_the_unit_of_mass():
    """One scaling per block: the same problem in grams and in tonnes takes the same path."""
    steps = []
    for unit in (1e-3, 1.0, 1e3):
        rng = np.random.default_rng(1)
        problem = chain(rng, mass=np.full(12, unit))
        descent = _Descent(problem)
        x = rng.uniform(size=problem.nr)
        out = np.empty_like(x)
        descent.times(x, out)
        steps.append(out)
    np.testing.assert_allclose(steps[0], steps[1], rtol=1e-10)
    np.testing.assert_allclose(steps[2], steps[1], rtol=1e-10)


def test_bodies_of_a_gram_and_a_tonne():
    rng = np.random.default_rng(2)
    problem = chain(rng, mass=10.0 ** rng.uniform(-3, 3, size=12))
    s = st.solve(problem, "apgd", tol=1e-8)
    assert s.success, s.message
    np.testing.assert_allclose(s.u, st.solve(problem, "nsgs", tol=1e-10).u, atol=1e-6 * problem.scale)


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_its_estimate_is_the_error_of_the_certificate(seed):
    """On contacts of every set the estimate that is looked at between certificates is their error, at any x."""
    rng = np.random.default_rng(seed)
    problem = mixture(rng, [b for b in BLOCKS if b[0] in (Law.UNILATERAL, Law.DRY)])
    descent = _Descent(problem)
    p = rng.normal(size=problem.nr)
    x, Wx = np.empty_like(p), np.empty_like(p)
    descent.products.block_times(problem.row_ptr, descent.inverse, p, x)
    np.testing.assert_allclose(descent.impulses(x), p, rtol=1e-13)
    descent.times(x, Wx)
    assert descent.estimate(x, Wx) == pytest.approx(certify(problem, p)[0].error, rel=1e-9)


def test_contact_that_opens_without_slip():
    problem = ContactProblem(
        Dense(np.eye(3), np.eye(3)), row_ptr=[0, 3], law=[Law.UNILATERAL], friction=[0.5], v_free=[1.0, 0.0, 0.0],
        associated=True,
    )  # fmt: skip
    s = st.solve(problem, "apgd")
    assert s.success
    np.testing.assert_array_equal(s.p, 0.0)


def test_starts_from_a_guess():
    problem = chain(np.random.default_rng(3))
    s = st.solve(problem, "apgd", tol=1e-9)
    again = st.solve(problem, "apgd", tol=1e-8, p0=s.p)
    assert again.success
    assert again.iterations == 0


def test_blocks_that_cannot_move():
    """Between prescribed bodies no impulse does anything: dry friction and motors give what their velocity asks for."""
    Minv = np.zeros((1, 6, 6))
    ptr = [0, 3, 5, 7, 8]
    form = Bodies([0] * 4, [-1] * 4, np.ones((8, 6)), np.zeros((8, 6)), Minv, ptr)
    problem = ContactProblem(
        form, row_ptr=ptr, law=[Law.UNILATERAL, Law.DRY, Law.BOX, Law.EQUALITY], friction=[0.5, 1.0, None, None],
        r0=[0, 0.3, 0, 0], lo=np.full(8, -0.2), hi=np.full(8, 0.4), b=[3, 0, 0, 3, 4, 1, -1, 0], associated=True,
    )  # fmt: skip
    s = st.solve(problem, "apgd", tol=1e-8)
    assert s.success, s.message
    np.testing.assert_allclose(s.p, [0, 0, 0, -0.18, -0.24, -0.2, 0.4, 0], atol=1e-9)


def test_redundant_joints():
    """The same joint twice, three rows of which one repeats another."""
    rng = np.random.default_rng(4)
    H = rng.normal(size=(3, 5))
    H[2] = H[0] + H[1]
    problem = ContactProblem(
        Dense(np.eye(5), np.vstack([H, H])), row_ptr=[0, 3, 6], law=[Law.EQUALITY] * 2, v_free=rng.normal(size=5)
    )
    s = st.solve(problem, "apgd", tol=1e-9)
    assert s.success, s.message
    np.testing.assert_allclose(H @ s.v, 0.0, atol=1e-8)


def test_refuses_coulombs_law_and_says_where_to_go():
    problem = chain(np.random.default_rng(0)).replace(associated=False)
    with pytest.raises(st.ModelError, match="use nsgs"):
        st.solve(problem, "apgd")
    without = problem.replace(friction=[0.0] * 11 + [None])
    assert st.solve(without, "apgd", tol=1e-9).success


def test_says_when_there_is_no_solution():
    """Two contradicting joints."""
    problem = ContactProblem(
        Dense(np.eye(1), np.ones((2, 1))), row_ptr=[0, 1, 2], law=[Law.EQUALITY] * 2, b=[1.0, -1.0]
    )
    s = st.solve(problem, "apgd", maxiter=300)
    assert not s.success
    assert s.status is st.Status.MAXITER
    assert np.isfinite(s.p).all()
    assert s.certificate.error > 0.1
