"""`stiction view`: the bodies of a recording as they move, as a film or a picture."""

from __future__ import annotations

from pathlib import Path

from ..errors import ModelError
from ..scene import parse_scene
from ..simulation import load
from ..simulation.reader import Recording
from .output import console
from .plot import newest


def view_recording(path: Path | None, out: Path | None) -> None:
    """Write an animated GIF, or a picture of a few moments."""
    from ..view.silhouettes import film, picture

    file = newest() if path is None else path
    recording = Recording(file)
    if recording.scene is None:
        raise ModelError(f"{file} was not made from a scene file, so that the shapes of its bodies are not known.")
    world = parse_scene(recording.scene, name=f"the scene in {file}").world
    made = Path(f"{file.stem}.gif") if out is None else out
    if not made.parent.is_dir():
        raise ModelError(f"--out {made}: there is no folder {made.parent}.")
    if made.suffix.lower() == ".gif":
        frames = film(world, load(file), made)
        console().print(f"{made}: {frames} frames of {file}", highlight=False)
    elif made.suffix.lower() in (".png", ".pdf", ".svg"):
        picture(world, load(file)).savefig(made)
        console().print(f"{made}: a few moments of {file}", highlight=False)
    else:
        raise ModelError(f"--out {made}: a film ends in .gif, a picture in .png, .pdf or .svg.")
