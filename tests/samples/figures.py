"""What tests look at in figures."""

from __future__ import annotations

from matplotlib.text import Text


def box_of(name):
    """Return the room of the letters of a name, without the line that leads to its dot."""
    name.get_window_extent()  # puts the letters in their place
    return Text.get_window_extent(name)
