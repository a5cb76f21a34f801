"""Bodies in space as compiled loops: rotations, free motion, inverse masses, and the rows of joints.

A configuration holds 7 numbers per body, the centre of mass x and the quaternion (w, x, y, z) that takes body axes to
world axes; a velocity holds 6, of the centre of mass and the angular velocity in world axes. Rotations are advanced
by the exponential map from the left: `quat⁺ = exp(dθ) quat`.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import njit

POINT_AXIS, DOT, DISTANCE, TRAVEL, TURN = 0, 1, 2, 3, 4  # the kinds of joint rows


@njit(inline=True)
def exponential(x, y, z):
    """The quaternion of the rotation vector (x, y, z)."""
    a2 = x * x + y * y + z * z
    a = math.sqrt(a2)
    s = math.sin(0.5 * a) / a if a > 1e-6 else 0.5 - a2 / 48.0
    return math.cos(0.5 * a), s * x, s * y, s * z


@njit(inline=True)
def product(a, b, c, d, e, f, g, h):
    """The product of two quaternions."""
    return (
        a * e - b * f - c * g - d * h,
        a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f,
        a * h + b * g - c * f + d * e,
    )


@njit(inline=True)
def turn(w, x, y, z, a, b, c):
    """The vector (a, b, c) rotated by a unit quaternion."""
    tx = 2.0 * (y * c - z * b)
    ty = 2.0 * (z * a - x * c)
    tz = 2.0 * (x * b - y * a)
    return a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx


@njit(leaf=True)
def rotations(q, R):
    """R (nb, 3, 3), body to world, from configurations q (nb, 7)."""
    for i in range(q.shape[0]):
        w, x, y, z = q[i, 3], q[i, 4], q[i, 5], q[i, 6]
        R[i, 0, 0] = 1.0 - 2.0 * (y * y + z * z)
        R[i, 0, 1] = 2.0 * (x * y - w * z)
        R[i, 0, 2] = 2.0 * (x * z + w * y)
        R[i, 1, 0] = 2.0 * (x * y + w * z)
        R[i, 1, 1] = 1.0 - 2.0 * (x * x + z * z)
        R[i, 1, 2] = 2.0 * (y * z - w * x)
        R[i, 2, 0] = 2.0 * (x * z - w * y)
        R[i, 2, 1] = 2.0 * (y * z + w * x)
        R[i, 2, 2] = 1.0 - 2.0 * (x * x + y * y)


@njit(leaf=True)
def retract(q, dq, out):
    """out = q ⊕ dq for configurations (nb, 7) and displacements (nb, 6); the quaternion stays of length one."""
    for i in range(q.shape[0]):
        for k in range(3):
            out[i, k] = q[i, k] + dq[i, k]
        a, b, c, d = exponential(dq[i, 3], dq[i, 4], dq[i, 5])
        w, x, y, z = product(a, b, c, d, q[i, 3], q[i, 4], q[i, 5], q[i, 6])
        s = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
        out[i, 3], out[i, 4], out[i, 5], out[i, 6] = w * s, x * s, y * s, z * s


@njit(leaf=True)
def difference(q0, q1, out):
    """out (nb, 6) with q0 ⊕ out = q1; rotations by the logarithm, at most half a turn."""
    for i in range(q0.shape[0]):
        for k in range(3):
            out[i, k] = q1[i, k] - q0[i, k]
        w, x, y, z = product(q1[i, 3], q1[i, 4], q1[i, 5], q1[i, 6], q0[i, 3], -q0[i, 4], -q0[i, 5], -q0[i, 6])
        if w < 0.0:
            w, x, y, z = -w, -x, -y, -z
        s = math.sqrt(x * x + y * y + z * z)
        f = 2.0 * math.atan2(s, w) / s if s > 1e-12 else 2.0
        out[i, 3], out[i, 4], out[i, 5] = f * x, f * y, f * z


@njit(leaf=True)
def solve3(A, b, x):
    """x = A⁻¹ b for a 3 x 3 matrix, by Cramer's rule."""
    c00 = A[1, 1] * A[2, 2] - A[1, 2] * A[2, 1]
    c01 = A[1, 2] * A[2, 0] - A[1, 0] * A[2, 2]
    c02 = A[1, 0] * A[2, 1] - A[1, 1] * A[2, 0]
    det = A[0, 0] * c00 + A[0, 1] * c01 + A[0, 2] * c02
    c10 = A[0, 2] * A[2, 1] - A[0, 1] * A[2, 2]
    c11 = A[0, 0] * A[2, 2] - A[0, 2] * A[2, 0]
    c12 = A[0, 1] * A[2, 0] - A[0, 0] * A[2, 1]
    c20 = A[0, 1] * A[1, 2] - A[0, 2] * A[1, 1]
    c21 = A[0, 2] * A[1, 0] - A[0, 0] * A[1, 2]
    c22 = A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]
    x[0] = (c00 * b[0] + c10 * b[1] + c20 * b[2]) / det
    x[1] = (c01 * b[0] + c11 * b[1] + c21 * b[2]) / det
    x[2] = (c02 * b[0] + c12 * b[1] + c22 * b[2]) / det


