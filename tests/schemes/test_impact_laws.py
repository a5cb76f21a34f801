"""The impact laws beside each other: where they must agree, Routh's construction, and energy over random impacts."""

from __future__ import annotations

import numpy as np
import pytest

import stiction as st
from stiction.schemes.impact.energy import limited, work
from stiction.schemes.impact.incremental import incremental
from stiction.schemes.impact.law import newton, poisson, stronge
from stiction.solvers import make_solver, solve_any_law

TOGETHER = [newton, poisson, stronge]


class Solve:
    """A solver as schemes get it."""

    tol = 1e-12

    def __init__(self, name="lemke"):
        self.solver = make_solver(name)

    def __call__(self, problem, *, tol=None):
        return solve_any_law(self.solver, problem, tol=self.tol if tol is None else tol)


def frictionless(W, u):
    n = len(u)
    blocks = {"row_ptr": np.arange(n + 1), "law": np.ones(n, dtype=int)}
    return st.ContactProblem(st.Dense(np.linalg.inv(W), np.eye(n)), v_free=u, **blocks)


@pytest.mark.parametrize("law", TOGETHER)
@pytest.mark.parametrize("n", [1, 2, 4])
def test_laws_agree_without_friction(law, n):
    """Equal e and no contact separates: all velocities are reversed and scaled by e."""
    rng = np.random.default_rng(n)
    found = 0
    while found < 20:
        A = rng.normal(size=(n, n))
        W, u, e = A @ A.T + 0.3 * np.eye(n), -rng.uniform(0.1, 1, n), rng.uniform(0, 1)
        if np.linalg.solve(W, -u).min() <= 1e-3:  # one of them is thrown off by the others
            continue
        found += 1
        hit = law(frictionless(W, u), np.full(n, e), Solve())
        assert hit.solved
        assert hit.v == pytest.approx(-e * u, abs=1e-8)


def routh(W, u, mu, e):
    """Poisson's law by Routh's construction in the plane of impulses: a line of slip, then stick or reversed slip."""
    side = np.sign(u[1])
    slope = -mu * side
    pull = W[1, 0] + W[1, 1] * slope
    stop = -u[1] / pull if side * pull < 0.0 else (0.0 if side == 0.0 else np.inf)
    hold = -W[1, 0] / W[1, 1]
    second = hold if abs(hold) <= mu else -mu * np.sign(W[1, 0])

    def tangential(p):
        return slope * min(p, stop) + second * max(p - stop, 0.0)

    first, later = W[0, 0] + W[0, 1] * slope, W[0, 0] + W[0, 1] * second
    pc = -u[0] / first if first > 0.0 else np.inf
    if pc > stop:
        pc = stop + (-u[0] - first * stop) / later
    end = (1.0 + e) * pc
    p = np.array([end, tangential(end)])
    kind = "slide" if end <= stop else "stick" if abs(hold) <= mu else "reverse"
    return u + W @ p, {kind, "jam"} if first < 0.0 else {kind}


def test_poisson_followed_is_routh():
    """A thousand rods and other bodies: sliding, sticking, reversing and jamming impacts all occur."""
    rng = np.random.default_rng(5)
    seen: dict[str, int] = {}
    for _ in range(1000):
        angle, inertia = rng.uniform(0, np.pi), rng.uniform(0.02, 0.2)
        arm = 0.5 * np.array([np.cos(angle), np.sin(angle)])
        W = np.eye(2) + np.outer(arm, arm) / inertia
        u, mu, e = np.array([-rng.uniform(0.1, 1), rng.normal()]), rng.uniform(0, 2.5), rng.uniform(0, 1)
        expected, kinds = routh(W, u, mu, e)
        assert incremental(W, u, mu, e, "poisson").u == pytest.approx(expected, abs=1e-8)
        for kind in kinds:
            seen[kind] = seen.get(kind, 0) + 1
    assert min(seen[kind] for kind in ("slide", "stick", "reverse", "jam")) >= 10


def test_routh_through_the_scheme():
    """A rod that hits with one end: `Moreau` follows the slip where it is alone, and not when told so."""
    a, mu, e = 1.0, 0.4, 0.7
    arm = 0.5 * np.array([np.cos(a), np.sin(a)])
    W = np.eye(2) + 12 * np.outer(arm * [-1, 1], arm * [-1, 1])
    u = np.array([-1.0, 0.25])
    expected, kinds = routh(W, u, mu, e)
    assert kinds == {"reverse"}
    gap = st.Gap(
        lambda q: q[1] - 0.5 * np.sin(a + q[2]),
        tangents=lambda q: [1.0, 0.0, 0.5 * np.sin(a + q[2])],
        friction=mu,
        restitution=e,
    )
    start = {"q": [0.0, 0.5 * np.sin(a), 0.0], "v": [u[1], u[0], 0.0]}
    found = []
    for follow in (True, False):
        system = st.GeneralizedSystem(np.diag([1, 1, 1 / 12]), gaps=[gap], **start)
        scheme = st.Moreau(impact="poisson", follow=follow)
        v = st.Simulator(system, dt=1e-6, scheme=scheme, tol=1e-12).run(1e-6).v[-1]
        found.append(np.array([v[1] - 0.5 * np.cos(a) * v[2], v[0] + 0.5 * np.sin(a) * v[2]]))
    assert found[0] == pytest.approx(expected, abs=1e-6)
    assert np.abs(found[1] - expected).max() > 1e-3


