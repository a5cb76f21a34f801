"""Does a contact problem have a solution, and is its motion the only one: decided, or said to be undecided.

ttp01's conclusion asks for "an algorithm to determine solution uniqueness". For polyhedral friction it is a
mixed-integer program: given one solution, find another whose velocity differs from it by a stated distance, or prove
that there is none. Forces that differ while the motion is the same (a table on four legs) do not count.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _check
from .. import lcp as _lcp
from .._arguments import checks_arguments
from .._check import FloatArray
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Dense
from ..solvers import solve
from ..solvers.base import Solution, finish
from ..solvers.islands import split
from ..status import Status
from .pairs import Contradiction, Pairs, pairs_of, units, with_masses
from .program import Found, Program
from .round_cones import decide_round, exists_round

CERTIFICATE_TOL = 1e-6  # the largest certificate error of a motion that counts
LISTED_MAX_PAIRS = 16  # pairs of which all solutions are listed where the mixed-integer program gives up
LEMKE_PATHS = 6  # paths of Lemke's method tried for a second motion before the mixed-integer program


@dataclass(frozen=True)
class Existence:
    """Whether a problem has a solution. `exists` is None where that was not decided.

    solution: the one of least impulse (sum of absolute values) that was found, certified, or None; limit: impulses
    were searched up to this size [N·s] (forces [N] in a force–acceleration problem), infinite where the answer holds
    for all; nodes: of the search.
    """

    exists: bool | None
    status: Status
    message: str
    solution: Solution | None
    limit: float
    nodes: int

    @property
    def success(self) -> bool:
        """True when the question was decided."""
        return self.exists is not None


@dataclass(frozen=True)
class Uniqueness:
    """Whether the motion of a problem is the only one. `unique` is None where that was not decided.

    first, second: two certified solutions with different velocities, or one and None; distance: motions that differ by
    less than this in every velocity count as one [m/s, rad/s]; separation: how far the two that were found are apart;
    bound: no other motion is farther from the first than this; limit: impulses were searched up to this size [N·s],
    infinite where the answer holds for all; nodes: of the search.
    """

    unique: bool | None
    status: Status
    message: str
    first: Solution | None
    second: Solution | None
    distance: float
    separation: float
    bound: float
    limit: float
    nodes: int

    @property
    def success(self) -> bool:
        """True when the question was decided."""
        return self.unique is not None


@checks_arguments
def existence(problem: ContactProblem, *, directions: int | None = None, time_limit: float = 60.0) -> Existence:
    """Whether a contact problem has a solution; smooth friction sets are replaced by `directions` directions, if given.

    Asked of the force–acceleration problem of a state, "no" means that an impulse without impact is forced (pr11 §2.1).
    """
    if directions is None and not problem.friction.is_polyhedral():
        return Existence(**exists_round(problem, time_limit, CERTIFICATE_TOL))
    directions = 8 if directions is None else directions
    program, missing = _program(problem, directions, time_limit)
    if program is None:
        return Existence(False, Status.NO_SOLUTION, missing, None, np.inf, 0)
    found = _first(program)
    if found.z is None:  # a solution beyond the search may lie at the end of a path
        paths = _paths(program.pairs)
        found = Found(paths[0], True, found.bound, found.nodes) if paths else found
    if found.z is not None:
        solution = _certified(problem.polyhedral(directions), program.pairs, found.z)
        if solution.certificate.ok(CERTIFICATE_TOL):
            return Existence(True, Status.SOLVED, "A solution exists.", solution, program.pairs.limit, found.nodes)
        return Existence(None, Status.INACCURATE, "A solution was found, but not to the accuracy that certifies it.",
                         solution, program.pairs.limit, found.nodes)  # fmt: skip
    limit = program.pairs.limit
    if found.exhausted and np.isfinite(limit):
        limit = _beyond(program)[0]
    if not found.exhausted:
        return Existence(None, Status.LIMIT, f"Not decided within {time_limit:g} s: no solution was found, and none "
                         "was excluded.", None, limit, program.nodes)  # fmt: skip
    message = "There is no solution" + (
        "." if np.isinf(limit) else f" with contact forces (impulses) up to {limit:.3g}."
    )
    return Existence(False, Status.NO_SOLUTION, message, None, limit, program.nodes)


@checks_arguments
def uniqueness(
    problem: ContactProblem,
    *,
    distance: float | None = None,
    solution: Any = None,
    directions: int | None = None,
    time_limit: float = 60.0,
) -> Uniqueness:
    """Whether the motion of a contact problem is the only one, by a mixed-integer program.

    distance: how far a second motion must be from the first, in any velocity [m/s, rad/s]; by default 1e-4 of the
    problem's own speed, 1e-3 with round friction cones. solution: impulses (nr,) of a known solution; by default one is
    found. directions: how many stand for a smooth friction set; by default round cones are kept and bracketed: second
    motions are sought by Newton's method from many starts and excluded by outer polyhedra that are refined until
    nothing is left. Parts that do not act on each other are decided apart. Sets with more than two rows (spin, rolling)
    need directions. After `time_limit` seconds the answer is None, with the best bound.
    """
    parts = split(problem, problem.islands())
    if len(parts) > 1:
        return _by_parts(problem, parts, distance, solution, directions, time_limit)
    if directions is None and not problem.friction.is_polyhedral():
        return _round(problem, distance, time_limit)
    directions = 8 if directions is None else directions
    polyhedral = problem.polyhedral(directions)
    program, missing = _program(problem, directions, time_limit)
    if program is None:
        return Uniqueness(None, Status.NO_SOLUTION, missing, None, None, 0.0, 0.0, 0.0, np.inf, 0)
    pairs = program.pairs
    gap = 1e-4 * pairs.speed if distance is None else _check.number("distance", distance, positive=True)
    starts = _paths(program.pairs)
    z = starts[0] if starts else _first(program).z
    if solution is not None:
        z = _pairs_of_solution(pairs, _check.floats("solution", solution, (problem.nr,)))
    if z is None:
        had = existence(problem, directions=directions, time_limit=time_limit)
        return Uniqueness(None, had.status, had.message, None, None, gap, 0.0, np.inf, had.limit, had.nodes)
    first = _certified(polyhedral, pairs, z)

    def answer(unique: bool | None, status: Status, message: str, **more: Any) -> Uniqueness:
        given = {"second": None, "separation": 0.0, "bound": gap, "limit": pairs.limit} | more
        return Uniqueness(unique, status, message, first, distance=gap, nodes=program.nodes, **given)

    if not first.certificate.ok(CERTIFICATE_TOL):
        return answer(None, Status.INACCURATE, "The first solution is not accurate enough to compare others with it.",
                      bound=np.inf)  # fmt: skip
    if _convex(polyhedral):
        return answer(True, Status.SOLVED, "One motion: without friction, or with associated friction, it is the only "
                      "one.", bound=0.0, limit=np.inf)  # fmt: skip
    for other in starts[1:]:
        apart = float(np.abs(pairs.V @ (other - z)).max(initial=0.0)) * pairs.speed
        second = _certified(polyhedral, pairs, other)
        if apart >= gap and second.certificate.ok(CERTIFICATE_TOL):
            return answer(False, Status.SOLVED, f"Two motions are possible, {apart:.3g} apart.", second=second,
                          separation=apart, bound=np.inf)  # fmt: skip
    return _decide(program, z, gap, time_limit, polyhedral, answer)


@dataclass(frozen=True)
class Extent:
    """The least and the largest value of a linear function of the impulses over all solutions; infinite where it grows
    without end. `lowest` and `highest` are solutions that have them.
    """

    low: float
    high: float
    status: Status
    message: str
    lowest: Solution | None
    highest: Solution | None

    @property
    def success(self) -> bool:
        """True when both ends were decided."""
        return self.status.success


@checks_arguments
def extent(problem: ContactProblem, row: Any, *, directions: int = 8, time_limit: float = 60.0) -> Extent:
    """How far row·p (row: (nr,)) ranges over all solutions p of a contact problem: what indeterminacy leaves open.

    A table that slides on four legs of unequal friction is an example (pr11 §5): its total friction has a range.
    """
    row = _check.floats("row", row, (problem.nr,))
    program, missing = _program(problem, directions, time_limit)
    if program is None:
        return Extent(np.nan, np.nan, Status.NO_SOLUTION, missing, None, None)
    pairs, polyhedral = program.pairs, problem.polyhedral(directions)
    ends: list[tuple[float, Solution | None]] = []
    for sign in (1.0, -1.0):
        cost = sign * (row @ pairs.P) / pairs.impulse
        found = program.best(cost)
        if found.z is None:
            status = Status.NO_SOLUTION if found.exhausted else Status.LIMIT
            return Extent(np.nan, np.nan, status, status.sentence, None, None)
        if not found.exhausted:
            return Extent(np.nan, np.nan, Status.LIMIT, f"Not decided within {time_limit:g} s.", None, None)
        solution = _certified(polyhedral, pairs, found.z)
        if not solution.certificate.ok(CERTIFICATE_TOL):
            return Extent(np.nan, np.nan, Status.INACCURATE, Status.INACCURATE.sentence, None, None)
        loose = np.isfinite(pairs.limit) and (found.z >= pairs.z_max * (1.0 - 1e-6))[np.abs(cost) > 0].any()
        ends.append((-sign * np.inf if loose else float(row @ solution.p), solution))
    (low, lowest), (high, highest) = ends
    return Extent(low, high, Status.SOLVED, f"It ranges from {low:.6g} to {high:.6g}.", lowest, highest)


def _by_parts(
    problem: ContactProblem, parts: Any, distance: float | None, solution: Any, directions: int | None,
    time_limit: float,
) -> Uniqueness:  # fmt: skip
    """The answers of parts that do not act on each other, put together."""
    deadline = time.monotonic() + _check.number("time_limit", time_limit, positive=True)
    known = None if solution is None else _check.floats("solution", solution, (problem.nr,))
    kept = directions is None and not problem.friction.is_polyhedral()
    gap = (1e-3 if kept else 1e-4) * units(with_masses(problem))[0] if distance is None else distance
    answers = []
    for rows, part in parts:
        left = max(deadline - time.monotonic(), 0.01)
        given = None if known is None else known[rows]
        answers.append(uniqueness(part, distance=gap, solution=given, directions=directions, time_limit=left))
    worst = min(answers, key=lambda a: (a.status is not Status.NO_SOLUTION, a.unique is not False, a.unique is True))
    posed = problem if directions is None else problem.polyhedral(directions)
    whole: list[Solution | None] = []
    for second in (False, True):
        chosen = [a.second if second and a is worst else a.first for a in answers]
        if any(c is None for c in chosen):
            whole.append(None)
            continue
        p = np.zeros(problem.nr)
        for (rows, _), c in zip(parts, chosen):
            assert c is not None
            p[rows] = c.p
        whole.append(finish(posed, p, solver="analysis", tol=CERTIFICATE_TOL, status=Status.SOLVED,
                            message="Found by search.", iterations=0))  # fmt: skip
    return Uniqueness(worst.unique, worst.status, worst.message, whole[0], whole[1], gap, worst.separation,
                      max(a.bound for a in answers), min(a.limit for a in answers),
                      sum(a.nodes for a in answers))  # fmt: skip


def _round(problem: ContactProblem, distance: float | None, time_limit: float) -> Uniqueness:
    speed = units(with_masses(problem))[0]
    gap = 1e-3 * speed if distance is None else _check.number("distance", distance, positive=True)
    if _convex(problem):
        answer = uniqueness(problem, distance=gap, directions=8, time_limit=time_limit)
        first = solve(problem, tol=CERTIFICATE_TOL)
        return replace(answer, first=first) if first.success else answer
    return Uniqueness(distance=gap, **decide_round(problem, gap, time_limit, CERTIFICATE_TOL))


def _decide(program: Program, z: FloatArray, gap: float, time_limit: float, problem: Any, answer: Any) -> Uniqueness:
    pairs = program.pairs
    found = program.away(z, gap / pairs.speed)
    other, limit = found.z, pairs.limit
    if (
        other is None and not found.exhausted and program.left > 0.0
    ):  # the search has given up: its bounds are too large
        other = _farthest(pairs, z, gap / pairs.speed)
        limit = limit if other is None else np.inf
    if other is None and not found.exhausted:
        bound = -found.bound * pairs.speed
        far = f"; if there is one, it is at most {bound:.3g} away" if np.isfinite(bound) else ""
        why = f"within {time_limit:g} s" if program.left <= 0.0 else "to the accuracy of the search"
        return answer(None, Status.LIMIT, f"Not decided {why}: no second motion was found{far}.",
                      bound=bound)  # fmt: skip
    if other is None and np.isfinite(limit):
        limit, other = _beyond(program)
    apart = 0.0 if other is None else float(np.abs(pairs.V @ (other - z)).max(initial=0.0)) * pairs.speed
    if other is None or apart < gap:
        up_to = "" if np.isinf(limit) else f" with contact forces (impulses) up to {limit:.3g}"
        return answer(True, Status.SOLVED, f"One motion{up_to}: no other differs from it by {gap:.3g} or more.",
                      limit=limit)  # fmt: skip
    second = _certified(problem, pairs, other)
    if second.certificate.ok(CERTIFICATE_TOL):
        return answer(False, Status.SOLVED, f"Two motions are possible, {apart:.3g} apart.", second=second,
                      separation=apart, bound=np.inf)  # fmt: skip
    return answer(None, Status.INACCURATE, "A second motion was found, but not to the accuracy that certifies it.",
                  second=second, separation=apart, bound=np.inf)  # fmt: skip


def _farthest(pairs: Pairs, z: FloatArray, distance: float) -> FloatArray | None:
    """The solution whose velocity is farthest from that of z, of few pairs by looking at all of them; else None."""
    if len(pairs.q) > LISTED_MAX_PAIRS:
        return None
    found = _lcp.solutions(pairs.M, pairs.q)
    if not found.complete:
        return None
    points = [z, *found, *(face.interior for face in found.faces)]
    for face in found.faces:
        for ray in (*face.rays, *face.lines):
            speed = float(np.abs(pairs.V @ ray).max(initial=0.0))
            if speed > 1e-9 * float(np.abs(ray).max(initial=0.0)):  # it runs on for ever, and its velocity with it
                points.append(face.interior + 2.0 * distance / speed * ray)
    return max(points, key=lambda point: float(np.abs(pairs.V @ (point - z)).max(initial=0.0)))


def _program(problem: ContactProblem, directions: int, time_limit: float) -> tuple[Program | None, str]:
    _check.count("directions", directions, low=3)
    deadline = time.monotonic() + _check.number("time_limit", time_limit, positive=True)
    try:
        return Program(pairs_of(problem, directions), deadline), ""
    except Contradiction:
        return None, "There is no solution: the joints contradict each other."


def _paths(pairs: Pairs) -> list[FloatArray]:
    """Solutions at the ends of some of Lemke's paths, each for another covering vector."""
    found, rng, n = [], np.random.default_rng(0), len(pairs.q)
    if n == 0:
        return [np.zeros(0)]
    for k in range(LEMKE_PATHS):
        covering = np.ones(n) if k == 0 else 10.0 ** rng.uniform(-2, 2, n)
        answer = _lcp.lemke_arrays(pairs.M, pairs.q, covering, 50 * n + 1000)
        if answer[2].success:
            found.append(answer[0])
    return found


