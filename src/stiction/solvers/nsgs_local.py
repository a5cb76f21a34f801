"""Exact solutions of one block's law, all other impulses held fixed: the inner step of block Gauss–Seidel.

A block with velocities u and impulses p moves along `u' = u + W (p' - p)`, W its own block of the Delassus matrix
plus compliance. Friction depends on the normal impulse through the radius `r = mu·p_n + r0`. With the normal row's
equation u_n' = 0 solved for p_n', Coulomb's law of a disk leaves one unknown, the ratio λ of slip speed to friction:

    p_n = c - e·p_t      u_t = S p_t + s = -λ p_t      |p_t| = mu·p_n        e = W_tn / W_nn,  S = W_tt - e W_nn eᵀ

S is diagonal in the frame that `nsgs_setup` gives to the tangents. Every other friction set takes the nested form:
for a given p_n the friction f(p_n) is the minimiser of a strictly convex function over r·F, and p_n is a root of
u_n(p_n) for Coulomb's law, of u_n - mu·σ(-u_t) for the associated law (there the function is monotone: the derivative
of a convex value function).

A block of Coulomb's law has one solution where mu·|e| < 1, and may have several beyond (normal and tangents strongly
coupled, as in Painlevé's rod). Then the solution nearest to the present impulse is taken in the plane; a pressed
disk prefers stick to open and open to slip; the nested form takes the first root it brackets. So a solution of the
whole problem is a point of rest of the sweeps, except one where a disk slips while open and slip both obey its law.
"""

from __future__ import annotations

import math

from .._jit import njit
from .._lanes import root, select, size, some
from ..friction.kernels import PolyhedronRoom, project_polyhedron

# Columns of `par`: the numbers of an item's local problem, by its kind.
PARAMETERS = 8  # a cache line
INTERVAL_INVERSE, INTERVAL_LOW, INTERVAL_HIGH, INTERVAL_OWN = 0, 1, 2, 3  # 1/W (0: cannot move), the bounds, W
BILATERAL_SIZE = 0  # √ of the largest entry of W before the frame: velocity per impulse in it
PLANAR_NN, PLANAR_NT, PLANAR_TT = 0, 1, 2  # W
PLANAR_MU_DOWN, PLANAR_MU_UP, PLANAR_R0_DOWN, PLANAR_R0_UP = 3, 4, 5, 6  # friction down and up the tangent
DISK_INVERSE, DISK_E1, DISK_E2 = 0, 1, 2  # 1/W_nn, W_nt / W_nn
DISK_S1, DISK_S2, DISK_MU, DISK_GUESS, DISK_NN = 3, 4, 5, 6, 7  # Schur complement, mu, λ of the last solve, W_nn
NESTED_NN, NESTED_NORMAL, NESTED_MU, NESTED_R0 = 0, 1, 2, 3  # W_nn, whether there is a normal row, mu, r0
NESTED_GUESS, NESTED_PRODUCT = 4, 5  # as DISK_GUESS; the kind of a product of sets, 0 for others
NEAR = 1e-8  # relative step of Newton's method for λ that ends it: what is left is of the order of its square
STEPS = 100  # of the safeguarded iterations; bisection alone would need about 60


@njit(inline=True)
def planar_of(par, i):
    """W, and the friction of a contact in the plane: what `solve_planar` asks for."""
    return (
        par[i, PLANAR_NN], par[i, PLANAR_NT], par[i, PLANAR_TT], par[i, PLANAR_MU_DOWN], par[i, PLANAR_MU_UP],
        par[i, PLANAR_R0_DOWN], par[i, PLANAR_R0_UP],
    )  # fmt: skip


@njit(inline=True)
def disk_of(par, i):
    """What `solve_disk` asks for of a contact in space, its last λ as the last one."""
    return (
        par[i, DISK_INVERSE], par[i, DISK_E1], par[i, DISK_E2], par[i, DISK_S1], par[i, DISK_S2], par[i, DISK_MU],
        par[i, DISK_GUESS],
    )  # fmt: skip


@njit(inline=True)
def solve_interval(u, p, w, lo, hi):
    """One row with lo <= p <= hi, u >= 0 at lo, u <= 0 at hi; w its inverse inertia's reciprocal (0: cannot move)."""
    return min(max(p - u * w, lo), hi)


