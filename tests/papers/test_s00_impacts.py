"""The experiments of s00 on impact: their quantities are those on record."""

import numpy as np
import pytest

from stiction.papers import experiment, s00_ball


def off_record(outcome):
    return [(q.name, q.ours, q.record) for q in outcome.quantities if not q.ok]


def test_bounces_pass_through_the_zeno_time():
    for e, h in ((0.5, 0.004), (0.3, 0.002)):
        run = s00_ball.drop([1.0], e, h, s00_ball.zeno_time(e) + 0.1)
        assert s00_ball.rest_time(run) == pytest.approx(s00_ball.zeno_time(e), abs=15 * h)
        assert np.abs(run.v[-1]).max() == 0.0


def test_first_rebound_is_of_first_order():
    errors = [np.abs(s00_ball.apex_errors(h)).max() for h in (0.008, 0.004)]
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.1)


@pytest.mark.long
def test_bouncing_ball_is_on_record():
    outcome = experiment("s00-bouncing-ball").run()
    assert off_record(outcome) == []
    assert list(outcome.figures()) == ["s00-bouncing-ball"]


def test_restitution_against_the_phase_of_the_impact():
    outcome = experiment("s00-random-restitution").run()
    assert off_record(outcome) == []
    assert [q.verdict for q in outcome.quantities].count("differs") == 1  # s00's claim, with eq. 3.10 as printed
    assert list(outcome.figures()) == ["s00-random-restitution"]


def test_billiards_are_on_record():
    outcome = experiment("s00-billiards").run()
    assert off_record(outcome) == []
    assert outcome.certificate["natural_map"] < 1e-8
