"""Sweeps until the laws are met: island by island, accelerated, with the scaled map as the judge."""

from __future__ import annotations

import math

import numpy as np

from .._jit import njit
from .nsgs_accelerate import MEMORY, MOST_ROWS, STATE, combine, copy, fresh, realign, remembers
from .nsgs_ends import (
    ACCEPTED,
    ENOUGH_SWEEPS,
    FLOOR,
    LIMIT,
    NONFINITE,
    QUICK_ROWS,
    RESTING,
    SOLVED,
    STALLED,
)
from .nsgs_islands import body_state, island_planar, island_planar_nested, island_spatial, island_spatial_nested
from .nsgs_measure import measure_island
from .nsgs_newton import START, sweeps_per_step
from .nsgs_order import PHASES
from .nsgs_polish import polish, settle, without_overlaps

NEAR = 1e6  # of the goal, as squares: a first guess that needs no sweeps
FURTHER, FURTHEST = 1e-8, 1e-16  # of the goal, as squares: where Newton's method ends
FULL = 4  # every so many sweeps visit the open contacts too
_ROUNDS = (1, 4, 10, 20)  # sweeps before the first looks at the natural map; then always the last
_CLOSE = 3  # sweeps before a later look at an island with momentum, at least; the last of `_ROUNDS` at most
_SPARSE, _APART = 20, 40  # later, looks are apart by the sweeps so far over this, but at most by so many
_PATIENCE = 2000  # sweeps in which an island's residual must have halved, else it is given up
_NEWTON = 2  # looks after which Newton's method is tried on small islands, at least
_CHEAP, _CLOSER = 10.0, 1e2  # sweeps per factorisation up to which it is tried from afar; of the goal, as squares
_FEW = 12  # velocities of an island up to which Newton's method goes further than the goal at once: digits for nothing


@njit
def beyond(tol, part):
    """`part` of the goal, as squares, but above round-off."""
    return max((1e-13 / tol) ** 2, part)


@njit(leaf=True, sealed=True)
def _go_near(
    isl, first, last, low, high, parallel, tol, small, theta, dear, share, overlap, q, par, weight, x, r, g, facts
):
    """Newton's method on an island whose first guess is near the answer: its square after that, and the new theta.

    Infinite where it is not near, or not solved by this: then sweeps come next.
    """
    phase, seg, ptr, src, T = facts[0], facts[1], facts[3], facts[4], facts[8]
    missed = measure_island(isl, low, high, parallel, False, facts)
    near = NEAR if dear <= _CHEAP else _CLOSER
    if not missed <= near * share:
        return math.inf, theta
    without_overlaps(isl, small, phase, seg, ptr, src, T, facts[30], overlap, q, g)
    missed, kept = settle(isl, first, last, low, high, parallel, missed, share, g, par, weight, x, r, facts)
    far = beyond(tol, FURTHER)
    if not kept and missed > far * share:
        missed, theta, _, _ = polish(
            isl, first, last, low, high, parallel, theta, missed, share, far, q, par, weight, x, r, facts
        )
    if not missed <= share:
        return math.inf, theta
    return missed, theta


@njit(leaf=True)
def _together(scale, done, missed):
    """The sweeps of the island that took most, and the error of all of them."""
    sweeps, total = 0, 0.0
    for isl in range(len(done)):
        sweeps = max(sweeps, done[isl])
        total += missed[isl]
    return sweeps, math.sqrt(total) / scale


@njit
def _until(since, error, last):
    """Sweeps that an island will need if its error goes on to fall as it did from `last` in `since` sweeps.

    Both errors are squares, over those of the goal.
    """
    most = _ROUNDS[-1]
    if not 1.0 < error < last < math.inf:
        return most
    return int(min(most, max(_CLOSE, math.ceil(since * math.log(error) / math.log(last / error)))))


@njit
def _slow(done, since, error, last):
    """Whether an island that is accepted as it is would need more than twice `ENOUGH_SWEEPS` to its goal.

    Errors as for `_until`, which the last `since` sweeps have brought from `last` to `error`.
    """
    if done < ENOUGH_SWEEPS:
        return False
    if not error < last < math.inf:
        return True
    return done + since * math.log(error) / math.log(last / error) > 2 * ENOUGH_SWEEPS


