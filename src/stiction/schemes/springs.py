"""The springs of elastic contacts in a step: what their rows demand, and what is remembered of them after it.

The law, its discrete form and the transport of what is remembered are in `systems/elastic.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._check import FloatArray, IntArray
from ..friction.sets import TANGENT_1, TANGENT_2
from ..problem.contact_problem import ContactProblem
from ..problem.laws import Mode
from ..solvers.base import Solution
from ..systems.base import Constraints, State
from ..systems.elastic import MEMORY, NEAR_RIGID
from .base import StepCertificate


@dataclass(frozen=True)
class Springs:
    """The springs of the elastic contacts of a step, n of them in nk blocks of nr rows.

    block (n,); normal (n,) and tangents (n, 2): their rows, -1 where there is no such tangent; across (n, 3): the
    normals, and along (n, 2, 3): the tangents, zero where there are none; xi (n, 3): the displacement at the start
    [m]; Cn, Ct (n,): compliance of the rows; share (n,): h kn/(h kn + c); softened (n,): whether the step and not the
    law has set the stiffness.
    """

    h: float
    block: IntArray
    normal: IntArray
    tangents: IntArray
    across: FloatArray
    along: FloatArray
    xi: FloatArray
    Cn: FloatArray
    Ct: FloatArray
    share: FloatArray
    softened: np.ndarray

    @classmethod
    def of(cls, found: Constraints, dynamics: Any, state: State, h: float) -> Springs | None:
        """The springs of the constraints `found` at the start of a step; None where no contact is elastic."""
        if found.elastic is None:
            return None
        candidates, law = found.candidates, found.elastic
        block = np.flatnonzero(np.isfinite(law[:, 0]))
        first = candidates.row_ptr[block]
        codes = candidates.codes[block]
        tangents = np.full((len(block), 2), -1, dtype=np.int64)
        for column, code in enumerate((TANGENT_1, TANGENT_2)):
            here, at = np.nonzero(codes == code)
            tangents[here, column] = first[here] + 1 + at
        J, dim = found.rows.Ja, 2 if found.rows.Ja.shape[1] == 3 else 3
        across, along = np.zeros((len(block), 3)), np.zeros((len(block), 2, 3))
        across[:, :dim] = J[first, :dim]
        along[..., :dim] = np.where(tangents[..., None] >= 0, J[tangents, :dim], 0.0)
        W = dynamics.delassus_diagonal(candidates.row_ptr)
        Wt = np.where(tangents >= 0, W[tangents], 0.0).max(axis=1)
        kn, kt, damping = law[block].T
        Cn, Ct = 1.0 / (h * (h * kn + damping)), 1.0 / (h * h * kt)
        softened = (W[first] > NEAR_RIGID * Cn) | (Wt > NEAR_RIGID * Ct)
        Cn, Ct = np.maximum(Cn, W[first] / NEAR_RIGID), np.maximum(Ct, Wt / NEAR_RIGID)
        xi = _recalled(state, candidates.key[block], across, 1.0 / (h * h * Ct))
        return cls(h, block, first, tangents, across, along, xi, Cn, Ct, h * kn / (h * kn + damping), softened)

    def put(self, demand: dict[str, Any], value: FloatArray) -> None:
        """Put the springs into b and C (nr,) of the `demand` of a step; value (nr,): the gaps at its start [m]."""
        b, C = demand["b"], demand.setdefault("C", np.zeros(len(value)))
        start = value[self.normal] / self.h
        b[self.normal] = start * np.where(start > 0.0, 1.0, self.share)
        C[self.normal] = self.Cn
        for column in range(2):
            rows = self.tangents[:, column]
            has = rows >= 0
            b[rows[has]] = np.einsum("ki,ki->k", self.along[has, column], self.xi[has]) / self.h
            C[rows[has]] = self.Ct[has]

    def after(self, p: FloatArray, u: FloatArray, modes: IntArray) -> FloatArray:
        """(n, 3) the displacement at the end of the step [m].

        p, u = H v + b + C p (nr,) and modes (nk,): of the solution. What sticks has moved by h H v: its force follows
        from where it is, so that errors of a solve are corrected by the next. What slips has the displacement that its
        force needs, and what is open has none.
        """
        stick, slip = modes[self.block] == Mode.STICK, modes[self.block] == Mode.SLIP
        xi = np.zeros_like(self.xi)
        for column in range(2):
            rows = self.tangents[:, column]
            elastic = -self.h * self.Ct * p[rows]
            moved = np.where(stick, elastic + self.h * u[rows], np.where(slip, elastic, 0.0))
            xi += np.where(rows >= 0, moved, 0.0)[:, None] * self.along[:, column]
        return xi

    def energy(self, gap: FloatArray, xi: FloatArray) -> float:
        """½ kn δ² + ½ kt |ξ|² [J] of the contacts that are closed, with the stiffness of the step; gap (n,) [m]."""
        kn, kt = self.share / (self.h * self.h * self.Cn), 1.0 / (self.h * self.h * self.Ct)
        normal = kn * np.minimum(gap, 0.0) ** 2
        return 0.5 * float(np.sum(normal + kt * np.einsum("ki,ki->k", xi, xi)))

    def remembered(
        self, system: Any, problem: ContactProblem, solution: Solution, q0: FloatArray, q1: FloatArray
    ) -> FloatArray:
        """(nk, 7) what the contacts remember of a step from q0 to q1, turned with the bodies."""
        xi = self.after(solution.p, solution.u, solution.modes)
        kept = np.zeros((problem.nk, MEMORY))
        if len(xi):
            form: Any = problem.dynamics
            pairs = form.body_a[self.block], form.body_b[self.block]
            turns = mean_rotation(system.bodies(q0), system.bodies(q1), *pairs)
            kept[self.block, :3], kept[self.block, 3:6] = _turned(turns, xi), _turned(turns, self.across)
            kept[self.block, 6] = 1.0 / (self.h * self.h * self.Ct)
        return kept

    def booked(
        self,
        certificate: StepCertificate,
        old: State,
        problem: ContactProblem,
        solution: Solution,
        gap: FloatArray,
        memory: FloatArray,
    ) -> StepCertificate:
        """The certificate with the springs in its books: what slip takes is friction, the rest of their work theirs.

        old: the state before the step; gap (nk,) at its end [m], memory (nk, 7): what `remembered` says.
        """
        dynamics: Any = problem.dynamics
        rows = self.tangents[self.tangents >= 0]
        mean = np.where(dynamics.prescribed, solution.v, 0.5 * (old.v + solution.v))
        work = float(np.sum(solution.p[rows] * dynamics.velocity_rows(mean)[rows]))
        lost = min(0.0, float(np.sum(solution.p[rows] * solution.u[rows])))
        energy = certificate.energy
        energy = replace(energy, friction=energy.friction + lost - work, springs=energy.springs + work - lost)
        stored = self.energy(gap[self.block], memory[self.block, :3])
        return replace(certificate, energy=energy, elastic_energy=stored, softened=int(self.softened.sum()))


def mean_rotation(q0: FloatArray, q1: FloatArray, body_a: IntArray, body_b: IntArray) -> FloatArray:
    """(n, 4) quaternions halfway between the rotations of two bodies from q0 to q1 (nb, 3|7)."""
    turn = np.zeros((len(q0), 4))
    if q0.shape[1] == 3:
        half = 0.5 * (q1[:, 2] - q0[:, 2])
        turn[:, 0], turn[:, 3] = np.cos(half), np.sin(half)
    else:
        turn = _times(q1[:, 3:], q0[:, 3:] * np.array([1.0, -1.0, -1.0, -1.0]))
    a, b = turn[body_a], turn[body_b]
    mean = a + np.where(np.einsum("ki,ki->k", a, b) < 0.0, -1.0, 1.0)[:, None] * b
    return np.asarray(mean / np.sqrt(np.einsum("ki,ki->k", mean, mean))[:, None])


def _times(a: FloatArray, b: FloatArray) -> FloatArray:
    """(n, 4) products of quaternions."""
    w = a[:, 0] * b[:, 0] - np.einsum("ki,ki->k", a[:, 1:], b[:, 1:])
    x = a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:] + np.cross(a[:, 1:], b[:, 1:])
    return np.concatenate([w[:, None], x], axis=1)


def _turned(turns: FloatArray, x: FloatArray) -> FloatArray:
    """(n, 3) vectors x turned by quaternions (n, 4)."""
    across = 2.0 * np.cross(turns[:, 1:], x)
    return np.asarray(x + turns[:, :1] * across + np.cross(turns[:, 1:], across))


def _recalled(state: State, keys: IntArray, normal: FloatArray, kt: FloatArray) -> FloatArray:
    """(n, 3) the displacements that contacts `keys` (sorted) remember, turned to their normals (n, 3).

    Where the stiffness is larger than it was, the displacement is smaller, so that a force stays what it was and no
    energy comes from nowhere.
    """
    xi = np.zeros((len(keys), 3))
    if not len(state.springs):
        return xi
    known, at = state.find(keys)
    old, then, new = state.springs[at, :3], state.springs[at, 3:6], normal[known]
    along, across = np.einsum("ki,ki->k", then, new), np.cross(then, new)
    fine = along > -0.5  # beyond that it is another contact
    scale = np.where(fine, 1.0, 0.0) / np.where(fine, 1.0 + along, 1.0)
    turned = old * np.where(fine, along, 0.0)[:, None] + np.cross(across, old)
    turned += across * (scale * np.einsum("ki,ki->k", across, old))[:, None]
    turned -= new * np.einsum("ki,ki->k", new, turned)[:, None]
    xi[known] = turned * np.minimum(1.0, state.springs[at, 6] / kt[known])[:, None]
    return xi
