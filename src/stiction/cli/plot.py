"""`stiction plot`: figures of a recording."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import ModelError
from ..simulation import load
from .output import console

DEFAULT = "energy"


def plot_recording(path: Path | None, what: Sequence[str], body: str | None, out: Path | None) -> None:
    """Draw a preset or components of a recording into a file."""
    file = newest() if path is None else path
    run = load(file)
    if body is not None and what:
        raise ModelError("--body draws the motion of a body; give it alone, without other names.")
    names = (
        [n for n in (*run.coordinate_names, *run.velocity_names) if n.rpartition(".")[0] == body]
        if body
        else list(what)
    )
    if body and not names:
        raise ModelError(f"--body {body}: there is no such body in {file}.")
    chosen: str | list[str] = (names or [DEFAULT])[0] if len(names) < 2 else names
    label = body or "-".join(names) or DEFAULT
    picture = Path(f"{file.stem}-{label.replace(' ', '_').replace('/', '_')}.png") if out is None else out
    if not picture.parent.is_dir():
        raise ModelError(f"--out {picture}: there is no folder {picture.parent}.")
    if picture.suffix.lower() not in (".png", ".pdf", ".svg", ".jpg"):
        raise ModelError(f"--out {picture}: a picture ends in .png, .pdf, .svg or .jpg.")
    run.plot(chosen, path=picture)
    console().print(f"{picture}: {label} of {file}", highlight=False)


def newest() -> Path:
    """The last recording that was written in this folder."""
    found = sorted(Path().glob("*.h5"), key=lambda file: file.stat().st_mtime)
    if not found:
        raise ModelError("there is no recording (*.h5) in this folder; make one with: stiction run SCENE")
    return found[-1]
