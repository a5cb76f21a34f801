"""Checkpoints: the whole state of a simulator in a recording, from which it goes on to the same bits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..._check import FloatArray
from ...errors import RecordingError
from ...systems.base import State
from .reader import Recording


@dataclass(frozen=True)
class Checkpoint:
    """The state after `steps` steps from the time `origin` [s], with the impulses of the last (warm starts).

    frame: its place in the recording; turns and groups: what the recorder remembers, turns of joints and which contacts
    were closed; info: that of the run, by which a simulator tells whether it is of the same kind.
    """

    steps: int
    origin: float
    state: State
    frame: int
    turns: FloatArray
    groups: Mapping[str, Any]
    info: Mapping[str, Any]


def checkpoint(path: str | Path, time: float | None = None) -> Checkpoint:
    """The last checkpoint of a recording at or before `time` [s]; None: the last of all."""
    recording = Recording(path)
    frames = checkpoint_frames(recording)
    times = recording.frames("time")[frames]
    if time is None:
        return read_checkpoint(recording, int(frames[-1]))
    last = float(recording.frames("time")[-1])
    near = 1e-9 * float(recording.info["dt"])
    if not times[0] - near <= time <= last + near:
        raise RecordingError(f"{path} is from t = {times[0]:g} s to {last:g} s; there is no t = {time:g} s in it.")
    return read_checkpoint(recording, int(frames[times <= time + near][-1]))


def checkpoint_frames(recording: Recording) -> np.ndarray:
    """The frames that have a checkpoint, by their number."""
    frames = np.flatnonzero(recording.frames("checkpoint", field="checkpoints"))
    if not len(frames):
        raise RecordingError(f"{recording.path} is damaged: it has no checkpoint.")
    return frames


def last_block(recording: Recording, end: int) -> Checkpoint:
    """The last checkpoint from which a recording can be continued: that of a whole block, or of its first frame.

    end: the step at which the run shall end; it may be before the end of the recording.
    """
    frames = checkpoint_frames(recording)
    block = recording.chunk_sizes()[0]
    steps = recording.frames("step")[frames]
    whole = frames[((frames + 1) % block == 0) & (steps <= end)]
    return read_checkpoint(recording, int(whole[-1]) if len(whole) else 0)


def read_checkpoint(recording: Recording, frame: int) -> Checkpoint:
    """The checkpoint of a frame that has one."""
    one = slice(frame, frame + 1)
    row = recording.row(frame)
    state = State(
        float(row["time"]),
        row["q"],
        row["v"],
        recording.table("memory", "key", one),
        recording.table("memory", "impulse", one),
    )
    if recording.header["widths"].get("springs"):
        state = replace(state, springs=recording.table("memory", "springs", one))
    groups = {name: recording.table("groups", name, one) for name in ("group", "mode")}
    turns = row.get("turns", np.zeros(0))
    steps, origin = int(row["step"]), float(recording.header["origin"])
    if steps < 0 or not math.isclose(state.t, origin + steps * float(recording.info["dt"]), rel_tol=1e-9, abs_tol=1e-9):
        raise RecordingError(f"{recording.path} is damaged: frame {frame} is not at the time of its step, {steps}.")
    return Checkpoint(steps, origin, state, frame, turns, groups, recording.info)
