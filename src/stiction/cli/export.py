"""`stiction export`: recordings for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import ModelError
from ..simulation import load
from .output import console


def export_recording(path: Path, out: Sequence[Path], format: str | None) -> None:
    """Write a recording in each of the formats asked for."""
    if format is not None and len(out) != 1:
        raise ModelError("--format says how one file is written; give one.")
    run = load(path)
    for target in out:
        console().print(f"{run.export(target, format)}: from {path}", highlight=False)
