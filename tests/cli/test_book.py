"""`fedbandit book`: it stores what is whole, and writes the page beside it."""

from dataclasses import replace

import fedbandit as fb
from fedbandit.cli import book
from fedbandit.experiments.experiment import experiments
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
    assert "[test/small](evidence/test/small.csv), one seed" in (tmp_path / "evidence.md").read_text()


def test_experiments_that_are_no_papers_are_stored_by_name(fedbandit, tmp_path, monkeypatch):
    other = replace(EXPERIMENT, id="test/other")
    monkeypatch.setitem(experiments._things, other.id, other)
    monkeypatch.setattr(book, "panels_of", lambda paper: [])
    fb.reproduce(other, folder_of(other, tmp_path / "results"))
    assert fedbandit("book", "test/other", "--store", "evidence").out == "test/other: stored\nevidence.md\n"
    assert (tmp_path / "evidence" / "test" / "other.json").exists()


def test_an_unknown_experiment_is_refused_before_anything_is_written(fedbandit, tmp_path):
    said = fedbandit("book", "fldb/agent", "--store", "evidence")
    assert (said.code, said.out) == (2, "")
    assert said.err == "fedbandit: unknown experiment 'fldb/agent': did you mean 'fldb/agents'?\n"
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_is_a_file_is_refused(fedbandit, tmp_path):
    (tmp_path / "file").write_text("")
    said = fedbandit("book", "--store", "file")
    assert (said.code, said.out, said.err) == (
        2, "", "fedbandit: --store file is a file: give the name of a folder\n",
    )  # fmt: skip
