"""Many Anitescu–Hart steps in one compiled call, in plane and space: a driver of the stages of this folder.

    begin → detect → assemble → solve → finish → certify

`begin` and `finish` are in `motion`, `detect` is in `detection`, `assemble` in `problem`, the solve in `solve`, what a
step says of itself in `certify`. Each does what the corresponding method of the model or of the
scheme does, by the same kernels or the same operations in the same order, so that a step here ends in the same bits as
one through Python.
"""

from __future__ import annotations

import numpy as np

from ...problem.body_kernels import THREAD_PARTS, THREADS_MIN_BLOCKS
from ...runtime.jit import njit, prange
from ...solvers.gauss_seidel.outcome import ACCEPTED, SOLVED
from ...systems.model.kernels.motion import approach, fastest_spin
from ..base import FAST_TURN_RAD, GAIN_MAX_SHARE
from ..spring_kernels import settle_springs
from . import detection, motion, problem, solve
from .certify import deepest_overlap, energy_gain, met_new_features
from .records import (
    ACCEPTED_STEPS,
    CONTACTS,
    DRIFT,
    ERROR,
    GAIN,
    MAXIMA,
    PENETRATION,
    UNEXPLAINED,
    LastStep,
    StateCopy,
    WarmStart,
)


@njit(leaf=True)
def _commit(start, stop, q, v, new_q, new_v):
    same = True
    for i in range(start, stop):
        for j in range(q.shape[1]):
            same = same and q[i, j] == new_q[i, j]
            q[i, j] = new_q[i, j]
        for j in range(v.shape[1]):
            same = same and v[i, j] == new_v[i, j]
            v[i, j] = new_v[i, j]
    return same


