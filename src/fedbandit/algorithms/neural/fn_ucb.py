"""FN-UCB: Dai, Shu, Verma, Fan, Low and Jaillet, "Federated Neural Bandits", ICLR 2023.

Algorithms 1 and 2. With phi(x) = g(x; theta_0) / sqrt(m) a client chooses the arm with the largest
(1 - alpha) UCB^a + alpha UCB^b, where

    UCB^a  = phi . V-bar^-1 (B_sync + B_new) + nu_pooled sqrt(ridge) |phi| in the norm of V-bar^-1,
             V-bar = ridge I + W_sync + W_new             (linear, from everyone's observations)
    UCB^b  = f(x; theta_sync) + nu_local sqrt(ridge) mean_j |phi| in the norm of V_j^-1
                                                          (the averaged network; `fn-ucb`)
           = f(x; theta_sync) + nu_local sqrt(ridge) |phi| in the norm of mean_j V_j^-1
                                                          (section 3.4; `fn-ucb-less`)

After a round in which (t - t_last) log(det(V-bar) / det(ridge I + W_sync)) > sync_threshold for some client, the
determinants being those of the diagonals (appendix E), every client trains its network on its own observations and
sends W_new, B_new, theta_i, alpha_i and V_i^-1; the server sums the first two, averages the weights, takes the least
alpha and broadcasts. Before the first communication f = 0 and V_j^-1 = I / ridge.

With `smallest_upload` n a client asks for a communication, and contributes to one, with n new observations only; with
fewer it repeats the network, the inverse and the alpha of its last contribution, with zero sums, and keeps its own.

The ratio of section 3.3 is taken over the K arms of the round and kept until the next communication (appendix F).
With `diagonal`, the first term of UCB^a is moved to [0, 1] over the K arms (footnote 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fedbandit.algorithms.neural.shared.parameters import PAPER, NeuralAlgorithm
from fedbandit.algorithms.neural.shared.weights import weight_of
from fedbandit.core.algorithm import Setting
from fedbandit.core.changes import Change
from fedbandit.core.interfaces import Federation
from fedbandit.core.parameters import parameter
from fedbandit.core.smallest_upload import smallest_upload_parameter


@dataclass(frozen=True)
class FNUCBAlgorithm(NeuralAlgorithm):
    """What both forms of FN-UCB have; `all_inverses` is the one thing in which they differ."""

    all_inverses: ClassVar[bool] = False

    nu_pooled: float = parameter(
        0.1, "width of the pooled confidence bound", symbol="nu_TKN", at_least=0, change=Change.AT_ONCE
    )
    sync_threshold: float = parameter(
        0.0,
        "rounds times growth that start a communication; 0: every round",
        symbol="D",
        at_least=0,
        infinite=True,
        change=Change.AT_ONCE,
    )
    smallest_upload: int = smallest_upload_parameter()  # type: ignore[misc]
    weight: str | float = parameter(
        "ramp:700", "of the network's bound: theory, ramp:ROUNDS, or a constant", symbol="alpha", at_least=0, at_most=1
    )
    aggregate: bool = parameter(True, "predict with the average of all clients' networks, not with one's own")
    train_from: str = parameter(
        "own",
        "where a warm start begins: at one's own last weights, or at the latest average",
        choices=("own", "average"),
    )

    def __post_init__(self) -> None:
        """Check that the weight can be read."""
        super().__post_init__()
        weight_of(self.weight)

    def build(self, setting: Setting) -> Federation:
        """Make both sides."""
        learner = self.learner(setting.dimension, self.nu_pooled)
        from fedbandit.algorithms.neural.shared.exchange import (
            Exchange,  # these need JAX, and `learner` has checked for it
        )
        from fedbandit.algorithms.neural.shared.fn_ucb_clients import FNUCBClients
        from fedbandit.algorithms.neural.shared.server import FNUCBServer
        from fedbandit.algorithms.neural.shared.shortcut import FNUCBShortcut

        exchange, weight = Exchange(learner.rounds, self.all_inverses), weight_of(self.weight)
        predicting = "average" if self.aggregate else "own"
        clients = FNUCBClients(
            learner, exchange, weight, self.sync_threshold, predicting, self.train_from, self.smallest_upload
        )
        habits = learner.habits(
            predicts_with=predicting,
            trains_from=self.train_from,
            weighs_ratio=weight.needs_ratio,
            all_inverses=self.all_inverses,
        )
        every_round = self.sync_threshold == 0 and self.smallest_upload == 1
        shortcut = FNUCBShortcut(learner, habits, exchange, weight) if every_round else None
        return Federation(clients, FNUCBServer(exchange), shortcut)


@dataclass(frozen=True)
class FNUCBLess(
    FNUCBAlgorithm,
    id="fn-ucb-less",
    title="federated neural UCB; the server averages the clients' inverses (the form the paper recommends)",
    paper=PAPER,
):
    """FN-UCB (Less Comm.), section 3.4: one averaged inverse is broadcast.

    >>> FNUCBLess(sync_threshold=-1)
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: sync_threshold must be at least 0, not -1: give a number in that range
    """


@dataclass(frozen=True)
class FNUCB(
    FNUCBAlgorithm,
    id="fn-ucb",
    title="federated neural UCB; every client's inverse is broadcast to every client",
    paper=PAPER,
):
    """FN-UCB (algorithms 1 and 2): every client gets every client's inverse."""

    all_inverses: ClassVar[bool] = True
