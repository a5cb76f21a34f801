"""The exact solution of one block of the kind NESTED: friction in a ball of any number of rows, polyhedron or product.

In its frame (`local_frames`) the friction f of a block lies in `r·F` with `r = mu·p_n + r0`. For a given p_n it is the
minimiser of ½ fᵀSf + g·f over r·F, S = W_tt and g = q_t + W_tn p_n. So p_n is a root of one variable: of u_n(p_n) for
Coulomb's law, of u_n - mu·σ(-u_t) for the associated law, where the function rises (it is the derivative of a convex
value function). The first root that is bracketed is taken.

    ball         S diagonal: f = -g / (s + λ), one equation for λ
    polyhedron   S = 1: f is a projection
    product      slip, spin and rolling, each in a ball of its own; S is diagonal within each, and couples them (a wheel
                 that is pushed at its rim also wants to roll): S f + g = -λ_g f, |f_g| <= r, λ_g >= 0 group by group

Balls and products are first tried by Newton's method on the law of the whole block, p_n and f at once, from the present
impulses on. It ends after a few steps at round-off.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...friction.kernels import PolyhedronWorkspace, project_polyhedron, starts_group
from ...problem.records import Array
from ...runtime.jit import njit
from . import kinds
from .parameters import LOCAL


class Block(NamedTuple):
    """One block with all other impulses held fixed. Its n friction rows are first..first + n of the entry's arrays."""

    normal: Any  # 1 with a normal row, else 0
    n: Any
    first: Any
    qn: Any  # velocity of the normal row without the block's impulses [m/s]
    qt: Array  # (n,) and of the friction rows
    wnn: Any  # W of the normal row
    wn: Array  # W_tn
    s: Array  # the diagonal of W_tt
    mu: Any
    r0: Any
    associated: Any
    kind: Any  # of a product (`friction.kernels`), else 0
    facets: Any  # number of facets of a polyhedron, else 0
    G: Array  # its facets from row g0 on, or W_tt of a product
    g0: Any
    rim: Array  # offsets of the facets
    V: Array  # its vertices v0..v1
    v0: Any
    v1: Any


class Workspace(NamedTuple):
    """Work arrays for one block at a time."""

    qt: Array  # (8,)
    g: Array  # (8,) velocities of the friction rows for some p_n
    f: Array  # (8,) friction
    x: Array  # (8,) point that is projected
    h: Array  # (facets + 1,) offsets
    work: PolyhedronWorkspace


@njit
def nested_workspace(facets):
    """Work arrays for polyhedra of up to `facets` facets."""
    m = facets + 1
    work = PolyhedronWorkspace(
        np.empty((m, 8)), np.empty(m), np.empty(8), np.empty(8), np.empty(8, dtype=np.int64), np.empty((8, 8)),
        np.empty(8), np.empty(8),
    )  # fmt: skip
    return Workspace(np.empty(8), np.empty(8), np.empty(8), np.empty(8), np.empty(m), work)


@njit(leaf=True)
def minimise_ball(s, g, n, first, radius, f):
    """Set f to the minimiser of ½ Σ s f² + g·f with |f| <= radius: -g / (s + λ), λ by Newton's method on 1/|f|."""
    if radius <= 0.0:
        for k in range(n):
            f[k] = 0.0
        return
    size2 = 0.0
    total = 0.0
    widest = 0.0
    for k in range(n):
        f[k] = -g[k] / s[first + k]
        size2 += f[k] * f[k]
        total += g[k] * g[k]
        widest = max(widest, s[first + k])
    if size2 <= radius * radius:
        return
    low = 0.0
    high = math.sqrt(total) / radius
    x = max(0.0, high - widest)
    for _ in range(LOCAL.max_steps):
        size2 = 0.0
        pull = 0.0
        for k in range(n):
            d = s[first + k] + x
            f[k] = -g[k] / d
            size2 += f[k] * f[k]
            pull += f[k] * f[k] / d
        size = math.sqrt(size2)
        if size > radius:
            low = x
        else:
            high = x
        new = x + (size - radius) * size2 / (radius * pull) if pull > 0.0 else low
        if abs(new - x) <= 1e-16 * (x + widest):
            break
        if not low <= new <= high:
            new = 0.5 * (low + high)
        x = new
    for k in range(n):
        f[k] *= radius / size


