"""Bodies at rest: the last step's impulses may be the answer already, and what the laws hold gets no velocity at all.

`at_rest`, before anything is prepared or swept: whether the first guess is the answer. Overlaps within the tolerance
may stay, and so may a motion far below it. What must not pass are impulses that do not balance the forces, such as
those that have just stopped a motion: they would start the next one. Bodies that begin the step with the velocity zero
are those that the laws held in the last one, and are not started by them.

`come_to_rest`, after a solve: the velocity zero for bodies that the laws hold, where it meets the tolerance. Where
impulses lie strictly inside what a law allows, the law says that the rows do not move: joints, contacts inside
their friction cone, limits and motors inside their bounds; a contact on the edge of its cone still does not open, and
slips against its friction if at all. A body is held when such rows against what stands still leave it no velocity but
zero. No speed is compared with a threshold to find them: a block at its friction angle, a ball that can roll and a
pendulum at its turning point are never held.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..problem.body_kernels import rows_times, velocity_change
from ..problem.laws import BOX, EQUALITY
from ..runtime.jit import njit
from .gauss_seidel.measure import block_map
from .gauss_seidel.records import Array
from .gauss_seidel.sweep_list import classify_some

REST_MAX_ROWS = 3000  # of which a look is worth it: larger scenes are hardly ever at rest altogether
_LOOSE_TOLERANCE = 1e-4  # the largest for small problems
# Of the tolerance: the error, H v where impulses act, and what the step changes of it.
ENOUGH, STILL, BALANCED = 0.9, 0.1, 2e-3
# Of a row so much must be new to those before it, for it to count as one more that holds the body.
INDEPENDENT = 1e-3
UNKNOWN, STANDS, MOVES = 0, 1, 2
SLIPS = 2  # among contacts that were used: on the edge of its cone, by a friction that has a direction


@njit
def inner_tolerance(tol, rows):
    """What a problem with so many rows is solved to: small ones never loosely.

    There a few more digits cost less than the motions do that an error starts, which are the next steps' to stop.
    """
    return min(tol, _LOOSE_TOLERANCE) if rows <= REST_MAX_ROWS else tol


@njit(sealed=True)
def at_rest(tol, scale, laws, form, rho, v_start, v_free, b, p, change):
    """The error of the impulses p where they solve a problem of bodies at rest, else infinity.

    There change (nb, d) receives the velocities that they give the bodies.
    """
    body_a, body_b, C, length, mu = form.body_a, form.body_b, laws.C, laws.length, laws.mu
    row_ptr, semi, set_of = laws.row_ptr, laws.semi, laws.set_of
    nk, nr = len(laws.law), len(b)
    kind, times = np.empty(nk, np.int8), np.empty(nk, np.int64)
    _, plain = classify_some(np.int64(0), nk, laws, kind, times)
    if nr > REST_MAX_ROWS or not plain:
        return math.inf
    v, u, turn = np.empty(v_free.shape), np.empty(nr), np.empty(nr)
    velocity_change(False, body_a, body_b, row_ptr, form.Ja, form.Jb, form.Minv, p, change)
    for i in range(v.shape[0]):
        for j in range(v.shape[1]):
            v[i, j] = v_free[i, j] + change[i, j]
    rows_times(body_a, body_b, row_ptr, form.Ja, form.Jb, v, u)
    goal = (tol * scale) ** 2
    enough, still, balanced = ENOUGH**2 * goal, STILL**2 * goal, BALANCED**2 * goal
    stood, all_stood = np.empty(len(v_start), np.bool_), True
    for i in range(len(v_start)):
        stood[i] = True
        for j in range(v_start.shape[1]):
            stood[i] = stood[i] and v_start[i, j] == 0.0
        all_stood = all_stood and stood[i]
    if not all_stood:
        rows_times(body_a, body_b, row_ptr, form.Ja, form.Jb, v - v_start, turn)
    uk, pk = np.empty(6), np.empty(6)
    missed, motion, imbalance = 0.0, 0.0, 0.0
    for k in range(nk):
        first, n = row_ptr[k], row_ptr[k + 1] - row_ptr[k]
        acts = False
        for j in range(n):
            acts = acts or p[first + j] != 0.0
        stays = (body_a[k] < 0 or stood[body_a[k]]) and (body_b[k] < 0 or stood[body_b[k]])
        for j in range(n):
            r = first + j
            if acts:
                motion += (u[r] * length[r]) ** 2
                imbalance += 0.0 if stays else (turn[r] * length[r]) ** 2
            uk[j], pk[j] = (u[r] + b[r] + C[r] * p[r]) * length[r], p[r] / length[r]
        edge = mu[k] * semi[set_of[k], 0]
        missed += block_map(laws, k, n, edge, rho[k], first, uk, pk)
        if not (missed <= enough and motion <= still and imbalance <= balanced):
            return math.inf
    return math.sqrt(missed) / scale


class Holding(NamedTuple):
    """What holds the bodies, as far as it is known: nb bodies with d velocities each, nk blocks."""

    state: Array  # (nb,) UNKNOWN, STANDS or MOVES
    weight: Array  # (nb, d) lengths that make rows in m and in rad alike: of a body's mass, its radius of gyration
    need: Array  # (nb,) how many velocities a body can have
    rank: Array  # (nb,) how many of them its rows exclude
    basis: Array  # (nb, d, d) their orthonormal directions
    moved: Array  # (nb,) sum of squares of the velocities of its rows
    used: Array  # (nk, 2) whether a block has been counted for its bodies; SLIPS
    row: Array  # (d,) room


@njit(leaf=True)
def shut(laws, k, first, n, margin, p):
    """How many rows of a block its law keeps from moving, for all impulses within `margin` [N·s] of these.

    From the first one on; -1 for a pressed contact on the edge of its cone: it does not open, and slips along its
    friction if at all.
    """
    if laws.C[first] > 0.0:  # gives way
        return 0
    if laws.law[k] == EQUALITY:
        return n
    if laws.law[k] == BOX:
        for r in range(first, first + n):
            if not laws.lo[r] + margin < p[r] < laws.hi[r] - margin or laws.C[r] > 0.0:
                return r - first
        return n
    if not p[first] > margin:
        return 0
    edge = laws.mu[k] * laws.semi[laws.set_of[k], 0]
    if n == 1 or friction_of(first, n, p) + margin < edge * (p[first] - margin):
        return n
    return 0 if laws.associated else -1  # what slips under the associated law opens too


@njit(leaf=True)
def friction_of(first, n, p):
    """The size of a contact's friction [N·s]."""
    size = 0.0
    for r in range(first + 1, first + n):
        size += p[r] * p[r]
    return math.sqrt(size)


