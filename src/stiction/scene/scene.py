"""Scene: what a scene file says, ready to run."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from .._arguments import checks_arguments
from ..errors import ModelError, SceneError
from ..simulation import Simulator
from ..systems import PlanarWorld, World
from .build import build_world
from .changes import change
from .document import Document
from .embed import embedded
from .problems import Problems
from .toml import write_toml

SCENE_MAX_BYTES = 50_000_000  # of a scene file


@dataclass(frozen=True, eq=False)
class Scene:
    """A world with the settings of its simulator, the duration of its run, and what is recorded.

    world: a `World` or `PlanarWorld`; duration [s]; text: the whole scene as TOML, with the changes that were asked for
    and with meshes in it, so that it needs no other file.
    """

    document: Document
    world: World | PlanarWorld
    text: str = field(repr=False)
    path: Path | None = None

    @property
    def title(self) -> str:
        """What it shows."""
        return self.document.title

    @property
    def dt(self) -> float:
        """The step [s]."""
        return self.document.run.dt

    @property
    def duration(self) -> float:
        """How long it runs [s]."""
        return self.document.run.duration

    @property
    def recording(self) -> dict[str, Any]:
        """What is recorded and how often: the arguments `every`, `fps` and `fields` of `Simulator.run`, as given."""
        return self.document.record.given()

    def simulator(self, **options: Any) -> Simulator:
        """The simulator of the scene at its initial state; `options` go before what the scene says."""
        run = self.document.run
        given: dict[str, Any] = {"solver": run.solver, "tol": run.tol, "on_failure": run.on_failure}
        if run.accept is not None:
            given["accept"] = run.accept
        if run.scheme is not None:
            given["scheme"] = run.scheme.make()
        if run.on_overlap is not None:
            given["on_overlap"] = run.on_overlap
        made = Simulator(self.world, run.dt, **{**given, **options})
        made.scene = self.text
        return made

    @checks_arguments
    def save(self, path: str | Path) -> None:
        """Write the scene to a file that `read_scene` and `stiction run` take."""
        path = Path(path)
        if not path.parent.is_dir():
            raise ModelError(f"cannot write {path}: there is no folder {path.parent}.")
        path.write_text(self.text, encoding="utf-8")


@checks_arguments
def read_scene(path: str | Path, changes: Iterable[str] = ()) -> Scene:
    """Read a scene file (TOML; docs/scenes.md has the format).

    changes: "key=value" texts that go before what the file says, such as "run.dt=0.001" or "bodies.ball.mass=2". Every
    problem that is found is in the one `SceneError`, with its line or table, its field, and what would be right.
    """
    path = Path(path)
    try:
        if not path.is_file():
            raise SceneError(f"{path}: there is no such file." if not path.exists() else f"{path} is not a file.")
        if path.stat().st_size > SCENE_MAX_BYTES:
            raise SceneError(f"{path} has {path.stat().st_size} bytes; a scene file has at most {SCENE_MAX_BYTES}.")
        raw = path.read_bytes()
    except (OSError, ValueError) as error:
        if isinstance(error, SceneError):
            raise
        raise SceneError(f"{path} cannot be read: {error}") from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = raw[: error.start].count(b"\n") + 1
        raise SceneError(f"{path}: line {where} is not UTF-8 text; save the file in that encoding.") from None
    return parse_scene(text, changes, name=str(path), path=path)


@checks_arguments
def parse_scene(text: str, changes: Iterable[str] = (), *, name: str = "scene", path: Path | None = None) -> Scene:
    """A scene from its text; meshes by path are looked for beside `path`, and refused where it is None."""
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "tables or lists are nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise SceneError(f"{name}: this is not TOML: {reason}.") from None
    for one in changes:
        change(data, one, name)
    return scene_from(data, name, text, path)


def scene_from(data: dict[str, Any], name: str, text: str = "", path: Path | None = None) -> Scene:
    """A scene from its tables."""
    problems = Problems(name, data, text)
    try:
        document = Document.model_validate(data)
    except ValidationError as error:
        problems.add_all(error)
        problems.check()
        raise SceneError(f"{name}: {error}") from None
    world = build_world(document, None if path is None else path.parent, problems)
    problems.check()
    try:
        world.build()
    except ModelError as error:
        raise SceneError(f"{name}: {error}") from None
    return Scene(document, world, write_toml(embedded(data, None if path is None else path.parent)), path)
