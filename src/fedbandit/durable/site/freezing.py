"""A site that can decide by a policy in place of what it has learnt, and remembers that it does."""

from __future__ import annotations

from fedbandit.durable.site.events import Froze
from fedbandit.durable.site.past import SiteWithPast


class FreezingSite(SiteWithPast):
    """A site that can be rolled back."""

    def freeze(self, state: bytes, taken: float) -> None:
        """Decide by a state from now on, taken at a time; without one, by what is learnt."""
        froze = Froze(state, taken)
        self.life.freeze(froze)
        self._append(froze)

    @property
    def frozen_at(self) -> float | None:
        """Return when the policy was taken by which the site decides; None if it decides by what it has learnt."""
        return self.life.frozen_at if self.life.is_frozen else None
