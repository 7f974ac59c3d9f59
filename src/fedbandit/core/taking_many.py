"""What a server side can do that takes in uploads of several clients at once, as quickly as many come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds
from fedbandit.core.interfaces import Outgoing
from fedbandit.core.messages import Download, Upload


class LookedOver(NamedTuple):
    """What uploads tell that passed all checks, one row each."""

    observations: Ints
    excess: Floats  # as `Upload.excess` has it for each of them


@runtime_checkable
class TakesMany(Protocol):
    """A server side to which uploads can be handed together: all comes out as if they had come one after the other.

    It waits for no rounds. A sender may have several of the uploads. Signals, which tell of no numbers, never come
    here.
    """

    def look_over(self, state: Any, senders: Ints, message: Upload, bounds: Bounds) -> LookedOver | None:
        """Return what the uploads tell if `Upload.check` and `Server.check` would let each of them pass, in order.

        None says that each is to be looked at by itself.
        """

    def receive_some(
        self, state: Any, senders: Ints, message: Upload, first: int
    ) -> tuple[int, Sequence[Outgoing[Download]]]:
        """Take in uploads from the place `first` on, until one causes downloads; return how many, and the downloads.

        `look_over` has let them pass.
        """
