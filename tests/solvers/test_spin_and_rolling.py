"""Contacts that resist spin and rolling: closed forms of balls and wheels, and certificates of random problems."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import stiction as st
from stiction import Anisotropic, Bodies, ContactProblem, Dense, Law, Mixed, Rolling, Torsional

seeds = hs.integers(0, 2**32 - 1)
G = 9.81


def sphere(friction, v, omega, h=0.01, m=2.0, R=0.3, slope=0.0):
    """One step of a ball on a plane inclined along x: rows normal, slip x, slip y, then spin and roll as asked."""
    M = np.diag([m] * 3 + [0.4 * m * R * R] * 3)
    normal, slip = [0, 0, 1, 0, 0, 0], [[1, 0, 0, 0, -R, 0], [0, 1, 0, R, 0, 0]]
    spin, roll = [[0, 0, 0, 0, 0, 1]], [[0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0]]
    rows = [normal, *slip]
    length = [1.0] * 3
    if isinstance(friction, Torsional) or friction.mu_s is not None:
        rows += spin
        length += [R]
    if isinstance(friction, Rolling):
        rows += roll
        length += [R, R]
    free = np.array([*v, *omega], dtype=float)
    free[:3] += h * G * np.array([np.sin(slope), 0.0, -np.cos(slope)])
    return ContactProblem(
        Dense(M, np.array(rows, dtype=float)), row_ptr=[0, len(rows)], law=[Law.UNILATERAL], friction=[friction],
        v_free=free, length=length,
    )  # fmt: skip


def solved(problem, tol=1e-12):
    s = st.solve(problem, "nsgs", tol=tol)
    assert s.success, s.message
    return s


def test_a_rolling_ball_slows_by_five_sevenths_of_mu_r_g_over_R():
    mu_r, h, R = 0.012, 0.01, 0.3
    loss = 5 / 7 * mu_r * G * h / R
    angle = 0.7
    way = np.array([np.cos(angle), np.sin(angle), 0.0])
    for speed in (5.0 * loss, 1.01 * loss):
        s = solved(sphere(Rolling(0.4, mu_r), speed * way, speed / R * np.array([-way[1], way[0], 0.0])))
        np.testing.assert_allclose(s.v[:3], (speed - loss) * way, atol=1e-13)
        np.testing.assert_allclose(s.v[3:], (speed - loss) / R * np.array([-way[1], way[0], 0.0]), atol=1e-12)
        assert np.hypot(*s.p[3:5]) == pytest.approx(mu_r * s.p[0])
        assert np.hypot(*s.p[1:3]) < 0.4 * s.p[0]
    s = solved(sphere(Rolling(0.4, mu_r), 0.99 * loss * way, 0.99 * loss / R * np.array([-way[1], way[0], 0.0])))
    np.testing.assert_allclose(s.v, 0.0, atol=1e-14)  # less than one step's loss: it stops, and stays
    assert s.modes[0] == st.Mode.STICK


@pytest.mark.parametrize("ratio", [0.98, 1.02])
def test_a_ball_on_a_slope_starts_to_roll_where_tan_is_mu_r_over_R(ratio):
    mu_r, R, h = 0.05, 0.3, 0.01
    slope = np.arctan(ratio * mu_r / R)
    s = solved(sphere(Rolling(0.6, mu_r), [0, 0, 0], [0, 0, 0], h, R=R, slope=slope))
    wanted = max(0.0, 5 / 7 * G * h * (np.sin(slope) - mu_r / R * np.cos(slope)))
    assert s.v[0] == pytest.approx(wanted, abs=1e-14)


def test_spin_decays_by_its_own_moment_and_leaves_rolling_alone():
    mu_s, m, R, h = 0.01, 2.0, 0.3, 0.01
    s = solved(sphere(Rolling(0.4, 0.0, mu_s), [0.6, 0, 0], [0, 2.0, 3.0], h, m, R))
    np.testing.assert_allclose(s.v, [0.6, 0, 0, 0, 2.0, 3.0 - mu_s * m * G * h / (0.4 * m * R * R)], atol=1e-13)


def test_rolling_without_slip_friction():
    """mu = 0: the moment slows the turning alone, and the ball slides on."""
    mu_r, m, R, h = 0.02, 2.0, 0.3, 0.01
    s = solved(sphere(Rolling(0.0, mu_r), [1.0, 0, 0], [0, 5.0, 0], h, m, R))
    np.testing.assert_allclose(s.v, [1, 0, 0, 0, 5.0 - mu_r * m * G * h / (0.4 * m * R * R), 0], atol=1e-13)


def test_sphere_spinning_in_place_stops_after_one_second():
    """ttp01 problem 1, experiment 1: m = R = 1, mu 0.2, er 0.4, ω = 1.962 rad/s falls by 1.962 rad/s²; h = 0.07 s."""
    omega = 1.962
    for step in range(1, 18):
        s = solved(sphere(Torsional(0.2, 1.0, 1.0, 0.4), [0, 0, 0], [0, 0, omega], 0.07, 1.0, 1.0))
        omega = s.v[5]
        assert omega == pytest.approx(max(0.0, 1.962 * (1 - 0.07 * step)), abs=1e-13)
        np.testing.assert_allclose(s.v[:5], 0.0, atol=1e-14)


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_torsional_friction_opposes_slip_and_spin_by_its_semi_axes(seed):
    """Sliding: f = -mu p_n e²u / |e u| with e the semi-axes, from maximal dissipation over the ellipsoid."""
    rng = np.random.default_rng(seed)
    F = Torsional(0.3, *rng.uniform(0.2, 1.0, size=3))
    e = np.array([F.et, F.eo, F.er])
    problem = sphere(F, [*rng.normal(size=2) * 3, 0], rng.normal(size=3) * 10)
    s = solved(problem)
    u = s.u[1:]
    if np.linalg.norm(u) > 1e-9:
        np.testing.assert_allclose(s.p[1:], -F.mu * s.p[0] * e * e * u / np.linalg.norm(e * u), atol=1e-11)


def test_wheel_in_the_plane():
    """A disk, I = ½mR²: rolling resistance takes mu_r g / (R (1 + ½)) off its speed; lemke and nsgs say the same."""
    m, R, h, mu_r = 3.0, 0.5, 0.01, 0.02
    problem = ContactProblem(
        Dense(np.diag([m, m, 0.5 * m * R * R]), [[0.0, 1, 0], [1, 0, R], [0, 0, 1]]), row_ptr=[0, 3],
        law=[Law.UNILATERAL], friction=[Rolling(0.5, mu_r)], v_free=[1.0, -G * h, -1.0 / R], length=[1, 1, R],
    )  # fmt: skip
    for solver in ("nsgs", "lemke", "enumeration"):
        s = st.solve(problem, solver, tol=1e-12)
        assert s.success, s.message
        speed = 1.0 - mu_r * G * h / (R * 1.5)
        np.testing.assert_allclose(s.v, [speed, 0, -speed / R], atol=1e-13)


@pytest.mark.parametrize("associated", [False, True])
@pytest.mark.parametrize("offset", [0.0, 0.3])
def test_one_block_is_solved_exactly(associated, offset):
    """Groups strongly coupled to each other and to the normal: the certificate of the one block, to 1e-12."""
    rng = np.random.default_rng(3)
    for friction, n in (
        (Anisotropic(0.05, 0.4), 2), (Anisotropic(0.0, 0.4), 2), (Mixed(0.4, 1.0, 0.7, 0.1), 3),
        (Torsional(0.4, 1.0, 0.7, 0.1), 3), (Rolling(0.5, 0.1), 2), (Rolling(0.5, 0.1), 4), (Rolling(0.5, 0.1, 0.2), 5),
        (Rolling(0.0, 0.1), 4), (Rolling(0.4, 0.0), 4), (Rolling(0.4, 1e-6), 4), (Rolling(0.4, 0.3, 0.0), 5),
    ):  # fmt: skip
        for law in (Law.UNILATERAL, Law.DRY):
            for trial in range(20):
                rows = n + (law == Law.UNILATERAL)
                A = rng.normal(size=(rows, rows))
                q = rng.normal(size=rows)
                q[0] -= 1.0 if law == Law.UNILATERAL else 0.0
                problem = ContactProblem.from_delassus(
                    A @ A.T + (0.1, 1e-3)[trial % 2] * np.eye(rows), q, row_ptr=[0, rows], law=[law],
                    friction=[friction], r0=[offset], associated=associated,
                    length=np.append(1.0, rng.uniform(0.5, 2.0, size=rows - 1)) if trial % 3 else None,
                )  # fmt: skip
                assert solved(problem).iterations <= 3


def pile(rng, friction, rows, nbody=10, nk=14, **fields):
    """Contacts between random pairs of bodies with random rows; body -1 is the floor."""
    a = rng.integers(0, nbody, size=nk)
    b = np.where(rng.random(nk) < 0.3, -1, (a + 1 + rng.integers(0, nbody - 1, size=nk)) % nbody)
    Minv = np.zeros((nbody, 6, 6))
    for i in range(nbody):
        A = rng.normal(size=(6, 6))
        Minv[i] = A @ A.T / 6 + np.eye(6)
    Ja, Jb = rng.normal(size=(2, nk * rows, 6))
    form = Bodies(a, b, Ja, Jb, Minv, np.arange(nk + 1) * rows)
    return ContactProblem(
        form, row_ptr=form.row_ptr, law=[Law.UNILATERAL] * nk, friction=[friction] * nk,
        v_free=rng.normal(size=nbody * 6), **fields,
    )  # fmt: skip


@pytest.mark.parametrize("associated", [False, True])
@pytest.mark.parametrize(
    ("friction", "rows"), [(Torsional(0.3, 1.0, 0.8, 0.2), 4), (Rolling(0.3, 0.1), 5), (Rolling(0.3, 0.1, 0.05), 6)]
)
def test_random_piles(friction, rows, associated):
    for seed in range(8):
        problem = pile(np.random.default_rng(seed), friction, rows, associated=associated)
        s = st.solve(problem, "nsgs", tol=1e-10)
        assert s.success, s.message
        dense = st.solve(problem.to_dense(), "nsgs", tol=1e-10)
        assert dense.success, dense.message
        if associated:  # the velocities of a convex problem are unique
            np.testing.assert_allclose(s.u, dense.u, atol=1e-7)


@pytest.mark.parametrize("associated", [False, True])
def test_lemke_on_products_of_polygons(associated):
    """16 directions and two λ for a contact with rolling, not 64; nsgs on the same polyhedra finds the same motion."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        smooth = ContactProblem(
            Dense(np.diag(rng.uniform(0.5, 2, size=12)), rng.normal(size=(10, 12))), row_ptr=[0, 5, 10],
            law=[Law.UNILATERAL] * 2, friction=[Rolling(0.1, 0.05)] * 2, v_free=rng.normal(size=12),
            associated=associated,
        )  # fmt: skip
        problem = smooth.polyhedral(8)
        assert len(problem.to_lcp().q) == 2 * (16 + 1 + 2)
        exact, ours = st.solve(problem, "lemke", tol=1e-9), st.solve(problem, "nsgs", tol=1e-10)
        assert exact.success, exact.message
        assert ours.success, ours.message
        np.testing.assert_allclose(ours.u, exact.u, atol=1e-7)
        np.testing.assert_allclose(solved(smooth, 1e-10).u, exact.u, atol=0.5)
        assert smooth.to_lcp().M.shape == problem.to_lcp().M.shape


