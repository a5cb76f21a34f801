"""Convex polyhedra from points: vertices, faces as polygons, neighbours of vertices, and exact mass properties."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._check import FloatArray
from ...errors import ModelError

HULL_MAX_VERTICES = 2000  # vertices of one hull: contacts are named by pairs of them
HULL_SIZE_RANGE_M = 1e-50, 1e50  # [m]: inertias, which grow as the fifth power, neither underflow nor overflow
_SAME_FACE_TOL = 1e-9  # facets whose normals and offsets (relative to the size) differ by less are one face


@dataclass(frozen=True)
class Polytope:
    """A convex polyhedron: vertices (nv, 3); faces as counter-clockwise loops of vertices with outward unit normals."""

    vertices: FloatArray
    normals: FloatArray
    loops: tuple[tuple[int, ...], ...]
    links: tuple[tuple[int, ...], ...]


def polytope(points: FloatArray, what: str = "ConvexHull points") -> Polytope:
    """The hull of points (n, 3); those inside it, and those on faces and edges, are left out."""
    from scipy.spatial import ConvexHull, QhullError

    span = float(np.ptp(points, axis=0).max()) if len(points) else 0.0
    if len(points) < 4 or span == 0.0:
        got = f"got {len(points)}" if len(points) < 4 else "all of them coincide"
        raise ModelError(f"{what} must be at least 4 points that span a volume; {got}.")
    check_size(what, span)
    middle = points.mean(axis=0)
    thickness = np.linalg.svd(points - middle, compute_uv=False)[-1]
    unit = float(
        np.ldexp(1.0, np.frexp(span)[1])
    )  # a power of two: qhull's choices do not depend on the unit of length
    try:
        hull = ConvexHull(points / unit) if thickness > 1e-10 * span else None
    except QhullError:
        hull = None
    if hull is None:
        raise ModelError(f"{what} lie in one plane; they must span a volume.")
    loops, normals = _faces(points / unit, hull, span / unit)
    used = sorted({i for loop in loops for i in loop})
    if len(used) > HULL_MAX_VERTICES:
        raise ModelError(
            f"{what} have a hull of {len(used)} vertices; at most {HULL_MAX_VERTICES} are possible. Simplify it."
        )
    number = {old: new for new, old in enumerate(used)}
    faces = tuple(tuple(number[i] for i in loop) for loop in loops)
    links: list[set[int]] = [set() for _ in used]
    for loop in faces:
        for i, j in zip(loop, (*loop[1:], loop[0])):
            links[i].add(j)
            links[j].add(i)
    return Polytope(points[used].copy(), np.array(normals), faces, tuple(tuple(sorted(n)) for n in links))


def check_size(what: str, span: float) -> None:
    """Refuse a size [m] with which nothing can be computed."""
    low, high = HULL_SIZE_RANGE_M
    if not low <= span <= high:
        raise ModelError(f"{what} span {span:g} m; sizes from {low:g} to {high:g} m can be computed with.")


def _faces(points: FloatArray, hull: object, span: float) -> tuple[list[list[int]], list[FloatArray]]:
    """The triangles of a hull merged into faces: loops of vertices, and normals."""
    equations, simplices, neighbors = hull.equations, hull.simplices, hull.neighbors  # type: ignore[attr-defined]
    owner = np.full(len(simplices), -1)
    loops, normals = [], []
    for seed in range(len(simplices)):
        if owner[seed] >= 0:
            continue
        members, todo = [], [seed]
        owner[seed] = seed
        while todo:
            f = todo.pop()
            members.append(f)
            for g in neighbors[f]:
                same = np.abs(equations[g, :3] - equations[seed, :3]).max() < _SAME_FACE_TOL
                if owner[g] < 0 and same and abs(equations[g, 3] - equations[seed, 3]) < _SAME_FACE_TOL * span:
                    owner[g] = seed
                    todo.append(int(g))
        loop, normal = _outline(points, simplices[members].ravel(), equations[seed, :3], span)
        loops.append(loop)
        normals.append(normal)
    return loops, normals


def _outline(points: FloatArray, members: np.ndarray, normal: FloatArray, span: float) -> tuple[list[int], FloatArray]:
    """The corners of one face counter-clockwise about its normal, without those on its edges."""
    ids = np.unique(members)
    centre = points[ids].mean(axis=0)
    u = points[ids[0]] - centre
    u = u - (u @ normal) * normal
    v = np.cross(normal, u)
    ids = ids[np.argsort(np.arctan2((points[ids] - centre) @ v, (points[ids] - centre) @ u))]
    keep = []
    for k in range(len(ids)):
        before, here, after = points[ids[k - 1]], points[ids[k]], points[ids[(k + 1) % len(ids)]]
        turn = np.cross(here - before, after - here) @ normal
        if turn > 1e-12 * np.linalg.norm(here - before) * np.linalg.norm(after - here):
            keep.append(int(ids[k]))
    corners = points[keep]
    area = np.cross(corners - corners[0], np.roll(corners, -1, axis=0) - corners[0]).sum(axis=0)
    return keep, area / np.linalg.norm(area)


def solid(vertices: FloatArray, triangles: np.ndarray) -> tuple[float, FloatArray, FloatArray]:
    """Volume, centre of mass and inertia about it (density one) of a closed surface of triangles (n, 3), exactly.

    By tetrahedra from one point: ∫ x xᵀ over one with edges e is det(e)/120 (Σ e eᵀ + (Σ e)(Σ e)ᵀ).
    """
    origin = vertices.mean(axis=0)
    edges = vertices[triangles] - origin
    det = (edges[:, 0] * np.cross(edges[:, 1], edges[:, 2])).sum(axis=1)  # that of NumPy sees the unit of length
    volume = float(det.sum()) / 6
    total = edges.sum(axis=1)
    com = (det[:, None] * total).sum(axis=0) / (24 * volume)
    second = np.einsum("n,nki,nkj->ij", det, edges, edges) + np.einsum("n,ni,nj->ij", det, total, total)
    second = second / 120 - volume * np.outer(com, com)
    return volume, origin + com, np.trace(second) * np.eye(3) - second


def fan(loops: tuple[tuple[int, ...], ...]) -> np.ndarray:
    """Faces as triangles (n, 3)."""
    return np.array([(loop[0], loop[k], loop[k + 1]) for loop in loops for k in range(1, len(loop) - 1)])
