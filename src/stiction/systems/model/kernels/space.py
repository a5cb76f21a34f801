"""Bodies in space as compiled loops: rotations, free motion, inverse masses, and the rows of joints.

A configuration holds 7 numbers per body, the centre of mass x and the quaternion (w, x, y, z) that takes body axes to
world axes; a velocity holds 6, of the centre of mass and the angular velocity in world axes. Rotations are advanced
by the exponential map from the left: `quat⁺ = exp(dθ) quat`.
"""

from __future__ import annotations

import math

import numpy as np

from ....runtime.jit import njit

POINT_AXIS, DOT, DISTANCE, TRAVEL, TURN = 0, 1, 2, 3, 4  # the kinds of joint rows
PART_MAX_TURN_RAD = 0.5  # rad: free rotations that turn a body further are made in several parts


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
def _turned_back(P, x, y, z, out):
    """out = exp(-(x, y, z)) P."""
    a, b, c, d = exponential(-x, -y, -z)
    out[0], out[1], out[2] = turn(a, b, c, d, P[0], P[1], P[2])


@njit(leaf=True)
def _rotation_jacobian(I, h, x, y, z, P, J):
    """J = I - (h/2) P× B: how `I W - exp(-θ) P₀` changes with W, where θ = (x, y, z) = h (W₀ + W)/2.

    P is exp(-θ) P₀, and B = 1 - c θ× + s θ×θ×, c = (1 - cos θ)/θ², s = (θ - sin θ)/θ³, the derivative of exp at -θ.
    """
    a2 = x * x + y * y + z * z
    a = math.sqrt(a2)
    c, s = 0.5 - a2 / 24.0, 1.0 / 6.0 - a2 / 120.0
    if a > 1e-2:
        c, s = (1.0 - math.cos(a)) / a2, (a - math.sin(a)) / (a2 * a)
    d = 1.0 - s * a2
    # the columns of B
    b00, b10, b20 = d + s * x * x, s * x * y - c * z, s * x * z + c * y
    b01, b11, b21 = s * x * y + c * z, d + s * y * y, s * y * z - c * x
    b02, b12, b22 = s * x * z - c * y, s * y * z + c * x, d + s * z * z
    g = 0.5 * h
    J[0, 0], J[1, 0], J[2, 0] = P[1] * b20 - P[2] * b10, P[2] * b00 - P[0] * b20, P[0] * b10 - P[1] * b00
    J[0, 1], J[1, 1], J[2, 1] = P[1] * b21 - P[2] * b11, P[2] * b01 - P[0] * b21, P[0] * b11 - P[1] * b01
    J[0, 2], J[1, 2], J[2, 2] = P[1] * b22 - P[2] * b12, P[2] * b02 - P[0] * b22, P[0] * b12 - P[1] * b02
    for k in range(3):
        for m in range(3):
            J[k, m] = I[k, m] - g * J[k, m]


@njit(leaf=True)
def free_rotation(I, h, W, P, work, J):
    """A torque-free turn of at most about half a radian: W (body axes) becomes the angular velocity after it.

    `I W⁺ = exp(-θ) I W` with θ = h (W + W⁺)/2, by which the body turns in its own axes; P receives θ. The momentum is
    turned as the body is, so that it stays fixed in space, and ½ (W + W⁺)·(I W⁺ - I W) = 0 because θ is parallel to
    W + W⁺: both are kept to round-off. Newton's method, in work (5, 3) and J (3, 3). Returns whether it converged.
    """
    P0, start, back, r, d = work[0], work[1], work[2], work[3], work[4]
    g = 0.5 * h
    for k in range(3):
        P0[k] = I[k, 0] * W[0] + I[k, 1] * W[1] + I[k, 2] * W[2]
        start[k] = W[k]
    last = math.inf
    done = False
    for _ in range(25):
        x, y, z = g * (start[0] + W[0]), g * (start[1] + W[1]), g * (start[2] + W[2])
        _turned_back(P0, x, y, z, back)
        for k in range(3):
            r[k] = back[k] - (I[k, 0] * W[0] + I[k, 1] * W[1] + I[k, 2] * W[2])
        _rotation_jacobian(I, h, x, y, z, back, J)
        solve3(J, r, d)
        step, size = 0.0, 0.0
        for k in range(3):
            W[k] += d[k]
            step = max(step, abs(d[k]))
            size = max(size, abs(W[k]))
        # of very slender bodies the slow axis is known to round-off of the others only: there steps stop shrinking
        if step <= 4e-16 * size or (step <= 1e-9 * size and step >= last):
            done = True
            break
        last = step
    P[0], P[1], P[2] = g * (start[0] + W[0]), g * (start[1] + W[1]), g * (start[2] + W[2])
    _turned_back(P0, P[0], P[1], P[2], back)
    solve3(I, back, W)  # the momentum to the last bit
    return done


