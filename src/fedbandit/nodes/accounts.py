"""What a coordinator remembers of its sites, and all that its snapshot holds."""

from __future__ import annotations

from dataclasses import dataclass, field

from fedbandit.nodes.postbox import Posted
from fedbandit.nodes.server import ServerMemory


@dataclass
class Closure:
    """An epoch from whose number `first` on all is refused, since the site goes on in the epoch `heir`."""

    first: int
    heir: int


@dataclass
class Accounts:
    """What a coordinator knows of its sites, apart from what the algorithm and the node know."""

    joined: dict[int, float] = field(default_factory=dict)  # time of the first upload
    observations: dict[int, int] = field(default_factory=dict)
    closed: dict[tuple[int, int], Closure] = field(default_factory=dict)  # by site and epoch


@dataclass
class CoordinatorMemory:
    """A snapshot of a coordinator."""

    charter: str
    node: ServerMemory
    accounts: Accounts
    latest: list[Posted]
