"""Contacts by their arms: the rows of a point contact in 15 numbers instead of 36, which memory delivers sooner.

The three rows of a contact of rigid bodies are a frame F (its normal and tangents, in the item's own frame) and the
arms r_a, r_b from the centres of mass: H v = F (v_a + ω_a × r_a - v_b - ω_b × r_b). With M⁻¹ = L Lᵀ, whose blocks are
l·1 for the velocity and a triangle Λ for the spin, the state w of the sweeps moves by l f and Λᵀ (r × f) for the
impulse f = Fᵀ p.
"""

from __future__ import annotations

import math

from .._jit import njit
from .nsgs_local import solve_disk

ARMS = 16  # numbers per contact: F by rows, r_a, r_b, and one to fill two cache lines
FACTORS = 8  # numbers per body: l, Λ by rows of its triangle, and one to fill a cache line
_EXACT = 1e-12


@njit
def body_triangles(L, out):
    """out (moving + 1, FACTORS): l and Λ of every body; False where a factor has another form."""
    for i in range(L.shape[0]):
        size = 0.0
        for j in range(6):
            size = max(size, abs(L[i, j, j]))
        for j in range(6):
            for k in range(min(j, 3)):
                if abs(L[i, j, k]) > _EXACT * size:
                    return False
        if abs(L[i, 0, 0] - L[i, 1, 1]) + abs(L[i, 0, 0] - L[i, 2, 2]) > _EXACT * size:
            return False
        out[i, 0] = L[i, 0, 0]
        out[i, 1], out[i, 2], out[i, 3] = L[i, 3, 3], L[i, 4, 3], L[i, 4, 4]
        out[i, 4], out[i, 5], out[i, 6] = L[i, 5, 3], L[i, 5, 4], L[i, 5, 5]
        out[i, 7] = 0.0
    return True


@njit
def _arm(H, first, sign, F, at, i):
    """The arm ½ Σ n × (r × n) of a contact's rows into F[i, at:]; False where they are not those of a point."""
    x, y, z = 0.0, 0.0, 0.0
    for m in range(3):
        g = first + m
        nx, ny, nz = sign * H[g, 0], sign * H[g, 1], sign * H[g, 2]
        tx, ty, tz = sign * H[g, 3], sign * H[g, 4], sign * H[g, 5]
        x += 0.5 * (ny * tz - nz * ty)
        y += 0.5 * (nz * tx - nx * tz)
        z += 0.5 * (nx * ty - ny * tx)
    F[i, at], F[i, at + 1], F[i, at + 2] = x, y, z
    small = _EXACT * (1.0 + abs(x) + abs(y) + abs(z))
    fits = True
    for m in range(3):
        g = first + m
        nx, ny, nz = sign * H[g, 0], sign * H[g, 1], sign * H[g, 2]
        fits = fits and abs(y * nz - z * ny - sign * H[g, 3]) <= small
        fits = fits and abs(z * nx - x * nz - sign * H[g, 4]) <= small
        fits = fits and abs(x * ny - y * nx - sign * H[g, 5]) <= small
    return fits


@njit
def contact_arms(i, first, a, b, world, Ja, Jb, F):
    """F[i]: frame and arms of a contact with three rows from `first` on; False where they are not those of a point."""
    fits = True
    for m in range(3):
        for k in range(m + 1):
            s, t, d = 0.0, 0.0, 0.0
            for j in range(3):
                s += Ja[first + m, j] * Ja[first + k, j]
                t += Jb[first + m, j] * Jb[first + k, j]
                d += abs(Ja[first + m, j] + Jb[first + m, j])
            one = 1.0 if k == m else 0.0
            fits = fits and (a == world or abs(s - one) <= _EXACT) and (b == world or abs(t - one) <= _EXACT)
            fits = fits and (a == world or b == world or d <= _EXACT)
    if not fits or a == b:
        return False
    for m in range(3):
        for j in range(3):
            F[i, 3 * m + j] = Ja[first + m, j] if a != world else -Jb[first + m, j]
    for j in range(9, ARMS):
        F[i, j] = 0.0
    if a != world:
        fits = _arm(Ja, first, 1.0, F, 9, i)
    if b != world:
        fits = _arm(Jb, first, -1.0, F, 12, i) and fits
    return fits


