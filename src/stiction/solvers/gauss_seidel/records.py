"""The data of block Gauss–Seidel on bodies while it sweeps, as records that its kernels hand on.

A problem's blocks become *entries* of the sweep list, those of a cell next to each other and sorted by kind; the rows
of an entry lie next to each other and in its own frame (`local_frames`). An *island* is a connected set of bodies, a
*cell* a part of it, and cells of one *phase* share no body (`order`). Bodies that move have *slots*, numbered along the
islands; the last slot stands for all that cannot move. Sizes: ni entries, n packed rows of all entries, nc cells, nisl
islands, d velocities of a body; nk blocks and nr rows of the problem.

`Work` is made once per problem (`prepare`). Sweeps change its p and w, and the guesses in `local.par`; a residual check
(`measure`) writes v. The progress of islands is in `schedule.Progress`, their earlier sweeps in `accelerate.History`.
Loops over threads take records, but no record of records: they get its parts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...problem.records import Array, BodyRows, Laws


class SweepList(NamedTuple):
    """The entries in the order in which they are swept: by island, phase, cell and kind."""

    begin: Array  # (nisl + 1,) where the bodies of each island start
    phase: Array  # (nisl, PHASES + 1) the cells phase[i, s]..phase[i, s + 1] of island i share no body
    rows: Array  # (nisl + 1,) where the packed rows of each island start
    seg: Array  # (nc, KINDS + 1) where the entries of each kind start in a cell
    kind: Array  # (ni,) INTERVAL, BILATERAL, PLANAR, DISK or NESTED (`kinds`)
    block: Array  # (ni,) the block of the problem
    ptr: Array  # (ni + 1,) where the packed rows of each entry start
    src: Array  # (n,) the row of the problem
    a: Array  # (ni,) slots of the two bodies; the last slot is for what cannot move
    b: Array  # (ni,)
    gptr: Array  # (ni + 1,) where the facets of each entry start, or the coupling of its groups
    vptr: Array  # (ni + 1,) where its vertices start


class LocalProblems(NamedTuple):
    """Each entry's own law in its own frame p = T p̃, ũ = Tᵀ u, where its own block of the Delassus matrix is simple."""

    par: Array  # (ni, PARAMETERS) numbers of the local problem, by kind (`kinds`)
    wn: Array  # (n,) W̃ of the tangent rows against the normal one
    sd: Array  # (n,) diagonal of W̃ on the tangent rows
    T: Array  # (n, widest) the frames
    Cb: Array  # (n, 6) compliance in the frames, a block each; no rows where all is rigid
    G: Array  # facets of polyhedra in the frame, or W̃ of a product
    rim: Array  # offsets of the facets
    V: Array  # vertices in the frame
    weight: Array  # (n,) W̃_ii: Σ weight p² is an energy


class PackedRows(NamedTuple):
    """The rows of the entries in their frames: whole, and in compact form for contacts of points (`point_contacts`)."""

    J: Array  # (n, 2 d) rows on the bodies' states: J = H L with M⁻¹ = L Lᵀ
    F: Array  # (ni, POINT_CONTACT_SIZE) frame and arms of contacts of points
    B: Array  # (slots, BODY_FACTORS) factors of M⁻¹ of the bodies
    point_contacts: Any  # whether contacts are in compact form: F and B
    pack: Array  # (nc + 1,) where the packs of eight contacts of each cell start
    Z: Array  # the packs, PACK_SIZE numbers each (`point_contacts_simd`)
    K: Array  # their compliance, PACK_COMPLIANCE numbers each; empty where all is rigid


class Work(NamedTuple):
    """A problem that is being swept."""

    entries: SweepList
    local: LocalProblems
    packed: PackedRows
    laws: Laws
    body_rows: BodyRows
    free: Array  # (nr,) velocities of the rows without impulses [m/s]
    rho: Array  # (nk,) step of the scaled map of each block [kg]
    L: Array  # (slots, d, d) factors M⁻¹ = L Lᵀ of the bodies that need them
    q: Array  # (n,) velocities without impulses, in the frames
    p: Array  # (n,) impulses in the frames: what sweeps change
    w: Array  # (slots, d) state of the bodies, Jᵀ p
    v: Array  # (slots, d) workspace for velocities of bodies
    round_cones: Any  # whether every cone is round, without an offset, and its rows in metres
