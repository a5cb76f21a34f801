"""`stiction reproduce`: run experiments of the papers, show their tables, write figures, the report and JSON."""

from __future__ import annotations

import time
from io import BytesIO
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..errors import ModelError
from ..papers import Experiment, Outcome, experiment, experiments
from ..view.report import VERDICTS, Entry, count, number, worst, write_report
from .output import console, output_folder, write_json

COLOURS = {
    "reproduced": "green",
    "differs": "yellow",
    "fitted": "cyan",
    "not comparable": "magenta",
    "no printed value": "dim",
}
REPORT = "report.html"  # beside the figures
ALONE = Path("stiction-report.html")  # where no folder is given


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
        "\nRun one with: stiction reproduce NAME [--out DIR] [--json FILE], or all of them with: reproduce all"
    )
    if json is not None:
        write_json(json, [{"experiment": e.name, "paper": e.paper, "title": e.title} for e in rows])


def reproduce_experiments(name: str, json: Path | None, out: Path | None, report: Path | None) -> bool:
    """Run one experiment or all; whether each ran and every quantity is the one on record.

    out: a folder for figures and the report; report: a file for the report. That of all is always written.
    """
    chosen = list(experiments().values()) if name == "all" else [experiment(name)]
    folder = None if out is None else output_folder(out)
    page = _page(name, folder, report)
    if json is not None:
        write_json(json, None)  # fail before the work, not after it
    entries: list[Entry] = []
    try:
        for e in chosen:
            entries.append(_run(e, folder, drawn=page is not None))
            _show(entries[-1])
    finally:  # what was done before Ctrl-C is not lost
        if page is not None and entries:
            write_report(page, entries)
    if name == "all":
        _summary(entries)
    if page is not None:
        console().print(f"report {page}: open it in a browser", highlight=False, soft_wrap=True)
    if json is not None:
        reports = [_as_dict(entry) for entry in entries]
        write_json(json, reports if name == "all" else reports[0])
    return all(entry.ok for entry in entries)


def _page(name: str, folder: Path | None, report: Path | None) -> Path | None:
    """Where the report goes."""
    if report is None and folder is not None:
        return folder / REPORT
    if report is None:
        return ALONE if name == "all" else None
    if not report.parent.is_dir():
        raise ModelError(f"--report {report}: there is no folder {report.parent}.")
    if report.suffix.lower() not in (".html", ".htm"):
        raise ModelError(f"--report {report}: the report is a page, so its name ends in .html.")
    return report


def _run(e: Experiment, folder: Path | None, drawn: bool) -> Entry:
    """Run an experiment and draw it; one that fails says why, and the others go on."""
    start, outcome = time.perf_counter(), None
    try:
        with console().status(f"{e.name}: {e.title}"):
            outcome = e.run()
            seconds = time.perf_counter() - start
            figures = _draw(outcome) if drawn else {}
    except Exception as error:  # whatever it is, it is shown
        return Entry(e, time.perf_counter() - start, outcome, f"{type(error).__name__}: {error}")
    if folder is not None:
        for name, data in figures.items():
            (folder / f"{name}.png").write_bytes(data)
    return Entry(e, seconds, outcome, None, figures)


def _draw(outcome: Outcome) -> dict[str, bytes]:
    """The figures as PNG."""
    drawn = {}
    for name, figure in outcome.figures().items():
        data = BytesIO()
        figure.savefig(data, format="png")
        drawn[name] = data.getvalue()
    return drawn


def _as_dict(entry: Entry) -> dict[str, Any]:
    data: dict[str, Any] = {
        "experiment": entry.experiment.name,
        "paper": entry.experiment.paper,
        "quantities": [q.as_dict() for q in entry.quantities],
        "certificate": {} if entry.outcome is None else {k: float(v) for k, v in entry.outcome.certificate.items()},
        "seconds": round(entry.seconds, 3),
    }
    return data if entry.error is None else {**data, "error": entry.error}


def _show(entry: Entry) -> None:
    screen, e = console(), entry.experiment
    screen.print(f"\n[bold]{e.name}[/bold]  {e.title}; {e.paper}")
    if entry.outcome is not None:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("quantity")
        table.add_column("paper", justify="right", no_wrap=True)
        table.add_column("ours", justify="right", no_wrap=True)
        table.add_column("verdict", no_wrap=True)
        for q in entry.quantities:
            verdict = f"[{COLOURS[q.verdict]}]{q.verdict}[/]" + ("" if q.ok else " [red](not on record)[/]")
            table.add_row(q.name, number(q, q.paper), number(q, q.ours), verdict)
        screen.print(table)
        reasons = (f"{q.name}: {q.reason}" for q in entry.quantities if q.reason)
        for line in [*reasons, *entry.outcome.notes]:
            screen.print(Padding(Text(line, style="dim"), (0, 0, 0, 2)))
        screen.print(f"{entry.outcome.certified}; {entry.seconds:.1f} s", highlight=False)
    if entry.error is not None:
        screen.print(f"[red]failed:[/red] {escape(entry.error)}", highlight=False)


def _summary(entries: list[Entry]) -> None:
    """The table of all experiments, and how many numbers have which verdict."""
    table = Table(box=None, pad_edge=False, header_style="bold", show_footer=True)
    every = count(entries)
    largest = worst(entries)
    table.add_column("experiment", f"all {len(entries)}", no_wrap=True)
    for verdict in VERDICTS:
        table.add_column(verdict, str(every[verdict]), justify="right", style=COLOURS[verdict])
    table.add_column("residual", "-" if largest is None else f"{largest:.1e}", justify="right", no_wrap=True)
    table.add_column("seconds", f"{sum(e.seconds for e in entries):.1f}", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for entry in entries:
        found = count([entry])
        cells = [str(found[verdict]) if found[verdict] else "" for verdict in VERDICTS]
        residual = "-" if entry.residual is None else f"{entry.residual:.1e}"
        mark = "" if entry.ok else "[red]failed[/]" if entry.error is not None else "[red]not on record[/]"
        table.add_row(entry.experiment.name, *cells, residual, f"{entry.seconds:.1f}", mark)
    screen = console()
    screen.print()
    screen.print(table)
    counts = ", ".join(f"{every[verdict]} {verdict}" for verdict in VERDICTS)
    screen.print(f"{sum(every.values())} quantities: {counts}", highlight=False, soft_wrap=True)