@njit
def arms_delassus(i, r, ia, ib, F, B, W):
    """W[r:r + 3]: the contact's own Delassus matrix, Σ l² 1 + (Λᵀ (r × n))·(Λᵀ (r × n')) over its two bodies."""
    for m in range(3):
        for k in range(3):
            W[r + m, k] = 0.0
        W[r + m, m] = B[ia, 0] * B[ia, 0] + B[ib, 0] * B[ib, 0]
    for side in range(2):
        body, at = (ia, 9) if side == 0 else (ib, 12)
        x, y, z = F[i, at], F[i, at + 1], F[i, at + 2]
        t = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        for m in range(3):
            n0, n1, n2 = F[i, 3 * m], F[i, 3 * m + 1], F[i, 3 * m + 2]
            c0, c1, c2 = y * n2 - z * n1, z * n0 - x * n2, x * n1 - y * n0
            own = (
                B[body, 1] * c0 + B[body, 2] * c1 + B[body, 4] * c2,
                B[body, 3] * c1 + B[body, 5] * c2,
                B[body, 6] * c2,
            )
            t = (t[1], t[2], own)
        for m in range(3):
            for k in range(m + 1):
                W[r + m, k] += t[m][0] * t[k][0] + t[m][1] * t[k][1] + t[m][2] * t[k][2]
    for m in range(3):
        for k in range(m):
            W[r + k, m] = W[r + m, k]


@njit
def turn_arms(i, r, T, F):
    """F <- Tᵀ F: the tangents of the item's own frame."""
    t11, t21, t12, t22 = T[r + 1, 1], T[r + 2, 1], T[r + 1, 2], T[r + 2, 2]
    for j in range(3):
        x, y = F[i, 3 + j], F[i, 6 + j]
        F[i, 3 + j] = t11 * x + t21 * y
        F[i, 6 + j] = t12 * x + t22 * y


@njit(inline=True)
def _velocities(i, r, ia, ib, F, B, q, w):
    """u = q + J w of a contact."""
    ax, ay, az, bx, by, bz = F[i, 9], F[i, 10], F[i, 11], F[i, 12], F[i, 13], F[i, 14]
    x = B[ia, 1] * w[ia, 3]
    y = B[ia, 2] * w[ia, 3] + B[ia, 3] * w[ia, 4]
    z = B[ia, 4] * w[ia, 3] + B[ia, 5] * w[ia, 4] + B[ia, 6] * w[ia, 5]
    dx = B[ia, 0] * w[ia, 0] + y * az - z * ay
    dy = B[ia, 0] * w[ia, 1] + z * ax - x * az
    dz = B[ia, 0] * w[ia, 2] + x * ay - y * ax
    x = B[ib, 1] * w[ib, 3]
    y = B[ib, 2] * w[ib, 3] + B[ib, 3] * w[ib, 4]
    z = B[ib, 4] * w[ib, 3] + B[ib, 5] * w[ib, 4] + B[ib, 6] * w[ib, 5]
    dx -= B[ib, 0] * w[ib, 0] + y * bz - z * by
    dy -= B[ib, 0] * w[ib, 1] + z * bx - x * bz
    dz -= B[ib, 0] * w[ib, 2] + x * by - y * bx
    un = q[r] + F[i, 0] * dx + F[i, 1] * dy + F[i, 2] * dz
    u1 = q[r + 1] + F[i, 3] * dx + F[i, 4] * dy + F[i, 5] * dz
    u2 = q[r + 2] + F[i, 6] * dx + F[i, 7] * dy + F[i, 8] * dz
    return un, u1, u2


