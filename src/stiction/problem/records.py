"""What kernels know of a contact problem: records of arrays, passed whole from Python down to the last leaf.

A kernel takes `laws` and `body_rows` in place of twenty arrays, and says `laws.mu[k]` where it needs one. Numba passes
a record as its arrays, so that a field costs nothing; leaves that count no references take records too. The cache of
kernels tells records apart by the names and the order of their fields (`runtime/cache.py`): Numba itself knows them by
their class alone, and would read the wrong field after two had changed places.

Sizes: nr rows, nk blocks, nb bodies, ns friction sets, d velocities of a body (3 in the plane, 6 in space).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .._check import Array

__all__ = ["Array", "BodyRows", "Laws", "RowTerms"]


class Laws(NamedTuple):
    """The law of each block of rows, with the friction sets they use."""

    law: Array  # (nk,) EQUALITY, UNILATERAL, BOX or DRY (`laws.py`)
    row_ptr: Array  # (nk + 1,) where the rows of each block start
    set_of: Array  # (nk,) the friction set of each block
    mu: Array  # (nk,) coefficient of friction: friction lies in (mu p_n + r0) F
    r0: Array  # (nk,) radius without a normal impulse [N s]
    shape: Array  # (ns,) kind of each set (`friction/kernels.py`)
    semi: Array  # (ns, 5) semi-axes of ellipsoids at unit radius
    vertices: Array  # (., 5) vertices of polyhedra, those of a set from vertex_ptr on
    vertex_ptr: Array  # (ns + 1,)
    facets: Array  # (., 6) facets a·f <= c of polyhedra, c last
    facet_ptr: Array  # (ns + 1,)
    lo: Array  # (nr,) bounds of BOX rows [N s]
    hi: Array  # (nr,)
    length: Array  # (nr,) 1, or metres for rotational rows: every residual is in m/s or N s
    C: Array  # (nr,) compliance [m/s per N s], 0 for what is rigid
    associated: Any  # True for the convex relaxation, False for Coulomb's law


class BodyRows(NamedTuple):
    """The rows of the blocks on the bodies they join, and how easily bodies move."""

    body_a: Array  # (nk,) bodies, -1 for what is fixed
    body_b: Array  # (nk,)
    Ja: Array  # (nr, d) rows on the velocity of the first body
    Jb: Array  # (nr, d) and of the second
    Minv: Array  # (nb, d, d) inverse mass, 0 for prescribed bodies


class RowTerms(NamedTuple):
    """Terms of each row of a step that depend on no other row, and the data they depend on."""

    decoupled: Array  # (nb,) whether the inverse mass of a body has no terms between motion and spin
    v: Array  # (nb, d) velocities before impulses, v_free [m/s]
    free: Array  # (nr,) H v [m/s]
    terms: Array  # (nr,) |H||v| [m/s]
    diagonal: Array  # (nr,) of H M⁻¹ Hᵀ [1/kg]
