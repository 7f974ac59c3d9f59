"""What a broker keeps for a federation until the coordinator has it, and how it is delivered.

A stream on disk for each shard of sites, and two in memory with the last question and the last report of each site. A
consumer of each pushes to the coordinator; what it says that it has is removed. Every site has room for a number of
messages and no more: what goes beyond is refused to that site alone, which sends it again when there is room.

Messages have no ids. What is sent twice is delivered twice, and the coordinator knows an upload by its number; an id
would be one that a site can make up, and that the broker has to remember.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Any

from fedbandit.core.errors import InvalidInput
from fedbandit.transport.nats.address import client_library
from fedbandit.transport.nats.subjects import Subjects
from fedbandit.wire.frame import LARGEST_HEADER

log = logging.getLogger("fedbandit.coordinator")

CONSUMER = "coordinator"
REDELIVER_SECONDS = 60.0  # longer than any queue: what comes twice takes twice the time
MOST_WAITING = 32  # uploads of one site that the broker keeps for the coordinator
MOST_UNSETTLED = 128  # messages of one stream that are on their way: several sites' worth
MOST_WORDS = 64  # questions, or reports, that are on their way: they are settled ten times a second
MOST_UNSETTLED_BYTES = 16 * 1024 * 1024  # and fewer where they are large
LARGEST_WORD = 2048  # bytes of a question or a report
IDS_SECONDS = 0.1  # for which the broker remembers an id that a site made up; less cannot be
ROOM_FOR_HEADERS = 256  # bytes beside the frame that the broker counts
LARGEST_PROBE = 64 * 1024


class Streams:
    """The streams of a broker, as its coordinator sees them."""

    def __init__(self, context: Any, server: str) -> None:
        """Take the library's JetStream context, and the broker's URL for errors."""
        self._context = context
        self._server = server
        self._api = client_library().js.api
        self._errors = client_library().js.errors

    async def arrange(self, subjects: Subjects, clients: int, most_bytes: int) -> None:
        """Make what a federation needs, or make it right: its streams, and what delivers them to the coordinator."""
        for name in subjects.streams(clients):
            await self.arrange_uploads(subjects, name, clients, most_bytes)
        for name, subject in subjects.last_words.items():
            limits = {"max_msg_size": LARGEST_WORD + ROOM_FOR_HEADERS, "max_msgs_per_subject": 1}
            await self._ensure(name, subject, self._api.StorageType.MEMORY, **limits)
            await self._consume(name, subjects.delivery, MOST_WORDS)

    async def arrange_uploads(self, subjects: Subjects, name: str, clients: int, most_bytes: int) -> None:
        """Make one of the streams on disk."""
        subject, largest = subjects.streams(clients)[name], _largest(most_bytes)
        room = {"max_msgs_per_subject": MOST_WAITING, "discard": "new", "discard_new_per_subject": True}
        await self._ensure(name, subject, self._api.StorageType.FILE, max_msg_size=largest, **room)
        await self._consume(name, subjects.delivery, most_unsettled(largest))

    async def probe(self, subject: str, most_bytes: int, seconds: float) -> str:
        """Have a stream store something of the size of a large upload; return why it does not, or nothing."""
        try:
            await self._context.publish(subject, bytes(min(most_bytes, LARGEST_PROBE)), timeout=seconds)
        except self._errors.APIError as error:
            return str(error.description)
        except (client_library().errors.Error, TimeoutError):
            return f"no answer for {seconds:g} seconds"
        return ""

    async def remove(self, name: str) -> None:
        """Remove a stream with all that is in it."""
        with suppress(self._errors.APIError):
            await self._context.delete_stream(name)

    async def _ensure(self, name: str, subject: str, storage: Any, **limits: Any) -> None:
        """Make a stream; one that is there with other limits gets these, one of another kind is made anew."""
        config = self._api.StreamConfig(
            name=name, subjects=[subject], storage=storage, retention=self._api.RetentionPolicy.WORK_QUEUE,
            duplicate_window=IDS_SECONDS, **limits,
        )  # fmt: skip
        try:
            try:
                await self._context.add_stream(config)
            except self._errors.BadRequestError:  # it is there with another size
                await self._renew(config)
        except self._errors.APIError as error:
            raise InvalidInput(
                f"the broker at {self._server} has no JetStream for {name} ({error}): switch JetStream on"
            ) from None

    async def _renew(self, config: Any) -> None:
        try:
            await self._context.update_stream(config)
        except self._errors.APIError as error:  # an earlier version kept messages in another way
            log.warning("the stream %s is made anew (%s): sites send again what it held", config.name, error)
            await self._context.delete_stream(config.name)
            await self._context.add_stream(config)

    async def _consume(self, stream: str, delivery: str, most: int) -> None:
        """Deliver from the beginning: what was on its way to a coordinator that is no more comes at once.

        Every connection begins so, and the broker's disk need not know how far the one before came.
        """
        api = self._api
        with suppress(self._errors.NotFoundError):
            await self._context.delete_consumer(stream, CONSUMER)
        config = api.ConsumerConfig(
            durable_name=CONSUMER, deliver_subject=delivery, ack_policy=api.AckPolicy.EXPLICIT,
            ack_wait=REDELIVER_SECONDS, max_ack_pending=most, mem_storage=True,
        )  # fmt: skip
        await self._context.add_consumer(stream, config)


def _largest(most_bytes: int) -> int:
    return most_bytes + LARGEST_HEADER + ROOM_FOR_HEADERS


def most_unsettled(largest: int) -> int:
    """Return how many messages of one stream may be on their way, by the size of the largest.

    >>> most_unsettled(3_000), most_unsettled(8_000_000)
    (128, 2)
    """
    return max(2, min(MOST_UNSETTLED, MOST_UNSETTLED_BYTES // largest))
