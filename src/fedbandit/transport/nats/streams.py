"""What a broker keeps for a federation until the coordinator has it, and how it is delivered.

A stream on disk for each shard of sites, and two in memory with the last question and the last report of each site. A
broker alone writes to its disk a moment after it has said that something is stored: a site sends again whatever the
coordinator has not acknowledged, so nothing rests on that word, and the disk need not be waited for twice. A
consumer of each pushes to the coordinator; what it says that it has is removed, from disk by many at once (`settling`).
Every site has room for a number of messages and no more: what goes beyond is refused to that site alone, which sends it
again when there is room.

Messages have no ids. What is sent twice is delivered twice, and the coordinator knows an upload by its number; an id
would be one that a site can make up, and that the broker has to remember.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.site.outbox import MOST_WAITING
from fedbandit.transport.nats.address import client_library, servers_of
from fedbandit.transport.nats.settling import Publication, Settling, stream_and_number
from fedbandit.transport.nats.subjects import Subjects
from fedbandit.wire.header import LARGEST_HEADER

log = logging.getLogger("fedbandit.coordinator")

CONSUMER = "coordinator"
REDELIVER_SECONDS = 60.0  # longer than any queue: what comes twice takes twice the time
MOST_UNSETTLED = 128  # messages of one stream that are on their way: several sites' worth
MOST_WORDS = 64  # questions, or reports, that are on their way: they are settled ten times a second
MOST_UNSETTLED_BYTES = 16 * 1024 * 1024  # and fewer where they are large
LARGEST_WORD = 2048  # bytes of a question or a report
IDS_SECONDS = 0.1  # for which the broker remembers an id that a site made up; less cannot be
ROOM_FOR_HEADERS = 256  # bytes beside the frame that the broker counts
LARGEST_PROBE = 64 * 1024
AGREE_SECONDS = 20.0  # that the brokers of a cluster may need to agree
AGAIN_SECONDS = 0.2
NO_LEADER = 10008  # of JetStream: a cluster of which too few brokers run, or that has just begun
OTHERWISE_THERE = 10058  # of JetStream: there is a stream of that name with other limits, or of another kind
UNCHANGEABLE = 10052  # of JetStream: of another kind, as earlier versions kept messages in another way
TOO_FEW_BROKERS = (10005, 10023, 10074)  # of JetStream: no peers, no resources, no cluster for so many replicas


class Streams:
    """The streams of a broker, as its coordinator sees them."""

    def __init__(self, context: Any, server: str, replicas: int) -> None:
        """Take the library's JetStream context, the broker's URL for errors, and how many brokers keep a stream."""
        self._context = context
        self._server = server
        self.replicas = replicas
        self._api = client_library().js.api
        self._errors = client_library().js.errors
        self._listener = secrets.token_hex(8)
        self.settling: dict[str, Settling] = {}  # by stream on disk: what was delivered, and is settled

    @property
    def _is_in_memory(self) -> bool:
        """Tell whether what need not outlive a broker is kept in memory.

        In a cluster it is not: brokers of which two were started again, however long after each other, would have lost
        the majority of copies, and never deliver again.
        """
        return self.replicas == 1

    @property
    def _is_of_cluster(self) -> bool:
        """Tell whether a stream may be kept on several brokers, now or later: then each waits for its disk.

        A stream that does not wait for it can have no copies, and to make it anew would lose what it holds.
        """
        return self.replicas > 1 or len(servers_of(self._server)) > 1

    def delivery(self, subjects: Subjects) -> str:
        """Return where what sites of a federation send is delivered to this connection, and to no other.

        A coordinator that is paused is still connected, as is one whose end the broker has not seen yet: what is
        delivered where it listens too would be taken to have come.
        """
        return f"{subjects.delivery}.{self._listener}"

    def said(self, now: float) -> list[Publication]:
        """Return what the streams on disk are to be told: that more may be delivered, and what they may remove."""
        return [each for settling in self.settling.values() for each in settling.said(now)]

    def last_said(self) -> list[Publication]:
        """Return what they are to be told when nothing is to be delivered any more."""
        return [each for settling in self.settling.values() for each in settling.last_said()]

    @property
    def has_some_left(self) -> bool:
        """Tell whether they have yet to remove something that is settled."""
        return any(each.is_left for each in self.settling.values())

    async def on_known(self, message: Any) -> None:
        """Take in what a stream says to know as acknowledged."""
        stream, number = stream_and_number(message.subject)
        self.settling[stream].know(number)

    async def arrange(self, subjects: Subjects, clients: int, most_bytes: int) -> None:
        """Make what a federation needs, or make it right: its streams, and what delivers them to the coordinator."""
        for name in subjects.streams(clients):
            await self._arrange_uploads(subjects, name, clients, most_bytes)
        for name, subject in subjects.last_words.items():
            limits = {"max_msg_size": LARGEST_WORD + ROOM_FOR_HEADERS, "max_msgs_per_subject": 1}
            storage = self._api.StorageType.MEMORY if self._is_in_memory else self._api.StorageType.FILE
            kept = {"storage": storage, "retention": self._api.RetentionPolicy.WORK_QUEUE}
            await self._ensure(name, subject, **kept, **limits)
            await self._consume(name, self.delivery(subjects), MOST_WORDS, self._api.AckPolicy.EXPLICIT)

    async def _arrange_uploads(self, subjects: Subjects, name: str, clients: int, most_bytes: int) -> None:
        """Make one of the streams on disk."""
        subject, largest = subjects.streams(clients)[name], _largest(most_bytes)
        room = {"max_msgs_per_subject": MOST_WAITING, "discard": "new", "discard_new_per_subject": True}
        kept = {"storage": self._api.StorageType.FILE, "retention": self._api.RetentionPolicy.LIMITS}
        if not self._is_of_cluster:
            kept["persist_mode"] = self._api.PersistMode.ASYNC
        await self._ensure(name, subject, max_msg_size=largest, **kept, **room)
        await self._consume(name, self.delivery(subjects), most_unsettled(largest), self._api.AckPolicy.ALL)

    async def probe(self, subject: str, most_bytes: int, seconds: float) -> str:
        """Have a stream store something of the size of a large upload; return why it does not, or nothing."""
        try:
            await self._context.publish(subject, bytes(min(most_bytes, LARGEST_PROBE)), timeout=seconds)
        except self._errors.APIError as error:
            return str(error.description)
        except (client_library().errors.Error, TimeoutError):
            return f"no answer for {seconds:g} seconds"
        return ""

    async def remove(self, name: str) -> bool:
        """Remove a stream with all that is in it, and tell whether it can be made again now.

        In a cluster it is left alone while a broker that keeps it is away: too few are there to make another, and this
        one stores again when they have agreed on who leads.
        """
        if self.replicas > 1 and not await self._has_all_brokers(name):
            return False
        with suppress(self._errors.APIError):
            await self._context.delete_stream(name)
        return True

    async def _has_all_brokers(self, name: str) -> bool:
        try:
            cluster = (await self._context.stream_info(name)).cluster
        except (self._errors.APIError, client_library().errors.Error, TimeoutError):
            return False
        return bool(cluster and cluster.leader) and all(
            each.current and not each.offline for each in cluster.replicas or ()
        )

    async def _ensure(self, name: str, subject: str, **limits: Any) -> None:
        """Make a stream; one that is there with other limits gets these, one of another kind is made anew."""
        config = self._api.StreamConfig(
            name=name, subjects=[subject], duplicate_window=IDS_SECONDS, num_replicas=self.replicas, **limits
        )  # fmt: skip
        try:
            await self._patiently(partial(self._make, config))
        except self._errors.APIError as error:
            if error.err_code in TOO_FEW_BROKERS:
                raise InvalidInput(
                    f"replicas is {self.replicas}, but the brokers at {self._server} cannot keep so many copies of "
                    f"{name} ({error.description}): run a cluster of as many brokers, or lower replicas"
                ) from None
            if error.err_code == NO_LEADER:
                raise InvalidInput(
                    f"the brokers at {self._server} have no leader: see that most of them run, and try again"
                ) from None
            raise InvalidInput(
                f"the broker at {self._server} has no JetStream for {name} ({error}): switch JetStream on"
            ) from None

    async def _make(self, config: Any) -> None:
        try:
            await self._context.add_stream(config)
        except self._errors.BadRequestError as error:
            if error.err_code != OTHERWISE_THERE:
                raise
            await self._renew(config)

    async def _renew(self, config: Any) -> None:
        try:
            await self._context.update_stream(config)
        except self._errors.APIError as error:
            if error.err_code != UNCHANGEABLE:
                raise
            log.warning("the stream %s is made anew (%s): sites send again what it held", config.name, error)
            await self._context.delete_stream(config.name)
            await self._context.add_stream(config)

    async def _consume(self, stream: str, delivery: str, most: int, acknowledged: Any) -> None:
        """Deliver from the beginning: what was on its way to a coordinator that is no more comes at once.

        Every connection begins so, and the broker's disk need not know how far the one before came.
        """
        api = self._api
        await self._patiently(partial(self._end_delivery, stream))
        if acknowledged == api.AckPolicy.ALL:
            self.settling[stream] = Settling(stream, answers=delivery)
        config = api.ConsumerConfig(
            durable_name=CONSUMER, deliver_subject=delivery, ack_policy=acknowledged, ack_wait=REDELIVER_SECONDS,
            max_ack_pending=most, mem_storage=self._is_in_memory,
        )  # fmt: skip
        await self._patiently(partial(self._context.add_consumer, stream, config))

    async def _end_delivery(self, stream: str) -> None:
        with suppress(self._errors.NotFoundError):
            await self._context.delete_consumer(stream, CONSUMER)

    async def _patiently(self, work: Callable[[], Awaitable[Any]]) -> None:
        """Do something that a cluster refuses while its brokers have not agreed yet, after one of them was lost."""
        clock = asyncio.get_running_loop().time
        end = clock() + (AGREE_SECONDS if self.replicas > 1 else 0.0)
        while True:
            try:
                await work()
            except (self._errors.APIError, client_library().errors.TimeoutError) as error:
                if clock() >= end or getattr(error, "err_code", NO_LEADER) not in (NO_LEADER, *TOO_FEW_BROKERS[:2]):
                    raise
                await asyncio.sleep(AGAIN_SECONDS)
            else:
                return


def _largest(most_bytes: int) -> int:
    return most_bytes + LARGEST_HEADER + ROOM_FOR_HEADERS


def most_unsettled(largest: int) -> int:
    """Return how many messages of one stream may be on their way, by the size of the largest.

    >>> most_unsettled(3_000), most_unsettled(8_000_000)
    (128, 2)
    """
    return max(2, min(MOST_UNSETTLED, MOST_UNSETTLED_BYTES // largest))
