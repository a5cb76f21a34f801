"""The compiled part of Lemke's method (Cottle, Pang, Stone: Algorithm 4.4.1 with the lexicographic rule of 4.9).

The system is `I w - M z - d z0 = q`. Its variables are numbered: `w_i` is i, `z_i` is n + i, the artificial `z0` is
2n. The state is the explicit inverse of the basis, kept transposed: `V[j]` is column j of B⁻¹. That layout pays three
times. The entering column is a sum of rows of V, so no reduction stops the vectoriser. Where `w_j` is basic, V[j] is a
unit vector, known by its place `slot[j]` (-1 elsewhere): sums take it as one number and the rank-one update meets a
zero and skips it, so the cost of a pivot is n times the number of active pairs. And the lexicographic comparison of
column j reads one contiguous row.

Everything happens in equilibrated units, `M' = R M C`, `q' = R q / s`, `z = s C z'`, `w = s R⁻¹ w'`, with powers of two
in R, C and s. Positive diagonal scalings keep complementarity and, as the covering vector is scaled with the rows,
the very path of the method; only the tolerances see them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._check import Array
from ..runtime.jit import njit

SOLVED, RAY, MAXITER, REFACTOR, LOST = 0, 1, 2, 3, 4  # outcomes of a run of pivots
# places in `info`: the entering variable; pivots, and those since the last refactoring; 1 when V was just recomputed;
# pivots since x was last checked
ENTERING, PIVOTS, SINCE, FRESH, UNCHECKED = 0, 1, 2, 3, 4
SOLVED_ACCURACY = 1e-10  # what "solved" promises, relative to the largest row of |M||z| + |q|
# and the residual is this small beside q itself: z of 1e16 from a pivot of round-off size is no solution
SOLVED_Q_SHARE = 1e-8
# residual of the basic values, relative to the largest, up to which updates may go on without refactoring
_DRIFT_ACCURACY = 1e-12
_LOST_SHARE = 1e-9  # a basic value this negative (relative to the largest) after refactoring is no round-off


class Tableau(NamedTuple):
    """One solve of n pairs in equilibrated units, and where it stands."""

    MT: Array  # (n, n) the matrix, transposed
    qs: Array  # (n,) q
    ds: Array  # (n,) covering vector
    r: Array  # (n,) factors of rows
    c: Array  # (n,) factors of columns
    V: Array  # (n, n) inverse of the basis, transposed
    x: Array  # (n,) basic values
    basis: Array  # (n,) the variable that is basic in each row
    slot: Array  # (n,) the row in which w_j is basic, -1 elsewhere
    info: Array  # (5,) ENTERING to UNCHECKED


@njit
def equilibrate(M, r, c):
    """Fill r and c with powers of two so that every row and column of diag(r) M diag(c) has a largest entry near 1."""
    n = M.shape[0]
    row = np.empty(n)
    col = np.empty(n)
    r[:] = 1.0
    c[:] = 1.0
    for _ in range(3):
        row[:] = 0.0
        col[:] = 0.0
        for i in range(n):
            for j in range(n):
                a = abs(M[i, j]) * r[i] * c[j]
                row[i] = max(row[i], a)
                col[j] = max(col[j], a)
        for i in range(n):
            if row[i] > 0.0:
                r[i] /= math.sqrt(row[i])
            if col[i] > 0.0:
                c[i] /= math.sqrt(col[i])
    for i in range(n):
        r[i] = power_of_two(r[i])
        c[i] = power_of_two(c[i])


@njit(inline=True)
def power_of_two(x):
    """The power of two next to x > 0, so that scaling by it loses no bit."""
    mantissa, exponent = math.frexp(x)
    return math.ldexp(1.0, exponent if mantissa > 0.70710678 else exponent - 1)


@njit
def start(M, q, d, tableau):
    """Scale the problem and bring z0 into the basis. Returns the scale s of q, or 0 when z = 0 solves the problem."""
    MT, qs, ds, r, c, V, x, basis, slot, info = tableau
    n = q.shape[0]
    info[:] = 0
    worst = 0.0
    for i in range(n):
        worst = min(worst, q[i])
        basis[i] = i
        slot[i] = i
    if worst >= 0.0:
        return 0.0
    equilibrate(M, r, c)
    size = 0.0
    cover = 0.0
    for i in range(n):
        size = max(size, abs(q[i]) * r[i])
        cover = max(cover, d[i] * r[i])
    s = power_of_two(size)
    cover = power_of_two(cover)
    for i in range(n):
        qs[i] = q[i] * r[i] / s
        ds[i] = d[i] * r[i] / cover
        x[i] = qs[i]
        for j in range(n):
            MT[j, i] = r[i] * M[i, j] * c[j]
            V[i, j] = 0.0
        V[i, i] = 1.0
    # Ratio test of z0. Ties go to the largest index: with q perturbed by (ε, ε², ...) that row is the smallest.
    row = 0
    for i in range(1, n):
        if qs[i] * ds[row] <= qs[row] * ds[i]:
            row = i
    info[ENTERING] = n + row
    info[PIVOTS] = 1
    info[SINCE] = 1
    exchange(V, x, -ds, row)
    basis[row] = 2 * n
    slot[row] = -1
    return s


@njit
def column(V, MT, ds, slot, entering, y, noise):
    """y = B⁻¹ a of the entering variable; noise sums the magnitudes, so that y/noise shows what cancelled."""
    n = y.shape[0]
    if entering < n:
        for i in range(n):
            y[i] = V[entering, i]
            noise[i] = abs(y[i])
        return
    a = ds if entering == 2 * n else MT[entering - n]
    y[:] = 0.0
    noise[:] = 0.0
    for j in range(n):
        f = a[j]
        if slot[j] >= 0:
            y[slot[j]] -= f
            noise[slot[j]] += abs(f)
        elif f != 0.0:
            for i in range(n):
                t = f * V[j, i]
                y[i] -= t
                noise[i] += abs(t)


@njit
def exchange(V, x, y, row):
    """Make the variable with column y basic in `row`: the rank-one update of V and of the basic values x."""
    n = x.shape[0]
    p = 1.0 / y[row]
    for j in range(n):
        f = V[j, row] * p
        if f != 0.0:
            for i in range(n):
                V[j, i] -= f * y[i]
            V[j, row] = f
    f = x[row] * p
    for i in range(n):
        x[i] -= f * y[i]
    x[row] = f


@njit
def leaving_row(V, x, y, noise, basis, tie, pivot, tied):
    """The row that blocks the entering variable by the lexicographic ratio test, or -1 when none does (a ray)."""
    n = x.shape[0]
    ymax = 0.0
    xmax = 0.0
    for i in range(n):
        ymax = max(ymax, abs(y[i]))
        xmax = max(xmax, abs(x[i]))
    least = np.inf
    for i in range(n):
        tied[i] = 0
        if y[i] > pivot * noise[i] and y[i] > 0.1 * pivot * ymax:
            tied[i] = 1
            least = min(least, (x[i] if x[i] > tie * xmax else 0.0) / y[i])
    if least == np.inf:
        return -1
    count = 0
    last = -1
    for i in range(n):
        if tied[i] == 1:
            if (x[i] if x[i] > tie * xmax else 0.0) / y[i] <= least * (1.0 + tie):
                if basis[i] == 2 * n:
                    return i  # z0 at zero ends the method, whatever the perturbation would say
                count += 1
                last = i
            else:
                tied[i] = 0
    return last if count == 1 else lexicographic(V, y, tie, tied)


@njit
def lexicographic(V, y, tie, tied):
    """Among the tied rows, the one whose row of B⁻¹ divided by its pivot is lexicographically smallest."""
    n = y.shape[0]
    size = 0.0  # of whole rows: a column that holds nothing but round-off must not decide
    for j in range(n):
        for i in range(n):
            if tied[i] == 1:
                size = max(size, abs(V[j, i] / y[i]))
    for j in range(n):
        least = np.inf
        for i in range(n):
            if tied[i] == 1:
                least = min(least, V[j, i] / y[i])
        count = 0
        last = -1
        for i in range(n):
            if tied[i] == 1:
                if V[j, i] / y[i] <= least + tie * size:
                    count += 1
                    last = i
                else:
                    tied[i] = 0
        if count == 1:
            return last
    # Rows of a regular matrix cannot tie to the end; after round-off the largest pivot is the safest choice.
    best = -1
    for i in range(n):
        if tied[i] == 1 and (best < 0 or y[i] > y[best]):
            best = i
    return best


@njit
def path(tableau, maxiter, every, tie, pivot):
    """Pivot until z0 leaves, a ray is met, or the inverse is due for refactoring; x is checked after `every` pivots."""
    MT, qs, ds, _, _, V, x, basis, slot, info = tableau
    n = x.shape[0]
    y = np.empty(n)
    noise = np.empty(n)
    tied = np.empty(n, np.int64)
    if info[FRESH] == 1:
        info[FRESH] = 0
        if restore(V, slot, qs, x) < -_LOST_SHARE:
            return LOST
    while True:
        if info[UNCHECKED] >= every:
            # The updates of x and of V share their errors, and x is cheap to check and to mend.
            info[UNCHECKED] = 0
            if info[SINCE] >= 8 * every or correct(MT, qs, ds, V, x, basis, slot, np.empty(n)) > _DRIFT_ACCURACY:
                return REFACTOR
        column(V, MT, ds, slot, info[ENTERING], y, noise)
        row = leaving_row(V, x, y, noise, basis, tie, pivot, tied)
        if row < 0:
            return RAY
        if info[PIVOTS] >= maxiter:
            return MAXITER
        out = basis[row]
        basis[row] = info[ENTERING]
        if out < n:
            slot[out] = -1
        if info[ENTERING] < n:
            slot[info[ENTERING]] = row
        exchange(V, x, y, row)
        info[PIVOTS] += 1
        info[SINCE] += 1
        info[UNCHECKED] += 1
        if out == 2 * n:
            return SOLVED
        info[ENTERING] = out + n if out < n else out - n


@njit
def multiply(V, slot, b, x):
    """x += B⁻¹ b."""
    n = x.shape[0]
    for j in range(n):
        f = b[j]
        if slot[j] >= 0:
            x[slot[j]] += f
        elif f != 0.0:
            for i in range(n):
                x[i] += f * V[j, i]


@njit
def restore(V, slot, qs, x):
    """x = B⁻¹ q from a fresh inverse; returns the most negative value relative to the largest."""
    n = x.shape[0]
    x[:] = 0.0
    multiply(V, slot, qs, x)
    low = 0.0
    high = 0.0
    for i in range(n):
        low = min(low, x[i])
        high = max(high, abs(x[i]))
    return low / high if high > 0.0 else 0.0


@njit
def correct(MT, qs, ds, V, x, basis, slot, rest):
    """One step of iterative refinement of B x = q with the inverse at hand; returns |q - B x| / |x| from before it."""
    n = x.shape[0]
    for i in range(n):  # not rest[:] = qs, which would compile for seconds
        rest[i] = qs[i]
    size = 0.0
    for k in range(n):
        b = basis[k]
        f = x[k]
        size = max(size, abs(f))
        if b < n:
            rest[b] -= f
        else:
            a = ds if b == 2 * n else MT[b - n]
            for i in range(n):
                rest[i] += f * a[i]
    multiply(V, slot, rest, x)
    worst = 0.0
    for i in range(n):
        worst = max(worst, abs(rest[i]))
    return worst / size if size > 0.0 else 0.0


@njit
def finish(M, q, tableau, s, z, w):
    """z and w from the basis, refined; returns (natural-map residual, verified).

    Verified means: with z >= 0 exactly, `w_i >= 0` and `w_i = 0` where z_i is basic hold for the stored M and q to
    SOLVED_ACCURACY, relative to the largest row of |M||z| + |q|, and to SOLVED_Q_SHARE, relative to the largest |q|;
    both in the caller's units and in the equilibrated ones, so that a row of tiny numbers cannot hide behind one of
    large numbers.
    """
    MT, qs, ds, r, c, V, x, basis, slot, _ = tableau
    n = q.shape[0]
    rest = np.empty(n)
    for _ in range(2):
        correct(MT, qs, ds, V, x, basis, slot, rest)
    z[:] = 0.0
    active = np.zeros(n, np.int64)
    for k in range(n):
        b = basis[k]
        if n <= b < 2 * n:
            z[b - n] = max(x[k], 0.0) * c[b - n] * s
            active[b - n] = 1
    worst = 0.0
    scale = 0.0
    worst_scaled = 0.0
    scale_scaled = 0.0
    residual = 0.0
    load = 0.0
    load_scaled = 0.0
    finite = True  # by itself, since max loses a NaN
    for i in range(n):
        value = q[i]
        size = abs(q[i])
        for j in range(n):
            t = M[i, j] * z[j]
            value += t
            size += abs(t)
        finite = finite and abs(value) < math.inf
        error = abs(value) if active[i] == 1 else max(-value, 0.0)
        worst = max(worst, error)
        scale = max(scale, size)
        worst_scaled = max(worst_scaled, error * r[i])
        scale_scaled = max(scale_scaled, size * r[i])
        residual = max(residual, abs(min(z[i], value)))
        load = max(load, abs(q[i]))
        load_scaled = max(load_scaled, abs(q[i]) * r[i])
        w[i] = 0.0 if active[i] == 1 else value
    if not finite:
        return math.inf, False
    verified = worst <= min(SOLVED_ACCURACY * scale, SOLVED_Q_SHARE * load)
    verified = verified and worst_scaled <= min(SOLVED_ACCURACY * scale_scaled, SOLVED_Q_SHARE * load_scaled)
    if verified:
        for i in range(n):
            w[i] = max(w[i], 0.0)
    return residual, verified


@njit
def direction(tableau, ray):
    """The z part of the ray of the entering variable (largest entry 1): z + t·ray for t >= 0, with z0 not falling."""
    MT, _, ds, _, c, V, _, basis, slot, info = tableau
    entering = info[ENTERING]
    n = c.shape[0]
    y = np.empty(n)
    noise = np.empty(n)
    column(V, MT, ds, slot, entering, y, noise)
    ray[:] = 0.0
    if n <= entering < 2 * n:
        ray[entering - n] = c[entering - n]
    for k in range(n):
        if n <= basis[k] < 2 * n:
            ray[basis[k] - n] = max(-y[k], 0.0) * c[basis[k] - n]
    size = 0.0
    for i in range(n):
        size = max(size, ray[i])
    if size > 0.0:
        for i in range(n):
            ray[i] /= size


@njit
def solve_small(M, q, d, maxiter, every, tie, pivot, tableau, z, w):
    """start, path and finish in one call: all that a problem without refactoring needs. Returns (code, s, residual,
    ok).
    """
    s = start(M, q, d, tableau)
    if s == 0.0:
        for i in range(q.shape[0]):
            z[i] = 0.0
            w[i] = q[i]
        return SOLVED, s, 0.0, True
    code = path(tableau, maxiter, every, tie, pivot)
    if code == SOLVED:
        residual, ok = finish(M, q, tableau, s, z, w)
        return code, s, residual, ok
    return code, s, np.inf, False
