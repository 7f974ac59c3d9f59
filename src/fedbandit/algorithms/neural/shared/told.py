"""What clients of FN-UCB have told of all that they have observed, where they may have too few to tell more.

A contribution has sums over what is new, and beside them the network and the inverse of all that a client has observed.
These would tell what is new by a subtraction: a client with too few observations repeats what it told last.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from fedbandit.algorithms.neural.shared.exchange import Exchange
from fedbandit.algorithms.neural.shared.messages import Contribution
from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.neural.arrays import Array, Numbers
from fedbandit.kernels.neural.cohort import one_each
from fedbandit.kernels.neural.device import plain
from fedbandit.kernels.neural.rounds import Rounds


class Told(NamedTuple):
    """The first axis is the client."""

    thetas: Numbers  # theta_i
    inverse: Numbers  # V_i^-1
    ratio: Floats  # alpha_i; not a number before the first time

    def with_news(self, who: Ints, thetas: Numbers, inverse: Array, ratio: Numbers) -> Told:
        """Return what was told after some clients have told more."""
        ratios = self.ratio.copy()
        ratios[who] = plain(ratio)
        told = jnp.asarray(self.thetas).at[who].set(one_each(thetas, len(who)))
        return Told(told, jnp.asarray(self.inverse).at[who].set(one_each(inverse, len(who))), ratios)

    def repeated(self, exchange: Exchange, who: Ints, first: Floats, version: int) -> Contribution:
        """Return contributions of clients that tell nothing new; `first` are the ratios of those who never told one."""
        zeros, size = np.zeros(len(who), dtype=np.int64), exchange.rounds.network.coordinates
        nothing = jnp.zeros((len(who), size), exchange.rounds.device.dtype)
        ratio = np.where(np.isnan(self.ratio[who]), first, self.ratio[who])
        return exchange.contribution(
            exchange.grams.no_sums(nothing), nothing, jnp.asarray(self.thetas)[who],
            exchange.rounds.device.cast(ratio), jnp.asarray(self.inverse)[who], zeros + version, zeros,
        )  # fmt: skip


def nothing_told(rounds: Rounds, clients: int) -> Told:
    """Return what clients would tell who have observed nothing."""
    one = rounds.matrices.start(1, rounds.device.dtype)
    initial = rounds.device.put(rounds.network.initial)[None]
    return Told(one_each(initial, clients), one_each(rounds.matrices.inverse(one), clients), np.full(clients, np.nan))
