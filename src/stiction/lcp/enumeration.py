"""Every solution of a small complementarity problem, points and continua.

Branch and prune on complementary pairs. A node is the polyhedron `{z >= 0, w = M z + q >= 0}` with some z_i or w_i
fixed at zero. The simplex kernel says which coordinates vanish on all of it. When every pair has one that does, the
whole polyhedron consists of solutions: it is a piece, and nothing below it needs a look. Otherwise some pair can be
positive on both sides, and the node splits into z_i = 0 and w_i = 0. What both children share is looked at once: below
the second child a polyhedron on which z_i vanishes too is part of the first. A piece inside another has at least the
zeros of the other, so containment is a comparison of bit sets and needs no geometry. In the friction problem (st96 eq.
17) this finds the sticking face, with all of its 2^k patterns of β, at a single node.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import _check
from .._arguments import checks_arguments
from .._check import FloatArray
from ..errors import ModelError
from ..status import Status
from . import kernels
from .pivoting import free_mask
from .polyhedra import Face, Problem
from .simplex import classify

_PIECE_ACCURACY = 1e-8  # residual of a reported piece, relative to the largest row of |M||z| + |q|


class SolutionSet:
    """Every solution of a complementarity problem: `isolated` points (k, n), and `faces`, a tuple of continua (`Face`).

    The solution set is the union of both; a point in `isolated` has no other solution nearby, no piece lies inside
    another, and two faces may share points. Iterating gives vectors (n,): the isolated solutions, then the vertices of
    the faces, each point once, and `len` counts them; whether a vector belongs to a continuum is said by `faces`
    alone. `complete` is False when the limit was reached before everything was searched, or a piece could not be
    verified. `status` is SOLVED (`success`: at least one solution, and all of them are here), NO_SOLUTION (searched
    completely, there is none), LIMIT or INACCURATE. `nodes` counts the polyhedra examined.
    """

    def __init__(self, n: int, isolated: list[FloatArray], faces: list[Face], status: Status, nodes: int):
        self.isolated: FloatArray = np.array(isolated).reshape(len(isolated), n)
        self.faces = tuple(faces)
        self.status = status
        self.nodes = nodes
        self._vectors: list[FloatArray] | None = None

    @property
    def complete(self) -> bool:
        """True when every combination of complementary pairs was searched or ruled out."""
        return self.status in (Status.SOLVED, Status.NO_SOLUTION)

    @property
    def success(self) -> bool:
        """True when there is a solution and all solutions were found."""
        return self.status is Status.SOLVED

    @property
    def message(self) -> str:
        """What was found, in a sentence."""
        nodes = _count(self.nodes, "node")
        found = f"{_count(len(self.isolated), 'isolated solution')} and {_count(len(self.faces), 'face')} in {nodes}"
        if self.status is Status.NO_SOLUTION:
            return f"{self.status.sentence} ({nodes}.)"
        lead = "Every solution was found" if self.success else self.status.sentence.rstrip(".")
        return f"{lead}: {found}."

    @checks_arguments
    def contains(self, z: Any, *, tol: float = 1e-9) -> bool:
        """True when z (n,) is one of the solutions, to `tol` relative to its size."""
        z = _check.floats("z", z, (self.isolated.shape[1],))
        for x in self.isolated:
            if np.abs(x - z).max(initial=0.0) <= tol * max(np.abs(x).max(initial=0.0), np.abs(z).max(initial=0.0)):
                return True
        return any(face.contains(z, tol=tol) for face in self.faces)

    def __iter__(self) -> Iterator[FloatArray]:
        return iter(self._points())

    def __len__(self) -> int:
        return len(self._points())

    def __repr__(self) -> str:
        return f"SolutionSet({self.status}, isolated={len(self.isolated)}, faces={list(self.faces)})"

    def _points(self) -> list[FloatArray]:
        if self._vectors is None:
            self._vectors = _distinct([*self.isolated, *(v for face in self.faces for v in face.vertices)])
        return self._vectors


@checks_arguments
def solutions(M: Any, q: Any, *, free: Any = None, limit: int = 100_000, tol: float = 1e-9) -> SolutionSet:
    """Find every solution of `0 <= z ⟂ w = M z + q >= 0`, points and continua.

    M is (n, n) and q (n,); the boolean mask `free` (n,) marks rows with z_i free and w_i = 0. The work grows with the
    number of sign patterns that no bound rules out, in the worst case like 2^n; twenty pairs take seconds. `limit` is
    the largest number of polyhedra to examine; `tol` is the size, in units where the entries of M and the largest of q
    are near 1, below which a coordinate counts as zero.
    """
    M = _check.floats("M", M, (None, None))
    n = M.shape[0]
    if M.shape[1] != n:
        raise ModelError(f"M must be square; got {M.shape}.")
    q = _check.floats("q", q, (n,))
    mask = np.zeros(n, dtype=bool) if free is None else free_mask(free, n)
    limit = _check.count("limit", limit)
    tol = _check.number("tol", tol, positive=True)
    problem = _equilibrated(M, q, mask)
    pieces, nodes, exhausted = _search(problem, limit, tol)
    isolated: list[FloatArray] = []
    faces: list[Face] = []
    verified = True
    for piece in pieces:
        verified = _add(problem, piece, isolated, faces) and verified
    if not exhausted:
        status = Status.LIMIT
    elif not verified:
        status = Status.INACCURATE
    else:
        status = Status.SOLVED if pieces else Status.NO_SOLUTION
    return SolutionSet(n, _distinct(isolated), faces, status, nodes)


def _equilibrated(M: FloatArray, q: FloatArray, free: np.ndarray) -> Problem:
    n = q.size
    r, c = np.empty(n), np.empty(n)
    kernels.equilibrate(M if M.flags.carray else M.copy(order="C"), r, c)
    s = float(np.abs(r * q).max(initial=0.0)) or 1.0
    return Problem(r[:, None] * M * c, r * q / s, free, r, c, s)


def _standard_form(p: Problem) -> tuple[FloatArray, FloatArray, np.ndarray]:
    """A x = b with x = (z, w, u⁻) >= 0: free variables are z - u⁻, and their w is banned from the start."""
    n = p.q.size
    A = np.hstack([-p.M, np.eye(n), p.M[:, p.free]])
    banned = np.zeros(A.shape[1], dtype=np.int64)
    banned[n : 2 * n][p.free] = 1
    return np.ascontiguousarray(A), p.q.copy(), banned


def _search(p: Problem, limit: int, tol: float) -> tuple[list[FloatArray], int, bool]:
    """The maximal pieces, each as its relative-interior point x = (z, w, u⁻) with exact zeros; nodes; whether all was
    searched.
    """
    n = p.q.size
    A, b, root = _standard_form(p)
    pair = np.flatnonzero(~p.free)
    weight = np.array([1 << k for k in range(2 * n)], dtype=object)
    pieces: list[tuple[int, FloatArray]] = []
    x = np.empty(A.shape[1])
    positive = np.empty(A.shape[1], dtype=np.int64)
    stack: list[tuple[np.ndarray, tuple[int, ...]]] = [(root, ())]
    nodes = 0
    while stack:
        if nodes >= limit:
            return [piece for _, piece in pieces], nodes, False
        banned, seen = stack.pop()
        nodes += 1
        if not classify(A, b, banned, tol, x, positive) or any(not positive[j] for j in seen):
            continue
        both = pair[(positive[pair] == 1) & (positive[pair + n] == 1)]
        if both.size:
            i = int(both[np.argmax(np.minimum(x[both], x[both + n]))])
            for j, known in ((i + n, (*seen, i)), (i, seen)):  # z_i = 0 is searched first, it is last on the stack
                child = np.where(positive == 1, banned, 1) if not p.free.any() else banned.copy()
                child[j] = 1
                stack.append((child, known))
            continue
        zeros = int(weight[np.flatnonzero(positive[: 2 * n] == 0)].sum()) if n else 0
        if any(zeros & other == other for other, _ in pieces):
            continue
        pieces = [old for old in pieces if old[0] & zeros != zeros]
        pieces.append((zeros, np.where(positive == 1, x, 0.0)))
    return [piece for _, piece in pieces], nodes, True


def _add(p: Problem, x: FloatArray, isolated: list[FloatArray], faces: list[Face]) -> bool:
    """Turn a piece into an isolated point or a face, recomputed by linear algebra; False when it cannot be verified."""
    n = p.q.size
    z = x[:n].copy()
    z[p.free] -= x[2 * n :]
    support = (x[:n] > 0) | p.free
    slack = (x[n : 2 * n] > 0) & ~p.free
    block = p.M[np.ix_(~slack, support)]
    U, sigma, Vt = np.linalg.svd(block, full_matrices=True)
    k = int((sigma > 1e-10 * max(1.0, sigma.max(initial=0.0))).sum())
    for _ in range(2):  # to the nearest point of the affine hull, by the pseudo-inverse, refined once
        rest = (p.M @ z + p.q)[~slack]
        z[support] -= Vt[:k].T @ ((U[:, :k].T @ rest) / sigma[:k])
    w = p.M @ z + p.q
    size = (np.abs(p.M) @ np.abs(z) + np.abs(p.q)).max(initial=0.0)
    bounded = support & ~p.free
    error = max(np.abs(w[~slack]).max(initial=0.0), -w[slack].min(initial=0.0))
    largest = np.abs(z).max(initial=0.0)
    verified = error <= _PIECE_ACCURACY * size and -z[bounded].min(initial=0.0) <= _PIECE_ACCURACY * largest
    z[bounded] = np.maximum(z[bounded], 0.0)
    if k == support.sum():
        isolated.append(z * p.s * p.c)
    else:
        basis = np.zeros((int(support.sum()) - k, n))
        basis[:, support] = Vt[k:]
        faces.append(Face(p, support, slack, z, basis))
    return bool(verified and np.isfinite(z).all() and np.isfinite(w).all())


def _count(k: int, thing: str) -> str:
    return f"{k} {thing}" if k == 1 else f"{k} {thing}s"


def _distinct(points: list[FloatArray]) -> list[FloatArray]:
    """The points without repetitions to 1e-9 of their size."""
    if len(points) < 2:
        return points
    kept = np.array(points)
    k = 0
    for x in points:
        if k == 0 or np.abs(kept[:k] - x).max(axis=1).min() > 1e-9 * np.abs(x).max():
            kept[k] = x
            k += 1
    return list(kept[:k])
