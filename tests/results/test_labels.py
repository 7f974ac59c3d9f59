"""Names beside dots."""

from __future__ import annotations

from matplotlib.figure import Figure

from fedbandit.results.labels import Label, annotate
from samples.figures import box_of


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
    return axes, axes.texts


def test_a_name_without_room_beside_its_dot_stands_farther_away_at_the_end_of_a_line():
    _, texts = names_of([(0.5 + 0.01 * k, 0.5) for k in range(8)])
    assert sorted(text.get_text() for text in texts) == [f"point {k}" for k in range(8)]
    assert 0 < sum(text.arrow_patch is not None for text in texts) < 8
    boxes = [box_of(text) for text in texts]
    assert not any(one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place])


def test_names_beside_each_other_do_not_run_into_one():
    axes, (first,) = names_of([(0.3, 0.5)])
    start, room = axes.transData.transform((0.3, 0.5))[0], box_of(first)
    near = room.x1 + 2.0 - (room.x0 - start)  # the name of a dot here would begin two pixels after the first
    _, texts = names_of([(0.3, 0.5), (axes.transData.inverted().transform((near, 0.0))[0], 0.5)])
    one, other = map(box_of, texts)
    assert other.y0 > one.y1 or other.y1 < one.y0
