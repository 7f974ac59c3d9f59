"""What a cohort of clients of FN-UCB knows."""

from __future__ import annotations

from dataclasses import dataclass, field

from fedbandit.algorithms.neural.shared.learner import Own
from fedbandit.algorithms.neural.shared.told import Told
from fedbandit.core.arrays import Bools, Floats, Ints, no_ints
from fedbandit.core.former_names import formerly
from fedbandit.kernels.neural.arrays import Numbers
from fedbandit.kernels.neural.grams import Synced
from fedbandit.kernels.neural.steps import Learnt
from fedbandit.kernels.neural.sums import Sums


@formerly("CohortState")
@dataclass
class NeuralCohortState:
    """What the clients know. Arrays that all clients share have one row."""

    own: Own
    pooled: Numbers  # V-bar_i without what is pending
    pending: Numbers | None  # (clients, q) features that V-bar_i lacks: a download may make them needless
    learnt: Learnt  # since the last upload; each (clients, q), or one row that all share
    new: Sums  # W_new,i
    synced: Synced  # the pooled matrix of the latest version
    synced_diagonal: Numbers  # (clients or 1, q) the diagonal of W_sync
    thetas: Numbers  # (clients or 1, p_0) theta_sync,NN
    sent: Numbers  # (clients or 1, number, ...) the inverses that were broadcast
    offers: Numbers | None  # (clients, K, d) the latest arms, where a weight needs them
    alpha: Floats  # (clients,) as received
    heard: Bools  # (clients,) whether a download has come
    since: Ints  # (clients,) turns since the last one
    version: Ints  # (clients,) of the last download
    unsent: Ints  # (clients,) turns since the last upload
    telling: Ints = field(default_factory=no_ints, kw_only=True)  # of these, not of a zero context
    told: Told | None = field(default=None, kw_only=True)  # with a smallest upload: what those repeat who have too few

    def __post_init__(self) -> None:
        """Fill in what a state of 0.1.0 does not have."""
        if len(self.telling) != len(self.unsent):
            self.telling = self.unsent.copy()
