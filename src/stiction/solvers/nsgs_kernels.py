"""The sweeps of block Gauss–Seidel, compiled: over bodies without a Delassus matrix, and over a sparse one.

Blocks come in segments of one kind each (`nsgs_setup`), so that each inner loop has one law and, where it pays, a
fixed number of rows. A block reads its velocities u, solves its law exactly (`nsgs_local`) and at once hands the
change of its impulses on. On bodies the state is w = Lᵀ Hᵀ p with M⁻¹ = L Lᵀ, rows are J = H L, and

    u = q + J w + C p        w <- w + Jᵀ (p' - p)        v = v_free + L w

Each sweep returns the largest change of velocity that a block's own update asked for, an estimate of the scaled
natural map. On bodies a sweep goes cell by cell (`nsgs_order`), and need not visit contacts that are open each time.
"""

from __future__ import annotations

import numpy as np

from .._jit import njit
from .._lanes import WIDTH
from .nsgs_arms import sweep_arms
from .nsgs_lanes import sweep_packs
from .nsgs_local import friction_for, solve_ball, solve_disk, solve_interval, solve_nested, solve_planar
from .nsgs_product import update_product

INTERVAL, BILATERAL, PLANAR, DISK, NESTED = 0, 1, 2, 3, 4
KINDS = 5


@njit(inline=True)
def _velocity(J, w, r, a, b, d):
    """Row r of J w."""
    ua = 0.0
    ub = 0.0
    for j in range(d):
        ua += J[r, j] * w[a, j]
        ub += J[r, d + j] * w[b, j]
    return ua + ub


@njit(inline=True)
def _push(J, w, r, a, b, d, change):
    """w += Jᵀ change for row r."""
    for j in range(d):
        w[a, j] += J[r, j] * change
        w[b, j] += J[r, d + j] * change


@njit(inline=True)
def _push_column(ptr, index, data, u, r, change):
    """u += W[:, r] change."""
    for k in range(ptr[r], ptr[r + 1]):
        u[index[k]] += data[k] * change


@njit
def scratch(facets):
    """Work arrays of `friction_for` for up to `facets` facets."""
    m = facets + 1
    return (
        np.empty(8), np.empty(m), np.empty((m, 8)), np.empty(m), np.empty(8), np.empty(8),
        np.empty(8, dtype=np.int64), np.empty((8, 8)), np.empty(8), np.empty(8),
    )  # fmt: skip


@njit(leaf=True, sealed=True)
def update_nested(
    i, r, n, u, p, new, par, wn, sd, gptr, G, rim, vptr, V, associated, qt, g, f, work
):  # fmt: skip
    """Impulses `new` (n,) of a block of the kind NESTED at velocities u (n,); returns its change of velocity."""
    if par[i, 5] > 0.0:  # a product of friction sets
        return update_product(i, r, n, u, p, new, par, wn, sd, int(par[i, 5]), G, gptr[i], associated, qt, g, f, work)
    mu, r0, wnn = par[i, 2], par[i, 3], par[i, 0]
    shift = 1 if par[i, 1] > 0.0 else 0
    first = r + shift
    t = n - shift
    pn = p[r] if shift else 0.0
    qn = u[0] - wnn * pn
    for k in range(t):
        qn -= wn[first + k] * p[first + k]
        qt[k] = u[shift + k] - wn[first + k] * pn - sd[first + k] * p[first + k]
    m = gptr[i + 1] - gptr[i]
    for k in range(n):
        new[k] = 0.0
    if shift == 0:
        friction_for(t, first, gptr[i], rim, m, G, sd, qt, r0, f, work)
    elif wnn > 0.0:
        nv = vptr[i + 1] - vptr[i]
        found = -1.0
        if m == 0:
            found, par[i, 4] = solve_ball(qn, qt, pn, par[i, 4], wnn, wn, sd, t, first, mu, r0, associated, f)
        if found < 0.0:
            found = solve_nested(
                qn, qt, pn, wnn, wn, sd, t, first, mu, r0, gptr[i], m, G, rim, vptr[i], nv, V, associated, g, f, work
            )  # fmt: skip
        if found < 0.0:
            for k in range(n):
                new[k] = p[r + k]
            return 0.0
        new[0] = found
    else:
        return 0.0
    change = 0.0
    for k in range(t):
        new[shift + k] = f[k]
        change += sd[first + k] * abs(f[k] - p[first + k])
    return change + (wnn * abs(new[0] - pn) if shift else 0.0)


