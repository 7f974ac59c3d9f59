"""Names beside dots."""

from __future__ import annotations

from matplotlib.figure import Figure

from fedbandit.results.labels import Label, annotate


def test_a_line_for_the_legend_alone_which_has_no_place_does_not_keep_names_away():
    """On a logarithmic axis such a line has values of which no logarithm can be taken."""
    axes = Figure().subplots()
    axes.set_xscale("log")
    axes.plot([10, 100], [1, 2])
    axes.plot([10, None], [1, None], label="made of whole numbers and nothing")
    annotate(axes, [Label("here", 10.0, 1.0, "black")])
    assert [text.get_text() for text in axes.texts] == ["here"]