def random_body(rng, n):
    """W and u of a contact at a random point of a random body."""
    A = rng.normal(size=(n, n))
    u = rng.normal(size=n)
    u[0] = -abs(u[0]) - 0.1
    return A @ A.T + 0.05 * np.eye(n), u


@pytest.mark.parametrize("law", ["poisson", "stronge"])
@pytest.mark.parametrize(
    ("n", "count"),
    [
        (2, 1000),
        (3, 20),
        pytest.param(2, 10000, marks=pytest.mark.long),
        pytest.param(3, 10000, marks=pytest.mark.long),
    ],
)
def test_one_contact_never_gains(law, n, count):
    rng = np.random.default_rng(6)
    for _ in range(count):
        W, u = random_body(rng, n)
        r = incremental(W, u, rng.uniform(0, 1.5), rng.uniform(0, 1), law)
        assert 0.5 * r.p @ (u + r.u) <= 1e-12 * np.abs(r.p) @ np.abs(u)


def test_poisson_as_two_problems_does_not_gain_at_one_contact():
    """Stronge's law in that form can: the work that it knows is that of the ends of its phases (docs/impact.md)."""
    rng = np.random.default_rng(7)
    for _ in range(200):
        W, u = random_body(rng, 2)
        dynamics = st.Dense(np.linalg.inv(W), np.eye(2))
        mu = rng.uniform(0, 1.5)
        problem = st.ContactProblem(dynamics, v_free=u, row_ptr=[0, 2], law=[1], friction=[mu])
        hit = poisson(problem, np.array([rng.uniform(0, 1)]), Solve())
        assert hit.solved
        assert work(problem, hit.p, hit.v)[0].sum() <= 1e-10


def test_stronge_together_gives_back_its_work():
    """Two contacts with friction that act on each other: together they return e² of the work of compression."""
    rng = np.random.default_rng(8)
    for _ in range(30):
        W, u = random_body(rng, 4)
        u[2] = -rng.uniform(0.1, 1)
        e = rng.uniform(0.1, 1)
        dynamics = st.Dense(np.linalg.inv(W), np.eye(4))
        problem = st.ContactProblem(dynamics, v_free=u, row_ptr=[0, 2, 4], law=[1, 1], friction=[0.2, 0.1])
        first, hit = Solve()(problem), stronge(problem, np.full(2, e), Solve())
        taken = -0.5 * first.p[::2] @ (u[::2] + first.u[::2])
        given = 0.5 * (hit.p - first.p)[::2] @ (first.u[::2] + hit.v[::2])
        assert hit.solved
        assert given == pytest.approx(e**2 * taken, rel=1e-8)


def test_poisson_at_several_contacts_can_gain():
    """With friction and unequal coefficients, found by search: one body of 3.01 kg at two contacts, e = (0, 1).

    With equal coefficients it loses; and with "cap" it is left with what it had.
    """
    H = np.array([[0.0, -1.0, 1.21], [1.0, 0.0, -0.46], [1.0, -0.03, -0.56], [0.03, 1.0, -1.94]])
    problem = st.ContactProblem(
        st.Dense(np.diag([3.01, 3.01, 1.1]), H),
        v_free=[-0.46, 1.56, -0.44],
        row_ptr=[0, 2, 4],
        law=[1, 1],
        friction=[0.74, 0.57],
    )
    worked = []
    for e in ([0.0, 1.0], [1.0, 1.0]):
        hit = poisson(problem, np.array(e), Solve())
        assert hit.solved
        worked.append(work(problem, hit.p, hit.v)[0].sum())
    assert worked[0] == pytest.approx(6.868, abs=1e-3)
    assert worked[1] < -0.1
    factor, hit, found = limited(
        lambda f: poisson(problem, f * np.array([0.0, 1.0]), Solve()), problem, "cap", Solve.tol
    )
    assert found[0].capped
    assert found[0].energy == pytest.approx(worked[0], rel=1e-9)
    assert 0.0 < factor[1] < 1.0
    assert work(problem, hit.p, hit.v)[0].sum() == pytest.approx(0.0, abs=1e-6)
