"""Trajectories for other programs: tables (CSV, NumPy), VTK for ParaView, glTF for any viewer of scenes."""

from __future__ import annotations

from pathlib import Path

from .._arguments import checks_arguments
from ..errors import ModelError
from ..simulation.trajectory import Trajectory

FORMATS = {".csv": "csv", ".npz": "npz", ".pvd": "vtk", ".glb": "gltf"}
"""The formats by the endings of files."""


@checks_arguments
def export(run: Trajectory, path: str | Path, format: str | None = None) -> Path:
    """Write a trajectory in a format of others: "csv", "npz", "vtk" or "gltf", by default after the file's ending.

    Returns the file to open; VTK has a folder of frames beside it, CSV further tables.
    """
    path = Path(path)
    if format is None and path.suffix not in FORMATS:
        raise ModelError(f"cannot tell the format of {path}; end its name with {', '.join(FORMATS)}, or give a format.")
    if format is not None and format not in FORMATS.values():
        raise ModelError(f"there is no format {format!r}; there are {', '.join(FORMATS.values())}.")
    kind = FORMATS[path.suffix] if format is None else format
    if not path.parent.is_dir():
        raise ModelError(f"cannot write {path}: there is no folder {path.parent}.")
    if kind == "csv":
        from .tables import write_csv as write
    elif kind == "npz":
        from .tables import write_npz as write
    elif kind == "vtk":
        from .vtk import write_vtk as write
    else:
        from .gltf import write_gltf as write
    write(run, path)
    return path


__all__ = ["FORMATS", "export"]
