"""A contact problem as complementary pairs in scaled units, with bounds that every solution keeps.

The polyhedral LCP of a problem (`ContactProblem.to_lcp`) without its free variables, in units in which impulses and
velocities are near 1:

    0 <= z ⟂ w = M z + q >= 0        v = v0 + V z        p = p0 + P z

A mixed-integer program needs a bound of every z_i and w_i. They come from mechanics. Let v̂ be a motion in which no
contact slips and none approaches. Friction and joints dissipate, so that every solution has

    (v - v_free)ᵀ M (v - v̂) <= 0

which is a ball in the metric of kinetic energy, with v_free and v̂ at opposite ends. It bounds all velocities. The
impulses are bounded by linear programs as long as the friction cone is pointed (s00 H5). Where there is no v̂, the
balance of all pairs bounds them (`tighten`, for large problems). Where the cone is not pointed, or where friction acts
along another direction than the row it answers to (sliding contacts of force–acceleration problems), there is no such
bound: impulses are then searched up to a stated `limit`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._check import FloatArray
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Delassus, Dense
from ..problem.laws import BOX, UNILATERAL
from ..problem.polyhedral import PolyhedralLCP

IMPULSE_RANGE = 1e3  # how far impulses without a bound are searched, in units of the problem's own impulse
IMPULSE = ("beta", "normal", "box")  # groups of variables that are impulses; the others are speeds


@dataclass(frozen=True)
class Pairs:
    """n complementary pairs in scaled units, and bounds.

    M (n, n), q (n,); V (nv, n), v0 (nv,): the velocity over `speed`; P (nr, n), p0 (nr,): the impulse in its own unit;
    z_max, w_max (n,) bounds of both sides; v_low, v_high (nv,) bounds of the velocity, over `speed`; speed [m/s] and
    impulse [N·s] are the units; limit: how far impulses were searched [N·s], infinite where the bounds are proved;
    names: as in `PolyhedralLCP`; groups: of each friction set the variables of its directions and, last, its λ, and
    its dimension.
    """

    M: FloatArray
    q: FloatArray
    V: FloatArray
    v0: FloatArray
    P: FloatArray
    p0: FloatArray
    z_max: FloatArray
    w_max: FloatArray
    v_low: FloatArray
    v_high: FloatArray
    speed: float
    impulse: float
    limit: float
    names: tuple[tuple[str, int], ...]
    groups: tuple[tuple[np.ndarray, int], ...]

    def impulses(self, z: FloatArray) -> FloatArray:
        """The impulses (nr,) of a solution z, in N·s."""
        return self.p0 + self.P @ z

    def velocity(self, z: FloatArray) -> FloatArray:
        """The velocity over `speed`, (nv,)."""
        return self.v0 + self.V @ z

    def of(self, group: str) -> np.ndarray:
        """The indices of the variables of a group."""
        return np.array([i for i, (name, _) in enumerate(self.names) if name == group], dtype=np.int64)


class Contradiction(Exception):
    """The joints contradict each other: no motion obeys all of them."""


def with_masses(problem: ContactProblem) -> ContactProblem:
    """The problem on the `Dense` form; a Delassus matrix becomes W = H Hᵀ with unit masses where it is symmetric.

    Where it is not, the relative velocities themselves are taken as the motion.
    """
    if not isinstance(problem.dynamics, Delassus):
        return problem.to_dense()
    W = problem.dynamics.delassus()
    n = len(W)
    if np.abs(W - W.T).max(initial=0.0) <= 1e-10 * np.abs(W).max(initial=0.0):
        value, vector = np.linalg.eigh(0.5 * (W + W.T))
        H = vector * np.sqrt(np.maximum(value, 0.0))
        form, v_free, b = Dense(np.eye(n), H, check=False), np.zeros(n), problem.b
    else:
        form, v_free, b = Dense(np.eye(n), np.eye(n), W.T.copy(), check=False), problem.b, np.zeros(n)
    return problem.replace(dynamics=form, v_free=v_free, b=b)


def units(problem: ContactProblem) -> tuple[float, float]:
    """The problem's own speed [m/s] and impulse [N·s]: what contacts would do, and what it takes to stop it."""
    speed = float(np.abs(problem.q / problem.length).max(initial=0.0))
    speed = max(speed, 1e-6 * float(np.abs(problem.v_free).max(initial=0.0))) or 1.0
    return speed, float(problem.rho.max(initial=0.0)) * speed or 1.0


