"""Uniqueness with round friction cones: true solutions from inside, sectors from outside, "undecided" in between."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from .._check import FloatArray
from ..problem.contact_problem import ContactProblem
from ..solvers import solve
from ..solvers.base import Solution
from ..status import Status
from .sectors import Sectors, refuses

NEWTON_STARTS = 6  # of Newton's method, besides those that the sectors give


def true_solutions(problem: ContactProblem, starts: list[FloatArray], distance: float, tol: float) -> list[Solution]:
    """Certified solutions of the true law that Newton's method finds from some starts, of different velocity."""
    found: list[Solution] = []
    for k, p0 in enumerate([None, *starts]):
        solution = solve(problem, tol=1e-9) if k == 0 else solve(problem, solver="newton", tol=1e-9, p0=p0)
        if not solution.certificate.ok(tol):
            continue
        if all(apart(problem, solution, other) >= distance for other in found):
            found.append(solution)
    return found


def apart(problem: ContactProblem, a: Solution, b: Solution) -> float:
    """The largest difference of a velocity."""
    x, y = (a.v, b.v) if problem.nv else (a.u, b.u)
    return float(np.abs(x - y).max(initial=0.0))


def starts_of(problem: ContactProblem, count: int = NEWTON_STARTS) -> list[FloatArray]:
    """Rest, the solutions of polyhedra inside the cones, and random impulses of the problem's own size."""
    rng = np.random.default_rng(0)
    size = problem.rho[np.repeat(np.arange(problem.nk), np.diff(problem.row_ptr))] * max(problem.scale, 1e-300)
    out = [np.zeros(problem.nr)]
    for directions in (4, 8):
        answer = solve(problem.polyhedral(directions), solver="lemke", tol=1e-6)
        if answer.success:
            out.append(answer.p)
    return [*out, *(rng.uniform(-1.0, 1.0, problem.nr) * size for _ in range(count))]


def decide_round(problem: ContactProblem, gap: float, time_limit: float, tol: float) -> dict[str, Any]:
    """The fields of a `Uniqueness` for a problem with round cones."""
    given: dict[str, Any] = {"second": None, "separation": 0.0, "bound": np.inf, "limit": np.inf, "nodes": 0}
    found = true_solutions(problem, starts_of(problem), gap, tol)
    if not found:
        had = exists_round(problem, time_limit, tol)
        return given | {"unique": None, "status": had["status"], "message": had["message"], "first": None}
    first = found[0]
    if len(found) > 1:
        return given | _two(problem, first, found[1])
    reason = refuses(problem)
    if reason is not None:
        return given | {"unique": None, "status": Status.REFUSED, "message": f"Not decided: {reason}", "first": first}
    deadline = time.monotonic() + time_limit
    program = Sectors(problem, deadline)
    v = first.v if program.problem.nv == problem.nv else program.problem.velocity(first.p)
    bound, given["limit"] = np.inf, program.limit
    while time.monotonic() < deadline:
        p, answer = program.away(v / program.speed, gap / program.speed)
        given["nodes"] = program.nodes
        if answer.infeasible:
            up_to = "" if program.proved else f" with contact forces (impulses) up to {program.limit:.3g}"
            message = f"One motion{up_to}: no other differs from it by {gap:.3g} or more (true cones)."
            return given | {"unique": True, "status": Status.SOLVED, "message": message, "first": first, "bound": gap}
        if p is None:
            break
        bound = min(bound, -answer.bound * program.speed)
        others = true_solutions(problem, [p], gap, tol)
        for other in others:
            if apart(problem, first, other) >= gap:
                return given | _two(problem, first, other)
        program.refine(p)
    far = f"; if there is one, it is at most {bound:.3g} away" if np.isfinite(bound) else ""
    message = f"Not decided within {time_limit:g} s: no second motion was found{far} (true cones)."
    return given | {"unique": None, "status": Status.LIMIT, "message": message, "first": first, "bound": bound}


def exists_round(problem: ContactProblem, time_limit: float, tol: float) -> dict[str, Any]:
    """The fields of an `Existence` for a problem with round cones."""
    found = true_solutions(problem, starts_of(problem), 0.0, tol)
    given: dict[str, Any] = {"solution": None, "limit": np.inf, "nodes": 0}
    if found:
        return given | {"exists": True, "status": Status.SOLVED, "message": "A solution exists.", "solution": found[0]}
    if refuses(problem) is None:
        program = Sectors(problem, time.monotonic() + time_limit)
        if program.empty():
            up_to = "." if program.proved else f" with contact forces (impulses) up to {program.limit:.3g}."
            message = f"There is no solution{up_to}"
            return given | {"exists": False, "status": Status.NO_SOLUTION, "message": message, "limit": program.limit}
    message = "Not decided: no solution was found by Newton's method, and none was excluded."
    return given | {"exists": None, "status": Status.NOT_CONVERGED, "message": message}


def _two(problem: ContactProblem, first: Solution, second: Solution) -> dict[str, Any]:
    far = apart(problem, first, second)
    message = f"Two motions are possible, {far:.3g} apart."
    return {"unique": False, "status": Status.SOLVED, "message": message, "first": first, "second": second,
            "separation": far}  # fmt: skip
