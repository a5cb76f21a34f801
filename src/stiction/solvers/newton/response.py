"""The law of every block as a map from a trial impulse to an admissible one, with its derivative.

A contact problem is solved when every block answers its trial impulse `x = p - ρ u` with p itself. For Coulomb's law
the answer is that of Alart and Curnier: the normal impulse first, `p_n = max(0, x_n)`, then friction as the projection
of `x_t` onto the set of radius `mu p_n + r0`. For the associated law it is the projection of x onto the whole cone.

Rows are scaled (`make_scaled`): rotational rows to metres and friction rows by their semi-axes, so that ellipsoids are
balls and products of ellipsoids products of balls. Maximum dissipation does not see such scalings.

The certificate projects on the same sets (`problem/residuals.project_block`), in rows in metres and without a
derivative. There is no scaling that suits both, so the closed forms for balls are here again, with their derivatives.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..._check import Array, FloatArray
from ...friction.kernels import ELLIPSOID, POLYHEDRON, PRODUCT, PolyhedronWorkspace, project_polyhedron
from ...problem.contact_problem import ContactProblem
from ...problem.laws import BOX, DRY, EQUALITY, UNILATERAL
from ...problem.residuals import most_inequalities
from ...runtime.jit import njit


class Scaled(NamedTuple):
    """Laws in scaled rows: p = unit·x and the scaled velocity is unit·u."""

    unit: Array  # (nr,)
    row_ptr: Array  # (nk + 1,)
    law: Array  # (nk,)
    mu: Array  # (nk,)
    r0: Array  # (nk,)
    lo: Array  # (nr,)
    hi: Array  # (nr,)
    groups: Array  # (nk,) bit k set where friction row k starts a new ball, 0 for polyhedra
    facets: Array  # (., 6) of each block in scaled rows
    facet_ptr: Array  # (nk + 1,)
    associated: Any

    def respond(self, x: FloatArray, p: FloatArray, D: FloatArray) -> None:
        """Fill p (nr,) with the answers to x (nr,), and D (nr, 6) with the rows of each block's dp/dx."""
        _respond(self, x, p, D)


class Workspace(NamedTuple):
    """Work arrays for one block with up to m - 2 facets."""

    z: Array  # (8,)
    y: Array  # (8,)
    G: Array  # (m, 8) its facets
    h: Array  # (m,) their offsets
    work: PolyhedronWorkspace


