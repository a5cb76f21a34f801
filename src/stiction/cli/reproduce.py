"""`stiction reproduce`: run experiments of the papers or their studies, show tables, write figures, report, JSON."""

from __future__ import annotations

import sys
import time
from io import BytesIO
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.padding import Padding
from rich.status import Status
from rich.table import Table
from rich.text import Text

from ..errors import ModelError
from ..papers import Experiment, Outcome, experiment, experiments
from ..papers.progress import listening
from ..papers.report import VERDICTS, Entry, count, number, worst, write_report
from .output import clock, console, output_folder, write_json

MINUTES, COLD_MINUTES, STUDY_MINUTES = 3, 6, 45  # of all experiments or studies, on two cores
COLOURS = {
    "reproduced": "green",
    "differs": "yellow",
    "fitted": "cyan",
    "not comparable": "magenta",
    "no printed value": "dim",
}


def list_experiments(json: Path | None, *, study: bool = False) -> None:
    """Show every experiment by name, or those that have a study."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("experiment", "paper", "study", "what"):
        table.add_column(heading, no_wrap=heading != "what")
    rows = [e for e in experiments().values() if e.study is not None or not study]
    for e in rows:
        table.add_row(e.name, e.paper, "yes" if e.study is not None else "", e.title)
    screen = console()
    screen.print(table)
    screen.print(
        "\nRun one with: stiction reproduce NAME [--out DIR] [--json FILE], or all of them with: reproduce all"
        "\nMany runs of one, for minutes: stiction reproduce NAME --study"
    )
    if json is not None:
        kept = [{"experiment": e.name, "paper": e.paper, "title": e.title, "study": e.study is not None} for e in rows]
        write_json(json, kept)


def reproduce_experiments(
    name: str, json: Path | None, out: Path | None, report: Path | None, *, study: bool = False
) -> bool:
    """Run one experiment or all, or their studies; whether each ran and every quantity is the one on record.

    out: a folder for figures and the report; report: a file for the report. That of all is always written.
    """
    chosen = _chosen(name, study)
    folder = None if out is None else output_folder(out)
    page = _page(name, folder, report, study)
    if json is not None:
        write_json(json, None)  # fail before the work, not after it
    if name == "all":
        _announce(chosen, study, page)
    entries: list[Entry] = []
    try:
        for e in chosen:
            entries.append(_run(e, folder, drawn=page is not None, study=study))
            _show(entries[-1], study)
    finally:  # what was done before Ctrl-C is not lost
        if page is not None and entries:
            write_report(page, entries)
    if name == "all":
        _summary(entries)
    if page is not None:
        console().print(f"report {page}: open it in a browser", highlight=False, soft_wrap=True)
    if json is not None:
        reports = [_as_dict(entry, study) for entry in entries]
        write_json(json, reports if name == "all" else reports[0])
    return all(entry.ok for entry in entries)


def _announce(chosen: list[Experiment], study: bool, page: Path | None) -> None:
    """What will be done, and about how long it takes on two cores."""
    papers = len({e.name.partition("-")[0] for e in chosen})
    if study:
        what = f"{len(chosen)} studies of {papers} papers, many runs each: about {STUDY_MINUTES} minutes in all."
    else:
        what = (
            f"{len(chosen)} experiments of {papers} papers: about {MINUTES} minutes on two cores, up to {COLD_MINUTES} "
            "the first time, when machine code is made. Each is shown as soon as it is done, the first within a minute."
        )
    screen = console()
    screen.print(what, highlight=False)
    screen.print(f"The report is written at the end: {page}. Ctrl-C stops, and keeps what is done.", highlight=False,
                 soft_wrap=True)  # fmt: skip


def _chosen(name: str, study: bool) -> list[Experiment]:
    """What is run; where a study is asked for, each of them has one."""
    chosen = list(experiments().values()) if name == "all" else [experiment(name)]
    if not study:
        return chosen
    having = [e for e in chosen if e.study is not None]
    if not having:
        known = ", ".join(e.name for e in experiments().values() if e.study is not None)
        raise ModelError(f"--study: {name} has no study; those that have one: {known or 'none yet'}.")
    return having


def _page(name: str, folder: Path | None, report: Path | None, study: bool) -> Path | None:
    """Where the report goes."""
    kind = "study" if study else "report"
    if report is None and folder is not None:
        return folder / f"{kind}.html"  # beside the figures
    if report is None:
        return Path(f"stiction-{kind}.html") if name == "all" else None
    if not report.parent.is_dir():
        raise ModelError(f"--report {report}: there is no folder {report.parent}.")
    if report.suffix.lower() not in (".html", ".htm"):
        raise ModelError(f"--report {report}: the report is a page, so its name ends in .html.")
    return report


def _run(e: Experiment, folder: Path | None, drawn: bool, study: bool = False) -> Entry:
    """Run an experiment or its study and draw it; one that fails says why, and the others go on."""
    start, outcome = time.perf_counter(), None
    run = e.study if study and e.study is not None else e.run
    try:
        with console().status(f"{e.name}: {e.title}") as status, listening(_Progress(e, status)):
            outcome = run()
            seconds = time.perf_counter() - start
            figures = _draw(outcome) if drawn else {}
    except Exception as error:  # whatever it is, it is shown
        return Entry(e, time.perf_counter() - start, outcome, f"{type(error).__name__}: {error}")
    if folder is not None:
        for name, data in figures.items():
            (folder / f"{name}.png").write_bytes(data)
    return Entry(e, seconds, outcome, None, figures)


class _Progress:
    """Shows how far the runs of an experiment are: in its line on a terminal, else as a line when each part begins."""

    def __init__(self, e: Experiment, status: Status):
        self.name, self.status = e.name, status
        self.terminal = console().is_terminal
        self.begin = 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.perf_counter()
        if done == 0:
            self.begin = now
            if not self.terminal:
                print(f"{self.name}: {what}, {total} runs", file=sys.stderr)
        left = f", {clock((now - self.begin) / done * (total - done))} left" if 0 < done < total else ""
        self.status.update(f"{self.name}: {what}, {done} of {total} runs{left}")


def _draw(outcome: Outcome) -> dict[str, bytes]:
    """The figures as PNG."""
    drawn = {}
    for name, figure in outcome.figures().items():
        data = BytesIO()
        figure.savefig(data, format="png")
        drawn[name] = data.getvalue()
    return drawn


def _as_dict(entry: Entry, study: bool) -> dict[str, Any]:
    data: dict[str, Any] = {
        "experiment": entry.experiment.name,
        **({"study": True} if study else {}),
        "paper": entry.experiment.paper,
        "quantities": [q.as_dict() for q in entry.quantities],
        "certificate": {} if entry.outcome is None else {k: float(v) for k, v in entry.outcome.certificate.items()},
        "seconds": round(entry.seconds, 3),
    }
    return data if entry.error is None else {**data, "error": entry.error}


def _show(entry: Entry, study: bool) -> None:
    screen, e = console(), entry.experiment
    screen.print(f"\n[bold]{e.name}[/bold]  {'study: ' if study else ''}{e.title}; {e.paper}")
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
