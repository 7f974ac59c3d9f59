"""What a site has sent to a broker that has not said yet whether it has stored it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from fedbandit.transport.nats.streams import MOST_WAITING

NO_ANSWER_SECONDS = 20.0


@dataclass(slots=True)
class _Sent:
    frame: bytes  # nothing: it is not sent again
    at: float
    is_refused: bool = False


class Unstored:
    """Messages under way, by the number under which the broker answers.

    >>> unstored = Unstored()
    >>> number = unstored.add(b"upload")
    >>> unstored.refuse(number)
    >>> unstored.has_room, unstored.take_refused(), unstored.has_room
    (False, [(1, b'upload')], True)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with nothing under way."""
        self._clock = clock
        self._sent: dict[int, _Sent] = {}
        self._last = 0
        self._changed = asyncio.Event()
        self.refused = 0

    @property
    def has_room(self) -> bool:
        """Tell whether more may be sent: nothing was refused for now, and not too much is under way."""
        return not self.refused and len(self._sent) < MOST_WAITING

    def add(self, frame: bytes) -> int:
        """Note a message; return its number."""
        self._last += 1
        self._sent[self._last] = _Sent(frame, self._clock())
        return self._last

    def __contains__(self, number: int) -> bool:
        """Tell whether an answer to this number is awaited."""
        return number in self._sent

    def stored(self, number: int) -> None:
        """Forget a message that the broker has."""
        self.refused -= self._sent.pop(number).is_refused
        self.wake()

    def refuse(self, number: int) -> None:
        """Note that there was no room for a message; a question is asked again anyway."""
        sent = self._sent[number]
        if not sent.frame:
            self.stored(number)
        elif not sent.is_refused:
            sent.is_refused = True
            self.refused += 1
        self.wake()

    def take_refused(self) -> list[tuple[int, bytes]]:
        """Return what is to be sent again, under the same numbers."""
        again = [(number, sent) for number, sent in self._sent.items() if sent.is_refused]
        for _, sent in again:
            sent.is_refused, sent.at = False, self._clock()
        self.refused = 0
        return [(number, sent.frame) for number, sent in again]

    def age(self) -> float:
        """Return the seconds for which the oldest message has had no answer."""
        waiting = [sent.at for sent in self._sent.values() if not sent.is_refused]
        return self._clock() - min(waiting) if waiting else 0.0

    def wake(self) -> None:
        """Let `change` return."""
        self._changed.set()

    async def change(self, seconds: float) -> None:
        """Wait until something has changed, but not for ever."""
        self._changed.clear()
        try:
            await asyncio.wait_for(self._changed.wait(), seconds)
        except TimeoutError:
            return
