"""Narrow phase in space: the distance against an independent oracle, exact gradients, manifolds, order, identity."""

import itertools
import zlib

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from scipy.spatial.transform import Rotation

from stiction.collision import EDGE_EDGE, LINE_POINT, PLANE_POINT, POINT_LINE, POINT_PLANE

KINDS = ["sphere", "capsule", "box", "bar", "rounded", "rectangle", "plane"]
PAIRS = [p for p in itertools.combinations_with_replacement(KINDS, 2) if p != ("plane", "plane")]


def shape(kind, rng):
    """(half extents, radius) of a random shape of about unit size."""
    size = rng.uniform(0.2, 1.0, 3)
    return {
        "sphere": (np.zeros(3), size[0]),
        "capsule": (np.array([0.0, 0.0, size[0]]), 0.4 * size[1]),
        "box": (size, 0.0),
        "bar": (size * [1.0, 0.1, 0.15], 0.0),
        "rounded": (size, 0.3 * size[0]),
        "rectangle": (np.array([size[0], size[1], 0.0]), 0.2 * size[2]),
        "plane": (None, 0.0),
    }[kind]


def poses(rng, n=2, spread=1.2):
    return rng.uniform(-spread, spread, (n, 3)), Rotation.random(n, rng=rng).as_matrix()


def seeded(*words):
    return np.random.default_rng(zlib.crc32("-".join(words).encode()))


def oracle_shape(coal, half, radius):
    if half is None:
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    if not half.any():
        return coal.Sphere(radius)
    if not half[:2].any():
        return coal.Capsule(radius, 2 * half[2])
    box = coal.Box(*(2 * half))
    box.setSweptSphereRadius(radius)
    return box


