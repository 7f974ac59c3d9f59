"""The figure of the leaderboard."""

from __future__ import annotations

from dataclasses import replace

from PIL import Image

from fedbandit.experiments.leaderboard import REPORTED_SEEDS
from fedbandit.experiments.table import Measured
from fedbandit.results import ranking_figure
from fedbandit.results.labels import CORNERS, annotate
from fedbandit.results.leaderboard import entries_of
from samples.made_up_leaderboard import store_made_up


def test_every_algorithm_is_a_named_dot_and_nothing_else_is_left_in_the_folder(tmp_path, monkeypatch):
    named = []

    def watched(axes, labels):
        named.extend(labels)
        annotate(axes, labels)

    monkeypatch.setattr(ranking_figure, "annotate", watched)
    store_made_up(tmp_path)
    entries = entries_of("linear", tmp_path)
    path = tmp_path / "leaderboard" / "linear" / "figure.png"
    ranking_figure.draw_ranking(entries, "a title", path)
    spots = {label.text: label for label in named}
    assert sorted(spots) == sorted(entry.name for entry in entries)
    assert [path.name for path in path.parent.iterdir()] == ["figure.png"]
    with Image.open(path) as image:
        assert image.size == (1500, 1140)
    silent = {spots[entry.name].across for entry in entries if not entry.bytes}
    assert len(silent) == 1
    assert silent.pop() < min(entry.bytes for entry in entries if entry.bytes), "left of all that send something"


def test_algorithms_that_coincide_have_one_label(tmp_path, monkeypatch):
    named = []
    monkeypatch.setattr(ranking_figure, "annotate", lambda axes, labels: named.extend(labels))
    store_made_up(tmp_path)
    first, second, *_ = entries_of("linear", tmp_path)
    ranking_figure.draw_ranking([first, replace(second, chosen=first.chosen)], "a title", tmp_path / "figure.png")
    assert [label.text for label in named] == [f"{first.name}, {second.name}"]


def test_names_of_dots_that_are_near_each_other_stand_on_the_far_sides(tmp_path, monkeypatch):
    named = {}
    monkeypatch.setattr(
        ranking_figure, "annotate", lambda axes, labels: named.update({label.text: label for label in labels})
    )
    store_made_up(tmp_path)
    first, second, third, *_, last = entries_of("linear", tmp_path)
    twice = {**first.chosen.measured, "bytes": Measured(tuple(1.01 * each for each in range(1, REPORTED_SEEDS + 1)))}
    beside = replace(second, chosen=replace(first.chosen, measured=twice))
    ranking_figure.draw_ranking([first, beside, third, last], "a title", tmp_path / "figure.png")
    assert [across for across, _ in named[first.name].corners] == [-1, -1, 1, 1]
    assert [across for across, _ in named[second.name].corners] == [1, 1, -1, -1]
    assert named[third.name].corners == list(CORNERS)
