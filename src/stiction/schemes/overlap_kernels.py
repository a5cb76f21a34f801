"""Overlaps that a step leaves: those that are no larger than what an accepted step leaves anyway.

A step that is taken at an error of `accept` (`solvers/acceptance.py`) leaves bodies approaching each other, and so
overlaps at its end. If the next step pushed them out it would leave others, and a pile would never come to rest. So
where more than `tol` is accepted, contacts demand nothing of overlaps of up to

    SPREAD · accept · s · h        s² = mean |v_free - v|² over the bodies that forces can move

with s the speed that forces give in a step: 0.7 µm for steps of 5 ms under gravity. The error is a root mean square, so
that single contacts have some times as much: in piles that settle, 93 to 99 of 100 have less than SPREAD times it.
Larger overlaps are pushed out whole: by the excess alone, a pile of 300 boxes hovered and did not come to rest.
"""

from __future__ import annotations

import math

from .._jit import njit

SPREAD = 3.0


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
    return SPREAD * accept * math.sqrt(total / count) if count else 0.0
