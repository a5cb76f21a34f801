"""`stiction reproduce`: run experiments of the papers, show the table, write figures and JSON."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..papers import Experiment, Outcome, Quantity, experiment, experiments
from .output import console, output_folder, write_json

COLOURS = {"reproduced": "green", "differs": "yellow", "fitted": "cyan", "no printed value": "dim"}


def list_experiments(json: Path | None) -> None:
    """Show every experiment by name."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("experiment", "paper", "what"):
        table.add_column(heading, no_wrap=heading != "what")
    rows = list(experiments().values())
    for e in rows:
        table.add_row(e.name, e.paper, e.title)
    screen = console()
    screen.print(table)
    screen.print(
        "\nRun one with: stiction reproduce NAME [--json FILE] [--out DIR], or all of them with: reproduce all"
    )
    if json is not None:
        write_json(json, [{"experiment": e.name, "paper": e.paper, "title": e.title} for e in rows])


def reproduce_experiments(name: str, json: Path | None, out: Path | None) -> bool:
    """Run one experiment or all; whether every quantity is the one on record."""
    chosen = list(experiments().values()) if name == "all" else [experiment(name)]
    folder = None if out is None else output_folder(out)
    if json is not None:
        write_json(json, None)  # fail before the work, not after it
    reports: list[dict[str, Any]] = []
    for e in chosen:
        start = time.perf_counter()
        with console().status(f"{e.name}: {e.title}"):
            outcome = e.run()
        report = _report(e, outcome, time.perf_counter() - start)
        reports.append(report)
        _show(e, outcome, report["seconds"])
        if folder is not None:
            _write_figures(outcome, folder)
    if json is not None:
        write_json(json, reports if name == "all" else reports[0])
    return all(q["ok"] for r in reports for q in r["quantities"])


def _report(e: Experiment, outcome: Outcome, seconds: float) -> dict[str, Any]:
    return {
        "experiment": e.name,
        "paper": e.paper,
        "quantities": [q.as_dict() for q in outcome.quantities],
        "certificate": dict(outcome.certificate),
        "seconds": round(seconds, 3),
    }


def _number(q: Quantity, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.6g}{' ' + q.unit if q.unit else ''}"


def _show(e: Experiment, outcome: Outcome, seconds: float) -> None:
    screen = console()
    screen.print(f"\n[bold]{e.name}[/bold]  {e.title}; {e.paper}")
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("quantity")
    table.add_column("paper", justify="right", no_wrap=True)
    table.add_column("ours", justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for q in outcome.quantities:
        verdict = f"[{COLOURS[q.verdict]}]{q.verdict}[/]" + ("" if q.ok else " [red](not on record)[/]")
        table.add_row(q.name, _number(q, q.paper), _number(q, q.ours), verdict)
    screen.print(table)
    for line in [*(f"{q.name}: {q.reason}" for q in outcome.quantities if q.reason), *outcome.notes]:
        screen.print(Padding(Text(line, style="dim"), (0, 0, 0, 2)))
    worst = max(outcome.certificate["natural_map"], outcome.certificate["scaled_map"])
    screen.print(f"largest residual of any solve: {worst:.1e}; {seconds:.1f} s", highlight=False)


def _write_figures(outcome: Outcome, folder: Path) -> None:
    screen = console()
    for name, figure in outcome.figures().items():
        path = folder / f"{name}.png"
        figure.savefig(path)
        screen.print(f"figure {path}", highlight=False)
