"""The index of equations: references lead somewhere, and all that the papers number is in the code or has a reason."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def equations():
    spec = importlib.util.spec_from_file_location("equations", ROOT / "docs" / "equations.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["equations"] = module  # its dataclass looks there
    spec.loader.exec_module(module)
    yield module
    del sys.modules["equations"]


@pytest.fixture(scope="module")
def places(equations):
    return equations.places()


def test_every_reference_of_the_sources_is_to_something_in_print(equations, places):
    sections = {(key, "section", n) for key, paper in equations.papers().items() for n in paper["sections"]}
    wrong = {
        reference: where for reference, where in places.items() if reference not in {*equations.items(), *sections}
    }
    assert wrong == {}


def test_all_that_is_numbered_is_in_the_sources_or_has_a_reason(equations, places):
    missing = [item for item in equations.items() if item not in places and item not in equations.reasons()]
    assert missing == []


NUMBERED = {  # as counted in the papers
    "st96": {"eq": 32, "figure": 8, "table": 1},
    "ah03": {"eq": 13, "figure": 9},
    "s00": {"eq": 19, "theorem": 1, "hypothesis": 6, "figure": 3},
    "pr11": {"eq": 28, "figure": 8, "table": 1},  # 18a, 18b, 19a, 19b
    "ttp01": {"eq": 9, "condition": 6, "theorem": 1, "figure": 25},
}


def test_nothing_numbered_is_left_out(equations):
    papers = equations.papers()
    assert {
        key: {kind: len(paper[kind]) for kind in equations.KINDS if kind in paper} for key, paper in papers.items()
    } == NUMBERED


def test_every_mention_is_read(equations):
    """A reference that is written otherwise would be in no index and could point to nothing unseen."""
    assert equations.unread() == []


def test_pages_refer_to_what_is_in_print(equations):
    known = equations.known()
    for page in (ROOT / "docs").glob("*.md"):
        for (key, kind, number), *_ in equations.parsed(page.read_text().replace("\n", " "), known):
            assert number in known[key, kind], f"{page.name}: {key} {kind} {number}"


def test_a_reference_to_nothing_is_found(equations, tmp_path):
    (tmp_path / "wrong.py").write_text(
        '"""As st96 eq. 33 has it."""\n\n\ndef f():\n    # s00 eq. 3.9, and st96 (24)\n    # see Eq 4\n    ...\n'
    )
    found = equations.places(tmp_path)
    assert {reference: [(p.line, p.name) for p in where] for reference, where in found.items()} == {
        ("st96", "eq", "33"): [(1, "")],
        ("s00", "eq", "3.9"): [(5, "f")],
    }
    assert ("st96", "eq", "33") not in equations.items()
    assert equations.unread(tmp_path) == ["wrong.py:5: st96 (24) see Eq 4", "wrong.py:6: Eq 4"]


def test_reasons_are_for_what_is_numbered_and_not_in_the_sources(equations, places):
    assert [item for item in equations.reasons() if item not in equations.items()] == []
    assert [item for item in equations.reasons() if item in places] == []
    assert all(equations.reasons().values())


def test_synonyms_lead_to_functions_and_classes(equations):
    for entry in equations.synonyms():
        for place in entry["at"]:
            file, _, name = place.partition(":")
            assert name in equations.names(equations.SOURCES / file), place


def test_the_page_has_every_item_and_both_letters_for_mu(equations):
    page = equations.on_page_markdown((ROOT / "docs" / "equations.md").read_text())
    assert equations.MARK not in page
    for (_, kind, number), what in equations.items().items():
        assert f"| {equations.KINDS[kind]} {number} | {what} |" in page
    for word in ("maximum work", "mu bar", "\u00b5\u0304", "\u03bc\u0304"):  # micro sign and Greek letter, with a bar
        assert word in page


KNOWN = {("st96", "eq"): [str(n) for n in range(1, 33)], ("s00", "eq"): ["3.9", "3.10", "3.11"],
         ("pr11", "eq"): ["17", "18a", "18b", "19a"], ("st96", "section"): ["3"], ("st96", "figure"): ["2", "3"],
         ("s00", "hypothesis"): ["H1", "H2", "H5"],
         ("ttp01", "section"): ["2"], ("ttp01", "condition"): ["(i)", "(ii)", "(iii)", "(iv)"]}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("as st96 eq. 14–15, 25 has it", ["st96 eq 14", "st96 eq 15", "st96 eq 25"]),
        ("(s00 eq. 3.9–3.11)", ["s00 eq 3.9", "s00 eq 3.10", "s00 eq 3.11"]),
        ("pr11 eq. 17–18", ["pr11 eq 17", "pr11 eq 18a", "pr11 eq 18b"]),
        ("st96 §3, eq. 2 and 3, figure 2", ["st96 section 3", "st96 eq 2", "st96 eq 3", "st96 figure 2"]),
        ("st96 figure 2, 0.0025 s", ["st96 figure 2"]),
        ("ttp01 §2 (i)–(iii)", ["ttp01 section 2", *(f"ttp01 condition ({i})" for i in ("i", "ii", "iii"))]),
        ("an st96-rod-fig2 and eq. 5", ["st96 figure 2"]),
        ("eq. 33 of st96, eq. 34", ["st96 eq 34"]),
        ("s00 (H1)–(H2), and s00 H5", ["s00 hypothesis H1", "s00 hypothesis H2", "s00 hypothesis H5"]),
    ],
)
def test_references_are_read_as_written(equations, text, found):
    assert [" ".join(reference) for reference, *_ in equations.parsed(text, KNOWN)] == found
