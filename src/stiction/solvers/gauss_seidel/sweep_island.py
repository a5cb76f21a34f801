"""An island of bodies: where its rows lie, its state w = Jᵀ p, and one sweep over it, cell by cell.

Cells of a phase share no body, so that threads may take them at the same time (`order`).
"""

from __future__ import annotations

import numpy as np

from ...runtime.jit import njit, prange
from ...runtime.lanes import WIDTH
from . import kinds
from .order import PHASES, stride
from .point_contacts import state_arms
from .point_contacts_simd import state_packs
from .sweep_cell import sweep_planar, sweep_planar_nested, sweep_spatial, sweep_spatial_nested


@njit(leaf=True)
def row_weights(start, stop, items, local):
    """weight (rows,): W_ii of each packed row of the items start..stop, so that Σ weight·p² is an energy."""
    for i in range(start, stop):
        r = items.ptr[i]
        if items.kind[i] == kinds.INTERVAL:
            local.weight[r] = local.par[i, kinds.INTERVAL_OWN]
        elif items.kind[i] == kinds.BILATERAL:
            for k in range(items.ptr[i + 1] - r):
                local.weight[r + k] = 1.0
        elif items.kind[i] == kinds.PLANAR:
            local.weight[r], local.weight[r + 1] = local.par[i, kinds.PLANAR_NN], local.par[i, kinds.PLANAR_TT]
        elif items.kind[i] == kinds.DISK:
            local.weight[r] = local.par[i, kinds.DISK_NN]
            local.weight[r + 1], local.weight[r + 2] = local.par[i, kinds.DISK_S1], local.par[i, kinds.DISK_S2]
        else:
            for k in range(items.ptr[i + 1] - r):
                local.weight[r + k] = local.sd[r + k]
            if local.par[i, kinds.NESTED_NORMAL] > 0.0:
                local.weight[r] = local.par[i, kinds.NESTED_NN]


@njit
def island_rows(phase, seg, ptr):
    """rows (ni + 1,): where the packed rows of each island start."""
    rows = np.zeros(phase.shape[0] + 1, np.int64)
    for i in range(phase.shape[0]):
        rows[i + 1] = ptr[seg[phase[i, PHASES] - 1, kinds.KINDS]]
    return rows


@njit(leaf=True)
def _cell_state(c, items, packed, p, w):
    """w += Jᵀ p of a cell."""
    d = w.shape[1]
    if packed.arms:
        start, first, last = items.seg[c, kinds.DISK], packed.pack[c], packed.pack[c + 1]
        state_packs(first, last, start, items.ptr[start], items.a, items.b, packed.Z, packed.B, p, w)
        state_arms(start + WIDTH * (last - first), items.seg[c, kinds.DISK + 1], items, packed, p, w)
    for i in range(items.seg[c, 0], items.seg[c, kinds.KINDS]):
        if packed.arms and items.seg[c, kinds.DISK] <= i < items.seg[c, kinds.DISK + 1]:
            continue
        for r in range(items.ptr[i], items.ptr[i + 1]):
            if p[r] != 0.0:
                for j in range(d):
                    w[items.a[i], j] += packed.J[r, j] * p[r]
                    w[items.b[i], j] += packed.J[r, d + j] * p[r]


@njit(parallel=True)
def _state_parallel(first, last, items, packed, p, w):
    n = last - first
    step = stride(n)
    for k in prange(n):
        c = first + np.int64(k) * step % n
        _cell_state(c, items, packed, p, w)


@njit(leaf=True, sealed=True)
def body_state(isl, parallel, items, packed, p, w):
    """w = Jᵀ p of an island, phase by phase."""
    for i in range(items.begin[isl], items.begin[isl + 1]):
        for j in range(w.shape[1]):
            w[i, j] = 0.0
    for s in range(PHASES):
        first, last = items.phase[isl, s], items.phase[isl, s + 1]
        if parallel and last - first > 1:
            _state_parallel(first, last, items, packed, p, w)
        else:
            for c in range(first, last):
                _cell_state(c, items, packed, p, w)


def _make_sweep_phase(d, nested):
    @njit(parallel=True)
    def sweep_phase(first, last, most, full, items, local, packed, q, p, w, associated, facets):
        """One sweep over the cells first..last, which share no body, at the same time; most (cells,): estimates."""
        n = last - first
        step = stride(n)
        for k in prange(n):
            c = first + np.int64(k) * step % n
            if d == 3 and nested:
                most[c] = sweep_planar_nested(c, full, items, local, packed, q, p, w, associated, facets)
            elif d == 3:
                most[c] = sweep_planar(c, full, items, local, packed, q, p, w, associated, facets)
            elif nested:
                most[c] = sweep_spatial_nested(c, full, items, local, packed, q, p, w, associated, facets)
            else:
                most[c] = sweep_spatial(c, full, items, local, packed, q, p, w, associated, facets)

    return sweep_phase


phase_planar, phase_planar_nested = _make_sweep_phase(3, 0), _make_sweep_phase(3, 1)
phase_spatial, phase_spatial_nested = _make_sweep_phase(6, 0), _make_sweep_phase(6, 1)


def _make_sweep_island(sweep_cell, sweep_phase):
    @njit(leaf=True)
    def sweep_island(isl, parallel, most, full, work, facets):
        """One sweep over an island, phase by phase; the largest change of velocity.

        most (cells,): room for what each cell says; facets: of the largest polyhedron.
        """
        worst, phase = 0.0, work.items.phase
        known = work.items, work.local, work.packed, work.q, work.p, work.w, work.laws.associated, facets
        for s in range(PHASES):
            first, last = phase[isl, s], phase[isl, s + 1]
            if parallel and last - first > 1:
                sweep_phase(first, last, most, full, *known)
                for c in range(first, last):
                    worst = max(worst, most[c])
                continue
            for c in range(first, last):
                worst = max(worst, sweep_cell(c, full, *known))
        return worst

    return sweep_island


island_planar = _make_sweep_island(sweep_planar, phase_planar)
island_planar_nested = _make_sweep_island(sweep_planar_nested, phase_planar_nested)
island_spatial = _make_sweep_island(sweep_spatial, phase_spatial)
island_spatial_nested = _make_sweep_island(sweep_spatial_nested, phase_spatial_nested)
