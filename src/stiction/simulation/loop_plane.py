"""Many Anitescu–Hart steps of bodies in the plane in one compiled call; see `loop_space`."""

from __future__ import annotations

import numpy as np

from .._jit import njit
from ..collision.aabbs import aabbs2
from ..collision.features import evaluate2, first_of
from ..collision.narrow2 import find2
from ..collision.neighbours import listed_or_found, neighbours, overlapping, swept
from ..collision.records import Boxes, FeaturePairs, Filters
from ..schemes.base import FAST, GAINED
from ..solvers.nsgs_ends import ACCEPTED, SOLVED
from ..systems.kernels2 import joint_rows
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
    FoundContacts,
    Geometry,
)
from .loop_stages import (
    as_before,
    assemble_planar,
    attempt_planar,
    attempt_planar_nested,
    copied,
    crosses,
    finite,
    gains,
    overlap,
    reaches,
    stay,
    take_over,
)


@njit(leaf=True)
def poses(q, x, angle):
    """Positions (nb, 2) and angles (nb,)."""
    for i in range(q.shape[0]):
        x[i, 0], x[i, 1], angle[i] = q[i, 0], q[i, 1], q[i, 2]


@njit
def _box_room(ns):
    """Room for the boxes of ns shapes."""
    return Boxes(np.empty((ns, 2)), np.empty((ns, 2)), np.empty((ns, 3)))


@njit(sealed=True)
def find(x, angle, band, room, kept, shapes, moves):
    """The pairs to keep, and contacts within `band`, sorted by key: their bodies, shapes, codes and features."""
    boxes = _box_room(len(shapes.kind))
    aabbs2(x, angle, shapes, band, boxes)
    filters = Filters(shapes.body, shapes.group, shapes.mask, moves, shapes.excluded)
    listed, kept = neighbours(boxes, shapes.kind, filters, band, kept, False)
    near = overlapping(listed, boxes, shapes.kind)
    return kept, _features(x, angle, near, band, room, shapes)


@njit(sealed=True)
def find_on_the_way(x, angle, new_x, new_angle, band, reach, room, kept, shapes, moves):
    """As `detect_on_the_way` of the model: contacts within `reach` at x, angle of shapes that may meet on the way."""
    boxes, later = _box_room(len(shapes.kind)), _box_room(len(shapes.kind))
    aabbs2(x, angle, shapes, band, boxes)
    aabbs2(new_x, new_angle, shapes, band, later)
    swept(boxes, later)
    filters = Filters(shapes.body, shapes.group, shapes.mask, moves, shapes.excluded)
    listed = listed_or_found(boxes, shapes.kind, filters, kept, False)
    return _features(x, angle, overlapping(listed, boxes, shapes.kind), reach, room, shapes)


@njit(sealed=True)
def _features(x, angle, near, band, room, shapes):
    """The contacts within `band` of pairs of shapes, sorted by key."""
    while True:
        out = FoundContacts(
            np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64),
            np.empty(room, np.int64), np.empty(room, np.int64), np.empty((room, 2)), np.empty((room, 2)),
            np.empty((room, 2)), np.empty((room, 2)), np.empty(room), np.empty(room),
        )  # fmt: skip
        count = find2(x, angle, shapes, near, band, out)
        if count <= room:
            return first_of(out, count)
        room = int(1.5 * count)


@njit
def measure(x, angle, found):
    """Gap, normal and points of features."""
    a, b, _, _, _, type, pa, da, pb, db, ra, rb = found
    n = len(a)
    geometry = Geometry(np.empty(n), np.empty((n, 2)), np.empty((n, 2)), np.empty((n, 2)))
    evaluate2(x, angle, FeaturePairs(a, b, type, pa, da, pb, db, ra, rb), geometry)
    return geometry


@njit(leaf=True)
def begin(h, q, v, inverse, force, reach, v_free, x, angle):
    """What forces make of the velocities, and the poses; returns the largest speed of the bodies."""
    for i in range(q.shape[0]):
        for j in range(3):
            v_free[i, j] = v[i, j] + h * (force[i, j] * inverse[i, j])
    poses(q, x, angle)
    return fastest(v, v_free, reach, 2)


@njit(leaf=True)
def kinetic_energy(v, inverse):
    """½ v·M v [J] of bodies that forces move."""
    total = 0.0
    for i in range(v.shape[0]):
        for j in range(3):
            if inverse[i, j] > 0.0:
                total += 0.5 * v[i, j] * v[i, j] / inverse[i, j]
    return total