def _first(program: Program) -> Any:
    cost = np.array([1.0 if group in ("normal", "box") else 1e-3 for group, _ in program.pairs.names])
    return program.best(cost)


def _convex(problem: ContactProblem) -> bool:
    """Whether the problem is a convex program with a strictly convex function of the velocity."""
    form = with_masses(problem).dynamics
    assert isinstance(form, Dense)
    frictionless = not (problem.friction.mu > 0).any() and not (problem.r0 > 0).any()
    return (problem.associated or frictionless) and np.array_equal(form.G, form.H)


def _pairs_of_solution(pairs: Pairs, p: FloatArray) -> FloatArray:
    """z of impulses p: the same impulses, and the least λ."""
    from scipy.optimize import nnls

    n = len(pairs.q)
    impulse = np.abs(pairs.P).max(axis=0, initial=0.0) > 0.0
    z = np.zeros(n)
    weight = 1e-6 * np.ones((1, int(impulse.sum())))
    z[impulse] = nnls(np.vstack([pairs.P[:, impulse] / pairs.impulse, weight]),
                      np.append((p - pairs.p0) / pairs.impulse, 0.0))[0]  # fmt: skip
    w = pairs.M @ z + pairs.q
    for members, _ in pairs.groups:
        z[members[-1]] = max(0.0, float(-w[members[:-1]].min(initial=0.0)))
    return z


def _certified(problem: ContactProblem, pairs: Pairs, z: FloatArray) -> Solution:
    return finish(problem, pairs.impulses(z), solver="analysis", tol=CERTIFICATE_TOL, status=Status.SOLVED,
                  message="Found by search.", iterations=0)  # fmt: skip


def _beyond(program: Program) -> tuple[float, FloatArray | None]:
    """How far the answer reaches, infinity where no solution has larger impulses than were searched; or such a one."""
    from .infinity import pattern_beyond

    left, d = pattern_beyond(program)
    if not left:
        return np.inf, None
    z = None if d is None else program.exact(d, np.ones(program.n), bounded=False)
    return program.pairs.limit, z
