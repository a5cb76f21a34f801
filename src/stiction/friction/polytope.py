"""Small polytopes that hold the origin, between their two descriptions: vertices and facets."""

from __future__ import annotations

import numpy as np

from .._check import FloatArray
from ..errors import ModelError

# the message of an error
UNBOUNDED = "facets must bound the friction set in every direction; nothing bounds it along {}."


def facets_of(D: FloatArray) -> FloatArray:
    """Facets (k, n+1), rows (a, c) with |a| = 1, of conv(0, rows of D); flat hulls get pairs of opposite facets."""
    from scipy.spatial import ConvexHull

    n = D.shape[1]
    points = np.vstack([np.zeros(n), D])
    size = np.abs(D).max()
    if size == 0.0:
        raise ModelError("directions must not all be zero.")
    _, sigma, Vt = np.linalg.svd(D / size, full_matrices=True)
    rank = int(np.sum(sigma > 1e-12 * sigma[0]))
    span, normal = Vt[:rank], Vt[rank:]
    wide = sigma[:rank] * size  # in these units the hull is about as thick as it is long, however thin it is
    flat = points @ span.T / wide
    if rank == 1:
        inside = np.array([[1.0, flat.max()], [-1.0, -flat.min()]])
    else:
        equations = ConvexHull(flat, qhull_options="Qt").equations
        inside = np.column_stack([equations[:, :-1], -equations[:, -1]])
        inside[np.abs(inside[:, -1]) < 1e-14, -1] = 0.0
        inside = _distinct(inside)  # triangulated facets share their equation
    inside[:, :-1] /= wide
    inside /= np.linalg.norm(inside[:, :-1], axis=1)[:, None]
    lifted = np.column_stack([inside[:, :-1] @ span, inside[:, -1]])
    walls = np.column_stack([np.vstack([normal, -normal]), np.zeros(2 * len(normal))])
    return np.ascontiguousarray(np.vstack([lifted, walls])) + 0.0


def vertices_of(A: FloatArray, c: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Vertices and facets (normals of length one, none to spare) of {f : A f <= c}, bounded, c >= 0.

    Where some c are 0 the origin lies on the boundary, or the set is flat.
    """
    length = np.linalg.norm(A, axis=1)
    if (length == 0).any():
        raise ModelError(f"facets[0] row {int(np.argmin(length))} is zero; every facet needs a normal.")
    if (c < 0).any():
        raise ModelError(f"facets[1][{int(np.argmin(c))}] must not be negative: a friction set holds the origin.")
    facets = np.column_stack([A / length[:, None], c / length])
    _check_bounded(facets[:, :-1])
    span = _span(facets)
    if len(span) == 0:
        raise ModelError("facets leave nothing but the origin; for no friction use Frictionless().")
    reduced = np.column_stack([facets[:, :-1] @ span.T, facets[:, -1]])
    across = np.linalg.norm(reduced[:, :-1], axis=1)
    used = across > 1e-12
    reduced = reduced[used] / across[used, None]
    corners, needed = _corners(reduced)
    vertices = corners @ span
    vertices = vertices[np.abs(vertices).max(axis=1) > 1e-12 * np.abs(vertices).max()]  # the origin goes without saying
    if len(span) < A.shape[1]:
        return np.ascontiguousarray(vertices) + 0.0, facets_of(vertices)
    return np.ascontiguousarray(vertices) + 0.0, np.ascontiguousarray(facets[used][needed]) + 0.0


def _check_bounded(normals: FloatArray) -> None:
    """No direction d ≠ 0 has A d <= 0."""
    from scipy.optimize import linprog

    n = normals.shape[1]
    for way in np.vstack([np.eye(n), -np.eye(n)]):
        found = linprog(-way, A_ub=normals, b_ub=np.zeros(len(normals)), bounds=(-1, 1))
        if found.status == 0 and -found.fun > 1e-9:
            d = found.x / np.abs(found.x).max()
            raise ModelError(UNBOUNDED.format("(" + ", ".join(f"{x:.3g}" for x in d + 0.0) + ")"))


def _span(facets: FloatArray) -> FloatArray:
    """Orthonormal rows that span the set: all of the space, unless opposite facets through the origin make it flat."""
    from scipy.optimize import linprog

    n = facets.shape[1] - 1
    through = np.flatnonzero(facets[:, -1] == 0.0)
    size = facets[:, -1].max()
    held = []
    for j in through:  # is a·f = 0 on the whole set?
        found = linprog(facets[j, :-1], A_ub=facets[:, :-1], b_ub=facets[:, -1] / (size or 1.0), bounds=(None, None))
        if found.fun is None or -found.fun <= 1e-9:
            held.append(facets[j, :-1])
    if not held:
        return np.eye(n)
    _, sigma, Vt = np.linalg.svd(np.array(held), full_matrices=True)
    return Vt[int(np.sum(sigma > 1e-9)) :]


def _corners(facets: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The vertices of a set that is not flat, and the numbers of the facets that it needs."""
    from scipy.optimize import linprog
    from scipy.spatial import ConvexHull

    n = facets.shape[1] - 1
    if n == 1:
        ends = facets[:, 1] / facets[:, 0]
        up = np.where(facets[:, 0] > 0, ends, np.inf)
        down = np.where(facets[:, 0] < 0, -ends, np.inf)
        both = np.array([up.argmin(), down.argmin()])
        return ends[both][:, None], both
    inside = np.zeros(n)
    if (facets[:, -1] == 0.0).any():  # the middle of the largest ball in the set
        A = np.column_stack([facets[:, :-1], np.ones(len(facets))])
        inside = linprog(
            -np.eye(1, n + 1, n)[0], A_ub=A, b_ub=facets[:, -1], bounds=[(None, None)] * n + [(0, None)]
        ).x[:n]
    # polar: facets are points a/c, and what they need of each other are the vertices of the hull of these points
    points = facets[:, :-1] / (facets[:, -1] - facets[:, :-1] @ inside)[:, None]
    _, sigma, Vt = np.linalg.svd(points, full_matrices=False)
    hull = ConvexHull(points @ Vt.T / sigma, qhull_options="Qt")
    corners = (-hull.equations[:, :-1] / hull.equations[:, -1:] / sigma) @ Vt + inside
    size = np.abs(corners).max(axis=0)
    return _distinct(corners / size) * size, np.sort(hull.vertices)


def _distinct(rows: FloatArray) -> FloatArray:
    """One of each group of rows that agree to ten digits of 1."""
    kept: list[FloatArray] = []
    for row in rows:
        if not kept or np.abs(np.array(kept) - row).max(axis=1).min() > 1e-10:
            kept.append(row)
    return np.array(kept)
