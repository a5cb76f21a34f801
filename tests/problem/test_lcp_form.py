"""The matrices of the papers, built by hand from M, n and D, are the ones that `to_lcp` makes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import stiction as st
from stiction import ContactProblem, Dense, Law

seeds = hs.integers(0, 2**32 - 1)


class Data:
    """Random M, and per contact a normal n (nv,), tangents T (2, nv), mu and the number of directions."""

    def __init__(self, seed, contacts, directions=8, nv=9, joints=0):
        rng = np.random.default_rng(seed)
        A = rng.normal(size=(nv, nv))
        self.M = A @ A.T + 0.5 * np.eye(nv)
        self.v_free = rng.normal(size=nv)
        self.n = rng.normal(size=(contacts, nv))
        self.T = rng.normal(size=(contacts, 2, nv))
        self.mu = rng.uniform(0.1, 1.5, size=contacts)
        self.gap_rate = rng.uniform(0.0, 1.0, size=contacts)  # gap/h
        self.joint = rng.normal(size=(joints, nv))
        self.joint_rate = rng.normal(size=joints)
        angle = 2 * np.pi * np.arange(directions) / directions
        self.ring = np.column_stack([np.cos(angle), np.sin(angle)])
        self.directions = directions

    def problem(self, **options):
        H = [*self.joint, *(row for n, T in zip(self.n, self.T) for row in (n, *T))]
        joints, contacts = len(self.joint), len(self.n)
        ptr = [*range(joints), *(joints + 3 * np.arange(contacts + 1)).tolist()]
        b = [*self.joint_rate, *(x for g in self.gap_rate for x in (g, 0.0, 0.0))]
        law = [Law.EQUALITY] * joints + [Law.UNILATERAL] * contacts
        friction = [None] * joints + [st.Coulomb(m) for m in self.mu]
        return ContactProblem(
            Dense(self.M, np.array(H)), row_ptr=ptr, law=law, v_free=self.v_free, b=b, friction=friction, **options
        )

    def by_hand(self):
        """ñ, D̃, µ̃, Ẽ of st96 eq. 29: the directions are the columns of D."""
        n = self.n.T
        D = np.hstack([T.T @ self.ring.T for T in self.T])
        k = self.directions
        E = np.kron(np.eye(len(self.n)), np.ones((k, 1)))
        return n, D, np.diag(self.mu), E


def test_one_contact_is_eq_17():
    data = Data(1, contacts=1)
    n, D, mu, e = data.by_hand()
    Minv = np.linalg.inv(data.M)
    N = np.block([
        [D.T @ Minv @ D, D.T @ Minv @ n, e],
        [n.T @ Minv @ D, n.T @ Minv @ n, np.zeros((1, 1))],
        [-e.T, mu, np.zeros((1, 1))],
    ])  # fmt: skip
    b = np.concatenate([D.T @ data.v_free, data.gap_rate + n.T @ data.v_free, [0.0]])
    form = data.problem().to_lcp(8)
    np.testing.assert_allclose(form.M, N, atol=1e-12)
    np.testing.assert_allclose(form.q, b, atol=1e-12)
    assert not form.free.any()


@given(seeds, hs.integers(1, 3), hs.integers(3, 9))
@settings(max_examples=25, deadline=None)
def test_many_contacts_are_eq_29(seed, contacts, directions):
    data = Data(seed, contacts, directions)
    n, D, mu, E = data.by_hand()
    Minv = np.linalg.inv(data.M)
    zero = np.zeros((contacts, contacts))
    N = np.block([
        [D.T @ Minv @ D, D.T @ Minv @ n, E],
        [n.T @ Minv @ D, n.T @ Minv @ n, zero],
        [-E.T, mu, zero],
    ])  # fmt: skip
    b = np.concatenate([D.T @ data.v_free, data.gap_rate + n.T @ data.v_free, np.zeros(contacts)])
    form = data.problem().to_lcp(directions)
    np.testing.assert_allclose(form.M, N, atol=1e-9)
    np.testing.assert_allclose(form.q, b, atol=1e-9)


def test_gear_box_is_eq_32():
    rng = np.random.default_rng(3)
    A = rng.normal(size=(4, 4))
    M, rows, v_free, h, bound = A @ A.T + np.eye(4), rng.normal(size=(2, 4)), rng.normal(size=4), 0.01, 7.0
    problem = ContactProblem(
        Dense(M, rows), row_ptr=[0, 2], law=[Law.DRY], v_free=v_free, friction=[1.0], r0=[h * bound]
    )
    angle = 2 * np.pi * np.arange(6) / 6
    D = rows.T @ np.array([np.cos(angle), np.sin(angle)])
    e = np.ones((6, 1))
    form = problem.to_lcp(6)
    np.testing.assert_allclose(
        form.M, np.block([[D.T @ np.linalg.solve(M, D), e], [-e.T, np.zeros((1, 1))]]), atol=1e-12
    )
    np.testing.assert_allclose(form.q, [*(D.T @ v_free), h * bound], atol=1e-12)


@pytest.mark.parametrize("associated", [False, True])
def test_joints_and_contacts_are_ah03_eq_2_11(associated):
    data = Data(7, contacts=2, directions=5, joints=2)
    n, D, mu, E = data.by_hand()
    nu = data.joint.T
    nv, j, c, k = 9, 2, 2, 10
    z = np.zeros
    corner = -mu if associated else z((c, c))  # block (3, 5): rows of the normal conditions, column λ
    full = np.block([
        [data.M, -nu, -n, -D, z((nv, c))],
        [nu.T, z((j, j)), z((j, c)), z((j, k)), z((j, c))],
        [n.T, z((c, j)), z((c, c)), z((c, k)), corner],
        [D.T, z((k, j)), z((k, c)), z((k, k)), E],
        [z((c, nv)), z((c, j)), mu, -E.T, z((c, c))],
    ])  # fmt: skip
    q = np.concatenate([-data.M @ data.v_free, data.joint_rate, data.gap_rate, z(k), z(c)])
    # eliminate v, the first block
    S = full[nv:, nv:] - full[nv:, :nv] @ np.linalg.solve(data.M, full[:nv, nv:])
    s = q[nv:] - full[nv:, :nv] @ np.linalg.solve(data.M, q[:nv])
    order = np.concatenate([np.arange(j), j + c + np.arange(k), j + np.arange(c), j + c + k + np.arange(c)])
    form = data.problem(associated=associated).to_lcp(5)
    np.testing.assert_allclose(form.M, S[np.ix_(order, order)], atol=1e-11)
    np.testing.assert_allclose(form.q, s[order], atol=1e-11)
    np.testing.assert_array_equal(form.free, np.arange(len(order)) < j)


def test_associated_matrix_is_positive_semidefinite():
    data = Data(11, contacts=3)
    form = data.problem(associated=True).to_lcp()
    assert np.linalg.eigvalsh(form.M + form.M.T)[0] > -1e-10
    coulomb = data.problem().to_lcp()
    assert np.linalg.eigvalsh(coulomb.M + coulomb.M.T)[0] < -1e-3
    names = list(coulomb.names)
    for block, mu in enumerate(data.mu):
        entry = names.index(("normal", block)), names.index(("lambda", block))
        assert form.M[entry] == -mu
        assert coulomb.M[entry] == 0.0


@given(seeds, hs.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_copositive(seed, contacts):
    data = Data(seed, contacts)
    n, D, mu, _ = data.by_hand()
    N = data.problem().to_lcp(8).M
    rng = np.random.default_rng(seed)
    for _ in range(20):
        z = rng.exponential(size=len(N)) * (rng.random(len(N)) < 0.5)
        beta, c, lam = np.split(z, [8 * contacts, 9 * contacts])
        force = n @ c + D @ beta
        value = force @ np.linalg.solve(data.M, force) + c @ mu @ lam  # eq. 18
        assert z @ N @ z == pytest.approx(value, rel=1e-9, abs=1e-9)
        assert z @ N @ z >= -1e-10


def test_not_copositive_plus():
    data = Data(5, contacts=1)
    N = data.problem().to_lcp(8).M
    z = np.zeros(len(N))
    z[-1] = 1.0  # λ alone
    assert z @ N @ z == 0.0
    assert np.abs((N + N.T) @ z).max() == pytest.approx(data.mu[0])


@given(seeds, hs.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_friction_dissipates_most(seed, contacts):
    data = Data(seed, contacts)
    problem = data.problem().polyhedral(8)
    s = st.solve(problem, tol=1e-9)
    assert s.success, s.message
    n, _, mu, _ = data.by_hand()
    for k in range(contacts):
        p_n, p_t = s.p[3 * k], s.p[3 * k + 1 : 3 * k + 3]
        slip = data.T[k] @ s.v
        others = mu[k, k] * p_n * np.append(ring(8) @ slip, 0.0)  # every direction, and no friction at all
        assert p_t @ slip <= others.min() + 1e-9 * (1 + abs(p_t @ slip))
        gap_rate = data.gap_rate[k] + n[:, k] @ s.v
        assert gap_rate >= -1e-9
        assert abs(gap_rate * p_n) <= 1e-8 * (1 + p_n)
    impulse = n @ s.p[::3] + sum(T.T @ s.p[3 * k + 1 : 3 * k + 3] for k, T in enumerate(data.T))
    np.testing.assert_allclose(data.M @ (s.v - data.v_free), impulse, atol=1e-8)


def ring(count):
    angle = 2 * np.pi * np.arange(count) / count
    return np.column_stack([np.cos(angle), np.sin(angle)])


def test_names_say_what_each_variable_is():
    names = Data(2, contacts=2, directions=3, joints=1).problem().to_lcp(3).names
    assert names == (
        ("free", 0), *[("beta", 1)] * 3, *[("beta", 2)] * 3, ("normal", 1), ("normal", 2), ("lambda", 1), ("lambda", 2),
    )  # fmt: skip
