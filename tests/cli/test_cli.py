"""The command line: what it prints and writes, and its exit codes."""

import json
import os
import re
import subprocess
import sys

import pytest

from stiction.errors import ModelError


def stiction(*arguments, **kwargs):
    code = "import sys; from stiction.cli import main; sys.argv[0] = 'stiction'; main()"
    env = {**os.environ, "COLUMNS": "160"}
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, env=env, **kwargs
    )


def test_reproduce_writes_table_json_and_figures(tmp_path):
    done = stiction("reproduce", "st96-rod", "--json", tmp_path / "rod.json", "--out", tmp_path / "figures")
    assert done.returncode == 0, done.stderr
    assert "verdict" in done.stdout
    assert "second contact" in done.stdout
    data = json.loads((tmp_path / "rod.json").read_text())
    assert set(data) == {"experiment", "paper", "quantities", "certificate", "seconds"}
    expected = {"name", "paper", "printed", "ours", "tolerance", "verdict", "reason", "tried", "conclude"}
    assert set(data["quantities"][0]) == expected | {"record", "within", "ok"}
    assert all(q["ok"] for q in data["quantities"])
    assert {q["verdict"] for q in data["quantities"]} <= {"reproduced", "differs", "fitted", "no printed value"}
    assert data["certificate"]["natural_map"] < 1e-10
    assert len(list((tmp_path / "figures").glob("*.png"))) >= 5
    assert (tmp_path / "figures" / "report.html").read_text().count("<figure") >= 5


def test_reproduce_lists_experiments_without_a_name(tmp_path):
    done = stiction("reproduce", "--json", tmp_path / "list.json")
    assert done.returncode == 0
    assert "st96-rod" in done.stdout
    assert json.loads((tmp_path / "list.json").read_text())[0]["experiment"] == "st96-rod"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("reproduce", "st96-rdo"), "Did you mean 'st96-rod'?"),
        (("reproduce", "st96-rod", "--json", "no/such/folder/x.json"), "no folder"),
        (("reproduce", "st96-rod", "--out", "pyproject.toml"), "is a file"),
        (("reproduce", "st96-rod", "--report", "rod.pdf"), "ends in .html"),
        (("nonsense",), "No such command"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(arguments, words):
    done = stiction(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_info_names_versions_and_solvers(tmp_path):
    done = stiction("info", "--json", tmp_path / "info.json")
    assert done.returncode == 0
    data = json.loads((tmp_path / "info.json").read_text())
    assert data["stiction"]
    assert "lemke" in data["solvers"]
    assert "numba" in done.stdout


@pytest.mark.parametrize("command", [(), ("reproduce",), ("info",)])
def test_every_command_has_help_with_an_example(command):
    done = stiction(*command, "--help")
    assert done.returncode == 0
    assert "Usage" in done.stdout
    assert not command or "Example" in done.stdout


def test_a_quantity_off_the_record_is_exit_code_1(tmp_path):
    code = (
        "import sys; from stiction.papers import st96_rod; st96_rod.SPIKE = 99.0\n"
        "from stiction.cli import main; sys.argv = ['stiction', 'reproduce', 'st96-rod']; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "not on record" in done.stdout


def test_an_experiment_that_fails_does_not_lose_the_others(tmp_path, monkeypatch, capsys):
    from stiction.cli import reproduce
    from stiction.papers import Experiment, Outcome, experiments

    def fail():
        raise ValueError("the ball is lost")

    broken = Experiment("x-broken", "No paper", "An experiment that fails", fail)
    soft = Experiment("x-soft", "No paper", "Without a contact problem", lambda: Outcome((), {"energy": 1e-9}))
    chosen = {"x-broken": broken, "x-soft": soft, "pr11-critical": experiments()["pr11-critical"]}
    monkeypatch.setattr(reproduce, "experiments", lambda: chosen)
    data, page = tmp_path / "all.json", tmp_path / "all.html"
    assert not reproduce.reproduce_experiments("all", data, None, page)
    said = capsys.readouterr().out
    assert "failed: ValueError: the ball is lost" in said
    assert "all 3" in said
    assert said.startswith("3 experiments of 2 papers: about ")
    assert "the first within a minute" in said.partition("x-broken")[0]
    assert re.search(r"\d+ quantities: \d+ reproduced, 0 differs, 0 fitted, 0 not comparable, \d+ no printed", said)
    assert "no contact problem was solved; largest errors: energy 1.0e-09" in said
    first, _, second = json.loads(data.read_text())
    assert first["error"] == "ValueError: the ball is lost"
    assert second["quantities"]
    assert "the ball is lost" in page.read_text()
    assert "pr11-critical" in page.read_text()


def test_a_study_is_run_beside_its_experiment_and_says_how_far_it_is(tmp_path, monkeypatch, capsys):
    from stiction.cli import reproduce
    from stiction.papers import Experiment, Outcome, Quantity
    from stiction.papers.progress import track

    def study():
        return Outcome((Quantity("sum", sum(track([1.0, 2.0, 3.0], "numbers")), 6.0),), {"energy": 1e-9})

    long = Experiment("x-long", "No paper", "With a study", lambda: Outcome((), {"energy": 0.0}), study)
    short = Experiment("x-short", "No paper", "Without one", lambda: Outcome((), {"energy": 0.0}))
    chosen = {"x-long": long, "x-short": short}
    monkeypatch.setattr(reproduce, "experiments", lambda: chosen)
    monkeypatch.setattr(reproduce, "experiment", lambda name: chosen[name])
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "study.json"
    assert reproduce.reproduce_experiments("all", data, tmp_path / "out", None, study=True)
    (found,) = json.loads(data.read_text())
    assert found["study"] is True
    assert found["quantities"][0]["ours"] == 6.0
    assert (tmp_path / "out" / "study.html").exists()
    shown = capsys.readouterr()
    assert "x-long: numbers, 3 runs" in shown.err
    assert "study: With a study" in shown.out
    with pytest.raises(ModelError, match=r"x-short has no study; those that have one: x-long"):
        reproduce.reproduce_experiments("x-short", None, None, None, study=True)
    reproduce.list_experiments(data, study=True)
    assert [e["experiment"] for e in json.loads(data.read_text())] == ["x-long"]
