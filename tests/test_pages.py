"""Every code block of the pages runs, and every link leads somewhere.

The blocks of a page run one after the other in an empty folder, by their language:

- `python`: executed, all in one namespace;
- `pycon`: what Python prints is what the page shows;
- `sh`: `stiction` commands are run (a line that ends in `# exit 1` must end so), the viewer until it says its address;
  of others, what they name must exist;
- `output`: what the commands before it have printed, line by line (`...` stands for lines left out);
- `toml`: read, and as a scene where it is a whole one;
- `text` or none: not code, but output, diagrams, formulas.

What a page needs and need not show is in a comment, `<!-- python ... -->`: it runs in its place like a block.
"""

import doctest
import importlib
import os
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import stiction as st

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
QUICK = {"README.md", "docs/mechanisms.md", "docs/tutorial.md"}
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$|^<!-- python\n(.*?)^-->$", re.M | re.S)
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))


def blocks(page):
    """(language, code, line) of each block."""
    text = page.read_text()
    for found in FENCE.finditer(text):
        language, code, hidden = found.groups()
        yield ("python", hidden) if hidden else (language, code), text[: found.start()].count("\n") + 2


def name(page):
    return page.relative_to(ROOT).as_posix()


def run_python(code, page, line, names):
    exec(compile("\n" * (line - 1) + code, name(page), "exec"), names)


def run_session(code, page, line, names):
    test = doctest.DocTestParser().get_doctest(code, names, name(page), name(page), line)
    said = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    assert not runner.failures, "".join(said)


def run_shell(code, page, line, names):
    from typer.testing import CliRunner

    from stiction.cli.app import app

    for row in code.splitlines():
        command, _, remark = row.partition("#")
        words = shlex.split(command.removeprefix("$ "))
        if words[:2] == ["stiction", "view"] and "--out" not in words:
            look(words)
        elif words[:1] == ["stiction"]:
            words = [str(ROOT / w) if (ROOT / w).is_file() and not Path(w).exists() else w for w in words]
            result = CliRunner().invoke(app, words[1:])
            names["_said"] = names.get("_said", "") + result.output
            expected = int(remark.split()[-1]) if remark.strip().startswith("exit") else 0
            assert result.exit_code == expected, f"{row}\n{result.output}\n{result.exception!r}"
        elif words[:1] == ["make"]:
            assert {word for word in words[1:] if "=" not in word} <= TARGETS, row
        elif words[:1] == ["python"] and words[1].endswith(".py"):
            assert (ROOT / words[1]).exists(), row
        else:
            assert not words or words[0] in ("python", "pip", "git", "cd", "."), row


def look(words):
    """The viewer, from its start until it says where it is."""
    quiet = [*words[1:], *({"--no-open"} - set(words))]
    command = [sys.executable, "-c", "from stiction.cli import main; main()", *quiet]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as viewer:
        said = ""
        while "http://" not in said and (row := viewer.stdout.readline()):
            said += row
        viewer.send_signal(signal.SIGINT)
        said += viewer.communicate(timeout=60)[0]
    assert "http://" in said, said
    assert "Traceback" not in said, said


def run_toml(code, page, line, names):
    from stiction.scene import parse_scene

    if "stiction" in tomllib.loads(code):
        parse_scene(code)


def see_output(code, page, line, names):
    said = " ".join(names["_said"].split())
    for row in code.splitlines():
        assert row == "..." or " ".join(row.split()) in said, f"{row}\nis not in\n{names['_said']}"


RUN = {"output": see_output, "python": run_python, "pycon": run_session, "sh": run_shell, "toml": run_toml}
WITH_CODE = [page for page in PAGES if any(language in RUN for (language, _), _ in blocks(page))]


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, id=name(p), marks=() if name(p) in QUICK else pytest.mark.long) for p in WITH_CODE],
)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for (language, code), line in blocks(page):
        RUN.get(language, lambda *_: None)(code, page, line, names)


def test_no_code_hides_from_the_tests():
    """Blocks have a language that is known, and those without one hold no code."""
    for page in PAGES:
        for (language, code), line in blocks(page):
            assert language in (*RUN, "", "text"), f"{name(page)}:{line}: {language}"
            if language in ("", "text"):
                found = re.search(r"^(import |from \w+ import|>>> |\$ |stiction \w+ [\w.-]+)", code, re.M)
                assert not found, f"{name(page)}:{line}: {found.group()!r} in a block without a language"


def anchors(page):
    """The anchors of a page: its headings as GitHub and the site make them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    made = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        words = re.sub(r"[`*]", "", heading).strip().lower()
        made.add(re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", words)))
    return made


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{name(page)} links to {target}"
        if anchor and there.name != "changelog.md":
            assert anchor in anchors(there), f"{name(page)} links to {target}; there are {sorted(anchors(there))}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_files_that_are_named_exist(page):
    for path in re.findall(r"`((?:examples|tests|benchmarks|docs|src)/[\w/.-]+)`", page.read_text()):
        assert (ROOT / path).exists(), f"{name(page)} names {path}"


def test_every_public_name_is_in_the_reference():
    text = "".join(page.read_text() for page in sorted((ROOT / "docs" / "api").glob("*.md")))
    shown = re.findall(r"^::: stiction\.([\w.]+)$", text, re.M)
    modules = {"analysis", "lcp", "papers", "structures"}
    wanted = set(st.__all__) - modules
    for module in modules:
        wanted |= {f"{module}.{one}" for one in importlib.import_module(f"stiction.{module}").__all__}
    assert sorted(shown) == sorted(wanted)


def test_every_page_is_in_the_menu():
    menu = (ROOT / "mkdocs.yml").read_text()
    for page in (ROOT / "docs").rglob("*.md"):
        assert f": {page.relative_to(ROOT / 'docs').as_posix()}\n" in menu


@pytest.mark.long
def test_the_site_is_built_without_warnings(tmp_path):
    pytest.importorskip("mkdocs", reason="the group `docs` is not installed")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=quiet)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    assert (tmp_path / "site" / "api" / "systems.html").stat().st_size > 50_000


def test_badges_say_what_the_project_file_says(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    badges = importlib.import_module("badges")
    for name, words in badges.BADGES.items():
        assert (ROOT / "docs" / "images" / f"badge-{name}.svg").read_text() == badges.badge(*words)
        assert f"badge-{name}.svg" in (ROOT / "README.md").read_text()


def test_the_citation_file_names_this_version_and_the_five_papers():
    text = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {st.__version__}\n" in text
    assert f"version = {{{st.__version__}}}" in (ROOT / "docs" / "cite.md").read_text()
    assert re.findall(r'notes: "(\w+):', text) == ["st96", "ah03", "s00", "pr11", "ttp01"]
    yaml = pytest.importorskip("yaml", reason="the group `docs` is not installed")
    read = yaml.safe_load(text)
    assert read["cff-version"] == "1.2.0"
    assert all({"type", "title", "authors"} <= set(paper) for paper in read["references"])
