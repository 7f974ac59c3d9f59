"""The simulation's shortcut (`core.shortcuts.TurnsShortcut`) for Clustered-LinUCB: turns and exchanges in one loop.

While groups are found, an upload is followed by downloads of as many different sums as it has recipients: carried as
messages, these take several times as long as all that is computed.

Choices, ledger, and what both sides know afterwards are those of the message path. A test compares them for every
parameter: `tests/algorithms/linear/test_sharing_shortcut.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fedbandit.algorithms.linear.shared.messages import Hello, Snapshot, Statistics
from fedbandit.core.arrays import Floats
from fedbandit.core.errors import InvalidInput
from fedbandit.core.interfaces import Outgoing
from fedbandit.core.shortcuts import Exchanged, SimulatedTurns
from fedbandit.core.turns import Rewards, Turns
from fedbandit.kernels.linear.ridge_rows import scratch_for
from fedbandit.kernels.linear.sharing import room_for
from fedbandit.kernels.linear.sharing_turns import SHARING, Sending, Served
from fedbandit.kernels.shared.rows import doubled

if TYPE_CHECKING:
    from fedbandit.algorithms.linear.clustered_linucb import (
        ClusteredClients,
        ClusteredCohortState,
        ClusteredServer,
        ClusteredServerState,
    )

ANYBODY = np.zeros(1, dtype=np.int64)


class SharingShortcut:
    """Plays turns of more than one client with all that they exchange."""

    def __init__(self, clients: ClusteredClients, server: ClusteredServer) -> None:
        """Take both sides."""
        self.clients = clients
        self.server = server

    def simulate_turns(
        self, clients: ClusteredCohortState, server: ClusteredServerState, turns: Turns, draws: Floats
    ) -> SimulatedTurns:
        """Play a block of turns."""
        if not isinstance(turns.outcomes, Rewards):
            raise InvalidInput("this algorithm learns from rewards, not from duels: choose another environment")
        side, choices = self.clients, np.empty(len(turns), dtype=np.int64)
        lots, scratch = side.room_for_lots(len(turns)), scratch_for(*turns.features.shape[1:])
        hellos, uploads, downloads = (np.zeros(len(turns), dtype=np.int64) for _ in range(3))
        self._give_each_a_slot(clients)
        served, turn = self._served(server), 0
        while turn < len(turns):
            side.settle(clients, int(turns.client[turn]))
            exchange = clients.exchange
            sending = Sending(exchange.lost, exchange.known, side.greets, hellos, uploads, downloads)
            turn = SHARING[side.rule.exploration](
                clients.row_of, clients.slot_of, clients.rows, clients.shared, side.scored_with(clients, lots),
                side.rule, side.smallest, side.thresholds, exchange.next_ask, turns.client, turns.features,
                turns.outcomes.payoff, draws, turn, choices, scratch, served, sending,
            )  # fmt: skip
        server.uploads, server.version = (int(each) for each in served.numbers)
        size, one = side.dimension, np.ones(1, dtype=np.int64)
        told = Statistics(np.zeros((1, size, size)), np.zeros((1, size)), one)
        exchanged = (
            Exchanged(Outgoing(ANYBODY, Hello()), hellos),
            Exchanged(Outgoing(ANYBODY, told), uploads),
            Exchanged(Outgoing(ANYBODY, Snapshot(told.gram[0], told.moment[0])), downloads),
        )
        return SimulatedTurns(choices, exchanged, lots and lots.propensity)

    def _served(self, state: ClusteredServerState) -> Served:
        side = self.server
        numbers = np.array([state.uploads, state.version])
        room = room_for(state.told, state.shared)
        return Served(
            state.told, state.verdicts, state.shared, numbers, side.ridge, side.rho, side.limit, side.margins, room
        )

    def _give_each_a_slot(self, state: ClusteredCohortState) -> None:
        """Let every download wait in the slot that has its client's number; take in those that wait elsewhere."""
        everybody = np.arange(len(state.slot_of))
        for client in everybody[(state.slot_of >= 0) & (state.slot_of != everybody)].tolist():
            self.clients.settle(state, client)
        while len(state.shared.users) < len(everybody):
            state.shared = doubled(state.shared)
