"""Contributions of `fn-ucb-less` as they are aggregated: sums of phi phi^T and y phi, networks and inverses.

The coordinator makes the averages of networks and inverses from their sums and their number. A site without enough new
observations takes no part, where a plain one would repeat the network that it told last: averages are over those
who contribute. `fn-ucb` sends every client's inverse to every client, and `weight=theory` the least of their ratios:
neither follows from a sum, so both are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import jax.numpy as jnp
import numpy as np

from fedbandit.algorithms.neural.fn_ucb import FNUCBLess
from fedbandit.algorithms.neural.shared.cohort import NeuralCohortState
from fedbandit.algorithms.neural.shared.fn_ucb_clients import FNUCBClients
from fedbandit.algorithms.neural.shared.messages import Call, Contribution, SyncRequest
from fedbandit.algorithms.neural.shared.server import FNUCBServer, NeuralServerState
from fedbandit.algorithms.neural.shared.weights import weight_of
from fedbandit.core.algorithm import Algorithm, Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import InvalidInput
from fedbandit.core.interfaces import Clients, Outgoing, Server
from fedbandit.core.messages import Download, Upload
from fedbandit.kernels.neural import subspace
from fedbandit.kernels.neural.sums import doubly
from fedbandit.secure.parts import WHO, Parts, SecureCohort, SecureServerState
from fedbandit.secure.rounding import Rounding
from fedbandit.secure.triangle import Triangle


@dataclass
class SecureNeuralCohort(SecureCohort):
    """A site of `fn-ucb-less`."""

    within: NeuralCohortState


@dataclass
class SecureNeuralServerState(SecureServerState):
    """The coordinator of `fn-ucb-less`."""

    within: NeuralServerState


class NeuralParts(Parts):
    """What sites of `fn-ucb-less` contribute."""

    cohort_kind, server_kind = SecureNeuralCohort, SecureNeuralServerState
    waits_for_all = False  # the event of one calls all

    def __init__(self, algorithm: Algorithm, setting: Setting) -> None:
        """Take the parameters and the sizes; refuse a weight that is no sum."""
        assert isinstance(algorithm, FNUCBLess)
        if weight_of(algorithm.weight).needs_ratio:
            raise InvalidInput(
                f"weight={algorithm.weight!r} is the least of the sites' ratios, which masks do not add up: give "
                "ramp:ROUNDS or a number with secure_aggregation"
            )
        self.network = algorithm.learner(setting.dimension, algorithm.nu_pooled).rounds.network
        self.is_diagonal, size = algorithm.diagonal, self.network.parameters
        self.triangle = Triangle(size)
        matrix = size if self.is_diagonal else self.triangle.words
        self.ends = np.cumsum([matrix, size, size])  # of W_new, B_new and the network; the inverse is the rest
        self.words = 2 * (matrix + size)

    def keep(self, side: Clients, cohort: SecureNeuralCohort, upload: Upload) -> bool:  # noqa: ARG002
        """Ask for a round; observations are with the site until it is called."""
        assert isinstance(upload, SyncRequest)
        return True

    def take(self, side: Clients, cohort: SecureNeuralCohort, question: Download | None) -> tuple[Floats, int]:  # noqa: ARG002
        """Train and contribute, with enough new observations."""
        state, clients = cohort.within, cast(FNUCBClients, side)
        if not state.unsent[0] or state.telling[0] < clients.smallest:
            return np.zeros(0), 0
        (outgoing,) = side.receive(state, WHO, Call(version=0))
        message = cast(Contribution, outgoing.message)
        gram, inverse = (self._packed(np.asarray(each)[0]) for each in (message.gram, message.inverse))
        moment, weights = (np.asarray(each, dtype=np.float64)[0] for each in (message.moment, message.weights))
        return np.concatenate([gram, moment, weights, inverse]), int(message.observations[0])

    def put_back(self, side: Clients, cohort: SecureNeuralCohort, part: Floats, observations: int) -> None:
        """Add sums to those that have come since; what the site knows includes them already."""
        state, clients, network = cohort.within, cast(FNUCBClients, side), self.network
        packed, moment, _, _ = np.split(part, self.ends)
        gram = self._matrix(packed)
        diagonal = gram if self.is_diagonal else np.diagonal(gram)
        dtype = clients.rounds.device.dtype
        with clients.rounds.active():
            state.learnt = state.learnt._replace(
                moment=state.learnt.moment + subspace.read_vector(network, moment)[np.newaxis].astype(dtype),
                diagonal=state.learnt.diagonal + subspace.read_diagonal(network, diagonal)[np.newaxis].astype(dtype),
            )
        if not self.is_diagonal:
            new = state.new
            with doubly():
                more = jnp.asarray(subspace.read_matrix(network, gram)[np.newaxis])
                new.base = more if new.base is None else new.base + more
            if new.rows is None:
                with clients.rounds.active():
                    new.rows = jnp.zeros((1, 1, network.coordinates), dtype)
        state.unsent += observations
        state.telling += max(1, clients.smallest)  # so many tell at least: with fewer they would not have been taken

    def check_sum(
        self, side: Server, state: SecureNeuralServerState, total: Floats, observations: Mapping[int, int],
        bounds: Bounds,
    ) -> None:  # fmt: skip
        """Refuse what so many observations cannot give, but for the rounding of each site's numbers."""
        rounding = Rounding(len(observations), sum(observations.values()))
        message, eased = self._message(side, state, total, observations), rounding.eased(bounds, self.triangle.size)
        gram = np.asarray(message.gram[0], dtype=np.float64)
        lifted = np.diagonal(rounding.lifted(np.diag(gram))) if self.is_diagonal else rounding.lifted(gram)
        message = type(message)(**{**vars(message), "gram": lifted[np.newaxis].astype(message.gram.dtype)})
        message.check(eased)
        side.check(state.within, 0, message, eased, 0)

    def merge(
        self, side: Server, state: SecureNeuralServerState, total: Floats, observations: Mapping[int, int], empty: Ints
    ) -> Sequence[Outgoing[Download]]:
        """Let sums and averages be the contribution of one site, and all others have answered."""
        server, within, counted = cast(FNUCBServer, side), state.within, np.array(sorted(observations))
        server.receive(within, counted[:1], SyncRequest(np.array([within.version])))
        within.attendance.answer(np.concatenate([counted[1:], empty]))
        sent = server.receive(within, counted[:1], self._message(side, state, total, observations))
        return sent or server.deadline(within)

    def _message(
        self, side: Server, state: SecureNeuralServerState, total: Floats, observations: Mapping[int, int]
    ) -> Contribution:
        """Return sums, and averages in place of the network and the inverse, as one client would send them."""
        exchange, sites = cast(FNUCBServer, side).exchange, len(observations)
        gram, moment, weights, inverse = np.split(total, self.ends)

        def row(values: Floats) -> Floats:
            return np.asarray(values[np.newaxis], dtype=exchange.rounds.device.dtype)

        return exchange.format.contribution(
            gram=row(self._matrix(gram)),
            moment=row(moment),
            weights=row(weights / sites),
            ratio=row(np.zeros(())),  # which no weight but theory's looks at
            inverse=row(self._matrix(inverse) / sites),
            version=np.array([state.within.version]),
            observations=np.array([sum(observations.values())]),
        )

    def _packed(self, matrix: Floats) -> Floats:
        return np.asarray(matrix, dtype=np.float64) if self.is_diagonal else self.triangle.packed(matrix)

    def _matrix(self, words: Floats) -> Floats:
        return words.copy() if self.is_diagonal else self.triangle.matrix(words)
