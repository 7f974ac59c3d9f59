"""What a broker keeps for a federation until the coordinator has it, and how it is delivered.

A stream on disk for each shard of sites, and one in memory with the last question of each site. A consumer of each
pushes to the coordinator, in order; to acknowledge a message is to acknowledge all before it.
"""

from __future__ import annotations

from typing import Any

from fedbandit.core.errors import InvalidInput
from fedbandit.transport.link import DUPLICATES
from fedbandit.transport.nats.address import client_library
from fedbandit.transport.nats.subjects import Subjects
from fedbandit.wire.frame import HEADER

CONSUMER = "coordinator"
REDELIVER_SECONDS = 60.0  # longer than any queue: what comes twice takes twice the time
MOST_UNSETTLED = 64  # messages of one stream that are on their way
ROOM_FOR_HEADERS = 256  # bytes beside the frame that the broker counts


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
        api = self._api
        limits = {"max_msg_size": most_bytes + HEADER.size + ROOM_FOR_HEADERS, "duplicate_window": DUPLICATES}
        for name, subject in subjects.streams(clients).items():
            await self._ensure(api.StreamConfig(name=name, subjects=[subject], storage=api.StorageType.FILE, **limits))
            await self._consume(name, subjects.delivery)
        name, subject = subjects.questions
        await self._ensure(
            api.StreamConfig(
                name=name, subjects=[subject], storage=api.StorageType.MEMORY, max_msgs_per_subject=1, **limits
            )
        )
        await self._consume(name, subjects.delivery)

    async def _ensure(self, config: Any) -> None:
        try:
            await self._context.add_stream(config)
        except self._errors.BadRequestError:  # it is there with another size
            await self._context.update_stream(config)
        except self._errors.APIError as error:
            raise InvalidInput(
                f"the broker at {self._server} has no JetStream for {config.name} ({error}): switch JetStream on"
            ) from None

    async def _consume(self, stream: str, delivery: str) -> None:
        """Begin after what was settled: what was on its way to a coordinator that is no more comes at once."""
        api = self._api
        start = 0
        try:
            info = await self._context.consumer_info(stream, CONSUMER)
            start = (info.ack_floor.stream_seq if info.ack_floor else 0) + 1
            await self._context.delete_consumer(stream, CONSUMER)
        except self._errors.NotFoundError:
            pass
        begin: dict[str, Any] = {"deliver_policy": api.DeliverPolicy.ALL}
        if start:
            begin = {"deliver_policy": api.DeliverPolicy.BY_START_SEQUENCE, "opt_start_seq": start}
        config = api.ConsumerConfig(
            durable_name=CONSUMER, deliver_subject=delivery, ack_policy=api.AckPolicy.ALL, ack_wait=REDELIVER_SECONDS,
            max_ack_pending=MOST_UNSETTLED, **begin,
        )  # fmt: skip
        await self._context.add_consumer(stream, config)

    async def remove(self, stream: str, up_to: int) -> None:
        """Remove all messages of a stream up to one."""
        await self._context.purge_stream(stream, seq=up_to + 1)
