"""Sweeps until the laws are met: island by island, accelerated, with the natural map as the judge."""

from __future__ import annotations

import math

import numpy as np

from .._jit import njit, prange
from .nsgs_accelerate import MEMORY, MOST_ROWS, STATE, combine, fresh
from .nsgs_ends import FLOOR, LIMIT, NONFINITE, RESTING, SOLVED
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
from .nsgs_measure import body_velocities, measure_any, measure_round
from .nsgs_newton import INNER, LEAST, MOST, START, band_of, newton_step
from .nsgs_order import PHASES

FULL = 4  # every so many sweeps visit the open contacts too


@njit
def row_weights(seg, ptr, par, sd, weight):
    """weight (rows,): W_ii of each packed row, so that Σ weight·p² is an energy."""
    for c in range(seg.shape[0]):
        for i in range(seg[c, 0], seg[c, KINDS]):
            r = ptr[i]
            if i < seg[c, INTERVAL + 1]:
                weight[r] = par[i, 3]
            elif i < seg[c, BILATERAL + 1]:
                for k in range(ptr[i + 1] - r):
                    weight[r + k] = 1.0
            elif i < seg[c, PLANAR + 1]:
                weight[r], weight[r + 1] = par[i, 0], par[i, 2]
            elif i < seg[c, DISK + 1]:
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


_ROUNDS = (1, 4, 10, 20)  # sweeps before the first looks at the natural map; then always the last
_NEWTON = 2  # looks after which Newton's method is tried on small islands
_STEPS = 12  # proximal steps in one go
_FEW = 12  # velocities of an island up to which Newton's method goes further than the goal at once: digits for nothing


def _make_sweep_phase(d, nested):
    @njit(parallel=True)
    def sweep_phase(
        first, last, most, full, seg, ptr, a, b, J, q, p, w, par, wn, sd, Cb, compliant, gptr, G, rim, vptr, V,
        associated, facets,
    ):  # fmt: skip
        """One sweep over the cells first..last, which share no body, at the same time; most (cells,): estimates."""
        for c in prange(first, last):
            if d == 3 and nested:
                most[c] = sweep_planar_nested(
                    c, full, seg, ptr, a, b, J, q, p, w, par, wn, sd, Cb, compliant, gptr, G, rim, vptr, V, associated,
                    facets,
                )  # fmt: skip
            elif d == 3:
                most[c] = sweep_planar(
                    c, full, seg, ptr, a, b, J, q, p, w, par, wn, sd, Cb, compliant, gptr, G, rim, vptr, V, associated,
                    facets,
                )  # fmt: skip
            elif nested:
                most[c] = sweep_spatial_nested(
                    c, full, seg, ptr, a, b, J, q, p, w, par, wn, sd, Cb, compliant, gptr, G, rim, vptr, V, associated,
                    facets,
                )  # fmt: skip
            else:
                most[c] = sweep_spatial(
                    c, full, seg, ptr, a, b, J, q, p, w, par, wn, sd, Cb, compliant, gptr, G, rim, vptr, V, associated,
                    facets,
                )  # fmt: skip

    return sweep_phase


phase_planar, phase_planar_nested = _make_sweep_phase(3, 0), _make_sweep_phase(3, 1)
phase_spatial, phase_spatial_nested = _make_sweep_phase(6, 0), _make_sweep_phase(6, 1)


def _make_sweep_island(d, nested):
    @njit
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


@njit(parallel=True)
def _measure_parallel(
    first, last, natural, worst, seg, block, ptr, src, a, b, T, p, v, free, Ja, Jb, C, law, row_ptr, set_of, mu, semi,
    lo, hi, rho, associated,
):  # fmt: skip
    for c in prange(first, last):
        natural[c], worst[c] = measure_round(
            c, seg, block, ptr, src, a, b, T, p, v, free, Ja, Jb, C, law, row_ptr, set_of, mu, semi, lo, hi, rho,
            associated,
        )  # fmt: skip


