"""Everything that block Gauss–Seidel on bodies computes once per problem, in one call."""

from __future__ import annotations

import numpy as np

from .._jit import njit, prange
from .nsgs_forms import body_factors, rows_planar, rows_spatial, turn_rows
from .nsgs_islands import island_rows, row_weights
from .nsgs_items import bounds, classify, list_items
from .nsgs_kernels import PARAMETERS
from .nsgs_order import find_cells, order_bodies
from .nsgs_setup import frames, least_diagonal

MANY = 10_000  # items from which threads share the work
_CHUNKS = 64


@njit(parallel=True)
def _rows_parallel(block, ptr, src, body_a, body_b, slot, Ja, Jb, L, C, J, W, a, b):
    n = len(block)
    for part in prange(_CHUNKS):
        c = np.int64(part)
        if L.shape[1] == 6:
            rows_spatial(
                n * c // _CHUNKS, n * (c + 1) // _CHUNKS, block, ptr, src, body_a, body_b, slot, Ja, Jb, L, C, J, W, a,
                b,
            )  # fmt: skip
        else:
            rows_planar(
                n * c // _CHUNKS, n * (c + 1) // _CHUNKS, block, ptr, src, body_a, body_b, slot, Ja, Jb, L, C, J, W, a,
                b,
            )  # fmt: skip


@njit(parallel=True)
def _frames_parallel(
    tiny, kind, block, ptr, lo, hi, down, up, gptr, vptr, law, set_of, shape, mu, r0, semi, vertices, vertex_ptr,
    facets, facet_ptr, W, T, q, p, par, wn, sd, G, rim, V,
):  # fmt: skip
    n = len(block)
    for part in prange(_CHUNKS):
        c = np.int64(part)
        frames(
            n * c // _CHUNKS, n * (c + 1) // _CHUNKS, tiny, kind, block, ptr, lo, hi, down, up, gptr, vptr, law, set_of,
            shape, mu, r0, semi, vertices, vertex_ptr, facets, facet_ptr, W, T, q, p, par, wn, sd, G, rim, V,
        )  # fmt: skip


@njit
def prepare(
    law, row_ptr, set_of, mu, r0, shape, semi, vertices, vertex_ptr, facets, facet_ptr, lo, hi, length, C, associated,
    omega, parallel, body_a, body_b, Ja, Jb, Minv, free, p0,
):  # fmt: skip
    """Order, items, packed rows and frames of a problem on `Bodies`; `free` (nr,) is its q, p0 (nr,) the first guess.

    Returns the arrays that `relax` and `measure` read, in their order: begin, phase, rows, seg, block, ptr, src, a, b,
    J, q, p, par, wn, sd, T, L, Cb, gptr, G, rim, vptr, V, weight; then whether there are blocks of the kind NESTED,
    and whether every cone is round without an offset.
    """
    d = Minv.shape[1]
    slot, begin, chunk = order_bodies(body_a, body_b, Minv)
    cell, phase = find_cells(body_a, body_b, slot, begin, chunk)
    nk, moving = len(law), begin[-1]
    cells = phase[-1, -1]
    kind, times, place = np.empty(nk, np.int64), np.empty(nk, np.int64), np.empty(nk, np.int64)
    nested, plain = classify(law, row_ptr, set_of, mu, r0, shape, semi, length, associated, kind, times)
    for k in range(nk):
        a_ = slot[body_a[k]] if body_a[k] >= 0 else moving
        b_ = slot[body_b[k]] if body_b[k] >= 0 else moving
        place[k] = min(a_, b_) if max(a_, b_) == moving else max(a_, b_)
    block, ptr, src, seg, gptr, vptr = list_items(
        law, row_ptr, kind, times, cell, cells, place, moving, set_of, shape, facet_ptr, vertex_ptr
    )
    ni, nrows = len(block), len(src)
    low, high, down, up = np.empty(ni), np.empty(ni), np.empty(ni), np.empty(ni)
    bounds(block, ptr, src, law, r0, lo, hi, set_of, shape, semi, vertices, vertex_ptr, low, high, down, up)
    L = np.zeros((moving + 1, d, d))
    body_factors(Minv, slot, L)
    J, W = np.empty((nrows, 2 * d)), np.zeros((nrows, 6))
    a, b = np.empty(ni, np.int64), np.empty(ni, np.int64)
    if parallel and ni > MANY:
        _rows_parallel(block, ptr, src, body_a, body_b, slot, Ja, Jb, L, C, J, W, a, b)
    elif d == 6:
        rows_spatial(0, ni, block, ptr, src, body_a, body_b, slot, Ja, Jb, L, C, J, W, a, b)
    else:
        rows_planar(0, ni, block, ptr, src, body_a, body_b, slot, Ja, Jb, L, C, J, W, a, b)
    item_kind = np.empty(ni, np.int64)
    q, p = np.empty(nrows), np.empty(nrows)
    compliant = False
    for i in range(ni):
        item_kind[i] = kind[block[i]]
        for r in range(ptr[i], ptr[i + 1]):
            q[r], p[r] = free[src[r]], p0[src[r]]
            compliant = compliant or C[src[r]] > 0.0
            for l in range(ptr[i + 1] - ptr[i]):
                W[r, l] /= omega
    T, par, wn, sd = np.zeros((nrows, 6)), np.zeros((ni, PARAMETERS)), np.zeros(nrows), np.zeros(nrows)
    G, rim, V = np.zeros((gptr[-1], 6)), np.zeros(gptr[-1]), np.zeros((vptr[-1], 6))
    tiny = least_diagonal(ptr, W)
    if parallel and ni > MANY:
        _frames_parallel(
            tiny, item_kind, block, ptr, low, high, down, up, gptr, vptr, law, set_of, shape, mu, r0, semi, vertices,
            vertex_ptr, facets, facet_ptr, W, T, q, p, par, wn, sd, G, rim, V,
        )  # fmt: skip
    else:
        frames(
            0, ni, tiny, item_kind, block, ptr, low, high, down, up, gptr, vptr, law, set_of, shape, mu, r0, semi,
            vertices, vertex_ptr, facets, facet_ptr, W, T, q, p, par, wn, sd, G, rim, V,
        )  # fmt: skip
    Cb = np.zeros((nrows if compliant else 0, 6))
    turn_rows(ptr, src, T, C, J, Cb)
    weight = np.zeros(nrows)
    row_weights(seg, ptr, par, sd, weight)
    rows = island_rows(phase, seg, ptr)
    return (
        begin, phase, rows, seg, block, ptr, src, a, b, J, q, p, par, wn, sd, T, L, Cb, gptr, G, rim, vptr, V, weight,
        nested, plain,
    )  # fmt: skip
