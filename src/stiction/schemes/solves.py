"""What becomes of the solves of a step.

Redundant joints that contradict each other are made to agree, and what none of them can do is reported; bodies that a
law holds come to rest exactly; a compliance that lets bodies do what no rigid ones can is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .._check import FloatArray
from ..problem.certificate import certify
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Bodies
from ..problem.laws import UNILATERAL
from ..problem.redundant import find_agreement
from ..solvers.base import Solution
from ..status import Status
from ..systems.base import System
from .base import StepResult

AGREEMENT_ROUNDS_MAX = (
    5  # contacts, motors and springs change what redundant rows do; without them the first is the last
)
DEEP_OVERLAP_SHARE = 0.01  # of the smaller body's reach: regularised piles overlap by a thousandth
Solves = list[tuple[str, Solution]]


def solve_agreeing(
    problem: ContactProblem, attempt: Callable[[ContactProblem], Solves]
) -> tuple[ContactProblem, Solves, float]:
    """The problem that was solved, its solves by role, and by what its joints contradict each other [m/s, rad/s].

    attempt: the solves of a problem, of which the last counts. The rank of the joints is asked for only where that
    fails; where they contradict each other by nothing, or nothing helps, it stays with the first attempt.
    """
    first = solves = attempt(problem)
    for _ in range(AGREEMENT_ROUNDS_MAX):
        found = None if solves[-1][1].taken else find_agreement(problem, solves[-1][1].p)
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


def bring_to_rest(problem: ContactProblem, solution: Solution, tol: float) -> tuple[Solution, np.ndarray | None]:
    """The solution of a step with bodies at rest that its impulses hold (`solvers/rest.py`), and which these are (nb,).

    Impulses that a solver has found leave such bodies a velocity that is round-off or a small part of the tolerance. To
    go on with it would add up to a creep that the law excludes. With zero in its place the laws must still be met to
    `tol`, and the velocity that is given up, |v - v_free - M⁻¹ Gᵀ p|, is the certificate's `dynamics`. None where no
    body is held.
    """
    form: Any = problem.dynamics
    f = problem.friction
    if not (solution.success and isinstance(form, Bodies) and problem.nr) or len(f.varying) or f.written:
        return solution, None
    from ..solvers.rest import come_to_rest, inner_tolerance

    v, resting = solution.v.copy(), np.empty(len(form.Minv), dtype=np.bool_)
    error = come_to_rest(
        float(inner_tolerance(tol, problem.nr)), problem.scale, problem.laws, form.body_rows, problem.rho, problem.b,
        solution.p, v.reshape(len(resting), -1), resting,
    )  # fmt: skip
    if not error < np.inf:
        return solution, None
    certificate, modes, u = certify(problem, solution.p, v=v)
    return replace(solution, v=v, u=u, modes=modes, certificate=certificate), resting


def keep_at_rest(system: System, q: FloatArray, old: FloatArray, resting: np.ndarray) -> FloatArray:
    """The configuration q with the bodies `resting` (nb,) where they are in `old`, to the bit."""
    model: Any = system
    kept = q.copy()
    model.bodies(kept)[resting] = model.bodies(old)[resting]
    return np.asarray(model.counted(q, kept, np.zeros(model.nv)))


def refuse_deep_overlap(result: StepResult, system: System) -> StepResult:
    """The step; a failure where it is regularised, and a contact ends deeper than `DEEP_OVERLAP_SHARE` and gets deeper.

    That is what no motion of rigid bodies can do: a compliance lets two plates close on a stone, step after step.
    """
    if result.status is not Status.REGULARISED:
        return result
    contacts = result.contacts
    size = getattr(system, "lever", None)  # infinite for bodies that no force moves
    if size is None:
        return result
    smaller = size[contacts.bodies].min(axis=1)
    deep = (
        (contacts.law == UNILATERAL) & (contacts.gap < -DEEP_OVERLAP_SHARE * smaller) & (contacts.velocity[:, 0] < 0.0)
    )
    if not deep.any():
        return result
    worst = int(np.argmin(np.where(deep, contacts.gap, 0.0)))
    message = (
        f"{result.message} That leaves {system.constraint_name(int(contacts.key[worst]))!r} overlapping by "
        f"{-contacts.gap[worst]:.1e} m, more than a hundredth of the body, and deeper than before: no motion of rigid "
        f"bodies does what is asked."
    )
    return replace(result, success=False, status=Status.NOT_CONVERGED, message=message)