@njit(leaf=True)
def _minimise_product(block, g, radius, f, workspace):
    """Set f (n,) to the minimiser of ½ fᵀSf + g·f with each group of rows in the ball of `radius`, from the given f."""
    S, s0, n = block.G, block.g0, block.n
    linear, diagonal, part = workspace.work.residual, workspace.work.target, workspace.work.rhs
    last = math.inf
    for _ in range(LOCAL.max_cycles):
        moved = 0.0
        size = 0.0
        first = 0
        for k in range(1, n + 1):
            if k < n and not starts_group(block.kind, k):
                continue
            for i in range(first, k):
                s = g[i]
                for j in range(n):
                    if j < first or j >= k:
                        s += S[s0 + i, j] * f[j]
                linear[i - first] = s
                diagonal[i - first] = S[s0 + i, i]
            minimise_ball(diagonal, linear, k - first, 0, radius, part)
            for i in range(first, k):
                moved = max(moved, S[s0 + i, i] * abs(part[i - first] - f[i]))
                size = max(size, abs(g[i]) + S[s0 + i, i] * abs(part[i - first]))
                f[i] = part[i - first]
            first = k
        # at rest, or at round-off, where the change stops falling
        if moved <= 4e-16 * size or (moved <= 1e-13 * size and moved >= last):
            return
        last = moved


@njit(leaf=True)
def _friction(block, g, radius, f, workspace):
    """Set f to the friction that dissipates most at one radius."""
    n, m = block.n, block.facets
    if block.kind:
        _minimise_product(block, g, radius, f, workspace)
    elif m == 0:
        minimise_ball(block.s, g, n, block.first, radius, f)
    else:
        for k in range(n):
            workspace.x[k] = -g[k]
        for j in range(m):
            workspace.h[j] = block.rim[block.g0 + j] * radius
        project_polyhedron(block.G[block.g0 : block.g0 + m], workspace.h, n, m, workspace.x, f, workspace.work)


@njit(leaf=True)
def _slip_speed(block, g, f):
    """σ(-u_t) at u_t = S f + g, the support function of the set."""
    n, first, s = block.n, block.first, block.s
    total, size = 0.0, 0.0
    if block.kind:
        for k in range(n):
            if starts_group(block.kind, k):
                total += math.sqrt(size)
                size = 0.0
            u = g[k]
            for j in range(n):
                u += block.G[block.g0 + k, j] * f[j]
            size += u * u
        return total + math.sqrt(size)
    if block.facets == 0:
        for k in range(n):
            size += (g[k] + s[first + k] * f[k]) ** 2
        return math.sqrt(size)
    for j in range(block.v0, block.v1):
        size = 0.0
        for k in range(n):
            size -= block.V[j, k] * (g[k] + s[first + k] * f[k])
        total = max(total, size)
    return total


@njit(leaf=True)
def _normal_rate(block, x, workspace):
    """The function of p_n whose root is sought, at p_n = x; sets the friction there in the workspace."""
    g, f = workspace.g, workspace.f
    for k in range(block.n):
        g[k] = block.qt[k] + block.wn[block.first + k] * x
    _friction(block, g, block.mu * x + block.r0, f, workspace)
    rate = block.qn + block.wnn * x
    for k in range(block.n):
        rate += block.wn[block.first + k] * f[k]
    if block.associated:
        rate -= block.mu * _slip_speed(block, g, f)
    return rate


