"""Bodies at rest: the last step's impulses may be the answer already, and then nothing needs to be prepared or swept.

Overlaps within the tolerance may stay, and so may a motion far below it. What must not pass are impulses that do not
balance the forces, such as those that have just stopped a motion: they would start the next one. Bodies that begin the
step with the velocity zero are those that the laws held in the last one (`held.py`), and are not started by them.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import njit
from ..problem.body_kernels import rows_times, velocity_change
from .nsgs_items import classify_some
from .nsgs_measure import block_map

REST_MAX_ROWS = 3000  # of which a look is worth it: larger scenes are hardly ever at rest altogether
_LOOSE_TOLERANCE = 1e-4  # the largest for small problems
# Of the tolerance: the error, H v where impulses act, and what the step changes of it.
ENOUGH, STILL, BALANCED = 0.9, 0.1, 2e-3


@njit
def inner_tolerance(tol, rows):
    """What a problem with so many rows is solved to: small ones never loosely.

    There a few more digits cost less than the motions do that an error starts, which are the next steps' to stop.
    """
    return min(tol, _LOOSE_TOLERANCE) if rows <= REST_MAX_ROWS else tol


@njit(sealed=True)
def at_rest(tol, scale, laws, form, rho, v_start, v_free, b, p, change):
    """The error of the impulses p where they solve a problem of bodies at rest, else infinity.

    There change (nb, d) receives the velocities that they give the bodies.
    """
    body_a, body_b, C, length, mu = form.body_a, form.body_b, laws.C, laws.length, laws.mu
    row_ptr, semi, set_of = laws.row_ptr, laws.semi, laws.set_of
    nk, nr = len(laws.law), len(b)
    kind, times = np.empty(nk, np.int8), np.empty(nk, np.int64)
    _, plain = classify_some(np.int64(0), nk, laws, kind, times)
    if nr > REST_MAX_ROWS or not plain:
        return math.inf
    v, u, turn = np.empty(v_free.shape), np.empty(nr), np.empty(nr)
    velocity_change(False, body_a, body_b, row_ptr, form.Ja, form.Jb, form.Minv, p, change)
    for i in range(v.shape[0]):
        for j in range(v.shape[1]):
            v[i, j] = v_free[i, j] + change[i, j]
    rows_times(body_a, body_b, row_ptr, form.Ja, form.Jb, v, u)
    goal = (tol * scale) ** 2
    enough, still, balanced = ENOUGH**2 * goal, STILL**2 * goal, BALANCED**2 * goal
    stood, all_stood = np.empty(len(v_start), np.bool_), True
    for i in range(len(v_start)):
        stood[i] = True
        for j in range(v_start.shape[1]):
            stood[i] = stood[i] and v_start[i, j] == 0.0
        all_stood = all_stood and stood[i]
    if not all_stood:
        rows_times(body_a, body_b, row_ptr, form.Ja, form.Jb, v - v_start, turn)
    uk, pk = np.empty(6), np.empty(6)
    missed, motion, imbalance = 0.0, 0.0, 0.0
    for k in range(nk):
        first, n = row_ptr[k], row_ptr[k + 1] - row_ptr[k]
        acts = False
        for j in range(n):
            acts = acts or p[first + j] != 0.0
        stays = (body_a[k] < 0 or stood[body_a[k]]) and (body_b[k] < 0 or stood[body_b[k]])
        for j in range(n):
            r = first + j
            if acts:
                motion += (u[r] * length[r]) ** 2
                imbalance += 0.0 if stays else (turn[r] * length[r]) ** 2
            uk[j], pk[j] = (u[r] + b[r] + C[r] * p[r]) * length[r], p[r] / length[r]
        edge = mu[k] * semi[set_of[k], 0]
        missed += block_map(laws, k, n, edge, rho[k], first, uk, pk)
        if not (missed <= enough and motion <= still and imbalance <= balanced):
            return math.inf
    return math.sqrt(missed) / scale
