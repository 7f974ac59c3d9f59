"""A federation at its broker: what comes in, from whom, and where it stands in its stream."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from fedbandit.transport.nats.settling import Settling, stream_and_place
from fedbandit.transport.nats.subjects import Subjects


class Arrival(NamedTuple):
    """A message that has come in, and the site under whose subject it was published."""

    sender: int | None
    data: bytes
    source: Any
    is_word: bool = False  # a question or a report, of which only the last of a site counts
    settling: Settling | None = None  # of the stream on disk that it came from, if it is of one
    number: int = 0  # in it


Headers: TypeAlias = Callable[[bytes], dict[str, str] | None] | None  # of a frame that is sent, if any has some
Answer: TypeAlias = Callable[[str, bytes], Awaitable[bytes | None]]  # to what is asked under a subject; None: silence


@dataclass
class Door:
    """A federation at the broker: what lets arrivals in."""

    subjects: Subjects
    clients: int
    most_bytes: int
    arrive: Callable[[Arrival], None]

    @property
    def probes(self) -> dict[str, str]:
        """Return where it is tried whether the streams store, by the stream's name."""
        return self.subjects.probes(self.clients)

    def arrival(self, message: Any, settling: Mapping[str, Settling]) -> Arrival:
        """Return what has come, by the streams on disk that are known to deliver."""
        sender, is_word = self.subjects.said(message.subject)
        if is_word or not message.reply:
            return Arrival(sender, message.data, message, is_word)
        stream, place = stream_and_place(message.reply)
        of_stream = settling.get(stream)
        if of_stream is not None:
            of_stream.came(place)
        return Arrival(sender, message.data, message, is_word, of_stream, place.number)
