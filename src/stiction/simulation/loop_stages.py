"""The stages of an Anitescu–Hart step that plane and space share, as compiled functions.

Each does what the corresponding method of the model or of the scheme does, by the same kernels or the same operations
in the same order, so that a step in the compiled loop ends in the same bits as one through Python.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import njit, prange
from ..problem.body_kernels import (
    MANY,
    PARTS,
    delassus_diagonal,
    rows_times,
    velocity_change,
    weigh,
)
from ..problem.records import BodyRows, Laws
from ..schemes.overlap_kernels import left_overlap
from ..schemes.record_kernels import work_of_rows
from ..solvers.held import come_to_rest
from ..solvers.nsgs_ends import (
    AT_REST,
    BOUNDED_FEW,
    BOUNDED_MANY,
    NONFINITE,
    QUICK_FEW,
    QUICK_MANY,
    QUICK_ROWS,
    SOLVED,
    STRICT_ROWS,
)
from ..solvers.nsgs_items import classify
from ..solvers.nsgs_near import near_planar, near_planar_nested, near_spatial, near_spatial_nested
from ..solvers.nsgs_relax import Aim
from ..solvers.nsgs_rest import SMALL, at_rest, inner_tolerance
from ..systems.kernels2 import joint_rows as planar_joint_rows
from ..systems.kernels3 import joint_rows as spatial_joint_rows
from ..systems.mechanism_kernels import demands
from .loop_blocks import blocks_of, by_block, key_of, remembered, within
from .loop_records import StepProblem
from .loop_rows import rows_planar, rows_spatial


@njit
def demand_of(h, stabilize, value, row_ptr, form, v, joints):
    """r0, b, C, lo and hi of a step's problem: contacts demand their gap, joints what their rows are for."""
    a, b, Ja, Jb, Minv = form
    bound = joints.bound
    nr, nk, nj, n = len(value), len(a), len(bound), len(joints.mode)
    r0, demand, C = np.zeros(nk), np.zeros(nr), np.zeros(nr)
    lo, hi = np.full(nr, -math.inf), np.full(nr, math.inf)
    for k in range(nj):
        r0[k] = h * bound[k]
    if stabilize:
        for r in range(nr):
            demand[r] = value[r] / h
    if n:
        start, speed, light = np.empty(n), np.empty(n), np.empty(n)
        for r in range(n):
            start[r] = value[r] / h
        rows_times(a[:nj], b[:nj], row_ptr[: nj + 1], Ja, Jb, v, speed)
        delassus_diagonal(a[:nj], b[:nj], row_ptr[: nj + 1], Ja, Jb, Minv, light)
        demands(
            h, stabilize, joints.mode, joints.soft, joints.damping, joints.row_bound, joints.target, start, speed,
            light, demand, C, lo, hi,
        )  # fmt: skip
    return r0, demand, C, lo, hi


@njit(leaf=True)
def _respond(start, stop, v_free, change, v):
    finite = True
    for i in range(start, stop):
        for j in range(v.shape[1]):
            v[i, j] = v_free[i, j] + change[i, j]
            finite = finite and abs(v[i, j]) < math.inf
    return finite


