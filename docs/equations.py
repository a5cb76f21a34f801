"""The index of equations: what the five papers number, and where the sources implement it.

A reference is written after the paper's key, in docstrings and comments: `st96 eq. 14–15, 25–28`, `ah03 §2.2`,
`s00 theorem 1`, `pr11 figures 3–5`, `st96 Table 1`, `pr11 appendix A`, `ttp01 §2 (i)–(iv)`; several after one key
are joined by commas or "and". In a module of `papers/` whose name begins with a key, and in one that names no other
paper, the key may be left out. What there is to refer to stands in docs/data/equations.toml. Captions of figures
(papers/words.py) implement nothing and are not read.

`mkdocs build` fills docs/equations.md with the index (this file is one of its hooks); `python docs/equations.py` prints
it, and tests/test_equations.py fails where a reference points to nothing or something numbered is in no source.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SOURCES = HERE.parent / "src" / "stiction"
MARK = "<!-- index of equations -->"
CAPTIONS = "papers/words.py"
KINDS = {
    "eq": "eq.", "condition": "§2", "theorem": "theorem", "hypothesis": "theorem 1", "figure": "figure",
    "table": "Table", "section": "§",
}  # fmt: skip
WORDS = {
    "eq.": "eq", "eqs.": "eq", "figure": "figure", "figures": "figure", "theorem": "theorem", "table": "table",
    "§": "section", "§§": "section", "appendix": "section",
}  # fmt: skip
NUMBER = r"\d+(?:\.\d+)*[a-z]?|[A-Z]\b"
ITEM = rf"(?:{NUMBER})(?:[–-](?:{NUMBER}))?"
LIST = rf"{ITEM}(?:(?:, and |, | and ){ITEM}(?![\w.]*[a-z]{{2}}))*"
CONDITION = r"\((?:i|ii|iii|iv)\)'?(?:–\((?:i|ii|iii|iv)\)'?)?"
PLAIN = r"(?:\d+|A)(?:[–-]\d+)?(?![\d.]\d)(?:(?:, and |, | and )\d+(?:[–-]\d+)?(?!\.?\d))*"
PART = (
    rf"(?:(?:(?P<word>[Ee]qs?\.) |(?P<sign>§§?))(?P<list>{LIST})(?P<cond>(?:,? {CONDITION})+)?"
    rf"|(?P<other>[Ff]igures?|[Tt]heorem|Table|[Aa]ppendix) (?P<plain>{PLAIN})"
    r"|(?P<assumed>\(?H[1-6]\)?(?:[–-]\(?H[1-6]\)?)?))"
)
KEY = re.compile(r"\b(st96|ah03|s00|pr11|ttp01)(?=\b|_)")
HEAD = re.compile(r"\b(?P<key>st96|ah03|s00|pr11|ttp01)(?:'s)?(?= |:|,)")
NEXT = re.compile(rf"(?:[ ,;(]| and )*(?:{PART})")
BARE = re.compile(rf"(?<![\w.])(?:{PART})")
MENTION = re.compile(  # of something in print, however it is written
    r"\b[Ee]qs?\.? ?\(?\d|\b[Ee]quations? \(?\d|\b[Ff]ig(?:ures?|s?\.) ?\d|\b[Tt]heorem \d|\b[Tt]ables? \d|§ ?\d"
    r"|\bappendix [A-Z]\b|\b(?:st96|ah03|s00|pr11|ttp01)(?:'s)? \(?(?:H\d|i{1,3}v?\)|\d\d+\)|\d\.\d+\))"
)
FIGURE = re.compile(r"(st96|ah03|s00|pr11|ttp01)-[a-z0-9-]*?fig(\d+)\b")
FSTRING = getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)  # a token of its own from Python 3.12 on


@dataclass(frozen=True, order=True)
class Place:
    """Where something is referred to: a file below src/stiction, a line of it, and the function or class there."""

    file: str
    line: int
    name: str


Reference = tuple[str, str, str]  # paper, kind, number


@cache
def data() -> dict[str, Any]:
    """docs/data/equations.toml."""
    return tomllib.loads((HERE / "data" / "equations.toml").read_text(encoding="utf-8"))


def papers() -> dict[str, Any]:
    """What each paper numbers, by the paper's key."""
    return {key: paper for key, paper in data().items() if key != "synonym"}


