"""What a site has sent to a broker that has not said yet whether it has stored it.

A broker answers in the order in which it was told. Were that ever otherwise, an upload would be taken for one that is
stored and wait at the site until it is sent again, as everything is that the coordinator has not acknowledged.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque

from fedbandit.durable.site.outbox import MOST_WAITING

NO_ANSWER_SECONDS = 20.0


class Unstored:
    """Uploads under way, the first one first.

    >>> unstored = Unstored()
    >>> unstored.add(b"upload")
    >>> unstored.refuse()
    >>> unstored.has_room, unstored.take_refused(), unstored.has_room
    (False, [b'upload'], True)
    """

    def __init__(self) -> None:
        """Begin with nothing under way."""
        self._sent: deque[tuple[float, bytes]] = deque()
        self._refused: list[bytes] = []
        self._changed = asyncio.Event()
        self.count = 0  # uploads that the broker has stored

    @property
    def has_room(self) -> bool:
        """Tell whether more may be sent: nothing was refused for now, and not too much is under way."""
        return not self._refused and len(self._sent) < MOST_WAITING

    @property
    def is_refused(self) -> bool:
        """Tell whether something is to be sent again."""
        return bool(self._refused)

    @property
    def is_under_way(self) -> bool:
        """Tell whether an answer is awaited."""
        return bool(self._sent)

    def add(self, frame: bytes) -> None:
        """Note an upload that is being sent."""
        self._sent.append((time.monotonic(), frame))

    def stored(self) -> None:
        """Forget the first upload: the broker has it."""
        if self._sent:
            self._sent.popleft()
            self.count += 1
        self.wake()

    def refuse(self) -> None:
        """Note that there was no room for the first one."""
        if self._sent:
            self._refused.append(self._sent.popleft()[1])
        self.wake()

    def take_refused(self) -> list[bytes]:
        """Return what is to be sent again."""
        again, self._refused = self._refused, []
        return again

    def age(self) -> float:
        """Return the seconds for which the first upload has had no answer."""
        return time.monotonic() - self._sent[0][0] if self._sent else 0.0

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
