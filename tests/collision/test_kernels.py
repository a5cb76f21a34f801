"""Every collision kernel has one signature."""

import numpy as np

from stiction.collision import aabbs2, aabbs3, pairs
from stiction.collision.records import Boxes, Filters


def test_kernels_have_one_signature_each(scene2, scene3, signatures):
    ones = np.ones(3, dtype=np.int64)
    rest = ones, ones, np.ones(3, dtype=bool), np.zeros(0, dtype=np.int64)
    filters = Filters(np.arange(3), *rest)
    space = scene3([(np.ones(3), 0.0), (np.array([0, 0, 1.0]), 0.1), (None, 0.0)], [[0, 0, 1], [0, 0, 2.05], [0, 0, 0]])
    space.find(pairs=[(0, 1), (0, 2), (1, 2)])
    boxes = Boxes(np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, 4)))
    aabbs3(space.x, space.R, space.packed, 0.1, boxes)
    assert pairs(boxes, space.kind, filters, False).tolist() == [[0, 1], [0, 2]]
    square = np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]])
    plane = scene2([(square, 0.0), (np.zeros((1, 2)), 0.1), ("plane", (0, 0), (0, 1))], [[0, 1], [0, 2.1], [0, 0]])
    plane.find(pairs=[(0, 1), (0, 2), (1, 2)])
    boxes = Boxes(np.zeros((3, 2)), np.zeros((3, 2)), np.zeros((3, 3)))
    aabbs2(plane.x, plane.angle, plane.packed, 0.1, boxes)
    assert pairs(boxes, plane.kind, filters, False).tolist() == [[0, 1], [0, 2]]
    compiled = signatures("stiction.collision")
    assert len(compiled["stiction.collision.space.narrow.find3"]) == 1
    assert {name: kinds for name, kinds in compiled.items() if len(kinds) > 1} == {}
