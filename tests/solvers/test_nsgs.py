"""Block Gauss–Seidel: its local solves, the laws it meets, and agreement with other solvers and forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import stiction as st
from stiction import Bodies, ContactProblem, Dense, Law, Status
from stiction.friction import Coulomb, Polyhedral
from stiction.runtime.jit import njit
from stiction.solvers import Nsgs
from stiction.solvers.gauss_seidel.local import Disk, solve_disk

seeds = hs.integers(0, 2**32 - 1)


def project_cone(x, mu):
    """Nearest point of the second-order cone |x_t| <= mu x_n, written out here on its own."""
    size = np.linalg.norm(x[1:])
    if size <= mu * x[0]:
        return x
    if mu * size <= -x[0]:
        return np.zeros_like(x)
    n = (x[0] + mu * size) / (1 + mu * mu)
    return np.concatenate([[n], mu * n * x[1:] / size])


def coulomb_residual(u, p, mu, rho=1.0, associated=False):
    shift = 0.0 if associated else mu * np.linalg.norm(u[1:])
    return np.abs(p - project_cone(p - rho * (u + np.append(shift, np.zeros(len(u) - 1))), mu)).max() / rho


def pairs(rng, nbody, nk, d=6, rows=3, mu=0.5, mass=None, **fields):
    """Contacts between random pairs of bodies with random rows; body -1 is the floor."""
    a = rng.integers(0, nbody, size=nk)
    b = np.where(rng.random(nk) < 0.3, -1, (a + 1 + rng.integers(0, nbody - 1, size=nk)) % nbody)
    Minv = np.zeros((nbody, d, d))
    for i in range(nbody):
        A = rng.normal(size=(d, d))
        Minv[i] = (A @ A.T / d + np.eye(d)) / (1.0 if mass is None else mass[i])
    Ja, Jb = rng.normal(size=(2, nk * rows, d))
    form = Bodies(a, b, Ja, Jb, Minv, np.arange(nk + 1) * rows)
    fields = {"law": [Law.UNILATERAL] * nk, "friction": [mu] * nk, "v_free": rng.normal(size=nbody * d)} | fields
    return ContactProblem(form, row_ptr=form.row_ptr, **fields)


@njit
def many_disks(q, W_frame, mu, p, start, out):
    for i in range(len(q)):
        w = W_frame[i]
        disk = Disk(w[0], w[1], w[2], w[3], w[4], mu[i], p[i])
        out[i] = solve_disk((q[i, 0], q[i, 1], q[i, 2]), (start[i, 0], start[i, 1], start[i, 2]), disk)


def test_local_solve_of_a_disk_is_exact():
    """10^4 random blocks, anisotropic and strongly coupled, from random present impulses and guesses."""
    rng = np.random.default_rng(0)
    N = 10_000
    A = rng.normal(size=(N, 3, 3)) * 10 ** rng.uniform(-1, 1, size=(N, 1, 3))
    W = A @ A.transpose(0, 2, 1)
    W += 1e-3 * np.trace(W, axis1=1, axis2=2)[:, None, None] * np.eye(3)
    q = rng.normal(size=(N, 3))
    mu = 10 ** rng.uniform(-2, 0.5, size=N)
    e = W[:, 1:, 0] / W[:, 0, :1]
    S, R = np.linalg.eigh(W[:, 1:, 1:] - e[:, :, None] * W[:, None, 0, 1:])
    T = np.zeros((N, 3, 3))
    T[:, 0, 0], T[:, 1:, 1:] = 1.0, R
    frame = np.column_stack([1 / W[:, 0, 0], np.einsum("nji,nj->ni", R, e), S])
    start = np.abs(rng.normal(size=(N, 3)))
    u0 = np.einsum("nji,nj->ni", T, q) + np.einsum("nji,njk,nkl,nl->ni", T, W, T, start)
    out = np.empty((N, 4))
    many_disks(u0, frame, mu, rng.uniform(0, 10, size=N) * (rng.random(N) < 0.5), start, out)
    p = np.einsum("nij,nj->ni", T, out[:, :3])
    u = np.einsum("nij,nj->ni", W, p) + q
    kinds = np.zeros(3, dtype=int)
    for i in range(N):
        size = np.linalg.norm(q[i]) + np.linalg.norm(W[i] @ p[i]) + np.linalg.norm(W[i] @ start[i])
        assert coulomb_residual(u[i], p[i], mu[i], 1 / W[i].trace()) < 1e-12 * size
        kinds[0 if p[i, 0] == 0 else 1 if np.linalg.norm(p[i, 1:]) < 0.999999 * mu[i] * p[i, 0] else 2] += 1
    assert (kinds > 500).all()


@pytest.mark.parametrize("associated", [False, True])
@pytest.mark.parametrize("offset", [0.0, 0.3])
def test_one_block_of_every_kind_is_solved(associated, offset):
    """Disk, ellipsoid of spin, octagon and dry friction, each alone: the certificate is the judge, to 1e-12."""
    rng = np.random.default_rng(3)
    octagon = Polyhedral(0.7, directions=Coulomb(1.0).directions(2))
    oblique = Polyhedral(0.6, directions=rng.normal(size=(9, 3)))
    for law, rows, friction in (
        (Law.UNILATERAL, 2, 0.8), (Law.UNILATERAL, 2, Polyhedral(0.7, directions=[[1.0], [-0.2]])),
        (Law.UNILATERAL, 3, 0.6), (Law.UNILATERAL, 3, octagon), (Law.UNILATERAL, 4, oblique),
        (Law.DRY, 2, 1.0), (Law.DRY, 2, octagon), (Law.DRY, 1, 1.0),
    ):  # fmt: skip
        for _ in range(20):
            A = rng.normal(size=(rows, rows))
            problem = ContactProblem.from_delassus(
                A @ A.T + 0.1 * np.eye(rows), rng.normal(size=rows) - np.eye(rows)[0], row_ptr=[0, rows], law=[law],
                friction=[friction], r0=[offset], associated=associated,
                length=np.append(1.0, rng.uniform(0.5, 2.0, size=rows - 1)),
            )  # fmt: skip
            s = st.solve(problem, "nsgs", tol=1e-12)
            assert s.success, (law, rows, s.message)
            assert s.iterations <= 3


@given(seeds)
@settings(max_examples=25, deadline=None)
def test_agrees_with_lemke_on_polyhedra(seed):
    """Weak friction, so that the velocities are unique; a joint, a motor and octagons."""
    rng = np.random.default_rng(seed)
    sizes = [3, 3, 2, 2, 1, 3]
    nr = sum(sizes)
    octagon = Polyhedral(0.05, directions=Coulomb(1.0).directions(2))
    problem = ContactProblem(
        Dense(np.diag(rng.uniform(0.5, 2, size=nr)), rng.normal(size=(nr, nr))),
        row_ptr=np.concatenate([[0], np.cumsum(sizes)]), law=[Law.UNILATERAL] * 4 + [Law.BOX, Law.EQUALITY],
        friction=[octagon, octagon, 0.05, 0.05, None, None], lo=np.full(nr, -0.3), hi=np.full(nr, 0.3),
        v_free=rng.normal(size=nr), C=np.full(nr, 0.5),
    )  # fmt: skip
    exact, ours = st.solve(problem, "lemke", tol=1e-9), st.solve(problem, "nsgs", tol=1e-10)
    assert exact.success, exact.message
    assert ours.success, ours.message
    np.testing.assert_allclose(ours.u, exact.u, atol=1e-7)
    np.testing.assert_allclose(ours.v, exact.v, atol=1e-7)


@pytest.mark.parametrize("associated", [False, True])
def test_natural_map_by_hand(associated):
    rng = np.random.default_rng(1)
    problem = pairs(rng, 12, 15, mu=0.4, associated=associated)
    s = st.solve(problem, "nsgs", tol=1e-10)
    assert s.success, s.message
    u = problem.dynamics.velocity_rows(s.v) + problem.b
    worst = max(coulomb_residual(u[3 * k : 3 * k + 3], s.p[3 * k : 3 * k + 3], 0.4, 1.0, associated) for k in range(15))
    assert worst < 1e-10 * problem.scale
    assert {0, 2} <= set(s.modes.tolist())


@pytest.mark.parametrize("angle", [0.3, 1.1, 2.9, 4.4])
def test_friction_of_a_sliding_block_opposes_its_slip(angle):
    """A point mass pressed on the floor and sliding along `angle`: friction is mu m g h against it, to round-off."""
    slip = 2.0 * np.array([np.cos(angle), np.sin(angle)])
    problem = ContactProblem(
        Dense(np.diag([2.0] * 3), np.eye(3)[[2, 0, 1]]), row_ptr=[0, 3], law=[Law.UNILATERAL], friction=[0.5],
        v_free=[*slip, -0.1],
    )  # fmt: skip
    s = st.solve(problem, "nsgs", tol=1e-12)
    np.testing.assert_allclose(s.p, [0.2, *(-0.1 * slip / 2.0)], rtol=1e-14)
    np.testing.assert_allclose(s.v, [*(slip * (1 - 0.05 / 2.0)), 0.0], atol=1e-15)


def test_forms_agree():
    """Bodies, the same as Dense, and its Delassus matrix dense and sparse."""
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(5)
    nk = 12
    law = [Law.UNILATERAL] * 8 + [Law.EQUALITY, Law.BOX, Law.DRY, Law.UNILATERAL]
    octagon = Polyhedral(0.4, directions=Coulomb(1.0).directions(2))
    problem = pairs(
        rng, 8, nk, law=law, friction=[0.3] * 8 + [None, None, Polyhedral(1.0, directions=np.eye(3)), octagon],
        r0=[0.0] * 10 + [0.2, 0.0], lo=np.full(3 * nk, -0.2), hi=np.full(3 * nk, 0.1),
        C=rng.uniform(0.1, 1, size=3 * nk),
    )  # fmt: skip
    blocks = {
        name: getattr(problem, name) for name in ("row_ptr", "law", "friction", "r0", "lo", "hi", "C", "associated")
    }
    W = problem.dynamics.delassus()
    answers = [
        st.solve(form, "nsgs", tol=1e-11)
        for form in (
            problem,
            problem.to_dense(),
            ContactProblem.from_delassus(W, problem.q, **blocks),
            ContactProblem.from_delassus(csr_matrix(W), problem.q, **blocks),
        )
    ]
    for s in answers:
        assert s.success, s.message
        np.testing.assert_allclose(s.u, answers[0].u, atol=1e-9)


def test_planar_bodies():
    rng = np.random.default_rng(8)
    problem = pairs(rng, 6, 9, d=3, rows=2, mu=0.3)
    s, exact = st.solve(problem, "nsgs", tol=1e-11), st.solve(problem.to_dense(), "lemke", tol=1e-9)
    assert s.success, s.message
    np.testing.assert_allclose(s.u, exact.u, atol=1e-8)


@pytest.mark.long
def test_random_problems_are_solved_or_reported():
    """Strongly coupled planar contacts with friction up to 1: nearly all are solved, none passes unsolved."""
    answers = []
    for seed in range(2000):
        rng = np.random.default_rng(seed)
        problem = pairs(rng, 2 + seed % 5, 3 + seed % 7, d=3, rows=2, mu=rng.uniform(0.1, 1.0))
        answers.append(st.solve(problem, "nsgs", tol=1e-8))
    assert all(s.success == (s.certificate.error <= 1e-8) for s in answers)
    assert {s.status for s in answers} <= {Status.SOLVED, Status.MAXITER}
    assert sum(not s.success for s in answers) <= 20


def tower(masses, d=6):
    """Blocks on top of each other on the floor, one frictional contact each, after 10 ms of free fall."""
    n = len(masses)
    Minv = np.stack([np.diag([1 / m] * 3 + [6 / m] * 3) for m in masses])
    rows = np.zeros((3, 6))
    rows[[0, 1, 2], [2, 0, 1]] = 1.0
    form = Bodies(
        np.arange(n), np.arange(n) - 1, np.tile(rows, (n, 1)), np.tile(-rows, (n, 1)), Minv, np.arange(n + 1) * 3
    )
    v_free = np.tile([0.01, 0.0, -0.0981, 0, 0, 0], n)
    return ContactProblem(form, row_ptr=form.row_ptr, law=[Law.UNILATERAL] * n, friction=[0.5] * n, v_free=v_free)


@pytest.mark.parametrize("ratio", [1.0, 1000.0])
def test_heavy_on_light_converges_or_says_so(ratio):
    problem = tower([1.0, 1.0, 1.0, ratio])
    s = st.solve(problem, "nsgs", tol=1e-8)
    if s.success:
        np.testing.assert_allclose(s.p[::3], 0.0981 * np.cumsum([ratio, 1, 1, 1])[::-1], rtol=1e-5)
    else:
        assert s.status is Status.MAXITER
        assert "residual" in s.message
        assert s.certificate.error > 1e-8
    assert s.success or ratio > 1


def test_redundant_joint_rows():
    """A joint that states one of its rows twice, and the same joint again as a second block."""
    H = np.eye(3)[[0, 1, 1, 0, 1, 1]]
    problem = ContactProblem(
        Dense(np.diag([1.0, 2.0, 3.0]), H), row_ptr=[0, 3, 6], law=[Law.EQUALITY] * 2, v_free=[1.0, -2.0, 0.5]
    )
    s = st.solve(problem, "nsgs", tol=1e-12)
    assert s.success, s.message
    np.testing.assert_allclose(s.v, [0.0, 0.0, 0.5], atol=1e-12)
    assert np.abs(s.p).max() < 10


def test_box_saturates():
    """A motor of three rows: at its upper bound, at its lower one, and inside."""
    problem = ContactProblem(
        Dense(np.eye(3), np.eye(3)), row_ptr=[0, 3], law=[Law.BOX], v_free=[-2.0, 3.0, 0.5], lo=[-1.0] * 3, hi=[1.0] * 3
    )
    s = st.solve(problem, "nsgs", tol=1e-12)
    np.testing.assert_allclose(s.p, [1.0, -1.0, -0.5], atol=1e-15)
    np.testing.assert_allclose(s.v, [-1.0, 2.0, 0.0], atol=1e-15)


def test_contacts_between_bodies_that_cannot_move():
    rng = np.random.default_rng(2)
    form = pairs(rng, 3, 6).dynamics
    Minv = form.Minv.copy()
    Minv[1:] = 0.0
    form = Bodies([0, 1, 1, 2], [-1, 2, -1, 1], form.Ja[:10], form.Jb[:10], Minv, [0, 3, 6, 8, 10])
    v_free = rng.normal(size=18)
    v_free[6:] = 0.0
    problem = ContactProblem(
        form,
        row_ptr=form.row_ptr,
        law=[Law.UNILATERAL] * 3 + [Law.EQUALITY],
        friction=[0.5, 0.5, 0.5, None],
        v_free=v_free,
    )
    s = st.solve(problem, "nsgs", tol=1e-10, p0=np.ones(10))
    assert s.success, s.message
    assert (s.p[3:] == 0.0).all()


def test_warm_start_saves_sweeps():
    problem = pairs(np.random.default_rng(4), 30, 50, mu=0.3)
    solver = Nsgs(accelerate=False)
    cold = st.solve(problem, solver, tol=1e-8)
    again = st.solve(problem, solver, tol=1e-8, p0=cold.p)
    near = st.solve(problem.replace(p_warm=cold.p * 1.001), solver, tol=1e-8)
    assert cold.success
    assert again.iterations <= 1  # one sweep is always made
    assert 0 < near.iterations < cold.iterations


def test_thousands_of_sweeps_lose_no_digits():
    """A tower of 170 bodies that fall with unit velocity, friction associated: that is left to sweeps with momentum.

    Exact: all come to rest, and contact k carries what is above it. Round-off must not be carried from look to look.
    """
    n = 170
    J = np.zeros((3 * n, 6))
    J[np.arange(3 * n), np.tile([2, 0, 1], n)] = 1.0
    form = Bodies(np.arange(n), np.arange(-1, n - 1), J, -J, np.tile(np.eye(6), (n, 1, 1)), 3 * np.arange(n + 1))
    down = np.tile([0.0, 0.0, -1.0, 0.0, 0.0, 0.0], n)
    laws = {"law": [Law.UNILATERAL] * n, "friction": [0.5] * n, "associated": True}
    s = Nsgs().solve(ContactProblem(form, row_ptr=form.row_ptr, v_free=down, **laws), tol=1e-9, maxiter=30_000)
    assert s.success
    np.testing.assert_allclose(s.p[::3], np.arange(n, 0, -1), atol=1e-4)


def test_reruns_give_the_same_bits():
    problem = pairs(np.random.default_rng(6), 30, 50)
    one, two = (st.solve(problem, "nsgs", tol=1e-6) for _ in range(2))
    assert (one.p.tobytes(), one.iterations) == (two.p.tobytes(), two.iterations)


def test_too_few_sweeps_are_reported():
    problem = pairs(np.random.default_rng(7), 30, 50)
    s = st.solve(problem, "nsgs", tol=1e-10, maxiter=3)
    assert (s.success, s.status, s.iterations) == (False, Status.MAXITER, 3)
    assert "3 sweeps" in s.message
    assert np.isfinite(s.p).all()
    assert s.certificate.error == problem.certify(s.p).error


def test_a_joint_that_cannot_be_met_is_reported():
    """Two rows that ask one velocity to be 0 and 1: no answer, no infinity."""
    problem = ContactProblem(Dense(np.eye(1), [[1.0], [1.0]]), row_ptr=[0, 1, 2], law=[Law.EQUALITY] * 2, b=[0.0, -1.0])
    s = st.solve(problem, "nsgs", maxiter=500)
    assert s.success is False
    assert np.isfinite(s.p).all()


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: Nsgs(maxiter=0), "maxiter"),
        (lambda: Nsgs(omega=-1.0), "omega"),
        (lambda: st.solve(tower([1.0]), "nsgs", maxiter=0), "maxiter"),
        (lambda: st.solve(tower([1.0]), "nsgs", p0=[1.0]), "p0"),
        (
            lambda: st.solve(
                ContactProblem.from_delassus([[1.0, 1], [0, 1]], [1, 1], row_ptr=[0, 2], law=[Law.EQUALITY]), "nsgs"
            ),
            "symmetric",
        ),
    ],
)
def test_bad_calls_are_refused_by_name(call, word):
    with pytest.raises(st.ModelError, match=word):
        call()


def test_nothing_to_solve():
    assert st.solve(ContactProblem(Dense(np.eye(2), np.zeros((0, 2))), row_ptr=[0], law=[]), "nsgs").success


def test_kernels_have_one_signature_each(signatures):
    test_forms_agree()
    test_planar_bodies()
    compiled = signatures("stiction.solvers")
    assert sum(map(len, compiled.values())) > 3
    assert {name: kinds for name, kinds in compiled.items() if len(kinds) > 1} == {}


def _box_step(v_start, p_warm):
    """A unit box of 1 kg on four corners, one step of 5 ms from `v_start` along z."""
    corners = np.array([(x, y, -0.5) for x in (-0.5, 0.5) for y in (-0.5, 0.5)])
    Ja = np.zeros((12, 6))
    for i, c in enumerate(corners):
        for j, axis in enumerate(np.eye(3)[[2, 0, 1]]):
            Ja[3 * i + j] = np.concatenate([axis, np.cross(c, axis)])
    Minv = np.diag([1.0, 1.0, 1.0, 6.0, 6.0, 6.0])[None]
    start = np.array([0.0, 0.0, v_start, 0.0, 0.0, 0.0])
    bodies = st.Bodies([0] * 4, [-1] * 4, Ja, np.zeros((12, 6)), Minv, 3 * np.arange(5))
    return st.ContactProblem(
        bodies,
        v_free=start - [0, 0, 0.005 * 9.81, 0, 0, 0],
        v_start=start,
        row_ptr=3 * np.arange(5),
        law=[st.Law.UNILATERAL] * 4,
        friction=[0.5] * 4,
        p_warm=np.tile([p_warm, 0.0, 0.0], 4),
    )


def test_impulses_that_hold_a_body_at_rest_are_taken_again():
    balance = 0.005 * 9.81 / 4
    found = st.solve(_box_step(0.0, balance), solver="nsgs", tol=1e-8)
    assert found.success
    assert found.iterations == 0
    assert np.array_equal(found.p, np.tile([balance, 0.0, 0.0], 4))


def test_impulses_that_stopped_a_motion_are_not_taken_again():
    # within the tolerance by their error, but off balance: they would set the box in motion
    balance, tol = 0.005 * 9.81 / 4, 1e-6
    problem = _box_step(0.0, balance * (1 + 0.1 * tol))
    assert problem.certify(problem.p_warm).error < tol
    found = st.solve(problem, solver="nsgs", tol=tol)
    assert abs(found.v[2]) < 1e-4 * tol * 0.005 * 9.81
