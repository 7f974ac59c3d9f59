"""The server that remembers no client: sums, how many uploads are in them, and an answer to whoever asks.

Its state is O(d^2) whatever the number of clients. A client says itself what it knows: how many uploads are in it, and
log det(the copy last shared + ridge I). It is answered iff there is news, and that lag is more than its threshold or it
is a newcomer. With `Delivery.REPLY` every upload is answered.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fedbandit.algorithms.linear.shared import encoding
from fedbandit.algorithms.linear.shared.messages import Sums, Welcome
from fedbandit.algorithms.linear.shared.questions import Asks
from fedbandit.algorithms.linear.shared.summing_server import SummingServer
from fedbandit.algorithms.linear.shared.ways import Delivery, Way
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import SLACK, Bounds, check_invertible, check_not_ahead
from fedbandit.core.errors import ProtocolError
from fedbandit.core.interfaces import Outgoing
from fedbandit.core.messages import Download
from fedbandit.kernels.linear.ridge import factorise

_MOST_GROWTH = 500.0  # of the logarithm of an eigenvalue: more than numbers up to 1e100 can make


@dataclass
class SumsState:
    """The sums over all uploads, and how many there were."""

    gram: Floats  # V_g
    moment: Floats  # b_g
    version: int


class AnsweringServer(SummingServer[SumsState]):
    """Merges uploads, and answers."""

    def __init__(self, ridge: float, dimension: int, growths: Floats, way: Way) -> None:
        """Take the regularisation, and each client's growth of log det beyond which its question is answered."""
        super().__init__(ridge, dimension, way)
        self.growths = growths
        self.way = way
        self.least_level = dimension * math.log(ridge)

    def start(self, clients: int) -> SumsState:  # noqa: ARG002
        """Return sums over nothing."""
        return SumsState(np.zeros((self.dimension, self.dimension)), np.zeros(self.dimension), 0)

    def receive(self, state: SumsState, senders: Ints, message: Sums | Asks | Welcome) -> Sequence[Outgoing[Download]]:
        """Merge uploads; answer those who are to be answered."""
        answers: list[Outgoing[Download]] = []
        gram, moment = message.sums() if isinstance(message, Sums) else (None, None)
        for each, sender in enumerate(senders.tolist()):
            if gram is not None and moment is not None:
                state.gram += gram[each]
                state.moment += moment[each]
                state.version += 1
            if self._is_answered(state, sender, message, each):
                version = state.version if self.way.delivery.answers else None
                answer = encoding.download(self.precision, state.gram, state.moment, self.ridge, version)
                answers.append(Outgoing(senders[each : each + 1], answer))
        return answers

    def tell_anew(self, state: SumsState, to: Ints) -> Sequence[Outgoing[Download]]:
        """Send all that there is to clients, as if they had asked."""
        version = state.version if self.way.delivery.answers else None
        return [Outgoing(to, encoding.download(self.precision, state.gram, state.moment, self.ridge, version))]

    def _is_answered(self, state: SumsState, sender: int, message: Sums | Asks | Welcome, each: int) -> bool:
        if isinstance(message, Welcome):
            return state.version > 0
        if not isinstance(message, Asks):
            return self.way.delivery is Delivery.REPLY
        if state.version == message.includes[each]:  # it includes more where the coordinator has lost uploads
            return False
        log_det = factorise(state.gram, self.ridge, np.empty_like(state.gram))
        growth: float = self.growths[sender]
        return bool(growth == 0.0 or log_det - message.level_of(each, self.ridge) > growth)

    def check(
        self, state: SumsState, sender: int, message: Sums | Asks | Welcome, bounds: Bounds, observations: int  # noqa: ARG002
    ) -> None:  # fmt: skip
        """Refuse sums after which no client could invert V_g, and questions of clients that cannot be."""
        if isinstance(message, Sums):
            check_invertible(state.gram, message.sums()[0][0], self.ridge)
        if isinstance(message, Asks):
            check_not_ahead("includes", int(message.includes[0]), state.version)
            level = message.level_of(0, self.ridge)
            slack = SLACK * max(1.0, abs(self.least_level)) + self.dimension * self.rounding  # a copy came rounded
            least = self.least_level - slack
            if not least <= level <= least + self.dimension * _MOST_GROWTH:
                raise ProtocolError(
                    f"level is {level:g}: log det(V + ridge I) is at least d log ridge = {self.least_level:g}, "
                    f"and less than {_MOST_GROWTH:g} d above it"
                )
