"""The residuals of every block of a contact problem, as one compiled loop.

For a block with velocities u and impulses p the natural map asks whether p is the projection of `p - rho·û` onto the
set of admissible impulses K, with De Saxcé's augmented velocity `û = (u_n + mu·σ(-u_t), u_t)` for Coulomb friction
(σ the support function of the friction set) and `û = u` for the associated law, the convex relaxation of ah03
eq. 2.10. Rotational rows are brought to metres first (`length`), so that sums over rows make sense.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .._check import Array
from ..friction.kernels import (
    ELLIPSOID,
    POLYHEDRON,
    PRODUCT,
    PolyhedronWorkspace,
    excess,
    gauge,
    project_cone_ellipsoid,
    project_cone_product,
    project_ellipsoid,
    project_polyhedron,
    project_product,
    round_cone,
    support,
)
from ..runtime.jit import njit
from .laws import BOX, EQUALITY, UNILATERAL, Mode

OPEN, STICK, SLIP, BILATERAL, BOUND = (int(m) for m in Mode)  # for kernels, which read no enumerations

# Columns of the residual table. Units: m/s, N·s, or J for products of the two.
FIELDS = (
    "penetration_rate",  # m/s   unilateral: velocity into the other body
    "tension",  # N·s            unilateral: negative normal impulse
    "complementarity",  # J      normal impulse times separation rate; box: impulse off its bound times velocity
    "friction_excess",  # N·s    friction outside its set
    "dissipation_defect",  # J   dissipation short of the most the set allows
    "equality",  # m/s           joints: velocity left
    "bounds",  # N·s             boxes: impulse outside lo..hi
)
NATURAL, SCALED = len(FIELDS), len(FIELDS) + 1  # columns of the two maps, after the fields
_WIDTH = 8  # rows of a block, and some to spare


class LocalSet(NamedTuple):
    """The friction set of one block in its own rows, in metres (`in_metres`)."""

    kind: Any  # as in `friction/kernels.py`
    semi: Array  # semi-axes
    facets: Array  # (., n + 1) facets a·f <= c, c behind the n entries of a
    first: Any  # the facets from here
    last: Any  # to here


class ProjectionWorkspace(NamedTuple):
    """Room for `project_block` with sets of up to m - 2 facets."""

    G: Array  # (m, _WIDTH) facets with a normal row
    h: Array  # (m,) their offsets
    rows: Array  # (m, _WIDTH) and the next seven: those of `PolyhedronWorkspace`
    weights: Array
    residual: Array
    target: Array
    active: Array
    gram: Array
    rhs: Array
    sol: Array


@njit(leaf=True)
def most_inequalities(facet_ptr):
    """How many inequalities `project_block` may need: the facets of a set, and some to spare."""
    most = 2
    for s in range(len(facet_ptr) - 1):
        most = max(most, facet_ptr[s + 1] - facet_ptr[s] + 2)
    return most


@njit
def projection_workspace(most):
    """Room for `project_block` with up to `most` inequalities."""
    width = _WIDTH
    return ProjectionWorkspace(
        np.empty((most, width)), np.empty(most), np.empty((most, width)), np.empty(most), np.empty(width),
        np.empty(width), np.empty(width, dtype=np.int64), np.empty((width, width)), np.empty(width), np.empty(width),
    )  # fmt: skip


@njit(inline=True)
def project_block(local_set, mu, r0, normal, n, x, y, workspace):
    """Nearest point y to x in the admissible impulses; x = (x_n, x_t) when `normal`, else x_t alone.

    local_set: `LocalSet`; workspace: `ProjectionWorkspace`.
    """
    kind, semi, facets, first, last = local_set
    G, h, rows, weights, residual, target, active, gram, rhs, sol = workspace
    shift = 1 if normal else 0
    if kind == POLYHEDRON:
        m = last - first
        for j in range(m):
            c = facets[first + j, n]
            if normal:
                G[j, 0] = -c * mu
            for k in range(n):
                G[j, k + shift] = facets[first + j, k]
            h[j] = c * r0
        if normal:
            G[m, 0] = -1.0
            for k in range(n):
                G[m, k + 1] = 0.0
            h[m] = 0.0
            m += 1
        workspace = PolyhedronWorkspace(rows, weights, residual, target, active, gram, rhs, sol)
        project_polyhedron(G, h, n + shift, m, x, y, workspace)
        return
    if kind & 3 == PRODUCT:
        if normal:
            project_cone_product(kind, semi, mu, r0, x, y, n)
        else:
            project_product(kind, semi, x, y, n, r0)
        return
    if kind != ELLIPSOID or n == 0:
        for k in range(n + shift):
            y[k] = 0.0
        if normal:
            y[0] = max(0.0, x[0])
        return
    if not normal:
        project_ellipsoid(semi, x, y, n, r0)
        return
    if mu > 0.0:
        x[0] += r0 / mu  # the set is the cone moved down its axis and cut at p_n = 0
        project_cone_ellipsoid(semi, mu, x, y, n)
        x[0] -= r0 / mu
        y[0] -= r0 / mu
        if y[0] >= 0.0:
            return
        y[0] = 0.0
    else:
        y[0] = max(0.0, x[0])
    project_ellipsoid(semi, x[1:], y[1:], n, r0)


@njit(leaf=True)
def in_metres(s, row, n, length, semi, facets, facet_ptr, axes, F):
    """Semi-axes and facets (normals of length one again) of set s in n rows from `row` on; how many facets."""
    for k in range(n):
        axes[k] = semi[s, k] / length[row + k]
    count = facet_ptr[s + 1] - facet_ptr[s]
    for j in range(count):
        s2 = 0.0
        for k in range(n):
            F[j, k] = facets[facet_ptr[s] + j, k] * length[row + k]
            s2 += F[j, k] * F[j, k]
        size = math.sqrt(s2) if s2 > 0.0 else 1.0
        for k in range(n):
            F[j, k] /= size
        F[j, n] = facets[facet_ptr[s] + j, n] / size
    return count


@njit(sealed=True)
def block_residuals(laws, rho, u, p, table, mode):
    """Fill table (nk, 9) with FIELDS, the natural map at rho = 1 and at each block's own rho, and mode (nk,)."""
    law, row_ptr, length = laws.law, laws.row_ptr, laws.length
    width = _WIDTH
    uu, pp = np.empty(width), np.empty(width)
    most = most_inequalities(laws.facet_ptr)
    F, V = np.empty((most, width)), np.empty((max(1, len(laws.vertices)), width))
    points = np.empty(width), np.empty(width), np.empty(width), np.empty(width)
    workspace = projection_workspace(most)
    for b in range(len(law)):
        start, stop = row_ptr[b], row_ptr[b + 1]
        for f in range(table.shape[1]):
            table[b, f] = 0.0
        for i in range(start, stop):
            uu[i - start] = u[i] * length[i]
            pp[i - start] = p[i] / length[i]
        if law[b] == EQUALITY:
            s2 = 0.0
            for k in range(stop - start):
                table[b, 5] = max(table[b, 5], abs(uu[k]))
                s2 += uu[k] * uu[k]
            table[b, 7] = math.sqrt(s2)
            table[b, 8] = math.sqrt(s2)
            mode[b] = BILATERAL
            continue
        if law[b] == BOX:
            _box(b, start, stop, laws.lo, laws.hi, length, rho[b], uu, pp, table, mode)
            continue
        s, mu, n = laws.set_of[b], laws.mu[b], stop - start - 1
        plain = law[b] == UNILATERAL and laws.r0[b] == 0.0 and mu > 0.0 and laws.shape[s] == ELLIPSOID
        if (
            plain
            and _is_round(laws.semi, s, length, start, n)
            and _round_contact(b, start, n, mu, laws.semi[s, 0], laws.associated, rho[b], u, p, table, mode)
        ):
            continue
        _with_friction(b, laws, rho[b], uu, pp, F, V, points, workspace, table, mode)


