"""How long starting takes: kept apart from the time that work takes; long compiling is told to whoever waits for it."""

from __future__ import annotations

import sys
import threading
import time
from typing import ClassVar

from numba.core.event import Event, Listener

PATIENCE = 1.0  # seconds of compiling before somebody who waits is told why


class Stopwatch(threading.local, Listener):
    """Adds up, for each thread, the seconds from the start of something to its end, those within it included."""

    def __init__(self) -> None:
        """Begin at nothing."""
        self._depth = 0
        self._began = 0.0
        self._finished = 0.0

    @property
    def seconds(self) -> float:
        """Return the seconds so far."""
        return self._finished + (time.perf_counter() - self._began if self._depth else 0.0)

    def add(self, seconds: float) -> None:
        """Note what took so long and told it afterwards; while the stopwatch runs it has counted that already."""
        if not self._depth:
            self._finished += seconds

    def on_start(self, event: Event | None = None) -> None:  # noqa: ARG002
        """Note that it begins, perhaps on behalf of another."""
        if self._depth == 0:
            self._began = time.perf_counter()
        self._depth += 1

    def on_end(self, event: Event | None = None) -> None:  # noqa: ARG002
        """Note that it is done."""
        self._depth -= 1
        if self._depth == 0:
            self._finished += time.perf_counter() - self._began


class Compiling(Stopwatch):
    """A stopwatch that tells, once in a process, why somebody has to wait."""

    _has_told: ClassVar[bool] = False

    def add(self, seconds: float) -> None:
        """Note that something else was compiled, for so long: what numba does not know of."""
        super().add(seconds)
        self._tell()

    def on_start(self, event: Event | None = None) -> None:
        """Note that a kernel is being compiled, perhaps on behalf of another."""
        super().on_start(event)
        self._tell()

    def on_end(self, event: Event | None = None) -> None:
        """Note that a kernel is ready."""
        self._tell()
        super().on_end(event)

    def _tell(self) -> None:
        if self.seconds > PATIENCE and not self._has_told:
            Compiling._has_told = True
            print("fedbandit is compiling for this machine, which later starts need not.", file=sys.stderr, flush=True)
