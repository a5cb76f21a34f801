"""The sweeps of block Gauss–Seidel, compiled: over bodies without a Delassus matrix, and over a sparse one.

Blocks come in segments of one kind each (`local_frames`), so that each inner loop has one law and, where it pays, a
fixed number of rows. A block reads its velocities u, solves its law exactly (`local`) and at once hands the
change of its impulses on. On bodies the state is w = Lᵀ Hᵀ p with M⁻¹ = L Lᵀ, rows are J = H L, and

    u = q + J w + C p        w <- w + Jᵀ (p' - p)        v = v_free + L w

Each sweep returns the largest change of velocity that a block's own update asked for, an estimate of the scaled
natural map. On bodies a sweep goes cell by cell (`order`), and need not visit contacts that are open each time.
"""

from __future__ import annotations

import numpy as np

from ...runtime.jit import njit
from ...runtime.lanes import WIDTH
from . import kinds
from .local import disk_of, planar_of, solve_disk, solve_interval, solve_planar
from .local_nested import nested_workspace, update_nested
from .point_contacts import sweep_point_contacts
from .point_contacts_simd import sweep_packs


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
def _apply_impulse(J, w, r, a, b, d, change):
    """w += Jᵀ change for row r."""
    for j in range(d):
        w[a, j] += J[r, j] * change
        w[b, j] += J[r, d + j] * change


@njit(inline=True)
def _push_column(ptr, index, data, u, r, change):
    """u += W[:, r] change."""
    for k in range(ptr[r], ptr[r + 1]):
        u[index[k]] += data[k] * change


@njit(inline=True)
def _disks(start, stop, d, full, entries, local, packed, q, p, w):
    """Sweep once over contacts of the kind DISK; returns the largest change of velocity."""
    largest, compliant, par = 0.0, len(local.Cb) > 0, local.par
    for i in range(start, stop):
        r = entries.ptr[i]
        pn, p1, p2 = p[r], p[r + 1], p[r + 2]
        if pn == 0.0 and not full:
            continue
        ia, ib = entries.a[i], entries.b[i]
        un = q[r] + _velocity(packed.J, w, r, ia, ib, d)
        u1 = q[r + 1] + _velocity(packed.J, w, r + 1, ia, ib, d)
        u2 = q[r + 2] + _velocity(packed.J, w, r + 2, ia, ib, d)
        if compliant:
            un += local.Cb[r, 0] * pn
            u1 += local.Cb[r + 1, 1] * p1 + local.Cb[r + 1, 2] * p2
            u2 += local.Cb[r + 2, 1] * p1 + local.Cb[r + 2, 2] * p2
        n, t1, t2, guess = solve_disk((un, u1, u2), (pn, p1, p2), disk_of(par, i))
        par[i, kinds.DISK_GUESS] = guess
        p[r], p[r + 1], p[r + 2] = n, t1, t2
        n -= pn
        t1 -= p1
        t2 -= p2
        for j in range(d):
            w[ia, j] += packed.J[r, j] * n + packed.J[r + 1, j] * t1 + packed.J[r + 2, j] * t2
            w[ib, j] += packed.J[r, d + j] * n + packed.J[r + 1, d + j] * t1 + packed.J[r + 2, d + j] * t2
        largest = max(
            largest,
            abs(n) * par[i, kinds.DISK_NN] + abs(t1) * par[i, kinds.DISK_S1] + abs(t2) * par[i, kinds.DISK_S2],
        )
    return largest


@njit(inline=True)
def _planars(start, stop, d, full, entries, local, packed, q, p, w, associated):
    """Sweep once over contacts of the kind PLANAR; returns the largest change of velocity."""
    largest, compliant, par = 0.0, len(local.Cb) > 0, local.par
    for i in range(start, stop):
        r = entries.ptr[i]
        pn, pt = p[r], p[r + 1]
        if pn == 0.0 and pt == 0.0 and not full:
            continue
        ia, ib = entries.a[i], entries.b[i]
        un = q[r] + _velocity(packed.J, w, r, ia, ib, d)
        ut = q[r + 1] + _velocity(packed.J, w, r + 1, ia, ib, d)
        if compliant:
            un += local.Cb[r, 0] * pn
            ut += local.Cb[r + 1, 1] * pt
        n, t = solve_planar(un, ut, pn, pt, *planar_of(par, i), associated)
        p[r], p[r + 1] = n, t
        n -= pn
        t -= pt
        for j in range(d):
            w[ia, j] += packed.J[r, j] * n + packed.J[r + 1, j] * t
            w[ib, j] += packed.J[r, d + j] * n + packed.J[r + 1, d + j] * t
        largest = max(largest, abs(n) * par[i, kinds.PLANAR_NN] + abs(t) * par[i, kinds.PLANAR_TT])
    return largest


