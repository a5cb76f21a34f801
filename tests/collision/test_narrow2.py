"""Narrow phase in the plane: the distance against the Minkowski difference, gradients, manifolds, order, identity."""

import itertools
import zlib

import numpy as np
import pytest
from scipy.spatial import ConvexHull, QhullError

from stiction.collision import LINE_POINT, POINT_LINE, POINT_POINT

KINDS = ["disk", "rod", "segment", "triangle", "square", "polygon", "rounded", "plane"]
PAIRS = [p for p in itertools.combinations_with_replacement(KINDS, 2) if p != ("plane", "plane")]


def shape(kind, rng):
    """(vertices, radius) of a random shape of about unit size, or a half-plane."""
    size = rng.uniform(0.2, 0.8)
    if kind == "plane":
        angle = rng.uniform(0, 2 * np.pi)
        return ("plane", rng.uniform(-0.3, 0.3, 2), np.array([np.cos(angle), np.sin(angle)]))
    corners = {"disk": 1, "rod": 2, "segment": 2, "triangle": 3, "square": 4, "polygon": 7, "rounded": 5}[kind]
    turn = (
        np.sort(rng.uniform(0, 2 * np.pi, corners))
        if corners not in (2, 4)
        else np.arange(corners) * 2 * np.pi / corners
    )
    vertices = size * np.column_stack([np.cos(turn), np.sin(turn)]) + rng.uniform(-0.2, 0.2, 2)
    return vertices, {"disk": size, "rod": 0.3 * size, "rounded": 0.2 * size}.get(kind, 0.0)


def poses(rng, spread=0.8):
    return rng.uniform(-spread, spread, (2, 2)), rng.uniform(-np.pi, np.pi, 2)


def seeded(*words):
    return np.random.default_rng(zlib.crc32("-".join(words).encode()))


def to_segments(p, q):
    """Least distance of the origin from the segments p[i] q[i]."""
    d = q - p
    t = np.clip(-(p * d).sum(axis=1) / np.maximum((d * d).sum(axis=1), 1e-300), 0, 1)
    return np.linalg.norm(p + t[:, None] * d, axis=1).min()


def oracle(scene):
    """Signed distance of the two shapes: of the origin from the Minkowski difference of their vertices."""
    planes = np.flatnonzero(scene.kind)
    if planes.size:
        s = planes[0]
        c, d = np.cos(scene.angle[s]), np.sin(scene.angle[s])
        turn = np.array([[c, -d], [d, c]])
        point, normal = scene.verts[scene.vert_ptr[s] : scene.vert_ptr[s + 1]]
        heights = (scene.world(1 - s) - scene.x[s] - turn @ point) @ (turn @ normal)
        return heights.min() - scene.radius.sum()
    points = (scene.world(0)[:, None] - scene.world(1)[None]).reshape(-1, 2)
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        pairs = np.array(list(itertools.product(range(len(points)), repeat=2)))
        return to_segments(points[pairs[:, 0]], points[pairs[:, 1]]) - scene.radius.sum()
    depth = hull.equations[:, 2].max()
    if depth < 0:
        return depth - scene.radius.sum()
    return to_segments(*(points[hull.simplices[:, k]] for k in range(2))) - scene.radius.sum()


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_least_gap_is_the_signed_distance(scene2, kinds):
    rng = seeded(*kinds)
    signs = set()
    for k in range(100):
        scene = scene2([shape(kind, rng) for kind in kinds], *poses(rng, (0.2, 1.0)[k % 2]))
        expected = oracle(scene)
        signs.add(expected > 0)
        assert scene.find(band=10.0).least == pytest.approx(expected, abs=1e-10), k
        near = scene.find(band=0.1)
        assert near.gap.size <= (5 if "plane" in kinds else 2)  # of seven corners that reach a half-plane
        assert (near.gap.size > 0) == (expected <= 0.1)
        if near.gap.size:
            assert near.least == pytest.approx(expected, abs=1e-10)
            assert near.gap.max() <= 0.1 + 1e-12
            assert (np.diff(near.code) > 0).all()
            assert near.code.min() >= 0
            assert near.code.max() < 4096
    assert signs == {True, False}


