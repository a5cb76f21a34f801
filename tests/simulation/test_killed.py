"""Runs that are killed at any moment leave recordings that open, and go on to the same bits; so do full disks."""

import importlib.util
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

import stiction as st

SCRIPT = Path(__file__).with_name("recorded_run.py")
_spec = importlib.util.spec_from_file_location("recorded_run", SCRIPT)
recorded_run = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(recorded_run)


def datasets(path):
    """Every dataset of a recording that is not about itself."""
    found = {}
    with h5py.File(path, "r") as file:
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return found


def same_file(one, two):
    a, b = datasets(one), datasets(two)
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The recording of a run that nobody disturbed."""
    path = tmp_path_factory.mktemp("whole") / "whole.h5"
    recorded_run.simulator().run(recorded_run.DURATION, every=recorded_run.EVERY, record=path)
    return path


def killed_after(frames, path, *more):
    """Start the run, kill it when it has told of so many frames more: the time of the last recorded frame [s]."""
    said = path.with_suffix(".txt")
    with said.open("wb") as out:
        process = subprocess.Popen([sys.executable, str(SCRIPT), str(path), *more], stdout=out)
    while process.poll() is None and len(said.read_bytes().splitlines()) < frames:
        time.sleep(0.001)
    assert process.poll() is None, "the run was over before it could be killed"
    process.send_signal(signal.SIGKILL)
    process.wait()
    return float(said.read_text().split()[-1])


@pytest.mark.long
@pytest.mark.parametrize("chain", range(4))
def test_killed_five_times_and_resumed_each_time_ends_in_the_same_bits(chain, whole, tmp_path):
    rng, path = random.Random(chain), tmp_path / "run.h5"
    full = st.load(whole)
    block = full.recording.chunk_sizes()[0]
    lengths, kills = [], 0
    while kills < 5:
        reached = killed_after(rng.randint(1, len(full) // 8), path, *(["resume"] if kills else []))
        kills += 1
        part = st.load(path)
        n = len(part)
        lengths.append(n)
        assert np.searchsorted(full.times, reached) - n < block  # all but the last block
        np.testing.assert_array_equal(part.times, full.times[:n])
        np.testing.assert_array_equal(part.q, full.q[:n])
        np.testing.assert_array_equal(part.table.impulse, full.table.impulse[full.table.step < n - 1])
        assert repr(part.events) == repr([event for event in full.events if event.step < n - 1])
    recorded_run.simulator().resume(path)
    same_file(path, whole)
    assert lengths == sorted(lengths)


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
