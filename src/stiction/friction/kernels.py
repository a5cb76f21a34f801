"""Friction sets as compiled leaf functions.

A set F at unit radius is coded by an integer kind and plain arrays, so that the CPU loops here and CUDA kernels
later call the same functions. Friction lies in `radius·F` with `radius = mu·p_n + r0`.

    ELLIPSOID    semi[k], k < n                     {f : sum (f_k / semi_k)² <= 1}
    POLYHEDRON   vertices (m, n) and facets (k, n+1)  conv(0, vertices) = {f : a_j·f <= c_j}, |a_j| = 1, c_j >= 0
    PRODUCT      semi[k], k < n, and groups of rows   {f : sum over each group (f_k / semi_k)² <= 1}

The groups of a PRODUCT are in the higher bits of its kind, `PRODUCT | mask << 2`: bit k of mask is set where row k
starts a group, and row 0 always does. So the low two bits alone say which of the above a set is.

The origin always belongs to F (st96 eq. 12: the weights of the directions sum to *at most* mu·c_n), so the support
function is never negative.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._check import Array
from ..runtime.jit import njit
from ..runtime.lanes import select, sqrt
from .nnls import nnls

NONE, ELLIPSOID, POLYHEDRON, PRODUCT = 0, 1, 2, 3  # kinds of sets (see above); NONE: without friction


class PolyhedronWorkspace(NamedTuple):
    """Room for `project_polyhedron` with up to m inequalities in d dimensions."""

    rows: Array  # (m, d + 1)
    weights: Array  # (m,)
    residual: Array  # (d + 1,)
    target: Array  # (d + 1,)
    active: Array  # (d + 1,) and the next three: room for `nnls`
    gram: Array  # (d + 1, d + 1)
    rhs: Array  # (d + 1,)
    sol: Array  # (d + 1,)


@njit(inline=True)
def starts_group(kind, k):
    """Whether row k of a PRODUCT, or of an ELLIPSOID (one group), starts a group."""
    return k == 0 or (kind >> (2 + k)) & 1 == 1


@njit(inline=True)
def support(kind, semi, vertices, first, last, u, n):
    """max of u·f over the unit set: the speed that maximum dissipation opposes when u is minus the slip velocity."""
    if kind & 3 == ELLIPSOID or kind & 3 == PRODUCT:
        total = 0.0
        s = 0.0
        for k in range(n):
            if starts_group(kind, k):
                total += math.sqrt(s)
                s = 0.0
            s += (semi[k] * u[k]) ** 2
        return total + math.sqrt(s)
    best = 0.0
    if kind == POLYHEDRON:
        for j in range(first, last):
            s = 0.0
            for k in range(n):
                s += vertices[j, k] * u[k]
            best = max(best, s)
    return best


@njit(inline=True)
def gauge(kind, semi, facets, first, last, f, n):
    """The smallest r >= 0 with f in r·F; infinite when no multiple of F holds f."""
    if kind & 3 == ELLIPSOID or kind & 3 == PRODUCT:
        most = 0.0
        s = 0.0
        for k in range(n):
            if starts_group(kind, k):
                s = 0.0
            if f[k] != 0.0:
                s += (f[k] / semi[k]) ** 2 if semi[k] > 0.0 else math.inf
            most = max(most, s)
        return math.sqrt(most)
    if kind == POLYHEDRON:
        worst = 0.0
        size = 0.0
        for k in range(n):
            size = max(size, abs(f[k]))
        for j in range(first, last):
            s = 0.0
            for k in range(n):
                s += facets[j, k] * f[k]
            c = facets[j, n]
            if c > 0.0:
                worst = max(worst, s / c)
            elif s > 1e-13 * size:  # beyond round-off on the outer side of a facet through the origin
                worst = math.inf
        return worst
    for k in range(n):
        if f[k] != 0.0:
            return math.inf
    return 0.0


@njit(leaf=True)
def excess(kind, semi, facets, first, last, f, n, radius):
    """How far f lies outside radius·F, in the unit of f: 0 inside."""
    if kind == POLYHEDRON:
        worst = 0.0
        for j in range(first, last):
            s = -facets[j, n] * radius
            for k in range(n):
                s += facets[j, k] * f[k]
            worst = max(worst, s)
        return worst
    total = 0.0  # squares: per group, how much of f has to go for the rest to reach the boundary
    size = 0.0
    s = 0.0
    for k in range(n + 1):
        if k == n or (kind & 3 == PRODUCT and starts_group(kind, k)):
            if kind & 3 == NONE:
                total += size
            elif s > 0.0:
                total += size * max(0.0, 1.0 - max(radius, 0.0) / math.sqrt(s)) ** 2
            size = 0.0
            s = 0.0
        if k < n and f[k] != 0.0:
            size += f[k] * f[k]
            s += (f[k] / semi[k]) ** 2 if semi[k] > 0.0 else math.inf
    return math.sqrt(total)


@njit(leaf=True)
def project_ellipsoid(semi, x, y, n, radius):
    """Nearest point y of radius·ellipsoid to x: y_k = x_k a_k² / (a_k² + t) with t from the secular equation."""
    s = 0.0
    widest = 0.0
    for k in range(n):
        a = semi[k] * radius
        widest = max(widest, a)
        if x[k] != 0.0:
            s += (x[k] / a) ** 2 if a > 0.0 else math.inf
    if s <= 1.0:
        for k in range(n):
            y[k] = x[k]
        return
    if widest <= 0.0:
        for k in range(n):
            y[k] = 0.0
        return
    # phi(t) = sum (a x / (a² + t))² - 1 falls from above 0 to -1; Newton from the left is monotone for 1/sqrt form.
    low = 0.0
    size = 0.0
    for k in range(n):
        size += (semi[k] * radius * x[k]) ** 2
    high = math.sqrt(size)
    t = 0.0 if s < math.inf else 0.5 * high
    for _ in range(200):
        value = 0.0
        slope = 0.0
        for k in range(n):
            a = semi[k] * radius
            if a > 0.0:
                d = a * a + t
                w = (a * x[k] / d) ** 2
                value += w
                slope -= 2.0 * w / d
        if value > 1.0:
            low = t
        else:
            high = t
        root = math.sqrt(value)
        step = 2.0 * (root - 1.0) * value / -slope if slope < 0.0 else 0.0
        new = t + step
        if not (low <= new <= high):
            new = 0.5 * (low + high)
        if abs(new - t) <= 1e-16 * (t + widest * widest):
            t = new
            break
        t = new
    for k in range(n):
        a = semi[k] * radius
        y[k] = x[k] * a * a / (a * a + t) if a > 0.0 else 0.0


@njit(leaf=True)
def project_product(kind, semi, x, y, n, radius):
    """Nearest point y of radius·F to x, for F an ELLIPSOID or a PRODUCT: group by group."""
    first = 0
    for k in range(1, n + 1):
        if k == n or starts_group(kind, k):
            project_ellipsoid(semi[first:], x[first:], y[first:], k - first, radius)
            first = k


@njit(leaf=True)
def project_cone_product(kind, semi, mu, r0, x, y, n):
    """Nearest point y to x = (x_n, x_t) in {p_n >= 0, p_t in (mu·p_n + r0)·F}, F an ELLIPSOID or a PRODUCT.

    With s the normal part, the derivative of ½ (s - x_n)² + ½ dist(x_t, (mu·s + r0)·F)² rises:
    s - x_n - mu·σ(x_t - y_t(s)). Where every group is a ball it is piecewise linear and concave, so that Newton's
    method from the left ends after as many steps as there are groups; otherwise its root is bracketed.
    """
    balls = True
    for k in range(1, n):
        balls = balls and (starts_group(kind, k) or semi[k] == semi[k - 1])
    s = max(0.0, x[0])
    low, at_low, high, at_high = s, 0.0, math.inf, 0.0
    side = 0
    for _ in range(200):
        project_product(kind, semi, x[1:], y[1:], n, mu * s + r0)
        pull = 0.0
        stiff = 1.0
        size = 0.0
        out = False
        for k in range(n + 1):
            if k == n or starts_group(kind, k):
                pull += mu * math.sqrt(size)
                stiff += (mu * semi[k - 1]) ** 2 if out else 0.0
                size = 0.0
                out = False
            if k < n:
                size += (semi[k] * (x[k + 1] - y[k + 1])) ** 2
                out = out or x[k + 1] != y[k + 1]
        value = s - x[0] - pull
        if balls:  # from the left: the root lies at x_n or above
            new = s - value / stiff
            if not new > s:
                break
            s = new
            continue
        if abs(value) <= 1e-16 * (abs(x[0]) + pull) or (s == 0.0 and value >= 0.0):
            break
        if value < 0.0:
            low, at_low = s, value
            at_high *= 0.5 if side < 0 else 1.0  # an end that stays loses weight, so that both ends move
            side = -1
        else:
            high, at_high = s, value
            at_low *= 0.5 if side > 0 else 1.0
            side = 1
        new = x[0] + pull  # at or above the root, since the pull only falls
        if high < math.inf:
            new = high - at_high * (high - low) / (at_high - at_low)
            if not low < new < high:
                new = 0.5 * (low + high)
        if new == s or high - low <= 1e-16 * min(high, 1e300):
            break
        s = new
    y[0] = s


@njit(leaf=True)
def project_cone_ellipsoid(semi, mu, x, y, n):
    """Nearest point y to x = (x_n, x_t) in {p_n >= 0, p_t in mu·p_n·ellipsoid}; x and y have n + 1 entries."""
    equal = True
    for k in range(1, n):
        equal = equal and semi[k] == semi[0]
    size = 0.0
    for k in range(n):
        size += x[k + 1] ** 2
    size = math.sqrt(size)
    if equal:
        a = mu * semi[0] if n > 0 else 0.0
        if size <= a * x[0]:
            for k in range(n + 1):
                y[k] = x[k]
        elif a * size <= -x[0]:
            for k in range(n + 1):
                y[k] = 0.0
        else:
            normal = (x[0] + a * size) / (1.0 + a * a)
            y[0] = normal
            for k in range(n):
                y[k + 1] = a * normal * x[k + 1] / size if size > 0.0 else 0.0
        return
    project_cone_product(ELLIPSOID, semi, mu, 0.0, x, y, n)


@njit(inline=True)
def round_cone(a, x0, x1, x2):
    """What `project_cone_ellipsoid` gives for |y_t| <= a·y_n, in scalars or in lanes."""
    length = sqrt(x1 * x1 + x2 * x2)
    inside, polar = length <= a * x0, a * length <= -x0
    y0 = (x0 + a * length) / (1.0 + a * a)
    y1, y2 = a * y0 * x1 / length, a * y0 * x2 / length
    y0, y1, y2 = select(polar, 0.0, y0), select(polar, 0.0, y1), select(polar, 0.0, y2)
    return select(inside, x0, y0), select(inside, x1, y1), select(inside, x2, y2), inside


@njit(inline=True)
def round_map(a, rho, p0, p1, p2, u0, u1, u2):
    """The square of the natural map of |p_t| <= a·p_n with the step rho, over rho²; in scalars or in lanes."""
    y0, y1, y2, inside = round_cone(a, p0 - rho * u0, p1 - rho * u1, p2 - rho * u2)
    e0, e1, e2 = p0 - y0, p1 - y1, p2 - y2
    return select(inside, u0 * u0 + u1 * u1 + u2 * u2, (e0 * e0 + e1 * e1 + e2 * e2) / (rho * rho))


@njit(leaf=True)
def project_polyhedron(G, h, d, m, x, y, workspace):
    """Nearest point y to x with G y <= h (m rows of length d): least-distance programming by one `nnls`."""
    rows, weights, residual, target, active, gram, rhs, sol = workspace
    worst = 0.0
    for j in range(m):
        s = -h[j]
        for k in range(d):
            s += G[j, k] * x[k]
        rows[j, d] = s
        worst = max(worst, s)
    for k in range(d):
        y[k] = x[k]
    if worst <= 0.0:
        return
    # min |z| subject to -G z >= G x - h, in units of the largest violation so that the fit is well scaled
    for j in range(m):
        for k in range(d):
            rows[j, k] = -G[j, k]
        rows[j, d] /= worst
    for k in range(d):
        target[k] = 0.0
    target[d] = 1.0
    nnls(rows, d + 1, m, target, weights, residual, active, gram, rhs, sol)
    if residual[d] > 0.0:
        for k in range(d):
            y[k] = x[k] - worst * residual[k] / residual[d]


def polyhedron_workspace(rows: int, d: int) -> PolyhedronWorkspace:
    """Room for `project_polyhedron` with up to `rows` inequalities in `d` dimensions."""
    return PolyhedronWorkspace(
        np.empty((rows, d + 1)),
        np.empty(rows),
        np.empty(d + 1),
        np.empty(d + 1),
        np.empty(d + 2, dtype=np.int64),
        np.empty((d + 2, d + 2)),
        np.empty(d + 2),
        np.empty(d + 2),
    )
