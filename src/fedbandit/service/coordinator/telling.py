"""What one federation tells of itself: its telemetry, what calls for attention, and lines in the log.

Whatever becomes of the telling, the service goes on.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from fedbandit.durable.coordinator.postbox import Leaving
from fedbandit.durable.coordinator.roster import Roster
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.service.coordinator.logs import RateLimiter
from fedbandit.service.coordinator.lookout import Lookout
from fedbandit.service.coordinator.settings import FederationPlan
from fedbandit.service.status.kept import note_of, recall
from fedbandit.service.status.members import called, show_members
from fedbandit.service.status.telemetry import Telemetry

log = logging.getLogger("fedbandit.coordinator")


class Telling:
    """Tells of one federation."""

    def __init__(self, plan: FederationPlan, server: DurableServer, now: float) -> None:
        """Begin with nothing told."""
        self._plan, self._server = plan, server
        self.telemetry = Telemetry(
            plan.name, plan.charter.algorithm.id, plan.charter.setting.clients, now,
            largest_reward=server.validation.limits.bounds.reward, concerns=server.concerns,
        )  # fmt: skip
        self._lookout = Lookout(self._called, self.telemetry.watch)
        self._sparing = RateLimiter()

    def recall(self, note: bytes | None) -> None:
        """Go on from what an earlier start has told."""
        with self.beside():
            if note and not recall(self.telemetry, note):
                log.info("%s: the status page begins anew: what was kept of it cannot be read", self._plan.name)

    def note(self) -> bytes:
        """Return what the next start is to go on from."""
        with self.beside():
            return note_of(self.telemetry)
        return b""

    @contextmanager
    def beside(self) -> Iterator[None]:
        """Do what only tells of the service; whatever becomes of it, the service goes on."""
        try:
            yield
        except Exception as error:  # noqa: BLE001
            with suppress(Exception):
                self.warn(None, f"the status page was not told of something ({error!r})")

    def look(self, roster: Roster | None) -> None:
        """Look at what calls for somebody's attention, and log what is new."""
        with self.beside():
            self._lookout.look(self._server.accounts.observations, time.time(), time.monotonic())
            self.telemetry.peers = self._server.peers()
            self.telemetry.revision = self._server.agreed.count
            self.telemetry.reports.largest_reward = self._server.validation.limits.bounds.reward
            if roster is not None:
                show_members(self.telemetry.sites, roster)

    def sent(self, frames: list[Leaving], now: float) -> None:
        """Tell of frames that have left."""
        for frame in frames:
            with self.beside():
                self.telemetry.sent(frame, now)

    def left_out(self, silent: list[int], now: float) -> None:
        """Tell of a round that a deadline has closed."""
        with self.beside():
            self.telemetry.left_out(silent, now)
            names = [self.telemetry.sites[each].name or each for each in silent]
            log.warning("%s: a round goes on without the sites %s", self._plan.name, names)

    def refused(self, site: int | None, message: str) -> None:
        """Tell of something that a site has sent and that is not taken in, or is noted."""
        with self.beside():
            self.warn(site, message)

    def warn(self, site: int | None, message: str) -> None:
        """Log what a site gives cause for, but no more than a line of a kind now and then."""
        told = self._sparing.admit(site, message, time.monotonic())
        if told is not None:
            log.warning("%s: %s", self._called(site), told)

    def _called(self, site: int | None) -> str:
        return called(self._plan.name, self.telemetry.sites, site)
