"""Whether a trajectory solves the measure differential inclusion of rigid bodies with friction, in the weak sense.

Contact forces are a measure ν = M dv - k dt. The inclusion asks that, for every continuous φ >= 0 that is not zero
everywhere (s00 eq. 4.1),

    ∫φ dν / ∫φ dt  ∈  closed convex hull of the union of FC(q(τ)) over all τ with φ(τ) ≠ 0,

where FC(q) is the sum of the friction cones of the contacts that are closed at q, and {0} where none is. Sums of cones
are cones, so that the hull is the sum of all cones over the support, and ∫φ dt does not matter. The measure is taken
from q and v alone and the cones from q alone: what a scheme or a solver says of its impulses is not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from .. import _check
from .._arguments import checks_arguments
from .._check import FloatArray, IntArray
from ..errors import ModelError
from ..friction.sets import NONE, POLYHEDRON, PackedSet
from ..problem.laws import EQUALITY, UNILATERAL
from ..simulation.trajectory import Trajectory
from ..systems.base import State, System
from ..systems.model.kernels.mechanism import HOLD
from .instant import built

OUTSIDE_TOL, SEARCH_ROUNDS_MAX = (
    1e-10,
    300,
)  # directions this far outside, relative, count as inside; rounds of a search at most


@dataclass(frozen=True)
class Inclusion:
    """How far a trajectory is from the inclusion, for each test function φ(t) = max(0, 1 - |t - centre|/width).

    distance (n,): the part of the forces that no forces of the closed contacts make, ‖∫φ dν - z‖ for the nearest z
    of the hull, over ∫φ (d|ν| + |k| dt), all sizes by the kinetic energy that impulses give; 0 for a solution, and
    O(h) for a run that converges to one. times (n, 2): centre and width [s] of each function.
    """

    times: FloatArray
    distance: FloatArray

    @property
    def worst(self) -> float:
        """The largest distance."""
        return float(self.distance.max(initial=0.0))

    def by_width(self) -> dict[float, float]:
        """The largest distance of each width [s], wide ones first."""
        widths = np.unique(self.times[:, 1])[::-1]
        return {float(w): float(self.distance[self.times[:, 1] == w].max()) for w in widths}

    def __str__(self) -> str:
        if not len(self.distance):
            return "no step was tested"
        centre, width = self.times[int(self.distance.argmax())]
        return (
            f"of {len(self.distance)} test functions the worst leaves {self.worst:.2e} of the forces outside the "
            f"friction cones, within {width:.4g} s of t = {centre:.4g} s"
        )


@checks_arguments
def inclusion(system: Any, run: Trajectory, *, levels: int = 6) -> Inclusion:
    """Test the weak measure differential inclusion on a run of `system` of which every step is recorded.

    levels: the test functions are hats of the widths T, T/2, ... T/2^levels on the run's duration T, side by side. A
    contact is closed in a step where its gap, at either end of it, is no more than its velocities and the forces make
    in a step. Contacts, with any friction set, and joints; forces of other laws (motors, limits, springs of a
    mechanism, friction without a contact) are refused. The law of maximal dissipation is no part of the inclusion.
    """
    system = built(system)
    levels = _check.count("levels", levels)
    if run.q.shape[1] != system.nq or run.v.shape[1] != system.nv:
        raise ModelError(f"the run has {run.q.shape[1]} coordinates and the system {system.nq}: they do not belong.")
    if len(run.times) < 2:
        raise ModelError("the run has no step.")
    if run.steps != len(run.times) - 1:
        raise ModelError(f"inclusion needs every step recorded; the run has {len(run.times) - 1} of {run.steps}.")
    found = _Measure(system, run)
    start, span = float(run.times[0]), float(run.times[-1] - run.times[0])
    times, distance = [], []
    for level in range(levels + 1):
        width = span / 2**level
        for centre in start + width * np.arange(2**level + 1):
            weight = np.maximum(0.0, 1.0 - np.abs(run.times[1:] - centre) / width)
            if weight.any():
                times.append((centre, width))
                distance.append(found.distance(weight))
    return Inclusion(np.array(times), np.array(distance))


class _Measure:
    """The measure and the cones of every step of a run, in coordinates in which sizes are kinetic energies."""

    def __init__(self, system: System, run: Trajectory):
        self.system = system
        self.cones = _Cones()
        self.of_step: list[IntArray] = []
        self.basis: FloatArray | None = None  # L⁻¹ of M = LLᵀ at the start
        measure, size = [], []
        states = [State(float(t), q, v) for t, q, v in zip(run.times, run.q, run.v)]
        for old, new in pairwise(states):
            nu, load = self._step(old, new)
            measure.append(nu)
            size.append(float(np.linalg.norm(nu)) + load)
        self.measure, self.size = np.array(measure), np.array(size)

    def distance(self, weight: FloatArray) -> float:
        """How far ∫φ dν is from the cones of the steps where φ is not zero, over the size of what acts there."""
        scale = float(weight @ self.size)
        if scale == 0.0:
            return 0.0
        used = [self.of_step[i] for i in np.flatnonzero(weight)]
        chosen = np.unique(np.concatenate(used)).astype(np.int64)
        return float(np.linalg.norm(self.cones.residual(weight @ self.measure / scale, chosen)))

    def _step(self, old: State, new: State) -> tuple[FloatArray, float]:
        """ν of a step, and the size of what forces do in it; its closed contacts become cones."""
        system, h = self.system, new.t - old.t
        found = system.detect(old.t, old.q, 4.0 * h * system.speed_bound(old, h))
        rows = system.evaluate(found, old.t, old.q)
        self._refuse(found, rows)
        form: Any = system.dynamics(old.q, rows)
        dense, lift, _ = form.dense()
        if self.basis is None:
            self.basis = np.linalg.inv(np.linalg.cholesky(dense.M))
        free = system.push(form, old, h, old.t, old.q)
        pull = free - old.v
        ends = [(old, rows, form, dense)]
        later = system.evaluate(found, new.t, new.q)
        other: Any = system.dynamics(new.q, later)
        ends.append((new, later, other, other.dense()[0]))
        q, v = system.move(old.q, free, h)
        if system.mass_place(old.q, new.q) is old.q:  # `move` keeps momenta, not velocities
            flown: Any = system.dynamics(q, rows)
            nu = ends[1][3].M @ lift(new.v) - flown.dense()[0].M @ lift(v)
        else:
            nu = dense.M @ lift(new.v - v)
        nu = self.basis @ nu
        normal = found.row_ptr[:-1]
        gaps = [one.value[normal] for _, one, _, _ in ends]
        slips = [one.velocity_rows(state.v) for state, _, one, _ in ends]
        reach = h * np.abs(form.velocity_rows(pull)) + h * (np.abs(slips[0]) + np.abs(slips[1]))
        reach += np.abs(later.value - rows.value)  # what moving obstacles do
        mine = []
        for k, law in enumerate(found.law.tolist()):
            block = slice(int(found.row_ptr[k]), int(found.row_ptr[k + 1]))
            if law == UNILATERAL and min(gap[k] for gap in gaps) > np.linalg.norm(reach[block]):
                continue
            for u, (_, _, _, at) in zip(slips, ends):
                H = at.H[block] @ self.basis.T
                if law == EQUALITY:
                    mine += [self.cones.add(sign * row[None]) for row in H for sign in (1.0, -1.0)]
                    continue
                table = found.friction
                mu = float(table.mu_at(table.speeds(u, found.row_ptr))[k])
                dim = block.stop - block.start - 1
                packed = table.sets[table.set_of[k]].packed(dim) if dim and mu > 0.0 else None
                mine.append(self.cones.add(H if packed is not None else H[:1], mu, packed))
        self.of_step.append(np.array(mine, dtype=np.int64))
        return nu, float(np.linalg.norm(self.basis @ (dense.M @ lift(pull))))

    def _refuse(self, found: Any, rows: Any) -> None:
        mechanism = rows.mechanism
        other = ~np.isin(found.law, (EQUALITY, UNILATERAL)) | found.limit
        if mechanism is not None and mechanism.n:
            other[: mechanism.n] |= np.array([int(block.mode) != HOLD for block in mechanism.blocks])
        if other.any():
            name = self.system.constraint_name(int(found.key[other][0]))
            raise ModelError(f"inclusion is about contacts and joints; {name!r} has forces of another law.")


class _Cones:
    """Cones {nᵀp_n + Tᵀp_t : p_t ∈ mu p_n F}, each kept once, and projection onto the sum of some of them."""

    def __init__(self) -> None:
        self._number: dict[bytes, int] = {}
        self._rows: list[FloatArray] = []
        self._mu: list[float] = []
        self._set: list[tuple[bytes, PackedSet | None]] = []

    def add(self, rows: FloatArray, mu: float = 0.0, packed: PackedSet | None = None) -> int:
        """The number of a cone; of one that is there already, its old number."""
        of = b"" if packed is None else bytes([packed.kind]) + packed.semi.tobytes() + packed.vertices.tobytes()
        name = rows.tobytes() + np.float64(mu).tobytes() + of
        if name not in self._number:
            self._number[name] = len(self._rows)
            self._rows.append(rows)
            self._mu.append(mu)
            self._set.append((of, packed))
        return self._number[name]

    def residual(self, b: FloatArray, chosen: IntArray) -> FloatArray:
        """b less its projection onto the sum of the chosen cones.

        The projection onto a cone is found from finitely many of its directions: where one points along what is left,
        it joins them, and all are weighed anew (non-negative least squares), until none does.
        """
        from scipy.optimize import nnls

        groups = self._grouped(chosen)
        kept = np.zeros((0, len(b)))
        left = b
        for _ in range(SEARCH_ROUNDS_MAX):
            size = float(np.linalg.norm(left))
            if size <= OUTSIDE_TOL:
                break
            more = [best for best in (_outermost(left, *group) for group in groups) if best is not None]
            more = [z for z in more if z @ left > OUTSIDE_TOL * size]
            if not more:
                break
            kept = np.vstack([kept, *more])
            weights, _ = nnls(kept.T, b)
            after = b - weights @ kept
            kept = kept[weights > 0.0]
            if np.linalg.norm(after) >= size * (1.0 - 1e-12):
                break  # round-off
            left = after
        return left

    def _grouped(self, chosen: IntArray) -> list[tuple[FloatArray, FloatArray, PackedSet | None]]:
        """Cones with the same friction set: rows (m, 1 + dim, nv), coefficients (m,), and the set."""
        parts: dict[tuple[int, bytes], list[int]] = {}
        for i in chosen.tolist():
            parts.setdefault((len(self._rows[i]), self._set[i][0]), []).append(i)
        return [
            (np.array([self._rows[i] for i in part]), np.array([self._mu[i] for i in part]), self._set[part[0]][1])
            for part in parts.values()
        ]


def _outermost(left: FloatArray, rows: FloatArray, mu: FloatArray, packed: PackedSet | None) -> FloatArray | None:
    """The unit direction of these cones that points furthest along `left`, by its most dissipative friction."""
    along = rows @ left  # (m, 1 + dim)
    z = rows[:, 0]
    if packed is not None:
        z = z + mu[:, None] * np.einsum("md,mdn->mn", _support_points(packed, along[:, 1:]), rows[:, 1:])
    size = np.linalg.norm(z, axis=1)
    good = size > 0.0
    if not good.any():
        return None
    score = np.where(good, z @ left / np.where(good, size, 1.0), -np.inf)
    best = int(score.argmax())
    return np.asarray(z[best] / size[best])


def _support_points(packed: PackedSet, u: FloatArray) -> FloatArray:
    """(m, dim) the points of the unit set with the largest u·f, for each row of u (as `FrictionSet.support_point`)."""
    if packed.kind == NONE:
        return np.zeros_like(u)
    if packed.kind == POLYHEDRON:
        work = u @ packed.vertices.T
        return np.where(work.max(axis=1, keepdims=True) > 0.0, packed.vertices[work.argmax(axis=1)], 0.0)
    f = np.zeros_like(u)
    for rows in _factors(packed.kind, u.shape[1]):
        scaled = packed.semi[rows] * u[:, rows]
        size = np.linalg.norm(scaled, axis=1, keepdims=True)
        f[:, rows] = np.where(size > 0.0, packed.semi[rows] * scaled / np.where(size > 0.0, size, 1.0), 0.0)
    return f


def _factors(kind: int, dim: int) -> Sequence[slice]:
    starts = [k for k in range(dim) if k == 0 or kind >> (2 + k) & 1]
    return [slice(first, last) for first, last in zip(starts, [*starts[1:], dim])]
