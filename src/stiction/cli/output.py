"""Writing for programs and for people."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from ..errors import ModelError


def console() -> Console:
    """Standard output; wide when it is a file, so that tables are not cut."""
    made = Console()
    return made if made.is_terminal else Console(width=140)


def failure(message: str, word: str = "error") -> None:
    """An error, or another word, on standard error: one line, or one and those of a scene below it."""
    print(f"{word}: {message}", file=sys.stderr)


def write_json(path: Path, data: Any) -> None:
    """Write `data` to a file, whole or not at all."""
    if not path.parent.is_dir():
        raise ModelError(f"--json {path}: there is no folder {path.parent}.")
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(data, indent=2, allow_nan=False) + "\n")
    part.replace(path)


def output_folder(path: Path) -> Path:
    """The folder, made if needed."""
    if path.exists() and not path.is_dir():
        raise ModelError(f"--out {path} is a file; give a folder.")
    path.mkdir(parents=True, exist_ok=True)
    return path


def clock(seconds: float) -> str:
    """A time as minutes:seconds, or hours:minutes:seconds."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:.0f}:{minutes:02.0f}:{seconds:02.0f}" if hours else f"{minutes:.0f}:{seconds:02.0f}"