@pytest.mark.skipif("STICTION_FCLIB" not in os.environ, reason="STICTION_FCLIB is not set: no FCLIB files here")
@pytest.mark.parametrize("name", ["RFC3D_sphere_1", "RFC3D_cube_1"])
def test_rolling_files_of_siconos(name):
    """Five rows a contact; the error is FCLIB's natural map, written out here on its own."""
    numbers = np.array(
        (Path(os.environ["STICTION_FCLIB"]) / "rolling" / f"{name}.dat").read_text().split(), dtype=float
    )
    nc, n = int(numbers[1]), int(numbers[3])
    W, q = numbers[7 : 7 + n * n].reshape(n, n), numbers[7 + n * n : 7 + n * n + n]
    mu, mu_r = numbers[-2 * nc : -nc], numbers[-nc:]
    problem = ContactProblem.from_delassus(
        W, q, row_ptr=5 * np.arange(nc + 1), law=[Law.UNILATERAL] * nc,
        friction=[Rolling(m, r) for m, r in zip(mu, mu_r)],
    )  # fmt: skip
    p = solved(problem, 1e-10).p
    u = W @ p + q
    error = 0.0
    for k in range(nc):
        r, v = p[5 * k : 5 * k + 5], u[5 * k : 5 * k + 5].copy()
        v[0] += mu[k] * np.linalg.norm(v[1:3]) + mu_r[k] * np.linalg.norm(v[3:])
        x = r - v
        # the projection, by bisection on its normal part
        low, high = 0.0, 1.0 + 10 * np.linalg.norm(x)
        for _ in range(200):
            s = 0.5 * (low + high)
            out = [
                max(0.0, np.linalg.norm(x[g]) - c * s) * c for g, c in ((slice(1, 3), mu[k]), (slice(3, 5), mu_r[k]))
            ]
            low, high = (s, high) if s - x[0] - sum(out) < 0.0 else (low, s)
        y = x.copy()
        y[0] = high
        for g, c in ((slice(1, 3), mu[k]), (slice(3, 5), mu_r[k])):
            y[g] *= min(1.0, c * high / np.linalg.norm(x[g])) if x[g].any() else 1.0
        error += np.sum((r - y) ** 2)
    assert np.sqrt(error) / np.linalg.norm(q) < 1e-9
    assert np.sqrt(error) / np.linalg.norm(q) == pytest.approx(problem.certify(p).natural_map, abs=1e-12)