@pytest.mark.parametrize("seed", range(2))
def test_signed_distance_at_aligned_poses(scene2, seed):
    """Lattice poses and multiples of 45 degrees, disturbed by 1e-16 to 0.1."""
    rng = np.random.default_rng(seed)
    for _ in range(1500):
        shapes = []
        for kind in rng.choice(["disk", "rod", "segment", "square"], 2):
            half = rng.integers(1, 4, 2) / 4
            corners = half * [[-1, -1], [1, -1], [1, 1], [-1, 1]]
            vertices = {"disk": np.zeros((1, 2)), "square": corners}.get(kind, corners[:2] * [1, 0])
            shapes.append((vertices, 0.25 if kind in ("disk", "rod") else 0.0))
        size = 10.0 ** rng.uniform(-16, -1) * rng.integers(2)
        x = rng.integers(-4, 5, (2, 2)) / 4 + size * rng.normal(size=(2, 2))
        scene = scene2(shapes, x, np.pi / 4 * rng.integers(0, 8, 2) + size * rng.normal(size=2))
        assert scene.find(band=10.0).least == pytest.approx(oracle(scene), abs=5e-7)


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_rate_of_the_gap(scene2, kinds):
    rng = seeded("rate", *kinds)
    tested = 0
    for _ in range(60):
        scene = scene2([shape(kind, rng) for kind in kinds], *poses(rng))
        found = scene.find(band=0.5)
        v, w = rng.normal(size=(2, 2)), rng.normal(size=2)
        eps = 1e-5
        plus = scene.moved(eps * v, eps * w).evaluate(found.records)
        minus = scene.moved(-eps * v, -eps * w).evaluate(found.records)
        arm_a, arm_b = found.point_a - scene.x[0], found.point_b - scene.x[1]
        at_a = v[0] + w[0] * np.column_stack([-arm_a[:, 1], arm_a[:, 0]])
        at_b = v[1] + w[1] * np.column_stack([-arm_b[:, 1], arm_b[:, 0]])
        rate = ((at_a - at_b) * found.normal).sum(axis=1)
        smooth = (found.gap + scene.radius.sum() > 0.05) | (found.type != POINT_POINT)
        np.testing.assert_allclose(((plus.gap - minus.gap) / (2 * eps))[smooth], rate[smooth], atol=1e-7)
        tested += smooth.sum()
    assert tested > 20


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_order_of_shapes_does_not_matter(scene2, kinds):
    rng = seeded("order", *kinds)
    for k in range(60):
        x, angle = poses(rng)
        shapes = [shape(kind, rng) for kind in kinds]
        if k % 3 == 0:
            angle[1] = angle[0]
            shapes[1] = shapes[0] if kinds[0] == kinds[1] else shapes[1]
        scene = scene2(shapes, x, angle)
        one, two = scene.find(), scene.exchanged().find()
        order = [np.lexsort(np.round(p, 9).T) for p in (one.point_a, two.point_b)]
        np.testing.assert_allclose(one.gap[order[0]], two.gap[order[1]], atol=1e-14)
        np.testing.assert_allclose(one.normal[order[0]], -two.normal[order[1]], atol=1e-12)
        np.testing.assert_allclose(one.point_a[order[0]], two.point_b[order[1]], atol=1e-12)
        np.testing.assert_allclose(one.point_b[order[0]], two.point_a[order[1]], atol=1e-12)


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_codes_survive_a_small_motion(scene2, kinds):
    rng = seeded("codes", *kinds)
    kept = total = 0
    for _ in range(60):
        scene = scene2([shape(kind, rng) for kind in kinds], *poses(rng))
        before = scene.find()
        after = scene.moved(1e-7 * rng.normal(size=(2, 2)), 1e-7 * rng.normal(size=2)).find()
        total += before.code.size
        kept += np.intersect1d(before.code, after.code).size
    assert kept >= 0.98 * total > 0


