"""What steps in Python and in the compiled loop share: the overlaps that a step leaves, and the record of what it did.

Overlaps stay that are no larger than what an accepted step leaves anyway. A step that is taken at an error of `accept`
(`solvers/acceptance.py`) leaves bodies approaching each other, and so overlaps at its end. If the next step pushed them
out it would leave others, and a pile would never come to rest. So where more than `tol` is accepted, contacts demand
nothing of overlaps of up to

    SPREAD · accept · s · h        s² = mean |v_free - v|² over the bodies that forces can move

with s the speed that forces give in a step: 0.7 µm for steps of 5 ms under gravity. The error is a root mean square, so
that single contacts have some times as much: in piles that settle, 93 to 99 of 100 have less than SPREAD times it.
Larger overlaps are pushed out whole: by the excess alone, a pile of 300 boxes hovered and did not come to rest.
"""

from __future__ import annotations

import math

from ..problem.laws import BOX, EQUALITY, UNILATERAL
from ..runtime.jit import njit

OVERLAP_SPREAD = 3.0


@njit(leaf=True)
def left_overlap(v, v_free, Minv, dim, tol, accept):
    """The overlap over h [m/s] that is not pushed out; v, v_free (nb, d): before the step, and after its forces.

    M⁻¹ (nb, d, d) is zero of prescribed bodies, whose velocities are no work of forces.
    """
    if accept <= tol:
        return 0.0
    total, count = 0.0, 0
    for i in range(v.shape[0]):
        if Minv[i, 0, 0] > 0.0:
            count += 1
            for j in range(dim):
                total += (v_free[i, j] - v[i, j]) ** 2
    return OVERLAP_SPREAD * accept * math.sqrt(total / count) if count else 0.0


@njit
def place_rows(row_ptr, law, codes, values, placed):
    """placed (nk, 6): values (nr,) of joints one after the other, of contacts the normal and then where `codes` says.

    codes (nk, 5): what the rows after the normal are (`friction.sets`).
    """
    for k in range(len(law)):
        first = row_ptr[k]
        for r in range(first, row_ptr[k + 1]):
            column = r - first
            if column > 0 and law[k] == UNILATERAL:
                column = codes[k, column - 1]
            placed[k, column] = values[r]


@njit
def work_of_rows(row_ptr, law, C, b, p, u, after):
    """The work [J] of impulses p at mean velocities u (nr,), by what rows are for; after (nr,): velocities at the end.

    Returned are friction, impact, joints, motors, springs, and stabilisation: the share that only restores a violated
    constraint, ½ u⁺ p where b demands motion outwards, and the whole work of a contact that is pushed out where that
    is more: no impact adds energy.
    """
    friction, impact, joints, motors, springs, restoring = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(len(law)):
        for r in range(row_ptr[k], row_ptr[k + 1]):
            work = p[r] * u[r]
            normal = law[k] == UNILATERAL and r == row_ptr[k]
            if law[k] == BOX:
                motors += work
            if law[k] != BOX and law[k] != EQUALITY and not normal:
                friction += work
            elif C[r] > 0.0:
                springs += work
            elif normal or law[k] == EQUALITY:
                share = 0.5 * after[r] * p[r] if law[k] == EQUALITY else 0.0
                if normal and b[r] < 0.0:
                    share = max(0.5 * max(after[r], 0.0) * p[r], work)
                restoring += share
                if normal:
                    impact += work - share
                else:
                    joints += work - share
    return friction, impact, joints, motors, springs, restoring
