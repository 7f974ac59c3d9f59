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

    What an upload tells does not depend on what its sender heard of the one, and counts whether the round for which it
    was sent ends or not. A download replaces all that its recipient was told before, also where there is less in it
    than there was.
    """

    def tell_anew(self, state: Any, to: Ints) -> Sequence[Outgoing[Download]]:
        """Return what tells clients all that there is, whatever they were told before."""
