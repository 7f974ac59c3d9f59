"""Estimates of `fedego-lasso` as they are aggregated: those of the last teamwork stage that a site has ended.

The coordinator learns their sum and whose they are, which gives the average (equation 5). How many turns a site has had
tells which stage it has ended: stage n ends with turn 2^n K q.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np

from fedbandit.algorithms.lasso.fedego_lasso import (
    AveragingServer,
    AveragingServerState,
    FedegoLasso,
    TeamworkEstimates,
)
from fedbandit.algorithms.lasso.shared.family import LassoCohortState
from fedbandit.core.algorithm import Algorithm, Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import ProtocolError
from fedbandit.core.interfaces import Clients, Outgoing, Server
from fedbandit.core.messages import Download, Upload
from fedbandit.secure.parts import Parts, SecureCohort, SecureServerState
from fedbandit.secure.rounding import Rounding


@dataclass
class SecureLassoCohort(SecureCohort):
    """A site of `fedego-lasso`, with the estimates that it has yet to contribute."""

    within: LassoCohortState
    estimates: Floats = field(default_factory=lambda: np.zeros(0))
    turns: int = 0  # after which they were made; 0: there are none


@dataclass
class SecureAveragingServerState(SecureServerState):
    """The coordinator of `fedego-lasso`."""

    within: AveragingServerState


class LassoParts(Parts):
    """What sites of `fedego-lasso` contribute."""

    cohort_kind, server_kind = SecureLassoCohort, SecureAveragingServerState
    waits_for_all = True  # each ends its stage by itself

    def __init__(self, algorithm: Algorithm, setting: Setting) -> None:
        """Take the parameters and the sizes."""
        assert isinstance(algorithm, FedegoLasso)
        self.shape = setting.arms, setting.dimension
        self.words = setting.arms * setting.dimension
        self.block = setting.arms * algorithm.unit  # K q

    def keep(self, side: Clients, cohort: SecureLassoCohort, upload: Upload) -> bool:
        """Keep the estimates of a stage that has ended, in place of those of an earlier one."""
        assert isinstance(upload, TeamworkEstimates)
        self.put_back(side, cohort, upload.estimates[0].ravel(), self.block << int(upload.stage[0]))
        return True

    def take(self, side: Clients, cohort: SecureLassoCohort, question: Download | None) -> tuple[Floats, int]:  # noqa: ARG002
        """Return the estimates, if there are any."""
        taken = cohort.estimates, cohort.turns
        cohort.estimates, cohort.turns = np.zeros(0), 0
        return taken

    def put_back(self, side: Clients, cohort: SecureLassoCohort, part: Floats, observations: int) -> None:  # noqa: ARG002
        """Keep estimates, unless there are later ones."""
        if observations > cohort.turns:
            cohort.estimates, cohort.turns = part.copy(), observations

    def check_sum(
        self, side: Server, state: SecureAveragingServerState, total: Floats, observations: Mapping[int, int],
        bounds: Bounds,
    ) -> None:  # fmt: skip
        """Refuse numbers of turns after which no stage ends, and averages that no estimates have."""
        for client, turns in observations.items():
            if turns % self.block or (turns // self.block).bit_count() != 1:
                raise ProtocolError(f"site {client} has had {turns} turns, after which no stage ends")
        off = cast(AveragingServer, side).penalty * self.shape[1] * Rounding(1, 1).error  # of what is compared with R^2
        eased = replace(bounds, reward=math.sqrt(bounds.reward**2 + off))
        side.check(state.within, 0, self._average(total, observations), eased, 0)

    def merge(
        self, side: Server, state: SecureAveragingServerState, total: Floats, observations: Mapping[int, int],
        empty: Ints,  # noqa: ARG002
    ) -> Sequence[Outgoing[Download]]:  # fmt: skip
        """Let each site that is counted have sent the average."""
        server = cast(AveragingServer, side)
        outgoing = server.receive(state.within, np.array(sorted(observations)), self._average(total, observations))
        return outgoing or server.deadline(state.within)

    def _average(self, total: Floats, observations: Mapping[int, int]) -> TeamworkEstimates:
        average = (total / len(observations)).reshape(self.shape)
        stages = [(observations[client] // self.block).bit_length() - 1 for client in sorted(observations)]
        return TeamworkEstimates(np.repeat(average[np.newaxis], len(stages), axis=0), np.array(stages))
