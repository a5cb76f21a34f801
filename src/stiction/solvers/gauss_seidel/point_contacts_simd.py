"""Sweeps over eight contacts at a time: those of a pack share no body that moves, and are solved side by side.

The same operations as in `point_contacts`, contact by contact to the same bits, in lanes (`runtime/lanes`). Packs are
filled in the order of the contacts, each contact into the first pack behind those of its bodies; what fills none is
swept alone.
"""

from __future__ import annotations

import numpy as np

from ...friction.kernels import round_map
from ...runtime.jit import njit
from ...runtime.lanes import (
    WIDTH,
    add_sixes,
    any_lane,
    largest_lane,
    load,
    load_rows,
    load_sixes,
    load_triples,
    prefetch,
    select,
    splat,
    sqrt,
    store,
    store_triples,
    sum_lanes,
)
from . import kinds
from .local import Disk, solve_disk
from .point_contacts import (
    ARM_A,
    ARM_B,
    NORMAL,
    POINT_CONTACT_SIZE,
    TANGENT_1,
    TANGENT_2,
    contact_force,
    contact_velocity,
    state_change,
)

# Columns of a pack, WIDTH numbers each: frames and arms (`point_contacts`), the local problem (`kinds`), and for the
# scaled map the size of the friction set and ρ.
_PAR, _SIZE, _RHO = POINT_CONTACT_SIZE, POINT_CONTACT_SIZE + kinds.PARAMETERS, POINT_CONTACT_SIZE + kinds.PARAMETERS + 1
PACK_SIZE = (POINT_CONTACT_SIZE + kinds.PARAMETERS + 2) * WIDTH  # numbers of a pack
# Columns of the compliance of a pack, apart from Z: there are none where all is rigid.
_NORMAL, _TANGENT = 0, 1
PACK_COMPLIANCE = 2 * WIDTH
# The number of body velocities above which a problem does not stay in the cache from sweep to sweep; memory is then
# asked for some packs before it is used.
_PREFETCH_MIN_VELOCITIES, _PREFETCH_PACKS = 50_000, 4
_PACK_LINES = PACK_SIZE // WIDTH  # cache lines of a pack
PACKED_MIN_CONTACTS = 64  # of a cell: the packs of fewer would hardly fill


@njit
def fill_packs(a, b, world, order):
    """Set order (n,) of the n contacts of a cell with bodies a, b: full packs first. Returns the number of packs."""
    n = len(a)
    count, member = np.zeros(n + 1, np.int64), np.empty((n + 1, WIDTH), np.int64)
    base, end = world, 0
    for i in range(n):
        base = min(base, a[i], b[i])
        end = max(end, a[i] if a[i] != world else b[i], b[i] if b[i] != world else a[i])
    # the first pack that each body may be in; the last entry is for what cannot move
    first_free = np.zeros(end - base + 2, np.int64)
    first_open, top = 0, 0
    for i in range(n):
        pack, ia, ib = first_open, min(a[i] - base, end - base + 1), min(b[i] - base, end - base + 1)
        if a[i] != world:
            pack = max(pack, first_free[ia])
        if b[i] != world:
            pack = max(pack, first_free[ib])
        while count[pack] == WIDTH:
            pack += 1
        member[pack, count[pack]] = i
        count[pack] += 1
        top = max(top, pack + 1)
        first_free[ia], first_free[ib] = pack + 1, pack + 1
        while first_open < n and count[first_open] == WIDTH:
            first_open += 1
    packs, at = 0, 0
    unpacked = np.zeros(n, np.bool_)
    for pack in range(top):
        for l in range(count[pack]):
            if count[pack] == WIDTH:
                order[at] = member[pack, l]
                at += 1
            else:
                unpacked[member[pack, l]] = True
        packs += 1 if count[pack] == WIDTH else 0
    for i in range(n):
        if unpacked[i]:
            order[at] = i
            at += 1
    return packs


