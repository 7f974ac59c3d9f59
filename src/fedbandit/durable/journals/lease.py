"""How a journal passes from one process to another that waits for it: at once when its holder ends, or when it is mute.

A process that ends lets go of its journal. One that hangs, is paused, or is cut off does not. So a holder that others
may wait for shows signs of life, a few each LEASE (`Journal.beat`). Whoever waits looks at them, and ends a holder that
has shown none for that long: in a database the session through which alone it can write, on one machine its process.
After that it can write nothing, whatever it thinks of itself; and since nothing leaves a coordinator before its journal
is synced, it can send nothing either. A holder that has never shown a sign of life is waited for until it ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import NamedTuple, Protocol

from fedbandit.core.errors import InvalidInput

LEASE = 2.5  # seconds without a sign of life after which a holder is ended
BEAT = 0.5  # seconds between two signs of life


class JournalTaken(InvalidInput):
    """Another process has the journal open."""


class JournalLost(InvalidInput):
    """The journal can be written to no more: another process has taken it over, or what it is stored in has gone."""


class Sign(NamedTuple):
    """What is seen of a holder: who it is, and its last sign of life, None if it shows none."""

    holder: int
    beat: Hashable


class Holder(Protocol):
    """Whoever has a journal open, as seen by one that waits for it."""

    def look(self) -> Sign | None:
        """Return what is seen of it; None if nobody has the journal open."""

    def end(self, holder: int) -> None:
        """Make sure that this holder can write no more."""

    def close(self) -> None:
        """Look no more."""


class Waiting:
    """One who waits for a journal.

    >>> times, signs = iter([0.0, 1.0, 2.0, 3.0, 3.5, 3.75]), iter([Sign(7, beat=1)] * 4 + [None])
    >>> class Mute:
    ...     def look(self):
    ...         return next(signs)
    ...     def end(self, holder):
    ...         print("holder", holder, "is ended")
    >>> waiting = Waiting(Mute(), clock=lambda: next(times))
    >>> [waiting.may_take() for _ in range(5)]
    holder 7 is ended
    [False, False, False, False, True]
    """

    def __init__(self, holder: Holder, clock: Callable[[], float] = time.monotonic) -> None:
        """Take what shows the holder, and a clock that never goes back."""
        self._holder = holder
        self._clock = clock
        self._last: Sign | None = None
        self._since = self._looked = clock()

    def may_take(self) -> bool:
        """Tell whether nobody has the journal open now; end a holder that has been mute for too long.

        To be asked several times in each LEASE: one who has not looked for a while cannot know how long a sign has been
        there (it may have been paused together with the holder), and begins to count anew.
        """
        now, sign = self._clock(), self._holder.look()
        is_watched = now - self._looked < LEASE / 2
        if sign is None or sign.beat is None or sign != self._last or not is_watched:
            self._last, self._since = sign, now
        elif now - self._since >= LEASE:
            self._holder.end(sign.holder)
            self._since = now  # it may take a moment to end, or not be ours to end
        self._looked = now
        return sign is None

    def close(self) -> None:
        """Look no more."""
        self._holder.close()


def waiting_for(url: str, name: str) -> Waiting:
    """Return one who waits for the journal of a name, as `open_journal` would open it."""
    if url.startswith(("postgresql://", "postgres://")):
        from fedbandit.durable.journals.postgres_lease import PostgresHolder  # only this back end needs its driver

        return Waiting(PostgresHolder(url, name))
    from fedbandit.durable.journals.file_lease import FileHolder

    return Waiting(FileHolder.in_folder(url, name))