@njit(leaf=True)
def _spin(I, h, parts, w, x, y, z, W, P, work, J, out):
    """A torque-free rotation of length h in so many parts from (w, x, y, z); out (4,) and W receive the end."""
    for _ in range(parts):
        if not free_rotation(I, h / parts, W, P, work, J):
            return False
        a, b, c, d = exponential(P[0], P[1], P[2])
        w, x, y, z = product(w, x, y, z, a, b, c, d)
    s = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    out[0], out[1], out[2], out[3] = w * s, x * s, y * s, z * s
    return True


@njit(leaf=True)
def _move_body(i, q, v, h, inertia, W, P, work, J, new_q, new_v):
    """`move` of a body that forces move; W, P (3,), work (6, 4) and J (3, 3) are overwritten."""
    for k in range(3):
        new_q[i, k] = q[i, k] + h * v[i, k]
        new_v[i, k] = v[i, k]
    I = inertia[i]
    w, x, y, z = q[i, 3], q[i, 4], q[i, 5], q[i, 6]
    ball = I[0, 0] == I[1, 1] == I[2, 2] and I[0, 1] == I[0, 2] == I[1, 2] == 0.0
    if not ball:
        start = turn(w, -x, -y, -z, v[i, 3], v[i, 4], v[i, 5])
        size = math.sqrt(start[0] ** 2 + start[1] ** 2 + start[2] ** 2)
        if size > 0.0 and abs(h) * size < 1e5:
            parts = max(1, math.ceil(abs(h) * size / PART_MAX_TURN_RAD))
            for _ in range(4):
                W[0], W[1], W[2] = start
                if _spin(I, h, parts, w, x, y, z, W, P, work, J, work[5]):
                    for k in range(4):
                        new_q[i, 3 + k] = work[5, k]
                    new_v[i, 3], new_v[i, 4], new_v[i, 5] = turn(
                        work[5, 0], work[5, 1], work[5, 2], work[5, 3], W[0], W[1], W[2]
                    )
                    return
                parts *= 4
    # a ball turns about its momentum, which stays; so does whatever is not finite
    a, b, c, d = exponential(h * v[i, 3], h * v[i, 4], h * v[i, 5])
    a, b, c, d = product(a, b, c, d, w, x, y, z)
    s = 1.0 / math.sqrt(a * a + b * b + c * c + d * d)
    new_q[i, 3], new_q[i, 4], new_q[i, 5], new_q[i, 6] = a * s, b * s, c * s, d * s
    for k in range(3, 6):
        new_v[i, k] = v[i, k]


@njit
def move(q, v, h, inertia, moves, new_q, new_v):
    """Free flight for a time h: bodies at q (nb, 7) with velocities v (nb, 6) come to new_q with new_v.

    Nothing acts on them, so that velocities of centres of mass, angular momenta and energies stay. Bodies that no force
    moves go on with their velocity.
    """
    W, P = np.empty(3), np.empty(3)
    work, J = np.empty((6, 4)), np.empty((3, 3))
    for i in range(q.shape[0]):
        if moves[i]:
            _move_body(i, q, v, h, inertia, W, P, work, J, new_q, new_v)
            continue
        for k in range(3):
            new_q[i, k] = q[i, k] + h * v[i, k]
        a, b, c, d = exponential(h * v[i, 3], h * v[i, 4], h * v[i, 5])
        a, b, c, d = product(a, b, c, d, q[i, 3], q[i, 4], q[i, 5], q[i, 6])
        s = 1.0 / math.sqrt(a * a + b * b + c * c + d * d)
        new_q[i, 3], new_q[i, 4], new_q[i, 5], new_q[i, 6] = a * s, b * s, c * s, d * s
        for k in range(6):
            new_v[i, k] = v[i, k]


