"""The blocks of a step in the compiled loop: their laws and bodies, and the impulses that they keep for the next."""

from __future__ import annotations

import numpy as np

from ...problem.body_kernels import THREAD_PARTS, THREADS_MIN_BLOCKS
from ...problem.laws import DRY, UNILATERAL
from ...runtime.jit import njit, prange

CODES = 1 << 22  # as in systems.model


@njit(leaf=True)
def key_of(k, found, shapes):
    """The key of contact k in a world of `shapes` shapes."""
    return (found.shape_a[k] * shapes + found.shape_b[k]) * CODES + found.code[k]


@njit(leaf=True)
def law_of(k, found, rules, nb):
    """The number of the law of contact k: that of its pair of bodies, or of its materials."""
    pair = rules.pair
    if len(pair):
        key = found.body_a[k] * nb + found.body_b[k]
        first, last = 0, len(pair)
        while first < last:
            middle = (first + last) // 2
            if pair[middle] < key:
                first = middle + 1
            else:
                last = middle
        if first < len(pair) and pair[first] == key:
            return rules.by_pair[first]
    return rules.by_material[rules.material[found.shape_a[k]], rules.material[found.shape_b[k]]]


@njit(leaf=True)
def select_within(gap, eps, keep):
    """keep (n,): places of the contacts with gap <= eps; returns how many."""
    n = 0
    for k in range(len(gap)):
        if gap[k] <= eps:
            keep[n] = k
            n += 1
    return n


@njit(leaf=True)
def _contacts(start, stop, keep, shapes, found, nb, rules, nj, blocks):
    """What `blocks_of` says of the contacts start..stop of those in `keep`; nj joints come before them."""
    keys, law, a, b, number, set_of, mu = blocks
    for i in range(start, stop):
        k, at = keep[i], nj + i
        keys[at], law[at] = key_of(k, found, shapes), UNILATERAL
        a[at], b[at] = found.body_a[k], found.body_b[k]
        number[i] = law_of(k, found, rules, nb)
        set_of[at], mu[at] = rules.set_of[number[i]], rules.mu[number[i]]


@njit(parallel=True)
def _contacts_parallel(n, keep, shapes, found, nb, rules, nj, blocks):
    for part in prange(THREAD_PARTS):
        c = np.int64(part)
        _contacts(n * c // THREAD_PARTS, n * (c + 1) // THREAD_PARTS, keep, shapes, found, nb, rules, nj, blocks)


@njit(sealed=True)
def blocks_of(parallel, n, keep, shapes, found, joints, rules, nb):
    """The blocks of a step, joints first: keys, law, row_ptr, set_of, mu, and the two bodies of each.

    Of the contacts `found` the first n in `keep`. Last the number of the law of each contact.
    """
    bodies, joint_law, size, rows, rule_set_of = joints.bodies, joints.law, joints.size, rules.rows, rules.set_of
    nj = len(size)
    nk = nj + n
    keys, law, row_ptr = np.empty(nk, np.int64), np.empty(nk, np.int64), np.zeros(nk + 1, np.int64)
    set_of, mu, number = np.empty(nk, np.int64), np.zeros(nk), np.empty(n, np.int64)
    a, b = np.empty(nk, np.int64), np.empty(nk, np.int64)
    for j in range(nj):
        dry = joint_law[j] == DRY
        keys[j], law[j], mu[j] = j - nj, joint_law[j], 1.0 if dry else 0.0
        set_of[j] = rule_set_of[-2 if dry else -1]
        a[j], b[j] = bodies[j, 0], bodies[j, 1]
        row_ptr[j + 1] = row_ptr[j] + size[j]
    blocks = keys, law, a, b, number, set_of, mu
    if parallel and n > THREADS_MIN_BLOCKS:
        _contacts_parallel(n, keep, shapes, found, nb, rules, nj, blocks)
    else:
        _contacts(np.int64(0), n, keep, shapes, found, nb, rules, nj, blocks)
    for i in range(n):
        row_ptr[nj + i + 1] = row_ptr[nj + i] + rows[number[i]]
    return keys, law, row_ptr, set_of, mu, a, b, number


@njit(leaf=True)
def _take_warm_start(start, stop, keys, row_ptr, old_keys, old, p):
    at, last = 0, len(old_keys)
    while start < stop and at < last:  # the first that is not before keys[start]
        middle = (at + last) // 2
        if old_keys[middle] < keys[start]:
            at = middle + 1
        else:
            last = middle
    for k in range(start, stop):
        while at < len(old_keys) and old_keys[at] < keys[k]:
            at += 1
        known = at < len(old_keys) and old_keys[at] == keys[k]
        for r in range(row_ptr[k], row_ptr[k + 1]):
            p[r] = old[at, r - row_ptr[k]] if known else 0.0


@njit(parallel=True)
def _take_warm_start_parallel(keys, row_ptr, old_keys, old, p):
    n = len(keys)
    for part in prange(THREAD_PARTS):
        c = np.int64(part)
        _take_warm_start(n * c // THREAD_PARTS, n * (c + 1) // THREAD_PARTS, keys, row_ptr, old_keys, old, p)


@njit
def take_warm_start(parallel, keys, row_ptr, old_keys, old, p):
    """p (nr,): the last step's impulses (., 6) in the rows of the constraints known from it, zero for new ones."""
    if parallel and len(keys) > THREADS_MIN_BLOCKS:
        _take_warm_start_parallel(keys, row_ptr, old_keys, old, p)
    else:
        _take_warm_start(np.int64(0), len(keys), keys, row_ptr, old_keys, old, p)


@njit(leaf=True)
def _impulses_by_block(start, stop, row_ptr, p, impulses):
    for k in range(start, stop):
        n = row_ptr[k + 1] - row_ptr[k]
        for j in range(6):
            impulses[k, j] = p[row_ptr[k] + j] if j < n else 0.0


@njit(parallel=True)
def _impulses_by_block_parallel(row_ptr, p, impulses):
    n = len(impulses)
    for part in prange(THREAD_PARTS):
        c = np.int64(part)
        _impulses_by_block(n * c // THREAD_PARTS, n * (c + 1) // THREAD_PARTS, row_ptr, p, impulses)


@njit
def impulses_by_block(parallel, row_ptr, p):
    """The impulses p (nr,) as (nk, 6), zero behind the rows of a block."""
    impulses = np.empty((len(row_ptr) - 1, 6))
    if parallel and len(impulses) > THREADS_MIN_BLOCKS:
        _impulses_by_block_parallel(row_ptr, p, impulses)
    else:
        _impulses_by_block(np.int64(0), len(impulses), row_ptr, p, impulses)
    return impulses