@njit(leaf=True)
def free_rotation(I, P, h, W, J, r, d):
    """The mean angular velocity W (body axes) of a torque-free step of length h with angular momentum P (body axes).

    Solves `I W = exp(-h W/2) P`: the momentum, turned to the middle of the step, is that of the mean velocity. The step
    then turns the body by exp(h W) and its momentum by exp(-h W), so |P| is kept exactly and the energy, by symmetry
    in time, without drift. Quasi-Newton with J = I - (h/2) P×; work arrays J (3, 3), r, d (3,).
    """
    solve3(I, P, W)
    alike = I[0, 0] == I[1, 1] == I[2, 2]
    if alike and I[0, 1] == I[0, 2] == I[1, 2] == 0.0:  # a ball turns about its momentum, which stays
        return
    for _ in range(60):
        a, b, c, e = exponential(-0.5 * h * W[0], -0.5 * h * W[1], -0.5 * h * W[2])
        mx, my, mz = turn(a, b, c, e, P[0], P[1], P[2])
        for k in range(3):
            for m in range(3):
                J[k, m] = I[k, m]
            r[k] = -(I[k, 0] * W[0] + I[k, 1] * W[1] + I[k, 2] * W[2])
        r[0] += mx
        r[1] += my
        r[2] += mz
        g = 0.5 * h
        J[0, 1] += g * mz
        J[0, 2] -= g * my
        J[1, 0] -= g * mz
        J[1, 2] += g * mx
        J[2, 0] += g * my
        J[2, 1] -= g * mx
        solve3(J, r, d)
        step = 0.0
        size = 0.0
        for k in range(3):
            W[k] += d[k]
            step = max(step, abs(d[k]))
            size = max(size, abs(W[k]))
        if step <= 2e-15 * size:
            break


@njit(leaf=True)
def _free_body(i, q, v, force, mass, inertia, h, P, W, r, d, J, v_free, q_free):
    """`free_motion` of a body that moves; P, W, r, d (3,) and J (3, 3) are overwritten."""
    for k in range(3):
        v_free[i, k] = v[i, k] + h * force[i, k] / mass[i]
        q_free[i, k] = q[i, k] + h * v_free[i, k]
    w, x, y, z = q[i, 3], q[i, 4], q[i, 5], q[i, 6]
    I = inertia[i]
    a, b, c = turn(w, -x, -y, -z, v[i, 3], v[i, 4], v[i, 5])
    ta, tb, tc = turn(w, -x, -y, -z, force[i, 3], force[i, 4], force[i, 5])
    P[0] = I[0, 0] * a + I[0, 1] * b + I[0, 2] * c + h * ta
    P[1] = I[1, 0] * a + I[1, 1] * b + I[1, 2] * c + h * tb
    P[2] = I[2, 0] * a + I[2, 1] * b + I[2, 2] * c + h * tc
    free_rotation(I, P, h, W, J, r, d)
    # The body turns by h W in its own axes; the momentum stays fixed in space.
    ea, eb, ec, ed = exponential(h * W[0], h * W[1], h * W[2])
    qa, qb, qc, qd = product(w, x, y, z, ea, eb, ec, ed)
    s = 1.0 / math.sqrt(qa * qa + qb * qb + qc * qc + qd * qd)
    qa, qb, qc, qd = qa * s, qb * s, qc * s, qd * s
    q_free[i, 3], q_free[i, 4], q_free[i, 5], q_free[i, 6] = qa, qb, qc, qd
    P[0], P[1], P[2] = turn(ea, -eb, -ec, -ed, P[0], P[1], P[2])
    solve3(I, P, W)
    v_free[i, 3], v_free[i, 4], v_free[i, 5] = turn(qa, qb, qc, qd, W[0], W[1], W[2])


