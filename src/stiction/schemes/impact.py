"""Impact laws for any number of contacts at once: from the velocity before to impulses, at a fixed configuration.

An impact problem is a `ContactProblem` whose free velocity is the velocity before the impact and whose `b` holds the
speed of obstacles alone. Newton's law needs no impulses of its own: it is a demand on the velocity after. Poisson's law
is solved as two problems, compression and restitution (s00 §1.1), in which every contact gives back e times the
normal impulse of its compression, and may get more where others would press it in:

    compression   0 <= c ⟂ u_n >= 0             restitution   0 <= r - e c ⟂ u_n >= 0        friction by mu c, mu r

Stronge's law is made of Poisson's: the ratios of the impulses are sought for which every contact gives back e² of the
work of its compression, ∫ u_n dp with velocities that change in proportion to the impulses of a phase.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._check import FloatArray
from ..problem.contact_problem import ContactProblem
from ..problem.laws import UNILATERAL
from ..solvers.base import Solution
from ..status import Status
from .base import Solve

ROUNDS = 60  # of the search for Stronge's ratios
CLOSE = 1e-10  # relative, of the work given back


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


def newton(problem: ContactProblem, e: FloatArray, solve: Solve) -> Impulses:
    """The law of velocities, u_n⁺ >= -e u_n⁻ (s00 eq. 3.11), for the impact alone."""
    normal = problem.row_ptr[:-1]
    b = problem.b.copy()
    b[normal] += np.where(problem.law == UNILATERAL, e * np.minimum(problem.q[normal], 0.0), 0.0)
    only = solve(problem.replace(b=b))
    return Impulses(only.p, only.v, (("impact", only),), only.status, only.message)


def poisson(problem: ContactProblem, e: FloatArray, solve: Solve) -> Impulses:
    """Compression and restitution with coefficients e (nk,)."""
    first = solve(problem)
    if not e.any():
        return Impulses(first.p, first.v, (("compression", first),), first.status, first.message)
    return _restitution(problem, first, e, solve)


def stronge(problem: ContactProblem, e: FloatArray, solve: Solve) -> Impulses:
    """Restitution that gives back e² (nk,) of each contact's work of compression; see above for how."""
    first = solve(problem)
    normal = problem.row_ptr[:-1]
    u0, u1 = problem.q[normal], first.u[normal]
    pressed = (problem.law == UNILATERAL) & (first.p[normal] > 0.0) & (e > 0.0)
    taken = np.where(pressed, -0.5 * first.p[normal] * (u0 + u1), 0.0)
    ratio = np.where(pressed, e, 0.0)
    solves: list[tuple[str, Solution]] = [("compression", first)]
    for _ in range(ROUNDS):
        done = _restitution(problem, first, ratio, solve)
        solves.append(done.solves[-1])
        back = done.p[normal] - first.p[normal]
        after = (problem.dynamics.velocity_rows(done.v) + problem.b)[normal]
        given = 0.5 * back * (u1 + after)
        wanted = e**2 * taken
        off = np.abs(given - wanted)[pressed].max(initial=0.0)
        if off <= CLOSE * float(np.abs(taken).max(initial=0.0)) or not done.solved:
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            better = ratio * np.sqrt(np.where(given > 0.0, wanted / given, 4.0))
        ratio = np.where(pressed & (taken > 0.0), np.minimum(better, 2.0 * ratio + 1e-3), ratio)
    else:
        message = f"{ROUNDS} rounds did not find the impulses of release that give back e² of the work of compression."
        return Impulses(done.p, done.v, tuple(solves), Status.NOT_CONVERGED, message)
    return Impulses(done.p, done.v, tuple(solves), done.status, done.message)


def _restitution(problem: ContactProblem, first: Solution, e: FloatArray, solve: Solve) -> Impulses:
    """The second phase: e times the normal impulse of the first is given, more of it is unknown."""
    normal = problem.row_ptr[:-1]
    contact = problem.law == UNILATERAL
    given = np.zeros(problem.nr)
    given[normal] = np.where(contact, e * np.maximum(first.p[normal], 0.0), 0.0)
    start = first.v + problem.dynamics.velocity_change(given)
    radius = np.where(contact, problem.friction.mu * given[normal], 0.0)
    second = solve(problem.replace(v_free=start, r0=problem.r0 + radius, p_warm=np.zeros(problem.nr)))
    solves = (("compression", first), ("restitution", second))
    worse = second if first.success else first
    return Impulses(first.p + given + second.p, second.v, solves, worse.status, worse.message)
