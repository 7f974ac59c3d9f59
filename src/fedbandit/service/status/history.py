"""Counts over time in bounded memory: the last minutes in fine buckets, the last weeks in coarse ones."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from typing import Any

WIDTHS = {600: 5, 7_200: 60, 86_400: 720, 2_592_000: 21_600}  # seconds looked back, to seconds a bucket
SPANS = tuple(WIDTHS)
LARGEST_SUM = 1e300  # sums stop here, so that whoever adds up all buckets has a number too

Bucket = dict[str, float]


class History:
    """Sums by key and bucket of time; keys may come and go, and a bucket without anything takes no room.

    >>> history = History()
    >>> history.add(1000.0, "uploads"), history.add(1003.0, "uploads", 2)
    (None, None)
    >>> history.buckets(now=1004.0, span=600)
    [{'at': 1000, 'sums': {'uploads': 3.0}}]
    """

    __slots__ = ("open", "rings")

    def __init__(self) -> None:
        """Begin empty."""
        self.rings: dict[int, deque[tuple[int, Bucket]]] = {span: deque() for span in SPANS}
        self.open = (0, Bucket())  # the bucket of now; it joins the rings when the next one begins

    def add(self, now: float, key: str, amount: float = 1.0) -> None:
        """Add to what happens now; a clock that goes back adds to the latest bucket."""
        self.add_each(now, {key: amount})

    def add_each(self, now: float, amounts: Bucket) -> None:
        """Add to several sums at once."""
        at = int(now) // WIDTHS[SPANS[0]] * WIDTHS[SPANS[0]]
        if at > self.open[0]:
            self._close()
            self.open = (at, Bucket())
        _merge(self.open[1], amounts.items())

    def buckets(self, now: float, span: int) -> list[dict[str, Any]]:
        """Return what happened in the last `span` seconds, oldest first, each with the time at which it begins.

        Keys may be words of sites: they have a table of their own, where they cannot stand for anything else.
        """
        width = WIDTHS[span]
        found: dict[int, Bucket] = {}
        for at, bucket in [*self.rings[span], self.open]:
            begin = at // width * width
            if bucket and begin > now - span - width:
                _merge(found.setdefault(begin, Bucket()), bucket.items())
        return [{"at": at, "sums": bucket} for at, bucket in found.items()]

    def _close(self) -> None:
        at, bucket = self.open
        if not bucket:
            return
        for span, ring in self.rings.items():
            begin = at // WIDTHS[span] * WIDTHS[span]
            if ring and ring[-1][0] == begin:
                _merge(ring[-1][1], bucket.items())
            else:
                ring.append((begin, dict(bucket)))
            while ring[0][0] < begin - span:
                ring.popleft()


def _merge(into: Bucket, items: Iterable[tuple[str, float]]) -> None:
    for key, amount in items:
        total = into.get(key, 0.0) + amount
        into[key] = total if abs(total) <= LARGEST_SUM else math.copysign(LARGEST_SUM, total)
