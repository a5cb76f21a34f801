"""Trajectories in HDF5 files: `save`, and `load`, which reads them lazily and those of older versions too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..._arguments import checks_arguments
from ...errors import RecordingError
from ..trajectory import BALANCE, CERTIFICATE, ContactTable, EnergyRecord, RunCertificate, Trajectory
from .claim import Claim
from .layout import CONTACTS, FIELDS, Layout
from .reader import Recording, opened, version_of
from .recorder import run_header
from .writer import RecordingWriter


@checks_arguments
def load(path: str | Path) -> Trajectory:
    """Open a recording or a saved trajectory: arrays are read from the file when they are first looked at.

    A file that is being written, or whose writer was killed, opens too and ends with its last complete block.
    """
    path = Path(path)
    with opened(path) as file:
        if version_of(file, path) < 3:
            return _read_old(file, path)
    return lazy(Recording(path))


def lazy(recording: Recording) -> Trajectory:
    """The trajectory of a recording, read when it is looked at."""

    run = Trajectory.lazily(partial(_part, recording))
    run.__dict__["_recording"] = recording
    return run


def _part(recording: Recording, name: str) -> Any:
    if name == "info":
        return recording.info
    if name == "table":
        return ContactTable.lazily(partial(_contacts, recording))
    if name == "energy":
        return EnergyRecord.lazily(partial(_energy, recording))
    if name == "certificate":
        return RunCertificate.lazily(partial(_certificate, recording))
    if name == "joints":
        return _joints(recording)
    column, field = {"times": ("time", None), "v": ("v", "velocity")}.get(name, (name, None))
    return recording.frames(column, field=field)


def _contacts(recording: Recording, column: str) -> np.ndarray:
    if column == "step":
        counts = recording.counts("contacts")[1:]
        return np.repeat(np.arange(len(counts)), counts)
    wide = {"i1": np.int64, "i4": np.int64}.get(next(c.dtype for c in CONTACTS if c.name == column))
    rows = recording.table("contacts", column)
    return rows if wide is None else rows.astype(wide)


def _energy(recording: Recording, field: str) -> Any:
    if field == "work":
        work = recording.frames("work", field="energy")[1:]
        return {name: work[:, i] for i, name in enumerate(recording.header["work"])}
    return recording.frames("energy")[:, ["kinetic", "potential"].index(field)]


def _certificate(recording: Recording, field: str) -> Any:
    if field == "success":
        return recording.frames("success")[1:].astype(bool)
    residuals = recording.frames("certificate")[1:]
    return {name: residuals[:, i] for i, name in enumerate(recording.header["certificate"])}


def _joints(recording: Recording) -> np.ndarray:
    if not recording.info["joints"]:
        return np.zeros((recording.last - recording.first, 0, 2))
    return recording.frames("joints")


def save(run: Trajectory, path: str | Path) -> None:
    """Write a trajectory as a recording; the file appears whole or not at all.

    That of a recording is copied, whatever it holds; one in memory has no checkpoints.
    """
    path = Path(path)
    part = path.with_name(path.name + ".whole")
    recording = run.recording
    with Claim(path):
        writer = _new_writer(run, part) if recording is None else _copy(recording, part)
        try:
            if recording is None:
                for row, rows in _frames(run):
                    writer.add(row, rows)
                    if writer.full:
                        writer.flush()
            writer.close()
            part.replace(path)
        except BaseException:
            writer.abandon()
            part.unlink(missing_ok=True)
            raise


def _copy(recording: Recording, path: Path) -> RecordingWriter:
    layout, header = Layout.of(recording.header), {**recording.header, "info": recording.info}
    return RecordingWriter(path, layout, header, copy=recording, frames=recording.last)


def _new_writer(run: Trajectory, path: Path) -> RecordingWriter:
    chosen = tuple(name for name in FIELDS if name != "checkpoints")
    widths = {"q": run.q.shape[1], "v": run.v.shape[1], "joints": run.joints.shape[1], "turns": 0}
    header = run_header(dict(run.info), chosen, widths)
    return RecordingWriter(path, Layout.of(header), header, shapes=run.shapes())


def _frames(run: Trajectory) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The rows of a trajectory in memory, frame by frame, as a writer takes them."""
    n, work, residuals = len(run), run.energy.work, run.certificate.residuals
    ends = [0, 0, *np.searchsorted(run.table.step, np.arange(n - 1), side="right").tolist()]
    events = run.event_rows()
    for i in range(n):
        j = i - 1  # the step that led to the frame
        row = {
            "step": i, "time": run.times[i], "q": run.q[i], "v": run.v[i], "joints": run.joints[i],
            "energy": (run.energy.kinetic[i], run.energy.potential[i]),
            "work": [work[name][j] if i and name in work else 0.0 for name in BALANCE],
            "certificate": [residuals[name][j] if i and name in residuals else 0.0 for name in CERTIFICATE],
            "success": not i or run.certificate.success[j],
        }  # fmt: skip
        mine = slice(ends[i], ends[i + 1])
        rows = {"contacts": {c.name: getattr(run.table, c.name)[mine] for c in CONTACTS}}
        yield row, rows if not i else {**rows, "events": events[j]}


def _read_old(file: Any, path: Path) -> Trajectory:
    """Versions 1 (no tangents, no names of energy parts, contacts with fewer rows) and 2, whole."""

    def read(name: str) -> Any:
        if name not in file:
            raise RecordingError(f"{path} is damaged or incomplete: it has no {name}.")
        return np.asarray(file[name][()])

    names = [f.name for f in fields(ContactTable) if f.name != "tangent" or "contacts/tangent" in file]
    parts = "energy/parts" if "energy/parts" in file else "energy/work"
    return Trajectory(
        times=read("times"),
        q=read("q"),
        v=read("v"),
        table=_old_table({name: read(f"contacts/{name}") for name in names}, path),
        energy=EnergyRecord(
            kinetic=read("energy/kinetic"),
            potential=read("energy/potential"),
            work={name: read(f"{parts}/{name}") for name in file[parts]},
        ),
        certificate=RunCertificate(
            {name: read(f"certificate/{name}") for name in file["certificate"]}, read("success").astype(bool)
        ),
        info=json.loads(file.attrs["info"]),
        joints=read("joints") if "joints" in file else np.zeros((len(file["times"]), 0, 2)),
    )


def _old_table(columns: dict[str, np.ndarray], path: Path) -> ContactTable:
    """A table that may be without tangents: asking for them is refused."""
    for name in ("impulse", "velocity"):
        rows = columns[name]
        columns[name] = np.pad(rows, ((0, 0), (0, 6 - rows.shape[1])))
    return ContactTable.lazily(partial(_old_column, columns, path))


def _old_column(columns: dict[str, np.ndarray], path: Path, name: str) -> np.ndarray:
    if name not in columns:
        raise RecordingError(f"{path} was written by an older stiction, without the {name}s of contacts; run it again.")
    return columns[name]
