"""Impact laws for any number of contacts at once: from the velocity before to impulses, at a fixed configuration.

An impact problem is a `ContactProblem` whose free velocity is the velocity before the impact and whose `b` holds the
speed of obstacles alone. Newton's law needs no impulses of its own: it is a demand on the velocity after. Poisson's law
is solved as two problems, compression and restitution (s00 §1.1), in which every contact gives back e times the
normal impulse of its compression, and may get more where others would press it in:

    compression   0 <= c ⟂ u_n >= 0             restitution   0 <= r - e c ⟂ u_n >= 0        friction by mu c, mu r

Stronge's law is made of Poisson's: contacts that act on each other give back a common multiple of e c, the one with
which together they return the works of their compressions times e² each, ∫ u_n dp with velocities that change in
proportion to the impulses of a phase. Contact by contact there is no such law at this level: one that others hold shut
does no work, whatever its impulse. (Springs have one: `work.py`.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._check import FloatArray, IntArray
from ...problem.contact_problem import ContactProblem
from ...problem.laws import UNILATERAL
from ...solvers.base import Solution
from ...status import Status
from ...systems.restitution import NEWTON, POISSON, STRONGE
from ..base import Solve

RATIO_ITERATIONS_MAX = 60  # of the search for Stronge's ratios
WORK_TOL = 1e-10  # relative, of the work given back
WEDGED_MIN_FACTOR = (
    64.0  # times e: contacts that so much does not open hold each other shut, and release as by Poisson's law
)


@dataclass(frozen=True)
class Impulses:
    """The impulses p (nr,) of an impact with the velocity v (nv,) after it, the solves it took, and how it ended."""

    p: FloatArray
    v: FloatArray
    solves: tuple[tuple[str, Solution], ...] = ()
    status: Status = Status.SOLVED
    message: str = ""

    @property
    def solved(self) -> bool:
        """Whether every phase was solved."""
        return self.status.success

    @property
    def taken(self) -> bool:
        """Whether every phase was solved, or what it missed is taken all the same."""
        return self.status.taken


def newton(problem: ContactProblem, e: FloatArray, solve: Solve) -> Impulses:
    """The law of velocities, u_n⁺ >= -e u_n⁻ (s00 eq. 3.7, 3.8, 3.11), for the impact alone."""
    normal = problem.row_ptr[:-1]
    b = problem.b.copy()
    b[normal] += np.where(problem.law == UNILATERAL, e * np.minimum(problem.q[normal], 0.0), 0.0)
    only = solve(problem.replace(b=b))
    return Impulses(only.p, only.v, (("impact", only),), only.status, only.message)


def poisson(problem: ContactProblem, e: FloatArray, solve: Solve) -> Impulses:
    """Poisson's law at every contact, with coefficients e (nk,)."""
    return together(problem, e, np.full(problem.nk, POISSON), solve)


def stronge(problem: ContactProblem, e: FloatArray, solve: Solve) -> Impulses:
    """Stronge's law at every contact, with coefficients e (nk,)."""
    return together(problem, e, np.full(problem.nk, STRONGE), solve)


def together(problem: ContactProblem, e: FloatArray, law: IntArray, solve: Solve) -> Impulses:
    """Every contact by its own law, with coefficients e (nk,) and laws (nk,), `NEWTON`, `POISSON` or `STRONGE`.

    Where a contact under Newton's law acts on others under another, its demand is that of the second phase.
    """
    bounces = (problem.law == UNILATERAL) & (e > 0.0)
    direct = bounces & (law == NEWTON)
    if direct.any() and (direct == bounces).all():
        return newton(problem, e, solve)
    phases = _phases(problem, e, law, solve)
    if not direct.any():
        return phases
    label = problem.islands()
    pure = np.bincount(label, weights=bounces & ~direct) == 0  # islands of Newton's law alone
    if not pure[label[direct]].any():
        return phases
    only = newton(problem, np.where(pure[label], e, 0.0), solve)
    p = np.where(np.repeat(pure[label], np.diff(problem.row_ptr)), only.p, phases.p)
    worse = max(only, phases, key=lambda one: one.status.rank)
    return Impulses(p, problem.velocity(p), only.solves + phases.solves, worse.status, worse.message)