@njit(inline=True)
def _disks(start, stop, d, ptr, a, b, J, q, p, w, par, Cb, compliant, full):
    """One sweep over contacts of the kind DISK; returns the largest change of velocity."""
    worst = 0.0
    for i in range(start, stop):
        r = ptr[i]
        pn, p1, p2 = p[r], p[r + 1], p[r + 2]
        if pn == 0.0 and not full:
            continue
        ia, ib = a[i], b[i]
        un = q[r] + _velocity(J, w, r, ia, ib, d)
        u1 = q[r + 1] + _velocity(J, w, r + 1, ia, ib, d)
        u2 = q[r + 2] + _velocity(J, w, r + 2, ia, ib, d)
        if compliant:
            un += Cb[r, 0] * pn
            u1 += Cb[r + 1, 1] * p1 + Cb[r + 1, 2] * p2
            u2 += Cb[r + 2, 1] * p1 + Cb[r + 2, 2] * p2
        n, t1, t2, guess = solve_disk(
            un, u1, u2, pn, p1, p2, par[i, 0], par[i, 1], par[i, 2], par[i, 3], par[i, 4], par[i, 5], par[i, 6]
        )
        par[i, 6] = guess
        p[r], p[r + 1], p[r + 2] = n, t1, t2
        n -= pn
        t1 -= p1
        t2 -= p2
        for j in range(d):
            w[ia, j] += J[r, j] * n + J[r + 1, j] * t1 + J[r + 2, j] * t2
            w[ib, j] += J[r, d + j] * n + J[r + 1, d + j] * t1 + J[r + 2, d + j] * t2
        worst = max(worst, abs(n) * par[i, 7] + abs(t1) * par[i, 3] + abs(t2) * par[i, 4])
    return worst


@njit(inline=True)
def _planars(start, stop, d, ptr, a, b, J, q, p, w, par, Cb, compliant, associated, full):
    """One sweep over contacts of the kind PLANAR; returns the largest change of velocity."""
    worst = 0.0
    for i in range(start, stop):
        r = ptr[i]
        pn, pt = p[r], p[r + 1]
        if pn == 0.0 and pt == 0.0 and not full:
            continue
        ia, ib = a[i], b[i]
        un = q[r] + _velocity(J, w, r, ia, ib, d)
        ut = q[r + 1] + _velocity(J, w, r + 1, ia, ib, d)
        if compliant:
            un += Cb[r, 0] * pn
            ut += Cb[r + 1, 1] * pt
        n, t = solve_planar(
            un, ut, pn, pt, par[i, 0], par[i, 1], par[i, 2], par[i, 3], par[i, 4], par[i, 5], par[i, 6], associated
        )
        p[r], p[r + 1] = n, t
        n -= pn
        t -= pt
        for j in range(d):
            w[ia, j] += J[r, j] * n + J[r + 1, j] * t
            w[ib, j] += J[r, d + j] * n + J[r + 1, d + j] * t
        worst = max(worst, abs(n) * par[i, 0] + abs(t) * par[i, 2])
    return worst


def _make_sweep_cell(d, nested):
    """A sweep for bodies with d velocities each.

    d is closed over so that the loops over it are unrolled, and `nested` (0 or 1) so that the blocks of this kind
    cost no compile time where there are none.
    """

    @njit
    def bilaterals(start, stop, ptr, a, b, J, q, p, w, par, Cb, compliant):
        """One sweep over blocks of the kind BILATERAL; returns the largest change of velocity."""
        worst, u = 0.0, np.empty(8)
        for i in range(start, stop):
            for k in range(ptr[i + 1] - ptr[i]):
                u[k] = q[ptr[i] + k] + _velocity(J, w, ptr[i] + k, a[i], b[i], d)
                if compliant:
                    for l in range(ptr[i + 1] - ptr[i]):
                        u[k] += Cb[ptr[i] + k, l] * p[ptr[i] + l]
            for k in range(ptr[i + 1] - ptr[i]):  # the frame makes W the identity, 0 where rows are redundant
                p[ptr[i] + k] -= u[k]
                _push(J, w, ptr[i] + k, a[i], b[i], d, -u[k])
                worst = max(worst, abs(u[k]) * par[i, 0])
        return worst

    @njit
    def nesteds(
        start, stop, ptr, a, b, J, q, p, w, par, wn, sd, Cb, compliant, gptr, G, rim, vptr, V, associated, facets
    ):
        """One sweep over blocks of the kind NESTED; returns the largest change of velocity."""
        worst, work = 0.0, scratch(facets)
        uu, new, qt, g, f = np.empty(8), np.empty(8), np.empty(8), np.empty(8), np.empty(8)
        for i in range(start, stop):
            r = ptr[i]
            n = ptr[i + 1] - r
            for k in range(n):
                uu[k] = q[r + k] + _velocity(J, w, r + k, a[i], b[i], d)
                if compliant:
                    for l in range(n):
                        uu[k] += Cb[r + k, l] * p[r + l]
            change = update_nested(
                i, r, n, uu, p, new, par, wn, sd, gptr, G, rim, vptr, V, associated, qt, g, f, work
            )  # fmt: skip
            worst = max(worst, change)
            for k in range(n):
                _push(J, w, r + k, a[i], b[i], d, new[k] - p[r + k])
                p[r + k] = new[k]
        return worst

    @njit(leaf=True, sealed=True)
    def sweep_cell(
        c, full, seg, ptr, a, b, J, q, p, w, par, wn, sd, Cb, compliant, gptr, G, rim, vptr, V, associated, facets, F,
        B, arms, pack, Z,
    ):  # fmt: skip
        """One sweep over cell c; not `full`: without the contacts that are open. The largest change of velocity."""
        worst = 0.0
        for i in range(seg[c, INTERVAL], seg[c, INTERVAL + 1]):
            r = ptr[i]
            ui = q[r] + _velocity(J, w, r, a[i], b[i], d)
            if compliant:
                ui += Cb[r, 0] * p[r]
            x = solve_interval(ui, p[r], par[i, 0], par[i, 1], par[i, 2])
            change = x - p[r]
            p[r] = x
            _push(J, w, r, a[i], b[i], d, change)
            worst = max(worst, abs(change) * par[i, 3])
        start, stop = seg[c, BILATERAL], seg[c, BILATERAL + 1]
        if start < stop:
            worst = max(worst, bilaterals(start, stop, ptr, a, b, J, q, p, w, par, Cb, compliant))
        start, stop = seg[c, PLANAR], seg[c, PLANAR + 1]
        if start < stop:
            change = _planars(start, stop, d, ptr, a, b, J, q, p, w, par, Cb, compliant, associated, full)
            worst = max(worst, change)
        start, stop = seg[c, DISK], seg[c, DISK + 1]
        if start < stop and arms:
            first, last = pack[c], pack[c + 1]
            worst = max(worst, sweep_packs(first, last, full, start, ptr[start], a, b, Z, B, q, p, w))
            start += WIDTH * (last - first)
            worst = max(worst, sweep_arms(start, stop, full, ptr, a, b, F, B, q, p, w, par))
        elif start < stop:
            worst = max(worst, _disks(start, stop, d, ptr, a, b, J, q, p, w, par, Cb, compliant, full))
        start, stop = seg[c, NESTED], seg[c, NESTED + 1]
        if nested and start < stop:
            change = nesteds(
                start, stop, ptr, a, b, J, q, p, w, par, wn, sd, Cb, compliant, gptr, G, rim, vptr, V, associated,
                facets,
            )  # fmt: skip
            worst = max(worst, change)
        return worst

    return sweep_cell


