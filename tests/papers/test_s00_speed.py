"""s00 §5.1: sliding is unstable where friction falls with the speed; the quantities are those on record."""

import pytest

from stiction.papers import experiment
from stiction.papers.s00_speed import CALM, SLOW, SPEED, TWO, belt, measured_growth


def test_growth_changes_its_sign_with_the_speed_of_the_belt():
    for speed in (SPEED, CALM):
        assert measured_growth([], belt(speed)) == pytest.approx(belt(speed).growth, abs=0.005)
    assert belt(SPEED).growth > 0 > belt(CALM).growth


def test_slow_pulling_looks_like_two_coefficients():
    """Most of the period is stick; the period differs from that with two coefficients by less than a tenth."""
    slow = belt(SLOW)
    assert slow.slip()[0][-1] < 0.15 * slow.period
    assert slow.period == pytest.approx(belt(SLOW, TWO).period, rel=0.1)


@pytest.mark.long
def test_quantities_are_those_on_record():
    outcome = experiment("s00-stribeck").run()
    assert [q.name for q in outcome.quantities if not q.ok] == []
    assert outcome.certificate["natural_map"] <= 1e-9
    assert list(outcome.figures()) == ["s00-stribeck"]
