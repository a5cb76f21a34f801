"""Many Anitescu–Hart steps of bodies in space in one compiled call."""

from __future__ import annotations

import numpy as np

from .._jit import njit, prange
from ..collision.search3 import MANY, measure, search, search_on_the_way
from ..schemes.base import FAST, GAINED
from ..solvers.nsgs_ends import ACCEPTED, SOLVED
from ..systems.kernels3 import count_turns, joint_rows, kinetic_energy, mass_blocks, move, push, rotations
from ..systems.mechanism_kernels import violation
from ..systems.motion_kernels import approach, fastest, fastest_spin
from .loop_records import (
    ACCEPTED_STEPS,
    CONTACTS,
    DRIFT,
    ERROR,
    GAIN,
    MAXIMA,
    PENETRATION,
    UNEXPLAINED,
)
from .loop_stages import (
    as_before,
    assemble_spatial,
    attempt_spatial,
    attempt_spatial_nested,
    copied,
    crosses,
    finite,
    gains,
    overlap,
    reaches,
    stay,
    take_over,
)

_PARTS = 64  # of the bodies, which threads take


@njit(leaf=True)
def _begin(q, v, force, mass, inverse_mass, inverse_inertia, moves, reach, h, v_free, x, R, Minv):
    """What a step needs of its bodies: what forces do, poses and inverse masses; returns their largest speed."""
    push(q, v, force, mass, inverse_inertia, moves, h, v_free)
    poses(q, x, R)
    mass_blocks(R, inverse_mass, inverse_inertia, moves, Minv)
    return fastest(v, v_free, reach, 3)


@njit(parallel=True)
def _begin_parallel(q, v, force, mass, inverse_mass, inverse_inertia, moves, reach, h, v_free, x, R, Minv, speed):
    n = q.shape[0]
    for part in prange(_PARTS):
        c = np.int64(part)
        s, e = n * c // _PARTS, n * (c + 1) // _PARTS
        speed[c] = _begin(
            q[s:e], v[s:e], force[s:e], mass[s:e], inverse_mass[s:e], inverse_inertia[s:e], moves[s:e], reach[s:e], h,
            v_free[s:e], x[s:e], R[s:e], Minv[s:e],
        )  # fmt: skip


@njit
def begin(h, parallel, q, v, bodies, v_free, x, R, Minv):
    """v_free, x, R, M⁻¹ of all bodies, and the largest speed of any point of theirs."""
    own = (
        q, v, bodies.force, bodies.mass, bodies.inverse_mass, bodies.inverse_inertia, bodies.moves, bodies.reach, h,
        v_free, x, R, Minv,
    )  # fmt: skip
    if not parallel or q.shape[0] <= MANY:
        return _begin(*own)
    speed = np.empty(_PARTS)
    _begin_parallel(*own, speed)
    return speed.max()


@njit
def _finish(h, q, v, inertia, moves, held, new_q, new_v):
    move(q, v, h, inertia, moves, new_q, new_v)
    stay(q, held, new_q)


@njit(parallel=True)
def _finish_parallel(h, q, v, inertia, moves, held, new_q, new_v):
    n = q.shape[0]
    for part in prange(_PARTS):
        c = np.int64(part)
        s, e = n * c // _PARTS, n * (c + 1) // _PARTS
        _finish(h, q[s:e], v[s:e], inertia[s:e], moves[s:e], held[s:e], new_q[s:e], new_v[s:e])


@njit
def finish(h, parallel, q, v, bodies, held, new_q, new_v):
    """Where a step ends that impulses leave with v, and the velocities there; bodies held stay where they are."""
    if parallel and q.shape[0] > MANY:
        _finish_parallel(h, q, v, bodies.inertia, bodies.moves, held, new_q, new_v)
    else:
        _finish(h, q, v, bodies.inertia, bodies.moves, held, new_q, new_v)


@njit(leaf=True)
def poses(q, x, R):
    """Positions x (nb, 3) and rotations R (nb, 3, 3) of configurations q (nb, 7)."""
    for i in range(q.shape[0]):
        x[i, 0], x[i, 1], x[i, 2] = q[i, 0], q[i, 1], q[i, 2]
    rotations(q, R)


@njit
def drift(q, turns, rows, mode, soft):
    """The largest violation of a joint's row or limit."""
    n = len(rows.kind)
    value, Ja, Jb = np.empty(n), np.empty((n, 6)), np.empty((n, 6))
    joint_rows(q, turns, rows, 0, value, Ja, Jb)
    return violation(value, mode, soft)