@njit(leaf=True)
def load_packs(start, first, last, entries, local, packed, laws, rho):
    """Set the data of the packs first..last, whose contacts begin at the entry `start`."""
    F, Z, K, par, Cb = packed.F, packed.Z, packed.K, local.par, local.Cb
    for pack in range(first, last):
        for l in range(WIDTH):
            i = start + WIDTH * (pack - first) + l
            k = entries.block[i]
            for m in range(POINT_CONTACT_SIZE):
                Z[pack * PACK_SIZE + WIDTH * m + l] = F[i, m]
            for m in range(kinds.PARAMETERS):
                Z[pack * PACK_SIZE + WIDTH * (_PAR + m) + l] = par[i, m]
            Z[pack * PACK_SIZE + WIDTH * _SIZE + l] = laws.semi[laws.set_of[k], 0]
            Z[pack * PACK_SIZE + WIDTH * _RHO + l] = rho[k]
            if len(K):
                r = entries.ptr[i]
                K[pack * PACK_COMPLIANCE + WIDTH * _NORMAL + l] = Cb[r, 0]
                K[pack * PACK_COMPLIANCE + WIDTH * _TANGENT + l] = Cb[r + 1, 1]


@njit(inline=True)
def _column(Z, z, m):
    """Column m of the pack that begins at z."""
    return load(Z, z + WIDTH * m)


@njit(inline=True)
def _vector(Z, z, m):
    """The vector in columns m, m + 1, m + 2 of the pack that begins at z."""
    return load(Z, z + WIDTH * m), load(Z, z + WIDTH * (m + 1)), load(Z, z + WIDTH * (m + 2))


@njit(inline=True)
def _frame(Z, z):
    """The frames of the pack that begins at z."""
    return _vector(Z, z, NORMAL), _vector(Z, z, TANGENT_1), _vector(Z, z, TANGENT_2)


@njit(inline=True)
def _disk(Z, z):
    """The local problems of the pack that begins at z."""
    par = z + WIDTH * _PAR
    return Disk(
        _column(Z, par, kinds.DISK_INVERSE),
        _column(Z, par, kinds.DISK_E1),
        _column(Z, par, kinds.DISK_E2),
        _column(Z, par, kinds.DISK_S1),
        _column(Z, par, kinds.DISK_S2),
        _column(Z, par, kinds.DISK_MU),
        _column(Z, par, kinds.DISK_GUESS),
    )


@njit(inline=True)
def _contact_velocities(z, i, r, a, b, Z, A, B, q, w):
    """u = q + J w of a pack; A, B: the factors of its bodies."""
    wa, wb = load_sixes(w, a, i), load_sixes(w, b, i)
    return contact_velocity(load_triples(q, r), _frame(Z, z), _vector(Z, z, ARM_A), _vector(Z, z, ARM_B), A, B, wa, wb)


@njit(inline=True)
def _add_compliance(pack, K, u, p):
    """u + C p of a pack."""
    c = pack * PACK_COMPLIANCE
    (un, u1, u2), (pn, p1, p2), along = u, p, _column(K, c, _TANGENT)
    return un + _column(K, c, _NORMAL) * pn, u1 + along * p1, u2 + along * p2


@njit(inline=True)
def _apply_impulse(z, i, a, b, Z, A, B, w, n, t1, t2):
    """w += Jᵀ p of a pack; A, B: the factors of its bodies."""
    force = contact_force(_frame(Z, z), n, t1, t2)
    add_sixes(w, a, i, state_change(A, _vector(Z, z, ARM_A), force))
    x, y, s, u, v, t = state_change(B, _vector(Z, z, ARM_B), force)
    add_sixes(w, b, i, (-x, -y, -s, -u, -v, -t))


