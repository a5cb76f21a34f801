"""Runs that are killed at any moment, and what must be left of them."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import recorded_run

import stiction as st

SCRIPT = Path(recorded_run.__file__)


def whole_run(path, duration=recorded_run.DURATION):
    """The recording of a run that nobody disturbs."""
    recorded_run.simulator().run(duration, every=recorded_run.EVERY, record=path)
    return path


def datasets(path):
    """Every dataset of a recording that is not about itself."""
    found = {}
    with h5py.File(path, "r") as file:
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return found


def same_file(one, two):
    """Two recordings hold the same bits."""
    a, b = datasets(one), datasets(two)
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


def killed_after(frames, path, how, delay=0.0):
    """Start the run, kill it when it has told of so many frames more: the time of the last recorded frame [s]."""
    said = path.with_suffix(".txt")
    with said.open("wb") as out:
        process = subprocess.Popen([sys.executable, str(SCRIPT), str(path), how], stdout=out)
    while process.poll() is None and len(said.read_bytes().splitlines()) < frames:
        time.sleep(0.001)
    time.sleep(delay)
    assert process.poll() is None, "the run was over before it could be killed"
    process.send_signal(signal.SIGKILL)
    process.wait()
    return float(said.read_text().split()[-1])


def kill_and_resume(rng, path, whole, kills):
    """Kill a run and its resumed runs at random moments; what is left each time is the beginning of the whole run.

    The last resumed run is not disturbed, and ends in the same bits.
    """
    full = st.load(whole)
    block = full.recording.chunk_sizes()[0]
    lengths = []
    for k in range(kills):
        frames, delay = rng.randint(1, len(full) // 8), rng.choice([0.0, rng.uniform(0.0, 0.01)])
        reached = killed_after(frames, path, "resume" if k else str(recorded_run.DURATION), delay)
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
