"""Lists of near pairs that serve several steps, and the same pairs and features by several threads."""

import numpy as np
import pytest

from stiction._jit import get_num_threads, set_num_threads
from stiction.collision import aabbs3, evaluate3, find3, pairs
from stiction.collision.narrow3 import FEATURES
from stiction.collision.neighbours import neighbours, no_neighbours, overlapping
from stiction.collision.search3 import search


def scene(n, seed, boxes=True):
    """n shapes in a cube at a constant density, and a ground."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 0.9 * n ** (1 / 3), (n, 3))
    turn = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
    half = np.where(rng.random((n, 1)) < 0.5, 0.0, rng.uniform(0.1, 0.4, (n, 3))) if boxes else np.zeros((n, 3))
    radius = np.where(half.any(axis=1), 0.0, rng.uniform(0.2, 0.5, n))
    kind, body = np.append(np.zeros(n, np.int64), 1), np.append(np.arange(n), -1)
    shapes = (
        kind, body, np.zeros((n + 1, 3)), np.tile(np.eye(3), (n + 1, 1, 1)), np.vstack([half, np.zeros(3)]),
        np.append(radius, 0.0),
    )  # fmt: skip
    rest = (np.ones(n + 1, np.int64), np.ones(n + 1, np.int64), np.ones(n, bool), np.zeros(0, np.int64))
    return x, turn, shapes, rest, rng


def boxes_of(x, turn, shapes, band):
    ns = len(shapes[0])
    lo, hi, planes = np.empty((ns, 3)), np.empty((ns, 3)), np.empty((ns, 4))
    aabbs3(x, turn, *shapes, band, lo, hi, planes)
    return lo, hi, planes


@pytest.mark.parametrize("speed", [0.0, 0.01, 0.2])
def test_a_list_gives_the_pairs_of_the_moment(speed):
    x, turn, shapes, rest, rng = scene(300, 1)
    kept = no_neighbours(3)
    for _ in range(20):
        band = 0.02 + 0.02 * rng.random() if speed < 0.1 else 2 * speed
        lo, hi, planes = boxes_of(x, turn, shapes, band)
        listed, kept = neighbours(lo, hi, planes, *shapes[:2], *rest, band, kept, False)
        near = overlapping(listed, lo, hi, planes, shapes[0])
        assert np.array_equal(near, pairs(lo, hi, planes, *shapes[:2], *rest, False))
        x = x + speed * rng.uniform(-1, 1, x.shape)
    assert len(near) > 100
    if speed == 0.0:
        assert len(kept[0]) >= len(near)


@pytest.mark.parametrize("boxes", [False, True])
def test_threads_find_the_same(boxes):
    x, turn, shapes, rest, _ = scene(6000, 2, boxes)
    band = 0.05
    lo, hi, planes = boxes_of(x, turn, shapes, band)
    threads = get_num_threads()
    set_num_threads(min(2, threads))
    try:
        near = pairs(lo, hi, planes, *shapes[:2], *rest, False)
        assert np.array_equal(near, pairs(lo, hi, planes, *shapes[:2], *rest, True))
        room = FEATURES * len(near)
        out = [np.zeros(room, np.int64) for _ in range(4)]
        out += [np.zeros((room, 3)) for _ in range(4)] + [np.zeros(room) for _ in range(2)]
        count = find3(x, turn, *shapes, near, band, *out)
        assert count > 1000
        kind, body, center, rot, half, radius = shapes
        group, mask, moves, excluded = rest
        packed = (kind, body, group, mask, excluded, center, rot, half, radius)
        for parallel in (False, True):
            _, found, geometry = search(x, turn, band, 10, parallel, no_neighbours(3), packed, moves)
            assert all(np.array_equal(a, b[:count]) for a, b in zip(found[2:], out))
            assert np.array_equal(found[0], body[found[2]])
            assert np.array_equal(found[1], body[found[3]])
            places = [np.empty((count, *a.shape[1:])) for a in geometry]
            evaluate3(x, turn, *found[:2], *found[5:], *places)
            assert all(np.array_equal(a, b) for a, b in zip(geometry, places))
    finally:
        set_num_threads(threads)
