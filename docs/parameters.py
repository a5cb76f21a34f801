"""The page of the parameters of solvers, from the records in the sources: name, default, unit and reason of each.

`python docs/parameters.py` writes docs/parameters.md; tests/test_parameters.py fails where the page is not what this
makes, where a parameter has no reason, or where a record is missing here.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from itertools import pairwise
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE / "parameters.md"
# headings of the page: modules below `stiction.solvers` and their records
SECTIONS = (
    ("Which solver is tried when: `auto`", "auto", ("AUTO",)),
    ("What is accepted above the tolerance", "acceptance", ("ACCEPTANCE",)),
    ("Bodies at rest", "rest", ("REST",)),
    (
        "Block Gauss–Seidel: `nsgs`",
        "gauss_seidel.parameters",
        ("ATTEMPT", "WINDOWS", "SCHEDULE", "ACCELERATION", "ISLAND_NEWTON", "LOCAL"),
    ),
    ("Newton's method: `newton` and `proximal`", "newton.parameters", ("NEWTON", "PROXIMAL", "ASSEMBLY")),
    ("Gradients: `apgd`", "apgd", ("APGD",)),
    ("Interior points: `conic`", "conic", ("CONIC",)),
    ("Rounds of convex problems: `fixed-point`", "fixed_point", ("FIXED_POINT",)),
    ("Pivoting: `lemke`", "lemke", ("LEMKE",)),
    ("All solutions: `enumeration`", "enumeration", ("ENUMERATION",)),
    ("Laws that no solver knows", "any_law.parameters", ("COEFFICIENTS", "WRITTEN_SETS")),
)
INTRODUCTION = """\
<!-- made by docs/parameters.py -->
# Parameters of the solvers

The numbers by which the solvers are tuned, each with its default and the reason of it. They are not options: what a run
or a solve chooses is `solver`, `tol`, `accept` and `maxiter` ([which solver](solvers.md)), and `st.Simulator` and
`st.solve` say what they do. To try another value change the default in the file that is named, and see what
`benchmarks/nsgs.py`, `benchmarks/solves.py` and `benchmarks/profiles.py` make of it. Parameters that kernels read are
constants in machine code: after a change the kernels compile again, a minute or two.

Names say the unit: `_rows`, `_sweeps`, `_steps`, `_rounds`; a `_share` or `_factor` is a ratio, `_goals`, `_speeds` and
`_tolerances` are multiples of what they name. Rows are those of the contacts and joints of a problem: three for a
contact in space, two in the plane.
"""


def records(module: str, names: tuple[str, ...]) -> list[tuple[str, Any]]:
    """The records of a module below `stiction.solvers`, by name."""
    found = importlib.import_module(f"stiction.solvers.{module}")
    return [(name, getattr(found, name)) for name in names]


def reasons(record: Any) -> dict[str, str]:
    """The text below each field of a record's class."""
    body = ast.parse(textwrap.dedent(inspect.getsource(type(record)))).body[0].body  # type: ignore[attr-defined]
    return {
        field.target.id: " ".join(text.value.value.split())
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr)
    }


def shown(value: Any) -> str:
    """A default as it is printed: stages as `solver ≤ limit`, whole numbers with thin spaces."""
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):
        return value[0] if value[1] is None else f"{value[0]} ≤ {shown(value[1])}"
    if isinstance(value, tuple):
        return ", ".join(shown(part) for part in value)
    if isinstance(value, int):
        return f"{value:_}".replace("_", " ") if value >= 10_000 else str(value)
    return f"{value:g}"


def page() -> str:
    """docs/parameters.md."""
    lines = [INTRODUCTION]
    for heading, module, names in SECTIONS:
        file = f"solvers/{module.replace('.', '/')}.py"
        lines += [f"## {heading}", "", f"`{file}`", ""]
        for name, record in records(module, names):
            text = reasons(record)
            lines += [f"**`{name}`.** {' '.join((inspect.getdoc(type(record)) or '').split())}", ""]
            lines += ["| parameter | default | meaning and reason |", "|---|--:|---|"]
            lines += [
                f"| `{field}` | {shown(value)} | {text[field].replace('|', chr(92) + '|')} |"
                for field, value in record._asdict().items()
            ]
            lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