@njit(leaf=True)
def _bracket(block, x, workspace):
    """p_n, with its friction in the workspace; -1 where no p_n in reach obeys the law.

    Brackets a root upwards or downwards from the present p_n = x, then takes regula falsi (Illinois). Ends when the
    residual at the present p_n has fallen by 1e-8: close to the solution of the whole problem that is round-off.
    Products go on to round-off: they come here where Newton's method fails, with present impulses that may be far off.
    """
    low, at_low, high, at_high = -1.0, 0.0, math.inf, 0.0  # low < 0: no lower end yet
    goal = -1.0
    side = 0
    for _ in range(LOCAL.max_brackets):
        rate = _normal_rate(block, x, workspace)
        if x <= 0.0 and rate >= 0.0:
            return 0.0
        if goal < 0.0:
            goal = 0.0 if block.kind else 1e-8 * abs(rate)
        if abs(rate) <= max(goal, 2e-16 * (abs(block.qn) + block.wnn * x)):
            return x
        if rate < 0.0:
            low, at_low = x, rate
            at_high *= 0.5 if side < 0 else 1.0  # an end that stays too long loses weight, so that both ends move
            side = -1
        else:
            high, at_high = x, rate
            at_low *= 0.5 if side > 0 else 1.0
            side = 1
        if low < 0.0 or high == math.inf:
            side = 0
            x = max(0.0, x - rate / block.wnn) if low < 0.0 else x + max(x, -rate / block.wnn)
            if not x < 1e300:
                return -1.0
            continue
        new = high - at_high * (high - low) / (at_high - at_low)
        if not low < new < high:
            new = 0.5 * (low + high)
        if new == x or high - low <= 2e-16 * high:
            return x
        x = new
    return x


@njit(leaf=True)
def _solve_ball(block, pn, guess, f):
    """p_n and λ of a ball of friction under a normal row, f its friction; p_n = -1 where Newton's method failed.

    Open and stick in closed form; slip is Newton's method on (p_n, λ) from the present ones, with f = -(q_t + W_tn
    p_n) / (s + λ): r / |f| = 1 and u_n = 0, or u_n = mu·λ·r for the associated law. It is accepted by its residual.
    """
    qn, qt, wnn, wn, s = block.qn, block.qt, block.wnn, block.wn, block.s
    n, first, mu, r0, associated = block.n, block.first, block.mu, block.r0, block.associated
    size2 = 0.0
    diagonal = wnn
    x = -qn
    for k in range(n):
        size2 += qt[k] * qt[k]
        diagonal -= wn[first + k] * wn[first + k] / s[first + k]
        x += wn[first + k] * qt[k] / s[first + k]
    if r0 == 0.0 and qn - (mu * math.sqrt(size2) if associated else 0.0) >= 0.0:
        for k in range(n):
            f[k] = 0.0
        return 0.0, guess
    x /= diagonal
    size2 = 0.0
    for k in range(n):
        f[k] = -(qt[k] + wn[first + k] * x) / s[first + k]
        size2 += f[k] * f[k]
    radius = mu * x + r0
    if diagonal > 0.0 and x >= 0.0 and size2 <= radius * radius:
        return x, guess
    x = pn if pn > 0.0 else abs(qn) / wnn
    y = guess
    for _ in range(LOCAL.newton_steps):
        size2 = 0.0
        ff = 0.0  # sums of f², f·W_tn and W_tn² over s + λ
        fw = 0.0
        ww = 0.0
        rate = qn + wnn * x
        for k in range(n):
            w = wn[first + k]
            d = 1.0 / (s[first + k] + y)
            f[k] = -(qt[k] + w * x) * d
            size2 += f[k] * f[k]
            rate += w * f[k]
            ff += f[k] * f[k] * d
            fw += f[k] * w * d
            ww += w * w * d
        size = math.sqrt(size2)
        radius = mu * x + r0
        if not (size > 0.0 and radius > 0.0):
            return -1.0, 0.0
        ratio = radius / size
        ratio_x = mu / size + ratio * fw / size2
        ratio_y = ratio * ff / size2
        rate_x = wnn - ww
        rate_y = -fw
        if associated:
            rate -= mu * y * radius
            rate_x -= mu * mu * y
            rate_y -= mu * radius
        if abs(ratio - 1.0) <= 4e-16 and abs(rate) <= 1e-15 * (abs(qn) + wnn * x):
            return x, y
        det = rate_x * ratio_y - rate_y * ratio_x
        dx = ((1.0 - ratio) * -rate_y - rate * ratio_y) / det
        dy = (rate_x * (1.0 - ratio) + ratio_x * rate) / det
        if not (abs(dx) < math.inf and abs(dy) < math.inf):
            return -1.0, 0.0
        if abs(dx) <= 1e-14 * x and abs(dy) <= 1e-14 * (y + wnn) and abs(ratio - 1.0) <= 1e-13:
            return x, y
        x = x + dx if x + dx > 0.0 else 0.1 * x
        y = y + dy if y + dy > 0.0 else 0.1 * y
    return -1.0, 0.0


