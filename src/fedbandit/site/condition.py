"""How a site stands with its coordinator: one of a few states, and a sentence where something is wrong."""

from __future__ import annotations

import logging
from enum import Enum

log = logging.getLogger("fedbandit.site")


class SiteState(Enum):
    """Where a site stands. It decides and learns in all of these; what it has to send waits until it is connected."""

    OFFLINE = "offline"  # it talks to nobody: `connect` was not called, or the site is closed
    CONNECTING = "connecting"  # it has not heard from the coordinator since it tried to
    CONNECTED = "connected"  # the coordinator has answered
    REFUSED = "refused"  # the broker or the coordinator does not let it in, or not what it sends
    FAILING = "failing"  # something else is in the way, such as a full disk, here or at the broker; it tries again


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

    def become(self, state: SiteState, trouble: str = "", error: BaseException | None = None) -> None:
        """Note where the site stands, what is wrong, and the error behind it if it is one that nobody expected."""
        before, self.now = self.now, (state, trouble)
        if self.now == before:
            return
        if trouble:
            log.warning("%s: %s", state.value, trouble, exc_info=error)
        elif state is SiteState.CONNECTED:
            log.info("connected to the coordinator")
