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
from fedbandit.engines.nats.address import check_server, client_library, security
from fedbandit.engines.nats.subjects import Subjects
from fedbandit.wire.frame import HEADER

log = logging.getLogger("fedbandit.coordinator")

CONSUMER = "coordinator"
REDELIVER_SECONDS = 5.0
RETRY_SECONDS = 0.5
MOST_UNSETTLED = 64  # messages of one stream that are on their way
DUPLICATES_SECONDS = 10.0  # shorter than the time after which a site sends again what was refused for now


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
        self._streams: Any = None

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
        self._streams = self._broker.jetstream()

    async def open(self, door: Door) -> None:
        """Let in what the sites of a federation have sent and will send."""
        await self._arrange(door)
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
        last: dict[str, tuple[int, Any]] = {}
        for arrival in arrivals:
            if arrival.source.reply:
                seen = arrival.source.metadata
                if seen.sequence.stream > last.get(seen.stream, (0, None))[0]:
                    last[seen.stream] = seen.sequence.stream, arrival.source
        with self._as_far_as_it_goes():
            self._require()
            for stream, (sequence, message) in last.items():
                await message.ack()
                self._settled[stream] = max(sequence, self._settled.get(stream, 0))

    async def tidy(self) -> None:
        """Remove from the streams what was settled."""
        with self._as_far_as_it_goes():
            self._require()
            while self._settled:
                stream, sequence = self._settled.popitem()
                await self._streams.purge_stream(stream, seq=sequence + 1)

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
                await self._arrange(waiting[-1])
                waiting.pop()
            except (client_library().errors.Error, InvalidInput, OSError, TimeoutError) as error:
                log.info("the broker is not ready (%s)", error)
                await asyncio.sleep(RETRY_SECONDS)

    async def _arrange(self, door: Door) -> None:
        api = self._streams_api()
        limits = {"max_msg_size": door.most_bytes + HEADER.size + 256, "duplicate_window": DUPLICATES_SECONDS}
        for name, subject in door.subjects.streams(door.clients).items():
            await self._ensure(api.StreamConfig(name=name, subjects=[subject], storage=api.StorageType.FILE, **limits))
            await self._consume(name, door.subjects.delivery)
        name, subject = door.subjects.questions
        await self._ensure(
            api.StreamConfig(
                name=name, subjects=[subject], storage=api.StorageType.MEMORY, max_msgs_per_subject=1, **limits
            )
        )
        await self._consume(name, door.subjects.delivery)

    async def _ensure(self, config: Any) -> None:
        errors = client_library().js.errors
        try:
            await self._streams.add_stream(config)
        except errors.BadRequestError:  # it is there with another size
            await self._streams.update_stream(config)
        except errors.APIError as error:
            raise InvalidInput(
                f"the broker at {self.server} has no JetStream for {config.name} ({error}): switch JetStream on"
            ) from None

    async def _consume(self, stream: str, delivery: str) -> None:
        """Begin after what was settled: what was on its way to a coordinator that is no more comes at once."""
        api, errors = self._streams_api(), client_library().js.errors
        start = 0
        try:
            info = await self._streams.consumer_info(stream, CONSUMER)
            start = (info.ack_floor.stream_seq if info.ack_floor else 0) + 1
            await self._streams.delete_consumer(stream, CONSUMER)
        except errors.NotFoundError:
            pass
        begin: dict[str, Any] = {"deliver_policy": api.DeliverPolicy.ALL}
        if start:
            begin = {"deliver_policy": api.DeliverPolicy.BY_START_SEQUENCE, "opt_start_seq": start}
        config = api.ConsumerConfig(
            durable_name=CONSUMER, deliver_subject=delivery, ack_policy=api.AckPolicy.ALL, ack_wait=REDELIVER_SECONDS,
            max_ack_pending=MOST_UNSETTLED, **begin,
        )  # fmt: skip
        await self._streams.add_consumer(stream, config)

    @staticmethod
    def _streams_api() -> Any:
        return client_library().js.api


def _admit(door: Door) -> Callable[[Any], Awaitable[None]]:
    async def admit(message: Any) -> None:
        door.arrive(Arrival(door.subjects.sender(message.subject), message.data, message))

    return admit
