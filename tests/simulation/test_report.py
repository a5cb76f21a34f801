"""A step that fails leaves a report: the reason, the state, the hard problem, the scene and versions."""

import json

import numpy as np
import pytest

import stiction as st
from stiction.simulation.report import REPORTS_KEPT
from stiction.solvers import Nsgs


def stack():
    world = st.World()
    world.set_material("default", friction=st.Coulomb(0.5))
    world.add_plane()
    for k in range(3):
        world.add_body(st.Box((0.2, 0.2, 0.2)), mass=1.0, position=(0.01 * k, 0, 0.1 + 0.2 * k), name=f"box {k}")
    return world


def failing(**more):
    return st.Simulator(stack(), 0.005, solver=Nsgs(maxiter=1, accelerate=False), tol=1e-12, **more)


def check(error, folder, reason):
    assert error.report == folder
    assert str(folder) in str(error)
    assert (folder / "reason.txt").read_text().strip() == reason
    state = np.load(folder / "state.npz")
    assert {"t", "q", "v", "keys", "impulses", "springs"} == set(state.files)
    problem = st.read_fclib(folder / "problem.hdf5")
    assert st.solve(problem, tol=1e-9).success  # hard for one sweep, not for all
    told = json.loads((folder / "versions.json").read_text())
    assert told["stiction"] == st.__version__
    assert told["simulator"]["solver"] == "nsgs"


def test_the_report_has_everything(tmp_path):
    sim = failing(report=tmp_path / "why")
    sim.scene = "duration = 1.0\n"
    with pytest.raises(st.SolverError) as caught:
        sim.run(0.1)
    reason = str(caught.value).rsplit(" (report in", 1)[0]
    check(caught.value, tmp_path / "why", reason)
    assert "\n" not in str(caught.value)
    assert (tmp_path / "why" / "scene.toml").read_text() == "duration = 1.0\n"
    np.testing.assert_array_equal(np.load(tmp_path / "why" / "state.npz")["q"], sim.state.q)


def test_the_report_is_beside_the_recording_or_among_temporary_files(tmp_path):
    with pytest.raises(st.SolverError) as caught:
        failing().run(0.1, record=tmp_path / "run.h5")
    assert caught.value.report == tmp_path / "run-failure"
    assert len(caught.value.trajectory) == len(st.load(tmp_path / "run.h5"))
    with pytest.raises(st.SolverError) as caught:
        failing().step()
    assert caught.value.report.is_dir()
    assert caught.value.report.name.startswith("stiction-failure-")


def test_only_the_newest_reports_stay_among_temporary_files(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "stiction-failure-link").symlink_to(tmp_path)
    (tmp_path / "something else").mkdir()
    folders = []
    for _ in range(REPORTS_KEPT + 3):
        with pytest.raises(st.SolverError) as caught:
            failing().step()
        folders.append(caught.value.report)
    left = {path for path in tmp_path.iterdir() if path.is_dir() and not path.is_symlink()}
    assert left == {*folders[-REPORTS_KEPT:], tmp_path / "something else"}


def test_accepted_failures_leave_none(tmp_path):
    failing(on_failure="continue", report=tmp_path / "why").run(0.05)
    assert not (tmp_path / "why").exists()
