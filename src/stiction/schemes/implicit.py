"""The equations of a fully implicit step: everything is taken at the new configuration (ttp01 §4, backward Euler).

The unknowns are the velocity v⁺ and the impulses p, with q⁺ = q ⊕ h v⁺ and t⁺ = t + h:

    M(q⁺) (v⁺ - v) = h k(t⁺, q⁺, v⁺) + H(q⁺)ᵀ p        gap(q⁺)/h ⟂ p_n        friction by H_t(q⁺) v⁺

joints hold at q⁺ itself. At any guess of v⁺ the same rows make a `ContactProblem` that is linear in the impulses, whose
`b` puts the true gap in place of the linearised one; at the answer it is the certificate of the step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._check import FloatArray, IntArray
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Bodies, Delassus, Dense
from ..solvers.newton.equations import block_inertias
from ..solvers.newton.response import make_scaled
from ..systems.base import Candidates, Constraints, State, System
from ..systems.sizes import arms, extent

# Of velocities, relative to the largest of them and that which moves a body by so much of its size in the step.
DIFFERENCE_SHARE, SPEED_SHARE = 1e-6, 0.05
DENSE_MAX_UNKNOWNS = 300  # unknowns up to which a dense factorisation is used


@dataclass(frozen=True)
class Point:
    """A guess (v, p) with what the system says at q ⊕ h v.

    force (nv,): h k; found, dynamics: the constraints and the mass at q; demand: what the rows demand, so that
    u = H v + b + C p is gap/h in the normal rows.
    """

    step: ImplicitStep
    v: FloatArray
    p: FloatArray
    q: FloatArray
    force: FloatArray
    found: Constraints
    dynamics: Dense | Bodies
    demand: dict[str, Any]

    @cached_property
    def problem(self) -> ContactProblem:
        """The contact problem with the rows, masses and forces of this point."""
        step, candidates = self.step, self.step.candidates
        v_free = np.where(step.prescribed, step.given, step.state.v + self.dynamics.minv(self.force))
        return ContactProblem(
            self.dynamics,
            v_free=v_free,
            **self.demand,
            row_ptr=candidates.row_ptr,
            law=candidates.law,
            friction=candidates.friction,
            r0=step.h * self.found.bound,
            length=self.found.length,
            key=candidates.key,
            p_warm=self.p,
            v_start=step.state.v,
        )

    @cached_property
    def u(self) -> FloatArray:
        """H v + b + C p: gap/h in the normal rows, slip in those of friction."""
        u = self.dynamics.velocity_rows(self.v) + self.demand["b"]
        return u + self.demand["C"] * self.p if "C" in self.demand else u

    @cached_property
    def own(self) -> FloatArray:
        """(nv,) M (v - v_start) - h k."""
        return self.dynamics.mass(self.v - self.step.state.v) - self.force

    @cached_property
    def balance(self) -> FloatArray:
        """(nv,) the impulse that is missing in the equations of motion; 0 for prescribed velocities."""
        return np.where(self.step.prescribed, 0.0, self.own - self.dynamics.impulse(self.p))

    @cached_property
    def drift(self) -> FloatArray:
        """(nv,) the same as a velocity."""
        return self.dynamics.minv(self.balance)


class ImplicitStep:
    """The equations of a step of length h from `state`, with every candidate in them.

    push: False leaves contacts that overlap at the start as they are, and demands only that they get no worse. Pushing
    an overlap out against strong friction can have no solution; standing still then has none of the other's trouble.
    """

    def __init__(self, system: System, state: State, h: float, candidates: Candidates, push: bool = True):
        self.system, self.state, self.h, self.candidates = system, state, h, candidates
        self.t = state.t + h
        found = system.evaluate(candidates, self.t, state.q)
        dynamics = system.dynamics(state.q, found)
        assert not isinstance(dynamics, Delassus)
        self.prescribed = dynamics.prescribed
        self.moving = np.flatnonzero(~self.prescribed)
        self.given = system.push(dynamics, state, h, self.t, state.q)  # velocities of prescribed bodies
        self.warm = state.warm(candidates.key, candidates.row_ptr)
        self.allowed = np.zeros(len(found.value))
        if not push:
            normal = candidates.row_ptr[:-1][candidates.contact]
            self.allowed[normal] = np.minimum(found.value[normal], 0.0)
        sizes = np.diff(candidates.row_ptr)
        count = np.repeat(sizes, sizes)
        self.block_row = np.repeat(np.arange(len(count)), count)
        self.block_column = np.arange(len(self.block_row)) - np.repeat(np.cumsum(count) - count, count)
        self.block_at = self.block_column + np.repeat(np.repeat(candidates.row_ptr[:-1], sizes), count)

    def start(self) -> FloatArray:
        """A first guess: the velocity stays as it is, and prescribed bodies have theirs."""
        return np.where(self.prescribed, self.given, self.state.v)

    def at(self, v: FloatArray, p: FloatArray) -> Point:
        """Everything at q ⊕ h v."""
        system, state, h, candidates = self.system, self.state, self.h, self.candidates
        q = system.retract(state.q, h * v)
        found = system.evaluate(candidates, self.t, q)
        dynamics = system.dynamics(q, found)
        assert not isinstance(dynamics, Delassus)
        start = (found.value - self.allowed) / h - dynamics.velocity_rows(v)  # so that u is the true gap/h
        demand = found.demand(dynamics, state, h, start)
        return Point(self, v, p, q, h * system.forces(self.t, q, v), found, dynamics, demand)

    # --- derivatives

    def derivatives(self, at: Point) -> tuple[Any, Any]:
        """∂(M (v - v_start) - h k - Hᵀp)/∂v (nv, nv) and ∂u/∂v (nr, nv), by differences; p stays.

        Rows of worlds lie between two bodies: bodies that share no row are moved at once.
        """
        arm = arms(self.system)
        step = (
            DIFFERENCE_SHARE
            * (SPEED_SHARE * extent(self.system) / self.h + float(np.abs(arm * at.v).max(initial=0.0)))
            / arm
        )
        if isinstance(at.dynamics, Bodies):
            return self._between_bodies(at, step)
        K, U = np.zeros((len(at.v), len(at.v))), np.zeros((len(at.p), len(at.v)))
        for i in range(len(at.v)):
            v = at.v.copy()
            v[i] += step[i]
            shifted = self.at(v, at.p)
            K[:, i], U[:, i] = (shifted.balance - at.balance) / step[i], (shifted.u - at.u) / step[i]
        return K, U

    @cached_property
    def colours(self) -> IntArray:
        """(nbody,) a number for each body that moves, such that no row lies between two of the same; -1 for others."""
        found = self.system.evaluate(self.candidates, self.t, self.state.q)
        body_a, body_b = found.rows.body_a, found.rows.body_b
        nbody = len(self.prescribed) // found.rows.Ja.shape[1]
        moves = np.asarray(~self.prescribed.reshape(nbody, -1).all(axis=1), dtype=bool)
        pair = (body_a >= 0) & (body_b >= 0) & (body_a != body_b)
        a, b = np.concatenate([body_a[pair], body_b[pair]]), np.concatenate([body_b[pair], body_a[pair]])
        keep = moves[a] & moves[b]
        order = np.argsort(a[keep], kind="stable")
        a, b = a[keep][order], b[keep][order]
        first = np.searchsorted(a, np.arange(nbody + 1))
        colour = np.full(nbody, -1, dtype=np.int64)
        for i in np.flatnonzero(moves).tolist():
            taken = set(colour[b[first[i] : first[i + 1]]].tolist())
            colour[i] = next(c for c in range(nbody + 1) if c not in taken)
        return colour

    def _between_bodies(self, at: Point, steps: FloatArray) -> tuple[Any, Any]:
        from scipy.sparse import coo_matrix

        form = at.dynamics
        assert isinstance(form, Bodies)
        nr, nv, d = form.nr, form.nv, form.Minv.shape[1]
        counts = np.diff(form.row_ptr)
        ends = [np.repeat(body, counts) for body in (form.body_a, form.body_b)]
        pushed = [J * at.p[:, None] for J in (form.Ja, form.Jb)]
        own = at.own.reshape(-1, d)
        K: list[tuple[FloatArray, IntArray, IntArray]] = []
        U: list[tuple[FloatArray, IntArray, IntArray]] = []
        axes = np.arange(d)
        for colour in range(int(self.colours.max(initial=-1)) + 1):
            of_colour = self.colours == colour
            bodies = np.flatnonzero(of_colour)
            # the body of this colour in each row, if there is one
            moved = np.where(of_colour[ends[0]] & (ends[0] >= 0), ends[0], ends[1])
            rows = np.flatnonzero((moved >= 0) & of_colour[moved])
            for k in range(d):
                v, step = at.v.copy(), float(steps[k])  # alike for all bodies
                v[bodies * d + k] += step
                shifted = self.at(v, at.p)
                new = shifted.dynamics
                assert isinstance(new, Bodies)
                column = moved[rows] * d + k
                U.append(((shifted.u - at.u)[rows] / step, rows, column))
                change = (shifted.own.reshape(-1, d) - own)[bodies] / step
                K.append((change.ravel(), (bodies[:, None] * d + axes).ravel(), np.repeat(bodies * d + k, d)))
                for end, J, before in zip(ends, (new.Ja, new.Jb), pushed):
                    hit = rows[end[rows] >= 0]
                    push = (before[hit] - J[hit] * at.p[hit, None]) / step
                    into = (end[hit, None] * d + axes).ravel()
                    K.append((push.ravel(), into, np.repeat(moved[hit] * d + k, d)))
        return tuple(
            coo_matrix(
                (
                    np.concatenate([e[0] for e in entries] or [np.zeros(0)]),
                    tuple(np.concatenate([e[i] for e in entries] or [np.zeros(0, dtype=np.int64)]) for i in (1, 2)),
                ),
                shape=shape,
            ).tocsr()
            for entries, shape in ((K, (nv, nv)), (U, (nr, nv)))
        )


class Laws:
    """The laws of a point as equations `p = answer(p - ρ u)` in scaled rows, with Newton's step on them.

    As in `solvers/newton/equations.py` (Alart, Curnier), with velocities among the unknowns.
    """

    def __init__(self, step: ImplicitStep, at: Point):
        self.step, self.at = step, at
        problem = at.problem
        self.laws = make_scaled(problem)
        unit = self.unit = self.laws.unit
        diagonal = (problem.dynamics.delassus_diagonal(problem.row_ptr) + problem.C) * unit**2
        self.rho = np.repeat(block_inertias(diagonal, problem.row_ptr), np.diff(problem.row_ptr))
        self.D = np.empty((problem.nr, 6))
        answer = np.empty(problem.nr)
        x = np.where(unit > 0.0, at.p / np.where(unit > 0.0, unit, 1.0), 0.0)
        self._trial = x - self.rho * unit * at.u
        self.falling = np.zeros((0, 0))
        if len(problem.friction.varying):
            self._take_speed_laws()
        self.laws.respond(self._trial, answer, self.D)
        self.f = x - answer

    def _take_speed_laws(self) -> None:
        """Coefficients at the slip speeds of this point, and `falling` (nr, nr): d(answer)/du through them."""
        problem, u = self.at.problem, self.at.u
        table, ptr, k = problem.friction, problem.row_ptr, problem.friction.varying
        speeds = table.speeds(u, ptr)
        mu = table.mu_at(speeds)
        answers = [np.empty(problem.nr), np.empty(problem.nr)]
        for change, answer in zip((0.0, DIFFERENCE_SHARE), answers):
            self.laws = self.laws._replace(mu=mu + change)
            self.laws.respond(self._trial, answer, self.D)
        self.laws = self.laws._replace(mu=mu)
        rise = (answers[1] - answers[0]) / DIFFERENCE_SHARE
        self.falling = np.zeros((problem.nr, problem.nr))
        for block, slope in zip(k.tolist(), table.mu_slope(speeds)[k].tolist()):
            s = table.set_of[block]
            first = int(ptr[block + 1] - table.dims[s])
            slip = slice(first, first + table.sets[s].slip_rows(int(table.dims[s])))
            if speeds[block] > 0.0:
                here = slice(int(ptr[block]), int(ptr[block + 1]))
                self.falling[here, slip] = slope * np.outer(rise[here], u[slip] / speeds[block])

    @property
    def size(self) -> float:
        """How far the equations are missed, as a velocity."""
        drift = arms(self.step.system) * self.at.drift
        return float(np.sqrt((drift**2).sum() + ((self.f / self.rho) ** 2).sum()))

    def newton(self, slack: float) -> tuple[FloatArray, FloatArray]:
        """Newton's step (dv, dp); `slack` regularises sticking rows, where contacts are hyperstatic."""
        step, at, moving, unit = self.step, self.at, self.step.moving, self.unit
        form, n = at.dynamics, len(self.step.moving)
        K, U = step.derivatives(at)
        rows = form.matrix if isinstance(form, Bodies) else form.H
        left = self.rho * unit
        soft = self.rho * unit**2 * at.problem.C - (1.0 - slack)
        f, g = -at.balance[moving], -self.f
        if n + len(g) <= DENSE_MAX_UNKNOWNS:
            K, U, rows = (m if isinstance(m, np.ndarray) else m.toarray() for m in (K, U, rows))
            D = np.zeros((len(g), len(g)))
            D[step.block_row, step.block_at] = self.D[step.block_row, step.block_column]
            A = np.empty((n + len(g), n + len(g)))
            A[:n, :n], A[:n, n:] = K[np.ix_(moving, moving)], -(unit[:, None] * rows[:, moving]).T
            A[n:, :n], A[n:, n:] = D @ (left[:, None] * U[:, moving]), np.eye(len(g)) + D * soft
            if len(self.falling):
                A[n:, :n] -= self.falling @ U[:, moving]
            row, column = self._units(A.diagonal()[:n])
            z = column * np.linalg.solve(row[:, None] * A * column, row * np.concatenate([f, g]))
        else:
            z = self._sparse(K, U, rows, left, soft, np.concatenate([f, g]))
        if not np.isfinite(z).all():
            raise np.linalg.LinAlgError("the step is not finite.")
        dv = np.zeros(len(at.v))
        dv[moving] = z[:n]
        return dv, unit * z[n:]

    def _units(self, own: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What makes all rows and columns of the equations velocities [m/s]; own (n,): their diagonal in dv."""
        arm = arms(self.step.system)[self.step.moving]
        heavy = np.where(own != 0.0, np.abs(own), 1.0)
        return np.concatenate([arm / heavy, 1.0 / self.rho]), np.concatenate([1.0 / arm, self.rho])

    def _sparse(self, K: Any, U: Any, rows: Any, left: FloatArray, soft: FloatArray, right: FloatArray) -> FloatArray:
        from scipy.sparse import bmat, csr_matrix, diags
        from scipy.sparse.linalg import splu

        step, moving, nr = self.step, self.step.moving, len(self.f)
        where = (step.block_row, step.block_at)
        D = csr_matrix((self.D[step.block_row, step.block_column], where), shape=(nr, nr))
        K, U, rows = (csr_matrix(m)[:, moving] for m in (K, U, rows))
        lower = D @ diags(left) @ U
        if len(self.falling):
            lower = lower - csr_matrix(self.falling) @ U
        A = bmat([[K[moving], -(diags(self.unit) @ rows).T], [lower, diags(np.ones(nr)) + D @ diags(soft)]])
        row, column = self._units(A.diagonal()[: len(moving)])
        try:
            return np.asarray(column * splu((diags(row) @ A @ diags(column)).tocsc()).solve(row * right))
        except RuntimeError as error:
            raise np.linalg.LinAlgError(str(error)) from error
