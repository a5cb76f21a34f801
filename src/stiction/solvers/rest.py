"""Bodies at rest: first guesses that are solutions already, and bodies that the laws hold, which get the velocity zero.

`at_rest`, before anything is prepared or swept: whether the first guess, the impulses of the last step, solves the
problem. Overlaps within the tolerance may stay, and so may a motion far below it. Impulses that do not balance the
forces must not pass, such as those that have just stopped a motion: they would start the next one. Bodies that begin
the step with the velocity zero are those that the laws held in the last one, and are not started by such impulses.

`come_to_rest`, after a solve: the velocity zero for bodies that the laws hold, where it meets the tolerance. Where
impulses lie strictly inside what a law allows, the law says that the rows do not move: joints, contacts inside their
friction cone, limits and motors inside their bounds; a contact on the edge of its cone still does not open, and slips
against its friction if at all. A body *stands* when such rows against bodies that stand leave it no velocity but zero.
No speed is compared with a threshold to find them: a block at its friction angle, a ball that can roll and a pendulum
at its turning point never stand.
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
from .gauss_seidel.sweep_list import classify_range


class RestParameters(NamedTuple):
    """When bodies are at rest. Shares are of the tolerance, unless said otherwise."""

    max_rows: int = 3000
    """Size of problems up to which rest is tested: larger scenes are hardly ever at rest altogether."""
    loose_tolerance: float = 1e-4
    """The largest tolerance to which they are solved: a few more digits cost less than the motions that an error starts
    and the next steps have to stop."""
    error_share: float = 0.9
    """The largest error, overlaps included."""
    motion_share: float = 0.1
    """The largest velocity of rows where impulses act: what moves more is turned by a motor, or pushed out of another
    body."""
    imbalance_share: float = 2e-3
    """The largest change of that velocity by the step: impulses that do not balance the forces, such as those that have
    just stopped a motion, would start the next one."""
    independent_share: float = 1e-3
    """Share of a row that must be independent of those before it, for it to count as one more that holds the body."""


REST = RestParameters()
UNKNOWN, STANDS, MOVES = 0, 1, 2  # states of a body
SLIPPING = 2  # in `Restraint.used`: a contact on the edge of its cone, whose friction has a direction


@njit
def inner_tolerance(tol, rows):
    """The tolerance to which a problem with `rows` rows is solved: small ones never loosely.

    There a few more digits cost less than the motions that an error starts and the next steps have to stop.
    """
    return min(tol, REST.loose_tolerance) if rows <= REST.max_rows else tol


@njit(sealed=True)
def at_rest(tol, scale, laws, body_rows, rho, v_start, v_free, b, p, change):
    """The error of the impulses p if they solve a problem of bodies at rest, else infinity.

    change (nb, d) receives the velocities that they give the bodies.
    """
    body_a, body_b, C, length, mu = body_rows.body_a, body_rows.body_b, laws.C, laws.length, laws.mu
    row_ptr, semi, set_of = laws.row_ptr, laws.semi, laws.set_of
    nk, nr = len(laws.law), len(b)
    kind, entry_count = np.empty(nk, np.int8), np.empty(nk, np.int64)
    _, round_cones = classify_range(np.int64(0), nk, laws, kind, entry_count)
    if nr > REST.max_rows or not round_cones:
        return math.inf
    v, u, turn = np.empty(v_free.shape), np.empty(nr), np.empty(nr)
    velocity_change(False, body_a, body_b, row_ptr, body_rows.Ja, body_rows.Jb, body_rows.Minv, p, change)
    for i in range(v.shape[0]):
        for j in range(v.shape[1]):
            v[i, j] = v_free[i, j] + change[i, j]
    rows_times(body_a, body_b, row_ptr, body_rows.Ja, body_rows.Jb, v, u)
    goal = (tol * scale) ** 2
    error2_limit, motion_limit, imbalance_limit = (
        REST.error_share**2 * goal,
        REST.motion_share**2 * goal,
        REST.imbalance_share**2 * goal,
    )
    stood, all_stood = np.empty(len(v_start), np.bool_), True
    for i in range(len(v_start)):
        stood[i] = True
        for j in range(v_start.shape[1]):
            stood[i] = stood[i] and v_start[i, j] == 0.0
        all_stood = all_stood and stood[i]
    if not all_stood:
        rows_times(body_a, body_b, row_ptr, body_rows.Ja, body_rows.Jb, v - v_start, turn)
    uk, pk = np.empty(6), np.empty(6)
    error2, motion, imbalance = 0.0, 0.0, 0.0
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
        error2 += block_map(laws, k, n, edge, rho[k], first, uk, pk)
        if not (error2 <= error2_limit and motion <= motion_limit and imbalance <= imbalance_limit):
            return math.inf
    return math.sqrt(error2) / scale


class Restraint(NamedTuple):
    """The rows that hold the bodies: nb bodies with d velocities each, nk blocks."""

    state: Array  # (nb,) UNKNOWN, STANDS or MOVES
    weight: Array  # (nb, d) units that make rows in m and rad comparable: 1 and the radius of gyration
    freedoms: Array  # (nb,) number of velocities that a body can have
    rank: Array  # (nb,) number of them that its rows exclude
    basis: Array  # (nb, d, d) the orthonormal directions of these rows
    row_motion: Array  # (nb,) sum of squares of the velocities of its rows
    used: Array  # (nk, 2) whether a block has been counted for its bodies; SLIPPING
    row: Array  # (d,) workspace


@njit(leaf=True)
def rows_fixed_by_law(laws, k, first, n, margin, p):
    """The number of rows of a block, from the first, that its law keeps from moving.

    It does so for all impulses within `margin` [N·s] of p. -1 for a pressed contact on the edge of its cone: it does
    not open, and slips along its friction if at all.
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
    if n == 1 or friction_size(first, n, p) + margin < edge * (p[first] - margin):
        return n
    return 0 if laws.associated else -1  # what slips under the associated law opens too