@njit
def _measure(isl, low, high, parallel, facts):
    """Sum of squares of the natural map of an island and its largest scaled one; w is made anew from p.

    From nothing: the round-off of many sweeps must not stay in it.
    """
    (
        phase, seg, block, ptr, src, a, b, J, T, L, p, w, v, free, Ja, Jb, C, law, row_ptr, set_of, mu, r0, shape,
        semi, vertices, vertex_ptr, facets, facet_ptr, lo, hi, length, rho, associated, plain,
    ) = facts  # fmt: skip
    _body_state(isl, low, high, parallel, phase, seg, ptr, a, b, J, p, w)
    body_velocities(low, high, L, w, v)
    if not plain:
        return measure_any(
            isl, phase, seg, block, ptr, src, a, b, T, p, v, free, Ja, Jb, C, law, row_ptr, set_of, mu, r0, shape, semi,
            vertices, vertex_ptr, facets, facet_ptr, lo, hi, length, rho, associated,
        )  # fmt: skip
    first, last = phase[isl, 0], phase[isl, PHASES]
    natural, worst = np.empty(last), np.empty(last)
    if parallel and last - first > 1:
        _measure_parallel(
            first, last, natural, worst, seg, block, ptr, src, a, b, T, p, v, free, Ja, Jb, C, law, row_ptr, set_of, mu,
            semi, lo, hi, rho, associated,
        )  # fmt: skip
    else:
        for c in range(first, last):
            natural[c], worst[c] = measure_round(
                c, seg, block, ptr, src, a, b, T, p, v, free, Ja, Jb, C, law, row_ptr, set_of, mu, semi, lo, hi, rho,
                associated,
            )  # fmt: skip
    total, largest = 0.0, 0.0
    for c in range(first, last):
        total += natural[c]
        largest = max(largest, worst[c])
    return total, largest


@njit
def _polish(
    isl, first, last, low, high, parallel, theta, natural, worst, share, goal, far, q, par, weight, x, f, facts
):
    """Proximal steps on an island while they help, down to a residual of √far of the goal.

    A residual far below the goal pays in the next steps of a scene at rest: they start from it, and the first sweep
    ends them. Returns the new residuals, θ, and whether they are better.
    """
    phase, seg, _, ptr, _, a, b, J, _, _, p, w = facts[:12]
    band = band_of(isl, phase, seg, a, b, w.shape[0] - 1, low, high, w.shape[1])
    better = False
    if band < 0:
        return natural, worst, theta, better
    D = np.full((seg[phase[isl, PHASES] - 1, KINDS] - seg[phase[isl, 0], 0], 9), -1.0)
    K = np.empty(((high - low) * w.shape[1], 2 * band + 1))
    failed = 0
    for _ in range(_STEPS):
        for i in range(first, last):
            x[i] = p[i]
        start, count, moved = -1.0, 0, True
        while moved and count < INNER:
            if count > 0:
                _body_state(isl, low, high, parallel, phase, seg, ptr, a, b, J, p, w)
            size, moved = newton_step(
                isl, theta, band, phase, seg, ptr, a, b, J, q, x, p, w, par, weight, f, D, K, low, high, 1e-8 * start
            )
            start = size if count == 0 else start
            count += 1
        new, largest = _measure(isl, low, high, parallel, facts)
        before, after = max(natural / share, worst / goal), max(new / share, largest / goal)
        if after < before and ((count > 1 and not moved) or after < 0.1 * before):
            natural, worst, better = new, largest, True
            theta = min(MOST, (100.0 if count <= 4 else 10.0) * theta)
            if after <= far or (after <= 1.0 and after > 0.25 * before):
                break
            continue
        for i in range(first, last):
            p[i] = x[i]
        _measure(isl, low, high, parallel, facts)
        theta = max(LEAST, 0.01 * theta)
        failed += 1
        if failed == 3 or before <= 1.0:
            break
    return natural, worst, theta, better


