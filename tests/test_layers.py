"""The table of layers in docs/architecture.md: which folder imports which, compared with every import."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import stiction

PACKAGE = Path(stiction.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"


def table():
    """{folder: (folders that it imports, those that it imports in functions or for types only)}, in order."""
    rows = re.findall(
        r"^\| `(\w+)/` \| .* \| ([\w, –]+) \| ([\w, –]+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    return {folder: tuple(set(re.findall(r"\w+", cell)) for cell in cells) for folder, *cells in rows}


def imported(node, inside, package):
    """Pairs of a folder that is imported below `node`, and whether that is in a function or for types only."""
    if isinstance(node, ast.ImportFrom):
        base = package[: len(package) - node.level + 1] if node.level else []
        names = base + (node.module or "").split(".")
        if not node.level:
            names = names[1:] if names[0] == "stiction" else ["none of ours"]
        elif not node.module:
            names = base or [alias.name for alias in node.names]
        yield names[0], inside
    later = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.If)
    for part in ast.iter_child_nodes(node):
        yield from imported(part, later, package)


def imports():
    """What `table` says, read from the sources."""
    found = defaultdict(lambda: (set(), set()))
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    for path in PACKAGE.rglob("*.py"):
        package = list(path.relative_to(PACKAGE).parent.parts)
        if package:
            for name, inside in imported(ast.parse(path.read_text(encoding="utf-8")), False, package):
                if name in folders - {package[0]}:
                    found[package[0]][inside].add(name)
    return {folder: (found[folder][0], found[folder][1] - found[folder][0]) for folder in folders}


def test_the_table_of_layers_is_that_of_the_imports():
    assert table() == imports()


def test_a_folder_rests_on_those_above_it_only():
    above = set()
    for folder, (needed, _) in table().items():
        assert needed <= above, folder
        above.add(folder)


def test_what_the_page_says_where_to_find_is_there():
    """Each file that is named exists, and holds one of the names to look for."""
    page = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+\? \| ([^|]*) \| ([^|]*) \|$", page, re.MULTILINE)
    assert len(rows) > 15
    for files, names in rows:
        texts = [(PACKAGE / name).read_text(encoding="utf-8") for name in re.findall(r"`([\w/]+\.py)`", files)]
        for name in re.findall(r"`([\w.]+)`", names):
            last = name.split(".")[-1]
            assert any(re.search(rf"(def|class) {last}\b", text) for text in texts), f"{name} is not in {files}"
    stages = re.findall(r"^\| [a-z ]+ \| [^|]+ \| ([^|]*) \|$", page, re.MULTILINE)
    for name in re.findall(r"`([\w/]+\.py)`", " ".join(stages)):
        assert (PACKAGE / name).is_file(), name