@njit(parallel=True)
def _commit_parallel(q, v, new_q, new_v, same):
    n = len(q)
    for part in prange(THREAD_PARTS):
        c = np.int64(part)
        same[c] = _commit(n * c // THREAD_PARTS, n * (c + 1) // THREAD_PARTS, q, v, new_q, new_v)


@njit
def commit_state(parallel, q, turns, v, new_q, new_turns, new_v):
    """q, turns and v become the new ones; whether these are the same to the bit."""
    if parallel and len(q) > THREADS_MIN_BLOCKS:
        sames = np.empty(THREAD_PARTS, np.bool_)
        _commit_parallel(q, v, new_q, new_v, sames)
        same = sames.all()
    else:
        same = _commit(np.int64(0), len(q), q, v, new_q, new_v)
    for c in range(len(turns)):
        same = same and turns[c] == new_turns[c]
        turns[c] = new_turns[c]
    return same


@njit
def copy_state(q, turns, v, warm_start, worst):
    """What a step begins from, kept while it is taken."""
    return StateCopy(q.copy(), turns.copy(), v.copy(), warm_start, worst.copy())


@njit(leaf=True)
def same_warm_start(warm_start, before):
    """Whether two steps have left the same keys, impulses and springs, to the bit."""
    if len(warm_start.keys) != len(before.keys):
        return False
    for k in range(len(warm_start.keys)):
        if warm_start.keys[k] != before.keys[k]:
            return False
        for j in range(6):
            if warm_start.impulses[k, j] != before.impulses[k, j]:
                return False
    if len(warm_start.springs) != len(before.springs):
        return False
    for k in range(len(warm_start.springs)):
        for j in range(warm_start.springs.shape[1]):
            if warm_start.springs[k, j] != before.springs[k, j]:
                return False
    return True


@njit(leaf=True)
def keep_worst(residuals, worst):
    """Book the residuals of a step in worst: the largest of those before `MAXIMA`, the sums of the others."""
    for j in range(len(residuals)):
        worst[j] = max(worst[j], residuals[j]) if j < MAXIMA else worst[j] + residuals[j]


@njit
def springs_after(h, problem, v, q, new_q):
    """(nk, 8) what elastic contacts remember of a step from q to new_q with the velocities v that impulses left."""
    springs = problem.springs
    if len(springs):
        springs = springs.copy()
        settle_springs(h, problem.laws, problem.form, problem.p, v, q, new_q, springs)
    return springs


def _make_advance(d, nested):
    """The loop for bodies with d velocities; only where `nested` may there be blocks of that kind."""
    planar, dim = d == 3, 2 if d == 3 else 3
    new_start, begin, finish, kinetic, drift = motion.planar if planar else motion.spatial
    assemble = problem.assemble_planar if planar else problem.assemble_spatial
    attempt = solve.attempts[d, nested]
    detect, ran_into = detection.planar if planar else detection.spatial

    @njit(nogil=True)
    def advance(steps, options, room, q, turns, v, warm_start, near_pairs, worst, world):
        """Up to `steps` > 0 steps from q (nb, 3|7), turns (nt,), v (nb, d), with the last step's keys and impulses.

        warm_start: these keys and impulses; q, turns and v are changed in place. Where a step ends in the very state
        from which it began, so will all others: with `options.replay` they are counted and not computed. In the plane,
        turns are differences of angles at the start of a run, which stay.

        Stops before a step that belongs to Python: its problem is neither solved nor accepted within the sweeps of a
        first attempt (with joints: not solved), it is not finite, it has missed contacts, a contact cannot bounce as it
        is to, or a body turns so far that the scheme has to judge the energy. worst: residuals of the steps so far, in
        the places of `records`. Returns the number of steps, the warm start after the last, the near pairs for the next
        call, the `LastStep` that was attempted, and the residuals of a step that is replayed; empty where none is.
        """
        h, parallel, eps, constraints = options.h, options.parallel, options.eps, world.constraints
        bodies, shapes, nj = world.bodies, world.shapes, len(constraints.joints.size)
        moves, swing, nb, ns = bodies.moves, bodies.swing, len(q), len(shapes.kind)
        new_q, new_turns, solved_v, new_v = np.empty(q.shape), turns.copy(), np.empty((nb, d)), np.empty((nb, d))
        resting, residuals, none = np.empty(nb, np.bool_), np.zeros(MAXIMA + 2), np.zeros(0)
        before, taken = copy_state(q, turns, v, warm_start, worst), 0
        start, end = new_start(bodies), new_start(bodies)
        band = begin(options, q, v, bodies, start)
        near_pairs, found, geometry = detect(start, band, room, parallel, near_pairs, shapes, moves)
        energy, spin = kinetic(q, v, bodies), fastest_spin(v, moves, swing, dim)
        while True:
            if 0 < taken == steps - 1:
                before = copy_state(q, turns, v, warm_start, worst)
            room = max(room, len(geometry.gap) * 5 // 4)
            assembled = assemble(options, shapes, q, turns, v, start, warm_start, found, geometry, constraints)
            ended, sweeps, error, impulses = attempt(options, assembled, v, start.v_free, solved_v, resting)
            if (ended != SOLVED and (ended != ACCEPTED or nj)) or assembled.unresolved[0] >= 0:  # joints may contradict
                break
            if not finish(options, q, turns, solved_v, world, resting, new_q, new_turns, new_v):
                break
            new_band = begin(options, new_q, new_v, bodies, end)
            if eps < 0.0:
                reach = h * approach(new_v, bodies.reach, dim, band / h)
                if reach > band and ran_into(start, end, found, band, reach, room, parallel, near_pairs, shapes, moves):
                    break
            # what is detected at the end of this step certifies it, and is where the next one begins
            near_pairs, at_end, geometry = detect(end, new_band, room, parallel, near_pairs, shapes, moves)
            left = h * (options.tol if ended == SOLVED else options.accept) * assembled.scale[0]
            if eps < 0.0 and met_new_features(ns, found, at_end, geometry.gap, new_v, swing, dim, h, left):
                break
            energies = energy, kinetic(q, solved_v, bodies), kinetic(new_q, new_v, bodies)
            last_spin, spin = spin, fastest_spin(new_v, moves, swing, dim)
            fast = h * max(last_spin, spin) > FAST_TURN_RAD
            gained, unexplained = energy_gain(h, v, solved_v, energies, bodies.force, dim, fast, assembled)
            if fast and gained > GAIN_MAX_SHARE * energy:  # the scheme decides whether that is too much
                break
            new_warm_start = WarmStart(assembled.keys, impulses, springs_after(h, assembled, solved_v, q, new_q))
            same = commit_state(parallel, q, turns, v, new_q, new_turns, new_v)
            same = same and ended == SOLVED and same_warm_start(new_warm_start, warm_start)
            warm_start, energy = new_warm_start, energies[2]
            residuals[ERROR], residuals[PENETRATION] = error, deepest_overlap(geometry.gap)
            residuals[CONTACTS] = float(len(assembled.keys) - nj)
            residuals[GAIN], residuals[UNEXPLAINED] = (gained, 1.0) if unexplained else (0.0, 0.0)
            residuals[ACCEPTED_STEPS] = 1.0 if ended == ACCEPTED else 0.0
            residuals[DRIFT] = drift(q, turns, constraints) if nj else 0.0
            keep_worst(residuals, worst)
            taken += 1
            if same and options.replay and taken < steps:
                before = copy_state(q, turns, v, warm_start, worst)
                taken = steps
            if taken == steps:
                last = LastStep(sweeps, start, found, assembled, new_band, at_end, before)
                return taken, warm_start, near_pairs, last, residuals if same and options.replay else none
            band, found = new_band, at_end
            start, end = end, start
        return taken, warm_start, near_pairs, LastStep(sweeps, start, found, assembled, band, found, before), none

    return advance


advances = {(d, nested): _make_advance(d, nested) for d in (3, 6) for nested in (0, 1)}