def _make_relax(d, nested):
    @njit
    def relax(
        tol, scale, limit, parallel, accelerate, law, row_ptr, set_of, mu, r0, shape, semi, vertices, vertex_ptr,
        facets, facet_ptr, lo, hi, length, C, associated, Ja, Jb, free, rho,
        begin, phase, rows, seg, block, ptr, src, a, b, J, q, p, par, wn, sd, T, L, Cb, gptr, G, rim, vptr, V, weight,
        plain,
    ):  # fmt: skip
        """Sweep until every island has its share of `tol`: p is changed in place.

        Returns how it ended, the sweeps of the island that took most, and the error. An island's share of the natural
        map goes by its number of rows.
        """
        islands = phase.shape[0]
        nrows, moving = len(src), begin[-1]
        w, v = np.zeros((moving + 1, d)), np.zeros((moving + 1, d))
        most = np.zeros(phase[-1, PHASES])
        width = 0
        for i in range(len(gptr) - 1):
            width = max(width, gptr[i + 1] - gptr[i])
        compliant = len(Cb) > 0
        arrays = (
            seg, ptr, a, b, J, q, p, w, par, wn, sd, Cb, compliant, gptr, G, rim, vptr, V, associated, width,
        )  # fmt: skip
        facts = (
            phase, seg, block, ptr, src, a, b, J, T, L, p, w, v, free, Ja, Jb, C, law, row_ptr, set_of, mu, r0, shape,
            semi, vertices, vertex_ptr, facets, facet_ptr, lo, hi, length, rho, associated, plain,
        )  # fmt: skip
        memory = 1
        for isl in range(islands):
            if accelerate and rows[isl + 1] - rows[isl] <= MOST_ROWS:
                memory = MEMORY
        x, r, g = np.empty(nrows), np.empty(nrows), np.empty(nrows)
        wx, wg = np.empty((moving + 1, d)), np.empty((moving + 1, d))
        R, H, Wg = np.empty((memory, nrows)), np.empty((memory, nrows)), np.empty((memory, moving + 1, d))
        gram, state = np.empty((islands, memory, memory)), np.empty((islands, STATE))
        done, natural, worst = np.zeros(islands, np.int64), np.empty(islands), np.empty(islands)
        rest = np.zeros(islands, np.bool_)
        threshold = np.full(islands, tol * scale)
        smooth = accelerate and not nested and not associated and not compliant
        wait, theta = np.full(islands, _NEWTON), np.full(islands, START)
        for isl in range(islands):
            fresh(isl, rows[isl + 1] - rows[isl], state)
            natural[isl], worst[isl] = math.inf, math.inf
            low, high = (begin[isl], begin[isl + 1]) if moving > 0 else (0, 0)
            _body_state(isl, low, high, parallel, phase, seg, ptr, a, b, J, p, w)
        goal = (tol * scale) ** 2
        turn = 0
        while True:
            chunk = _ROUNDS[min(turn, len(_ROUNDS) - 1)]
            turn += 1
            swept = False
            for isl in range(islands):
                first, last = rows[isl], rows[isl + 1]
                low, high = (begin[isl], begin[isl + 1]) if moving > 0 else (0, 0)
                share = goal * ((last - first) / nrows)
                wide = parallel and phase[isl, 1] - phase[isl, 0] > 1
                if (natural[isl] <= share and worst[isl] <= goal) or rest[isl] or done[isl] >= limit:
                    continue
                few = smooth and (high - low) * d <= _FEW
                swept = True
                seen = math.inf
                pending = False  # a sweep whose result has not been combined with those before
                for _ in range(min(chunk, limit - done[isl])):
                    if pending:
                        combine(isl, first, last, low, high, wide, p, w, weight, x, wx, r, g, wg, R, H, Wg, gram, state)
                    pending = accelerate
                    full = done[isl] % FULL == 0
                    if accelerate:
                        for i in range(first, last):
                            x[i] = p[i]
                        for i in range(low, high):
                            for j in range(d):
                                wx[i, j] = w[i, j]
                    if d == 3 and nested:
                        estimate = island_planar_nested(isl, parallel, most, phase, full, arrays)
                    elif d == 3:
                        estimate = island_planar(isl, parallel, most, phase, full, arrays)
                    elif nested:
                        estimate = island_spatial_nested(isl, parallel, most, phase, full, arrays)
                    else:
                        estimate = island_spatial(isl, parallel, most, phase, full, arrays)
                    done[isl] += 1
                    if full:
                        seen = estimate
                    if seen <= threshold[isl]:
                        break
                natural[isl], worst[isl] = _measure(isl, low, high, parallel, facts)
                short = natural[isl] > share or worst[isl] > goal
                far = max((1e-13 / tol) ** 2, 1e-16 if few else 1e-8)  # of the goal, as squares; above round-off
                rough = natural[isl] > far * share or worst[isl] > far * goal
                if (short and smooth and turn >= wait[isl]) or (few and rough):
                    natural[isl], worst[isl], theta[isl], better = _polish(
                        isl, first, last, low, high, parallel, theta[isl], natural[isl], worst[isl], share, goal, far,
                        q, par, weight, x, r, facts,
                    )  # fmt: skip
                    wait[isl] = turn + (1 if better else turn)
                    if better:
                        fresh(isl, last - first, state)
                        pending = False
                        short = natural[isl] > share or worst[isl] > goal
                if pending and short and done[isl] < limit:
                    combine(isl, first, last, low, high, wide, p, w, weight, x, wx, r, g, wg, R, H, Wg, gram, state)
                if seen <= threshold[isl] and short:
                    error = math.sqrt(max(natural[isl] / share * goal, worst[isl]))
                    threshold[isl] = max(0.5 * min(1.0, tol * scale / error) * seen, FLOOR * scale)
                rest[isl] = seen <= FLOOR * scale
            sweeps = 0
            total = 0.0
            largest = 0.0
            for isl in range(islands):
                sweeps = max(sweeps, done[isl])
                total += natural[isl]
                largest = max(largest, worst[isl])
            error = max(math.sqrt(total), math.sqrt(largest)) / scale
            if not error < math.inf:
                return NONFINITE, sweeps, error
            if error <= tol:
                return SOLVED, sweeps, error
            if not swept:
                return (LIMIT if sweeps >= limit else RESTING), sweeps, error

    return relax


