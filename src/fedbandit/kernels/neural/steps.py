"""What clients of the neural family compute in a round, step by step, as functions of arrays.

`fedbandit.kernels.neural.rounds` compiles each step for itself, `fedbandit.kernels.neural.whole_rounds` many rounds.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from fedbandit.kernels.linear.confidence import TIE
from fedbandit.kernels.neural.arrays import Array
from fedbandit.kernels.neural.descent import REGULARISERS, descend
from fedbandit.kernels.neural.device import Device
from fedbandit.kernels.neural.grams import DiagonalGrams, FullGrams, Grams
from fedbandit.kernels.neural.matrices import FEW, Diagonal, Full, growth, squares
from fedbandit.kernels.neural.network import Network, normal_network, symmetric_network
from fedbandit.kernels.neural.tangent_features import features, predict

NETWORKS = {"symmetric": symmetric_network, "normal": normal_network}


class Plan(NamedTuple):
    """Everything that the compiled functions depend on; equal plans share them."""

    inputs: int
    width: int
    depth: int
    initialisation: str
    network_seed: int
    scale_features: bool
    ridge: float
    nu_pooled: float
    nu_local: float
    diagonal: bool
    train_steps: int
    train_rate: float
    regulariser: str
    precision: str
    device: str


class Past(NamedTuple):
    """What clients have seen."""

    contexts: Array  # (clients, chunks, d, columns): those that were chosen, while they are trained on
    rewards: Array  # (clients, chunks, columns)
    features: Array | None  # (clients, rows, q): the latest, of which a full matrix has to be computed afresh


class Learnt(NamedTuple):
    """What clients have learnt since their last upload."""

    pooled_moment: Array  # B_sync + B_new
    moment: Array  # B_new
    diagonal: Array  # of W_new


class Gain(NamedTuple):
    """What an observation changed at clients that will upload it."""

    learnt: Learnt
    growth: Array  # (n,) of the logarithm of the determinant
    features: Array  # (n, q)
    rows: Array  # (n, 1, q): the same, one row a client


class Steps:
    """The steps of one plan. The first axis of every array is the client; 1 where all share one row."""

    def __init__(self, plan: Plan) -> None:
        """Find the device and make the network."""
        self.plan = plan
        self.device = Device(plan.device, plan.precision)
        self.network: Network = NETWORKS[plan.initialisation](plan.inputs, plan.width, plan.depth, plan.network_seed)
        self.matrices, self.grams = _matrices(plan, self.network, self.device)
        self.rescale = _unit_range if plan.diagonal else _as_it_is
        self.scale = 1.0 / math.sqrt(plan.width) if plan.scale_features else 1.0
        self.copies = self.network.copies

    def features(self, contexts: Array) -> Array:
        """Return g(x; theta_0) / sqrt(m), in the coordinates of its subspace."""
        return features(self.network, self.scale, contexts)

    def choose_by_both_bounds(
        self,
        arms: Array,  # (n, K, d)
        pooled: Array,  # V-bar_i, as the matrices keep it
        moment: Array,  # B_sync + B_new,i
        thetas: Array,
        sent: Array,  # (n or 1, number, ...): the inverses that were broadcast, or their average
        standing: Array,  # (n, 2): whether anything was communicated yet, and alpha
    ) -> Array:
        """Return argmax (1 - alpha) UCB^a + alpha UCB^b (algorithm 1, lines 4 to 7)."""
        seen = self.features(arms)
        towards = self.matrices.towards(pooled, seen)
        bonus = jnp.sqrt(jnp.maximum((towards * seen).sum(axis=-1), 0))
        pooled_bound = self.rescale((towards * moment[:, None, :]).sum(axis=-1)) + self._spread(
            self.plan.nu_pooled, bonus
        )
        heard, weight = standing[:, :1], standing[:, 1:]
        local_bound = heard * predict(self.network, thetas, arms) + self._spread(
            self.plan.nu_local, self._lengths(sent, seen)
        )
        return first_best((1 - weight) * pooled_bound + weight * local_bound)

    def choose_by_own_bound(
        self, arms: Array, matrix: Array, thetas: Array, heard: Array, towards_bound: Array
    ) -> Array:
        """Return argmax f + nu sigma z; z is 1 for the upper bound, a normal for a Thompson sample (n, K)."""
        seen = self.features(arms)
        length = (self.matrices.towards(matrix, seen) * seen).sum(axis=-1)
        spread = self._spread(self.plan.nu_local, jnp.sqrt(jnp.maximum(length, 0)))
        return first_best(heard[:, None] * predict(self.network, thetas, arms) + spread * towards_bound)

    def _spread(self, width: float, lengths: Array) -> Array:
        return width * math.sqrt(self.plan.ridge) * lengths

    def _lengths(self, sent: Array, seen: Array) -> Array:
        """Return the mean over the broadcast inverses of |u| in their norms."""

        def of_one(inverse: Array, rows: Array) -> Array:
            return jnp.sqrt(jnp.maximum(self.matrices.lengths(inverse, rows), 0))

        def of_client(inverses: Array, rows: Array) -> Array:
            if len(inverses) == 1:
                return of_one(inverses[0], rows)
            return jax.lax.map(lambda inverse: of_one(inverse, rows), inverses).mean(axis=0)

        return of_client(sent[0], seen) if len(sent) == 1 else jax.vmap(of_client)(sent, seen)

    def observe(self, past: Past, matrix: Array, observed: Array, places: Array) -> tuple[Past, Array, Array]:
        """Return the history with what was seen, V_local with it, and the chosen features (lines 9 and 10).

        Each row of `observed` is the chosen context and the reward; `places` are the client, the place in its history
        and that among its latest features. What lies beyond the history's end is not remembered.
        """
        chosen, rewards = observed[:, :-1], observed[:, -1]
        who, at, slot = places
        seen = self.features(chosen)
        columns = past.rewards.shape[2]
        past = Past(
            past.contexts.at[who, at // columns, :, at % columns].set(chosen, mode="drop"),
            past.rewards.at[who, at // columns, at % columns].set(rewards, mode="drop"),
            None if past.features is None else past.features.at[who, slot].set(seen),
        )
        return past, self.matrices.absorb(matrix, seen), seen

    def observe_for_upload(
        self, past: Past, matrix: Array, new: Learnt, synced: Array, observed: Array, places: Array
    ) -> tuple[Past, Array, Gain]:
        """Observe; return besides what is new since the last upload, and how much the determinant grew (line 11)."""
        past, matrix, seen = self.observe(past, matrix, observed, places)
        more = observed[:, -1:] * seen
        new = Learnt(new.pooled_moment + more, new.moment + more, new.diagonal + squares(self.copies, seen))
        grown = growth(self.copies, self.plan.ridge, synced, new.diagonal)
        return past, matrix, Gain(new, grown, seen, seen[:, None, :])

    def refresh(self, base: Array, rows: Array, inverses: Array, client: Array) -> tuple[Array, Array]:
        """Return the sums with a client's latest rows added up, and the inverses with its own computed afresh."""
        assert isinstance(self.matrices, Full)  # diagonals are sums, and never computed afresh
        exact = rows[client].astype(base.dtype)
        base = base.at[client].add(exact.T @ exact)
        return base, inverses.at[client].set(self.matrices.invert(base[client]).astype(rows.dtype))

    def train(self, thetas: Array, begin: Array, contexts: Array, rewards: Array, sizes: Array) -> Array:
        """Return each client's theta after training on what it has seen, from where it begins (line 14).

        `sizes` are the number of observations and their load.
        """
        counts, loads = sizes
        pull = REGULARISERS[self.plan.regulariser]

        def of_one(theta: Array, columns: Array, paid: Array, count: Array, load: Array) -> Array:
            steps = pull(self.network, self.plan.ridge, self.plan.train_rate, count, load)
            return descend(self.network, steps, self.plan.train_steps, theta, columns, paid, count.astype(int))

        trained: Array = self.device.over_clients(of_one)(
            jnp.broadcast_to(begin, thetas.shape), contexts, rewards, counts, loads
        )
        return jnp.where((counts > 0)[:, None], trained, thetas)

    def gather(
        self, moment: Array, moments: Array, thetas: Array, inverses: Array, *, averages: bool
    ) -> tuple[Array, Array, Array]:
        """Return B_sync (algorithm 2), the average network, and the average of the inverses or all of them."""
        total = moment + moments.sum(axis=0, keepdims=True)
        return total, _mean(thetas), (_mean(inverses) if averages else inverses)[None]

    def ratios(self, matrix: Array, arms: Array) -> Array:
        """Return the smallest over the largest uncertainty among each client's latest arms (section 3.3)."""
        seen = self.features(arms)
        squared = jnp.maximum((self.matrices.towards(matrix, seen) * seen).sum(axis=-1), 0)
        least, most = squared.min(axis=1), squared.max(axis=1)
        return jnp.sqrt(jnp.where(most > 0, least / jnp.where(most > 0, most, 1), 0))