@njit
def direction_share(margin, normal):
    """`INDEPENDENT` of rows that take their direction from the friction of a contact.

    Impulses on the edge of a cone that balance to `margin` have directions known to its square root.
    """
    return max(INDEPENDENT, 4.0 * math.sqrt(margin / normal))


@njit(leaf=True)
def across(J, first, p, x):
    """x (d,): the row across the friction of a contact, in which one that slips does not move."""
    size = friction_of(first, 3, p)
    for j in range(J.shape[1]):
        x[j] = (p[first + 1] * J[first + 2, j] - p[first + 2] * J[first + 1, j]) / size


@njit(leaf=True)
def one_more(x, share, weight, basis, rank):
    """The rank of the rows that hold a body with row x (d,) among them; basis (d, d): their orthonormal directions.

    share: how much of the row must be new.
    """
    d = len(x)
    size, left = 0.0, 0.0
    for j in range(d):
        basis[rank, j] = x[j] * weight[j]
        size += basis[rank, j] * basis[rank, j]
    for m in range(rank):
        s = 0.0
        for j in range(d):
            s += basis[m, j] * basis[rank, j]
        for j in range(d):
            basis[rank, j] -= s * basis[m, j]
    for j in range(d):
        left += basis[rank, j] * basis[rank, j]
    if not left > share * share * size:
        return rank
    left = 1.0 / math.sqrt(left)
    for j in range(d):
        basis[rank, j] *= left
    return rank + 1


