"""An island of bodies: where its rows lie, its state w = Jᵀ p, and one sweep over it, cell by cell.

Cells of a phase share no body, so that threads may take them at the same time (`order`).
"""

from __future__ import annotations

import numpy as np

from ...runtime.jit import njit, prange
from ...runtime.lanes import WIDTH
from . import kinds
from .order import PHASES, stride
from .point_contacts import apply_point_contacts
from .point_contacts_simd import apply_packs
from .sweep_cell import sweep_planar, sweep_planar_nested, sweep_spatial, sweep_spatial_nested


@njit(leaf=True)
def row_weights(start, stop, entries, local):
    """Set weight (rows,) of the entries start..stop: W_ii of each packed row, so that Σ weight·p² is an energy."""
    for i in range(start, stop):
        r = entries.ptr[i]
        if entries.kind[i] == kinds.INTERVAL:
            local.weight[r] = local.par[i, kinds.INTERVAL_W]
        elif entries.kind[i] == kinds.BILATERAL:
            for k in range(entries.ptr[i + 1] - r):
                local.weight[r + k] = 1.0
        elif entries.kind[i] == kinds.PLANAR:
            local.weight[r], local.weight[r + 1] = local.par[i, kinds.PLANAR_NN], local.par[i, kinds.PLANAR_TT]
        elif entries.kind[i] == kinds.DISK:
            local.weight[r] = local.par[i, kinds.DISK_NN]
            local.weight[r + 1], local.weight[r + 2] = local.par[i, kinds.DISK_S1], local.par[i, kinds.DISK_S2]
        else:
            for k in range(entries.ptr[i + 1] - r):
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
def _add_cell_state(c, entries, packed, p, w):
    """w += Jᵀ p of a cell."""
    d = w.shape[1]
    if packed.point_contacts:
        start, first, last = entries.seg[c, kinds.DISK], packed.pack[c], packed.pack[c + 1]
        apply_packs(first, last, start, entries, packed, p, w)
        apply_point_contacts(start + WIDTH * (last - first), entries.seg[c, kinds.DISK + 1], entries, packed, p, w)
    for i in range(entries.seg[c, 0], entries.seg[c, kinds.KINDS]):
        if packed.point_contacts and entries.seg[c, kinds.DISK] <= i < entries.seg[c, kinds.DISK + 1]:
            continue
        for r in range(entries.ptr[i], entries.ptr[i + 1]):
            if p[r] != 0.0:
                for j in range(d):
                    w[entries.a[i], j] += packed.J[r, j] * p[r]
                    w[entries.b[i], j] += packed.J[r, d + j] * p[r]


@njit(parallel=True)
def _state_parallel(first, last, entries, packed, p, w):
    n = last - first
    step = stride(n)
    for k in prange(n):
        c = first + np.int64(k) * step % n
        _add_cell_state(c, entries, packed, p, w)


@njit(leaf=True, sealed=True)
def body_state(isl, parallel, entries, packed, p, w):
    """w = Jᵀ p of an island, phase by phase."""
    for i in range(entries.begin[isl], entries.begin[isl + 1]):
        for j in range(w.shape[1]):
            w[i, j] = 0.0
    for s in range(PHASES):
        first, last = entries.phase[isl, s], entries.phase[isl, s + 1]
        if parallel and last - first > 1:
            _state_parallel(first, last, entries, packed, p, w)
        else:
            for c in range(first, last):
                _add_cell_state(c, entries, packed, p, w)


def _make_sweep_phase(d, nested):
    @njit(parallel=True)
    def sweep_phase(first, last, estimates, full, entries, local, packed, q, p, w, associated, facets):
        """Sweep once over the cells first..last, which share no body, in parallel; estimates (cells,): changes."""
        n = last - first
        step = stride(n)
        for k in prange(n):
            c = first + np.int64(k) * step % n
            if d == 3 and nested:
                estimates[c] = sweep_planar_nested(c, full, entries, local, packed, q, p, w, associated, facets)
            elif d == 3:
                estimates[c] = sweep_planar(c, full, entries, local, packed, q, p, w, associated, facets)
            elif nested:
                estimates[c] = sweep_spatial_nested(c, full, entries, local, packed, q, p, w, associated, facets)
            else:
                estimates[c] = sweep_spatial(c, full, entries, local, packed, q, p, w, associated, facets)

    return sweep_phase


phase_planar, phase_planar_nested = _make_sweep_phase(3, 0), _make_sweep_phase(3, 1)
phase_spatial, phase_spatial_nested = _make_sweep_phase(6, 0), _make_sweep_phase(6, 1)


def _make_sweep_island(sweep_cell, sweep_phase):
    @njit(leaf=True)
    def sweep_island(isl, parallel, estimates, full, work, facets):
        """Sweep once over an island, phase by phase; returns the largest change of velocity.

        estimates (cells,): workspace for the change of each cell; facets: of the largest polyhedron.
        """
        largest, phase = 0.0, work.entries.phase
        data = work.entries, work.local, work.packed, work.q, work.p, work.w, work.laws.associated, facets
        for s in range(PHASES):
            first, last = phase[isl, s], phase[isl, s + 1]
            if parallel and last - first > 1:
                sweep_phase(first, last, estimates, full, *data)
                for c in range(first, last):
                    largest = max(largest, estimates[c])
                continue
            for c in range(first, last):
                largest = max(largest, sweep_cell(c, full, *data))
        return largest

    return sweep_island


island_planar = _make_sweep_island(sweep_planar, phase_planar)
island_planar_nested = _make_sweep_island(sweep_planar_nested, phase_planar_nested)
island_spatial = _make_sweep_island(sweep_spatial, phase_spatial)
island_spatial_nested = _make_sweep_island(sweep_spatial_nested, phase_spatial_nested)
