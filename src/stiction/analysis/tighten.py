"""Tighter bounds of complementary pairs for the mixed-integer program, by second-order cone programs.

A search over on/off decisions is as fast as its bounds are tight: 20 contacts in the plane that no motion can keep from
slipping all at once took it ten minutes, with impulses bounded by `IMPULSE_RANGE` alone. Every solution obeys the sum
of all pairs, `Σ z_i w_i = zᵀ(M z + q) = 0`. With Coulomb friction the products of impulses in it are a convex quadratic
form (twice the kinetic energy of what they change), those of slip speeds and normal impulses are not negative, and the
others cancel. So

    z_pᵀ W z_p + qᵀ z <= 0

holds for every solution and is convex. With it, and with the linear rows of the program, the largest value of each side
of each pair is found, which tightens the rows of the next round. Where impulses have no other bound, it proves one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .._check import FloatArray
from .pairs import IMPULSE, IMPULSE_RANGE, Pairs

PAIRS_MIN = 50  # smaller programs are decided sooner than their bounds are found
TIGHTENING_ROUNDS_MAX = 3
TIGHTENING_MIN_SHARE = 0.7  # another round follows one that brought the bounds down to this, on average
BOUND_MARGIN = 1e-5  # on every bound, in scaled units: far above what the cone programs leave open

Largest = Callable[[FloatArray], float | None]


def impulse_bounds(pairs: Pairs) -> FloatArray | None:
    """(n,) the largest impulses of any solution, proved without other bounds; infinite for speeds. None: not found.

    There are none where impulses can grow against each other without end, and none are sought for small programs.
    """
    root = _energy_root(pairs)
    if len(pairs.q) < PAIRS_MIN or root is None:
        return None
    largest, bounds = _relaxation(pairs, root), np.full(len(pairs.q), np.inf)
    for j in np.flatnonzero(_impulses(pairs)):
        top = largest(np.eye(len(bounds))[j])
        if top is None or top >= IMPULSE_RANGE:
            return None
        bounds[j] = max(0.0, top) + BOUND_MARGIN * (1.0 + abs(top))
    return bounds


def tightened(pairs: Pairs) -> Pairs:
    """The same pairs with bounds that no solution within the given ones exceeds; as given where there is no use."""
    root = _energy_root(pairs)
    if len(pairs.q) < PAIRS_MIN or root is None:
        return pairs
    for _ in range(TIGHTENING_ROUNDS_MAX):
        z_max, w_max = _both_sides(pairs, root)
        gained = np.mean(np.concatenate([z_max / pairs.z_max, w_max / pairs.w_max]))
        pairs = replace(pairs, z_max=z_max, w_max=w_max)
        if gained > TIGHTENING_MIN_SHARE:
            break
    return pairs


def _impulses(pairs: Pairs) -> np.ndarray:
    return np.array([group in IMPULSE for group, _ in pairs.names])


def _energy_root(pairs: Pairs) -> FloatArray | None:
    """(k, n) B with |B z|² <= zᵀ M z for all z >= 0; None where impulses can do work, as in sliding contacts."""
    impulse = _impulses(pairs)
    both = 0.5 * (pairs.M + pairs.M.T)
    square = np.where(np.outer(impulse, impulse), both, 0.0)
    size = float(np.abs(both).max(initial=0.0))
    values, vectors = np.linalg.eigh(square)
    if values.min(initial=0.0) < -1e-9 * size or (both - square).min(initial=0.0) < -1e-9 * size:
        return None
    kept = values > 1e-9 * size
    return np.asarray(np.sqrt(values[kept])[:, None] * vectors[:, kept].T)


def _both_sides(pairs: Pairs, root: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The largest z and w of the convex relaxation, (n,) each, with a margin."""
    largest, n = _relaxation(pairs, root), len(pairs.q)
    z_max, w_max = pairs.z_max.copy(), pairs.w_max.copy()

    def lower(bounds: FloatArray, i: int, start: FloatArray, rows: FloatArray) -> None:
        tops = [largest(row) for row in rows]
        if None not in tops:
            top = max(float(s) + float(t) for s, t in zip(start, tops) if t is not None)
            bounds[i] = min(bounds[i], max(0.0, top) + BOUND_MARGIN * (1.0 + abs(top)))

    for i in np.flatnonzero(np.isfinite(z_max)).tolist():
        lower(z_max, i, np.zeros(1), np.eye(n)[i : i + 1])
        lower(w_max, i, pairs.q[i : i + 1], pairs.M[i : i + 1])
    for members, _ in pairs.groups:  # a slip speed is that of the fastest direction; where open, any larger would do
        betas, lam = members[:-1], int(members[-1])
        lower(z_max, lam, -pairs.q[betas], -np.where(np.arange(n) == lam, 0.0, pairs.M[betas]))
    return z_max, w_max


def _relaxation(pairs: Pairs, root: FloatArray) -> Largest:
    """The largest row·z over the convex relaxation, as a function; it gives None where that is not found."""
    import clarabel
    from scipy.sparse import csc_matrix

    n, eye = len(pairs.q), np.eye(len(pairs.q))
    rows, right = [-eye, -pairs.M], [np.zeros(n), pairs.q]  # z >= 0, w >= 0
    if np.isfinite(pairs.z_max).all():  # z/z_max + w/w_max <= 1, and no more directions than dimensions
        rows.append(np.diag(1.0 / pairs.z_max) + pairs.M / pairs.w_max[:, None])
        right.append(1.0 - pairs.q / pairs.w_max)
        for members, dim in pairs.groups:
            if len(members) - 1 > dim:
                rows.append(np.where(eye[members[:-1]].any(axis=0), 1.0 / pairs.z_max, 0.0)[None])
                right.append(np.array([float(dim)]))
    seen = np.isfinite(pairs.v_low)
    rows += [pairs.V[seen], -pairs.V[seen]]
    right += [(pairs.v_high - pairs.v0)[seen], (pairs.v0 - pairs.v_low)[seen]]
    count = sum(len(part) for part in rows)
    # |B z|² <= t with t = -qᵀz, as the cone |(2 B z, t - 1)| <= t + 1
    rows += [pairs.q[None], -2.0 * root, pairs.q[None]]
    right += [np.ones(1), np.zeros(len(root)), -np.ones(1)]
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.presolve_enable = False, False
    settings.tol_gap_abs = settings.tol_gap_rel = 1e-7
    solver = clarabel.DefaultSolver(
        csc_matrix((n, n)), np.zeros(n), csc_matrix(np.vstack(rows)), np.concatenate(right),
        [clarabel.NonnegativeConeT(count), clarabel.SecondOrderConeT(2 + len(root))], settings,
    )  # fmt: skip

    def largest(row: FloatArray) -> float | None:
        solver.update(q=-row)
        answer = solver.solve()
        return -float(answer.obj_val_dual) if str(answer.status) == "Solved" else None  # of the dual: none has more

    return largest
