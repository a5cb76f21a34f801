"""The exact solution of one block whose friction set is a product: slip, spin and rolling, each with its own bound.

In its frame (`nsgs_setup`) every group of friction rows lies in a ball of radius `r = mu·p_n + r0`, with the group's
own part of S = W_tt diagonal. The groups stay coupled by the rest of S (a wheel that is pushed at its rim also wants to
roll), so that for a given p_n the friction is the minimiser of ½ fᵀSf + g·f over a product of balls:

    S f + g = -λ_g f in each group      |f_g| <= r      λ_g >= 0, and 0 where |f_g| < r

Newton's method on the law of the whole block (p_n and f at once) from the present impulses comes first, and ends
after a few steps at round-off. Where it does not, p_n is a root in one variable as for every other set (`nsgs_local`),
and for each p_n tried the groups are minimised in turn until none moves.
"""

from __future__ import annotations

import math

from .._jit import njit
from ..friction.kernels import starts_group
from .nsgs_local import NESTED_MU, NESTED_NN, NESTED_NORMAL, NESTED_R0, minimise_ball

_STEPS = 200
_CYCLES = 20_000  # over the groups; a group coupled to another by 0.999 of what it could be needs 1e4 for 1e-8


@njit(leaf=True)
def friction_of_groups(kind, S, s0, n, g, radius, f, rest, own, part):
    """f (n,) minimising ½ fᵀSf + g·f with each group of rows in the ball of `radius`, from the f it is given."""
    last = math.inf
    for _ in range(_CYCLES):
        moved = 0.0
        size = 0.0
        first = 0
        for k in range(1, n + 1):
            if k < n and not starts_group(kind, k):
                continue
            for i in range(first, k):
                s = g[i]
                for j in range(n):
                    if j < first or j >= k:
                        s += S[s0 + i, j] * f[j]
                rest[i - first] = s
                own[i - first] = S[s0 + i, i]
            minimise_ball(own, rest, k - first, 0, radius, part)
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
def _slip_speed(kind, S, s0, n, g, f):
    """The sum over the groups of the size of S f + g: the support function of the product at minus the velocity."""
    total = 0.0
    size = 0.0
    for k in range(n):
        if starts_group(kind, k):
            total += math.sqrt(size)
            size = 0.0
        u = g[k]
        for j in range(n):
            u += S[s0 + k, j] * f[j]
        size += u * u
    return total + math.sqrt(size)


@njit(leaf=True)
def _rate(x, qn, qt, wnn, wn, first, kind, S, s0, n, mu, r0, associated, g, f, rest, own, part):
    """The function of p_n = x whose root is sought, with f the friction at x."""
    for k in range(n):
        g[k] = qt[k] + wn[first + k] * x
    friction_of_groups(kind, S, s0, n, g, mu * x + r0, f, rest, own, part)
    rate = qn + wnn * x
    for k in range(n):
        rate += wn[first + k] * f[k]
    if associated:
        rate -= mu * _slip_speed(kind, S, s0, n, g, f)
    return rate


