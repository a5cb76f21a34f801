"""`stiction view`: the bodies of a recording as they move, in the browser, as a film or as a picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import ModelError, SolverError
from ..scene import parse_scene, read_scene
from ..simulation import load
from ..simulation.reader import Recording
from . import Stopped
from .output import console
from .plot import newest


def view_in_browser(path: Path | None, host: str, port: int, speed: float, open_browser: bool) -> None:
    """Serve a page with a recording, or with a scene that is run as it is shown, until Ctrl-C."""
    from ..view.web import Viewer
    from ..view.web_live import watch

    file = newest() if path is None else path
    options: dict[str, Any] = {"host": host, "port": port, "speed": speed, "open_browser": open_browser}
    if file.suffix == ".toml":
        scene = read_scene(file)
        console().print(f"{file} is run as it is shown; nothing is recorded.", highlight=False)
        try:
            viewer = watch(scene.simulator(), scene.duration, announce=_announce, **options)
        except SolverError as error:  # the page still shows how it came to that
            console().print(f"{error}", highlight=False)
            _stay(error.viewer)  # type: ignore[attr-defined]
            raise
        _stay(viewer)
    else:
        _stay(Viewer(file, playing=True, **options), _announce)


def _stay(viewer: Any, announce: Callable[[Any], None] = lambda viewer: None) -> None:
    """Until Ctrl-C, which is how one leaves a viewer."""
    try:
        announce(viewer)
        viewer.wait()
    except Stopped:
        pass
    finally:
        viewer.stop()


def _announce(viewer: Any) -> None:
    console().print(f"open {viewer.url} in a browser; Ctrl-C ends the viewer", highlight=False)


def draw_recording(path: Path | None, made: Path) -> None:
    """Write an animated GIF, or a picture of a few moments."""
    from ..view.silhouettes import film, picture

    file = newest() if path is None else path
    recording = Recording(file)
    if recording.scene is None:
        raise ModelError(f"{file} was not made from a scene file, so that the shapes of its bodies are not known.")
    world = parse_scene(recording.scene, name=f"the scene in {file}").world
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
