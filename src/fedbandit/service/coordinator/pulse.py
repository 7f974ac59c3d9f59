"""Signs of life of an active coordinator, in a thread of its own: long work in the others does not delay them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Protocol, Self

from fedbandit.durable.journals.lease import BEAT, JournalLost


class Alive(Protocol):
    """What shows signs of life."""

    def beat(self) -> None:
        """Show one, or raise JournalLost."""


class Pulse:
    """Shows signs of life of all federations while a block runs; at the first one that is lost it says so and ends."""

    def __init__(self, hosts: Sequence[Alive], on_loss: Callable[[JournalLost], object]) -> None:
        """Take what is to be kept alive, and what is told, in the thread, of a loss."""
        self._hosts = hosts
        self._on_loss = on_loss
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="fedbandit-pulse", daemon=True)

    def beat(self) -> None:
        """Show a sign of life of each."""
        for host in self._hosts:
            host.beat()

    def __enter__(self) -> Self:
        """Begin, with a first sign of life."""
        self.beat()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End, before the journals are closed."""
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(BEAT):
            try:
                self.beat()
            except JournalLost as loss:
                self._on_loss(loss)
                return