def pairs_of(problem: ContactProblem, directions: int = 8) -> Pairs:
    """The pairs of a problem; smooth friction sets are replaced by `directions` directions.

    Raises `Contradiction` where the rows of joints cannot all be met.
    """
    problem = with_masses(problem.polyhedral(directions))
    form = problem.to_lcp()
    speed, impulse = units(problem)
    groups = [group in IMPULSE for group, _ in form.names if group != "free"]
    z_unit, w_unit = np.where(groups, impulse, speed), np.where(groups, speed, impulse)
    T, z0 = _eliminate(form)
    keep = ~form.free
    dynamics: Any = problem.dynamics
    M = (form.M[keep] @ T) * z_unit / w_unit[:, None]
    q = (form.M[keep] @ z0 + form.q[keep]) / w_unit
    P = form.P @ T * z_unit
    p0 = form.p0 + form.P @ z0
    V = dynamics.velocity_change(P) / speed
    v0 = (problem.v_free + dynamics.velocity_change(p0)) / speed
    names = tuple(name for name, free in zip(form.names, form.free) if not free)
    low, high, reach = _velocities(problem, speed)
    bare = Pairs(M, q, V, v0, P, p0, np.full(len(q), np.inf), np.full(len(q), np.inf), low, high, speed, impulse,
                 np.inf, names, _groups(form, names))  # fmt: skip
    from .pair_bounds import bounded

    return bounded(bare, problem, reach)


def _eliminate(form: PolyhedralLCP) -> tuple[FloatArray, FloatArray]:
    """T (nz, n) and z0 (nz,) with z = T z_pairs + z0: the impulses of joints as functions of the others."""
    free, n = form.free, len(form.q)
    T, z0 = np.zeros((n, int((~free).sum()))), np.zeros(n)
    T[~free] = np.eye(T.shape[1])
    if free.any():
        F = form.M[np.ix_(free, free)]
        right = np.column_stack([form.M[np.ix_(free, ~free)], form.q[free]])
        answer = -np.linalg.pinv(F, rcond=1e-11) @ right
        rest = np.abs(F @ answer + right).max(axis=0, initial=0.0)
        if (rest > 1e-8 * max(1e-300, float(np.abs(right).max(initial=0.0)))).any():
            raise Contradiction
        T[free], z0[free] = answer[:, :-1], answer[:, -1]
    return T, z0


def _groups(form: PolyhedralLCP, names: tuple[tuple[str, int], ...]) -> tuple[tuple[np.ndarray, int], ...]:
    """Variables of the directions of each friction set, and its dimension: so many of them are enough at once."""
    out = []
    columns = np.flatnonzero(~form.free)
    for j, (group, _) in enumerate(names):
        if group == "lambda":
            betas = np.flatnonzero(form.M[columns[j], columns] == -1.0)
            betas = np.array([i for i in betas if names[i][0] == "beta"], dtype=np.int64)
            dim = np.linalg.matrix_rank(form.P[:, columns[betas]])
            out.append((np.append(betas, j), int(dim)))
    return tuple(out)


