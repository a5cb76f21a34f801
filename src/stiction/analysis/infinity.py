"""Whether a contact problem can have solutions with impulses beyond those that were searched.

A solution z with large impulses, divided by their sum s, solves the pairs with q/s in place of q and impulses of sum 1.
So a program with impulses of sum 1 and a factor of q between 0 and 1/s holds all solutions with impulses of sum s and
more, however large, with bounds that are proved. Where it has no solution, neither has the problem out there.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .highs import solve_milp
from .pairs import IMPULSE
from .program import Program


def pattern_beyond(program: Program) -> tuple[bool, np.ndarray | None]:
    """Whether solutions with larger impulses than the limit of `program` are left, and the pattern (n,) of one.

    False: it is proved that there is none. True: to the tolerance of the search there may be one, with the pattern of
    zeros that is given, or something else without a pattern when time ran out. Where the friction cone is not pointed,
    internal forces can grow without end.
    """
    pairs, n = program.pairs, program.n
    impulse = np.array([group in IMPULSE for group, _ in pairs.names])
    top = 1.0 / (pairs.limit / pairs.impulse)
    A = np.where(impulse, pairs.M, 0.0)
    low = np.minimum(A, 0.0).min(axis=1) - top * np.abs(pairs.q)  # impulses of sum 1: the least entry bounds the row
    high = np.maximum(A, 0.0).max(axis=1) + top * np.abs(pairs.q)
    z_max = np.ones(n)
    for j in np.flatnonzero(~impulse):
        rows = np.flatnonzero((pairs.M[:, j] > 0.5) & impulse)
        z_max[j] = max(0.0, float(-low[rows].min(initial=0.0)))
    w_max = np.maximum(0.0, high + np.maximum(np.where(impulse, 0.0, pairs.M), 0.0) @ z_max) + 1e-9
    # the rows of the same program, without its velocity bounds, for (z, d, factor of q)
    scaled = replace(pairs, z_max=z_max, w_max=w_max, q=np.zeros(n),
                     v_low=np.full_like(pairs.v_low, -np.inf), v_high=np.full_like(pairs.v_high, np.inf))  # fmt: skip
    A, lo, hi = Program(scaled, program.deadline).rows(extra=1)
    A[n : 2 * n, -1] = pairs.q
    A[2 * n : 3 * n, -1] = pairs.q
    total = np.concatenate([impulse.astype(float), np.zeros(n + 1)])[None]
    found = solve_milp(
        np.zeros(2 * n + 1), np.concatenate([np.zeros(n), np.ones(n), [0.0]]), np.zeros(2 * n + 1),
        np.concatenate([z_max, np.ones(n), [top]]), np.vstack([A, total]), np.append(lo, 1.0), np.append(hi, 1.0),
        seconds=program.left,
    )  # fmt: skip
    program.nodes += found.nodes
    return not found.infeasible, None if found.x is None else found.x[n : 2 * n] > 0.5
