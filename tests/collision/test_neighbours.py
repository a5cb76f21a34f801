"""Lists of near pairs that serve several steps, and the same pairs and features by several threads."""

import numpy as np
import pytest

from stiction.collision import aabbs3, evaluate3, find3, pairs
from stiction.collision.neighbours import neighbours, no_neighbours, overlapping
from stiction.collision.records import Boxes, FeaturePairs, Filters, FoundContacts, Geometry, SpaceShapes
from stiction.collision.space.narrow import MAX_FEATURES
from stiction.collision.space.search import search
from stiction.runtime.jit import get_num_threads, set_num_threads


def scene(n, seed, boxes=True):
    """n shapes in a cube at a constant density, and a ground."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 0.9 * n ** (1 / 3), (n, 3))
    turn = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
    half = np.where(rng.random((n, 1)) < 0.5, 0.0, rng.uniform(0.1, 0.4, (n, 3))) if boxes else np.zeros((n, 3))
    radius = np.where(half.any(axis=1), 0.0, rng.uniform(0.2, 0.5, n))
    kind, body = np.append(np.zeros(n, np.int64), 1), np.append(np.arange(n), -1)
    ones, none = np.ones(n + 1, np.int64), np.zeros(0, np.int64)
    shapes = SpaceShapes(
        kind, body, ones, ones, none, np.zeros((n + 1, 3)), np.tile(np.eye(3), (n + 1, 1, 1)),
        np.vstack([half, np.zeros(3)]), np.append(radius, 0.0),
    )  # fmt: skip
    return x, turn, shapes, Filters(body, ones, ones, np.ones(n, bool), none), rng


def boxes_of(x, turn, shapes, band):
    ns = len(shapes.kind)
    boxes = Boxes(np.empty((ns, 3)), np.empty((ns, 3)), np.empty((ns, 4)))
    aabbs3(x, turn, shapes, band, boxes)
    return boxes


@pytest.mark.parametrize("speed", [0.0, 0.01, 0.2])
def test_a_list_gives_the_pairs_of_the_moment(speed):
    x, turn, shapes, filters, rng = scene(300, 1)
    kept = no_neighbours(3)
    for _ in range(20):
        band = 0.02 + 0.02 * rng.random() if speed < 0.1 else 2 * speed
        boxes = boxes_of(x, turn, shapes, band)
        listed, kept = neighbours(boxes, shapes.kind, filters, band, kept, False)
        near = overlapping(listed, boxes, shapes.kind)
        assert np.array_equal(near, pairs(boxes, shapes.kind, filters, False))
        x = x + speed * rng.uniform(-1, 1, x.shape)
    assert len(near) > 100
    if speed == 0.0:
        assert len(kept.pairs) >= len(near)


@pytest.mark.parametrize("boxes", [False, True])
def test_threads_find_the_same(boxes):
    x, turn, shapes, filters, _ = scene(6000, 2, boxes)
    band = 0.05
    around = boxes_of(x, turn, shapes, band)
    threads = get_num_threads()
    set_num_threads(min(2, threads))
    try:
        near = pairs(around, shapes.kind, filters, False)
        assert np.array_equal(near, pairs(around, shapes.kind, filters, True))
        room = MAX_FEATURES * len(near)
        out = [np.zeros(room, np.int64) for _ in range(6)]
        out += [np.zeros((room, 3)) for _ in range(4)] + [np.zeros(room) for _ in range(2)]
        count = find3(x, turn, shapes, near, band, FoundContacts(*out))
        assert count > 1000
        for parallel in (False, True):
            _, found, geometry = search(x, turn, band, 10, parallel, no_neighbours(3), shapes, filters.movable)
            assert all(np.array_equal(a, b[:count]) for a, b in zip(found, out))
            assert np.array_equal(found.body_a, shapes.body[found.shape_a])
            assert np.array_equal(found.body_b, shapes.body[found.shape_b])
            places = Geometry(*(np.empty((count, *a.shape[1:])) for a in geometry))
            evaluate3(x, turn, FeaturePairs(*(getattr(found, name) for name in FeaturePairs._fields)), places)
            assert all(np.array_equal(a, b) for a, b in zip(geometry, places))
    finally:
        set_num_threads(threads)
