"""Who may use a site: one thread at a time, of the process that opened it, until it is closed."""

from __future__ import annotations

import os
import threading
from typing import Self

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
        self.process = os.getpid()
        self.lock = threading.Lock()
        self.is_closed = False

    def __enter__(self) -> None:
        """Wait for this thread's turn, or say why the site cannot be used."""
        self.reading().acquire()
        if self.is_closed:
            self.lock.release()
            raise closed()

    def __exit__(self, *_: object) -> None:
        """Let the next thread in."""
        self.lock.release()

    def reading(self) -> threading.Lock:
        """Return the lock alone, for what may be done at a closed site too."""
        if os.getpid() != self.process:  # before the lock: a thread that is not here any more may have it
            raise self.foreign()
        return self.lock

    def foreign(self) -> InvalidInput:
        """Return what to tell a process that has not opened the site."""
        return InvalidInput(
            f"the site belongs to process {self.process}, and this is process {os.getpid()}: open a site in each "
            "process, with a number and a store of its own, or let one process own the site"
        )


def closed() -> InvalidInput:
    """Return what to tell who uses a site that is closed."""
    return InvalidInput("the site is closed: open it again with fb.Site(...)")


class ClosedByWith:
    """Something that is closed when the block of a `with` is left."""

    def close(self) -> None:
        """End it."""

    def __enter__(self) -> Self:
        """Return it; leaving the block closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()