@njit(leaf=True)
def first_facts(Minv, v, holding):
    """Fill weight, need and state before any row is known: fixed bodies stand."""
    weight, need, state = holding.weight, holding.need, holding.state
    nb, d = v.shape
    shift = 2 if d == 3 else 3  # where rotations begin
    for i in range(nb):
        moving, spinning, shifts, turns = 0.0, 0.0, 0.0, 0.0
        still = True
        for j in range(d):
            if not Minv[i, j, j] > 0.0:
                still = still and v[i, j] == 0.0
            elif j < shift:
                moving, shifts = moving + Minv[i, j, j], shifts + 1.0
            else:
                spinning, turns = spinning + Minv[i, j, j], turns + 1.0
        need[i] = int(shifts + turns)
        turning = 1.0
        if shifts * turns > 0.0:
            turning = math.sqrt(spinning / turns / (moving / shifts))
        for j in range(d):
            weight[i, j] = 0.0 if Minv[i, j, j] <= 0.0 else 1.0 if j < shift else turning
        state[i] = MOVES if not still else STANDS if need[i] == 0 else UNKNOWN


@njit(leaf=True)
def last_motion(weight, basis, rank, z):
    """z (d,): the velocity that rows of rank d - 1 leave, of length one in their metric."""
    d = len(z)
    best, most = 0, -1.0
    for c in range(d):
        left = 1.0 if weight[c] > 0.0 else -1.0
        for m in range(rank):
            left -= basis[m, c] * basis[m, c]
        if left > most:
            best, most = c, left
    size = 0.0
    for j in range(d):
        z[j] = 1.0 if j == best else 0.0
        for m in range(rank):
            z[j] -= basis[m, best] * basis[m, j]
        size += z[j] * z[j]
    for j in range(d):
        z[j] *= weight[j] / math.sqrt(size)


@njit(inline=True)
def one_left(i, holding):
    """Whether the rows of body i, which is not known to stand, leave it one motion."""
    return holding.state[i] == UNKNOWN and holding.rank[i] == holding.need[i] - 1


@njit
def squeezed(margin, limit, laws, form, rho, p, v, holding):
    """How many bodies more stand since their rows leave them one motion, and friction on edges excludes it both ways.

    Where a contact on the edge of its cone slips, it slips against its friction: those of a box whose feet are pressed
    apart would have to slip in opposite directions.
    """
    Ja, Jb, body_a, body_b, row_ptr = form.Ja, form.Jb, form.body_a, form.body_b, laws.row_ptr
    state, used, moved = holding.state, holding.used, holding.moved
    nb, d = v.shape
    z, some = np.zeros((nb, d)), False
    for i in range(nb):
        if one_left(i, holding):
            some = True
            last_motion(holding.weight[i], holding.basis[i], holding.rank[i], z[i])
    if not some:
        return 0
    ways = np.zeros((nb, 2), np.bool_)
    for k in range(len(used)):
        for side in range(2):
            i = body_a[k] if side == 0 else body_b[k]
            if used[k, side] != SLIPS or not one_left(i, holding):
                continue
            J = Ja if side == 0 else Jb
            first, n = row_ptr[k], row_ptr[k + 1] - row_ptr[k]
            slip = 0.0
            for r in range(first + 1, first + n):
                along, u = 0.0, 0.0
                for l in range(d):
                    along += J[r, l] * z[i, l]
                    u += J[r, l] * v[i, l]
                slip -= p[r] * along
                moved[i] += u * u
            slip /= friction_of(first, n, p)
            share = direction_share(margin * rho[k], p[first])
            ways[i, 0] = ways[i, 0] or slip > share
            ways[i, 1] = ways[i, 1] or slip < -share
    count = 0
    for i in range(nb):
        if ways[i, 0] and ways[i, 1] and moved[i] <= limit:
            state[i] = STANDS
            count += 1
    return count


