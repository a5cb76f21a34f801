"""Friction sets: support, gauge and projection agree with their definitions and with independent solvers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from scipy.optimize import linprog

from stiction.errors import ModelError
from stiction.friction import Coulomb, Frictionless, Polyhedral

finite = hs.integers(-24, 24).map(lambda k: k / 8)  # a lattice: the LP oracle has tolerances of its own


def test_coulomb_is_a_disk():
    c = Coulomb(0.4)
    assert c.support([3.0, 4.0]) == pytest.approx(5.0)
    assert c.gauge([0.3, 0.4]) == pytest.approx(0.5)
    np.testing.assert_allclose(c.project([3.0, 4.0], 2.0), [1.2, 1.6], atol=1e-14)
    np.testing.assert_allclose(c.project([0.3], 2.0), [0.3])
    np.testing.assert_allclose(c.project([-3.0], 2.0), [-2.0])


def test_directions_come_in_exact_opposite_pairs():
    D = Coulomb(1.0).directions(2, 8)
    np.testing.assert_array_equal(D[:4], -D[4:])
    np.testing.assert_allclose(np.linalg.norm(D, axis=1), 1.0)


def test_one_sided_direction_resists_one_way_only():
    ratchet = Polyhedral(0.5, directions=[[1.0]])
    assert ratchet.support([2.0]) == 2.0
    assert ratchet.support([-2.0]) == 0.0
    np.testing.assert_allclose(ratchet.project([-1.0]), [0.0], atol=1e-15)
    assert ratchet.gauge([-1.0]) == np.inf


def test_facets_and_directions_describe_the_same_set():
    square = Polyhedral(1.0, facets=([[1, 0], [-1, 0], [0, 1], [0, -1]], [1, 1, 2, 2]))
    again = Polyhedral(1.0, directions=square.directions(2))
    for f in ([0.2, 0.3], [1.0, 2.0], [-3.0, 1.0]):
        assert square.gauge(f) == pytest.approx(again.gauge(f))
        np.testing.assert_allclose(square.project(f), again.project(f), atol=1e-12)


@given(hs.lists(hs.tuples(finite, finite, finite), min_size=4, max_size=12), hs.tuples(finite, finite, finite))
@settings(max_examples=150, deadline=None)
def test_projection_and_gauge_on_random_polyhedra(points, f):
    D = np.array(points)
    if np.abs(D).max() < 1e-2 or np.linalg.svd(D, compute_uv=False)[-1] < 1e-2:
        return
    F = Polyhedral(1.0, directions=D)
    f = np.array(f)
    y = F.project(f)
    inside = linprog(np.ones(len(D)), A_eq=D.T, b_eq=y, bounds=(0, None))  # an independent test of membership
    assert inside.success
    assert inside.fun <= 1 + 1e-7
    assert F.support(f - y) <= (f - y) @ y + 1e-9  # the variational inequality that defines a projection
    g = linprog(np.ones(len(D)), A_eq=D.T, b_eq=f, bounds=(0, None))
    if g.success:
        assert F.gauge(f) == pytest.approx(g.fun, rel=1e-6, abs=1e-9)


@given(hs.integers(0, 2**32 - 1), hs.integers(1, 4), hs.integers(0, 3), hs.sampled_from([1.0, 1e-3, 1e-7]))
@settings(max_examples=80, deadline=None)
def test_directions_to_facets_and_back(seed, n, flat, thin):
    """Random hulls, also flat, thin, and with the origin at a corner: both describe one set, with nothing to spare."""
    rng, norm = np.random.default_rng(seed), np.linalg.norm
    D = rng.normal(size=(int(rng.integers(n + 1, 3 * n + 3)), n)) + rng.choice([0.0, 2.0])
    if flat and n > 1:
        D[:, -1] = D[:, :-1] @ rng.normal(size=n - 1) if flat == 1 else thin * D[:, -1]
    F = Polyhedral(1.0, directions=D)
    A, c = F.facets
    np.testing.assert_allclose(norm(A, axis=1), 1.0)
    assert (A @ D.T - c[:, None]).max() <= 1e-12 * np.abs(D).max()
    assert (c >= 0.0).all()
    back = Polyhedral(1.0, facets=F.facets)
    size = np.abs(D).max()
    for u in rng.normal(size=(8, n)):
        assert back.support(u) == pytest.approx(F.support(u), abs=1e-7 * size)
        if thin >= 1e-3:  # where opposite sides are nearly parallel, the nearest point is lost in round-off
            f = rng.normal(size=n)
            np.testing.assert_allclose(back.project(f), F.project(f), atol=1e-6 * size)
    more = Polyhedral(1.0, facets=(np.vstack([A, A[:1], A]), np.concatenate([c, c[:1] + 1.0, 2 * c + 1.0])))
    assert len(more.facets[1]) == len(back.facets[1])  # those that never touch are dropped
    assert len(more.directions(n)) == len(back.directions(n))


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: Coulomb(-0.1), "mu"),
        (lambda: Coulomb(float("nan")), "mu"),
        (lambda: Polyhedral(0.3), "directions"),
        (lambda: Polyhedral(0.3, directions=[[0.0, 0.0]]), "zero"),
        (lambda: Polyhedral(0.3, facets=([[1.0, 0.0]], [1.0])), "bound"),
        (lambda: Polyhedral(0.3, facets=([[1.0], [-1.0]], [1.0, -1.0])), "must not be negative"),
        (lambda: Polyhedral(0.3, facets=([[1.0], [-1.0]], [0.0, 0.0])), "nothing but the origin"),
        (lambda: Polyhedral(0.3, facets=([[1.0, 0], [0, 0], [-1, 1]], [1.0, 1, 1])), "row 1 is zero"),
        (
            lambda: Polyhedral(0.3, facets=([[1, 0], [-1, 0], [0, 1]], [1.0, 1, 1])),
            r"nothing bounds it along \(0, -1\)",
        ),
        (lambda: Polyhedral(0.3, facets=([[1, 0], [np.inf, 0]], [1.0, 1])), "finite"),
        (lambda: Polyhedral(0.3, facets=3), "pair"),
        (lambda: Polyhedral(0.3, facets=(np.ones((2, 2, 2)), [1.0, 1])), "shape"),
        (lambda: Polyhedral(0.3, directions=[[1.0, np.nan]]), "finite"),
        (lambda: Polyhedral(0.3, directions=np.eye(6)), "n <= 5"),
        (lambda: Coulomb(0.3).support([1, 2, 3]), "tangent rows"),
    ],
)
def test_bad_sets_are_refused_by_name(make, word):
    with pytest.raises(ModelError, match=word):
        make()


def test_frictionless_is_the_origin():
    f = Frictionless()
    assert f.support([1.0, 2.0]) == 0.0
    np.testing.assert_array_equal(f.project([1.0, 2.0]), [0.0, 0.0])
