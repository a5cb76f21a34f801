"""Exact solutions of one block's law, all other impulses held fixed: the inner step of block Gauss–Seidel.

A block with velocities u and impulses p moves along `u' = u + W (p' - p)`, W its own block of the Delassus matrix
plus compliance. Friction depends on the normal impulse through the radius `r = mu·p_n + r0`. With the normal row's
equation u_n' = 0 solved for p_n', Coulomb's law of a disk leaves one unknown, the ratio λ of slip speed to friction:

    p_n = c - e·p_t      u_t = S p_t + s = -λ p_t      |p_t| = mu·p_n        e = W_tn / W_nn,  S = W_tt - e W_nn eᵀ

S is diagonal in the frame that `local_frames` gives to the tangents. Other friction sets are solved in `local_nested`.

A block of Coulomb's law has one solution where mu·|e| < 1, and may have several beyond (normal and tangents strongly
coupled, as in Painlevé's rod). Then the solution nearest to the present impulse is taken in the plane; a pressed
disk prefers stick to open and open to slip. So a solution of the whole problem is a point of rest of the sweeps, except
one where a disk slips while open and slip both obey its law.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ...runtime.jit import njit
from ...runtime.lanes import any_lane, select, sqrt
from . import kinds
from .parameters import LOCAL


class Disk(NamedTuple):
    """The local problem of a contact in space, or of eight side by side, in its frame."""

    inverse: Any  # 1/W_nn
    e1: Any  # W_nt / W_nn
    e2: Any
    s1: Any  # the Schur complement, which is diagonal
    s2: Any
    mu: Any
    guess: Any  # the λ from which the search begins


@njit(inline=True)
def planar_of(par, i):
    """W and the friction of a contact in the plane, the arguments of `solve_planar`."""
    return (
        par[i, kinds.PLANAR_NN],
        par[i, kinds.PLANAR_NT],
        par[i, kinds.PLANAR_TT],
        par[i, kinds.PLANAR_MU_DOWN],
        par[i, kinds.PLANAR_MU_UP],
        par[i, kinds.PLANAR_R0_DOWN],
        par[i, kinds.PLANAR_R0_UP],
    )


@njit(inline=True)
def disk_of(par, i):
    """The local problem of a contact in space, with its last λ as the guess."""
    return Disk(
        par[i, kinds.DISK_INVERSE],
        par[i, kinds.DISK_E1],
        par[i, kinds.DISK_E2],
        par[i, kinds.DISK_S1],
        par[i, kinds.DISK_S2],
        par[i, kinds.DISK_MU],
        par[i, kinds.DISK_GUESS],
    )


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
    nearest = math.inf
    bestn, bestt = pn, pt
    if rate >= 0.0:
        nearest, bestn, bestt = pn, 0.0, f
    if stick and abs(n - pn) < nearest:
        nearest, bestn, bestt = abs(n - pn), n, t
    if wrong_b == 0.0 and abs(nb - pn) < nearest:
        nearest, bestn, bestt = abs(nb - pn), nb, tb
    if wrong_a == 0.0 and abs(na - pn) < nearest:
        nearest, bestn, bestt = abs(na - pn), na, ta
    return bestn, bestt


@njit(inline=True)
def solve_disk(u, p, disk):
    """Three rows with a disk of friction under Coulomb's law, of one contact or of eight side by side
    (`runtime/lanes`).

    u, p: velocities and impulses now, normal first. Returns p_n, p_1, p_2 and λ, next time's guess.
    """
    (un, u1, u2), (pn, p1, p2) = u, p
    inverse, e1, e2, s1, s2, mu, x = disk
    c = pn - un * inverse + e1 * p1 + e2 * p2
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
    if any_lane(slips):
        # F(λ) = mu·p_n/|p_t| - 1 rises from below 0 to infinity, and is linear where s1 = s2: Newton, kept in a bracket
        low, high = select(slips, 0.0, 0.0), select(slips, math.inf, math.inf)
        least = select(s1 < s2, s1, s2)
        unfinished = slips
        for _ in range(LOCAL.max_steps):
            d1 = 1.0 / (s1 + x)
            d2 = 1.0 / (s2 + x)
            y1 = -r1 * d1
            y2 = -r2 * d2
            length2 = y1 * y1 + y2 * y2
            length = sqrt(length2)
            m = c - e1 * y1 - e2 * y2
            gap = mu * m - length
            below = gap < 0.0
            low, high = select(below, x, low), select(below, high, x)
            a1 = y1 * d1
            a2 = y2 * d2
            slope = mu * (e1 * a1 + e2 * a2) * length2 + mu * m * (y1 * a1 + y2 * a2)
            new = select(slope > 0.0, x - gap * length2 / slope, -math.inf)  # no slope: none
            converged = abs(new - x) <= LOCAL.last_step * (x + least)
            inside = (low < new) & (new < high)
            middle = select(high < math.inf, 0.5 * (low + high), 2.0 * (low + s1 + s2))
            stop = (abs(gap) <= 1e-16 * length) | (~inside & (converged | (middle <= low) | (middle >= high)))
            unfinished = unfinished & ~stop
            x = select(unfinished, select(inside, new, middle), x)
            unfinished = unfinished & ~converged
            if not any_lane(unfinished):
                break
        y1 = -r1 / (s1 + x)
        y2 = -r2 / (s2 + x)
        n, t1, t2 = select(slips, c - e1 * y1 - e2 * y2, n), select(slips, y1, t1), select(slips, y2, t2)
    return n, t1, t2, x