SQUARE = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
ROD = np.array([[-0.5, 0.0], [0.5, 0.0]])
GROUND = ("plane", (0.0, 0.0), (0.0, 1.0))


def test_square_on_ground_stands_on_two_corners(scene2):
    found = scene2([GROUND, (SQUARE, 0.0)], [[0, 0], [3.0, 0.5]]).find()
    np.testing.assert_allclose(found.gap, 0.0, atol=1e-15)
    np.testing.assert_allclose(found.point_b, [[2.5, 0.0], [3.5, 0.0]])
    np.testing.assert_array_equal(found.type, LINE_POINT)
    np.testing.assert_allclose(found.normal, [[0.0, -1.0]] * 2)
    tilted = scene2([GROUND, (SQUARE, 0.0)], [[0, 0], [3.0, 0.7]], [0.0, 0.3]).find(band=0.1)
    assert tilted.gap.size == 1


def test_stacked_squares_touch_along_their_overlap(scene2):
    found = scene2([(SQUARE, 0.0), (SQUARE, 0.0)], [[0, 0], [0.3, 1.0]]).find()
    np.testing.assert_allclose(np.sort(found.point_a[:, 0]), [-0.2, 0.5], atol=1e-14)
    np.testing.assert_allclose(found.gap, 0.0, atol=1e-14)
    aligned = scene2([(SQUARE, 0.0), (SQUARE, 0.0)], [[0, 0], [0.0, 1.0]]).find()
    np.testing.assert_allclose(np.sort(aligned.point_a[:, 0]), [-0.5, 0.5], atol=1e-14)


def test_rods_side_by_side_touch_twice(scene2):
    found = scene2([(ROD, 0.1), (ROD, 0.1)], [[0, 0], [0.4, 0.25]]).find()
    np.testing.assert_allclose(np.sort(found.point_a[:, 0]), [-0.1, 0.5], atol=1e-14)
    np.testing.assert_allclose(found.gap, 0.05)
    on_ground = scene2([(ROD, 0.1), GROUND], [[0, 0.1], [0, 0]]).find()
    np.testing.assert_allclose(on_ground.gap, 0.0, atol=1e-15)
    np.testing.assert_array_equal(on_ground.type, POINT_LINE)


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_degenerate_poses_are_finite(scene2, kinds):
    rng = seeded("degenerate", *kinds)
    shapes = [shape(kind, rng) for kind in kinds]
    for x, angle in itertools.product(
        [(0, 0), (0, 0.5), (1e-17, -1e-300)], [(0, 0), (0, np.pi / 2), (1.0, 1.0 + 1e-16)]
    ):
        scene = scene2(shapes, [(0, 0), x], angle)
        found = scene.find(band=0.3)  # `find` asserts finite values and unit normals
        scene.moved(rng.normal(size=(2, 2)), rng.normal(size=2)).evaluate(found.records)


def test_coincident_disks_have_a_normal(scene2):
    found = scene2([(np.zeros((1, 2)), 0.5), (np.zeros((1, 2)), 0.25)]).find()
    np.testing.assert_allclose(found.gap, -0.75)
    np.testing.assert_allclose(found.normal, [[0.0, 1.0]])


def test_a_corner_that_passes_a_corner_has_negative_gap(scene2):
    """Without radius the side is that of the time of finding: the gap continues to negative values."""
    scene = scene2([(SQUARE, 0.0), (SQUARE, 0.0)], [[0, 0], [1.01, 1.01]], [0.0, 0.0])
    found = scene.find()
    assert list(found.type) == [POINT_POINT]
    through = scene.moved(np.array([[0.1, 0.1], [0, 0]]), np.zeros(2)).evaluate(found.records)
    np.testing.assert_allclose(through.gap, -0.09 * np.sqrt(2))
    np.testing.assert_allclose(through.normal, found.normal)
