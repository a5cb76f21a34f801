"""Ellipses against every shape of the plane: distance, normal, gradient, order, touching, deep and degenerate poses."""

import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy.optimize import minimize_scalar

from stiction.collision import CONVEX

OTHERS = ["ellipse", "thin", "disk", "rod", "segment", "triangle", "polygon", "rounded", "plane"]


def shape(kind, rng):
    size = rng.uniform(0.2, 0.8)
    if kind in ("ellipse", "thin"):
        turn = rng.uniform(0, np.pi)
        axis = np.array([np.cos(turn), np.sin(turn)])
        other = size * (rng.uniform(0.3, 1.0) if kind == "ellipse" else 0.03)
        return ("ellipse", rng.uniform(-0.2, 0.2, 2), (size * axis, other * np.array([-axis[1], axis[0]])), None)
    if kind == "plane":
        angle = rng.uniform(0, 2 * np.pi)
        return ("plane", rng.uniform(-0.3, 0.3, 2), np.array([np.cos(angle), np.sin(angle)]))
    corners = {"disk": 1, "rod": 2, "segment": 2, "triangle": 3, "polygon": 7, "rounded": 5}[kind]
    turn = np.sort(rng.uniform(0, 2 * np.pi, corners)) if corners > 2 else np.arange(corners) * np.pi
    vertices = size * np.column_stack([np.cos(turn), np.sin(turn)]) + rng.uniform(-0.2, 0.2, 2)
    return vertices, {"disk": size, "rod": 0.3 * size, "rounded": 0.2 * size}.get(kind, 0.0)


def top(scene, s, n):
    """The support function of shape s in the direction n (m, 2)."""
    rows = scene.verts[scene.vert_ptr[s] : scene.vert_ptr[s + 1]]
    c, d = np.cos(scene.angle[s]), np.sin(scene.angle[s])
    turn = np.array([[c, -d], [d, c]])
    if scene.kind[s] == 2:
        return n @ (scene.x[s] + turn @ rows[0]) + np.hypot(n @ (turn @ rows[1]), n @ (turn @ rows[2]))
    return (n @ (scene.x[s] + rows @ turn.T).T).max(axis=1) + scene.radius[s]


def oracle(scene):
    """Signed distance and normal: the largest separation over all directions, by sampling and golden section."""
    if (scene.kind == 1).any():
        s = int(np.argmax(scene.kind == 1))
        c, d = np.cos(scene.angle[s]), np.sin(scene.angle[s])
        point, normal = scene.verts[scene.vert_ptr[s] : scene.vert_ptr[s + 1]] @ np.array([[c, d], [-d, c]])
        height = -top(scene, 1 - s, -normal[None])[0] - normal @ (scene.x[s] + point)
        return height, normal if s == 1 else -normal

    def separation(angle):
        n = np.column_stack([np.cos(angle), np.sin(angle)])
        return -top(scene, 0, -n) - top(scene, 1, n)

    grid = np.linspace(0, 2 * np.pi, 2001)
    values = separation(grid)
    best = (-np.inf, 0.0)
    for k in np.argsort(values)[-12:]:
        fit = minimize_scalar(
            lambda t: -separation(np.array([t]))[0], bounds=(grid[k] - 0.01, grid[k] + 0.01), method="bounded",
            options={"xatol": 1e-12},
        )  # fmt: skip
        best = max(best, (-fit.fun, fit.x))
    return best[0], np.array([np.cos(best[1]), np.sin(best[1])])


def random_scene(scene2, kinds, rng, spread=1.0):
    x, angle = rng.uniform(-spread, spread, (2, 2)), rng.uniform(-np.pi, np.pi, 2)
    return scene2([shape(kind, rng) for kind in kinds], x, angle)


@pytest.mark.parametrize("kind", OTHERS)
def test_signed_distance_and_normal(scene2, kind):
    rng = np.random.default_rng(zlib.crc32(kind.encode()))
    signs = set()
    for k in range(60):
        scene = random_scene(scene2, ("thin" if k % 3 == 0 else "ellipse", kind), rng, (0.2, 1.0)[k % 2])
        expected, _ = oracle(scene)
        found = scene.find(band=10.0)
        signs.add(expected > 0)
        assert found.type.tolist() == [CONVEX]
        assert found.least == pytest.approx(expected, abs=1e-8), k
        assert (scene.find(band=0.1).gap.size > 0) == (expected <= 0.1)
        np.testing.assert_allclose(found.point_a - found.point_b, found.gap[:, None] * found.normal, atol=1e-12)
    assert signs == {True, False}


@settings(max_examples=80, deadline=None)
@given(seed=some.integers(0, 2**32 - 1), kind=some.sampled_from(OTHERS))
def test_gradient_and_exchange(scene2, seed, kind):
    """The rate of the gap is that of the surface points along the normal, to 1e-7; the order of bodies is nothing."""
    rng = np.random.default_rng(seed)
    scene = random_scene(scene2, ("ellipse", kind), rng)
    found, swapped = scene.find(band=10.0), scene.exchanged().find(band=10.0)
    np.testing.assert_allclose(found.gap, swapped.gap, atol=1e-13)
    depth = max(-found.least - scene.radius.sum(), 0.0)
    if depth > 0.02:  # deep inside there may be two ways out of the same depth, with different normals
        return
    np.testing.assert_allclose(found.normal, -swapped.normal, atol=1e-7)
    np.testing.assert_allclose(found.point_a, swapped.point_b, atol=1e-7)
    v, w, eps = rng.normal(size=(2, 2)), rng.normal(size=2), 1e-5
    plus = scene.moved(eps * v, eps * w).evaluate(found.records).gap
    minus = scene.moved(-eps * v, -eps * w).evaluate(found.records).gap
    arms = [found.point_a[0] - scene.x[0], found.point_b[0] - scene.x[1]]
    at = [v[k] + w[k] * np.array([-arms[k][1], arms[k][0]]) for k in range(2)]
    curvature = 1.0 + 1.0 / (abs(found.least + scene.radius.sum()) + 0.05)
    rate = float((at[0] - at[1]) @ found.normal[0])
    assert (plus - minus)[0] / (2 * eps) == pytest.approx(rate, abs=1e-7 * curvature**2)


def test_touching_and_degenerate_poses(scene2):
    unit = ("ellipse", (0, 0), ((2.0, 0.0), (0.0, 1.0)), None)
    square = (np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]]), 0.0)
    cases = [
        ((unit, unit), (4.0, 0.0), 0.0, (-1, 0)),  # tip to tip
        ((unit, unit), (0.0, 2.0), 0.0, (0, -1)),
        ((unit, square), (3.0, 0.3), 0.0, (-1, 0)),
        ((unit, (np.zeros((1, 2)), 0.5)), (2.5, 0.0), 0.0, (-1, 0)),
        ((unit, unit), (0.0, 0.0), -2.0, None),  # the same place
        ((unit, (np.zeros((1, 2)), 0.5)), (0.0, 0.0), -1.5, None),  # a disk at the centre
        ((("ellipse", (0, 0), ((1.0, 0.0), (0.0, 1.0)), None),) * 2, (0.0, 0.0), -2.0, None),  # circles
    ]
    for shapes, place, gap, normal in cases:
        found = scene2(list(shapes), [(0, 0), place]).find(band=0.1)
        assert found.least == pytest.approx(gap, abs=1e-14)
        if normal is not None:
            np.testing.assert_allclose(found.normal[0], normal, atol=1e-7)
