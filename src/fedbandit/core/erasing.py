"""What a server side can do whose clients tell of themselves alone: one can be taken out of what it knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from fedbandit.core.arrays import Ints
from fedbandit.core.interfaces import Outgoing
from fedbandit.core.messages import Download


@runtime_checkable
class TellsAnew(Protocol):
    """A server side that can go through all uploads but those of one client, and tell the others what comes out.

    What an upload tells does not depend on what its sender heard of the erased client, and counts whether the round for
    which it was sent ends or not. A download replaces all that its recipient was told before, also where there is less
    in it than there was.
    """

    def tell_anew(self, state: Any, to: Ints) -> Sequence[Outgoing[Download]]:
        """Return what tells clients all that there is, whatever they were told before."""


@runtime_checkable
class CountsOn(TellsAnew, Protocol):
    """One that numbers what it gives out, so that an answer that comes late is known: no number is given twice."""

    def numbered(self, state: Any) -> int:
        """Return the highest number that clients may have heard."""

    def count_on(self, state: Any, number: int) -> None:
        """Give out numbers above this one from now on."""
