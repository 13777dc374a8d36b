"""The notebooks of docs/notebooks run, and their pictures are drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs/notebooks").glob("*.ipynb"))


def test_the_four_notebooks_are_there():
    assert [path.stem for path in NOTEBOOKS] == ["counts", "cta", "eu_release", "national_table"]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tools: None):
    import nbformat  # here: `make setup` does not bring it
    from nbclient import NotebookClient

    for place in (
        "JUPYTER_RUNTIME_DIR",
        "JUPYTER_DATA_DIR",
        "IPYTHONDIR",
        "MPLCONFIGDIR",
    ):  # nothing is written into the home
        monkeypatch.setenv(place, str(tmp_path / place.lower()))
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") for cell in notebook.cells), "kept without outputs"
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    pictures = [output for output in outputs if "image/svg+xml" in output.get("data", {})]
    assert len(pictures) == sum(".plot" in cell.source for cell in notebook.cells)
    assert not [output for output in outputs if output.output_type == "stream" and output.name == "stderr"]
    shown = [output for output in outputs if output.get("data", {}).get("text/html", "").startswith("<p><b>")]
    assert shown, "a result shows itself"
