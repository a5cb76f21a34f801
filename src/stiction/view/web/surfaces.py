"""Surfaces as the viewer draws them: which are round, the pattern that shows rotation, fewer triangles for crowds."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull

from ..._check import FloatArray, IntArray

ROUND_MIN_TRIANGLES = 20  # surfaces with more are round: they get a pattern, by which their rotation is seen
ELONGATED_MIN_RATIO = 4.0  # how much longer than wide a surface is that needs no pattern
SMOOTH_MIN_COSINE = 0.85  # cosine between neighbouring triangles above which an edge is not seen
SHAPE_MAX_TRIANGLES = 150_000  # triangles of all bodies of one shape, so that they turn without a graphics card too


def is_smooth(vertices: FloatArray, triangles: IntArray) -> bool:
    """Whether no edge between neighbouring triangles is sharp."""
    corner = vertices[triangles]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    size = np.linalg.norm(normal, axis=1)
    normal = normal / np.where(size > 0.0, size, 1.0)[:, None]
    edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    owner = np.repeat(np.arange(len(triangles)), 3)
    order = np.lexsort(edges.T)
    edges, owner = edges[order], owner[order]
    same = np.flatnonzero((edges[1:] == edges[:-1]).all(axis=1))
    if not len(same):
        return False
    return bool((np.sum(normal[owner[same]] * normal[owner[same + 1]], axis=1) > SMOOTH_MIN_COSINE).all())


def fewer_triangles(vertices: FloatArray, triangles: IntArray, users: int) -> tuple[FloatArray, IntArray]:
    """A round convex surface with so few triangles that all of its users can be drawn; others as they are."""
    for cuts in (3, 2, 1):
        if len(triangles) * users <= SHAPE_MAX_TRIANGLES:
            break
        hull = ConvexHull(vertices)
        if abs(hull.volume - _volume(vertices, triangles)) > 1e-6 * hull.volume:
            break  # not convex
        chosen = np.unique(np.argmax(vertices @ _directions(cuts).T, axis=0))
        fewer = ConvexHull(vertices[chosen])
        if len(fewer.simplices) >= len(triangles):
            continue
        vertices, triangles = vertices[chosen], _outward(vertices[chosen], fewer)
    return vertices, triangles


def _directions(cuts: int) -> FloatArray:
    """The corners of an octahedron whose faces are cut in four so many times."""
    n = 1 << cuts
    grid = np.array([(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)], dtype=float)
    signs = np.array([(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)])
    points = np.unique((signs[:, None] * grid[None]).reshape(-1, 3), axis=0)
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True))


def _volume(vertices: FloatArray, triangles: IntArray) -> float:
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return float(np.sum(a * np.cross(b, c)) / 6.0)


def _outward(vertices: FloatArray, hull: ConvexHull) -> IntArray:
    """The triangles of a hull, counter-clockwise from outside."""
    corner = vertices[hull.simplices]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    inward = np.sum(normal * hull.equations[:, :3], axis=1) < 0.0
    return np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices).astype(np.int64)


def patterned(vertices: FloatArray, triangles: IntArray, dim: int) -> list[tuple[float, tuple[FloatArray, IntArray]]]:
    """A surface by tones: round ones in alternating sectors of two, by which their rotation is seen."""
    if len(triangles) < ROUND_MIN_TRIANGLES or len(triangles) > 2000:
        return [(1.0, (vertices, triangles))]
    middle, extent = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0)), np.ptp(vertices, axis=0)[:dim]
    if extent.max() > ELONGATED_MIN_RATIO * extent.min():
        return [(1.0, (vertices, triangles))]  # its rotation is seen anyway
    if dim == 2:  # a fan about the middle, so that triangles lie in sectors
        n = len(vertices)
        ring = np.arange(n)
        triangles = np.column_stack([np.full(n, n), ring, (ring + 1) % n])
        vertices = np.vstack([vertices, middle])
    centres = vertices[triangles].mean(axis=1) - middle
    dark = (centres[:, 0] * centres[:, 1] > 0.0) if dim == 2 else (np.prod(centres, axis=1) > 0.0)
    if dark.all() or not dark.any():
        return [(1.0, (vertices, triangles))]
    return [(1.0, (vertices, triangles[~dark])), (0.72, (vertices, triangles[dark]))]