@njit
def solve_planar(un, ut, pn, pt, wnn, wnt, wtt, ma, mb, ra, rb, associated):
    """Two rows, friction between -(ma·p_n + ra) and mb·p_n + rb: open, stick, and both slips in closed form."""
    if wnn <= 0.0:
        return 0.0, 0.0
    qn = un - wnn * pn - wnt * pt
    qt = ut - wnt * pn - wtt * pt
    f = min(max(-qt / wtt, -ra), rb)
    rate = qn + wnt * f
    if associated:
        slip = qt + wtt * f
        rate -= ma * slip if slip > 0.0 else -mb * slip
    single = wnn > ma * wnt and wnn > -mb * wnt  # u_n then rises with p_n along every branch
    if rate >= 0.0 and (single or associated or pn <= 0.0):
        return 0.0, f
    n = -(qn - wnt / wtt * qt) / (wnn - wnt * wnt / wtt)
    t = -(qt + wnt * n) / wtt
    stick = n >= 0.0 and -(ma * n + ra) <= t <= mb * n + rb
    if stick and (single or associated):
        return n, t
    # slip along +t and -t: g·u = 0 with g = (1, 0) for Coulomb's law, (1, edge of the cone) for the associated one
    gb = mb if associated else 0.0
    ga = -ma if associated else 0.0
    upper = wnn + mb * wnt + gb * (wnt + mb * wtt)
    lower = wnn - ma * wnt + ga * (wnt - ma * wtt)
    nb = -(qn + wnt * rb + gb * (qt + wtt * rb)) / upper if upper != 0.0 else -1.0
    na = -(qn - wnt * ra + ga * (qt - wtt * ra)) / lower if lower != 0.0 else -1.0
    tb = mb * nb + rb
    ta = -(ma * na + ra)
    wrong_b = max(0.0, qt + wnt * nb + wtt * tb) if nb >= 0.0 else math.inf
    wrong_a = max(0.0, -(qt + wnt * na + wtt * ta)) if na >= 0.0 else math.inf
    if single or associated:
        if wrong_b < wrong_a:
            return nb, tb
        return (na, ta) if na >= 0.0 else (pn, pt)
    # several may obey the law: the one nearest to the present impulse, so that every solution is a point of rest
    near = math.inf
    bestn, bestt = pn, pt
    if rate >= 0.0:
        near, bestn, bestt = pn, 0.0, f
    if stick and abs(n - pn) < near:
        near, bestn, bestt = abs(n - pn), n, t
    if wrong_b == 0.0 and abs(nb - pn) < near:
        near, bestn, bestt = abs(nb - pn), nb, tb
    if wrong_a == 0.0 and abs(na - pn) < near:
        near, bestn, bestt = abs(na - pn), na, ta
    return bestn, bestt


@njit(inline=True)
def solve_disk(un, u1, u2, pn, p1, p2, iw, e1, e2, s1, s2, mu, x):
    """Three rows with a disk of friction under Coulomb's law, of one contact or of eight side by side (`_lanes`).

    x: the λ from which the search begins. Returns p_n, p_1, p_2 and λ, next time's guess.
    """
    c = pn - un * iw + e1 * p1 + e2 * p2
    pressed = c > 0.0
    leaves = ~pressed & ((pn <= 0.0) | (mu * mu * (e1 * e1 + e2 * e2) < 1.0))
    r1 = u1 - e1 * un - s1 * p1
    r2 = u2 - e2 * un - s2 * p2
    t1 = -r1 / s1
    t2 = -r2 / s2
    n = c - e1 * t1 - e2 * t2
    sticks = (n >= 0.0) & (t1 * t1 + t2 * t2 <= mu * mu * n * n) & ~leaves
    slips = pressed & ~sticks
    n, t1, t2 = select(sticks, n, 0.0), select(sticks, t1, 0.0), select(sticks, t2, 0.0)
    if some(slips):
        # F(λ) = mu·p_n/|p_t| - 1 rises from below 0 to infinity, and is linear where s1 = s2: Newton, kept in a bracket
        low, high = select(slips, 0.0, 0.0), select(slips, math.inf, math.inf)
        least = select(s1 < s2, s1, s2)
        busy = slips
        for _ in range(STEPS):
            d1 = 1.0 / (s1 + x)
            d2 = 1.0 / (s2 + x)
            y1 = -r1 * d1
            y2 = -r2 * d2
            length2 = y1 * y1 + y2 * y2
            length = root(length2)
            m = c - e1 * y1 - e2 * y2
            gap = mu * m - length
            below = gap < 0.0
            low, high = select(below, x, low), select(below, high, x)
            a1 = y1 * d1
            a2 = y2 * d2
            slope = mu * (e1 * a1 + e2 * a2) * length2 + mu * m * (y1 * a1 + y2 * a2)
            new = select(slope > 0.0, x - gap * length2 / slope, -math.inf)  # no slope: none
            near = size(new - x) <= NEAR * (x + least)
            inside = (low < new) & (new < high)
            middle = select(high < math.inf, 0.5 * (low + high), 2.0 * (low + s1 + s2))
            stop = (size(gap) <= 1e-16 * length) | (~inside & (near | (middle <= low) | (middle >= high)))
            busy = busy & ~stop
            x = select(busy, select(inside, new, middle), x)
            busy = busy & ~near
            if not some(busy):
                break
        y1 = -r1 / (s1 + x)
        y2 = -r2 / (s2 + x)
        n, t1, t2 = select(slips, c - e1 * y1 - e2 * y2, n), select(slips, y1, t1), select(slips, y2, t2)
    return n, t1, t2, x