@njit
def free_motion(q, v, force, mass, inertia, moves, h, v_free, q_free):
    """A step without impulses: v_free (nb, 6) and q_free (nb, 7) under forces and torques (nb, 6) about the com."""
    P, W, r, d = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    J = np.empty((3, 3))
    for i in range(q.shape[0]):
        if moves[i]:
            _free_body(i, q, v, force, mass, inertia, h, P, W, r, d, J, v_free, q_free)
            continue
        for k in range(6):
            v_free[i, k] = v[i, k]
        for k in range(7):
            q_free[i, k] = q[i, k]


@njit(leaf=True)
def mass_blocks(R, mass, inertia, moves, M):
    """M (nb, 6, 6): mass, or inverse mass, of each body in world axes from body tensors; zero where it is fixed."""
    for i in range(R.shape[0]):
        for k in range(6):
            for m in range(6):
                M[i, k, m] = 0.0
        if not moves[i]:
            continue
        for k in range(3):
            M[i, k, k] = mass[i]
            for m in range(k + 1):
                s = 0.0
                for a in range(3):
                    for b in range(3):
                        s += R[i, k, a] * inertia[i, a, b] * R[i, m, b]
                M[i, 3 + k, 3 + m] = s
                M[i, 3 + m, 3 + k] = s


@njit(inline=True)
def set_row(J, row, sign, dx, dy, dz, rx, ry, rz):
    """Row of the velocity at arm r along direction d: d·v + (r × d)·ω."""
    J[row, 0], J[row, 1], J[row, 2] = sign * dx, sign * dy, sign * dz
    J[row, 3] = sign * (ry * dz - rz * dy)
    J[row, 4] = sign * (rz * dx - rx * dz)
    J[row, 5] = sign * (rx * dy - ry * dx)


@njit(inline=True)
def _angle(q, a, b, u, e, n, c):
    """cos and sin (times a length) of the angle from e to u about n, its gradient in ω_a - ω_b, and the axis."""
    ux, uy, uz = turn(q[a, 3], q[a, 4], q[a, 5], q[a, 6], u[c, 0], u[c, 1], u[c, 2])
    ex, ey, ez = turn(q[b, 3], q[b, 4], q[b, 5], q[b, 6], e[c, 0], e[c, 1], e[c, 2])
    nx, ny, nz = turn(q[b, 3], q[b, 4], q[b, 5], q[b, 6], n[c, 0], n[c, 1], n[c, 2])
    fx, fy, fz = ny * ez - nz * ey, nz * ex - nx * ez, nx * ey - ny * ex
    x, y = ux * ex + uy * ey + uz * ez, ux * fx + uy * fy + uz * fz
    gx, gy, gz = nx, ny, nz
    size = x * x + y * y
    if size > 1e-24:
        # x' = ω·(u × e), y' = ω·(u × f), and the angle's rate is (x y' - y x')/(x² + y²)
        wx, wy, wz = x * fx - y * ex, x * fy - y * ey, x * fz - y * ez
        gx, gy, gz = (uy * wz - uz * wy) / size, (uz * wx - ux * wz) / size, (ux * wy - uy * wx) / size
    return x, y, gx, gy, gz, nx, ny, nz


@njit(leaf=True)
def count_turns(q, dq, body_a, body_b, u, e, n, old, out):
    """out (nt,): the angles at q, of all that differ by full turns the ones nearest to old + what dq (nb, 6) adds."""
    for c in range(len(body_a)):
        a, b = body_a[c], body_b[c]
        x, y, _, _, _, nx, ny, nz = _angle(q, a, b, u, e, n, c)
        angle = math.atan2(y, x)
        near = old[c]
        near += nx * (dq[a, 3] - dq[b, 3]) + ny * (dq[a, 4] - dq[b, 4]) + nz * (dq[a, 5] - dq[b, 5])
        out[c] = angle + 2.0 * math.pi * math.floor((near - angle) / (2.0 * math.pi) + 0.5)


