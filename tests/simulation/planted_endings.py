"""Bugs that a site whose decisions end can have. Each is a node with one thing wrong; runs with endings must see it."""

from __future__ import annotations

import copy

from fedbandit.durable.site.client import DurableClient
from fedbandit.durable.site.events import Awaiting, Ended
from simulation.planted import Planted


class EndingNotInTheStore(DurableClient):
    def _append(self, event, *, keep=False):
        return 0 if isinstance(event, Ended) else super()._append(event, keep=keep)


class GivenUpAndStillPending(DurableClient):
    def give_up(self, decision, now=0.0):
        pending = copy.copy(self.life.decisions.pending.get(decision))
        is_new = super().give_up(decision, now)
        if is_new:
            self.life.decisions.pending[decision] = pending
        return is_new


class GivenUpForgottenThoughThereIsADefault(DurableClient):
    def _repeat(self, life, event, position):
        super()._repeat(life, Ended(event.decision, None, event.time) if isinstance(event, Ended) else event, position)


class PendingDecisionsNotKept(DurableClient):
    def _append(self, event, *, keep=False):
        return super()._append(event, keep=keep and not isinstance(event, Awaiting))


class KeptDecisionsChangePlaces(DurableClient):
    """Two decisions that a snapshot keeps are learnt from what the other chose."""

    def _recall(self, life, *more):
        super()._recall(life, *more)
        waiting = [each for each in life.decisions.pending.values() if each.reward is None]
        if len(waiting) > 1:
            one, other = waiting[:2]
            one.features, other.features = other.features, one.features


PLANTED_ENDINGS = [
    Planted(EndingNotInTheStore),
    Planted(GivenUpAndStillPending),
    Planted(GivenUpForgottenThoughThereIsADefault),
    Planted(PendingDecisionsNotKept, seed=4),
    Planted(KeptDecisionsChangePlaces, seed=35),
]
