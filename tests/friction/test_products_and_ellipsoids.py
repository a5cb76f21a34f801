"""Ellipsoids and products of them: definitions, duality, projections against a conic solver, ttp01 directions."""

import clarabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from scipy.sparse import csc_matrix, eye

import stiction as st
from stiction.friction import Anisotropic, Mixed, Polyhedral, Rolling, Torsional, kernels
from stiction.friction.ellipsoids import latitudes

seeds = hs.integers(0, 2**32 - 1)
SETS = [
    (Anisotropic(0.05, 0.4), 2),
    (Anisotropic(0.0, 0.4), 2),
    (Anisotropic(0.3, 0.0), 2),
    (Mixed(0.4, 1.0, 0.7, 0.05), 3),
    (Torsional(0.4, 1.0, 0.7, 0.05), 3),
    (Rolling(0.5, 0.1), 2),
    (Rolling(0.5, 0.1), 4),
    (Rolling(0.5, 0.1, 0.02), 5),
    (Rolling(0.0, 0.1), 4),
    (Rolling(0.3, 0.0), 4),
    (Rolling(0.0, 0.0, 0.2), 5),
]
every_set = pytest.mark.parametrize(("F", "dim"), SETS)


def factors(F, dim):
    """(rows, semi-axes) of each factor, written out here on its own."""
    if isinstance(F, Torsional):
        return [(slice(0, 3), np.array([F.et, F.eo, F.er]))]
    if isinstance(F, Mixed):
        return [(slice(0, 2), np.array([F.et, F.eo])), (slice(2, 3), np.array([F.er]))]
    if isinstance(F, Anisotropic):
        return [(slice(0, 2), np.array([F.mu_x, F.mu_y]) / max(F.mu_x, F.mu_y))]
    unit = F.mu or max(F.mu_r, F.mu_s or 0.0)
    half = dim // 2
    slip, roll = np.full(half, F.mu / unit), np.full(half, F.mu_r / unit)
    if F.mu_s is None:
        return [(slice(0, half), slip), (slice(half, dim), roll)]
    return [(slice(0, 2), slip), (slice(2, 3), np.array([F.mu_s / unit])), (slice(3, 5), roll)]


@every_set
@given(seeds)
@settings(max_examples=40, deadline=None)
def test_support_gauge_and_projection_by_definition(F, dim, seed):
    rng = np.random.default_rng(seed)
    f, u, radius = rng.normal(size=dim), rng.normal(size=dim), rng.uniform(0, 2)
    parts = factors(F, dim)
    assert F.support(u) == pytest.approx(sum(np.linalg.norm(a * u[rows]) for rows, a in parts))
    sizes = [np.linalg.norm(f[rows] / a) if a.all() else np.inf for rows, a in parts]
    assert F.gauge(f) == pytest.approx(max(sizes))
    assert u @ F.support_point(u) == pytest.approx(F.support(u))
    assert F.gauge(F.support_point(u)) <= 1 + 1e-14
    y = F.project(f, radius)
    assert F.gauge(y) <= radius * (1 + 1e-12)
    np.testing.assert_allclose(F.project(y, radius), y, atol=1e-14)  # a projection ends after one step
    # Moreau: f - y is a normal of the set at y, the support point of which is y
    assert radius * F.support(f - y) == pytest.approx((f - y) @ y, abs=1e-13)
    assert u @ f <= F.support(u) * F.gauge(f) * (1 + 1e-12)  # support and gauge are dual


@every_set
@pytest.mark.parametrize("stretched", [False, True])
def test_cone_projection_against_interior_points(F, dim, stretched):
    """min |y - x|² over y_n >= 0, y_t in (mu y_n + r0)·F, by clarabel; then the optimality conditions to round-off."""
    rng = np.random.default_rng(5)
    pack = F.packed(dim)
    for trial in range(60):
        semi = pack.semi * (rng.uniform(0.3, 3.0, size=dim) if stretched else 1.0)
        mu, r0 = F.slope, float(rng.choice([0.0, 0.4]))
        x, y = rng.normal(size=dim + 1) * 10 ** rng.uniform(-1, 1), np.zeros(dim + 1)
        kernels.project_cone_product(pack.kind, semi, mu, r0, x, y, dim)
        d = x - y
        none = np.zeros((0, dim))
        most = kernels.support(pack.kind, semi, none, 0, 0, d[1:], dim)
        size = np.linalg.norm(x)
        assert y[0] >= 0.0
        assert kernels.excess(pack.kind, semi, np.zeros((0, dim + 1)), 0, 0, y[1:], dim, mu * y[0] + r0) < 1e-14 * size
        assert d[0] + mu * most < 1e-14 * size  # no direction of recession gets nearer
        assert d @ y == pytest.approx(r0 * most, abs=1e-13 * size**2)
        if trial < 10:
            z = size * conic_projection(factors(F, dim), semi, mu, r0 / size, x / size)
            assert np.linalg.norm(d) == pytest.approx(np.linalg.norm(x - z), abs=1e-6 * size)


