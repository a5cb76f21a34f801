"""Many Anitescu–Hart steps of bodies in space in one compiled call."""

from __future__ import annotations

import math

import numpy as np

from .._jit import njit
from ..collision.aabbs import aabbs3
from ..collision.features import evaluate3
from ..collision.narrow3 import FEATURES, find3, find3_parallel
from ..collision.neighbours import neighbours
from ..solvers.nsgs_ends import QUICK_FEW, QUICK_MANY, QUICK_ROWS, SOLVED
from ..systems.contacts3 import contact_rows
from ..systems.kernels3 import count_turns, free_motion, joint_rows, mass_blocks, retract, rotations
from ..systems.mechanism_kernels import violation
from ..systems.motion_kernels import fastest
from .loop_stages import blocks_of, demand_of, remembered, respond, solve_spatial, solve_spatial_nested, within

CODES = 1 << 22  # as in systems.model
MANY = 10_000  # pairs from which threads share the narrow phase


@njit
def find(q, R, band, room, parallel, kept, kind, body, center, rot, half, radius, group, mask, moves, excluded):
    """Contacts within `band`, sorted by key: their bodies, shapes, codes and features; and the pairs to keep."""
    ns, nb = len(kind), q.shape[0]
    x = np.empty((nb, 3))
    for i in range(nb):
        x[i, 0], x[i, 1], x[i, 2] = q[i, 0], q[i, 1], q[i, 2]
    lo, hi, planes = np.empty((ns, 3)), np.empty((ns, 3)), np.empty((ns, 4))
    aabbs3(x, R, kind, body, center, rot, half, radius, band, lo, hi, planes)
    near, kept = neighbours(lo, hi, planes, kind, body, group, mask, moves, excluded, band, kept, parallel)
    parallel = parallel and len(near) > MANY
    if parallel:
        room = len(near) * (FEATURES if half.any() else 1)  # spheres touch in a point
    while True:
        sa, sb, code, type = (
            np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64),
        )  # fmt: skip
        pa, da, pb, db = np.empty((room, 3)), np.empty((room, 3)), np.empty((room, 3)), np.empty((room, 3))
        ra, rb = np.empty(room), np.empty(room)
        if parallel:
            count = find3_parallel(
                x, R, kind, body, center, rot, half, radius, near, band, sa, sb, code, type, pa, da, pb, db, ra, rb
            )
        else:
            count = find3(
                x, R, kind, body, center, rot, half, radius, near, band, sa, sb, code, type, pa, da, pb, db, ra, rb
            )
        if count <= room:
            break
        room = int(1.5 * count)
    a, b = np.empty(count, np.int64), np.empty(count, np.int64)
    for k in range(count):
        a[k], b[k] = body[sa[k]], body[sb[k]]
    return (
        kept, x, a, b, sa[:count], sb[:count], code[:count], type[:count], pa[:count], da[:count], pb[:count],
        db[:count], ra[:count], rb[:count],
    )  # fmt: skip


@njit
def deepest(q, x, R, a, b, type, pa, da, pb, db, ra, rb):
    """The deepest overlap of features at configuration q [m]; x and R are overwritten."""
    n = len(a)
    for i in range(q.shape[0]):
        x[i, 0], x[i, 1], x[i, 2] = q[i, 0], q[i, 1], q[i, 2]
    rotations(q, R)
    gap, normal, point_a, point_b = np.empty(n), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3))
    evaluate3(x, R, a, b, type, pa, da, pb, db, ra, rb, gap, normal, point_a, point_b)
    least = 0.0
    for k in range(n):
        least = min(least, gap[k])
    return -least


