"""Newton's step on a small island of bodies, for problems on which sweeps are slow: stacks and walls at rest.

With y = c - θ ρ u per block (ρ its own inertia, c the impulses so far) the proximal problem says p = R(y): the normal
impulse is cut at zero and friction at its radius. At p = c that is Coulomb's law; for a fixed centre c it is the law
with some extra compliance, 1/(θρ), so that contacts on the brink of opening or slipping settle. Where f = p - R(y) is
linearised with the derivative D of R,

    (I + B W) dp = -f        B = D θ ρ        W = J Jᵀ

A compliance C of the contacts themselves, in u and beside W, is taken to the other side, block by block: the equation
is the same with (I + B C)⁻¹ B in place of B and (I + B C)⁻¹ f in place of f.

the solution is found in the space of the bodies, whose matrix I + Jᵀ B J is banded in the order of the walk: its
size is that of the island's bodies, however many contacts there are, and the identity in it keeps hyperstatic contacts
harmless. No result is trusted: the natural map decides whether it is kept.

`newton/equations` takes the same steps for any law and any form of the dynamics, in Python with LAPACK and SuperLU.
They stay two: this one runs inside a compiled step without the interpreter, on the entries and frames of the sweeps,
and keeps the factors of a small banded matrix where no contact has changed its mode.
"""

from __future__ import annotations

import math

import numpy as np

from ...runtime.jit import njit
from . import kinds
from .order import PHASES
from .parameters import ISLAND_NEWTON


@njit(leaf=True)
def band_of(isl, entries, d):
    """Half-width of the band in velocities, or -1 where the factorisation would cost too much."""
    width, a, b, moving = 0, entries.a, entries.b, entries.begin[-1]
    for i in range(entries.seg[entries.phase[isl, 0], 0], entries.seg[entries.phase[isl, PHASES] - 1, kinds.KINDS]):
        if a[i] < moving and b[i] < moving:
            width = max(width, abs(a[i] - b[i]))
    band = (width + 1) * d - 1
    n = (entries.begin[isl + 1] - entries.begin[isl]) * d
    return band if 0 < n * float(band * band) <= ISLAND_NEWTON.max_multiplications else -1


@njit(leaf=True)
def sweeps_per_step(isl, entries, d):
    """The number of sweeps over an island that take the time of one factorisation; 0 where it is not factorised."""
    band = band_of(isl, entries, d)
    count = entries.seg[entries.phase[isl, PHASES] - 1, kinds.KINDS] - entries.seg[entries.phase[isl, 0], 0]
    n = (entries.begin[isl + 1] - entries.begin[isl]) * d
    return float(n) * band * band / (ISLAND_NEWTON.contact_multiplications * count) if band > 0 else 0.0


@njit(leaf=True)
def _linearise_block(i, r, kind, theta, par, c, p, u, f, B):
    """Set f = p - R(y) of a block, and B = D θ ρ (n, 3 columns; BILATERAL: the diagonal alone, in the first)."""
    if kind == kinds.INTERVAL:
        step = theta * par[i, kinds.INTERVAL_INVERSE]
        y = c[r] - step * u[0]
        low, high = par[i, kinds.INTERVAL_LOW], par[i, kinds.INTERVAL_HIGH]
        f[r] = p[r] - min(max(y, low), high)
        B[0, 0] = step if low < y < high else 0.0
        return
    step = theta * par[i, kinds.DISK_INVERSE]
    if kind == kinds.PLANAR:
        step = theta / par[i, kinds.PLANAR_NN] if par[i, kinds.PLANAR_NN] > 0.0 else 0.0
    if step == 0.0:  # it cannot move
        for k in range(2 if kind == kinds.PLANAR else 3):
            f[r + k] = 0.0
            B[k, 0], B[k, 1], B[k, 2] = 0.0, 0.0, 0.0
        return
    y = c[r] - step * u[0]
    press = max(0.0, y)
    B[0, 0], B[0, 1], B[0, 2] = step if y > 0.0 else 0.0, 0.0, 0.0
    f[r] = p[r] - press
    if kind == kinds.PLANAR:
        slide = theta / par[i, kinds.PLANAR_TT]
        y = c[r + 1] - slide * u[1]
        low = -(par[i, kinds.PLANAR_MU_DOWN] * press + par[i, kinds.PLANAR_R0_DOWN])
        high = par[i, kinds.PLANAR_MU_UP] * press + par[i, kinds.PLANAR_R0_UP]
        f[r + 1] = p[r + 1] - min(max(y, low), high)
        B[1, 1] = slide if low < y < high else 0.0
        B[1, 0] = B[0, 0] * (
            par[i, kinds.PLANAR_MU_UP] if y >= high else -par[i, kinds.PLANAR_MU_DOWN] if y <= low else 0.0
        )
        return
    slide = theta / max(par[i, kinds.DISK_S1], par[i, kinds.DISK_S2])
    y1, y2 = c[r + 1] - slide * u[1], c[r + 2] - slide * u[2]
    size = math.sqrt(y1 * y1 + y2 * y2)
    radius = par[i, kinds.DISK_MU] * press
    B[1, 0], B[2, 0] = 0.0, 0.0
    if size <= radius:
        f[r + 1], f[r + 2] = p[r + 1] - y1, p[r + 2] - y2
        B[1, 1], B[1, 2], B[2, 1], B[2, 2] = slide, 0.0, 0.0, slide
        return
    e1, e2 = y1 / size, y2 / size
    f[r + 1], f[r + 2] = p[r + 1] - radius * e1, p[r + 2] - radius * e2
    turn = slide * radius / size
    B[1, 1], B[1, 2], B[2, 1], B[2, 2] = turn * e2 * e2, -turn * e1 * e2, -turn * e1 * e2, turn * e1 * e1
    B[1, 0], B[2, 0] = B[0, 0] * par[i, kinds.DISK_MU] * e1, B[0, 0] * par[i, kinds.DISK_MU] * e2


