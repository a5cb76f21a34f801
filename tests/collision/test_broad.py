"""Broad phase: no pair is missed, none invented, whatever the sizes, the filters and the order of the shapes."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from stiction.collision import aabbs2, aabbs3, find3, pairs
from stiction.collision.records import Boxes, Filters, FoundContacts, PlaneShapes, SpaceShapes


def filters(rng, n, nb):
    group = 2 ** rng.integers(0, 3, n)
    mask = rng.integers(1, 8, n)
    movable = rng.random(nb) < 0.8
    excluded = np.sort(rng.integers(0, nb, (n, 2)), axis=1)
    excluded = excluded[excluded[:, 0] < excluded[:, 1]]
    return group, mask, movable, np.unique(excluded[:, 0] * nb + excluded[:, 1])


def found_pairs(lo, hi, planes, kind, *rest):
    return pairs(Boxes(lo, hi, planes), kind, Filters(*rest), False)


def all_pairs(lo, hi, planes, kind, body, group, mask, movable, excluded):
    """Every pair by definition, as arrays of all against all."""
    i, j = np.triu_indices(len(kind), 1)
    d = lo.shape[1]
    keep = ((lo[i] <= hi[j]) & (lo[j] <= hi[i])).all(axis=1) & ~((kind[i] == 1) & (kind[j] == 1))
    for p, other in ((i, j), (j, i)):
        n = planes[p][:, :d]
        corner = np.where(n > 0, lo[other], hi[other])
        height = np.where(n != 0, n * np.where(n != 0, corner, 0), 0).sum(axis=1)
        keep &= (kind[p] == 0) | (height <= planes[p][:, d])
    moves = np.append(movable, False)  # body -1 is the world
    a, b = np.minimum(body[i], body[j]), np.maximum(body[i], body[j])
    keep &= (a != b) & (moves[a] | moves[b]) & (group[i] & mask[j] != 0) & (group[j] & mask[i] != 0)
    keep &= (a < 0) | ~np.isin(a * len(movable) + b, excluded)
    return np.column_stack([i, j])[keep]


def boxes(rng, n, d, planes=2):
    size = 10 ** rng.uniform(-2, 0, n)
    spread = 0.4 * n ** (1 / d) * size.mean()
    center = rng.uniform(-spread, spread, (n, d))
    half = 0.5 * size[:, None] * rng.uniform(0.3, 1, (n, d))
    lo, hi = center - half, center + half
    kind = np.zeros(n, dtype=np.int64)
    plane = np.zeros((n, d + 1))
    for p in rng.choice(n, min(planes, n), replace=False):
        kind[p] = 1
        lo[p], hi[p] = -np.inf, np.inf
        normal = rng.normal(size=d) if p % 2 else np.eye(d)[-1]
        plane[p] = [*(normal / np.linalg.norm(normal)), -0.5 * spread]
    return lo, hi, plane, kind


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 40, 200, 900])
def test_pairs_are_those_of_all_against_all(n, d):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        world = (*boxes(rng, n, d, planes=seed), rng.integers(-1, n, n), *filters(rng, n, n))
        np.testing.assert_array_equal(found_pairs(*world), all_pairs(*world))


def test_extreme_boxes_are_not_lost():
    """Points, boxes of 1e6 and 1e-9, coordinates of 1e15, and boxes that are infinite."""
    rng = np.random.default_rng(0)
    lo, hi, planes, kind = boxes(rng, 300, 3, planes=0)
    hi[:5] = lo[:5]
    hi[5:8] += 1e6
    hi[8:12] = lo[8:12] + 1e-9
    lo[12:16] += 1e15
    hi[12:16] += 1e15
    lo[16], hi[17] = -np.inf, np.inf
    body = np.arange(300)
    free = np.ones(300, dtype=np.int64), np.ones(300, dtype=np.int64), np.ones(300, dtype=bool), np.zeros(0, np.int64)
    world = lo, hi, planes, kind, body, *free
    np.testing.assert_array_equal(found_pairs(*world), all_pairs(*world))


def test_pairs_do_not_depend_on_the_order_of_shapes():
    rng = np.random.default_rng(1)
    n = 400
    lo, hi, planes, kind = boxes(rng, n, 3)
    body = rng.integers(0, 100, n)
    rest = filters(rng, n, 100)
    order = rng.permutation(n)
    one = found_pairs(lo, hi, planes, kind, body, *rest)
    shuffled = [a[order] for a in (lo, hi, planes, kind, body, rest[0], rest[1])]
    two = np.sort(order[found_pairs(*shuffled, *rest[2:])], axis=1)
    np.testing.assert_array_equal(one, two[np.lexsort(two.T[::-1])])


def random_space(rng, n):
    """Shapes of mixed kind and size (1 to 1e-2), two half-spaces among them, at random poses."""
    size = 10 ** rng.uniform(-2, 0, n)
    half = 0.4 * size[:, None] * rng.uniform(0.1, 1, (n, 3)) * rng.integers(0, 2, (n, 3))
    radius = 0.3 * size * rng.integers(0, 2, n)
    kind = (np.arange(n) % (n // 2) == 3).astype(np.int64)
    radius[kind == 1] = 0
    x = rng.uniform(-0.5, 0.5, (n, 3)) * n ** (1 / 3) * 0.5
    R = Rotation.random(n, rng=rng).as_matrix()
    center = 0.1 * rng.normal(size=(n, 3))
    rot = Rotation.random(n, rng=rng).as_matrix()
    ones, none = np.ones(n, dtype=np.int64), np.zeros(0, dtype=np.int64)
    return x, R, SpaceShapes(kind, np.arange(n), ones, ones, none, center, rot, half, radius)


def count_features(x, R, shapes, candidates, band):
    """Shape pairs that have features."""
    m = 5 * len(candidates) + 1
    integers = [np.zeros(m, dtype=np.int64) for _ in range(6)]
    vectors = [np.zeros((m, 3)) for _ in range(4)]
    found = FoundContacts(*integers, *vectors, np.zeros(m), np.zeros(m))
    count = find3(x, R, shapes, candidates, band, found)
    assert count <= m
    return np.unique(np.column_stack([found.shape_a, found.shape_b])[:count], axis=0)


@pytest.mark.parametrize("band", [0.0, 0.05])
def test_no_contact_is_missed_in_space(band):
    rng = np.random.default_rng(2)
    n = 200
    x, R, shapes = random_space(rng, n)
    kind = shapes.kind
    boxes = Boxes(np.full((n, 3), np.nan), np.full((n, 3), np.nan), np.full((n, 4), np.nan))
    aabbs3(x, R, shapes, band, boxes)
    assert not any(np.isnan(a).any() for a in boxes)
    filters = Filters(shapes.body, shapes.group, shapes.mask, np.ones(n, dtype=bool), shapes.excluded)
    near = pairs(boxes, kind, filters, False)
    every = np.column_stack(np.triu_indices(n, 1))
    contacts = count_features(x, R, shapes, every, band)
    assert len(contacts) > 50
    assert (kind[contacts] == 1).any()
    np.testing.assert_array_equal(count_features(x, R, shapes, near, band), contacts)
    assert len(near) < 0.5 * len(every)


def test_boxes_in_the_plane_hold_the_shapes():
    square = np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]])
    verts = np.concatenate([square, [[0.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]])
    ptr = np.array([0, 4, 5, 7])
    lo, hi, planes = boxes = Boxes(np.empty((3, 2)), np.empty((3, 2)), np.empty((3, 3)))
    ones, none = np.ones(3, dtype=np.int64), np.zeros(0, dtype=np.int64)
    x, angle = np.array([[1.0, 2.0], [3.0, 0.0], [0.0, 0.0]]), np.array([np.pi / 4, 0.0, np.pi / 2])
    kind, radius = np.array([0, 0, 1]), np.array([0.0, 0.5, 0.0])
    aabbs2(x, angle, PlaneShapes(kind, np.arange(3), ones, ones, none, ptr, verts, radius), 0.2, boxes)
    r = np.sqrt(2) + 0.1
    np.testing.assert_allclose(lo[:2], [[1 - r, 2 - r], [2.4, -0.6]])
    np.testing.assert_allclose(hi[:2], [[1 + r, 2 + r], [3.6, 0.6]])
    np.testing.assert_allclose(planes[2], [-1, 0, 1 + 0.1], atol=1e-15)
    assert np.isinf(hi[2]).all()