@njit
def drift(
    q, turns, joint_kind, joint_a, joint_b, joint_pa, joint_pb, joint_ua, joint_ub, rest, scale, turn_of,
    weight, turn_a, turn_b, turn_u, turn_e, turn_n, mode, soft,
):  # fmt: skip
    """The largest violation of a joint's row or limit."""
    n = len(joint_kind)
    value, Ja, Jb = np.empty(n), np.empty((n, 6)), np.empty((n, 6))
    joint_rows(
        q, turns, joint_kind, joint_a, joint_b, joint_pa, joint_pb, joint_ua, joint_ub, rest, scale, turn_of,
        weight, turn_a, turn_b, turn_u, turn_e, turn_n, 0, value, Ja, Jb,
    )  # fmt: skip
    return violation(value, mode, soft)


def _make_advance(nested):
    @njit
    def advance(
        steps, h, tol, parallel, accelerate, omega, stabilize, associated, eps, room, q, turns, v, old_keys, old, kept,
        worst, mass, inertia, inverse_mass, inverse_inertia, moves, kinematic, force, reach, kind, body, group, mask,
        excluded, center, rot, half, radius, material, by_material, pair, by_pair, law_rows, law_codes, law_axis,
        law_side, lever, law_set, law_mu, shape, semi, vertices, vertex_ptr, facets, facet_ptr, joint_size,
        joint_bodies, joint_law, joint_bound, joint_kind, joint_a, joint_b, joint_pa, joint_pb, joint_ua, joint_ub,
        rest, scale, turn_of, weight, turn_a, turn_b, turn_u, turn_e, turn_n, mode, soft, damping, bound, target,
    ):  # fmt: skip
        """Up to `steps` steps from q (nb, 7), turns (nt,), v (nb, 6), with the last step's keys and impulses.

        q, turns and v are changed in place.

        Stops before a step whose problem is not solved to `tol` within the sweeps of a first attempt. eps < 0: all
        contacts in the band act. worst (4,): the largest error, penetration and joint drift so far, and the most
        contacts. Returns the number of steps, the sweeps of all, and the keys and impulses of the last.
        """
        nb = q.shape[0]
        R, Minv = np.empty((nb, 3, 3)), np.empty((nb, 6, 6))
        v_free, q_free, moved, dq = np.empty((nb, 6)), np.empty((nb, 7)), np.empty((nb, 7)), np.empty((nb, 6))
        new_q, new_v, turns_free = np.empty((nb, 7)), np.empty((nb, 6)), np.empty(len(turns))
        total = 0
        for step in range(steps):
            free_motion(q, v, force, mass, inertia, moves, h, v_free, q_free)
            if len(kinematic):
                for i in range(nb):
                    for j in range(6):
                        dq[i, j] = h * v[i, j]
                retract(q, dq, moved)
                for m in range(len(kinematic)):
                    for j in range(7):
                        q_free[kinematic[m], j] = moved[kinematic[m], j]
            if len(turns):
                for i in range(nb):
                    for j in range(6):
                        dq[i, j] = h * v_free[i, j]
                count_turns(q_free, dq, turn_a, turn_b, turn_u, turn_e, turn_n, turns, turns_free)
            band = max(2.0 * h * fastest(v, v_free, reach, 3), max(eps, 0.0))
            rotations(q, R)
            kept, x, fa, fb, sa, sb, code, type, pa, da, pb, db, ra, rb = find(
                q, R, band, room, parallel, kept, kind, body, center, rot, half, radius, group, mask, moves, excluded
            )
            n = len(fa)
            room = max(room, n)
            gap, normal, point_a, point_b = np.empty(n), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3))
            evaluate3(x, R, fa, fb, type, pa, da, pb, db, ra, rb, gap, normal, point_a, point_b)
            key, keep = np.empty(n, np.int64), np.empty(n, np.int64)
            for k in range(n):
                key[k] = (sa[k] * len(kind) + sb[k]) * CODES + code[k]
            acting = within(gap, eps if eps >= 0.0 else math.inf, keep)
            keys, law, row_ptr, set_of, mu, a, b, number = blocks_of(
                acting, keep, key, sa, sb, fa, fb, joint_size, joint_bodies, joint_law, material, by_material, pair,
                by_pair, nb, law_rows, law_set, law_mu,
            )  # fmt: skip
            nk, nj = len(keys), len(joint_size)
            nr = row_ptr[nk]
            if acting < n:
                for i in range(acting):
                    k = keep[i]
                    gap[i] = gap[k]
                    for j in range(3):
                        normal[i, j], point_a[i, j], point_b[i, j] = normal[k, j], point_a[k, j], point_b[k, j]
            value, p, length = np.zeros(nr), np.empty(nr), np.ones(nr)
            Ja, Jb = np.empty((nr, 6)), np.empty((nr, 6))
            joint_rows(
                q, turns, joint_kind, joint_a, joint_b, joint_pa, joint_pb, joint_ua, joint_ub, rest,
                scale, turn_of, weight, turn_a, turn_b, turn_u, turn_e, turn_n, 0, value, Ja, Jb,
            )  # fmt: skip
            contact_rows(
                q, a[nj:], b[nj:], normal, point_a, point_b, row_ptr, nj, number, law_codes, law_axis, law_side, lever,
                Ja, Jb, length,
            )  # fmt: skip
            for i in range(acting):
                value[row_ptr[nj + i]] = gap[i]
            mass_blocks(R, inverse_mass, inverse_inertia, moves, Minv)
            r0, demand, C, lo, hi = demand_of(
                h, stabilize, value, a, b, row_ptr, Ja, Jb, Minv, v, joint_bound, mode, soft, damping, bound, target
            )
            remembered(keys, row_ptr, old_keys, old, p)
            error = 0.0
            limit = QUICK_FEW if nr <= QUICK_ROWS else QUICK_MANY
            if nr:
                problem = (
                    tol, limit, parallel, accelerate, omega, associated, law, row_ptr, set_of, mu, shape, semi,
                    vertices, vertex_ptr, facets, facet_ptr, a, b, Ja, Jb, Minv, v, v_free, r0, demand, C, lo, hi,
                    length, p,
                )  # fmt: skip
                if nested:
                    ended, sweeps, error = solve_spatial_nested(*problem)
                else:
                    ended, sweeps, error = solve_spatial(*problem)
                if ended != SOLVED:
                    return step, total, old_keys, old, kept
                total += sweeps
            if not respond(a, b, row_ptr, Ja, Jb, Minv, p, v_free, h, new_v, dq):
                return step, total, old_keys, old, kept
            retract(q_free, dq, new_q)
            if len(turns):
                count_turns(new_q, dq, turn_a, turn_b, turn_u, turn_e, turn_n, turns_free, turns)
            for i in range(nb):
                for j in range(7):
                    q[i, j] = new_q[i, j]
                for j in range(6):
                    v[i, j] = new_v[i, j]
            old_keys = keys
            old = np.zeros((nk, 6))
            for k in range(nk):
                for r in range(row_ptr[k], row_ptr[k + 1]):
                    old[k, r - row_ptr[k]] = p[r]
            depth = deepest(q, x, R, fa, fb, type, pa, da, pb, db, ra, rb)
            if 2.0 * h * fastest(v, v, reach, 3) > band:  # others may have been reached
                kept, x, fa, fb, sa, sb, code, type, pa, da, pb, db, ra, rb = find(
                    q, R, 0.0, room, parallel, kept, kind, body, center, rot, half, radius, group, mask, moves, excluded
                )
                depth = deepest(q, x, R, fa, fb, type, pa, da, pb, db, ra, rb)
            worst[0], worst[1], worst[3] = max(worst[0], error), max(worst[1], depth), max(worst[3], float(acting))
            if nj:
                left = drift(
                    q, turns, joint_kind, joint_a, joint_b, joint_pa, joint_pb, joint_ua, joint_ub, rest,
                    scale, turn_of, weight, turn_a, turn_b, turn_u, turn_e, turn_n, mode, soft,
                )  # fmt: skip
                worst[2] = max(worst[2], left)
        return steps, total, old_keys, old, kept

    return advance


advance, advance_nested = _make_advance(0), _make_advance(1)
