"""The standard by which every number of a paper is judged."""

import pytest

from stiction.papers import Quantity
from stiction.papers.experiment import printed


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
    ],
)
def test_what_cannot_be_judged_is_refused(wrong):
    with pytest.raises(ValueError, match="a number"):
        Quantity("a number", 0.42, 0.42, **wrong)


def test_a_differing_number_says_what_was_tried():
    q = Quantity("a", 2.0, 2.0, paper="1.0", tried=("one", "another"), conclude="nothing")
    assert q.as_dict()["tried"] == ["one", "another"]
    assert q.as_dict()["conclude"] == "nothing"


def test_a_record_in_the_unit_of_the_quantity():
    assert Quantity("a", 0.036, 0.03, "m", record_within=0.007).ok
    assert not Quantity("a", 0.036, 0.03, "m", record_within=0.005).ok
    assert not Quantity("a", float("nan"), 0.03, "m", record_within=0.005).ok
