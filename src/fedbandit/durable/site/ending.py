"""Decisions of a site that end without their reward: after a time that the federation has agreed on, or given up.

What is learnt in place of the reward, if anything, is written to the journal, so that a site that goes on from it has
ended the same decisions, whatever the clock shows then.
"""

from __future__ import annotations

from fedbandit.durable.site.events import Ended
from fedbandit.durable.site.journalled import JournalledSite
from fedbandit.protocol.ending import Ending


class EndingSite(JournalledSite):
    """A site that does not wait for ever."""

    _next_end = 0.0  # before this time, in seconds since 1970, no decision ends

    @property
    def ending(self) -> Ending:
        """Return how decisions end: as the federation says, else as whoever opened the site says."""
        agreed = self.charter.ending
        is_said = agreed.expires is not None or agreed.default_reward is not None
        return agreed if is_said else self._given.ending

    def settle(self, now: float) -> None:
        """End the decisions that have waited for their reward as long as was agreed on."""
        expires = self.ending.expires
        if expires is None or now < self._next_end:
            return
        self._next_end = now + expires
        ended = []
        for name, pending in self.life.decisions.pending.items():  # in the order in which they were made
            if pending.reward is not None:  # it has come, and waits for a round to end
                continue
            pending.time = pending.time or now  # before 0.2 nobody wrote down when: it waits from now on
            if pending.time + expires > now:
                self._next_end = pending.time + expires
                break
            ended.append(name)
        for name in ended:
            self.give_up(name, now)

    def give_up(self, decision: str, now: float = 0.0) -> bool:
        """End a decision; return False if its reward has come before, or it has ended, which changes nothing."""
        pending = self.life.decisions.awaiting(decision)
        if pending is None:
            return False
        reward = self.ending.default_reward
        self.life.end(decision, pending, reward, now)
        self._append(Ended(decision, reward, now))
        return True
