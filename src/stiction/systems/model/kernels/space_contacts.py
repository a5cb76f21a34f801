"""Contacts of bodies in space as compiled loops: their frames, and rows of slip, spin and rolling."""

from __future__ import annotations

import math

from ....friction.sets import ROLL_1, ROLL_2, TANGENT_1, TANGENT_2
from ....runtime.jit import njit
from ....runtime.lanes import PREFETCH_TURNS, prefetch
from .space import set_row, turn


@njit(inline=True)
def frame(nx, ny, nz):
    """Two unit tangents of a unit normal: t1 = n × z, or n × x where the normal is nearly vertical, and t2 = n × t1."""
    if abs(nz) < 0.9:
        s = 1.0 / math.sqrt(nx * nx + ny * ny)
        ax, ay, az = ny * s, -nx * s, 0.0
    else:
        s = 1.0 / math.sqrt(ny * ny + nz * nz)
        ax, ay, az = 0.0, nz * s, -ny * s
    return ax, ay, az, ny * az - nz * ay, nz * ax - nx * az, nx * ay - ny * ax


@njit(inline=True)
def frame_along(q, body, x, y, z, nx, ny, nz):
    """Two unit tangents: t1 along the axis (x, y, z) fixed in a body, as far as it is tangential, and t2 = n × t1.

    Where the axis is within 1e-6 rad of the normal it gives no direction, and the tangents are those of `frame`.
    """
    ax, ay, az = turn(q[body, 3], q[body, 4], q[body, 5], q[body, 6], x, y, z)
    d = ax * nx + ay * ny + az * nz
    ax, ay, az = ax - d * nx, ay - d * ny, az - d * nz
    size = math.sqrt(ax * ax + ay * ay + az * az)
    if size < 1e-6:
        return frame(nx, ny, nz)
    ax, ay, az = ax / size, ay / size, az / size
    return ax, ay, az, ny * az - nz * ay, nz * ax - nx * az, nx * ay - ny * ax


@njit(inline=True)
def _set_turn(J, row, sign, dx, dy, dz):
    """Row of the angular velocity about direction d."""
    J[row, 0], J[row, 1], J[row, 2] = 0.0, 0.0, 0.0
    J[row, 3], J[row, 4], J[row, 5] = sign * dx, sign * dy, sign * dz


