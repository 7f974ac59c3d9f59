"""Every notebook runs from top to bottom in an empty folder, and prints what stands in it."""

from __future__ import annotations

from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")
pytest.importorskip("pandas")

FOLDER = Path(__file__).parents[2] / "notebooks"
QUICK = {"what-leaves-a-site"}
NOTEBOOKS = [
    pytest.param(path, id=path.stem, marks=() if path.stem in QUICK else pytest.mark.slow)
    for path in sorted(FOLDER.glob("*.ipynb"))
]


def printed(notebook):
    """What each cell prints; pictures and tables are looked at by people."""
    return [
        "".join(output["text"] for output in cell.outputs if output.output_type == "stream" and output.name == "stdout")
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_a_notebook_runs_and_prints_what_stands_in_it(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    stands = printed(notebook)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    assert printed(notebook) == stands
