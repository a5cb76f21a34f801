"""Trajectories as tables: CSV for spreadsheets, NumPy for programs."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import RecordingError
from ..simulation.trajectory import ContactTable, Trajectory

ROWS = ("normal", "tangent1", "tangent2", "spin", "roll1", "roll2")
_AXES = {
    "impulse": ROWS,
    "velocity": ROWS,
    "bodies": ("a", "b"),
    **dict.fromkeys(("normal", "point", "tangent"), "xyz"),
}


def write_csv(run: Trajectory, path: Path) -> None:
    """Frames into `path`: time, coordinates, velocities, energy, residuals; contacts and events into files beside it.

    `run.csv` goes with `run.contacts.csv` and `run.events.csv`. Numbers are written so that they read back to the bit.
    """
    head, columns = ["time", *run.coordinate_names], [run.times[:, None], run.q]
    if has(run, "velocity"):
        head += list(run.velocity_names)
        columns.append(run.v)
    if has(run, "energy"):
        head += ["kinetic", "potential"]
        columns.append(np.column_stack([run.energy.kinetic, run.energy.potential]))
    if has(run, "certificate"):
        residuals = run.certificate.residuals  # of steps: the first frame has none
        head += [f"residual {name}" for name in residuals]
        columns.append(np.vstack([np.zeros(len(residuals)), np.column_stack(list(residuals.values()))]))
    _write(path, head, np.hstack(columns).tolist())
    if has(run, "contacts"):
        _write(path.with_suffix(".contacts.csv"), *_contacts(run))
    if has(run, "events"):
        rows = ([e.time, e.step, e.kind, e.contact, e.energy, *e.impulse.tolist()] for e in run.events)
        names = ["time", "step", "kind", "contact", "energy", *(f"impulse {name}" for name in ROWS)]
        _write(path.with_suffix(".events.csv"), names, rows)


def has(run: Trajectory, field: str) -> bool:
    """Whether a field was recorded; in memory all are."""
    return run.recording is None or field in run.recording.fields


def _contacts(run: Trajectory) -> tuple[list[str], Iterable[list[Any]]]:
    head, columns = ["time"], [run.times[1:][run.table.step][:, None]]
    for field in fields(ContactTable):
        values = getattr(run.table, field.name)
        wide = values.ndim == 2
        head += [f"{field.name} {axis}" for axis in _AXES[field.name]] if wide else [field.name]
        columns.append(values if wide else values[:, None])
    whole = [column.astype(object) for column in columns]
    return head, np.hstack(whole).tolist()


def _write(path: Path, head: list[str], rows: Iterable[Iterable[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows(rows)


def write_npz(run: Trajectory, path: Path) -> None:
    """Every array under its name: `times`, `q`, `contacts_impulse`, `energy_kinetic`, `certificate_natural_map`, ...

    With the names of columns (`coordinates`, `velocities`, `bodies`) as arrays of text.
    """
    world = run.info.get("world")
    arrays: dict[str, Any] = {
        "times": run.times, "q": run.q, "joints": run.joints, "coordinates": np.array(run.coordinate_names),
        "velocities": np.array(run.velocity_names), "bodies": np.array([] if world is None else world["bodies"]),
        "joint_names": np.array(run.info.get("joints", []), dtype=str), "success": run.certificate.success,
    }  # fmt: skip
    if has(run, "velocity"):
        arrays["v"] = run.v
    if has(run, "contacts"):
        arrays |= {f"contacts_{field.name}": getattr(run.table, field.name) for field in fields(ContactTable)}
    if has(run, "energy"):
        arrays |= {"energy_kinetic": run.energy.kinetic, "energy_potential": run.energy.potential}
        arrays |= {f"work_{name}": values for name, values in run.energy.work.items()}
    if has(run, "certificate"):
        arrays |= {f"certificate_{name}": values for name, values in run.certificate.residuals.items()}
    try:
        with path.open("wb") as file:  # an open file keeps its name, whatever the ending
            np.savez_compressed(file, **arrays)
    except OSError as error:
        raise RecordingError(f"cannot write {path}: {error.strerror or error}.") from error
