"""A page that costs little however many ask for it: the coordinator does its work in the same thread."""

from __future__ import annotations

import time
from collections.abc import Callable

SHORTEST = 1.0  # seconds for which a page is kept
TIMES = 20.0  # and so many times as long as it took to make it


class Rendered:
    """Makes a page when it is asked for, and gives the same to whoever asks soon after.

    >>> pages = iter([b"first", b"second"])
    >>> page = Rendered(lambda: next(pages), clock=lambda: 0.0)
    >>> page(), page()
    (b'first', b'first')
    """

    def __init__(self, make: Callable[[], bytes], clock: Callable[[], float] = time.perf_counter) -> None:
        """Take what makes the page, and a clock that never goes back."""
        self._make = make
        self._clock = clock
        self._made = b""
        self._until: float | None = None

    def __call__(self) -> bytes:
        """Return the page."""
        begin = self._clock()
        if self._until is None or begin >= self._until:
            self._made = self._make()
            end = self._clock()
            self._until = end + max(SHORTEST, TIMES * (end - begin))
        return self._made
