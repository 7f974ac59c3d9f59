"""The coordinator's connection to the broker: what sites have sent comes in, answers go out.

Streams keep what sites send until the coordinator has it in its journal and says so (`settle`). Whatever was delivered
and not settled is delivered again, at once after a reconnect. A connection that is lost is made again, for ever.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Iterable
from pathlib import Path
from typing import Any

from fedbandit.core.errors import InvalidInput
from fedbandit.transport.nats.address import check_server, security, servers_of
from fedbandit.transport.nats.connection import END_SECONDS, connect, end, in_words, lapses, unless_it_goes
from fedbandit.transport.nats.door import Answer, Arrival, Door, Headers
from fedbandit.transport.nats.presence import Presence
from fedbandit.transport.nats.probing import Probing
from fedbandit.transport.nats.settling import REMOVE_SECONDS, Publication
from fedbandit.transport.nats.site_connections import end_connections
from fedbandit.transport.nats.streams import Streams
from fedbandit.transport.nats.subjects import Subjects

log = logging.getLogger("fedbandit.coordinator")

CONNECT_SECONDS = 5.0
OWN_PING_SECONDS = 5.0  # more often than a site: there is one coordinator, and all sites wait for it
RETRY_SECONDS = 0.2
NOT_READY = "the broker is not ready (%s)"
SAY_SECONDS = 5.0  # a broker that reads nothing would hold up everything, and the end too


class Hub:
    """One connection for all federations of a coordinator."""

    def __init__(self, server: str, credentials: str | Path | None = None, *, replicas: int = 1) -> None:
        """Take the broker's URL, the coordinator's credential, and on how many brokers streams are kept."""
        self.server = check_server(server)
        self._replicas = replicas
        self._tls = security(server, credentials)
        self._doors: list[Door] = []
        self._answers: dict[str, Answer] = {}  # by the subject under which it is asked
        self._presence = Presence()
        self._probing = Probing(self.server)
        self._is_closing = False
        self._returning: asyncio.Task[None] | None = None
        self._removing: asyncio.Task[None] | None = None
        self._broker: Any = None
        self._streams: Streams
        self._heard = ""

    @property
    def trouble(self) -> str:
        """Return why the broker stores nothing, as far as is known."""
        return self._probing.trouble

    @property
    def is_connected(self) -> bool:
        """Tell whether the broker is there now."""
        return self._broker is not None and bool(self._broker.is_connected)

    async def connect(self) -> None:
        """Connect, or say that the broker cannot be reached; a connection that is lost later is made again."""
        try:
            await self._connect()
        except OSError as error:
            raise InvalidInput(
                f"the broker at {self.server} cannot be reached ({error}): start it, or correct what the brackets say"
            ) from None

    async def open(self, door: Door) -> None:
        """Let in what the sites of a federation have sent and will send, unless another coordinator does."""
        try:
            await self._presence.require_alone(self._broker, door.subjects)
            self._doors.append(door)
            await self._let_in(door)
        except InvalidInput:
            raise
        except lapses() as error:
            raise InvalidInput(
                f"the broker at {self.server} does not answer ({in_words(error)}): see that it runs, and try again"
            ) from None

    async def enlarge(self, subjects: Subjects, most_bytes: int) -> None:
        """Let in larger messages of a federation's sites from now on, if they are larger."""
        for door in [each for each in self._doors if each.subjects == subjects and each.most_bytes < most_bytes]:
            door.most_bytes = most_bytes
            with unless_it_goes(log):
                await self._streams.arrange(door.subjects, door.clients, door.most_bytes)

    async def answer(self, subject: str, answer: Answer) -> None:
        """Answer whatever is asked under a subject, on this connection and on all after it."""
        self._answers[subject] = answer
        with unless_it_goes(log):
            await self._listen(subject)

    def hears_another(self, subjects: Subjects) -> bool:
        """Tell whether another coordinator serves a federation at this broker too."""
        return self._presence.hears_another(subjects)

    async def send(self, subjects: Subjects, frames: Iterable[tuple[int, bytes]], headers: Headers = None) -> None:
        """Push frames to sites; while the broker is away they are dropped, for sites that come back ask."""
        down = subjects.down
        await self._publish(Publication(down(site), frame, headers and headers(frame)) for site, frame in frames)

    async def settle(self, arrivals: Iterable[Arrival]) -> None:
        """Tell the streams that the coordinator has these for good."""
        words = []
        for arrival in arrivals:
            if arrival.settling is not None:
                arrival.settling.settle(arrival.number, arrival.sender)
            elif arrival.source.reply:
                words.append(Publication(arrival.source.reply, b"+ACK"))
        await self._tell_streams(time.monotonic(), *words)
        if self._streams.has_some_left and (self._removing is None or self._removing.done()):
            self._removing = asyncio.create_task(self._remove_later())

    async def probe(self) -> None:
        """Find out whether the broker stores and delivers what sites send, and see to it. Let others hear of us."""
        if not self.is_connected:
            return
        with unless_it_goes(log):
            for door in self._doors:
                await self._presence.say(self._broker, door.subjects)
            for door in await self._probing.probe(self._streams, self._doors):
                if not self.hears_another(door.subjects):  # one that was paused does not take it from its successor
                    await self._streams.arrange(door.subjects, door.clients, door.most_bytes)

    async def end_connections(self, older_than: float, account: str | None = None, spared: Collection[str] = ()) -> int:
        """End sites' connections of more than so many seconds, which come back if their credentials are still valid."""
        with unless_it_goes(log):
            self._require()
            brokers = len(servers_of(self.server))
            return await end_connections(self._broker, older_than, account, brokers=brokers, spared=spared)
        return 0

    async def close(self) -> None:
        """Send what is left, and end the connection."""
        self._is_closing = True
        if self._returning is not None:
            self._returning.cancel()
        if self._broker is not None:
            if self._removing is not None:
                self._removing.cancel()
            await self._publish(self._streams.last_said())
            with unless_it_goes(log):
                self._require()
                await self._broker.flush(timeout=END_SECONDS)
            await end(self._broker)

    async def _tell_streams(self, now: float, *words: Publication) -> None:
        """Tell the streams something, and what they may remove; those of an earlier connection are not there."""
        await self._publish((*words, *self._streams.said(now)))

    async def _remove_later(self) -> None:
        """Have removed what is settled though nothing comes after it."""
        while self.is_connected and self._streams.has_some_left:
            await asyncio.sleep(REMOVE_SECONDS)
            await self._tell_streams(time.monotonic())

    async def _publish(self, messages: Iterable[Publication]) -> None:
        """Say something, by subject, for no longer than a broker needs that listens."""
        with unless_it_goes(log):
            self._require()
            publish = self._broker.publish
            async with asyncio.timeout(SAY_SECONDS):
                for subject, data, headers, answer in messages:
                    await publish(subject, data, answer, headers=headers)

    def _require(self) -> None:
        if not self.is_connected:
            raise ConnectionError("it is away")

    async def _connect(self) -> None:
        self._heard = ""
        self._broker = await connect(
            self.server, name="coordinator", tls=self._tls, seconds=CONNECT_SECONDS,
            ping_seconds=OWN_PING_SECONDS, on_error=self._on_error, on_end=self._on_end,
        )  # fmt: skip
        self._probing.begin()
        self._streams = Streams(self._broker.jetstream(), self.server, self._replicas)
        for subject in list(self._answers):
            await self._listen(subject)

    async def _listen(self, subject: str) -> None:
        async def hear(message: Any) -> None:
            said = await self._answers[subject](message.subject, message.data)
            if said is not None:
                await self._publish([Publication(message.reply, said)])

        await self._broker.subscribe(subject, cb=hear)

    async def _let_in(self, door: Door) -> None:
        await self._presence.listen(self._broker, door.subjects)
        await self._presence.say(self._broker, door.subjects)
        delivery = self._streams.delivery(door.subjects)
        # All that is under way is counted by the streams, so the library need not drop any of it
        unlimited = {"pending_msgs_limit": -1, "pending_bytes_limit": -1}
        await self._broker.subscribe(delivery, cb=self._admitting(door), **unlimited)
        await self._broker.subscribe(f"{delivery}.*.*", cb=self._streams.on_known, **unlimited)
        await self._streams.arrange(door.subjects, door.clients, door.most_bytes)

    def _admitting(self, door: Door) -> Callable[[Any], Awaitable[None]]:
        probes = set(door.probes.values())

        async def admit(message: Any) -> None:
            arrival = door.arrival(message, self._streams.settling)
            if message.subject in probes:
                self._probing.came(message.subject)
                await self.settle([arrival])
            else:
                door.arrive(arrival)

        return admit

    def _on_error(self, error: str) -> None:
        if self.is_connected and error != self._heard:
            log.warning("broker: %s", error)
        self._heard = error

    def _on_end(self, why: str) -> None:
        if not self._is_closing and (self._returning is None or self._returning.done()):
            log.warning("the broker at %s is gone (%s); trying again", self.server, why)
            self._returning = asyncio.create_task(self._return())

    async def _return(self) -> None:
        """Connect until that succeeds, and make streams again, which a broker may have lost."""
        told = ""
        while not self.is_connected:
            try:
                await self._connect()
                for door in self._doors:
                    await self._let_in(door)
            except Exception as error:  # a coordinator that never comes back is worse than any error
                if str(error) != told:
                    trace = None if isinstance(error, lapses()) else error
                    log.log(logging.ERROR if trace else logging.INFO, NOT_READY, error, exc_info=trace)
                told = str(error)
                if self._broker is not None:
                    await end(self._broker)
                await asyncio.sleep(RETRY_SECONDS)
        log.info("the broker at %s is back", self.server)
