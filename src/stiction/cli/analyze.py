"""`stiction analyze`: existence, uniqueness, jamming and bounds of a scene at its start, in plain words."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from .. import _check
from ..analysis.report import LISTED_MAX_CONTACTS, Report, report
from .output import console, write_json

LINE_WIDTH = 100


def analyze_scene(
    path: Path,
    changes: list[str],
    closed: float,
    rest: float,
    directions: int | None,
    time_limit: float,
    json: Path | None,
) -> bool:
    """Read a scene, analyse its initial state and print; whether everything was decided."""
    from ..scene import read_scene

    for name, value in (("--closed", closed), ("--rest", rest)):
        _check.number(name, value, low=0.0)
    _check.number("--time-limit", time_limit, positive=True)
    if directions is not None:
        _check.count("--directions", directions, low=3)
    scene = read_scene(path, changes)
    if json is not None:
        write_json(json, {})  # fail before the work, not after it
    screen = console()
    with screen.status("analysing"):
        found = report(scene.world, closed=closed, rest=rest, directions=directions, time_limit=time_limit)
    show(scene.title or str(path), found)
    if json is not None:
        write_json(json, {"scene": str(path), "title": scene.title, **found.as_dict()})
    return found.decided


def show(title: str, found: Report) -> None:
    """Print a report."""
    screen = console()

    def line(text: str = "", style: str = "") -> None:
        screen.print(text, style=style, highlight=False, markup=False, soft_wrap=True)

    line(title)
    line(found.verdict, style="bold")
    line()
    _contacts(found, line)
    width = max(len(name) for name, _ in found.findings)
    for name, text in found.findings:
        for k, part in enumerate(textwrap.wrap(text, LINE_WIDTH - width)):
            line(f"{name if k == 0 else '':<{width}}  {part}")
    line()
    word = {True: "holds", False: "fails", None: "open"}
    heads = {"H1": "s00 theorem 1 (convergence of stepping)", "A": "ttp01 theorem 1 (forces and accelerations)"}
    for finding in found.hypotheses:
        if finding.name in heads:
            line(heads[finding.name])
        for k, part in enumerate(textwrap.wrap(finding.sentence, LINE_WIDTH - 12)):
            line(f"  {finding.name if k == 0 else '':<4}{word[finding.holds] if k == 0 else '':<6}{part}")


def _contacts(found: Report, line: Any) -> None:
    if not found.contacts:
        line("nothing touches")
        line()
        return
    width = max(7, *(len(c.name) for c in found.contacts))
    line(f"{'contact':<{width}}  {'gap [m]':>9}  {'friction':>8}  {'now':<7}  next")
    for c in found.contacts[: 4 * LISTED_MAX_CONTACTS]:
        line(f"{c.name:<{width}}  {c.gap:>9.1e}  {c.mu:>8.3g}  {c.now:<7}  {c.next}")
    if len(found.contacts) > 4 * LISTED_MAX_CONTACTS:
        line(f"and {len(found.contacts) - 4 * LISTED_MAX_CONTACTS} more")
    line()