def oracle(scene):
    """Signed distance of the first two shapes by coal."""
    coal = pytest.importorskip("coal")
    objects, transforms = [], []
    for s in range(2):
        objects.append(oracle_shape(coal, *scene.shapes[s]))
        t = coal.Transform3s()
        t.setRotation(scene.R[s] @ scene.rot[s])
        t.setTranslation(scene.x[s] + scene.R[s] @ scene.center[s])
        transforms.append(t)
    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = 1e-10
    request.gjk_max_iterations = request.epa_max_iterations = 2000
    return coal.distance(objects[0], transforms[0], objects[1], transforms[1], request, coal.DistanceResult())


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_least_gap_is_the_signed_distance(scene3, kinds):
    rng = seeded(*kinds)
    signs = set()
    for k in range(100):
        x, R = poses(rng, spread=(0.3, 1.2)[k % 2])
        offset, turn = poses(rng, spread=0.3)
        scene = scene3([shape(kind, rng) for kind in kinds], x, R, offset, turn)
        expected = oracle(scene)
        signs.add(expected > 0)
        assert scene.find(band=10.0).least == pytest.approx(expected, abs=1e-6), k
        near = scene.find(band=0.1)
        assert near.gap.size <= 8
        assert (near.gap.size > 0) == (expected <= 0.1)
        if near.gap.size:
            assert near.least == pytest.approx(expected, abs=1e-6)
            assert near.gap.max() <= 0.1 + 1e-12
            assert (np.diff(near.code) > 0).all()
            assert near.code.min() >= 0
            assert near.code.max() < 4096
    assert signs == {True, False}


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_signed_distance_at_aligned_poses(scene3, seed):
    """Lattice poses and right angles, disturbed by 1e-16 to 0.1, against a bounded least-squares fit of the cores."""
    rng = np.random.default_rng(seed)
    solids = [k for k in KINDS if k != "plane"]
    for _ in range(3000):
        shapes = []
        for kind in rng.choice(solids, 2):
            half, radius = shape(kind, rng)
            shapes.append((np.ceil(4 * half) / 4, np.ceil(8 * radius) / 8))
        size = 10.0 ** rng.uniform(-16, -1) * rng.integers(2)
        quarter = np.pi / rng.choice([2, 4])
        R = Rotation.from_rotvec(size * rng.normal(size=(2, 3))) * Rotation.from_euler(
            "xyz", quarter * rng.integers(0, 4, (2, 3))
        )
        scene = scene3(shapes, rng.integers(-6, 7, (2, 3)) / 4 + size * rng.normal(size=(2, 3)), R.as_matrix())
        columns = np.hstack([scene.R[0] * scene.half[0], -scene.R[1] * scene.half[1]])
        columns = columns[:, abs(columns).sum(axis=0) > 0]
        distance = np.linalg.norm(scene.x[0] - scene.x[1])
        if columns.size:
            fit = lsq_linear(columns, scene.x[1] - scene.x[0], (-1, 1), tol=1e-15, method="bvls")
            distance = np.sqrt(2 * fit.cost)
        found = scene.find(band=10.0).least + scene.radius.sum()
        if distance > 1e-9:
            assert found == pytest.approx(distance, abs=5e-7)
        else:
            assert found <= 5e-7


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_rate_of_the_gap(scene3, kinds):
    """The normal at the surface points is the gradient: finite differences of `evaluate` of the same records."""
    rng = seeded("rate", *kinds)
    tested = 0
    for _ in range(60):
        x, R = poses(rng, spread=0.9)
        scene = scene3([shape(kind, rng) for kind in kinds], x, R, *poses(rng, spread=0.3))
        found = scene.find(band=0.5)
        v, w = rng.normal(size=(2, 2, 3))
        eps = 1e-5
        plus = scene.moved(eps * v, eps * w).evaluate(found.records)
        minus = scene.moved(-eps * v, -eps * w).evaluate(found.records)
        at_a = v[0] + np.cross(w[0], found.point_a - scene.x[0])
        at_b = v[1] + np.cross(w[1], found.point_b - scene.x[1])
        smooth = found.gap + scene.radius.sum() > 0.05  # curvature of the distance to points and lines is 1/distance
        smooth |= np.isin(found.type, [POINT_PLANE, PLANE_POINT, EDGE_EDGE])
        rate = ((at_a - at_b) * found.normal).sum(axis=1)
        np.testing.assert_allclose(((plus.gap - minus.gap) / (2 * eps))[smooth], rate[smooth], atol=1e-7)
        tested += smooth.sum()
    assert tested > 20


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_order_of_shapes_does_not_matter(scene3, kinds):
    rng = seeded("order", *kinds)
    for k in range(60):
        x, R = poses(rng, spread=0.8)
        shapes = [shape(kind, rng) for kind in kinds]
        if k % 3 == 0:
            R[1] = R[0]
            shapes[1] = shapes[0] if kinds[0] == kinds[1] else shapes[1]
        scene = scene3(shapes, x, R)
        one, two = scene.find(), scene.exchanged().find()
        back = np.argsort(two.code % 32 * 32 + two.code // 32)
        np.testing.assert_allclose(one.gap, two.gap[back], atol=1e-14)
        np.testing.assert_allclose(one.normal, -two.normal[back], atol=1e-12)
        np.testing.assert_allclose(one.point_a, two.point_b[back], atol=1e-12)
        np.testing.assert_allclose(one.point_b, two.point_a[back], atol=1e-12)
        mirror = {POINT_LINE: LINE_POINT, LINE_POINT: POINT_LINE, POINT_PLANE: PLANE_POINT, PLANE_POINT: POINT_PLANE}
        assert [mirror.get(t, t) for t in two.type[back]] == list(one.type)


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_codes_survive_a_small_motion(scene3, kinds):
    rng = seeded("codes", *kinds)
    kept = total = 0
    for _ in range(60):
        x, R = poses(rng, spread=0.8)
        scene = scene3([shape(kind, rng) for kind in kinds], x, R)
        before = scene.find()
        after = scene.moved(*(1e-7 * rng.normal(size=(2, 2, 3)))).find()
        total += before.code.size
        kept += np.intersect1d(before.code, after.code).size
    assert kept >= 0.99 * total > 0
