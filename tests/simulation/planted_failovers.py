"""Bugs of a coordinator that was replaced while it was paused. Runs with failovers must see them."""

from __future__ import annotations

from contextlib import suppress

from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.journals.lease import JournalLost
from simulation.planted import Planted


class Unfenced(DurableServer):
    """It goes on though its journal is another's."""

    def make_safe(self, sealed):
        with suppress(JournalLost):
            super().make_safe(sealed)


PLANTED_FAILOVERS = [Planted(Unfenced)]
