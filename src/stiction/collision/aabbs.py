"""Boxes around shapes, with their sides along the axes of the world."""

from __future__ import annotations

import math

from ..runtime.jit import njit
from .features import ELLIPSE, PLANE


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