@njit(inline=True)
def _with_friction(b, laws, rho, uu, pp, F, V, points, workspace, table, mode):
    """`block_residuals` of a contact, or of dry friction, with any set; uu and pp are in metres.

    F, V and points (four arrays): workspace for the set in metres, its vertices, and points.
    """
    axes, minus, x, y = points
    normal = laws.law[b] == UNILATERAL
    shift = 1 if normal else 0
    start, s = laws.row_ptr[b], laws.set_of[b]
    n, kind = laws.row_ptr[b + 1] - start - shift, laws.shape[s]
    first, last = 0, in_metres(s, start + shift, n, laws.length, laws.semi, laws.facets, laws.facet_ptr, axes, F)
    corner = laws.vertex_ptr[s]
    nvert = laws.vertex_ptr[s + 1] - corner
    for j in range(nvert):
        for k in range(n):
            V[j, k] = laws.vertices[corner + j, k] / laws.length[start + shift + k]
    for k in range(n):
        minus[k] = -uu[k + shift]
    mu = laws.mu[b] if normal else 0.0
    radius = max(0.0, mu * (pp[0] if normal else 0.0) + laws.r0[b])
    slip = support(kind, axes, V, 0, nvert, minus, n)
    rate = uu[0] - mu * slip if (normal and laws.associated) else uu[0]
    power = 0.0
    for k in range(n):
        power += uu[k + shift] * pp[k + shift]
    table[b, 3] = excess(kind, axes, F, first, last, pp[shift : shift + n], n, radius)
    table[b, 4] = max(0.0, radius * slip + power)
    if normal:
        table[b, 0] = max(0.0, -rate)
        table[b, 1] = max(0.0, -pp[0])
        table[b, 2] = max(0.0, rate) * max(0.0, pp[0])
        if not laws.associated:
            uu[0] += mu * slip
    for scaled in range(2):
        step = rho if scaled == 1 else 1.0
        for k in range(n + shift):
            x[k] = pp[k] - step * uu[k]
        project_block(LocalSet(kind, axes, F, first, last), mu, laws.r0[b], normal, n, x, y, workspace)
        s2 = 0.0
        for k in range(n + shift):
            s2 += (pp[k] - y[k]) ** 2
        table[b, 7 + scaled] = math.sqrt(s2) / step
    if normal and pp[0] <= rho * max(rate, 0.0):
        mode[b] = OPEN
    elif kind == 0 or n == 0:
        mode[b] = SLIP
    else:
        inside = gauge(kind, axes, F, first, last, x[shift : shift + n], n) <= radius * (1.0 + 1e-9)
        mode[b] = STICK if inside else SLIP


