"""Solves of steps whose redundant joints contradict each other: what none of them can do is taken off and reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..problem.contact_problem import ContactProblem
from ..problem.redundant import agree
from ..solvers.base import Solution
from .base import StepResult

ROUNDS = 5  # contacts, motors and springs change what redundant rows do; without them the first is the last
Solves = list[tuple[str, Solution]]


def solve_agreeing(
    problem: ContactProblem, attempt: Callable[[ContactProblem], Solves]
) -> tuple[ContactProblem, Solves, float]:
    """The problem that was solved, its solves by role, and by what its joints contradict each other [m/s, rad/s].

    attempt: the solves of a problem, of which the last counts. The rank of the joints is asked for only where that
    fails; where they contradict each other by nothing, or nothing helps, it stays with the first attempt.
    """
    first = solves = attempt(problem)
    for _ in range(ROUNDS):
        found = None if solves[-1][1].taken else agree(problem, solves[-1][1].p)
        if found is None:
            break
        changed = problem.replace(b=found.b, p_warm=found.p)
        changed.__dict__["redundant"] = problem.redundant  # of the same rows
        solves = attempt(changed)
        if solves[-1][1].taken:
            return changed, first + [("agreeing joints", done) for _, done in solves], found.left
    return problem, first, 0.0


def with_contradiction(result: StepResult, contradiction: float) -> StepResult:
    """The result with `contradiction` [m, rad] in its certificate."""
    if result.certificate is None or contradiction == 0.0:
        return result
    return replace(result, certificate=replace(result.certificate, contradiction=contradiction))