@njit(leaf=True)
def _hold(forwards, size, limit, laws, form, rho, p, v, holding):
    """One pass over the blocks, forwards or back: how many bodies more they hold.

    size: the tolerance [m/s]; limit: of the squared velocity of rows that stand.
    """
    state, rank, moved, used, x = holding.state, holding.rank, holding.moved, holding.used, holding.row
    nk, d, count = len(laws.law), v.shape[1], 0
    for m in range(nk):
        k = m if forwards else nk - 1 - m
        for side in range(2):
            i, other = (form.body_a[k], form.body_b[k]) if side == 0 else (form.body_b[k], form.body_a[k])
            if i < 0 or state[i] != UNKNOWN or used[k, side] > 0 or (other >= 0 and state[other] != STANDS):
                continue
            used[k, side] = 1
            J = form.Ja if side == 0 else form.Jb
            first, n = laws.row_ptr[k], laws.row_ptr[k + 1] - laws.row_ptr[k]
            margin = size * rho[k] * laws.length[first]  # of what is not one row, all are alike
            rows = shut(laws, k, first, n, margin, p)
            slips = rows < 0
            if slips:
                rows = 1
                if friction_of(first, n, p) > margin:
                    used[k, side] = SLIPS
                    rows = n - 1
            for j in range(rows):
                share = INDEPENDENT
                if slips and j == 1:
                    across(J, first, p, x)
                    share = direction_share(margin, p[first])
                else:
                    for l in range(d):
                        x[l] = J[first + j, l]
                u = 0.0
                for l in range(d):
                    u += x[l] * v[i, l]
                moved[i] += (u * laws.length[first + j]) ** 2
                if not moved[i] <= limit:
                    state[i] = MOVES
                    break
                rank[i] = one_more(x, share, holding.weight[i], holding.basis[i], rank[i])
                if rank[i] == holding.need[i]:
                    state[i] = STANDS
                    count += 1
                    break
    return count


@njit
def standing(tol, scale, laws, form, rho, v, p, state):
    """state (nb,): STANDS for bodies that are held, from fixed ones outwards; how many that are besides these.

    A body that moves at its rows by more than a share of the tolerance does not stand, whatever holds it: a motor turns
    it, or it is being pushed out of another.
    """
    nb, d = v.shape
    size, limit = tol * scale, (STILL * tol * scale) ** 2
    holding = Holding(
        state, np.empty((nb, d)), np.empty(nb, np.int64), np.zeros(nb, np.int64), np.empty((nb, d, d)), np.zeros(nb),
        np.zeros((len(laws.law), 2), np.int64), np.empty(d),
    )  # fmt: skip
    first_facts(form.Minv, v, holding)
    count, forwards, more = 0, True, 1
    while more > 0:
        more = _hold(forwards, size, limit, laws, form, rho, p, v, holding)
        forwards = not forwards
        if more == 0:
            more = squeezed(size, limit, laws, form, rho, p, v, holding)
        count += more
    return count


@njit(sealed=True)
def come_to_rest(tol, scale, laws, form, rho, b, p, v, held):
    """Give bodies that are held the velocity zero in v (nb, d), where impulses p and v then still meet the tolerance.

    held (nb,): which ones. Returns the error, infinity where there are none.
    """
    Ja, Jb, body_a, body_b, C = form.Ja, form.Jb, form.body_a, form.body_b, laws.C
    length, mu, row_ptr, semi, set_of = laws.length, laws.mu, laws.row_ptr, laws.semi, laws.set_of
    nk, nr = len(laws.law), len(b)
    for i in range(len(held)):
        held[i] = False
    if nr > REST_MAX_ROWS:
        return math.inf
    kind, times = np.empty(nk, np.int8), np.empty(nk, np.int64)
    _, plain = classify_some(np.int64(0), nk, laws, kind, times)
    if not plain:
        return math.inf
    state = np.empty(len(held), np.int64)
    if not standing(tol, scale, laws, form, rho, v, p, state):
        return math.inf
    enough = (ENOUGH * tol * scale) ** 2
    uk, pk = np.empty(6), np.empty(6)
    missed = 0.0
    for k in range(nk):
        first, n = row_ptr[k], row_ptr[k + 1] - row_ptr[k]
        a, c = body_a[k], body_b[k]
        for r in range(first, first + n):
            u = 0.0
            if a >= 0 and state[a] != STANDS:
                for j in range(v.shape[1]):
                    u += Ja[r, j] * v[a, j]
            if c >= 0 and state[c] != STANDS:
                for j in range(v.shape[1]):
                    u += Jb[r, j] * v[c, j]
            uk[r - first], pk[r - first] = (u + b[r] + C[r] * p[r]) * length[r], p[r] / length[r]
        edge = mu[k] * semi[set_of[k], 0]
        missed += block_map(laws, k, n, edge, rho[k], first, uk, pk)
    if not missed <= enough:
        return math.inf
    for i in range(v.shape[0]):
        if state[i] == STANDS:
            held[i] = True
            for j in range(v.shape[1]):
                v[i, j] = 0.0
    return math.sqrt(missed) / scale
