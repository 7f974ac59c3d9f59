"""What can happen to a site: the records of its journal. Replayed in order, they give the same site, bit for bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from fedbandit.core.arrays import Floats, Ints


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
class Chose:
    """A decision was made."""

    features: Floats
    draws: Floats
    choice: Ints


@dataclass
class Learnt:
    """A reward has come."""

    decision: str
    reward: float


@dataclass
class Heard:
    """A frame came from the coordinator."""

    frame: bytes


Event: TypeAlias = Opened | Checked | Chose | Learnt | Heard
EVENTS = (Opened, Checked, Chose, Learnt, Heard)
