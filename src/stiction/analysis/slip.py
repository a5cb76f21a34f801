"""What is left of a friction set at a contact that slides: the face that opposes the slip.

Friction that dissipates most at slip velocity u, the maximum work principle, lies in the face `argmax {-u·f : f in F}`
of its set (st96 eq. 16, s00 eq. 1.1, 3.1, ttp01 §2 (iv), (iv)'). Where F is smooth that is one point, and friction is
known up to the normal force. Where u is zero, or F is flat across u (a polyhedron, a product of which one factor is at
rest), several points do as well, and the next derivative decides among them: the face is a friction set again, about a
point of it, in fewer rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._check import FloatArray
from ..friction.polyhedra import Polyhedral
from ..friction.products import ProductSet
from ..friction.sets import POLYHEDRON, PRODUCT, FrictionSet

SAME_FACE_TOL = 1e-9  # relative: vertices whose work differs by less belong to one face


@dataclass(frozen=True)
class FactorsAtRest(ProductSet):
    """The factors of a product whose velocity is zero, by their semi-axes at unit radius."""

    mu: float
    semi_axes: tuple[tuple[float, ...], ...]

    def factors(self, dim: int) -> tuple[tuple[float, ...], ...]:
        """The semi-axes."""
        return self.semi_axes


@dataclass(frozen=True)
class Face:
    """Friction at unit radius is `point + basisᵀ f`: point (n,), basis (k, n), f in `left`; None where k = 0."""

    point: FloatArray
    basis: FloatArray
    left: FrictionSet | None


def opposing_face(friction: FrictionSet, mu: float, u: FloatArray, rest: FloatArray) -> Face:
    """The face of the unit set that dissipates most at slip velocity u (n,); |u_i| <= rest_i counts as zero.

    It solves `min uᵀDβ` of s00 eq. 3.1: on a polyhedron, the directions of st96 eq. 16.
    """
    n = len(u)
    u = np.where(np.abs(u) <= rest, 0.0, u)
    if not u.any():
        return Face(np.zeros(n), np.eye(n), friction)
    code = friction.packed(n)
    if n > 1 and code.kind == POLYHEDRON and friction.is_polyhedral(n):
        return _of_polyhedron(np.vstack([np.zeros(n), code.vertices]), mu, u)
    point = friction.support_point(-u)
    if code.kind & 3 != PRODUCT:
        return Face(point, np.zeros((0, n)), None)
    starts = [k for k in range(n) if k == 0 or code.kind >> (2 + k) & 1]
    factors = [range(a, b) for a, b in zip(starts, [*starts[1:], n])]
    still = [rows for rows in factors if not u[rows].any() and code.semi[rows].any()]
    if not still:
        return Face(point, np.zeros((0, n)), None)
    left = FactorsAtRest(mu, tuple(tuple(code.semi[rows].tolist()) for rows in still))
    return Face(point, np.eye(n)[[k for rows in still for k in rows]], left)


def _of_polyhedron(vertices: FloatArray, mu: float, u: FloatArray) -> Face:
    """The face of conv(vertices), about the mean of its corners."""
    work = -vertices @ u
    face = np.unique(vertices[work >= work.max() - SAME_FACE_TOL * np.abs(work).max()], axis=0)
    point = face.mean(axis=0)
    _, sigma, Vt = np.linalg.svd(face - point)
    k = int((sigma > SAME_FACE_TOL * np.abs(vertices).max()).sum())
    basis = Vt[:k]
    return Face(point, basis, Polyhedral(mu, directions=(face - point) @ basis.T) if k else None)
