"""Both nodes of a simulated federation, and the wire between them: every message is carried at once and counted."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy, deepcopy
from dataclasses import dataclass, field

from fedbandit.core.interfaces import Federation
from fedbandit.protocol.client import ClientNode
from fedbandit.protocol.envelope import Envelope
from fedbandit.protocol.ledger import Ledger
from fedbandit.protocol.server import ServerNode
from fedbandit.simulation.release_noise import ReleaseNoise


@dataclass
class Wire:
    """Carries envelopes between a cohort and its server until none is left, and counts them."""

    clients: ClientNode
    server: ServerNode
    ledger: Ledger
    noise: ReleaseNoise = field(default_factory=lambda: ReleaseNoise(seed=0))

    def carry(self, envelopes: Iterable[Envelope]) -> None:
        """Deliver in the order of sending."""
        queue = list(envelopes)
        for envelope in queue:  # the list grows while it is read
            self.ledger.record(envelope)
            node = self.server if envelope.is_upload else self.clients
            queue.extend(node.receive(envelope))

    def copied(self, ledger: Ledger) -> Wire:
        """Return nodes that know the same and go on apart from these, with another ledger."""
        clients, server = copy(self.clients), copy(self.server)
        clients.state = deepcopy(clients.state)
        clients.sent, clients.received = clients.sent.copy(), clients.received.copy()
        server.recall(deepcopy(server.memory))
        return Wire(clients, server, ledger)


def begin(sides: Federation, clients: int, ledger: Ledger) -> Wire:
    """Return both nodes of a federation that has seen nothing."""
    return Wire(ClientNode(sides.clients, clients), ServerNode(sides.server, clients), ledger)
