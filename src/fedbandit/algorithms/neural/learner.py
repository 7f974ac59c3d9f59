"""What a client of the neural family does with its own observations.

Every client holds the same frozen theta_0. It keeps V_local = ridge I + sum phi phi^T over its own observations, with
phi = g(x; theta_0) / sqrt(m), and a network that it trains on them (`fedbandit.kernels.neural.descent`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.core.turns import Observations
from fedbandit.kernels.neural.cohort import put_rows, rows_of
from fedbandit.kernels.neural.device import plain
from fedbandit.kernels.neural.grams import REFRESH
from fedbandit.kernels.neural.rounds import Past, Rounds

ROOM = 2048  # observations of a client that there is room for at first


def squared_lengths(contexts: Floats) -> Floats:
    """Return max(1, |x|^2): how many contexts of length 1 have gradients as long as these together.

    >>> squared_lengths(np.array([[0.5, 0.0], [3.0, 4.0]]))
    array([ 1., 25.])
    """
    return np.asarray(np.maximum(1.0, (contexts**2).sum(axis=1)))


LOADS: dict[str, Callable[[Floats], Floats]] = {"lengths": squared_lengths, "count": lambda rows: np.ones(len(rows))}


@dataclass
class Own:
    """What clients know from their own observations; the first axis is the client."""

    past: Past
    matrix: Any  # V_local, as the matrices keep it
    base: Any  # (clients, q, q) sums whose inverse a full matrix was when it was last computed afresh, or None
    thetas: Any  # (clients, p_0): trained weights
    turns: Ints  # (clients,)
    load: Floats  # (clients,) the n of theorem 1's rate
    used: Ints  # (clients,) latest features that are not in `base`


class Learner:
    """Clients that observe and train; all of a cohort at once, or some."""

    def __init__(self, rounds: Rounds, train_until: int, warm_start: bool, rate_bound: str) -> None:
        """Take the compiled functions, and when, whence and how fast to train."""
        self.rounds = rounds
        self.train_until = train_until
        self.warm_start = warm_start
        self.loads = LOADS[rate_bound]
        self.initial = rounds.network.initial

    def start(self, clients: int) -> Own:
        """Return clients that have observed nothing."""
        device, network = self.rounds.device, self.rounds.network
        chunks = max(1, -(-min(self.train_until, ROOM) // device.chunk))
        latest = None if self.rounds.plan.diagonal else (clients, REFRESH, network.coordinates)
        return Own(
            past=Past(
                jnp.zeros((clients, chunks, network.inputs, device.chunk), device.dtype),
                jnp.zeros((clients, chunks, device.chunk), device.dtype),
                None if latest is None else jnp.zeros(latest, device.dtype),
            ),
            matrix=self.rounds.matrices.start(clients, device.dtype),
            base=None,
            thetas=jnp.broadcast_to(device.put(self.initial), (clients, network.parameters)),
            turns=np.zeros(clients, dtype=np.int64),
            load=np.zeros(clients),
            used=np.zeros(clients, dtype=np.int64),
        )

    def observe(self, own: Own, who: Ints, seen: Observations, observing: Any, *more: Any) -> Any:
        """Take in what each client of `who` observed by a compiled function; return what else it returns."""
        clients, cast = len(own.turns), self.rounds.device.cast
        at = own.turns[who]
        self._make_room(own, int(at.max()))
        at = np.where(at < self.train_until, at, np.iinfo(np.int32).max)  # what is never trained on is not remembered
        chosen = seen.features[np.arange(len(who)), seen.choice]
        observed = cast(np.column_stack([chosen, seen.feedback]))
        places = np.stack([who, at, own.used[who]])
        own.past, matrix, *rest = observing(own.past, rows_of(own.matrix, who, clients), *more, observed, places)
        own.matrix = put_rows(own.matrix, who, matrix, clients)
        own.turns[who] += 1
        own.load[who] += self.loads(chosen)
        own.used[who] += 1
        self._refresh(own)
        return rest

    def _refresh(self, own: Own) -> None:
        """Compute inverses afresh before rounding errors add up."""
        if own.past.features is None or own.used.max() < own.past.features.shape[1]:
            return
        own.base, latest, own.matrix = self.rounds.refresh(own.base, own.past.features)
        own.past = own.past._replace(features=latest)
        own.used[:] = 0

    def train(self, own: Own, who: Ints, begin: Any = None) -> None:
        """Train the networks of those clients of `who` that are still to be trained.

        A warm start is from `begin`, weights of each client or one row for all, or from the client's own last weights.
        """
        turns = own.turns[who]
        counts = np.where(turns <= self.train_until, turns, 0)
        if not counts.any():
            return
        clients = len(own.turns)
        thetas = rows_of(own.thetas, who, clients)
        if not self.warm_start:
            begin = self.rounds.device.put(self.initial)[None]
        begin = thetas if begin is None else begin
        history = [rows_of(each, who, clients) for each in own.past[:2]]
        sizes = self.rounds.device.cast([counts, own.load[who]])
        own.thetas = put_rows(own.thetas, who, self.rounds.train(thetas, begin, *history, sizes), clients)

    def checked(self, choice: Any, own: Own, who: Ints) -> Ints:
        """Return the arms of clients, or say that there are none to choose by."""
        arms = plain(choice).astype(np.int64)
        if (arms < 0).any():
            client = int(who[np.argmax(arms < 0)])
            raise InvalidInput(
                f"the predictions of client {client} in round {own.turns[client] + 1} are not finite, because its "
                f"training diverged with train_rate={self.rounds.plan.train_rate:g}: lower it, or set "
                "regulariser=anchor and rate_bound=lengths"
            )
        return arms

    def check_memory(self, matrices: int, clients: int) -> None:
        """Refuse to begin what would not fit: so many matrices of features at once, and the clients' histories."""
        network, device = self.rounds.network, self.rounds.device
        each = network.coordinates if self.rounds.plan.diagonal else network.coordinates**2
        history = clients * min(self.train_until, ROOM) * network.inputs
        wanted = device.dtype.itemsize * (matrices * each + history)
        free = device.free_bytes()
        if wanted > free:
            raise InvalidInput(
                f"width={network.width} needs about {wanted / 2**30:.1f} GiB for the matrices of {clients} clients "
                f"({network.coordinates} x {network.coordinates} numbers each), but {free / 2**30:.1f} GiB are free: "
                "set diagonal=true, lower the width, or run fewer clients"
            )

    def _make_room(self, own: Own, last: int) -> None:
        chunks, columns = own.past.rewards.shape[1:]
        if chunks * columns <= last < self.train_until:
            contexts, rewards = (jnp.concatenate([each, jnp.zeros_like(each)], axis=1) for each in own.past[:2])
            own.past = Past(contexts, rewards, own.past.features)
