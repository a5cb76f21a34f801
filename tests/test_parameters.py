"""Parameters of solvers: each has a reason, kernels read them as constants, and the page is made from them."""

import ast
import re
import runpy
from pathlib import Path

import stiction

ROOT = Path(__file__).parents[1]
SOLVERS = Path(stiction.__file__).parent / "solvers"


def made():
    return runpy.run_path(str(ROOT / "docs" / "parameters.py"))


def test_the_page_is_that_of_the_sources():
    page = (ROOT / "docs" / "parameters.md").read_text(encoding="utf-8")
    assert page == made()["page"](), "run `python docs/parameters.py`"


def test_every_record_is_on_the_page_and_every_parameter_has_a_reason():
    docs = made()
    listed = {(module, name) for _, module, names in docs["SECTIONS"] for name in names}
    found = set()
    for path in SOLVERS.rglob("*.py"):
        module = path.relative_to(SOLVERS).with_suffix("").as_posix().replace("/", ".")
        found |= {
            (module, node.targets[0].id)
            for node in ast.parse(path.read_text(encoding="utf-8")).body
            if isinstance(node, ast.Assign) and re.search(r"Parameters\(\)$", ast.unparse(node))
        }
    assert found == listed
    for module, name in listed:
        for _, record in docs["records"](module, (name,)):
            assert set(record._fields) == set(docs["reasons"](record)), name
