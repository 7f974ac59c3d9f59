"""Who takes part in a round, who has answered in it, who was left out of one, and whose answer comes late."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fedbandit.core.arrays import Bools, Ints


@dataclass
class Attendance:
    """A part of the state of a server that waits for all clients, but not for ever.

    A round is opened by its first answer, as here, or by the server.

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

    Where answers name the round that they are for, the server sees by itself which are late, and notes them not at all.
    """

    answered: Bools  # (clients,) all false while no round is open
    late: Bools  # (clients,) owe an answer to a round that went on without them
    missed: Ints  # (clients,) rounds that went on without them
    is_called: bool = False  # the server has opened the round: it is open though nobody may have answered
    roster: Bools = field(default_factory=lambda: np.ones(1, dtype=np.bool_))  # (clients or 1,) who takes part

    @property
    def is_open(self) -> bool:
        """Tell whether a round was opened, or anybody has answered, since the last one was closed."""
        return self.is_called or bool(self.answered.any())

    @property
    def everyone(self) -> Ints:
        """Return all clients, whether they take part or not."""
        return np.arange(len(self.answered))

    @property
    def silent(self) -> Bools:
        """Tell who takes part and has not answered."""
        return np.asarray(self.roster & ~self.answered)

    @property
    def is_complete(self) -> bool:
        """Tell whether all who take part have answered."""
        return not self.silent.any()

    def awaited(self) -> Ints:
        """Return, in order, who has not answered; nobody while no round is open."""
        return np.flatnonzero(self.silent) if self.is_open else np.empty(0, dtype=np.int64)

    def open(self) -> None:
        """Open a round, though nobody may have answered."""
        self.is_called = True

    def open_next(self) -> None:
        """End the round, if one is open, and open the next; who took no part takes none in that."""
        if self.is_open and not self.is_complete:
            self._miss()
        self.answered[:] = False
        self.open()

    def answer(self, senders: Ints) -> None:
        """Note answers; where no round is open, a late one opens none."""
        if not self.is_open:
            late = self.late[senders]
            self.late[senders] = False
            senders = senders[~late]
        else:
            self.late[senders] = False
        self.answered[senders] = True

    def dismiss_silent(self) -> None:
        """Let those who have not answered take no part in this round, nor in the next ones until one is closed."""
        self._miss()
        self.roster = np.asarray(self.roster & self.answered)

    def close(self) -> None:
        """End the round; who has not answered has missed it. All take part in the next one."""
        self._miss()
        self.is_called = False
        self.answered[:] = False
        self.roster = np.ones_like(self.answered)

    def _miss(self) -> None:
        silent = self.silent
        self.late |= silent
        self.missed += silent


def nobody_yet(clients: int) -> Attendance:
    """Return the attendance before anybody has answered."""
    return Attendance(
        answered=np.zeros(clients, dtype=np.bool_),
        late=np.zeros(clients, dtype=np.bool_),
        missed=np.zeros(clients, dtype=np.int64),
        roster=np.ones(clients, dtype=np.bool_),
    )
