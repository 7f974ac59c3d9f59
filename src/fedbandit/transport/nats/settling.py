"""Which messages of a stream the coordinator has for good, so that the broker may forget them.

A broker that syncs each message to its disk would sync each removal too, and take half as many messages. So they are
removed together: all up to the first that is not settled, when there are some, or a moment has passed. What was settled
and not removed when a connection is lost is delivered once more on the next, as is all that was not settled.

Only what the broker has said to know as acknowledged is removed. A consumer with as many messages under way as it may
have goes on when one of them is acknowledged. Had they been removed just before, it would find nothing that the
acknowledgement changes, and wait for the next message that is stored, though others wait.
"""

from __future__ import annotations

import json
import math
from collections import Counter, deque
from typing import NamedTuple

REMOVE_SECONDS = 1.0
REMOVE_MANY = 16  # messages of one site that are settled, whatever the time: half of what it has room for


class Place(NamedTuple):
    """Where a message stands: its number in the stream, and where it is acknowledged."""

    number: int
    reply: str


class Publication(NamedTuple):
    """What a broker is told, and where it is to answer, if it is."""

    subject: str
    data: bytes
    headers: dict[str, str] | None = None
    answer: str = ""


class Settling:
    """What one stream has delivered on this connection, in its order.

    >>> settling = Settling("up-0", answers="known")
    >>> for number in (4, 5, 6):
    ...     settling.came(Place(number, f"ack.{number}"))
    >>> settling.settle(5, site=1), settling.said(now=7.0), settling.settle(4, site=2), settling.said(now=7.0)
    (None, [], None, [Publication(subject='ack.5', data=b'+ACK', headers=None, answer='known.up-0.5')])
    >>> settling.know(5), [(said.subject, said.data) for said in settling.said(now=7.0)]
    (None, [('$JS.API.STREAM.PURGE.up-0', b'{"seq": 6}')])
    """

    def __init__(self, stream: str, answers: str) -> None:
        """Begin with nothing delivered; the broker answers under a subject, the stream and the number."""
        self.stream, self._answers = stream, answers
        self._waiting: deque[Place] = deque()
        self._settled: set[int] = set()  # of those that wait for one before them
        self._last = 0  # that was delivered
        self._up_to = Place(0, "")  # all up to here are settled
        self._told = self._asked = self._known = 0  # up to where the broker was told so, was asked, and knows
        self._asked_at = -math.inf
        self._of_site: Counter[int | None] = Counter()  # settled since then
        self._is_much = False  # of one of them
        self._removed = 0

    def came(self, place: Place) -> None:
        """Take in what was delivered; what comes once more has its place already."""
        if place.number > self._last:
            self._last = place.number
            self._waiting.append(place)

    def settle(self, number: int, site: int | None) -> None:
        """Take in that the coordinator has a message of a site for good."""
        self._settled.add(number)
        self._of_site[site] += 1
        self._is_much = self._is_much or self._of_site[site] >= REMOVE_MANY
        while self._waiting and self._waiting[0].number in self._settled:
            self._up_to = self._waiting.popleft()
            self._settled.discard(self._up_to.number)
        if number <= self._up_to.number:  # it came once more, or has just been passed
            self._settled.discard(number)

    @property
    def is_left(self) -> bool:
        """Tell whether some that are settled have yet to be removed."""
        return self._up_to.number > self._removed

    def know(self, number: int) -> None:
        """Take in that the broker knows all up to a number as acknowledged."""
        self._known = max(self._known, number)

    def said(self, now: float) -> list[Publication]:
        """Return what the broker is to be told: that more may be delivered, and what it may remove."""
        number, reply = self._up_to
        is_time = self._is_much or now >= self._asked_at + REMOVE_SECONDS
        is_asked = is_time and number > self._asked
        told = []
        if is_asked or number > self._told:
            answer = f"{self._answers}.{self.stream}.{number}" if is_asked else ""
            told.append(Publication(reply, b"+ACK", answer=answer))  # which stands for all before it
            self._told = number
        if is_asked:
            self._asked, self._asked_at, self._is_much = number, now, False
            self._of_site.clear()
        return told + self._removal(self._known)

    def last_said(self) -> list[Publication]:
        """Return what the broker is to be told when nothing is to be delivered any more: to remove all it may."""
        return self._removal(self._up_to.number)

    def _removal(self, up_to: int) -> list[Publication]:
        if up_to <= self._removed:
            return []
        self._removed = up_to
        return [Publication(f"$JS.API.STREAM.PURGE.{self.stream}", json.dumps({"seq": up_to + 1}).encode())]


def stream_and_number(answer: str) -> tuple[str, int]:
    """Return what an answer of a broker is about, by its subject.

    >>> stream_and_number("known.up-0.42")
    ('up-0', 42)
    """
    _, stream, number = answer.rsplit(".", 2)
    return stream, int(number)


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
