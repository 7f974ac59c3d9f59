"""`fedbandit book`: it stores what is whole, and writes the page beside it."""

from dataclasses import replace

import fedbandit as fb
from fedbandit.cli import book
from fedbandit.experiments.panel import Panel
from fedbandit.results.everything import folder_of
from samples.small_experiment import SMALL

EXPERIMENT = replace(SMALL, seeds=1)
MISSING = replace(SMALL, id="test/missing", environment="recorded", world={"path": "none.npz"})


def test_it_stores_what_is_whole_and_writes_the_page(fedbandit, tmp_path, monkeypatch):
    panel = Panel("test", "figure 1", "a title", EXPERIMENT.id, ())
    monkeypatch.setattr(Panel, "made_by", lambda self: EXPERIMENT)
    monkeypatch.setattr(book, "panels_of", lambda paper: [panel])
    monkeypatch.setattr(book, "experiments_of", lambda panels: [EXPERIMENT, MISSING])
    said = fedbandit("book", "--store", "evidence")
    assert (said.code, said.out) == (0, "evidence.md\n")
    assert said.err.startswith("test/missing was left out: ")
    assert "No runs are stored: `fedbandit reproduce test/small`" in (tmp_path / "evidence.md").read_text()
    fb.reproduce(EXPERIMENT, folder_of(EXPERIMENT, tmp_path / "results"))
    assert fedbandit("book", "--store", "evidence").out == "test/small: stored\nevidence.md\n"
    assert "[test/small](evidence/test/small.csv): size: full; seeds: 1" in (tmp_path / "evidence.md").read_text()


def test_a_store_that_is_a_file_is_refused(fedbandit, tmp_path):
    (tmp_path / "file").write_text("")
    said = fedbandit("book", "--store", "file")
    assert (said.code, said.out, said.err) == (
        2, "", "fedbandit: --store file is a file: give the name of a folder\n",
    )  # fmt: skip
