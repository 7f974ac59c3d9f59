"""What a coordinator makes of a frame."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


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
