"""Trajectories go through pickles, as to and from the processes of a study: whole, or by the path of their file."""

import os
import pickle

import numpy as np
import pytest

import stiction as st


def dropped(**options):
    world = st.PlanarWorld()
    world.add_half_plane(name="floor")
    ball = world.add_body(st.Disk(0.5), name="ball", mass=1.0, position=(0, 0.51))
    world.add_force(ball, lambda t, body: (1.0, 0.0))  # a function that no pickle takes
    return ball, st.Simulator(world, 0.01).run(0.1, **options)


def assert_same(run, back):
    for name in ("times", "q", "v", "joints"):
        assert np.array_equal(getattr(back, name), getattr(run, name)), name
    assert np.array_equal(back.table.impulse, run.table.impulse)
    assert np.array_equal(back.energy.total, run.energy.total)
    assert back.certificate.worst == run.certificate.worst
    assert [str(event) for event in back.events] == [str(event) for event in run.events]
    assert back.shapes() == run.shapes()
    assert back.info == run.info


def test_a_run_in_memory_is_pickled_whole():
    ball, run = dropped()
    back, handle = pickle.loads(pickle.dumps((run, ball)))
    assert_same(run, back)
    assert np.array_equal(back.position(handle), run.position(ball))
    other = st.PlanarWorld().add_body(st.Disk(1.0), name="ball", mass=1.0)
    with pytest.raises(st.ModelError, match="another world"):
        back.position(other)


def test_a_recording_is_pickled_by_its_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, run = dropped(record="run.h5")
    assert len(run.q) == 11  # what has been read is not in the pickle either
    data = pickle.dumps(run)
    assert run.q.tobytes() not in data
    monkeypatch.chdir(os.sep)
    back = pickle.loads(data)
    assert back.recording.path == tmp_path / "run.h5"
    assert_same(st.load(tmp_path / "run.h5"), back)
    assert np.array_equal(pickle.loads(pickle.dumps(back.table)).gap, back.table.gap)
    (tmp_path / "run.h5").unlink()
    with pytest.raises(st.RecordingError, match="there is no file"):
        _ = pickle.loads(data).q
