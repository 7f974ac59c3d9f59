"""Which uploads have been taken in, so that none is taken in twice."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fedbandit.core.arrays import Ints
from fedbandit.core.errors import ProtocolError
from fedbandit.protocol.sequence import advance


@dataclass
class Window:
    """The numbers of one client's epoch that are dealt with: all up to one, and some that came early.

    >>> window = Window()
    >>> [window.admit(number) for number in (2, 1, 2, 4)], window.up_to, window.top
    ([True, True, False, True], 2, 4)
    """

    up_to: int = 0
    early: set[int] = field(default_factory=set)

    @property
    def top(self) -> int:
        """Return the highest number that is dealt with."""
        return max(self.early, default=self.up_to)

    def has(self, number: int) -> bool:
        """Tell whether a number is dealt with."""
        return number <= self.up_to or number in self.early

    def admit(self, number: int) -> bool:
        """Note a number; return False if it was noted before."""
        if self.has(number):
            return False
        self.early.add(number)
        self._close_up()
        return True

    def settle(self, number: int) -> None:
        """Note that all numbers up to this one are dealt with."""
        self.up_to = max(self.up_to, number)
        self.early = {each for each in self.early if each > self.up_to}
        self._close_up()

    def _close_up(self) -> None:
        while self.up_to + 1 in self.early:
            self.up_to += 1
            self.early.remove(self.up_to)


@dataclass
class Seen:
    """The windows of all clients and epochs. Where everything comes in order, one array does for epoch 0.

    >>> seen = Seen.nothing(clients=2)
    >>> one = np.array([1])
    >>> [seen.admit(0, one, np.array([number])).size for number in (2, 1, 2, 3)]
    [1, 1, 0, 1]
    """

    in_order: Ints  # (clients,) epoch 0, of clients without a window
    windows: dict[tuple[int, int], Window]  # by client and epoch

    @classmethod
    def nothing(cls, clients: int) -> Seen:
        """Begin with nothing seen."""
        return cls(np.zeros(clients, dtype=np.int64), {})

    def admit(self, epoch: int, senders: Ints, sequence: Ints) -> Ints:
        """Return the places of the senders whose upload is new, and remember them."""
        if epoch == 0 and not self.windows and advance(self.in_order, senders, sequence):
            return np.arange(len(senders))
        for sender in senders.tolist():
            if not 0 <= sender < len(self.in_order):
                raise ProtocolError(f"an upload from client {sender}, but the roster has {len(self.in_order)} clients")
        pairs = zip(senders.tolist(), sequence.tolist(), strict=True)
        return np.flatnonzero([self.open(sender, epoch).admit(number) for sender, number in pairs])

    def look(self, client: int, epoch: int) -> Window:
        """Return a window to read; to change it, `open` it."""
        window = self.windows.get((client, epoch))
        return Window(int(self.in_order[client]) if epoch == 0 else 0) if window is None else window

    def open(self, client: int, epoch: int) -> Window:
        """Return a window to change."""
        window = self.windows[client, epoch] = self.look(client, epoch)
        return window
