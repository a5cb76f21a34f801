"""Continua of solutions: a face is a polyhedron, known by the coordinates of z and w that vanish on all of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .. import _check
from .._arguments import checks_arguments
from .._check import FloatArray
from ..errors import StictionError

_ZERO_SHARE = 1e-9  # of the largest: what is smaller is round-off
_MAX_RAYS = 20_000  # extreme rays kept at once by the double description


@dataclass(frozen=True)
class Problem:
    """A mixed problem in equilibrated units, `M = r M_given c`, `q = r q_given / s`, `z_given = s c z`."""

    M: FloatArray
    q: FloatArray
    free: np.ndarray
    r: FloatArray
    c: FloatArray
    s: float


class Face:
    """A continuum of solutions, `{z: z_i = 0 off the support, w_i = 0 off the slack, z_i >= 0, w_i >= 0}`.

    `support` and `slack` (n,) are boolean: where z_i (w_i) is positive in the relative interior; no index is in both,
    and free variables count to the support. `dimension` is that of the face, `interior` (n,) a point of its relative
    interior, `directions` (dimension, n) an orthonormal basis of the differences of its points. `vertices` (k, n),
    `rays` (k, n) and `lines` (k, n) span it: every point is a mean of vertices plus nonnegative multiples of rays plus
    multiples of lines. Lines occur only where free variables are undetermined; the vertices then are those with no
    part along the lines.
    """

    def __init__(
        self, problem: Problem, support: np.ndarray, slack: np.ndarray, interior: FloatArray, basis: FloatArray
    ):
        self._problem = problem
        self._basis = basis  # (dimension, n), equilibrated units
        self._interior = interior
        self.support = support
        self.slack = slack
        self.dimension = basis.shape[0]

    def __repr__(self) -> str:
        return f"Face(dimension={self.dimension}, support={np.flatnonzero(self.support).tolist()})"

    @cached_property
    def interior(self) -> FloatArray:
        """A point of the relative interior, (n,)."""
        return self._given(self._interior)

    @cached_property
    def directions(self) -> FloatArray:
        """An orthonormal basis of the differences between points of the face, (dimension, n)."""
        return np.linalg.qr((self._basis * self._problem.c).T)[0].T

    @property
    def vertices(self) -> FloatArray:
        """The corners of the face, (k, n)."""
        return self._span[0]

    @property
    def rays(self) -> FloatArray:
        """The extreme directions in which the face has no end, (k, n), largest entry 1."""
        return self._span[1]

    @property
    def lines(self) -> FloatArray:
        """A basis of the directions in which the face has no end both ways, (k, n), largest entry 1."""
        return self._span[2]

    @checks_arguments
    def contains(self, z: Any, *, tol: float = 1e-9) -> bool:
        """True when z (n,) lies on the face to `tol`, relative to the size of z and of the rows of |M||z| + |q|, in
        equilibrated units.
        """
        p = self._problem
        y = _check.floats("z", z, (p.q.size,)) / (p.s * p.c)
        w = p.M @ y + p.q
        size_z = tol * max(np.abs(y).max(), np.abs(self._interior).max())
        size_w = tol * (np.abs(p.M) @ np.abs(y) + np.abs(p.q)).max()
        good = (np.abs(y[~self.support]) <= size_z).all() and (np.abs(w[~self.slack]) <= size_w).all()
        return bool(good and (y[~p.free] >= -size_z).all() and (w[~p.free] >= -size_w).all())

    def _given(self, y: FloatArray) -> FloatArray:
        """Vectors in the caller's units."""
        return y * (self._problem.s * self._problem.c)

    @cached_property
    def _span(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        p, N, x = self._problem, self._basis, self._interior
        bounded = self.support & ~p.free
        G = np.vstack([N.T[bounded], (p.M @ N.T)[self.slack]])
        g = np.concatenate([x[bounded], (p.M @ x + p.q)[self.slack]])
        _, sigma, Vt = np.linalg.svd(G, full_matrices=True)
        k = int((sigma > _ZERO_SHARE * max(1.0, sigma.max(initial=0.0))).sum())
        across, along = Vt[:k], Vt[k:]  # the face is (a pointed polyhedron in `across`) + (all of `along`)
        start = x - (x @ N.T @ along.T) @ along @ N
        cone = extreme_rays(np.vstack([np.column_stack([G @ across.T, g]), np.eye(k + 1)[-1:]]))
        corner = cone[:, -1] > _ZERO_SHARE
        vertices = start + (cone[corner, :-1] / cone[corner, -1:]) @ across @ N
        vertices[:, ~p.free] = np.where(vertices[:, ~p.free] > 1e-12, vertices[:, ~p.free], 0.0)
        return self._given(vertices), _largest_one(cone[~corner, :-1] @ across @ N * p.c), _largest_one(along @ N * p.c)


def _largest_one(rays: FloatArray) -> FloatArray:
    """Each row divided by its largest magnitude, entries of round-off size set to zero."""
    rays = rays / np.abs(rays).max(axis=1, initial=np.finfo(float).tiny, keepdims=True)
    return np.where(np.abs(rays) > 1e-12, rays, 0.0)


def extreme_rays(G: FloatArray) -> FloatArray:
    """The extreme rays (k, D) of the pointed cone {x: G x >= 0}, G (m, D) of rank D, by Motzkin's double description.

    The cone of D independent rows is simplicial; each further row cuts off the rays on its wrong side and adds one ray
    for every pair of adjacent rays that it separates. Two rays are adjacent when no third lies on all rows that both
    lie on.
    """
    norms = np.linalg.norm(G, axis=1)
    G = G[norms > _ZERO_SHARE * max(1.0, norms.max())]
    G = G / np.linalg.norm(G, axis=1, keepdims=True)
    D = G.shape[1]
    first = _independent_rows(G)
    rays = np.linalg.inv(G[first]).T
    rays /= np.abs(rays).max(axis=1, keepdims=True)
    on = ~np.eye(D, dtype=bool)  # on[i, j]: ray i lies on row j of those treated so far
    for row in np.delete(np.arange(G.shape[0]), first):
        value = rays @ G[row]
        zero = np.abs(value) <= _ZERO_SHARE
        keep = (value > 0) | zero
        new, new_on = _cut(rays, on, value, zero, D)
        rays = np.vstack([rays[keep], new])
        on = np.vstack([on[keep], new_on])
        on = np.column_stack([on, np.concatenate([zero[keep], np.ones(len(new), dtype=bool)])])
        if len(rays) > _MAX_RAYS:
            raise StictionError(
                f"The face has more than {_MAX_RAYS} vertices and rays; use interior and directions instead."
            )
    return rays


def _cut(
    rays: FloatArray, on: np.ndarray, value: FloatArray, zero: np.ndarray, D: int
) -> tuple[FloatArray, np.ndarray]:
    """The rays in which a new row meets the edges of the cone, and the rows these lie on."""
    good, bad = np.flatnonzero((value > 0) & ~zero), np.flatnonzero((value < 0) & ~zero)
    found, found_on = [np.empty((0, D))], [np.empty((0, on.shape[1]), dtype=bool)]
    counts = on.astype(np.int32)
    for i in good:
        common = on[bad] & on[i]
        near = common.sum(1) >= D - 2
        common, others = common[near], bad[near]
        shared = common.astype(np.int32)
        adjacent = (shared @ counts.T >= shared.sum(1, keepdims=True)).sum(1) == 2
        others = others[adjacent]
        new = value[i] * rays[others] - value[others, None] * rays[i]
        found.append(new / np.abs(new).max(axis=1, initial=np.finfo(float).tiny, keepdims=True))
        found_on.append(common[adjacent])
    return np.vstack(found), np.vstack(found_on)


def _independent_rows(G: FloatArray) -> np.ndarray:
    """Indices of D well-conditioned independent rows of G (m, D): Gram-Schmidt, always taking the largest that is
    left.
    """
    rest = G.copy()
    chosen = []
    for _ in range(G.shape[1]):
        norms = np.linalg.norm(rest, axis=1)
        i = int(np.argmax(norms))
        chosen.append(i)
        e = rest[i] / norms[i]
        rest -= np.outer(rest @ e, e)
    return np.array(chosen, dtype=int)
