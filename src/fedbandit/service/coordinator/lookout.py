"""Looks now and then at what calls for attention in one federation, and logs each such thing once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from fedbandit.service.coordinator.logs import RateLimiter
from fedbandit.service.status.severity import is_grave
from fedbandit.service.status.watch import Watch

log = logging.getLogger("fedbandit.coordinator")


class Lookout:
    """Logs a concern when it is raised and when it is over; one that comes and goes all the time, now and then.

    `elapsed` is of a clock that never goes back, `now` the time of day.
    """

    def __init__(self, name: Callable[[int | None], str], watch: Watch) -> None:
        """Take what names the federation, or one of its sites, and what watches over it."""
        self._name = name
        self._watch = watch
        self._limiter = RateLimiter()

    def look(self, observations: Mapping[int, int], now: float, elapsed: float) -> None:
        """Look at how many observations each site has made, and log what is new."""
        self._watch.look(observations, now)
        for concern, is_over in self._watch.changes():
            said = self._limiter.admit(concern.site, f"over: {concern.text}" if is_over else concern.text, elapsed)
            level = logging.INFO if is_over else logging.ERROR if is_grave(concern) else logging.WARNING
            if said is not None:
                log.log(level, "%s: %s", self._name(concern.site), said)