def conic_projection(parts, semi, mu, r0, x):
    dim = len(x) - 1
    A, b, cones = [-np.eye(1, dim + 1)[0]], [0.0], [clarabel.NonnegativeConeT(1)]
    for rows, _ in parts:
        wide = [i for i in range(rows.start, rows.stop) if semi[i] > 0.0]
        none = [i for i in range(rows.start, rows.stop) if semi[i] == 0.0]
        if none:
            A += [np.eye(dim + 1)[i + 1] for i in none]
            b += [0.0] * len(none)
            cones.append(clarabel.ZeroConeT(len(none)))
        if wide:
            A += [-mu * np.eye(1, dim + 1)[0], *(-np.eye(dim + 1)[i + 1] / semi[i] for i in wide)]
            b += [r0] + [0.0] * len(wide)
            cones.append(clarabel.SecondOrderConeT(1 + len(wide)))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    P = csc_matrix(eye(dim + 1))
    answer = clarabel.DefaultSolver(P, -x, csc_matrix(np.array(A)), np.array(b), cones, settings).solve()
    assert answer.status == clarabel.SolverStatus.Solved
    return np.array(answer.x)


def test_directions_of_ttp01():
    """Columns 1, 2, 9, 10, 19, 20 of eq. 5, and eq. 6, as printed: (t, o, r) through the sphere's own rows."""
    J = np.zeros((6, 3))
    r = np.sqrt(0.5)
    J[[0, 1, 3, 4], 0], J[[0, 1, 3, 4], 1], J[5, 2] = [r, r, r, -r], [-r, r, r, r], 1.0
    F = Torsional(0.2, 1.0, 1.0, 0.4)
    D = J @ F.rings(*latitudes(8)).T
    assert D.shape == (6, 20)
    printed = [
        [0.7071, 0.7071, 0, 0.7071, -0.7071, 0], [0, 1, 0, 1, 0, 0], [0.4177, 0.4177, 0, 0.4177, -0.4177, 0.3227],
        [-0.2682, 0.5264, 0, 0.5264, 0.2682, 0.3227], [0, 0, 0, 0, 0, 0.4], [0, 0, 0, 0, 0, -0.4],
    ]  # fmt: skip
    np.testing.assert_allclose(D[:, [0, 1, 8, 9, 18, 19]].T, printed, atol=5.1e-5)
    D = J @ F.rings((3, np.radians(36)), (3, -np.radians(36))).T
    np.testing.assert_allclose(D[0], [0.3410, -0.4659, 0.1248] * 2, atol=5.1e-5)
    np.testing.assert_allclose(D[5], [0.3504] * 3 + [-0.3504] * 3, atol=5.1e-5)


@every_set
def test_directions_lie_on_the_boundary_and_fill_the_set(F, dim):
    D = F.directions(dim, 8)
    for d in D:
        assert F.gauge(d) == pytest.approx(1.0)
    P = F.polyhedral(dim, 24)
    rng = np.random.default_rng(0)
    for u in rng.normal(size=(30, dim)):
        inside = (F.directions(dim, 24) @ u).max()
        assert inside <= F.support(u) * (1 + 1e-12)
        assert P.support(u) == pytest.approx(inside)
        if isinstance(F, Rolling):
            assert inside >= np.cos(np.pi / 24) * F.support(u) * (1 - 1e-12)


def test_product_of_polygons_is_the_hull_of_its_vertices():
    P = Rolling(0.5, 0.1, 0.02).polyhedral(5, 6)
    hull = Polyhedral(0.5, directions=P.directions(5))
    assert len(P.directions(5)) == 6 * 2 * 6
    rng = np.random.default_rng(0)
    for f in rng.normal(size=(20, 5)) * [1, 1, 0.04, 0.2, 0.2]:
        assert P.gauge(f) == pytest.approx(hull.gauge(f))
        np.testing.assert_allclose(P.project(f), hull.project(f), atol=1e-9)


def test_rolling_in_the_plane_is_a_rectangle():
    F = Rolling(0.5, 0.1)
    assert F.is_polyhedral(2)
    assert not F.is_polyhedral(4)
    assert F.polyhedral(2) is F
    np.testing.assert_allclose(np.abs(F.directions(2)), [[1.0, 0.2]] * 4)


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: Torsional(0.3, er=0.0), "er"),
        (lambda: Torsional(-0.3), "mu"),
        (lambda: Torsional(0.3).packed(2), "3 rows"),
        (lambda: Torsional(0.3, axis=(0, 0, 0)), "axis of Torsional"),
        (lambda: Anisotropic(-0.3, 0.1), "mu_x"),
        (lambda: Anisotropic(0.3, float("inf")), "mu_y"),
        (lambda: Anisotropic(0.3, 0.1, axis=(1, 0)), "axis of Anisotropic"),
        (lambda: Anisotropic(0.3, 0.1).packed(1), "2 tangent rows"),
        (lambda: Anisotropic(0.3, 0.1).contact_rows(2), "in space"),
        (lambda: Mixed(0.3, er=-1.0), "er"),
        (lambda: Mixed(0.3).packed(2), "3 rows"),
        (lambda: Mixed(0.3).contact_rows(2), "in space"),
        (lambda: Rolling(0.3, -0.1), "mu_r"),
        (lambda: Rolling(0.3, 0.1, float("nan")), "mu_s"),
        (lambda: Rolling(0.3, 0.1).packed(3), "4 rows"),
        (lambda: Rolling(0.3, 0.1, 0.1).packed(4), "5 rows"),
    ],
)
def test_bad_sets_are_refused_by_name(make, word):
    with pytest.raises(st.ModelError, match=word):
        make()