@njit(leaf=True)
def _is_round(semi, s, length, start, n):
    """Whether set s is a disk, or the piece of a line, in n rows of slip."""
    if n < 1 or n > 2 or semi[s, 0] <= 0.0 or length[start + 1] != 1.0:
        return False
    return n == 1 or (semi[s, 0] == semi[s, 1] and length[start + 2] == 1.0)


@njit(leaf=True)
def _round_contact(b, start, n, mu, semi, associated, rho, u, p, table, mode):
    """What `block_residuals` does for a contact that slips on a round cone, to the same bits, in scalars.

    Nearly every contact is one, and this takes a sixth of the time. False where a number is not finite.
    """
    u0, u1, u2 = u[start], u[start + 1], 0.0
    p0, p1, p2 = p[start], p[start + 1], 0.0
    if n == 2:
        u2, p2 = u[start + 2], p[start + 2]
    if not abs(u0) + abs(u1) + abs(u2) + abs(p0) + abs(p1) + abs(p2) < math.inf:
        return False
    s1, s2 = semi * -u1, semi * -u2
    slip = math.sqrt(s1 * s1 + s2 * s2)
    radius = max(0.0, mu * p0)
    rate = u0 - mu * slip if associated else u0
    f1, f2 = p1 / semi, p2 / semi
    stretch, out = f1 * f1 + f2 * f2, 0.0
    if stretch > 0.0:
        out = max(0.0, 1.0 - radius / math.sqrt(stretch))
        out = (p1 * p1 + p2 * p2) * (out * out)
    table[b, 0] = max(0.0, -rate)
    table[b, 1] = max(0.0, -p0)
    table[b, 2] = max(0.0, rate) * max(0.0, p0)
    table[b, 3] = math.sqrt(out)
    table[b, 4] = max(0.0, radius * slip + (u1 * p1 + u2 * p2))
    u0 = u0 if associated else u0 + mu * slip
    table[b, 7], _, _ = _round_map(mu * semi, 1.0, u0, u1, u2, p0, p1, p2)
    table[b, 8], x1, x2 = _round_map(mu * semi, rho, u0, u1, u2, p0, p1, p2)
    f1, f2 = x1 / semi, x2 / semi
    if p0 <= rho * max(rate, 0.0):
        mode[b] = OPEN
    else:
        mode[b] = STICK if math.sqrt(f1 * f1 + f2 * f2) <= radius * (1.0 + 1e-9) else SLIP
    return True


@njit
def _round_map(a, step, u0, u1, u2, p0, p1, p2):
    """The natural map on the cone |y_t| <= a·y_n, and the friction part of the point that it projects."""
    x0, x1, x2 = p0 - step * u0, p1 - step * u1, p2 - step * u2
    y0, y1, y2, _ = round_cone(a, x0, x1, x2)
    return math.sqrt((p0 - y0) * (p0 - y0) + (p1 - y1) * (p1 - y1) + (p2 - y2) * (p2 - y2)) / step, x1, x2


@njit(leaf=True)
def _box(b, start, stop, lo, hi, length, step, uu, pp, table, mode):
    s1 = 0.0
    s2 = 0.0
    mode[b] = BILATERAL
    for i in range(start, stop):
        k = i - start
        low, high = lo[i] / length[i], hi[i] / length[i]
        table[b, 6] = max(table[b, 6], low - pp[k], pp[k] - high)
        if uu[k] > 0.0:
            if low > -math.inf:
                table[b, 2] = max(table[b, 2], max(0.0, pp[k] - low) * uu[k])
            else:
                table[b, 5] = max(table[b, 5], uu[k])
        elif uu[k] < 0.0:
            if high < math.inf:
                table[b, 2] = max(table[b, 2], -max(0.0, high - pp[k]) * uu[k])
            else:
                table[b, 5] = max(table[b, 5], -uu[k])
        if pp[k] - step * uu[k] <= low or pp[k] - step * uu[k] >= high:
            mode[b] = BOUND
        s1 += (pp[k] - min(max(pp[k] - uu[k], low), high)) ** 2
        s2 += (pp[k] - min(max(pp[k] - step * uu[k], low), high)) ** 2
    table[b, 7] = math.sqrt(s1)
    table[b, 8] = math.sqrt(s2) / step


@njit(leaf=True)
def largest(table, value, block):
    """value (n,) and block (n,): the largest entry of each column and its first row, -1 where it is zero.

    What is not a number counts as the largest of all.
    """
    for c in range(table.shape[1]):
        value[c], block[c] = 0.0, -1
    for k in range(table.shape[0]):
        for c in range(table.shape[1]):
            x = table[k, c]
            if value[c] == value[c] and (x > value[c] or x != x):
                value[c], block[c] = x, k
