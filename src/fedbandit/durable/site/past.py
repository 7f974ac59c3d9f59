"""A site that begins with a past: rows of a log from before it took part, each learnt from exactly once.

Every row that is learnt from is written to the journal with its number, so that a site that ends in the middle goes on
with the row after the last one that it has.
"""

from __future__ import annotations

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.durable.site.ending import EndingSite
from fedbandit.durable.site.events import Recalled
from fedbandit.files.amounts import counted


class SiteWithPast(EndingSite):
    """A site that can learn from decisions that it did not make."""

    def past_to_go(self, source: str, rows: int) -> range:
        """Return which rows of a past are to be learnt from; `source` tells one past from another."""
        known, done = self.life.past
        if known == source:
            return range(done, rows)
        if known:
            raise InvalidInput(
                f"the site has learnt from {done} rows of another log: give that one, or begin with another store"
            )
        if self.issued:
            raise InvalidInput(
                f"the site has made {counted(self.issued, 'decision')}: a past is taken in before the first: begin "
                "with another store"
            )
        return range(rows)

    def recall(self, source: str, row: int, features: Floats, choice: Ints, reward: float, epoch: int = 0) -> None:
        """Learn from a row of a past; `epoch` is the one in which it was decided, where the federation forgets."""
        recalled = Recalled(source, row, features, choice, reward, epoch)
        self.life.recalled(recalled)
        self._append(recalled)
