"""The standard by which every number of a paper is judged."""

from dataclasses import replace

import pytest

from stiction.errors import ModelError
from stiction.papers import Quantity, experiment
from stiction.papers.experiment import EXACT, claim, printed


@pytest.mark.parametrize(
    ("text", "value", "tolerance"),
    [
        ("0.42", 0.42, 0.005),
        ("≈ 0.383", 0.383, 0.0005),
        ("about 2", 2.0, 0.5),
        ("−1.962", -1.962, 0.0005),
        ("-0.7848", -0.7848, 5e-5),
        ("1.50", 1.5, 0.005),
        ("3.2e-4", 3.2e-4, 5e-6),
        ("70", 70.0, 0.5),
    ],
)
def test_the_tolerance_is_half_a_unit_of_the_last_printed_digit(text, value, tolerance):
    assert printed(text) == pytest.approx((value, tolerance), rel=1e-12)
    q = Quantity("a", value + tolerance, 1.0, paper=text)
    assert q.verdict == "reproduced"
    assert Quantity("a", value + 1.001 * tolerance, 1.0, paper=text).verdict == "differs"


def test_verdicts_follow_their_definition():
    assert Quantity("a", 1.0, 1.0).verdict == "no printed value"
    assert Quantity("a", 1.004, 1.0, paper="1.00", fitted=True, reason="a datum was chosen").verdict == "fitted"
    assert Quantity("a", 1.006, 1.0, paper="1.00", fitted=True, reason="a datum was chosen").verdict == "differs"
    apart = Quantity("a", 1.0, 1.0, paper="1.0", comparable=False, reason="another window")
    assert apart.verdict == "not comparable"
    assert Quantity("a claim in words", 0.0, 0.0, paper=1.0).verdict == "differs"
    assert Quantity("a", float("nan"), 0.0, paper="1.0").verdict == "differs"


@pytest.mark.parametrize(
    "wrong",
    [
        {"paper": "not at all"},
        {"paper": "0.42", "tolerance": 0.1},
        {"paper": "0.42", "fitted": True},
        {"paper": "0.42", "comparable": False},
        {"paper": 0.42, "tolerance": 0.05},
        {"record_within": 0.42},
        {"record_tolerance": 1.0},
    ],
)
def test_what_cannot_be_judged_is_refused(wrong):
    with pytest.raises(ModelError, match="a number"):
        Quantity("a number", 0.42, 0.42, **wrong)


def test_a_differing_number_says_what_was_tried():
    q = Quantity("a", 2.0, 2.0, paper="1.0", tried=("one", "another"), conclude="nothing")
    assert q.as_dict()["tried"] == ["one", "another"]
    assert q.as_dict()["conclude"] == "nothing"


def test_a_record_in_the_unit_of_the_quantity():
    assert Quantity("a", 0.036, 0.03, "m", record_within=0.007).ok
    assert not Quantity("a", 0.036, 0.03, "m", record_within=0.005).ok
    assert not Quantity("a", float("nan"), 0.03, "m", record_within=0.005).ok


def test_a_record_is_relative_and_small_ones_are_no_exception():
    assert Quantity("a", 0.00078, 0.00078).ok
    assert not Quantity("a", 0.00078 * (1 + 2e-6), 0.00078).ok
    assert Quantity("a", 0.0, 0.0).ok
    assert not Quantity("a", 1e-300, 0.0).ok
    assert Quantity("a", 1e-12, 0.0, record_within=1e-9).ok


def test_a_claim_in_words_is_a_quantity_with_a_paper_value():
    assert claim("a", True).verdict == "reproduced"
    assert claim("a", False).verdict == "differs"
    assert not claim("a", False).ok
    assert claim("a", False, record=False).ok
    assert claim("a", False, record=False, paper=False).verdict == "reproduced"


@pytest.mark.parametrize(
    "name", ["pr11-stepping", "pr11-critical", "ttp01-slide-aligned", "ttp01-spin-misaligned", "s00-random-restitution"]
)
def test_a_changed_record_fails_in_every_row(name):
    for q in experiment(name).run().quantities:
        assert q.ok, q
        assert not replace(q, ours=q.ours + 2.1 * q.within + 1e-300).ok, q
        changed = q.record + 3 * q.within if q.record else 10 * q.within + EXACT
        assert not replace(q, record=changed).ok, q
