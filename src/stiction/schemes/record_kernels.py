"""What a step did at its constraints, in the columns in which it is recorded."""

from __future__ import annotations

from .._jit import njit
from ..problem.laws import BOX, EQUALITY, UNILATERAL


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
