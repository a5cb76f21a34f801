"""The report of `stiction reproduce`: every table and figure beside what the papers say, as one HTML file."""

from __future__ import annotations

import base64
import platform
import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from html import escape
from pathlib import Path

from .. import __version__
from ..problem.certificate import UNITS
from .experiment import (
    DIFFERS,
    FITTED,
    NOT_COMPARABLE,
    NOT_PRINTED,
    REPRODUCED,
    Experiment,
    Outcome,
    Quantity,
)
from .words import CAPTIONS, PAPERS, SAYS

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<div class="page">
<nav aria-label="Contents">{contents}</nav>
<main>{body}</main>
</div>
</body>
</html>
"""
STYLE = Path(__file__).with_name("report.css")  # light, dark, and on paper
CLASSES = {REPRODUCED: "reproduced", DIFFERS: "differs", FITTED: "fitted", NOT_COMPARABLE: "apart", NOT_PRINTED: "none"}
VERDICTS = tuple(CLASSES)
MORE_UNITS = {"penetration": "m", "joint_drift": "m", "contradiction": "m", "energy": "J"}


@dataclass(frozen=True)
class Entry:
    """An experiment that was run: what it gave, or the sentence why it gave nothing; its figures as PNG; its time."""

    experiment: Experiment
    seconds: float
    outcome: Outcome | None = None
    error: str | None = None
    figures: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """What was compared; nothing where it failed."""
        return () if self.outcome is None else self.outcome.quantities

    @property
    def ok(self) -> bool:
        """Whether it ran, and every quantity is the one on record."""
        return self.error is None and all(q.ok for q in self.quantities)

    @property
    def residual(self) -> float | None:
        """The largest residual of any solve."""
        return None if self.outcome is None else self.outcome.residual

    @property
    def key(self) -> str:
        """The short name of its paper."""
        return self.experiment.name.partition("-")[0]


def count(entries: Iterable[Entry]) -> Counter[str]:
    """How many quantities have which verdict."""
    return Counter(q.verdict for entry in entries for q in entry.quantities)


def worst(entries: Iterable[Entry]) -> float | None:
    """The largest residual of all."""
    return max((e.residual for e in entries if e.residual is not None), default=None)


def write_report(path: Path, entries: Sequence[Entry]) -> None:
    """Write the report to a file, whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text(report_html(entries), encoding="utf-8")
    part.replace(path)


def report_html(entries: Sequence[Entry]) -> str:
    """The whole page."""
    papers: dict[str, list[Entry]] = {}
    for entry in entries:
        papers.setdefault(entry.key, []).append(entry)
    title = "The papers, reproduced" if len(entries) != 1 else f"{entries[0].experiment.name}, reproduced"
    body = [_head(title, entries)]
    if len(entries) > 1:
        body += [_by_paper(papers), _by_experiment(entries)]
    for key, mine in papers.items():
        body.append(f'<h2 id="{escape(key)}">{escape(key)}</h2>\n<p class="soft">{escape(PAPERS.get(key, ""))}</p>')
        body += [_section(entry) for entry in mine]
    return PAGE.format(
        title=escape(title), style=STYLE.read_text(encoding="utf-8"), contents=_contents(papers), body="\n".join(body)
    )


def _contents(papers: Mapping[str, list[Entry]]) -> str:
    lines = ['<ul><li><a href="#summary">Summary</a></li></ul>']
    if sum(map(len, papers.values())) > 1:
        lines.append('<ul><li><a href="#experiments">All experiments</a></li></ul>')
    for key, mine in papers.items():
        items = "".join(f"<li>{_link(entry)}</li>" for entry in mine)
        lines.append(f'<div class="group"><a href="#{escape(key)}">{escape(key)}</a></div><ul>{items}</ul>')
    return "\n".join(lines)


def _link(entry: Entry) -> str:
    name = escape(entry.experiment.name)
    return f'<a href="#{name}">{name}</a>'


