"""The three dynamics forms say the same thing: bodies, dense matrices and the Delassus matrix alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from scipy.optimize import lsq_linear, nnls
from scipy.sparse import csr_matrix

import stiction as st
from stiction import Bodies, ContactProblem, Delassus, Dense, Law, Mode

seeds = hs.integers(0, 2**32 - 1)


def spd(rng, n):
    A = rng.normal(size=(n, n))
    return A @ A.T + 0.5 * np.eye(n)


def two_bodies_and_a_conveyor(d=6, seed=0):
    """Bodies 0 and 1 move, body 2 is prescribed, -1 is the world.

    Blocks: contact 0-world, contact 1-body 2, ball joint 0-1, a motor between world and 1.
    """
    rng = np.random.default_rng(seed)
    body_a, body_b, sizes = [0, 1, 0, -1], [-1, 2, 1, 1], [3, 3, 2, 1]
    row_ptr = np.concatenate([[0], np.cumsum(sizes)])
    Ja, Jb = rng.normal(size=(2, 9, d))
    Minv = np.array([np.linalg.inv(spd(rng, d)), np.linalg.inv(spd(rng, d)), np.zeros((d, d))])
    v_free = rng.normal(size=3 * d)
    problem = ContactProblem(
        Bodies(body_a, body_b, Ja, Jb, Minv, row_ptr),
        row_ptr=row_ptr,
        law=[Law.UNILATERAL, Law.UNILATERAL, Law.EQUALITY, Law.BOX],
        friction=[st.Coulomb(0.4).polyhedral(2, 6), st.Coulomb(0.8).polyhedral(2, 6), None, None],
        v_free=v_free,
        b=0.1 * rng.normal(size=9),
        lo=np.full(9, -0.5),
        hi=np.full(9, 0.5),
        C=[0, 0, 0, 0, 0, 0, 0.1, 0, 0],
    )
    H = np.zeros((9, 3 * d))
    for k in range(4):
        for r in range(row_ptr[k], row_ptr[k + 1]):
            for body, J in ((body_a[k], Ja), (body_b[k], Jb)):
                if body >= 0:
                    H[r, body * d : (body + 1) * d] += J[r]
    full = np.zeros((3 * d, 3 * d))
    for i in range(3):
        full[i * d : (i + 1) * d, i * d : (i + 1) * d] = Minv[i]
    return problem, H, full


@pytest.mark.parametrize("d", [3, 6])
def test_bodies_products_are_those_of_the_matrices(d):
    problem, H, Minv = two_bodies_and_a_conveyor(d)
    rng = np.random.default_rng(1)
    form, p, v = problem.dynamics, rng.normal(size=9), rng.normal(size=3 * d)
    W = H @ Minv @ H.T
    np.testing.assert_allclose(form.velocity_rows(v), H @ v, atol=1e-12)
    np.testing.assert_allclose(form.impulse(p), H.T @ p, atol=1e-12)
    np.testing.assert_allclose(form.minv(v), Minv @ v, atol=1e-12)
    np.testing.assert_allclose(form.velocity_change(p), Minv @ H.T @ p, atol=1e-12)
    np.testing.assert_allclose(form.delassus(), W, atol=1e-12)
    np.testing.assert_allclose(form.delassus_times(p), W @ p, atol=1e-12)
    np.testing.assert_allclose(form.delassus_diagonal(problem.row_ptr), W.diagonal(), atol=1e-12)
    np.testing.assert_allclose(problem.delassus(), W + np.diag(problem.C), atol=1e-12)
    moving = np.arange(3 * d) < 2 * d
    np.testing.assert_allclose(form.mass(Minv @ v), np.where(moving, v, 0.0), atol=1e-10)


@pytest.mark.parametrize("d", [3, 6])
def test_bodies_dense_and_delassus_agree(d):
    bodies, H, _ = two_bodies_and_a_conveyor(d)
    dense = bodies.to_dense()
    local = ContactProblem.from_delassus(
        bodies.dynamics.delassus(), bodies.q, row_ptr=bodies.row_ptr, law=bodies.law, friction=bodies.friction,
        lo=bodies.lo, hi=bodies.hi, C=bodies.C,
    )  # fmt: skip
    assert isinstance(dense.dynamics, Dense)
    assert dense.nv == 2 * d
    np.testing.assert_allclose(bodies.q, H @ bodies.v_free + bodies.b, atol=1e-12)
    for other in (dense, local):
        np.testing.assert_allclose(other.q, bodies.q, atol=1e-12)
        np.testing.assert_allclose(other.delassus(), bodies.delassus(), atol=1e-11)
    p = np.random.default_rng(2).normal(size=9)
    one = bodies.certify(p).as_dict()
    for other in (dense, local):
        for name, value in other.certify(p).as_dict().items():
            assert value == pytest.approx(one[name], rel=1e-9, abs=1e-12), name
        np.testing.assert_array_equal(other.modes(p), bodies.modes(p))
    s = st.solve(bodies, tol=1e-9)
    assert s.success, s.message
    for other in (dense, local):
        t = st.solve(other, tol=1e-9)
        np.testing.assert_allclose(t.p, s.p, atol=1e-9)
        np.testing.assert_allclose(t.u, s.u, atol=1e-9)
    np.testing.assert_allclose(st.solve(dense).v, s.v[: 2 * d], atol=1e-9)
    np.testing.assert_array_equal(s.v[2 * d :], bodies.v_free[2 * d :])  # the conveyor keeps its velocity
    assert st.solve(local).v.shape == (0,)
    np.testing.assert_allclose(s.u[6], 0.0, atol=1e-9)  # u of a compliant joint holds C p already


def test_compliance_softens_a_joint():
    """(W + C) p = -q."""
    problem = ContactProblem.from_delassus([[2.0]], [3.0], row_ptr=[0, 1], law=[Law.EQUALITY], C=[1.0])
    assert st.solve(problem).p[0] == pytest.approx(-1.0)


def test_sparse_delassus_is_the_dense_one():
    rng = np.random.default_rng(3)
    W, q = spd(rng, 3), rng.normal(size=3)
    blocks = {"row_ptr": [0, 1, 2, 3], "law": [Law.UNILATERAL] * 3}
    dense, sparse = ContactProblem.from_delassus(W, q, **blocks), ContactProblem(Delassus(csr_matrix(W)), b=q, **blocks)
    np.testing.assert_array_equal(sparse.delassus(), dense.delassus())
    np.testing.assert_allclose(st.solve(sparse).p, st.solve(dense).p, atol=1e-12)
    assert sparse.certify([1.0, 2.0, 3.0]).natural_map == pytest.approx(dense.certify([1.0, 2.0, 3.0]).natural_map)


def test_islands_share_a_body_that_can_move():
    d = 3
    Minv = np.array([np.eye(d)] * 4 + [np.zeros((d, d))])  # body 4 is prescribed
    body_a, body_b = [0, 1, 2, 3, 4], [1, -1, 4, 4, 2]
    J = np.ones((5, d))
    problem = ContactProblem(
        Bodies(body_a, body_b, J, -J, Minv, np.arange(6)), row_ptr=np.arange(6), law=[Law.UNILATERAL] * 5
    )
    label = problem.islands()
    assert label[0] == label[1]
    assert label[2] == label[4]
    assert len({label[0], label[2], label[3]}) == 3
    np.testing.assert_array_equal(np.unique(label), np.arange(3))
    groups = [set(np.flatnonzero(problem.to_dense().islands() == i).tolist()) for i in range(3)]
    assert {0, 1} in groups
    assert {2, 4} in groups
    assert {3} in groups


def test_no_blocks_is_a_problem_too():
    problem = ContactProblem(Dense(np.eye(2), np.zeros((0, 2))), row_ptr=[0], law=np.zeros(0, int), v_free=[1.0, 2.0])
    assert len(problem.islands()) == 0
    assert problem.certify([]).error == 0.0
    for solver in ("lemke", "enumeration", "auto"):
        s = st.solve(problem, solver)
        assert s.success
        np.testing.assert_array_equal(s.v, [1.0, 2.0])


@given(seeds, hs.integers(1, 8))
@settings(max_examples=50, deadline=None)
def test_frictionless_contacts_are_a_least_squares_problem(seed, n):
    """0 <= p ⟂ W p + q >= 0 is min ½ pᵀWp + qᵀp over p >= 0."""
    rng = np.random.default_rng(seed)
    W, q = spd(rng, n), rng.normal(size=n)
    s = st.solve(ContactProblem.from_delassus(W, q, row_ptr=np.arange(n + 1), law=[Law.UNILATERAL] * n))
    L = np.linalg.cholesky(W)
    wanted, _ = nnls(L.T, -np.linalg.solve(L, q))
    np.testing.assert_allclose(s.p, wanted, atol=1e-8)


@given(seeds, hs.integers(1, 2))
@settings(max_examples=40, deadline=None)
def test_associated_friction_is_a_convex_problem(seed, count):
    """The relaxation minimises ½ pᵀWp + qᵀp over the product of the cones (ah03 eq. 2.10)."""
    rng = np.random.default_rng(seed)
    W, q, mu = spd(rng, 3 * count), rng.normal(size=3 * count), rng.uniform(0.1, 1.5, size=count)
    D = rng.normal(size=(5, 2))
    problem = ContactProblem.from_delassus(
        W, q, row_ptr=3 * np.arange(count + 1), law=[Law.UNILATERAL] * count, associated=True,
        friction=[st.Polyhedral(m, directions=D) for m in mu],
    )  # fmt: skip
    G = np.zeros((3 * count, 6 * count))
    for k in range(count):
        G[3 * k : 3 * k + 3, 6 * k : 6 * k + 6] = np.column_stack([[1.0, 0, 0], *[[1.0, *(mu[k] * d)] for d in D]])
    L = np.linalg.cholesky(W)
    weights, _ = nnls(L.T @ G, -np.linalg.solve(L, q))
    s = st.solve(problem, tol=1e-8)
    assert s.success, s.message
    np.testing.assert_allclose(s.p, G @ weights, atol=1e-7)


@given(seeds, hs.integers(1, 6))
@settings(max_examples=50, deadline=None)
def test_boxes_are_a_bounded_least_squares_problem(seed, n):
    rng = np.random.default_rng(seed)
    W, q = spd(rng, n), 2 * rng.normal(size=n)
    lo, hi = np.sort(rng.normal(size=(2, n)), axis=0)
    lo[rng.random(n) < 0.25] = -np.inf
    hi[rng.random(n) < 0.25] = np.inf
    s = st.solve(
        ContactProblem.from_delassus(W, q, row_ptr=np.arange(n + 1), law=[Law.BOX] * n, lo=lo, hi=hi), tol=1e-9
    )
    assert s.success, s.message
    L = np.linalg.cholesky(W)
    wanted = lsq_linear(L.T, -np.linalg.solve(L, q), bounds=(lo, hi), method="bvls", tol=1e-14).x
    np.testing.assert_allclose(s.p, wanted, atol=1e-7)


def motor(lo, hi, law=Law.BOX):
    """A mass of 2 kg at -3 m/s that a motor would stop: it needs 6 N s."""
    return ContactProblem(Dense([[2.0]], [[1.0]]), row_ptr=[0, 1], law=[law], v_free=[-3.0], lo=[lo], hi=[hi])


def test_motor_saturates_exactly():
    s = st.solve(motor(-4.0, 4.0))
    assert s.p[0] == 4.0
    assert s.v[0] == -1.0
    assert s.modes[0] == Mode.BOUND
    s = st.solve(motor(-8.0, 8.0))
    assert (s.p[0], s.v[0], s.modes[0]) == (6.0, 0.0, Mode.BILATERAL)
    assert st.solve(motor(2.0, 2.0)).p[0] == 2.0  # a box of one point is a given impulse


def test_infinite_bounds_are_an_equality():
    assert st.solve(motor(-np.inf, np.inf)).p[0] == st.solve(motor(0, 0, Law.EQUALITY)).p[0] == 6.0
    assert st.solve(motor(-np.inf, 4.0)).p[0] == 4.0
    assert st.solve(motor(7.0, np.inf)).p[0] == 7.0


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"body_a": [5]}, "body_a"),
        ({"body_b": [-2]}, "body_b"),
        ({"Ja": np.ones((2, 3))}, "Ja"),
        ({"Minv": np.ones((2, 4, 4))}, "Minv"),
        ({"Minv": np.array([np.eye(3), np.diag([1.0, -1, 1])])}, r"Minv\[1\]"),
    ],
)
def test_bad_bodies_are_refused_by_name(change, word):
    good = {
        "body_a": [0], "body_b": [1], "Ja": np.ones((1, 3)), "Jb": np.ones((1, 3)), "Minv": np.array([np.eye(3)] * 2),
        "row_ptr": [0, 1],
    }  # fmt: skip
    with pytest.raises(st.ModelError, match=word):
        Bodies(**(good | change))


def test_row_pointers_must_be_those_of_the_bodies():
    form = Bodies([0, 0], [-1, -1], np.ones((2, 3)), np.ones((2, 3)), np.array([np.eye(3)]), [0, 1, 2])
    with pytest.raises(st.ModelError, match="row_ptr"):
        ContactProblem(form, row_ptr=[0, 2], law=[Law.UNILATERAL], friction=[0.1])


@pytest.mark.parametrize("law", [Law.DRY, Law.BOX])
def test_velocities_at_round_off_are_solved(law):
    """A gear box or a motor that came to rest has v ~ 1e-17 m/s and bounds far above: that is no failure."""
    problem = ContactProblem(
        Dense(np.eye(2), np.eye(2)), row_ptr=[0, 2], law=[law], r0=[0.02], lo=[-0.3] * 2, hi=[0.3] * 2,
        friction=[st.Coulomb(1.0).polyhedral(2, 8) if law == Law.DRY else None], v_free=[8.67e-19, 2.3e-17],
    )  # fmt: skip
    s = st.solve(problem, tol=1e-6)
    assert s.success, s.message
    assert np.abs(s.v).max() < 1e-16


def test_friction_that_needs_no_normal_impulse():
    """r0 on a contact: an open contact still drags with r0, a pressed one with mu p_n + r0."""

    def solved(v_n):
        problem = ContactProblem(
            Dense(np.eye(2), np.eye(2)),
            row_ptr=[0, 2],
            law=[Law.UNILATERAL],
            friction=[0.5],
            r0=[2.0],
            v_free=[v_n, 9.0],
        )
        s = st.solve(problem)
        assert s.certificate.error < 1e-14
        return s.p

    np.testing.assert_allclose(solved(1.0), [0.0, -2.0], atol=1e-14)
    np.testing.assert_allclose(solved(-4.0), [4.0, -4.0], atol=1e-14)