def _matrices(plan: Plan, network: Network, device: Device) -> tuple[Diagonal | Full, Grams]:
    """Return how matrices are kept and summed up."""
    if plan.diagonal:
        diagonal = Diagonal(network, plan.ridge)
        return diagonal, DiagonalGrams(diagonal, device)
    full = Full(network, plan.ridge)
    return full, FullGrams(full, device)


def first_best(scores: Array) -> Array:
    """Return the lowest index among the scores (n, K) that tie with the best; -1 where they are not finite."""
    best = scores.max(axis=1, keepdims=True)
    lowest = jnp.argmax(scores >= best - TIE * jnp.maximum(1, jnp.abs(best)), axis=1)
    return jnp.where(jnp.isfinite(best[:, 0]), lowest, -1)


def _mean(rows: Array) -> Array:
    """Return the mean of matrices or vectors, added one after the other: elementwise, which a processor does fast."""
    count = len(rows)
    total = jax.lax.fori_loop(1, count, lambda place, sum_: sum_ + rows[place], rows[0], unroll=count <= FEW)
    return (total / count)[None]


def _as_it_is(values: Array) -> Array:
    return values


def _unit_range(values: Array) -> Array:
    """Return values over the arms moved to [0, 1]; values that tie become 0 (footnote 4)."""
    low, high = values.min(axis=1, keepdims=True), values.max(axis=1, keepdims=True)
    differ = high - low > TIE * jnp.maximum(1, jnp.abs(high))
    return jnp.where(differ, (values - low) / jnp.where(differ, high - low, 1), 0)
