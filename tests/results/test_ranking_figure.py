"""The figure of the leaderboard."""

from __future__ import annotations

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
    assert [label.text for label in named] == [entry.name for entry in entries]
    assert [path.name for path in path.parent.iterdir()] == ["figure.png"]
    with Image.open(path) as image:
        assert image.size == (1350, 960)
    silent = {label.across for label, entry in zip(named, entries, strict=True) if not entry.bytes}
    assert len(silent) == 1
    assert silent.pop() < min(entry.bytes for entry in entries if entry.bytes), "left of all that send something"