@njit(inline=True)
def _push(i, ia, ib, F, B, w, n, t1, t2):
    """w += Jᵀ p of a contact."""
    ax, ay, az, bx, by, bz = F[i, 9], F[i, 10], F[i, 11], F[i, 12], F[i, 13], F[i, 14]
    fx = F[i, 0] * n + F[i, 3] * t1 + F[i, 6] * t2
    fy = F[i, 1] * n + F[i, 4] * t1 + F[i, 7] * t2
    fz = F[i, 2] * n + F[i, 5] * t1 + F[i, 8] * t2
    x, y, z = ay * fz - az * fy, az * fx - ax * fz, ax * fy - ay * fx
    w[ia, 0] += B[ia, 0] * fx
    w[ia, 1] += B[ia, 0] * fy
    w[ia, 2] += B[ia, 0] * fz
    w[ia, 3] += B[ia, 1] * x + B[ia, 2] * y + B[ia, 4] * z
    w[ia, 4] += B[ia, 3] * y + B[ia, 5] * z
    w[ia, 5] += B[ia, 6] * z
    x, y, z = by * fz - bz * fy, bz * fx - bx * fz, bx * fy - by * fx
    w[ib, 0] -= B[ib, 0] * fx
    w[ib, 1] -= B[ib, 0] * fy
    w[ib, 2] -= B[ib, 0] * fz
    w[ib, 3] -= B[ib, 1] * x + B[ib, 2] * y + B[ib, 4] * z
    w[ib, 4] -= B[ib, 3] * y + B[ib, 5] * z
    w[ib, 5] -= B[ib, 6] * z


@njit
def sweep_arms(start, stop, full, ptr, a, b, F, B, q, p, w, par):
    """One sweep over contacts of the kind DISK, as `nsgs_kernels._disks`; the largest change of velocity."""
    worst = 0.0
    for i in range(start, stop):
        r = ptr[i]
        pn, p1, p2 = p[r], p[r + 1], p[r + 2]
        if pn == 0.0 and not full:
            continue
        ia, ib = a[i], b[i]
        un, u1, u2 = _velocities(i, r, ia, ib, F, B, q, w)
        n, t1, t2, guess = solve_disk(
            un, u1, u2, pn, p1, p2, par[i, 0], par[i, 1], par[i, 2], par[i, 3], par[i, 4], par[i, 5], par[i, 6]
        )
        par[i, 6] = guess
        p[r], p[r + 1], p[r + 2] = n, t1, t2
        n -= pn
        t1 -= p1
        t2 -= p2
        _push(i, ia, ib, F, B, w, n, t1, t2)
        worst = max(worst, abs(n) * par[i, 7] + abs(t1) * par[i, 3] + abs(t2) * par[i, 4])
    return worst


@njit
def state_arms(start, stop, ptr, a, b, F, B, p, w):
    """w += Jᵀ p of contacts."""
    for i in range(start, stop):
        r = ptr[i]
        if p[r] != 0.0 or p[r + 1] != 0.0 or p[r + 2] != 0.0:
            _push(i, a[i], b[i], F, B, w, p[r], p[r + 1], p[r + 2])


@njit(inline=True)
def _from_cone(mu, step, n, t1, t2, un, u1, u2):
    """|p - nearest point of the cone to p - step·u|² for the cone |p_t| <= mu p_n."""
    x, y1, y2 = n - step * un, t1 - step * u1, t2 - step * u2
    size = math.sqrt(y1 * y1 + y2 * y2)
    if size <= mu * x:
        return step * step * (un * un + u1 * u1 + u2 * u2)
    if mu * size <= -x:
        return n * n + t1 * t1 + t2 * t2
    x = (x + mu * size) / (1.0 + mu * mu)
    scale = mu * x / size
    return (n - x) ** 2 + (t1 - scale * y1) ** 2 + (t2 - scale * y2) ** 2


@njit
def measure_arms(start, stop, block, ptr, a, b, F, B, q, p, w, set_of, mu, semi, rho):
    """Sum of squares of the natural map and largest square of the scaled one over contacts with round cones."""
    natural, worst = 0.0, 0.0
    for i in range(start, stop):
        r, k = ptr[i], block[i]
        un, u1, u2 = _velocities(i, r, a[i], b[i], F, B, q, w)
        size = semi[set_of[k], 0]  # the frame makes it one
        n, t1, t2 = p[r], p[r + 1] * size, p[r + 2] * size
        u1, u2 = u1 / size, u2 / size
        edge = mu[k] * size
        un += edge * math.sqrt(u1 * u1 + u2 * u2)
        natural += _from_cone(edge, 1.0, n, t1, t2, un, u1, u2)
        worst = max(worst, _from_cone(edge, rho[k], n, t1, t2, un, u1, u2) / (rho[k] * rho[k]))
    return natural, worst