@njit(leaf=True)
def friction_size(first, n, p):
    """The size of a contact's friction [N·s]."""
    size = 0.0
    for r in range(first + 1, first + n):
        size += p[r] * p[r]
    return math.sqrt(size)


@njit
def direction_independence(margin, normal):
    """`REST.independent_share` for rows that take their direction from the friction of a contact.

    Impulses on the edge of a cone that balance to `margin` have directions known to its square root.
    """
    return max(REST.independent_share, 4.0 * math.sqrt(margin / normal))


@njit(leaf=True)
def row_across_friction(J, first, p, x):
    """Set x (d,) to the row across the friction of a contact, along which a slipping contact does not move."""
    size = friction_size(first, 3, p)
    for j in range(J.shape[1]):
        x[j] = (p[first + 1] * J[first + 2, j] - p[first + 2] * J[first + 1, j]) / size


@njit(leaf=True)
def extend_basis(x, independence, weight, basis, rank):
    """Add row x (d,) to the orthonormal basis (d, d) of the rows that hold a body; returns their rank.

    independence: the share of the row that must be independent of the others.
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
    if not left > independence * independence * size:
        return rank
    left = 1.0 / math.sqrt(left)
    for j in range(d):
        basis[rank, j] *= left
    return rank + 1


@njit(leaf=True)
def start_restraint(Minv, v, restraint):
    """Set weight, freedoms and state of the bodies before any row is counted: fixed bodies stand."""
    weight, freedoms, state = restraint.weight, restraint.freedoms, restraint.state
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
        freedoms[i] = int(shifts + turns)
        turning = 1.0
        if shifts * turns > 0.0:
            turning = math.sqrt(spinning / turns / (moving / shifts))
        for j in range(d):
            weight[i, j] = 0.0 if Minv[i, j, j] <= 0.0 else 1.0 if j < shift else turning
        state[i] = MOVES if not still else STANDS if freedoms[i] == 0 else UNKNOWN


@njit(leaf=True)
def remaining_motion(weight, basis, rank, z):
    """Set z (d,) to the velocity that rows of rank d - 1 leave, of length one in their metric."""
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
def has_one_motion_left(i, restraint):
    """Whether body i does not stand yet and its rows leave it one motion."""
    return restraint.state[i] == UNKNOWN and restraint.rank[i] == restraint.freedoms[i] - 1


@njit
def blocked_both_ways(margin, limit, laws, body_rows, rho, p, v, restraint):
    """The number of bodies that stand since their rows leave them one motion, which friction excludes both ways.

    Where a contact on the edge of its cone slips, it slips against its friction: those of a box whose feet are pressed
    apart would have to slip in opposite directions.
    """
    Ja, Jb, body_a, body_b, row_ptr = body_rows.Ja, body_rows.Jb, body_rows.body_a, body_rows.body_b, laws.row_ptr
    state, used, row_motion = restraint.state, restraint.used, restraint.row_motion
    nb, d = v.shape
    z, any_left = np.zeros((nb, d)), False
    for i in range(nb):
        if has_one_motion_left(i, restraint):
            any_left = True
            remaining_motion(restraint.weight[i], restraint.basis[i], restraint.rank[i], z[i])
    if not any_left:
        return 0
    excluded = np.zeros((nb, 2), np.bool_)
    for k in range(len(used)):
        for side in range(2):
            i = body_a[k] if side == 0 else body_b[k]
            if used[k, side] != SLIPPING or not has_one_motion_left(i, restraint):
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
                row_motion[i] += u * u
            slip /= friction_size(first, n, p)
            independence = direction_independence(margin * rho[k], p[first])
            excluded[i, 0] = excluded[i, 0] or slip > independence
            excluded[i, 1] = excluded[i, 1] or slip < -independence
    count = 0
    for i in range(nb):
        if excluded[i, 0] and excluded[i, 1] and row_motion[i] <= limit:
            state[i] = STANDS
            count += 1
    return count


@njit(leaf=True)
def _restrain(forwards, size, limit, laws, body_rows, rho, p, v, restraint):
    """Pass over the blocks once, forwards or back; returns the number of bodies that they make stand.

    size: the tolerance [m/s]; limit: the largest squared velocity of the rows of a body that stands.
    """
    state, rank, row_motion, used, x = (
        restraint.state,
        restraint.rank,
        restraint.row_motion,
        restraint.used,
        restraint.row,
    )
    nk, d, count = len(laws.law), v.shape[1], 0
    for m in range(nk):
        k = m if forwards else nk - 1 - m
        for side in range(2):
            i, other = (
                (body_rows.body_a[k], body_rows.body_b[k]) if side == 0 else (body_rows.body_b[k], body_rows.body_a[k])
            )
            if i < 0 or state[i] != UNKNOWN or used[k, side] > 0 or (other >= 0 and state[other] != STANDS):
                continue
            used[k, side] = 1
            J = body_rows.Ja if side == 0 else body_rows.Jb
            first, n = laws.row_ptr[k], laws.row_ptr[k + 1] - laws.row_ptr[k]
            margin = size * rho[k] * laws.length[first]  # of what is not one row, all are alike
            rows = rows_fixed_by_law(laws, k, first, n, margin, p)
            slips = rows < 0
            if slips:
                rows = 1
                if friction_size(first, n, p) > margin:
                    used[k, side] = SLIPPING
                    rows = n - 1
            for j in range(rows):
                independence = REST.independent_share
                if slips and j == 1:
                    row_across_friction(J, first, p, x)
                    independence = direction_independence(margin, p[first])
                else:
                    for l in range(d):
                        x[l] = J[first + j, l]
                u = 0.0
                for l in range(d):
                    u += x[l] * v[i, l]
                row_motion[i] += (u * laws.length[first + j]) ** 2
                if not row_motion[i] <= limit:
                    state[i] = MOVES
                    break
                rank[i] = extend_basis(x, independence, restraint.weight[i], restraint.basis[i], rank[i])
                if rank[i] == restraint.freedoms[i]:
                    state[i] = STANDS
                    count += 1
                    break
    return count


@njit
def find_standing_bodies(tol, scale, laws, body_rows, rho, v, p, state):
    """Set state (nb,) to STANDS for bodies that are held, from fixed ones outwards; returns their number.

    A body whose rows move by more than a share of the tolerance does not stand, whatever holds it: a motor turns it, or
    it is being pushed out of another.
    """
    nb, d = v.shape
    size, limit = tol * scale, (REST.motion_share * tol * scale) ** 2
    restraint = Restraint(
        state, np.empty((nb, d)), np.empty(nb, np.int64), np.zeros(nb, np.int64), np.empty((nb, d, d)), np.zeros(nb),
        np.zeros((len(laws.law), 2), np.int64), np.empty(d),
    )  # fmt: skip
    start_restraint(body_rows.Minv, v, restraint)
    count, forwards, more = 0, True, 1
    while more > 0:
        more = _restrain(forwards, size, limit, laws, body_rows, rho, p, v, restraint)
        forwards = not forwards
        if more == 0:
            more = blocked_both_ways(size, limit, laws, body_rows, rho, p, v, restraint)
        count += more
    return count


@njit(sealed=True)
def come_to_rest(tol, scale, laws, body_rows, rho, b, p, v, resting):
    """Set v (nb, d) of bodies that the laws hold to zero, where impulses p and v then still meet the tolerance.

    resting (nb,) receives which bodies these are. Returns the error, infinity where there are none.
    """
    Ja, Jb, body_a, body_b, C = body_rows.Ja, body_rows.Jb, body_rows.body_a, body_rows.body_b, laws.C
    length, mu, row_ptr, semi, set_of = laws.length, laws.mu, laws.row_ptr, laws.semi, laws.set_of
    nk, nr = len(laws.law), len(b)
    for i in range(len(resting)):
        resting[i] = False
    if nr > REST.max_rows:
        return math.inf
    kind, entry_count = np.empty(nk, np.int8), np.empty(nk, np.int64)
    _, round_cones = classify_range(np.int64(0), nk, laws, kind, entry_count)
    if not round_cones:
        return math.inf
    state = np.empty(len(resting), np.int64)
    if not find_standing_bodies(tol, scale, laws, body_rows, rho, v, p, state):
        return math.inf
    error2_limit = (REST.error_share * tol * scale) ** 2
    uk, pk = np.empty(6), np.empty(6)
    error2 = 0.0
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
        error2 += block_map(laws, k, n, edge, rho[k], first, uk, pk)
    if not error2 <= error2_limit:
        return math.inf
    for i in range(v.shape[0]):
        if state[i] == STANDS:
            resting[i] = True
            for j in range(v.shape[1]):
                v[i, j] = 0.0
    return math.sqrt(error2) / scale
