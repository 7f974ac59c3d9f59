"""Kernelised UCB and Thompson sampling, every client alone: baselines of FN-UCB's figure 4.

With the kernel k(x, x') = exp(-|x - x'|^2 / (2 length^2)) and K its matrix over the client's own observations:

    mean(x) = k(x)^T (K + ridge I)^-1 y,   deviation(x)^2 = 1 - k(x)^T (K + ridge I)^-1 k(x)
    kernel-ucb  argmax mean + width deviation
    kernel-ts   argmax of samples from N(mean, width^2 deviation^2), one for each arm

Valko et al. 2013; Chowdhury and Gopalan 2017. A turn costs the square of the number of observations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Never

import numpy as np

from fedbandit.algorithms.neural.shared.directions import directions_of
from fedbandit.algorithms.random_choice import SilentServer
from fedbandit.core.algorithm import Algorithm, Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.changes import Change
from fedbandit.core.former_names import formerly
from fedbandit.core.interfaces import Cadence, Federation, Outgoing, TurnByTurn
from fedbandit.core.messages import Upload
from fedbandit.core.parameters import parameter
from fedbandit.core.turns import Observations
from fedbandit.kernels.neural import kernel_regression as kernel

FIRST_ROOM = 64  # observations of a client that there is room for at first


@formerly("CohortState")
@dataclass
class KernelCohortState:
    """What the clients have observed."""

    rows: kernel.KernelRows


class KernelClients(TurnByTurn):
    """Clients that predict from what is near; with `draws` standard normals a turn they sample."""

    cadence = Cadence.TURN
    learns_from_choice = True

    def __init__(self, algorithm: KernelAlone, dimension: int, draws: int) -> None:
        """Take the parameters; `draws` is the number of arms for Thompson sampling, 0 for the upper bound."""
        self.algorithm = algorithm
        self.dimension = dimension
        self.draws = draws

    def start(self, clients: int) -> KernelCohortState:
        """Return a cohort that has seen nothing."""
        return KernelCohortState(kernel.empty_rows(clients, FIRST_ROOM, self.dimension))

    def choose(self, state: KernelCohortState, who: Ints, features: Floats, draws: Floats) -> Ints:
        """Return the arm of each client."""
        directions = directions_of(features, draws, self.draws)
        length, width = self.algorithm.length, self.algorithm.width
        return np.array(
            [
                kernel.choose(state.rows, client, features[place], length, width, directions[place])
                for place, client in enumerate(who.tolist())
            ],
            dtype=np.int64,
        )

    def learn(self, state: KernelCohortState, who: Ints, seen: Observations) -> Sequence[Outgoing[Upload]]:
        """Take in each client's reward; nothing is sent."""
        for place, client in enumerate(who.tolist()):
            count = state.rows.observed[client]
            if count >= self.algorithm.observations:
                continue
            if count == state.rows.past.shape[1]:
                state.rows = kernel.grown(state.rows)
            arm = np.ascontiguousarray(seen.features[place, seen.choice[place]], dtype=np.float64)
            reward = float(seen.feedback[place])
            kernel.observe(state.rows, client, arm, reward, self.algorithm.length, self.algorithm.ridge)
        return ()

    def receive(self, state: KernelCohortState, to: Ints, message: Never) -> Sequence[Outgoing[Upload]]:  # noqa: ARG002
        """Take in nothing: nobody sends anything."""
        return ()


@dataclass(frozen=True)
class KernelAlone(Algorithm):
    """The parameters of both."""

    samples: ClassVar[bool] = False

    ridge: float = parameter(1.0, "regularisation of the regression", symbol="lambda", above=0)
    width: float = parameter(
        0.1, "width of the confidence bound, or spread of the sample", symbol="nu", at_least=0, change=Change.AT_ONCE
    )
    length: float = parameter(1.0, "length scale of the kernel", above=0)
    observations: float = parameter(
        np.inf, "observations that a client learns from; later ones are not added", at_least=1, infinite=True
    )

    def build(self, setting: Setting) -> Federation:
        """Make both sides; the server never hears anything."""
        clients = KernelClients(self, setting.dimension, setting.arms if self.samples else 0)
        return Federation(clients, SilentServer())


@dataclass(frozen=True)
class KernelUCB(
    KernelAlone,
    id="kernel-ucb",
    title="every client alone: kernel regression with a confidence width (baseline)",
    paper="Valko et al. 2013, Finite-Time Analysis of Kernelised Contextual Bandits",
):
    """Kernelised UCB with a radial kernel."""


@dataclass(frozen=True)
class KernelTS(
    KernelAlone,
    id="kernel-ts",
    title="every client alone: Thompson sampling with kernel regression (baseline)",
    paper="Chowdhury and Gopalan 2017, On Kernelized Multi-armed Bandits",
):
    """Kernelised Thompson sampling with a radial kernel."""

    samples: ClassVar[bool] = True