@njit(inline=True)
def _intervals(start, stop, d, entries, local, packed, q, p, w):
    """Sweep once over single rows; returns the largest change of velocity."""
    largest, par = 0.0, local.par
    for i in range(start, stop):
        r = entries.ptr[i]
        u = q[r] + _velocity(packed.J, w, r, entries.a[i], entries.b[i], d)
        if len(local.Cb) > 0:
            u += local.Cb[r, 0] * p[r]
        x = solve_interval(
            u, p[r], par[i, kinds.INTERVAL_INVERSE], par[i, kinds.INTERVAL_LOW], par[i, kinds.INTERVAL_HIGH]
        )
        change = x - p[r]
        p[r] = x
        _apply_impulse(packed.J, w, r, entries.a[i], entries.b[i], d, change)
        largest = max(largest, abs(change) * par[i, kinds.INTERVAL_W])
    return largest


def _make_bilaterals(d):
    """The sweep over joints of bodies with d velocities each; d is closed over, so that loops over it are unrolled."""

    @njit
    def bilaterals(start, stop, entries, local, packed, q, p, w):
        """Sweep once over blocks of the kind BILATERAL; returns the largest change of velocity."""
        a, b, ptr, Cb, par = entries.a, entries.b, entries.ptr, local.Cb, local.par
        J = packed.J
        largest, u, compliant = 0.0, np.empty(8), len(Cb) > 0
        for i in range(start, stop):
            for k in range(ptr[i + 1] - ptr[i]):
                u[k] = q[ptr[i] + k] + _velocity(J, w, ptr[i] + k, a[i], b[i], d)
                if compliant:
                    for l in range(ptr[i + 1] - ptr[i]):
                        u[k] += Cb[ptr[i] + k, l] * p[ptr[i] + l]
            for k in range(ptr[i + 1] - ptr[i]):  # the frame makes W the identity, 0 where rows are redundant
                p[ptr[i] + k] -= u[k]
                _apply_impulse(J, w, ptr[i] + k, a[i], b[i], d, -u[k])
                largest = max(largest, abs(u[k]) * par[i, kinds.BILATERAL_SIZE])
        return largest

    return bilaterals


def _make_nesteds(d):
    """The sweep over blocks of the kind NESTED of bodies with d velocities each."""

    @njit
    def nesteds(start, stop, entries, local, packed, q, p, w, associated, facets):
        """Sweep once over blocks of the kind NESTED; returns the largest change of velocity."""
        a, b, ptr, Cb, J = entries.a, entries.b, entries.ptr, local.Cb, packed.J
        largest, workspace, compliant = 0.0, nested_workspace(facets), len(Cb) > 0
        u, new = np.empty(8), np.empty(8)
        for i in range(start, stop):
            r = ptr[i]
            n = ptr[i + 1] - r
            for k in range(n):
                u[k] = q[r + k] + _velocity(J, w, r + k, a[i], b[i], d)
                if compliant:
                    for l in range(n):
                        u[k] += Cb[r + k, l] * p[r + l]
            change = update_nested(i, u, p, new, entries, local, associated, workspace)
            largest = max(largest, change)
            for k in range(n):
                _apply_impulse(J, w, r + k, a[i], b[i], d, new[k] - p[r + k])
                p[r + k] = new[k]
        return largest

    return nesteds


_bilaterals_planar, _bilaterals_spatial = _make_bilaterals(3), _make_bilaterals(6)
_nesteds_planar, _nesteds_spatial = _make_nesteds(3), _make_nesteds(6)


