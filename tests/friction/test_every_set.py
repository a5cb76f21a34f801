"""Facts of every friction set: most work, polar gauge and support function, and projections that are nearest points."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from scipy.optimize import minimize

from stiction import Polyhedral

seeds = hs.integers(0, 2**32 - 1)


def admissible(F, n, rng, count):
    """Random points of the unit set: nearest points of what lies around, and what lies between them."""
    points = [F.project(x) for x in rng.normal(size=(count, n)) * 10 ** rng.uniform(-1, 1, size=(count, 1))]
    return points + [rng.uniform() * a + rng.uniform(0, 1e-9) * b for a, b in pairwise(points)]


@given(seeds)
@settings(max_examples=10, deadline=None)
def test_no_admissible_friction_does_more_work(any_set, seed):
    F, n = any_set
    rng = np.random.default_rng(seed)
    points = admissible(F, n, rng, 8)
    for u in rng.normal(size=(4, n)):
        best = F.support_point(u)
        assert F.gauge(best) <= 1 + 1e-10
        assert F.support(u) == pytest.approx(u @ best, abs=1e-10)
        for f in points:
            assert u @ f <= u @ best + 1e-10


@given(seeds)
@settings(max_examples=10, deadline=None)
def test_gauge_and_support_are_polar(any_set, seed):
    F, n = any_set
    rng = np.random.default_rng(seed)
    u, f = rng.normal(size=(2, n))
    size = F.gauge(f)
    if np.isfinite(size):
        assert u @ f <= F.support(u) * size + 1e-10
        assert F.gauge(2.5 * f) == pytest.approx(2.5 * size, rel=1e-10)
        on = f / size
        assert np.linalg.norm(F.project(on) - on) <= 1e-9
    assert F.support(2.5 * u) == pytest.approx(2.5 * F.support(u), rel=1e-10)
    assert F.gauge(np.zeros(n)) == 0.0
    assert F.support(np.zeros(n)) == 0.0


@given(seeds)
@settings(max_examples=10, deadline=None)
def test_projection_is_the_nearest_point(any_set, seed):
    """In the set, and (x - y)·(f - y) <= 0 for every f of it, to which the support function is enough."""
    F, n = any_set
    rng = np.random.default_rng(seed)
    x, radius = 2 * rng.normal(size=n), rng.uniform(0.1, 2)
    y = F.project(x, radius)
    assert F.gauge(y) <= radius * (1 + 1e-9)
    a = x - y
    assert radius * F.support(a) - a @ y <= 1e-10 * (1 + x @ x)
    for f in admissible(F, n, rng, 3):
        assert a @ (radius * f - y) <= 1e-10 * (1 + x @ x)
    np.testing.assert_allclose(F.project(y, radius), y, atol=1e-9)


def test_projection_against_slsqp(plane_set):
    """The nearest point of {f : d·f <= σ(d)} over 180 directions d, by SciPy; the outer polygon is 2e-4 too large."""
    F = plane_set
    angle = 2 * np.pi * np.arange(180) / 180
    D = np.column_stack([np.cos(angle), np.sin(angle)])
    c = np.array([F.support(d) for d in D])
    for x in 1.5 * np.random.default_rng(2).normal(size=(4, 2)):
        found = minimize(
            lambda f, x=x: (f - x) @ (f - x), np.zeros(2), jac=lambda f, x=x: 2 * (f - x), method="SLSQP",
            constraints={"type": "ineq", "fun": lambda f: c - D @ f, "jac": lambda f: -D}, options={"ftol": 1e-14},
        )  # fmt: skip
        np.testing.assert_allclose(np.linalg.norm(F.project(x) - x), np.linalg.norm(found.x - x), atol=4e-4)


def test_directions_are_admissible_and_reach_the_boundary(any_set):
    F, n = any_set
    D = F.directions(n, 8)
    sizes = [F.gauge(d) for d in D]
    assert max(sizes) == pytest.approx(1.0, abs=1e-9)
    if not isinstance(F, Polyhedral):  # which may be given by more points than its corners
        assert min(sizes) == pytest.approx(1.0, abs=1e-9)
    P = F.polyhedral(n, 8)
    for u in np.random.default_rng(0).normal(size=(10, n)):
        assert P.support(u) <= F.support(u) + 1e-10
