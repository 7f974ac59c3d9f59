"""What a coordinator makes of a frame."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from fedbandit.protocol.envelope import Envelope


class Outcome(Enum):
    """What became of a frame."""

    ACCEPTED = "accepted"
    REPEATED = "repeated"  # it was accepted before: nothing changes, but the site is told so again
    REFUSED = "refused"  # for good
    NOT_YET = "not yet"  # the site is to send it again later


class Verdict(NamedTuple):
    """What became of a frame, and what there is to say about it: always something if it was refused."""

    outcome: Outcome
    reason: str = ""


class Judged(NamedTuple):
    """What is to become of a frame."""

    verdict: Verdict
    is_news: bool = False  # it is to be written to the journal and taken in
    upload: Envelope | None = None
    observations: int = 0  # that it tells of
    new_epoch: int = 0  # of downloads, which is to be begun before


REPEATED = Judged(Verdict(Outcome.REPEATED))
ACCEPTED = Judged(Verdict(Outcome.ACCEPTED))
NEWS = Judged(Verdict(Outcome.ACCEPTED), is_news=True)