def synonyms() -> list[dict[str, Any]]:
    """The field's words for one thing, and the functions and classes that are it."""
    return list(data()["synonym"])


def items() -> dict[Reference, str]:
    """All that is numbered, and what it is."""
    found: dict[Reference, str] = {}
    for key, paper in papers().items():
        for kind in KINDS:
            found.update({(key, kind, number): what for number, what in paper.get(kind, {}).items()})
    return found


def reasons() -> dict[Reference, str]:
    """What is not in the code, and why."""
    found: dict[Reference, str] = {}
    for key, paper in papers().items():
        for name, why in paper.get("not", {}).items():
            kind, _, number = name.partition(" ")
            found[key, kind, number] = why
    return found


def numbers(listed: str, known: list[str]) -> list[str]:
    """The numbers of "14–15, 25" or "3.9–3.13".

    A range takes those that lie between its ends in `known`; a number whose parts have letters, 18a and 18b, all.
    """
    found = []
    for item in re.split(r", and |, | and ", listed):
        first, _, last = item.replace("-", "–").partition("–")
        begin, end = _with_letters(first, known), _with_letters(last or first, known)
        if last and begin[0] in known and end[-1] in known and known.index(begin[0]) <= known.index(end[-1]):
            found += known[known.index(begin[0]) : known.index(end[-1]) + 1]
        else:
            found += [*begin, *end] if last else begin
    return found


def _with_letters(number: str, known: list[str]) -> list[str]:
    return [k for k in known if k[:-1] == number and k[-1].isalpha()] or [number]


def parsed(text: str, known: dict[tuple[str, str], list[str]], of: str = "") -> Iterator[tuple[Reference, int, int]]:
    """Each reference of a text and where in it what it was read from begins and ends.

    of: the paper of those that name none.
    """
    taken: list[tuple[int, int]] = []
    for head in HEAD.finditer(text):
        at = head.end() + (text[head.end() : head.end() + 1] in (":", ","))
        while found := NEXT.match(text, at):
            yield from ((ref, head.start(), found.end()) for ref in _references(head["key"], found, known))
            at = found.end()
        taken.append((head.start(), at))
    for found in BARE.finditer(text) if of else ():
        if not any(first <= found.start() < last for first, last in taken):
            yield from ((reference, *found.span()) for reference in _references(of, found, known))
    for found in FIGURE.finditer(text):
        yield (found[1], "figure", found[2]), *found.span()


def _references(key: str, found: re.Match[str], known: dict[tuple[str, str], list[str]]) -> Iterator[Reference]:
    if found["assumed"]:
        listed = found["assumed"].replace("(", "").replace(")", "")
        yield from ((key, "hypothesis", number) for number in numbers(listed, known[key, "hypothesis"]))
        return
    kind = WORDS[(found["word"] or found["sign"] or found["other"]).lower()]
    yield from ((key, kind, number) for number in numbers(found["list"] or found["plain"], known[key, kind]))
    if found["cond"]:
        yield from (
            (key, "condition", number)
            for number in numbers(found["cond"].strip().replace(", ", " ").replace(" ", ", "), known[key, "condition"])
        )


@cache
def _read(root: Path) -> tuple[dict[Reference, list[Place]], list[str]]:
    """Every reference below `root` with where it stands, and every mention that is not read as one."""
    found: dict[Reference, set[Place]] = {}
    unread = []
    for path in sorted(root.rglob("*.py")):
        file, source = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
        if file == CAPTIONS or not (KEY.search(source) or MENTION.search(source)):
            continue
        scopes, of = list(_scopes(ast.parse(source))), _paper(path, source)
        for text, line in _texts(source):
            joined = re.sub(r"\n[ \t]*(?:# ?)?", "\n", text)
            flat, taken = joined.replace("\n", " "), []
            for reference, at, until in parsed(flat, known(), of):
                here = line + joined[:at].count("\n")
                inside = [name for first, last, name in scopes if first <= here <= last]
                found.setdefault(reference, set()).add(Place(file, here, inside[-1] if inside else ""))
                taken.append((at, until))
            unread += [
                f"{file}:{line + joined[: mention.start()].count(chr(10))}: {flat[mention.start() :][:30]}"
                for mention in MENTION.finditer(flat)
                if not any(first <= mention.start() < last for first, last in taken)
            ]
    return {reference: sorted(where) for reference, where in found.items()}, unread


