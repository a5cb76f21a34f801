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
    fetch,
    load,
    load_rows,
    load_sixes,
    load_triples,
    most,
    root,
    select,
    size,
    some,
    spread,
    store,
    store_triples,
    total,
)
from . import kinds
from .local import Disk, solve_disk
from .point_contacts import (
    ARM_A,
    ARM_B,
    ARMS,
    NORMAL,
    TANGENT_1,
    TANGENT_2,
    contact_force,
    contact_velocity,
    state_change,
)

# Columns of a pack, WIDTH numbers each: frames and arms (`point_contacts`), the local problem (`kinds`), and for the
# scaled map the size of the friction set and ρ.
_PAR, _SIZE, _RHO = ARMS, ARMS + kinds.PARAMETERS, ARMS + kinds.PARAMETERS + 1
PACK = (ARMS + kinds.PARAMETERS + 2) * WIDTH
# Velocities of bodies beyond which a problem does not stay in the cache from sweep to sweep, and how many packs ahead
# memory is asked for then.
_CACHED, _PACKS = 50_000, 4
_LINES = PACK // WIDTH
PACKED_CONTACTS = 64  # of a cell at least: packs of fewer would hardly fill


@njit
def fill_packs(a, b, world, order):
    """order (n,): the n items of a cell with bodies a, b, full packs first; returns how many packs there are."""
    n = len(a)
    count, member = np.zeros(n + 1, np.int64), np.empty((n + 1, WIDTH), np.int64)
    base, end = world, 0
    for i in range(n):
        base = min(base, a[i], b[i])
        end = max(end, a[i] if a[i] != world else b[i], b[i] if b[i] != world else a[i])
    behind = np.zeros(end - base + 2, np.int64)  # the first pack that each body may be in; the last: what cannot move
    low, top = 0, 0
    for i in range(n):
        pack, ia, ib = low, min(a[i] - base, end - base + 1), min(b[i] - base, end - base + 1)
        if a[i] != world:
            pack = max(pack, behind[ia])
        if b[i] != world:
            pack = max(pack, behind[ib])
        while count[pack] == WIDTH:
            pack += 1
        member[pack, count[pack]] = i
        count[pack] += 1
        top = max(top, pack + 1)
        behind[ia], behind[ib] = pack + 1, pack + 1
        while low < n and count[low] == WIDTH:
            low += 1
    packs, at = 0, 0
    alone = np.zeros(n, np.bool_)
    for pack in range(top):
        for l in range(count[pack]):
            if count[pack] == WIDTH:
                order[at] = member[pack, l]
                at += 1
            else:
                alone[member[pack, l]] = True
        packs += 1 if count[pack] == WIDTH else 0
    for i in range(n):
        if alone[i]:
            order[at] = i
            at += 1
    return packs


@njit(leaf=True)
def load_packs(start, first, last, F, par, block, set_of, semi, rho, Z):
    """Z[first:last]: all that is known of the packs whose contacts begin at the item `start`."""
    for pack in range(first, last):
        for l in range(WIDTH):
            i = start + WIDTH * (pack - first) + l
            for m in range(ARMS):
                Z[pack * PACK + WIDTH * m + l] = F[i, m]
            for m in range(kinds.PARAMETERS):
                Z[pack * PACK + WIDTH * (_PAR + m) + l] = par[i, m]
            Z[pack * PACK + WIDTH * _SIZE + l] = semi[set_of[block[i]], 0]
            Z[pack * PACK + WIDTH * _RHO + l] = rho[block[i]]


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
def _velocities(z, i, r, a, b, Z, A, B, q, w):
    """u = q + J w of a pack; A, B: the factors of its bodies."""
    wa, wb = load_sixes(w, a, i), load_sixes(w, b, i)
    return contact_velocity(load_triples(q, r), _frame(Z, z), _vector(Z, z, ARM_A), _vector(Z, z, ARM_B), A, B, wa, wb)


@njit(inline=True)
def _push(z, i, a, b, Z, A, B, w, n, t1, t2):
    """w += Jᵀ p of a pack; A, B: the factors of its bodies."""
    force = contact_force(_frame(Z, z), n, t1, t2)
    add_sixes(w, a, i, state_change(A, _vector(Z, z, ARM_A), force))
    x, y, s, u, v, t = state_change(B, _vector(Z, z, ARM_B), force)
    add_sixes(w, b, i, (-x, -y, -s, -u, -v, -t))


@njit(leaf=True)
def sweep_packs(first, last, full, i, r, a, b, Z, B, q, p, w):
    """One sweep over the packs first..last, from item i and row r on; the largest change of velocity if it is full."""
    worst, far = spread(0.0), w.size > _CACHED
    for pack in range(first, last):
        if far and pack + _PACKS < last:
            fetch(Z, (pack + _PACKS) * PACK, _LINES)
        pn, p1, p2 = load_triples(p, r)
        if full or some(pn != 0.0):
            z = pack * PACK
            A, C = load_rows(B, a, i), load_rows(B, b, i)
            disk = _disk(Z, z)
            n, t1, t2, guess = solve_disk(_velocities(z, i, r, a, b, Z, A, C, q, w), (pn, p1, p2), disk)
            if some(guess != disk.guess):  # most stick: nothing is written that has not changed
                store(Z, z + WIDTH * (_PAR + kinds.DISK_GUESS), guess)
            store_triples(p, r, (n, t1, t2))
            n, t1, t2 = n - pn, t1 - p1, t2 - p2
            _push(z, i, a, b, Z, A, C, w, n, t1, t2)
            if full:
                change = size(n) * _column(Z, z, _PAR + kinds.DISK_NN) + size(t1) * disk.s1 + size(t2) * disk.s2
                worst = select(worst >= change, worst, change)
        i += WIDTH
        r += 3 * WIDTH
    return most(worst)


@njit(leaf=True)
def state_packs(first, last, i, r, a, b, Z, B, p, w):
    """w += Jᵀ p of the packs first..last."""
    far = w.size > _CACHED
    for pack in range(first, last):
        if far and pack + _PACKS < last:
            fetch(Z, (pack + _PACKS) * PACK, ARMS)
        n, t1, t2 = load_triples(p, r)
        if some((n != 0.0) | (t1 != 0.0) | (t2 != 0.0)):
            _push(pack * PACK, i, a, b, Z, load_rows(B, a, i), load_rows(B, b, i), w, n, t1, t2)
        i += WIDTH
        r += 3 * WIDTH


@njit(leaf=True)
def measure_packs(first, last, i, r, a, b, Z, B, q, p, w):
    """Sum of squares of the scaled map over packs with round cones."""
    missed, far = spread(0.0), w.size > _CACHED
    for pack in range(first, last):
        if far and pack + _PACKS < last:
            fetch(Z, (pack + _PACKS) * PACK, _LINES)
        z = pack * PACK
        un, u1, u2 = _velocities(z, i, r, a, b, Z, load_rows(B, a, i), load_rows(B, b, i), q, w)
        n, t1, t2 = load_triples(p, r)
        wide, rho = _column(Z, z, _SIZE), _column(Z, z, _RHO)
        t1, t2, u1, u2 = t1 * wide, t2 * wide, u1 / wide, u2 / wide
        edge = _column(Z, z, _PAR + kinds.DISK_MU) * wide
        un = un + edge * root(u1 * u1 + u2 * u2)
        missed = missed + round_map(edge, rho, n, t1, t2, un, u1, u2)
        i += WIDTH
        r += 3 * WIDTH
    return total(missed)