@njit(leaf=True)
def contact_rows(
    q, body_a, body_b, geometry, row_ptr, offset, number, laws, Ja, Jb, length
):  # fmt: skip
    """Rows of contacts at row_ptr[k + offset] of Ja, Jb (nr, 6): the normal, then what codes[number[k]] of `laws` say.

    The normal row acts at each body's own surface point, so that it is the exact gradient of the gap. So do the
    tangents where one of the two is fixed or prescribed: at the moment of contact these points are one, and an arm that
    ends elsewhere would spoil the spin of an impact found before touching. Where these two overlap, the tangents act at
    the moving body's point: else a turning body would slip, by the overlap, on a prescribed one that turns with it.
    Between two bodies that move they act at the
    point halfway between, since equal and opposite impulses at two points would change the angular momentum. Spin and
    rolling are the relative angular velocity about the normal and about the tangents; their `length` (nr,) is the
    smaller lever (nb,) of the two bodies, infinite of those that no force moves. Where side is 1, tangent 1 follows an
    axis fixed in a; where it is -1, in b, and as b is first in that law, the normal and both tangents of the frame
    belong to -n: with a as the body that moves, the tangents' rows change their signs.
    """
    normal, point_a, point_b = geometry.normal, geometry.point_a, geometry.point_b
    codes, axis, side, lever = laws
    for k in range(len(body_a)):
        if k + PREFETCH_TURNS < len(body_a):
            prefetch(q, body_b[k + PREFETCH_TURNS], 1)
        start, stop = row_ptr[k + offset], row_ptr[k + offset + 1]
        a, b = body_a[k], body_b[k]
        nx, ny, nz = normal[k, 0], normal[k, 1], normal[k, 2]
        ax, ay, az = point_a[k, 0] - q[a, 0], point_a[k, 1] - q[a, 1], point_a[k, 2] - q[a, 2]
        bx, by, bz = point_b[k, 0] - q[b, 0], point_b[k, 1] - q[b, 1], point_b[k, 2] - q[b, 2]
        set_row(Ja, start, 1.0, nx, ny, nz, ax, ay, az)
        set_row(Jb, start, -1.0, nx, ny, nz, bx, by, bz)
        if stop == start + 1:
            continue
        if max(lever[a], lever[b]) < math.inf:
            gx = 0.5 * (point_b[k, 0] - point_a[k, 0])
            gy = 0.5 * (point_b[k, 1] - point_a[k, 1])
            gz = 0.5 * (point_b[k, 2] - point_a[k, 2])
            ax, ay, az, bx, by, bz = ax + gx, ay + gy, az + gz, bx - gx, by - gy, bz - gz
        elif geometry.gap[k] < 0.0 and lever[a] < math.inf:
            bx, by, bz = point_a[k, 0] - q[b, 0], point_a[k, 1] - q[b, 1], point_a[k, 2] - q[b, 2]
        elif geometry.gap[k] < 0.0:
            ax, ay, az = point_b[k, 0] - q[a, 0], point_b[k, 1] - q[a, 1], point_b[k, 2] - q[a, 2]
        c = number[k]
        if side[c] == 0:
            tx, ty, tz, sx, sy, sz = frame(nx, ny, nz)
        elif side[c] > 0:
            tx, ty, tz, sx, sy, sz = frame_along(q, a, axis[c, 0], axis[c, 1], axis[c, 2], nx, ny, nz)
        else:
            tx, ty, tz, sx, sy, sz = frame_along(q, b, axis[c, 0], axis[c, 1], axis[c, 2], -nx, -ny, -nz)
            tx, ty, tz, sx, sy, sz = -tx, -ty, -tz, -sx, -sy, -sz
        for r in range(start + 1, stop):
            code = codes[c, r - start - 1]
            if code == TANGENT_1:
                set_row(Ja, r, 1.0, tx, ty, tz, ax, ay, az)
                set_row(Jb, r, -1.0, tx, ty, tz, bx, by, bz)
                continue
            if code == TANGENT_2:
                set_row(Ja, r, 1.0, sx, sy, sz, ax, ay, az)
                set_row(Jb, r, -1.0, sx, sy, sz, bx, by, bz)
                continue
            dx, dy, dz = nx, ny, nz
            if code == ROLL_1:
                dx, dy, dz = tx, ty, tz
            elif code == ROLL_2:
                dx, dy, dz = sx, sy, sz
            _set_turn(Ja, r, 1.0, dx, dy, dz)
            _set_turn(Jb, r, -1.0, dx, dy, dz)
            length[r] = min(lever[a], lever[b])


@njit(leaf=True)
def contact_tangents(q, body_a, body_b, normal, number, axis, side, tangent):
    """tangent (n, 3): tangent 1 of contacts, of the body that is first in the law where side is not 0."""
    for k in range(len(body_a)):
        nx, ny, nz = normal[k, 0], normal[k, 1], normal[k, 2]
        c = number[k]
        if side[c] == 0:
            tx, ty, tz, _, _, _ = frame(nx, ny, nz)
        elif side[c] > 0:
            tx, ty, tz, _, _, _ = frame_along(q, body_a[k], axis[c, 0], axis[c, 1], axis[c, 2], nx, ny, nz)
        else:
            tx, ty, tz, _, _, _ = frame_along(q, body_b[k], axis[c, 0], axis[c, 1], axis[c, 2], -nx, -ny, -nz)
        tangent[k, 0], tangent[k, 1], tangent[k, 2] = tx, ty, tz
