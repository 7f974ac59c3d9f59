"""What can happen to a site: the records of its journal. Replayed in order, they give the same site, bit for bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.drawn import Drawn, Identity
from fedbandit.core.turns import Chosen
from fedbandit.durable.site.decisions import Pending


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
    time: float = 0.0  # when it was made, in seconds since 1970
    row: bytes = b""  # what a log of decisions will say of it
    form: int = 0  # of the features: see `protocol.forms`

    def pending(self, learns_from_choice: bool, position: int = 0) -> Pending:  # noqa: ARG002
        """Return what is to be kept until the reward comes; this record, at a position, keeps more than that."""
        features, choice = self.features, self.choice
        if learns_from_choice:
            features, choice = Chosen.of(features, choice)
        return Pending(features, choice, self.expected, self.clock, self.time, self.row)


@dataclass
class Awaiting:
    """A decision had no reward when a snapshot was taken: what is kept of it until that comes."""

    decision: str
    features: Floats
    choice: Ints
    expected: Floats | None
    clock: int
    time: float
    row: bytes
    form: int = 0  # of the features: see `protocol.forms`

    @classmethod
    def of(cls, name: str, pending: Pending, form: int) -> Awaiting:
        """Return what is to be kept."""
        return cls(
            name, pending.features, pending.choice, pending.expected, pending.clock, pending.time, pending.row, form
        )  # fmt: skip

    def pending(self, learns_from_choice: bool, position: int) -> Pending:  # noqa: ARG002
        """Return the decision again; this record, at a position, keeps what it is learnt from."""
        return Pending(self.features, self.choice, self.expected, self.clock, self.time, self.row, position=position)


@dataclass
class Learnt:
    """A reward has come."""

    decision: str
    reward: float
    time: float = 0.0  # when, in seconds since 1970


@dataclass
class Ended:
    """A decision has ended without its reward: another is learnt in its place, or it is forgotten."""

    decision: str
    reward: float | None
    time: float


@dataclass
class Recalled:
    """A row of a log from before the site took part was learnt from."""

    source: str  # tells the log from others
    row: int  # from 0
    features: Floats
    choice: Ints
    reward: float
    clock: int  # the epoch in which it was decided, where the federation forgets


@dataclass
class Froze:
    """From now on the site decides by a policy in place of what it has learnt, or again by that."""

    state: bytes  # of the policy; without one, what is learnt decides
    taken: float = 0.0  # when, in seconds since 1970


@dataclass
class Logged:
    """The log of decisions has all that was closed before."""


@dataclass
class Heard:
    """A frame came from the coordinator."""

    frame: bytes

    def drawn(self, identity: Identity | None) -> Drawn | None:  # noqa: ARG002
        """Return what was drawn for the answer: nothing."""
        return None


@dataclass
class Drew:
    """A frame came from the coordinator, and random bytes were drawn for its answer."""

    frame: bytes
    secret: bytes
    statement: bytes  # that was signed: another one where a site begins anew
    vouched: bytes  # the signature, which would be another if it were made again

    @classmethod
    def of(cls, frame: bytes, drawn: Drawn) -> Drew:
        """Return what is to be remembered of an answer."""
        return cls(frame, drawn.secret, drawn.statement, drawn.vouched)

    def drawn(self, identity: Identity | None) -> Drawn | None:
        """Return what was drawn, and who signs another statement."""
        return Drawn(self.secret, self.statement, self.vouched, identity)


@dataclass
class Ticked:
    """An epoch has begun, at whose beginning what is older counts for less."""

    epoch: int


@dataclass
class Revised:
    """The coordinator has told of a later revision of the charter, which holds from here on."""

    charter: str


@dataclass
class Noised:
    """Noise was drawn for what the site releases next."""

    normals: Floats
    stream: int
    release: int  # from 1


Deed: TypeAlias = Chose | Awaiting | Learnt | Ended | Recalled | Froze | Logged | Ticked | Revised
Event: TypeAlias = Opened | Checked | Doubled | Heard | Drew | Noised | Deed
EVENTS = (
    Opened, Checked, Doubled, Chose, Awaiting, Learnt, Ended, Recalled, Froze, Logged, Heard, Drew, Ticked, Revised,
    Noised,
)  # fmt: skip
