"""Sweeps until the laws are met: island by island, accelerated, with the scaled map as the measure of the error.

`relax` goes in rounds. In each round every island that is `_unfinished` is swept some times (`round_of_island`;
`_sweeps_of_round` says how often), and then its residual is checked (`_check_residual`), which costs as much as a
sweep. `_update_progress` acts on the result. Each rule is one function:

    _unfinished           whether an island is swept on: the one place that ends an island
    _sweeps_until_check   how many sweeps until the next residual check
    _try_newton           whether Newton's method takes over for a while
    _too_slow             whether an island above the tolerance is accepted as it is
    _set_threshold        how small the change of a sweep must be to end a round early
    _out_of_patience      whether an island has stalled: it is given up
    _outcome              how the rounds ended

`_update_progress` itself decides whether an island has made progress and whether it stagnates; `relax` says to which
problems a rule applies. To change a rule, change its function, or its parameters (`parameters.SCHEDULE`). `outcome`
says what follows from each outcome. `Progress` holds the state of each island. Errors there are squares (names end in
2), and so are ratios of errors: an error that has halved is a quarter (`SCHEDULE.progress_factor`). The rows of an
island are those of the contacts that are swept: in the first attempt only those that may act (`first_attempt`).

When a rule can act: every call of `relax` begins with a new `Progress`, so that patience, marks of progress and checks
count from zero in each window of `Nsgs`, and whenever `first_attempt` adds contacts. Windows are 200 and then 500
sweeps up to 3000 rows, 5000 above, 5000 also above 300 rows where every contact is elastic, and 2000 and 1000 where
more than `tol` is accepted (`outcome.attempt_limit`). A rule that needs more sweeps than its window never acts: 2000
sweeps of patience act in windows of 5000 only, where nothing above `tol` is accepted. With springs patience is 1000
sweeps: another start costs less there than to go on.

To try a rule without compiling, call its `py_func` on a `Progress` made by hand (tests/solvers/test_stopping_rules.py).
To see its effect, watch the sweeps of `benchmarks/nsgs.py`, whose piles never stall, and the times of `auto` in
`benchmarks/solves.py`, some of whose piles do. `BodySweeps(problem, p0, 1.0, True, (1e-12, 0)).sweep(5000, 1e-12)`
returns the outcome itself, of which `Nsgs` makes a status. No island is accepted unless `Aim.accept` is above `Aim.tol`
and it has more than `Aim.strict_rows` rows: that is `Nsgs().solve(problem, tol=1e-9, accept=1e-3)`, or a step of a pile
of some hundred bodies. A change here, of a comment too, compiles again all that rests on this file for a minute or two.
A new function that makes no arrays is `@njit(leaf=True)` (`runtime.jit.njit`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...runtime.jit import njit
from .accelerate import combine_sweeps, copy_range, new_history, realign_history, reset_history
from .island_newton import compliant_joints, sweeps_per_step
from .island_proximal import approach_rest, leave_out_overlaps, refine_proximally
from .measure import measure_island
from .mixing import mix_sweeps, switch_acceleration
from .order import PHASES
from .outcome import ACCEPTED, LIMIT, NONFINITE, RESTING, SOLVED, STALLED
from .parameters import ATTEMPT, ISLAND_NEWTON, SCHEDULE
from .records import Array
from .sweep_island import body_state, island_planar, island_planar_nested, island_spatial, island_spatial_nested


class Aim(NamedTuple):
    """The goal of the sweeps, and how they are made."""

    tol: Any  # the error that ends them, relative to `scale`
    accept: Any  # the error that large islands may have where `tol` is far
    strict_rows: Any  # islands up to this size have to meet `tol`
    scale: Any  # [m/s]
    limit: Any  # the most sweeps of an island
    parallel: Any  # whether threads share the work
    accelerate: Any  # whether sweeps are combined with those before


class Progress(NamedTuple):
    """The state of each island (nisl,). Errors are squares of the scaled map [m²/s²]."""

    goal2: Array  # the error at which it is solved: its share of the tolerance, by its number of rows
    accept2: Array  # the error up to which it may be accepted
    error2: Array  # the error at the last residual check
    done: Array  # sweeps so far
    checked: Array  # sweeps at the last check
    last_ratio: Array  # error over goal at the last check
    next_check: Array  # sweeps until the next check
    threshold: Array  # change of a sweep at which a round ends early [m/s]
    stagnant: Array  # whether sweeps change nothing any more
    accepted: Array  # whether it ends above its goal, accepted as it is
    progress_error2: Array  # the error at the last progress
    progress_sweeps: Array  # sweeps at the last progress
    best_error2: Array  # the least error of accelerated sweeps, with w made from p
    best_impulses: Array  # (n,) the impulses of that error
    theta: Array  # step θ of the proximal method
    newton_cost: Array  # sweeps that take as long as one step of Newton's method
    newton_due: Array  # sweeps after which Newton's method is tried again
    next_newton: Array  # the earliest round in which it is


@njit
def _new_progress(aim, entries):
    """The state of all islands before the first sweep."""
    islands, n = entries.phase.shape[0], len(entries.src)
    goal = (aim.tol * aim.scale) ** 2
    goal2, accept2 = np.empty(islands), np.full(islands, goal)
    for isl in range(islands):
        rows = entries.rows[isl + 1] - entries.rows[isl]
        goal2[isl] = goal * (rows / n)
        # a small island may miss no more than the whole problem
        if aim.accept > aim.tol and rows > aim.strict_rows:
            accept2[isl] = (aim.accept * aim.scale) ** 2 * (rows / n)
    none = np.zeros(islands, np.int64)
    return Progress(
        goal2=goal2,
        accept2=accept2,
        error2=np.full(islands, math.inf),
        done=none,
        checked=none.copy(),
        last_ratio=np.full(islands, math.inf),
        next_check=np.ones(islands, np.int64),
        threshold=np.full(islands, aim.tol * aim.scale),
        stagnant=np.zeros(islands, np.bool_),
        accepted=np.zeros(islands, np.bool_),
        progress_error2=np.full(islands, math.inf),
        progress_sweeps=none.copy(),
        best_error2=np.full(islands, math.inf),
        best_impulses=np.empty(n),
        theta=np.full(islands, ISLAND_NEWTON.theta_start),
        newton_cost=np.zeros(islands),
        newton_due=np.zeros(islands),
        next_newton=np.full(islands, SCHEDULE.newton_first_round),
    )


@njit
def goal_fraction(tol, part):
    """`part` of the goal (squares), or round-off where that is larger."""
    return max((1e-13 / tol) ** 2, part)


@njit(leaf=True, sealed=True)
def _start_with_newton(isl, aim, overlap, work, progress, history):
    """The squared error of an island after Newton's method from a first guess near its solution.

    Infinite where the guess is not near, or the island is not solved by this: then sweeps come next.
    """
    goal2 = progress.goal2[isl]
    error2 = measure_island(isl, aim.parallel, False, work)
    cheap = progress.newton_cost[isl] <= SCHEDULE.cheap_newton_sweeps
    near_goals = SCHEDULE.near_goals if cheap else SCHEDULE.close_goals
    if not error2 <= near_goals * goal2:
        return math.inf
    leave_out_overlaps(isl, aim.tol * aim.scale, overlap, work, history.g)
    error2, accepted = approach_rest(isl, aim.parallel, error2, goal2, history.g, work, history.x, history.r)
    springs = len(work.local.Cb) > 0  # what they let slip in a step adds up: what rests on a slope would creep
    target2 = goal_fraction(aim.tol, SCHEDULE.furthest_goals if springs else SCHEDULE.further_goals)
    if (springs or not accepted) and error2 > target2 * goal2:
        error2, progress.theta[isl], _, _ = refine_proximally(
            isl, aim.parallel, progress.theta[isl], error2, goal2, target2, work, history.x, history.r
        )
    return error2 if error2 <= goal2 else math.inf


@njit(leaf=True)
def _out_of_patience(isl, patience, progress):
    """Whether an island has made no progress for more than `patience` sweeps."""
    return progress.done[isl] - progress.progress_sweeps[isl] > patience


@njit(leaf=True)
def _unfinished(isl, aim, patience, progress):
    """Whether an island is swept on."""
    if progress.error2[isl] <= progress.goal2[isl] or progress.stagnant[isl] or progress.accepted[isl]:
        return False
    return progress.done[isl] < aim.limit and not _out_of_patience(isl, patience, progress)


@njit(leaf=True)
def _sweeps_of_round(isl, round_number, aim, progress, history):
    """The number of sweeps over an island in round `round_number` (from 1) before its residual is checked."""
    done = progress.done[isl]
    count = SCHEDULE.round_sweeps[min(round_number - 1, len(SCHEDULE.round_sweeps) - 1)]
    if history.mixing[isl]:  # whole groups, each of which begins with a full sweep
        group = SCHEDULE.full_every_sweeps
        return min(aim.limit - done, (-done) % group + (count + group - 1) // group * group)
    if round_number > 2 and history.momentum[isl]:
        count = progress.next_check[isl]
    return min(max(count, min(done // SCHEDULE.check_sweeps_divisor, SCHEDULE.check_max_sweeps)), aim.limit - done)


@njit
def _sweeps_to_goal(sweeps_since, ratio, last):
    """Sweeps until an error reaches its goal if it goes on to fall as it did from `last` to `ratio`.

    ratio, last: the error over its goal now, and `sweeps_since` sweeps ago.
    """
    return sweeps_since * math.log(ratio) / math.log(last / ratio)


@njit
def _sweeps_until_check(sweeps_since, ratio, last):
    """Sweeps until the next residual check of an island: as many as it will need (`_sweeps_to_goal`), within bounds."""
    longest = SCHEDULE.round_sweeps[-1]
    if not 1.0 < ratio < last < math.inf:
        return longest
    return int(min(longest, max(SCHEDULE.check_min_sweeps, math.ceil(_sweeps_to_goal(sweeps_since, ratio, last)))))


@njit
def _too_slow(done, sweeps_since, ratio, last):
    """Whether an island, after `done` sweeps, would need more than `SCHEDULE.accept_max_sweeps` in all.

    It is decided anew at every check; the other arguments are those of `_sweeps_to_goal`. `done` counts the sweeps of
    this call of `relax`: where contacts are added (`first_attempt`) the next call begins at 0, so that a problem may
    have more sweeps than that.
    """
    if done < SCHEDULE.accept_min_sweeps:
        return False
    if not ratio < last < math.inf:
        return True
    return done + _sweeps_to_goal(sweeps_since, ratio, last) > SCHEDULE.accept_max_sweeps


@njit(leaf=True)
def _try_newton(isl, round_number, tiny, aim, work, progress, history):
    """Take Newton's steps on an island, where they are due; returns whether they have helped.

    tiny: whether the island is so small that it is always taken further than its goal.
    """
    goal2, error2 = progress.goal2[isl], progress.error2[isl]
    target2 = goal_fraction(aim.tol, SCHEDULE.furthest_goals if tiny else SCHEDULE.further_goals)
    due = (
        error2 > goal2 and round_number >= progress.next_newton[isl] and progress.done[isl] >= progress.newton_due[isl]
    )
    if not due and not (tiny and error2 > target2 * goal2):
        return False
    progress.error2[isl], progress.theta[isl], improved, count = refine_proximally(
        isl, aim.parallel, progress.theta[isl], error2, goal2, target2, work, history.x, history.r
    )
    progress.next_newton[isl] = round_number + (1 if improved else round_number)
    progress.newton_due[isl] = progress.done[isl] + progress.newton_cost[isl] * count  # as much time again for sweeps
    return improved


@njit
def _set_threshold(isl, largest_change, aim, progress):
    """Lower the change of a sweep that ends a round, after one of `largest_change` has ended it above the goal."""
    goal = (aim.tol * aim.scale) ** 2
    error = math.sqrt(progress.error2[isl] / progress.goal2[isl] * goal)
    floor = SCHEDULE.floor * aim.scale
    progress.threshold[isl] = max(0.5 * min(1.0, aim.tol * aim.scale / error) * largest_change, floor)


@njit(leaf=True)
def _outcome(any_swept, aim, patience, progress):
    """How the rounds have ended (-1: they go on), the most sweeps of an island, and the error of all islands."""
    sweeps, total, stalled, acceptable = 0, 0.0, False, True
    for isl in range(len(progress.done)):
        sweeps = max(sweeps, progress.done[isl])
        total += progress.error2[isl]
        stalled = stalled or _out_of_patience(isl, patience, progress)
        acceptable = acceptable and progress.error2[isl] <= progress.accept2[isl]
    error = math.sqrt(total) / aim.scale
    if not error < math.inf:
        return NONFINITE, sweeps, error
    if error <= aim.tol:
        return SOLVED, sweeps, error
    if any_swept:
        return -1, sweeps, error
    if acceptable and aim.accept > aim.tol and error <= aim.accept:
        return ACCEPTED, sweeps, error
    return (LIMIT if sweeps >= aim.limit else STALLED if stalled else RESTING), sweeps, error


@njit(leaf=True)
def _check_residual(isl, rebuild, aim, work, progress, history, before):
    """Measure the error of an island, and set the time of the next check.

    rebuild: whether the bodies' state w is made from p, so that it holds the round-off of no sweep; before (slots, d):
    workspace for the state that it replaces, by which the history of acceleration is corrected.
    """
    w, low, high = work.w, work.entries.begin[isl], work.entries.begin[isl + 1]
    accelerated = rebuild and aim.accelerate
    if accelerated:
        for i in range(low, high):
            for j in range(w.shape[1]):
                before[i, j] = w[i, j]
    progress.error2[isl] = measure_island(isl, aim.parallel, rebuild, work)
    if accelerated:
        realign_history(isl, low, high, w, before, history)
    ratio = progress.error2[isl] / progress.goal2[isl]
    progress.next_check[isl] = _sweeps_until_check(
        progress.done[isl] - progress.checked[isl], ratio, progress.last_ratio[isl]
    )


@njit(leaf=True)
def _update_progress(isl, round_number, largest_change, pending, newton_allowed, aim, work, progress, history):
    """Apply the rules to an island after its residual check; returns whether its last sweep is still to be combined.

    largest_change: of the last sweep that visited every contact; pending: whether acceleration has not combined the
    last sweep with those before; newton_allowed: whether Newton's method can be tried.
    """
    entries, goal2, done = work.entries, progress.goal2[isl], progress.done[isl]
    first, last = entries.rows[isl], entries.rows[isl + 1]
    rows, sweeps_since, last_ratio = last - first, done - progress.checked[isl], progress.last_ratio[isl]
    progress.last_ratio[isl], progress.checked[isl] = progress.error2[isl] / goal2, done
    tiny = (
        newton_allowed
        and (entries.begin[isl + 1] - entries.begin[isl]) * work.w.shape[1] <= SCHEDULE.tiny_max_velocities
    )
    rebuilt = pending and round_number > len(SCHEDULE.round_sweeps)
    if newton_allowed and _try_newton(isl, round_number, tiny, aim, work, progress, history):
        reset_history(isl, rows, history)
        pending = False
    unsolved = progress.error2[isl] > goal2
    if rebuilt and progress.error2[isl] < progress.best_error2[isl]:
        progress.best_error2[isl] = progress.error2[isl]
        copy_range(first, last, _threads_share(isl, aim, entries), work.p, progress.best_impulses)
    large = aim.accept > aim.tol and rows > aim.strict_rows
    if large and goal2 < progress.error2[isl] <= progress.accept2[isl]:
        progress.accepted[isl] = _too_slow(done, sweeps_since, progress.error2[isl] / goal2, last_ratio)
    if largest_change <= progress.threshold[isl] and unsolved:
        _set_threshold(isl, largest_change, aim, progress)
    progress.stagnant[isl] = largest_change <= SCHEDULE.floor * aim.scale
    if progress.error2[isl] <= SCHEDULE.progress_factor * progress.progress_error2[isl]:
        progress.progress_error2[isl], progress.progress_sweeps[isl] = progress.error2[isl], done
    takes_turns = history.momentum[isl] and aim.accelerate and len(work.local.Cb) > 0
    if takes_turns and switch_acceleration(isl, done, progress.error2[isl], SCHEDULE.progress_factor, history):
        return False
    return pending and unsolved and done < aim.limit and not progress.accepted[isl]


@njit(inline=True)
def _threads_share(isl, aim, entries):
    """Whether threads share the rows of an island: it has more than one cell in its first phase."""
    return aim.parallel and entries.phase[isl, 1] - entries.phase[isl, 0] > 1


def _make_round(sweep_island):
    @njit(leaf=True)
    def round_of_island(isl, round_number, newton_allowed, aim, estimates, facets, work, progress, history, before):
        """Sweep an island until its next residual check, check it, and apply the rules to it.

        newton_allowed: whether Newton's method can be tried; estimates (cells,), before (slots, d): workspace.
        """
        entries, done = work.entries, progress.done
        threads_share = _threads_share(isl, aim, entries)
        largest_change = math.inf
        full = done[isl] % SCHEDULE.full_every_sweeps == 0
        pending = False  # a sweep whose result has not been combined with those before
        mixing = history.mixing[isl]
        for _ in range(_sweeps_of_round(isl, round_number, aim, progress, history)):
            if pending and not mixing:
                combine_sweeps(isl, threads_share, full, work, history)
            full = done[isl] % SCHEDULE.full_every_sweeps == 0
            if pending and mixing and full:
                mix_sweeps(isl, threads_share, work, history)
            pending = aim.accelerate and (full or pending or not mixing)
            if aim.accelerate and (full or not history.momentum[isl]):
                copy_range(entries.rows[isl], entries.rows[isl + 1], threads_share, work.p, history.x)
            estimate = sweep_island(isl, aim.parallel, estimates, full, work, facets)
            done[isl] += 1
            if full:
                largest_change = estimate
            if largest_change <= progress.threshold[isl] and not mixing:
                break
        rebuild = round_number > len(SCHEDULE.round_sweeps)  # before that, round-off is no matter
        _check_residual(isl, rebuild, aim, work, progress, history, before)
        pending = pending and (not mixing or done[isl] % SCHEDULE.full_every_sweeps == 0)
        if _update_progress(isl, round_number, largest_change, pending, newton_allowed, aim, work, progress, history):
            if mixing:
                mix_sweeps(isl, threads_share, work, history)
            else:
                combine_sweeps(isl, threads_share, full, work, history)

    return round_of_island


def _make_relax(d, nested, sweep_island):
    """`relax` for bodies with d velocities each; `nested` (0 or 1): with blocks of the kind NESTED."""
    round_of_island = _make_round(sweep_island)

    @njit(sealed=True)
    def relax(aim, work, overlap):
        """Sweep until every island has its share of the tolerance; `work.p` is changed in place.

        overlap (nr,): b of the problem. Returns the outcome, the most sweeps of an island, and the error.
        """
        entries, laws = work.entries, work.laws
        islands, moving = entries.phase.shape[0], entries.begin[-1]
        history = new_history(aim.accelerate, aim.accelerate and len(work.local.Cb) > 0, work)
        progress = _new_progress(aim, entries)
        estimates, before, facets = np.zeros(entries.phase[-1, PHASES]), np.empty((moving + 1, d)), 0
        for i in range(len(entries.gptr) - 1):
            facets = max(facets, entries.gptr[i + 1] - entries.gptr[i])
        # only accelerated sweeps on Coulomb's law stall; a convex problem may be slow, but is solved in the end
        patience = SCHEDULE.patience_elastic_sweeps if len(work.local.Cb) > 0 else SCHEDULE.patience_sweeps
        patience = patience if aim.accelerate and not laws.associated else aim.limit
        newton_allowed = aim.accelerate and not nested and not laws.associated
        newton_allowed = newton_allowed and not compliant_joints(entries, work.local.Cb)
        work.w[moving], work.v[moving] = 0.0, 0.0  # what cannot move
        for isl in range(islands):
            body_state(isl, aim.parallel, entries, work.packed, work.p, work.w)
        for isl in range(islands):  # from a first guess near the solution Newton's method goes there at once
            if newton_allowed and 0 < entries.rows[isl + 1] - entries.rows[isl] <= ATTEMPT.few_rows:
                progress.newton_cost[isl] = sweeps_per_step(isl, entries, d)
                progress.newton_due[isl] = progress.newton_cost[isl]
                progress.error2[isl] = _start_with_newton(isl, aim, overlap, work, progress, history)
        round_number = 0
        while True:
            round_number += 1
            any_swept = False
            for isl in range(islands):
                if _unfinished(isl, aim, patience, progress):
                    any_swept = True
                    round_of_island(
                        isl, round_number, newton_allowed, aim, estimates, facets, work, progress, history, before
                    )
            if not any_swept:
                for isl in range(islands):
                    if progress.best_error2[isl] <= progress.error2[isl]:
                        progress.error2[isl] = progress.best_error2[isl]
                        copy_range(entries.rows[isl], entries.rows[isl + 1], False, progress.best_impulses, work.p)
            outcome, sweeps, error = _outcome(any_swept, aim, patience, progress)
            if outcome >= 0:
                return outcome, sweeps, error

    return relax


relax_planar, relax_planar_nested = _make_relax(3, 0, island_planar), _make_relax(3, 1, island_planar_nested)
relax_spatial, relax_spatial_nested = _make_relax(6, 0, island_spatial), _make_relax(6, 1, island_spatial_nested)