@njit
def drift(q, turns, rows, mode, soft):
    """The largest violation of a joint's row or limit."""
    n = len(rows.kind)
    value, Ja, Jb = np.empty(n), np.empty((n, 3)), np.empty((n, 3))
    joint_rows(q, turns, rows, 0, value, Ja, Jb)
    return violation(value, mode, soft)


def _make_advance(nested):
    @njit(nogil=True)
    def advance(
        steps, options, room, q, turns, v, memory, kept, worst, bodies, shapes, constraints
    ):  # fmt: skip
        """Up to `steps` > 0 steps from q, v (nb, 3), both changed in place; otherwise as `loop_space.advance`.

        turns (nt,): differences of angles at the start of a run, which stay. Bodies that no force moves have no inverse
        mass: their velocity stays and takes them along.
        """
        h, tol, accept, parallel, eps = options.h, options.tol, options.accept, options.parallel, options.eps
        joints, rows, repeat = constraints.joints, constraints.rows, options.repeat
        nj = len(joints.size)
        inverse, Minv, moves, _, force, reach, swing = bodies
        nb, ns = q.shape[0], len(shapes.kind)
        x, angle = np.empty((nb, 2)), np.empty(nb)
        v_free, new_free, new_v, new_q = np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3))
        held, own, none, taken = np.empty(nb, np.bool_), np.zeros(MAXIMA + 2), np.zeros(0), 0
        before = copied(q, turns, v, memory, worst)
        band = max(2.0 * h * begin(h, q, v, inverse, force, reach, v_free, x, angle), max(eps, 0.0))
        kept, found = find(x, angle, band, room, kept, shapes, moves)
        geometry, kinetic = measure(x, angle, found), kinetic_energy(v, inverse)
        while True:
            if 0 < taken == steps - 1:
                before = copied(q, turns, v, memory, worst)
            room = max(room, len(geometry.gap) * 5 // 4)
            made = assemble_planar(options, ns, q, turns, v, v_free, Minv, memory, found, geometry, constraints)
            keys = made.keys
            acting = len(keys) - nj
            if nested:
                ended, sweeps, error, impulses = attempt_planar_nested(options, made, v, v_free, new_v, held)
            else:
                ended, sweeps, error, impulses = attempt_planar(options, made, v, v_free, new_v, held)
            if ended != SOLVED and (ended != ACCEPTED or nj):  # joints may have contradicted each other
                return taken, memory, kept, (band, sweeps, v_free, Minv, found, made, band, found, before), none
            for i in range(nb):
                for j in range(3):
                    new_q[i, j] = q[i, j] + h * new_v[i, j]
            stay(q, held, new_q)
            if not finite(new_q):
                return taken, memory, kept, (band, sweeps, v_free, Minv, found, made, band, found, before), none
            faster = h * approach(new_v, reach, 2, band / h)
            if faster > band and eps < 0.0:  # others may have been reached: such a step is solved again, by the scheme
                new_x, new_angle = np.empty((nb, 2)), np.empty(nb)
                poses(q, x, angle)
                poses(new_q, new_x, new_angle)
                wide = find_on_the_way(x, angle, new_x, new_angle, band, faster, room, kept, shapes, moves)
                at_start, at_end = measure(x, angle, wide), measure(new_x, new_angle, wide)
                if reaches(ns, found, wide, at_end.gap, at_start.normal, at_end.normal):
                    return taken, memory, kept, (band, sweeps, v_free, Minv, found, made, band, found, before), none
            missed = tol if ended == SOLVED else accept
            # what is detected at the end of this step certifies it, and is where the next one begins
            new_band = max(2.0 * h * begin(h, new_q, new_v, inverse, force, reach, new_free, x, angle), max(eps, 0.0))
            kept, ahead = find(x, angle, new_band, room, kept, shapes, moves)
            geometry = measure(x, angle, ahead)
            if eps < 0.0 and crosses(ns, found, ahead, geometry.gap, new_v, swing, 2, h, h * missed * made.scale[0]):
                return taken, memory, kept, (band, sweeps, v_free, Minv, found, made, band, found, before), none
            new_kinetic = kinetic_energy(new_v, inverse)
            fast = h * fastest_spin(new_v, moves, swing, 2) > FAST
            gained, unexplained = gains(h, v, new_v, kinetic, new_kinetic, new_kinetic, force, 2, fast, made)
            if fast and gained > GAINED * kinetic:  # the scheme decides whether that is too much
                return taken, memory, kept, (band, sweeps, v_free, Minv, found, made, band, found, before), none
            kinetic = new_kinetic
            _, same = take_over(parallel, q, turns, v, new_q, turns, new_v)
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
            v_free, new_free = new_free, v_free

    return advance


advance, advance_nested = _make_advance(0), _make_advance(1)
