"""Contacts of points in compact form: their rows in 15 numbers instead of 36, which memory delivers sooner.

The three rows of a contact of rigid bodies are a frame F (its normal and tangents, in the frame of the entry) and the
arms r_a, r_b from the centres of mass: H v = F (v_a + ω_a × r_a - v_b - ω_b × r_b). With M⁻¹ = L Lᵀ, whose blocks are
l·1 for the velocity and a triangle Λ for the spin, the state w of the sweeps moves by l f and Λᵀ (r × f) for the
impulse f = Fᵀ p.
"""

from __future__ import annotations

import math

from ...friction.kernels import round_map
from ...runtime.jit import njit
from . import kinds
from .local import disk_of, solve_disk
from .parameters import LOCAL

POINT_CONTACT_SIZE = 16  # numbers of a contact: 15, and one to fill two cache lines
NORMAL, TANGENT_1, TANGENT_2, ARM_A, ARM_B = 0, 3, 6, 9, 12  # where its vectors begin
BODY_FACTORS = 8  # numbers of a body: l, Λ by rows of its triangle, and one to fill a cache line


@njit(inline=True)
def _sqrt_or_zero(x, diagonal):
    """√x, or zero where x is the round-off of the diagonal entry from which it was computed."""
    return math.sqrt(x) if x > 1e-15 * diagonal else 0.0


@njit(inline=True)
def _divide_or_zero(x, root):
    return x / root if x != 0.0 and root > 0.0 else 0.0


@njit(leaf=True)
def compact_factors(Minv, body, i, out):
    """Set out[i] (BODY_FACTORS,) to l and Λ, the Cholesky factor of a body; False where M⁻¹ has another form.

    The form is that of a rigid body in space: 1/m on the diagonal, and the inverse inertia apart from it.
    """
    for j in range(6):
        for k in range(min(j, 3)):
            if Minv[body, j, k] != 0.0:
                return False
    if Minv[body, 1, 1] != Minv[body, 0, 0] or Minv[body, 2, 2] != Minv[body, 0, 0]:
        return False
    out[i, 0] = _sqrt_or_zero(Minv[body, 0, 0], Minv[body, 0, 0])
    a = _sqrt_or_zero(Minv[body, 3, 3], Minv[body, 3, 3])
    b, d = _divide_or_zero(Minv[body, 4, 3], a), _divide_or_zero(Minv[body, 5, 3], a)
    c = _sqrt_or_zero(Minv[body, 4, 4] - b * b, Minv[body, 4, 4])
    e = _divide_or_zero(Minv[body, 5, 4] - d * b, c)
    out[i, 1], out[i, 2], out[i, 3], out[i, 4], out[i, 5] = a, b, c, d, e
    out[i, 6] = _sqrt_or_zero(Minv[body, 5, 5] - d * d - e * e, Minv[body, 5, 5])
    out[i, 7] = 0.0
    return True


