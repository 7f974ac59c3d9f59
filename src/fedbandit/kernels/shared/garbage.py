"""No garbage is looked for while kernels are compiled: a compiler makes many objects, of which most stay for long.

Every look goes through all of them and finds next to nothing, for an eighth of the time of a first run.
"""

from __future__ import annotations

import gc

from numba.core import event
from numba.core.event import Event, Listener


class Pause(Listener):
    """Turns the collector off from the start of a compilation to its end, those within it included.

    Numba lets one thread compile at a time, so one count is enough to know the outermost.
    """

    def __init__(self) -> None:
        """Begin with nothing that is being compiled."""
        self._depth = 0
        self._was_on = False

    def on_start(self, event: Event) -> None:  # noqa: ARG002
        """Turn the collector off, if it is on and this is the outermost kernel."""
        if self._depth == 0:
            self._was_on = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: Event) -> None:  # noqa: ARG002
        """Turn it on again after the outermost kernel, also if that could not be compiled."""
        self._depth -= 1
        if self._depth == 0 and self._was_on:
            gc.enable()


def pause_while_compiling() -> None:
    """Look for no garbage whenever numba compiles, from now on."""
    event.register("numba:compile", Pause())  # type: ignore[no-untyped-call]
