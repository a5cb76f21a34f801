"""Bodies in the plane as compiled loops: the rows of contacts and joints.

A configuration holds (x, y, angle) of the centre of mass per body, and a velocity their rates: a vector space, so that
motion needs no kernels of its own.
"""

from __future__ import annotations

import math

from ....friction.sets import TANGENT_1
from ....runtime.jit import njit

POINT_AXIS, DOT, DISTANCE, TRAVEL, TURN = 0, 1, 2, 3, 4  # as in space; DOT is the difference of two angles here


@njit(inline=True)
def _set_row(J, row, sign, dx, dy, rx, ry):
    J[row, 0], J[row, 1], J[row, 2] = sign * dx, sign * dy, sign * (rx * dy - ry * dx)


@njit(leaf=True)
def contact_rows(
    q, body_a, body_b, geometry, row_ptr, offset, number, laws, Ja, Jb, length
):  # fmt: skip
    """Rows of contacts at row_ptr[k + offset] of Ja, Jb (nr, 3): the normal, then what codes[number[k]] of `laws` say.

    The tangent is the normal turned clockwise, so that on a floor it points along +x; its row acts at the same points
    as in space (`space_contacts.contact_rows`). Rolling is the angular
    velocity of the first body less that of the second, which is a unless side is -1; its `length` (nr,) is the smaller
    lever (nb,) of the two bodies. There are no axes in the plane.
    """
    normal, point_a, point_b = geometry.normal, geometry.point_a, geometry.point_b
    codes, side, lever = laws.codes, laws.side, laws.lever
    for k in range(len(body_a)):
        start, stop = row_ptr[k + offset], row_ptr[k + offset + 1]
        a, b = body_a[k], body_b[k]
        nx, ny = normal[k, 0], normal[k, 1]
        ax, ay = point_a[k, 0] - q[a, 0], point_a[k, 1] - q[a, 1]
        bx, by = point_b[k, 0] - q[b, 0], point_b[k, 1] - q[b, 1]
        _set_row(Ja, start, 1.0, nx, ny, ax, ay)
        _set_row(Jb, start, -1.0, nx, ny, bx, by)
        for r in range(start + 1, stop):
            if codes[number[k], r - start - 1] == TANGENT_1:
                gx, gy = 0.0, 0.0
                if max(lever[a], lever[b]) < math.inf:
                    gx, gy = 0.5 * (point_b[k, 0] - point_a[k, 0]), 0.5 * (point_b[k, 1] - point_a[k, 1])
                elif geometry.gap[k] < 0.0 and lever[a] < math.inf:  # both at the point of the body that moves
                    bx, by = point_a[k, 0] - q[b, 0], point_a[k, 1] - q[b, 1]
                elif geometry.gap[k] < 0.0:
                    ax, ay = point_b[k, 0] - q[a, 0], point_b[k, 1] - q[a, 1]
                _set_row(Ja, r, 1.0, ny, -nx, ax + gx, ay + gy)
                _set_row(Jb, r, -1.0, ny, -nx, bx - gx, by - gy)
            else:
                sign = -1.0 if side[number[k]] < 0 else 1.0
                Ja[r, 0], Ja[r, 1], Ja[r, 2] = 0.0, 0.0, sign
                Jb[r, 0], Jb[r, 1], Jb[r, 2] = 0.0, 0.0, -sign
                length[r] = min(lever[a], lever[b])


@njit(leaf=True)
def contact_tangents(q, body_a, body_b, normal, number, axis, side, tangent):
    """tangent (n, 2) of contacts, of the body that is first in the law where side is not 0."""
    for k in range(len(body_a)):
        sign = -1.0 if side[number[k]] < 0 else 1.0
        tangent[k, 0], tangent[k, 1] = sign * normal[k, 1], -sign * normal[k, 0]


@njit(leaf=True)
def joint_rows(q, starts, rows, first, value, Ja, Jb):
    """Values and rows of joints (`JointRows`), one primitive per row, from row `first` on.

    `scale` times one of: POINT_AXIS: u_b·(x_a - x_b) along an axis fixed in b; DOT: the angle of a minus that of b;
    DISTANCE: |x_a - x_b|; TRAVEL: u·x_b along a direction fixed in the world; TURN: nothing. To this come `weight`
    times the turns, differences of two angles less `starts` (nt,), and minus `rest`.
    """
    kind, body_a, body_b, pa, pb, _, ub, rest, scale, turn_of, weight, turn_a, turn_b, _, _, _ = rows
    for j in range(len(kind)):
        row = first + j
        a, b = body_a[j], body_b[j]
        k, s = kind[j], scale[j]
        for i in range(3):
            Ja[row, i] = 0.0
            Jb[row, i] = 0.0
        value[row] = -rest[j]
        if k == DOT:
            value[row] = s * (q[a, 2] - q[b, 2]) - rest[j]
            Ja[row, 2], Jb[row, 2] = s, -s
        elif k == TRAVEL:
            value[row] = s * (ub[j, 0] * q[b, 0] + ub[j, 1] * q[b, 1]) - rest[j]
            Jb[row, 0], Jb[row, 1] = s * ub[j, 0], s * ub[j, 1]
        elif k != TURN:
            ca, sa = math.cos(q[a, 2]), math.sin(q[a, 2])
            cb, sb = math.cos(q[b, 2]), math.sin(q[b, 2])
            rax, ray = ca * pa[j, 0] - sa * pa[j, 1], sa * pa[j, 0] + ca * pa[j, 1]
            rbx, rby = cb * pb[j, 0] - sb * pb[j, 1], sb * pb[j, 0] + cb * pb[j, 1]
            dx, dy = q[a, 0] + rax - q[b, 0] - rbx, q[a, 1] + ray - q[b, 1] - rby
            ux, uy = cb * ub[j, 0] - sb * ub[j, 1], sb * ub[j, 0] + cb * ub[j, 1]
            if k == DISTANCE:
                length = math.sqrt(dx * dx + dy * dy)
                if length > 0.0:
                    ux, uy = dx / length, dy / length
                value[row] = s * length - rest[j]
            else:
                value[row] = s * (ux * dx + uy * dy) - rest[j]
            _set_row(Ja, row, s, ux, uy, rax, ray)
            _set_row(Jb, row, -s, ux, uy, rbx + dx, rby + dy)
        for m in range(2):
            c = turn_of[j, m]
            if c < 0:
                continue
            w, ta, tb = weight[j, m], turn_a[c], turn_b[c]
            value[row] += w * (q[ta, 2] - q[tb, 2] - starts[c])
            # one of the two bodies of a turn may be the world, which is in no row
            if a in (ta, tb):
                Ja[row, 2] += w if a == ta else -w
            if b in (ta, tb):
                Jb[row, 2] += w if b == ta else -w