@njit(leaf=True)
def _body_arm(H, g, sign, at, i, F):
    """Set F[i, at:] to the arm ½ Σ n × (r × n) of a body's rows g..g + 2; False where they are not those of a point.

    Or where their directions are not those in F[i].
    """
    ax, ay, az = sign * H[g, 0], sign * H[g, 1], sign * H[g, 2]
    au, av, aw = sign * H[g, 3], sign * H[g, 4], sign * H[g, 5]
    bx, by, bz = sign * H[g + 1, 0], sign * H[g + 1, 1], sign * H[g + 1, 2]
    bu, bv, bw = sign * H[g + 1, 3], sign * H[g + 1, 4], sign * H[g + 1, 5]
    cx, cy, cz = sign * H[g + 2, 0], sign * H[g + 2, 1], sign * H[g + 2, 2]
    cu, cv, cw = sign * H[g + 2, 3], sign * H[g + 2, 4], sign * H[g + 2, 5]
    off = abs(ax - F[i, 0]) + abs(ay - F[i, 1]) + abs(az - F[i, 2])
    off += abs(bx - F[i, 3]) + abs(by - F[i, 4]) + abs(bz - F[i, 5])
    off += abs(cx - F[i, 6]) + abs(cy - F[i, 7]) + abs(cz - F[i, 8])
    off += abs(ax * ax + ay * ay + az * az - 1.0) + abs(bx * bx + by * by + bz * bz - 1.0)
    off += abs(cx * cx + cy * cy + cz * cz - 1.0) + abs(ax * bx + ay * by + az * bz)
    off += abs(ax * cx + ay * cy + az * cz) + abs(bx * cx + by * cy + bz * cz)
    x = 0.5 * (ay * aw - az * av) + 0.5 * (by * bw - bz * bv) + 0.5 * (cy * cw - cz * cv)
    y = 0.5 * (az * au - ax * aw) + 0.5 * (bz * bu - bx * bw) + 0.5 * (cz * cu - cx * cw)
    z = 0.5 * (ax * av - ay * au) + 0.5 * (bx * bv - by * bu) + 0.5 * (cx * cv - cy * cu)
    F[i, at], F[i, at + 1], F[i, at + 2] = x, y, z
    bent = abs(y * az - z * ay - au) + abs(z * ax - x * az - av) + abs(x * ay - y * ax - aw)
    bent += abs(y * bz - z * by - bu) + abs(z * bx - x * bz - bv) + abs(x * by - y * bx - bw)
    bent += abs(y * cz - z * cy - cu) + abs(z * cx - x * cz - cv) + abs(x * cy - y * cx - cw)
    return off <= LOCAL.point_accuracy and bent <= LOCAL.point_accuracy * (abs(x) + abs(y) + abs(z))


@njit(leaf=True)
def make_point_contact(i, first, a, b, world, Ja, Jb, F):
    """Set F[i] to the frame and arms of the contact with rows from `first` on; False where it is not of a point."""
    for m in range(3):
        for j in range(3):
            F[i, 3 * m + j] = Ja[first + m, j] if a != world else -Jb[first + m, j]
    for j in range(9, POINT_CONTACT_SIZE):
        F[i, j] = 0.0
    fits = a != b
    if a != world:
        fits = _body_arm(Ja, first, 1.0, 9, i, F) and fits
    if b != world:
        fits = _body_arm(Jb, first, -1.0, 12, i, F) and fits
    return fits


@njit(inline=True)
def _spin(x, y, z, body, B, nx, ny, nz):
    """Λᵀ (r × n) of a body."""
    u, v, w = y * nz - z * ny, z * nx - x * nz, x * ny - y * nx
    return B[body, 1] * u + B[body, 2] * v + B[body, 4] * w, B[body, 3] * v + B[body, 5] * w, B[body, 6] * w


@njit(leaf=True)
def _spins(i, at, body, F, B):
    """The part of a body's spin in a contact's Delassus matrix: its lower triangle by rows."""
    x, y, z = F[i, at], F[i, at + 1], F[i, at + 2]
    a0, a1, a2 = _spin(x, y, z, body, B, F[i, 0], F[i, 1], F[i, 2])
    b0, b1, b2 = _spin(x, y, z, body, B, F[i, 3], F[i, 4], F[i, 5])
    c0, c1, c2 = _spin(x, y, z, body, B, F[i, 6], F[i, 7], F[i, 8])
    return (
        a0 * a0 + a1 * a1 + a2 * a2, b0 * a0 + b1 * a1 + b2 * a2, b0 * b0 + b1 * b1 + b2 * b2,
        c0 * a0 + c1 * a1 + c2 * a2, c0 * b0 + c1 * b1 + c2 * b2, c0 * c0 + c1 * c1 + c2 * c2,
    )  # fmt: skip


@njit(inline=True)
def evenly_compliant(k, laws):
    """Whether the compliance of block k, a contact in space, is the same in all directions of its unit disk."""
    r, s = laws.row_ptr[k], laws.set_of[k]
    return laws.C[r + 1] * laws.semi[s, 0] ** 2 == laws.C[r + 2] * laws.semi[s, 1] ** 2


@njit(leaf=True)
def set_compliance(i, r, entries, laws, Cb):
    """Set Cb[r:r + 3], the compliance of a contact in its frame, a diagonal: it is even (`evenly_compliant`)."""
    size = laws.semi[laws.set_of[entries.block[i]], 0]
    Cb[r, 0], Cb[r + 1, 1] = laws.C[entries.src[r]], laws.C[entries.src[r + 1]] * size * size
    Cb[r + 2, 2] = Cb[r + 1, 1]


