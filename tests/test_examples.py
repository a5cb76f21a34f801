"""Every example runs, ends in its own check, draws its picture, and is shown on a page."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
DRAWN = [path for path in EXAMPLES if f"examples/{path.name} [picture.png]" in path.read_text()]
LONG = ("brazil_nut", "what_stands")  # run where they draw


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def named(paths):
    return [pytest.param(p, id=p.stem) for p in paths]


@pytest.mark.parametrize("path", named([p for p in EXAMPLES if p.stem not in LONG]))
def test_example_runs(path, capsys):
    load(path).main()
    assert capsys.readouterr().out


@pytest.mark.long
@pytest.mark.parametrize("path", named(DRAWN))
def test_example_draws_its_picture(path, tmp_path, capsys):
    load(path).main(str(tmp_path / "picture.png"))
    assert capsys.readouterr().out
    assert 5_000 < (tmp_path / "picture.png").stat().st_size < 150_000


def test_the_page_names_every_example_and_shows_what_it_tells_to_run():
    page = (ROOT / "docs" / "examples.md").read_text()
    told = re.findall(r"`python examples/(\w+)\.py`", page)
    assert len(told) > 15
    for path in EXAMPLES:
        assert f"examples/{path.name}" in page, path.name
        if path.stem in told:
            assert path in DRAWN, path.name
            assert f"(images/{path.stem.replace('_', '-')}.png)" in page, path.name
