"""Sums of `sync-linucb` as they are aggregated: dV, of which the upper triangle is packed, and db."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from fedbandit.algorithms.linear.shared.clients import LinearClients
from fedbandit.algorithms.linear.shared.cohort import LinearCohortState
from fedbandit.algorithms.linear.shared.messages import Statistics
from fedbandit.algorithms.linear.sync_linucb import Call, SyncLinUCB, SyncServer, SyncServerState
from fedbandit.core.algorithm import Algorithm, Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import InvalidInput
from fedbandit.core.interfaces import Clients, Outgoing, Server
from fedbandit.core.messages import Download, Upload
from fedbandit.secure.gathering import Gathering
from fedbandit.secure.member import Member
from fedbandit.secure.parts import SecureCohort, SecureServerState
from fedbandit.secure.ring import FRACTION


@dataclass
class SecureLinearCohort(SecureCohort):
    """A site of `sync-linucb`."""

    within: LinearCohortState


@dataclass
class SecureSyncServerState(SecureServerState):
    """The coordinator of `sync-linucb`."""

    within: SyncServerState


class SyncParts:
    """What sites of `sync-linucb` contribute."""

    def __init__(self, algorithm: Algorithm, setting: Setting) -> None:
        """Take the parameters and the sizes; refuse rounded factors, which cannot be added up."""
        assert isinstance(algorithm, SyncLinUCB)
        if algorithm.precision != "float64":
            raise InvalidInput(
                f"precision={algorithm.precision!r} sends factors, which masks do not add up: leave it at 'float64' "
                "with secure_aggregation"
            )
        self.size = setting.dimension
        self.upper = np.triu_indices(self.size)
        self.words = len(self.upper[0]) + self.size

    def call(self) -> Download:
        """Return the call of the algorithm."""
        return Call(version=0)

    def packed(self, message: Upload) -> tuple[Floats, int]:
        """Return dV and db of one client."""
        assert isinstance(message, Statistics)
        return np.concatenate([message.gram[0][self.upper], message.moment[0]]), int(message.observations[0])

    def unpacked(self, values: Floats, observations: int) -> Upload:
        """Return sums as one client would send them."""
        gram = np.zeros((self.size, self.size))
        triangle = len(self.upper[0])
        gram[self.upper] = values[:triangle]
        gram.T[self.upper] = values[:triangle]
        return Statistics(gram[np.newaxis], values[np.newaxis, triangle:].copy(), np.array([observations]))

    def put_back(self, side: Clients, state: LinearCohortState, upload: Upload) -> None:
        """Add sums to what the client has yet to upload; what it knows includes them already."""
        assert isinstance(upload, Statistics)
        linear = cast(LinearClients, side)
        row = linear.settle(state, 0)
        rows = state.rows
        rows.new_gram[row] += upload.gram[0]
        rows.new_moment[row] += upload.moment[0]
        rows.fresh[row] += upload.observations[0]
        rows.telling[row] += linear.smallest  # so many tell at least: with fewer they would not have been uploaded
        linear.regrow(state, row, rows.gram[row] - rows.new_gram[row])

    def check_sum(self, side: Server, state: SyncServerState, total: Upload, members: int) -> None:
        """Refuse sums that are not positive, but for the rounding of each site's numbers."""
        assert isinstance(total, Statistics)
        rounding = self.size * members * 0.5**FRACTION
        eased = replace(total, gram=total.gram + rounding * np.eye(self.size))
        eased.check(Bounds())
        side.check(state, 0, eased, Bounds(), 0)

    def merge(
        self, side: Server, state: SyncServerState, total: Upload, counted: Ints, empty: Ints
    ) -> Sequence[Outgoing[Download]]:
        """Let the sum be the upload of one site, and nothing that of all others that took part."""
        server = cast(SyncServer, side)
        server.receive(state, counted[:1], cast(Statistics, total))
        others = np.concatenate([counted[1:], empty])
        nothing = Statistics(
            np.zeros((len(others), self.size, self.size)),
            np.zeros((len(others), self.size)),
            np.zeros(len(others), dtype=np.int64),
        )
        outgoing = server.receive(state, others, nothing)
        return server.deadline(state) if state.attendance.is_open else outgoing

    def cohort(self, within: Any, member: Member) -> SecureCohort:
        """Return the state of a site."""
        return SecureLinearCohort(within, member)

    def server(self, within: Any, gathering: Gathering) -> SecureServerState:
        """Return the state of the coordinator."""
        return SecureSyncServerState(within, gathering)
