"""Two levels of a residual: `tol` is what a solve aims at, `accept` what is still taken, counted and told.

A small problem that misses its tolerance is a real failure: Painlevé's rod without a solution, joints that contradict
each other. In a large jammed pile it is what every solver does: rigid contacts there press against each other in more
ways than forces can decide, and the last digits of a step cost thousands of times the first. So up to `STRICT_ROWS`
rows `accept` is `tol` itself, and above it `ROUGH_TOLERANCE`; parts of a large problem that do not act on each other
(islands) are held to that apart, so that a small one never hides in a large one.

What misses even that on a large problem is solved once more with a compliance C of 1/`STIFFNESS` of its own W in every
row of a contact, by which the problem is well posed. It is called regularised, and never solved. The compliance is
preloaded with the impulses p₀ found so far: contacts give way by C (p - p₀), which is what was missing, and not by the
load that they carry, under which a pile would sink and the next step would have to lift it again. (This is one step of
the proximal point method.) A compliance also lets through what no motion of rigid bodies can do, such as two plates
that close on a stone: `schemes/solves.py` refuses a step that leaves overlaps of more than a hundredth of a body
and deepens them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._check import FloatArray, IntArray
from ..problem.certificate import missed_by_block
from ..problem.contact_problem import ContactProblem
from ..problem.laws import UNILATERAL
from ..status import Status
from .base import Solution
from .gauss_seidel.outcome import STRICT_ROWS

ROUGH_TOLERANCE = 1e-3  # what large problems may miss
STIFFNESS = 300.0  # W of a contact over its compliance
DECIDED = (Status.NO_SOLUTION, Status.SINGULAR, Status.REFUSED)  # more work, or a compliance, changes nothing


def acceptance_levels(tol: float, accept: float | None) -> tuple[float, int]:
    """The error that is still taken, and of problems of more than how many rows; accept None: the rule above."""
    return (max(tol, ROUGH_TOLERANCE), STRICT_ROWS) if accept is None else (max(tol, accept), 0)


def largest_accepted(rows: int, tol: float, accept: float | None) -> float:
    """The largest error of a problem with so many rows that a step goes on with."""
    most, strict = acceptance_levels(tol, accept)
    return most if rows > strict else tol


def grade(problem: ContactProblem, solution: Solution, tol: float, accept: float | None) -> Solution:
    """The solution, called accepted where it misses `tol` by no more than is taken, in every island."""
    most, strict = acceptance_levels(tol, accept)
    error = solution.certificate.error
    if solution.status.taken or not tol < error <= most or problem.nr <= strict:
        return solution
    if strict and find_missing_islands(problem, solution.p, tol, strict):
        return solution
    message = f"{solution.message} Its residual {error:.1e} is accepted (up to {most:.0e})."
    return replace(solution, status=Status.ACCEPTED, message=message)


def find_missing_islands(problem: ContactProblem, p: FloatArray, tol: float, most: int) -> list[IntArray]:
    """The blocks of each island of at most `most` rows that misses by itself what the whole problem may."""
    label = problem.islands()
    rows = np.bincount(label, weights=np.diff(problem.row_ptr))
    missed = np.sqrt(np.bincount(label, weights=missed_by_block(problem, p) ** 2))
    few = np.flatnonzero((rows <= most) & ~(missed <= tol * problem.scale))
    return [np.flatnonzero(label == island) for island in few]


def regularise(problem: ContactProblem, p: FloatArray) -> ContactProblem:
    """The problem with a compliance of W/`STIFFNESS` in every row of a contact, at rest under the impulses p."""
    rows = np.repeat(problem.law == UNILATERAL, np.diff(problem.row_ptr))
    more = np.where(rows, problem.dynamics.delassus_diagonal(problem.row_ptr) / STIFFNESS, 0.0)
    return problem.replace(C=problem.C + more, b=problem.b - more * p, v_start=problem.v_start)


def report_regularised(problem: ContactProblem, soft: ContactProblem, made: Solution, before: Solution) -> Solution:
    """The solution `made` of the regularised problem `soft` as that of `problem`, which `before` has missed.

    Its certificate stays what it is, that of the regularised problem; the message says what the rigid law makes of it.
    """
    given = float(np.abs(((soft.C - problem.C) * made.p + soft.b - problem.b) * problem.length).max())
    message = (
        f"{before.message} With a compliance of W/{STIFFNESS:.0f} in every contact: {made.message} Contacts give way "
        f"by up to {given:.1e} m/s; by the rigid law the residual is {problem.certify(made.p).error:.1e}."
    )
    u = problem.q + problem.dynamics.delassus_times(made.p) + problem.C * made.p
    return replace(made, u=u, success=False, status=Status.REGULARISED, message=message, stages=before.stages + 1)