def _head(title: str, entries: Sequence[Entry]) -> str:
    found, failed = count(entries), sum(e.error is not None for e in entries)
    off = sum(not q.ok for e in entries for q in e.quantities)
    cards = [(f"{found[verdict]}", verdict, CLASSES[verdict]) for verdict in VERDICTS]
    cards += [(f"{failed}", "experiments failed", "failed")] if failed else []
    cards += [(f"{off}", "not the value on record", "failed")] if off else []
    cards += [
        (_seconds(sum(e.seconds for e in entries)), "total time", ""),
        (_residual(worst(entries)), "worst residual", ""),
    ]
    shown = "".join(
        f'<div class="card"><b>{escape(value)}</b>{_badge(kind, name) if kind else escape(name)}</div>'
        for value, name, kind in cards
    )
    machine = f"{platform.system()} {platform.machine()}"
    made = f"stiction {__version__}, Python {platform.python_version()}, {machine}, {date.today()}"
    n = sum(len(e.quantities) for e in entries)
    return f"""<h1 id="summary">{escape(title)}</h1>
<p class="soft">{escape(made)}</p>
<p>{n} quantities of {_plural(len(entries), "experiment")}. <b>Reproduced</b>: within half a unit of the last printed
digit, or a claim in words that holds.
<b>Differs</b>: not; the table says why, which readings were tried and what may be concluded. <b>Fitted</b>: a datum or
rule that the paper does not print was chosen for it. <b>Not comparable</b>: the printed number measures something else.
<b>No printed value</b>: ours, for the record. The residual is the largest of any contact solve: the natural map, plain
or scaled.</p>
<div class="cards">{shown}</div>"""


