"""Counts, bytes and times as people write them."""

from __future__ import annotations

SIZES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}


def counted(number: int, noun: str, many: str = "") -> str:
    """Return how many there are of a thing, in words.

    >>> counted(1, "run"), counted(2_000, "run"), counted(0, "has", many="have")
    ('1 run', '2,000 runs', '0 have')
    """
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"


def shown_bytes(count: float) -> str:
    """Return a number of bytes as people write it.

    >>> [shown_bytes(each) for each in (0, 12, 9_999, 2_700_000, 3e9)]
    ['0 B', '12 B', '10 kB', '2.7 MB', '3 GB']
    """
    for letter, size in reversed(SIZES.items()):
        if count >= 0.9995 * size and letter:
            return f"{count / size:.3g} {letter}B"
    return f"{count:.0f} B"


def lasting(seconds: float) -> str:
    """Return a time as people say it.

    >>> lasting(0.4), lasting(59.0), lasting(600.0), lasting(9000.0)
    ('1 s', '59 s', '10 min', '2.5 h')
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
