"""Faulty runs of federations in which many decisions end without their reward, and a default is learnt in its place."""

from __future__ import annotations

from dataclasses import dataclass

from fedbandit.durable.site.client import DurableClient
from fedbandit.simulation.faults.history import RewardedDecision
from fedbandit.simulation.faults.run import FaultyRun

EVERY = 3  # decisions, of which one is given up


@dataclass
class EndingRun(FaultyRun):
    """A run in which applications give up every third decision; the charter says what that counts as."""

    def tell(self, told: RewardedDecision) -> None:
        """Let an application tell a reward, or that none will come."""
        default = self.charter.ending.default_reward
        if default is not None and told.turn % EVERY == 0:
            told.reward = default
        super().tell(told)

    def told_to(self, node: DurableClient, told: RewardedDecision) -> bool:
        """Tell a site."""
        return node.give_up(told.decision) if told.turn % EVERY == 0 else super().told_to(node, told)