@njit(leaf=True)
def push(q, v, force, mass, inverse_inertia, moves, h, out):
    """out (nb, 6) = v + h M⁻¹ force: forces and torques (nb, 6) about centres of mass, applied at q (nb, 7) at once."""
    for i in range(q.shape[0]):
        for k in range(6):
            out[i, k] = v[i, k]
        if not moves[i]:
            continue
        for k in range(3):
            out[i, k] += h * force[i, k] / mass[i]
        if force[i, 3] == 0.0 and force[i, 4] == 0.0 and force[i, 5] == 0.0:
            continue
        w, x, y, z = q[i, 3], q[i, 4], q[i, 5], q[i, 6]
        I = inverse_inertia[i]
        a, b, c = turn(w, -x, -y, -z, h * force[i, 3], h * force[i, 4], h * force[i, 5])
        a, b, c = turn(
            w, x, y, z,
            I[0, 0] * a + I[0, 1] * b + I[0, 2] * c,
            I[1, 0] * a + I[1, 1] * b + I[1, 2] * c,
            I[2, 0] * a + I[2, 1] * b + I[2, 2] * c,
        )  # fmt: skip
        out[i, 3] += a
        out[i, 4] += b
        out[i, 5] += c


@njit(leaf=True)
def kinetic_energy(q, v, mass, inertia, moves):
    """½ v·M v of bodies that forces move, [J], with spins in body axes.

    In world axes the inertia of a thin rod that rolls fast would be known to the round-off of its largest moment only.
    """
    total = 0.0
    for i in range(q.shape[0]):
        if not moves[i]:
            continue
        I = inertia[i]
        a, b, c = turn(q[i, 3], -q[i, 4], -q[i, 5], -q[i, 6], v[i, 3], v[i, 4], v[i, 5])
        spin = I[0, 0] * a * a + I[1, 1] * b * b + I[2, 2] * c * c
        spin += 2.0 * (I[0, 1] * a * b + I[0, 2] * a * c + I[1, 2] * b * c)
        total += 0.5 * (mass[i] * (v[i, 0] ** 2 + v[i, 1] ** 2 + v[i, 2] ** 2) + spin)
    return total


@njit(leaf=True)
def turn_with(q, v, new_q, new_v):
    """new_v: the spins of v (nb, 6) turned as the bodies are from q to new_q (nb, 7); energies stay as they are."""
    for i in range(q.shape[0]):
        for k in range(3):
            new_v[i, k] = v[i, k]
        a, b, c = turn(q[i, 3], -q[i, 4], -q[i, 5], -q[i, 6], v[i, 3], v[i, 4], v[i, 5])
        new_v[i, 3], new_v[i, 4], new_v[i, 5] = turn(new_q[i, 3], new_q[i, 4], new_q[i, 5], new_q[i, 6], a, b, c)


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
def count_turns(q, dq, rows, old, out):
    """out (nt,): the angles of `JointRows` at q, nearest to old + what dq (nb, 6) adds of all that differ by turns."""
    body_a, body_b, u, e, n = rows.turn_a, rows.turn_b, rows.turn_u, rows.turn_e, rows.turn_n
    for c in range(len(body_a)):
        a, b = body_a[c], body_b[c]
        x, y, _, _, _, nx, ny, nz = _angle(q, a, b, u, e, n, c)
        angle = math.atan2(y, x)
        near = old[c]
        near += nx * (dq[a, 3] - dq[b, 3]) + ny * (dq[a, 4] - dq[b, 4]) + nz * (dq[a, 5] - dq[b, 5])
        out[c] = angle + 2.0 * math.pi * math.floor((near - angle) / (2.0 * math.pi) + 0.5)


@njit(leaf=True, sealed=True)
def joint_rows(q, turns, rows, first, value, Ja, Jb):
    """Values and rows of joints (`JointRows`), one primitive per row, from row `first` on.

    `scale` times one of: POINT_AXIS: u_b·(x_a - x_b), the offset of two points along an axis fixed in b; DOT: u_a·u_b
    of two directions fixed in the bodies; DISTANCE: |x_a - x_b|; TRAVEL: u·x_b along a direction fixed in the world;
    TURN: nothing. To this come `weight` times the angles `turns` (nt,) of turn_of (n, 2), and minus `rest`. All
    derivatives are exact.
    """
    kind, body_a, body_b, pa, pb, ua, ub, rest, scale, turn_of, weight, turn_a, turn_b, turn_u, turn_e, turn_n = rows
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