@njit(inline=True)
def _fold_compliance(r, m, Cb, f, B, A):
    """f <- (I + B C)⁻¹ f and B <- (I + B C)⁻¹ B of the m <= 3 rows from r on, by elimination.

    A (3, 7): workspace for I + B C, B and f.
    """
    for k in range(m):
        A[k, 6] = f[r + k]
        for l in range(m):
            A[k, 3 + l] = B[k, l]
            A[k, l] = 1.0 if k == l else 0.0
            for j in range(m):
                A[k, l] += B[k, j] * Cb[r + j, l]
    for k in range(m):  # I + D times a positive definite matrix, friction's part below: no pivot vanishes
        for i in range(m):
            ratio = A[i, k] / A[k, k]
            if i != k and ratio != 0.0:
                for j in range(k, 7):
                    A[i, j] -= ratio * A[k, j]
    for k in range(m):
        f[r + k] = A[k, 6] / A[k, k]
        for l in range(m):
            B[k, l] = A[k, 3 + l] / A[k, k]


@njit(leaf=True)
def compliant_joints(entries, Cb):
    """Whether joints give way, which Newton's step does not know: their B is a number."""
    for i in range(len(entries.kind) if len(Cb) else 0):
        for r in range(entries.ptr[i], entries.ptr[i + 1]):
            if entries.kind[i] == kinds.BILATERAL and Cb[r].any():
                return True
    return False


@njit(leaf=True)
def _add_products(K, band, row, column, n, T, J, r, left, right, d):
    """K += J[r.., left]ᵀ T[.., right] for the bodies that start at velocities `row` and `column`."""
    for k in range(n):
        for i in range(d):
            s = J[r + k, left + i]
            if s != 0.0:
                at = column - row - i + band
                for j in range(d):
                    K[row + i, at + j] += s * T[k, right + j]


@njit(leaf=True)
def _eliminate_panel(K, band, i, d, last, U):
    """Eliminate rows i..i+d among themselves; U (6, .): their columns from i + d to `last`. False: a pivot vanishes."""
    for t in range(d):
        pivot = K[i + t, band]
        if not abs(pivot) > 1e-12:
            return False
        for k in range(i + t + 1, i + d):
            at = i + t - k + band
            ratio = K[k, at] / pivot
            K[k, at] = ratio
            if ratio != 0.0:
                for j in range(1, last - i - t):
                    K[k, at + j] -= ratio * K[i + t, band + j]
    for t in range(6):
        for j in range(last - i - d):
            U[t, j] = K[i + t, band - t + d + j] if t < d else 0.0
    return True