@njit(leaf=True)
def point_contact_delassus(i, r, ia, ib, F, B, W):
    """W[r:r + 3]: the contact's own Delassus matrix, Σ l² 1 + (Λᵀ (r × n))·(Λᵀ (r × n')) over its two bodies."""
    light = B[ia, 0] * B[ia, 0] + B[ib, 0] * B[ib, 0]
    a00, a10, a11, a20, a21, a22 = _spins(i, 9, ia, F, B)
    b00, b10, b11, b20, b21, b22 = _spins(i, 12, ib, F, B)
    W[r, 0], W[r, 1], W[r, 2] = light + a00 + b00, a10 + b10, a20 + b20
    W[r + 1, 0], W[r + 1, 1], W[r + 1, 2] = a10 + b10, light + a11 + b11, a21 + b21
    W[r + 2, 0], W[r + 2, 1], W[r + 2, 2] = a20 + b20, a21 + b21, light + a22 + b22


@njit(leaf=True)
def turn_point_contact(i, r, T, F):
    """F <- Tᵀ F: turn the tangents into the frame of the entry."""
    t11, t21, t12, t22 = T[r + 1, 1], T[r + 2, 1], T[r + 1, 2], T[r + 2, 2]
    for j in range(3):
        x, y = F[i, 3 + j], F[i, 6 + j]
        F[i, 3 + j] = t11 * x + t21 * y
        F[i, 6 + j] = t12 * x + t22 * y


@njit(inline=True)
def _point_velocity(body, w, arm):
    """l w_v + (Λ w_ω) × r: the velocity of the point at the end of an arm, from the state w of its body."""
    l, a, b, c, d, e, f, _ = body
    w0, w1, w2, w3, w4, w5 = w
    rx, ry, rz = arm
    x, y, z = a * w3, b * w3 + c * w4, d * w3 + e * w4 + f * w5
    return l * w0 + y * rz - z * ry, l * w1 + z * rx - x * rz, l * w2 + x * ry - y * rx


@njit(inline=True)
def contact_velocity(q, frame, arm_a, arm_b, body_a, body_b, wa, wb):
    """u = q + J w of one contact, or of eight side by side: all are tuples of floats or of lanes."""
    ax, ay, az = _point_velocity(body_a, wa, arm_a)
    bx, by, bz = _point_velocity(body_b, wb, arm_b)
    x, y, z = ax - bx, ay - by, az - bz
    (nx, ny, nz), (sx, sy, sz), (tx, ty, tz) = frame
    return q[0] + nx * x + ny * y + nz * z, q[1] + sx * x + sy * y + sz * z, q[2] + tx * x + ty * y + tz * z


@njit(inline=True)
def contact_force(frame, n, t1, t2):
    """f = Fᵀ p."""
    (nx, ny, nz), (sx, sy, sz), (tx, ty, tz) = frame
    return nx * n + sx * t1 + tx * t2, ny * n + sy * t1 + ty * t2, nz * n + sz * t1 + tz * t2


@njit(inline=True)
def state_change(body, arm, force):
    """(l f, Λᵀ (r × f)): the change of the state of a body by an impulse at the end of an arm."""
    l, a, b, c, d, e, f, _ = body
    rx, ry, rz = arm
    fx, fy, fz = force
    x, y, z = ry * fz - rz * fy, rz * fx - rx * fz, rx * fy - ry * fx
    return l * fx, l * fy, l * fz, a * x + b * y + d * z, c * y + e * z, f * z


@njit(inline=True)
def _vector(F, i, m):
    return F[i, m], F[i, m + 1], F[i, m + 2]


@njit(inline=True)
def _frame(F, i):
    return _vector(F, i, NORMAL), _vector(F, i, TANGENT_1), _vector(F, i, TANGENT_2)


@njit(inline=True)
def _load_factors(B, i):
    return B[i, 0], B[i, 1], B[i, 2], B[i, 3], B[i, 4], B[i, 5], B[i, 6], B[i, 7]


