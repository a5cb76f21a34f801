"""Many Anitescu–Hart steps of bodies in the plane in one compiled call; see `loop_space`."""

from __future__ import annotations

import math

import numpy as np

from .._jit import njit
from ..collision.aabbs import aabbs2
from ..collision.features import evaluate2
from ..collision.narrow2 import find2
from ..collision.neighbours import neighbours
from ..solvers.nsgs_ends import QUICK_FEW, QUICK_MANY, QUICK_ROWS, SOLVED
from ..systems.kernels2 import contact_rows, joint_rows
from ..systems.mechanism_kernels import violation
from ..systems.motion_kernels import fastest
from .loop_stages import blocks_of, demand_of, remembered, respond, solve_planar, solve_planar_nested, within

CODES = 1 << 22  # as in systems.model


@njit
def poses(q, x, angle):
    """Positions (nb, 2) and angles (nb,)."""
    for i in range(q.shape[0]):
        x[i, 0], x[i, 1], angle[i] = q[i, 0], q[i, 1], q[i, 2]


@njit
def find(x, angle, band, room, kept, kind, body, vert_ptr, verts, radius, group, mask, moves, excluded):
    """Contacts within `band`, sorted by key: their bodies, shapes, codes and features; and the pairs to keep."""
    ns = len(kind)
    lo, hi, planes = np.empty((ns, 2)), np.empty((ns, 2)), np.empty((ns, 3))
    aabbs2(x, angle, kind, body, vert_ptr, verts, radius, band, lo, hi, planes)
    near, kept = neighbours(lo, hi, planes, kind, body, group, mask, moves, excluded, band, kept, False)
    while True:
        sa, sb, code, type = (
            np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64),
        )  # fmt: skip
        pa, da, pb, db = np.empty((room, 2)), np.empty((room, 2)), np.empty((room, 2)), np.empty((room, 2))
        ra, rb = np.empty(room), np.empty(room)
        count = find2(
            x, angle, kind, body, vert_ptr, verts, radius, near, band, sa, sb, code, type, pa, da, pb, db, ra, rb
        )
        if count <= room:
            break
        room = int(1.5 * count)
    a, b = np.empty(count, np.int64), np.empty(count, np.int64)
    for k in range(count):
        a[k], b[k] = body[sa[k]], body[sb[k]]
    return (
        kept, a, b, sa[:count], sb[:count], code[:count], type[:count], pa[:count], da[:count], pb[:count], db[:count],
        ra[:count], rb[:count],
    )  # fmt: skip


@njit
def deepest(x, angle, a, b, type, pa, da, pb, db, ra, rb):
    """The deepest overlap of features [m]."""
    n = len(a)
    gap, normal, point_a, point_b = np.empty(n), np.empty((n, 2)), np.empty((n, 2)), np.empty((n, 2))
    evaluate2(x, angle, a, b, type, pa, da, pb, db, ra, rb, gap, normal, point_a, point_b)
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
    value, Ja, Jb = np.empty(n), np.empty((n, 3)), np.empty((n, 3))
    joint_rows(
        q, turns, joint_kind, joint_a, joint_b, joint_pa, joint_pb, joint_ua, joint_ub, rest, scale, turn_of,
        weight, turn_a, turn_b, turn_u, turn_e, turn_n, 0, value, Ja, Jb,
    )  # fmt: skip
    return violation(value, mode, soft)


def _make_advance(nested):
    @njit
    def advance(
        steps, h, tol, parallel, accelerate, omega, stabilize, associated, eps, room, q, turns, v, old_keys, old, kept,
        worst, inverse, Minv, moves, kinematic, force, reach, kind, body, group, mask, excluded, vert_ptr, verts,
        radius, material, by_material, pair, by_pair, law_rows, law_codes, law_axis, law_side, lever, law_set, law_mu,
        shape, semi, vertices, vertex_ptr, facets, facet_ptr, joint_size, joint_bodies, joint_law, joint_bound,
        joint_kind, joint_a, joint_b, joint_pa, joint_pb, joint_ua, joint_ub, rest, scale, turn_of, weight, turn_a,
        turn_b, turn_u, turn_e, turn_n, mode, soft, damping, bound, target,
    ):  # fmt: skip
        """Up to `steps` steps from q, v (nb, 3), both changed in place; otherwise as `loop_space.advance`.

        turns (nt,): differences of angles at the start of a run, which stay. Bodies that no force moves have no inverse
        mass: their velocity stays and takes them along.
        """
        nb = q.shape[0]
        x, angle = np.empty((nb, 2)), np.empty(nb)
        v_free, q_free, dq, new_v = np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3))
        total = 0
        for step in range(steps):
            for i in range(nb):
                for j in range(3):
                    v_free[i, j] = v[i, j] + h * (force[i, j] * inverse[i, j])
                    q_free[i, j] = q[i, j] + h * v_free[i, j]
            band = max(2.0 * h * fastest(v, v_free, reach, 2), max(eps, 0.0))
            poses(q, x, angle)
            kept, fa, fb, sa, sb, code, type, pa, da, pb, db, ra, rb = find(
                x, angle, band, room, kept, kind, body, vert_ptr, verts, radius, group, mask, moves, excluded
            )
            n = len(fa)
            room = max(room, n)
            gap, normal, point_a, point_b = np.empty(n), np.empty((n, 2)), np.empty((n, 2)), np.empty((n, 2))
            evaluate2(x, angle, fa, fb, type, pa, da, pb, db, ra, rb, gap, normal, point_a, point_b)
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
                    for j in range(2):
                        normal[i, j], point_a[i, j], point_b[i, j] = normal[k, j], point_a[k, j], point_b[k, j]
            value, p, length = np.zeros(nr), np.empty(nr), np.ones(nr)
            Ja, Jb = np.empty((nr, 3)), np.empty((nr, 3))
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
                    ended, sweeps, error = solve_planar_nested(*problem)
                else:
                    ended, sweeps, error = solve_planar(*problem)
                if ended != SOLVED:
                    return step, total, old_keys, old, kept
                total += sweeps
            if not respond(a, b, row_ptr, Ja, Jb, Minv, p, v_free, h, new_v, dq):
                return step, total, old_keys, old, kept
            for i in range(nb):
                for j in range(3):
                    q[i, j] = q_free[i, j] + dq[i, j]
                    v[i, j] = new_v[i, j]
            old_keys = keys
            old = np.zeros((nk, 6))
            for k in range(nk):
                for r in range(row_ptr[k], row_ptr[k + 1]):
                    old[k, r - row_ptr[k]] = p[r]
            poses(q, x, angle)
            if 2.0 * h * fastest(v, v, reach, 2) > band:  # others may have been reached
                kept, fa, fb, sa, sb, code, type, pa, da, pb, db, ra, rb = find(
                    x, angle, 0.0, room, kept, kind, body, vert_ptr, verts, radius, group, mask, moves, excluded
                )
            depth = deepest(x, angle, fa, fb, type, pa, da, pb, db, ra, rb)
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
