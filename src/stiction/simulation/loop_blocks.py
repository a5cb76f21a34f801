"""The blocks of a step in the compiled loop: their laws and bodies, and the impulses that they keep for the next."""

from __future__ import annotations

import numpy as np

from .._jit import njit, prange
from ..problem.body_kernels import MANY, PARTS
from ..problem.laws import DRY, UNILATERAL

CODES = 1 << 22  # as in systems.model


@njit(leaf=True)
def law_of(shape_a, shape_b, body_a, body_b, material, by_material, pair, by_pair, nb):
    """The number of the law of a contact: that of its pair of bodies, or of its materials."""
    if len(pair):
        key = body_a * nb + body_b
        first, last = 0, len(pair)
        while first < last:
            middle = (first + last) // 2
            if pair[middle] < key:
                first = middle + 1
            else:
                last = middle
        if first < len(pair) and pair[first] == key:
            return by_pair[first]
    return by_material[material[shape_a], material[shape_b]]


@njit(leaf=True)
def within(gap, eps, keep):
    """keep (n,): places of the contacts with gap <= eps; returns how many."""
    n = 0
    for k in range(len(gap)):
        if gap[k] <= eps:
            keep[n] = k
            n += 1
    return n


@njit(leaf=True)
def _contacts(
    start, stop, keep, shapes, found, nb, material, by_material, pair, by_pair, law_set, law_mu, keys, law, a, b,
    number, set_of, mu,
):  # fmt: skip
    """What `blocks_of` says of the contacts start..stop of those in `keep`, in arrays of theirs alone."""
    fa, fb, sa, sb, code = found
    for i in range(start, stop):
        k = keep[i]
        keys[i], law[i] = (sa[k] * shapes + sb[k]) * CODES + code[k], UNILATERAL
        a[i], b[i] = fa[k], fb[k]
        number[i] = law_of(sa[k], sb[k], fa[k], fb[k], material, by_material, pair, by_pair, nb)
        set_of[i], mu[i] = law_set[number[i]], law_mu[number[i]]


@njit(parallel=True)
def _contacts_parallel(
    n, keep, shapes, found, nb, material, by_material, pair, by_pair, law_set, law_mu, keys, law, a, b, number, set_of,
    mu,
):  # fmt: skip
    for part in prange(PARTS):
        c = np.int64(part)
        _contacts(
            n * c // PARTS, n * (c + 1) // PARTS, keep, shapes, found, nb, material, by_material, pair, by_pair,
            law_set, law_mu, keys, law, a, b, number, set_of, mu,
        )  # fmt: skip


@njit(sealed=True)
def blocks_of(
    parallel, n, keep, shapes, found, joint_size, joint_bodies, joint_law, material, by_material, pair, by_pair, nb,
    law_rows, law_set, law_mu,
):  # fmt: skip
    """The blocks of a step, joints first: keys, law, row_ptr, set_of, mu, and the two bodies of each.

    Of the contacts `found` the first n in `keep`. Last the number of the law of each contact.
    """
    nj = len(joint_size)
    nk = nj + n
    keys, law, row_ptr = np.empty(nk, np.int64), np.empty(nk, np.int64), np.zeros(nk + 1, np.int64)
    set_of, mu, number = np.empty(nk, np.int64), np.zeros(nk), np.empty(n, np.int64)
    a, b = np.empty(nk, np.int64), np.empty(nk, np.int64)
    for j in range(nj):
        dry = joint_law[j] == DRY
        keys[j], law[j], set_of[j], mu[j] = j - nj, joint_law[j], law_set[-2 if dry else -1], 1.0 if dry else 0.0
        a[j], b[j] = joint_bodies[j, 0], joint_bodies[j, 1]
        row_ptr[j + 1] = row_ptr[j] + joint_size[j]
    own = (
        keep, shapes, found, nb, material, by_material, pair, by_pair, law_set, law_mu, keys[nj:], law[nj:], a[nj:],
        b[nj:], number, set_of[nj:], mu[nj:],
    )  # fmt: skip
    if parallel and n > MANY:
        _contacts_parallel(n, *own)
    else:
        _contacts(np.int64(0), n, *own)
    for i in range(n):
        row_ptr[nj + i + 1] = row_ptr[nj + i] + law_rows[number[i]]
    return keys, law, row_ptr, set_of, mu, a, b, number


@njit(leaf=True)
def _remembered(start, stop, keys, row_ptr, old_keys, old, p):
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
def _remembered_parallel(keys, row_ptr, old_keys, old, p):
    n = len(keys)
    for part in prange(PARTS):
        c = np.int64(part)
        _remembered(n * c // PARTS, n * (c + 1) // PARTS, keys, row_ptr, old_keys, old, p)


@njit
def remembered(parallel, keys, row_ptr, old_keys, old, p):
    """p (nr,): the last step's impulses (., 6) in the rows of the constraints known from it, zero for new ones."""
    if parallel and len(keys) > MANY:
        _remembered_parallel(keys, row_ptr, old_keys, old, p)
    else:
        _remembered(np.int64(0), len(keys), keys, row_ptr, old_keys, old, p)


@njit(leaf=True)
def _by_block(start, stop, row_ptr, p, impulses):
    for k in range(start, stop):
        n = row_ptr[k + 1] - row_ptr[k]
        for j in range(6):
            impulses[k, j] = p[row_ptr[k] + j] if j < n else 0.0


@njit(parallel=True)
def _by_block_parallel(row_ptr, p, impulses):
    n = len(impulses)
    for part in prange(PARTS):
        c = np.int64(part)
        _by_block(n * c // PARTS, n * (c + 1) // PARTS, row_ptr, p, impulses)


@njit
def by_block(parallel, row_ptr, p):
    """The impulses p (nr,) as (nk, 6), zero behind the rows of a block."""
    impulses = np.empty((len(row_ptr) - 1, 6))
    if parallel and len(impulses) > MANY:
        _by_block_parallel(row_ptr, p, impulses)
    else:
        _by_block(np.int64(0), len(impulses), row_ptr, p, impulses)
    return impulses