@njit(leaf=True)
def joint_rows(
    q, turns, kind, body_a, body_b, pa, pb, ua, ub, rest, scale, turn_of, weight, turn_a, turn_b, turn_u, turn_e,
    turn_n, first, value, Ja, Jb,
):  # fmt: skip
    """Values and rows of joints, one primitive per row, from row `first` on.

    `scale` times one of: POINT_AXIS: u_b·(x_a - x_b), the offset of two points along an axis fixed in b; DOT: u_a·u_b
    of two directions fixed in the bodies; DISTANCE: |x_a - x_b|; TRAVEL: u·x_b along a direction fixed in the world;
    TURN: nothing. To this come `weight` times the angles `turns` (nt,) of turn_of (n, 2), and minus `rest`. All
    derivatives are exact.
    """
    for j in range(len(kind)):
        row = first + j
        a, b = body_a[j], body_b[j]
        k, s = kind[j], scale[j]
        for i in range(6):
            Ja[row, i] = 0.0
            Jb[row, i] = 0.0
        value[row] = -rest[j]
        if k == DOT:
            uax, uay, uaz = turn(q[a, 3], q[a, 4], q[a, 5], q[a, 6], ua[j, 0], ua[j, 1], ua[j, 2])
            ubx, uby, ubz = turn(q[b, 3], q[b, 4], q[b, 5], q[b, 6], ub[j, 0], ub[j, 1], ub[j, 2])
            value[row] = s * (uax * ubx + uay * uby + uaz * ubz) - rest[j]
            cx, cy, cz = s * (uay * ubz - uaz * uby), s * (uaz * ubx - uax * ubz), s * (uax * uby - uay * ubx)
            Ja[row, 3], Ja[row, 4], Ja[row, 5] = cx, cy, cz
            Jb[row, 3], Jb[row, 4], Jb[row, 5] = -cx, -cy, -cz
        elif k == TRAVEL:
            value[row] = s * (ub[j, 0] * q[b, 0] + ub[j, 1] * q[b, 1] + ub[j, 2] * q[b, 2]) - rest[j]
            set_row(Jb, row, s, ub[j, 0], ub[j, 1], ub[j, 2], 0.0, 0.0, 0.0)
        elif k != TURN:
            rax, ray, raz = turn(q[a, 3], q[a, 4], q[a, 5], q[a, 6], pa[j, 0], pa[j, 1], pa[j, 2])
            rbx, rby, rbz = turn(q[b, 3], q[b, 4], q[b, 5], q[b, 6], pb[j, 0], pb[j, 1], pb[j, 2])
            ubx, uby, ubz = turn(q[b, 3], q[b, 4], q[b, 5], q[b, 6], ub[j, 0], ub[j, 1], ub[j, 2])
            dx = q[a, 0] + rax - q[b, 0] - rbx
            dy = q[a, 1] + ray - q[b, 1] - rby
            dz = q[a, 2] + raz - q[b, 2] - rbz
            if k == DISTANCE:
                length = math.sqrt(dx * dx + dy * dy + dz * dz)
                if length > 0.0:
                    ubx, uby, ubz = dx / length, dy / length, dz / length
                value[row] = s * length - rest[j]
            else:
                value[row] = s * (ubx * dx + uby * dy + ubz * dz) - rest[j]
            # the axis turns with b, so b's arm reaches to a's point
            set_row(Ja, row, s, ubx, uby, ubz, rax, ray, raz)
            set_row(Jb, row, -s, ubx, uby, ubz, rbx + dx, rby + dy, rbz + dz)
        for m in range(2):
            c = turn_of[j, m]
            if c < 0:
                continue
            w = weight[j, m]
            value[row] += w * turns[c]
            _, _, gx, gy, gz, _, _, _ = _angle(q, turn_a[c], turn_b[c], turn_u, turn_e, turn_n, c)
            # one of the two bodies of a turn may be the world, which is in no row
            _add_turn(Ja, row, w, a, turn_a[c], turn_b[c], gx, gy, gz)
            _add_turn(Jb, row, w, b, turn_a[c], turn_b[c], gx, gy, gz)


@njit(inline=True)
def _add_turn(J, row, w, body, turn_a, turn_b, gx, gy, gz):
    if body in (turn_a, turn_b):
        s = w if body == turn_a else -w
        J[row, 3] += s * gx
        J[row, 4] += s * gy
        J[row, 5] += s * gz
