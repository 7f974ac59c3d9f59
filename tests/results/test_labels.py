"""Names beside dots."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.text import Text

from fedbandit.results.labels import Label, annotate


def test_a_line_for_the_legend_alone_which_has_no_place_does_not_keep_names_away():
    """On a logarithmic axis such a line has values of which no logarithm can be taken."""
    axes = Figure().subplots()
    axes.set_xscale("log")
    axes.plot([10, 100], [1, 2])
    axes.plot([10, None], [1, None], label="made of whole numbers and nothing")
    annotate(axes, [Label("here", 10.0, 1.0, "black")])
    assert [text.get_text() for text in axes.texts] == ["here"]


def names_of(spots):
    """Write names beside dots; return the axes and their names."""
    axes = Figure(figsize=(4, 3)).subplots()
    axes.set(xlim=(0, 1), ylim=(0, 1))
    annotate(axes, [Label(f"point {place}", *spot, "black") for place, spot in enumerate(spots)])
    return axes.texts


def test_a_name_without_room_beside_its_dot_stands_farther_away_at_the_end_of_a_line():
    close = [(0.5 + 0.01 * k, 0.5) for k in range(8)]
    texts = names_of(close)
    assert sorted(text.get_text() for text in texts) == [f"point {k}" for k in range(8)]
    led = [text for text in texts if text.arrow_patch is not None]
    assert 0 < len(led) < 8
    boxes = [Text.get_window_extent(text) for text in texts]  # without the lines
    assert not any(one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place])


def test_names_beside_their_dots_need_no_line_and_do_not_run_into_each_other():
    first, second = names_of([(0.3, 0.5), (0.3 + 0.13, 0.5)])
    assert (first.arrow_patch, second.arrow_patch) == (None, None)
    one, other = first.get_window_extent(), second.get_window_extent()
    assert other.y0 > one.y1 or other.y1 < one.y0 or other.x0 - one.x1 >= 4
