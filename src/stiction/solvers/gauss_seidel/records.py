"""What block Gauss–Seidel on bodies keeps of a problem while it sweeps, as records that its kernels hand on.

A problem's blocks become *items*, those of a cell next to each other and sorted by kind; the rows of an item lie next
to each other and in its own frame (`local_frames`). An *island* is a connected set of bodies, a *cell* a part of it,
and cells of one *phase* share no body (`order`). Bodies that move have *slots*, numbered along the islands; the last
slot stands for all that cannot move. Sizes: ni items, n packed rows of all items, nc cells, nisl islands, d velocities
of a body; nk blocks and nr rows of the problem.

`Work` is made once per problem (`prepare`). Sweeps change its p and w, and the guesses in `local.par`; a look
(`measure`) writes v. All that is known of the progress of islands is in `schedule.Progress`, and of earlier
sweeps in `accelerate.History`. Loops over threads take records, but no record of records: they get its parts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...problem.records import Array, BodyRows, Laws


class SweepList(NamedTuple):
    """The items in the order in which they are swept: by island, phase, cell and kind."""

    begin: Array  # (nisl + 1,) where the bodies of each island start
    phase: Array  # (nisl, PHASES + 1) the cells phase[i, s]..phase[i, s + 1] of island i share no body
    rows: Array  # (nisl + 1,) where the packed rows of each island start
    seg: Array  # (nc, KINDS + 1) where the items of each kind start in a cell
    kind: Array  # (ni,) INTERVAL, BILATERAL, PLANAR, DISK or NESTED (`kinds`)
    block: Array  # (ni,) the block of the problem
    ptr: Array  # (ni + 1,) where the packed rows of each item start
    src: Array  # (n,) the row of the problem
    a: Array  # (ni,) slots of the two bodies; the last slot is for what cannot move
    b: Array  # (ni,)
    gptr: Array  # (ni + 1,) where the facets of each item start, or the coupling of its groups
    vptr: Array  # (ni + 1,) where its vertices start


class LocalProblems(NamedTuple):
    """Each item's own law in its own frame p = T p̃, ũ = Tᵀ u, where its own block of the Delassus matrix is simple."""

    par: Array  # (ni, PARAMETERS) numbers of the local problem, by kind (`kinds`)
    wn: Array  # (n,) W̃ of the tangent rows against the normal one
    sd: Array  # (n,) diagonal of W̃ on the tangent rows
    T: Array  # (n, widest) the frames
    Cb: Array  # (n, 6) compliance in the frames; no rows where all is rigid
    G: Array  # facets of polyhedra in the frame, or W̃ of a product
    rim: Array  # offsets of the facets
    V: Array  # vertices in the frame
    weight: Array  # (n,) W̃_ii: Σ weight p² is an energy


class PackedRows(NamedTuple):
    """The rows of the items in their frames: as they are, and shorter for contacts of points (`point_contacts`)."""

    J: Array  # (n, 2 d) rows on the bodies' states: J = H L with M⁻¹ = L Lᵀ
    F: Array  # (ni, ARMS) frame and arms of contacts of points
    B: Array  # (slots, FACTORS) factors of M⁻¹ of the bodies
    arms: Any  # whether contacts are known by F and B
    pack: Array  # (nc + 1,) where the packs of eight contacts of each cell start
    Z: Array  # the packs, PACK numbers each (`point_contacts_simd`)


class Work(NamedTuple):
    """A problem that is being swept."""

    items: SweepList
    local: LocalProblems
    packed: PackedRows
    laws: Laws
    form: BodyRows
    free: Array  # (nr,) velocities of the rows without impulses [m/s]
    rho: Array  # (nk,) step of the scaled map of each block [kg]
    L: Array  # (slots, d, d) factors M⁻¹ = L Lᵀ of the bodies of which they are read
    q: Array  # (n,) velocities without impulses, in the frames
    p: Array  # (n,) impulses in the frames: what sweeps change
    w: Array  # (slots, d) state of the bodies, Jᵀ p
    v: Array  # (slots, d) room for velocities of bodies
    plain: Any  # whether every cone is round, without an offset, and its rows in metres
