"""Who has answered in a round, who was left out of one, and whose answer comes late."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedbandit.core.arrays import Bools, Ints


@dataclass
class Attendance:
    """A part of the state of a server that waits for all clients, but not for ever.

    >>> round_ = nobody_yet(clients=3)
    >>> round_.answer(np.array([0, 2]))
    >>> round_.is_open, round_.awaited()
    (True, array([1]))
    >>> round_.close()
    >>> round_.missed, round_.is_open
    (array([0, 1, 0]), False)

    What client 1 now sends answers the round that is over, and opens none:

    >>> round_.answer(np.array([1]))
    >>> round_.is_open
    False
    """

    answered: Bools  # (clients,) all false while no round is open
    late: Bools  # (clients,) owe an answer to a round that was closed without them
    missed: Ints  # (clients,) rounds that were closed without them

    @property
    def is_open(self) -> bool:
        """Tell whether anybody has answered since the last round was closed."""
        return bool(self.answered.any())

    @property
    def is_complete(self) -> bool:
        """Tell whether all have answered."""
        return bool(self.answered.all())

    def awaited(self) -> Ints:
        """Return, in order, who has not answered; nobody while no round is open."""
        return np.flatnonzero(~self.answered) if self.is_open else np.empty(0, dtype=np.int64)

    def answer(self, senders: Ints) -> None:
        """Note answers; where no round is open, a late one opens none."""
        if not self.is_open:
            late = self.late[senders]
            self.late[senders] = False
            senders = senders[~late]
        else:
            self.late[senders] = False
        self.answered[senders] = True

    def close(self) -> None:
        """End the round; who has not answered has missed it."""
        silent = ~self.answered
        self.late |= silent
        self.missed += silent
        self.answered[:] = False


def nobody_yet(clients: int) -> Attendance:
    """Return the attendance before anybody has answered."""
    return Attendance(
        np.zeros(clients, dtype=np.bool_), np.zeros(clients, dtype=np.bool_), np.zeros(clients, dtype=np.int64)
    )
