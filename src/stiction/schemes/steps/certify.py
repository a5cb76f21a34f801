"""Certify: what a step says of itself, from where it ends: overlaps, contacts that it has run into, energy.

Python says the same at more length, and says which contacts; here the answer is only yes or no (`missed_contacts.py`,
`base.py`).
"""

from __future__ import annotations

import math

import numpy as np

from ...problem.body_kernels import rows_times
from ...runtime.jit import njit
from ..step_kernels import work_of_rows
from .blocks import key_of


@njit(leaf=True)
def deepest_overlap(gap):
    """The deepest overlap [m]."""
    least = 0.0
    for k in range(len(gap)):
        least = min(least, gap[k])
    return -least


@njit(leaf=True)
def met_beyond_band(shapes, found, wide, gap, normal, new_normal):
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
def met_new_features(shapes, found, at_end, gap, v, swing, dim, h, left):
    """Whether contacts `at_end`, detected at the end of a step, overlap by `gap` though they are none of `found`.

    As `missed_contacts.met_new_features`: more than those that are among `found`, and than a step of first order may
    miss; left: what the tolerance leaves [m].
    """
    n, least, unknown = len(found.code), 0.0, False
    for again in range(2):
        k = 0
        for i in range(len(gap)):
            if gap[i] >= 0.0:
                continue
            key = key_of(i, at_end, shapes)
            while k < n and key_of(k, found, shapes) < key:
                k += 1
            if k < n and key_of(k, found, shapes) == key:
                least = max(least, -gap[i])
                continue
            unknown = True
            if again:
                slack = left
                for body in (at_end.body_a[i], at_end.body_b[i]):
                    for j in range(dim, v.shape[1]):
                        slack += 0.5 * h * h * v[body, j] * v[body, j] * swing[body]
                if -gap[i] > max(least, slack):
                    return True
        if not unknown:
            return False
    return False


@njit(sealed=True)
def energy_gain(h, v, solved_v, energies, force, dim, fast, problem):
    """The energy [J] that a step gains by its own error, and whether it is to be called unexplained.

    As `schemes.base.certify_step` says it. energies: kinetic ones before the step, with the velocity solved_v that
    impulses have left, and after it; fast: whether a body turns so far that it has to be known exactly;
    problem: the `StepProblem`.
    """
    kinetic, solved_kinetic, new_kinetic = energies
    laws, (a, b, Ja, Jb, _), demand, p = problem.laws, problem.form, problem.demand, problem.p
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
