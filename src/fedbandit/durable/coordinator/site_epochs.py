"""The epochs of one site, as a coordinator knows them: which it has begun, and digests of what it sent last in each.

Epochs rise with time. Only so many of a site are remembered, first those that were used last; what belongs to one that
is forgotten is refused, since nobody knows any more what was taken in of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fedbandit.core.arrays import Ints
from fedbandit.wire.digests import MOST_ASKED, mark_of

KEPT_EPOCHS = 256
KEPT_DIGESTS = 64  # of the last uploads of an epoch
WITH_DIGESTS = 4  # epochs


@dataclass
class Allowance:
    """How often something has happened lately. It is forgotten with time, so that nothing is too often for ever.

    >>> allowance = Allowance()
    >>> for _ in range(3):
    ...     allowance.spend(now=0.0, seconds=60.0)
    >>> allowance.spent(now=0.0, seconds=60.0), allowance.spent(now=90.0, seconds=60.0)
    (3.0, 1.5)
    """

    level: float = 0.0
    at: float = 0.0

    def spent(self, now: float, seconds: float) -> float:
        """Return how much is not forgotten, if one is in so many seconds."""
        return max(0.0, self.level - max(0.0, now - self.at) / seconds)

    def spend(self, now: float, seconds: float) -> None:
        """Note that it happened."""
        self.level, self.at = self.spent(now, seconds) + 1.0, now


@dataclass
class SiteEpochs:
    """What is remembered of one site.

    >>> epochs = SiteEpochs()
    >>> epochs.use(7)
    []
    >>> epochs.note(7, 1, b"sums", is_question=False)
    >>> epochs.has_other(7, 1, b"sums"), epochs.has_other(7, 1, b"others")
    (False, True)
    """

    known: dict[int, Ints | None] = field(
        default_factory=dict
    )  # numbers and digests by epoch, the last used at the end
    forgotten: int = -1  # the highest epoch that is remembered no more
    begun: Allowance = field(default_factory=Allowance)
    renewals: Allowance = field(default_factory=Allowance)  # of downloads, that this site has caused

    def use(self, epoch: int) -> list[int]:
        """Remember an epoch as the one that was used last; return those that are forgotten for it."""
        if epoch in self.known:
            if next(reversed(self.known)) != epoch:
                self.known[epoch] = self.known.pop(epoch)
            return []
        self.known[epoch] = None
        dropped = list(self.known)[: len(self.known) - KEPT_EPOCHS] if len(self.known) > KEPT_EPOCHS else []
        for each in dropped:
            del self.known[each]
            self.forgotten = max(self.forgotten, each)
        return dropped

    def note(self, epoch: int, number: int, body: bytes, *, is_question: bool) -> None:
        """Remember what an upload was like, in place of one long before it."""
        digests = self.known[epoch]
        if digests is None:
            digests = self.known[epoch] = np.zeros((2, KEPT_DIGESTS), dtype=np.int64)
            having = [each for each, some in self.known.items() if some is not None]
            for each in having[:-WITH_DIGESTS]:
                self.known[each] = None
        known = mark_of(body)
        digests[:, number % KEPT_DIGESTS] = number, ~known if is_question else known

    def has_other(self, epoch: int, number: int, body: bytes) -> bool:
        """Tell whether another upload is known to have had this number."""
        known, other = self.mark_of(epoch, number), mark_of(body)
        return known not in (None, other, ~other)

    def asked_before(self, epoch: int, number: int) -> list[int] | None:
        """Return the marks of the questions that came just before an upload; None if they are not remembered."""
        found: list[int] = []
        for each in range(number - 1, max(0, number - 1 - MOST_ASKED), -1):
            mark = self.mark_of(epoch, each)
            if mark is None:  # nothing came under this number, or it is long ago
                return None
            if mark >= 0:
                break
            found.insert(0, ~mark)
        return found

    def mark_of(self, epoch: int, number: int) -> int | None:
        """Return the mark of an upload, inverted if it was a question; None if it is not remembered."""
        digests = self.known.get(epoch)
        if digests is None or digests[0, number % KEPT_DIGESTS] != number:
            return None
        return int(digests[1, number % KEPT_DIGESTS])
