"""Contact manifolds in space: how many features, where, and what becomes of them at touching and degenerate poses."""

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from stiction.collision import EDGE_EDGE, PLANE_POINT, POINT_LINE, POINT_PLANE, POINT_POINT

CUBE = (np.full(3, 0.5), 0.0)
PLATE = (np.array([2.0, 2.0, 0.1]), 0.0)
CAPSULE = (np.array([0.0, 0.0, 0.5]), 0.1)
BALL = (np.zeros(3), 0.3)
GROUND = (None, 0.0)
LYING = Rotation.from_rotvec([0, np.pi / 2, 0]).as_matrix()


def turn(*vector):
    return Rotation.from_rotvec(vector).as_matrix()


def corners(found, digits=9):
    return np.array(sorted(np.round(found.point_a[:, :2], digits).tolist()))


def test_box_on_ground_stands_on_four_corners(scene3):
    found = scene3([CUBE, GROUND], [[3, 0, 0.5], [0, 0, 0]], [turn(0, 0, 0.3), np.eye(3)]).find()
    assert found.gap.size == 4
    np.testing.assert_allclose(found.gap, 0.0, atol=1e-15)
    np.testing.assert_array_equal(found.type, POINT_PLANE)
    np.testing.assert_allclose(found.normal, [[0, 0, 1]] * 4)
    np.testing.assert_allclose(np.ptp(found.point_a[:, 2]), 0.0, atol=1e-15)
    np.testing.assert_allclose(found.point_a[:, :2].mean(axis=0), [3, 0], atol=1e-14)


@pytest.mark.parametrize(("tilt", "count"), [((0.2, 0, 0), 2), ((0.2, 0.25, 0), 1), ((0.02, 0.02, 0), 4)])
def test_tilted_box_has_the_corners_within_the_band(scene3, tilt, count):
    scene = scene3([GROUND, CUBE], [[0, 0, 0], [0, 0, 0.65]], [np.eye(3), turn(*tilt)])
    found = scene.find(band=0.18 if count == 4 else 0.1)
    heights = 0.65 + 0.5 * np.array(list(itertools.product([-1, 1], repeat=3))) @ scene.R[1][2]
    assert (heights <= (0.18 if count == 4 else 0.1)).sum() == count
    np.testing.assert_allclose(np.sort(found.gap), np.sort(heights)[:count], atol=1e-14)
    np.testing.assert_array_equal(found.type, PLANE_POINT)


def test_box_on_box_stands_on_four_corners(scene3):
    found = scene3([CUBE, PLATE], [[0.3, 0.2, 0.61], [0, 0, 0]], [turn(0, 0, 0.4), np.eye(3)]).find()
    assert found.gap.size == 4
    np.testing.assert_allclose(found.gap, 0.01, atol=1e-14)
    np.testing.assert_array_equal(found.type, POINT_PLANE)


@pytest.mark.parametrize("noise", [0.0, 1e-12, 1e-8, 1e-6])
def test_aligned_stack_keeps_its_corners_and_codes(scene3, noise):
    rng = np.random.default_rng(0)
    codes = []
    for _ in range(20):
        x = [[0, 0, 0], [0, 0, 1.0]] + noise * rng.normal(size=(2, 3))
        found = scene3([CUBE, CUBE], x, [turn(*(noise * rng.normal(size=3))) for _ in range(2)]).find(band=0.01)
        np.testing.assert_array_equal(corners(found, 4), [[-0.5, -0.5], [-0.5, 0.5], [0.5, -0.5], [0.5, 0.5]])
        codes.append(tuple(found.code))
    assert len(set(codes)) == 1


def test_overhanging_box_is_clipped_at_the_edge(scene3):
    small = scene3([CUBE, CUBE], [[0, 0, 0], [0.4, 0.3, 1.0]]).find()
    np.testing.assert_allclose(corners(small), [[-0.1, -0.2], [-0.1, 0.5], [0.5, -0.2], [0.5, 0.5]], atol=1e-9)
    assert set(small.type) == {POINT_PLANE, PLANE_POINT, EDGE_EDGE}
    np.testing.assert_allclose(small.gap, 0.0, atol=1e-14)


