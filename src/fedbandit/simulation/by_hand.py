"""Stepping by hand: one client, or the server, of any algorithm, with envelopes that you carry yourself.

>>> import numpy as np
>>> client = Client("async-linucb", dimension=2, clients=3, number=1)
>>> server = Server("async-linucb", dimension=2, clients=3)
>>> for question in client.ask():
...     for answer in server.receive(question):
...         client.receive(answer)
>>> client.choose(np.array([[1.0, 0.0], [0.0, 1.0]]))
0
>>> for envelope in client.learn(reward=0.5):
...     for answer in server.receive(envelope):
...         client.receive(answer)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fedbandit.core.algorithm import Algorithm, Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.core.randomness import ClientStreams
from fedbandit.core.turns import Observations
from fedbandit.durable.checked_input import InputCheck
from fedbandit.protocol.chosen_algorithm import algorithm_of
from fedbandit.protocol.client import ClientNode
from fedbandit.protocol.envelope import Envelope
from fedbandit.protocol.server import ServerNode
from fedbandit.simulation.release_noise import ReleaseNoise


class Client:
    """One client of a federation: ask, choose, learn, and carry what it sends to the server."""

    def __init__(
        self,
        algorithm: str | Algorithm,
        *,
        dimension: int,
        clients: int = 1,
        number: int = 0,
        horizon: int = 1,
        arms: int = 1,
        seed: int = 0,
        **parameters: Any,
    ) -> None:
        """Start client `number` of `clients`, with an algorithm by name and parameters, or as an object.

        `arms` and `horizon` matter only to the algorithms whose formulas name them.
        """
        setting = Setting(clients, arms, dimension, horizon)
        if number not in range(clients):
            raise InvalidInput(
                f"number must be from 0 to {clients - 1} with clients={clients}, not {number}: give one of these"
            )
        if not isinstance(seed, int) or seed < 0:
            raise InvalidInput(f"seed must be a whole number of at least 0, not {seed!r}: give one")
        self.algorithm = algorithm_of(algorithm, parameters, clients)
        sides = self.algorithm.for_client(number).federation(setting)
        self.dimension = dimension
        self._check = InputCheck(self.algorithm, dimension)
        self.number = number
        self.node = ClientNode(sides.clients, 1, first=number)
        self._who = np.zeros(1, dtype=np.int64)
        self._streams = ClientStreams(seed)
        self._noise = ReleaseNoise(seed)
        self._none = np.empty((1, 0))
        self._offer: Floats | None = None
        self._choice: Ints = self._who
        self._expected: Floats | None = None
        self._chosen_at = 0  # the epoch of the choice

    def tick(self, epoch: int) -> None:
        """Start epoch number `epoch`. With a discount, older observations then count for less."""
        self.node.tick(epoch)

    def ask(self) -> list[Envelope]:
        """Return what the client asks the server before it chooses; most algorithms ask nothing."""
        return self.node.ask(self._who)

    def choose(self, arms: Any) -> int | tuple[int, int]:
        """Return the index of the arm to play (of two arms, for duels).

        `arms` is (K, d), one row an arm; a context (d,) for the algorithms whose arms share one.
        """
        offer = self._check.offer(arms)
        draws = self.node.side.draws
        normals = self._streams.normals(self._who + self.number, draws) if draws else self._none
        choice, _, expected = self.node.decide(self._who, offer, normals)
        self._offer, self._choice, self._expected = offer, choice, expected
        self._chosen_at = self.node.clock or 0
        return int(choice[0]) if choice.ndim == 1 else (int(choice[0, 0]), int(choice[0, 1]))

    def learn(self, reward: float) -> list[Envelope]:
        """Take in the reward of the last choice (for duels: 1 if the first arm won, else 0).

        Returns what is to be carried to the server; often nothing.
        """
        if self._offer is None:
            raise InvalidInput(f"learn({reward!r}) without a choice before it: call choose first")
        feedback = self._check.reward(reward)
        weight = np.array([self.node.weight_of(self._chosen_at)])
        seen = Observations(self._offer, self._choice, np.array([feedback]), self._expected, weight)
        self._offer = None
        self._noise.supply(self.node)
        return self.node.learn(self._who, seen)

    def receive(self, envelope: Envelope) -> list[Envelope]:
        """Take in a download; return the answers, if it asks for any. One that came before changes nothing."""
        if self.number not in envelope.clients:
            return []
        mine = envelope.only(np.flatnonzero(envelope.clients == self.number))
        self._noise.supply(self.node)
        return self.node.receive(mine)


class Server:
    """The server of a federation: receives uploads, returns downloads."""

    def __init__(
        self,
        algorithm: str | Algorithm,
        *,
        dimension: int,
        clients: int,
        horizon: int = 1,
        arms: int = 1,
        **parameters: Any,
    ) -> None:
        """Start the server for a roster of clients."""
        setting = Setting(clients, arms, dimension, horizon)
        chosen = algorithm_of(algorithm, parameters, clients)
        self.node = ServerNode(chosen.federation(setting).server, clients)

    def tick(self, epoch: int) -> None:
        """Start epoch number `epoch`. With a discount, older uploads then count for less."""
        self.node.tick(epoch)

    def receive(self, envelope: Envelope) -> list[Envelope]:
        """Take in an upload, once; return what is to be carried to clients (each names its recipients)."""
        return self.node.receive(envelope)
