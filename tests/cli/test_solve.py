"""`stiction solve`: its table, JSON, figure and exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import stiction as st
from stiction import Bodies, ContactProblem, Delassus, Dense, Law
from stiction.cli.solve import measure, problem_files, solve_files, solver_names, tiny
from stiction.solvers import SOLVERS
from stiction.view.profiles import plot_profile, ratios

FCLIB = Path(os.environ.get("STICTION_FCLIB", ""))
FOLDERS = [FCLIB / name for name in ("hdf5", "dat", "rolling") if "STICTION_FCLIB" in os.environ]

FIELDS = {"file", "solver", "contacts", "iterations", "residual", "seconds", "success", "status", "by", "message"}


def stiction(*arguments, **kwargs):
    code = "import sys; from stiction.cli import main; sys.argv[0] = 'stiction'; main()"
    env = {**os.environ, "COLUMNS": "160"}
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, env=env, **kwargs
    )


def contacts(nc, dim=3, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(dim * nc, dim * nc))
    return ContactProblem(
        Delassus(csr_matrix(A @ A.T + np.eye(dim * nc))),
        b=rng.normal(size=dim * nc),
        friction=[0.4] * nc,
        row_ptr=np.arange(0, dim * nc + 1, dim),
        law=[Law.UNILATERAL] * nc,
    )


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "problems"
    made.mkdir()
    st.write_fclib(contacts(2), made / "two.hdf5")
    st.write_fclib(contacts(3, dim=2), made / "plane.hdf5")
    (made / "remarks.txt").write_text("not a problem")
    return made


def test_table_json_and_figure(tmp_path, folder):
    done = stiction("solve", folder, "--solver", "all", "--json", tmp_path / "a.json", "--out", tmp_path / "figures")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["file", "contacts", "solver", "iterations", "residual", "seconds", "status"]
    assert "natural map" in done.stdout
    data = json.loads((tmp_path / "a.json").read_text())
    assert len(data) == 2 * len(SOLVERS)
    assert all(set(row) == FIELDS for row in data)
    assert [row["solver"] for row in data] == [*SOLVERS] * 2
    for row in data:
        assert row["success"] == (row["residual"] is not None and row["residual"] <= 1e-8)
        assert (row["status"] == "refused") == (row["seconds"] is None)
        assert row["message"]
        assert row["contacts"] == (2 if row["file"].endswith("two.hdf5") else 3)
    by_name = {(row["file"].rsplit("/", 1)[1], row["solver"]): row for row in data}
    assert by_name["two.hdf5", "lemke"]["status"] == "refused"  # smooth cones in space
    assert "polyhedral" in by_name["two.hdf5", "lemke"]["message"]
    assert by_name["plane.hdf5", "lemke"]["success"]
    assert by_name["two.hdf5", "auto"]["success"]
    assert (tmp_path / "figures" / "profile.png").stat().st_size > 10_000
    # the residual is the natural map of the answer, whoever certifies it
    answer = st.solve(st.read_fclib(folder / "two.hdf5"), "nsgs", tol=1e-8)
    assert by_name["two.hdf5", "nsgs"]["residual"] == answer.certificate.natural_map
    # columns line up: the status begins in the same place in every row
    start = lines[0].index("status")
    rows = [line for line in lines if line.startswith(("two", "plane"))]
    assert len(rows) >= 6
    assert {line[start - 1] for line in rows} == {" "}
    assert all(line[start:].startswith("solved") for line in rows)


def test_a_refusal_is_a_row_when_the_solver_was_named(folder):
    done = stiction("solve", folder / "two.hdf5", "--solver", "lemke,nsgs")
    assert done.returncode == 0, done.stderr
    assert "refused" in done.stdout


def test_a_problem_that_all_solvers_refuse_is_shown(tmp_path, monkeypatch, capsys):
    st.write_fclib(contacts(1), tmp_path / "a.hdf5")
    for solver in SOLVERS.values():
        monkeypatch.setattr(solver, "refuses", lambda self, problem: "not today.")
    assert not solve_files([tmp_path / "a.hdf5"], "all", 1e-8, None, None, None)
    out = capsys.readouterr().out
    assert sum(line.startswith("a.hdf5") and line.endswith("refused") for line in out.splitlines()) == 1


def test_a_problem_that_nobody_solves_is_exit_code_1(tmp_path):
    """A wall that closes in from both sides: no impulse can keep both gaps open."""
    impossible = ContactProblem(
        Delassus(csr_matrix((4, 4))), b=[-1.0, 0, -1, 0], friction=[0.3, 0.3], row_ptr=[0, 2, 4], law=[1, 1]
    )
    st.write_fclib(impossible, tmp_path / "a.hdf5")
    done = stiction("solve", tmp_path / "a.hdf5", "--solver", "nsgs", "--maxiter", "50", "--json", tmp_path / "a.json")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    (row,) = json.loads((tmp_path / "a.json").read_text())
    assert not row["success"]
    assert row["residual"] > 1e-8


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("missing.hdf5",), "there is no file missing.hdf5"),
        (("{two}", "--solver", "nsgss"), "Did you mean 'nsgs'?"),
        (("{two}", "--solver", ","), "--solver must be all"),
        (("{two}", "--tol", "-1"), "--tol must be greater than zero"),
        (("{two}", "--maxiter", "0"), "--maxiter must be at least 1"),
        (("{two}", "--json", "no/such/folder/x.json"), "no folder"),
        (("{two}", "--out", "{two}"), "is a file"),
        (("{empty}",), "holds no file that ends in .hdf5"),
        (("{remarks}",), "remarks.txt: this is neither"),
        ((), "Missing argument"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(tmp_path, folder, arguments, words):
    (tmp_path / "empty").mkdir()
    names = {"two": folder / "two.hdf5", "empty": tmp_path / "empty", "remarks": folder / "remarks.txt"}
    done = stiction("solve", *(a.format(**names) for a in arguments))
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    if arguments:
        assert done.stderr.startswith("error: ")
        assert done.stderr.count("\n") == 1


@pytest.mark.long
@pytest.mark.skipif(not FOLDERS, reason="STICTION_FCLIB does not name a folder with subfolders hdf5/, dat/, rolling/")
def test_auto_solves_every_file_of_the_collection(tmp_path):
    done = stiction("solve", *FOLDERS, "--tol", "1e-8", "--json", tmp_path / "a.json")
    data = json.loads((tmp_path / "a.json").read_text())
    assert [row["file"] for row in data if not row["success"]] == []
    assert done.returncode == 0, done.stderr
    assert len(data) >= 25


def test_help_has_an_example():
    done = stiction("solve", "--help")
    assert done.returncode == 0
    assert "Example" in done.stdout
    assert "natural map" in done.stdout


def test_folders_mean_the_problem_files_in_them(folder):
    assert [p.name for p in problem_files([folder])] == ["plane.hdf5", "two.hdf5"]
    assert len(problem_files([folder, folder / "two.hdf5"])) == 2


def test_solver_names():
    assert solver_names("all") == list(SOLVERS)
    assert solver_names("nsgs, newton,nsgs") == ["nsgs", "newton"]


def test_tiny_problems_are_of_the_same_kind():
    rng = np.random.default_rng(0)
    arrays = {"row_ptr": [0, 3, 6, 8], "law": [1, 1, 0], "friction": [0.2, 0.3, None]}
    J = rng.normal(size=(2, 8, 6))
    for dynamics in (
        Bodies([0, 0, 1], [1, -1, 0], J[0], J[1], np.array([np.eye(6)] * 2), [0, 3, 6, 8]),
        Dense(np.eye(7), rng.normal(size=(8, 7))),
        Delassus(csr_matrix(np.eye(8))),
        Delassus(np.eye(8)),
    ):
        problem = ContactProblem(dynamics, **arrays)
        small = tiny(problem)
        assert type(small.dynamics) is type(dynamics)
        assert sorted(np.diff(small.row_ptr).tolist()) == [2, 3]
        assert st.solve(small, "nsgs").success


def test_success_is_the_natural_map_against_the_tolerance():
    problem = contacts(4)
    assert measure(problem, "nsgs", file="x", tol=1e-8).success
    stopped = measure(problem, "nsgs", file="x", tol=1e-14, maxiter=1)
    assert not stopped.success
    assert stopped.status == "maxiter"
    assert stopped.residual > 1e-14


def test_profile_of_three_problems():
    times = {"a": [1.0, 2.0, None], "b": [2.0, 1.0, 5.0], "c": [None, None, None]}
    r = ratios(times)
    np.testing.assert_array_equal(r["a"], [1.0, 2.0, np.inf])
    np.testing.assert_array_equal(r["b"], [2.0, 1.0, 1.0])
    np.testing.assert_array_equal(r["c"], [np.inf] * 3)
    figure = plot_profile(times)
    (axes,) = figure.axes
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["b: solved 3 of 3, fastest on 2", "a: solved 2 of 3, fastest on 1"]
    b, a = axes.lines
    assert (b.get_ydata()[0], b.get_ydata()[-1]) == pytest.approx((2 / 3, 1.0))
    assert (a.get_ydata()[0], a.get_ydata()[-1]) == pytest.approx((1 / 3, 2 / 3))


def test_profile_without_any_solution_is_empty():
    assert not plot_profile({"a": [None], "b": [None]}).axes[0].lines
    with pytest.raises(st.ModelError, match="one entry per problem"):
        ratios({"a": [1.0], "b": []})
