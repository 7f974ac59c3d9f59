"""The coordinator's connection to the broker: what sites have sent comes in, answers go out.

Streams keep what sites send until the coordinator has it in its journal and says so (`settle`); then it is removed from
them now and then (`tidy`). Whatever was delivered and not settled is delivered again, at once after a reconnect.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from fedbandit.core.errors import InvalidInput
from fedbandit.transport.nats.address import check_server, client_library, security
from fedbandit.transport.nats.streams import Streams
from fedbandit.transport.nats.subjects import Subjects

log = logging.getLogger("fedbandit.coordinator")

RETRY_SECONDS = 0.5


class Arrival(NamedTuple):
    """A message that has come in, and the site under whose subject it was published."""

    sender: int | None
    data: bytes
    source: Any


@dataclass
class Door:
    """A federation at the broker: what lets arrivals in."""

    subjects: Subjects
    clients: int
    most_bytes: int
    arrive: Callable[[Arrival], None]


class Hub:
    """One connection for all federations of a coordinator."""

    def __init__(self, server: str, credentials: str | Path | None = None) -> None:
        """Take the broker's URL and the coordinator's credential."""
        self.server = check_server(server)
        self._tls = security(server, credentials)
        self._doors: list[Door] = []
        self._settled: dict[str, int] = {}  # by stream: what was settled and not yet removed
        self._is_closing = False
        self._arranging: asyncio.Task[None] | None = None
        self._broker: Any = None
        self._streams: Streams

    @property
    def is_connected(self) -> bool:
        """Tell whether the broker is there now."""
        return self._broker is not None and bool(self._broker.is_connected)

    async def connect(self, seconds: float = 5.0) -> None:
        """Connect, or say that the broker cannot be reached; a connection that is lost later is made again."""
        nats = client_library()
        heard: deque[str] = deque(maxlen=5)

        async def on_error(error: Exception) -> None:
            if self._broker is not None and str(error) not in heard:
                log.warning("broker: %s", error)
            heard.append(str(error))

        async def on_loss() -> None:
            if not self._is_closing:
                log.warning("the broker at %s is gone; trying again", self.server)

        try:
            self._broker = await nats.connect(
                self.server, name="coordinator", tls=self._tls, connect_timeout=seconds, max_reconnect_attempts=2,
                reconnect_time_wait=0.2, error_cb=on_error, disconnected_cb=on_loss, reconnected_cb=self._return,
            )  # fmt: skip
        except (OSError, nats.errors.Error, TimeoutError) as error:
            why = "; ".join(dict.fromkeys([*heard, str(error)]))
            raise InvalidInput(f"the broker at {self.server} cannot be reached ({why}): start it, or mend it") from None
        self._broker.options["max_reconnect_attempts"] = -1  # a broker that was there once will be there again
        self._streams = Streams(self._broker.jetstream(), self.server)

    async def open(self, door: Door) -> None:
        """Let in what the sites of a federation have sent and will send."""
        await self._streams.arrange(door.subjects, door.clients, door.most_bytes)
        self._doors.append(door)
        for subject in (door.subjects.delivery, door.subjects.reports):
            await self._broker.subscribe(subject, cb=_admit(door))

    async def send(self, subjects: Subjects, frames: Iterable[tuple[int, bytes]]) -> None:
        """Push frames to sites; while the broker is away they are dropped, for sites that come back ask."""
        publish, down = self._broker.publish, subjects.down
        with self._as_far_as_it_goes():
            self._require()
            for site, frame in frames:
                await publish(down(site), frame)

    async def settle(self, arrivals: Iterable[Arrival]) -> None:
        """Tell the streams that the coordinator has these, and all before them, for good."""
        stored = [arrival.source for arrival in arrivals if arrival.source.reply]
        last = {message.subject.rpartition(".")[0]: message for message in stored}  # of each stream
        with self._as_far_as_it_goes():
            self._require()
            for message in last.values():
                await message.ack()
                seen = message.metadata
                self._settled[seen.stream] = max(seen.sequence.stream, self._settled.get(seen.stream, 0))

    async def tidy(self) -> None:
        """Remove from the streams what was settled."""
        with self._as_far_as_it_goes():
            self._require()
            while self._settled:
                stream, sequence = self._settled.popitem()
                await self._streams.remove(stream, sequence)

    async def close(self) -> None:
        """Send what is left, and end the connection."""
        self._is_closing = True
        if self._arranging is not None:
            self._arranging.cancel()
        if self._broker is not None and not self._broker.is_closed:
            if self._broker.is_connected:
                await self._broker.flush()
            await self._broker.close()

    @contextmanager
    def _as_far_as_it_goes(self) -> Iterator[None]:
        """Give up what is being said when the broker goes away: whatever it was, it is said again."""
        try:
            yield
        except (client_library().errors.Error, OSError, TimeoutError) as error:
            log.info("the broker has not heard everything (%s)", error)

    def _require(self) -> None:
        if not self.is_connected:  # the library would keep it and say it later, when it is out of date
            raise ConnectionError("it is away")

    async def _return(self) -> None:
        log.info("the broker at %s is back", self.server)
        if self._arranging is not None:
            self._arranging.cancel()
        self._arranging = asyncio.create_task(self._arrange_all())

    async def _arrange_all(self) -> None:
        """Make streams again, which a broker may have lost, as soon as it is ready to."""
        waiting = list(self._doors)
        while waiting:
            try:
                door = waiting[-1]
                await self._streams.arrange(door.subjects, door.clients, door.most_bytes)
                waiting.pop()
            except (client_library().errors.Error, InvalidInput, OSError, TimeoutError) as error:
                log.info("the broker is not ready (%s)", error)
                await asyncio.sleep(RETRY_SECONDS)


def _admit(door: Door) -> Callable[[Any], Awaitable[None]]:
    async def admit(message: Any) -> None:
        door.arrive(Arrival(door.subjects.sender(message.subject), message.data, message))

    return admit