sweep_planar, sweep_planar_nested = _make_sweep_cell(3, 0), _make_sweep_cell(3, 1)
sweep_spatial, sweep_spatial_nested = _make_sweep_cell(6, 0), _make_sweep_cell(6, 1)


def _make_sweep_matrix(nested):
    @njit
    def sweep_matrix(
        count, threshold, seg, ptr, col, index, data, u, p, par, wn, sd, gptr, G, rim, vptr, V, associated, facets
    ):  # fmt: skip
        """The same on W given by columns, with compliance on its diagonal and u = W p + q the state."""
        uu, new, qt, g, f = np.empty(8), np.empty(8), np.empty(8), np.empty(8), np.empty(8)
        if nested:
            work = scratch(facets)
        worst = 0.0
        items = seg[KINDS]
        for done in range(count):
            worst = 0.0
            for i in range(items):
                r = ptr[i]
                n = ptr[i + 1] - r
                change = 0.0
                if i < seg[INTERVAL + 1]:
                    new[0] = solve_interval(u[r], p[r], par[i, 0], par[i, 1], par[i, 2])
                    change = abs(new[0] - p[r]) * par[i, 3]
                elif i < seg[BILATERAL + 1]:
                    for k in range(n):
                        new[k] = p[r + k] - u[r + k]
                        change = max(change, abs(u[r + k]) * par[i, 0])
                elif i < seg[PLANAR + 1]:
                    new[0], new[1] = solve_planar(
                        u[r], u[r + 1], p[r], p[r + 1], par[i, 0], par[i, 1], par[i, 2], par[i, 3], par[i, 4],
                        par[i, 5], par[i, 6], associated,
                    )  # fmt: skip
                    change = abs(new[0] - p[r]) * par[i, 0] + abs(new[1] - p[r + 1]) * par[i, 2]
                elif i < seg[DISK + 1]:
                    new[0], new[1], new[2], par[i, 6] = solve_disk(
                        u[r], u[r + 1], u[r + 2], p[r], p[r + 1], p[r + 2], par[i, 0], par[i, 1], par[i, 2], par[i, 3],
                        par[i, 4], par[i, 5], par[i, 6],
                    )  # fmt: skip
                    change = abs(new[0] - p[r]) * par[i, 7] + abs(new[1] - p[r + 1]) * par[i, 3]
                    change += abs(new[2] - p[r + 2]) * par[i, 4]
                elif nested:
                    for k in range(n):
                        uu[k] = u[r + k]
                    change = update_nested(
                        i, r, n, uu, p, new, par, wn, sd, gptr, G, rim, vptr, V, associated, qt, g, f, work
                    )  # fmt: skip
                worst = max(worst, change)
                for k in range(n):
                    if new[k] != p[r + k]:
                        _push_column(col, index, data, u, r + k, new[k] - p[r + k])
                        p[r + k] = new[k]
            if worst <= threshold:
                return done + 1, worst
        return count, worst

    return sweep_matrix


sweep_matrix, sweep_matrix_nested = _make_sweep_matrix(0), _make_sweep_matrix(1)
