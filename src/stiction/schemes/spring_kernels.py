"""The springs of elastic contacts in a step, as compiled loops that steps in Python and the compiled loop share.

`place_springs` puts them into the problem of a step, `settle_springs` says what is remembered of them after it; the law
and its discrete form are in `systems/elastic.py`. What a contact remembers is a row of eight numbers:

    XI (3)      the elastic displacement of the tangents, a vector in space [m]
    NORMAL (3)  the normal that it belongs to
    KT, KN      the stiffness of the tangents and of the normal in the step [N/m]; 0 where a constraint has no spring
"""

from __future__ import annotations

import math

import numpy as np

from ..friction.kernels import gauge
from ..problem.laws import UNILATERAL
from ..runtime.jit import njit
from ..systems.elastic import NEAR_RIGID
from ..systems.model.kernels.space import turn

XI, NORMAL, KT, KN = 0, 3, 6, 7


@njit(leaf=True)
def _recall(k, x, y, z, kt, old, at, springs):
    """springs[k]: the displacement of row `at` of `old`, turned to the normal (x, y, z), for the stiffness kt.

    By the least rotation that takes the old normal there. Where the stiffness is larger than it was the displacement is
    smaller: the force stays what it was, and no energy comes from nowhere.
    """
    ox, oy, oz = old[at, NORMAL], old[at, NORMAL + 1], old[at, NORMAL + 2]
    c = ox * x + oy * y + oz * z
    if old[at, KT] == 0.0 or c < -0.5:  # turned so far it is another contact
        return
    ax, ay, az = oy * z - oz * y, oz * x - ox * z, ox * y - oy * x
    ex, ey, ez = old[at, XI], old[at, XI + 1], old[at, XI + 2]
    s = (ax * ex + ay * ey + az * ez) / (1.0 + c)
    tx = c * ex + ay * ez - az * ey + s * ax
    ty = c * ey + az * ex - ax * ez + s * ay
    tz = c * ez + ax * ey - ay * ex + s * az
    off = tx * x + ty * y + tz * z
    less = min(1.0, old[at, KT] / kt)
    springs[k, XI], springs[k, XI + 1] = less * (tx - off * x), less * (ty - off * y)
    springs[k, XI + 2] = less * (tz - off * z)


@njit(leaf=True)
def place_springs(h, stiff, row_ptr, form, diagonal, value, keys, warm_start, demand, C, springs):
    """Put the springs of the elastic contacts into demand and C (nr,), and what is known of them into springs (nk, 8).

    stiff (nk, 3): kn, kt and damping, infinite kn of constraints without springs; diagonal
    (nr,): W of each row; value (nr,): gaps [m]; warm_start: the keys of the last step and what its contacts remember,
    of which no more than these is read; keys are sorted.
    Returns how many contacts are stiffer than the step allows.
    """
    Ja, old_keys, old = form.Ja, warm_start.keys, warm_start.springs
    dim = 2 if Ja.shape[1] == 3 else 3
    at, softened = 0, 0
    for k in range(len(keys)):
        for j in range(springs.shape[1]):
            springs[k, j] = 0.0
        kn, kt, damping = stiff[k, 0], stiff[k, 1], stiff[k, 2]
        if kn == math.inf:
            continue
        first, stop = row_ptr[k], row_ptr[k + 1]
        weight, along = diagonal[first] / NEAR_RIGID, 0.0
        for r in range(first + 1, stop):
            if slips(Ja, r, dim):
                along = max(along, diagonal[r] / NEAR_RIGID)
        Cn, Ct = 1.0 / (h * (h * kn + damping)), 1.0 / (h * h * kt)
        if weight > Cn or along > Ct:
            softened += 1
        C[first] = max(Cn, weight)
        start, share = value[first] / h, h * kn / (h * kn + damping)
        demand[first] = start if start > 0.0 else start * share
        Ct = max(Ct, along)
        x, y, z = Ja[first, 0], Ja[first, 1], Ja[first, 2] if dim == 3 else 0.0
        springs[k, NORMAL], springs[k, NORMAL + 1], springs[k, NORMAL + 2] = x, y, z
        springs[k, KT], springs[k, KN] = 1.0 / (h * h * Ct), share / (h * h * C[first])
        while at < len(old) and old_keys[at] < keys[k]:
            at += 1
        if at < len(old) and old_keys[at] == keys[k]:
            _recall(k, x, y, z, springs[k, KT], old, at, springs)
        for r in range(first + 1, stop):
            if slips(Ja, r, dim):
                demand[r], C[r] = displaced(springs, k, Ja, r, dim) / h, Ct
    return softened


