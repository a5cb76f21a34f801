"""Begin and finish of a step: what forces do to the bodies, and where free flight takes them.

Plane and space differ here: a configuration in the plane is (x, y, angle) and moves in straight lines, one in space has
a quaternion, and bodies fly freely (`systems.model.kernels.space.move`).
"""

from __future__ import annotations

import math

import numpy as np

from ...collision.space.search import THREADS_MIN_PAIRS
from ...runtime.jit import njit, prange
from ...systems.model.kernels.mechanism import violation
from ...systems.model.kernels.motion import fastest
from ...systems.model.kernels.plane import joint_rows as planar_joint_rows
from ...systems.model.kernels.space import count_turns, kinetic_energy, mass_blocks, move, push, rotations
from ...systems.model.kernels.space import joint_rows as spatial_joint_rows
from .records import StepStart

BODY_PARTS = 64  # of the bodies, which threads take


@njit(leaf=True)
def _begin_planar(h, q, v, inverse, force, reach, x, angle, v_free):
    """What forces make of the velocities, and the poses; returns the largest speed of the bodies."""
    for i in range(q.shape[0]):
        for j in range(3):
            v_free[i, j] = v[i, j] + h * (force[i, j] * inverse[i, j])
        x[i, 0], x[i, 1], angle[i] = q[i, 0], q[i, 1], q[i, 2]
    return fastest(v, v_free, reach, 2)


@njit(leaf=True)
def _begin_spatial(h, q, v, bodies, first, last, start):
    """The same for bodies first..last in space, with rotations and inverse masses."""
    s, e = first, last
    q, v, v_free, R = q[s:e], v[s:e], start.v_free[s:e], start.turn[s:e]
    inverse_inertia, moves = bodies.inverse_inertia[s:e], bodies.moves[s:e]
    push(q, v, bodies.force[s:e], bodies.mass[s:e], inverse_inertia, moves, h, v_free)
    for i in range(q.shape[0]):
        for k in range(3):
            start.x[s + i, k] = q[i, k]
    rotations(q, R)
    mass_blocks(R, bodies.inverse_mass[s:e], inverse_inertia, moves, start.Minv[s:e])
    return fastest(v, v_free, bodies.reach[s:e], 3)


@njit(parallel=True)
def _begin_parallel(h, q, v, bodies, start, speed):
    n = q.shape[0]
    for part in prange(BODY_PARTS):
        c = np.int64(part)
        speed[c] = _begin_spatial(h, q, v, bodies, n * c // BODY_PARTS, n * (c + 1) // BODY_PARTS, start)


@njit
def _finish_spatial(h, q, v, inertia, moves, resting, new_q, new_v):
    move(q, v, h, inertia, moves, new_q, new_v)
    keep_at_rest(q, resting, new_q)


@njit(parallel=True)
def _finish_parallel(h, q, v, inertia, moves, resting, new_q, new_v):
    n = q.shape[0]
    for part in prange(BODY_PARTS):
        c = np.int64(part)
        s, e = n * c // BODY_PARTS, n * (c + 1) // BODY_PARTS
        _finish_spatial(h, q[s:e], v[s:e], inertia[s:e], moves[s:e], resting[s:e], new_q[s:e], new_v[s:e])


@njit(leaf=True)
def keep_at_rest(q, resting, new_q):
    """new_q (nb, .) with the bodies `resting` where they are in q."""
    for i in range(q.shape[0]):
        if resting[i]:
            for j in range(q.shape[1]):
                new_q[i, j] = q[i, j]


@njit(leaf=True)
def all_finite(q):
    """Whether all of q (nb, .) is finite."""
    good = True
    for i in range(q.shape[0]):
        for j in range(q.shape[1]):
            good = good and abs(q[i, j]) < math.inf
    return good


@njit(leaf=True)
def _kinetic_planar(v, inverse):
    total = 0.0
    for i in range(v.shape[0]):
        for j in range(3):
            if inverse[i, j] > 0.0:
                total += 0.5 * v[i, j] * v[i, j] / inverse[i, j]
    return total


def _make_stages(d):
    joint_rows = planar_joint_rows if d == 3 else spatial_joint_rows

    @njit
    def new_start(bodies):
        """A `StepStart` for `begin`."""
        nb = len(bodies.moves)
        if d == 6:
            return StepStart(np.empty((nb, 3)), np.empty((nb, 3, 3)), np.empty((nb, 6, 6)), np.empty((nb, 6)))
        return StepStart(np.empty((nb, 2)), np.empty(nb), bodies.inverse_blocks, np.empty((nb, 3)))

    @njit
    def begin(options, q, v, bodies, start):
        """Poses, inverse masses and what forces do; returns how far a step looks for contacts [m] (ah03 §2.2).

        That is what two bodies can approach each other in it, 2 h v_max, and at least eps.
        """
        if d == 3:
            speed = _begin_planar(
                options.h, q, v, bodies.inverse, bodies.force, bodies.reach, start.x, start.turn, start.v_free
            )
        elif not options.parallel or q.shape[0] <= THREADS_MIN_PAIRS:
            speed = _begin_spatial(options.h, q, v, bodies, 0, q.shape[0], start)
        else:
            speeds = np.empty(BODY_PARTS)
            _begin_parallel(options.h, q, v, bodies, start, speeds)
            speed = speeds.max()
        return max(2.0 * options.h * speed, max(options.eps, 0.0))

    @njit
    def finish(options, q, turns, v, world, resting, new_q, new_turns, new_v):
        """Where a step ends that impulses leave with v, and the velocities there; bodies at rest stay where they are.

        Returns whether that is finite.
        """
        h, bodies = options.h, world.bodies
        if d == 3:
            for i in range(q.shape[0]):
                for j in range(3):
                    new_q[i, j] = q[i, j] + h * v[i, j]
                    new_v[i, j] = v[i, j]
            keep_at_rest(q, resting, new_q)
            return all_finite(new_q)
        if options.parallel and q.shape[0] > THREADS_MIN_PAIRS:
            _finish_parallel(h, q, v, bodies.inertia, bodies.moves, resting, new_q, new_v)
        else:
            _finish_spatial(h, q, v, bodies.inertia, bodies.moves, resting, new_q, new_v)
        if len(turns):
            count_turns(new_q, h * v, world.constraints.rows, turns, new_turns)
        return all_finite(new_q)

    @njit
    def kinetic(q, v, bodies):
        """½ v·M v [J] of bodies that forces move."""
        if d == 3:
            return _kinetic_planar(v, bodies.inverse)
        return kinetic_energy(q, v, bodies.mass, bodies.inertia, bodies.moves)

    @njit
    def drift(q, turns, constraints):
        """The largest violation of a joint's row or limit."""
        rows, joints = constraints.rows, constraints.joints
        n = len(rows.kind)
        value, Ja, Jb = np.empty(n), np.empty((n, d)), np.empty((n, d))
        joint_rows(q, turns, rows, 0, value, Ja, Jb)
        return violation(value, joints.mode, joints.soft)

    return new_start, begin, finish, kinetic, drift


planar, spatial = _make_stages(3), _make_stages(6)