relax_planar, relax_planar_nested = _make_relax(3, 0), _make_relax(3, 1)
relax_spatial, relax_spatial_nested = _make_relax(6, 0), _make_relax(6, 1)


@njit
def _cell_state(c, seg, ptr, a, b, J, p, w):
    """w += Jᵀ p of a cell."""
    d = w.shape[1]
    for i in range(seg[c, 0], seg[c, KINDS]):
        for r in range(ptr[i], ptr[i + 1]):
            if p[r] != 0.0:
                for j in range(d):
                    w[a[i], j] += J[r, j] * p[r]
                    w[b[i], j] += J[r, d + j] * p[r]


@njit(parallel=True)
def _state_parallel(first, last, seg, ptr, a, b, J, p, w):
    for c in prange(first, last):
        _cell_state(c, seg, ptr, a, b, J, p, w)


@njit
def _body_state(isl, low, high, parallel, phase, seg, ptr, a, b, J, p, w):
    """w = Jᵀ p of an island, phase by phase."""
    for i in range(low, high):
        for j in range(w.shape[1]):
            w[i, j] = 0.0
    for s in range(PHASES):
        first, last = phase[isl, s], phase[isl, s + 1]
        if parallel and last - first > 1:
            _state_parallel(first, last, seg, ptr, a, b, J, p, w)
        else:
            for c in range(first, last):
                _cell_state(c, seg, ptr, a, b, J, p, w)