def _plural(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _heading(*first: str, numbers: tuple[str, ...] = ()) -> str:
    cells = "".join(f"<th>{name}</th>" for name in first)
    cells += "".join(f'<th class="n">{name}</th>' for name in (*numbers, *VERDICTS, "residual", "seconds"))
    return f"<thead><tr>{cells}</tr></thead>"


def _counts(entries: Sequence[Entry]) -> str:
    found = count(entries)
    cells = "".join(f'<td class="n{"" if found[v] else " zero"}">{found[v]}</td>' for v in VERDICTS)
    seconds = sum(entry.seconds for entry in entries)
    return f'{cells}<td class="n">{_residual(worst(entries))}</td><td class="n">{seconds:.1f}</td>'


def _by_paper(papers: Mapping[str, list[Entry]]) -> str:
    rows = []
    for key, mine in papers.items():
        link, paper = f'<a href="#{escape(key)}">{escape(key)}</a>', mine[0].experiment.paper.partition(" (")[0]
        rows.append(f'<tr><td>{link}</td><td>{escape(paper)}</td><td class="n">{len(mine)}</td>{_counts(mine)}</tr>')
    every = [entry for mine in papers.values() for entry in mine]
    rows.append(f'<tr class="total"><td>all</td><td></td><td class="n">{len(every)}</td>{_counts(every)}</tr>')
    return _table(_heading("", "paper", numbers=("experiments",)), rows)


def _by_experiment(entries: Sequence[Entry]) -> str:
    rows = []
    for entry in entries:
        mark = "" if entry.ok else f" {_badge('failed', 'failed' if entry.error else 'not on record')}"
        title = escape(entry.experiment.title)
        rows.append(f'<tr><td class="name">{_link(entry)}</td><td>{title}{mark}</td>{_counts([entry])}</tr>')
    return '<h2 id="experiments">All experiments</h2>' + _table(_heading("experiment", "what"), rows)


def _table(heading: str, rows: Sequence[str]) -> str:
    return f'<div class="wide"><table>{heading}<tbody>\n' + "\n".join(rows) + "\n</tbody></table></div>"


def _section(entry: Entry) -> str:
    e = entry.experiment
    parts = [
        f'<section><h3 id="{escape(e.name)}">{escape(e.title)} <code>{escape(e.name)}</code></h3>',
        f'<p class="soft small">{escape(e.paper)}</p>',
    ]
    if e.name in SAYS:
        parts.append(f'<div class="says"><b>What the paper says</b>{escape(SAYS[e.name])}</div>')
    if entry.error is not None:
        parts.append(f'<p class="error">It failed: {escape(entry.error)}</p>')
    if entry.outcome is not None:
        parts += [
            _quantities(entry.quantities),
            _notes(entry.outcome.notes),
            _figures(entry.figures),
            _certificate(entry),
        ]
    return "\n".join([*(part for part in parts if part), "</section>"])


def _quantities(quantities: Sequence[Quantity]) -> str:
    heading = '<thead><tr><th>quantity</th><th class="n">paper</th><th class="n">ours</th><th>verdict</th>'
    heading += "<th>why, or what it means</th></tr></thead>"
    rows = []
    last: Quantity | None = None
    for q in quantities:
        again = last is not None and (q.tried, q.conclude) == (last.tried, last.conclude)
        last = q
        exact = "" if q.value is None or not q.digits else f'<br><span class="soft small">± {q.digits:g}</span>'
        verdict = _badge(CLASSES[q.verdict], q.verdict)
        verdict += (
            ""
            if q.ok
            else f"<br>{_badge('failed', 'not on record')} <span class='soft small'>{number(q, q.record)}</span>"
        )
        rows.append(
            f'<tr><td class="name">{escape(q.name)}</td><td class="n">{escape(number(q, q.paper))}{exact}</td>'
            f'<td class="n">{escape(number(q, q.ours))}</td><td>{verdict}</td>'
            f'<td class="reason">{escape(q.reason)}{_tried(q, again)}</td></tr>'
        )
    return _table(heading, rows)


def _tried(q: Quantity, again: bool) -> str:
    """The readings with which a number that differs was computed, and what a reader may conclude; `again`: they are
    those of the row above."""
    found = ""
    if again and q.tried:
        return '<div class="tried soft">Tried, and to conclude: as above.</div>'
    if q.tried:
        readings = "".join(f"<li>{escape(reading)}</li>" for reading in q.tried)
        found += f'<div class="tried"><b>Tried: {_plural(len(q.tried), "reading")}</b><ul>{readings}</ul></div>'
    return found + (f'<div class="tried"><b>To conclude:</b> {escape(q.conclude)}</div>' if q.conclude else "")


def _notes(notes: Sequence[str]) -> str:
    return '<ul class="notes small">' + "".join(f"<li>{escape(note)}</li>" for note in notes) + "</ul>" if notes else ""


def _figures(figures: Mapping[str, bytes]) -> str:
    shown = []
    for name, data in figures.items():
        caption = escape(CAPTIONS.get(name, name))
        width, height = struct.unpack(">II", data[16:24])  # of the PNG's header
        ratio = width / height  # rows of one height, and no figure much larger than it was made
        shape = f"flex: {ratio:.3f} 1 {max(22.0, 15.0 * ratio):.1f}rem; max-width: min(100%, {0.75 * width:.0f}px)"
        source = f"data:image/png;base64,{base64.b64encode(data).decode('ascii')}"
        image = f'<img src="{source}" alt="{caption}" width="{width}" height="{height}">'
        shown.append(f'<figure style="{shape}">{image}<figcaption>{caption}</figcaption></figure>')
    return f'<div class="figures">{"".join(shown)}</div>' if shown else ""


def _certificate(entry: Entry) -> str:
    assert entry.outcome is not None
    units = {**UNITS, **MORE_UNITS}
    rows = [
        f"{name.replace('_', ' ')} {value:.1e}{' ' + units[name] if units.get(name) else ''}"
        for name, value in entry.outcome.certificate.items()
        if value
    ]
    each = f". Of each kind: {', '.join(rows)}" if rows else ""
    line = f"Certificate: {entry.outcome.certified}{each}. Time: {entry.seconds:.1f} s."
    return f'<p class="soft small">{escape(line)}</p>'


def _badge(kind: str, text: str) -> str:
    return f'<span class="v {kind}">{escape(text)}</span>'


def number(q: Quantity, value: float | str | None) -> str:
    """A value with its unit, as printed where it is, yes or no for a claim in words; a dash where there is none."""
    if value is None:
        return "–"
    if q.in_words:
        return "yes" if value else "no"
    return f"{value if isinstance(value, str) else f'{value:.6g}'}{' ' + q.unit if q.unit else ''}"


def _residual(value: float | None) -> str:
    return "–" if value is None else f"{value:.1e}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else f"{int(seconds) // 60} min {int(seconds) % 60} s"
