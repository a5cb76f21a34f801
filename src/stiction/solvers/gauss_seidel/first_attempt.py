"""A first attempt by block Gauss–Seidel on the contacts that may act: most contacts of a step stay open.

A contact is *active* where it carries an impulse from the step before, or where its bodies, without any impulse, would
approach, or part more slowly than others approach (`active_guess`). All others are left out: neither prepared nor
swept. When the active ones are solved, the scaled map of the others decides: where it exceeds the tolerance, those that
close become active, and the sweeps go on from the present impulses. Small problems, which are solved further than the
tolerance asks, are taken whole.
"""

from __future__ import annotations

import math

import numpy as np

from ...problem.body_kernels import THREAD_PARTS, THREADS_MIN_BLOCKS, velocity_change
from ...runtime.jit import njit, prange
from ...runtime.lanes import PREFETCH_TURNS, prefetch
from ..rest import REST
from .active_guess import guess_active
from .measure import block_map
from .outcome import ACCEPTED, LIMIT, SOLVED
from .packed_rows import unpack
from .prepare import prepare
from .schedule import Aim, relax_planar, relax_planar_nested, relax_spatial, relax_spatial_nested
from .sweep_list import classify


@njit
def _check_open(start, stop, laws, body_rows, rho, free, v, active):
    """The sum of squares of the scaled map over those of the blocks start..stop that are not active.

    Blocks that close at the velocities free + H v become active.
    """
    Ja, Jb, body_a, body_b, length = body_rows.Ja, body_rows.Jb, body_rows.body_a, body_rows.body_b, laws.length
    mu, row_ptr, semi, set_of = laws.mu, laws.row_ptr, laws.semi, laws.set_of
    d = Ja.shape[1]
    u, no_impulses = np.empty(6), np.zeros(6)
    open_error2 = 0.0
    for k in range(start, stop):
        if k + PREFETCH_TURNS < stop:
            prefetch(v, body_b[k + PREFETCH_TURNS], 1)
        if active[k]:
            continue
        first, n, a, b = row_ptr[k], row_ptr[k + 1] - row_ptr[k], body_a[k], body_b[k]
        for i in range(n):
            s = free[first + i]
            for j in range(d):
                s += Ja[first + i, j] * v[a, j] if a >= 0 else 0.0
                s += Jb[first + i, j] * v[b, j] if b >= 0 else 0.0
            u[i] = s * length[first + i]
            if s >= 0.0 and i == 0:  # open, whatever its slip
                break
        if u[0] < 0.0:
            active[k] = True
            edge = mu[k] * semi[set_of[k], 0]
            open_error2 += block_map(laws, k, n, edge, rho[k], first, u, no_impulses)
    return open_error2


@njit(parallel=True)
def _check_open_parallel(laws, body_rows, rho, free, v, active, open_error2):
    n = len(laws.law)
    for part in prange(THREAD_PARTS):
        c = np.int64(part)
        open_error2[c] = _check_open(
            n * c // THREAD_PARTS, n * (c + 1) // THREAD_PARTS, laws, body_rows, rho, free, v, active
        )


@njit(sealed=True)
def _add_closing(parallel, laws, body_rows, rho, free, p, active, change):
    """`_check_open` for all blocks; change (nb, d) receives the velocities that impulses p give the bodies."""
    n = len(laws.law)
    body_a, body_b, Ja, Jb, Minv = body_rows
    velocity_change(parallel, body_a, body_b, laws.row_ptr, Ja, Jb, Minv, p, change)
    parts = THREAD_PARTS if n > THREADS_MIN_BLOCKS else 1
    open_error2 = np.empty(parts)
    if parallel and n > THREADS_MIN_BLOCKS:
        _check_open_parallel(laws, body_rows, rho, free, change, active, open_error2)
    else:
        for c in range(parts):
            open_error2[c] = _check_open(
                n * c // parts, n * (c + 1) // parts, laws, body_rows, rho, free, change, active
            )
    return open_error2.sum()


@njit(parallel=True)
def _unpack_parallel(ptr, src, T, packed, p):
    n = len(ptr) - 1
    for part in prange(THREAD_PARTS):
        c = np.int64(part)
        unpack(n * c // THREAD_PARTS, n * (c + 1) // THREAD_PARTS, ptr, src, T, packed, p)


def _make_attempt(relax):
    @njit(sealed=True)
    def attempt(aim, laws, body_rows, free, overlap, rho, p, change):
        """Make up to `aim.limit` accelerated sweeps from p, which receives the result.

        free, overlap (nr,): H v_free + b, and b. Returns the outcome, the number of sweeps, the error, and whether
        change (nb, d) has received the velocities that p gives the bodies.
        """
        nk, parallel = len(laws.law), aim.parallel
        kind, entry_count = np.empty(nk, np.int8), np.empty(nk, np.int64)
        active, likely = np.ones(nk, np.bool_), np.ones(nk, np.bool_)
        _, round_cones = classify(parallel, laws, kind, entry_count)
        if round_cones and len(p) > REST.max_rows and not guess_active(parallel, laws, free, p, active, likely):
            return SOLVED, 0, 0.0, False
        sweeps = 0
        while True:
            work = prepare(laws, body_rows, free, rho, p, 1.0, parallel, kind, entry_count, round_cones, active, likely)
            remaining = Aim(
                aim.tol, aim.accept, aim.strict_rows, aim.scale, aim.limit - sweeps, parallel, aim.accelerate
            )
            outcome, count, error = relax(remaining, work, overlap)
            sweeps += count
            entries = work.entries
            for r in range(len(p)):
                p[r] = 0.0
            if parallel and len(entries.block) > THREADS_MIN_BLOCKS:
                _unpack_parallel(entries.ptr, entries.src, work.local.T, work.p, p)
            else:
                unpack(np.int64(0), len(entries.block), entries.ptr, entries.src, work.local.T, work.p, p)
            if not round_cones:
                return outcome, sweeps, error, False
            open_error2 = _add_closing(parallel, laws, body_rows, rho, free, p, active, change)
            error = math.sqrt(error * error + open_error2 / (aim.scale * aim.scale))
            if outcome == ACCEPTED:  # contacts that were left out have to meet the tolerance all the same
                finished = open_error2 <= (aim.tol * aim.scale) ** 2 and error <= aim.accept
            else:
                finished = outcome != SOLVED or error <= aim.tol
            if finished:
                return outcome, sweeps, error, True
            if sweeps >= aim.limit:
                return LIMIT, sweeps, error, True

    return attempt


attempt_planar, attempt_planar_nested = _make_attempt(relax_planar), _make_attempt(relax_planar_nested)
attempt_spatial, attempt_spatial_nested = _make_attempt(relax_spatial), _make_attempt(relax_spatial_nested)
