"""What a coordinator remembers of its sites, and all that its snapshot holds."""

from __future__ import annotations

from dataclasses import dataclass, field

from fedbandit.durable.postbox import Posted
from fedbandit.protocol.server import ServerMemory


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

    def heirs(self, client: int, epoch: int, first: int) -> list[int]:
        """Return the epochs of lives that went on from a backup whose next number was `first`, one after the other.

        >>> accounts = Accounts(closed={(0, 7): Closure(first=3, heir=8), (0, 8): Closure(first=1, heir=9)})
        >>> accounts.heirs(0, 7, first=3), accounts.heirs(0, 7, first=4)
        ([8, 9], [])
        """
        found: list[int] = []
        closure = self.closed.get((client, epoch))
        while closure is not None and closure.first == first:
            found.append(closure.heir)
            closure, first = self.closed.get((client, closure.heir)), 1
        return found

    def close(self, client: int, epoch: int, first: int, heir: int) -> None:
        """Refuse numbers from `first` on; what earlier heirs had from the same backup, the new one has."""
        for earlier in self.heirs(client, epoch, first):
            if earlier != heir:
                self.closed[client, earlier] = Closure(1, heir)
        before = self.closed.get((client, epoch))
        if before is None or first <= before.first:
            self.closed[client, epoch] = Closure(first, heir)


@dataclass
class CoordinatorMemory:
    """A snapshot of a coordinator."""

    charter: str
    node: ServerMemory
    accounts: Accounts
    latest: list[Posted]