def test_crossed_bars_touch_where_their_edges_cross(scene3):
    """No corner of either lies over the other: all four features are crossings of edges."""
    bar = (np.array([1.0, 0.1, 0.1]), 0.0)
    for gap in (0.05, 0.0, -0.05):
        found = scene3([bar, bar], [[0, 0, 0], [0, 0, 0.2 + gap]], [np.eye(3), turn(0, 0, np.pi / 2)]).find()
        np.testing.assert_array_equal(found.type, EDGE_EDGE)
        np.testing.assert_allclose(corners(found), [[-0.1, -0.1], [-0.1, 0.1], [0.1, -0.1], [0.1, 0.1]], atol=1e-9)
        np.testing.assert_allclose(found.gap, gap, atol=1e-14)
        np.testing.assert_allclose(found.normal, [[0, 0, -1]] * 4, atol=1e-14)


def test_octagon_of_a_twisted_stack_is_reduced_to_a_large_quadrilateral(scene3):
    scene = scene3([CUBE, CUBE], [[0, 0, 0], [0, 0, 1.0]], [np.eye(3), turn(0, 0, np.pi / 4)])
    found = scene.find()
    assert found.gap.size == 4
    p = found.point_a[:, :2]
    p = p[np.argsort(np.arctan2(p[:, 1], p[:, 0]))]
    area = 0.5 * abs(np.cross(np.c_[p, np.zeros(4)], np.c_[np.roll(p, -1, axis=0), np.zeros(4)])[:, 2].sum())
    assert area > 0.5  # the octagon has 0.83, a square of its corners 0.586


def test_capsule_lies_on_two_points(scene3):
    for other in (GROUND, PLATE):
        top = 0.0 if other is GROUND else 0.1
        found = scene3([CAPSULE, other], [[0, 0, top + 0.1], [0, 0, 0]], [LYING, np.eye(3)]).find(band=0.01)
        np.testing.assert_allclose(corners(found), [[-0.5, 0], [0.5, 0]], atol=1e-9)
        np.testing.assert_allclose(found.gap, 0.0, atol=1e-15)
        np.testing.assert_array_equal(found.type, POINT_PLANE)
    over_edge = scene3([CAPSULE, PLATE], [[1.8, 0, 0.2], [0, 0, 0]], [LYING, np.eye(3)]).find(band=0.01)
    np.testing.assert_allclose(corners(over_edge), [[1.3, 0], [2.0, 0]], atol=1e-9)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4])
def test_parallel_capsules_touch_at_the_ends_of_their_overlap(scene3, angle):
    found = scene3([CAPSULE, CAPSULE], [[0, 0, 0], [0.25, 0, 0.3]], [np.eye(3), turn(angle, 0, 0)]).find()
    assert found.gap.size >= 2
    z = found.point_a[:, 2]
    np.testing.assert_allclose([z.min(), z.max()], [-0.2, 0.5], atol=1e-3)
    np.testing.assert_allclose(found.gap, 0.05, atol=1e-6)
    crossed = scene3([CAPSULE, CAPSULE], [[0, 0, 0], [0.25, 0, 0]], [np.eye(3), turn(1.0, 0, 0)]).find()
    assert list(crossed.type) == [EDGE_EDGE]


def test_capsule_along_an_edge_touches_twice(scene3):
    found = scene3([CAPSULE, CUBE], [[0.57, 0.57, 0.2], [0, 0, 0]]).find()
    assert list(found.type) == [POINT_LINE, 2]
    np.testing.assert_allclose(np.sort(found.point_b[:, 2]), [-0.3, 0.5], atol=1e-12)
    np.testing.assert_allclose(found.gap, 0.07 * np.sqrt(2) - 0.1)