def _make_relax(d, nested):
    @njit(sealed=True)
    def relax(
        tol, accept, strict, scale, limit, parallel, accelerate, law, row_ptr, set_of, mu, r0, shape, semi, vertices,
        vertex_ptr, facets, facet_ptr, lo, hi, length, C, associated, Ja, Jb, free, overlap, rho,
        begin, phase, rows, seg, block, ptr, src, a, b, J, q, p, par, wn, sd, T, L, Cb, gptr, G, rim, vptr, V, weight,
        F, B, arms, pack, Z, plain,
    ):  # fmt: skip
        """Sweep until every island has its share of `tol`: p is changed in place.

        An island of more than `strict` rows may end with its share of `accept` where that of `tol` is far. Returns how
        it ended, the sweeps of the island that took most, and the error. An island's share of it goes by its number of
        rows; `missed` is the square of its scaled map.
        """
        islands = phase.shape[0]
        nrows, moving = len(src), begin[-1]
        w, v = np.empty((moving + 1, d)), np.empty((moving + 1, d))
        w[moving], v[moving] = 0.0, 0.0  # what cannot move
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
        memory = 1
        for isl in range(islands):
            if accelerate and rows[isl + 1] - rows[isl] <= MOST_ROWS:
                memory = MEMORY
        x, r, g = np.empty(nrows), np.empty(nrows), np.empty(nrows)
        wg, before = np.empty((moving + 1, d)), np.empty((moving + 1, d))
        R, H, Wg = np.empty((memory, nrows)), np.empty((memory, nrows)), np.empty((memory, moving + 1, d))
        gram, state = np.empty((islands, memory, memory)), np.empty((islands, STATE))
        done, missed = np.zeros(islands, np.int64), np.empty(islands)
        rest, mark, marked = np.zeros(islands, np.bool_), np.full(islands, math.inf), np.zeros(islands, np.int64)
        best, least = np.empty(nrows), np.full(islands, math.inf)  # where sweeps have come nearest, and how near
        patience = _PATIENCE if accelerate and not associated else limit  # convex problems are never slow for good
        threshold, due = np.full(islands, tol * scale), np.zeros(islands)
        smooth = accelerate and not nested and not associated and not compliant
        wait, theta, dear = np.full(islands, _NEWTON), np.full(islands, START), np.empty(islands)
        for isl in range(islands):
            fresh(isl, rows[isl + 1] - rows[isl], state)
            missed[isl] = math.inf
            low, high = begin[isl], begin[isl + 1]
            body_state(isl, low, high, parallel, phase, seg, ptr, a, b, J, p, w, F, B, arms, pack, Z)
        goal = (tol * scale) ** 2
        # how large an island's error may stay, as a square; a small one misses no more than the whole problem may
        bound, given_up = np.full(islands, goal), np.zeros(islands, np.bool_)
        for isl in range(islands):
            if accept > tol and rows[isl + 1] - rows[isl] > strict:
                bound[isl] = (accept * scale) ** 2 * ((rows[isl + 1] - rows[isl]) / nrows)
        for isl in range(islands):  # where the first guess is near the answer, Newton's method goes there at once
            first, last = rows[isl], rows[isl + 1]
            if not smooth or not 0 < last - first <= QUICK_ROWS:
                continue
            low, high, share = begin[isl], begin[isl + 1], goal * ((last - first) / nrows)
            dear[isl] = sweeps_per_step(isl, phase, seg, a, b, moving, low, high, d)
            due[isl] = dear[isl]
            missed[isl], theta[isl] = _go_near(
                isl, first, last, low, high, parallel, tol, tol * scale, theta[isl], dear[isl], share, overlap, q, par,
                weight, x, r, g, facts,
            )  # fmt: skip
        turn, ahead, last_error, looked = 0, np.ones(islands, np.int64), np.full(islands, math.inf), done.copy()
        while True:
            chunk = _ROUNDS[min(turn, len(_ROUNDS) - 1)]
            turn += 1
            swept = False
            for isl in range(islands):
                first, last = rows[isl], rows[isl + 1]
                low, high = begin[isl], begin[isl + 1]
                share = goal * ((last - first) / nrows)
                wide = parallel and phase[isl, 1] - phase[isl, 0] > 1
                if missed[isl] <= share or rest[isl] or given_up[isl] or done[isl] >= limit:
                    continue
                if done[isl] - marked[isl] > patience:
                    continue
                few = smooth and (high - low) * d <= _FEW
                swept = True
                seen = math.inf
                full = done[isl] % FULL == 0
                pending = False  # a sweep whose result has not been combined with those before
                count = ahead[isl] if turn > 2 and not remembers(isl, state) else chunk
                for _ in range(min(max(count, min(done[isl] // _SPARSE, _APART)), limit - done[isl])):
                    if pending:
                        combine(
                            isl, first, last, low, high, wide, full, p, w, weight, x, r, g, wg, R, H, Wg, gram, state
                        )
                    pending = accelerate
                    full = done[isl] % FULL == 0
                    if accelerate and (full or remembers(isl, state)):
                        copy(first, last, wide, p, x)
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
                anew = turn > len(_ROUNDS)  # before that, round-off is no matter
                long = pending and anew
                if long:
                    for i in range(low, high):
                        for j in range(d):
                            before[i, j] = w[i, j]
                missed[isl] = measure_island(isl, low, high, parallel, anew, facts)
                if long:
                    realign(isl, low, high, w, before, wg, Wg, state)
                short = missed[isl] > share
                since, earlier = done[isl] - looked[isl], last_error[isl]
                ahead[isl] = _until(since, missed[isl] / share, earlier)
                last_error[isl], looked[isl] = missed[isl] / share, done[isl]
                far = beyond(tol, FURTHEST if few else FURTHER)
                rough = missed[isl] > far * share
                if (short and smooth and turn >= wait[isl] and done[isl] >= due[isl]) or (few and rough):
                    missed[isl], theta[isl], better, count = polish(
                        isl, first, last, low, high, parallel, theta[isl], missed[isl], share, far, q, par, weight, x,
                        r, facts,
                    )  # fmt: skip
                    wait[isl] = turn + (1 if better else turn)
                    due[isl] = done[isl] + dear[isl] * count  # as much time again for sweeps
                    if better:
                        fresh(isl, last - first, state)
                        pending = False
                        short = missed[isl] > share
                if long and missed[isl] < least[isl]:
                    least[isl] = missed[isl]
                    copy(first, last, wide, p, best)
                if accept > tol and last - first > strict and share < missed[isl] <= bound[isl]:
                    given_up[isl] = _slow(done[isl], since, missed[isl] / share, earlier)
                if pending and short and done[isl] < limit and not given_up[isl]:
                    combine(isl, first, last, low, high, wide, full, p, w, weight, x, r, g, wg, R, H, Wg, gram, state)
                if seen <= threshold[isl] and short:
                    error = math.sqrt(missed[isl] / share * goal)
                    threshold[isl] = max(0.5 * min(1.0, tol * scale / error) * seen, FLOOR * scale)
                rest[isl] = seen <= FLOOR * scale
                if missed[isl] <= 0.25 * mark[isl]:
                    mark[isl], marked[isl] = missed[isl], done[isl]
            stalled = False
            for isl in range(islands):
                stalled = stalled or done[isl] - marked[isl] > patience
                if not swept and least[isl] <= missed[isl]:
                    missed[isl] = least[isl]
                    copy(rows[isl], rows[isl + 1], False, best, p)
            sweeps, error = _together(scale, done, missed)
            if not error < math.inf:
                return NONFINITE, sweeps, error
            if error <= tol:
                return SOLVED, sweeps, error
            if not swept:
                taken = accept > tol and error <= accept
                for isl in range(islands):
                    taken = taken and missed[isl] <= bound[isl]
                if taken:
                    return ACCEPTED, sweeps, error
                return (LIMIT if sweeps >= limit else STALLED if stalled else RESTING), sweeps, error

    return relax


relax_planar, relax_planar_nested = _make_relax(3, 0), _make_relax(3, 1)
relax_spatial, relax_spatial_nested = _make_relax(6, 0), _make_relax(6, 1)
