"""`stiction view`: the bodies of a recording as they move, in the browser, as a film or as a picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import ModelError, SolverError
from ..scene import read_scene
from ..simulation import load
from . import Stopped
from .output import console
from .plot import newest

FILM_ENDINGS, PICTURE_ENDINGS = (".gif", ".mp4"), (".png", ".pdf", ".svg")


def view_in_browser(path: Path | None, host: str, port: int, speed: float, open_browser: bool) -> None:
    """Serve a page with a recording, or with a scene that is run as it is shown, until Ctrl-C."""
    from ..view.web.live import watch
    from ..view.web.viewer import Viewer

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
    console().print(f"open {viewer.url} in a browser; Ctrl-C ends the viewer", highlight=False, soft_wrap=True)


def draw_recording(path: Path | None, made: Path, *, at: float | None, speed: float, forces: bool) -> None:
    """Write a film, or a picture of a few moments or of one."""
    file, kind = newest() if path is None else path, made.suffix.lower()
    if not made.parent.is_dir():
        raise ModelError(f"--out {made}: there is no folder {made.parent}.")
    if kind not in (*FILM_ENDINGS, *PICTURE_ENDINGS):
        raise ModelError(
            f"--out {made}: a film ends in {' or '.join(FILM_ENDINGS)}, a picture in {', '.join(PICTURE_ENDINGS)}."
        )
    if kind in FILM_ENDINGS and at is not None:
        raise ModelError("--at chooses the moment of a picture; leave it out for a film.")
    run = load(file)
    if kind in FILM_ENDINGS:
        count = run.film(made, speed=speed, forces=forces)
        console().print(f"{made}: {count} frames of {file}", highlight=False, soft_wrap=True)
    elif at is not None or forces:
        run.picture(at, path=made, forces=forces)
        console().print(f"{made}: a moment of {file}", highlight=False, soft_wrap=True)
    else:
        run.plot("frames", path=made)
        console().print(f"{made}: a few moments of {file}", highlight=False, soft_wrap=True)