def _velocities(problem: ContactProblem, speed: float) -> tuple[FloatArray, FloatArray, Any]:
    """Bounds of each velocity over `speed` from the ball of dissipation, and a function for those of other rows.

    The function takes rows A (k, nv) and gives the largest |A v| over `speed`, (k,); None where there is no ball.
    """
    nv, dynamics = problem.nv, problem.dynamics
    assert isinstance(dynamics, Dense)
    rest = _standing(problem) if dynamics.G is dynamics.H or np.array_equal(dynamics.G, dynamics.H) else None
    if rest is None:
        return np.full(nv, -np.inf), np.full(nv, np.inf), None
    p0 = _offset(problem)
    ends = np.array([problem.v_free + dynamics.velocity_change(p0), rest]) / speed
    centre, half = ends.mean(axis=0), 0.5 * (ends[1] - ends[0])
    radius = float(np.sqrt(max(0.0, half @ dynamics.M @ half))) * (1.0 + 1e-6) + 1e-6 * float(
        np.sqrt(dynamics.M.diagonal().max(initial=0.0))
    )
    Minv = np.linalg.inv(dynamics.M)

    def reach(A: FloatArray) -> tuple[FloatArray, FloatArray]:
        width = radius * np.sqrt(np.einsum("ki,ij,kj->k", A, Minv, A))
        return A @ centre - width, A @ centre + width

    low, high = reach(np.eye(nv))
    return low, high, reach


def _offset(problem: ContactProblem) -> FloatArray:
    """Where boxes start: their lower bound, so that the rest of their impulse dissipates."""
    from ..problem.polyhedral import _box_offset

    return _box_offset(problem) if (problem.law == BOX).any() else np.zeros(problem.nr)


def _standing(problem: ContactProblem) -> FloatArray | None:
    """The motion nearest to v_free in which no contact slips and none approaches; None where there is none."""
    law = np.repeat(problem.law, np.diff(problem.row_ptr))
    normal = np.zeros(problem.nr, dtype=bool)
    normal[problem.row_ptr[:-1][problem.law == UNILATERAL]] = True
    block = np.repeat(np.arange(problem.nk), np.diff(problem.row_ptr))
    rubs = (problem.friction.mu > 0) | (problem.r0 > 0)
    holds = ~normal & ((law != UNILATERAL) | rubs[block])
    dynamics: Any = problem.dynamics
    L = np.linalg.cholesky(dynamics.M)
    H = np.linalg.solve(L, dynamics.H.T).T  # rows against y = Lᵀ (v - v_free)
    y = nearest(H[holds], -problem.q[holds], H[normal], -problem.q[normal])
    return None if y is None else problem.v_free + np.linalg.solve(L.T, y)


def nearest(E: FloatArray, e: FloatArray, A: FloatArray, a: FloatArray) -> FloatArray | None:
    """The shortest y with E y = e and A y >= a; None where there is none."""
    n = E.shape[1]
    basis = np.eye(n)
    y0 = np.zeros(n)
    scale = float(max(np.abs(e).max(initial=0.0), np.abs(a).max(initial=0.0))) or 1.0
    if len(E):
        U, sigma, Vt = np.linalg.svd(E)
        k = int((sigma > 1e-10 * sigma.max(initial=0.0)).sum())
        y0 = Vt[:k].T @ ((U[:, :k].T @ e) / sigma[:k])
        basis = Vt[k:].T
        if np.abs(E @ y0 - e).max() > 1e-9 * scale:
            return None
    if not len(A) or (A @ y0 - a).min() >= 0.0:
        return y0
    if basis.shape[1] == 0:
        return y0 if (A @ y0 - a).min() >= -1e-9 * scale else None
    # The dual of the least distance is a nonnegative least-squares problem (Lawson and Hanson, chapter 23).
    from scipy.optimize import nnls

    B, c = A @ basis, (a - A @ y0) / scale
    x, rest = nnls(np.vstack([B.T, c]), np.append(np.zeros(basis.shape[1]), 1.0), maxiter=100 * (len(A) + n))
    if rest < 1e-9:
        return None
    r = np.vstack([B.T, c]) @ x
    r[-1] -= 1.0
    return np.asarray(y0 - scale * basis @ (r[:-1] / r[-1]), dtype=np.float64)
