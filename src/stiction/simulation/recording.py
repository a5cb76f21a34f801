"""Trajectories in HDF5 files, one array per dataset, so that others can read them without stiction."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ModelError
from .trajectory import ContactTable, EnergyRecord, RunCertificate, Trajectory

FORMAT = "stiction-trajectory"
VERSION = 2


def save(run: Trajectory, path: str | Path) -> None:
    """Write a trajectory; the file appears whole or not at all."""
    import h5py

    path = Path(path)
    if not path.parent.is_dir():
        raise ModelError(f"cannot write {path}: there is no folder {path.parent}.")
    part = path.with_name(path.name + ".part")
    with h5py.File(part, "w") as file:
        file.attrs.update(format=FORMAT, format_version=VERSION, info=json.dumps(dict(run.info)))
        for name in ("times", "q", "v"):
            file[name] = getattr(run, name)
        for field in fields(ContactTable):
            file[f"contacts/{field.name}"] = getattr(run.table, field.name)
        file["energy/kinetic"] = run.energy.kinetic
        file["energy/potential"] = run.energy.potential
        for name, values in run.energy.work.items():
            file[f"energy/parts/{name}"] = values
        for name, values in run.certificate.residuals.items():
            file[f"certificate/{name}"] = values
        file["success"] = run.certificate.success
        file["joints"] = run.joints
    part.replace(path)


def load(path: str | Path) -> Trajectory:
    """Read a trajectory that `Trajectory.save` wrote."""
    import h5py

    path = Path(path)
    if not path.exists():
        raise ModelError(f"there is no file {path}.")
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise ModelError(f"{path} is not an HDF5 file, or it is damaged.") from error
    with file:
        try:
            return _read(file, path)
        except ModelError:
            raise
        except (KeyError, ValueError, TypeError) as error:
            raise ModelError(f"{path} is damaged or incomplete: {error}.") from error


def _read(file: Any, path: Path) -> Trajectory:
    if file.attrs.get("format") != FORMAT:
        raise ModelError(f"{path} is not a stiction trajectory.")
    if int(file.attrs["format_version"]) > VERSION:
        raise ModelError(f"{path} was written by a newer stiction (format {file.attrs['format_version']}).")
    if int(file.attrs["format_version"]) < VERSION:
        raise ModelError(f"{path} was written by an older stiction, without the tangents of contacts; run it again.")

    def read(name: str) -> Any:
        if name not in file:
            raise ModelError(f"{path} is damaged or incomplete: it has no {name}.")
        return np.asarray(file[name][()])

    return Trajectory(
        times=read("times"),
        q=read("q"),
        v=read("v"),
        table=ContactTable(**{field.name: read(f"contacts/{field.name}") for field in fields(ContactTable)}),
        energy=EnergyRecord(
            kinetic=read("energy/kinetic"),
            potential=read("energy/potential"),
            work={name: read(f"energy/parts/{name}") for name in file["energy/parts"]},
        ),
        certificate=RunCertificate(
            {name: read(f"certificate/{name}") for name in file["certificate"]}, read("success")
        ),
        info=json.loads(file.attrs["info"]),
        joints=read("joints") if "joints" in file else np.zeros((len(file["times"]), 0, 2)),
    )
