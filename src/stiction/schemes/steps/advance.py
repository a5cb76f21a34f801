"""Many Anitescu–Hart steps in one compiled call, in plane and space: a driver of the stages of this folder.

    begin → detect → assemble → solve → finish → certify

`begin` and `finish` are in `motion`, `detect` is in `detection`, `assemble` in `problem`, the solve in `solve`, what a
step says of itself in `certify`. Each does what the corresponding method of the model or of the
scheme does, by the same kernels or the same operations in the same order, so that a step here ends in the same bits as
one through Python.
"""

from __future__ import annotations

import numpy as np

from ...problem.body_kernels import MANY, PARTS
from ...runtime.jit import njit, prange
from ...solvers.gauss_seidel.outcome import ACCEPTED, SOLVED
from ...systems.motion_kernels import approach, fastest_spin
from ..base import FAST, GAINED
from . import detection, motion, problem, solve
from .certify import crosses, gains, overlap
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
    Memory,
    StateCopy,
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
    for part in prange(PARTS):
        c = np.int64(part)
        same[c] = _commit(n * c // PARTS, n * (c + 1) // PARTS, q, v, new_q, new_v)


@njit
def commit_state(parallel, q, turns, v, new_q, new_turns, new_v):
    """q, turns and v become the new ones; whether these are the same to the bit."""
    if parallel and len(q) > MANY:
        sames = np.empty(PARTS, np.bool_)
        _commit_parallel(q, v, new_q, new_v, sames)
        same = sames.all()
    else:
        same = _commit(np.int64(0), len(q), q, v, new_q, new_v)
    for c in range(len(turns)):
        same = same and turns[c] == new_turns[c]
        turns[c] = new_turns[c]
    return same


@njit
def copied(q, turns, v, memory, worst):
    """What a step begins from, kept while it is taken."""
    return StateCopy(q.copy(), turns.copy(), v.copy(), memory, worst.copy())


@njit(leaf=True)
def remembers(memory, before):
    """Whether two steps have left the same keys and impulses, to the bit."""
    if len(memory.keys) != len(before.keys):
        return False
    for k in range(len(memory.keys)):
        if memory.keys[k] != before.keys[k]:
            return False
        for j in range(6):
            if memory.impulses[k, j] != before.impulses[k, j]:
                return False
    return True


def _make_advance(d, nested):
    """The loop for bodies with d velocities; only where `nested` may there be blocks of that kind."""
    planar, dim = d == 3, 2 if d == 3 else 3
    new_start, begin, finish, kinetic, drift = motion.planar if planar else motion.spatial
    assemble = problem.assemble_planar if planar else problem.assemble_spatial
    attempt = solve.attempts[d, nested]
    detect, ran_into = detection.planar if planar else detection.spatial

    @njit(nogil=True)
    def advance(steps, options, room, q, turns, v, memory, kept, worst, world):
        """Up to `steps` > 0 steps from q (nb, 3|7), turns (nt,), v (nb, d), with the last step's keys and impulses.

        memory: these keys and impulses; q, turns and v are changed in place. Where a step ends in the very state from
        which it began, so will all others, and to repeat is to count them without computing them. In the plane, turns
        are differences of angles at the start of a run, which stay.

        Stops before a step whose problem is not solved to `tol` within the sweeps of a first attempt, or that has met
        what it had not foreseen: that one belongs to Python. worst: what the steps so far say of themselves, in the
        places of `records` (`ERROR`, ...). Returns the number of steps, the memory of the last, the pairs to keep, the
        `LastStep` that was attempted, and, of a step that repeats itself, its own share of `worst`; empty where it does
        not.
        """
        h, parallel, eps, constraints = options.h, options.parallel, options.eps, world.constraints
        bodies, shapes, nj = world.bodies, world.shapes, len(constraints.joints.size)
        moves, swing, nb, ns = bodies.moves, bodies.swing, len(q), len(shapes.kind)
        new_q, new_turns, solved_v, new_v = np.empty(q.shape), turns.copy(), np.empty((nb, d)), np.empty((nb, d))
        held, own, none = np.empty(nb, np.bool_), np.zeros(MAXIMA + 2), np.zeros(0)
        before, taken = copied(q, turns, v, memory, worst), 0
        now, then = new_start(bodies), new_start(bodies)
        band = begin(options, q, v, bodies, now)
        kept, found, geometry = detect(now, band, room, parallel, kept, shapes, moves)
        energy, spin = kinetic(q, v, bodies), fastest_spin(v, moves, swing, dim)
        while True:
            if 0 < taken == steps - 1:
                before = copied(q, turns, v, memory, worst)
            room = max(room, len(geometry.gap) * 5 // 4)
            made = assemble(options, ns, q, turns, v, now, memory, found, geometry, constraints)
            ended, sweeps, error, impulses = attempt(options, made, v, now.v_free, solved_v, held)
            if ended != SOLVED and (ended != ACCEPTED or nj):  # joints may have contradicted each other
                break
            if not finish(options, q, turns, solved_v, world, held, new_q, new_turns, new_v):
                break
            new_band = begin(options, new_q, new_v, bodies, then)
            if eps < 0.0:
                reach = h * approach(new_v, bodies.reach, dim, band / h)
                if reach > band and ran_into(now, then, found, band, reach, room, parallel, kept, shapes, moves):
                    break
            # what is detected at the end of this step certifies it, and is where the next one begins
            kept, ahead, geometry = detect(then, new_band, room, parallel, kept, shapes, moves)
            left = h * (options.tol if ended == SOLVED else options.accept) * made.scale[0]
            if eps < 0.0 and crosses(ns, found, ahead, geometry.gap, new_v, swing, dim, h, left):
                break
            energies = energy, kinetic(q, solved_v, bodies), kinetic(new_q, new_v, bodies)
            new_spin = fastest_spin(new_v, moves, swing, dim)
            fast = h * max(spin, new_spin) > FAST
            gained, unexplained = gains(h, v, solved_v, energies, bodies.force, dim, fast, made)
            if fast and gained > GAINED * energy:  # the scheme decides whether that is too much
                break
            same = commit_state(parallel, q, turns, v, new_q, new_turns, new_v)
            new_memory = Memory(made.keys, impulses)
            same = same and ended == SOLVED and remembers(new_memory, memory)
            memory, energy, spin = new_memory, energies[2], new_spin
            own[ERROR], own[PENETRATION], own[CONTACTS] = error, overlap(geometry.gap), float(len(made.keys) - nj)
            own[GAIN], own[UNEXPLAINED] = (gained, 1.0) if unexplained else (0.0, 0.0)
            own[ACCEPTED_STEPS] = 1.0 if ended == ACCEPTED else 0.0
            own[DRIFT] = drift(q, turns, constraints) if nj else 0.0
            for j in range(len(own)):
                worst[j] = max(worst[j], own[j]) if j < MAXIMA else worst[j] + own[j]
            taken += 1
            if same and options.repeat and taken < steps:
                before = copied(q, turns, v, memory, worst)
                taken = steps
            if taken == steps:
                last = LastStep(sweeps, now, found, made, new_band, ahead, before)
                return taken, memory, kept, last, own if same and options.repeat else none
            band, found = new_band, ahead
            now, then = then, now
        return taken, memory, kept, LastStep(sweeps, now, found, made, band, found, before), none

    return advance


advances = {(d, nested): _make_advance(d, nested) for d in (3, 6) for nested in (0, 1)}
