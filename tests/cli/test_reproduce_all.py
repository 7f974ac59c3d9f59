"""`fedbandit reproduce --all`: what it prints and writes, that it goes on where it was, and what it cannot run."""

from dataclasses import replace

import pytest

from fedbandit.cli import reproduce
from fedbandit.experiments.claims import Verdict
from fedbandit.experiments.experiment import Quick
from fedbandit.experiments.panel import Panel, Quote
from fedbandit.results.tables import read_table
from samples.small_experiment import SMALL


class Holds:
    sentence = "It holds"

    def about(self):
        return ()

    def quantities(self):
        return ()

    def judge(self, table):
        return Verdict("holds", "so it is")


TWO = [replace(SMALL, id="test/one", seeds=1, quick=Quick(turns=20, seeds=1)), replace(SMALL, id="test/two", seeds=1)]
PANELS = [Panel("test", f"figure {number}", "a title", each.id, ()) for number, each in enumerate(TWO)]


@pytest.fixture
def papers(monkeypatch):
    """Two small experiments in the place of those of the papers."""
    monkeypatch.setattr(reproduce, "panels_of", lambda paper: PANELS)
    monkeypatch.setattr(reproduce, "experiments_of", lambda panels: TWO)


def test_all_are_run_and_what_is_there_is_kept(fedbandit, tmp_path, papers):
    said = fedbandit("reproduce", "--all", "--jobs", "1")
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[0] == "2 experiments, 8 runs to make, 0 kept; how long it takes is told when the first runs are made"
    assert lines[1].startswith("1 of 2: test/one: no claims; 4 runs in ")
    assert " kept; about " in lines[1]
    assert lines[2].startswith("2 of 2: test/two: ")
    assert lines[2].endswith("0 kept; nothing to go")
    assert "test/figure-1" in said.out
    assert said.out.endswith("results/full/verdicts.csv\nresults/full/times.csv\n")
    assert (tmp_path / "results" / "test" / "one" / "report.html").exists()
    times = read_table(tmp_path / "results" / "full" / "times.csv")
    assert [line[:2] for line in times[1:]] == [["test/one", "4"], ["test/two", "4"]]
    again = fedbandit("reproduce", "--all", "--jobs", "1")
    assert again.out.splitlines()[0] == "2 experiments, 0 runs to make, 8 kept; nothing to go"


def test_it_goes_on_after_an_interruption_with_a_forecast_from_what_is_there(fedbandit, tmp_path, papers):
    fedbandit("reproduce", "--all", "--jobs", "1")
    kept = sorted((tmp_path / "results" / "test" / "two" / "cells").iterdir())
    kept[0].unlink()
    said = fedbandit("reproduce", "--all", "--jobs", "1")
    assert said.out.splitlines()[0] == "2 experiments, 1 run to make, 7 kept; about 1 s to go"


def test_quick_ones_are_kept_apart(fedbandit, tmp_path, papers):
    said = fedbandit("reproduce", "--all", "--quick", "--jobs", "1")
    assert said.code == 0
    assert (tmp_path / "results" / "test" / "one" / "quick" / "runs.csv").exists()
    assert (tmp_path / "results" / "quick" / "verdicts.csv").exists()


def test_an_experiment_that_cannot_be_run_is_told_and_the_others_are_run(fedbandit, tmp_path, papers, monkeypatch):
    bad = replace(SMALL, id="test/bad", environment="recorded", world={"path": "none.npz"})
    monkeypatch.setattr(reproduce, "experiments_of", lambda panels: [bad, TWO[1]])
    said = fedbandit("reproduce", "--all", "--jobs", "1")
    assert said.code == 1
    assert said.out.startswith("1 experiment, 4 runs to make")
    assert said.err.startswith("test/bad was left out: ")
    assert "none.npz" in said.err
    assert (tmp_path / "results" / "test" / "two" / "report.html").exists()


def test_verdicts_stand_by_panel(fedbandit, tmp_path, monkeypatch):
    one = replace(TWO[0], claims=(Holds(),))
    panel = Panel("test", "figure 1", "a title", one.id, (), (Quote("it holds", ("It holds",)),))
    monkeypatch.setattr(Panel, "made_by", lambda self: one)
    monkeypatch.setattr(reproduce, "panels_of", lambda paper: [panel])
    monkeypatch.setattr(reproduce, "experiments_of", lambda panels: [one])
    said = fedbandit("reproduce", "--all", "--jobs", "1")
    assert "1 of 1: test/one: holds 1; " in said.out
    assert read_table(tmp_path / "results" / "full" / "verdicts.csv")[1:] == [
        ["test/figure-1", "test/one", "it holds", "It holds", "holds"]
    ]


REFUSED = {
    "nothing": ((), "nothing tells what to run: give an experiment of `fedbandit list`, or --all, one of them"),
    "both": (("fldb/agents", "--all"), "fldb/agents and --all are both given"),
    "a paper alone": (("fldb/agents", "--paper", "fldb"), "--paper fldb is for --all: give both, or leave it out"),
    "an unknown paper": (("--all", "--paper", "fldbb"), "unknown paper 'fldbb': did you mean 'fldb'"),
    "no seeds": (("--all", "--seeds", "0"), "--seeds must be at least 1, not 0"),
    "no jobs": (("--all", "--jobs", "0"), "--jobs must not be 0"),
    "a format that nobody knows": (("--all", "--format", "gif"), "unknown format 'gif'"),
    "a file as folder": (("--all", "--output", "file"), "--output file: cannot make file/full"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_one_sentence_and_nothing_is_written(fedbandit, tmp_path, name):
    (tmp_path / "file").write_text("")
    arguments, sentence = REFUSED[name]
    said = fedbandit("reproduce", *arguments)
    assert (said.code, said.out, len(said.err.splitlines())) == (2, "", 1)
    assert sentence in said.err
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_an_experiment_on_a_set_that_is_not_here_writes_nothing(fedbandit, tmp_path, monkeypatch):
    monkeypatch.setenv("FEDBANDIT_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    said = fedbandit("reproduce", "async-linucb/movielens-20m")
    assert (said.code, said.out, len(said.err.splitlines())) == (2, "", 1)
    assert "the data set movielens-20m" in said.err
    assert not list(tmp_path.iterdir())