@njit
def _nested(x, qn, qt, wnn, wn, first, kind, S, s0, n, mu, r0, associated, g, f, rest, own, part):
    """p_n by regula falsi (Illinois), bracketed from the present p_n = x; -1 when no p_n in reach obeys the law."""
    low, at_low, high, at_high = -1.0, 0.0, math.inf, 0.0  # low < 0: no lower end yet
    side = 0
    for _ in range(_STEPS):
        rate = _rate(x, qn, qt, wnn, wn, first, kind, S, s0, n, mu, r0, associated, g, f, rest, own, part)
        if (x <= 0.0 and rate >= 0.0) or abs(rate) <= 2e-16 * (abs(qn) + wnn * x):
            return x
        if rate < 0.0:
            low, at_low = x, rate
            at_high *= 0.5 if side < 0 else 1.0
            side = -1
        else:
            high, at_high = x, rate
            at_low *= 0.5 if side > 0 else 1.0
            side = 1
        if low < 0.0 or high == math.inf:
            side = 0
            x = max(0.0, x - rate / wnn) if low < 0.0 else x + max(x, -rate / wnn)
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
def _newton(x, shift, qn, qt, wnn, wn, first, kind, S, s0, n, mu, r0, associated, f, g, A, b):
    """Newton's method on the law of the block from p_n = x and friction f; returns p_n, or -1 where it did not end.

    Equations, with y = f - u/s per group and s the largest of its own S: u_n = 0 (less mu·Σ|u_g|, associated), u_g = 0
    where |y_g| <= r (stick), s·(f_g - r·y_g/|y_g|) = 0 elsewhere (slip). In the associated case stick has u_g = 0.
    """
    m = n + shift
    for _ in range(30):
        radius = mu * x + r0 if shift else r0
        rate = qn + wnn * x
        size = abs(qn) + wnn * x
        for k in range(n):
            rate += wn[first + k] * f[k] if shift else 0.0
            u = qt[k] + (wn[first + k] * x if shift else 0.0)
            scale = abs(u)
            for j in range(n):
                u += S[s0 + k, j] * f[j]
                scale += abs(S[s0 + k, j] * f[j])
            g[k] = u  # the velocity
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
        worst = 0.0
        start = 0
        for end in range(1, n + 1):
            if end < n and not starts_group(kind, end):
                continue
            s = 0.0
            for k in range(start, end):
                s = max(s, S[s0 + k, k])
            length = 0.0
            speed = 0.0
            for k in range(start, end):
                length += (f[k] - g[k] / s) ** 2
                speed += g[k] * g[k]
            length, speed = math.sqrt(length), math.sqrt(speed)
            slips = length > radius
            if slips and shift and associated:
                b[0] -= mu * speed
            for k in range(start, end):
                i = k + shift
                if not slips:
                    b[i] = g[k]
                    for j in range(n):
                        A[i, j + shift] = S[s0 + k, j]
                    if shift:
                        A[i, 0] = wn[first + k]
                else:
                    e = (f[k] - g[k] / s) / length
                    b[i] = s * (f[k] - radius * e)
                    if shift:
                        A[i, 0] -= s * mu * e
                    # derivative of e: (dy - e (e·dy)) / |y|, dy = df - du / s
                    for l in range(start, end):
                        el = (f[l] - g[l] / s) / length
                        c = ((1.0 if k == l else 0.0) - e * el) * radius / length
                        A[i, l + shift] += s * ((1.0 if k == l else 0.0) - c)
                        for j in range(n):
                            A[i, j + shift] += c * S[s0 + l, j]
                        if shift:
                            A[i, 0] += c * wn[first + l]
                    if shift and associated and speed > 0.0:
                        for j in range(n):
                            A[0, j + 1] -= mu * g[k] / speed * S[s0 + k, j]
                        A[0, 0] -= mu * g[k] / speed * wn[first + k]
                worst = max(worst, abs(b[i]))
            start = end
        if shift:
            worst = max(worst, abs(b[0]))
        if not worst < math.inf:
            return -1.0
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


@njit(leaf=True, sealed=True)
def solve_product(shift, qn, qt, pn, wnn, wn, first, kind, S, s0, n, mu, r0, associated, f, g, rest, own, part, A, b):
    """p_n (0 without a normal row, `shift` 0) and friction f of a block, from the present ones; -1 for none found."""
    if shift:
        for k in range(n):
            g[k] = f[k]
            f[k] = 0.0
        # open: the law at p_n = 0
        rate = _rate(0.0, qn, qt, wnn, wn, first, kind, S, s0, n, mu, r0, associated, own, f, rest, part, b)
        if rate >= 0.0 and (pn <= 0.0 or associated):
            return 0.0
        for k in range(n):
            f[k] = g[k]
    start = pn if pn > 0.0 or not shift else max(0.0, -qn / wnn)
    found = _newton(start, shift, qn, qt, wnn, wn, first, kind, S, s0, n, mu, r0, associated, f, g, A, b)
    if found >= 0.0:
        return found
    for k in range(n):
        f[k] = 0.0
    if shift == 0:
        friction_of_groups(kind, S, s0, n, qt, r0, f, rest, own, part)
        return 0.0
    return _nested(pn, qn, qt, wnn, wn, first, kind, S, s0, n, mu, r0, associated, g, f, rest, own, part)


@njit(leaf=True)
def update_product(i, r, n, u, p, new, par, wn, sd, kind, S, s0, associated, qt, g, f, work):
    """Impulses `new` (n,) of a block with a product of friction sets at velocities u (n,); its change of velocity."""
    mu, r0, wnn = par[i, NESTED_MU], par[i, NESTED_R0], par[i, NESTED_NN]
    shift = 1 if par[i, NESTED_NORMAL] > 0.0 else 0
    first = r + shift
    t = n - shift
    pn = p[r] if shift else 0.0
    qn = u[0] - wnn * pn if shift else 0.0
    for k in range(t):
        qn -= wn[first + k] * p[first + k]
        qt[k] = u[shift + k] - wn[first + k] * pn
        for j in range(t):
            qt[k] -= S[s0 + k, j] * p[first + j]
        f[k] = p[first + k]
    for k in range(n):
        new[k] = 0.0
    if shift and wnn <= 0.0:
        return 0.0
    _, _, _, _, rest, own, _, A, part, b = work
    found = solve_product(
        shift, qn, qt, pn, wnn, wn, first, kind, S, s0, t, mu, r0, associated, f, g, rest, own, part, A, b
    )
    if found < 0.0:
        for k in range(n):
            new[k] = p[r + k]
        return 0.0
    if shift:
        new[0] = found
    change = wnn * abs(found - pn)
    for k in range(t):
        new[shift + k] = f[k]
        change += sd[first + k] * abs(f[k] - p[first + k])
    return change
