"""Who may use a site: one thread at a time, of the process that opened it, until it is closed."""

from __future__ import annotations

import os
import threading
from types import TracebackType

from fedbandit.core.errors import InvalidInput


class Guard:
    """A lock that a closed site and another process cannot pass.

    >>> guard = Guard()
    >>> guard.is_closed = True
    >>> with guard:
    ...     pass
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: the site is closed: open it again with fb.Site(...)
    """

    def __init__(self) -> None:
        """Let in the threads of this process."""
        self._process = os.getpid()
        self._lock = threading.Lock()
        self.is_closed = False

    def __enter__(self) -> None:
        """Wait for the site's turn with this thread, or say why it cannot be used."""
        if os.getpid() != self._process:
            raise self._foreign()
        self._lock.acquire()
        if self.is_closed:
            self._lock.release()
            raise InvalidInput("the site is closed: open it again with fb.Site(...)")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let the next thread in."""
        self._lock.release()

    def reading(self) -> threading.Lock:
        """Return the lock alone, for what may be done at a closed site too."""
        if os.getpid() != self._process:  # before the lock: a thread that is not here any more may have it
            raise self._foreign()
        return self._lock

    @property
    def is_foreign(self) -> bool:
        """Tell whether this process is not the one that opened the site."""
        return os.getpid() != self._process

    def _foreign(self) -> InvalidInput:
        return InvalidInput(
            f"the site belongs to process {self._process}, and this is process {os.getpid()}: open a site in each "
            "process, with a number and a store of its own, or let one process own the site"
        )
