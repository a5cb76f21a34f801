"""The rules that stop the sweeps of block Gauss–Seidel, each by itself, as plain Python on islands made by hand."""

import math

import numpy as np
import pytest

from stiction.solvers.gauss_seidel import schedule
from stiction.solvers.gauss_seidel.outcome import ACCEPTED, LIMIT, NONFINITE, RESTING, SOLVED, STALLED, attempt_limit
from stiction.solvers.gauss_seidel.parameters import ATTEMPT, SCHEDULE
from stiction.solvers.gauss_seidel.schedule import Aim, Progress


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    """The rules call each other uncompiled."""
    for name in ("_out_of_patience", "_sweeps_to_goal"):
        monkeypatch.setattr(schedule, name, getattr(schedule, name).py_func)


def rule(name):
    """A rule as plain Python."""
    found = getattr(schedule, name)
    return getattr(found, "py_func", found)


def aim(**changes):
    """A tolerance of 1e-6."""
    values = {"tol": 1e-6, "accept": 1e-6, "strict_rows": 0, "scale": 1.0, "limit": 5000, "parallel": False}
    return Aim(**(values | {"accelerate": True} | changes))


def islands(count=1, **changes):
    """Islands of which nothing is known yet but for `changes`."""
    empty = {name: np.zeros(count) for name in Progress._fields}
    empty |= {"goal2": np.full(count, 1e-12), "accept2": np.full(count, 1e-12), "error2": np.ones(count)}
    empty |= {"stagnant": np.zeros(count, bool), "accepted": np.zeros(count, bool)}
    return Progress(**(empty | {name: np.array(value) for name, value in changes.items()}))


def test_an_island_is_given_up_after_its_patience_and_not_before():
    patience = SCHEDULE.patience_sweeps
    for done, over in ((patience, False), (patience + 1, True)):
        seen = islands(done=[500 + done], progress_sweeps=[500])
        assert rule("_out_of_patience")(0, patience, seen) == over
        assert rule("_unfinished")(0, aim(), patience, seen) != over


@pytest.mark.parametrize("end", [{"error2": [1e-13]}, {"stagnant": [True]}, {"accepted": [True]}, {"done": [5000]}])
def test_an_island_that_has_ended_is_not_swept_on(end):
    assert rule("_unfinished")(0, aim(), 10_000, islands())
    assert not rule("_unfinished")(0, aim(), 10_000, islands(**end))


def test_how_the_rounds_have_ended():
    def ended(any_swept=False, patience=10_000, **changes):
        taken = {name: changes.pop(name) for name in ("accept",) if name in changes}
        return rule("_outcome")(any_swept, aim(**taken), patience, islands(**changes))[0]

    assert ended(error2=[1e-13]) == SOLVED
    assert ended(any_swept=True) == -1
    assert ended(error2=[math.inf]) == NONFINITE
    assert ended(done=[5000]) == LIMIT
    assert ended(done=[3000], patience=2000) == STALLED
    assert ended() == RESTING
    assert ended(error2=[1e-8], accept2=[1e-6], accept=1e-3) == ACCEPTED
    assert ended(error2=[1e-4], accept2=[1e-6], accept=1e-3) == RESTING


def test_the_next_check_is_due_when_the_error_will_have_fallen():
    """An error, as a square, that falls by a factor of ten in four sweeps meets a goal a thousandth below in twelve."""
    assert rule("_sweeps_until_check")(4, 1e3, 1e4) == 12
    assert rule("_sweeps_until_check")(4, 1e3, 1e3) == SCHEDULE.round_sweeps[-1]


def test_an_island_is_accepted_only_where_its_goal_is_far():
    done = SCHEDULE.accept_min_sweeps
    assert not rule("_too_slow")(done - 1, 4, 1e3, 1e3 + 1)
    assert rule("_too_slow")(done, 4, 1e3, 1e3)
    assert not rule("_too_slow")(done, 4, 10.0, 1e4)


def test_sweeps_of_a_first_attempt():
    assert attempt_limit(ATTEMPT.few_rows) == ATTEMPT.few_sweeps
    assert attempt_limit(ATTEMPT.few_rows + 1) == ATTEMPT.many_sweeps
    assert attempt_limit(ATTEMPT.strict_rows + 1, elastic=True) == ATTEMPT.elastic_sweeps
    assert attempt_limit(ATTEMPT.strict_rows, elastic=True) == ATTEMPT.few_sweeps
