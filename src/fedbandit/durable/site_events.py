"""What can happen to a site: the records of its journal. Replayed in order, they give the same site, bit for bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from fedbandit.core.arrays import Floats, Ints
from fedbandit.durable.decisions import Pending


@dataclass
class Opened:
    """The site was started."""

    charter: str
    number: int
    fresh: int  # a number that it never had before
    restored: bool  # the journal was known to be an old backup


@dataclass
class Checked:
    """The coordinator has confirmed that it has nothing of this site that the site does not know."""


@dataclass
class Doubled:
    """The coordinator has a number that this site has not given yet: another process goes on from a copy of the store.

    What was learnt before may be in the copy.
    """


@dataclass
class Chose:
    """A decision was made."""

    features: Floats
    draws: Floats
    choice: Ints
    expected: Floats | None = None  # its reward, if that is to be known when it comes
    clock: int = 0  # the epoch in which it was made, where the federation forgets

    def pending(self, position: int, reward: float | None = None) -> Pending:
        """Return the decision as one that awaits its reward, or to be learnt from; the record has this position."""
        return Pending(position, self.features, self.choice, reward, self.expected, self.clock)


@dataclass
class Learnt:
    """A reward has come."""

    decision: str
    reward: float


@dataclass
class Heard:
    """A frame came from the coordinator."""

    frame: bytes


@dataclass
class Ticked:
    """An epoch has begun, at whose beginning what is older counts for less."""

    epoch: int


Event: TypeAlias = Opened | Checked | Doubled | Chose | Learnt | Heard | Ticked
EVENTS = (Opened, Checked, Doubled, Chose, Learnt, Heard, Ticked)
