"""Broad phase: boxes around shapes, and the pairs of shapes whose boxes overlap, in time linear in their number.

Boxes have their sides along the axes of the world (`aabbs2`, `aabbs3`). They are inflated by `band`/2 on each side, so
that two shapes nearer than `band` have overlapping boxes. Shapes are put into a hierarchy of uniform grids: the cell of
a level is twice that of the level below, and a shape goes into the first level whose cell holds it, in one cell only
(that of its lower corner). Each shape then looks into the few cells around it on its own level and on every coarser
level that is not empty; levels with few shapes are searched directly. So small and large shapes mix without harm. Cells
live in one hash table filled by counting, and the shapes are walked in its order, so that neighbours in space are
neighbours in memory. Half-spaces, and boxes that are not finite, are compared with every shape. The pairs come out
sorted, whatever the grid was.

The same code serves space and plane: the dimension is that of the boxes.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .._check import Array
from ..runtime.jit import njit, prange
from .features import ELLIPSE, PLANE

_MAX_LEVELS = 60  # of the grid, whose cells double from level to level
_DIRECT_MAX_SHAPES = 12  # a level with at most this many shapes is searched directly
_THREADS_MIN_SHAPES, _THREAD_PARTS = 5000, 64  # shapes from which threads share the grid, and the parts they take
_PAIRS_PER_SHAPE = 16  # pairs of a shape, on average, for which the buffer is made at first
_FAR_CELLS = 1e12  # cells from the origin beyond which a shape is compared with all others


@njit(leaf=True)
def aabbs3(x, R, shapes, band, boxes):
    """`Boxes` of `SpaceShapes` at the poses x (nb, 3), R (nb, 3, 3), each inflated by band/2."""
    kind, body, _, _, _, center, rot, half, radius = shapes
    lo, hi, planes = boxes
    for s in range(kind.size):
        b = body[s]
        for i in range(3):
            at = center[s, i]
            size = radius[s] + 0.5 * band
            if b >= 0:
                at = x[b, i]
                for k in range(3):
                    at += R[b, i, k] * center[s, k]
            normal = 0.0
            for j in range(3):
                axis = rot[s, i, j]
                if b >= 0:
                    axis = R[b, i, 0] * rot[s, 0, j] + R[b, i, 1] * rot[s, 1, j] + R[b, i, 2] * rot[s, 2, j]
                size += abs(axis) * half[s, j]
                normal = axis
            lo[s, i] = at
            hi[s, i] = size
            planes[s, i] = normal if kind[s] == PLANE else 0.0
        planes[s, 3] = 0.0
        if kind[s] == PLANE:
            planes[s, 3] = radius[s] + 0.5 * band
            for i in range(3):
                planes[s, 3] += planes[s, i] * lo[s, i]
        for i in range(3):
            at, size = lo[s, i], hi[s, i] if kind[s] != PLANE else math.inf
            lo[s, i] = at - size
            hi[s, i] = at + size


@njit(leaf=True)
def aabbs2(x, angle, shapes, band, boxes):
    """`Boxes` of `PlaneShapes` at the poses x (nb, 2), angle (nb,), as `aabbs3`."""
    kind, body, _, _, _, vert_ptr, verts, radius = shapes
    lo, hi, planes = boxes
    for s in range(kind.size):
        b = body[s]
        c, d = (math.cos(angle[b]), math.sin(angle[b])) if b >= 0 else (1.0, 0.0)
        px, py = (x[b, 0], x[b, 1]) if b >= 0 else (0.0, 0.0)
        grow = radius[s] + 0.5 * band
        first = vert_ptr[s]
        if kind[s] == PLANE:
            vx, vy = verts[first, 0], verts[first, 1]
            nx, ny = verts[first + 1, 0], verts[first + 1, 1]
            planes[s, 0], planes[s, 1] = c * nx - d * ny, d * nx + c * ny
            planes[s, 2] = planes[s, 0] * (px + c * vx - d * vy) + planes[s, 1] * (py + d * vx + c * vy) + grow
            lo[s, 0] = lo[s, 1] = -math.inf
            hi[s, 0] = hi[s, 1] = math.inf
            continue
        planes[s, 0] = planes[s, 1] = planes[s, 2] = 0.0
        if kind[s] == ELLIPSE:
            ux, uy, vx, vy = verts[first + 1, 0], verts[first + 1, 1], verts[first + 2, 0], verts[first + 2, 1]
            qx, qy = px + c * verts[first, 0] - d * verts[first, 1], py + d * verts[first, 0] + c * verts[first, 1]
            wide = grow + math.sqrt((c * ux - d * uy) ** 2 + (c * vx - d * vy) ** 2)
            high = grow + math.sqrt((d * ux + c * uy) ** 2 + (d * vx + c * vy) ** 2)
            lo[s, 0], hi[s, 0], lo[s, 1], hi[s, 1] = qx - wide, qx + wide, qy - high, qy + high
            continue
        lo[s, 0] = lo[s, 1] = math.inf
        hi[s, 0] = hi[s, 1] = -math.inf
        for v in range(first, vert_ptr[s + 1]):
            qx = px + c * verts[v, 0] - d * verts[v, 1]
            qy = py + d * verts[v, 0] + c * verts[v, 1]
            lo[s, 0], hi[s, 0] = min(lo[s, 0], qx - grow), max(hi[s, 0], qx + grow)
            lo[s, 1], hi[s, 1] = min(lo[s, 1], qy - grow), max(hi[s, 1], qy + grow)


class Grid(NamedTuple):
    """The ng shapes in the grid, in the order of its buckets, so that neighbours are near."""

    lo: Array  # (ng, d) boxes
    hi: Array
    cell: Array  # (ng, 3)
    level: Array  # (ng,)
    items: Array  # (ns,) the shapes themselves
    start: Array  # where each bucket starts
    by_level: Array  # (ng,) places in the order of levels
    begin: Array  # where each level starts in by_level
    base: Any  # cell size of level 0 [m]


@njit(leaf=True)
def allowed(i, j, filters):
    """Whether shapes i and j may touch: different bodies, one of them movable, groups and exclusions permitting."""
    body, group, mask, movable, excluded = filters
    a, b = body[i], body[j]
    if a == b or not ((a >= 0 and movable[a]) or (b >= 0 and movable[b])):
        return False
    if (group[i] & mask[j]) == 0 or (group[j] & mask[i]) == 0:
        return False
    if excluded.size == 0 or a < 0 or b < 0:
        return True
    key = min(a, b) * movable.size + max(a, b)
    first, last = 0, excluded.size
    while first < last:
        middle = (first + last) // 2
        if excluded[middle] < key:
            first = middle + 1
        else:
            last = middle
    return first == excluded.size or excluded[first] != key


@njit(leaf=True)
def overlap(lo, hi, i, j):
    """Whether the boxes of shapes i and j overlap."""
    apart = False
    for k in range(lo.shape[1]):
        apart = apart or lo[i, k] > hi[j, k] or lo[j, k] > hi[i, k]
    return not apart


@njit(leaf=True)
def meets(p, j, lo, hi, planes):
    """Whether the box of shape j reaches the half-space p."""
    d = lo.shape[1]
    s = -planes[p, d]
    for k in range(d):
        s += planes[p, k] * (lo[j, k] if planes[p, k] > 0.0 else hi[j, k]) if planes[p, k] != 0.0 else 0.0
    return s <= 0.0


@njit
def _bucket(level, ix, iy, iz, size):
    """Hash of a cell; cells that follow each other in the last direction lie in consecutive buckets."""
    h = (ix * 73856093) ^ (iy * 19349663) ^ (level * 961748927)
    h ^= h >> 15
    return (h * 83492791 + iz) & (size - 1)


@njit
def _grown(buffer, count, capacity):
    """A buffer for `capacity` pairs that begins with the first `count` of the given one."""
    if capacity <= buffer.shape[0]:
        return buffer
    larger = np.empty((capacity, 2), np.int64)
    for k in range(count):
        larger[k, 0], larger[k, 1] = buffer[k, 0], buffer[k, 1]
    return larger


@njit
def _write(buffer, row, i, j):
    """The pair in ascending order; nothing where row < 0."""
    if row >= 0:
        buffer[row, 0] = min(i, j)
        buffer[row, 1] = max(i, j)


@njit(leaf=True)
def _levels(lo, hi, kind, level, cell):
    """Level of each shape (-1: compared with all) and its cell; returns the cell size of level 0."""
    n, d = lo.shape
    smallest, largest = math.inf, 0.0
    for s in range(n):
        size = 0.0
        for k in range(d):
            size = max(size, hi[s, k] - lo[s, k])
        level[s] = 0 if kind[s] != PLANE and size < math.inf else -1
        if level[s] == 0:
            smallest = min(smallest, size)
            largest = max(largest, size)
    base = max(smallest, largest * 2.0 ** (2 - _MAX_LEVELS))
    if not (1e-300 < base < math.inf):
        base = 1.0
    base *= 1.0 + 1e-9
    for s in range(n):
        if level[s] < 0:
            continue
        size = 0.0
        for k in range(d):
            size = max(size, hi[s, k] - lo[s, k])
        width = base
        while width < size:
            width *= 2.0
            level[s] += 1
        for k in range(d):
            at = lo[s, k] / width
            if not (abs(at) < _FAR_CELLS):
                level[s] = -1
                break
            cell[s, k if k < d - 1 else 2] = math.floor(at)
    return base


@njit
def _fill(level, cell, start, items, members):
    """Counting sort of the shapes into the buckets start[b]..start[b + 1] of `items`; shapes per level in `members`."""
    size = start.size - 1
    for s in range(level.size):
        if level[s] >= 0:
            members[level[s]] += 1
            start[_bucket(level[s], cell[s, 0], cell[s, 1], cell[s, 2], size)] += 1
    for b in range(size):
        start[b + 1] += start[b]
    for back in range(level.size):
        s = level.size - 1 - back
        if level[s] >= 0:
            b = _bucket(level[s], cell[s, 0], cell[s, 1], cell[s, 2], size)
            start[b] -= 1
            items[start[b]] = s


@njit
def _list_levels(level, items, total, members):
    """Places in `items` of the shapes of each level: level m has by_level[begin[m]:begin[m + 1]]."""
    top = 0
    for m in range(members.size):
        top = m + 1 if members[m] > 0 else top
    begin = np.zeros(top + 1, np.int64)
    for m in range(top):
        begin[m + 1] = begin[m] + members[m]
    slot = begin.copy()
    by_level = np.empty(total, np.int64)
    for k in range(total):
        m = level[items[k]]
        by_level[slot[m]] = k
        slot[m] += 1
    return by_level, begin


@njit
def _counting_sort(source, target, count, column, n):
    """Stable sort of `count` pairs by one of their columns with values below n."""
    start = np.zeros(n + 1, np.int64)
    for k in range(count):
        start[source[k, column] + 1] += 1
    for s in range(n):
        start[s + 1] += start[s]
    for k in range(count):
        slot = start[source[k, column]]
        start[source[k, column]] += 1
        target[slot, 0] = source[k, 0]
        target[slot, 1] = source[k, 1]


@njit
def _rest_pairs(boxes, kind, level, filters, buffer, count):
    """Pairs with a shape outside the grid: half-spaces and boxes too large for it."""
    lo, hi, planes = boxes
    for i in range(kind.size):
        if level[i] >= 0:
            continue
        for j in range(kind.size):
            if (level[j] < 0 and j <= i) or (kind[i] == PLANE and kind[j] == PLANE):
                continue
            near = meets(i, j, lo, hi, planes) if kind[i] == PLANE else overlap(lo, hi, i, j)
            if near and kind[j] == PLANE:
                near = meets(j, i, lo, hi, planes)
            if near and allowed(i, j, filters):
                buffer = _grown(buffer, count, 2 * count) if count == len(buffer) else buffer
                _write(buffer, count, i, j)
                count += 1
    return buffer, count


@njit(sealed=True)
def _grid_pairs(low, high, grid, filters, buffer, at, capacity):
    """Write pairs of the shapes low..high in the grid to `buffer` from row `at` on, at most `capacity`; the number."""
    lo, hi, cell, level, items, start, by_level, begin, base = grid
    count = 0
    d = lo.shape[1]
    size = start.size - 1
    first = np.zeros(3, np.int64)
    last = np.zeros(3, np.int64)
    for i in range(low, high):
        width = 0.5 * base * 2.0 ** level[i]
        for m in range(level[i], begin.size - 1):
            own = m == level[i]
            width *= 2.0
            if begin[m + 1] - begin[m] <= _DIRECT_MAX_SHAPES:
                for k in range(begin[m], begin[m + 1]):
                    j = by_level[k]
                    near = (not own or j > i) and overlap(lo, hi, i, j)
                    if near and allowed(items[i], items[j], filters):
                        _write(buffer, at + count if count < capacity else -1, items[i], items[j])
                        count += 1
                continue
            for k in range(d):
                slot = k if k < d - 1 else 2
                first[slot] = math.floor(lo[i, k] / width) - 1
                last[slot] = math.floor(hi[i, k] / width)
            if own:  # shapes in cells behind look forward to this one
                first[0] += 1
            for ix in range(first[0], last[0] + 1):
                for iy in range(first[1], last[1] + 1):
                    column = own and ix == cell[i, 0]
                    if column and iy < cell[i, 1]:
                        continue
                    row = column and iy == cell[i, 1]
                    for iz in range(cell[i, 2] if row else first[2], last[2] + 1):
                        b = _bucket(m, ix, iy, iz, size)
                        begin_b = max(start[b], i + 1) if row and iz == cell[i, 2] else start[b]
                        for j in range(begin_b, start[b + 1]):
                            # one branch for all: which of them fails cannot be foreseen
                            apart = (level[j] != m) | (cell[j, 0] != ix) | (cell[j, 1] != iy) | (cell[j, 2] != iz)
                            for k in range(d):
                                apart |= (lo[i, k] > hi[j, k]) | (lo[j, k] > hi[i, k])
                            if not apart and allowed(items[i], items[j], filters):
                                _write(buffer, at + count if count < capacity else -1, items[i], items[j])
                                count += 1
    return count


@njit(parallel=True)
def _grid_parallel(grid, filters, buffer, at, each, counts):
    n = len(grid.level)
    for part in prange(_THREAD_PARTS):
        c = np.int64(part)
        low, high = n * c // _THREAD_PARTS, n * (c + 1) // _THREAD_PARTS
        counts[c] = _grid_pairs(low, high, grid, filters, buffer, at + each * low, each * (high - low))


@njit
def _all_grid_pairs(parallel, grid, filters, buffer, count):
    """Pairs of shapes in the grid, behind the `count` pairs in `buffer`; the buffer, larger where need be, and all."""
    n = len(grid.level)
    counts = np.zeros(_THREAD_PARTS, np.int64)
    if parallel:
        buffer = _grown(buffer, count, count + _PAIRS_PER_SHAPE * n)
        _grid_parallel(grid, filters, buffer, count, _PAIRS_PER_SHAPE, counts)
        first = count
        for c in range(_THREAD_PARTS):
            low = n * c // _THREAD_PARTS
            if counts[c] > _PAIRS_PER_SHAPE * (n * (c + 1) // _THREAD_PARTS - low):  # crowded: once more, by one thread
                parallel = False
                break
        if parallel:
            for c in range(_THREAD_PARTS):
                place = first + _PAIRS_PER_SHAPE * (n * c // _THREAD_PARTS)
                for k in range(counts[c]):
                    buffer[count, 0], buffer[count, 1] = buffer[place + k, 0], buffer[place + k, 1]
                    count += 1
            return buffer, count
    while True:
        capacity = len(buffer) - count
        found = _grid_pairs(0, n, grid, filters, buffer, count, capacity)
        if found <= capacity:
            return buffer, count + found
        buffer = _grown(buffer, count, count + found)


@njit(sealed=True)
def pairs(boxes, kind, filters, parallel):
    """Pairs (np, 2) of shapes that may touch and whose boxes overlap, first < second, in lexicographic order.

    The `Boxes` come from `aabbs2` or `aabbs3`. A pair is kept when its bodies differ, one of them is movable,
    group[a] & mask[b] and group[b] & mask[a] are not zero, and the key body_a·nb + body_b (body_a < body_b) is not in
    the sorted int64 array `excluded` of `Filters`. Half-spaces never pair with each other. `parallel`: by several
    threads, to the same result.
    """
    lo, hi, _ = boxes
    n, d = lo.shape
    level = np.empty(n, np.int64)
    cell = np.zeros((n, 3), np.int64)
    base = _levels(lo, hi, kind, level, cell)
    size = 16
    while size < 2 * n:
        size *= 2
    start = np.zeros(size + 1, np.int64)
    items = np.empty(n, np.int64)
    members = np.zeros(_MAX_LEVELS + 4, np.int64)
    _fill(level, cell, start, items, members)
    total = start[size]
    by_level, begin = _list_levels(level, items, total, members)
    lo_sorted = np.empty((total, d))
    hi_sorted = np.empty((total, d))
    cell_sorted = np.empty((total, 3), np.int64)
    level_sorted = np.empty(total, np.int64)
    for k in range(total):
        s = items[k]
        level_sorted[k] = level[s]
        for c in range(d):
            lo_sorted[k, c] = lo[s, c]
            hi_sorted[k, c] = hi[s, c]
        for c in range(3):
            cell_sorted[k, c] = cell[s, c]
    grid = Grid(lo_sorted, hi_sorted, cell_sorted, level_sorted, items, start, by_level, begin, base)
    buffer = np.empty((_PAIRS_PER_SHAPE * n + 16, 2), np.int64)
    buffer, count = _rest_pairs(boxes, kind, level, filters, buffer, 0)
    buffer, count = _all_grid_pairs(parallel and total > _THREADS_MIN_SHAPES, grid, filters, buffer, count)
    half_sorted = np.empty((count, 2), np.int64)
    out = np.empty((count, 2), np.int64)
    _counting_sort(buffer, half_sorted, count, 1, n)
    _counting_sort(half_sorted, out, count, 0, n)
    return out