@njit(leaf=True)
def _eliminate(A, b, n):
    """b <- A⁻¹ b by elimination with row pivots; False where A is singular. A (n, n) is overwritten."""
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        if not abs(A[best, k]) > 0.0:
            return False
        if best != k:
            for j in range(k, n):
                A[k, j], A[best, j] = A[best, j], A[k, j]
            b[k], b[best] = b[best], b[k]
        for i in range(k + 1, n):
            c = A[i, k] / A[k, k]
            if c != 0.0:
                for j in range(k + 1, n):
                    A[i, j] -= c * A[k, j]
                b[i] -= c * b[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            b[k] -= A[k, j] * b[j]
        b[k] /= A[k, k]
    return True


@njit(leaf=True)
def _group_equations(block, first, last, radius, f, u, A, b):
    """Set the equations of `_newton_product` of the friction rows first..last of one group, at their velocities u."""
    shift, n, mu, S, s0, wn = block.normal, block.n, block.mu, block.G, block.g0, block.wn
    s = 0.0
    for k in range(first, last):
        s = max(s, S[s0 + k, k])
    length = 0.0
    speed = 0.0
    for k in range(first, last):
        length += (f[k] - u[k] / s) ** 2
        speed += u[k] * u[k]
    length, speed = math.sqrt(length), math.sqrt(speed)
    slips = length > radius
    lifts = slips and shift and block.associated
    if lifts:
        b[0] -= mu * speed
    for k in range(first, last):
        i = k + shift
        if not slips:
            b[i] = u[k]
            for j in range(n):
                A[i, j + shift] = S[s0 + k, j]
            if shift:
                A[i, 0] = wn[block.first + k]
            continue
        e = (f[k] - u[k] / s) / length
        b[i] = s * (f[k] - radius * e)
        if shift:
            A[i, 0] -= s * mu * e
        # derivative of e: (dy - e (e·dy)) / |y|, dy = df - du / s
        for l in range(first, last):
            el = (f[l] - u[l] / s) / length
            c = ((1.0 if k == l else 0.0) - e * el) * radius / length
            A[i, l + shift] += s * ((1.0 if k == l else 0.0) - c)
            for j in range(n):
                A[i, j + shift] += c * S[s0 + l, j]
            if shift:
                A[i, 0] += c * wn[block.first + l]
        if lifts and speed > 0.0:
            for j in range(n):
                A[0, j + 1] -= mu * u[k] / speed * S[s0 + k, j]
            A[0, 0] -= mu * u[k] / speed * wn[block.first + k]


@njit(leaf=True)
def _newton_product(block, x, workspace):
    """p_n by Newton's method on the law of a product, from p_n = x and the friction in the workspace; -1: it failed.

    Equations, with y = f - u/s per group and s the largest of its own S: u_n = 0 (less mu·Σ|u_g|, associated), u_g = 0
    where |y_g| <= r (stick), s·(f_g - r·y_g/|y_g|) = 0 elsewhere (slip). In the associated case stick has u_g = 0.
    """
    shift, n, first, wnn, wn, S, s0 = block.normal, block.n, block.first, block.wnn, block.wn, block.G, block.g0
    u, f, A, b = workspace.g, workspace.f, workspace.work.gram, workspace.work.sol
    m = n + shift
    for _ in range(LOCAL.newton_steps):
        radius = block.mu * x + block.r0 if shift else block.r0
        rate = block.qn + wnn * x
        size = abs(block.qn) + wnn * x
        for k in range(n):
            rate += wn[first + k] * f[k] if shift else 0.0
            u[k] = block.qt[k] + (wn[first + k] * x if shift else 0.0)
            scale = abs(u[k])
            for j in range(n):
                u[k] += S[s0 + k, j] * f[j]
                scale += abs(S[s0 + k, j] * f[j])
            size = max(size, scale)
        for i in range(m):
            b[i] = 0.0
            for j in range(m):
                A[i, j] = 0.0
        if shift:
            A[0, 0] = wnn
            for j in range(n):
                A[0, j + 1] = wn[first + j]
            b[0] = rate
        start = 0
        for end in range(1, n + 1):
            if end == n or starts_group(block.kind, end):
                _group_equations(block, start, end, radius, f, u, A, b)
                start = end
        worst = 0.0
        for i in range(m):
            if not abs(b[i]) < math.inf:
                return -1.0
            worst = max(worst, abs(b[i]))
        if worst <= 1e-15 * size:
            return x
        if not _eliminate(A, b, m):
            return -1.0
        if shift:
            x -= b[0]
            if not x >= 0.0:
                return -1.0
        for k in range(n):
            f[k] -= b[k + shift]
    return -1.0


@njit(leaf=True)
def _solve_product(block, pn, present, workspace):
    """p_n (0 without a normal row) of a product, found from the present impulses, with its friction in the workspace.

    present (n,): its friction now. -1 where nothing was found.
    """
    f = workspace.f
    for k in range(block.n):
        f[k] = 0.0
    if block.normal and _normal_rate(block, 0.0, workspace) >= 0.0 and (pn <= 0.0 or block.associated):
        return 0.0
    for k in range(block.n):
        f[k] = present[k]
    start = pn if pn > 0.0 or not block.normal else max(0.0, -block.qn / block.wnn)
    found = _newton_product(block, start, workspace)
    if found >= 0.0:
        return found
    for k in range(block.n):
        f[k] = 0.0
    if block.normal:
        return _bracket(block, pn, workspace)
    _friction(block, block.qt, block.r0, f, workspace)
    return 0.0


@njit(leaf=True, sealed=True)
def update_nested(i, u, p, new, entries, local, associated, workspace):
    """Set `new` to the impulses that solve entry i at its velocities u; returns its change of velocity."""
    par, r = local.par, entries.ptr[i]
    n = entries.ptr[i + 1] - r
    kind, wnn = np.int64(par[i, kinds.NESTED_PRODUCT]), par[i, kinds.NESTED_NN]
    shift = 1 if par[i, kinds.NESTED_NORMAL] > 0.0 else 0
    first, t, qt, f, wn, s = r + shift, n - shift, workspace.qt, workspace.f, local.wn, local.sd
    pn = p[r] if shift else 0.0
    qn = u[0] - wnn * pn if shift else 0.0
    for k in range(n):
        new[k] = 0.0
    if shift and wnn <= 0.0:
        return 0.0
    for k in range(t):
        qn -= wn[first + k] * p[first + k]
        qt[k] = u[shift + k] - wn[first + k] * pn
        if kind:
            for j in range(t):
                qt[k] -= local.G[entries.gptr[i] + k, j] * p[first + j]
        else:
            qt[k] -= s[first + k] * p[first + k]
    block = Block(
        shift, t, first, qn, qt, wnn, wn, s, par[i, kinds.NESTED_MU], par[i, kinds.NESTED_R0], associated, kind,
        0 if kind else entries.gptr[i + 1] - entries.gptr[i], local.G, entries.gptr[i], local.rim, local.V,
        entries.vptr[i], entries.vptr[i + 1],
    )  # fmt: skip
    found = -1.0
    if kind:
        found = _solve_product(block, pn, p[first : first + t], workspace)
    elif shift:
        if block.facets == 0:
            found, par[i, kinds.NESTED_GUESS] = _solve_ball(block, pn, par[i, kinds.NESTED_GUESS], f)
        if found < 0.0:
            found = _bracket(block, pn, workspace)
    else:
        found = 0.0
        _friction(block, qt, block.r0, f, workspace)
    if found < 0.0:
        for k in range(n):
            new[k] = p[r + k]
        return 0.0
    change = 0.0
    if shift:
        new[0] = found
        change = wnn * abs(found - pn)
    for k in range(t):
        new[shift + k] = f[k]
        change += s[first + k] * abs(f[k] - p[first + k])
    return change