@njit
def _factorise(K, band, d):
    """Replace K (n, 2 band + 1), by rows, by its factors L U, L with unit diagonal; False where a pivot vanishes.

    It goes body by body: rows below take the d pivots of a body in one pass, which is what memory allows.
    """
    n = K.shape[0]
    U, c, upper, inverse = np.empty((6, band + 1)), np.zeros(6), np.empty((6, 6)), np.empty(6)
    for i in range(0, n, d):
        last = min(n, i + band + 1)
        if not _eliminate_panel(K, band, i, d, last, U):
            return False
        for t in range(d):
            inverse[t] = 1.0 / K[i + t, band]
            for l in range(t):
                upper[l, t] = K[i + l, band - l + t]
        for k in range(i + d, last):
            at = i - k + band
            acts = False
            for t in range(d):
                s = K[k, at + t]
                for l in range(t):
                    s -= c[l] * upper[l, t]
                c[t] = s * inverse[t]
                acts = acts or c[t] != 0.0
                K[k, at + t] = c[t]
            if not acts:
                continue
            c0, c1, c2 = c[0], c[1], c[2]
            at += d
            if d == 3:
                for j in range(last - i - d):
                    K[k, at + j] -= c0 * U[0, j] + c1 * U[1, j] + c2 * U[2, j]
            else:
                c3, c4, c5 = c[3], c[4], c[5]
                for j in range(last - i - d):
                    s = c0 * U[0, j] + c1 * U[1, j] + c2 * U[2, j]
                    K[k, at + j] -= s + c3 * U[3, j] + c4 * U[4, j] + c5 * U[5, j]
    return True


@njit(leaf=True)
def _substitute(K, band, y):
    """Solve L U y' = y in place."""
    n = len(y)
    for i in range(n):
        s = y[i]
        for j in range(max(0, i - band), i):
            s -= K[i, j - i + band] * y[j]
        y[i] = s
    for back in range(n):
        i = n - 1 - back
        s = y[i]
        for j in range(i + 1, min(n, i + band + 1)):
            s -= K[i, j - i + band] * y[j]
        y[i] = s / K[i, band]


@njit
def _linearise(isl, theta, q, centre, work, f, D):
    """Set f of every row and D (entries, 9), the matrix B of every entry; returns whether any B has changed."""
    entries, local, packed, p, w = work.entries, work.local, work.packed, work.p, work.w
    a, b, phase, ptr, seg = entries.a, entries.b, entries.phase, entries.ptr, entries.seg
    par, J, Cb = local.par, packed.J, local.Cb
    d, compliant = w.shape[1], len(local.Cb) > 0
    start = seg[phase[isl, 0], 0]
    B, u, A = np.zeros((6, 3)), np.empty(6), np.empty((3, 7))
    changed = False
    for c in range(phase[isl, 0], phase[isl, PHASES]):
        for i in range(seg[c, 0], seg[c, kinds.KINDS]):
            r, m = ptr[i], ptr[i + 1] - ptr[i]
            for k in range(m):
                s = q[r + k]
                for j in range(d):
                    s += J[r + k, j] * w[a[i], j] + J[r + k, d + j] * w[b[i], j]
                u[k] = s
            bilateral = seg[c, kinds.BILATERAL] <= i < seg[c, kinds.BILATERAL + 1]
            if compliant and not bilateral:
                for k in range(m):
                    for l in range(m):
                        u[k] += Cb[r + k, l] * p[r + l]
            if bilateral:
                for k in range(m):
                    f[r + k] = p[r + k] - centre[r + k] + theta * u[k]
                changed = changed or D[i - start, 0] != theta
                D[i - start, 0] = theta
                continue
            _linearise_block(i, r, entries.kind[i], theta, par, centre, p, u, f, B)
            if compliant:
                _fold_compliance(r, m, Cb, f, B, A)
            for k in range(m):
                for l in range(m):
                    changed = changed or D[i - start, 3 * k + l] != B[k, l]
                    D[i - start, 3 * k + l] = B[k, l]
    return changed


