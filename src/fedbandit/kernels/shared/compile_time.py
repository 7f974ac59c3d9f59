"""How long compiling takes: kept apart from the time that work takes, and told to whoever waits for it."""

from __future__ import annotations

import sys
import threading
import time
from typing import ClassVar

from numba.core.event import Event, Listener

PATIENCE = 1.0  # seconds of compiling before somebody who waits is told why


class Stopwatch(threading.local, Listener):
    """Adds up, for each thread, the seconds from the start of a compilation to its end, those within it included."""

    _has_told: ClassVar[bool] = False

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
        """Note that something else was compiled, for so long: what numba does not know of."""
        self._finished += seconds
        self._tell()

    def on_start(self, event: Event) -> None:  # noqa: ARG002
        """Note that a kernel is being compiled, perhaps on behalf of another."""
        if self._depth == 0:
            self._began = time.perf_counter()
        self._depth += 1
        self._tell()

    def on_end(self, event: Event) -> None:  # noqa: ARG002
        """Note that a kernel is ready."""
        self._tell()
        self._depth -= 1
        if self._depth == 0:
            self._finished += time.perf_counter() - self._began

    def _tell(self) -> None:
        if self.seconds > PATIENCE and not self._has_told:
            Stopwatch._has_told = True
            print("fedbandit is compiling for this machine, which later starts need not.", file=sys.stderr, flush=True)
