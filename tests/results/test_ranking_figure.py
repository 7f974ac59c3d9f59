"""The figure of the leaderboard."""

from __future__ import annotations

from dataclasses import replace

from PIL import Image

from fedbandit.results import ranking_figure
from fedbandit.results.labels import annotate
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
