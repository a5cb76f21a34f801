"""Sweeps until the laws are met: island by island, accelerated, with the scaled map as the judge.

`relax` goes in rounds. In each, every island that is `_unfinished` is swept some times (`round_of_island`;
`_sweeps_of_round` says how often), and then looked at (`_look`): that costs as much as a sweep. `_conclude` draws the
conclusions, and each rule is one function:

    _unfinished       whether an island is swept on: the one place that ends an island
    _next_look        how many sweeps until the next look
    _try_newton       whether Newton's method takes over for a while
    _too_slow         whether an island above the tolerance is accepted as it is
    _set_threshold    which change of a sweep ends the next ones before their look
    _out_of_patience  whether an island has stalled: it is given up
    _outcome          how all of it ended

Whether an island has made progress, and whether it rests, is settled in `_conclude` itself; `relax` says to which
problems a rule applies. To change a rule, change its function and its constants below; limits that `auto` and the
compiled loop share are in `outcome`, with what follows from each outcome. `Progress` holds what is known of each
island. Errors are squares there, and so are ratios of them: an error that has halved is a quarter (`_PROGRESS`). That
makes no difference to `_sweeps_to_goal`, where the logarithms of two ratios are divided. The rows of an island are
those of the contacts that are swept: in the first attempt only those that may act (`first_attempt`).

When a rule can act: every call of `relax` begins with a new `Progress`, so that patience, marks and looks count from
zero in each window of `Nsgs`, and whenever `first_attempt` takes contacts in. Windows are 200 and then 500 sweeps up to
3000 rows, 5000 above, and 2000 and 1000 where more than `tol` is accepted. A rule that needs more sweeps than its
window never acts: 2000 sweeps of patience act above 3000 rows only, where nothing above `tol` is accepted.

To see what a rule does, look at the sweeps and residuals of `benchmarks/nsgs.py`, whose piles never stall, and of
`benchmarks/solves.py`, whose piles do. `BodySweeps(problem, p0, 1.0, True, (1e-12, 0)).sweep(5000, 1e-12)` returns the
outcome itself, of which `Nsgs` makes a status. No island is accepted unless `Aim.accept` is above `Aim.tol` and it has
more than `Aim.strict_rows` rows: that is `Nsgs().solve(problem, tol=1e-9, accept=1e-3)`, or a step of a pile of some
hundred bodies. A change here, of a comment too, compiles again what rests on this file: the sweeps' frame,
`first_attempt` and the stages of a step, a minute or two. A new function that makes no arrays is `@njit(leaf=True)`
(`runtime.jit.njit`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...runtime.jit import njit
from .accelerate import combine, copy, forget, new_history, realign
from .island_newton import THETA_START, sweeps_per_step
from .island_proximal import polish, settle, without_overlaps
from .measure import measure_island
from .order import PHASES
from .outcome import ACCEPTED, FLOOR, LIMIT, NONFINITE, QUICK_ROWS, RESTING, SOLVED, STALLED
from .records import Array
from .sweep_island import body_state, island_planar, island_planar_nested, island_spatial, island_spatial_nested

_NEAR_GOAL, _CLOSER_GOAL = 1e6, 1e2  # of a share, as squares: where Newton's method goes at once; where it is dear
_FURTHER_GOAL, _FURTHEST_GOAL = 1e-8, 1e-16  # of a share, as squares: where it ends
_FULL_EVERY_SWEEPS = 4  # one of these visits the open contacts too
_ROUND_SWEEPS = (1, 4, 10, 20)  # before the first looks at the natural map; then always the last
_LOOK_SWEEPS = 3  # before a later look at an island with momentum, at least; at most the last of `_ROUND_SWEEPS`
_SPARSE_PART, _APART_SWEEPS = 20, 40  # looks are apart by the sweeps so far over the first, but no more than the second
# In which an island must have made progress, else it is given up at its next look; only accelerated sweeps on Coulomb's
# law are.
_PATIENCE_SWEEPS = 2000
_PROGRESS = 0.25  # of the squared error at the last progress: the error has halved
_NEWTON_LOOKS = 2  # after which Newton's method is tried on small islands, at least
_CHEAP_SWEEPS = 10.0  # that take as long as a factorisation: up to which Newton's method is tried from `_NEAR_GOAL`
_FEW_VELOCITIES = 12  # of an island that goes further than its goal at once: digits for nothing
# An island whose error may be accepted is swept so often at least, and on for as long as it is to reach its goal within
# the second number. Jammed piles are not: their errors fall by a tenth in a thousand sweeps.
ENOUGH_SWEEPS, HOPEFUL_SWEEPS = 60, 120


class Aim(NamedTuple):
    """What sweeps aim at, and how they go about it."""

    tol: Any  # the error that ends them, of `scale`
    accept: Any  # the error that large islands may have where `tol` is far
    strict_rows: Any  # up to so many rows an island has to meet `tol`
    scale: Any  # [m/s]
    limit: Any  # sweeps of an island at most
    parallel: Any  # whether threads share the work
    accelerate: Any  # whether sweeps are combined with those before


class Progress(NamedTuple):
    """What is known of each island (nisl,). Errors are squares of the scaled map [m²/s²]."""

    share: Array  # the error that solves it: the goal by its number of rows
    bound: Array  # the error that may stay
    missed: Array  # the error at the last look
    done: Array  # sweeps
    looked: Array  # sweeps at the last look
    last_ratio: Array  # error over share at the look before
    next_look: Array  # sweeps until the next one
    threshold: Array  # change of a sweep that ends those of a round [m/s]
    still: Array  # whether sweeps change nothing any more
    accepted: Array  # whether it ends above its goal, accepted as it is
    mark_error: Array  # the error at the last progress
    mark_sweeps: Array  # and the sweeps
    least: Array  # the least error where w was made anew and sweeps are accelerated; `best` (n,): its impulses
    best: Array
    theta: Array  # step of the proximal method
    newton_cost: Array  # sweeps that take as long as one step of Newton's method
    newton_due: Array  # sweeps after which it is tried again
    next_newton: Array  # and the round, at the earliest


@njit
def _new_progress(aim, items):
    """Nothing is known of any island yet."""
    islands, n = items.phase.shape[0], len(items.src)
    goal = (aim.tol * aim.scale) ** 2
    share, bound = np.empty(islands), np.full(islands, goal)
    for isl in range(islands):
        rows = items.rows[isl + 1] - items.rows[isl]
        share[isl] = goal * (rows / n)
        # how large an island's error may stay; a small one misses no more than the whole problem may
        if aim.accept > aim.tol and rows > aim.strict_rows:
            bound[isl] = (aim.accept * aim.scale) ** 2 * (rows / n)
    none = np.zeros(islands, np.int64)
    return Progress(
        share=share,
        bound=bound,
        missed=np.full(islands, math.inf),
        done=none,
        looked=none.copy(),
        last_ratio=np.full(islands, math.inf),
        next_look=np.ones(islands, np.int64),
        threshold=np.full(islands, aim.tol * aim.scale),
        still=np.zeros(islands, np.bool_),
        accepted=np.zeros(islands, np.bool_),
        mark_error=np.full(islands, math.inf),
        mark_sweeps=none.copy(),
        least=np.full(islands, math.inf),
        best=np.empty(n),
        theta=np.full(islands, THETA_START),
        newton_cost=np.zeros(islands),
        newton_due=np.zeros(islands),
        next_newton=np.full(islands, _NEWTON_LOOKS),
    )


@njit
def beyond(tol, part):
    """`part` of the goal, as squares, but above round-off."""
    return max((1e-13 / tol) ** 2, part)


@njit(leaf=True, sealed=True)
def _go_near(isl, aim, overlap, work, progress, history):
    """Newton's method on an island whose first guess is near the answer: its error after that.

    Infinite where it is not near, or not solved by this: then sweeps come next.
    """
    share = progress.share[isl]
    missed = measure_island(isl, aim.parallel, False, work)
    near = _NEAR_GOAL if progress.newton_cost[isl] <= _CHEAP_SWEEPS else _CLOSER_GOAL
    if not missed <= near * share:
        return math.inf
    without_overlaps(isl, aim.tol * aim.scale, overlap, work, history.g)
    missed, kept = settle(isl, aim.parallel, missed, share, history.g, work, history.x, history.r)
    far = beyond(aim.tol, _FURTHER_GOAL)
    if not kept and missed > far * share:
        missed, progress.theta[isl], _, _ = polish(
            isl, aim.parallel, progress.theta[isl], missed, share, far, work, history.x, history.r
        )
    return missed if missed <= share else math.inf


@njit(leaf=True)
def _out_of_patience(isl, patience, progress):
    """Whether an island has made no progress for more than `patience` sweeps."""
    return progress.done[isl] - progress.mark_sweeps[isl] > patience


@njit(leaf=True)
def _unfinished(isl, aim, patience, progress):
    """Whether an island is swept on."""
    if progress.missed[isl] <= progress.share[isl] or progress.still[isl] or progress.accepted[isl]:
        return False
    return progress.done[isl] < aim.limit and not _out_of_patience(isl, patience, progress)


@njit(leaf=True)
def _sweeps_of_round(isl, turn, aim, progress, history):
    """How often an island is swept in round `turn` (from 1) before it is looked at."""
    done = progress.done[isl]
    count = _ROUND_SWEEPS[min(turn - 1, len(_ROUND_SWEEPS) - 1)]
    if turn > 2 and history.momentum[isl]:
        count = progress.next_look[isl]
    return min(max(count, min(done // _SPARSE_PART, _APART_SWEEPS)), aim.limit - done)


@njit
def _sweeps_to_goal(since, ratio, last):
    """Sweeps until an error reaches its goal if it falls on as it did from `last` to `ratio` in `since` sweeps.

    Both are errors over that goal.
    """
    return since * math.log(ratio) / math.log(last / ratio)


@njit
def _next_look(since, ratio, last):
    """Sweeps until the next look at an island: as many as it will need (`_sweeps_to_goal`), within bounds."""
    most = _ROUND_SWEEPS[-1]
    if not 1.0 < ratio < last < math.inf:
        return most
    return int(min(most, max(_LOOK_SWEEPS, math.ceil(_sweeps_to_goal(since, ratio, last)))))


@njit
def _too_slow(done, since, ratio, last):
    """Whether an island, after `done` sweeps, would need more than `HOPEFUL_SWEEPS` in all; the rest as above.

    It is judged anew at every look. `done` counts the sweeps of this call of `relax`; where contacts are taken in
    (`first_attempt`) the next call begins at 0, so that a problem may have more sweeps than that.
    """
    if done < ENOUGH_SWEEPS:
        return False
    if not ratio < last < math.inf:
        return True
    return done + _sweeps_to_goal(since, ratio, last) > HOPEFUL_SWEEPS


@njit(leaf=True)
def _try_newton(isl, turn, few, aim, work, progress, history):
    """Newton's method on an island, where it is due; whether it has helped.

    few: an island so small that it is always taken further than the goal.
    """
    share, missed = progress.share[isl], progress.missed[isl]
    far = beyond(aim.tol, _FURTHEST_GOAL if few else _FURTHER_GOAL)
    due = missed > share and turn >= progress.next_newton[isl] and progress.done[isl] >= progress.newton_due[isl]
    if not due and not (few and missed > far * share):
        return False
    progress.missed[isl], progress.theta[isl], better, count = polish(
        isl, aim.parallel, progress.theta[isl], missed, share, far, work, history.x, history.r
    )
    progress.next_newton[isl] = turn + (1 if better else turn)
    progress.newton_due[isl] = progress.done[isl] + progress.newton_cost[isl] * count  # as much time again for sweeps
    return better


@njit
def _set_threshold(isl, seen, aim, progress):
    """The change of a sweep that ends the next ones, after one of `seen` was not enough."""
    goal = (aim.tol * aim.scale) ** 2
    error = math.sqrt(progress.missed[isl] / progress.share[isl] * goal)
    progress.threshold[isl] = max(0.5 * min(1.0, aim.tol * aim.scale / error) * seen, FLOOR * aim.scale)


@njit(leaf=True)
def _outcome(swept, aim, patience, progress):
    """How the rounds have ended, -1 if they go on; the sweeps of the island that took most, and the error of all."""
    sweeps, total, stalled, taken = 0, 0.0, False, True
    for isl in range(len(progress.done)):
        sweeps = max(sweeps, progress.done[isl])
        total += progress.missed[isl]
        stalled = stalled or _out_of_patience(isl, patience, progress)
        taken = taken and progress.missed[isl] <= progress.bound[isl]
    error = math.sqrt(total) / aim.scale
    if not error < math.inf:
        return NONFINITE, sweeps, error
    if error <= aim.tol:
        return SOLVED, sweeps, error
    if swept:
        return -1, sweeps, error
    if taken and aim.accept > aim.tol and error <= aim.accept:
        return ACCEPTED, sweeps, error
    return (LIMIT if sweeps >= aim.limit else STALLED if stalled else RESTING), sweeps, error


@njit(leaf=True)
def _look(isl, anew, aim, work, progress, history, before):
    """Measure the error of an island, and say when to look next.

    anew: the bodies' state w is made from p, so that it holds the round-off of no sweep; before (slots, d): room for
    what it was, which acceleration has to know.
    """
    w, low, high = work.w, work.items.begin[isl], work.items.begin[isl + 1]
    accelerated = anew and aim.accelerate
    if accelerated:
        for i in range(low, high):
            for j in range(w.shape[1]):
                before[i, j] = w[i, j]
    progress.missed[isl] = measure_island(isl, aim.parallel, anew, work)
    if accelerated:
        realign(isl, low, high, w, before, history)
    ratio = progress.missed[isl] / progress.share[isl]
    progress.next_look[isl] = _next_look(progress.done[isl] - progress.looked[isl], ratio, progress.last_ratio[isl])


@njit(leaf=True)
def _conclude(isl, turn, seen, pending, smooth, aim, work, progress, history):
    """What follows from a look at an island; whether its last sweep is still to be combined with those before.

    seen: the change of the last sweep that visited every contact; smooth: whether Newton's method can be tried.
    """
    items, share, done = work.items, progress.share[isl], progress.done[isl]
    rows, since, earlier = items.rows[isl + 1] - items.rows[isl], done - progress.looked[isl], progress.last_ratio[isl]
    progress.last_ratio[isl], progress.looked[isl] = progress.missed[isl] / share, done
    few = smooth and (items.begin[isl + 1] - items.begin[isl]) * work.w.shape[1] <= _FEW_VELOCITIES
    kept = pending and turn > len(_ROUND_SWEEPS)
    if smooth and _try_newton(isl, turn, few, aim, work, progress, history):
        forget(isl, rows, history)
        pending = False
    short = progress.missed[isl] > share
    if kept and progress.missed[isl] < progress.least[isl]:
        progress.least[isl] = progress.missed[isl]
        copy(items.rows[isl], items.rows[isl + 1], _shared(isl, aim, items), work.p, progress.best)
    large = aim.accept > aim.tol and rows > aim.strict_rows
    if large and share < progress.missed[isl] <= progress.bound[isl]:
        progress.accepted[isl] = _too_slow(done, since, progress.missed[isl] / share, earlier)
    if seen <= progress.threshold[isl] and short:
        _set_threshold(isl, seen, aim, progress)
    progress.still[isl] = seen <= FLOOR * aim.scale
    if progress.missed[isl] <= _PROGRESS * progress.mark_error[isl]:
        progress.mark_error[isl], progress.mark_sweeps[isl] = progress.missed[isl], done
    return pending and short and done < aim.limit and not progress.accepted[isl]


@njit(inline=True)
def _shared(isl, aim, items):
    """Whether threads share the rows of an island: it has more than one cell in its first phase."""
    return aim.parallel and items.phase[isl, 1] - items.phase[isl, 0] > 1


def _make_round(sweep_island):
    @njit(leaf=True)
    def round_of_island(isl, turn, smooth, aim, most, facets, work, progress, history, before):
        """Sweep an island until its next look, look, and draw the conclusions.

        smooth: whether Newton's method can be tried; before (slots, d): room for its state.
        """
        items, done = work.items, progress.done
        shared = _shared(isl, aim, items)
        seen = math.inf
        full = done[isl] % _FULL_EVERY_SWEEPS == 0
        pending = False  # a sweep whose result has not been combined with those before
        for _ in range(_sweeps_of_round(isl, turn, aim, progress, history)):
            if pending:
                combine(isl, shared, full, work, history)
            pending = aim.accelerate
            full = done[isl] % _FULL_EVERY_SWEEPS == 0
            if aim.accelerate and (full or not history.momentum[isl]):
                copy(items.rows[isl], items.rows[isl + 1], shared, work.p, history.x)
            estimate = sweep_island(isl, aim.parallel, most, full, work, facets)
            done[isl] += 1
            if full:
                seen = estimate
            if seen <= progress.threshold[isl]:
                break
        _look(isl, turn > len(_ROUND_SWEEPS), aim, work, progress, history, before)  # at first, round-off is no matter
        if _conclude(isl, turn, seen, pending, smooth, aim, work, progress, history):
            combine(isl, shared, full, work, history)

    return round_of_island


def _make_relax(d, nested, sweep_island):
    """All rounds for bodies with d velocities each; `nested` (0 or 1): with blocks of this kind."""
    round_of_island = _make_round(sweep_island)

    @njit(sealed=True)
    def relax(aim, work, overlap):
        """Sweep until every island has its share of the tolerance; `work.p` is changed in place.

        overlap (nr,): b of the problem. Returns how it ended, the sweeps of the island that took most, and the error.
        """
        items, laws = work.items, work.laws
        islands, moving = items.phase.shape[0], items.begin[-1]
        history, progress = new_history(aim.accelerate, work), _new_progress(aim, items)
        most, before, facets = np.zeros(items.phase[-1, PHASES]), np.empty((moving + 1, d)), 0
        for i in range(len(items.gptr) - 1):
            facets = max(facets, items.gptr[i + 1] - items.gptr[i])
        # only accelerated sweeps on Coulomb's law stall; on a convex problem slow is never for good
        patience = _PATIENCE_SWEEPS if aim.accelerate and not laws.associated else aim.limit
        smooth = aim.accelerate and not nested and not laws.associated and len(work.local.Cb) == 0
        work.w[moving], work.v[moving] = 0.0, 0.0  # what cannot move
        for isl in range(islands):
            body_state(isl, aim.parallel, items, work.packed, work.p, work.w)
        for isl in range(islands):  # where the first guess is near the answer, Newton's method goes there at once
            if smooth and 0 < items.rows[isl + 1] - items.rows[isl] <= QUICK_ROWS:
                progress.newton_cost[isl] = sweeps_per_step(isl, items, d)
                progress.newton_due[isl] = progress.newton_cost[isl]
                progress.missed[isl] = _go_near(isl, aim, overlap, work, progress, history)
        turn = 0
        while True:
            turn += 1
            swept = False
            for isl in range(islands):
                if _unfinished(isl, aim, patience, progress):
                    swept = True
                    round_of_island(isl, turn, smooth, aim, most, facets, work, progress, history, before)
            if not swept:
                for isl in range(islands):
                    if progress.least[isl] <= progress.missed[isl]:
                        progress.missed[isl] = progress.least[isl]
                        copy(items.rows[isl], items.rows[isl + 1], False, progress.best, work.p)
            ended, sweeps, error = _outcome(swept, aim, patience, progress)
            if ended >= 0:
                return ended, sweeps, error

    return relax


relax_planar, relax_planar_nested = _make_relax(3, 0, island_planar), _make_relax(3, 1, island_planar_nested)
relax_spatial, relax_spatial_nested = _make_relax(6, 0, island_spatial), _make_relax(6, 1, island_spatial_nested)