def _make_sweep_cell(d, nested):
    """The sweep over one cell; `nested` (0 or 1) is closed over: without such blocks they cost no compile time."""

    @njit(leaf=True, sealed=True)
    def sweep_cell(c, full, entries, local, packed, q, p, w, associated, facets):
        """Sweep once over cell c, without open contacts unless `full`; returns the largest change of velocity."""
        seg, data = entries.seg, (entries, local, packed, q, p, w)
        largest = _intervals(seg[c, kinds.INTERVAL], seg[c, kinds.INTERVAL + 1], d, *data)
        start, stop = seg[c, kinds.BILATERAL], seg[c, kinds.BILATERAL + 1]
        if start < stop:
            if d == 3:
                largest = max(largest, _bilaterals_planar(start, stop, *data))
            else:
                largest = max(largest, _bilaterals_spatial(start, stop, *data))
        start, stop = seg[c, kinds.PLANAR], seg[c, kinds.PLANAR + 1]
        if start < stop:
            largest = max(largest, _planars(start, stop, d, full, *data, associated))
        start, stop = seg[c, kinds.DISK], seg[c, kinds.DISK + 1]
        if start < stop and packed.point_contacts:
            first, last = packed.pack[c], packed.pack[c + 1]
            largest = max(largest, sweep_packs(first, last, full, start, entries, packed, q, p, w))
            start += WIDTH * (last - first)
            largest = max(largest, sweep_point_contacts(start, stop, full, *data))
        elif start < stop:
            largest = max(largest, _disks(start, stop, d, full, *data))
        start, stop = seg[c, kinds.NESTED], seg[c, kinds.NESTED + 1]
        if nested and start < stop:
            if d == 3:
                largest = max(largest, _nesteds_planar(start, stop, *data, associated, facets))
            else:
                largest = max(largest, _nesteds_spatial(start, stop, *data, associated, facets))
        return largest

    return sweep_cell


sweep_planar, sweep_planar_nested = _make_sweep_cell(3, 0), _make_sweep_cell(3, 1)
sweep_spatial, sweep_spatial_nested = _make_sweep_cell(6, 0), _make_sweep_cell(6, 1)


def _make_sweep_matrix(nested):
    @njit
    def sweep_matrix(count, threshold, entries, local, col, index, data, u, p, associated, facets):
        """Sweep up to `count` times on W by columns, with compliance on its diagonal; u = W p + q is the state."""
        velocity_now, new = np.empty(8), np.empty(8)
        if nested:
            workspace = nested_workspace(facets)
        largest, ptr, seg, par = 0.0, entries.ptr, entries.seg[0], local.par
        for done in range(count):
            largest = 0.0
            for i in range(seg[kinds.KINDS]):
                r = ptr[i]
                n = ptr[i + 1] - r
                change = 0.0
                if i < seg[kinds.INTERVAL + 1]:
                    new[0] = solve_interval(
                        u[r],
                        p[r],
                        par[i, kinds.INTERVAL_INVERSE],
                        par[i, kinds.INTERVAL_LOW],
                        par[i, kinds.INTERVAL_HIGH],
                    )
                    change = abs(new[0] - p[r]) * par[i, kinds.INTERVAL_W]
                elif i < seg[kinds.BILATERAL + 1]:
                    for k in range(n):
                        new[k] = p[r + k] - u[r + k]
                        change = max(change, abs(u[r + k]) * par[i, kinds.BILATERAL_SIZE])
                elif i < seg[kinds.PLANAR + 1]:
                    new[0], new[1] = solve_planar(u[r], u[r + 1], p[r], p[r + 1], *planar_of(par, i), associated)
                    change = (
                        abs(new[0] - p[r]) * par[i, kinds.PLANAR_NN] + abs(new[1] - p[r + 1]) * par[i, kinds.PLANAR_TT]
                    )
                elif i < seg[kinds.DISK + 1]:
                    now, before = (u[r], u[r + 1], u[r + 2]), (p[r], p[r + 1], p[r + 2])
                    new[0], new[1], new[2], par[i, kinds.DISK_GUESS] = solve_disk(now, before, disk_of(par, i))
                    change = abs(new[0] - p[r]) * par[i, kinds.DISK_NN] + abs(new[1] - p[r + 1]) * par[i, kinds.DISK_S1]
                    change += abs(new[2] - p[r + 2]) * par[i, kinds.DISK_S2]
                elif nested:
                    for k in range(n):
                        velocity_now[k] = u[r + k]
                    change = update_nested(i, velocity_now, p, new, entries, local, associated, workspace)
                largest = max(largest, change)
                for k in range(n):
                    if new[k] != p[r + k]:
                        _push_column(col, index, data, u, r + k, new[k] - p[r + k])
                        p[r + k] = new[k]
            if largest <= threshold:
                return done + 1, largest
        return count, largest

    return sweep_matrix


sweep_matrix, sweep_matrix_nested = _make_sweep_matrix(0), _make_sweep_matrix(1)
