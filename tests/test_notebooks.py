"""The notebooks run from top to bottom, end in their own check, and are stored with what they show."""

from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples" / "notebooks").glob("*.ipynb"))
nbformat = pytest.importorskip("nbformat", reason="the group `dev` is not installed")


def outputs(notebook):
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_with_its_outputs_and_a_figure(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    shown = outputs(notebook)
    assert any("image/png" in output.get("data", {}) for output in shown)
    assert not any(output.output_type == "error" or output.get("name") == "stderr" for output in shown)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))  # run once, in order
    assert code[-1].source.count("assert ") >= 3
    assert path.stat().st_size < 60_000


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    nbclient = pytest.importorskip("nbclient", reason="the group `dev` is not installed")
    notebook = nbformat.read(path, as_version=4)
    kernel = {"kernel_name": "python3", "timeout": 600, "startup_timeout": 300}
    nbclient.NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}, **kernel).execute()
    assert any("image/png" in output.get("data", {}) for output in outputs(notebook))


def test_the_page_names_every_notebook():
    page = (Path(__file__).parents[1] / "docs" / "examples.md").read_text()
    assert len(NOTEBOOKS) >= 3
    assert all(f"examples/notebooks/{path.name}" in page for path in NOTEBOOKS)