@njit(leaf=True)
def minimise_ball(s, g, n, first, radius, f):
    """f minimising ½ Σ s f² + g·f with |f| <= radius: f = -g / (s + λ), λ from |f(λ)| = radius (Newton on 1/|f|)."""
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
    for _ in range(STEPS):
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
def solve_ball(qn, qt, pn, guess, wnn, wn, s, n, first, mu, r0, associated, f):
    """p_n and λ of a unilateral block with a ball of friction, f its friction; p_n = -1 when Newton did not get there.

    Open and stick in closed form; slip is Newton's method on (p_n, λ) from the present ones, with f = -(q_t + W_tn
    p_n) / (s + λ): r / |f| = 1 and u_n = 0, or u_n = mu·λ·r for the associated law. It is accepted by its residual.
    """
    size2 = 0.0
    own = wnn
    x = -qn
    for k in range(n):
        size2 += qt[k] * qt[k]
        own -= wn[first + k] * wn[first + k] / s[first + k]
        x += wn[first + k] * qt[k] / s[first + k]
    if r0 == 0.0 and qn - (mu * math.sqrt(size2) if associated else 0.0) >= 0.0:
        for k in range(n):
            f[k] = 0.0
        return 0.0, guess
    x /= own
    size2 = 0.0
    for k in range(n):
        f[k] = -(qt[k] + wn[first + k] * x) / s[first + k]
        size2 += f[k] * f[k]
    radius = mu * x + r0
    if own > 0.0 and x >= 0.0 and size2 <= radius * radius:
        return x, guess
    x = pn if pn > 0.0 else abs(qn) / wnn
    y = guess
    for _ in range(30):
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
def friction_for(n, first, facets, rim, m, G, s, g, radius, f, work):
    """The friction f that dissipates most at one radius: over a ball (m = 0) or the polyhedron G f <= radius·rim."""
    if m == 0:
        minimise_ball(s, g, n, first, radius, f)
        return
    x, h, rows, weights, res, tgt, act, gram, rhs, sol = work
    for k in range(n):  # the frame makes W_tt the identity, so the minimiser is a projection
        x[k] = -g[k]
    for j in range(m):
        h[j] = rim[facets + j] * radius
    room = PolyhedronRoom(rows, weights, res, tgt, act, gram, rhs, sol)
    project_polyhedron(G[facets : facets + m], h, n, m, x, f, room)


@njit(leaf=True)
def _rate(pn, qn, qt, wnn, wn, s, n, first, mu, r0, facets, m, G, rim, corners, nv, V, associated, g, f, work):
    """The function of p_n whose root is sought, with f the friction at p_n."""
    for k in range(n):
        g[k] = qt[k] + wn[first + k] * pn
    friction_for(n, first, facets, rim, m, G, s, g, mu * pn + r0, f, work)
    rate = qn + wnn * pn
    for k in range(n):
        rate += wn[first + k] * f[k]
    if associated:
        most = 0.0
        if m == 0:
            for k in range(n):
                most += (g[k] + s[first + k] * f[k]) ** 2
            most = math.sqrt(most)
        for j in range(corners, corners + nv):
            size = 0.0
            for k in range(n):
                size -= V[j, k] * (g[k] + s[first + k] * f[k])
            most = max(most, size)
        rate -= mu * most
    return rate


@njit
def solve_nested(
    qn, qt, guess, wnn, wn, s, n, first, mu, r0, facets, m, G, rim, corners, nv, V, associated, g, f, work
):
    """p_n of a unilateral block with any friction set, f its friction; -1 when no p_n in reach obeys the law.

    Brackets a root upwards or downwards from the present p_n, then regula falsi (Illinois). Ends when what was
    wrong at the present p_n is smaller by 1e-8: close to the solution of the whole problem that is round-off.
    """
    low, at_low, high, at_high = -1.0, 0.0, math.inf, 0.0  # low < 0: no lower end yet
    x = guess
    goal = -1.0
    side = 0
    for _ in range(2 * STEPS):
        rate = _rate(x, qn, qt, wnn, wn, s, n, first, mu, r0, facets, m, G, rim, corners, nv, V, associated, g, f, work)
        if x <= 0.0 and rate >= 0.0:
            return 0.0
        if goal < 0.0:
            goal = 1e-8 * abs(rate)
        if abs(rate) <= max(goal, 2e-16 * (abs(qn) + wnn * x)):
            return x
        if rate < 0.0:
            low, at_low = x, rate
            if side < 0:
                at_high *= 0.5  # an end that stays too long loses weight, so that both ends move
            side = -1
        else:
            high, at_high = x, rate
            if side > 0:
                at_low *= 0.5
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
