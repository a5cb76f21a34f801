"""Small polytopes that hold the origin, between their two descriptions: vertices and facets."""

from __future__ import annotations

import numpy as np

from .._check import FloatArray
from ..errors import ModelError


def facets_of(D: FloatArray) -> FloatArray:
    """Facets (k, n+1), rows (a, c) with |a| = 1, of conv(0, rows of D); flat hulls get pairs of opposite facets."""
    from scipy.spatial import ConvexHull

    n = D.shape[1]
    points = np.vstack([np.zeros(n), D])
    size = np.abs(D).max()
    if size == 0.0:
        raise ModelError("directions must not all be zero.")
    _, sigma, Vt = np.linalg.svd(D, full_matrices=True)
    rank = int(np.sum(sigma > 1e-12 * sigma[0]))
    span, normal = Vt[:rank], Vt[rank:]
    flat = points @ span.T
    if rank == 1:
        inside = np.array([[1.0, flat.max()], [-1.0, -flat.min()]])
    else:
        equations = ConvexHull(flat, qhull_options="Qt").equations
        inside = np.column_stack([equations[:, :-1], -equations[:, -1]])
        inside = _distinct(inside, np.append(np.ones(rank), size))  # triangulated facets share their equation
    inside[:, -1] = np.where(np.abs(inside[:, -1]) < 1e-14 * size, 0.0, inside[:, -1])
    lifted = np.column_stack([inside[:, :-1] @ span, inside[:, -1]])
    walls = np.column_stack([np.vstack([normal, -normal]), np.zeros(2 * len(normal))])
    return np.ascontiguousarray(np.vstack([lifted, walls]))


def vertices_of(A: FloatArray, c: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Vertices and normalised facets of {f : A f <= c}, which must be bounded and hold the origin inside."""
    from scipy.spatial import HalfspaceIntersection, QhullError

    length = np.linalg.norm(A, axis=1)
    if (length == 0).any():
        raise ModelError(f"facets[0] row {int(np.argmin(length))} is zero; every facet needs a normal.")
    if (c <= 0).any():
        raise ModelError(f"facets[1][{int(np.argmin(c))}] must be positive: the origin lies inside a friction set.")
    facets = np.column_stack([A / length[:, None], c / length])
    n = A.shape[1]
    if n == 1:
        upper = facets[facets[:, 0] > 0, 1]
        lower = facets[facets[:, 0] < 0, 1]
        if not (len(upper) and len(lower)):
            raise ModelError("facets must bound the friction set in both directions.")
        return np.array([[upper.min()], [-lower.min()]]), facets
    try:
        raw = HalfspaceIntersection(np.column_stack([facets[:, :-1], -facets[:, -1]]), np.zeros(n)).intersections
    except QhullError as error:
        raise ModelError("facets must bound the friction set in every direction.") from error
    if not np.isfinite(raw).all():
        raise ModelError("facets must bound the friction set in every direction.")
    return np.ascontiguousarray(_distinct(raw, np.abs(raw).max())), np.ascontiguousarray(facets)


def _distinct(rows: FloatArray, scale: FloatArray | float) -> FloatArray:
    """One of each group of rows that agree to ten digits of `scale`."""
    _, first = np.unique(np.round(rows / scale, 10) + 0.0, axis=0, return_index=True)
    return rows[np.sort(first)]
