"""Runs that are killed at any moment leave recordings that open, and go on to the same bits; so do full disks."""

import random
import subprocess
import sys

import numpy as np
import pytest
import recorded_run
from kills import SCRIPT, kill_and_resume, killed_after, whole_run

import stiction as st


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The recording of a run that nobody disturbed."""
    return whole_run(tmp_path_factory.mktemp("whole") / "whole.h5")


def test_a_killed_run_goes_on_to_the_same_bits(tmp_path):
    path = tmp_path / "run.h5"
    killed_after(300, path, "3600")
    before = st.load(path)
    assert len(before) >= before.recording.chunk_sizes()[0]
    end = float(before.times[-1]) + 0.05
    run, whole = recorded_run.simulator().resume(path, duration=end), st.load(whole_run(tmp_path / "whole.h5", end))
    np.testing.assert_array_equal(run.q, whole.q)
    np.testing.assert_array_equal(run.table.impulse, whole.table.impulse)


@pytest.mark.long
@pytest.mark.parametrize("chain", range(4))
def test_killed_five_times_and_resumed_each_time_ends_in_the_same_bits(chain, whole, tmp_path):
    kill_and_resume(random.Random(chain), tmp_path / "run.h5", whole, kills=5)


FULL = """
import sys
sys.path.insert(0, sys.argv[2])
import recorded_run, stiction as st
try:
    recorded_run.simulator().run(recorded_run.DURATION, every=recorded_run.EVERY, record=sys.argv[1])
except st.RecordingError as error:
    print(error)
print(len(st.load(sys.argv[1])))
"""


@pytest.mark.long
def test_full_disk_is_one_error_and_the_frames_before_it_are_there(whole, tmp_path):
    """A real file system of 2 MB, in a name space of its own."""
    disk, path = tmp_path / "disk", tmp_path / "disk" / "run.h5"
    disk.mkdir()
    mount = f'mount -t tmpfs -o size=2000k none "{disk}" && exec "$@"'
    run = ["unshare", "-Urm", "sh", "-c", mount, "sh"]
    try:
        allowed = subprocess.run([*run, "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        allowed = False
    if not allowed:
        pytest.skip("this system does not let users mount file systems")
    program = [sys.executable, "-c", FULL, str(path), str(SCRIPT.parent)]
    done = subprocess.run([*run, *program], capture_output=True, text=True, check=True)
    said, frames = done.stdout.splitlines()
    assert said == f"cannot write {path}: the disk is full; its first {frames} frames can be read."
    assert int(frames) % st.load(whole).recording.chunk_sizes()[0] == 0
    assert done.stderr == ""
