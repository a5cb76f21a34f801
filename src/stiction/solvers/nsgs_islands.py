"""An island of bodies: where its rows lie, its state w = Jᵀ p, and one sweep over it, cell by cell.

Cells of a phase share no body, so that threads may take them at the same time (`nsgs_order`).
"""

from __future__ import annotations

import numpy as np

from .._jit import njit, prange
from .._lanes import WIDTH
from .nsgs_arms import state_arms
from .nsgs_kernels import (
    BILATERAL,
    DISK,
    INTERVAL,
    KINDS,
    PLANAR,
    sweep_planar,
    sweep_planar_nested,
    sweep_spatial,
    sweep_spatial_nested,
)
from .nsgs_lanes import state_packs
from .nsgs_order import PHASES, stride


@njit(leaf=True)
def row_weights(start, stop, kind, ptr, par, sd, weight):
    """weight (rows,): W_ii of each packed row of the items start..stop, so that Σ weight·p² is an energy."""
    for i in range(start, stop):
        r = ptr[i]
        if kind[i] == INTERVAL:
            weight[r] = par[i, 3]
        elif kind[i] == BILATERAL:
            for k in range(ptr[i + 1] - r):
                weight[r + k] = 1.0
        elif kind[i] == PLANAR:
            weight[r], weight[r + 1] = par[i, 0], par[i, 2]
        elif kind[i] == DISK:
            weight[r], weight[r + 1], weight[r + 2] = par[i, 7], par[i, 3], par[i, 4]
        else:
            for k in range(ptr[i + 1] - r):
                weight[r + k] = sd[r + k]
            if par[i, 1] > 0.0:
                weight[r] = par[i, 0]


@njit
def island_rows(phase, seg, ptr):
    """rows (ni + 1,): where the packed rows of each island start."""
    rows = np.zeros(phase.shape[0] + 1, np.int64)
    for i in range(phase.shape[0]):
        rows[i + 1] = ptr[seg[phase[i, PHASES] - 1, KINDS]]
    return rows


@njit(leaf=True)
def _cell_state(c, seg, ptr, a, b, J, p, w, F, B, arms, pack, Z):
    """w += Jᵀ p of a cell."""
    d = w.shape[1]
    if arms:
        start, first, last = seg[c, DISK], pack[c], pack[c + 1]
        state_packs(first, last, start, ptr[start], a, b, Z, B, p, w)
        state_arms(start + WIDTH * (last - first), seg[c, DISK + 1], ptr, a, b, F, B, p, w)
    for i in range(seg[c, 0], seg[c, KINDS]):
        if arms and seg[c, DISK] <= i < seg[c, DISK + 1]:
            continue
        for r in range(ptr[i], ptr[i + 1]):
            if p[r] != 0.0:
                for j in range(d):
                    w[a[i], j] += J[r, j] * p[r]
                    w[b[i], j] += J[r, d + j] * p[r]


@njit(parallel=True)
def _state_parallel(first, last, seg, ptr, a, b, J, p, w, F, B, arms, pack, Z):
    n = last - first
    step = stride(n)
    for k in prange(n):
        c = first + np.int64(k) * step % n
        _cell_state(c, seg, ptr, a, b, J, p, w, F, B, arms, pack, Z)


@njit(leaf=True, sealed=True)
def body_state(isl, low, high, parallel, phase, seg, ptr, a, b, J, p, w, F, B, arms, pack, Z):
    """w = Jᵀ p of an island, phase by phase."""
    for i in range(low, high):
        for j in range(w.shape[1]):
            w[i, j] = 0.0
    for s in range(PHASES):
        first, last = phase[isl, s], phase[isl, s + 1]
        if parallel and last - first > 1:
            _state_parallel(first, last, seg, ptr, a, b, J, p, w, F, B, arms, pack, Z)
        else:
            for c in range(first, last):
                _cell_state(c, seg, ptr, a, b, J, p, w, F, B, arms, pack, Z)


def _make_sweep_phase(d, nested):
    @njit(parallel=True)
    def sweep_phase(
        first, last, most, full, seg, ptr, a, b, J, q, p, w, par, wn, sd, Cb, compliant, gptr, G, rim, vptr, V,
        associated, facets, F, B, arms, pack, Z,
    ):  # fmt: skip
        """One sweep over the cells first..last, which share no body, at the same time; most (cells,): estimates."""
        n = last - first
        step = stride(n)
        for k in prange(n):
            c = first + np.int64(k) * step % n
            if d == 3 and nested:
                most[c] = sweep_planar_nested(
                    c, full, seg, ptr, a, b, J, q, p, w, par, wn, sd, Cb, compliant, gptr, G, rim, vptr, V, associated,
                    facets, F, B, arms, pack, Z,
                )  # fmt: skip
            elif d == 3:
                most[c] = sweep_planar(
                    c, full, seg, ptr, a, b, J, q, p, w, par, wn, sd, Cb, compliant, gptr, G, rim, vptr, V, associated,
                    facets, F, B, arms, pack, Z,
                )  # fmt: skip
            elif nested:
                most[c] = sweep_spatial_nested(
                    c, full, seg, ptr, a, b, J, q, p, w, par, wn, sd, Cb, compliant, gptr, G, rim, vptr, V, associated,
                    facets, F, B, arms, pack, Z,
                )  # fmt: skip
            else:
                most[c] = sweep_spatial(
                    c, full, seg, ptr, a, b, J, q, p, w, par, wn, sd, Cb, compliant, gptr, G, rim, vptr, V, associated,
                    facets, F, B, arms, pack, Z,
                )  # fmt: skip

    return sweep_phase


phase_planar, phase_planar_nested = _make_sweep_phase(3, 0), _make_sweep_phase(3, 1)
phase_spatial, phase_spatial_nested = _make_sweep_phase(6, 0), _make_sweep_phase(6, 1)


def _make_sweep_island(d, nested):
    @njit(leaf=True)
    def sweep_island(isl, parallel, most, phase, full, arrays):
        """One sweep over an island, phase by phase; the largest change of velocity."""
        worst = 0.0
        for s in range(PHASES):
            first, last = phase[isl, s], phase[isl, s + 1]
            if parallel and last - first > 1:
                if d == 3 and nested:
                    phase_planar_nested(first, last, most, full, *arrays)
                elif d == 3:
                    phase_planar(first, last, most, full, *arrays)
                elif nested:
                    phase_spatial_nested(first, last, most, full, *arrays)
                else:
                    phase_spatial(first, last, most, full, *arrays)
                for c in range(first, last):
                    worst = max(worst, most[c])
                continue
            for c in range(first, last):
                if d == 3 and nested:
                    worst = max(worst, sweep_planar_nested(c, full, *arrays))
                elif d == 3:
                    worst = max(worst, sweep_planar(c, full, *arrays))
                elif nested:
                    worst = max(worst, sweep_spatial_nested(c, full, *arrays))
                else:
                    worst = max(worst, sweep_spatial(c, full, *arrays))
        return worst

    return sweep_island


island_planar, island_planar_nested = _make_sweep_island(3, 0), _make_sweep_island(3, 1)
island_spatial, island_spatial_nested = _make_sweep_island(6, 0), _make_sweep_island(6, 1)
