"""`python -m benchmarks.welcomed_groups`: whether a welcome or half precision brings clients nearer to told groups.

A newcomer is alike with everybody, so its peers are all that have uploaded: their sums are what a welcome sends it. In
half precision sums travel as factors, as those of `lean-linucb` do. No parameter does either: this shows what it would
be worth. Those who are told the groups have one federation for each, with the same welcome and precision.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from rich.console import Console
from rich.table import Table

import fedbandit as fb
from fedbandit.algorithms.linear.clustered_linucb import (
    ClusteredClients,
    ClusteredLinUCB,
    ClusteredServer,
    ClusteredServerState,
)
from fedbandit.algorithms.linear.shared import encoding
from fedbandit.algorithms.linear.shared.messages import Hello, Sums, Welcome
from fedbandit.algorithms.linear.shared.ways import WAYS, Way
from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.interfaces import Federation, Outgoing
from fedbandit.core.messages import Download
from fedbandit.kernels.linear.peers import peers_of
from fedbandit.kernels.linear.sharing import room_for, share
from fedbandit.simulation.in_process import simulate

CLIENTS, GROUPS, TURNS, SEEDS = 40, 4, 20_000, range(10)
TRIALS = {
    "as it is": Way(WAYS["async-linucb"].delivery),
    "welcome": replace(WAYS["async-linucb"], welcome=True),
    "float16": replace(WAYS["async-linucb"], precision="float16"),
    "both": replace(WAYS["async-linucb"], welcome=True, precision="float16"),
}


class TrialServer(ClusteredServer):
    """A server of clustered-linucb that welcomes newcomers, and sends in some precision."""

    way: Way

    def receive(
        self, state: ClusteredServerState, senders: Ints, message: Sums | Hello | Welcome
    ) -> list[Outgoing[Download]]:
        """Meet and welcome the senders, or take in what they upload."""
        if isinstance(message, Sums):
            gram, moment = message.sums()
            pairs = enumerate(senders.tolist())
            return [sent for each, one in pairs for sent in self._take_in(state, one, gram[each], moment[each])]
        state.shared.met[senders] = True
        if isinstance(message, Hello) or not state.uploads:
            return []
        return [self._welcome(state, np.array([sender])) for sender in senders.tolist()]

    def _welcome(self, state: ClusteredServerState, client: Ints) -> Outgoing[Download]:
        assert (peers_of(state.verdicts, client)[0] == state.verdicts.heard).all()
        room = room_for(state.told, state.shared)
        room.found[0] = client[0]
        share(state.told, state.verdicts, state.shared, state.uploads, self.ridge, room, 1)
        return self._send(state, client, room.moments[client[0]])

    def _send(self, state: ClusteredServerState, clients: Ints, moment: Floats) -> Outgoing[Download]:
        state.version += 1
        gram = state.shared.gram[clients[0]]
        return Outgoing(clients, encoding.download(self.way.precision, gram, moment, self.ridge, None))


class Trial:
    """An algorithm like clustered-linucb, but for one way of the family's table."""

    def __init__(self, way: Way, test_level: float) -> None:
        """Take the way, and the level of the test."""
        self._algorithm = ClusteredLinUCB(test_level=test_level)
        self._way = way

    def __getattr__(self, name: str) -> object:
        """Be clustered-linucb in all else."""
        return getattr(self._algorithm, name)

    def federation(self, setting: Setting) -> Federation:
        """Make both sides."""
        clients, server, _ = self._algorithm.federation(setting)
        assert isinstance(clients, ClusteredClients)
        assert isinstance(server, ClusteredServer)
        greets = clients.greets & (not self._way.welcome)
        ours = ClusteredClients(clients.rule, setting.dimension, clients.thresholds, self._way, greets)
        server.__class__, server.way, server.kinds = TrialServer, self._way, self._way.uploads  # type: ignore[attr-defined]
        return Federation(ours, server)


def measure(way: Way, groups: int, clients: int, test_level: float) -> tuple[Floats, float]:
    """Return the regret of each seed, and the mean number of megabytes."""
    world = fb.environment("grouped", clients=clients, groups=groups, arms=10, dimension=10, source="sphere")
    turns = TURNS * clients // CLIENTS
    traces = [simulate(Trial(way, test_level), world, turns, seed)[0] for seed in SEEDS]  # type: ignore[arg-type]
    return np.array([trace.regret.sum() for trace in traces]), float(
        np.mean([trace.ledger.bytes for trace in traces])
    ) / 1e6


def main() -> None:
    """Print regret with its standard error, bytes, and the distance to told groups."""
    table = Table("", "regret", "MB", "told the groups", "times told")
    for name, way in TRIALS.items():
        found, size = measure(way, GROUPS, CLIENTS, 0.1)
        told = GROUPS * measure(way, 1, CLIENTS // GROUPS, 0.0)[0]
        error = found.std(ddof=1) / np.sqrt(len(found))
        ratio = found.mean() / told.mean()
        table.add_row(name, f"{found.mean():.1f} ± {error:.1f}", f"{size:.2f}", f"{told.mean():.1f}", f"{ratio:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