@njit(leaf=True)
def all_elastic(law, springs):
    """Whether there are springs, and every contact has one."""
    for k in range(len(springs)):
        if law[k] == UNILATERAL and springs[k, KT] == 0.0:
            return False
    return len(springs) > 0


@njit(inline=True)
def slips(J, r, dim):
    """Whether a row is one of slip: spin and rolling have no part along the axes."""
    along = abs(J[r, 0]) + abs(J[r, 1])
    if dim == 3:
        along += abs(J[r, 2])
    return along > 0.0


@njit(inline=True)
def displaced(springs, k, J, r, dim):
    """The displacement of contact k along row r [m]."""
    s = springs[k, XI] * J[r, 0] + springs[k, XI + 1] * J[r, 1]
    return s + springs[k, XI + 2] * J[r, 2] if dim == 3 else s


@njit(inline=True)
def _turned_by(q0, q1, i):
    """The rotation of body i from q0 to q1 as a quaternion."""
    if q0.shape[1] == 3:
        half = 0.5 * (q1[i, 2] - q0[i, 2])
        return math.cos(half), 0.0, 0.0, math.sin(half)
    a, x, y, z = q1[i, 3], q1[i, 4], q1[i, 5], q1[i, 6]
    b, u, v, w = q0[i, 3], -q0[i, 4], -q0[i, 5], -q0[i, 6]
    return (
        a * b - x * u - y * v - z * w,
        a * u + x * b + y * w - z * v,
        a * v - x * w + y * b + z * u,
        a * w + x * v - y * u + z * b,
    )


@njit(leaf=True)
def turn_pair(k, a, b, q0, q1, springs):
    """Turn what contact k remembers by the mean rotation of its bodies a and b from q0 to q1 (nb, 3|7)."""
    w, x, y, z = _turned_by(q0, q1, a)
    ow, ox, oy, oz = _turned_by(q0, q1, b)
    sign = -1.0 if w * ow + x * ox + y * oy + z * oz < 0.0 else 1.0
    w, x, y, z = w + sign * ow, x + sign * ox, y + sign * oy, z + sign * oz
    size = math.sqrt(w * w + x * x + y * y + z * z)
    w, x, y, z = w / size, x / size, y / size, z / size
    for part in (XI, NORMAL):
        s, t, u = turn(w, x, y, z, springs[k, part], springs[k, part + 1], springs[k, part + 2])
        springs[k, part], springs[k, part + 1], springs[k, part + 2] = s, t, u


@njit(sealed=True)
def settle_springs(h, laws, form, p, v, q0, q1, springs):
    """What contacts remember of a step from q0 to q1 with impulses p (nr,) and velocities v (nb, d): springs (nk, 8).

    What holds has moved by h H v: its force follows from where it is, so that the error of a solve is corrected by the
    next. Where that would be more than friction can hold it has slipped, and has the displacement that its force needs.
    What is open has none.
    """
    row_ptr, Ja, Jb = laws.row_ptr, form.Ja, form.Jb
    d = Ja.shape[1]
    dim = 2 if d == 3 else 3
    f, moved = np.empty(5), np.empty(5)
    for k in range(len(springs)):
        kt = springs[k, KT]
        if kt == 0.0:
            continue
        first, n = row_ptr[k], row_ptr[k + 1] - row_ptr[k] - 1
        a, b = form.body_a[k], form.body_b[k]
        for i in range(n):
            r = first + 1 + i
            f[i], moved[i] = p[r], 0.0
            if slips(Ja, r, dim):
                u = 0.0
                for j in range(d):
                    u += Ja[r, j] * v[a, j] + Jb[r, j] * v[b, j]
                moved[i] = displaced(springs, k, Ja, r, dim) + h * u
                f[i] = -h * kt * moved[i]
        s = laws.set_of[k]
        radius = laws.mu[k] * p[first] + laws.r0[k]
        reach = gauge(
            laws.shape[s], laws.semi[s], laws.facets, laws.facet_ptr[s], laws.facet_ptr[s + 1], f, n
        )  # fmt: skip
        for j in range(3):
            springs[k, XI + j] = 0.0
        if p[first] > 0.0:
            for i in range(n):
                r = first + 1 + i
                if slips(Ja, r, dim):
                    xi = moved[i] if reach <= radius else -p[r] / (h * kt)
                    for j in range(dim):
                        springs[k, XI + j] += xi * Ja[r, j]
        turn_pair(k, a, b, q0, q1, springs)
