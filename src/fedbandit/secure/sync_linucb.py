"""Sums of `sync-linucb` as they are aggregated: dV, of which the upper triangle is packed, and db."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

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
from fedbandit.secure.parts import WHO, Parts, SecureCohort, SecureServerState
from fedbandit.secure.rounding import Rounding
from fedbandit.secure.triangle import Triangle

SHARE = 2.0**-10  # c, by which squares of rewards may be larger than the limits say: see `check_sum`


@dataclass
class SecureLinearCohort(SecureCohort):
    """A site of `sync-linucb`."""

    within: LinearCohortState


@dataclass
class SecureSyncServerState(SecureServerState):
    """The coordinator of `sync-linucb`."""

    within: SyncServerState


class SyncParts(Parts):
    """What sites of `sync-linucb` contribute."""

    cohort_kind, server_kind = SecureLinearCohort, SecureSyncServerState
    waits_for_all = False  # the event of one calls all

    def __init__(self, algorithm: Algorithm, setting: Setting) -> None:
        """Take the parameters and the sizes; refuse rounded factors, which cannot be added up."""
        assert isinstance(algorithm, SyncLinUCB)
        if algorithm.precision != "float64":
            raise InvalidInput(
                f"precision={algorithm.precision!r} sends factors, which masks do not add up: leave it at 'float64' "
                "with secure_aggregation"
            )
        if algorithm.roster != "all":
            raise InvalidInput(
                f"roster={algorithm.roster!r} leaves out sites that may hold a share of a mask: leave it at 'all' with "
                "secure_aggregation"
            )
        self.triangle = Triangle(setting.dimension)
        self.words = self.triangle.words + setting.dimension

    def keep(self, side: Clients, cohort: SecureLinearCohort, upload: Upload) -> bool:
        """Put sums back into the buffer that they were taken from."""
        assert isinstance(upload, Statistics)
        self._add(side, cohort, upload)
        return True

    def take(self, side: Clients, cohort: SecureLinearCohort, question: Download | None) -> tuple[Floats, int]:  # noqa: ARG002
        """Call the client, which empties its buffer."""
        (outgoing,) = side.receive(cohort.within, WHO, Call(version=0))
        message = cast(Statistics, outgoing.message)
        packed = self.triangle.packed(message.gram[0])
        return np.concatenate([packed, message.moment[0]]), int(message.observations[0])

    def put_back(self, side: Clients, cohort: SecureLinearCohort, part: Floats, observations: int) -> None:
        """Add sums to what the client has yet to upload; what it knows includes them already."""
        self._add(side, cohort, self._sums(part, observations))

    def check_sum(
        self, side: Server, state: SecureSyncServerState, total: Floats, observations: Mapping[int, int], bounds: Bounds
    ) -> None:  # fmt: skip
        """Refuse sums that no observations within the bounds have, but for the rounding of each site's numbers.

        With a the sum of x y and e what it is off by, (a + e) (a + e)^T <= (1 + c) a a^T + (1 + 1 / c) e e^T for every
        c > 0: rewards may be sqrt(1 + c) times as large, and the matrix is lifted by the rest.
        """
        n, size = sum(observations.values()), self.triangle.size
        rounding, sums = Rounding(len(observations), n), self._sums(total, n)
        rest = (1.0 + 1.0 / SHARE) * size * rounding.error**2 / (n * bounds.reward**2)
        eased = rounding.eased(replace(bounds, reward=bounds.reward * math.sqrt(1.0 + SHARE)), size)
        eased = replace(eased, context=math.sqrt(eased.context**2 + size * rest / n))
        lifted = rounding.lifted(sums.gram[0]) + rest * np.eye(size)
        checked = replace(sums, gram=lifted[np.newaxis], moment=sums.moment)
        checked.check(eased)
        side.check(state.within, 0, checked, eased, 0)

    def merge(
        self, side: Server, state: SecureSyncServerState, total: Floats, observations: Mapping[int, int], empty: Ints
    ) -> Sequence[Outgoing[Download]]:
        """Let the sum be the upload of one site, and nothing that of all others that took part."""
        server, counted = cast(SyncServer, side), np.array(sorted(observations))
        server.receive(state.within, counted[:1], self._sums(total, sum(observations.values())))
        others, size = np.concatenate([counted[1:], empty]), self.triangle.size
        nothing = Statistics(
            np.zeros((len(others), size, size)), np.zeros((len(others), size)), np.zeros(len(others), dtype=np.int64)
        )
        outgoing = server.receive(state.within, others, nothing)
        return server.deadline(state.within) if state.within.attendance.is_open else outgoing

    def _sums(self, values: Floats, observations: int) -> Statistics:
        """Return sums as one client would send them."""
        gram = self.triangle.matrix(values[: self.triangle.words])
        return Statistics(gram[np.newaxis], values[np.newaxis, self.triangle.words :].copy(), np.array([observations]))

    def _add(self, side: Clients, cohort: SecureLinearCohort, sums: Statistics) -> None:
        linear, state = cast(LinearClients, side), cohort.within
        row = linear.settle(state, 0)
        rows = state.rows
        rows.new_gram[row] += sums.gram[0]
        rows.new_moment[row] += sums.moment[0]
        rows.fresh[row] += sums.observations[0]
        rows.telling[row] += linear.smallest  # so many tell at least: with fewer they would not have been uploaded
        linear.regrow(state, row, rows.gram[row] - rows.new_gram[row])
