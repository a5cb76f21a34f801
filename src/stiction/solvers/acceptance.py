"""Two levels of a residual: `tol` is what a solve aims at, `accept` what is still accepted, counted and reported.

A small problem that misses its tolerance is a real failure: Painlevé's rod without a solution, joints that contradict
each other. In a large jammed pile it is what every solver does: rigid contacts there press against each other in more
ways than forces can decide, and the last digits of a step cost thousands of times the first. So up to
`ATTEMPT.strict_rows` rows `accept` is `tol` itself, and above it `ACCEPTANCE.rough_tolerance`; parts of a large problem
that do not act on each other (islands) are held to that apart, so that a small one never hides in a large one.

A large problem that misses even that is solved once more with a compliance C of 1/`ACCEPTANCE.stiffness_factor` of its
own W in every row of a contact, by which the problem is well posed. It is called regularised, and never solved. The
compliance is preloaded with the impulses p₀ found so far: contacts give way by C (p - p₀), which is what was missing,
and not by the load that they carry, under which a pile would sink and the next step would have to lift it again. (This
is one step of the proximal point method.) A compliance also lets through what no motion of rigid bodies can do, such as
two plates that close on a stone: `schemes/solves.py` refuses a step that leaves overlaps of more than a hundredth of a
body and deepens them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .._check import FloatArray, IntArray
from ..problem.certificate import missed_by_block
from ..problem.contact_problem import ContactProblem
from ..problem.laws import UNILATERAL
from ..status import Status
from .base import Solution
from .gauss_seidel.parameters import ATTEMPT


class AcceptanceParameters(NamedTuple):
    """What is accepted where the tolerance is missed."""

    rough_tolerance: float = 1e-3
    """The error that large problems may have (`strict_rows` of the first attempt says from which size on): the last
    digits of a step of a jammed pile cost thousands of times the first."""
    stiffness_factor: float = 300.0
    """W of a contact over its compliance in the regularised problem. The compliance is preloaded, so that contacts give
    way by what was missing, and not by the load that they carry."""


ACCEPTANCE = AcceptanceParameters()
DECIDED = (Status.NO_SOLUTION, Status.SINGULAR, Status.REFUSED)  # more work, or a compliance, changes nothing


def acceptance_levels(tol: float, accept: float | None) -> tuple[float, int]:
    """The error that is accepted, and the size in rows from which on it is; accept None: the rule above."""
    return (max(tol, ACCEPTANCE.rough_tolerance), ATTEMPT.strict_rows) if accept is None else (max(tol, accept), 0)


def largest_accepted(rows: int, tol: float, accept: float | None) -> float:
    """The largest error of a problem with `rows` rows with which a step goes on."""
    accepted, strict = acceptance_levels(tol, accept)
    return accepted if rows > strict else tol


def grade(problem: ContactProblem, solution: Solution, tol: float, accept: float | None) -> Solution:
    """The solution, with the status accepted where its error is above `tol` but accepted, in every island."""
    accepted, strict = acceptance_levels(tol, accept)
    error = solution.certificate.error
    if solution.status.taken or not tol < error <= accepted or problem.nr <= strict:
        return solution
    if strict and find_missing_islands(problem, solution.p, tol, strict):
        return solution
    message = f"{solution.message} Its residual {error:.1e} is accepted (up to {accepted:.0e})."
    return replace(solution, status=Status.ACCEPTED, message=message)


def find_missing_islands(problem: ContactProblem, p: FloatArray, tol: float, max_rows: int) -> list[IntArray]:
    """The blocks of each island of at most `max_rows` rows that misses by itself what the whole problem may."""
    label = problem.islands()
    rows = np.bincount(label, weights=np.diff(problem.row_ptr))
    missed = np.sqrt(np.bincount(label, weights=missed_by_block(problem, p) ** 2))
    few = np.flatnonzero((rows <= max_rows) & ~(missed <= tol * problem.scale))
    return [np.flatnonzero(label == island) for island in few]


def regularise(problem: ContactProblem, p: FloatArray) -> ContactProblem:
    """The problem with a compliance of W/`stiffness_factor` in every row of a contact, at rest under the impulses p."""
    rows = np.repeat(problem.law == UNILATERAL, np.diff(problem.row_ptr))
    more = np.where(rows, problem.dynamics.delassus_diagonal(problem.row_ptr) / ACCEPTANCE.stiffness_factor, 0.0)
    return problem.replace(C=problem.C + more, b=problem.b - more * p, v_start=problem.v_start)


def report_regularised(problem: ContactProblem, soft: ContactProblem, solution: Solution, before: Solution) -> Solution:
    """The solution of the regularised problem `soft` as that of `problem`, whose own solution, `before`, was missed.

    Its certificate stays that of the regularised problem; the message reports the residual by the rigid law.
    """
    p = solution.p
    give = float(np.abs(((soft.C - problem.C) * p + soft.b - problem.b) * problem.length).max())
    factor = ACCEPTANCE.stiffness_factor
    message = (
        f"{before.message} With a compliance of W/{factor:.0f} in every contact: {solution.message} Contacts give way "
        f"by up to {give:.1e} m/s; by the rigid law the residual is {problem.certify(p).error:.1e}."
    )
    u = problem.q + problem.dynamics.delassus_times(p) + problem.C * p
    return replace(solution, u=u, success=False, status=Status.REGULARISED, message=message, stages=before.stages + 1)
