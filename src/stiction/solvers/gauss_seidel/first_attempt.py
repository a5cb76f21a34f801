"""A first attempt by block Gauss–Seidel on the contacts that may act: most that a step looks at stay open.

A contact is near where it carries an impulse from the step before, or where its bodies would approach, without any
impulse, or part more slowly than others approach. The rest is left out: neither prepared nor swept. When the near
ones are solved, the scaled map of the others decides: where it does not fit into the tolerance, those that close are
taken in, and the sweeps go on from where they are. Small problems, which are solved further than the tolerance
asks, are taken whole.
"""

from __future__ import annotations

import math

import numpy as np

from ...problem.body_kernels import MANY, PARTS, velocity_change
from ...runtime.jit import njit, prange
from ...runtime.lanes import AHEAD, fetch
from ..rest import REST_MAX_ROWS
from .active_guess import mark_blocks
from .measure import block_map
from .outcome import ACCEPTED, LIMIT, SOLVED
from .packed_rows import unpack
from .prepare import prepare
from .schedule import Aim, relax_planar, relax_planar_nested, relax_spatial, relax_spatial_nested
from .sweep_list import classify


@njit
def _look_at_open(start, stop, laws, form, rho, free, v, near):
    """Sum of squares of the scaled map over blocks start..stop that are not near.

    Those that close at velocities free + H v become near.
    """
    Ja, Jb, body_a, body_b, length = form.Ja, form.Jb, form.body_a, form.body_b, laws.length
    mu, row_ptr, semi, set_of = laws.mu, laws.row_ptr, laws.semi, laws.set_of
    d = Ja.shape[1]
    u, none = np.empty(6), np.zeros(6)
    missed = 0.0
    for k in range(start, stop):
        if k + AHEAD < stop:
            fetch(v, body_b[k + AHEAD], 1)
        if near[k]:
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
            near[k] = True
            edge = mu[k] * semi[set_of[k], 0]
            missed += block_map(laws, k, n, edge, rho[k], first, u, none)
    return missed


@njit(parallel=True)
def _look_at_open_parallel(laws, form, rho, free, v, near, missed):
    n = len(laws.law)
    for part in prange(PARTS):
        c = np.int64(part)
        missed[c] = _look_at_open(n * c // PARTS, n * (c + 1) // PARTS, laws, form, rho, free, v, near)


@njit(sealed=True)
def _take_in(parallel, laws, form, rho, free, p, near, change):
    """What `_look_at_open` says of all blocks; change (nb, d): the velocities that impulses p have given the bodies."""
    n = len(laws.law)
    velocity_change(parallel, form.body_a, form.body_b, laws.row_ptr, form.Ja, form.Jb, form.Minv, p, change)
    parts = PARTS if n > MANY else 1
    missed = np.empty(parts)
    if parallel and n > MANY:
        _look_at_open_parallel(laws, form, rho, free, change, near, missed)
    else:
        for c in range(parts):
            missed[c] = _look_at_open(n * c // parts, n * (c + 1) // parts, laws, form, rho, free, change, near)
    return missed.sum()


@njit(parallel=True)
def _unpack_parallel(ptr, src, T, packed, p):
    n = len(ptr) - 1
    for part in prange(PARTS):
        c = np.int64(part)
        unpack(n * c // PARTS, n * (c + 1) // PARTS, ptr, src, T, packed, p)


def _make_attempt(relax):
    @njit(sealed=True)
    def attempt(aim, laws, form, free, overlap, rho, p, change):
        """Up to `aim.limit` accelerated sweeps from p, which receives the answer: how they ended, how many, the error.

        free, overlap (nr,): H v_free + b, and b. Last, whether change (nb, d) has received the velocities that p gives
        the bodies.
        """
        nk, parallel = len(laws.law), aim.parallel
        kind, times = np.empty(nk, np.int8), np.empty(nk, np.int64)
        near, likely = np.ones(nk, np.bool_), np.ones(nk, np.bool_)
        _, plain = classify(parallel, laws, kind, times)
        if plain and len(p) > REST_MAX_ROWS and not mark_blocks(parallel, laws, free, p, near, likely):
            return SOLVED, 0, 0.0, False
        sweeps = 0
        while True:
            work = prepare(laws, form, free, rho, p, 1.0, parallel, kind, times, plain, near, likely)
            rest = Aim(aim.tol, aim.accept, aim.strict_rows, aim.scale, aim.limit - sweeps, parallel, aim.accelerate)
            ended, done, error = relax(rest, work, overlap)
            sweeps += done
            items = work.items
            for r in range(len(p)):
                p[r] = 0.0
            if parallel and len(items.block) > MANY:
                _unpack_parallel(items.ptr, items.src, work.local.T, work.p, p)
            else:
                unpack(np.int64(0), len(items.block), items.ptr, items.src, work.local.T, work.p, p)
            if not plain:
                return ended, sweeps, error, False
            missed = _take_in(parallel, laws, form, rho, free, p, near, change)
            error = math.sqrt(error * error + missed / (aim.scale * aim.scale))
            if ended == ACCEPTED:  # what was left out is held to the tolerance all the same
                enough = missed <= (aim.tol * aim.scale) ** 2 and error <= aim.accept
            else:
                enough = ended != SOLVED or error <= aim.tol
            if enough:
                return ended, sweeps, error, True
            if sweeps >= aim.limit:
                return LIMIT, sweeps, error, True

    return attempt


near_planar, near_planar_nested = _make_attempt(relax_planar), _make_attempt(relax_planar_nested)
near_spatial, near_spatial_nested = _make_attempt(relax_spatial), _make_attempt(relax_spatial_nested)
