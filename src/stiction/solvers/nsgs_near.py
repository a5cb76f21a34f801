"""A first attempt by block Gauss–Seidel on the contacts that may act: most that a step looks at stay open.

A contact is near where it carries an impulse from the step before, or where its bodies would approach, without any
impulse, or part more slowly than others approach. The rest is left out: neither prepared nor swept. When the near
ones are solved, the natural map of the others decides: where it does not fit into the tolerance, those that close are
taken in, and the sweeps go on from where they are. Small problems, which are solved further than the tolerance
asks, are taken whole.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import njit
from ..problem.body_kernels import add_velocity_change, impulses_on_bodies
from ..problem.laws import UNILATERAL
from .nsgs_ends import LIMIT, SOLVED
from .nsgs_forms import unpack
from .nsgs_items import classify
from .nsgs_measure import block_maps
from .nsgs_prepare import prepare
from .nsgs_relax import relax_planar, relax_planar_nested, relax_spatial, relax_spatial_nested
from .nsgs_rest import SMALL

_MARGIN = 4.0  # of the mean (root of squares) speed of approach: in falling piles it hardly ever misses one


@njit
def near_blocks(law, row_ptr, free, p, near):
    """near (nk,): which blocks may act at velocities `free` without impulses; returns whether any does."""
    total, count = 0.0, 0
    for k in range(len(law)):
        speed = free[row_ptr[k]]
        if law[k] == UNILATERAL and speed < 0.0:
            total += speed * speed
            count += 1
    margin = _MARGIN * math.sqrt(total / count) if count else 0.0
    some = False
    for k in range(len(law)):
        near[k] = law[k] != UNILATERAL or free[row_ptr[k]] < margin
        for r in range(row_ptr[k], row_ptr[k + 1]):
            near[k] = near[k] or p[r] != 0.0
        some = some or near[k]
    return some


@njit
def _take_in(law, row_ptr, set_of, mu, semi, associated, lo, hi, rho, body_a, body_b, Ja, Jb, Minv, free, p, near):
    """Sum of squares of the natural map and largest square of the scaled one over blocks that are not near.

    Those that close become near.
    """
    d = Ja.shape[1]
    f, v = np.empty((Minv.shape[0], d)), np.zeros((Minv.shape[0], d))
    impulses_on_bodies(body_a, body_b, row_ptr, Ja, Jb, p, f)
    add_velocity_change(Minv, f, v)
    u, none, x, y = np.empty(6), np.zeros(6), np.empty(6), np.empty(6)
    natural, worst = 0.0, 0.0
    for k in range(len(law)):
        if near[k]:
            continue
        first, n, a, b = row_ptr[k], row_ptr[k + 1] - row_ptr[k], body_a[k], body_b[k]
        for i in range(n):
            s = free[first + i]
            for j in range(d):
                s += Ja[first + i, j] * v[a, j] if a >= 0 else 0.0
                s += Jb[first + i, j] * v[b, j] if b >= 0 else 0.0
            u[i] = s
            if s >= 0.0 and i == 0:  # open, whatever its slip
                break
        if u[0] < 0.0:
            near[k] = True
            edge = mu[k] * semi[set_of[k], 0]
            one, scaled = block_maps(law[k], n, edge, associated, rho[k], lo, hi, first, u, none, x, y)
            natural += one
            worst = max(worst, scaled)
    return natural, worst


def _make_attempt(d, nested):
    @njit
    def attempt(
        tol, scale, limit, parallel, law, row_ptr, set_of, mu, r0, shape, semi, vertices, vertex_ptr, facets, facet_ptr,
        lo, hi, length, C, associated, body_a, body_b, Ja, Jb, Minv, free, overlap, rho, p,
    ):  # fmt: skip
        """Up to `limit` accelerated sweeps from p, which receives the answer: how they ended, how many, the error.

        free, overlap (nr,): H v_free + b, and b; `nested`: whether there are blocks of that kind (`nsgs_items`).
        """
        nk = len(law)
        kind, times, near = np.empty(nk, np.int64), np.empty(nk, np.int64), np.ones(nk, np.bool_)
        _, plain = classify(law, row_ptr, set_of, mu, r0, shape, semi, length, associated, kind, times)
        if plain and len(p) > SMALL and not near_blocks(law, row_ptr, free, p, near):
            return SOLVED, 0, 0.0
        sweeps = 0
        while True:
            (
                begin, phase, rows, seg, block, ptr, src, a, b, J, q, packed, par, wn, sd, T, L, Cb, gptr, G, rim, vptr,
                V, weight, F, B, arms, pack, Z, _, _,
            ) = prepare(
                law, row_ptr, set_of, mu, r0, shape, semi, vertices, vertex_ptr, facets, facet_ptr, lo, hi, length, C,
                associated, 1.0, parallel, body_a, body_b, Ja, Jb, Minv, free, p, near,
            )  # fmt: skip
            problem = (
                tol, scale, limit - sweeps, parallel, True, law, row_ptr, set_of, mu, r0, shape, semi, vertices,
                vertex_ptr, facets, facet_ptr, lo, hi, length, C, associated, Ja, Jb, free, overlap, rho, begin, phase,
                rows, seg, block, ptr, src, a, b, J, q, packed, par, wn, sd, T, L, Cb, gptr, G, rim, vptr, V, weight, F,
                B, arms, pack, Z, plain,
            )  # fmt: skip
            if d == 6 and nested:
                ended, done, error = relax_spatial_nested(*problem)
            elif d == 6:
                ended, done, error = relax_spatial(*problem)
            elif nested:
                ended, done, error = relax_planar_nested(*problem)
            else:
                ended, done, error = relax_planar(*problem)
            sweeps += done
            for r in range(len(p)):
                p[r] = 0.0
            unpack(ptr, src, T, packed, p)
            if not plain:
                return ended, sweeps, error
            natural, worst = _take_in(
                law, row_ptr, set_of, mu, semi, associated, lo, hi, rho, body_a, body_b, Ja, Jb, Minv, free, p, near
            )
            error = max(math.sqrt(error * error + natural / (scale * scale)), math.sqrt(worst) / scale)
            if ended != SOLVED or error <= tol or sweeps >= limit:
                return ended if error <= tol or ended != SOLVED else LIMIT, sweeps, error

    return attempt


near_planar, near_planar_nested = _make_attempt(3, 0), _make_attempt(3, 1)
near_spatial, near_spatial_nested = _make_attempt(6, 0), _make_attempt(6, 1)
