"""The numbers of docs/gallery.md: those of the run that drew its figures, kept in docs/data/reproduce.json.

`python docs/make_figures.py experiments` runs every experiment, draws the figures, writes that file and fills the
tables; `python docs/make_figures.py gallery` fills the tables alone. A table stands between

    <!-- NAME: from data/reproduce.json -->  and  <!-- end of NAME -->

and shows every quantity of the experiment that has a printed value. A number in the text that is followed by
`<!-- NAME: QUANTITY -->` is that quantity of the same run, to the digits that are given. tests/test_gallery.py
compares both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from stiction.papers import Outcome

HERE = Path(__file__).parent
DATA, PAGE = HERE / "data" / "reproduce.json", HERE / "gallery.md"
MARKED = re.compile(r"([-−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)<!-- ([a-z0-9-]+): ([^>]+) -->")
TABLE = re.compile(r"<!-- ([a-z0-9-]+): from data/reproduce\.json -->\n(.*?)<!-- end of \1 -->", re.DOTALL)
Row = dict[str, Any]


def rows_of(outcome: Outcome) -> list[Row]:
    """What is kept of every quantity."""
    kept = []
    for q in outcome.quantities:
        row = {
            "name": q.name, "unit": q.unit, "paper": q.paper, "ours": float(f"{q.ours:.9g}"), "verdict": q.verdict,
            "in_words": q.in_words, "tried": len(q.tried), "conclude": q.conclude, "record": q.record,
            "within": float(f"{q.within:.3g}"),
        }  # fmt: skip
        kept.append({name: value for name, value in row.items() if value != "" and value is not False})
    return kept


def write_data(outcomes: dict[str, Outcome]) -> None:
    """Write the numbers of a run, an experiment at a time: others that are there stay."""
    data = read_data() if DATA.exists() else {}
    data.update({name: rows_of(outcome) for name, outcome in outcomes.items()})
    lines = [f' "{name}": [\n  ' + ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n ]"
             for name, rows in data.items()]  # fmt: skip
    DATA.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def read_data() -> dict[str, list[Row]]:
    """The numbers of the run that drew the figures."""
    data: dict[str, list[Row]] = json.loads(DATA.read_text(encoding="utf-8"))
    return data


def shown(row: Row, value: str | float) -> str:
    """A value as the table shows it."""
    if row.get("in_words"):
        return "yes" if value else "no"
    text = value if isinstance(value, str) else f"{value:.6g}"
    return f"{text} {row['unit']}" if row.get("unit") else text


def table(rows: Iterable[Row]) -> str:
    """The table of the quantities with a printed value."""
    lines = ["| quantity | paper | ours | verdict |", "|---|---|---|---|"]
    for row in rows:
        if row["paper"] is not None:
            name = row["name"].replace("|", "\\|")
            ours, paper = shown(row, row["ours"]), shown(row, row["paper"])
            lines.append(f"| {name} | {paper} | {ours} | {row['verdict']} |")
    return "\n".join(lines) + "\n"


def write_tables() -> None:
    """Fill the tables of the page."""
    data = read_data()

    def fill(found: re.Match[str]) -> str:
        name = found[1]
        return f"<!-- {name}: from data/reproduce.json -->\n{table(data[name])}<!-- end of {name} -->"

    PAGE.write_text(TABLE.sub(fill, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def wrong_numbers(text: str) -> Iterator[str]:
    """Numbers in the text that are not those of the run."""
    data = read_data()
    for number, name, quantity in MARKED.findall(text):
        row = next((row for row in data.get(name, ()) if row["name"] == quantity), None)
        if row is None:
            yield f"{name} has no quantity {quantity!r}"
            continue
        digits = number.replace("−", "-")
        decimals = len(digits.partition(".")[2].partition("e")[0])
        power = int(digits.partition("e")[2] or 0)
        if not abs(float(digits) - row["ours"]) <= 0.5001 * 10.0 ** (power - decimals):
            yield f"{name}: {quantity}: the page says {number}, the run {row['ours']:g}"
