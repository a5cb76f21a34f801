"""Friction sets as compiled leaf functions.

A set F at unit radius is coded by an integer kind and plain arrays, so that the CPU loops here and CUDA kernels
later call the same functions. Friction lies in `radius·F` with `radius = mu·p_n + r0`.

    ELLIPSOID    semi[k], k < n                     {f : sum (f_k / semi_k)² <= 1}
    POLYHEDRON   vertices (m, n) and facets (k, n+1)  conv(0, vertices) = {f : a_j·f <= c_j}, |a_j| = 1, c_j >= 0

The origin always belongs to F (st96 eq. 12: the weights of the directions sum to *at most* mu·c_n), so the support
function is never negative.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import njit

NONE, ELLIPSOID, POLYHEDRON = 0, 1, 2


@njit(inline=True)
def support(kind, semi, vertices, first, last, u, n):
    """max of u·f over the unit set: the speed that maximum dissipation opposes when u is minus the slip velocity."""
    if kind == ELLIPSOID:
        s = 0.0
        for k in range(n):
            s += (semi[k] * u[k]) ** 2
        return math.sqrt(s)
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
    if kind == ELLIPSOID:
        s = 0.0
        for k in range(n):
            if f[k] != 0.0:
                s += (f[k] / semi[k]) ** 2 if semi[k] > 0.0 else math.inf
        return math.sqrt(s)
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


@njit
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
    size = 0.0
    for k in range(n):
        size += f[k] * f[k]
    size = math.sqrt(size)
    if size == 0.0:
        return 0.0
    if kind != ELLIPSOID:
        return size
    g = gauge(kind, semi, facets, first, last, f, n)
    return size * max(0.0, 1.0 - max(radius, 0.0) / g) if g > 0.0 else 0.0


@njit
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


@njit
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
    # Convex in the normal part s: minimise (s - x_n)² + dist(x_t, s·mu·F)². The derivative is monotone: bisect.
    polar = 0.0
    for k in range(n):
        polar += (mu * semi[k] * x[k + 1]) ** 2
    if math.sqrt(polar) <= -x[0]:
        for k in range(n + 1):
            y[k] = 0.0
        return
    low = max(0.0, x[0])
    high = low + math.sqrt(polar) + size
    for _ in range(200):
        s = 0.5 * (low + high)
        project_ellipsoid(semi, x[1:], y[1:], n, mu * s)
        # d/ds of the distance part: -(x_t - y_t)·(y_t / s), since y_t/s is the support point on mu·F
        pull = 0.0
        for k in range(n):
            pull += (x[k + 1] - y[k + 1]) * y[k + 1]
        if s > 0.0 and (s - x[0]) - pull / s < 0.0:
            low = s
        else:
            high = s
        if high - low <= 1e-16 * (abs(high) + 1e-300):
            break
    y[0] = 0.5 * (low + high)
    project_ellipsoid(semi, x[1:], y[1:], n, mu * y[0])


@njit
def nnls(A, d, m, b, w, r, active, gram, rhs, sol):
    """Lawson–Hanson: w >= 0 minimising |sum_j w_j A[j] - b|, rows A[j] of length d; r becomes b - sum_j w_j A[j].

    Work arrays: active (d+1,) int64, gram (d+1, d+1), rhs (d+1,), sol (d+1,). At most d rows are ever active.
    """
    for j in range(m):
        w[j] = 0.0
    scale = 0.0
    for k in range(d):
        r[k] = b[k]
        scale = max(scale, abs(b[k]))
    count = 0
    for _ in range(3 * m + 30):
        best = 1e-15 * scale
        enter = -1
        for j in range(m):
            taken = False
            for i in range(count):
                taken = taken or active[i] == j
            if taken:
                continue
            s = 0.0
            size = 0.0
            for k in range(d):
                s += A[j, k] * r[k]
                size += A[j, k] * A[j, k]
            s = s / math.sqrt(size) if size > 0.0 else 0.0
            if s > best:
                best = s
                enter = j
        if enter < 0 or count >= d:
            break
        active[count] = enter
        count += 1
        for _inner in range(2 * d + 2):
            if not _least_squares(A, d, active, count, b, gram, rhs, sol):
                count -= 1  # the new row depends on the others: it cannot improve the fit
                w[active[count]] = 0.0
                enter = -1
                break
            alpha = 1.0
            for i in range(count):
                if sol[i] <= 0.0:
                    j = active[i]
                    gapw = w[j] - sol[i]
                    alpha = min(alpha, w[j] / gapw if gapw > 0.0 else 0.0)
            for i in range(count):
                j = active[i]
                w[j] = sol[i] if alpha == 1.0 else w[j] + alpha * (sol[i] - w[j])
            if alpha == 1.0:
                break
            kept = 0
            for i in range(count):
                j = active[i]
                if w[j] > 1e-15 * abs(sol[i]) and not (sol[i] <= 0.0 and w[j] <= 1e-14 * (abs(sol[i]) + w[j])):
                    active[kept] = j
                    kept += 1
                else:
                    w[j] = 0.0
            count = kept
        for k in range(d):
            s = b[k]
            for i in range(count):
                s -= w[active[i]] * A[active[i], k]
            r[k] = s
        if enter < 0:
            break


@njit
def _least_squares(A, d, active, count, b, gram, rhs, sol):
    """Least squares on the active rows by modified Gram–Schmidt; False when they are linearly dependent."""
    # gram[:, i] holds the i-th orthonormal vector; sol collects the triangular factor's solve in place.
    for i in range(count):
        size0 = 0.0
        for k in range(d):
            gram[k, i] = A[active[i], k]
            size0 += gram[k, i] ** 2
        for _pass in range(2):
            for j in range(i):
                s = 0.0
                for k in range(d):
                    s += gram[k, j] * gram[k, i]
                for k in range(d):
                    gram[k, i] -= s * gram[k, j]
        size = 0.0
        for k in range(d):
            size += gram[k, i] ** 2
        if size <= 1e-26 * size0:
            return False
        size = math.sqrt(size)
        for k in range(d):
            gram[k, i] /= size
        s = 0.0
        for k in range(d):
            s += gram[k, i] * b[k]
        rhs[i] = s
    for back in range(count):
        i = count - 1 - back
        s = rhs[i]
        diagonal = 0.0
        for k in range(d):
            diagonal += gram[k, i] * A[active[i], k]
        for j in range(i + 1, count):
            entry = 0.0
            for k in range(d):
                entry += gram[k, i] * A[active[j], k]
            s -= entry * sol[j]
        sol[i] = s / diagonal
    return True


@njit
def project_polyhedron(G, h, d, m, x, y, rows, weights, residual, target, active, gram, rhs, sol):
    """Nearest point y to x with G y <= h (m rows of length d): least-distance programming by one `nnls`.

    Work arrays: rows (m, d+1), weights (m,), residual (d+1,), target (d+1,), active, gram, rhs, sol as in `nnls`.
    """
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


def workspace(rows: int, d: int) -> tuple[np.ndarray, ...]:
    """The work arrays of `project_polyhedron` for up to `rows` inequalities in `d` dimensions."""
    return (
        np.empty((rows, d + 1)),
        np.empty(rows),
        np.empty(d + 1),
        np.empty(d + 1),
        np.empty(d + 2, dtype=np.int64),
        np.empty((d + 2, d + 2)),
        np.empty(d + 2),
        np.empty(d + 2),
    )