def _phases(problem: ContactProblem, e: FloatArray, law: IntArray, solve: Solve) -> Impulses:
    """Compression and restitution."""
    first = solve(problem)
    if not e.any():
        return Impulses(first.p, first.v, (("compression", first),), first.status, first.message)
    demand = np.where(law == NEWTON, e * np.minimum(problem.q[problem.row_ptr[:-1]], 0.0), 0.0)
    given = np.where(law == POISSON, e, 0.0)
    if not (e * (law == STRONGE)).any():
        return _restitution(problem, first, given, demand, solve)
    return _released(problem, first, given, np.where(law == STRONGE, e, 0.0), demand, solve)


def _released(
    problem: ContactProblem, first: Solution, fixed: FloatArray, e: FloatArray, demand: FloatArray, solve: Solve
) -> Impulses:
    """Restitution that gives back the work of compression, each contact's times e² (nk,); see above for how.

    fixed, demand (nk,): what contacts under Poisson's and Newton's law do in it.
    """
    normal, label = problem.row_ptr[:-1], problem.islands()
    u0, u1 = problem.q[normal], first.u[normal]
    mine = (problem.law == UNILATERAL) & (e > 0.0)

    def total(work: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(label, weights=np.where(mine, work, 0.0)), dtype=np.float64)

    taken = total(-0.5 * first.p[normal] * (u0 + u1))
    wanted = np.maximum(total(-0.5 * e**2 * first.p[normal] * (u0 + u1)), 0.0)
    close = max(WORK_TOL, solve.tol) * np.maximum(np.abs(taken), wanted)
    solves: list[tuple[str, Solution]] = [("compression", first)]
    # the root of the work given back grows with the factor, in proportion where contacts have stopped: regula falsi
    low, high, factor = np.zeros(len(wanted)), np.full(len(wanted), np.inf), np.where(wanted > 0.0, 1.0, 0.0)
    open_ = wanted > 0.0  # islands whose factor is still sought
    under, over = -np.sqrt(wanted), np.full(len(wanted), np.inf)
    for _ in range(RATIO_ITERATIONS_MAX):
        done = _restitution(problem, first, fixed + factor[label] * e, demand, solve)
        solves.append(done.solves[-1])
        after = (problem.dynamics.velocity_rows(done.v) + problem.b)[normal]
        given = total(0.5 * (done.p[normal] - first.p[normal]) * (u1 + after))
        off = np.where(open_, given - wanted, 0.0)
        if not done.taken or (np.abs(off) <= close).all():
            return Impulses(done.p, done.v, tuple(solves), done.status, done.message)
        root, more = np.sqrt(np.maximum(given, 0.0)) - np.sqrt(wanted), off > 0.0
        # the end that stays is halved (Illinois), so that neither stays for long
        over, under = np.where(more, root, 0.5 * over), np.where(more, 0.5 * under, root)
        high, low = np.where(more, factor, high), np.where(more, low, factor)
        with np.errstate(invalid="ignore"):
            inside = (low * over - high * under) / (over - under)
        open_ &= (off != 0.0) & (np.isfinite(high) | (factor < WEDGED_MIN_FACTOR))
        sought = np.where(np.isfinite(high), inside, 2.0 * factor)
        factor = np.where(open_, sought, np.where((factor >= WEDGED_MIN_FACTOR) & ~np.isfinite(high), 1.0, factor))
    message = f"{RATIO_ITERATIONS_MAX} rounds did not find a release that gives back the work of compression times e²."
    return Impulses(done.p, done.v, tuple(solves), Status.NOT_CONVERGED, message)


def _restitution(problem: ContactProblem, first: Solution, e: FloatArray, demand: FloatArray, solve: Solve) -> Impulses:
    """The second phase: e times the normal impulse of the first is given, and u_n + demand >= 0; more is unknown."""
    normal = problem.row_ptr[:-1]
    contact = problem.law == UNILATERAL
    given = np.zeros(problem.nr)
    given[normal] = np.where(contact, e * np.maximum(first.p[normal], 0.0), 0.0)
    start = first.v + problem.dynamics.velocity_change(given)
    radius = np.where(contact, problem.friction.mu * given[normal], 0.0)
    b = problem.b.copy()
    b[normal] += np.where(contact, demand, 0.0)
    second = solve(problem.replace(v_free=start, b=b, r0=problem.r0 + radius, p_warm=np.zeros(problem.nr)))
    solves = (("compression", first), ("restitution", second))
    worse = max(first, second, key=lambda one: one.status.rank)
    return Impulses(first.p + given + second.p, second.v, solves, worse.status, worse.message)
