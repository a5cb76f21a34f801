"""The tables of docs/feeder.md are those that the study of examples/parts_feeder.py has measured."""

import importlib.util
from pathlib import Path

import pytest
from scipy.stats import binomtest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def feeder():
    spec = importlib.util.spec_from_file_location("parts_feeder", ROOT / "examples" / "parts_feeder.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_says_what_was_measured(feeder):
    page = (ROOT / "docs" / "feeder.md").read_text().splitlines()
    assert [line for line in feeder.lines() if line not in page] == []


def test_every_cup_of_the_study_is_counted_once(feeder):
    rows = feeder.table("parts_feeder.csv")
    for row in rows:
        assert sum(int(row[outcome]) for outcome in feeder.OUTCOMES) == int(row["starts"])
    jams = sum(int(row["jam"]) for row in rows if float(row["step"]) == feeder.STEP)
    assert jams == sum(int(row["cups"]) for row in feeder.table("parts_feeder_jams.csv"))


@pytest.mark.parametrize(("hits", "number"), [(0, 7), (3, 20), (100, 200), (200, 200)])
def test_the_interval_of_a_fraction_is_that_of_wilson(feeder, hits, number):
    expected = binomtest(hits, number).proportion_ci(0.95, method="wilson")
    assert feeder.wilson(hits, number) == pytest.approx((expected.low, expected.high), abs=1e-6)
