"""Private-LinUCB: a federation in which each client's stream of observations is differentially private.

After Zhou and Chowdhury 2024 on Dubey and Pentland 2020: fixed batches, and each client noises its own sums. Whoever
sees all that a client ever sends (server, broker, all other clients together) learns (epsilon, privacy_delta) little of
any one of its observations, whatever the others do. Not protected are the numbers and times of turns and rewards, and
of one person with m turns mu is m times as large. The sums are those of `kernels.privacy.noised_sums`, the regression
that of `shared.private_model`; sensitivity, shift and width are derived there, not quoted from the papers.

Releases follow counts. With `schedule = rounds` a client whose observations since the last synchronisation reach
`batch` calls; every client that has observed something since then, and has a release left, makes its next, the others
repeat their last, and all are sent the sum: 2 N messages. With `own-count` a client releases after max(batch,
ceil(batch growth^k)) observations, k releases made, and is answered alone: 2 messages. A client that has made all
`releases` releases nothing more; it goes on to download. Before its first download a client chooses arm (its own
observations so far) mod K.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from fedbandit.algorithms.linear.shared.private_clients import PrivateClients
from fedbandit.algorithms.linear.shared.private_model import PrivateRegression
from fedbandit.algorithms.linear.shared.private_schedule import OWN_COUNT, ROUNDS, Schedule
from fedbandit.algorithms.linear.shared.private_servers import AnsweringPrivateServer, CallingPrivateServer
from fedbandit.core.algorithm import Algorithm, Setting
from fedbandit.core.errors import InvalidInput
from fedbandit.core.interfaces import Federation
from fedbandit.core.parameters import parameter
from fedbandit.kernels.privacy.noised_sums import NoisedSums

_REFUSED = {
    "perturbed": "needs the root of a matrix that noise can make indefinite",
    "auto": "would weigh the client's own residuals, which are not noised",
}


@dataclass(frozen=True)
class PrivateLinUCB(
    Algorithm,
    id="private-linucb",
    title="every client's observations are differentially private",
    paper="Zhou and Chowdhury 2024, On Differentially Private Federated Linear Contextual Bandits",
):
    """Private-LinUCB: clients share noised sums on a fixed schedule.

    >>> PrivateLinUCB(epsilon=1.0).build(Setting(clients=2, arms=3, dimension=5, horizon=10)).clients.noise_size
    20
    """

    hides_releases: ClassVar[bool] = True

    epsilon: float | None = parameter(
        None, "what anybody may learn of one observation; it has no default: give a number", symbol="epsilon", above=0
    )
    privacy_delta: float = parameter(
        1e-6, "probability that is left out of the promise", symbol="delta of the promise", above=0, below=1
    )
    releases: int = parameter(64, "that a client makes in all", symbol="B_max", at_least=1, at_most=65_536)
    batch: int = parameter(50, "observations of a client between its releases", at_least=1)
    growth: float = parameter(1.0, "own-count only: by which batches grow from release to release", at_least=1)
    schedule: str = parameter(
        ROUNDS, "one client's count calls all, or each acts by its own count", choices=(ROUNDS, OWN_COUNT)
    )
    mechanism: str = parameter(
        "toeplitz", "how noise is shared between releases: the square root, or the textbook's binary tree",
        choices=("toeplitz", "tree"),
    )  # fmt: skip
    context_bound: float = parameter(1.0, "length of the longest arm; a longer one is refused", symbol="L", above=0)
    reward_bound: float = parameter(1.0, "of rewards; those beyond are clipped", symbol="R", above=0)
    ridge: float = parameter(1.0, "regularisation of the regression", symbol="lambda", above=0)
    noise: float = parameter(0.1, "scale of the reward noise (sub-Gaussian)", symbol="sigma", at_least=0)
    delta: float = parameter(0.1, "probability that the confidence bound fails", symbol="delta", above=0, below=1)
    exploration: str = parameter("ucb", "how to explore: ucb, thompson, or igw with a number as greed")
    alpha: float | None = parameter(
        None, "a fixed width of the confidence bound; default: the theory's", symbol="alpha", at_least=0
    )
    greed: float | str = parameter(
        "auto", "igw only, and then a number: how much likelier a better arm is", symbol="gamma", general=True,
        at_least=0, word="auto",
    )  # fmt: skip

    def __post_init__(self) -> None:
        """Refuse what would break the promise, or do nothing."""
        super().__post_init__()
        if self.exploration not in ("ucb", "thompson", "igw"):
            why = f": it {_REFUSED[self.exploration]}" if self.exploration in _REFUSED else ""
            raise InvalidInput(
                f"exploration={self.exploration} is not for private-linucb{why}; take one of ucb, thompson, igw"
            )
        if self.exploration == "igw" and self.greed == "auto":
            raise InvalidInput(
                f"greed=auto is not for private-linucb: it {_REFUSED['auto']}; give a number, as in greed=30"
            )
        if self.schedule == ROUNDS and self.growth != 1.0:
            raise InvalidInput(
                f"growth={self.growth:g} does nothing with schedule=rounds, where one client's count calls all: give "
                "schedule=own-count, or leave it out"
            )

    def build(self, setting: Setting) -> Federation:
        """Make both sides."""
        if self.epsilon is None:
            raise InvalidInput(
                "epsilon has no default: give what anybody may learn of one observation, as in epsilon=1"
            )
        sums = NoisedSums(
            self.mechanism, self.releases, setting.dimension, epsilon=self.epsilon, delta=self.privacy_delta,
            context_bound=self.context_bound, reward_bound=self.reward_bound,
        )  # fmt: skip
        regression = PrivateRegression(
            self.ridge, self.noise, self.delta, self.alpha, sums.scale, setting.clients * self.releases
        )
        schedule = Schedule(self.schedule, self.batch, self.growth)
        greed = math.nan if self.greed == "auto" else float(self.greed)
        clients = PrivateClients(sums, regression, schedule, self.exploration, greed)
        server = AnsweringPrivateServer(sums) if self.schedule == OWN_COUNT else CallingPrivateServer(sums)
        return Federation(clients, server)