@njit(leaf=True)
def sweep_packs(first, last, full, i, entries, packed, q, p, w):
    """Sweep once over the packs first..last, with entries from i on; returns the largest change.

    full: whether packs without impulses are swept too; only then the change is computed.
    """
    a, b, Z, K, B, r = entries.a, entries.b, packed.Z, packed.K, packed.B, entries.ptr[i]
    largest, uncached, compliant = splat(0.0), w.size > _PREFETCH_MIN_VELOCITIES, len(K) > 0
    for pack in range(first, last):
        if uncached and pack + _PREFETCH_PACKS < last:
            prefetch(Z, (pack + _PREFETCH_PACKS) * PACK_SIZE, _PACK_LINES)
        pn, p1, p2 = load_triples(p, r)
        if full or any_lane(pn != 0.0):
            z = pack * PACK_SIZE
            A, C = load_rows(B, a, i), load_rows(B, b, i)
            disk = _disk(Z, z)
            u = _contact_velocities(z, i, r, a, b, Z, A, C, q, w)
            if compliant:
                u = _add_compliance(pack, K, u, (pn, p1, p2))
            n, t1, t2, guess = solve_disk(u, (pn, p1, p2), disk)
            if any_lane(guess != disk.guess):  # most stick: what has not changed is not written
                store(Z, z + WIDTH * (_PAR + kinds.DISK_GUESS), guess)
            store_triples(p, r, (n, t1, t2))
            n, t1, t2 = n - pn, t1 - p1, t2 - p2
            _apply_impulse(z, i, a, b, Z, A, C, w, n, t1, t2)
            if full:
                change = abs(n) * _column(Z, z, _PAR + kinds.DISK_NN) + abs(t1) * disk.s1 + abs(t2) * disk.s2
                largest = select(largest >= change, largest, change)
        i += WIDTH
        r += 3 * WIDTH
    return largest_lane(largest)


@njit(leaf=True)
def apply_packs(first, last, i, entries, packed, p, w):
    """w += Jᵀ p of the packs first..last, with entries from i on."""
    a, b, Z, B, r = entries.a, entries.b, packed.Z, packed.B, entries.ptr[i]
    uncached = w.size > _PREFETCH_MIN_VELOCITIES
    for pack in range(first, last):
        if uncached and pack + _PREFETCH_PACKS < last:
            prefetch(Z, (pack + _PREFETCH_PACKS) * PACK_SIZE, POINT_CONTACT_SIZE)
        n, t1, t2 = load_triples(p, r)
        if any_lane((n != 0.0) | (t1 != 0.0) | (t2 != 0.0)):
            _apply_impulse(pack * PACK_SIZE, i, a, b, Z, load_rows(B, a, i), load_rows(B, b, i), w, n, t1, t2)
        i += WIDTH
        r += 3 * WIDTH


@njit(leaf=True)
def measure_packs(first, last, i, entries, packed, q, p, w):
    """Sum of squares of the scaled map over packs with round cones, with entries from i on."""
    a, b, Z, K, B, r = entries.a, entries.b, packed.Z, packed.K, packed.B, entries.ptr[i]
    error2, uncached, compliant = splat(0.0), w.size > _PREFETCH_MIN_VELOCITIES, len(K) > 0
    for pack in range(first, last):
        if uncached and pack + _PREFETCH_PACKS < last:
            prefetch(Z, (pack + _PREFETCH_PACKS) * PACK_SIZE, _PACK_LINES)
        z = pack * PACK_SIZE
        u = _contact_velocities(z, i, r, a, b, Z, load_rows(B, a, i), load_rows(B, b, i), q, w)
        n, t1, t2 = load_triples(p, r)
        if compliant:
            u = _add_compliance(pack, K, u, (n, t1, t2))
        un, u1, u2 = u
        wide, rho = _column(Z, z, _SIZE), _column(Z, z, _RHO)
        t1, t2, u1, u2 = t1 * wide, t2 * wide, u1 / wide, u2 / wide
        edge = _column(Z, z, _PAR + kinds.DISK_MU) * wide
        un = un + edge * sqrt(u1 * u1 + u2 * u2)
        error2 = error2 + round_map(edge, rho, n, t1, t2, un, u1, u2)
        i += WIDTH
        r += 3 * WIDTH
    return sum_lanes(error2)
