"""What a run leaves behind, turn by turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.core.shortcuts import Exchanged
from fedbandit.protocol.ledger import Ledger


@dataclass(slots=True)
class Trace:
    """Per turn: who acted, what was chosen, what it earned, and what communication it caused."""

    client: Ints
    choice: Ints  # (turns,), or (turns, 2) for duels
    reward: Floats
    regret: Floats
    propensity: Floats  # how likely each choice was, before its lot was drawn; nan where that is not known
    messages: Ints
    scalars: Ints
    bytes: Ints
    ledger: Ledger
    rounds: int = 0  # turns (or ends of rounds) after which anything was exchanged

    @classmethod
    def empty(cls, turns: int) -> Trace:
        """Return a trace with room for so many turns."""
        try:
            whole = [np.zeros(turns, dtype=np.int64) for _ in range(5)]
            real = [np.zeros(turns) for _ in range(3)]
        except (MemoryError, OverflowError, ValueError):
            raise InvalidInput(f"turns={turns} do not fit into memory: run fewer turns") from None
        return cls(whole[0], whole[1], real[0], real[1], real[2], whole[2], whole[3], whole[4], Ledger())

    def book(self, turn: int | Ints, before: tuple[int, int, int], rounds: int = 1) -> None:
        """Note at a turn what the ledger has counted since `before`.

        Where several rounds were simulated at once, `turn` holds the last turn of each, and each gets an equal share.
        """
        ledger = self.ledger
        is_first = rounds > 1 or not self.messages[turn]
        self.messages[turn] += (ledger.messages - before[0]) // rounds
        self.scalars[turn] += (ledger.scalars - before[1]) // rounds
        self.bytes[turn] += (ledger.bytes - before[2]) // rounds
        self.rounds += rounds * (is_first and ledger.messages > before[0])

    def book_each(self, turns: slice, exchanged: Sequence[Exchanged]) -> None:
        """Count what turns have exchanged, and note it at each of them."""
        for message, times in exchanged:
            one = Ledger()
            one.record(message)
            for column, weight in zip((self.messages, self.scalars, self.bytes), one.totals, strict=True):
                column[turns] += weight * times
            self.ledger.record(message, int(times.sum()))
        self.rounds += int(np.count_nonzero(self.messages[turns]))
