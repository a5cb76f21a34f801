"""`stiction plot`: figures of a recording."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import ModelError
from ..simulation import load
from .output import console

DEFAULT_PLOT, DEFAULT_PLOT_OF = "energy", "states"
PLOT_ENDINGS = (".png", ".pdf", ".svg", ".jpg")


def plot_recording(path: Path | None, what: Sequence[str], of: Sequence[str], out: Path | None) -> None:
    """Draw presets, each into a picture, and components together in one."""
    from ..view.plots import PRESETS

    file = newest() if path is None else path
    run = load(file)
    names = list(what) or [DEFAULT_PLOT_OF if of else DEFAULT_PLOT]
    components = [name for name in names if name not in PRESETS]
    figures: dict[str, str | list[str]] = {name: name for name in dict.fromkeys(names) if name in PRESETS}
    if components:
        figures["-".join(components)] = components
    for label, chosen in figures.items():
        picture = _place(file, "-".join([label, *of]), out, len(figures))
        run.plot(chosen, of=list(of) or None, path=picture)
        words = f"{label} of {', '.join(of)} in {file}" if of else f"{label} of {file}"
        console().print(f"{picture}: {words}", highlight=False, soft_wrap=True)


def _place(file: Path, label: str, out: Path | None, count: int) -> Path:
    """The file of a picture."""
    name = f"{file.stem}-{label.replace(' ', '_').replace('/', '_')}.png"
    if out is None:
        return Path(name)
    if out.is_dir():
        return out / name
    if count > 1:
        raise ModelError(f"--out {out}: {count} pictures need a folder that exists.")
    if not out.parent.is_dir():
        raise ModelError(f"--out {out}: there is no folder {out.parent}.")
    if out.suffix.lower() not in PLOT_ENDINGS:
        raise ModelError(f"--out {out}: a picture ends in {', '.join(PLOT_ENDINGS)}; or give a folder that exists.")
    return out


def newest() -> Path:
    """The last recording that was written in this folder."""
    found = sorted(Path().glob("*.h5"), key=lambda file: file.stat().st_mtime)
    if not found:
        raise ModelError("there is no recording (*.h5) in this folder; make one with: stiction run SCENE")
    return found[-1]
