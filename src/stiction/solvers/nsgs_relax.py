"""Sweeps until the laws are met: island by island, accelerated, with the natural map as the judge."""

from __future__ import annotations

import math

import numpy as np

from .._jit import njit
from .nsgs_accelerate import MEMORY, MOST_ROWS, STATE, combine, fresh, remembers
from .nsgs_ends import FLOOR, LIMIT, NONFINITE, QUICK_ROWS, RESTING, SOLVED
from .nsgs_islands import body_state, island_planar, island_planar_nested, island_spatial, island_spatial_nested
from .nsgs_kernels import DISK
from .nsgs_lanes import load_measures
from .nsgs_measure import measure_island
from .nsgs_newton import START
from .nsgs_order import PHASES
from .nsgs_polish import polish, settle, without_overlaps

NEAR = 1e6  # of the goal, as squares: a first guess that needs no sweeps
FURTHER, FURTHEST = 1e-8, 1e-16  # of the goal, as squares: where Newton's method ends
FULL = 4  # every so many sweeps visit the open contacts too
_ROUNDS = (1, 4, 10, 20)  # sweeps before the first looks at the natural map; then always the last
_NEWTON = 2  # looks after which Newton's method is tried on small islands
_FEW = 12  # velocities of an island up to which Newton's method goes further than the goal at once: digits for nothing


@njit
def beyond(tol, part):
    """`part` of the goal, as squares, but above round-off."""
    return max((1e-13 / tol) ** 2, part)


def _make_relax(d, nested):
    @njit
    def relax(
        tol, scale, limit, parallel, accelerate, law, row_ptr, set_of, mu, r0, shape, semi, vertices, vertex_ptr,
        facets, facet_ptr, lo, hi, length, C, associated, Ja, Jb, free, overlap, rho,
        begin, phase, rows, seg, block, ptr, src, a, b, J, q, p, par, wn, sd, T, L, Cb, gptr, G, rim, vptr, V, weight,
        F, B, arms, pack, Z, plain,
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
            F, B, arms, pack, Z,
        )  # fmt: skip
        facts = (
            phase, seg, block, ptr, src, a, b, J, T, L, p, w, v, free, Ja, Jb, C, law, row_ptr, set_of, mu, r0, shape,
            semi, vertices, vertex_ptr, facets, facet_ptr, lo, hi, length, rho, associated, plain, q, F, B, arms, pack,
            Z,
        )  # fmt: skip
        if arms and plain:
            for c in range(seg.shape[0]):
                load_measures(seg[c, DISK], pack[c], pack[c + 1], block, set_of, semi, rho, Z)
        memory = 1
        for isl in range(islands):
            if accelerate and rows[isl + 1] - rows[isl] <= MOST_ROWS:
                memory = MEMORY
        x, r, g = np.empty(nrows), np.empty(nrows), np.empty(nrows)
        wg = np.empty((moving + 1, d))
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
            body_state(isl, low, high, parallel, phase, seg, ptr, a, b, J, p, w, F, B, arms, pack, Z)
        goal = (tol * scale) ** 2
        for isl in range(islands):  # where the first guess is near the answer, Newton's method goes there at once
            first, last = rows[isl], rows[isl + 1]
            if not smooth or not 0 < last - first <= QUICK_ROWS:
                continue
            low, high = (begin[isl], begin[isl + 1]) if moving > 0 else (0, 0)
            share = goal * ((last - first) / nrows)
            natural[isl], worst[isl] = measure_island(isl, low, high, parallel, facts)
            far = beyond(tol, FURTHER)
            near = natural[isl] <= NEAR * share and worst[isl] <= NEAR * goal
            kept = False
            if near:
                without_overlaps(isl, tol * scale, phase, seg, ptr, src, T, overlap, q, g)
                natural[isl], worst[isl], kept = settle(
                    isl, first, last, low, high, parallel, natural[isl], worst[isl], share, goal, g, par, weight, x, r,
                    facts,
                )  # fmt: skip
            if near and not kept and (natural[isl] > far * share or worst[isl] > far * goal):
                natural[isl], worst[isl], theta[isl], _ = polish(
                    isl, first, last, low, high, parallel, theta[isl], natural[isl], worst[isl], share, goal, far, q,
                    par, weight, x, r, facts,
                )  # fmt: skip
            if not near or natural[isl] > share or worst[isl] > goal:
                natural[isl], worst[isl] = math.inf, math.inf
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
                full = True
                pending = False  # a sweep whose result has not been combined with those before
                for _ in range(min(chunk, limit - done[isl])):
                    if pending:
                        combine(
                            isl, first, last, low, high, wide, full, p, w, weight, x, r, g, wg, R, H, Wg, gram, state
                        )
                    pending = accelerate
                    full = done[isl] % FULL == 0
                    if accelerate and (full or remembers(isl, state)):
                        for i in range(first, last):
                            x[i] = p[i]
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
                natural[isl], worst[isl] = measure_island(isl, low, high, parallel, facts)
                short = natural[isl] > share or worst[isl] > goal
                far = beyond(tol, FURTHEST if few else FURTHER)
                rough = natural[isl] > far * share or worst[isl] > far * goal
                if (short and smooth and turn >= wait[isl]) or (few and rough):
                    natural[isl], worst[isl], theta[isl], better = polish(
                        isl, first, last, low, high, parallel, theta[isl], natural[isl], worst[isl], share, goal, far,
                        q, par, weight, x, r, facts,
                    )  # fmt: skip
                    wait[isl] = turn + (1 if better else turn)
                    if better:
                        fresh(isl, last - first, state)
                        pending = False
                        short = natural[isl] > share or worst[isl] > goal
                if pending and short and done[isl] < limit:
                    combine(isl, first, last, low, high, wide, full, p, w, weight, x, r, g, wg, R, H, Wg, gram, state)
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
