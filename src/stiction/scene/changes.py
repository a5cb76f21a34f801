"""Changes to a scene from the command line: "run.dt=0.001", "bodies.ball.mass=2", "materials.default.friction=0.3"."""

from __future__ import annotations

import tomllib
from typing import Any

from ..errors import SceneError


def change(data: dict[str, Any], what: str, name: str) -> None:
    """Set one value of the tables of a scene. Items of lists go by number or name; a bare word is text."""
    key, sign, value = what.partition("=")
    if not sign or not key.strip():
        raise SceneError(f"--set {what}: write key=value, such as run.dt=0.001.")
    steps = [step.strip().strip("\"'") for step in key.split(".")]
    at: Any = data
    for i, step in enumerate(steps[:-1]):
        at = _inside(at, step, what, ".".join(steps[:i]) or name)
    last = steps[-1]
    if isinstance(at, list):
        at[_index(at, last, what)] = _value(value)
    elif isinstance(at, dict):
        at[last] = _value(value)
    else:
        raise SceneError(f"--set {what}: {'.'.join(steps[:-1])} is a value, and has no {last!r}.")


def _inside(at: Any, step: str, what: str, where: str) -> Any:
    if isinstance(at, list):
        return at[_index(at, step, what)]
    if not isinstance(at, dict):
        raise SceneError(f"--set {what}: {where} is a value, and has no {step!r}.")
    return at.setdefault(step, {})


def _index(items: list[Any], step: str, what: str) -> int:
    names = [item.get("name") if isinstance(item, dict) else None for item in items]
    if step in names:
        return names.index(step)
    if step.isdecimal() and len(step) < 10 and int(step) < len(items):
        return int(step)
    known = ", ".join(str(name) for name in names if name is not None)
    raise SceneError(f"--set {what}: there is no {step!r} among {known or f'{len(items)} items'}.")


def _value(text: str) -> Any:
    """A TOML value; what is none is text."""
    try:
        data = tomllib.loads(f"value = {text.strip()}\n")
    except (ValueError, RecursionError):
        return text.strip()
    return data["value"] if list(data) == ["value"] else text.strip()