@pytest.mark.parametrize(
    ("place", "kind"), [((0, 0, 0.9), POINT_PLANE), ((0.6, 0, 0.6), POINT_LINE), ((0.6, 0.6, 0.6), POINT_POINT)]
)
def test_ball_touches_face_edge_or_corner(scene3, place, kind):
    found = scene3([BALL, CUBE], [place, [0, 0, 0]]).find(band=0.2)
    assert list(found.type) == [kind]


SHAPES = [CUBE, PLATE, CAPSULE, BALL, GROUND, (np.array([0.4, 0.3, 0.2]), 0.05), (np.array([0.5, 0.5, 0.0]), 0.0)]


@pytest.mark.parametrize("i", range(len(SHAPES)))
@pytest.mark.parametrize("j", range(len(SHAPES)))
def test_degenerate_poses_are_finite(scene3, i, j):
    """Same centre, parallel edges, aligned faces, touching: `find` asserts finite values and unit normals."""
    rng = np.random.default_rng(0)
    turns = [np.eye(3), turn(0, np.pi / 2, 0), turn(1e-9, 0, 0), turn(0, 0, np.pi / 4), turn(0.3, 1e-17, 0)]
    for x, R in itertools.product([(0, 0, 0), (0, 0, 1.0), (0.5, 0.5, 0.5), (1e-17, 0, -1e-300)], turns):
        scene = scene3([SHAPES[i], SHAPES[j]], [(0, 0, 0), x], [turns[3], R @ turns[3]])
        found = scene.find(band=0.2)
        scene.moved(rng.normal(size=(2, 3)), rng.normal(size=(2, 3))).evaluate(found.records)


def test_coincident_balls_have_a_normal(scene3):
    found = scene3([BALL, BALL]).find()
    np.testing.assert_allclose(found.gap, -0.6)
    np.testing.assert_allclose(found.normal, [[0, 0, 1]])


def test_a_corner_that_passes_a_corner_has_negative_gap(scene3):
    scene = scene3([CUBE, CUBE], [[0, 0, 0], [1.01, 1.01, 1.01]])
    found = scene.find()
    assert list(found.type) == [POINT_POINT]
    through = scene.moved(np.array([[0.1] * 3, [0.0] * 3]), np.zeros((2, 3))).evaluate(found.records)
    np.testing.assert_allclose(through.gap, -0.09 * np.sqrt(3))
    np.testing.assert_allclose(through.normal, found.normal)


def test_edges_keep_their_side_when_they_pass(scene3):
    scene = scene3([CUBE, CUBE], [[0, 0, 0], [0, 0, 1.42]], [turn(np.pi / 4, 0, 0), turn(0, np.pi / 4, 0)])
    found = scene.find()
    assert list(found.type) == [EDGE_EDGE]
    for depth in (0.01, 0.1, 0.5):
        moved = scene.moved(np.array([[0, 0, 0], [0, 0, -depth]]), np.zeros((2, 3))).evaluate(found.records)
        np.testing.assert_allclose(moved.gap, 1.42 - np.sqrt(2) - depth)
        np.testing.assert_allclose(moved.normal, [[0, 0, -1]], atol=1e-15)


def test_full_buffers_are_reported_not_dropped(scene3):
    scene = scene3([CUBE, PLATE, CUBE], [[0.3, 0.2, 0.61], [0, 0, 0], [-1, 0, -0.61]])
    pairs = [(0, 1), (1, 2)]
    full = scene.find(pairs=pairs)
    assert full.gap.size == 8
    grown = scene.find(pairs=pairs, room=3)
    np.testing.assert_array_equal(full.code, grown.code)
    np.testing.assert_array_equal(full.gap, grown.gap)


def test_shapes_of_the_world_have_body_minus_one(scene3):
    scene = scene3([CUBE, PLATE], [[0.3, 0.2, 0.61], [9, 9, 9]], [turn(0, 0, 0.4), turn(1, 2, 3)])
    scene.body = np.array([0, -1])
    found = scene.find()
    np.testing.assert_allclose(found.gap, [0.01] * 4, atol=1e-14)
