"""Sums of `sync-linucb` as they are aggregated: dV, of which the upper triangle is packed, and db."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

WHO = np.zeros(1, dtype=np.int64)


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

    waits_for_all = False  # the event of one calls all

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

    def keep(self, side: Clients, cohort: SecureLinearCohort, upload: Upload) -> None:
        """Put sums back into the buffer that they were taken from."""
        assert isinstance(upload, Statistics)
        self._add(side, cohort, upload)

    def take(self, side: Clients, cohort: SecureLinearCohort) -> tuple[Floats, int]:
        """Call the client, which empties its buffer."""
        (outgoing,) = side.receive(cohort.within, WHO, Call(version=0))
        message = cast(Statistics, outgoing.message)
        return np.concatenate([message.gram[0][self.upper], message.moment[0]]), int(message.observations[0])

    def put_back(self, side: Clients, cohort: SecureLinearCohort, part: Floats, observations: int) -> None:
        """Add sums to what the client has yet to upload; what it knows includes them already."""
        self._add(side, cohort, self._sums(part, observations))

    def check_sum(
        self, side: Server, state: SyncServerState, total: Floats, observations: Mapping[int, int]
    ) -> None:  # fmt: skip
        """Refuse sums that are not positive, but for the rounding of each site's numbers."""
        sums = self._sums(total, sum(observations.values()))
        rounding = self.size * len(observations) * 0.5**FRACTION
        eased = replace(sums, gram=sums.gram + rounding * np.eye(self.size))
        eased.check(Bounds())
        side.check(state, 0, eased, Bounds(), 0)

    def merge(
        self, side: Server, state: SyncServerState, total: Floats, observations: Mapping[int, int], empty: Ints
    ) -> Sequence[Outgoing[Download]]:
        """Let the sum be the upload of one site, and nothing that of all others that took part."""
        server, counted = cast(SyncServer, side), np.array(sorted(observations))
        server.receive(state, counted[:1], self._sums(total, sum(observations.values())))
        others = np.concatenate([counted[1:], empty])
        nothing = Statistics(
            np.zeros((len(others), self.size, self.size)),
            np.zeros((len(others), self.size)),
            np.zeros(len(others), dtype=np.int64),
        )
        outgoing = server.receive(state, others, nothing)
        return server.deadline(state) if state.attendance.is_open else outgoing

    def _sums(self, values: Floats, observations: int) -> Statistics:
        """Return sums as one client would send them."""
        gram = np.zeros((self.size, self.size))
        triangle = len(self.upper[0])
        gram[self.upper] = values[:triangle]
        gram.T[self.upper] = values[:triangle]
        return Statistics(gram[np.newaxis], values[np.newaxis, triangle:].copy(), np.array([observations]))

    def _add(self, side: Clients, cohort: SecureLinearCohort, sums: Statistics) -> None:
        linear, state = cast(LinearClients, side), cohort.within
        row = linear.settle(state, 0)
        rows = state.rows
        rows.new_gram[row] += sums.gram[0]
        rows.new_moment[row] += sums.moment[0]
        rows.fresh[row] += sums.observations[0]
        rows.telling[row] += linear.smallest  # so many tell at least: with fewer they would not have been uploaded
        linear.regrow(state, row, rows.gram[row] - rows.new_gram[row])

    def cohort(self, within: Any, member: Member) -> SecureCohort:
        """Return the state of a site."""
        return SecureLinearCohort(within, member)

    def server(self, within: Any, gathering: Gathering) -> SecureServerState:
        """Return the state of the coordinator."""
        return SecureSyncServerState(within, gathering)