def make_scaled(problem: ContactProblem) -> Scaled:
    """The scaling of a problem's rows and its laws in them."""
    f, nk = problem.friction, problem.nk
    sizes = np.diff(problem.row_ptr)
    block = np.repeat(np.arange(nk), sizes)
    place = np.arange(problem.nr) - problem.row_ptr[block]  # row within its block
    shift = (problem.law == UNILATERAL).astype(np.int64)[block]
    rubs = ((problem.law == UNILATERAL) | (problem.law == DRY))[block] & (place >= shift)
    kind = f.kind[f.set_of]
    round_ = (kind == ELLIPSOID) | ((kind & 3) == PRODUCT)
    semi = f.semi[f.set_of[block], np.clip(place - shift, 0, f.semi.shape[1] - 1)]  # 6 rows: a joint, without friction
    unit = problem.length.copy()
    turned = rubs & round_[block]
    # friction without a normal impulse has the radius r0 in its own row: of torque, where that is a rotation
    metres = np.where((problem.law == DRY) & round_, problem.length[problem.row_ptr[:-1]], 1.0)
    unit[turned] = (semi * metres[block])[turned]
    groups = np.where((kind & 3) == PRODUCT, (kind >> 2) | 1, np.where(kind == ELLIPSOID, 1, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        lo, hi = problem.lo / unit, problem.hi / unit
    counts = np.where(kind == POLYHEDRON, np.diff(f.facet_ptr)[f.set_of], 0)
    facet_ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    facets = np.zeros((int(facet_ptr[-1]), 6))
    if len(facets):
        _scale_facets(problem.law, problem.row_ptr, f.set_of, f.facets, f.facet_ptr, unit, facet_ptr, facets)
    return Scaled(
        unit, problem.row_ptr, problem.law, f.mu, problem.r0 / metres, lo, hi, groups.astype(np.int64), facets,
        facet_ptr, problem.associated,
    )  # fmt: skip


@njit
def _scale_facets(law, row_ptr, set_of, source, source_ptr, unit, facet_ptr, facets):
    """Facets a·f <= c with f = unit·x, normals of length one again."""
    for b in range(len(law)):
        first = row_ptr[b] + (1 if law[b] == UNILATERAL else 0)
        n = row_ptr[b + 1] - first
        for j in range(facet_ptr[b + 1] - facet_ptr[b]):
            at, to = source_ptr[set_of[b]] + j, facet_ptr[b] + j
            s = 0.0
            for k in range(n):
                facets[to, k] = source[at, k] * unit[first + k]
                s += facets[to, k] ** 2
            size = math.sqrt(s) if s > 0.0 else 1.0
            for k in range(n):
                facets[to, k] /= size
            facets[to, n] = source[at, n] / size


@njit
def _respond(laws, x, p, D):
    """Fill p and D as `Scaled.respond` says."""
    law, row_ptr, lo, hi = laws.law, laws.row_ptr, laws.lo, laws.hi
    most = most_inequalities(laws.facet_ptr)
    width = 8
    work = PolyhedronWorkspace(
        np.empty((most, width)), np.empty(most), np.empty(width), np.empty(width), np.empty(width, dtype=np.int64),
        np.empty((width, width)), np.empty(width), np.empty(width),
    )  # fmt: skip
    workspace = Workspace(np.empty(width), np.empty(width), np.empty((most, width)), np.empty(most), work)
    for b in range(len(law)):
        start, stop = row_ptr[b], row_ptr[b + 1]
        for i in range(start, stop):
            for k in range(6):
                D[i, k] = 0.0
        if law[b] == EQUALITY:
            for i in range(start, stop):
                p[i] = x[i]
                D[i, i - start] = 1.0
        elif law[b] == BOX:
            for i in range(start, stop):
                p[i] = min(max(x[i], lo[i]), hi[i])
                D[i, i - start] = 1.0 if lo[i] < x[i] < hi[i] else 0.0
        elif laws.groups[b] > 0 or laws.facet_ptr[b + 1] == laws.facet_ptr[b]:
            _balls(b, laws, x, p, D, workspace.z, workspace.y)
        else:
            _facets(b, laws, x, p, D, workspace)


@njit
def _outward(first, stop, groups, radius, x, e, ratio):
    """Per friction row of a product of balls: e = x/|x| and ratio = radius/|x| where its ball is left, else 0 and 1."""
    i = first
    while i < stop:
        j = i + 1
        s = x[i] * x[i]
        while j < stop and not (groups >> (j - first)) & 1:
            s += x[j] * x[j]
            j += 1
        s = math.sqrt(s)
        for k in range(i, j):
            e[k - first] = x[k] / s if s > radius else 0.0
            ratio[k - first] = radius / s if s > radius else 1.0
        i = j


@njit
def _balls(b, laws, x, p, D, e, ratio):
    """A normal row (or none) and products of balls of radius mu·p_n + r0; e, ratio (8,): room."""
    mu, r0, groups, associated = laws.mu[b], laws.r0[b], laws.groups[b], laws.associated
    start, stop, normal = laws.row_ptr[b], laws.row_ptr[b + 1], laws.law[b] == UNILATERAL
    first = start + 1 if normal else start
    radius = r0
    down = 0.0  # d p_n / d x_n
    if normal:
        p[start] = max(0.0, x[start])
        down = 1.0 if x[start] > 0.0 else 0.0
        if associated and mu > 0.0:
            p[start], down = _cone_height(first, stop, mu, r0, groups, x)
        D[start, 0] = down
        radius = mu * p[start] + r0
    lean = mu * down if associated else 0.0  # d p_n / d x_t = lean·e
    _outward(first, stop, groups, radius, x, e, ratio)
    group_start = first
    for k in range(first, stop):
        if (groups >> (k - first)) & 1:
            group_start = k
        p[k] = ratio[k - first] * x[k]
        l = group_start
        while l < stop and (l == group_start or not (groups >> (l - first)) & 1):
            D[k, l - start] = -ratio[k - first] * e[k - first] * e[l - first]
            l += 1
        D[k, k - start] += ratio[k - first]
        if normal:
            D[k, 0] = mu * e[k - first] * down
            D[start, k - start] = lean * e[k - first]
            for l in range(first, stop):
                D[k, l - start] += mu * e[k - first] * lean * e[l - first]


@njit
def _cone_height(first, stop, mu, r0, groups, x):
    """The normal part s of the projection on {|x_g| <= mu s + r0, s >= 0}, and ds/dx_n.

    s - x_n = mu Σ max(0, |x_g| - mu s - r0) is increasing minus decreasing: groups are taken up one by one from the
    largest, as long as they lie outside at the height found so far.
    """
    start = first - 1
    total = 0.0
    count = 0
    s = x[start]
    taken = 0
    while True:
        best = -1.0
        which = -1
        number = 0
        i = first
        while i < stop:
            j = i + 1
            while j < stop and not (groups >> (j - first)) & 1:
                j += 1
            size = 0.0
            for k in range(i, j):
                size += x[k] * x[k]
            size = math.sqrt(size)
            if not (taken >> number) & 1 and size > best:
                best = size
                which = number
            number += 1
            i = j
        if which < 0 or best <= mu * s + r0:
            break
        taken |= 1 << which
        total += best - r0
        count += 1
        s = (x[start] + mu * total) / (1.0 + mu * mu * count)
    if s <= 0.0:
        return 0.0, 0.0
    return s, 1.0 / (1.0 + mu * mu * count)


@njit
def _facets(b, laws, x, p, D, workspace):
    """A normal row (or none) and a polyhedron of radius mu·p_n + r0; its derivative projects along active facets."""
    mu, r0, facets, z, y, G, h = laws.mu[b], laws.r0[b], laws.facets, workspace.z, workspace.y, workspace.G, workspace.h
    start, normal = laws.row_ptr[b], laws.law[b] == UNILATERAL
    shift = 1 if normal else 0
    n = laws.row_ptr[b + 1] - start - shift
    joint = normal and laws.associated  # one projection on the cone, else the normal first
    off = 0 if joint or not normal else 1
    f0 = laws.facet_ptr[b]
    m = laws.facet_ptr[b + 1] - f0
    s = max(0.0, x[start]) if normal else 0.0
    for j in range(m):
        for k in range(n):
            G[j, k + (1 if joint else 0)] = facets[f0 + j, k]
        if joint:
            G[j, 0] = -mu * facets[f0 + j, n]
        h[j] = facets[f0 + j, n] * (r0 + (0.0 if joint else mu * s))
    if joint:
        G[m, 0] = -1.0
        for k in range(n):
            G[m, k + 1] = 0.0
        h[m] = 0.0
        m += 1
    d = n + (1 if joint else 0)
    base = start + off
    for k in range(d):
        z[k] = x[base + k]
    project_polyhedron(G, h, d, m, z, y, workspace.work)
    if off:
        p[start] = s
        D[start, 0] = 1.0 if x[start] > 0.0 else 0.0
    inside = True
    for k in range(d):
        p[base + k] = y[k]
        inside = inside and y[k] == z[k]
        D[base + k, off + k] = 1.0
    if inside:
        return
    gram, rhs = workspace.work.gram, workspace.work.rhs
    count = _active_directions(f0, m, n, d, joint, facets, workspace)
    for i in range(count):
        for k in range(d):
            for l in range(d):
                D[base + k, off + l] -= gram[i, k] * gram[i, l]
            if off and D[start, 0] > 0.0:
                D[base + k, 0] += gram[i, k] * rhs[i] * mu


@njit
def _active_directions(f0, m, n, d, joint, facets, workspace):
    """How many directions the active facets of a projection have: orthonormal in `gram`.

    Each takes its direction out of the derivative; in `rhs`: how far it moves with the radius.
    """
    G, weights, gram, rhs = workspace.G, workspace.work.weights, workspace.work.gram, workspace.work.rhs
    count = 0
    for j in range(m):
        if weights[j] <= 0.0 or count >= d:
            continue
        size0 = 0.0
        for k in range(d):
            gram[count, k] = G[j, k]
            size0 += G[j, k] ** 2
        rhs[count] = facets[f0 + j, n] if not joint else 0.0
        for _pass in range(2):
            for i in range(count):
                s2 = 0.0
                for k in range(d):
                    s2 += gram[i, k] * gram[count, k]
                for k in range(d):
                    gram[count, k] -= s2 * gram[i, k]
                rhs[count] -= s2 * rhs[i]
        size = 0.0
        for k in range(d):
            size += gram[count, k] ** 2
        if size <= 1e-20 * size0:
            continue
        size = math.sqrt(size)
        for k in range(d):
            gram[count, k] /= size
        rhs[count] /= size
        count += 1
    return count
