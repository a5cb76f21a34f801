"""The order in which block Gauss–Seidel visits the blocks: islands, neighbouring bodies next to each other, and cells.

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

from ...problem.body_kernels import THREAD_PARTS, THREADS_MIN_BLOCKS
from ...runtime.jit import njit, prange
from .records import Array

PHASES = 4  # of a sweep over an island (see above)
_CHUNK_MIN_BODIES = 512  # smaller chunks would spend their time at the barriers between phases


class Islands(NamedTuple):
    """The places of bodies and cells: ni islands, and nb bodies, of which those that move have the first slots."""

    slot: Array  # (nb,) place of each body, the number of moving bodies for those that cannot move
    begin: Array  # (ni + 1,) where the bodies of each island start
    chunks: Array  # (ni,) into how many chunks it is cut
    island: Array  # (moving + 1,) the island of each slot
    phase: Array  # (ni, PHASES + 1) the cells phase[i, s]..phase[i, s + 1] of island i make phase s


class Places(NamedTuple):
    """The place of each of nk blocks."""

    cell: Array  # (nk,) its cell; the first for blocks that touch no moving body, or are not active
    place: Array  # (nk,) the slot of the body by which blocks of a cell are sorted
    active_count: Array  # (nk,) entries of the sweep list that it becomes, none where it is not active
    body_slots: Array  # (nk, 2) the slots of its bodies


@njit
def stride(n):
    """The distance between two of n cells that are taken one after the other, when threads share a phase.

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
def _neighbours(body_a, body_b, active, moves):
    """The bodies that share an active block with each body, as start (nbody + 1,) into a list."""
    n = len(moves)
    start = np.zeros(n + 1, np.int64)
    for k in range(len(body_a)):
        a, b = body_a[k], body_b[k]
        if active[k] and a >= 0 and b >= 0 and a != b and moves[a] and moves[b]:
            start[a + 1] += 1
            start[b + 1] += 1
    for i in range(n):
        start[i + 1] += start[i]
    slot = start.copy()
    neighbour = np.empty(start[n], np.int32)  # small: the walks over it go to and fro in memory
    for k in range(len(body_a)):
        a, b = body_a[k], body_b[k]
        if active[k] and a >= 0 and b >= 0 and a != b and moves[a] and moves[b]:
            neighbour[slot[a]] = b
            slot[a] += 1
            neighbour[slot[b]] = a
            slot[b] += 1
    return start, neighbour


@njit(leaf=True)
def _walk(seed, start, neighbour, mark, stamp, queue, first):
    """Walk breadth-first from `seed` into queue[first:]; returns the end of the queue and the widest front."""
    queue[first] = seed
    mark[seed] = stamp
    head, tail = first, first + 1
    front_end, width = tail, 1
    while head < tail:
        i = queue[head]
        head += 1
        for k in range(start[i], start[i + 1]):
            j = neighbour[k]
            queue[tail] = j  # and overwritten if it has been there: processors guess ill which ones have
            tail += 1 if mark[j] != stamp else 0
            mark[j] = stamp
        if head == front_end:
            width = max(width, tail - front_end)
            front_end = tail
    return tail, width


