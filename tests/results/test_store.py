"""Stored runs: what is kept of an experiment in a repository."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

import fedbandit as fb
from fedbandit.experiments.figures import TradeOff
from fedbandit.results.everything import folder_of
from fedbandit.results.record import Record
from fedbandit.results.store import store, stored
from samples.small_experiment import SMALL

EXPERIMENT = replace(SMALL, figures=(TradeOff(x="messages", y="regret"),))


def test_only_what_is_whole_is_stored(tmp_path):
    results, to = tmp_path / "results", tmp_path / "docs" / "evidence"
    made = folder_of(EXPERIMENT, results)
    fb.reproduce(replace(EXPERIMENT, seeds=2), made)
    assert not store(EXPERIMENT, results, to)
    assert not to.exists()
    fb.reproduce(EXPERIMENT, made)
    assert store(EXPERIMENT, results, to)
    assert (to / "test" / "small.csv").read_bytes() == (made / "runs.csv").read_bytes()
    about = json.loads((to / "test" / "small.json").read_text())
    assert (about["size"], about["seeds"]) == ("full", "3")
    assert {"code", "versions", "machine", "world"} <= set(about)
    kept = stored(EXPERIMENT, to)
    assert kept is not None
    assert (kept.runs, kept.about) == (12, about)
    seconds = sum(Record.load(path).totals["seconds"] for path in made.glob("cells/*.npz"))
    assert kept.seconds == pytest.approx(seconds)


def test_stored_figures_are_smaller_and_look_the_same(tmp_path):
    results, to = tmp_path / "results", tmp_path / "evidence"
    fb.reproduce(EXPERIMENT, folder_of(EXPERIMENT, results))
    store(EXPERIMENT, results, to)
    drawn, kept = folder_of(EXPERIMENT, results) / "trade-off.png", to / "test" / "small" / "trade-off.png"
    assert kept.stat().st_size < 0.6 * drawn.stat().st_size
    before, after = (np.asarray(Image.open(path).convert("RGB"), dtype=float) for path in (drawn, kept))
    assert np.abs(before - after).mean() < 1


def test_it_says_what_made_the_runs_not_who_stored_them(tmp_path):
    results, to = tmp_path / "results", tmp_path / "evidence"
    made = folder_of(EXPERIMENT, results)
    fb.reproduce(EXPERIMENT, made)
    first, *_ = sorted(made.glob("cells/*.npz"))
    elsewhere = {"code": "fedbandit 7", "versions": "Python 9", "machine": "an abacus"}
    replace(Record.load(first), made=elsewhere).save(first)
    fb.reproduce(EXPERIMENT, made)
    store(EXPERIMENT, results, to)
    about = stored(EXPERIMENT, to).about
    assert sorted(about["machine"].split("; also "))[-1] == "an abacus"
    assert len(about["machine"].split("; also ")) == 2
    assert "fedbandit 7" in about["code"]


def test_what_is_not_stored_is_nothing(tmp_path):
    assert stored(EXPERIMENT, tmp_path) is None
