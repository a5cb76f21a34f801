"""Where in a scene file something is said: the line of a path such as ("bodies", 2, "shape", "radius")."""

from __future__ import annotations

import re
from typing import Any

Path = tuple[Any, ...]
_KEY = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_KEYS = rf"{_KEY}(?:\s*\.\s*{_KEY})*"
_LINE = re.compile(rf"\s*(?:\[\[\s*(?P<array>{_KEYS})\s*\]\]|\[\s*(?P<table>{_KEYS})\s*\]|(?P<key>{_KEYS})\s*=)")
_TOKEN = re.compile(
    r'"""|\'\'\'|"(?:[^"\\\n]|\\.)*"|' + r"'[^'\n]*'|#[^\n]*|[\[\]{}]",
)


def lines_of(text: str) -> dict[Path, int]:
    """The line of each table and key, as far as they stand at the beginning of one; `text` is valid TOML."""
    found: dict[Path, int] = {}
    here: Path = ()
    counts: dict[Path, int] = {}
    depth, quote = 0, ""
    for number, line in enumerate(text.split("\n"), start=1):
        if depth == 0 and not quote:
            match = _LINE.match(line)
            if match:
                said = match.group("array") or match.group("table") or match.group("key")
                keys = tuple(_plain(key) for key in re.findall(_KEY, said))
                if match.group("array"):
                    path = _indexed(keys[:-1], counts) + keys[-1:]
                    counts[path] = counts.get(path, -1) + 1
                    here = (*path, counts[path])
                    found.setdefault(here, number)
                elif match.group("table"):
                    here = _indexed(keys, counts)
                    found.setdefault(here, number)
                else:
                    found.setdefault(here + keys, number)
                if not match.group("key"):
                    continue
        depth, quote = _open(line, depth, quote)
    return found


def line_of(path: Path, lines: dict[Path, int]) -> int | None:
    """The line of a path, or of the nearest table around it."""
    while path:
        if path in lines:
            return lines[path]
        path = path[:-1]
    return None


def _plain(key: str) -> str:
    return key[1:-1] if key[:1] in "\"'" else key


def _indexed(keys: tuple[str, ...], counts: dict[Path, int]) -> Path:
    """Keys with the numbers of the arrays of tables that they go through."""
    path: Path = ()
    for key in keys:
        path = (*path, key)
        if path in counts:
            path = (*path, counts[path])
    return path


def _open(line: str, depth: int, quote: str) -> tuple[int, str]:
    """How many brackets, and which long string, are open at the end of a line."""
    for token in _TOKEN.findall(line):
        if quote:
            quote = "" if token == quote else quote
        elif token in ('"""', "'''"):
            quote = token
        elif token in ("[", "{"):
            depth += 1
        elif token in ("]", "}"):
            depth = max(0, depth - 1)
    return depth, quote


def spoken(path: Path, data: Any) -> str:
    """A path in words: the table it is in, by number and name, and the field."""
    words: list[str] = []
    at = data
    for step in path:
        inside = at[step] if _has(at, step) else None
        if isinstance(step, int):
            name = inside.get("name") if isinstance(inside, dict) else None
            words[-1] += f"[{step}]" + (f" ({cut(name, 60)!r})" if isinstance(name, str) else "")
        else:
            words.append(cut(str(step), 60))
        at = inside
    return ".".join(words) or "the file"


def cut(text: str, most: int) -> str:
    """A text of at most so many characters."""
    return text if len(text) <= most else text[: most - 3] + "..."


def _has(at: Any, step: Any) -> bool:
    if isinstance(at, dict):
        return step in at
    return isinstance(at, list) and isinstance(step, int) and 0 <= step < len(at)
