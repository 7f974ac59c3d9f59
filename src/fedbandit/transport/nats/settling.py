"""Which messages of a stream the coordinator has for good, so that the broker may forget them.

A broker that syncs each message to its disk would sync each removal too, and take half as many messages. So they are
removed together: all up to the first that is not settled, when there are some, or a moment has passed. What was settled
and not removed when a connection is lost is delivered once more on the next, as is all that was not settled.
"""

from __future__ import annotations

import json
from collections import deque
from typing import NamedTuple

REMOVE_SECONDS = 0.05
REMOVE_MANY = 16  # messages of a stream that are settled, whatever the time: half of what one site has room for


class Place(NamedTuple):
    """Where a message stands: its number in the stream, and where it is acknowledged."""

    number: int
    reply: str


class Settling:
    """What one stream has delivered on this connection, in its order.

    >>> settling = Settling("up-0")
    >>> for number in (4, 5, 6):
    ...     settling.came(Place(number, f"ack.{number}"))
    >>> settling.settle(5), settling.said(now=7.0), settling.settle(4), settling.said(now=7.0)
    (None, [], None, [('ack.5', b'+ACK'), ('$JS.API.STREAM.PURGE.up-0', b'{"seq": 6}')])
    """

    def __init__(self, stream: str) -> None:
        """Begin with nothing delivered."""
        self.stream = stream
        self._waiting: deque[Place] = deque()
        self._settled: set[int] = set()  # of those that wait for one before them
        self._last = 0  # that was delivered
        self._up_to = Place(0, "")  # all up to here are settled
        self._is_told, self._removed, self._removed_at = True, 0, 0.0

    def came(self, place: Place) -> None:
        """Take in what was delivered; what comes once more has its place already."""
        if place.number > self._last:
            self._last = place.number
            self._waiting.append(place)

    def settle(self, number: int) -> None:
        """Take in that the coordinator has a message for good."""
        self._settled.add(number)
        while self._waiting and self._waiting[0].number in self._settled:
            self._up_to = self._waiting.popleft()
            self._settled.discard(self._up_to.number)
            self._is_told = False
        if number <= self._up_to.number:  # it came once more, or has just been passed
            self._settled.discard(number)

    @property
    def is_left(self) -> bool:
        """Tell whether some that are settled have yet to be removed."""
        return self._up_to.number > self._removed

    def said(self, now: float) -> list[tuple[str, bytes]]:
        """Return what the broker is to be told, by subject: that more may be delivered, and what it may remove."""
        told = [] if self._is_told else [(self._up_to.reply, b"+ACK")]  # which stands for all before it
        self._is_told = True
        is_time = now >= self._removed_at + REMOVE_SECONDS
        if self.is_left and (is_time or self._up_to.number >= self._removed + REMOVE_MANY):
            self._removed, self._removed_at = self._up_to.number, now
            keep_from = json.dumps({"seq": self._removed + 1}).encode()
            told.append((f"$JS.API.STREAM.PURGE.{self.stream}", keep_from))
        return told


def stream_and_place(reply: str) -> tuple[str, Place]:
    """Return from which stream a message came, and its place there, by where it is to be acknowledged.

    >>> stream_and_place("$JS.ACK.up-0.coordinator.1.42.7.1700000000.0")
    ('up-0', Place(number=42, reply='$JS.ACK.up-0.coordinator.1.42.7.1700000000.0'))
    >>> stream_and_place("$JS.ACK._.hash.up-0.coordinator.1.42.7.1700000000.0.token")[0]
    'up-0'
    """
    parts = reply.split(".")
    first = 2 if len(parts) == 9 else 4  # with the domain and the account before it
    return parts[first], Place(int(parts[first + 3]), reply)
