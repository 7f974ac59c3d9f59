"""Epochs of a simulation: where they end, and how both sides then forget.

Time is cut into epochs that are the same for all. They are an input, like the arms: those of a recorded file, or
`epoch_length` turns of the whole federation. In a simulation every message arrives in the epoch in which it was sent,
so it is enough to age all sums of both sides, by one factor, before the first turn of an epoch.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from fedbandit.core.algorithm import Algorithm
from fedbandit.core.arrays import Ints
from fedbandit.core.environment import Environment
from fedbandit.core.errors import InvalidInput
from fedbandit.core.turns import Turns
from fedbandit.protocol.client import ClientNode
from fedbandit.protocol.server import ServerNode


class Epochs:
    """Cuts blocks of turns where an epoch ends, and ages what both nodes know there."""

    def __init__(self, algorithm: Algorithm, environment: Environment) -> None:
        """Take what is run and where."""
        self._discount = algorithm.discount
        self._length = environment.epoch_length
        self._first: int | None = None

    def pieces(self, block: Turns, first: int, clients: ClientNode, server: ServerNode) -> Iterator[Turns]:
        """Yield the turns of a block, whose first has this number, epoch by epoch, after both nodes have aged."""
        if self._discount == 1.0:
            yield block
            return
        epoch = self._of(block, first)
        cuts = [0, *(np.flatnonzero(np.diff(epoch)) + 1).tolist(), len(block)]
        for start, end in pairwise(cuts):
            self._begin(int(epoch[start]), clients, server)
            yield block.take(slice(start, end))

    def _of(self, block: Turns, first: int) -> Ints:
        if block.epoch is not None:
            return block.epoch
        if not self._length:
            raise InvalidInput(
                f"discount={self._discount:g} forgets when epochs end, but this world has none: give it an "
                "epoch_length, or a recorded file with epoch"
            )
        return np.asarray((first + np.arange(len(block))) // self._length)

    def _begin(self, epoch: int, clients: ClientNode, server: ServerNode) -> None:
        self._first = epoch if self._first is None else self._first
        for node in (clients, server):
            node.tick(epoch - self._first)
