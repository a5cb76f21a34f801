"""The gallery of the papers shows the numbers of the run that drew its figures, and says what was tried."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from stiction.papers import experiment, experiments
from stiction.papers.words import CAPTIONS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def gallery():
    spec = importlib.util.spec_from_file_location("gallery_tables", ROOT / "docs" / "gallery_tables.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["gallery_tables"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["gallery_tables"]


def test_every_table_is_that_of_the_run(gallery):
    data = gallery.read_data()
    tables = gallery.TABLE.findall(PAGE)
    assert len(tables) == PAGE.count(": from data/reproduce.json -->") >= 15
    for name, text in tables:
        assert text == gallery.table(data[name]), f"{name}: python docs/make_figures.py gallery"


def test_every_number_of_the_text_is_that_of_the_run(gallery):
    assert len(gallery.MARKED.findall(PAGE)) >= 20
    assert list(gallery.wrong_numbers(PAGE)) == []


def test_a_changed_number_is_found(gallery):
    number, name, quantity = gallery.MARKED.findall(PAGE)[0]
    wrong = f"{float(number.replace('−', '-')) * 1.5 + 1}<!-- {name}: {quantity} -->"
    assert len(list(gallery.wrong_numbers(wrong))) == 1
    assert len(list(gallery.wrong_numbers(f"{number}<!-- {name}: not in it -->"))) == 1


def test_the_run_is_of_every_experiment_and_on_record(gallery):
    data = gallery.read_data()
    assert set(data) == set(experiments())
    off = [f"{name}: {row['name']}" for name, rows in data.items() for row in rows
           if not abs(row["ours"] - row["record"]) <= 1.01 * row["within"] + 1e-8 * abs(row["record"])]  # fmt: skip
    assert off == []


def test_what_differs_says_what_was_tried_and_what_to_conclude(gallery):
    silent = [f"{name}: {row['name']}" for name, rows in gallery.read_data().items() for row in rows
              if row["verdict"] == "differs" and not (row.get("tried") and row.get("conclude"))]  # fmt: skip
    assert silent == []


def test_every_experiment_and_every_figure_of_it_is_shown():
    for name in experiments():
        assert name in PAGE
    shown = set(re.findall(r"\(images/([^)]+)\.png\)", PAGE))
    assert {figure for figure in CAPTIONS if figure not in shown} == set()


@pytest.mark.parametrize(
    "name", ["pr11-stepping", "pr11-impulse", "ttp01-slide-misaligned", "s00-random-restitution", "pr11-critical"]
)
def test_a_fresh_run_gives_the_numbers_that_are_kept(gallery, name):
    kept, fresh = gallery.read_data()[name], gallery.rows_of(experiment(name).run())
    assert [row["name"] for row in fresh] == [row["name"] for row in kept]
    for old, new in zip(kept, fresh):
        assert new["verdict"] == old["verdict"]
        assert new["ours"] == pytest.approx(old["ours"], rel=1e-6, abs=1e-9)
