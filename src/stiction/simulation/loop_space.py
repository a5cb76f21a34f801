"""Many Anitescu–Hart steps of bodies in space in one compiled call."""

from __future__ import annotations

import numpy as np

from .._jit import njit
from ..collision.aabbs import aabbs3
from ..collision.features import evaluate3
from ..collision.narrow3 import FEATURES, find3, find3_parallel
from ..collision.neighbours import neighbours
from ..solvers.nsgs_ends import SOLVED
from ..systems.kernels3 import count_turns, free_motion, joint_rows, mass_blocks, retract, rotations
from ..systems.mechanism_kernels import violation
from ..systems.motion_kernels import fastest
from .loop_stages import as_before, attempt_spatial, attempt_spatial_nested, overlap, stay, take_over

MANY = 10_000  # pairs from which threads share the narrow phase


@njit
def find(q, R, band, room, parallel, kept, shapes, moves):
    """The pairs to keep, positions (nb, 3), and contacts within `band`, sorted by key.

    Of these their bodies, shapes, codes and features.
    """
    kind, body, group, mask, excluded, center, rot, half, radius = shapes
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
    found = (
        a, b, sa[:count], sb[:count], code[:count], type[:count], pa[:count], da[:count], pb[:count], db[:count],
        ra[:count], rb[:count],
    )  # fmt: skip
    return kept, x, found


@njit
def deepest(q, x, R, found):
    """The deepest overlap of features at configuration q [m]; x and R are overwritten."""
    a, b, _, _, _, type, pa, da, pb, db, ra, rb = found
    n = len(a)
    for i in range(q.shape[0]):
        x[i, 0], x[i, 1], x[i, 2] = q[i, 0], q[i, 1], q[i, 2]
    rotations(q, R)
    gap, normal, point_a, point_b = np.empty(n), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3))
    evaluate3(x, R, a, b, type, pa, da, pb, db, ra, rb, gap, normal, point_a, point_b)
    return overlap(gap)


@njit
def drift(q, turns, rows, mode, soft):
    """The largest violation of a joint's row or limit."""
    n = len(rows[0])
    value, Ja, Jb = np.empty(n), np.empty((n, 6)), np.empty((n, 6))
    joint_rows(q, turns, *rows, 0, value, Ja, Jb)
    return violation(value, mode, soft)


def _make_advance(nested):
    @njit(nogil=True)
    def advance(
        steps, how, room, q, turns, v, old_keys, old, kept, worst, bodies, shapes, laws, sets, joints, rows,
    ):  # fmt: skip
        """Up to `steps` > 0 steps from q (nb, 7), turns (nt,), v (nb, 6), with the last step's keys and impulses.

        q, turns and v are changed in place. how: h, tol, parallel, accelerate, omega, stabilize, associated, eps, which
        is negative where all contacts in the band act, and whether to repeat; the other tuples are those of
        `CompiledLoop`. Where a step ends in the very state from which it began, so will all others, and to repeat is to
        count them without computing them.

        Stops before a step whose problem is not solved to `tol` within the sweeps of a first attempt. worst (4,): the
        largest error, penetration and joint drift so far, and the most contacts. Returns the number of steps, the keys
        and impulses of the last, the pairs to keep, and of the last attempt: the band in which contacts were looked
        for, the sweeps, v_free, M⁻¹, the contacts found, the problem; and q, turns, v, keys, impulses, worst before it.
        Last, of a step that repeats itself, its own share of `worst`; empty where it does not.
        """
        h, _, parallel, _, _, _, _, eps, repeat = how
        mass, inertia, inverse_mass, inverse_inertia, moves, kinematic, force, reach = bodies
        turned = rows[-5:]
        nb = q.shape[0]
        R, Minv = np.empty((nb, 3, 3)), np.empty((nb, 6, 6))
        v_free, q_free, moved, dq = np.empty((nb, 6)), np.empty((nb, 7)), np.empty((nb, 7)), np.empty((nb, 6))
        new_q, new_v, turns_free = np.empty((nb, 7)), np.empty((nb, 6)), np.empty(len(turns))
        new_turns, held, own, none = turns.copy(), np.empty(nb, np.bool_), np.zeros(4), np.zeros(0)
        taken = 0
        before = (q.copy(), turns.copy(), v.copy(), old_keys, old, worst.copy())
        while True:
            if 0 < taken == steps - 1:
                before = (q.copy(), turns.copy(), v.copy(), old_keys, old, worst.copy())
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
                count_turns(q_free, dq, *turned, turns, turns_free)
            band = max(2.0 * h * fastest(v, v_free, reach, 3), max(eps, 0.0))
            rotations(q, R)
            kept, x, found = find(q, R, band, room, parallel, kept, shapes, moves)
            fa, fb, _, _, _, type, pa, da, pb, db, ra, rb = found
            n = len(fa)
            room = max(room, n)
            gap, normal, point_a, point_b = np.empty(n), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3))
            evaluate3(x, R, fa, fb, type, pa, da, pb, db, ra, rb, gap, normal, point_a, point_b)
            lowest = overlap(gap)
            mass_blocks(R, inverse_mass, inverse_inertia, moves, Minv)
            step = (
                how, len(shapes[0]), q, turns, v, v_free, Minv, old_keys, old, found, gap, normal, point_a, point_b,
                laws, sets, joints, rows, new_v, dq, held,
            )  # fmt: skip
            if nested:
                ended, sweeps, error, acting, keys, impulses, made = attempt_spatial_nested(*step)
            else:
                ended, sweeps, error, acting, keys, impulses, made = attempt_spatial(*step)
            last = (band, sweeps, v_free, Minv, found, made, before)
            if ended != SOLVED:
                return taken, old_keys, old, kept, last, none
            retract(q_free, dq, new_q)
            stay(q, held, new_q)
            if len(turns):
                count_turns(new_q, dq, *turned, turns_free, new_turns)
            same_place, same = take_over(q, turns, v, new_q, new_turns, new_v)
            same = same and as_before(keys, impulses, old_keys, old)
            old_keys, old = keys, impulses
            depth = lowest if same_place else deepest(q, x, R, found)
            if 2.0 * h * fastest(v, v, reach, 3) > band:  # others may have been reached
                kept, x, reached = find(q, R, 0.0, room, parallel, kept, shapes, moves)
                depth = deepest(q, x, R, reached)
            own[0], own[1], own[3] = error, depth, float(acting)
            if len(joints[0]):
                own[2] = drift(q, turns, rows, joints[4], joints[5])
            for j in range(4):
                worst[j] = max(worst[j], own[j])
            taken += 1
            if same and repeat and taken < steps:
                before = (q.copy(), turns.copy(), v.copy(), old_keys, old, worst.copy())
                last, taken = (band, sweeps, v_free, Minv, found, made, before), steps
            if taken == steps:
                return taken, old_keys, old, kept, last, own if same and repeat else none

    return advance


advance, advance_nested = _make_advance(0), _make_advance(1)
