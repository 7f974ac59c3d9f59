"""Whether another coordinator serves the same federation at the same broker, with a journal of its own.

The streams deliver to both of them, each takes in what sites send, and what one has acknowledged the other may lack.
Two with one journal are kept apart by the journal; others can notice each other at the broker alone. Each says a random
word of its own now and then, where at a broker with TLS only coordinators speak and listen. Before it begins it asks:
one that answers was there before. (A coordinator that hangs does not answer, and may be replaced by another.)
"""

from __future__ import annotations

import secrets
import time
from typing import Any

from fedbandit.core.errors import InvalidInput
from fedbandit.transport.nats.address import client_library
from fedbandit.transport.nats.subjects import Subjects

ANSWER_SECONDS = 1.0
OVER_SECONDS = 60.0  # after which one that says nothing any more is taken to have ended: several times the time between


class Presence:
    """One coordinator among those that may be at a broker."""

    def __init__(self) -> None:
        """Choose a word."""
        self._word = secrets.token_bytes(16)
        self._clock = time.monotonic
        self._heard: dict[str, float] = {}  # when another was last heard of, by federation

    def hears_another(self, subjects: Subjects) -> bool:
        """Tell whether another coordinator serves the federation."""
        heard = self._heard.get(subjects.federation)
        return heard is not None and self._clock() < heard + OVER_SECONDS

    async def require_alone(self, broker: Any, subjects: Subjects) -> None:
        """Refuse to serve a federation that another coordinator serves."""
        errors = client_library().errors
        try:
            await broker.request(subjects.coordinator, self._word, timeout=ANSWER_SECONDS)
        except (errors.NoRespondersError, errors.TimeoutError):
            if not broker.is_connected:  # whoever is there could not answer
                raise errors.ConnectionClosedError from None
            return
        raise InvalidInput(
            f"another coordinator serves the federation {subjects.federation!r} at this broker: end it first, or give "
            "this federation another name"
        )

    async def listen(self, broker: Any, subjects: Subjects) -> None:
        """Hear of others, and answer them."""

        async def hear(message: Any) -> None:
            if message.reply:  # it asks before it begins, and will not
                await broker.publish(message.reply, self._word)
            elif message.data != self._word:
                self._heard[subjects.federation] = self._clock()

        await broker.subscribe(subjects.coordinator, cb=hear)

    async def say(self, broker: Any, subjects: Subjects) -> None:
        """Let others hear of this one."""
        await broker.publish(subjects.coordinator, self._word)