@njit(inline=True)
def _contact_velocity(i, r, ia, ib, F, B, q, w):
    """u = q + J w of a contact."""
    wa = w[ia, 0], w[ia, 1], w[ia, 2], w[ia, 3], w[ia, 4], w[ia, 5]
    wb = w[ib, 0], w[ib, 1], w[ib, 2], w[ib, 3], w[ib, 4], w[ib, 5]
    arm_a, arm_b = _vector(F, i, ARM_A), _vector(F, i, ARM_B)
    return contact_velocity(
        (q[r], q[r + 1], q[r + 2]), _frame(F, i), arm_a, arm_b, _load_factors(B, ia), _load_factors(B, ib), wa, wb
    )


@njit(inline=True)
def _apply_impulse(i, ia, ib, F, B, w, n, t1, t2):
    """w += Jᵀ p of a contact."""
    force = contact_force(_frame(F, i), n, t1, t2)
    x, y, z, u, v, s = state_change(_load_factors(B, ia), _vector(F, i, ARM_A), force)
    w[ia, 0] += x
    w[ia, 1] += y
    w[ia, 2] += z
    w[ia, 3] += u
    w[ia, 4] += v
    w[ia, 5] += s
    x, y, z, u, v, s = state_change(_load_factors(B, ib), _vector(F, i, ARM_B), force)
    w[ib, 0] -= x
    w[ib, 1] -= y
    w[ib, 2] -= z
    w[ib, 3] -= u
    w[ib, 4] -= v
    w[ib, 5] -= s


@njit(leaf=True)
def sweep_point_contacts(start, stop, full, entries, local, packed, q, p, w):
    """Sweep once over contacts of the kind DISK, as `sweep_cell._disks`; returns the largest change of velocity."""
    largest, par, compliant = 0.0, local.par, len(local.Cb) > 0
    for i in range(start, stop):
        r = entries.ptr[i]
        pn, p1, p2 = p[r], p[r + 1], p[r + 2]
        if pn == 0.0 and not full:
            continue
        ia, ib = entries.a[i], entries.b[i]
        un, u1, u2 = _contact_velocity(i, r, ia, ib, packed.F, packed.B, q, w)
        if compliant:
            un, u1, u2 = un + local.Cb[r, 0] * pn, u1 + local.Cb[r + 1, 1] * p1, u2 + local.Cb[r + 2, 2] * p2
        n, t1, t2, guess = solve_disk((un, u1, u2), (pn, p1, p2), disk_of(par, i))
        par[i, kinds.DISK_GUESS] = guess
        p[r], p[r + 1], p[r + 2] = n, t1, t2
        n -= pn
        t1 -= p1
        t2 -= p2
        _apply_impulse(i, ia, ib, packed.F, packed.B, w, n, t1, t2)
        largest = max(
            largest,
            abs(n) * par[i, kinds.DISK_NN] + abs(t1) * par[i, kinds.DISK_S1] + abs(t2) * par[i, kinds.DISK_S2],
        )
    return largest


@njit(leaf=True)
def apply_point_contacts(start, stop, entries, packed, p, w):
    """w += Jᵀ p of contacts."""
    for i in range(start, stop):
        r = entries.ptr[i]
        if p[r] != 0.0 or p[r + 1] != 0.0 or p[r + 2] != 0.0:
            _apply_impulse(i, entries.a[i], entries.b[i], packed.F, packed.B, w, p[r], p[r + 1], p[r + 2])


@njit(leaf=True)
def measure_point_contacts(start, stop, entries, Cb, packed, q, p, w, laws, rho):
    """Sum of squares of the scaled map over contacts with round cones."""
    error2, compliant = 0.0, len(Cb) > 0
    for i in range(start, stop):
        r, k = entries.ptr[i], entries.block[i]
        un, u1, u2 = _contact_velocity(i, r, entries.a[i], entries.b[i], packed.F, packed.B, q, w)
        if compliant:
            un, u1, u2 = un + Cb[r, 0] * p[r], u1 + Cb[r + 1, 1] * p[r + 1], u2 + Cb[r + 2, 2] * p[r + 2]
        size = laws.semi[laws.set_of[k], 0]  # the frame makes it one
        n, t1, t2 = p[r], p[r + 1] * size, p[r + 2] * size
        u1, u2 = u1 / size, u2 / size
        edge = laws.mu[k] * size
        un += edge * math.sqrt(u1 * u1 + u2 * u2)
        error2 += round_map(edge, rho[k], n, t1, t2, un, u1, u2)
    return error2