@njit(parallel=True)
def _respond_parallel(v_free, change, v, finite):
    n = len(v)
    for part in prange(PARTS):
        c = np.int64(part)
        finite[c] = _respond(n * c // PARTS, n * (c + 1) // PARTS, v_free, change, v)


@njit
def respond(known, parallel, row_ptr, form, p, v_free, change, v):
    """v = v_free + M⁻¹ Hᵀ p, body by body; change: M⁻¹ Hᵀ p, if known.

    Returns whether all velocities are finite.
    """
    if not known:
        velocity_change(parallel, form.body_a, form.body_b, row_ptr, form.Ja, form.Jb, form.Minv, p, change)
    if not parallel or len(v) <= MANY:
        return _respond(np.int64(0), len(v), v_free, change, v)
    finite = np.empty(PARTS, np.bool_)
    _respond_parallel(v_free, change, v, finite)
    return finite.all()


@njit(leaf=True)
def overlap(gap):
    """The deepest overlap [m]."""
    least = 0.0
    for k in range(len(gap)):
        least = min(least, gap[k])
    return -least


@njit(leaf=True)
def reaches(shapes, found, wide, gap, normal, new_normal):
    """Whether contacts `wide` that are none of `found` overlap by `gap`, or are passed: the normal has turned round."""
    k, n = 0, len(found.code)
    for i in range(len(gap)):
        key = key_of(i, wide, shapes)
        while k < n and key_of(k, found, shapes) < key:
            k += 1
        if k < n and key_of(k, found, shapes) == key:
            continue
        along = 0.0
        for j in range(normal.shape[1]):
            along += normal[i, j] * new_normal[i, j]
        if gap[i] < 0.0 or along < 0.0:
            return True
    return False


@njit(leaf=True)
def finite(q):
    """Whether all of q (nb, .) is finite."""
    good = True
    for i in range(q.shape[0]):
        for j in range(q.shape[1]):
            good = good and abs(q[i, j]) < math.inf
    return good


@njit(leaf=True)
def crosses(shapes, found, ahead, gap, v, swing, dim, h, left):
    """Whether contacts `ahead`, detected at the end of a step, overlap by `gap` though they are none of `found`.

    As `schemes.unforeseen.crossed`: more than those that are among `found`, and than a step of first order may miss;
    left: what the tolerance leaves [m].
    """
    n, least, unknown = len(found.code), 0.0, False
    for again in range(2):
        k = 0
        for i in range(len(gap)):
            if gap[i] >= 0.0:
                continue
            key = key_of(i, ahead, shapes)
            while k < n and key_of(k, found, shapes) < key:
                k += 1
            if k < n and key_of(k, found, shapes) == key:
                least = max(least, -gap[i])
                continue
            unknown = True
            if again:
                slack = left
                for body in (ahead.body_a[i], ahead.body_b[i]):
                    for j in range(dim, v.shape[1]):
                        slack += 0.5 * h * h * v[body, j] * v[body, j] * swing[body]
                if -gap[i] > max(least, slack):
                    return True
        if not unknown:
            return False
    return False


@njit(sealed=True)
def gains(h, v, solved_v, kinetic, solved_kinetic, new_kinetic, force, dim, fast, made):
    """The energy [J] that a step gains by its own error, and whether it is to be called unexplained.

    As `schemes.base.certify_step` says it. kinetic, solved_kinetic, new_kinetic: before the step, with the velocity
    solved_v that impulses have left, and after it; fast: whether a body turns so far that it has to be known exactly;
    made: the `StepProblem`.
    """
    laws, (a, b, Ja, Jb, _), demand, p = made.laws, made.form, made.demand, made.p
    row_ptr, law, C = laws.row_ptr, laws.law, laws.C
    truncation, work = 0.0, 0.0
    for i in range(v.shape[0]):
        for first, last in ((0, dim), (dim, v.shape[1])):
            push, start, stop = 0.0, 0.0, 0.0
            for j in range(first, last):
                push += force[i, j] * force[i, j]
                start += v[i, j] * v[i, j]
                stop += solved_v[i, j] * solved_v[i, j]
            work += h * math.sqrt(push * max(start, stop))
        for j in range(dim):
            truncation += 0.5 * h * force[i, j] * (v[i, j] - solved_v[i, j])
    allowed = max(1e-3 * max(kinetic, new_kinetic), work)
    gained = truncation + new_kinetic - solved_kinetic
    most = 0.0
    for r in range(len(p)):
        most += abs(demand[r] * p[r])
    if gained + most <= allowed and not fast:
        return 0.0, False
    mean, u, after = 0.5 * (v + solved_v), np.empty(len(p)), np.empty(len(p))
    rows_times(a, b, row_ptr, Ja, Jb, mean, u)
    rows_times(a, b, row_ptr, Ja, Jb, solved_v, after)
    gained += work_of_rows(row_ptr, law, C, demand, p, u, after)[5]
    return gained, gained > allowed


@njit(leaf=True)
def stay(q, held, new_q):
    """new_q (nb, .) with the bodies `held` where they are in q."""
    for i in range(q.shape[0]):
        if held[i]:
            for j in range(q.shape[1]):
                new_q[i, j] = q[i, j]


@njit(leaf=True)
def _take_over(start, stop, q, v, new_q, new_v):
    place, same = True, True
    for i in range(start, stop):
        for j in range(q.shape[1]):
            place = place and q[i, j] == new_q[i, j]
            q[i, j] = new_q[i, j]
        for j in range(v.shape[1]):
            same = same and v[i, j] == new_v[i, j]
            v[i, j] = new_v[i, j]
    return place, same


@njit(parallel=True)
def _take_over_parallel(q, v, new_q, new_v, place, same):
    n = len(q)
    for part in prange(PARTS):
        c = np.int64(part)
        place[c], same[c] = _take_over(n * c // PARTS, n * (c + 1) // PARTS, q, v, new_q, new_v)


@njit
def take_over(parallel, q, turns, v, new_q, new_turns, new_v):
    """q, turns and v become the new ones; whether q, and all of them, are the same to the bit."""
    if parallel and len(q) > MANY:
        places, sames = np.empty(PARTS, np.bool_), np.empty(PARTS, np.bool_)
        _take_over_parallel(q, v, new_q, new_v, places, sames)
        place, same = places.all(), sames.all()
    else:
        place, same = _take_over(np.int64(0), len(q), q, v, new_q, new_v)
    for c in range(len(turns)):
        same = same and turns[c] == new_turns[c]
        turns[c] = new_turns[c]
    return place, same and place


@njit
def copied(q, turns, v, memory, worst):
    """What a step begins from, kept while it is taken."""
    return q.copy(), turns.copy(), v.copy(), memory[0], memory[1], worst.copy()


@njit(leaf=True)
def as_before(keys, impulses, old_keys, old):
    """Whether keys and impulses are those of the step before, to the bit."""
    if len(keys) != len(old_keys):
        return False
    for k in range(len(keys)):
        if keys[k] != old_keys[k]:
            return False
        for j in range(6):
            if impulses[k, j] != old[k, j]:
                return False
    return True


def _make_assemble(d):
    @njit(sealed=True)
    def assemble(options, shapes, q, turns, v, v_free, Minv, memory, found, geometry, constraints):
        """The `StepProblem` of a step from contacts `found` within the band, with their geometry at q.

        memory: keys and impulses of the last step. The geometry of contacts that act comes first in its arrays
        afterwards.
        """
        parallel, eps, joints = options.parallel, options.eps, constraints.joints
        gap, normal, point_a, point_b = geometry
        n, nb, nj = len(gap), q.shape[0], len(joints.size)
        keep = np.empty(n, np.int64)
        acting = within(gap, eps if eps >= 0.0 else math.inf, keep)
        keys, law, row_ptr, set_of, mu, a, b, number = blocks_of(
            parallel, acting, keep, shapes, found, joints, constraints.rules, nb
        )
        nr = row_ptr[len(keys)]
        if acting < n:
            for i in range(acting):
                k = keep[i]
                gap[i] = gap[k]
                for j in range(normal.shape[1]):
                    normal[i, j], point_a[i, j], point_b[i, j] = normal[k, j], point_a[k, j], point_b[k, j]
        value, p, length = np.zeros(nr), np.empty(nr), np.ones(nr)
        length[: len(joints.length)] = joints.length
        form = BodyRows(a, b, np.empty((nr, d)), np.empty((nr, d)), Minv)
        facts = np.empty(nr), np.empty(nr), np.empty(nr)
        if d == 6:
            spatial_joint_rows(q, turns, *constraints.rows, 0, value, form.Ja, form.Jb)
            rows_spatial(parallel, q, geometry, nj, number, constraints.rules, row_ptr, length, form, v_free, facts)
        else:
            planar_joint_rows(q, turns, *constraints.rows, 0, value, form.Ja, form.Jb)
            rows_planar(parallel, q, geometry, nj, number, constraints.rules, row_ptr, length, form, v_free, facts)
        for i in range(acting):
            value[row_ptr[nj + i]] = gap[i]
        r0, demand, C, lo, hi = demand_of(options.h, options.stabilize, value, row_ptr, form, v, joints)
        if nr > options.strict_rows:
            left = left_overlap(v, v_free, Minv, 2 if d == 3 else 3, options.tol, options.accept)
            for i in range(acting):
                r = row_ptr[nj + i]
                if -left < demand[r] < 0.0:
                    demand[r] = 0.0
        remembered(parallel, keys, row_ptr, *memory, p)
        shape, semi, vertices, vertex_ptr, facets, facet_ptr = constraints.sets
        laws = Laws(
            law, row_ptr, set_of, mu, r0, shape, semi, vertices, vertex_ptr, facets, facet_ptr, lo, hi, length, C,
            options.associated,
        )  # fmt: skip
        free, terms, diagonal = facts
        return StepProblem(keys, laws, form, demand, free, terms, diagonal, p, np.empty(len(keys)), np.ones(1))

    return assemble


assemble_planar, assemble_spatial = _make_assemble(3), _make_assemble(6)


def _make_solve(d, nested):
    @njit(sealed=True)
    def solve(options, problem, v_start, v_free, change):
        """Block Gauss–Seidel on the problem of a step; its p holds the first guess and receives the answer.

        Returns how it ended, the sweeps, the error, and whether change (nb, d) has received the velocities that p gives
        the bodies; `free` of the problem, H v_free before, is H v_free + b afterwards, and its rho and scale are known.
        The same calls as `Nsgs` makes on a problem of its own; only where `nested` may there be blocks of that kind
        (`nsgs_items.classify`).
        """
        laws, form, b, p, rho = problem.laws, problem.form, problem.demand, problem.p, problem.rho
        tol, parallel = options.tol, options.parallel
        nr, nk = len(b), len(laws.law)
        if nr == 0:
            return SOLVED, 0, 0.0, False
        free = problem.free
        scale = weigh(
            parallel, laws.row_ptr, problem.diagonal, laws.C, laws.length, problem.terms, b, laws.r0, laws.lo, laws.hi,
            free, rho,
        )  # fmt: skip
        problem.scale[0] = scale
        inner = inner_tolerance(tol, nr)
        if nr <= SMALL:
            error = at_rest(inner, scale, laws, form, rho, v_start, v_free, b, p, change)
            if error < math.inf:
                return SOLVED, AT_REST, error, True
        now = False
        if nested:  # the kernels that `Nsgs` takes: others would differ in the last bit
            kind, times = np.empty(nk, np.int8), np.empty(nk, np.int64)
            now, _ = classify(parallel, laws, kind, times)
        most = options.accept if nr > STRICT_ROWS else tol
        few, many = (BOUNDED_FEW, BOUNDED_MANY) if most > tol else (QUICK_FEW, QUICK_MANY)
        limit = few if nr <= QUICK_ROWS else many
        aim = Aim(inner, most if most > tol else inner, options.strict_rows, scale, limit, parallel, True)
        if nested and now:
            if d == 6:
                ended, sweeps, error, known = near_spatial_nested(aim, laws, form, free, b, rho, p, change)
            else:
                ended, sweeps, error, known = near_planar_nested(aim, laws, form, free, b, rho, p, change)
        elif d == 6:
            ended, sweeps, error, known = near_spatial(aim, laws, form, free, b, rho, p, change)
        else:
            ended, sweeps, error, known = near_planar(aim, laws, form, free, b, rho, p, change)
        return SOLVED if error <= tol else ended, sweeps, error, known

    return solve


solve_planar, solve_planar_nested = _make_solve(3, 0), _make_solve(3, 1)
solve_spatial, solve_spatial_nested = _make_solve(6, 0), _make_solve(6, 1)


def _make_attempt(d, nested):
    @njit(sealed=True)
    def attempt(options, problem, v, v_free, new_v, held):
        """`solve`, and what its impulses do: new_v, the velocity that they leave, held (nb,), the bodies at rest.

        Returns how it ended, the sweeps, the error, and the impulses (nk, 6) for the next step.
        """
        laws, form, p, parallel = problem.laws, problem.form, problem.p, options.parallel
        change = np.empty(v.shape)
        if d == 6 and nested:
            ended, sweeps, error, known = solve_spatial_nested(options, problem, v, v_free, change)
        elif d == 6:
            ended, sweeps, error, known = solve_spatial(options, problem, v, v_free, change)
        elif nested:
            ended, sweeps, error, known = solve_planar_nested(options, problem, v, v_free, change)
        else:
            ended, sweeps, error, known = solve_planar(options, problem, v, v_free, change)
        if not respond(known, parallel, laws.row_ptr, form, p, v_free, change, new_v):
            ended = NONFINITE
        for i in range(len(held)):
            held[i] = False
        if len(p) and ended == SOLVED:
            at_rest_now = come_to_rest(
                inner_tolerance(options.tol, len(p)), problem.scale[0], laws, form, problem.rho, problem.demand, p,
                new_v, held,
            )  # fmt: skip
            if at_rest_now < math.inf:
                error = at_rest_now
        return ended, sweeps, error, by_block(parallel, laws.row_ptr, p)

    return attempt


attempt_planar, attempt_planar_nested = _make_attempt(3, 0), _make_attempt(3, 1)
attempt_spatial, attempt_spatial_nested = _make_attempt(6, 0), _make_attempt(6, 1)
