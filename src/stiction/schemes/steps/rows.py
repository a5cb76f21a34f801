"""The rows of a step's contacts, and what follows from each of them alone, for the compiled loop.

Made in parts, so that what reads a row finds it in the cache, and so that threads may share the work.
"""

from __future__ import annotations

import numpy as np

from ...collision.records import Geometry
from ...problem.body_kernels import THREAD_PARTS, THREADS_MIN_BLOCKS, decoupled_bodies, row_terms
from ...runtime.jit import njit, prange
from ...systems.model.kernels.plane import contact_rows as planar_contact_rows
from ...systems.model.kernels.space_contacts import contact_rows as spatial_contact_rows
from ...systems.model.records import RowLaws

ONE_PASS_MAX_CONTACTS = 1000  # contacts up to which rows are made in one go


def _make_rows(d):
    contact_rows = spatial_contact_rows if d == 6 else planar_contact_rows

    @njit(leaf=True)
    def rows_of_part(c, parts, q, geometry, nj, number, rules, row_ptr, length, form, facts):
        """Part c of the contacts: their rows, and what depends on each row alone while it is at hand."""
        a, b = form.body_a, form.body_b
        n = len(a) - nj
        s, e = n * c // parts, n * (c + 1) // parts
        part_geometry = Geometry(
            geometry.gap[s:e], geometry.normal[s:e], geometry.point_a[s:e], geometry.point_b[s:e]
        )  # fmt: skip
        contact_rows(
            q, a[nj + s : nj + e], b[nj + s : nj + e], part_geometry, row_ptr, nj + s, number[s:e],
            RowLaws(rules.codes, rules.axis, rules.side, rules.lever), form.Ja, form.Jb, length,
        )  # fmt: skip
        row_terms(nj + s, nj + e, form, row_ptr, facts)

    @njit(parallel=True)
    def rows_parallel(q, geometry, nj, number, rules, row_ptr, length, form, facts):
        for part in prange(THREAD_PARTS):
            rows_of_part(np.int64(part), THREAD_PARTS, q, geometry, nj, number, rules, row_ptr, length, form, facts)

    @njit(sealed=True)
    def rows(parallel, q, geometry, nj, number, rules, row_ptr, length, form, facts):
        """The rows Ja, Jb (nr, d) of contacts, and of all blocks, joints first, what each row says alone.

        facts: `RowTerms`, of which v is known.
        """
        n = len(form.body_a) - nj
        decoupled_bodies(parallel, form.Minv, facts.decoupled)
        row_terms(0, nj, form, row_ptr, facts)
        if parallel and n > THREADS_MIN_BLOCKS:
            rows_parallel(q, geometry, nj, number, rules, row_ptr, length, form, facts)
            return
        parts = THREAD_PARTS if n > ONE_PASS_MAX_CONTACTS else 1
        for c in range(parts):
            rows_of_part(c, parts, q, geometry, nj, number, rules, row_ptr, length, form, facts)

    return rows


rows_planar, rows_spatial = _make_rows(3), _make_rows(6)
