"""Whether the streams of a broker store what sites send, and deliver what they store: tried every now and then.

A stream that could not write once takes nothing any more, even when there is room again. One that fails twice is made
anew, if all brokers that keep it are there: sites send again what it held. In a cluster a stream may also store and
never deliver again, when brokers are lost and come back one right after the other. What has not been delivered when it
is tried a third time is taken for that, and what delivers is made anew.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, NamedTuple

from fedbandit.transport.nats.streams import Streams

if TYPE_CHECKING:
    from fedbandit.transport.nats.door import Door

log = logging.getLogger("fedbandit.coordinator")

PROBE_SECONDS = 8.0
SMALL = 16  # bytes
MUTE = 2  # times that something had not come when the next was sent


class _Try(NamedTuple):
    door: Door
    stream: str
    subject: str
    most_bytes: int


class Probing:
    """Tries the streams of all federations."""

    def __init__(self, server: str) -> None:
        """Take the broker's URL, for the log."""
        self.trouble = ""  # why the broker stores nothing, as far as is known
        self._server = server
        self._failing: set[str] = set()  # streams that did not store when it was last tried
        self._under_way: dict[str, int] = {}  # subjects whose last message has not come, with how often that was found

    def came(self, subject: str) -> None:
        """Take in that what was stored under a subject was delivered."""
        self._under_way.pop(subject, None)

    def begin(self) -> None:
        """Take in that the connection is a new one: what is under way comes, or not."""
        self._under_way.clear()

    async def probe(self, streams: Streams, doors: list[Door]) -> list[Door]:
        """Find out whether the streams store; return the federations to which one does not deliver what it stored."""
        mute = {subject for subject, found in self._under_way.items() if found + 1 >= MUTE and streams.replicas > 1}
        late = [door for door in doors if mute & set(door.probes.values())]
        tried = [each for door in doors for each in _tries(door)]
        self._under_way = {each.subject: self._under_way.get(each.subject, -1) + 1 for each in tried}
        told = await asyncio.gather(*(streams.probe(each.subject, each.most_bytes, PROBE_SECONDS) for each in tried))
        failing = {each.stream: why for each, why in zip(tried, told, strict=True) if why}
        if late:
            log.warning("the brokers at %s do not deliver what they store: what delivers is made anew", self._server)
        self._tell(next(iter(failing.values()), ""))
        for each in tried:
            if each.stream in failing and each.stream in self._failing:
                late += [each.door] * await streams.remove(each.stream)
        self._failing = set(failing)
        return late

    def _tell(self, trouble: str) -> None:
        if trouble and not self.trouble:
            log.error("the broker at %s does not store what sites send (%s): is its disk full?", self._server, trouble)
        elif self.trouble and not trouble:
            log.info("the broker at %s stores again what sites send", self._server)
        self.trouble = trouble


def _tries(door: Door) -> list[_Try]:
    """Return what is tried: streams on disk with something as large as an upload."""
    large = door.subjects.streams(door.clients)
    return [
        _Try(door, name, subject, door.most_bytes if name in large else SMALL) for name, subject in door.probes.items()
    ]
