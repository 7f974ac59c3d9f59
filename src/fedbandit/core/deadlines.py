"""What a server side that waits for several clients can do: when it has waited long enough, and with their sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from fedbandit.core.arrays import Ints
from fedbandit.core.bounds import Bounds
from fedbandit.core.interfaces import Outgoing
from fedbandit.core.messages import Download


@runtime_checkable
class MeetsDeadlines(Protocol):
    """A server side that waits for uploads of several clients, and can go on without some of them.

    Time is not its business: whoever runs it decides when it has waited long enough. A deadline closes the open round
    with those who have answered. Whoever was left out keeps its data until it uploads again; an answer that comes
    after the deadline is taken in like any upload and opens no new round; the state records who was left out.
    """

    def awaited(self, state: Any) -> Ints:
        """Return, in order, the clients whose uploads an open round lacks; nobody while no round is open."""

    def deadline(self, state: Any) -> Sequence[Outgoing[Download]]:
        """Close the open round with those who have answered, if any round is open; return what is now sent."""


class Waiting(NamedTuple):
    """A wait that no deadline ends."""

    number: int  # greater than those of all waits before
    name: str  # by which it is told of
    answered: list[int]  # clients that have answered, in order
    awaited: list[int]  # those that have not


class RefusedSums(NamedTuple):
    """Sums that no honest clients can have."""

    total: int  # how many there were so far
    reason: str  # why the last was refused


@runtime_checkable
class GivesUp(Protocol):
    """A server side that may wait for answers beyond every deadline, until an operator gives them up."""

    def waits_beyond(self, state: Any) -> Waiting | None:
        """Return which clients have not answered where no deadline goes on; None: it does not wait."""

    def abandon(self, state: Any) -> Sequence[Outgoing[Download]]:
        """Wait no longer; return what is now sent. What those who have answered contributed is lost."""


@runtime_checkable
class ChecksSums(Protocol):
    """A server side that is given sums over several clients, and checks them as one client's uploads are elsewhere.

    By which limits is a part of its state, so that whoever replays what happened comes to the same end.
    """

    def sum_limits(self, state: Any) -> Bounds:
        """Return the limits of arms and rewards."""

    def limit_sums(self, state: Any, limits: Bounds) -> None:
        """Go by other limits from now on."""

    def refused_sums(self, state: Any) -> RefusedSums:
        """Return what was not taken in."""
