"""The order in which block Gauss–Seidel visits the blocks: islands, near bodies next to each other, and cells.

Bodies that move are numbered by a breadth-first walk over the contacts, so that neighbours lie near each other in
memory; each connected set of bodies is an island, solved apart. A large island is cut into chunks of bodies, each wider
than any front of the walk, so that a chunk mostly touches the next one only, and there its bodies keep the order in
which they were given. The blocks of an island then form cells:

    phase 0    one cell per chunk, its own blocks
    phase 1    blocks between chunks 0 and 1, 2 and 3, ...
    phase 2    blocks between chunks 1 and 2, 3 and 4, ...
    phase 3    one cell with the few other blocks

Cells of one phase share no body: they can be swept at the same time. The cut depends on the problem alone, never on
the number of threads, and so do all results.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...problem.body_kernels import MANY, PARTS
from ...runtime.jit import njit, prange
from .records import Array

PHASES = 4
_CHUNK_BODIES = 512  # at least: smaller chunks would spend their time at the barriers between phases


class Islands(NamedTuple):
    """Where bodies and cells lie: ni islands, nb bodies of which the first slots hold those that move."""

    slot: Array  # (nb,) place of each body, the number of moving bodies for those that cannot move
    begin: Array  # (ni + 1,) where the bodies of each island start
    chunks: Array  # (ni,) into how many chunks it is cut
    of: Array  # (moving + 1,) the island of each slot
    phase: Array  # (ni, PHASES + 1) the cells phase[i, s]..phase[i, s + 1] of island i make phase s


class Places(NamedTuple):
    """Where each of nk blocks goes."""

    cell: Array  # (nk,) its cell; the first for blocks that touch no moving body, or are not near
    place: Array  # (nk,) the slot of the body by which blocks of a cell are sorted
    taken: Array  # (nk,) the items that it becomes, none where it is not near
    ends: Array  # (nk, 2) the slots of its bodies


@njit
def stride(n):
    """How far apart those of n cells lie that are taken one after the other, when threads share a phase.

    Near the golden section of n, and without a common divisor: threads take ranges, and the cells at one end of an
    island are often larger than those at the other.
    """
    step = max(1, int(0.618 * n))
    while True:
        a, b = step, n
        while b:
            a, b = b, a % b
        if a == 1:
            return step
        step += 1


@njit
def _neighbours(body_a, body_b, near, moves):
    """The bodies that share a block that is near with each body, as start (nbody + 1,) into a list."""
    n = len(moves)
    start = np.zeros(n + 1, np.int64)
    for k in range(len(body_a)):
        a, b = body_a[k], body_b[k]
        if near[k] and a >= 0 and b >= 0 and a != b and moves[a] and moves[b]:
            start[a + 1] += 1
            start[b + 1] += 1
    for i in range(n):
        start[i + 1] += start[i]
    slot = start.copy()
    other = np.empty(start[n], np.int32)  # small: the walks over it go to and fro in memory
    for k in range(len(body_a)):
        a, b = body_a[k], body_b[k]
        if near[k] and a >= 0 and b >= 0 and a != b and moves[a] and moves[b]:
            other[slot[a]] = b
            slot[a] += 1
            other[slot[b]] = a
            slot[b] += 1
    return start, other


@njit(leaf=True)
def _walk(seed, start, other, mark, stamp, queue, first):
    """Breadth-first from `seed` into queue[first:]: the end of the queue and the widest front."""
    queue[first] = seed
    mark[seed] = stamp
    head, tail = first, first + 1
    front_end, width = tail, 1
    while head < tail:
        i = queue[head]
        head += 1
        for k in range(start[i], start[i + 1]):
            j = other[k]
            queue[tail] = j  # and overwritten if it has been there: processors guess ill which ones have
            tail += 1 if mark[j] != stamp else 0
            mark[j] = stamp
        if head == front_end:
            width = max(width, tail - front_end)
            front_end = tail
    return tail, width


@njit
def _chunks(size, chunk):
    """Into how many chunks of at least so many bodies an island of this size is cut."""
    return max(1, size // chunk)


@njit
def _in_own_order(begin, chunk, slot):
    """The bodies of each chunk of a large island in the order in which they were given, as far as slots go.

    Their blocks are listed in that order, mostly: what is read of them lies together.
    """
    first = np.full(begin[-1], -1, np.int32)  # of the chunk of each slot
    for i in range(len(begin) - 1):
        size = begin[i + 1] - begin[i]
        n = _chunks(size, chunk[i])
        for k in range(size if n > 1 else 0):
            new = k == 0 or k * n // size > (k - 1) * n // size
            first[begin[i] + k] = begin[i] + k if new else first[begin[i] + k - 1]
    free = np.arange(begin[-1])  # the next slot of the chunk that begins here
    for body in range(len(slot)):
        if slot[body] < begin[-1] and first[slot[body]] >= 0:
            c = first[slot[body]]
            slot[body] = free[c]
            free[c] += 1


@njit(sealed=True)
def order_bodies(body_a, body_b, near, Minv):
    """slot (nbody,): place of each body, the number of moving bodies for those that cannot move; and the islands.

    Returns slot, begin (ni + 1,): where each island's bodies start, and chunk (ni,): bodies per chunk. There is always
    an island: one without bodies, where none moves.
    """
    n, d = Minv.shape[0], Minv.shape[1]
    moves = np.zeros(n, np.bool_)
    for i in range(n):
        for j in range(d):
            moves[i] = moves[i] or Minv[i, j, j] > 0.0
    start, other = _neighbours(body_a, body_b, near, moves)
    mark = np.zeros(n, np.int8)
    queue = np.empty(n + 1, np.int32)
    slot = np.empty(n, np.int64)
    begin = np.zeros(n + 2, np.int64)
    chunk = np.ones(n + 1, np.int64)
    islands, count = 0, 0
    for seed in range(n):
        if not moves[seed] or mark[seed] != 0:
            continue
        # from one end of the island to the other: narrow fronts
        tail, width = _walk(seed, start, other, mark, 1, queue, count)
        if tail - count > 2:
            tail, width = _walk(np.int64(queue[tail - 1]), start, other, mark, 2, queue, count)
        chunk[islands] = max(_CHUNK_BODIES, 2 * width)
        count = tail
        islands += 1
        begin[islands] = count
    for i in range(n):
        slot[i] = count
    for k in range(count):
        slot[queue[k]] = k
    islands = max(islands, 1)
    _in_own_order(begin[: islands + 1], chunk, slot)
    return slot, begin[: islands + 1].copy(), chunk[:islands].copy()


@njit(leaf=True)
def _cells_of(start, stop, body_a, body_b, near, times, islands, places):
    """Fill the places of the blocks start..stop."""
    slot, begin, chunks, of, phase = islands
    cell, place, taken, ends = places
    moving = begin[-1]
    for k in range(start, stop):
        cell[k], place[k], taken[k] = 0, moving, 0
        if not near[k]:
            continue
        a = slot[body_a[k]] if body_a[k] >= 0 else moving
        b = slot[body_b[k]] if body_b[k] >= 0 else moving
        ends[k, 0], ends[k, 1] = a, b
        first, last = min(a, b), max(a, b)
        place[k], taken[k] = first if last == moving else last, times[k]
        if first == moving:
            continue
        i = of[first]
        n, size = chunks[i], begin[i + 1] - begin[i]
        ca = (first - begin[i]) * n // size
        cb = (last - begin[i]) * n // size if last < moving else ca
        if ca == cb:
            cell[k] = phase[i, 0] + ca
        elif cb == ca + 1:
            cell[k] = (phase[i, 1] if ca % 2 == 0 else phase[i, 2]) + ca // 2
        else:
            cell[k] = phase[i, 3]


@njit(parallel=True)
def _cells_parallel(body_a, body_b, near, times, islands, places):
    n = len(near)
    for part in prange(PARTS):
        c = np.int64(part)
        _cells_of(n * c // PARTS, n * (c + 1) // PARTS, body_a, body_b, near, times, islands, places)


@njit(sealed=True)
def find_cells(parallel, body_a, body_b, near, times, slot, begin, chunk):
    """The `Places` of blocks, and phase of `Islands`; times (nk,): the items that a block becomes if it is near."""
    ni = len(begin) - 1
    phase = np.zeros((ni, PHASES + 1), np.int64)
    chunks = np.ones(ni, np.int64)
    of = np.zeros(begin[-1] + 1, np.int64)
    cells = 0
    for i in range(ni):
        chunks[i] = _chunks(begin[i + 1] - begin[i], chunk[i])
        for k in range(begin[i], begin[i + 1]):
            of[k] = i
        n = chunks[i]
        phase[i, 0] = cells
        phase[i, 1] = cells + n
        phase[i, 2] = phase[i, 1] + n // 2
        phase[i, 3] = phase[i, 2] + (n - 1) // 2
        phase[i, 4] = phase[i, 3] + (1 if n > 2 else 0)
        cells = phase[i, 4]
    nk = len(body_a)
    islands = Islands(slot, begin, chunks, of, phase)
    places = Places(np.empty(nk, np.int64), np.empty(nk, np.int64), np.empty(nk, np.int64), np.empty((nk, 2), np.int64))
    if parallel and nk > MANY:
        _cells_parallel(body_a, body_b, near, times, islands, places)
    else:
        _cells_of(np.int64(0), nk, body_a, body_b, near, times, islands, places)
    return places, phase