def _make_advance(nested):
    @njit(nogil=True)
    def advance(
        steps, options, room, q, turns, v, memory, kept, worst, bodies, shapes, constraints
    ):  # fmt: skip
        """Up to `steps` > 0 steps from q (nb, 7), turns (nt,), v (nb, 6), with the last step's keys and impulses.

        memory: these keys and impulses; q, turns and v are changed in place. A step is begin, detect (`search`),
        `assemble`, solve (`attempt`), `finish`, and what certifies it: detection at its end, and energy. Where one ends
        in the very state from which it began, so will all others, and to repeat is to count them without computing
        them.

        Stops before a step whose problem is not solved to `tol` within the sweeps of a first attempt. worst: what the
        steps so far say of themselves, in the places of `loop_records` (`ERROR`, ...). Returns the number of steps, the
        memory of the last, the pairs to keep, and of the last attempt: the band in which contacts were looked for, the
        sweeps, v_free, M⁻¹, the contacts found, the problem; the band and the contacts at its end; and q, turns, v,
        keys, impulses, worst before it. Last, of a step that repeats itself, its own share of `worst`; empty where it
        does not.
        """
        h, tol, accept, parallel, eps = options.h, options.tol, options.accept, options.parallel, options.eps
        joints, rows, repeat = constraints.joints, constraints.rows, options.repeat
        nj = len(joints.size)
        mass, inertia, _, _, moves, _, force, reach, swing = bodies
        nb, ns = q.shape[0], len(shapes.kind)
        x, R, Minv, v_free = np.empty((nb, 3)), np.empty((nb, 3, 3)), np.empty((nb, 6, 6)), np.empty((nb, 6))
        new_x, new_R, new_Minv, new_free = x.copy(), R.copy(), Minv.copy(), v_free.copy()
        new_q, solved_v, new_v, dq = np.empty((nb, 7)), np.empty((nb, 6)), np.empty((nb, 6)), np.empty((nb, 6))
        new_turns, held, own, none = turns.copy(), np.empty(nb, np.bool_), np.zeros(MAXIMA + 2), np.zeros(0)
        taken = 0
        before = copied(q, turns, v, memory, worst)
        band = max(2.0 * h * begin(h, parallel, q, v, bodies, v_free, x, R, Minv), max(eps, 0.0))
        kept, found, geometry = search(x, R, band, room, parallel, kept, shapes, moves)
        kinetic = kinetic_energy(q, v, mass, inertia, moves)
        while True:
            if 0 < taken == steps - 1:
                before = copied(q, turns, v, memory, worst)
            room = max(room, len(geometry.gap) * 5 // 4)
            made = assemble_spatial(options, ns, q, turns, v, v_free, Minv, memory, found, geometry, constraints)
            keys = made.keys
            acting = len(keys) - nj
            if nested:
                ended, sweeps, error, impulses = attempt_spatial_nested(options, made, v, v_free, solved_v, held)
            else:
                ended, sweeps, error, impulses = attempt_spatial(options, made, v, v_free, solved_v, held)
            if ended != SOLVED and (ended != ACCEPTED or nj):  # joints may have contradicted each other
                return taken, memory, kept, (band, sweeps, v_free, Minv, found, made, band, found, before), none
            finish(h, parallel, q, solved_v, bodies, held, new_q, new_v)
            if not finite(new_q):
                return taken, memory, kept, (band, sweeps, v_free, Minv, found, made, band, found, before), none
            new_band = 2.0 * h * begin(h, parallel, new_q, new_v, bodies, new_free, new_x, new_R, new_Minv)
            new_band = max(new_band, max(eps, 0.0))
            faster = h * approach(new_v, reach, 3, band / h)
            if faster > band and eps < 0.0:  # others may have been reached: such a step is solved again, by the scheme
                wide, at_start = search_on_the_way(
                    x, R, new_x, new_R, band, faster, room, parallel, kept, shapes, moves
                )
                at_end = measure(new_x, new_R, parallel, wide)
                if reaches(ns, found, wide, at_end.gap, at_start.normal, at_end.normal):
                    return taken, memory, kept, (band, sweeps, v_free, Minv, found, made, band, found, before), none
            missed = tol if ended == SOLVED else accept
            # what is detected at the end of this step certifies it, and is where the next one begins
            kept, ahead, geometry = search(new_x, new_R, new_band, room, parallel, kept, shapes, moves)
            if eps < 0.0 and crosses(ns, found, ahead, geometry.gap, new_v, swing, 3, h, h * missed * made.scale[0]):
                return taken, memory, kept, (band, sweeps, v_free, Minv, found, made, band, found, before), none
            if len(turns):
                for i in range(nb):
                    for j in range(6):
                        dq[i, j] = h * solved_v[i, j]
                count_turns(new_q, dq, rows, turns, new_turns)
            solved_kinetic, new_kinetic = (
                kinetic_energy(q, solved_v, mass, inertia, moves), kinetic_energy(new_q, new_v, mass, inertia, moves),
            )  # fmt: skip
            fast = h * fastest_spin(new_v, moves, swing, 3) > FAST
            gained, unexplained = gains(h, v, solved_v, kinetic, solved_kinetic, new_kinetic, force, 3, fast, made)
            if fast and gained > GAINED * kinetic:  # the scheme decides whether that is too much
                return taken, memory, kept, (band, sweeps, v_free, Minv, found, made, band, found, before), none
            kinetic = new_kinetic
            _, same = take_over(parallel, q, turns, v, new_q, new_turns, new_v)
            same = same and ended == SOLVED and as_before(keys, impulses, *memory)
            memory = keys, impulses
            own[ERROR], own[PENETRATION], own[CONTACTS] = error, overlap(geometry.gap), float(acting)
            own[GAIN], own[UNEXPLAINED] = (gained, 1.0) if unexplained else (0.0, 0.0)
            own[ACCEPTED_STEPS] = 1.0 if ended == ACCEPTED else 0.0
            if nj:
                own[DRIFT] = drift(q, turns, rows, joints.mode, joints.soft)
            for j in range(len(own)):
                worst[j] = max(worst[j], own[j]) if j < MAXIMA else worst[j] + own[j]
            taken += 1
            if same and repeat and taken < steps:
                before = copied(q, turns, v, memory, worst)
                taken = steps
            if taken == steps:
                last = (band, sweeps, v_free, Minv, found, made, new_band, ahead, before)
                return taken, memory, kept, last, own if same and repeat else none
            band, found = new_band, ahead
            x, R, Minv, v_free, new_x, new_R, new_Minv, new_free = (
                new_x, new_R, new_Minv, new_free, x, R, Minv, v_free,
            )  # fmt: skip

    return advance


advance, advance_nested = _make_advance(0), _make_advance(1)
