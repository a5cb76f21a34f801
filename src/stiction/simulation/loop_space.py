"""Many Anitescu–Hart steps of bodies in space in one compiled call."""

from __future__ import annotations

import numpy as np

from .._jit import njit, prange
from ..collision.search3 import MANY, measure, search, search_on_the_way
from ..solvers.nsgs_ends import SOLVED
from ..systems.kernels3 import count_turns, free_motion, joint_rows, mass_blocks, retract, rotations
from ..systems.mechanism_kernels import violation
from ..systems.motion_kernels import approach, fastest
from .loop_stages import as_before, attempt_spatial, attempt_spatial_nested, finite, overlap, reaches, stay, take_over

_PARTS = 64  # of the bodies, which threads take


@njit(leaf=True)
def _begin(q, v, force, mass, inertia, inverse_mass, inverse_inertia, moves, reach, h, v_free, q_free, x, R, Minv):
    """What a step needs of its bodies: free motion, poses and inverse masses; returns their largest speed."""
    free_motion(q, v, force, mass, inertia, moves, h, v_free, q_free)
    poses(q, x, R)
    mass_blocks(R, inverse_mass, inverse_inertia, moves, Minv)
    return fastest(v, v_free, reach, 3)


@njit(parallel=True)
def _begin_parallel(
    q, v, force, mass, inertia, inverse_mass, inverse_inertia, moves, reach, h, v_free, q_free, x, R, Minv, speed
):
    n = q.shape[0]
    for part in prange(_PARTS):
        c = np.int64(part)
        s, e = n * c // _PARTS, n * (c + 1) // _PARTS
        speed[c] = _begin(
            q[s:e], v[s:e], force[s:e], mass[s:e], inertia[s:e], inverse_mass[s:e], inverse_inertia[s:e], moves[s:e],
            reach[s:e], h, v_free[s:e], q_free[s:e], x[s:e], R[s:e], Minv[s:e],
        )  # fmt: skip


@njit
def begin(h, parallel, q, v, bodies, v_free, q_free, x, R, Minv):
    """v_free, q_free, x, R, M⁻¹ of all bodies, and the largest speed of any point of theirs."""
    mass, inertia, inverse_mass, inverse_inertia, moves, _, force, reach = bodies
    own = (q, v, force, mass, inertia, inverse_mass, inverse_inertia, moves, reach, h, v_free, q_free, x, R, Minv)
    if not parallel or q.shape[0] <= MANY:
        return _begin(*own)
    speed = np.empty(_PARTS)
    _begin_parallel(*own, speed)
    return speed.max()


@njit(leaf=True)
def _finish(q, q_free, dq, held, new_q):
    retract(q_free, dq, new_q)
    stay(q, held, new_q)


@njit(parallel=True)
def _finish_parallel(q, q_free, dq, held, new_q):
    n = q.shape[0]
    for part in prange(_PARTS):
        c = np.int64(part)
        s, e = n * c // _PARTS, n * (c + 1) // _PARTS
        _finish(q[s:e], q_free[s:e], dq[s:e], held[s:e], new_q[s:e])


@njit
def finish(parallel, q, q_free, dq, held, new_q):
    """The configurations new_q that a step ends in: free motion and what impulses add, or q for bodies held."""
    if parallel and q.shape[0] > MANY:
        _finish_parallel(q, q_free, dq, held, new_q)
    else:
        _finish(q, q_free, dq, held, new_q)


@njit(leaf=True)
def poses(q, x, R):
    """Positions x (nb, 3) and rotations R (nb, 3, 3) of configurations q (nb, 7)."""
    for i in range(q.shape[0]):
        x[i, 0], x[i, 1], x[i, 2] = q[i, 0], q[i, 1], q[i, 2]
    rotations(q, R)


@njit
def deepest(q, x, R, parallel, found):
    """The deepest overlap of features at configuration q [m]; x and R are overwritten."""
    poses(q, x, R)
    return overlap(measure(x, R, parallel, found)[0])


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

        q, turns and v are changed in place. how: h, tol, parallel, stabilize, associated, eps, which
        is negative where all contacts in the band act, and whether to repeat; the other tuples are those of
        `CompiledLoop`. Where a step ends in the very state from which it began, so will all others, and to repeat is to
        count them without computing them.

        Stops before a step whose problem is not solved to `tol` within the sweeps of a first attempt. worst (4,): the
        largest error, penetration and joint drift so far, and the most contacts. Returns the number of steps, the keys
        and impulses of the last, the pairs to keep, and of the last attempt: the band in which contacts were looked
        for, the sweeps, v_free, M⁻¹, the contacts found, the problem; and q, turns, v, keys, impulses, worst before it.
        Last, of a step that repeats itself, its own share of `worst`; empty where it does not.
        """
        h, _, parallel, _, _, eps, repeat = how
        moves, kinematic, reach = bodies[4], bodies[5], bodies[7]
        turned = rows[-5:]
        nb = q.shape[0]
        x, R, Minv = np.empty((nb, 3)), np.empty((nb, 3, 3)), np.empty((nb, 6, 6))
        v_free, q_free, moved, dq = np.empty((nb, 6)), np.empty((nb, 7)), np.empty((nb, 7)), np.empty((nb, 6))
        new_q, new_v, turns_free = np.empty((nb, 7)), np.empty((nb, 6)), np.empty(len(turns))
        new_turns, held, own, none = turns.copy(), np.empty(nb, np.bool_), np.zeros(4), np.zeros(0)
        taken = 0
        before = (q.copy(), turns.copy(), v.copy(), old_keys, old, worst.copy())
        while True:
            if 0 < taken == steps - 1:
                before = (q.copy(), turns.copy(), v.copy(), old_keys, old, worst.copy())
            speed = begin(h, parallel, q, v, bodies, v_free, q_free, x, R, Minv)
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
            band = max(2.0 * h * speed, max(eps, 0.0))
            kept, found, geometry = search(x, R, band, room, parallel, kept, shapes, moves)
            gap, normal, point_a, point_b = geometry
            room = max(room, len(gap) * 5 // 4)
            lowest = overlap(gap)
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
            finish(parallel, q, q_free, dq, held, new_q)
            if not finite(new_q):
                return taken, old_keys, old, kept, last, none
            faster = h * approach(new_v, reach, 3, band / h)
            if faster > band and eps < 0.0:  # others may have been reached: such a step is solved again, by the scheme
                new_x, new_R = np.empty((nb, 3)), np.empty((nb, 3, 3))
                poses(new_q, new_x, new_R)
                wide, at_start = search_on_the_way(
                    x, R, new_x, new_R, band, faster, room, parallel, kept, shapes, moves
                )
                at_end = measure(new_x, new_R, parallel, wide)
                if reaches(len(shapes[0]), found, wide, at_end[0], at_start[1], at_end[1]):
                    return taken, old_keys, old, kept, last, none
            if len(turns):
                count_turns(new_q, dq, *turned, turns_free, new_turns)
            same_place, same = take_over(parallel, q, turns, v, new_q, new_turns, new_v)
            same = same and as_before(keys, impulses, old_keys, old)
            old_keys, old = keys, impulses
            depth = lowest if same_place else deepest(q, x, R, parallel, found)
            if faster > band and eps >= 0.0:
                poses(q, x, R)
                kept, _, reached = search(x, R, 0.0, room, parallel, kept, shapes, moves)
                depth = overlap(reached[0])
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
