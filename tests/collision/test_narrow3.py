"""Narrow phase in space: the distance against an independent oracle, exact gradients, manifolds, order, identity."""

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from stiction.collision import EDGE_EDGE, LINE_POINT, PLANE_POINT, POINT_LINE, POINT_PLANE, POINT_POINT

coal = pytest.importorskip("coal")

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


def oracle_shape(half, radius):
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
    objects, transforms = [], []
    for s in range(2):
        objects.append(oracle_shape(*scene.shapes[s]))
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
    rng = np.random.default_rng(abs(hash(kinds)) % 1000 if False else len("".join(kinds)))
    signs = set()
    for k in range(150):
        x, R = poses(rng, spread=(0.3, 1.2)[k % 2])
        offset, turn = poses(rng, spread=0.3)
        scene = scene3([shape(kind, rng) for kind in kinds], x, R, offset, turn)
        expected = oracle(scene)
        found = scene.find(band=10.0)
        assert found.least == pytest.approx(expected, abs=1e-6), k
        signs.add(expected > 0)
        near = scene.find(band=0.1)
        assert (near.gap <= 0.1 + 1e-12).all()
        assert (near.gap.size > 0) == (expected <= 0.1)
        assert near.gap.size <= 4
        if near.gap.size:
            assert near.least == pytest.approx(expected, abs=1e-6)
    assert signs == {True, False} or kinds == ("rectangle", "rectangle")
