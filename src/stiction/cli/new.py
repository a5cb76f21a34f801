"""`stiction new`: a starter scene of a chosen kind, to change."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from .. import _check
from ..errors import ModelError
from .output import console

DEFAULT_SCENE = "tower"


def kinds() -> dict[str, str]:
    """The kinds of starter scenes, and what each shows: its first line."""
    folder = resources.files("stiction.scene") / "starters"
    found = sorted(file.name[:-5] for file in folder.iterdir() if file.name.endswith(".toml"))
    return {name: starter(name).splitlines()[0].lstrip("# ") for name in found}


def starter(kind: str) -> str:
    """The text of a starter scene."""
    return (resources.files("stiction.scene") / "starters" / f"{kind}.toml").read_text(encoding="utf-8")


def new_scene(path: Path | None, kind: str) -> None:
    """Write a starter scene; without a path, list the kinds."""
    screen = console()
    known = kinds()
    if path is None:
        for name, line in known.items():
            screen.print(f"[bold]{name:<8s}[/bold] {line}", highlight=False)
        screen.print("\nWrite one with: stiction new FILE.toml --kind NAME")
        return
    _check.choice("--kind", kind, list(known))
    if path.suffix != ".toml":
        raise ModelError(f"{path}: a scene file ends in .toml.")
    if not path.parent.is_dir():
        raise ModelError(f"{path}: there is no folder {path.parent}.")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(starter(kind))
    except FileExistsError:
        raise ModelError(f"{path} exists already; choose another name, or remove it first.") from None
    screen.print(f"{path}: {known[kind]}", highlight=False)
    screen.print(f"Run it with: stiction run {path}", highlight=False)