@njit
def _chunk_count(size, chunk_bodies):
    """The number of chunks of at least `chunk_bodies` bodies into which an island of `size` bodies is cut."""
    return max(1, size // chunk_bodies)


@njit
def _restore_given_order(begin, chunk_bodies, slot):
    """Give the bodies of each chunk of a large island slots in the order in which they were given.

    Their blocks are mostly listed in that order, so that their data lie together in memory.
    """
    first = np.full(begin[-1], -1, np.int32)  # of the chunk of each slot
    for i in range(len(begin) - 1):
        size = begin[i + 1] - begin[i]
        n = _chunk_count(size, chunk_bodies[i])
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
def order_bodies(body_a, body_b, active, Minv):
    """Slots of the bodies along the islands, and the islands.

    Returns slot (nbody,), which is the number of moving bodies for those that cannot move, begin (ni + 1,): where each
    island's bodies start, and chunk_bodies (ni,): the least number of bodies of a chunk. There is always
    an island: one without bodies, where none moves.
    """
    n, d = Minv.shape[0], Minv.shape[1]
    moves = np.zeros(n, np.bool_)
    for i in range(n):
        for j in range(d):
            moves[i] = moves[i] or Minv[i, j, j] > 0.0
    start, neighbour = _neighbours(body_a, body_b, active, moves)
    mark = np.zeros(n, np.int8)
    queue = np.empty(n + 1, np.int32)
    slot = np.empty(n, np.int64)
    begin = np.zeros(n + 2, np.int64)
    chunk_bodies = np.ones(n + 1, np.int64)
    islands, count = 0, 0
    for seed in range(n):
        if not moves[seed] or mark[seed] != 0:
            continue
        # from one end of the island to the other: narrow fronts
        tail, width = _walk(seed, start, neighbour, mark, 1, queue, count)
        if tail - count > 2:
            tail, width = _walk(np.int64(queue[tail - 1]), start, neighbour, mark, 2, queue, count)
        chunk_bodies[islands] = max(_CHUNK_MIN_BODIES, 2 * width)
        count = tail
        islands += 1
        begin[islands] = count
    for i in range(n):
        slot[i] = count
    for k in range(count):
        slot[queue[k]] = k
    islands = max(islands, 1)
    _restore_given_order(begin[: islands + 1], chunk_bodies, slot)
    return slot, begin[: islands + 1].copy(), chunk_bodies[:islands].copy()


@njit(leaf=True)
def _place_blocks(start, stop, body_a, body_b, active, entry_count, islands, places):
    """Fill the places of the blocks start..stop."""
    slot, begin, chunks, island, phase = islands
    cell, place, active_count, body_slots = places
    moving = begin[-1]
    for k in range(start, stop):
        cell[k], place[k], active_count[k] = 0, moving, 0
        if not active[k]:
            continue
        a = slot[body_a[k]] if body_a[k] >= 0 else moving
        b = slot[body_b[k]] if body_b[k] >= 0 else moving
        body_slots[k, 0], body_slots[k, 1] = a, b
        first, last = min(a, b), max(a, b)
        place[k], active_count[k] = first if last == moving else last, entry_count[k]
        if first == moving:
            continue
        i = island[first]
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
def _place_blocks_parallel(body_a, body_b, active, entry_count, islands, places):
    n = len(active)
    for part in prange(THREAD_PARTS):
        c = np.int64(part)
        _place_blocks(
            n * c // THREAD_PARTS, n * (c + 1) // THREAD_PARTS, body_a, body_b, active, entry_count, islands, places
        )


@njit(sealed=True)
def find_cells(parallel, body_a, body_b, active, entry_count, slot, begin, chunk_bodies):
    """The `Places` of blocks, and phase of `Islands`; entry_count (nk,): entries that an active block becomes."""
    ni = len(begin) - 1
    phase = np.zeros((ni, PHASES + 1), np.int64)
    chunks = np.ones(ni, np.int64)
    island = np.zeros(begin[-1] + 1, np.int64)
    cells = 0
    for i in range(ni):
        chunks[i] = _chunk_count(begin[i + 1] - begin[i], chunk_bodies[i])
        for k in range(begin[i], begin[i + 1]):
            island[k] = i
        n = chunks[i]
        phase[i, 0] = cells
        phase[i, 1] = cells + n
        phase[i, 2] = phase[i, 1] + n // 2
        phase[i, 3] = phase[i, 2] + (n - 1) // 2
        phase[i, 4] = phase[i, 3] + (1 if n > 2 else 0)
        cells = phase[i, 4]
    nk = len(body_a)
    islands = Islands(slot, begin, chunks, island, phase)
    places = Places(np.empty(nk, np.int64), np.empty(nk, np.int64), np.empty(nk, np.int64), np.empty((nk, 2), np.int64))
    if parallel and nk > THREADS_MIN_BLOCKS:
        _place_blocks_parallel(body_a, body_b, active, entry_count, islands, places)
    else:
        _place_blocks(np.int64(0), nk, body_a, body_b, active, entry_count, islands, places)
    return places, phase