@njit
def _assemble(isl, band, entries, J, D, K):
    """Set K = I + Jᵀ B J by rows of a band."""
    phase, seg, ptr, a, b = entries.phase, entries.seg, entries.ptr, entries.a, entries.b
    moving, low = entries.begin[-1], entries.begin[isl]
    d = J.shape[1] // 2
    start = seg[phase[isl, 0], 0]
    T = np.empty((6, 2 * d))
    for i in range(K.shape[0]):
        for j in range(K.shape[1]):
            K[i, j] = 0.0
        K[i, band] = 1.0
    for c in range(phase[isl, 0], phase[isl, PHASES]):
        for i in range(seg[c, 0], seg[c, kinds.KINDS]):
            r, m = ptr[i], ptr[i + 1] - ptr[i]
            bilateral = seg[c, kinds.BILATERAL] <= i < seg[c, kinds.BILATERAL + 1]
            acts = bilateral
            for k in range(m):
                for j in range(2 * d):
                    T[k, j] = D[i - start, 0] * J[r + k, j] if bilateral else 0.0
                if bilateral:
                    continue
                for l in range(m):
                    s = D[i - start, 3 * k + l]
                    if s != 0.0:
                        acts = True
                        for j in range(2 * d):
                            T[k, j] += s * J[r + l, j]
            if not acts:
                continue
            ra, rb = (a[i] - low) * d, (b[i] - low) * d
            if a[i] < moving:
                _add_products(K, band, ra, ra, m, T, J, r, 0, 0, d)
            if b[i] < moving and b[i] != a[i]:
                _add_products(K, band, rb, rb, m, T, J, r, d, d, d)
                if a[i] < moving:
                    _add_products(K, band, ra, rb, m, T, J, r, 0, d, d)
                    _add_products(K, band, rb, ra, m, T, J, r, d, 0, d)


@njit(sealed=True)
def newton_step(isl, theta, band, q, centre, work, f, D, K, enough):
    """Take one Newton step on the impulses of an island; its state w = Jᵀ p is given and not changed.

    q (n,): velocities without impulses, of `work` or another problem; centre (n,): of the proximal problem; f (n,):
    workspace.

    D (entries, 9) and K (n, 2 band + 1) are those of the step before; the factors in K serve again where no contact has
    changed its mode. Returns |f|² before the step, in energy, and whether a step was made: not where |f|² is at most
    `enough` (negative: the first step from a centre), no contact has changed its mode, or the matrix is singular.
    """
    entries, packed, p, weight = work.entries, work.packed, work.p, work.local.weight
    a, b, phase, ptr, seg = entries.a, entries.b, entries.phase, entries.ptr, entries.seg
    J = packed.J
    d, moving, low, high = work.w.shape[1], entries.begin[-1], entries.begin[isl], entries.begin[isl + 1]
    start, stop = seg[phase[isl, 0], 0], seg[phase[isl, PHASES] - 1, kinds.KINDS]
    changed = _linearise(isl, theta, q, centre, work, f, D)
    size = 0.0
    for r in range(ptr[start], ptr[stop]):
        size += weight[r] * f[r] * f[r]
    if size <= enough or (enough >= 0.0 and not changed):  # linear, and solved: what is left is round-off
        D[0, 0] = -1.0 if changed else D[0, 0]  # K is not that of this D
        return size, False
    if changed:
        _assemble(isl, band, entries, J, D, K)
        if not _factorise(K, band, d):
            D[0, 0] = -1.0
            return size, False
    y = np.zeros((high - low) * d)
    for i in range(start, stop):
        for r in range(ptr[i], ptr[i + 1]):
            s = f[r]
            if s != 0.0:
                if a[i] < moving:
                    for j in range(d):
                        y[(a[i] - low) * d + j] += J[r, j] * s
                if b[i] < moving:
                    for j in range(d):
                        y[(b[i] - low) * d + j] += J[r, d + j] * s
    _substitute(K, band, y)
    u = np.empty(6)
    for c in range(phase[isl, 0], phase[isl, PHASES]):
        for i in range(seg[c, 0], seg[c, kinds.KINDS]):
            r, m = ptr[i], ptr[i + 1] - ptr[i]
            for k in range(m):
                s = 0.0
                if a[i] < moving:
                    for j in range(d):
                        s += J[r + k, j] * y[(a[i] - low) * d + j]
                if b[i] < moving:
                    for j in range(d):
                        s += J[r + k, d + j] * y[(b[i] - low) * d + j]
                u[k] = s
            bilateral = seg[c, kinds.BILATERAL] <= i < seg[c, kinds.BILATERAL + 1]
            for k in range(m):
                s = theta * u[k] if bilateral else 0.0
                if not bilateral:
                    for l in range(m):
                        s += D[i - start, 3 * k + l] * u[l]
                p[r + k] += s - f[r + k]
    return size, True
