"""All of detection in the plane as the compiled loop asks for it; in space it is that of `search3`.

The contacts are those of `pairs`, `find2` and `evaluate2`, in the same order and to the same bits. The functions take
what those of `search3` take, but in the plane threads do not share the work: `parallel` is for space.
"""

from __future__ import annotations

import numpy as np

from .._jit import njit
from .aabbs import aabbs2
from .features import evaluate2
from .narrow2 import find2
from .neighbours import listed_or_found, neighbours, overlapping, swept


@njit(sealed=True)
def search(x, angle, band, room, parallel, kept, shapes, moves):
    """The pairs to keep, and the contacts within `band` at positions x (nb, 2) and angles (nb,), sorted by key.

    Of these their bodies, shapes, codes and features; and the gap, the normal, and the two points of each.
    """
    kind, body, group, mask, excluded, vert_ptr, verts, radius = shapes
    ns = len(kind)
    lo, hi, planes = np.empty((ns, 2)), np.empty((ns, 2)), np.empty((ns, 3))
    aabbs2(x, angle, kind, body, vert_ptr, verts, radius, band, lo, hi, planes)
    listed, kept = neighbours(lo, hi, planes, kind, body, group, mask, moves, excluded, band, kept, False)
    near = overlapping(listed, lo, hi, planes, kind)
    found = _features(x, angle, near, band, room, shapes)
    return kept, found, measure(x, angle, False, found)


@njit(sealed=True)
def search_on_the_way(x, angle, new_x, new_angle, band, reach, room, parallel, kept, shapes, moves):
    """As `detect_on_the_way` of the model: contacts within `reach` at x, angle of shapes that may meet on the way."""
    kind, body, group, mask, excluded, vert_ptr, verts, radius = shapes
    ns = len(kind)
    lo, hi, planes = np.empty((2, ns, 2)), np.empty((2, ns, 2)), np.empty((2, ns, 3))
    aabbs2(x, angle, kind, body, vert_ptr, verts, radius, band, lo[0], hi[0], planes[0])
    aabbs2(new_x, new_angle, kind, body, vert_ptr, verts, radius, band, lo[1], hi[1], planes[1])
    swept(lo, hi, planes)
    listed = listed_or_found(lo[0], hi[0], planes[0], kind, body, group, mask, moves, excluded, kept, False)
    found = _features(x, angle, overlapping(listed, lo[0], hi[0], planes[0], kind), reach, room, shapes)
    return found, measure(x, angle, False, found)


@njit(sealed=True)
def _features(x, angle, near, band, room, shapes):
    """The contacts within `band` of pairs of shapes, sorted by key."""
    kind, body, _, _, _, vert_ptr, verts, radius = shapes
    while True:
        sa, sb, code, type = (
            np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64),
        )  # fmt: skip
        pa, da, pb, db = np.empty((room, 2)), np.empty((room, 2)), np.empty((room, 2)), np.empty((room, 2))
        ra, rb = np.empty(room), np.empty(room)
        count = find2(
            x, angle, kind, body, vert_ptr, verts, radius, near, band, sa, sb, code, type, pa, da, pb, db, ra, rb
        )
        if count <= room:
            break
        room = int(1.5 * count)
    a, b = np.empty(count, np.int64), np.empty(count, np.int64)
    for k in range(count):
        a[k], b[k] = body[sa[k]], body[sb[k]]
    return (
        a, b, sa[:count], sb[:count], code[:count], type[:count], pa[:count], da[:count], pb[:count], db[:count],
        ra[:count], rb[:count],
    )  # fmt: skip


@njit(sealed=True)
def measure(x, angle, parallel, found):
    """Gap, normal and points of contacts at other poses."""
    a, b, _, _, _, type, pa, da, pb, db, ra, rb = found
    n = len(a)
    gap, normal, point_a, point_b = np.empty(n), np.empty((n, 2)), np.empty((n, 2)), np.empty((n, 2))
    evaluate2(x, angle, a, b, type, pa, da, pb, db, ra, rb, gap, normal, point_a, point_b)
    return gap, normal, point_a, point_b
