"""Solve: a first attempt of block Gauss–Seidel at the problem of a step, and what its impulses do to the bodies."""

from __future__ import annotations

import math

import numpy as np

from ...problem.body_kernels import THREAD_PARTS, THREADS_MIN_BLOCKS, velocity_change, weigh_blocks
from ...runtime.jit import njit, prange
from ...solvers.gauss_seidel.first_attempt import (
    attempt_planar,
    attempt_planar_nested,
    attempt_spatial,
    attempt_spatial_nested,
)
from ...solvers.gauss_seidel.outcome import AT_REST, NONFINITE, SOLVED
from ...solvers.gauss_seidel.parameters import ATTEMPT
from ...solvers.gauss_seidel.schedule import Aim
from ...solvers.gauss_seidel.sweep_list import classify
from ...solvers.rest import REST, at_rest, come_to_rest, inner_tolerance
from ..spring_kernels import all_elastic
from .blocks import impulses_by_block


@njit(leaf=True)
def _respond(start, stop, v_free, change, v):
    all_finite = True
    for i in range(start, stop):
        for j in range(v.shape[1]):
            v[i, j] = v_free[i, j] + change[i, j]
            all_finite = all_finite and abs(v[i, j]) < math.inf
    return all_finite


@njit(parallel=True)
def _respond_parallel(v_free, change, v, all_finite):
    n = len(v)
    for part in prange(THREAD_PARTS):
        c = np.int64(part)
        all_finite[c] = _respond(n * c // THREAD_PARTS, n * (c + 1) // THREAD_PARTS, v_free, change, v)


@njit
def respond(known, parallel, row_ptr, form, p, v_free, change, v):
    """v = v_free + M⁻¹ Hᵀ p, body by body; change: M⁻¹ Hᵀ p, if known.

    Returns whether all velocities are finite.
    """
    if not known:
        velocity_change(parallel, form.body_a, form.body_b, row_ptr, form.Ja, form.Jb, form.Minv, p, change)
    if not parallel or len(v) <= THREADS_MIN_BLOCKS:
        return _respond(np.int64(0), len(v), v_free, change, v)
    all_finite = np.empty(THREAD_PARTS, np.bool_)
    _respond_parallel(v_free, change, v, all_finite)
    return all_finite.all()


def _make_solve(d, nested):
    first_attempt = attempt_planar if d == 3 else attempt_spatial
    first_attempt_nested = (attempt_planar_nested if d == 3 else attempt_spatial_nested) if nested else first_attempt

    @njit(sealed=True)
    def solve(options, problem, v_start, v_free, change):
        """Block Gauss–Seidel on the problem of a step; its p holds the first guess and receives the answer.

        Returns how it ended, the sweeps, the error, and whether change (nb, d) has received the velocities that p gives
        the bodies; `free` of the problem, H v_free before, is H v_free + b afterwards, and its rho and scale are known.
        The same calls as `Nsgs` makes on a problem of its own; only where `nested` may there be blocks of that kind
        (`gauss_seidel.sweep_list.classify`).
        """
        laws, form, b, p, rho = problem.laws, problem.form, problem.demand, problem.p, problem.rho
        tol, parallel = options.tol, options.parallel
        nr, nk = len(b), len(laws.law)
        if nr == 0:
            return SOLVED, 0, 0.0, False
        free = problem.free
        scale = weigh_blocks(parallel, laws, problem.diagonal, problem.terms, b, free, rho)
        problem.scale[0] = scale
        inner = inner_tolerance(tol, nr)
        if nr <= REST.max_rows:
            error = at_rest(inner, scale, laws, form, rho, v_start, v_free, b, p, change)
            if error < math.inf:
                return SOLVED, AT_REST, error, True
        has_nested = False
        if nested:  # the kernels that `Nsgs` takes: others would differ in the last bit
            kind, times = np.empty(nk, np.int8), np.empty(nk, np.int64)
            has_nested, _ = classify(parallel, laws, kind, times)
        elastic = nr > ATTEMPT.strict_rows and all_elastic(laws.law, problem.springs)
        most = options.accept if nr > ATTEMPT.strict_rows and not elastic else tol
        few, many = ATTEMPT.few_sweeps, ATTEMPT.many_sweeps
        if most > tol:
            few, many = ATTEMPT.bounded_few_sweeps, ATTEMPT.bounded_many_sweeps
        limit = few if nr <= ATTEMPT.few_rows else many
        if elastic:
            limit = ATTEMPT.elastic_sweeps
        aim = Aim(inner, most if most > tol else inner, options.strict_rows, scale, limit, parallel, True)
        if nested and has_nested:
            ended, sweeps, error, known = first_attempt_nested(aim, laws, form, free, b, rho, p, change)
        else:
            ended, sweeps, error, known = first_attempt(aim, laws, form, free, b, rho, p, change)
        return SOLVED if error <= tol else ended, sweeps, error, known

    return solve


def _make_attempt(d, nested):
    solve = _make_solve(d, nested)

    @njit(sealed=True)
    def attempt(options, problem, v, v_free, new_v, resting):
        """`solve`, and what its impulses do: new_v, the velocity that they leave, resting (nb,), the bodies at rest.

        Returns how it ended, the sweeps, the error, and the impulses (nk, 6) for the next step.
        """
        laws, form, p, parallel = problem.laws, problem.form, problem.p, options.parallel
        change = np.empty(v.shape)
        ended, sweeps, error, known = solve(options, problem, v, v_free, change)
        if not respond(known, parallel, laws.row_ptr, form, p, v_free, change, new_v):
            ended = NONFINITE
        for i in range(len(resting)):
            resting[i] = False
        if len(p) and ended == SOLVED:
            at_rest_now = come_to_rest(
                inner_tolerance(options.tol, len(p)), problem.scale[0], laws, form, problem.rho, problem.demand, p,
                new_v, resting,
            )  # fmt: skip
            if at_rest_now < math.inf:
                error = at_rest_now
        return ended, sweeps, error, impulses_by_block(parallel, laws.row_ptr, p)

    return attempt


attempts = {(d, nested): _make_attempt(d, nested) for d in (3, 6) for nested in (0, 1)}