def places(root: Path = SOURCES) -> dict[Reference, list[Place]]:
    """Every reference in the docstrings, comments and names of figures below `root`, with where it stands."""
    return _read(root)[0]


def unread(root: Path = SOURCES) -> list[str]:
    """What is mentioned below `root` in words that `places` does not read: `file:line: words`."""
    return _read(root)[1]


def known() -> dict[tuple[str, str], list[str]]:
    """The numbers that each paper has, by paper and kind."""
    found = {(key, kind): list(paper.get(kind, {})) for key, paper in papers().items() for kind in KINDS}
    return {**found, **{(key, "section"): paper["sections"] for key, paper in papers().items()}}


def _paper(path: Path, source: str) -> str:
    """The paper of references that name none."""
    stem, named = path.stem.partition("_")[0], set(KEY.findall(source))
    return stem if "papers" in path.parts[-3:-1] and stem in papers() else named.pop() if len(named) == 1 else ""


def _texts(source: str) -> Iterator[tuple[str, int]]:
    """Strings, and comments with those that follow on the next lines, each with its first line."""
    comment, first, last = "", 0, -1
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            if token.start[0] != last + 1 or not comment:
                if comment:
                    yield comment, first
                comment, first = token.string, token.start[0]
            else:
                comment += "\n" + token.string
            last = token.start[0]
        elif token.type in (tokenize.STRING, FSTRING):
            yield token.string, token.start[0]
    if comment:
        yield comment, first


def _scopes(tree: ast.AST, prefix: str = "") -> Iterator[tuple[int, int, str]]:
    """First line, last line and name of every function, class and constant of the module, outer ones first."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(tree, ast.Module) and isinstance(node, ast.Assign):
            first = next(part for part in ast.walk(node.targets[0]) if isinstance(part, ast.Name))
            yield node.lineno, node.end_lineno or node.lineno, first.id
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = f"{prefix}{node.name}"
            yield node.lineno, node.end_lineno or node.lineno, name
            yield from _scopes(node, f"{name}.")
        else:
            yield from _scopes(node, prefix)


def names(path: Path) -> dict[str, int]:
    """Every function, class and constant of a file, `Class.method` included, and the line on which it begins."""
    return {name: first for first, _, name in _scopes(ast.parse(path.read_text(encoding="utf-8")))}


def index() -> str:
    """The index as Markdown."""
    where, why = places(), reasons()
    lines = []
    for key, paper in papers().items():
        lines += [f"## {key}: {paper['title']}", "", "| in print | what it says | where |", "|---|---|---|"]
        for (of, kind, number), what in items().items():
            found = where.get((key, kind, number), [])
            if of == key:
                shown = _shown(found) if found else f"not implemented, because {why.get((key, kind, number), '')}"
                lines.append(f"| {_heading(kind, number)} | {what} | {shown} |")
        for number in paper["sections"]:
            if found := where.get((key, "section", number), []):
                lines.append(f"| {_heading('section', number)} | | {_shown(found)} |")
        lines.append("")
    lines += ["## Other words for it", "", "| words | what it is | where |", "|---|---|---|"]
    for entry in synonyms():
        at = "<br>".join(f"`{place}` {_line(place)}" for place in entry["at"])
        lines.append(f"| {entry['words']} | {entry['what']} | {at} |")
    return "\n".join(lines)


def _heading(kind: str, number: str) -> str:
    if kind == "section" and number.isupper():
        return f"appendix {number}"
    return f"{KINDS[kind]}{'' if kind == 'section' else ' '}{number}"


def _line(place: str) -> int:
    file, _, name = place.partition(":")
    return names(SOURCES / file)[name]


def _shown(where: list[Place]) -> str:
    """`file:function`, each once, with its lines."""
    lines: dict[tuple[str, str], list[int]] = {}
    for place in where:
        lines.setdefault((place.file, place.name), []).append(place.line)
    return "<br>".join(
        f"`{file}{f':{name}' if name else ''}` {', '.join(map(str, at))}" for (file, name), at in lines.items()
    )


def on_page_markdown(markdown: str, **_: Any) -> str:
    """For mkdocs: the page with the index in its place."""
    return markdown.replace(MARK, index()) if MARK in markdown else markdown


if __name__ == "__main__":
    print(index())
