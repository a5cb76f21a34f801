"""The rows of a step's contacts, and what follows from each of them alone, for the compiled loop.

Made in parts, so that what reads a row finds it in the cache, and so that threads may share the work.
"""

from __future__ import annotations

import numpy as np

from .._jit import njit, prange
from ..problem.body_kernels import MANY, PARTS, bodies_apart, row_facts
from ..systems.contacts3 import contact_rows as spatial_contact_rows
from ..systems.kernels2 import contact_rows as planar_contact_rows

_FEW = 1000  # contacts up to which rows are made in one go


def _make_rows(d):
    contact_rows = spatial_contact_rows if d == 6 else planar_contact_rows

    @njit(leaf=True)
    def some_rows(
        c, parts, q, a, b, normal, point_a, point_b, row_ptr, nj, number, codes, axis, side, lever, Ja, Jb, length,
        Minv, apart, v, u, terms, diagonal,
    ):  # fmt: skip
        """Part c of the contacts: their rows, and what depends on each row alone while it is at hand."""
        n = len(a) - nj
        s, e = n * c // parts, n * (c + 1) // parts
        contact_rows(
            q, a[nj + s : nj + e], b[nj + s : nj + e], normal[s:e], point_a[s:e], point_b[s:e], row_ptr, nj + s,
            number[s:e], codes, axis, side, lever, Ja, Jb, length,
        )  # fmt: skip
        row_facts(nj + s, nj + e, a, b, row_ptr, Ja, Jb, Minv, apart, v, u, terms, diagonal)

    @njit(parallel=True)
    def rows_parallel(
        q, a, b, normal, point_a, point_b, row_ptr, nj, number, codes, axis, side, lever, Ja, Jb, length, Minv, apart,
        v, u, terms, diagonal,
    ):  # fmt: skip
        for part in prange(PARTS):
            some_rows(
                np.int64(part), PARTS, q, a, b, normal, point_a, point_b, row_ptr, nj, number, codes, axis, side, lever,
                Ja, Jb, length, Minv, apart, v, u, terms, diagonal,
            )  # fmt: skip

    @njit(sealed=True)
    def rows(
        parallel, q, a, b, normal, point_a, point_b, row_ptr, nj, number, codes, axis, side, lever, Ja, Jb, length,
        Minv, v, u, terms, diagonal,
    ):  # fmt: skip
        """The rows Ja, Jb (nr, d) of contacts, and u = H v, |H||v| and diag(H M⁻¹ Hᵀ) of all blocks, joints first."""
        n = len(a) - nj
        apart = np.empty(Minv.shape[0], np.bool_)
        bodies_apart(parallel, Minv, apart)
        row_facts(0, nj, a, b, row_ptr, Ja, Jb, Minv, apart, v, u, terms, diagonal)
        if parallel and n > MANY:
            rows_parallel(
                q, a, b, normal, point_a, point_b, row_ptr, nj, number, codes, axis, side, lever, Ja, Jb, length, Minv,
                apart, v, u, terms, diagonal,
            )  # fmt: skip
            return
        parts = PARTS if n > _FEW else 1
        for c in range(parts):
            some_rows(
                c, parts, q, a, b, normal, point_a, point_b, row_ptr, nj, number, codes, axis, side, lever, Ja, Jb,
                length, Minv, apart, v, u, terms, diagonal,
            )  # fmt: skip

    return rows


rows_planar, rows_spatial = _make_rows(3), _make_rows(6)
