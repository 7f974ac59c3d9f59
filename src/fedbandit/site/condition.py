"""How a site stands with its coordinator: one of a few states, and a sentence where something is wrong."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from enum import Enum
from typing import TypeAlias

log = logging.getLogger("fedbandit.site")


class SiteState(Enum):
    """Where a site stands. It decides and learns in all of these; what it has to send waits until it is connected."""

    OFFLINE = "offline"  # it talks to nobody: `connect` was not called, or the site is closed
    CONNECTING = "connecting"  # it has not heard from the coordinator since it tried to
    CONNECTED = "connected"  # the coordinator has answered
    REFUSED = "refused"  # the broker or the coordinator does not let it in, or not what it sends
    FAILING = "failing"  # something else is in the way, such as a full disk, here or at the broker; it tries again


Watcher: TypeAlias = Callable[[SiteState, str], None]


class Condition:
    """The present state and trouble of a site, logged once whenever they change.

    >>> condition = Condition()
    >>> condition.become(SiteState.REFUSED, "the certificate has expired")
    >>> condition.now
    (<SiteState.REFUSED: 'refused'>, 'the certificate has expired')
    """

    def __init__(self) -> None:
        """Begin offline."""
        self.now: tuple[SiteState, str] = SiteState.OFFLINE, ""  # both at once, so that any thread may read it
        self._watchers: list[Watcher] = []
        self._telling = threading.RLock()  # so that whoever watches hears of changes in their order

    def watch(self, watcher: Watcher) -> None:
        """Tell somebody how the site stands, now and whenever that changes."""
        with self._telling:
            self._watchers.append(watcher)
            _tell(watcher, *self.now)

    def become(self, state: SiteState, trouble: str = "", error: BaseException | None = None) -> None:
        """Note where the site stands, what is wrong, and the error behind it if it is one that nobody expected."""
        with self._telling:
            before, self.now = self.now, (state, trouble)
            if self.now == before:
                return
            if trouble:
                log.warning("%s: %s", state.value, trouble, exc_info=error)
            elif state is SiteState.CONNECTED:
                log.info("connected to the coordinator")
            for watcher in self._watchers:
                _tell(watcher, state, trouble)


def _tell(watcher: Watcher, state: SiteState, trouble: str) -> None:
    """Tell a part of the program; whatever it makes of that, the site goes on."""
    try:
        watcher(state, trouble)
    except Exception:
        log.exception("what the program does when the site's state changes has failed")
